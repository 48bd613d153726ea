"""Benchmark results as measurements: JSON of ``vllm bench serve`` and SGLang's, genai-perf and AIPerf, trtllm-bench,
llama-bench; and the block that ``vllm bench serve`` and SGLang's benchmark print.

Times that include queueing or mix phases are not used; each comes with the reason.
"""

import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from symroof.calibrate.measurements import (
    BATCH_UNKNOWN,
    LOOP,
    MAX_ROWS,
    QUEUED,
    MeasuredLatency,
    told_apart,
    unused_time,
)
from symroof.errors import InputError, Problem
from symroof.specs.checkpoints.json_text import loads_json
from symroof.units import parse_unit

Entry = dict[str, Any]
MILLI = Fraction(1, 1000)


NO_LENGTH = "the report has no {}"
TOGETHER = "prefill and decode are timed together"
NO_PHASES = "without --streaming prefill and decode are timed together"
SPECULATIVE = "a step of speculative decoding gives more than one token"


def parse_report(text: str, file: str = "<text>") -> tuple[list[MeasuredLatency], list[str]]:
    """The measurements of a JSON report, and the times that cannot be used.

    Raises:
        InputError: not JSON, an unknown report, an invalid number, or nothing usable.

    >>> rows, unused = parse_report('[{"n_prompt": 512, "n_gen": 0, "avg_ts": 2048.0}, {"n_prompt": 512, "n_gen": 16, "avg_ts": 90.5}]')
    >>> rows[0].metric, rows[0].seconds, unused[0]
    ('ttft', Fraction(1, 4), 'entry 2 is not used: prefill and decode are timed together')
    """
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) > 1 and all(re.fullmatch(r"\s*\{.*\}\s*", line) for line in lines):
        text = f"[{', '.join(lines)}]"
    wrapped = '{"entries": ' + text + "}" if text.lstrip().startswith("[") else text
    data: Any = loads_json(wrapped, file).data
    for marks, reader in READERS:
        entries = data["entries"] if set(data) == {"entries"} else [data]
        listed = isinstance(entries, list) and entries
        if listed and all(isinstance(entry, dict) and marks <= set(entry) for entry in entries):
            numbered = enumerate(entries[:MAX_ROWS], 1)
            return told_apart((x for i, entry in numbered for x in reader(entry, i, file)), file)
    hint = "vllm bench serve --save-result, genai-perf or AIPerf JSON, trtllm-bench --report_json, llama-bench -o json; or a CSV"
    message = "is not a benchmark report that symroof knows"
    raise InputError(Problem(file, message, 1, 1, hint=hint))


def _number(entry: Entry, key: str, file: str) -> Fraction | None:
    """The positive number at a key; None if missing or null."""
    value = entry.get(key)
    if value is None:
        return None
    fault = ""
    if isinstance(value, bool) or not isinstance(value, (int, float, Fraction)):
        fault = "is not a number"
    elif not math.isfinite(value):
        fault = "is not a finite number"
    elif value <= 0:
        fault = "must be positive"
    if fault:
        raise InputError(Problem(file, f"{key} {fault}", 1, 1, key))
    return Fraction(value)


def _scaled(value: Fraction | None, size: Fraction = MILLI) -> Fraction | None:
    """A time in seconds; None where there is none."""
    return None if value is None else value * size


def _row(metric: str, seconds: Fraction, place: int, **inputs: Fraction) -> MeasuredLatency:
    return MeasuredLatency(metric, seconds, inputs, place, 1)


