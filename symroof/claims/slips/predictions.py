"""The value a claim would have after a slip: the claim derived again with the slip in it, never by a formula of its own."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

from symroof.cases.bound_case import BoundCase
from symroof.cases.input import ROLE_INPUT
from symroof.claims.catalogue_figures import confusable_figures
from symroof.claims.claim_settings import Settings, merged_settings
from symroof.claims.slips.context import FAILURES, PREFIXES, Context
from symroof.claims.slips.slip_catalogue import (
    CaseChange,
    MisreadResult,
    OtherFigure,
    RoundedFigure,
    Slip,
)
from symroof.symbolic.evaluation import evaluate
from symroof.symbolic.expressions import Expr, mentions
from symroof.symbolic.reading import parse
from symroof.theory.case import Case
from symroof.theory.declarations import MissingInput
from symroof.theory.quantities import QUANTITIES
from symroof.theory.spellings import resolved
from symroof.theory.symbols import INPUTS
from symroof.units import is_whole, settled

MOST_ROUNDED = Fraction(1, 10)
"""How much a figure that is rounded on the way may move a result: beyond that people look again."""
FINE_DIGITS = 3
"""Digits from which on a number tells a change that hardly matters from chance."""
LEAST_DIGITS = {"siblings": 2, "parts": 2, "generations": FINE_DIGITS}
"""Digits from which on a number tells which other part's figure it is: there are many."""
CaseVariant = CaseChange | RoundedFigure | OtherFigure
"""Ways of slipping that change a case; a result is changed afterwards."""


@dataclass(frozen=True)
class SlipPrediction:
    """A value that slips lead to.

    Attributes:
        slips: their names.
        texts: their explanations.
        changes: what is set in the case; None for a result.
        misreading: how the result is read otherwise; None where the case is changed.
        paired: whether it may be one of two.
        digits: from how many digits of a number on it explains one.
        common: whether people slip so all the time.
    """

    slips: tuple[str, ...]
    texts: tuple[str, ...]
    value: Fraction
    changes: Settings | None = None
    misreading: MisreadResult | None = None
    paired: bool = True
    digits: int = 1
    common: bool = False


def predictions(context: Context, slip: Slip) -> Iterator[SlipPrediction]:
    """Every value a slip leads to."""
    made = SlipPrediction((slip.name,), (), Fraction(0), paired=slip.paired, common=slip.common)
    for variant in slip.variants:
        if not isinstance(variant, MisreadResult):
            yield from _of_cases(context, made, variant)
        elif can_happen(variant, context.unit, context.known_names):
            text = variant.text.format(decimal=f"{context.prefix}B", binary=f"{context.prefix}iB")
            if (value := _misread_value(context, variant)) is not None:
                yield replace(made, texts=(text,), value=value, misreading=variant)


def _of_cases(
    context: Context, made: SlipPrediction, variant: CaseVariant
) -> Iterator[SlipPrediction]:
    kind = variant.kind if isinstance(variant, OtherFigure) else ""
    if kind == "generations" and context.name != variant.symbol:  # type: ignore[union-attr]
        return  # there are too many to tell by what follows from one of them
    digits = LEAST_DIGITS.get(kind, 1)
    if isinstance(variant, CaseChange) and any(map(context.depends_on, variant.precise_for)):
        digits = FINE_DIGITS
    made = replace(made, digits=digits, common=made.common or kind == "siblings")
    found: dict[str, Settings] = {}
    with suppress(*FAILURES):
        found |= _set(context, variant, context.answers)
    for text, sets in found.items():
        for value in context.values_with(sets):
            far = abs(value / context.value - 1) > MOST_ROUNDED
            if not (far and isinstance(variant, RoundedFigure)):
                yield replace(made, texts=(text,), value=value, changes=sets)


def can_happen(variant: MisreadResult, unit: str, names: frozenset[str]) -> bool:
    """Whether a result of a unit, that depends on some names, can be read otherwise in this way."""
    units, needed = set(variant.units), set(variant.depends_on)
    has_unit = not units or bool(units & set(unit.replace("*", "/").split("/")))
    return has_unit and (not needed or bool(names & needed))


