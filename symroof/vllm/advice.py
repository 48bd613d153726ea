"""The performance of a server's command, and a recommended command with the threshold behind every number."""

import math
import re
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction

from symroof.analysis.study import Study
from symroof.analysis.verdict import (
    ISOLATED_METRICS,
    MEMORY,
    TargetCheck,
    target_checks,
    target_warnings,
)
from symroof.cases.bound_case import BoundCase
from symroof.cases.quantity_result import Result
from symroof.specs import catalogue
from symroof.symbolic.evaluation import NoValue
from symroof.theory.symbols import TARGET_SYMBOLS
from symroof.vllm.batch_limits import (
    BatchLimit,
    batch_limits,
    chunk_limits,
    requests_per_rank,
    solved,
    with_values,
)
from symroof.vllm.command_line import VARIABLE, ServeCommand, read_line
from symroof.vllm.engines import ENGINES, LLAMA, SGLANG, TRTLLM, engine_of_image
from symroof.vllm.served_case import ServedCase, refusal, served_case

DEVICES_OF_A_NODE = 8
"""Devices of a group at most, where a device's spec does not say how many its links join."""
SMALL_LOSS = Fraction(1, 20)
LATER = 2
"""The share of requests that steps within the ITL target may cost, and how many times as late the first token may be; a smaller budget that costs more is not
recommended."""
DECIDED = ("tp", "batch", "chunk", "token_budget", "kv")
"""What a recommended line says itself, whatever was chosen beside the line it replaces."""
NARROW_CACHE = Fraction(17, 16)
"""Bytes of a cache element of 8 bits, with its share of llama.cpp's scale."""
FACTS = (
    "memory_bytes", "usable_memory", "fits", "concurrency", "itl", "itl_last", "mixed_time", "ttft", "chunk_steps", "chunked_ttft", "decode_throughput",
    "sustained_itl", "loaded_itl", "loaded_ttft", "worst_itl", "sustained_throughput", "cost_per_mtok", "speculation_speedup",
)  # fmt: skip
UNDER_LOAD = frozenset(
    {
        "sustained_itl",
        "loaded_itl",
        "loaded_ttft",
        "worst_itl",
        "sustained_throughput",
        "cost_per_mtok",
    }
)
"""Facts that use the token budgets of all ranks; a step with one chunk uses that of its own rank."""
RESULTS = (
    "sustained_itl",
    "loaded_itl",
    "worst_itl",
    "loaded_ttft",
    "sustained_throughput",
    "load",
    "cost_per_mtok",
    "fleet_price",
)
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
        fleet: their case: the recommended line, read again.
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
    fleet: BoundCase | None = None
    missed_targets: list[str] = field(default_factory=list)
    in_time: bool = False

    def case_of(self, name: str) -> BoundCase:
        """The case of a fact."""
        return self.under_load if name in UNDER_LOAD else self.served.study.first


def review(served: ServedCase) -> Review:
    """Explain a command and recommend another, which is read again: what is said of it is what its own line gives."""
    limits = [*batch_limits(served.study), *chunk_limits(served.study)]
    advice, why = _recommendations(served)
    made = Review(
        served,
        _under_load(served).first,
        {},
        limits,
        advice,
        _recommended_command(served, advice) if advice else "",
        [*served.warnings, *why],
    )
    made.facts = {
        name: result for name in FACTS if (result := made.case_of(name).get(name)) is not None
    }
    if advice:
        study = _under_load(
            served_case(read_line(made.line, ENGINES), served.chosen.without(DECIDED))
        )
        made.replicas = _replicas(study)
        fleet = with_values(study, dp=made.replicas[0]) if made.replicas else study
        made.fleet = fleet.first
        made.gives = {
            name: result for name in RESULTS if (result := fleet.first.get(name)) is not None
        }
        made.missed_targets = target_warnings(fleet.first)
        made.in_time = any(
            check.met for check in target_checks(fleet.first) if check.name == "ttft"
        )
    return made


def _under_load(served: ServedCase) -> Study:
    """The same case with the chunks of all ranks, as quantities of a loaded instance count them."""
    case = served.study.first.case
    ranks = int(case.value("attention_dp"))
    return (
        served.study
        if ranks == 1 or not case.is_set("chunk")
        else with_values(served.study, chunk=ranks * case.value("chunk"))
    )


