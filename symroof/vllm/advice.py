"""What a line's numbers come to, and which line to start instead: every number with the threshold it was solved from."""

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
from symroof.theory.symbols import TARGET_SYMBOLS
from symroof.theory.thresholds import THRESHOLDS
from symroof.vllm.batch_limits import Limit, batch_limits, chunk_limits, solved, with_values
from symroof.vllm.command_line import Line
from symroof.vllm.served_case import Served, own_requests, whole_power

MOST_DEVICES = 64
FACTS = (
    "memory_bytes", "usable_memory", "fits", "concurrency", "itl", "itl_last", "mixed_time", "ttft", "chunk_steps", "chunked_ttft", "decode_throughput",
    "sustained_itl", "even_prefill_itl", "loaded_ttft", "worst_itl", "sustained_throughput", "cost_per_mtok", "speculation_speedup",
)  # fmt: skip
AT_WORK = frozenset({"sustained_itl", "even_prefill_itl", "loaded_ttft", "worst_itl", "sustained_throughput", "cost_per_mtok"})
"""The facts that stand on the budgets of all ranks; a step that takes one chunk along, on that of its own rank."""
GIVES = ("sustained_itl", "worst_itl", "loaded_ttft", "sustained_throughput", "load", "cost_per_mtok", "fleet_price")
"""What the recommended line gives, of as many copies as the arrival rate asks for."""


@dataclass
class Advice:
    """A recommended flag and what it was solved from."""

    flag: str
    value: str
    because: str
    limits: list[Limit] = field(default_factory=list)


@dataclass
class Review:
    """A line explained and recommended.

    Attributes:
        facts: quantities of the line as it is.
        at_work: the case of its :data:`AT_WORK`: vLLM has a budget for each rank, all of which read prompts at once.
        limits: what bounds its batch and its chunk as it is.
        advice: the recommended flags; empty where no number of devices does.
        line: the recommended line; empty where there is none.
        copies: servers of it that bear the arrival rate at the slow end of the efficiencies, and as expected; None where no rate is known.
        gives: quantities of so many copies of it.
        doubts: the targets that these miss, or meet in a part of the ranges of the efficiencies only.
        in_time: whether there is a target for the first token that these meet throughout.
    """

    served: Served
    at_work: BoundCase
    facts: dict[str, Result]
    limits: list[Limit]
    advice: list[Advice]
    line: str
    warnings: list[str]
    copies: tuple[int, int] | None = None
    gives: dict[str, Result] = field(default_factory=dict)
    doubts: list[str] = field(default_factory=list)
    in_time: bool = False

    def case_of(self, name: str) -> BoundCase:
        """The case that a fact is of."""
        return self.at_work if name in AT_WORK else self.served.study.first


def review(served: Served) -> Review:
    """Explain a line and recommend another."""
    limits = [*batch_limits(served.study), *chunk_limits(served.study)]
    advice, why, study = _advised(served)
    made = Review(served, _at_work(served.study).first, {}, limits, advice, _recommended(served, advice) if advice else "", [*served.warnings, *why])
    made.facts = {name: result for name in FACTS if (result := made.case_of(name).get(name)) is not None}
    if advice:
        study = _at_work(study)
        made.copies = _copies(study)
        fleet = with_values(study, dp=made.copies[0]) if made.copies else study
        made.gives = {name: result for name in GIVES if (result := fleet.first.get(name)) is not None}
        made.doubts = target_warnings(fleet.first)
        made.in_time = any(check.met for check in target_checks(fleet.first) if check.name == "ttft")
    return made


def _at_work(study: Study) -> Study:
    """The same case with the chunks of all ranks, as quantities of an instance at work count them."""
    case = study.first.case
    ranks = int(case.value("attention_dp"))
    return study if ranks == 1 or not case.chosen("chunk") else with_values(study, chunk=ranks * case.value("chunk"))


