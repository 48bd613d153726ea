"""The performance of a server's command, and the recommended one: the answer of ``recommend`` on the devices that the command takes; and the line of a purchase."""

import math
import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from symroof.analysis.study import Study
from symroof.analysis.verdict import MEMORY, at_rate, queues
from symroof.cases.bound_case import BoundCase
from symroof.cases.values import Result
from symroof.errors import InputError
from symroof.select.candidates import starts, whole_experts
from symroof.select.configuration import OF_AN_INSTANCE, domain
from symroof.select.purchase import Purchase
from symroof.select.recommend import Recommendation, recommend
from symroof.select.screening import NEAR
from symroof.specs import catalogue
from symroof.specs.catalogue import HUB
from symroof.vllm.command_line import AUTO, VARIABLE
from symroof.vllm.engines import LLAMA, SGLANG, TRTLLM, VLLM, Engine, engine_of_image
from symroof.vllm.served_case import ServedCase, batch_limits, chunk_limits
from symroof.vllm.served_flags import BatchLimit, with_values

TOGETHER = (
    "tensor-parallel-size",
    "data-parallel-size",
    "enable-expert-parallel",
    "expert-parallel-size",
    "attention-dp",
)
"""Flags of a layout: those that a recommended one does not have are left out."""
TRANSFER = '{"kv_connector":"NixlConnector","kv_role":"kv_both"}'
"""How instances that only prefill hand their caches over, https://docs.vllm.ai/en/stable/features/nixl_connector_usage.html."""


def layout_flags(one: Purchase, engine: Engine, copies: int = 1) -> dict[str, str]:
    """The flags that say the layout, the largest batch and the tokens of a step, by the names here; a switch has no value.

    ``copies``: of the model, in one line.
    """
    ranks, found = one.parallel["attention_dp"], _degree_flags(one.parallel, engine, copies)
    each = 1 if engine is SGLANG else ranks  # whose largest batch is of all groups
    found["max-num-seqs"] = str(math.ceil(one.batch / each))
    if one.chunk is not None:
        decoded = float(one.case.case.value("decoded_tokens")) * one.batch
        found["max-num-batched-tokens"] = str(math.ceil((one.chunk + decoded) / ranks))
    return found


def _degree_flags(degrees: Mapping[str, int], engine: Engine, copies: int = 1) -> dict[str, str]:
    """The flags of an instance's degrees. vLLM counts ranks beside its tensor-parallel devices, SGLang and TensorRT-LLM inside them; llama.cpp lays out by shares, which stay."""
    if engine is LLAMA:
        return {}
    tp, ranks, ep = (degrees[name] for name in ("tp", "attention_dp", "ep"))
    inside = engine in (SGLANG, TRTLLM)
    found = {"tensor-parallel-size": str(tp * ranks if inside else tp)}
    if ranks * copies > 1 and engine is not TRTLLM:
        found["data-parallel-size"] = str(ranks * copies)
    if ranks > 1 and inside:
        found["attention-dp"] = ""
    if ep > 1:
        found |= {"expert-parallel-size": str(ep)} if inside else {"enable-expert-parallel": ""}
    return found


def serve_command(one: Purchase | None) -> str | None:
    """``vllm serve …`` of an instance that decodes; None of other engines, and without a model.

    >>> from symroof.analysis.study import Study
    >>> from symroof.select.recommend import recommend
    >>> serve_command(recommend(Study("llama-3.1-8b", "h100-sxm", prompt=2048, output=300, batch=64, chunk=2048)).pick)
    'vllm serve meta-llama/Llama-3.1-8B --max-num-seqs 64 --max-num-batched-tokens 2112'
    """
    return _vllm_line(one, one.parallel, layout_flags(one, VLLM)) if one else None


def prefill_command(one: Purchase | None) -> str | None:
    """The same of an instance that only prefills; None where none does."""
    if one is None or one.prefill is None:
        return None
    degrees = {name: one.prefill.get(name, 1) for name in OF_AN_INSTANCE}
    return _vllm_line(one, degrees, _degree_flags(degrees, VLLM))


