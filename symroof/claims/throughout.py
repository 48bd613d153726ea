"""Where a claim that should hold throughout a range does not: the ends of the stretches are solved for, not searched."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from itertools import pairwise
from typing import Any

from symroof.claims.given import study_of
from symroof.formula import build
from symroof.formula.evaluate import NoValue
from symroof.formula.text import text
from symroof.formula.tree import Compare, Largest, Tree
from symroof.results import Answers
from symroof.solving import solve
from symroof.specs.claims import ClaimSpec
from symroof.specs.errors import InputError
from symroof.specs.fields import parse_span
from symroof.specs.study import symbol_of


def breaks(claim: ClaimSpec, given: Mapping[str, Any], relation: Tree) -> str:
    """The stretches of the one ranged input on which the claim fails: ``not for prompt 1 to 308``; nothing where several are ranged."""
    if len(claim.for_all) != 1:
        return ""
    name, span = next((str(name), str(span)) for name, span in claim.for_all.items())
    try:
        symbol = symbol_of(name)
        ends = parse_span(span, symbol.unit, symbol.written_in)
        answers = study_of({key: value for key, value in given.items() if key != name}).first
        cuts = [value for equation in _edges(relation, claim) for value in solve(equation, answers, name).values]
    except (InputError, NoValue, ValueError):
        return ""
    points = sorted({ends.low, *(cut for cut in cuts if ends.low < cut < ends.high), ends.high})
    failing = [(low, high) for low, high in pairwise(points) if not _holds(relation, claim, answers, name, (low + high) / 2)]
    counted = symbol.counted
    return ", ".join(f"not for {name} {_told(low, counted, up=True)} to {_told(high, counted, up=False)}" for low, high in failing)


def _edges(relation: Tree, claim: ClaimSpec) -> list[str]:
    """The equations at whose solutions the claim may change."""
    if isinstance(relation, Compare):
        return [f"{text(relation.left)} = {text(relation.right)}"]
    if not isinstance(relation, Largest):
        return []
    own = next((arm for label, arm in relation.arms if label == claim.value), relation.arms[0][1])
    others = [arm for label, arm in relation.arms if arm != own]
    return [f"{text(own)} = {text(build.call('max', *others))}"]


def _holds(relation: Tree, claim: ClaimSpec, answers: Answers, name: str, point: Fraction) -> bool:
    found = answers.case.changed({name: point}).evaluate(relation)
    return bool(found == claim.value)


def _told(value: Fraction, counted: bool, up: bool) -> str:
    """An end of a stretch: the first or the last whole number in it."""
    if not counted:
        return f"{float(value):.6g}"
    return f"{(-(-value.numerator // value.denominator) if up else value.numerator // value.denominator):,}"
