"""Why a measured figure is not what is expected: the usual causes, each tried alone, ranked by how well they explain it."""

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from symroof.analysis.study import Study
from symroof.analysis.verdict import ISOLATED_METRICS, TARGET_METRICS, at_rate
from symroof.cases.bind_cases import bound_cases
from symroof.cases.bound_case import BoundCase
from symroof.cases.request import Request, request_of
from symroof.cases.values import Result, plain_value
from symroof.errors import InputError, NoValue, Problem, split_hint
from symroof.resources import data_folder
from symroof.specs.input_values import setting
from symroof.specs.quantization import BITS
from symroof.strict_yaml import load
from symroof.symbolic.expressions import is_number
from symroof.symbolic.reading import parse
from symroof.theory.spellings import known

ORIGIN = "tried cause"
QUEUE = 2.0
"""A wait of another length by less is one of a rate that is hardly another."""
UNDER_LOAD = {x: TARGET_METRICS[name] for name, each in ISOLATED_METRICS.items() for x in each}
UNDER_LOAD["tpot"] = TARGET_METRICS["itl"]
"""What a server shows that prefills beside its decodes, for what one request alone takes."""
OF_OTHERS = ("prefills_between", "queue")
"""Causes that other requests are: what was measured is then the quantity under load."""
SIGNATURES = ("itl", "ttft")
"""What else one can measure, and what a cause does to it."""
ALIKE = 0.05
"""A change of a figure by less is none."""


@dataclass(frozen=True)
class Cause:
    """Something that is often not as assumed; ``templates/causes.yaml`` says what each field means."""

    name: str
    title: str
    check: str
    free: bool = False
    where: str = ""
    sets: Mapping[str, str] = field(default_factory=dict, hash=False)
    sizes: Sequence[Any] = field(default=(0,), hash=False)
    said: str = ""


@lru_cache(maxsize=1)
def causes() -> dict[str, Cause]:
    """The usual causes by name."""
    data = load(data_folder("templates") / "causes.yaml").data
    return {name: Cause(name, **fields) for name, fields in data.items()}


@dataclass(frozen=True)
class Explanation:
    """A cause in one variant.

    Attributes:
        said: the variant in words; empty where there is only one.
        reads: the quantity that it predicts the figure by.
        predicted: what is then expected of it.
        holds: whether the measured figure lies in the interval that is then expected.
        off: how far the figure is from the value then expected, as a factor.
        signature: what else would be seen: quantities with their values as expected now and with the cause.
    """

    cause: Cause
    said: str
    reads: str
    predicted: Result
    holds: bool
    off: float
    signature: tuple[tuple[str, Result, Result], ...]

    def as_json(self) -> dict[str, Any]:
        seen = [
            {"quantity": name, "now": plain_value(now.value), "then": plain_value(then.value)}
            for name, now, then in self.signature
        ]
        return {
            "cause": self.cause.name,
            "variant": self.said or None,
            "reads": self.reads,
            **self.predicted.as_json(),
            "holds": self.holds,
            "off": round(self.off, 4),
            "free": self.cause.free,
            "then_also": seen,
            "check": self.cause.check,
        }


@dataclass(frozen=True)
class Diagnosis:
    """A measured figure and what may explain it, the best first.

    Attributes:
        expected: what measurements lead to expect of the case as it is.
        bound: the bound at the peak, which no server beats.
        explained: whether the figure lies in the interval expected, so that there is nothing to explain.
    """

    name: str
    measured: float
    expected: Result
    bound: Result | None
    explained: bool
    explanations: tuple[Explanation, ...]

    @property
    def beats_the_bound(self) -> bool:
        """Whether the figure is better than the bound: the server does less work than the case."""
        if self.bound is None:
            return False
        bound = self.bound.value
        sign = 1 if self.expected.symbol.unit == "s" else -1
        return bool(sign * self.measured < sign * bound)

    def as_json(self) -> dict[str, Any]:
        return {
            "quantity": self.name,
            "unit": self.expected.symbol.unit,
            "measured": plain_value(self.measured),
            "expected": self.expected.as_json(),
            "bound": plain_value(self.bound.value) if self.bound else None,
            "explained": self.explained,
            "beats_the_bound": self.beats_the_bound,
            "explanations": [each.as_json() for each in self.explanations],
        }


