"""What a claim would read after a slip: the claim derived again with the slip in it, never by a formula of its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

from symroof.cases.case_results import Answers
from symroof.cases.spec_values import ROLE_INPUT
from symroof.claims.claim_study import changed, study_of
from symroof.claims.slips.catalogue_figures import figures
from symroof.claims.slips.changes import Change, Other, Result, Rounded, Slip
from symroof.claims.slips.context import FAILURES, Given, Scene
from symroof.formula.evaluate import evaluate
from symroof.formula.parse import parse
from symroof.formula.tree import Tree, mentions
from symroof.theory.case import Case
from symroof.theory.quantities import QUANTITIES
from symroof.theory.spellings import resolved
from symroof.theory.symbols import INPUTS

NAMES = INPUTS.keys() | QUANTITIES.keys()
InCase = Change | Rounded | Other
"""Ways of slipping that change a case; a result is changed afterwards."""


@dataclass(frozen=True)
class Prediction:
    """A value that slips lead to.

    Attributes:
        slips: their names.
        says: how to say them.
        sets: what they change in each case there is; None for a result.
        way: how the result is read otherwise; None where the case is changed.
        paired: whether it may be one of two.
    """

    slips: tuple[str, ...]
    says: tuple[str, ...]
    value: Fraction
    sets: tuple[Given, ...] | None = None
    way: Result | None = None
    paired: bool = True


def predictions(scene: Scene, slip: Slip) -> Iterator[Prediction]:
    """Every value a slip leads to."""
    for way in slip.ways:
        found = _of_result(scene, slip, way) if isinstance(way, Result) else _of_cases(scene, slip, way)
        yield from found


def _of_result(scene: Scene, slip: Slip, way: Result) -> Iterator[Prediction]:
    value = _read(scene, way) if can_happen(way, scene.unit, scene.spoken or frozenset()) else None
    if value is not None:
        yield Prediction((slip.name,), (way.says.format(**scene.words),), value, way=way, paired=slip.paired)


def can_happen(way: Result, unit: str, names: frozenset[str]) -> bool:
    """Whether a result of a unit, that hangs on some names, can be read otherwise in this way."""
    has_unit = not way.units or bool(set(way.units) & set(unit.replace("*", "/").split("/")))
    return has_unit and (not way.over or bool(names & set(way.over)))


def _read(scene: Scene, way: Result) -> Fraction | None:
    """The result read or counted otherwise; None where this one cannot be."""
    if "prefix" in way.formula and not scene.prefix:
        return None
    try:
        value = evaluate(formula_of(way.formula), scene.answers.case, scene.put)
    except FAILURES:
        return None
    return value if isinstance(value, Fraction) and value > 0 else None


@lru_cache(maxsize=512)
def formula_of(text: str) -> Tree:
    """A formula of the catalogue over symroof's names."""
    return resolved(parse(text))


def _of_cases(scene: Scene, slip: Slip, way: InCase) -> Iterator[Prediction]:
    """The values after a way of slipping in the case."""
    for says, sets in changes(scene, way):
        value = scene.again(sets)
        if value is not None:
            yield Prediction((slip.name,), (says,), value, sets, paired=slip.paired)


def changes(scene: Scene, way: InCase) -> Iterator[tuple[str, tuple[Given, ...]]]:
    """A way of slipping in the case, or where two are compared in both or in either, in words and in values; a way may have
    several figures."""
    for side in scene.sides:
        settled = {i: dict(_settled(scene, way, scene.cases[i])) for i in side}
        for says in settled[side[0]]:
            if all(says in found for found in settled.values()):
                yield says + scene.where(side), tuple(settled[i][says] if i in settled else {} for i in range(len(scene.cases)))


def _settled(scene: Scene, way: InCase, given: Given) -> list[tuple[str, Given]]:
    """What a way of slipping sets in one case, in words and in values; nothing where it does not apply."""
    answers = study_of(given).first
    try:
        return list(_set(scene, way, answers))
    except FAILURES:
        return []


def _set(scene: Scene, way: InCase, answers: Answers) -> Iterator[tuple[str, Given]]:
    if isinstance(way, Change):
        if any(_moves(scene, answers, name, value) for name, value in way.given.items()):
            yield way.says, {name: _worked_out(answers.case, name, value) for name, value in way.given.items() if scene.matters(name) or name not in NAMES}
    elif not scene.matters(way.symbol):
        return
    elif isinstance(way, Rounded):
        few = rounded(answers.case.value(way.rate or way.symbol), way.digits)
        yield way.says, {way.symbol: 1 / few if way.rate else few}
    else:
        for name, value in figures(answers.binding, way.symbol, way.figures):
            yield way.says.format(figure=name), {way.symbol: value}


def _moves(scene: Scene, answers: Answers, name: str, value: Any) -> bool:
    """Whether setting a name can change the claim's value; a precision or a switch that is so already changes nothing."""
    if name == "assume":
        return any(answers.binding.assumptions[switch] != wanted for switch, wanted in value.items())
    if name in ROLE_INPUT:
        return answers.binding.precisions.get(name) != value and (scene.matters(ROLE_INPUT[name]) or scene.matters("peak_flops"))
    return scene.matters(name)


def _worked_out(case: Case, name: str, value: Any) -> Any:
    """What a name is set to: a switch, a precision, a definition, or a number worked out in the true case.

    Raises:
        InputError, ArithmeticError, LookupError: the case has no such thing.
    """
    if name == "assume" or name in ROLE_INPUT:
        return value
    tree = formula_of(value)
    number: Fraction = case.evaluate(tree)  # also tells a case that lacks one of the names
    if name in INPUTS and (number <= 0 or (INPUTS[name].counted and number.denominator != 1)):
        raise ArithmeticError(f"{name} cannot be {number}")
    return number if name in INPUTS or mentions(tree, name) else value


def rounded(value: Fraction, digits: int) -> Fraction:
    """A number to so many significant digits.

    >>> rounded(Fraction("23.93"), 2), rounded(Fraction(327680), 2)
    (Fraction(24, 1), Fraction(330000, 1))
    """
    return Fraction(f"{float(value):.{digits - 1}e}")


def combined(scene: Scene, first: Prediction, second: Prediction) -> Prediction | None:
    """Two slips at once; None where they change the same thing."""
    value = _both(scene, first, second)
    return Prediction(first.slips + second.slips, first.says + second.says, value) if value is not None else None


def _both(scene: Scene, first: Prediction, second: Prediction) -> Fraction | None:
    if second.way:
        return _read(replace(scene, value=first.value), second.way)
    if first.sets is None or second.sets is None:
        return None
    both = tuple(zip(first.sets, second.sets, strict=True))
    if any(one.keys() & other.keys() - {"assume"} for one, other in both):
        return None
    return scene.again(tuple(changed(one, other) for one, other in both))
