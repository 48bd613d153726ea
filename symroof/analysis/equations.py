"""Equations to solve: named thresholds or text, their names checked, and the unknown they are solved for."""

from typing import Any

from sympy import Symbol

from symroof.cases.bound_case import BoundCase
from symroof.errors import InputError, NoValueHere, Problem, nearest, split_hint
from symroof.symbolic.dimensions import DimensionError, check_counts, dimension
from symroof.symbolic.expressions import (
    ZERO,
    At,
    Expr,
    at,
    changed_inputs,
    is_condition_or_label,
    is_relation,
    names,
    operator_of,
    rebuild,
    symbol,
)
from symroof.symbolic.expressions import (
    relation as compared,
)
from symroof.symbolic.reading import FormulaError, as_written, parse
from symroof.theory.declarations import NONE, Declarations
from symroof.theory.spellings import printed_name, resolved
from symroof.theory.switches import assume
from symroof.theory.sympy_input import is_sympy, read_expression, with_units
from symroof.theory.theory import Theory, theory
from symroof.theory.thresholds import THRESHOLDS, Threshold, of_part

SHOWN = 80
"""Characters of an equation that an error repeats."""
LONGEST = 200
"""Characters of one that it shows with the place of a mistake."""


def refused(
    equation: Any, message: str, hint: str = "", of: type[InputError] = InputError
) -> InputError:
    """The error about an equation, or about a name in it."""
    return of(Problem(str(equation)[:SHOWN], message, hint=hint))


def named_threshold(equation: str, known: Theory) -> Threshold | None:
    """A named threshold, or one of a single operator: ``batch_to_ridge.gate_up``."""
    name, _, part = equation.partition(".")
    threshold = known.own.threshold(name)
    if threshold is None or not part:
        return threshold
    parts = known.parts(threshold.step)
    if part not in parts:
        message = f"no operator {part!r}" if parts else f"{name} is of the whole case"
        raise refused(equation, message, nearest(part, parts))
    return of_part(threshold, part)


def parse_equation(equation: Any, own: Declarations = NONE) -> Expr:
    """``lhs = rhs`` as a tree, from text or a SymPy equation; a SymPy expression equals 0, as in SymPy's ``solve``.

    Raises:
        InputError: not an equation.
    """
    ours = is_sympy(equation)
    try:
        tree = read_expression(equation, own=own) if ours else resolved(parse(equation))
    except FormulaError as error:
        hint, shown = "write one =" if "==" in equation else "", equation[:LONGEST]
        problem = Problem("equation", error.message, 1, error.column, hint=hint, source=shown)
        raise InputError(problem) from None
    if ours and not (is_condition_or_label(tree) or isinstance(tree, Symbol)):
        tree = compared("=", tree, ZERO)
    if is_relation(tree) and operator_of(tree) == "=":
        return tree
    if isinstance(tree, Symbol):
        known = [*THRESHOLDS.values(), *own.thresholds]
        named = [each.name for each in known if each.unknown == tree.name]
        near = f"thresholds for {tree.name}: {', '.join(named)}; or an equation: 'itl = 20 ms' --for {tree.name}"
        near = near if named else nearest(tree.name, [each.name for each in known])
        raise refused(tree.name, "no such threshold, and not of the form lhs = rhs", near)
    message, hint = "is not of the form lhs = rhs", ""
    if is_relation(tree):
        message = "is a bound, not of the form lhs = rhs"
        hint = "solve it with =; the answer says on which side of the crossing it holds"
    raise InputError(Problem("equation", message, hint=hint, source=str(equation)[:LONGEST]))


def without_idle_changes(relation: Expr, known: Theory) -> Expr:
    """A threshold's equation without the changed values that nothing here depends on: a dense model reads no experts."""

    def heed(tree: Expr) -> Expr:
        if isinstance(tree, At):
            changes = tuple(
                (key, value) for key, value in tree.changes if known.depends(tree.name, key)
            )
            return at(tree.name, changes) if changes else symbol(tree.name)
        return rebuild(tree, heed)

    return compared(operator_of(relation), heed(relation.lhs), heed(relation.rhs))