def _copies(study: Study) -> tuple[int, int] | None:
    """Copies that bear the arrival rate within the TTFT target, at the slow end of the efficiencies and as expected: at a load of 1 the queue already grows."""
    if "arrival_rate" not in study.first.given or study.first.get("load") is None:
        return None
    return _bearing(study, lambda answers: answers.slow_end), _bearing(study, lambda answers: answers)


def _bearing(study: Study, end: Callable[[BoundCase], BoundCase]) -> int:
    """The least number of copies that keeps up and, where more help, reads prompts in time."""
    own = end(study.first).case
    least = math.floor(own.value("load") * own.value("dp")) + 1
    tried = range(least, 2 * least + 2)
    return next((copies for copies in tried if not _late_prompts(end(with_values(study, dp=copies).first))), least)


def _late_prompts(answers: BoundCase) -> bool:
    """Whether the mean first token, the wait for it included, misses its target, if there is one."""
    ttft = answers.get("loaded_ttft")
    return "ttft" in answers.targets and (ttft is None or Fraction(ttft.value) > answers.targets["ttft"])


def _advised(served: Served) -> tuple[list[Advice], list[str], Study]:
    """Flags in the order in which one decides the next: devices, format of the cache, batch, budget; and the case with all of them."""
    if served.study.first.hardware is None and "mem_capacity" not in served.study.first.given:
        return [], ["no command line is recommended without a device: give --hardware"], served.study
    group, study = _devices(served)
    if group is None:
        return [], [f"no command line is recommended: not one request fits or meets its latency targets on up to {MOST_DEVICES} devices"], study
    cache, study = _cache(served, study)
    sequences, study = _sequences(study)
    sequences, study = _in_time(sequences, study)
    budget, study = _budget(study)
    return [group, *cache, sequences, budget], [], study


def _devices(served: Served) -> tuple[Advice | None, Study]:
    """The least group that holds one request and, where there are targets, serves it in time; never fewer than the line has."""
    study = served.study
    lone = _unqueued(with_values(study, batch=1))
    names = ["min_devices_memory", *(f"min_devices_{name}" for name in ("ttft", "itl") if TARGET_SYMBOLS[name] in study.first.given)]
    limits = [limit for name in names if (limit := solved(lone, name, "tp"))]
    least = max((limit.value or 1 for limit in limits), default=1)
    start = int(study.first.case.value("tp"))
    count = start
    while count <= MOST_DEVICES:
        tried = with_values(lone, tp=count)
        if _serves(tried.first):
            made = with_values(study, tp=count)
            end = f"the command line has {count}" if count == start else f"{count} is the next power of two that serves it"
            because = f"one request needs {least} device{'s' * (least > 1)}; {end}"
            return Advice("tensor-parallel-size", str(count), because, limits), made
        count = whole_power(count + 1)
    return None, study


def _unqueued(study: Study) -> Study:
    """The same case without arrivals: how many copies bear them is decided last."""
    made, own = Study(), study.request
    made.select(replace(own, values={name: values for name, values in own.values.items() if name != "arrival_rate"}))
    return made


def _serves(answers: BoundCase) -> bool:
    """Whether the weights and one request fit, and its latency targets are met: what one request alone costs decides nothing."""
    return not answers.does_not_fit and all(check.met for check in target_checks(answers) if check.name in ISOLATED_METRICS)


def _cache(served: Served, study: Study) -> tuple[list[Advice], Study]:
    """A cache of 8 bits where memory is what bounds the batch; else what the line says stays."""
    limits = batch_limits(study)
    memory = next((limit.value for limit in limits if limit.name == "max_batch_memory"), None)
    others = [limit.value for limit in limits if limit.name != "max_batch_memory" and limit.value is not None]
    now = study.first.case.value("kv_bytes_per_element")
    written = served.line.flags.get("kv-cache-dtype")
    if memory is None or now <= 1 or (others and min(others) <= memory):
        current = written.value if written else "auto"
        because = (
            "the cache is in 8 bits or less already" if now <= 1 else "memory does not limit the batch, so a lower-precision cache does not allow a larger one"
        )
        return [Advice("kv-cache-dtype", current, because)], study
    narrow = with_values(study, kv="fp8")
    more = next(limit for limit in batch_limits(narrow) if limit.name == "max_batch_memory")
    because = f"memory limits the batch: {memory:,} requests fit with {float(now):g} bytes an element, {more.value:,} with 1; what it does to the answers is not modelled"
    return [Advice("kv-cache-dtype", "fp8", because, [more])], narrow


