"""A formula somebody wrote, held against the one derived: equal, off by a factor, or off by a term."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from symroof.claims.given import study_of
from symroof.claims.judging import Judgement, tolerance_of
from symroof.claims.written import CLOSE_ENOUGH
from symroof.formula.compare import compare
from symroof.formula.comparison import Comparison
from symroof.formula.evaluate import NoValue
from symroof.formula.parse import FormulaError
from symroof.formula.text import text
from symroof.formula.tree import Name, Num, Tree, names, substitute
from symroof.results import Answers
from symroof.specs.claims import ClaimSpec
from symroof.specs.errors import InputError, Problem, nearest
from symroof.study import known
from symroof.supply import ROLE_INPUT
from symroof.theory.case import neutral_default
from symroof.theory.quantities import QUANTITIES
from symroof.theory.spellings import printed_name, read_formula, resolved
from symroof.theory.switches import DETAIL
from symroof.theory.symbols import INPUTS

SAYABLE = 200
"""Characters of a derived formula that fit beside a claim."""


def formula(claim: ClaimSpec) -> Judgement:
    """Equal is exact; close in numbers of the case is approximate; equal at another level of detail is conditional.

    Raises:
        InputError: what cannot be read, an unknown name.
    """
    own = _compared(claim, claim.given)
    if own.verdict == "equal":
        return Judgement(claim, "exact", claim.formula or "", _said(claim, claim.given))
    ratio = _in_numbers(claim)
    limit = tolerance_of(claim)
    if ratio is not None and abs(ratio - 1) <= (CLOSE_ENOUGH if limit is None else limit):
        return Judgement(claim, "approximate", claim.formula or "", _said(claim, claim.given), ratio=ratio, reason=f"{own}; {float(ratio):.4g} times here")
    for level in DETAIL if "detail" not in claim.given.get("assume", {}) else ():
        given = {**claim.given, "assume": {**claim.given.get("assume", {}), "detail": level}}
        if _compared(claim, given).verdict == "equal":
            return Judgement(
                claim, "conditional", claim.formula or "", _said(claim, claim.given), needs=(f"detail {level}",), reason=f"holds at detail {level}; {own}"
            )
    flags = ("dimension",) if own.verdict == "dimension" else ()
    return Judgement(claim, "wrong", claim.formula or "", _said(claim, claim.given), ratio=ratio, flags=flags, reason=str(own))


def _compared(claim: ClaimSpec, given: Mapping[str, Any]) -> Comparison:
    """The comparison in the names of the claim, and where that differs, over inputs."""
    answers = study_of(given).first
    claimed = written(claim, answers)
    derived = _derived(claim, answers)
    theory = answers.case.theory
    spoken = frozenset(names(claimed))
    first = compare(claimed, opened(derived, answers, spoken, given), theory.dimension)
    if first.verdict == "equal":
        return first
    inputs = compare(opened(claimed, answers, frozenset(), given), opened(derived, answers, frozenset(), given), theory.dimension)
    return inputs if inputs.verdict == "equal" else first


def written(claim: ClaimSpec, answers: Answers) -> Tree:
    """The claim's formula over symroof's names; ``where`` says what its own letters stand for.

    Raises:
        InputError: what is not in the grammar, a name nobody knows.
    """
    source = claim.formula or ""
    try:
        own = {str(name): resolved(read_formula(str(value))) for name, value in claim.where.items()}
        tree = read_formula(source, tuple(own))
    except FormulaError as error:
        raise InputError(Problem("formula", error.message, 1, error.column, source=source[:200])) from None
    tree = substitute(tree, {name: own.get(name, Name(printed_name(name))) for name in names(tree)})
    unknown = [name for name in names(tree) if not answers.case.theory.knows(name)]
    if unknown:
        hint = nearest(unknown[0], [*INPUTS, *QUANTITIES])
        raise InputError(Problem("formula", f"unknown name {unknown[0]!r}", hint=hint or "say in where what it stands for", source=source[:200]))
    return tree


def _derived(claim: ClaimSpec, answers: Answers) -> Tree:
    """The definition of the quantity, or the closed form of the threshold."""
    if claim.threshold:
        from symroof.solving import solve

        form = solve(claim.threshold, answers, claim.solve_for).closed_form
        if form is None:
            raise InputError(Problem(claim.threshold, "has no closed form to compare with"))
        return form
    name = known(printed_name(claim.quantity or ""))
    return answers.case.stands_for(name, complete=False)


def opened(tree: Tree, answers: Answers, kept: frozenset[str], given: Mapping[str, Any]) -> Tree:
    """A formula over inputs and the names that are kept; beside those, what the claim gives stands as its number, and what
    nobody chose and does not matter as its default."""
    case = answers.case
    stops: dict[str, Tree] = {name: Name(name) for name in kept}
    whole = case.theory.expand(tree, given={**{name: value for name, value in case.given.items() if not isinstance(value, Num)}, **stops})
    explicit = {ROLE_INPUT.get(name, printed_name(name)) for name in given}
    put: dict[str, Tree] = {}
    for name in names(whole):
        stands = case.given.get(name) if name in explicit else neutral_default(name) if name not in case.given else None
        if stands is not None and name not in kept:
            put[name] = stands
    return substitute(whole, put)


def _in_numbers(claim: ClaimSpec) -> Fraction | None:
    """Claimed over derived in the claim's case, where it has numbers."""
    answers = study_of(claim.given).first
    try:
        over = answers.case.evaluate(written(claim, answers))
        under = answers.case.evaluate(_derived(claim, answers))
        return Fraction(over) / Fraction(under) if under else None
    except (NoValue, TypeError, LookupError):
        return None


def _said(claim: ClaimSpec, given: Mapping[str, Any]) -> str:
    """The derived formula in the names of the claim, where it fits beside it."""
    answers = study_of(given).first
    found = text(opened(_derived(claim, answers), answers, frozenset(names(written(claim, answers))), given))
    return found if len(found) <= SAYABLE else text(_derived(claim, answers))[:SAYABLE]
