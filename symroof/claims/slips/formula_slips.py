"""Slips in formulas: the formula is derived again with one change in it, and is then exactly the claimed one.

The catalogue is that of values (:mod:`symroof.claims.slips.slip_catalogue`): there are no formulas of slips here. Two formulas over names are
equal or they are not, so agreement is never due to chance. An efficiency or a fixed cost, which has a free parameter, is only suggested:
a plain number can be read as a share of the peak wherever the formula has one.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from symroof.cases.input import ROLE_INPUT
from symroof.claims.claim_settings import merged_settings, with_settings
from symroof.claims.claimed_formula import ClaimedFormula, DetailLevel
from symroof.claims.slips.context import FAILURES, dependencies
from symroof.claims.slips.explanation import SlipExplanation, chance
from symroof.claims.slips.free_parameters import EFFICIENCIES, LEAST, MOST
from symroof.claims.slips.predictions import can_happen, formula_of
from symroof.claims.slips.slip_catalogue import CATALOGUE, CaseChange, MisreadResult, Variant
from symroof.symbolic.comparison import Comparison, same
from symroof.symbolic.expressions import ZERO, Expr, fraction, names, number, substitute, symbol
from symroof.symbolic.printing import text
from symroof.units import format_quantity, significant

FLOORS = frozenset({"memory_floor_ignored", "compute_floor_ignored"})
"""People time one of the two and go on: a second slip is tried together with these."""
SECONDS = 0.5
"""Processor time after which the search for the slips of one formula ends, from where its judgement began."""
NO_CHANCE = 0.0
LONGEST_FACTOR = 60

Applied = tuple[tuple[str, Variant], ...]
"""One slip in one of its ways, or two, each by name."""


def formula_slips(
    levels: Sequence[DetailLevel], end: float | None = None
) -> tuple[SlipExplanation, ...]:
    """The slips that lead to a formula, at the first level of detail where there are any: one in the order of the catalogue,
    or one together with an omitted floor; else a free parameter. ``end`` is the processor time at which the search ends with what there is.

    >>> from symroof.specs.claims import ClaimSpec
    >>> sides = ClaimedFormula(ClaimSpec(id="kv", quantity="kv_cache_bytes", formula="2*L*H*d_h*b_kv*S"))
    >>> [(slip.slip, slip.text) for slip in formula_slips([DetailLevel("", sides)])]
    [('gqa_forgotten', 'query heads used for KV heads in the cache: ×n_heads/n_kv_heads')]
    """
    distinct = {
        (level.sides.answers.assumptions.values, level.sides.assumed_identities): level
        for level in reversed(levels)
    }
    ordered = list(reversed(distinct.values()))
    ordered.sort(key=_foreign_names)
    end = time.process_time() + SECONDS if end is None else end
    searches = [_Search(level, end) for level in ordered]
    for attempt in (_Search.singles, _Search.beside_a_floor):
        for search in searches:
            if explanations := attempt(search):
                return explanations
    return next(
        (
            suggestions
            for level in levels
            if (level is levels[0] or time.process_time() < end)
            and (suggestions := free_parameters(level))
        ),
        (),
    )


def _foreign_names(level: DetailLevel) -> int:
    """How many names of the claimed formula the derived one lacks: where it lacks none, a slip is likeliest."""
    sides, stops = level.sides, level.sides.expansion_stops[-1]
    return len(
        set(names(sides.substituted(sides.claimed, stops)))
        - set(names(sides.substituted(sides.derived, stops)))
    )


@dataclass(frozen=True)
class _Search:
    """The search for slips at one level of detail, until the processor time ``end``."""

    level: DetailLevel
    end: float

    @property
    def sides(self) -> ClaimedFormula:
        return self.level.sides

    @property
    def late(self) -> bool:
        """Whether the time of the search is up."""
        return time.process_time() > self.end

    @cached_property
    def claimed(self) -> dict[frozenset[str], Expr]:
        """The claimed formula expanded to each depth."""
        return {
            stops: self.sides.substituted(self.sides.claimed, stops)
            for stops in self.sides.expansion_stops
        }

    @cached_property
    def possible(self) -> list[tuple[str, Variant]]:
        """Every way of every slip that can happen in the derived formula."""
        if self.late:
            return []
        needed = dependencies(self.sides.answers.case, self.sides.asked)
        able = [
            (slip.name, variant)
            for slip in CATALOGUE
            if not slip.numbers_only
            for variant in slip.variants
            if self._can_happen(variant, needed)
        ]
        return sorted(
            able, key=lambda pair: pair[0] not in FLOORS
        )  # an omitted arm is the commonest slip, and nothing else gives the same formula

    def singles(self) -> tuple[SlipExplanation, ...]:
        """One slip, each once."""
        explanations: dict[str, SlipExplanation] = {}
        for slip, variant in self.possible:
            if (
                slip not in explanations
                and (made := self.leads_there(((slip, variant),))) is not None
            ):
                explanations[slip] = self.explanation(slip, (variant,), made)
        return tuple(explanations.values())

    def beside_a_floor(self) -> tuple[SlipExplanation, ...]:
        """A floor left out and one slip more, as two with one text."""
        floors = [pair for pair in self.possible if pair[0] in FLOORS]
        for floor in floors:
            for other in self.possible:
                if (
                    other[0] not in FLOORS
                    and (made := self.leads_there((floor, other))) is not None
                ):
                    return tuple(
                        self.explanation(slip, (other[1], floor[1]), made)
                        for slip in (other[0], floor[0])
                    )
        return ()

    def explanation(self, slip: str, ways: tuple[Variant, ...], made: Expr) -> SlipExplanation:
        """In words, with the factor it makes where that is one and short."""
        sentence = " and ".join(
            variant.text for variant in ways if isinstance(variant, (CaseChange, MisreadResult))
        )
        sentence += f", at {self.level.label}" if self.level.label else ""
        factor = (
            text(self.level.own.factor)
            if self.level.own.factor is not None and self.level.own.verdict == "factor"
            else ""
        )
        return SlipExplanation(
            slip,
            True,
            text(made),
            NO_CHANCE,
            f"{sentence}: ×{factor}" if factor and len(factor) <= LONGEST_FACTOR else sentence,
        )

    def leads_there(self, applied: Applied) -> Expr | None:
        """The derived formula with slips in it, where it is the claimed one; None too where the time is up."""
        if self.late:
            return None
        try:
            return next(
                (
                    slipped
                    for stops in self.sides.expansion_stops
                    for claimed, slipped in self._pairs(applied, stops)
                    if same(claimed, slipped)
                ),
                None,
            )
        except FAILURES:
            return None

    def _pairs(self, applied: Applied, stops: frozenset[str]) -> Iterator[tuple[Expr, Expr]]:
        """The claimed formula and the derived one with the slips in it, expanded the same way."""
        defined = [
            {name: value for name, value in variant.sets.items() if not _is_choice(name)}
            for _, variant in applied
            if isinstance(variant, CaseChange)
        ]
        there = self._chosen(applied)
        slipped = _set(there, defined, stops)
        for _, variant in applied:
            if isinstance(variant, MisreadResult):
                slipped = substitute(formula_of(variant.formula), {"value": slipped})
        slipped = there.substituted(slipped, stops)
        yield self.claimed[stops], slipped
        if there is not self.sides and all(
            there.substituted(symbol(name), frozenset()) != ZERO for name in names(there.claimed)
        ):
            yield (
                there.substituted(there.claimed, stops),
                slipped,
            )  # else nothing of the claim would be left to be right

    def _chosen(self, applied: Applied) -> ClaimedFormula:
        """The sides under the switches and precisions that the slips set."""
        chosen: dict[str, Any] = {}
        for _, variant in applied:
            if isinstance(variant, CaseChange):
                chosen = merged_settings(
                    chosen,
                    {name: value for name, value in variant.sets.items() if _is_choice(name)},
                )
        return (
            ClaimedFormula(with_settings(self.sides.claim, chosen), self.sides.assumed_identities)
            if chosen
            else self.sides
        )

    def _can_happen(self, variant: Variant, needed: frozenset[str]) -> bool:
        """Whether a way changes anything; a precision that the claim does not set cannot be another."""
        if isinstance(variant, MisreadResult):
            return can_happen(variant, self.sides.unit, needed)
        if not isinstance(variant, CaseChange):
            return False
        bound_case = self.sides.answers
        switches = variant.sets.get("assume", {})
        roles = {
            role: value
            for role, value in variant.sets.items()
            if role in ROLE_INPUT and role in self.sides.claim.given
        }
        return (
            any(bound_case.assumptions[switch] != choice for switch, choice in switches.items())
            or any(bound_case.precisions.get(role) != value for role, value in roles.items())
            or bool(variant.sets.keys() & needed)
        )


def _is_choice(name: str) -> bool:
    """Whether setting it makes another case: a switch or a precision."""
    return name == "assume" or name in ROLE_INPUT


def _set(
    sides: ClaimedFormula, defined: Sequence[Mapping[str, str]], stops: frozenset[str]
) -> Expr:
    """The derived formula with names set to formulas, one after another; a formula over its own name refers to the true one."""
    moved = frozenset(name for changes in defined for name in changes)
    made = sides.asked if moved & set(names(sides.asked)) else sides.derived
    for changes in defined:
        made = substitute(
            sides.expanded(made, stops | moved),
            {name: formula_of(value) for name, value in changes.items()},
        )
    return made


# ------------------------------------------------------------------------------------------------------- free parameters


def free_parameters(level: DetailLevel) -> tuple[SlipExplanation, ...]:
    """An efficiency or a fixed cost with which a formula is the one derived.

    >>> from symroof.specs.claims import ClaimSpec
    >>> sides = ClaimedFormula(ClaimSpec(id="t", quantity="prefill_compute_time", formula="2*prefill_flops/peak_flops"))
    >>> [suggestion.text for suggestion in free_parameters(DetailLevel("", sides))]
    ['equal at mfu 0.5: that share of the peak is reached']
    """
    return (*_efficiencies(level), *_fixed_costs(level))


def _efficiencies(level: DetailLevel) -> Iterator[SlipExplanation]:
    sides = level.sides
    needed = dependencies(sides.answers.case, sides.asked)
    stops = sides.expansion_stops[-1]
    claimed = sides.substituted(sides.claimed, stops)
    for name, meaning in EFFICIENCIES:
        for share in _candidates(level.own) if name in needed else ():
            made = substitute(sides.expanded(sides.derived, stops), {name: number(share)})
            if same(claimed, sides.substituted(made, stops)):
                by_chance = chance(float(share), 1.0, [(float(LEAST), float(MOST))])
                where = f", at {level.label}" if level.label else ""
                sentence = f"equal at {name} {significant(share, 3)}{where}: that share {meaning} is reached"
                yield SlipExplanation("hidden_efficiency", False, text(made), by_chance, sentence)
                break


def _candidates(comparison: Comparison) -> list[Fraction]:
    """The shares that plain numbers between the formulas, or between arms of them, may be; and all of the peak."""
    ratios = [
        comparison.ratio,
        *(arm.comparison.ratio for arm in comparison.arms if arm.comparison),
    ]
    both = [share for ratio in ratios if ratio and ratio > 0 for share in (ratio, 1 / ratio)]
    return [share for share in dict.fromkeys(both) if LEAST <= share < MOST] + [MOST]


def _fixed_costs(level: DetailLevel) -> Iterator[SlipExplanation]:
    """A plain time added."""
    terms = level.own.terms
    if (
        level.sides.unit != "s"
        or len(terms) != 1
        or terms[0].derived
        or terms[0].under
        or terms[0].claimed <= 0
    ):
        return
    added = number(terms[0].claimed) * terms[0].product
    if added.is_Number:
        sentence = f"{format_quantity(fraction(added), 's', 3)} more than derived: a fixed overhead of that length"
        yield SlipExplanation("hidden_overhead", False, text(level.sides.claimed), 1.0, sentence)