def _vllm_line(one: Purchase, degrees: Mapping[str, int], layout: Mapping[str, str]) -> str | None:
    """``vllm serve`` of the model of a purchase in its precisions, with the degrees and the flags of a layout."""
    case, device = one.case, one.case.hardware
    apple = device and device.family == "apple"  # on which vLLM does not run
    if apple or not (case.model and case.engine and case.engine.name == VLLM.name):
        return None
    flags: dict[str, str] = {}
    if case.precisions.get("weights") == "fp8" and case.model.quantization is None:
        flags["quantization"] = "fp8"
    if case.precisions.get("kv") == "fp8":
        flags["kv-cache-dtype"] = "fp8"
    if degrees["pp"] > 1:
        flags["pipeline-parallel-size"] = str(degrees["pp"])
    flags |= {k: v for k, v in layout.items() if (k, v) != ("tensor-parallel-size", "1")}
    if not holds(case, case.model.max_context, degrees):
        flags["max-model-len"] = AUTO
    apart = ["--kv-transfer-config", TRANSFER] if len(one.group) > 1 else []
    return shlex.join(["vllm", "serve", _served_name(one), *_words(flags, VLLM), *apart])


def holds(case: BoundCase, longest: int | None, degrees: Mapping[str, int] | None = None) -> bool:
    """Whether each group has memory for one request of so many tokens, without which vLLM does not start."""
    at_longest = case.case.changed({**(degrees or {}), "context": longest or 1})
    groups = at_longest.value("attention_dp")
    return not at_longest.has_value("concurrency") or at_longest.value("concurrency") >= groups


def too_long(served: ServedCase) -> str:
    return f"a request of {served.longest or 0:,} tokens does not fit in memory"


def _served_name(one: Purchase) -> str:
    """The model as it is named, or by its address on the hub."""
    model, asked = one.case.model, one.own.request.models
    assert model
    named = asked[0] if asked and isinstance(asked[0], str) else model.name
    address = (model.source and model.source.address) or ""
    if "/" not in named and address.startswith(HUB):
        owner, _, repo = address.removeprefix(HUB).strip("/").rpartition("/")
        stem = repo.partition("-")[0]
        if named.replace("-", "") in model.name.replace("-", ""):
            return f"{owner}/{repo}"
        if named.startswith(f"{stem.lower()}-"):  # deepseek-r1 has the shape of DeepSeek-V3
            return f"{owner}/{stem}{named[len(stem) :].title()}"
    return named


def recommended_line(served: ServedCase, chosen: Mapping[str, str]) -> str:
    """The command with some flags chosen, each flag once."""
    line, engine = served.line, served.line.engine
    flags = dict(chosen)
    if engine is LLAMA:  # whose slots share the cache out
        flags["max-model-len"] = str(served.requested * int(chosen["max-num-seqs"]))
    named = line.flags["model"].value
    model = [engine.model_flag] if engine.model_flag else []
    if line.before and engine_of_image(line.before[-1]) is not None:
        model = ["--model"]  # older images take none without its flag
    elif engine is LLAMA and catalogue.model_by_hub_name(named) is not None:
        model = ["-hf"]
    kept = {
        name: "" if written.value is True else written.text
        for name, written in line.flags.items()
        if name not in ("model", "config", *TOGETHER, *flags) and written.value is not False
    }
    refused = (name for name, written in line.flags.items() if written.value is False)
    off = [f"--no-{name}" for name in refused if name not in TOGETHER]
    words = [*line.before, *model, str(named), *_words(kept | flags, engine), *off, *line.others]
    return " ".join(map(_quoted, words))


def _words(flags: Mapping[str, str], engine: Engine) -> list[str]:
    """Flags as the engine spells them; those that it does not have are left out."""
    spelled = {name: engine.spelled(name) for name in flags}
    pairs = ((spelled[name], value) for name, value in flags.items() if spelled[name])
    return [word for pair in pairs for word in pair if word]


def _quoted(word: str) -> str:
    """A word as a shell takes it, with its variables and its home open."""
    if re.fullmatch(r"~/[\w./:=,@%+-]*", word):
        return word
    plain = VARIABLE.search(word) and not re.search(r"""[\s"'`\\!]""", word)
    return f'"{word}"' if plain else shlex.quote(word)