def _replicas(study: Study) -> tuple[int, int] | None:
    """Replicas that sustain the arrival rate within the TTFT target, at the slow end of the efficiencies and as expected. At a load of 1 the queue grows."""
    if "arrival_rate" not in study.first.given or study.first.get("load") is None:
        return None
    return _least_replicas(study, lambda answers: answers.slow_end), _least_replicas(
        study, lambda answers: answers
    )


def _least_replicas(study: Study, end: Callable[[BoundCase], BoundCase]) -> int:
    """The least number of replicas that keeps up and, if more help, meets the TTFT target."""
    own = end(study.first).case
    least = math.floor(own.value("load") * own.value("dp")) + 1
    tried = range(least, 2 * least + 2)
    return next(
        (
            replicas
            for replicas in tried
            if not _misses_ttft(end(with_values(study, dp=replicas).first))
        ),
        least,
    )


def _misses_ttft(answers: BoundCase) -> bool:
    """Whether the mean TTFT, queueing included, misses its target."""
    ttft = answers.get("loaded_ttft")
    return "ttft" in answers.targets and (
        ttft is None or Fraction(ttft.value) > answers.targets["ttft"]
    )


def _recommendations(served: ServedCase) -> tuple[list[Advice], list[str]]:
    """Flags in the order in which they depend on each other: devices, cache precision, batch, budget; or why there are none."""
    first = served.study.first
    if first.hardware is None and "mem_capacity" not in first.given:
        return [], ["no command line is recommended without a device: give --hardware"]
    groups = [_on_devices(served, count) for count in _group_sizes(served)]
    try:
        chosen = next(
            (
                found
                for slow in (True, False)
                for group in groups
                if (found := _best(served, group, slow))
            ),
            None,
        )
        if chosen is None:
            return [], [f"no command line is recommended: {_out_of_reach(served, groups[-1])}"]
        cache, chosen = _cache(served, chosen)
        return [
            _group(served, chosen),
            *_length(served),
            cache,
            _sequences(served, chosen),
            *([_budget(served, chosen)] if served.chunked else []),
        ], []
    except NoValue as error:
        return [], [f"no command line is recommended: {error}"]


@dataclass(frozen=True)
class Settings:
    """A group of devices with a batch and a budget.

    Attributes:
        study: with these devices and this cache; its batch and its chunk are left open.
        batch: requests of all ranks: the most that fit and meet the targets with this budget.
        budget: tokens of a step of a rank.
        slow: whether the targets are met at the slow end of what was measured, not only at the values expected.
        per_step: the largest chunk that no step is longer than the ITL target with, the share of requests that it would cost, and how many times as late the
            first token would be, where that is too much.
    """

    study: Study
    batch: int
    budget: int
    slow: bool
    per_step: tuple[int, Fraction, Fraction] | None = None

    def answers(self, batch: int | None = None) -> BoundCase:
        """The case at its batch and budget, or at another batch; at one end of the efficiencies or as expected, but no ranges of them."""
        made = with_values(self.study, batch=batch or self.batch, token_budget=self.budget).first
        return made.slow_end if self.slow else made

    @property
    def rate(self) -> Fraction:
        """Requests a second; 0 where no output is given."""
        return self._number("sustained_requests")

    @property
    def first_token(self) -> Fraction:
        """The time to first token under load, without a queue; 0 where no output is given."""
        return self._number("loaded_ttft")

    def _number(self, name: str) -> Fraction:
        found = self.answers().get(name)
        return Fraction(found.value) if found else Fraction(0)


def _group_sizes(served: ServedCase) -> Iterator[int]:
    """The command's devices, and powers of two above them that the engine takes, within a node."""
    case, device = served.study.first.case, served.study.first.hardware
    start, groups = int(case.value("tp")), int(case.value("attention_dp") * case.value("pp"))
    joined = device.link.devices if device and device.link else None
    yield start
    if served.line.engine is LLAMA:  # which splits by layers or by rows, in shares
        return
    count = 1 << start.bit_length()
    while count * groups <= (int(joined.value.value) if joined else DEVICES_OF_A_NODE):
        if not refusal(served.line, served.spec, count):
            yield count
        count *= 2