def _sequences(study: Study) -> tuple[Advice, Study]:
    """The smallest of the limits of the batch."""
    limits = batch_limits(study)
    bounds = [limit for limit in limits if limit.value is not None]
    least = min(bounds, key=lambda limit: limit.value or 0, default=None)
    batch = max(least.value or 1, 1) if least else int(study.first.case.value("batch"))
    because = f"the least of {', '.join(f'{limit.value:,} ({_short(limit)})' for limit in bounds)}" if bounds else "nothing limits it here"
    own = max(batch // int(study.first.case.value("attention_dp")), 1)
    ranks = "" if own == batch else f"; {own:,} per rank"
    because += _on_their_way(study, batch)
    return Advice("max-num-seqs", str(own), because + ranks, limits), with_values(study, batch=batch)


def _in_time(sequences: Advice, study: Study) -> tuple[Advice, Study]:
    """No more requests than leave a chunk that reads prompts within the TTFT target: the most that the ITL target allows leave the smallest
    chunk, and a prompt then takes as many steps as a response. As many as before where not even one request does."""
    ranks, allowed = int(study.first.case.value("attention_dp")), int(sequences.value)

    def late(own: int) -> bool:
        alone = _unqueued(with_values(study, batch=own * ranks))
        return _late_prompts(_at_work(_budget(alone)[1]).first)

    if "ttft" not in study.first.targets or not late(allowed) or late(1):
        return sequences, study
    most = 1 + bisect_left(range(2, allowed), True, key=late)
    because = (
        f"{sequences.because}; no more than {most:,}{' of each rank' if ranks > 1 else ''}, which leave a chunk that reads a prompt within the TTFT target"
    )
    return replace(sequences, value=str(most), because=because), with_values(study, batch=most * ranks)


def _on_their_way(study: Study, batch: int) -> str:
    """How many of so many requests decode: prompts on their way hold cache too."""
    steps, pieces = (study.first.get(name) for name in ("response_steps", "prompt_chunks"))
    if steps is None or pieces is None or not steps.value:
        return ""
    decoding = Fraction(batch) * Fraction(steps.value) / (Fraction(steps.value) + Fraction(pieces.value))
    return f"; of them about {math.floor(decoding):,} decode, for prompts that are being prefilled hold cache too"


def _budget(study: Study) -> tuple[Advice, Study]:
    """The batch and the largest chunk beside it: within the ITL target, or else free of charge, or else a whole prompt."""
    limits = chunk_limits(study)
    batch = own_requests(study, int(study.first.case.value("batch")))
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


def _short(limit: Limit) -> str:
    return limit.name if limit.name in THRESHOLDS else "ITL target under chunked prefill"


def _recommended(served: Served, advice: list[Advice]) -> str:
    """The line with the recommended flags in the place of its own."""
    line: Line = served.line
    chosen = {item.flag: item.value for item in advice}
    words = ["vllm", "serve", str(served.line.flags["model"].value)]
    for name, written in line.flags.items():
        if name == "model" or name in chosen:
            continue
        if isinstance(written.value, bool):
            words.append(f"--{name}" if written.value else f"--no-{name}")
        else:
            words += [f"--{name}", written.text]
    for name, value in chosen.items():
        words += [f"--{name}", value]
    variables = [word for word in served.others if not word.startswith("-") and "=" in word and word in line.source.split("vllm")[0]]
    rest = [word for word in served.others if word not in variables]
    return shlex.join([*variables, *words, *rest])
