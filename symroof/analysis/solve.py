"""Equations of a case: a named threshold or text is read and checked, what depends on the unknown is inlined, then it is solved."""

from dataclasses import replace
from typing import Any

from sympy import Symbol

from symroof.analysis.equation import REACH
from symroof.analysis.solution import Solution
from symroof.analysis.verdict import under_load
from symroof.cases.bound_case import BoundCase
from symroof.errors import (
    InputError,
    NoValue,
    NoValueHere,
    Problem,
    UndefinedValue,
    nearest,
    split_hint,
)
from symroof.symbolic.dimensions import DimensionError, check_counts, dimension
from symroof.symbolic.expressions import (
    ZERO,
    Expr,
    changed_inputs,
    is_condition_or_label,
    is_relation,
    names,
    operator_of,
)
from symroof.symbolic.expressions import relation as compared
from symroof.symbolic.reading import FormulaError, as_written, parse
from symroof.symbolic.roots import Form, NoClosedForm
from symroof.theory.declarations import NONE, THRESHOLDS, Declarations, MissingInput
from symroof.theory.spellings import is_sympy, printed_name, read_expression, resolved, symbol_name
from symroof.theory.switches import assume
from symroof.theory.symbols import INPUTS
from symroof.theory.theory import Theory, UnknownName, theory

SHOWN = 80
"""Characters of an equation that an error repeats."""
LONGEST = 200
"""Characters of one that it shows with the place of a mistake."""


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
    named = None if is_sympy(equation) else theory.own.threshold(equation.strip())
    if named and named.under_load and under_load(bound_case.case):
        named = replace(named, equation=named.under_load)
    relation = parse_equation(named.equation if named else equation, theory.own)
    given, equation = equation, str(equation)
    asked = for_ or (named.unknown if named else None)
    of_relation = {printed_name(asked or ""), *names(relation), *changed_inputs(relation)}
    bound_case = bound_case.without_values(of_relation)
    check_names(relation, asked and printed_name(asked), bound_case, equation)
    unknown = unknown_of(equation, asked, bound_case.case.theory)
    kind = named.kind if named else REACH
    if named and unknown != named.unknown:  # the words of a threshold are about its own unknown
        named = None
    if not named:
        check_occurs(relation, unknown, bound_case, equation)

    made = Solution(relation, unknown, bound_case, None, given, kind, named)
    try:
        verdict = made.verdict
    except MissingInput as error:
        return _without_numbers(replace(made, missing=error.name), equation, error.name)
    except UndefinedValue as error:
        raise refused(equation, f"has no value: {error}", of=NoValueHere) from None
    if verdict == "none":
        try:
            bound_case.case.evaluate(relation.lhs), bound_case.case.evaluate(relation.rhs)
            why = "the equation has no value anywhere on the axis"
        except NoValue as error:  # in the case as it is
            why = str(error)
        raise refused(equation, f"has no value for any {unknown}: {why}", of=NoValueHere)
    return made


def _cancelled(answer: Solution) -> Solution:
    """With the crossing as a number, where the missing inputs cancel in its formula: ``params`` of a ridge batch of weights alone."""
    case = answer.bound_case.case
    for form in answer.candidates.every:
        whole = case.expanded(form.closed_form)
        try:
            value = float(case.evaluate(whole))
            there = case.changed({answer.unknown: value})
            if value > 0 and all(there.evaluate(there.expanded(tree)) for tree in form.trees):
                met = (True,) * len(form.trees)
                settled = Form(whole, form.trees, value=value, met=met)
                return replace(answer, missing=None, settled=settled)
        except NoValue:
            continue
    return answer


