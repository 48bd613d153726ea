"""Derive a claim, form by form: the value that the claimed one is compared with, its unit, its flags; of a claim about a whole range the stretches in which its
outcome is one."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from types import MappingProxyType
from typing import Any

import numpy as np

from symroof.analysis.compile import along, output
from symroof.analysis.equation import LIMIT
from symroof.analysis.study import Study
from symroof.cases.bound_case import BoundCase
from symroof.cases.values import DOES_NOT_FIT
from symroof.claims.catalogue_figures import catalogue_figure
from symroof.claims.claim_settings import Settings, declarations_of, merged_settings, study_of
from symroof.claims.denominators import claimed_quantity_formula
from symroof.claims.written_number import read_written
from symroof.errors import InputError, NoValue, NoValueHere, Problem, nearest
from symroof.specs.claims import ClaimSpec
from symroof.specs.fields import parse_range
from symroof.specs.input_values import symbol_of
from symroof.symbolic.crossings import Axis, crossings
from symroof.symbolic.dimensions import DimensionError, dimension
from symroof.symbolic.evaluation import evaluate
from symroof.symbolic.expressions import ONE, Expr, is_relation, names, rename, substitute, symbol
from symroof.symbolic.reading import FormulaError, parse, written
from symroof.theory.case import Case
from symroof.theory.spellings import known, printed_name, resolved
from symroof.theory.switches import DETAIL
from symroof.theory.symbols import base_name, named
from symroof.units import Dimension, describe, settled

Value = Fraction | bool | str
Steps = Mapping[str, tuple[Fraction, Dimension]]
"""The numbers of the steps before a step, with their dimensions."""
REGIME = "regime"


@dataclass(frozen=True)
class Derived:
    """A derived value.

    Attributes:
        value: exact, a truth, a label; None where there is none (a threshold never reached), and ``reason``.
        unit: its base unit.
        alternative: an equally correct second value: the integer of a threshold.
        flags: ``does_not_fit``, ``dimension``, ``regime``.
        range: its lowest and highest value, where the claim gives inputs as ranges.
    """

    value: Value | None
    unit: str = ""
    alternative: Fraction | None = None
    reason: str = ""
    flags: tuple[str, ...] = ()
    range: tuple[Fraction, Fraction] | None = None

    @property
    def number(self) -> Fraction | None:
        """The value where it is a number."""
        return settled(self.value) if isinstance(self.value, float | Fraction) else None


def derived(claim: ClaimSpec, steps: Steps = MappingProxyType({})) -> Derived:
    """Derive the value of the claim's form under the claim's settings; arithmetic may name ``steps`` before it.

    Raises:
        InputError: an unknown name, a missing input, a formula that cannot be read.
    """
    if claim.expression:
        result = _expression(claim.expression, study_of(claim.given), steps)
    else:
        result = FORMS[claim.form](claim)
    if claim.catalogue:
        return result
    changes = claim.between[0] if claim.compare else claim.for_all
    answers, flags = study_of(merged_settings(claim.given, changes)).first, result.flags
    if answers.does_not_fit and DOES_NOT_FIT not in flags:
        formulas = [formula for formula in (claim.relation, claim.expression) if formula]
        named = [name for formula in formulas for name in names(resolved(parse(formula)))]
        theory = answers.case.theory
        every = (name for name in (claim.quantity, claim.compare, *named) if name)
        # a latency, rate or cost means nothing in a case that does not fit
        if any(name in theory.definitions and theory.timed(name) for name in every):
            flags += (DOES_NOT_FIT,)
    return replace(result, flags=(*flags, REGIME) if _outside_its_regime(claim, answers) else flags)


def _outside_its_regime(claim: ClaimSpec, answers: BoundCase) -> bool:
    """Whether a claim counts less than everything where that changes what binds: weights alone at a prompt of 7, or with a
    cache that no batch outgrows."""
    quantity, theory = claim.quantity or "", answers.case.theory
    less = "detail" in claim.given.get("assume", {})
    if not less or quantity not in theory.definitions or not theory.timed(quantity):
        return False
    bound = f"{'prefill' if quantity.startswith(('prefill', 'ttft')) else 'decode'}_bound"
    here, exact = answers.get(bound), answers.with_switches(**DETAIL["exact"]).get(bound)
    return here is not None and exact is not None and here.value != exact.value


def quantity_name(text: str | None, settings: Settings) -> str:
    """The name of a quantity or input, however it is spelled; the theory of the settings may declare it.

    Raises:
        InputError: an unknown name.
    """
    return known(printed_name(text or ""), declarations_of(settings))


def read_formula(
    field: str,
    source: str,
    case: Case,
    put: Callable[[Expr], Expr] = resolved,
    besides: Collection[str] = (),
    hint: str = "",
    alone: bool = True,
) -> Expr:
    """A formula of a claim's field over numbers that symroof knows, or the case's own theory.

    Args:
        put: puts names in place of the words of the formula.
        besides: names that it may have as well.
        hint: of an unknown name that is like no other.
        alone: whether a name alone may be of a truth or a label, which has no product.

    Raises:
        InputError: it cannot be read; a name is unknown, the nearest is in the hint.
    """
    try:
        tree = put(parse(source))
    except FormulaError as error:
        problem = Problem(field, error.message, 1, error.column, source=source[:200])
        raise InputError(problem) from None
    own, of_case = case.theory.own, substitute(tree, dict.fromkeys(besides, ONE))
    if unknown := [name for name in names(of_case) if own.symbol(base_name(name)) is None]:
        hint = nearest(unknown[0], own.known) or hint
        message = f"unknown name {unknown[0]!r}"
        raise InputError(Problem(field, message, hint=hint, source=source[:200]))
    if not (alone and tree.is_Symbol) and (name := case.first_non_number(of_case)):
        raise InputError(Problem(field, f"{name} is true/false or a category, not a number"))
    return tree


def _quantity(claim: ClaimSpec) -> Derived:
    study, name = study_of(claim.given), quantity_name(claim.quantity, claim.given)
    tree = claimed_quantity_formula(claim, name)
    bound, result, span, label = study.first, study.result(name), None, None
    value = result.value
    if tree != symbol(name) and isinstance(value, float | Fraction):
        value = bound.case.evaluate(tree)
    elif result.low is not None and not bound.measured_alone:
        span = result.low, result.high
    device = claim.given.get("hardware")
    if name == "mem_capacity" and device and name not in claim.given:  # 80 GB is as right as 85.5
        label = catalogue_figure(f"{device}.memory.capacity")[0]
    unit = bound.case.theory.symbol(name).unit
    return Derived(value, unit, label, flags=result.flags, range=span)


def _expression(source: str, study: Study, steps: Steps) -> Derived:
    """Arithmetic over units, names of the case, and steps before it.

    Raises:
        InputError: what cannot be read, an unknown name, byte added to FLOP.
    """
    case = study.first.case

    def put(tree: Expr) -> Expr:
        return resolve_names(tree, steps)

    tree = read_formula("expression", source, case, put, steps)

    def of(name: str) -> Dimension:
        return steps[name][1] if name in steps else case.theory.dimension(name)

    try:
        unit = dimension(put(written(source)), of)
        value = evaluate(tree, case, {name: number for name, (number, _) in steps.items()})
    except DimensionError as error:
        return Derived(None, reason=str(error), flags=("dimension",))
    return Derived(value, "" if not unit else describe(unit))


def resolve_names(tree: Expr, steps: Collection[str]) -> Expr:
    """A formula with letters put as names, except those that are steps of the claim.

    >>> from symroof.symbolic.printing import text
    >>> text(resolve_names(parse("w/beta"), ["w"]))
    'w/mem_bandwidth'
    """
    hidden = {name: f"step {name}" for name in steps}  # a space is in no name of a formula
    return rename(resolved(rename(tree, hidden)), {other: name for name, other in hidden.items()})


def _threshold(claim: ClaimSpec) -> Derived:
    study = study_of(claim.given)
    solution = study.solve(claim.threshold or "", claim.solve_for)
    if solution.verdict == "conditional":
        raise NoValueHere(Problem(claim.threshold or "", f"needs {solution.missing} for a number"))
    unit = solution.declared.unit
    if solution.value is None:
        return Derived("never", unit, reason=solution.reason)
    whole = Fraction(next(iter(solution.integer.values()))) if solution.integer else None
    # beyond the last whole number that keeps a limit it is broken
    limit = whole is not None and solution.kind == LIMIT
    crossing: Any = solution.value
    value, other = (whole, None) if limit else (crossing, whole)
    flags = (DOES_NOT_FIT,) if solution.within_memory is False else ()
    return Derived(value, unit, other, solution.reason, flags)


def _relation(claim: ClaimSpec) -> Derived:
    study = study_of(merged_settings(claim.given, claim.for_all))
    case, source = study.first.case, claim.relation or ""
    tree = read_formula("relation", source, case)
    if not claim.for_all:
        value = case.evaluate(tree) if is_relation(tree) else study.result(source).value
        return Derived(value)
    try:
        stretches = stretches_of(claim, tree)
    except ValueError as error:
        raise InputError(Problem("for_all", str(error))) from None
    possible = list(dict.fromkeys(outcome for *_, outcome in stretches))
    if len(possible) == 1:
        return Derived(possible[0])
    claimed, words = read_written(claim.value, "").word, " or ".join(map(str, possible)).lower()
    if claimed not in possible:  # it holds nowhere
        return Derived(words)
    name = next(iter(claim.for_all))
    failing = (f"not for {name} {low} to {high}" for low, high, one in stretches if one != claimed)
    return Derived("in part", reason=", ".join(failing))


def _compare(claim: ClaimSpec) -> Derived:
    name = quantity_name(claim.compare, claim.given)
    first, second = (study_of(merged_settings(claim.given, between)) for between in claim.between)
    over, below = first.result(name).value, second.result(name).value
    numbers = isinstance(over, float | Fraction) and isinstance(below, float | Fraction)
    if not numbers or below == 0:
        message = "has no ratio here: one of the two values is not a number, or the second is 0"
        raise NoValueHere(Problem(claim.compare or "", message))
    unfit = second.first.does_not_fit and second.first.case.theory.timed(name)
    flags = (DOES_NOT_FIT,) if unfit else ()
    return Derived(settled(over / below), flags=flags)


def _moves(claim: ClaimSpec) -> Derived:
    study, name = study_of(claim.given), quantity_name(claim.moves, claim.given)
    moving = quantity_name(claim.with_, claim.given)
    if moving == name:
        raise InputError(Problem("with", f"{moving} moves with itself, whatever it is"))
    if isinstance(study.result(name).value, (str, bool)):
        raise InputError(Problem("moves", f"{name} is true/false or a category: it has no slope"))
    slope = study.first.case.slope(name, moving)
    return Derived("up" if slope > 0 else "down" if slope < 0 else "not")


FORMS: dict[str, Callable[[ClaimSpec], Derived]] = {
    "quantity": _quantity,
    "threshold": _threshold,
    "relation": _relation,
    "compare": _compare,
    "catalogue": lambda claim: Derived(*catalogue_figure(claim.catalogue or "")),
    "moves": _moves,
}
"""How each form that ends in one value is derived, besides arithmetic; chains and unchecked claims are judged separately."""


MOST_WHOLE, GRID = 2**17, 2**12
"""Whole numbers of a range that are all looked at, and points of a range of anything else."""
Outcome = bool | str


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
    whole = study_of({key: value for key, value in claim.given.items() if key != name}).first.case
    case = whole.without_values({symbol.name}, rounded=True)
    tree = case.formula_or_name(relation.name) if relation.is_Symbol else relation
    asked = (tree, tree.lhs - tree.rhs) if is_relation(tree) else (tree,)
    results = [output(named(each), frozenset({symbol.name}), case) for each in asked]

    def outcomes(points: Any) -> Any:
        found, *sides = along(case, {symbol.name: points}, results)
        if np.isnan(sides).any() or (results[0].labels and "" in found):
            raise NoValue("no value in a part of the range")
        return found

    low, high = float(ends.low), float(ends.high)
    steps = min(high - low, MOST_WHOLE) if symbol.counted else GRID
    points = np.linspace(low, high, int(steps) + 1)
    points = np.unique(np.rint(points)) if symbol.counted else points
    every = outcomes(points).tolist()
    starts = [i for i in range(1, len(every)) if every[i] != every[i - 1]]
    turns = []
    for i in starts:
        before, (a, b) = every[i - 1], points[i - 1 : i + 1]

        def sides(x: Any, _: Any, before: Outcome = before) -> tuple[Any, Any]:
            return np.where(outcomes(x) == before, -1.0, 1.0), 0.0

        if not symbol.counted or b - a > 1:
            b = max(crossings(sides, [Axis(a, b, whole=symbol.counted)])[0].values, default=b)
        turns.append(b)
    gap, form = (1, ",.0f") if symbol.counted else (0, ".6g")
    firsts, lasts = [low, *turns], [*(b - gap for b in turns), high]
    stretches = zip(firsts, lasts, [0, *starts], strict=True)
    return [(f"{first:{form}}", f"{last:{form}}", every[i]) for first, last, i in stretches]
