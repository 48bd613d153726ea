"""The performance of a server's command, and the recommended one: the answer of ``recommend`` on the devices that the command takes."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from symroof.analysis.study import Study
from symroof.analysis.verdict import MEMORY, at_rate, queues
from symroof.cases.bound_case import BoundCase
from symroof.cases.quantity_result import Result
from symroof.errors import InputError
from symroof.select.purchase import Purchase
from symroof.select.recommend import Recommendation, recommend
from symroof.select.search_space import domain, starts, whole_experts
from symroof.vllm.batch_limits import BatchLimit, batch_limits, chunk_limits, with_values
from symroof.vllm.engines import LLAMA, TRTLLM
from symroof.vllm.serve_line import layout_flags, recommended_line
from symroof.vllm.served_case import ServedCase

OPEN = ("batch", "chunk", "token_budget", "dp")
"""What a command is searched for: its largest batch and the tokens of a step; copies, where requests arrive."""
FACTS = (
    "memory_bytes",
    "usable_memory",
    "fits",
    "concurrency",
    "itl",
    "itl_last",
    "mixed_time",
    "ttft",
    "chunk_steps",
    "chunked_ttft",
    "decode_throughput",
    "sustained_itl",
    "loaded_itl",
    "loaded_ttft",
    "worst_itl",
    "sustained_throughput",
    "sustained_throughput_per_device",
    "load",
    "cost_per_mtok",
    "fleet_price",
    "speculation_speedup",
)
RESULTS = (
    "sustained_itl",
    "loaded_itl",
    "worst_itl",
    "loaded_ttft",
    "sustained_throughput",
    "sustained_throughput_per_device",
    "load",
    "cost_per_mtok",
    "fleet_price",
)
"""Quantities of the recommended command, with the copies that the arrival rate needs."""
UNDER_LOAD = frozenset(RESULTS) - {"load", "fleet_price"}
"""Facts that use the token budgets of all ranks; a step with one chunk uses that of its own rank."""


@dataclass
class Advice:
    """A recommended flag, and why; a switch has no value."""

    flag: str
    value: str
    because: str


@dataclass
class Review:
    """A command with its explanation and what is recommended in its place.

    Attributes:
        limits: what limits its batch and its chunk.
        found: the recommendation for its devices; None where none is asked for, with a reason in ``warnings``.
        advice: the recommended flags; empty if nothing passes.
        line: the recommended command; empty if there is none.
    """

    served: ServedCase
    limits: list[BatchLimit]
    warnings: list[str]
    found: Recommendation | None = None
    advice: list[Advice] = field(default_factory=list)
    line: str = ""

    @property
    def pick(self) -> Purchase | None:
        return self.found.pick if self.found else None

    @cached_property
    def under_load(self) -> BoundCase:
        """The case of :data:`UNDER_LOAD`: vLLM has a budget per rank, and all ranks prefill at once."""
        case = self.served.study.first.case
        ranks = int(case.value("attention_dp"))
        if ranks == 1 or not case.is_set("chunk"):
            return self.served.study.first
        return with_values(self.served.study, chunk=ranks * case.value("chunk")).first

    def case_of(self, name: str) -> BoundCase:
        return self.under_load if name in UNDER_LOAD else self.served.study.first

    @cached_property
    def facts(self) -> dict[str, Result]:
        """Quantities of the command as given."""
        each = {name: _of_rate(name, self.case_of(name)) for name in FACTS}
        return {name: result for name, result in each.items() if result is not None}

    @cached_property
    def gives(self) -> dict[str, Result]:
        """Quantities of what is recommended."""
        found = {n: _of_rate(n, self.pick.case) if self.pick else None for n in RESULTS}
        return {name: result for name, result in found.items() if result is not None}


def _of_rate(name: str, case: BoundCase) -> Result | None:
    """A quantity of a case; the cost of a token at the rate where requests arrive at one."""
    return case.get(at_rate(name, case.case) if name == "cost_per_mtok" else name)


def review(served: ServedCase) -> Review:
    """Explain a command and recommend another."""
    limits = [*batch_limits(served.study), *chunk_limits(served.study)]
    made = Review(served, limits, list(served.warnings))
    first = served.study.first
    if first.hardware is None and "mem_capacity" not in first.given:
        made.warnings.append("no command line is recommended without a GPU: add --hardware")
        return made
    why, study = "", Study()
    opened = OPEN if served.chunked else ("batch", "dp")
    chosen = served.chosen.values  # by options, not by the line: these stay
    study.select(served.study.request.without([name for name in opened if name not in chosen]))
    counts = [_devices(served)]
    if served.line.engine is not LLAMA and first.case.value("pp") <= 1:
        # where nothing passes on them powers of two above, within what links join
        larger = (2**i for i in range(counts[0].bit_length(), 11))
        counts += [count for count in larger if count <= domain(first)]
    for count in counts:
        try:
            made.found = recommend(study, layouts=tuple(_layouts(served, count)))
        except InputError as error:
            made.warnings.append(f"no command line is recommended: {error.problems[0].message}")
            return made
        if made.pick:
            made.advice = _advice(served, made.pick, count, why)
            made.line = recommended_line(served, {item.flag: item.value for item in made.advice})
            return made
        for near in made.found.best[:1]:
            many = f"{near.devices} GPUs" if near.devices > 1 else "one GPU"
            why = why or f"{many} would not pass ({near.lacks})"
    reason = made.found.reason if made.found else ""
    made.warnings.append(f"no command line is recommended. {reason}")
    return made


def _devices(served: ServedCase) -> int:
    case = served.study.first.case
    return int(case.value("instance_devices") * case.value("dp"))


def _layouts(served: ServedCase, devices: int) -> Iterator[dict[str, int]]:
    """The layouts of so many devices that a line of the engine can say and that it starts: the command's own first."""
    first = served.study.first
    engine, experts = served.line.engine, bool(served.spec.experts())
    own = {name: int(first.case.value(name)) for name in ("tp", "attention_dp", "ep", "dp")}
    if devices == _devices(served):
        yield own if experts else {"tp": own["tp"], "dp": own["dp"]}
    if engine is LLAMA or first.case.value("pp") > 1:
        return
    for tp in (n for n in range(1, devices + 1) if devices % n == 0):
        groups = devices // tp
        made = {"tp": tp, "attention_dp": 1, "ep": 1, "dp": groups}
        said = groups == 1 or (engine is not TRTLLM and not experts)
        count = int(first.case.value("n_experts")) if experts else 0
        whole = whole_experts(count, tp)
        if experts and groups > 1:
            made |= {"attention_dp": groups, "dp": 1}
            whole, said = [devices], engine is not TRTLLM or tp == 1
        for ep in whole:
            made = made | {"ep": ep}
            if said and made != own and starts(first, made):
                yield made if experts else {"tp": tp, "dp": groups}