def _on_devices(served: ServedCase, count: int) -> Study:
    """The case of the line with so many tensor-parallel devices, as it is read; its batch and its chunk are left open, and the number of replicas is decided last."""
    study = served.study
    if count != study.first.case.value("tp"):
        line = _recommended_command(
            served, [Advice("tensor-parallel-size", str(count * _inside(served)), "")]
        )
        study = served_case(read_line(line, ENGINES), served.chosen.without(("tp",))).study
    made = Study()
    made.select(study.request.without(("arrival_rate", "batch", "chunk")))
    return made


def _best(served: ServedCase, group: Study, slow: bool) -> Settings | None:
    """The largest batch that fits and meets every latency target with the budget that the engine starts with, or with a larger one where the first token needs it."""
    prompt = (
        int(group.first.case.value("prompt"))
        if "ttft" in group.first.targets and served.chunked and "prompt" in group.first.given
        else 0
    )
    budget = served.budget
    while True:
        batch = _largest_batch(served, group, budget, slow)
        if batch:
            return _within_steps(served, Settings(group, batch, budget, slow))
        if budget >= prompt:
            return None
        budget *= 2


def _largest_batch(served: ServedCase, group: Study, budget: int, slow: bool) -> int:
    """Requests of all ranks, the same number of each; no more than run at once, and than prompts are read for beside them: others only wait."""
    answers = with_values(group, token_budget=budget).first
    case = (answers.slow_end if slow else answers).case
    ranks = int(case.value("attention_dp"))
    engine = int(case.value("max_batch")) * ranks if case.is_set("max_batch") else served.asked
    limits = [int(case.value("best_batch")), max(engine, served.asked)]
    if served.chunked and case.is_set("output"):
        limits.append(
            math.floor(
                ranks * budget / (1 + case.changed({"batch": Fraction(1)}).value("even_chunk"))
            )
        )
    return min(limits) // ranks * ranks


def _within_steps(served: ServedCase, found: Settings) -> Settings:
    """The largest budget with which not even the longest step misses the ITL target, where that costs few requests; else the same settings, and what it would cost.

    A prompt that is read in chunks of a few tokens takes as many steps as a long response, and each reads all weights."""
    if not served.chunked or "itl" not in found.study.first.targets or not found.rate:
        return found
    full = with_values(found.study, batch=found.batch, token_budget=found.budget)
    limit = next(
        (limit.value for limit in chunk_limits(full, found.slow) if limit.name == "max_chunk_itl"),
        None,
    )
    own = requests_per_rank(full, found.batch)
    if limit is None or limit + own >= found.budget:
        return found
    batch = _largest_batch(served, found.study, limit + own, found.slow) if limit else 0
    smaller = replace(found, batch=batch, budget=limit + own)
    loss, later = (
        (1 - smaller.rate / found.rate, smaller.first_token / found.first_token)
        if batch
        else (Fraction(1), Fraction(1))
    )
    if loss > SMALL_LOSS or later > LATER:
        return replace(found, per_step=(limit, loss, later))
    again = _within_steps(served, smaller)  # with a smaller budget another batch may be the largest
    return replace(smaller, batch=min(batch, found.batch)) if again.per_step else again


def _out_of_reach(served: ServedCase, group: Study) -> str:
    """Why no batch of any group is good enough: memory, or the bound of a latency on the largest group."""
    prompt = (
        int(group.first.case.value("prompt"))
        if served.chunked and "ttft" in group.first.targets
        else 0
    )
    alone = with_values(
        group, batch=1, token_budget=max(served.budget, prompt)
    ).first  # the budget with the earliest first token
    count = f"{int(alone.case.value('instance_devices')):,} devices"
    if alone.does_not_fit:
        needs, has = (alone.result(name).plain() for name in ("memory_bytes", "usable_memory"))
        return f"not one request of {served.requested:,} tokens fits on {count}: it needs {needs} of {has} usable"
    missed = [
        check
        for check in target_checks(alone)
        if check.name in ISOLATED_METRICS and check.met is not True
    ]
    said = [
        f"{check.metric.name} {check.metric.text()}, target {check.against}{_bound(alone, check)}"
        for check in missed
    ]
    return f"not reachable with one request on {count}: {'; '.join(said)}"


def _bound(alone: BoundCase, check: TargetCheck) -> str:
    bound = alone.peak_bound(check.metric.name)
    return f"; the bound at 100 % of peak is {bound.plain()}" if bound else ""


