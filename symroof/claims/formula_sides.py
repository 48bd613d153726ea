"""Both sides of a claim that states a formula: the one that was written and the one derived, over the same names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from symroof.analysis.study import known
from symroof.cases.case_results import Answers
from symroof.cases.spec_values import ROLE_INPUT
from symroof.claims.claim_study import study_of
from symroof.errors import InputError, Problem, nearest
from symroof.formula.compare import compare
from symroof.formula.comparison import Comparison
from symroof.formula.evaluate import NoValue
from symroof.formula.parse import FormulaError
from symroof.formula.rewrite import substitute
from symroof.formula.text import text
from symroof.formula.tree import Name, Num, Tree, names
from symroof.specs.claims import ClaimSpec
from symroof.theory.case import neutral_default
from symroof.theory.quantities import QUANTITIES
from symroof.theory.spellings import printed_name, read_formula, resolved
from symroof.theory.symbols import INPUTS

SAYABLE = 200
"""Characters of a derived formula that fit beside a claim."""


@dataclass(frozen=True)
class Sides:
    """A claimed formula and the derived one under what is given.

    Raises, where it is asked for a side:
        InputError: what cannot be read, an unknown name, a threshold without a closed form.
    """

    claim: ClaimSpec
    given: Mapping[str, Any]

    @cached_property
    def answers(self) -> Answers:
        return study_of(self.given).first

    @cached_property
    def claimed(self) -> Tree:
        """The claim's formula over symroof's names; ``where`` says what its own letters stand for."""
        source = self.claim.formula or ""
        try:
            own = {str(name): resolved(read_formula(str(value))) for name, value in self.claim.where.items()}
            tree = read_formula(source, tuple(own))
        except FormulaError as error:
            raise InputError(Problem("formula", error.message, 1, error.column, source=source[:200])) from None
        tree = substitute(tree, {name: own.get(name, Name(printed_name(name))) for name in names(tree)})
        unknown = [name for name in names(tree) if not self.answers.case.theory.knows(name)]
        if unknown:
            hint = nearest(unknown[0], [*INPUTS, *QUANTITIES])
            raise InputError(Problem("formula", f"unknown name {unknown[0]!r}", hint=hint or "say in where what it stands for", source=source[:200]))
        return tree

    @cached_property
    def derived(self) -> Tree:
        """The definition of the quantity, or the closed form of the threshold."""
        if self.claim.threshold:
            from symroof.analysis.solve import solve

            form = solve(self.claim.threshold, self.answers, self.claim.solve_for).closed_form
            if form is None:
                raise InputError(Problem(self.claim.threshold, "has no closed form to compare with"))
            return form
        name = known(printed_name(self.claim.quantity or ""))
        return self.answers.case.stands_for(name, complete=False)

    @property
    def asked(self) -> Tree:
        """The quantity by its name, or the closed form of the threshold."""
        return self.derived if self.claim.threshold else Name(printed_name(self.claim.quantity or ""))

    @property
    def unit(self) -> str:
        """The base unit of what is claimed; empty for a threshold, whose unknown is counted."""
        return "" if self.claim.threshold else self.answers.case.theory.symbol(known(printed_name(self.claim.quantity or ""))).unit

    @cached_property
    def depths(self) -> tuple[frozenset[str], ...]:
        """The names at which opening ends: those the claim is spoken in, and where that differs the inputs among them. An input
        that is spoken of stays a name whatever its default is: a formula over ``tp`` speaks of any number of devices."""
        own = frozenset(names(self.claimed))
        inputs = frozenset(name for name in own if self.answers.case.theory.definition(name) is None)
        return (own, inputs) if inputs != own else (own,)

    def compared(self) -> Comparison:
        """The comparison in the names of the claim, and where that differs, over inputs."""
        of = self.answers.case.theory.dimension
        found = []
        for kept in self.depths:
            found.append(compare(self.opened(self.claimed, kept), self.opened(self.derived, kept), of))
            if found[-1].verdict == "equal":
                return found[-1]
        return found[0]

    def opened(self, tree: Tree, kept: frozenset[str]) -> Tree:
        """A formula over inputs and the names that are kept; beside those, what the claim gives stands as its number, and what
        nobody chose and does not matter as its default."""
        case = self.answers.case
        whole = self.expanded(tree, kept)
        explicit = {ROLE_INPUT.get(name, printed_name(name)) for name in self.given}
        put: dict[str, Tree] = {}
        for name in names(whole):
            stands = case.given.get(name) if name in explicit else neutral_default(name) if name not in case.given else None
            if stands is not None and name not in kept:
                put[name] = stands
        return substitute(whole, put)

    def expanded(self, tree: Tree, kept: frozenset[str]) -> Tree:
        """A formula over inputs and the names that are kept, no number put in."""
        case = self.answers.case
        stops: dict[str, Tree] = {name: Name(name) for name in kept}
        return case.theory.expand(tree, given={**{name: value for name, value in case.given.items() if not isinstance(value, Num)}, **stops})

    def in_numbers(self) -> Fraction | None:
        """Claimed over derived in the claim's case, where it has numbers."""
        try:
            over = self.answers.case.evaluate(self.claimed)
            under = self.answers.case.evaluate(self.derived)
            return Fraction(over) / Fraction(under) if under else None
        except (NoValue, TypeError, LookupError):
            return None

    def said(self) -> str:
        """The derived formula in the names of the claim, where it fits beside it."""
        found = text(self.opened(self.derived, self.depths[0]))
        return found if len(found) <= SAYABLE else text(self.derived)[:SAYABLE]


@dataclass(frozen=True)
class Level:
    """A claim at one level of detail: how that is said, both sides, and how they compare as they stand."""

    says: str
    sides: Sides
    own: Comparison