def _advice(served: ServedCase, pick: Purchase, devices: int, why: str) -> list[Advice]:
    """The flags that say what was found, each with what decided it; ``why``: what the command's own devices lack."""
    copies = pick.copies_of if queues(pick.case.case) else pick.copies
    flags = layout_flags(pick, served.line.engine, copies)
    word = f"{devices} GPUs" if devices > 1 else "one GPU"
    laid = why or f"the cheapest parallelism on {word}"
    because = {
        "data-parallel-size": f"DP ranks that fill {word}",
        "attention-dp": "DP attention",
        "expert-parallel-size": f"expert parallel over {word}",
        "enable-expert-parallel": f"expert parallel over {word}",
        "max-num-seqs": _batch_because(pick),
        "max-num-batched-tokens": f"a full batch plus {(pick.chunk or 0) // pick.parallel['attention_dp']:,} prompt tokens: the cheapest chunk that meets every target",
    }
    made = [Advice(flag, value, because.get(flag, laid)) for flag, value in flags.items()]
    return [*made, *_others(served)]


def _batch_because(pick: Purchase) -> str:
    """What stops the batch, or why it is smaller than that."""
    window = pick.window
    stopped = window.stopped_by if window else ()
    if window and pick.batch < window.most:
        near = "the lowest TTFT within 2 % of the lowest cost"
        found = "as given" if pick.chosen else near
        return f"{found}; up to {window.most:,} pass"
    if MEMORY in stopped:
        return "the most that fit in memory"
    names = " and ".join(name.upper() for name in stopped)
    slow = " over the whole 80 % interval" if pick.case.box else ""
    return (
        f"the largest batch that meets the {names} target{slow}"
        if names
        else "the largest that passes"
    )


def _others(served: ServedCase) -> Iterator[Advice]:
    """The precisions that options say over the command; a length that the workload has room in, where the line has less and the model has as much."""
    for role, flag in (("kv", "kv-cache-dtype"), ("weights", "quantization")):
        chosen = served.chosen.precision.get(role)
        choices = served.line.engine.flag(flag).choices
        words = {choices[word]: word for word in reversed(list(choices))}
        stored = served.spec.quantization if role == "weights" else None
        if chosen and chosen[0] in words and stored is None:
            yield Advice(flag, words[chosen[0]], f"as chosen: {role} {chosen[0]}")
    longest, most, needed = served.longest, served.spec.max_context, served.requested
    short = "max-model-len" in served.line.flags and longest is not None and longest < needed
    if short and served.line.engine is not LLAMA and (most is None or needed <= most):
        because = f"prompt and output are {needed:,} tokens, more than {longest:,}"
        yield Advice("max-model-len", str(needed), because)
