"""A solved equation of one case in numbers: the crossings, how far they move, the whole number to act on, and whether memory allows it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

from symroof.analysis import closed_branches
from symroof.analysis.closed_branches import Branch, Branches
from symroof.analysis.equation import Equation, balanced
from symroof.analysis.equations import as_asked
from symroof.cases.bound_case import BoundCase
from symroof.cases.quantity_result import Result
from symroof.symbolic.crossings import SAME, Crossings
from symroof.symbolic.evaluation import NoValue
from symroof.symbolic.expressions import Expr, changed_inputs, names
from symroof.symbolic.printing import text
from symroof.theory.case import Case
from symroof.theory.declarations import DropsCaches
from symroof.theory.symbols import Symbol
from symroof.theory.thresholds import Threshold

MOST_DEGREES = 1024
"""How many numbers of devices beyond a crossing are tried."""
LIMIT, REACH = "limit", "reach"
CLOSE = 1e-12
"""How near a crossing lies to a whole number that it is, as a share of it."""
SIDES = {"lhs_above": 1, "lhs_below": -1}
"""The sign of left less right, by verdict."""

Stretch = tuple[int, int | None]
"""The first and the last whole number of a stretch; None for the last where it has no end."""


COEFFICIENTS = ("c0", "c1", "c2")
"""The names of the coefficients of a long root."""
CLAIMS_MEMORY = ("batch", "context", "prompt", "output", "prefill_batch")
"""Unknowns that take memory: for these the answer is tested for whether the case still fits."""


def to_whole(value: float, kind: str) -> int:
    """A crossing as a whole number: down to the last that keeps a limit, up to the first that reaches."""
    near = round(value)
    if abs(value - near) < CLOSE * max(near, 1):
        return near
    return math.floor(value) if kind == LIMIT else math.ceil(value)


def degrees(case: Case, first: int) -> Iterator[int]:
    """Numbers of devices that can share out the key and value heads, from one on."""
    return filter(case.can_split_heads, range(first, first + MOST_DEGREES))


def longest(found: Iterable[Stretch]) -> Stretch | None:
    """The stretch to act on; None without any."""
    return max(found, key=lambda each: (each[1] or math.inf) - each[0], default=None)


def stretch_text(stretch: Stretch) -> str:
    """``2``, ``139 to 1,505`` or ``12 and more``."""
    first, last = stretch
    if last is None:
        return f"{first:,} and more"
    return f"{first:,}" if first == last else f"{first:,} to {last:,}"


class Extent(NamedTuple):
    """How far a crossing moves over the ranges of its case.

    Attributes:
        low, high: the least and the largest; None where nothing is a range, or the sides meet nowhere in them.
        everywhere: whether there is one in the middle and at every corner.
        gone: where it has gone at the corners that have none, as far as that is known:
            1 above every value of the unknown, -1 below.
    """

    low: float | None = None
    high: float | None = None
    everywhere: bool = True
    gone: frozenset[int] = frozenset()


@dataclass(repr=False)
class SolvedEquation(DropsCaches):
    """The numbers of a solution; the attributes are those of :class:`symroof.analysis.solution.Solution`."""

    asked: Any
    posed: Equation
    kind: str
    found: Crossings | None = None
    threshold: Threshold | None = None
    missing: str | None = None
    without_numbers: Branches | None = None

    def __hash__(self) -> int:
        return hash((self.relation, self.unknown))

    @property
    def relation(self) -> Expr:
        return self.posed.relation

    @property
    def unknown(self) -> str:
        return self.posed.unknown

    @property
    def bound_case(self) -> BoundCase:
        return self.posed.bound_case

    @property
    def sides(self) -> tuple[Expr, Expr]:
        """Left and right as formulas."""
        return self.relation.lhs, self.relation.rhs

    @cached_property
    def written(self) -> Expr:
        """The equation as it was asked, its numbers with their units: for printing alone."""
        return as_asked(self.asked, self.relation, self.bound_case.case.theory.own)

    @property
    def written_sides(self) -> tuple[str, str]:
        """Both sides in the grammar of formulas, of a text in the order of the text."""
        as_written = isinstance(self.asked, str) and self.threshold is None
        return tuple(text(side, as_written=as_written) for side in self.written.args)  # type: ignore[return-value]

    @property
    def declared(self) -> Symbol:
        """The unknown as the theory declares it, with its unit."""
        return self.bound_case.case.theory.symbol(self.unknown)

    @property
    def verdict(self) -> str:
        """Whether the sides meet, or which side stays the larger."""
        return self.found.verdict if self.found else self.candidates.verdict

    @property
    def method(self) -> str:
        """``closed_form``, or ``numeric`` where a crossing has none of readable size."""
        return self.candidates.method

    @property
    def values(self) -> tuple[float, ...]:
        """Every crossing, in rising order, in base units."""
        return self.found.values if self.found else ()

    @property
    def value(self) -> float | None:
        """The first crossing, in base units."""
        return self.values[0] if self.values else None

    @property
    def domain(self) -> tuple[float, float | None]:
        """Where the unknown can lie; of sides that never meet, up to where a denominator vanishes."""
        if self.found is None:
            return 0.0, None
        axis = self.posed.axis(self.bound_case.case)
        return axis.low, axis.high if self.found.pole is None else self.found.pole

    @property
    def low(self) -> float | None:
        """The least first crossing over the ranges of the inputs; None where nothing is a range, or the sides meet nowhere in them."""
        return self.extent.low

    @property
    def high(self) -> float | None:
        """The largest, as :attr:`low` is the least."""
        return self.extent.high

    @cached_property
    def corners(self) -> tuple[Crossings, ...]:
        """What is found at each corner of the case's ranges; none where nothing is ranged, or the unknown itself is."""
        if self.missing:
            return ()
        try:
            return tuple(self.posed.everywhere[1:])
        except NoValue:
            return (Crossings("none"),) * len(self.bound_case.corner_points)

    @cached_property
    def extent(self) -> Extent:
        """The least and the largest crossing over the ranges, whether there is always one, and where it has gone if not."""
        later = bool(self.stretches) and "at_least" in (self.integer or ())
        corners = () if later else self.corners  # the first crossing alone says nothing
        firsts = [each.values[0] for each in corners if each.values]
        met = [*firsts, *self.values[:1]]
        if not corners or not met:
            return Extent(None, None, not corners and self.value is not None)
        everywhere = len(firsts) == len(corners) and self.value is not None
        none = [each for each in corners if not each.values]
        larger = {0 if each.pole else SIDES.get(each.verdict, 0) for each in none}
        before = 0 if self.value is None or not larger else self.before(self.value)
        if not before or 0 in larger:
            return Extent(min(met), max(met), everywhere)
        # if the side that is larger throughout is the one before the crossing, there it would come
        # later than any value; else it would have come before
        return Extent(min(met), max(met), everywhere, frozenset(side * before for side in larger))

    @cached_property
    def at_peak(self) -> Any:
        """The same solved at 100 % of peak; None where it is that already, or no side depends on efficiencies."""
        own, timed = self.bound_case, self.bound_case.case.theory.timed
        given = own if own.case.numbers else own.with_changes()
        case = given.at_peak  # a degree that is solved for is open here, and again there
        if case is None or self.missing or not any(map(timed, names(self.relation))):
            return None
        asked = {self.unknown, *names(self.relation), *changed_inputs(self.relation)}
        posed = replace(self.posed, bound_case=case.without_values(asked))
        try:
            found = posed.everywhere[0]
        except NoValue:
            return None
        made = replace(self, posed=posed, found=found, without_numbers=None)
        return None if found.verdict == "none" else made

    @property
    def bound(self) -> float | None:
        """The value at 100 % of peak; None where there is none, or the case is there already."""
        return self.at_peak.value if self.at_peak is not None else None

    @cached_property
    def defaults(self) -> dict[str, Result]:
        """The inputs that the answer rests on and that nobody gave, by name; empty where the answer is symbolic."""
        if self.missing:
            return {}
        given = self.bound_case.given  # of a formula that the answer moves no number was assumed
        moved = {n for n, x in given.items() if x.is_formula and self.unknown in names(x.setting)}
        asked = tuple(dict.fromkeys(name for side in self.sides for name in names(side)))
        inputs = self.bound_case.inputs(asked, everything=False)
        left_out = {self.unknown, *moved}
        return {n: entry for n, entry in inputs.items() if entry.defaulted and n not in left_out}

    @cached_property
    def integer(self) -> dict[str, int] | None:
        """The whole-number answer, from the values at it and at its neighbours."""
        if not self.declared.counted or self.value is None:
            return None
        if stretch := longest(self.stretches):
            first, last = stretch
            most = {} if last is None else {"at_most": last}
            return most | ({"at_least": first} if first > 1 or last is None else {})
        return {"at_most" if self.kind == LIMIT else "at_least": self.rounded(self.value)}

    @cached_property
    def stretches(self) -> tuple[Stretch, ...]:
        """First and last of each run of whole numbers at which a threshold holds that can start to hold more than once; else empty.

        No crossing lies within a run that is looked at; the numbers next to one, where a jump may fall, are each looked at alone.
        """
        if self.value is None or self.threshold is None or not self.threshold.holds:
            return ()
        near = {math.floor(value) + k for value in self.values for k in (0, 1, 2)}
        starts = sorted({1, *(n for n in near if n > 1)})
        holds, found = SIDES[self.threshold.holds], list[Stretch]()
        for first, last in zip(starts, (*(n - 1 for n in starts[1:]), None), strict=True):
            if self.side(2 * first if last is None else (first + last) // 2) != holds:
                continue
            joined = bool(found) and found[-1][1] == first - 1
            found.append((found.pop()[0] if joined else first, last))
        return tuple(found)

    def rounded(self, value: float) -> int:
        """A crossing as the whole number it allows: the last that keeps a limit, the first that reaches.

        The sides are evaluated at the candidate and its neighbours, as a jump may lie just behind a whole number.
        """
        down, up = to_whole(value, LIMIT), to_whole(value, REACH)
        before, devices = self.before(value), self.unknown == "tp"
        if not before:
            return to_whole(value, self.kind)
        if self.kind == LIMIT and not devices:
            kept = (n for n in (down, down - 1) if n < 1 or self.side(n) in (before, 0))
            return next(kept, down)
        tried = degrees(self.bound_case.case, max(up, 1)) if devices else (up, up + 1)
        reached = (n for n in tried if n >= 1 and self.side(n) in (-before, 0))
        return next(reached, max(up, 1))

    def before(self, value: float) -> int:
        """Which side is the larger just before a crossing; 0 where that is undecided."""
        earlier = max((v for v in self.values if v < value), default=self.domain[0])
        side = self.side((earlier + value) / 2)
        if side is None and self.declared.counted:  # between whole numbers a sum has no value
            side = self.side(math.ceil(value) - 1)
        return side or 0

    def side(self, point: float) -> int | None:
        """The sign of left less right at a value of the unknown, by the definitions themselves."""
        there, sides = self.bound_case.case.changed({self.unknown: point}), balanced(self.relation)
        try:
            left, right = (float(there.evaluate(side)) for side in sides.args)
        except (NoValue, OverflowError):
            return None
        if abs(left - right) <= SAME * max(abs(left), abs(right)):
            return 0
        return 1 if left > right else -1

    @cached_property
    def whole(self) -> float | None:
        """The value to act on: the whole number where things are counted, else the crossing."""
        return float(next(iter(self.integer.values()))) if self.integer else self.value

    @cached_property
    def within_memory(self) -> bool | None:
        """Whether the case fits in memory with the unknown at its whole-number answer."""
        if self.whole is None or self.whole < 1 or self.unknown not in CLAIMS_MEMORY:
            return None
        try:
            return bool(self.bound_case.case.changed({self.unknown: self.whole}).value("fits"))
        except NoValue:
            return None

    @cached_property
    def candidates(self) -> Branches:
        """The closed forms with their conditions, as formulas; found when they are first asked for."""
        if self.without_numbers is not None or self.found is None:
            return self.without_numbers or Branches()
        if self.values:
            return closed_branches.forms_at_crossings(self.posed, self.values)
        if self.verdict == "identical":
            return Branches()
        return closed_branches.form_far_out(self.posed, self.found.searched[1])

    @property
    def branch(self) -> Branch | None:
        """The branch that gives the value, or the first that would if its conditions held."""
        every = self.candidates.every
        return next((b for b in every if b.value == self.value), every[0] if every else None)

    @property
    def answering(self) -> tuple[Branch, ...]:
        """The closed forms that give the answer: of a case the one that holds, without numbers each that may."""
        every = self.candidates.every
        if self.missing:
            return () if self.candidates.more else every
        met = (b for b in every if b.value == self.value and b.closed_form is not None)
        return tuple(met)[:1] if self.values else ()

    def spelled(self, name: str) -> str:
        """How formulas of the answer spell a name, the coefficients of a long one included."""
        if name in COEFFICIENTS:
            return f"{name[0]}_{name[1:]}"
        return self.bound_case.case.theory.latex(name)
