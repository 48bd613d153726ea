"""Benchmark output as people paste it: printed blocks of ``vllm bench serve`` and SGLang, tables of llama-bench and llama-batched-bench, and tables of
lengths, concurrency and latencies under the names that people give them, in Markdown, CSV or tabs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice

from symroof.calibrate.benchmark_files import (
    NO_LENGTH,
    TOGETHER,
    llama_bench,
    served,
    vllm_serve,
)
from symroof.calibrate.measurements import (
    MAX_COLUMNS,
    MAX_LINE_LENGTH,
    MeasuredLatency,
    UnusedTime,
    told_apart,
)
from symroof.errors import InputError, Problem
from symroof.units import UNITS

Items = Iterator[MeasuredLatency | UnusedTime]
BLOCK = re.compile(r"=+ *Serving Benchmark Result *=+")
PASTED = re.compile(rf"[|\t]|{BLOCK.pattern}")
"""What a text has that is pasted, and no file with our columns."""
LINE_OF_BLOCK = re.compile(r"\s*(?P<name>[A-Za-z][^:]{1,60}):\s+(?P<value>\S.*?)\s*")
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
NUMBER = re.compile(
    r"(?:[-+]?\d{1,3}(?:,\d{3}){1,5}(?:\.\d{1,20})?|[-+]?\d{1,20}(?:\.\d{1,20})?(?:[eE][-+]?\d{1,2})?)(?![\d.]|[eE][-+]?\d)"
)
TEST = re.compile(r"(?:pp(?P<pp>\d+))?(?:\s*\+\s*)?(?:tg(?P<tg>\d+))?(?:\s*@\s*d(?P<depth>\d+))?")
LENGTHS = re.compile(
    r"(?P<prompt>\d+(?:\.\d+)?k?)\s*/\s*(?P<output>\d+(?:\.\d+)?k?)", re.IGNORECASE
)

WORDS = {
    "prompt": "isl input inputlen inputlength inputtokens inputsequencelength prompt promptlen promptlength prompttokens inlen randominputlen avginputlen",
    "output": "osl output outputlen outputlength outputtokens outputsequencelength gen genlen generatedtokens outlen randomoutputlen maxtokens avgoutputlen",
    "lengths": "isl/osl input/output in/out prompt/output prompt/gen",
    "batch": "concurrency conc maxconcurrency concurrentrequests concurrentusers users batch batchsize bs numusers streams maximumrequestconcurrency",
    "rate": "rps qps rate requestrate arrivalrate requestspersecond req/s requests/s",
    "ttft": "ttft timetofirsttoken firsttokenlatency prefilllatency",
    "tpot": "tpot itl intertokenlatency timeperoutputtoken",
    "tp": "tp tensorparallel tensorparallelsize tpsize",
}
MEANING = {word: name for name, words in WORDS.items() for word in words.split()}
STATISTIC = re.compile(r"\b(?:median|p50|50th|mean|average|avg)\b")
OTHER_STATISTIC = re.compile(r"\b(?:p9\d(?:\.\d)?|p75|99th|90th|max|min|std|stdev)\b")


def parse_pasted(
    text: str, file: str = "<text>"
) -> tuple[list[MeasuredLatency], list[UnusedTime]] | None:
    r"""The measurements of pasted output, and the times that cannot be used; None where it is none of these.

    Raises:
        InputError: a table without a unit or a number, or nothing usable.

    >>> rows, unused = parse_pasted("| ISL | OSL | Concurrency | Median TTFT (ms) | TPOT (ms) |\n|---|---|---|---|---|\n| 1024 | 129 | 1 | 30.5 | 6.25 |\n")
    >>> [(row.metric, row.seconds, dict(row.inputs)) for row in rows]
    [('ttft', Fraction(61, 2000), {'prompt': Fraction(1024, 1)}), ('itl', Fraction(1, 160), {'batch': Fraction(1, 1), 'prompt': Fraction(1024, 1), 'context': Fraction(1088, 1)})]
    """
    lines = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    if any(len(line) > MAX_LINE_LENGTH for _, line in lines):
        return None
    read = _blocks(lines, file) if BLOCK.search(text) else _table(lines, file)
    if read is None:
        return None
    return told_apart(read, file)


# ------------------------------------------------------------------------------------------------------------- blocks


def _blocks(lines: Sequence[tuple[int, str]], file: str) -> Items:
    """Every printed result of ``vllm bench serve`` or ``sglang.bench_serving``."""
    starts = [i for i, (_, line) in enumerate(lines) if BLOCK.search(line)]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        entry: dict[str, object] = {}
        for _, line in lines[start + 1 : end]:
            match = LINE_OF_BLOCK.fullmatch(line)
            key = OF_BLOCK.get(match["name"].strip().lower()) if match else None
            number = _number(match["value"]) if match and key and key not in entry else None
            if key and number is not None:
                entry[key] = number
        entry.setdefault("median_tpot_ms", entry.get("median_itl_ms"))
        yield from vllm_serve(entry, lines[start][0], file)


def _number(text: str) -> Fraction | None:
    match = NUMBER.match(text.strip())
    return Fraction(match[0].replace(",", "")) if match else None


def _counted(text: str) -> int | Fraction | None:
    """A number, whole where it is."""
    number = _number(text)
    return int(number) if number is not None and number.denominator == 1 else number


# ------------------------------------------------------------------------------------------------------------- tables


@dataclass(frozen=True)
class Heading:
    """A column of a table: what it means, its unit if any, and how it is written."""

    name: str
    unit: str
    text: str
    median: bool = False


def _split(line: str) -> list[str]:
    """The cells of a line of a Markdown, tab-separated or comma-separated table."""
    if "|" in line:
        return [cell.strip() for cell in line.strip().strip("|").split("|")]
    mark = next((mark for mark in "\t," if mark in line), None)
    cells = line.split(mark) if mark else re.split(r"\s{2,}", line.strip())
    return [cell.strip().strip('"').strip() for cell in cells]


RULE = set(" |:-=+")  # characters of a line that only rules a table off


def _table(lines: Sequence[tuple[int, str]], file: str) -> Items | None:
    """The table that a text has; None where no line of it is a heading that is known."""
    for i, (_, line) in enumerate(lines):
        cells = _split(line)[: MAX_COLUMNS + 1]
        lower = [cell.lower() for cell in cells]
        rest = (
            (number, _split(row)) for number, row in islice(lines, i + 1, None) if set(row) - RULE
        )
        if {"test", "t/s"} <= set(lower):
            return _llama_table(lower, rest, file)
        if {"n_prompt", "n_gen", "avg_ts"} <= set(lower):
            return (
                item
                for number, row in rest
                if len(row) == len(lower)
                for item in llama_bench(
                    dict(zip(lower, map(_counted, row), strict=True)), number, file
                )
            )
        if {"pp", "tg", "b"} <= set(lower) and any(cell.startswith("t_tg") for cell in lower):
            return _batched_bench(lower, rest)
        headings = [_heading(cell) for cell in cells]
        known = {heading.name for heading in headings}
        if known & {"ttft", "tpot"} and known & {"prompt", "lengths"}:
            return _free_table(headings, rest, file)
    return None


def _llama_table(cells: list[str], rest: Iterable[tuple[int, list[str]]], file: str) -> Items:
    """The Markdown of llama-bench: a test (``pp512``, ``tg128 @ d4096``) and its tokens per second."""
    test, rate = cells.index("test"), cells.index("t/s")
    for number, row in rest:
        match = TEST.fullmatch(row[test].strip()) if len(row) == len(cells) else None
        speed = _number(row[rate]) if match else None
        if match and speed and (match["pp"] or match["tg"]):
            if match["pp"] and match["tg"]:
                yield UnusedTime(f"{row[test]} of line {number}", TOGETHER)
                continue
            places = {"n_prompt": "pp", "n_gen": "tg", "n_depth": "depth"}
            sizes = {key: _counted(match[place] or "0") for key, place in places.items()}
            yield from llama_bench({**sizes, "avg_ts": speed}, number, file)


def _batched_bench(cells: list[str], rest: Iterable[tuple[int, list[str]]]) -> Items:
    """llama-batched-bench: seconds of all prompts of a batch, and of all its steps."""
    place = {
        key: next((i for i, cell in enumerate(cells) if cell.split()[:1] == [key]), None)
        for key in ("pp", "tg", "b", "t_pp", "t_tg")
    }
    for number, row in rest:
        values = {
            key: _number(row[i]) for key, i in place.items() if i is not None and i < len(row)
        }
        prompt, steps, batch = (values.get(key) for key in ("pp", "tg", "b"))
        if not (prompt and steps and batch):
            continue
        if first := values.get("t_pp"):
            inputs = {"prompt": prompt, "prefill_batch": batch}
            yield MeasuredLatency("ttft", first, inputs, number, 1)
        if decode := values.get("t_tg"):
            middle = Fraction(round(prompt + steps / 2))
            inputs = {"batch": batch, "prompt": prompt, "context": middle}
            yield MeasuredLatency("itl", decode / steps, inputs, number, 1)


def _heading(text: str) -> Heading:
    """What a column is by its heading: ``Median TTFT (ms)``, ``tpot_ms``, ``Input Len``."""
    words = re.sub(r"[*`]", "", text).strip()
    written = re.search(r"[\[(]\s*([A-Za-zµ]+)\s*[\])]|[_\s]((?:m|u|µ)?s)$", words)
    unit = (written[1] or written[2]) if written else ""
    bare = re.sub(r"[\[(][^\])]*[\])]", " ", words).lower()
    bare = re.sub(r"[_\s](?:m|u|µ)?s$", "", bare.strip()) if unit else bare
    spaced = bare.replace("_", " ")
    whole, stem = (re.sub(r"[\s\-.#]", "", said) for said in (spaced, STATISTIC.sub(" ", spaced)))
    if whole not in MEANING and OTHER_STATISTIC.search(spaced):
        return Heading("", "", text)
    median = bool(re.search(r"\b(?:median|p50|50th)\b", spaced))
    return Heading(MEANING.get(whole) or MEANING.get(stem, ""), unit, text, median)


def _free_table(headings: list[Heading], rest: Iterable[tuple[int, list[str]]], file: str) -> Items:
    """A table of lengths, concurrency and latencies; a median wins over a mean. Columns of anything else are named once."""
    chosen: dict[str, int] = {}
    for i, heading in enumerate(headings):
        before = chosen.get(heading.name)
        better = before is None or (heading.median and not headings[before].median)
        if heading.name and better:
            chosen[heading.name] = i
    others = (heading.text for i, heading in enumerate(headings) if i not in chosen.values())
    if ignored := ", ".join(filter(None, others)):
        reason = "it is no length, concurrency, or median or mean latency"
        yield UnusedTime(f"column {ignored[:120]}", reason)
    for number, row in rest:
        if len(row) != len(headings):
            if sum(bool(NUMBER.match(cell)) for cell in row) > 1:
                message = f"has {len(row)} values for {len(headings)} columns"
                raise InputError(Problem(file, message, number, 1))
            continue
        cells = {name: (row[i], headings[i]) for name, i in chosen.items()}
        yield from _free_row(cells, number, file)


def _free_row(cells: dict[str, tuple[str, Heading]], number: int, file: str) -> Items:
    texts: dict[str, str] = {n: cells[n][0] for n in ("prompt", "output") if n in cells}
    if "lengths" in cells:
        match = LENGTHS.search(cells["lengths"][0])
        texts = match.groupdict() if match else {}
    lengths: dict[str, Fraction | None] = {}
    for name, text in texts.items():  # 8k is 8,192, as benchmarks name their lengths
        value = _number(text)
        thousands = 1024 if text.strip().lower().endswith("k") else 1
        lengths[name] = value and value * thousands
        if value is not None and (value <= 0 or (value * thousands).denominator != 1):
            raise InputError(Problem(file, "is not a number of tokens", number, 1, text[:40]))
    prompt, output = (lengths.get(name) for name in ("prompt", "output"))
    slots = None if "rate" in cells else Fraction(1)
    if "batch" in cells:
        slots = _number(cells["batch"][0])
    said = {n: cells[n] for n in ("ttft", "tpot") if cells.get(n, "-")[0] not in ("", "-", "—")}
    times = {metric: _seconds(*cell, number, file) for metric, cell in said.items()}
    tp = _number(cells["tp"][0]) if "tp" in cells else None
    if not prompt:
        yield UnusedTime(f"line {number}", NO_LENGTH.format("length of the prompt"))
        return
    names = {metric: f"{cells[metric][1].text} of line {number}" for metric in times}
    for item in served(times, number, slots, prompt, output, names):
        if tp is not None and isinstance(item, MeasuredLatency):
            item = replace(item, inputs={**item.inputs, "tp": tp})
        yield item


def _seconds(text: str, heading: Heading, number: int, file: str) -> Fraction | None:
    """A time in seconds, by its own unit or that of its column."""
    value = _number(text)
    own = re.fullmatch(r"\s*[\d.,eE+-]+\s*([A-Za-zµ]+)(?:\s*±.*)?\s*", text)
    unit = own[1] if own else heading.unit
    if value is None or value <= 0:
        raise InputError(Problem(file, "is not a time", number, 1, text[:40]))
    if unit not in UNITS or UNITS[unit][1] != UNITS["s"][1]:
        hint = f"name the column {heading.text[:30]} (ms)"
        raise InputError(Problem(file, "has no unit", number, 1, heading.text[:40], hint))
    return value * UNITS[unit][0]
