"""A claim about a whole range: the stretches of it in which its outcome is one, at every whole number
of a count, or on a grid with the ends between its points narrowed down."""

from typing import Any

import numpy as np

from symroof.claims.claim_settings import declarations_of, study_of
from symroof.specs.claims import ClaimSpec
from symroof.specs.fields import parse_range
from symroof.specs.input_values import symbol_of
from symroof.symbolic.crossings import Axis, crossings
from symroof.symbolic.evaluation import NoValue
from symroof.symbolic.expressions import Expr, is_label, is_relation

MOST_WHOLE, GRID = 2**17, 2**12
"""Whole numbers of a range that are all looked at, and points of a range of anything else."""
Outcome = bool | str


def outcome_text(outcome: Outcome) -> str:
    return str(outcome).lower() if isinstance(outcome, bool) else outcome


def stretches_of(claim: ClaimSpec, relation: Expr) -> list[tuple[str, str, Outcome]]:
    """The stretches of the one ranged input, from its first to its last value, with the outcome in each.

    Raises:
        NoValue: there is none in a part of the range.
        ValueError: what is no input, or no range.
    """
    if len(claim.for_all) > 1:
        raise ValueError("is of one input: write a claim for each")
    ((name, span),) = claim.for_all.items()
    symbol = symbol_of(str(name), declarations_of(claim.given))
    ends = parse_range(str(span), symbol.unit, symbol.written_in, bare=True)
    case = study_of({key: value for key, value in claim.given.items() if key != name}).first.case
    tree = case.formula_or_name(relation.name) if relation.is_Symbol else relation
    arms = [one for one, _ in tree.arms] if is_label(tree) else []

    def outcomes(points: Any) -> list[Outcome]:
        scenarios = case.without_values({symbol.name}, rounded=True).changed({symbol.name: points})
        asked = tree.lhs - tree.rhs if is_relation(tree) else tree
        found = np.broadcast_to(scenarios.evaluate(asked), np.shape(points))
        if found.dtype.kind in "US":
            return [str(one) for one in found]
        if np.isnan(found.astype(float)).any():
            raise NoValue("no value in a part of the range")
        if arms:
            return [arms[int(one)] for one in found]
        return [bool(one) for one in np.broadcast_to(scenarios.evaluate(tree), np.shape(points))]

    low, high = float(ends.low), float(ends.high)
    steps = min(high - low, MOST_WHOLE) if symbol.counted else GRID
    points = np.linspace(low, high, int(steps) + 1)
    points = np.unique(np.rint(points)) if symbol.counted else points
    every = outcomes(points)
    starts = [i for i in range(1, len(every)) if every[i] != every[i - 1]]
    turns = []
    for i in starts:
        before, (a, b) = every[i - 1], points[i - 1 : i + 1]

        def sides(x: Any, _: Any, before: Outcome = before) -> tuple[Any, Any]:
            same = [outcome == before for outcome in outcomes(x.ravel())]
            return np.where(np.reshape(same, x.shape), -1.0, 1.0), 0.0

        if not symbol.counted or b - a > 1:
            b = max(crossings(sides, [Axis(a, b, whole=symbol.counted)])[0].values, default=b)
        turns.append(b)
    gap = 1 if symbol.counted else 0
    form = ",.0f" if symbol.counted else ".6g"
    return [
        (f"{first:{form}}", f"{last:{form}}", every[i])
        for first, last, i in zip(
            [low, *turns], [*(b - gap for b in turns), high], [0, *starts], strict=True
        )
    ]
