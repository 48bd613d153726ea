"""Slips in formulas: what is derived is derived again with one change in it, and is then exactly what somebody wrote.

The catalogue is that of values (:mod:`symroof.claims.slips.slip_catalogue`): there are no formulas of slips here. Two formulas over names are
equal or they are not, so that no agreement is owed to chance.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from symroof.cases.spec_values import ROLE_INPUT
from symroof.claims.claim_study import changed
from symroof.claims.formula_sides import Level, Sides
from symroof.claims.slips.apply import can_happen, formula_of
from symroof.claims.slips.changes import Change, Result, Way
from symroof.claims.slips.context import FAILURES, spoken
from symroof.claims.slips.explanation import Explanation
from symroof.claims.slips.formula_efficiencies import shares
from symroof.claims.slips.slip_catalogue import CATALOGUE
from symroof.formula.compare import same
from symroof.formula.rewrite import substitute
from symroof.formula.text import text
from symroof.formula.tree import ZERO, Name, Tree, names

FLOORS = frozenset({"memory_floor_ignored", "compute_floor_ignored"})
"""People time one of the two and go on: what else went wrong is looked for beside these."""
NO_CHANCE = 0.0
LONGEST_FACTOR = 60

Happened = tuple[tuple[str, Way], ...]
"""One slip in one of its ways, or two, each by name."""


def formula_slips(levels: Sequence[Level]) -> tuple[Explanation, ...]:
    """The slips that lead to a formula, at the first level of detail where there are any: one in the order of the catalogue,
    or one beside a floor left out; what has a free parameter is suggested.

    >>> from symroof.specs.claims import ClaimSpec
    >>> sides = Sides(ClaimSpec(id="kv", quantity="kv_cache_bytes", formula="2*L*H*d_h*b_kv*S"), {})
    >>> [(found.slip, found.text) for found in formula_slips([Level("", sides, sides.compared())])]
    [('gqa_forgotten', 'query heads used for KV heads in the cache: ×n_heads/n_kv_heads')]
    """
    distinct = {level.sides.answers.binding.assumptions.values: level for level in reversed(levels)}
    searches = [_Search(level) for level in reversed(distinct.values())]
    for look in (_Search.singles, _Search.beside_a_floor):
        for search in searches:
            if found := look(search):
                return found
    return next((found for level in levels if (found := shares(level))), ())


@dataclass(frozen=True)
class _Search:
    """The search for slips at one level of detail."""

    level: Level

    @property
    def sides(self) -> Sides:
        return self.level.sides

    @cached_property
    def claimed(self) -> dict[frozenset[str], Tree]:
        """The claimed formula opened to each depth."""
        return {kept: self.sides.opened(self.sides.claimed, kept) for kept in self.sides.depths}

    @cached_property
    def possible(self) -> list[tuple[str, Way]]:
        """Every way of every slip that can happen in the derived formula."""
        hangs_on = spoken(self.sides.answers.case, self.sides.asked)
        return [(slip.name, way) for slip in CATALOGUE if not slip.figures for way in slip.ways if self._can_happen(way, hangs_on)]

    def singles(self) -> tuple[Explanation, ...]:
        """One slip, each once."""
        found: dict[str, Explanation] = {}
        for slip, way in self.possible:
            if slip not in found and (made := self.leads_there(((slip, way),))) is not None:
                found[slip] = self.explanation(slip, (way,), made)
        return tuple(found.values())

    def beside_a_floor(self) -> tuple[Explanation, ...]:
        """A floor left out and one slip more, as two with one text."""
        floors = [pair for pair in self.possible if pair[0] in FLOORS]
        for floor in floors:
            for other in self.possible:
                if other[0] not in FLOORS and (made := self.leads_there((floor, other))) is not None:
                    return tuple(self.explanation(slip, (other[1], floor[1]), made) for slip in (other[0], floor[0]))
        return ()

    def explanation(self, slip: str, ways: tuple[Way, ...], made: Tree) -> Explanation:
        """In words, with the factor it makes where it makes one that can be said."""
        says = " and ".join(way.says for way in ways if isinstance(way, (Change, Result)))
        says += f", at {self.level.says}" if self.level.says else ""
        factor = text(self.level.own.factor) if self.level.own.factor is not None and self.level.own.verdict == "factor" else ""
        return Explanation(slip, True, text(made), NO_CHANCE, f"{says}: ×{factor}" if factor and len(factor) <= LONGEST_FACTOR else says)

    def leads_there(self, happened: Happened) -> Tree | None:
        """The derived formula with slips in it, where it is the claimed one."""
        try:
            return next((slipped for kept in self.sides.depths for claimed, slipped in self._pairs(happened, kept) if same(claimed, slipped)), None)
        except FAILURES:
            return None

    def _pairs(self, happened: Happened, kept: frozenset[str]) -> Iterator[tuple[Tree, Tree]]:
        """What is claimed and what the slips make of the derived formula, opened alike."""
        defined = [{name: value for name, value in way.given.items() if not _is_choice(name)} for _, way in happened if isinstance(way, Change)]
        there = self._chosen(happened)
        slipped = _set(there, defined, kept)
        for _, way in happened:
            if isinstance(way, Result):
                slipped = substitute(formula_of(way.formula), {"value": slipped})
        slipped = there.opened(slipped, kept)
        yield self.claimed[kept], slipped
        if there is not self.sides and all(there.opened(Name(name), frozenset()) != ZERO for name in names(there.claimed)):
            yield there.opened(there.claimed, kept), slipped  # else nothing of the claim would be left to be right

    def _chosen(self, happened: Happened) -> Sides:
        """The sides under the switches and precisions that the slips set."""
        chosen: dict[str, Any] = {}
        for _, way in happened:
            if isinstance(way, Change):
                chosen = changed(chosen, {name: value for name, value in way.given.items() if _is_choice(name)})
        return Sides(self.sides.claim, changed(self.sides.given, chosen)) if chosen else self.sides

    def _can_happen(self, way: Way, hangs_on: frozenset[str]) -> bool:
        """Whether a way changes anything; a precision that the claim does not give is no other than it says."""
        if isinstance(way, Result):
            return can_happen(way, self.sides.unit, hangs_on)
        if not isinstance(way, Change):
            return False
        binding = self.sides.answers.binding
        switches = way.given.get("assume", {})
        roles = {role: value for role, value in way.given.items() if role in ROLE_INPUT and role in self.sides.given}
        return (
            any(binding.assumptions[switch] != wanted for switch, wanted in switches.items())
            or any(binding.precisions.get(role) != value for role, value in roles.items())
            or bool(way.given.keys() & hangs_on)
        )


def _is_choice(name: str) -> bool:
    """Whether setting it makes another case: a switch or a precision."""
    return name == "assume" or name in ROLE_INPUT


def _set(sides: Sides, defined: Sequence[Mapping[str, str]], kept: frozenset[str]) -> Tree:
    """The derived formula with names set to formulas, one after another; one that speaks of its own name means the true one."""
    moved = frozenset(name for changes in defined for name in changes)
    made = sides.asked if moved & set(names(sides.asked)) else sides.derived
    for changes in defined:
        made = substitute(sides.expanded(made, kept | moved), {name: formula_of(value) for name, value in changes.items()})
    return made