def _without_numbers(answer: Solution, equation: str, missing: str) -> Solution:
    """The symbolic answer, where an input that a number needs is missing."""
    unknown = answer.unknown
    give = f"`--set {missing}=...`: {INPUTS[missing].meaning}" if missing in INPUTS else ""
    try:
        if answer.difference != 0 and not answer.moves:
            message = f"{unknown} does not occur in it under these assumptions, and {missing} is missing for a verdict"
            raise refused(equation, message, of=NoValueHere)
        return _cancelled(answer)
    except NoClosedForm as error:
        why = str(error).replace("the unknown", unknown)
        message = f"has no symbolic answer ({why}), and {missing} is missing for one with numbers"
        raise refused(equation, message, give, NoValueHere) from None


def refused(name: Any, text: str, hint: str = "", of: type[InputError] = InputError) -> InputError:
    """The error about an equation, or about a name in it."""
    return of(Problem(str(name)[:SHOWN], text, hint=hint))


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
        names = {each.name: each.unknown for each in (*THRESHOLDS.values(), *own.thresholds)}
        named = ", ".join(name for name, unknown in names.items() if unknown == tree.name)
        near = nearest(tree.name, names) or "`symroof list thresholds` shows them"
        way = f"or an equation: 'itl = 20 ms' --for {tree.name}"
        hint = f"thresholds for {tree.name}: {named}; {way}"
        said = "no such threshold, and not of the form lhs = rhs"
        raise refused(tree.name, said, hint if named else near)
    bound = is_relation(tree)
    message = "is a bound, not of the form lhs = rhs" if bound else "is not of the form lhs = rhs"
    way = "solve it with =; the answer says on which side of the crossing it holds" if bound else ""
    raise InputError(Problem("equation", message, hint=way, source=str(equation)[:LONGEST]))


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
        for inner in sorted(known.dependencies(name)):
            _check_inner(inner, unknown, bound_case, equation)
    try:
        shown = as_written(equation, printed_name)
        if shown is not None and is_relation(shown):  # a threshold's is its name
            dimension(shown, known.dimension)
        else:
            dimension(relation, known.dimension, bare=True)
        check_counts(relation, known.dimension, known.is_share)
    except UnknownName as error:  # of a part without a say, as in 1^x
        name = str(error)
        raise refused(equation, f"unknown name {name!r}", _nearest(name, known)) from None
    except DimensionError as error:
        raise refused(equation, *split_hint(str(error))) from None


def _check_inner(inner: str, unknown: str | None, bound_case: BoundCase, equation: str) -> None:
    """Check that a name has a formula or a value, and none that may be negative: crossings are looked for, and conditions found, where inputs are positive."""
    known, case = bound_case.case.theory, bound_case.case
    declared, may = known.own.own(inner), f"{inner} may be negative"
    if declared and declared.signed and inner == unknown:
        message = f"{may}; an equation is solved for what is positive"
        raise refused(equation, message, "declare its sign")
    if declared and declared.signed and not case.has_value(inner):
        message = f"{may}: which answer holds turns on its value"
        raise refused(equation, message, f"give {inner} one")
    if inner != unknown and inner not in case.given and (why := known.not_closed(inner)):
        hint = f"--set {inner}='…' gives it a value"
        raise refused(equation, f"{inner} has {why}", hint, NoValueHere)


def _nearest(name: str, known: Theory) -> str:
    return nearest(name, [*known.own.known, *known.mentioned_names])


def check_occurs(relation: Expr, unknown: str, bound_case: BoundCase, equation: str) -> None:
    """Check that the unknown occurs under some assumptions, or in a formula of the case; that it cancels under these is an answer."""
    case, named = bound_case.case, names(relation)
    known = case.theory
    other = theory(known.architecture, assume(), known.layout, known.own)
    occurs = (unknown in case.dependencies(x) or other.depends(x, unknown) for x in named)
    if relation.lhs == relation.rhs or any(occurs):
        return
    inner = {name for side in named for name in known.dependencies(side)}
    can = sorted(name for name in inner if known.own.input(name) and name != unknown)
    hint = f"it can be solved for {', '.join(can[:12])}" if can else ""
    raise refused(equation, f"{unknown} does not occur in it", hint)
