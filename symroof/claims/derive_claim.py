"""What symroof derives for a claim, form by form: the value to hold the claim against, its unit, its flags."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from symroof.analysis.solution import LIMIT
from symroof.analysis.study import Study, known
from symroof.cases.case_results import DOES_NOT_FIT, Answers
from symroof.claims.claim_study import changed, study_of
from symroof.claims.read.written_number import read_written
from symroof.claims.whole_range import Stretches, stretches
from symroof.errors import InputError, Problem
from symroof.formula import dimension
from symroof.formula.evaluate import evaluate
from symroof.formula.parse import FormulaError, parse, rename
from symroof.formula.tree import Compare, Tree, names
from symroof.specs.claims import ClaimSpec
from symroof.theory.spellings import printed_name, resolved
from symroof.theory.switches import DETAIL
from symroof.theory.theory import UnknownName
from symroof.units import Dimension, describe

Value = Fraction | bool | str
Known = Mapping[str, tuple[Fraction, Dimension]]
"""The numbers of the steps before a step, with their dimensions."""


@dataclass(frozen=True)
class Derived:
    """A derived value.

    Attributes:
        value: exact, a truth, a label; None where there is none (a threshold never reached), and ``why``.
        unit: its base unit.
        other: a second value that is as right: the whole number of a threshold.
        flags: ``does_not_fit``, ``dimension``.
        answers: the case it was derived in.
    """

    value: Value | None
    unit: str = ""
    other: Fraction | None = None
    why: str = ""
    flags: tuple[str, ...] = ()
    answers: Answers | None = None


def derived(claim: ClaimSpec, given: Mapping[str, Any]) -> Derived:
    """What the claim's form asks for, in a case.

    Raises:
        InputError: a name nobody knows, a missing input, a formula that cannot be read.
    """
    found = FORMS[claim.form](claim, given)
    answers = found.answers
    if answers is not None and answers.does_not_fit and DOES_NOT_FIT not in found.flags and _timed(claim, answers):
        found = replace(found, flags=(*found.flags, DOES_NOT_FIT))
    if answers is not None and _outside_its_regime(claim, given, answers):
        found = replace(found, flags=(*found.flags, REGIME))
    return found


REGIME = "regime"


def _outside_its_regime(claim: ClaimSpec, given: Mapping[str, Any], answers: Answers) -> bool:
    """Whether a claim counts less than everything where that changes what binds: weights alone at a prompt of 7, or with a
    cache that no batch outgrows."""
    step = "prefill" if (claim.quantity or "").startswith(("prefill", "ttft")) else "decode"
    quantity = claim.quantity or ""
    if quantity not in answers.case.theory.definitions or not answers.case.theory.timed(quantity) or "detail" not in given.get("assume", {}):
        return False
    whole = answers.assumed(**DETAIL["exact"])
    bounds = [found.value for one in (answers, whole) if (found := one.get(f"{step}_bound")) is not None]
    return len(bounds) == 2 and bounds[0] != bounds[1]


def _timed(claim: ClaimSpec, answers: Answers) -> bool:
    """Whether what is claimed is a latency, rate or cost: of a case that does not fit it means nothing."""
    spoken = [claim.quantity, claim.compare, *(_names(claim.relation) if claim.relation else ())]
    return any(name and name in answers.case.theory.definitions and answers.case.theory.timed(name) for name in spoken)


def _names(text: str) -> tuple[str, ...]:
    try:
        return names(resolved(parse(text)))
    except FormulaError:
        return ()


def _exact(study: Study, name: str) -> Value:
    """A quantity's exact value.

    Raises:
        InputError: nobody knows it, or an input it needs is missing.
    """
    wanted = known(printed_name(name))
    try:
        return study.exact(wanted)
    except ArithmeticError as error:
        raise InputError(Problem(wanted, str(error))) from None


def _quantity(claim: ClaimSpec, given: Mapping[str, Any]) -> Derived:
    study = study_of(given)
    name = printed_name(claim.quantity or "")
    value = _exact(study, name)
    symbol = study.first.case.theory.symbol(name)
    return Derived(value, symbol.unit, flags=study.result(name).flags, answers=study.first)


def _expression(claim: ClaimSpec, given: Mapping[str, Any]) -> Derived:
    return worked_out(claim.expression or "", study_of(given), {})


def worked_out(source: str, study: Study, steps: Known) -> Derived:
    """Arithmetic over units, names of the case, and steps before it.

    Raises:
        InputError: what cannot be read, an unknown name, byte added to FLOP.
    """
    try:
        tree = resolved_but(parse(source), steps)
    except FormulaError as error:
        raise InputError(Problem("expression", error.message, 1, error.column, source=source[:200])) from None
    case = study.first.case

    def of(name: str) -> Dimension:
        return steps[name][1] if name in steps else case.theory.dimension(name)

    try:
        unit = dimension.dimension(tree, of)
        value = evaluate(tree, case, {name: number for name, (number, _) in steps.items()})
    except dimension.DimensionError as error:
        return Derived(None, why=str(error), flags=("dimension",), answers=study.first)
    except UnknownName as error:
        raise InputError(Problem("expression", f"unknown name {error.args[0]!r}", source=source[:200])) from None
    except ArithmeticError as error:
        raise InputError(Problem("expression", str(error))) from None
    return Derived(value, "" if not unit else describe(unit), answers=study.first)


def resolved_but(tree: Tree, kept: Collection[str]) -> Tree:
    """A formula with letters put as names, except those that are steps of the claim.

    >>> from symroof.formula.text import text
    >>> text(resolved_but(parse("w/beta"), ["w"]))
    'w/mem_bandwidth'
    """
    hidden = {name: f"step {name}" for name in kept}  # no name anybody can write
    return rename(resolved(rename(tree, hidden)), {other: name for name, other in hidden.items()})


def _threshold(claim: ClaimSpec, given: Mapping[str, Any]) -> Derived:
    study = study_of(given)
    solution = study.solve(claim.threshold or "", claim.solve_for)
    if solution.verdict == "conditional":
        raise InputError(Problem(claim.threshold or "", f"needs {solution.missing} for a number"))
    unit = solution.symbol.unit
    if solution.value is None:
        return Derived("never", unit, why=solution.reason, answers=study.first)
    whole = Fraction(next(iter(solution.integer.values()))) if solution.integer else None
    if whole is not None and solution.kind == LIMIT:  # beyond the last whole number that keeps a limit it is broken
        return Derived(whole, unit, why=solution.reason, flags=solution.flags, answers=study.first)
    return Derived(solution.value, unit, other=whole, why=solution.reason, flags=solution.flags, answers=study.first)


def _relation(claim: ClaimSpec, given: Mapping[str, Any]) -> Derived:
    study = study_of(changed(given, claim.for_all) if claim.for_all else given)
    source = claim.relation or ""
    try:
        tree = resolved(parse(source))
    except FormulaError as error:
        raise InputError(Problem("relation", error.message, 1, error.column, source=source[:200])) from None
    relation = tree if isinstance(tree, Compare) else study.first.case.stands_for(known(printed_name(source)))
    found = stretches(claim, given, relation) if claim.for_all else None
    if found and found.closed:  # what a search of the whole range would find, in a thousandth of its time
        return _throughout(claim, found.outcomes, found, study)
    if isinstance(tree, Compare):
        possible = study.first.ranges.truths(tree) if claim.for_all and tree.operator != "=" else (study.first.case.evaluate(tree),)
        return _throughout(claim, possible, found, study)
    result = study.result(source)
    return _throughout(claim, result.possible or (result.value,), found, study)


def _throughout(claim: ClaimSpec, possible: Sequence[Value], found: Stretches | None, study: Study) -> Derived:
    """One outcome, or that it holds in a part of the range only, and where it does not; what holds nowhere is wrong."""
    if len(possible) == 1:
        return Derived(possible[0], answers=study.first)
    if read_written(claim.value, "").word not in possible:
        return Derived(" or ".join(map(str, possible)), answers=study.first)
    where = found.failing if found else ""
    return Derived("in part", why=where or " or ".join(map(str, possible)), answers=study.first)


def _compare(claim: ClaimSpec, given: Mapping[str, Any]) -> Derived:
    first, second = (study_of(changed(given, between)) for between in claim.between)
    over, under = (_exact(study, claim.compare or "") for study in (first, second))
    if not isinstance(over, Fraction) or not isinstance(under, Fraction) or under == 0:
        raise InputError(Problem(claim.compare or "", "is no number that has a ratio here"))
    flags = (DOES_NOT_FIT,) if second.first.does_not_fit and second.first.case.theory.timed(known(claim.compare or "")) else ()
    return Derived(over / under, "", flags=flags, answers=first.first)


def _catalogue(claim: ClaimSpec, given: Mapping[str, Any]) -> Derived:
    from symroof.claims.catalogue_claims import figure

    value, unit = figure(claim.catalogue or "")
    return Derived(value, unit)


def _moves(claim: ClaimSpec, given: Mapping[str, Any]) -> Derived:
    study = study_of(given)
    name, by = known(printed_name(claim.moves or "")), printed_name(claim.with_ or "")
    try:
        slope = study.first.case.slope(name, by)
    except ArithmeticError as error:
        raise InputError(Problem(name, str(error))) from None
    return Derived("up" if slope > 0 else "down" if slope < 0 else "not", answers=study.first)


FORMS: dict[str, Callable[[ClaimSpec, Mapping[str, Any]], Derived]] = {
    "quantity": _quantity,
    "expression": _expression,
    "threshold": _threshold,
    "relation": _relation,
    "compare": _compare,
    "catalogue": _catalogue,
    "moves": _moves,
}
"""How each form that ends in one value is derived; chains and what is unchecked are judged apart."""