def _misread_value(context: Context, variant: MisreadResult) -> Fraction | None:
    """The result read or counted otherwise; None where this one cannot be."""
    if "prefix" in variant.formula and not context.prefix:
        return None
    put = {"value": context.value}
    if context.prefix:
        put["prefix"] = Fraction(PREFIXES.index(context.prefix) + 1)
    with suppress(*FAILURES):
        value = evaluate(formula_of(variant.formula), context.answers.case, put)
        return settled(value) if isinstance(value, float) and value > 0 else None
    return None


@lru_cache(maxsize=512)
def formula_of(text: str) -> Expr:
    """A formula of the catalogue over symroof's names."""
    return resolved(parse(text))


def _set(
    context: Context, variant: CaseVariant, answers: BoundCase
) -> Iterator[tuple[str, Settings]]:
    """The values a way of slipping sets in one case, by its words."""
    if isinstance(variant, CaseChange):
        sets = variant.sets.items()
        if not any(can_change(context, answers, name, value) for name, value in sets):
            return
        made: dict[str, Any] = {}  # of the names that the value depends on and that the case has
        for name, value in sets:
            known = name in INPUTS or name in QUANTITIES
            if context.depends_on(name) or not known:
                with suppress(MissingInput):
                    made[name] = _worked_out(answers.case, name, value)
        if made:
            yield variant.text, made
    elif not context.depends_on(variant.symbol):
        return
    elif isinstance(variant, RoundedFigure):
        few = rounded(answers.case.value(variant.rate or variant.symbol), variant.digits)
        yield variant.text, {variant.symbol: 1 / few if variant.rate else few}
    else:
        for name, figure in confusable_figures(answers, variant.symbol, variant.kind):
            yield variant.text.format(figure=name), {variant.symbol: figure}


def can_change(context: Context, answers: BoundCase, name: str, value: Any) -> bool:
    """Whether setting a name can change the claim's value; a precision or a switch that is so already changes nothing."""
    if name == "assume":
        return any(answers.assumptions[switch] != choice for switch, choice in value.items())
    if name in ROLE_INPUT:
        moves = context.depends_on(ROLE_INPUT[name]) or context.depends_on("peak_flops")
        return moves and answers.precisions.get(name) != value
    return context.depends_on(name)


def _worked_out(case: Case, name: str, value: Any) -> Any:
    """The value a name is set to: a switch, a precision, a definition, or a number worked out in the true case.

    Raises:
        InputError, ArithmeticError, LookupError: the case has no such thing.
    """
    if name == "assume" or name in ROLE_INPUT:
        return value
    tree = formula_of(value)
    number: Fraction = case.evaluate(tree)  # also raises where a case lacks one of the names
    if name in INPUTS and (number <= 0 or (INPUTS[name].counted and not is_whole(number))):
        raise ArithmeticError(f"{name} cannot be {number}")
    return number if name in INPUTS or mentions(tree, name) else value


def rounded(value: Fraction, digits: int) -> Fraction:
    """A number to so many significant digits.

    >>> rounded(Fraction("23.93"), 2), rounded(Fraction(327680), 2)
    (Fraction(24, 1), Fraction(330000, 1))
    """
    return Fraction(f"{float(value):.{digits - 1}e}")


def two_slips(
    context: Context, first: SlipPrediction, second: SlipPrediction
) -> SlipPrediction | None:
    """Two slips at once; None where they change the same thing."""
    values: list[Fraction] = []
    if second.misreading:
        value = _misread_value(replace(context, value=first.value), second.misreading)
        values = [value] if value is not None else []
    elif not {*(first.changes or {})} & {*(second.changes or {})} - {"assume"}:
        both = merged_settings(first.changes or {}, second.changes or {})
        values = list(context.values_with(both))
    slips, texts = first.slips + second.slips, first.texts + second.texts
    return SlipPrediction(slips, texts, values[0]) if values else None
