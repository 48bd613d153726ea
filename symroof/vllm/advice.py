"""The performance of a server's command, and a recommended command with the threshold behind every number."""

import math
import shlex
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction

from symroof.analysis.study import Study
from symroof.analysis.verdict import ISOLATED_METRICS, target_checks, target_warnings
from symroof.cases.bound_case import BoundCase
from symroof.cases.quantity_result import Result
from symroof.specs import catalogue
from symroof.theory.symbols import TARGET_SYMBOLS
from symroof.theory.thresholds import THRESHOLDS
from symroof.vllm.batch_limits import BatchLimit, batch_limits, chunk_limits, requests_per_rank, solved, with_values
from symroof.vllm.command_line import ServeCommand
from symroof.vllm.engines import LLAMA, SGLANG, TRTLLM, engine_of_image
from symroof.vllm.served_case import ServedCase

MAX_DEVICES = 64
NARROW_CACHE = Fraction(17, 16)
"""Bytes of a cache element of 8 bits, with its share of llama.cpp's scale."""
FACTS = (
    "memory_bytes", "usable_memory", "fits", "concurrency", "itl", "itl_last", "mixed_time", "ttft", "chunk_steps", "chunked_ttft", "decode_throughput",
    "sustained_itl", "loaded_ttft", "worst_itl", "sustained_throughput", "cost_per_mtok", "speculation_speedup",
)  # fmt: skip
UNDER_LOAD = frozenset({"sustained_itl", "loaded_ttft", "worst_itl", "sustained_throughput", "cost_per_mtok"})
"""Facts that use the token budgets of all ranks; a step with one chunk uses that of its own rank."""
RESULTS = ("sustained_itl", "worst_itl", "loaded_ttft", "sustained_throughput", "load", "cost_per_mtok", "fleet_price")
"""Quantities of the recommended command, with the replicas that the arrival rate needs."""


@dataclass
class Advice:
    """A recommended flag and what it was solved from."""

    flag: str
    value: str
    because: str
    limits: list[BatchLimit] = field(default_factory=list)


@dataclass
class Review:
    """A command with its explanation and a recommended command.

    Attributes:
        facts: quantities of the command as given.
        under_load: the case of its :data:`UNDER_LOAD`: vLLM has a budget per rank, and all ranks prefill at once.
        limits: what limits its batch and its chunk.
        advice: the recommended flags; empty if no number of devices is enough.
        line: the recommended command; empty if there is none.
        replicas: replicas that sustain the arrival rate at the slow end of the efficiencies, and as expected; None without a rate.
        gives: quantities of that many replicas.
        missed_targets: targets that they miss, or meet only in part of the efficiency ranges.
        in_time: whether there is a TTFT target and they always meet it.
    """

    served: ServedCase
    under_load: BoundCase
    facts: dict[str, Result]
    limits: list[BatchLimit]
    advice: list[Advice]
    line: str
    warnings: list[str]
    replicas: tuple[int, int] | None = None
    gives: dict[str, Result] = field(default_factory=dict)
    missed_targets: list[str] = field(default_factory=list)
    in_time: bool = False

    def case_of(self, name: str) -> BoundCase:
        """The case of a fact."""
        return self.under_load if name in UNDER_LOAD else self.served.study.first


def review(served: ServedCase) -> Review:
    """Explain a command and recommend another."""
    limits = [*batch_limits(served.study), *chunk_limits(served.study)]
    advice, why, study = _recommendations(served)
    made = Review(served, _under_load(served.study).first, {}, limits, advice, _recommended_command(served, advice) if advice else "", [*served.warnings, *why])
    made.facts = {name: result for name in FACTS if (result := made.case_of(name).get(name)) is not None}
    if advice:
        study = _under_load(study)
        made.replicas = _replicas(study)
        fleet = with_values(study, dp=made.replicas[0]) if made.replicas else study
        made.gives = {name: result for name in RESULTS if (result := fleet.first.get(name)) is not None}
        made.missed_targets = target_warnings(fleet.first)
        made.in_time = any(check.met for check in target_checks(fleet.first) if check.name == "ttft")
    return made


def _under_load(study: Study) -> Study:
    """The same case with the chunks of all ranks, as quantities of a loaded instance count them."""
    case = study.first.case
    ranks = int(case.value("attention_dp"))
    return study if ranks == 1 or not case.is_set("chunk") else with_values(study, chunk=ranks * case.value("chunk"))


def _replicas(study: Study) -> tuple[int, int] | None:
    """Replicas that sustain the arrival rate within the TTFT target, at the slow end of the efficiencies and as expected. At a load of 1 the queue grows."""
    if "arrival_rate" not in study.first.given or study.first.get("load") is None:
        return None
    return _least_replicas(study, lambda answers: answers.slow_end), _least_replicas(study, lambda answers: answers)


