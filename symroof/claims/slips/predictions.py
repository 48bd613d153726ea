"""The value a claim would have after a slip: the claim derived again with the slip in it, never by a formula of its own."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

from symroof.cases.bound_case import BoundCase
from symroof.cases.spec_values import ROLE_INPUT
from symroof.claims.catalogue_figures import confusable
from symroof.claims.claim_settings import Settings, changed, study_of
from symroof.claims.slips.context import FAILURES, Context
from symroof.claims.slips.ways import Change, Other, Result, Rounded, Slip
from symroof.formula.evaluate import evaluate
from symroof.formula.parse import parse
from symroof.formula.tree import Tree, mentions
from symroof.theory.case import Case
from symroof.theory.quantities import QUANTITIES
from symroof.theory.spellings import resolved
from symroof.theory.symbols import INPUTS

MOST_ROUNDED = Fraction(1, 10)
"""How much a figure that is rounded on the way may move a result: beyond that people look again."""
NAMES = INPUTS.keys() | QUANTITIES.keys()
InCase = Change | Rounded | Other
"""Ways of slipping that change a case; a result is changed afterwards."""


@dataclass(frozen=True)
class Prediction:
    """A value that slips lead to.

    Attributes:
        slips: their names.
        texts: their explanations.
        sets: the changes of each case there is; None for a result.
        way: how the result is read otherwise; None where the case is changed.
        paired: whether it may be one of two.
        digits: from how many digits of a number on it explains one.
    """

    slips: tuple[str, ...]
    texts: tuple[str, ...]
    value: Fraction
    sets: tuple[Settings, ...] | None = None
    way: Result | None = None
    paired: bool = True
    digits: int = 1


FINE = 3
"""Digits from which on a number tells a change that hardly matters from chance."""
FROM_DIGITS = {"parts": 2, "relatives": FINE}
"""Digits from which on a number tells which other part's figure it is: there are many."""


def predictions(context: Context, slip: Slip) -> Iterator[Prediction]:
    """Every value a slip leads to."""
    for way in slip.ways:
        if isinstance(way, Result):
            value = _read(context, way) if can_happen(way, context.unit, context.dependencies or frozenset()) else None
            if value is not None:
                yield Prediction((slip.name,), (way.text.format(**context.words),), value, way=way, paired=slip.paired)
            continue
        for text, sets in changes(context, way):
            value = context.again(sets)
            if value is not None and not (isinstance(way, Rounded) and abs(value / context.value - 1) > MOST_ROUNDED):
                yield Prediction((slip.name,), (text,), value, sets, paired=slip.paired, digits=_digits(context, way))


def _digits(context: Context, way: InCase) -> int:
    """From how many digits on a number shows that it came about in a way."""
    if isinstance(way, Other):
        return FROM_DIGITS.get(way.figures, 1)
    return FINE if isinstance(way, Change) and any(context.matters(name) for name in way.fine) else 1


def can_happen(way: Result, unit: str, names: frozenset[str]) -> bool:
    """Whether a result of a unit, that depends on some names, can be read otherwise in this way."""
    has_unit = not way.units or bool(set(way.units) & set(unit.replace("*", "/").split("/")))
    return has_unit and (not way.over or bool(names & set(way.over)))


def _read(context: Context, way: Result) -> Fraction | None:
    """The result read or counted otherwise; None where this one cannot be."""
    if "prefix" in way.formula and not context.prefix:
        return None
    try:
        value = evaluate(formula_of(way.formula), context.answers.case, context.put)
    except FAILURES:
        return None
    return value if isinstance(value, Fraction) and value > 0 else None


@lru_cache(maxsize=512)
def formula_of(text: str) -> Tree:
    """A formula of the catalogue over symroof's names."""
    return resolved(parse(text))


def changes(context: Context, way: InCase) -> Iterator[tuple[str, tuple[Settings, ...]]]:
    """A way of slipping in the case, or where two are compared in both or in either, in words and in values; a way may have
    several figures."""
    for side in context.sides:
        by_case = {i: _in_case(context, way, context.cases[i]) for i in side}
        for text in by_case[side[0]]:
            if all(text in own for own in by_case.values()):
                yield text + context.where(side), tuple(by_case[i][text] if i in by_case else {} for i in range(len(context.cases)))


def _in_case(context: Context, way: InCase, settings: Settings) -> dict[str, Settings]:
    """The values a way of slipping sets in one case, by its words; empty where it does not apply."""
    answers = study_of(settings).first
    try:
        return dict(_set(context, way, answers))
    except FAILURES:
        return {}


def _set(context: Context, way: InCase, answers: BoundCase) -> Iterator[tuple[str, Settings]]:
    if isinstance(way, Change):
        if any(_moves(context, answers, name, value) for name, value in way.sets.items()):
            yield way.text, {name: _worked_out(answers.case, name, value) for name, value in way.sets.items() if context.matters(name) or name not in NAMES}
    elif not context.matters(way.symbol):
        return
    elif isinstance(way, Rounded):
        few = rounded(answers.case.value(way.rate or way.symbol), way.digits)
        yield way.text, {way.symbol: 1 / few if way.rate else few}
    else:
        for name, value in confusable(answers, way.symbol, way.figures):
            yield way.text.format(figure=name), {way.symbol: value}


def _moves(context: Context, answers: BoundCase, name: str, value: Any) -> bool:
    """Whether setting a name can change the claim's value; a precision or a switch that is so already changes nothing."""
    if name == "assume":
        return any(answers.assumptions[switch] != choice for switch, choice in value.items())
    if name in ROLE_INPUT:
        return answers.precisions.get(name) != value and (context.matters(ROLE_INPUT[name]) or context.matters("peak_flops"))
    return context.matters(name)


def _worked_out(case: Case, name: str, value: Any) -> Any:
    """The value a name is set to: a switch, a precision, a definition, or a number worked out in the true case.

    Raises:
        InputError, ArithmeticError, LookupError: the case has no such thing.
    """
    if name == "assume" or name in ROLE_INPUT:
        return value
    tree = formula_of(value)
    number: Fraction = case.evaluate(tree)  # also raises where a case lacks one of the names
    if name in INPUTS and (number <= 0 or (INPUTS[name].counted and number.denominator != 1)):
        raise ArithmeticError(f"{name} cannot be {number}")
    return number if name in INPUTS or mentions(tree, name) else value


def rounded(value: Fraction, digits: int) -> Fraction:
    """A number to so many significant digits.

    >>> rounded(Fraction("23.93"), 2), rounded(Fraction(327680), 2)
    (Fraction(24, 1), Fraction(330000, 1))
    """
    return Fraction(f"{float(value):.{digits - 1}e}")


def combined(context: Context, first: Prediction, second: Prediction) -> Prediction | None:
    """Two slips at once; None where they change the same thing."""
    value = None
    if second.way:
        value = _read(replace(context, value=first.value), second.way)
    elif first.sets is not None and second.sets is not None:
        both = tuple(zip(first.sets, second.sets, strict=True))
        if not any(one.keys() & other.keys() - {"assume"} for one, other in both):
            value = context.again(tuple(changed(one, other) for one, other in both))
    return Prediction(first.slips + second.slips, first.texts + second.texts, value) if value is not None else None
