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
from symroof.claims.claim_settings import Settings, merged_settings, study_of
from symroof.claims.slips.context import FAILURES, Context
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
NAMES = INPUTS.keys() | QUANTITIES.keys()
CaseVariant = CaseChange | RoundedFigure | OtherFigure
"""Ways of slipping that change a case; a result is changed afterwards."""


@dataclass(frozen=True)
class SlipPrediction:
    """A value that slips lead to.

    Attributes:
        slips: their names.
        texts: their explanations.
        changes: the changes of each case there is; None for a result.
        misreading: how the result is read otherwise; None where the case is changed.
        paired: whether it may be one of two.
        digits: from how many digits of a number on it explains one.
        common: whether people slip so all the time.
    """

    slips: tuple[str, ...]
    texts: tuple[str, ...]
    value: Fraction
    changes: tuple[Settings, ...] | None = None
    misreading: MisreadResult | None = None
    paired: bool = True
    digits: int = 1
    common: bool = False


FINE_DIGITS = 3
"""Digits from which on a number tells a change that hardly matters from chance."""
SIBLINGS, GENERATIONS = "siblings", "generations"
LEAST_DIGITS = {"siblings": 2, "parts": 2, "relatives": FINE_DIGITS, "generations": FINE_DIGITS}
"""Digits from which on a number tells which other part's figure it is: there are many."""


def predictions(context: Context, slip: Slip) -> Iterator[SlipPrediction]:
    """Every value a slip leads to."""
    for variant in slip.variants:
        if isinstance(variant, MisreadResult):
            value = (
                _misread_value(context, variant)
                if can_happen(variant, context.unit, context.known_names)
                else None
            )
            if value is not None:
                yield SlipPrediction(
                    (slip.name,),
                    (variant.text.format(**context.words),),
                    value,
                    misreading=variant,
                    paired=slip.paired,
                    common=slip.common,
                )
            continue
        if (
            isinstance(variant, OtherFigure)
            and variant.kind == GENERATIONS
            and context.name != variant.symbol
        ):
            continue  # there are too many to tell by what follows from one of them
        for text, sets in case_changes(context, variant):
            common = slip.common or (isinstance(variant, OtherFigure) and variant.kind == SIBLINGS)
            for value in context.values_with(sets):
                if not (
                    isinstance(variant, RoundedFigure)
                    and abs(value / context.value - 1) > MOST_ROUNDED
                ):
                    yield SlipPrediction(
                        (slip.name,),
                        (text,),
                        value,
                        sets,
                        paired=slip.paired,
                        digits=_digits(context, variant),
                        common=common,
                    )


def _digits(context: Context, variant: CaseVariant) -> int:
    """From how many digits on a number shows that it came about in a way."""
    if isinstance(variant, OtherFigure):
        return LEAST_DIGITS.get(variant.kind, 1)
    return (
        FINE_DIGITS
        if isinstance(variant, CaseChange)
        and any(context.depends_on(name) for name in variant.precise_for)
        else 1
    )


def can_happen(variant: MisreadResult, unit: str, names: frozenset[str]) -> bool:
    """Whether a result of a unit, that depends on some names, can be read otherwise in this way."""
    has_unit = not variant.units or bool(
        set(variant.units) & set(unit.replace("*", "/").split("/"))
    )
    return has_unit and (not variant.depends_on or bool(names & set(variant.depends_on)))


def _misread_value(context: Context, variant: MisreadResult) -> Fraction | None:
    """The result read or counted otherwise; None where this one cannot be."""
    if "prefix" in variant.formula and not context.prefix:
        return None
    try:
        value = evaluate(formula_of(variant.formula), context.answers.case, context.put)
    except FAILURES:
        return None
    return settled(value) if isinstance(value, float) and value > 0 else None


@lru_cache(maxsize=512)
def formula_of(text: str) -> Expr:
    """A formula of the catalogue over symroof's names."""
    return resolved(parse(text))


def case_changes(
    context: Context, variant: CaseVariant
) -> Iterator[tuple[str, tuple[Settings, ...]]]:
    """A way of slipping in the case, or where two are compared in both or in either, in words and in values; a way may have
    several figures."""
    for side in context.sides:
        by_case = {i: _in_case(context, variant, context.cases[i]) for i in side}
        for text in by_case[side[0]]:
            if all(text in own for own in by_case.values()):
                yield (
                    text + context.where(side),
                    tuple(
                        by_case[i][text] if i in by_case else {} for i in range(len(context.cases))
                    ),
                )


def _in_case(context: Context, variant: CaseVariant, settings: Settings) -> dict[str, Settings]:
    """The values a way of slipping sets in one case, by its words; empty where it does not apply."""
    answers = study_of(settings).first
    try:
        return dict(_set(context, variant, answers))
    except FAILURES:
        return {}


def _set(
    context: Context, variant: CaseVariant, answers: BoundCase
) -> Iterator[tuple[str, Settings]]:
    if isinstance(variant, CaseChange):
        able = any(
            _can_change(context, answers, name, value) for name, value in variant.sets.items()
        )
        made: dict[str, Any] = {}  # of the names that the value depends on and that the case has
        for name, value in variant.sets.items():
            if able and (context.depends_on(name) or name not in NAMES):
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


def _can_change(context: Context, answers: BoundCase, name: str, value: Any) -> bool:
    """Whether setting a name can change the claim's value; a precision or a switch that is so already changes nothing."""
    if name == "assume":
        return any(answers.assumptions[switch] != choice for switch, choice in value.items())
    if name in ROLE_INPUT:
        return answers.precisions.get(name) != value and (
            context.depends_on(ROLE_INPUT[name]) or context.depends_on("peak_flops")
        )
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
    value = None
    if second.misreading:
        value = _misread_value(replace(context, value=first.value), second.misreading)
    elif first.changes is not None and second.changes is not None:
        both = tuple(zip(first.changes, second.changes, strict=True))
        if not any(one.keys() & other.keys() - {"assume"} for one, other in both):
            value = context.value_with(tuple(merged_settings(one, other) for one, other in both))
    if value is not None:
        return SlipPrediction(first.slips + second.slips, first.texts + second.texts, value)
    return None
