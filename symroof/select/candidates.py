"""The candidates of a selection: lists such as ``hardware=all`` or ``weights=fp16,fp8``, and of each listed combination what nobody fixed: group sizes, chunked or
disaggregated prefill with its ratio, and the chunk."""

import copy
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from fnmatch import fnmatchcase
from fractions import Fraction
from typing import Any

from symroof.analysis.study import Study
from symroof.analysis.verdict import queues, under_load
from symroof.cases.bind_cases import variant
from symroof.cases.bound_case import BoundCase
from symroof.cases.request import ROLES, request_of
from symroof.errors import InputError, Problem, nearest
from symroof.select.configuration import OF_AN_INSTANCE, domain
from symroof.select.purchase import Purchase
from symroof.specs.catalogue import entries, model_by_hub_name
from symroof.specs.efficiencies import DEFAULT_ENGINE
from symroof.specs.engine_profile import IDEAL
from symroof.specs.model import ModelSpec
from symroof.symbolic.expressions import fraction, is_number
from symroof.theory.declarations import Declarations
from symroof.theory.layout import DEGREES
from symroof.theory.spellings import symbol_name
from symroof.theory.switches import SWITCHES
from symroof.theory.symbols import INPUTS, canonical

ALL = "all"
KINDS = {"hardware": "hardware", "model": "models"}
"""Candidates that are chosen by name, and the part of the catalogue that has the names."""
ORIGIN = "among"
MOST_CANDIDATES = 20_000
"""Configurations of one selection at most."""


def with_candidates(study: Study, among: Mapping[str, Any], all_devices: bool = False) -> Study:
    """The study with its own values of some names replaced by candidates; with ``all_devices`` every device of the catalogue with a price where none is named.

    A name is ``hardware``, ``model``, a precision (``weights``, ``kv``, ``activations``) or an input. A value is a list, or a
    text with commas; names of hardware and models may be ``all`` of the catalogue, or a pattern such as ``h100*``.

    >>> study = Study(model="llama-3-8b", hardware="h100-sxm", prompt=4096)
    >>> len(with_candidates(study, {"hardware": "h100*, h200", "tp": "1,2"}).cases)
    8

    Raises:
        InputError: an unknown name, an empty list, a value that cannot be read.
    """
    made = copy.copy(study)
    made.most_cases = MOST_CANDIDATES
    request = study.request
    described = request.hardware or "hardware" in among or "mem_capacity" in request.values
    if all_devices and not described and (request.models or "model" in among):
        shipped = entries("hardware").items()
        priced = [name for name, entry in shipped if "prices" in entry.document.data]
        among = {"hardware": priced, **among}
    if not among:
        return made
    own = study.declared
    named = {_name(key, own): value for key, value in among.items()}
    lists: dict[str, Any] = {name: _listed(name, value) for name, value in named.items()}
    named = {key: lists.pop(key, None) for key in KINDS}
    made.select(request_of(named["model"], named["hardware"], origin=ORIGIN, own=own, **lists))
    return made


def _name(key: Any, own: Declarations) -> str:
    """A name that can be chosen among, the inputs of the study's own theory too; a SymPy symbol is one.

    Raises:
        InputError: it is not declared.
    """
    text = str(symbol_name(key))
    name = canonical(text.strip())
    if name == "prefill_devices":
        hint = "--assume scheduling=disaggregated searches only layouts with such GPUs"
        message = "how many GPUs only prefill is searched, and is no list of candidates"
        raise InputError(Problem(ORIGIN, message, path=name, hint=hint))
    if name not in KINDS and name not in ROLES and own.input(name) is None:
        hint = nearest(text, [*KINDS, *ROLES, *INPUTS, *own])
        if name in SWITCHES:
            hint = f"--assume {name}={'|'.join(SWITCHES[name].values)} fixes it"
        raise InputError(Problem(ORIGIN, f"no such name {text[:40]!r} to choose among", hint=hint))
    return name


def _listed(name: str, value: Any) -> list[Any]:
    """The values of one name, patterns written out.

    Raises:
        InputError: none are left.
    """
    single = isinstance(value, str) or not isinstance(value, Iterable)
    values: list[Any] = []
    for item in [value] if single else value:
        values += _split(name, item) if isinstance(item, str) else [item]
    if name in KINDS:
        each = (entry for item in values for entry in _matching(name, str(item)))
        values = list(dict.fromkeys(each))
    if not values:
        raise InputError(Problem(ORIGIN, "an empty list of candidates", path=name))
    return values