def _least_replicas(study: Study, end: Callable[[BoundCase], BoundCase]) -> int:
    """The least number of replicas that keeps up and, if more help, meets the TTFT target."""
    own = end(study.first).case
    least = math.floor(own.value("load") * own.value("dp")) + 1
    tried = range(least, 2 * least + 2)
    return next((replicas for replicas in tried if not _misses_ttft(end(with_values(study, dp=replicas).first))), least)


def _misses_ttft(answers: BoundCase) -> bool:
    """Whether the mean TTFT, queueing included, misses its target."""
    ttft = answers.get("loaded_ttft")
    return "ttft" in answers.targets and (ttft is None or Fraction(ttft.value) > answers.targets["ttft"])


def _recommendations(served: ServedCase) -> tuple[list[Advice], list[str], Study]:
    """Flags in the order in which they depend on each other: devices, cache precision, batch, budget; and the case with all of them."""
    if served.study.first.hardware is None and "mem_capacity" not in served.study.first.given:
        return [], ["no command line is recommended without a device: give --hardware"], served.study
    group, study = _devices(served)
    if group is None:
        return [], [f"no command line is recommended: not one request fits or meets its latency targets on up to {MAX_DEVICES} devices"], study
    cache, study = _cache(served, study)
    sequences, study = _sequences(study)
    if not served.chunked:  # prompts have steps of their own: no budget is shared
        return [group, *cache, sequences], [], study
    sequences, study = _within_ttft(sequences, study)
    budget, study = _budget(study)
    return [group, *cache, sequences, budget], [], study


def _devices(served: ServedCase) -> tuple[Advice | None, Study]:
    """The smallest group, no smaller than the command's, that fits one request and meets its latency targets."""
    study = served.study
    lone = _unqueued(with_values(study, batch=1))
    names = ["min_devices_memory", *(f"min_devices_{name}" for name in ("ttft", "itl") if TARGET_SYMBOLS[name] in study.first.given)]
    limits = [limit for name in names if (limit := solved(lone, name, "tp"))]
    least = max((limit.value or 1 for limit in limits), default=1)
    start = int(study.first.case.value("tp"))
    count = start
    while count <= MAX_DEVICES:
        tried = with_values(lone, tp=count)
        if _serves(tried.first):
            made = with_values(study, tp=count)
            end = f"the command line has {count}" if count == start else f"{count} is the next power of two that serves it"
            because = f"one request needs {least} device{'s' * (least > 1)}; {end}"
            return Advice("tensor-parallel-size", str(count), because, limits), made
        count = 1 << count.bit_length()  # the next power of two
    return None, study


def _unqueued(study: Study) -> Study:
    """The same case without arrivals; the number of replicas is decided last."""
    made, own = Study(), study.request
    made.select(replace(own, values={name: values for name, values in own.values.items() if name != "arrival_rate"}))
    return made


def _serves(answers: BoundCase) -> bool:
    """Whether the weights and one request fit and meet the latency targets; its cost alone does not matter."""
    return not answers.does_not_fit and all(check.met for check in target_checks(answers) if check.name in ISOLATED_METRICS)


def _cache(served: ServedCase, study: Study) -> tuple[list[Advice], Study]:
    """An 8-bit cache if memory limits the batch; otherwise the command's setting."""
    limits = batch_limits(study)
    memory = next((limit.value for limit in limits if limit.name == "max_batch_memory"), None)
    others = [limit.value for limit in limits if limit.name != "max_batch_memory" and limit.value is not None]
    now = study.first.case.value("kv_bytes_per_element")
    written = served.line.flags.get("kv-cache-dtype")
    if memory is None or now <= NARROW_CACHE or (others and min(others) <= memory):
        current = written.value if written else "auto"
        because = (
            "the cache is in 8 bits or less already"
            if now <= NARROW_CACHE
            else "memory does not limit the batch, so a lower-precision cache does not allow a larger one"
        )
        return [Advice("kv-cache-dtype", current, because)], study
    narrow = with_values(study, kv="8.5 bit" if served.line.engine is LLAMA else "fp8")
    more = next(limit for limit in batch_limits(narrow) if limit.name == "max_batch_memory")
    because = f"memory limits the batch: {memory:,} requests fit with {float(now):g} bytes an element, {more.value:,} with 1; what it does to the answers is not modelled"
    names = {SGLANG.name: "fp8_e4m3", LLAMA.name: "q8_0"}
    return [Advice("kv-cache-dtype", names.get(served.line.engine.name, "fp8"), because, [more])], narrow