OPEN = ("batch", "chunk", "token_budget", "dp")
"""What a command is searched for: its largest batch and the tokens of a step; copies, where requests arrive."""
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
    *RESULTS,
    "speculation_speedup",
)
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
    made = Review(served, limits, [*filter(None, [served.assumed]), *served.warnings])
    first = served.study.first
    if served.line.engine is VLLM and not holds(first, served.longest):
        made.warnings.append(f"vLLM does not start: {too_long(served)}")
    if first.hardware is None and "mem_capacity" not in first.given:
        made.warnings.append("no command line is recommended without a GPU: add --hardware")
        return made
    why, study = "", Study()
    opened = OPEN if served.chunked else ("batch", "dp")
    chosen = served.chosen.values  # by options, not by the line: these stay
    study.select(served.study.request.without([name for name in opened if name not in chosen]))
    counts = [_devices(served)]
    if served.line.engine is not LLAMA and first.case.value("pp") <= 1:
        # at a rate, or where nothing passes on them, powers of two above, within what links join
        larger = (2**i for i in range(counts[0].bit_length(), 11))
        counts += [count for count in larger if count <= domain(first)]
    # at a rate fewer replicas of more devices may be the cheaper
    for together in [counts] if queues(first.case) else [[count] for count in counts]:
        layouts = tuple(layout for count in together for layout in _layouts(served, count))
        try:
            made.found = recommend(study, layouts=layouts)
        except InputError as error:
            made.warnings.append(f"no command line is recommended: {error.problems[0].message}")
            return made
        if made.pick:
            made.warnings += made.found.choice.hints
            made.advice = _advice(served, made.pick, why)
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
    """The layouts of so many devices that a line of the engine can say and that it starts: the command's own first, with its batch and its chunk."""
    first = served.study.first
    engine, experts = served.line.engine, bool(served.spec.experts())
    own = {name: int(first.case.value(name)) for name in ("tp", "attention_dp", "ep", "dp")}
    if devices == _devices(served):
        laid = own if experts else {"tp": own["tp"], "dp": own["dp"]}
        steps = [name for name in ("batch", "chunk") if name in first.given]
        yield laid | {name: int(first.case.value(name)) for name in steps}
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


def _advice(served: ServedCase, pick: Purchase, why: str) -> list[Advice]:
    """The flags that say what was found, each with what decided it; ``why``: what the command's own devices lack."""
    rate = queues(pick.case.case)
    devices = pick.devices // (pick.replicas if rate else 1)
    flags = layout_flags(pick, served.line.engine, pick.copies_of if rate else pick.copies)
    word = f"{devices} GPUs" if devices > 1 else "one GPU"
    laid = why or f"the cheapest parallelism {'at this rate' if rate else f'on {word}'}"
    chunk = (pick.chunk or 0) // pick.parallel["attention_dp"]
    tokens = f"a full batch plus {chunk:,} prompt tokens, chosen together with the batch"
    if 0 < chunk + pick.batch // pick.parallel["attention_dp"] < served.budget:
        tokens += f"; {served.budget:,} tokens would prefill faster and stall decodes longer"
    because = {
        "data-parallel-size": f"DP ranks that fill {word}",
        "attention-dp": "DP attention",
        "expert-parallel-size": f"expert parallel over {word}",
        "enable-expert-parallel": f"expert parallel over {word}",
        "max-num-seqs": _batch_because(pick),
        "max-num-batched-tokens": tokens,
        "max-model-len": f"{too_long(served)}; auto takes the most that does",
    }
    if served.line.engine is VLLM and not holds(pick.case, served.longest):
        flags["max-model-len"] = AUTO
    made = [Advice(flag, value, because.get(flag, laid)) for flag, value in flags.items()]
    return [*made, *_others(served)]


def _batch_because(pick: Purchase) -> str:
    """What stops the batch, or why it is smaller than that."""
    window = pick.window
    stopped = window.stopped_by if window else ()
    if window and pick.batch < window.most:
        most = f"at most {100 * NEAR:g} % above"
        near = f"costs {most} the lowest, with a TTFT {most} the lowest at such a cost"
        found = "as given" if pick.chosen else near
        return f"{found}; up to {window.most:,} pass"
    if MEMORY in stopped:
        return "the most that fit in memory"
    names = " and ".join(name.upper() for name in stopped)
    slow = f" over the whole {pick.case.interval_word}" if pick.case.box else ""
    meets = f"batch that meets the {names} target{slow}" if names else "that passes"
    return f"the largest {meets}"


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
