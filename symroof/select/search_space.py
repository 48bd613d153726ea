"""What nobody fixed: group sizes, chunked or disaggregated prefill with its ratio, and the chunk, as candidates of one listed combination."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from symroof.analysis.verdict import under_load
from symroof.cases.bind_cases import variant
from symroof.cases.bound_case import BoundCase
from symroof.errors import InputError
from symroof.select.screening import Candidate
from symroof.specs.efficiencies import DEFAULT_ENGINE
from symroof.symbolic.expressions import fraction, is_number

DEVICES_OF_A_NODE = 8
"""Devices of a group at most, where a device's spec does not say how many its links join."""
DEGREES = ("tp", "pp", "attention_dp", "ep")
"""With one of these set, the group is the one that was asked for."""
CHUNKS = tuple(2**i for i in range(7, 15))
"""Prompt tokens of a step for each attention group, 128 to 16,384."""
RATIOS = tuple(
    Fraction(prefill, decode)
    for prefill, decode in ((1, 4), (1, 3), (1, 2), (2, 3), (1, 1), (3, 2), (2, 1), (3, 1), (4, 1), (6, 1))
)  # fmt: skip
"""Instances that prefill for each that decodes."""
SHARES = 16
"""Of a given number of devices, prefill instances are tried in so many parts at most."""


def candidates_of(bound_case: BoundCase, devices: int | None = None) -> list[Candidate]:
    """The layouts of a combination that the engine starts, with every chunk or every ratio of prefill instances; the combination itself where all is fixed.

    With ``devices`` only those that take so many in all, none where the engine starts none.

    >>> from symroof.analysis.study import Study
    >>> case = {"model": "llama-3.1-8b", "hardware": "h100-sxm", "prompt": 2048, "output": 300, "batch": 1}
    >>> len(candidates_of(Study(**case).first)), len(candidates_of(Study(**case, tp=2, chunk=2048).first))
    (24, 1)
    """
    made: list[Candidate] = []
    for degrees in _groups(bound_case):
        changes = dict(degrees)
        if devices is not None:
            changes["dp"] = devices / _size(bound_case, degrees)
            if changes["dp"].denominator > 1:
                continue
        try:
            together = variant_of(bound_case, changes) if changes else bound_case
        except InputError:
            continue  # the engine does not start it
        made += _chunked(together)
        made += _disaggregated(bound_case, degrees, devices)
    return made or ([Candidate(bound_case)] if devices is None else [])


def _size(bound_case: BoundCase, degrees: Mapping[str, Fraction]) -> Fraction:
    """The devices of a group."""
    own = bound_case.case
    return Fraction(math.prod(degrees.values()) if degrees else own.value("instance_devices"))


def variant_of(bound_case: BoundCase, changes: Mapping[str, Any], **assume: str) -> BoundCase:
    """The same combination with other inputs and switches.

    Raises:
        InputError: the engine does not start it.
    """
    request, base = bound_case.request, bound_case
    if assume:
        base = base.with_changes(request=replace(request, assume={**request.assume, **assume}))
    made = variant(base, **changes)
    names = ("several_models", "varied", "search_inside")
    return replace(made, **{name: getattr(bound_case, name) for name in names})


def domain(bound_case: BoundCase) -> int:
    """The devices that a group may have: those that the links of a device join."""
    device = bound_case.hardware
    if device is None or device.link is None:
        return 1
    return int(device.link.devices.value.value) if device.link.devices else DEVICES_OF_A_NODE


def _groups(bound_case: BoundCase) -> Iterator[dict[str, Fraction]]:
    """Degrees of one group: tensor-parallel, with experts also groups of attention; only those given where one is, and of a preset, which
    counts what its own tool counts."""
    set_ones = bound_case.request.values.keys() | bound_case.request.prefill.keys()
    if bound_case.model is None or bound_case.preset or set_ones & {*DEGREES}:
        yield {}
        return
    most, case = domain(bound_case), bound_case.case
    experts = "n_experts" in bound_case.given
    for tp in _sizes(most):
        if not case.can_split_heads(tp):
            continue
        for groups in _sizes(most // tp) if experts else [1]:
            degrees = {"tp": tp, "attention_dp": groups}
            yield {name: Fraction(n) for name, n in degrees.items() if n > 1}


def _sizes(most: int) -> list[int]:
    """Powers of two up to a number, and the number itself."""
    return sorted({2**i for i in range(most.bit_length())} | {most})


def _chunked(bound_case: BoundCase) -> list[Candidate]:
    """The layout as the engine schedules it, with every chunk below its own budget where none is set."""
    fixed = bound_case.request.values.keys() & {"chunk", "token_budget"}
    budget = bound_case.given.get("token_budget")
    if (
        fixed
        or bound_case.preset
        or budget is None
        or not is_number(budget.setting)
        or "chunk" not in bound_case.given
        or not under_load(bound_case.case)
    ):
        return [Candidate(bound_case)]
    ranks = int(bound_case.case.value("attention_dp"))
    chunks = [n for n in CHUNKS if n < fraction(budget.setting)]
    return [Candidate(bound_case, {"chunk": Fraction(n * ranks)}) for n in chunks]


def _disaggregated(
    bound_case: BoundCase, degrees: dict[str, Fraction], devices: int | None
) -> Iterator[Candidate]:
    """The layout with prompts read on devices of their own, where nobody decided how prompts are scheduled and there is a network to hand caches over."""
    request, case = bound_case.request, bound_case.case
    decided = (
        not bound_case.assumptions.defaulted("scheduling")
        or "scheduling" in request.assume
        or request.prefill
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
        or (devices is None and "arrival_rate" not in bound_case.given)  # one instance is judged
    ):
        return
    group = _size(bound_case, degrees)
    apart = degrees | {"prefill_devices": group}
    try:
        if devices is not None:
            for copies, ratio in _shared(devices / group):
                changes = apart | {"dp": copies, "prefill_devices": group * ratio}
                yield Candidate(variant_of(bound_case, changes, scheduling="disaggregated"))
            return
        made = variant_of(bound_case, apart, scheduling="disaggregated")
    except InputError:
        return
    own = Fraction(made.case.value("dp")) if "dp" in made.given else None  # else as the rate asks
    for ratio in RATIOS:
        if own is None or (own * ratio).denominator == 1:
            yield Candidate(made, {"prefill_devices": group * ratio}, ratio.denominator)


def _shared(groups: Fraction) -> Iterator[tuple[Fraction, Fraction]]:
    """How many of so many groups decode, and how many prefill for each of these: every number of few, of many only even parts."""
    for reading in range(1, int(groups)):
        if groups / math.gcd(reading, int(groups)) <= SHARES:
            yield groups - reading, Fraction(reading, int(groups) - reading)