def llama_bench(entry: Entry, place: int, file: str) -> Iterator[MeasuredLatency | str]:
    """``llama-bench -o json``: prompts (pp), and generation from an empty or filled cache (tg)."""
    depth = entry.get("n_depth") or 0
    sizes = {key: entry.get(key) or 0 for key in ("n_prompt", "n_gen")}
    rate = _number(entry, "avg_ts", file)
    if not all(isinstance(value, int) and value >= 0 for value in (depth, *sizes.values())):
        raise InputError(Problem(file, "n_prompt, n_gen and n_depth are whole numbers", place, 1))
    if rate is None:
        yield unused_time(f"entry {place}", NO_LENGTH.format("avg_ts"))
    elif sizes["n_prompt"] and sizes["n_gen"]:
        yield unused_time(f"entry {place}", TOGETHER)
    elif sizes["n_prompt"]:
        prompt = Fraction(sizes["n_prompt"])
        cached = {"cached_prefix": Fraction(depth)} if depth else {}
        yield _row("ttft", prompt / rate, place, prompt=prompt + depth, **cached)
    elif sizes["n_gen"]:
        middle = Fraction(max(depth + sizes["n_gen"] // 2, 1))
        yield _row("itl", 1 / rate, place, batch=Fraction(1), prompt=middle, context=middle)


def vllm_serve(entry: Entry, place: int, file: str) -> Iterator[MeasuredLatency | str]:
    """The result of ``vllm bench serve`` or SGLang's benchmark: median times, and mean lengths of the completed requests."""
    completed = _number(entry, "completed", file)
    tokens = [_number(entry, key, file) for key in ("total_input_tokens", "total_output_tokens")]
    slots = _number(entry, "max_concurrency", file)
    prompt, output = (total / completed if total and completed else None for total in tokens)
    keys = {"ttft": "median_ttft_ms", "tpot": "median_tpot_ms"}
    gained = _number(entry, "accept_length", file)
    if gained is not None and gained > 1:
        yield unused_time(keys.pop("tpot"), SPECULATIVE)
    times = {metric: _scaled(_number(entry, key, file)) for metric, key in keys.items()}
    yield from served(times, place, slots, prompt, output, keys)


def served(
    times: Mapping[str, Fraction | None],
    place: int,
    slots: Fraction | None,
    prompt: Fraction | None,
    output: Fraction | None,
    names: Mapping[str, str],
) -> Iterator[MeasuredLatency | str]:
    """The ``ttft`` and ``tpot`` of a server that keeps so many requests in flight, as far as they can be used; ``names`` are theirs in the report.

    Of several requests the time between tokens is that of a closed loop: of a step, and of the prompts that come while a response is written.
    """
    for metric, time in times.items():
        if time is None:
            continue
        if slots is None:
            yield unused_time(names[metric], BATCH_UNKNOWN)
        elif prompt is None or (output is None and metric == "tpot"):
            yield unused_time(names[metric], NO_LENGTH.format("lengths of prompts and outputs"))
        elif metric == "ttft" and slots > 1:
            yield unused_time(names[metric], QUEUED)
        elif metric == "ttft":
            yield _row("ttft", time, place, prompt=Fraction(round(prompt)))
        elif slots == 1:
            middle = Fraction(round(prompt + (output or 0) / 2))  # of a response's mean step
            whole = Fraction(round(prompt))
            yield _row("itl", time, place, batch=slots, prompt=whole, context=middle)
        else:
            lengths = {"prompt": Fraction(round(prompt)), "output": Fraction(round(output or 0))}
            yield _row(LOOP, time, place, batch=slots, **lengths)


def _genai_perf(entry: Entry, place: int, file: str) -> Iterator[MeasuredLatency | str]:
    """The JSON of genai-perf or AIPerf: mean lengths and median times, each with its unit."""
    keys = {"ttft": "time_to_first_token", "tpot": "inter_token_latency"}
    times: dict[str, Fraction | None] = {}
    for metric, name in keys.items():
        block = _block(entry, name)
        value = _number(block, "p50" if "p50" in block else "avg", file)
        times[metric] = _scaled(value, parse_unit(str(block.get("unit", "ms"))).size)
    blocks = (_block(entry, f"{what}_sequence_length") for what in ("input", "output"))
    lengths = [_number(block, "avg", file) for block in blocks]
    slots = _concurrency(entry.get("input_config"))
    yield from served(times, place, slots, lengths[0], lengths[1], keys)


def _trtllm_bench(entry: Entry, place: int, file: str) -> Iterator[MeasuredLatency | str]:
    """``trtllm-bench throughput --streaming --report_json``: median times in ms; the batch is the mean number of concurrent requests, rounded."""
    streamed = entry.get("streaming_metrics")
    if not isinstance(streamed, dict) or "decoding_stats" in entry:
        yield unused_time(
            f"entry {place}", SPECULATIVE if isinstance(streamed, dict) else NO_PHASES
        )
        return
    requests, world = (_block(entry, name) for name in ("request_info", "world_info"))
    blocks = {metric: _block(streamed, f"{metric}_percentiles") for metric in ("ttft", "tpot")}
    times = {metric: _scaled(_number(block, "p50", file)) for metric, block in blocks.items()}
    lengths = [_number(requests, f"avg_{what}_length", file) for what in ("input", "output")]
    at_once = _number(requests, "avg_num_concurrent_requests", file)
    slots = Fraction(max(1, round(at_once))) if at_once else None
    sizes = {symbol: _number(world, f"{symbol}_size", file) for symbol in ("tp", "pp")}
    degrees = {symbol: size for symbol, size in sizes.items() if size and size > 1}
    keys = {"ttft": "ttft (p50)", "tpot": "tpot (p50)"}
    for item in served(times, place, slots, lengths[0], lengths[1], keys):
        if isinstance(item, MeasuredLatency):
            item = replace(item, inputs={**item.inputs, **degrees})
        yield item


def _block(entry: Entry, name: str) -> Entry:
    """An object of a report; an empty one where there is none."""
    found = entry.get(name)
    return found if isinstance(found, dict) else {}


def _concurrency(config: object) -> Fraction | None:
    """The concurrency, at any depth of the configuration."""
    if isinstance(config, dict):
        own = config.get("concurrency")
        if isinstance(own, int) and not isinstance(own, bool) and own > 0:
            return Fraction(own)
        return next((slots for value in config.values() if (slots := _concurrency(value))), None)
    return None


READERS: tuple[
    tuple[set[str], Callable[[Entry, int, str], Iterator[MeasuredLatency | str]]], ...
] = (
    ({"n_prompt", "n_gen"}, llama_bench),
    ({"completed", "total_input_tokens"}, vllm_serve),
    ({"input_config"}, _genai_perf),
    ({"request_info", "performance"}, _trtllm_bench),
)
"""Keys that identify a report, and its reader."""

BLOCK = re.compile(r"={3,} *Serving Benchmark Result *={3,}")
LINE_OF_BLOCK = re.compile(
    r"\s*(?P<name>[A-Za-z][^:]{1,60}):\s+(?P<value>\d[\d,]{0,20}(?:\.\d{1,20})?)\s*"
)
OF_BLOCK = {
    "successful requests": "completed",
    "maximum request concurrency": "max_concurrency",
    "max request concurrency": "max_concurrency",
    "max reqeuest concurrency": "max_concurrency",  # as SGLang spelled it until 2025
    "total input tokens": "total_input_tokens",
    "total generated tokens": "total_output_tokens",
    "median ttft (ms)": "median_ttft_ms",
    "median tpot (ms)": "median_tpot_ms",
    "median itl (ms)": "median_itl_ms",
    "accept length": "accept_length",
}


def parse_printed(text: str, file: str = "<text>") -> tuple[list[MeasuredLatency], list[str]]:
    """The measurements of every block that ``vllm bench serve`` or ``sglang.bench_serving`` printed, and the times that cannot be used.

    Raises:
        InputError: an invalid number, or nothing usable.
    """
    blocks: list[tuple[int, Entry]] = []
    for number, line in enumerate(text.splitlines(), 1):
        if BLOCK.search(line):
            blocks.append((number, {}))
        match = LINE_OF_BLOCK.fullmatch(line[:200]) if blocks else None
        key = OF_BLOCK.get(match["name"].strip().lower()) if match else None
        if match and key:
            blocks[-1][1].setdefault(key, Fraction(match["value"].replace(",", "")))
    for _, entry in blocks:
        entry.setdefault("median_tpot_ms", entry.get("median_itl_ms"))
    numbered = blocks[:MAX_ROWS]
    return told_apart((x for line, entry in numbered for x in vllm_serve(entry, line, file)), file)