def unknown_of(equation: str, asked: str | None, known: Theory) -> str:
    """The name to solve for: any input, or any quantity, which is then independent of its definition."""
    if asked is None:
        hint = "--for batch, or for_='batch' in Python"
        raise refused(equation, "say what to solve for", hint)
    unknown = printed_name(asked)
    if not known.knows(unknown):
        raise refused(asked, "no such input or quantity to solve for", _nearest(asked, known))
    if kinds := known.kinds.get(unknown):
        hint = f"solve for {' or '.join(kinds)}"
        raise InputError(Problem(unknown, "differs between parts of this model", hint=hint))
    if is_condition_or_label(known.definition(unknown)):
        raise InputError(Problem(unknown, "is true/false or a category, not a number to solve for"))
    return unknown


def check_names(relation: Expr, unknown: str | None, bound_case: BoundCase, equation: str) -> None:
    """Check that every name is known and a number, and that both sides have one dimension."""
    known = bound_case.case.theory
    for name in (*names(relation), *changed_inputs(relation)):
        if not known.knows(name):
            raise refused(equation, f"unknown name {name!r}", _nearest(name, known))
        if is_condition_or_label(known.definition(name)):
            raise refused(equation, f"{name} is true/false or a category, not a number")
        _check_signs(name, unknown, bound_case, equation)
        for inner in sorted(known.dependencies(name) - {unknown, *bound_case.case.given}):
            if why := known.not_closed(inner):
                hint = f"--set {inner}='…' gives it a value"
                raise refused(equation, f"{inner} has {why}", hint, NoValueHere)
    try:
        shown = _as_written(equation)
        if shown is None:
            dimension(relation, known.dimension, bare=True)
        else:
            dimension(shown, known.dimension)
        check_counts(relation, known.dimension, known.is_share)
    except DimensionError as error:
        raise refused(equation, *split_hint(str(error))) from None


def as_asked(equation: Any, relation: Expr, own: Declarations = NONE) -> Expr:
    """An equation as it is written, its numbers with their units; one of SymPy's or with a name is its relation.

    >>> from symroof.symbolic.printing import text
    >>> text(as_asked("2*B = 3 request", parse("2*batch = 3")), as_written=True)
    '2*batch = 3 request'
    """
    found = _as_written(equation) if isinstance(equation, str) else None
    return with_units(relation, own) if found is None else found


def _as_written(equation: str) -> Expr | None:
    """An equation with the units of its numbers; None of what is no text of one."""
    found = as_written(equation, printed_name)
    return found if is_relation(found) else None


def _check_signs(name: str, unknown: str | None, bound_case: BoundCase, equation: str) -> None:
    """Check that nothing without a value may be negative: crossings are looked for, and conditions found, where inputs are positive."""
    known = bound_case.case.theory
    for inner in sorted(known.dependencies(name)):
        declared = known.own.own(inner)
        if declared is None or not declared.signed:
            continue
        may = f"{inner} may be negative"
        if inner == unknown:
            message = f"{may}; an equation is solved for what is positive"
            raise refused(equation, message, "declare its sign")
        if not bound_case.case.has_value(inner):
            message = f"{may}: which answer holds turns on its value"
            raise refused(equation, message, f"give {inner} one")


def _nearest(name: str, known: Theory) -> str:
    return nearest(name, [*known.own.known, *known.mentioned_names])


def check_occurs(relation: Expr, unknown: str, bound_case: BoundCase, equation: str) -> None:
    """Check that the unknown occurs under some assumptions, or in a formula of the case; that it cancels under these is an answer."""
    known, named = bound_case.case.theory, names(relation)
    if relation.lhs == relation.rhs or any(known.depends(name, unknown) for name in named):
        return
    if any(unknown in bound_case.case.reachable_names(name) for name in named):
        return
    other = theory(known.architecture, assume(), known.layout, known.own)
    if any(other.depends(name, unknown) for name in named):
        return
    inner = {name for side in named for name in known.dependencies(side)}
    can = sorted(name for name in inner if known.own.input(name) and name != unknown)
    hint = f"it can be solved for {', '.join(can[:12])}" if can else ""
    raise refused(equation, f"{unknown} does not occur in it", hint)
