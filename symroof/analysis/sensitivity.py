"""Sensitivities of a quantity: its elasticity in every input that can be chosen."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np

from symroof.cases.bound_case import BoundCase
from symroof.cases.quantity_result import plain_value
from symroof.symbolic.evaluation import NoValue
from symroof.theory.symbols import ARCHITECTURE, PARALLEL, Symbol, base_name
from symroof.units import settled

FIXED = frozenset(symbol.name for symbol in (*ARCHITECTURE, *PARALLEL))
"""Inputs that do not move by one per cent: the model's shape, and the number of devices."""

NOTICEABLE = 0.005

ElasticityRange = tuple[float, float, float]
"""A value at the middle of the ranges, and the least and the largest at their corners."""


@dataclass(frozen=True, repr=False)
class Elasticity:
    """Per cent that a quantity moves when one input moves one per cent, with the extremes over the ranges."""

    symbol: Symbol
    span: ElasticityRange

    @property
    def value(self) -> float:
        """The value at the middle of the ranges."""
        return self.span[0]

    def __repr__(self) -> str:
        return f"<{self.symbol.name}: {span_text(*self.span)}>"

    def as_json(self) -> dict[str, Any]:
        entry = {"symbol": self.symbol.name, "value": plain_value(self.value)}
        if len(set(map(settled, self.span))) > 1:
            entry |= {"low": plain_value(self.span[1]), "high": plain_value(self.span[2])}
        return entry


def span_text(middle: Any, low: Any, high: Any) -> str:
    """An elasticity with its range.

    >>> span_text(-1, -1, -1), span_text(0.5, 0, 0.75)
    ('-1.00', '+0.50 (0 to +0.75)')
    """
    value, least, most = (f"{x:+.2f}" if abs(x) >= NOTICEABLE else "0" for x in (middle, low, high))
    return value if least == most else f"{value} ({least} to {most})"


def elasticities_over_ranges(
    bound_case: BoundCase, name: str, inputs: Collection[str]
) -> dict[str, ElasticityRange]:
    """The elasticities in some inputs at the middle of the ranges, and their least and largest values at the corners of these.

    An input that has none is left out: one that bounds a sum, and any of a quantity that is nothing.
    """
    case, points = bound_case.case, bound_case.corner_points
    if points:  # the case itself and every corner as columns
        moved = {
            by: np.array([case.value(by), *(point[by] for point in points)], float)
            for by in points[0]
        }
        case = case.without_values(moved, rounded=True).changed(moved)
    try:
        with np.errstate(all="ignore"):
            columns = case.elasticities(name, inputs)
    except NoValue:
        return {}
    spans = {}
    for by, column in columns.items():
        # equal but for rounding is equal: inputs of one share keep the order of their use
        values = [float(settled(own)) for own in np.ravel(column) if np.isfinite(own)]
        if values:
            spans[by] = (values[0], min(values), max(values))
    return spans


def elasticities(name: str, bound_case: BoundCase) -> tuple[Elasticity, ...]:
    """Every noticeable elasticity of a number, the largest first; none where it has no value.

    >>> from symroof.analysis.study import Study
    >>> elasticities("decode_memory_time", Study("gpt2", "h100-sxm", prompt=9, efficiency="peak").first)[0]
    <mem_bandwidth: -1.00>
    """
    result = bound_case.get(name)
    if result is None or not isinstance(result.value, float):
        return ()
    inputs = [
        x for x in bound_case.case.inputs_used(name) if base_name(x) not in FIXED and x != name
    ]
    spans = elasticities_over_ranges(bound_case, name, inputs)
    noticed = [x for x, span in spans.items() if max(map(abs, span)) >= NOTICEABLE]
    theory = bound_case.case.theory
    return tuple(
        Elasticity(theory.symbol(x), spans[x])
        for x in sorted(noticed, key=lambda x: -abs(spans[x][0]))
    )