def _group(served: ServedCase, chosen: Settings) -> Advice:
    """The smallest group, no smaller than the command's, that fits a request and meets the latency targets."""
    lone = with_values(chosen.study, batch=1, token_budget=chosen.budget)
    names = [
        "min_devices_memory",
        *(
            f"min_devices_{name}"
            for name in ("ttft", "itl")
            if TARGET_SYMBOLS[name] in lone.first.given
        ),
    ]
    limits = [limit for name in names if (limit := solved(lone, name, "tp"))]
    least = max((limit.value or 1 for limit in limits), default=1)
    start, count = (int(study.first.case.value("tp")) for study in (served.study, chosen.study))
    least = min(
        least, count
    )  # alone on it a request may be late with whole prompts, and in time in chunks
    least, start, count = (number * _inside(served) for number in (least, start, count))
    end = (
        f"the command line has {count}"
        if count == start
        else f"{count} is the next power of two that serves it"
    )
    return Advice(
        "tensor-parallel-size",
        str(count),
        f"one request needs {least} device{'s' * (least > 1)}; {end}",
        limits,
    )


def _inside(served: ServedCase) -> int:
    """The groups of attention that lie inside the tensor-parallel devices of a line, 1 where they are beside them."""
    return (
        int(served.study.first.case.value("attention_dp"))
        if served.line.engine in (SGLANG, TRTLLM)
        else 1
    )


def _length(served: ServedCase) -> list[Advice]:
    """A length that the requests of the workload have room in, where the line has less and the model has as much."""
    written = served.line.flags.get("max-model-len")
    longest, needed = served.spec.max_context, served.requested
    if (
        written is None
        or served.longest is None
        or served.longest >= needed
        or served.line.engine is LLAMA
        or (longest is not None and needed > longest)
    ):
        return []
    return [
        Advice(
            "max-model-len",
            str(needed),
            f"prompt and output are {needed:,} tokens, more than {served.longest:,}",
        )
    ]


def _cache(served: ServedCase, chosen: Settings) -> tuple[Advice, Settings]:
    """An 8-bit cache if memory limits the batch and more requests then meet the targets; otherwise the command's setting."""
    now = chosen.study.first.case.value("kv_bytes_per_element")
    written = served.line.flags.get("kv-cache-dtype")
    current = written.value if written else "auto"
    if now <= NARROW_CACHE:
        return Advice("kv-cache-dtype", current, "the cache is in 8 bits or less already"), chosen
    if _stopped_by(served, chosen) != [MEMORY]:
        return Advice(
            "kv-cache-dtype",
            current,
            "memory does not limit the batch, so a lower-precision cache does not allow a larger one",
        ), chosen
    narrow = _best(
        served,
        with_values(chosen.study, kv="8.5 bit" if served.line.engine is LLAMA else "fp8"),
        chosen.slow,
    )
    if narrow is None or narrow.batch <= chosen.batch:
        return Advice(
            "kv-cache-dtype", current, "a lower-precision cache would not allow a larger batch"
        ), chosen
    full = with_values(narrow.study, batch=narrow.batch, token_budget=narrow.budget)
    more = [limit for limit in batch_limits(full) if limit.name == "max_batch_memory"]
    because = f"memory limits the batch: {chosen.batch:,} requests with {float(now):g} bytes an element, {narrow.batch:,} with 1; what it does to the answers is not modelled"
    names = {SGLANG.name: "fp8_e4m3", LLAMA.name: "q8_0"}
    return Advice(
        "kv-cache-dtype", names.get(served.line.engine.name, "fp8"), because, more
    ), narrow


def _stopped_by(served: ServedCase, chosen: Settings) -> list[str]:
    """What one request more of each rank breaks: memory, or targets; nothing where fewer run at once, or prompts are read for."""
    ranks = int(chosen.study.first.case.value("attention_dp"))
    more = chosen.answers(batch=chosen.batch + ranks)
    if more.does_not_fit:
        return [MEMORY]
    return [
        check.name
        for check in target_checks(more)
        if check.name in ISOLATED_METRICS and check.met is not True
    ]