def _sequences(study: Study) -> tuple[Advice, Study]:
    """The smallest batch limit."""
    limits = batch_limits(study)
    bounds = [limit for limit in limits if limit.value is not None]
    least = min(bounds, key=lambda limit: limit.value or 0, default=None)
    batch = max(least.value or 1, 1) if least else int(study.first.case.value("batch"))
    because = f"the least of {', '.join(f'{limit.value:,} ({_limit_name(limit)})' for limit in bounds)}" if bounds else "nothing limits it here"
    own = max(batch // int(study.first.case.value("attention_dp")), 1)
    ranks = "" if own == batch else f"; {own:,} per rank"
    because += _prefilling_note(study, batch)
    return Advice("max-num-seqs", str(own), because + ranks, limits), with_values(study, batch=batch)


def _within_ttft(sequences: Advice, study: Study) -> tuple[Advice, Study]:
    """Reduce the batch until the chunk beside it meets the TTFT target; unchanged if even one request misses it.

    The largest batch within the ITL target leaves the smallest chunk, and a prompt then takes as many steps as a response."""
    ranks, allowed = int(study.first.case.value("attention_dp")), int(sequences.value)

    def late(own: int) -> bool:
        alone = _unqueued(with_values(study, batch=own * ranks))
        return _misses_ttft(_under_load(_budget(alone)[1]).first)

    if "ttft" not in study.first.targets or not late(allowed) or late(1):
        return sequences, study
    most = 1 + bisect_left(range(2, allowed), True, key=late)
    because = (
        f"{sequences.because}; no more than {most:,}{' of each rank' if ranks > 1 else ''}, which leave a chunk that reads a prompt within the TTFT target"
    )
    return replace(sequences, value=str(most), because=because), with_values(study, batch=most * ranks)


def _prefilling_note(study: Study, batch: int) -> str:
    """A note on how many requests decode, since requests in prefill also hold cache."""
    steps, pieces = (study.first.get(name) for name in ("response_steps", "prompt_chunks"))
    if steps is None or pieces is None or not steps.value:
        return ""
    decoding = Fraction(batch) * Fraction(steps.value) / (Fraction(steps.value) + Fraction(pieces.value))
    return f"; of them about {math.floor(decoding):,} decode, because prompts in prefill also hold cache"


def _budget(study: Study) -> tuple[Advice, Study]:
    """The batch plus the largest chunk within the ITL target, or without it the largest free chunk, or else a whole prompt."""
    limits = chunk_limits(study)
    batch = requests_per_rank(study, int(study.first.case.value("batch")))
    by_name = {limit.name: limit.value for limit in limits}
    prompt = int(study.first.case.value("prompt")) if "prompt" in study.first.given else 0
    if by_name.get("max_chunk_itl"):
        chunk, why = by_name["max_chunk_itl"], "the largest chunk within the ITL target at the last step"
    elif by_name.get("free_chunk"):
        chunk, why = by_name["free_chunk"], "the largest chunk that does not lengthen a step"
    else:
        chunk, why = prompt or batch, "a whole prompt: no chunk is free and no ITL target limits it"
    made = Advice("max-num-batched-tokens", str((chunk or 0) + batch), f"chunk + batch = {chunk:,} + {batch:,}: {why}", limits)
    return made, with_values(study, chunk=chunk) if chunk else study


def _limit_name(limit: BatchLimit) -> str:
    return limit.name if limit.name in THRESHOLDS else "ITL target under chunked prefill"


def _recommended_command(served: ServedCase, advice: list[Advice]) -> str:
    """The command with the recommended flags, each flag once."""
    line: ServeCommand = served.line
    chosen = {item.flag: item.value for item in advice}
    inside = int(served.study.first.case.value("attention_dp")) if line.engine in (SGLANG, TRTLLM) else 1
    chosen["tensor-parallel-size"] = str(int(chosen["tensor-parallel-size"]) * inside)  # groups of attention lie inside these devices
    if line.engine is SGLANG:  # its limit is of all groups
        chosen["max-num-seqs"] = str(int(chosen["max-num-seqs"]) * inside)
    if line.engine is LLAMA:
        chosen |= {"max-model-len": str(served.requested * int(chosen["max-num-seqs"])), "value-cache-dtype": chosen["kv-cache-dtype"]}
    on_hub = line.engine is LLAMA and catalogue.model_by_hub_name(line.flags["model"].value) is not None
    imaged = bool(line.before) and engine_of_image(line.before[-1]) is not None  # older images take no model without its flag
    model = ["--model"] if imaged else ["-hf"] if on_hub else [line.engine.model_flag] if line.engine.model_flag else []
    words = [*line.before, *(() if line.before else line.engine.program), *model, str(line.flags["model"].value)]
    for name, written in line.flags.items():
        if name in ("model", "config") or name in chosen:
            continue
        if isinstance(written.value, bool):
            words.append(line.engine.spelled(name) if written.value else f"--no-{name}")
        else:
            words += [line.engine.spelled(name), written.text]
    for name, value in chosen.items():
        if (spelled := line.engine.spelled(name)) and not (line.engine is LLAMA and value in ("auto",)):
            words += [spelled, value]
    return shlex.join([*words, *served.others])