def diagnose(study: Study, quantity: str, measured: Any) -> Diagnosis:
    """What may explain a time or rate that was measured of the first case of a study: text with its unit, or a number in the base unit.

    Each cause is tried alone, with the efficiencies that measurements lead to expect. Those whose expected interval holds the figure come first, prefills of
    other requests before all and causes whose size is open behind the others, then by how far the figure is from the value then expected. A cause that moves the expected value away
    from the figure is left out.

    >>> study = Study("llama-3.1-8b", "h100-sxm", prompt=2048, output=300, batch=1)
    >>> found = diagnose(study, "itl", 0.014)
    >>> found.expected.text(), found.explained, [each.cause.name for each in found.explanations if each.holds][0]
    ('8.270 ms (6.282 to 12.73 ms)', False, 'eager')

    Raises:
        InputError: no such quantity, one that no efficiency changes, or one without a value here; no number above zero, another dimension.
    """
    name = known(quantity)
    try:
        figure = setting(name, measured, formulas=False, bare=True)
    except ValueError as error:
        message, hint = split_hint(f"{name}: {error}")
        raise InputError(Problem("--measured", message, hint=hint)) from None
    if not is_number(figure) or figure <= 0:
        message = f"{name} {str(measured)[:40]!r} is not a number above zero"
        raise InputError(Problem("--measured", message))
    measured = float(figure)
    served = copy(study)
    served.select(Request(efficiency="measured"))
    case = served.first
    if not case.case.theory.timed(name):
        message = "depends on no efficiency: it is counted, and not explained by a server"
        raise InputError(Problem(f"{name}"[:80], message, hint="measure itl, ttft or a rate"))
    expected = served.result(name)
    inside = _holds(expected, measured)
    variants = () if inside else _variants(case, name)
    tried = (_explanation(variant, case, expected, measured) for variant in variants)
    ranked = sorted(filter(None, tried), key=_rank, reverse=True)
    best = {each.cause: each for each in ranked}  # of the variants of a cause the nearest
    found = sorted(best.values(), key=_rank)
    return Diagnosis(name, measured, expected, case.peak_bound(name), inside, tuple(found))


def _rank(each: Explanation) -> tuple[Any, ...]:
    """What explains the figure first; most figures of a server are of one that also prefills."""
    if not each.holds:
        return True, each.off
    return False, each.cause.name != "prefills_between", each.cause.free, each.off


def _holds(result: Result, measured: float) -> bool:
    low, high = (result.value if end is None else end for end in (result.low, result.high))
    return bool(low <= measured <= high)


def _off(result: Result, measured: float) -> float:
    """The factor between the figure and the value expected, 1 or more."""
    ratio = measured / result.value if result.value else math.inf
    return max(ratio, 1 / ratio)


Variant = tuple[str, str, Request | None]
"""A cause, its variant in words, and what is asked for instead; None where the quantity that was measured is another one."""


def _explanation(
    variant: Variant, case: BoundCase, expected: Result, measured: float
) -> Explanation | None:
    """A variant of a cause; None where it comes no nearer to the figure than the case as it is."""
    cause, said, change = variant
    reads = name = expected.name
    try:
        there = case if change is None else next(bound_cases(change.over(case.request)))
        if cause in OF_OTHERS:
            reads = at_rate(UNDER_LOAD.get(name, ""), there.case)
        predicted = there.result(reads) if reads else None
    except (InputError, NoValue):
        return None
    if there.never_fits and not case.never_fits:  # what does not start was not measured
        return None
    if predicted is None or (off := _off(predicted, measured)) >= _off(expected, measured):
        return None
    others = ((other, case.get(other), there.get(other)) for other in SIGNATURES if other != name)
    seen = tuple((other, now, then) for other, now, then in others if now and then)
    # a queue grows from nothing to without end as the rate nears what the server sustains
    holds = _holds(predicted, measured) or (cause == "queue" and off < QUEUE)
    return Explanation(causes()[cause], said, reads, predicted, holds, off, seen)


def _variants(case: BoundCase, quantity: str) -> Iterator[Variant]:
    """Every variant to try in a case, of what moves a quantity."""
    value, is_set = case.case.value, case.case.is_set

    def asked(**values: Any) -> Request:
        return request_of(origin=ORIGIN, **values)

    if case.engine_class == "compiled":
        yield "eager", "", Request(engine_class="eager")
    # a serving engine takes the checkpoint's own format, which is nowhere fp32; a script may not
    for name in ("bf16", "fp8") if case.engine_class == "compiled" else ("fp32", "bf16", "fp8"):
        # a format with scales is a little wider than its name says
        if abs(BITS[name] - 8 * value("weight_bytes_per_param")) > 1:
            yield "weights_format", f"weights in {name}", asked(weights=name)
    for name in ("bf16", "fp8"):
        if BITS[name] != 8 * value("kv_bytes_per_element"):
            yield "cache_format", f"cache in {name}", asked(kv=name)
    if is_set("output"):
        yield "prefills_between", "", None
    waits = UNDER_LOAD.get(quantity) == "loaded_ttft" and "arrival_rate" not in case.given
    for cause in causes().values():
        tried = cause.sets and (not cause.where or is_set(cause.where))
        for size in map(float, cause.sizes) if tried and (cause.name != "queue" or waits) else ():
            sets: dict[str, float] = {}
            for name, formula in cause.sets.items():
                with suppress(NoValue):  # a device has no peak of attention's own
                    sets[name] = case.case.evaluate(parse(formula), {"x": size})
            with suppress(InputError):  # half a request is none
                scaled = {"percent": 100 * size, "milli": 1000 * size}
                yield cause.name, cause.said.format(**scaled, **sets) if sets else "", asked(**sets)