def _sequences(served: ServedCase, chosen: Settings) -> Advice:
    """The batch of a rank, and what stops it."""
    full = with_values(chosen.study, batch=chosen.batch, token_budget=chosen.budget)
    own = requests_per_rank(full, chosen.batch)
    stopped = _stopped_by(served, chosen)
    where = (
        " at the slow end of what was measured"
        if chosen.slow and full.first.box
        else " as expected"
        if full.first.box
        else ""
    )
    if stopped == [MEMORY]:
        because = "as many as fit in memory"
    elif stopped:
        because = f"as many as meet the {' and '.join(name.upper() for name in stopped)} target{where}; {int(full.first.case.value('concurrency')):,} fit"
    else:
        because = "as many as run at once and prompts are read for beside them; more fit"
    ranks = "" if own == chosen.batch else f"; {own:,} per rank"
    said = own * (
        _inside(served) if served.line.engine is SGLANG else 1
    )  # its limit is of all groups
    return Advice(
        "max-num-seqs",
        str(said),
        because + _prefilling_note(full, chosen.batch) + ranks,
        batch_limits(full),
    )


def _prefilling_note(study: Study, batch: int) -> str:
    """A note on how many requests decode, since requests in prefill also hold cache."""
    steps, pieces = (study.first.get(name) for name in ("response_steps", "prompt_chunks"))
    if steps is None or pieces is None or not steps.value:
        return ""
    decoding = (
        Fraction(batch) * Fraction(steps.value) / (Fraction(steps.value) + Fraction(pieces.value))
    )
    return f"; of them about {math.floor(decoding):,} decode, because prompts in prefill also hold cache"


def _budget(served: ServedCase, chosen: Settings) -> Advice:
    """The budget of a step of a rank, and why it is not another."""
    full = with_values(chosen.study, batch=chosen.batch, token_budget=chosen.budget)
    own = requests_per_rank(full, chosen.batch)
    if chosen.budget < served.budget:
        because = f"chunk + batch = {chosen.budget - own:,} + {own:,}: the largest chunk with which the longest step meets the ITL target"
    elif chosen.budget > served.budget:
        because = f"the first token is not in time with {served.budget:,}"
    elif chosen.per_step:
        chunk, loss, later = chosen.per_step
        fewer = (
            f"serve {float(100 * loss):.0f} % fewer requests"
            if loss > SMALL_LOSS
            else f"bring the first token {float(later):.2g} times as late"
        )
        fewer = fewer if loss < 1 else "meet the targets with no batch"
        within = (
            f"it would take chunks of {chunk:,} tokens, which {fewer}"
            if chunk
            else "it is not reachable: no chunk beside a decode is short enough"
        )
        because = f"what the engine starts with; the mean step meets the ITL target, and for the longest {within}"
    else:
        because = "what the engine starts with"
    return Advice("max-num-batched-tokens", str(chosen.budget), because, chunk_limits(full))


def _recommended_command(served: ServedCase, advice: list[Advice]) -> str:
    """The command with the recommended flags, each flag once."""
    line: ServeCommand = served.line
    chosen = {item.flag: item.value for item in advice}
    if line.engine is LLAMA:
        chosen |= {
            "max-model-len": str(served.requested * int(chosen["max-num-seqs"])),
            "value-cache-dtype": chosen["kv-cache-dtype"],
        }
    on_hub = (
        line.engine is LLAMA and catalogue.model_by_hub_name(line.flags["model"].value) is not None
    )
    imaged = (
        bool(line.before) and engine_of_image(line.before[-1]) is not None
    )  # older images take no model without its flag
    model = (
        ["--model"]
        if imaged
        else ["-hf"]
        if on_hub
        else [line.engine.model_flag]
        if line.engine.model_flag
        else []
    )
    words = [*line.before, *model, str(line.flags["model"].value)]
    for name, written in line.flags.items():
        if name in ("model", "config") or name in chosen:
            continue
        if isinstance(written.value, bool):
            words.append(line.engine.spelled(name) if written.value else f"--no-{name}")
        else:
            words += [line.engine.spelled(name), written.text]
    for name, value in chosen.items():
        if (spelled := line.engine.spelled(name)) and not (
            line.engine is LLAMA and value in ("auto",)
        ):
            words += [spelled, value]
    return " ".join(map(_quoted, [*words, *served.others]))


def _quoted(word: str) -> str:
    """A word as a shell takes it, with its variables and its home open."""
    if re.fullmatch(r"~/[\w./:=,@%+-]*", word):
        return word
    return (
        f'"{word}"'
        if VARIABLE.search(word) and not re.search(r"""[\s"'`\\!]""", word)
        else shlex.quote(word)
    )
