"""Thresholds and equations of a case: definitions that depend on the unknown are inlined, then solved."""

from dataclasses import replace
from typing import Any

from symroof.analysis.closed_branches import Branches, forms_without_numbers
from symroof.analysis.equation import Equation
from symroof.analysis.equations import (
    check_names,
    check_occurs,
    named_threshold,
    parse_equation,
    refused,
    unknown_of,
    without_idle_changes,
)
from symroof.analysis.solution import Solution
from symroof.analysis.solved_equation import REACH
from symroof.analysis.verdict import under_load
from symroof.cases.bound_case import BoundCase
from symroof.errors import NoValueHere
from symroof.symbolic.crossings import Crossings
from symroof.symbolic.evaluation import NoValue, UndefinedValue
from symroof.symbolic.expressions import changed_inputs, mentions, names
from symroof.symbolic.polynomials import NoClosedForm
from symroof.theory.declarations import MissingInput
from symroof.theory.spellings import printed_name
from symroof.theory.symbols import INPUTS
from symroof.theory.sympy_input import is_sympy, read_expression, symbol_name


def solve(equation: Any, bound_case: BoundCase, for_: Any = None) -> Solution:
    """Solve a named threshold, or ``lhs = rhs`` for an input or a quantity; an equation is solved once for a case.

    Raises:
        InputError: an unknown name, mismatched dimensions, an unknown that does not occur, a missing input.
    """
    for_ = symbol_name(for_)
    if not getattr(equation, "__hash__", None):
        read_expression(equation)  # a mutable matrix, which is refused in words
    key = ("solution", equation, for_)
    return bound_case.once(key, lambda: _solve(equation, bound_case, for_))


def _solve(equation: Any, bound_case: BoundCase, for_: str | None) -> Solution:
    theory = bound_case.case.theory
    if not (isinstance(equation, str) or is_sympy(equation)):
        kind = type(equation).__name__
        raise refused("equation", f"expected text or a SymPy equation, not {kind}")
    named = None if is_sympy(equation) else named_threshold(equation.strip(), theory)
    if named and named.under_load and under_load(bound_case.case):
        named = replace(named, equation=named.under_load)
    relation = parse_equation(named.equation if named else equation, theory.own)
    given, equation = equation, str(equation)
    asked = for_ or (named.unknown if named else None)
    bound_case = bound_case.without_values(
        {printed_name(asked or ""), *names(relation), *changed_inputs(relation)}
    )
    if named:
        relation = without_idle_changes(relation, bound_case.case.theory)
    check_names(relation, asked and printed_name(asked), bound_case, equation)
    unknown = unknown_of(equation, asked, bound_case.case.theory)
    kind = named.kind if named else REACH
    if named and unknown != named.unknown:  # the words of a threshold are about its own unknown
        named = None
    if not named:
        check_occurs(relation, unknown, bound_case, equation)

    posed = Equation(relation, unknown, bound_case)
    try:
        found = posed.everywhere[0]
    except MissingInput as error:
        needs = frozenset(named.needs) if named else frozenset()
        answer = _without_numbers(replace(posed, kept=needs, symbolic=True), equation, error.name)
        cancelled = _cancelled(answer, posed)
        if cancelled is None:
            return Solution(given, posed, kind, None, named, error.name, answer)
        return Solution(given, posed, kind, cancelled[0], named, None, cancelled[1])
    except UndefinedValue as error:
        raise refused(equation, f"has no value: {error}", of=NoValueHere) from None
    if found.verdict == "none":
        why = "the equation has no value anywhere on the axis"
        try:
            bound_case.case.evaluate(relation.lhs), bound_case.case.evaluate(relation.rhs)
        except NoValue as error:  # in the case as it is
            why = str(error)
        raise refused(equation, f"has no value for any {unknown}: {why}", of=NoValueHere)
    return Solution(given, posed, kind, found, named)


def _cancelled(answer: Branches, posed: Equation) -> tuple[Crossings, Branches] | None:
    """The crossing as a number, where the missing inputs cancel in its formula: ``params`` of a ridge batch of weights alone."""
    case = posed.bound_case.case
    for branch in answer.every:
        if branch.closed_form is None:
            continue
        form = case.expanded(branch.closed_form)
        try:
            value = float(case.evaluate(form))
            there = case.changed({posed.unknown: value})
            trees = (there.expanded(condition.tree) for condition in branch.conditions)
            holds = value > 0 and all(map(there.evaluate, trees))
        except NoValue:
            continue
        if holds:
            met = tuple(replace(c, holds=True) for c in branch.conditions)
            settled = replace(branch, closed_form=form, value=value, conditions=met)
            return Crossings("crosses", (value,)), Branches((settled,))
    return None


def _without_numbers(posed: Equation, equation: str, missing: str) -> Branches:
    """The symbolic answer, where an input that a number needs is missing."""
    kept, unknown = posed.kept, posed.unknown
    give = f"`--set {missing}=...`: {INPUTS[missing].meaning}" if kept and missing in INPUTS else ""
    if posed.searched:
        message = f"has no symbolic answer: {posed.because_searched}, and {missing} is missing for one with numbers"
        raise refused(equation, message, give, NoValueHere)
    try:
        left, right = posed.sides
        if left != right and not (mentions(left, unknown) or mentions(right, unknown)):
            message = f"{unknown} does not occur in it under these assumptions, and {missing} is missing for a verdict"
            raise refused(equation, message, of=NoValueHere)
        return forms_without_numbers(posed)
    except NoClosedForm as error:
        why = str(error).replace("the unknown", unknown)
        message = f"has no symbolic answer ({why}), and {missing} is missing for one with numbers"
        raise refused(equation, message, give, NoValueHere) from None
