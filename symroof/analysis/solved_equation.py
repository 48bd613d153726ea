"""A solved equation of one case in numbers: the crossings, the whole number to act on, and whether memory allows it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

from sympy import Basic

from symroof.analysis.closed_branches import Branch, Branches, form_far_out, forms_at_crossings
from symroof.analysis.equation import Equation, balanced
from symroof.analysis.equations import as_asked
from symroof.cases.bound_case import BoundCase
from symroof.cases.quantity_result import DOES_NOT_FIT, Result
from symroof.symbolic.crossings import SAME, Crossings
from symroof.symbolic.evaluation import NoValue
from symroof.symbolic.expressions import Expr, changed_inputs, is_number, names
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
CLAIMS_MEMORY = ("batch", "context", "prompt", "output", "prefill_batch")
"""Unknowns that take memory: for these the answer is tested for whether the case still fits."""
SIDES = {"lhs_above": 1, "lhs_below": -1}
"""The sign of left less right, by verdict."""
ABOVE, BELOW = "above", "below"
"""Where a crossing has beyond that no longer exists: beyond every value of the unknown, or short of every one."""


Stretch = tuple[int, int | None]
"""The first and the last whole number of a stretch; None for the last where it has no end."""


def longest(found: Iterable[Stretch]) -> Stretch | None:
    """The stretch to act on; None without any."""
    return max(found, key=lambda each: (each[1] or math.inf) - each[0], default=None)


def stretch_text(stretch: Stretch) -> str:
    """``2``, ``139 to 1,505`` or ``12 and more``."""
    first, last = stretch
    if last is None:
        return f"{first:,} and more"
    return f"{first:,}" if first == last else f"{first:,} to {last:,}"


def to_whole(value: float, kind: str) -> int:
    """A crossing as a whole number: down to the last that keeps a limit, up to the first that reaches."""
    near = round(value)
    if abs(value - near) < CLOSE * max(near, 1):
        return near
    return math.floor(value) if kind == LIMIT else math.ceil(value)


class Extent(NamedTuple):
    """How far a crossing moves over the ranges of its case.

    Attributes:
        low, high: the least and the largest; None where nothing is a range, or the sides meet nowhere in them.
        everywhere: whether there is one in the middle and at every corner.
        beyond: where it has gone at the corners that have none, as far as that is known.
    """

    low: float | None = None
    high: float | None = None
    everywhere: bool = True
    beyond: frozenset[str] = frozenset()


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
        """Left and right as formulas, for the rooms of this package."""
        return self.relation.lhs, self.relation.rhs

    @cached_property
    def written(self) -> Expr:
        """The equation as it was asked, its numbers with their units: for printing alone."""
        return as_asked(self.asked, self.relation, self.bound_case.case.theory.own)

    @property
    def written_sides(self) -> tuple[str, str]:
        """Both sides in the grammar of formulas, of a text in the order of the text."""
        as_written = isinstance(self.asked, str) and self.threshold is None
        left, right = (text(side, as_written=as_written) for side in self.written.args)
        return left, right

    @property
    def declared(self) -> Symbol:
        """The unknown as the theory declares it, with its unit."""
        return self.bound_case.case.theory.symbol(self.unknown)

    @property
    def symbolic(self) -> bool:
        """Whether the answer is in symbols, an input being missing for one in numbers: it contains nothing but inputs and quantities."""
        return self.missing is not None

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

    @cached_property
    def candidates(self) -> Branches:
        """The closed forms with their conditions, as formulas; found when they are first asked for."""
        if self.without_numbers is not None or self.found is None:
            return self.without_numbers or Branches()
        if self.values:
            return forms_at_crossings(self.posed, self.values)
        never = self.verdict != "identical"
        return form_far_out(self.posed, self.found.searched[1]) if never else Branches()

    # ------------------------------------------------------------------------------------------------ over ranges, and as expected

    @property
    def branch(self) -> Branch | None:
        """The branch that gives the value, or the first that would if its conditions held."""
        every = self.candidates.every
        return next((b for b in every if b.value == self.value), every[0] if every else None)

    @property
    def low(self) -> float | None:
        """The least first crossing over the ranges of the inputs; None where nothing is a range, or the sides meet nowhere in them.

        >>> from symroof.analysis.study import Study
        >>> solution = Study("llama-3-8b", "h100-sxm", prompt=4096, mbu="0.5..0.9").solve("itl = 20 ms", "batch")
        >>> [round(float(crossing), 1) for crossing in (solution.low, solution.value, solution.high)], solution.everywhere
        ([34.1, 58.8, 83.5], True)
        """
        return self.extent.low

    @property
    def high(self) -> float | None:
        """The largest, as :attr:`low` is the least."""
        return self.extent.high

    @property
    def everywhere(self) -> bool:
        """Whether the sides meet at every corner of the ranges; of a case without ranges, whether they meet."""
        return self.extent.everywhere

    @cached_property
    def extent(self) -> Extent:
        """The least and the largest crossing over the ranges, whether there is always one, and where it has beyond if not."""
        corners = () if self.starts_later else self.at_corners
        if not corners:
            return Extent(None, None, self.value is not None)
        firsts = [crossings[0] for crossings in corners if crossings]
        met = [*firsts, *self.values[:1]]
        if not met:
            return Extent(None, None, False)
        everywhere = len(firsts) == len(corners) and self.value is not None
        beyond = frozenset() if everywhere or self.value is None else self.side_beyond(self.value)
        return Extent(min(met), max(met), everywhere, beyond)

    @cached_property
    def at_corners(self) -> tuple[tuple[float, ...], ...]:
        """The crossings at each corner of the case's ranges; none where nothing is ranged, or the unknown itself is."""
        if self.symbolic:
            return ()
        try:
            return tuple(each.values for each in self.posed.everywhere[1:])
        except NoValue:
            return ((),) * len(self.bound_case.corner_points)

    def side_beyond(self, crossing: float) -> frozenset[str]:
        """Where a crossing has gone at the corners that have none: above every value of the unknown, below every one, or both; nothing where that is not known.

        Where the sides never meet, one is the larger throughout. If it is the one that is larger before the crossing, there the crossing
        would come later than any value; else it would have come before.
        """
        before, ends = self.before(crossing), set()
        point = math.ceil(max(crossing, 1)) if self.declared.counted else crossing
        for case, crossings in zip(self.bound_case.corners, self.at_corners, strict=False):
            if crossings:
                continue
            side = self._side_in(case, point)
            if not before or not side:
                return frozenset()
            ends.add(ABOVE if side == before else BELOW)
        return frozenset(ends)

    @cached_property
    def at_peak(self) -> Any:
        """The same solved at 100 % of peak; None where it is that already, or no side depends on efficiencies."""
        own = self.bound_case
        given = own if own.case.numbers else own.with_changes()
        case = given.at_peak  # a degree that is solved for is open here, and again there
        timed = own.case.theory.timed
        if case is None or self.symbolic or not any(map(timed, names(self.relation))):
            return None
        asked = {self.unknown, *names(self.relation), *changed_inputs(self.relation)}
        there = case.without_values(asked)
        posed = replace(self.posed, bound_case=there)
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

    # ------------------------------------------------------------------------------------------------ what it rests on

    @cached_property
    def defaults(self) -> dict[str, Result]:
        """The inputs that the answer rests on and that nobody gave, by name; empty where the answer is symbolic."""
        if self.symbolic:
            return {}
        given = self.bound_case.given

        def moved(name: str) -> bool:
            """By the answer: no number was assumed."""
            formula = given[name].setting if name in given else None
            return isinstance(formula, Basic) and self.unknown in names(formula)

        asked = tuple(dict.fromkeys(name for side in self.sides for name in names(side)))
        inputs = self.bound_case.inputs(asked, everything=False)
        return {
            name: entry
            for name, entry in inputs.items()
            if entry.defaulted and name != self.unknown and not moved(name)
        }

    # ------------------------------------------------------------------------------------------------ whole numbers

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
        """First and last of each run of whole numbers at which the threshold holds, where it can start to hold more than once; else empty.

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

    @property
    def starts_later(self) -> bool:
        """Whether the threshold holds from a number on, not up to one: its first crossing alone says nothing."""
        return bool(self.stretches) and "at_least" in (self.integer or ())

    def rounded(self, value: float) -> int:
        """A crossing as the whole number it allows: the last that keeps a limit, the first that reaches.

        The sides are evaluated at the candidate and its neighbours, as a jump may lie just behind a whole number.
        """
        down, up = to_whole(value, LIMIT), to_whole(value, REACH)
        before = self.before(value)
        if not before:
            return to_whole(value, self.kind)
        if self.kind == LIMIT and self.unknown != "tp":
            return next((n for n in (down, down - 1) if n < 1 or self.side(n) in (before, 0)), down)
        tried = self.degrees(max(up, 1)) if self.unknown == "tp" else (up, up + 1)
        reached = (n for n in tried if n >= 1 and self.side(n) in (-before, 0))
        return next(reached, max(up, 1))

    def degrees(self, first: int, up: bool = True) -> Iterator[int]:
        """Numbers of devices that can share out the key and value heads, from one on, upwards or downwards."""
        tried = range(first, first + MOST_DEGREES) if up else range(first, 0, -1)
        return filter(self.bound_case.case.can_split_heads, tried)

    def before(self, value: float) -> int:
        """Which side is the larger just before a crossing; 0 where that is undecided."""
        earlier = max((v for v in self.values if v < value), default=self.domain[0])
        side = self.side((earlier + value) / 2)
        if side is None and self.declared.counted:  # between whole numbers a sum has no value
            side = self.side(math.ceil(value) - 1)
        return side or 0

    def side(self, point: float) -> int | None:
        """The sign of left less right at a value of the unknown, by the definitions themselves."""
        return self._side_in(self.bound_case.case, point)

    def _side_in(self, case: Case, point: float) -> int | None:
        there, sides = case.changed({self.unknown: point}), balanced(self.relation).args
        try:
            left, right = (float(there.evaluate(side)) for side in sides)
        except (NoValue, OverflowError):
            return None
        if abs(left - right) <= SAME * max(abs(left), abs(right)):
            return 0
        return 1 if left > right else -1

    @cached_property
    def own_side(self) -> int | None:
        """The sign of left less right at the unknown's own value in the case; None where it has none, or the sides have none there."""
        own = self.bound_case.given.get(self.unknown)
        if own is None or self.symbolic or not is_number(own.setting):
            return None
        return self.side(float(own.setting))

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

    @property
    def flags(self) -> tuple[str, ...]:
        """``does_not_fit`` where the answer is beyond memory."""
        return (DOES_NOT_FIT,) if self.within_memory is False else ()