def _split(name: str, text: str) -> list[str]:
    """A text at its commas; one that groups thousands would be two candidates.

    Raises:
        InputError: a part that begins with a nought, as of ``4,096``.
    """
    values = [part.strip() for part in text.split(",") if part.strip()]
    if whole := re.fullmatch(r"\s*(\d+)\s*(?:-|:|\.\.)\s*(\d+)\s*", text):
        between = [str(2**i) for i in range(31) if int(whole[1]) < 2**i < int(whole[2])]
        hint = f"write {name}={','.join([whole[1], *between[:6], whole[2]])}"
        raise InputError(Problem(ORIGIN, f"{text[:40]!r} is not a list", path=name, hint=hint))
    if any(part.isdigit() and part.startswith("0") and part != "0" for part in values):
        message, hint = f"{text[:40]!r}: a comma separates candidates", text.replace(",", "")[:40]
        raise InputError(Problem(ORIGIN, message, path=name, hint=f"write {hint}"))
    return values


def _matching(name: str, item: str) -> list[str]:
    """A name as it is, or every entry of the catalogue that a pattern matches."""
    if item != ALL and not any(sign in item for sign in "*?["):
        return [item]
    matching = [entry for entry in entries(KINDS[name]) if item == ALL or fnmatchcase(entry, item)]
    if not matching:
        message, hint = f"no {name} is like {item[:40]!r}", f"`symroof list {KINDS[name]}`"
        raise InputError(Problem(ORIGIN, message, path=name, hint=hint))
    return matching


CHUNKS = tuple(2**i for i in range(7, 15))
"""Prompt tokens of a step for each attention group, 128 to 16,384."""
RATIOS = tuple(map(Fraction, ["1/4", "1/3", "1/2", "2/3", "1", "3/2", "2", "3", "4", "6"]))
"""Devices that prefill for each that decodes."""


Layouts = Sequence[Mapping[str, int]]
"""What one command line can start instead: the degrees of a group, with its copies in ``dp``; of its own layout also its ``batch`` and ``chunk``."""


def candidates_of(bound_case: BoundCase, layouts: Layouts = ()) -> list[Purchase]:
    """The layouts of a combination that the engine starts, with every chunk or every ratio of prefill instances; the combination itself where all is fixed.

    With ``layouts`` only these, each as it is, or as often as an arrival rate asks for.

    >>> from symroof.analysis.study import Study
    >>> case = {"model": "llama-3.1-8b", "hardware": "h100-sxm", "prompt": 2048, "output": 300, "batch": 1}
    >>> len(candidates_of(Study(**case).first)), len(candidates_of(Study(**case, tp=2, chunk=2048).first))
    (24, 1)
    """
    if layouts:
        return list(_lines(bound_case, layouts))
    request, made = bound_case.request, []
    only = request.prefill or request.assume.get("scheduling") == "disaggregated"
    for degrees in _groups(bound_case):
        apart = [*_disaggregated(bound_case, degrees)]
        if not (apart and only):
            with suppress(InputError):  # the engine does not start it
                own = variant(bound_case, degrees) if degrees else bound_case
                made += _chunked(Purchase(own))
        made += apart
    return made or [Purchase(bound_case)]


def _lines(bound_case: BoundCase, layouts: Layouts) -> Iterator[Purchase]:
    """The layouts of a command line, prompts read as it is."""
    often = queues(bound_case.case)
    for layout in layouts:
        degrees = {name: Fraction(n) for name, n in layout.items() if name in DEGREES}
        copies = int(degrees.pop("dp")) if often else 1
        try:
            made = variant(bound_case, degrees)
        except InputError:
            continue  # the engine does not start it
        yield from _chunked(Purchase(made, copies_of=copies, as_given=layout))


