"""Formulas set as values: their value must be a value that could have been written as a number."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction

from sympy import Number

from symroof.cases.quantity_result import as_written
from symroof.cases.spec_values import SourcedValue, check_together
from symroof.errors import InputError, Problem
from symroof.specs.fields import ValueRange
from symroof.specs.input_values import in_domain
from symroof.symbolic.evaluation import NoValue
from symroof.symbolic.expressions import Expr, number
from symroof.symbolic.printing import shortened_formula, text
from symroof.theory.case import Case
from symroof.theory.declarations import MissingInput
from symroof.theory.layout import DEGREES

Ends = Mapping[str, tuple[Fraction, Fraction]]

LONGEST = 60
"""Characters of a value that a message holds."""
MOST_POINTS = 64
"""Corners of the ranges at which formulas are checked."""


def formula_inputs(given: Mapping[str, SourcedValue]) -> dict[str, SourcedValue]:
    """The values that somebody set to a formula."""
    return {
        name: value
        for name, value in given.items()
        if not isinstance(value.setting, (Number, ValueRange)) and not value.defaulted
    }


def check_formulas(
    formulas: Mapping[str, SourcedValue], given: Mapping[str, SourcedValue], box: Ends, case: Case
) -> None:
    """Formulas that somebody set must be numbers, must not refer to themselves, and must have values that their names may have: with the ranges at their
    middle and at every corner.

    Raises:
        InputError: one does not.
    """
    for name, formula in formulas.items():
        if wrong := case.first_non_number(formula.setting):
            raise InputError(
                Problem(
                    formula.source, f"{wrong} is true/false or a category, not a number", path=name
                )
            )
    moving = {
        name: ends
        for name, ends in box.items()
        if any(name in case.dependencies(own) for own in formulas)
    }
    for point in itertools.islice(_points(moving), MOST_POINTS):
        there = case.changed(point) if point else case
        known = {
            name: replace(formula, setting=_checked(name, formula, there, point))
            for name, formula in formulas.items()
            if _known(name, formula, there)
        }
        numbers = {
            name: replace(value, setting=number(Fraction(there.value(name))))
            if name in box
            else value
            for name, value in given.items()
        }
        check_together(numbers | known, [])


def without_value(name: str, formula: SourcedValue, error: NoValue) -> InputError:
    """The error of a formula set as a value that has none here, with what it needs."""
    hint = f"give {error.name}" if isinstance(error, MissingInput) else ""
    return InputError(
        Problem(formula.source, f"its formula has no value here: {error}", path=name, hint=hint)
    )


def _points(ends: Ends) -> Iterator[dict[str, Fraction]]:
    """The points of the ranges to check: their middle, and at every corner."""
    yield {}
    if ends:
        yield from (
            dict(zip(ends, corner, strict=True)) for corner in itertools.product(*ends.values())
        )


def _known(name: str, formula: SourcedValue, case: Case) -> bool:
    """Whether a formula has a value: where one that it needs is missing, what follows says so.

    Raises:
        InputError: it leads back to itself, or is a number of devices, on which all other formulas depend.
    """
    try:
        case.value(name)
    except NoValue as error:
        if "is defined by itself" in str(error):
            raise InputError(Problem(formula.source, str(error), path=name)) from None
        if name in (*DEGREES, "instance_devices"):
            raise without_value(name, formula, error) from None
        return False
    return True


def _checked(name: str, formula: SourcedValue, case: Case, point: Mapping[str, Fraction]) -> Expr:
    """The value of a formula, one that its name may have."""
    symbol = case.theory.symbol(name)
    value = number(Fraction(case.value(name)))
    if formula.definition or symbol.signed:
        return value
    try:
        in_domain(symbol, value)
    except ValueError as error:
        where = [f"{key} is {as_written(key, number(end))}" for key, end in point.items()]
        at = f" where {' and '.join(where)}" if where else ""
        written = text(formula.setting)
        hint = f"ceil({written}) or floor({written})" if "whole" in str(error) else ""
        message = f"{written} is {shortened_formula(as_written(name, value), LONGEST)}{at}, but {name} {error}"
        raise InputError(Problem(formula.source, message, path=name, hint=hint)) from None
    return value