def _groups(bound_case: BoundCase) -> Iterator[dict[str, Fraction]]:
    """Degrees of one group: tensor-parallel, with experts also groups of attention, or one group whose experts stand whole; only those given where one is, and
    of a preset, which counts what its own tool counts."""
    set_ones = bound_case.request.values.keys()
    if bound_case.model is None or bound_case.preset or set_ones & {*OF_AN_INSTANCE}:
        yield {}
        return
    most, case = domain(bound_case), bound_case.case
    if most > 1 and case.has("network_bandwidth") and case.has_value("usable_memory_per_device"):
        room = most * case.value("usable_memory_per_device")
        most *= 2 if case.value("weight_bytes") > room else 1  # then a network joins two of these
    experts = int(case.value("n_experts")) if "n_experts" in bound_case.given else 0
    for tp in _sizes(most):
        for groups in _sizes(most // tp) if experts else [1]:
            whole = [tp * groups] if groups > 1 else whole_experts(experts, tp)
            for ep in whole:
                degrees = {"tp": tp, "attention_dp": groups, "ep": ep}
                if starts(bound_case, degrees):
                    yield {name: Fraction(n) for name, n in degrees.items() if n > 1}


def whole_experts(experts: int, tp: int) -> list[int]:
    """Whether tensor-parallel devices cut each expert, 1, or hold whole ones as well, as many each: ``--enable-expert-parallel`` without groups of attention.

    >>> whole_experts(128, 8), whole_experts(128, 3), whole_experts(0, 8)
    ([1, 8], [1], [1])
    """
    return [1, tp] if tp > 1 and experts and experts % tp == 0 else [1]


def starts(bound_case: BoundCase, degrees: Mapping[str, int]) -> bool:
    """Whether heads, and widths that experts or blocks of scales do not keep whole, divide among the tensor-parallel devices."""
    return bound_case.case.can_split_heads(degrees["tp"]) and not refused_cut(bound_case, degrees)


def refused_cut(bound_case: BoundCase, degrees: Mapping[str, int]) -> str:
    """Why the engine of a case does not start with so many tensor-parallel devices; empty where it does, or where no engine is named that cuts evenly."""
    model, engine = bound_case.model, bound_case.engine
    if model is None or engine is None or engine.label == IDEAL or engine.kind == "ggml":
        return ""
    return uneven_cut(model, bound_case.asked_model, degrees["tp"], degrees["ep"] > 1)


def not_started(bound_case: BoundCase) -> str:
    """That the engine of a case does not start it, why, and whether it does with whole experts; empty where it starts."""
    if not bound_case.case.has_value("instance_devices") or bound_case.engine is None:
        return ""
    degrees = {name: int(bound_case.case.value(name)) for name in ("tp", "ep")}
    why, tp = refused_cut(bound_case, degrees), degrees["tp"]
    whole = "n_experts" in bound_case.given and not refused_cut(bound_case, degrees | {"ep": tp})
    end = f"; it starts with --ep {tp}" * whole
    return f"{bound_case.engine.said} does not start this: {why}{end}" if why else ""


CUT = {
    "n_heads": "query heads",
    "d_ff": "columns of a feed-forward",
    "d_expert": "columns of an expert",
}
"""What tensor parallelism cuts into equal parts."""


def uneven_cut(model: ModelSpec, name: str, tp: int, whole_experts: bool) -> str:
    """Why an engine does not start with so many tensor-parallel devices; empty where it does.

    vLLM, SGLang and TensorRT-LLM cut query heads and feed-forward widths into equal parts (``verify_with_parallel_config`` and ``divide`` of vLLM); key
    and value heads may also have copies. Blocks of scales stay whole, where a spec has them: a ``name`` that ends in ``FP8`` does not say whether one scale is of
    a block or of a row. Experts that stand whole are not cut.
    """
    hub = model_by_hub_name(name)
    block = 0 if hub and hub.stored else model.quantization and model.quantization.scale_rows
    uneven: dict[str, None] = {}
    for kind in model.layers if tp > 1 else ():
        for key, width in kind.widths().items():
            if key not in CUT or (whole_experts and key == "d_expert"):
                continue
            if width % tp:
                uneven[f"{width:,} {CUT[key]}"] = None
            elif key != "n_heads" and block and width // tp % block:
                return f"tp {tp} cuts a feed-forward of {width:,} into {width // tp:,} each, which blocks of {block} rows with one scale do not divide"
    return f"tp {tp} does not divide {' or '.join(uneven)}" if uneven else ""


def _sizes(most: int) -> list[int]:
    """Powers of two up to a number, and the number itself."""
    return sorted({2**i for i in range(most.bit_length())} | {most})


def _chunked(one: Purchase) -> list[Purchase]:
    """The layout as the engine schedules it, with every chunk below its own budget where none is set."""
    bound_case = one.own
    budget = bound_case.given.get("token_budget")
    if (
        bound_case.request.values.keys() & {"chunk", "token_budget"}
        or bound_case.preset
        or budget is None
        or not is_number(budget.setting)
        or "chunk" not in bound_case.given
        or not under_load(bound_case.case)
    ):
        return [one]
    return _at_chunks(one, CHUNKS)


def _at_chunks(one: Purchase, chunks: Iterable[int]) -> list[Purchase]:
    """A layout with each of some chunks that is below its budget, and with that of the command line."""
    ranks = int(one.own.number("attention_dp"))
    most = fraction(one.own.given["token_budget"].setting)
    tried = sorted({one.as_given.get("chunk", 0), *(n for n in chunks if n < most)})
    return [replace(one, changes={"chunk": Fraction(n * ranks)}) for n in tried if n]


def _disaggregated(bound_case: BoundCase, degrees: dict[str, Fraction]) -> Iterator[Purchase]:
    """The layout with prompts read on devices of their own, where nobody decided how prompts are scheduled and there is a network to hand caches over."""
    request, case = bound_case.request, bound_case.case
    decided = (
        request.assume.get("scheduling", "disaggregated") != "disaggregated"
        or not (bound_case.assumptions.defaulted("scheduling") or "scheduling" in request.assume)
        or request.prefill.keys() & {"instances", "devices"}
        or request.values.keys() & {"prefill_devices", "chunk", "token_budget"}
    )
    if (
        decided
        or bound_case.model is None
        or bound_case.preset
        or bound_case.engine is None
        or bound_case.engine.kind != DEFAULT_ENGINE
        or not case.has("network_bandwidth")
        or not under_load(case)
        or "arrival_rate" not in bound_case.given  # one instance is judged
    ):
        return
    sizes = [degrees.get(name, 1) for name in ("tp", "attention_dp")]
    size = Fraction(math.prod(sizes) if degrees else case.value("instance_devices"))
    for made in _apart(bound_case, degrees, size):
        group = Fraction(made.case.value("prefill_instance_devices"))
        # else as the rate asks
        own = Fraction(made.case.value("dp")) if "dp" in made.given else None
        for share in RATIOS:
            ratio = share * size / group  # instances that prefill for each that decodes
            if own is None or (own * ratio).denominator == 1:
                yield Purchase(made, {"prefill_devices": size * share}, ratio.denominator)


def _apart(
    bound_case: BoundCase, degrees: Mapping[str, Fraction], size: Fraction
) -> Iterator[BoundCase]:
    """A layout beside instances that only prefill: as the study lays these out, or else in the same layout, and in the fewest devices that hold the model and a
    prompt."""
    if bound_case.request.prefill:
        with suppress(InputError):
            yield variant(bound_case, degrees, scheduling="disaggregated")
        return
    with suppress(InputError):
        changes = {**degrees, "prefill_devices": size}
        yield variant(bound_case, changes, scheduling="disaggregated")
    name = "attention_dp" if degrees.get("attention_dp", 1) > 1 else "tp"
    for few in (2**i for i in range(int(size).bit_length() - 1)):
        prefill = {name: few} | ({"ep": few} if degrees.get("ep", 1) > 1 else {})
        with suppress(InputError):
            yield variant(bound_case, degrees, prefill, scheduling="disaggregated")
            return


FINER = 6
"""Numbers of prefill instances that are tried for each number of instances that decode."""


def finer(one: Purchase, copies: int, open_copies: bool) -> list[Purchase]:
    """A layout with chunks between those that are tried; or with other numbers of instances that decode and that prefill than it has at so many copies, fewer
    devices in all."""
    case = one.own.case
    if "chunk" in one.changes:
        # where the number of replicas is open, few chunks save one
        parts = 4 if open_copies else 16
        between = range(parts + 1, 2 * parts + 1)
        return _at_chunks(one, (n * part // (2 * parts) for n in CHUNKS for part in between))
    if "prefill_devices" not in one.changes:
        return []
    size, apart = (int(case.value(f"{kind}instance_devices")) for kind in ("", "prefill_"))
    copies = copies if open_copies else int(case.value("dp"))
    most = copies * (size + one.changes["prefill_devices"])
    several = range(max(copies // 2, 1), 2 * copies + 1) if open_copies else [copies]
    shares = {
        Fraction(prefill, decode)
        for decode in several
        for prefill in range(1, math.ceil((most - decode * size) / apart))[-FINER:]
    }
    return [
        Purchase(one.own, {"prefill_devices": share * apart}, share.denominator)
        for share in sorted(shares)
    ]
