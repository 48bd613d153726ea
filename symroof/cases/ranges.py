"""Where a quantity can lie when some inputs are ranges.

A quantity that moves one way with an input takes its extremes at that input's ends; which way it moves is read off the
formula (all symbols are positive). Where the shape of a formula does not decide, the inside is searched too. Interval arithmetic is
not used: ``a/(a + b)`` would get a range it never takes.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from symroof.cases.search_budget import MOST_AXES, Budget, NotWorkedOut
from symroof.formula import build
from symroof.formula.evaluate import NoValue
from symroof.formula.parse import parse
from symroof.formula.tree import INCREASING, ZERO, Add, At, Call, Compare, Div, Largest, Mul, Name, Neg, Num, Pow, Total, Tree, names, parts
from symroof.theory.case import MOST_CHANGES, Case
from symroof.theory.defaults import Missing
from symroof.theory.quantities import QUANTITIES
from symroof.theory.quantity import Search
from symroof.theory.symbols import base_name
from symroof.theory.theory import UnknownName

if TYPE_CHECKING:
    from symroof.cases.box_search import BoxSearch

Box = Mapping[str, tuple[Fraction, Fraction]]
Point = Mapping[str, Fraction]
Direction = int | None
"""+1 grows with the input, -1 falls, 0 does not move, None is not known."""


MOST_CORNERS = 1024
FEWEST = Fraction(1, 10**9)
"""The least that a searched value may be beside 0: a rate may keep far less than one request busy."""


def _combined(directions: Iterable[Direction]) -> Direction:
    """The way that all move that move at all; the first that is not known, or goes against another, ends it."""
    way: Direction = 0
    for direction in directions:
        if direction is None or (direction and way and direction != way):
            return None
        way = way or direction
    return way


def _times(a: Direction, b: Direction) -> Direction:
    if a == 0 or b == 0:
        return 0
    return None if a is None or b is None else a * b


@dataclass
class Ranges:
    """A case together with the ranges of some of its inputs."""

    case: Case
    box: Box
    budget: Budget = field(default_factory=Budget)
    whole: frozenset[str] | None = None
    """Inputs of the box that take whole values only; by default those that count things, between whole ends."""
    measured: Sequence[Mapping[str, Fraction]] = ()
    """The corners of those inputs whose ranges are one common widening; a box of more axes than are searched is searched at these alone."""
    stored: Collection[str] = ()
    like: Ranges | None = None
    """The ranges of a case that differs from this one in a few values, ``stored`` ones or those at efficiencies: they share what is lowered for a search."""
    depth: int = 0
    """How many changes of inputs these ranges are inside of."""
    _memo: dict[tuple[str, str], Direction] = field(default_factory=dict)
    _directions: dict[tuple[Tree, str], Direction] = field(default_factory=dict)
    _signs: dict[Tree, bool] = field(default_factory=dict)
    _turning: dict[Tree, bool] = field(default_factory=dict)
    _corners: dict[tuple[tuple[str, Fraction], ...], Case] = field(default_factory=dict)
    _inner: dict[tuple[tuple[str, tuple[Fraction, Fraction]], ...], Ranges] = field(default_factory=dict)
    _bounds: dict[Tree, tuple[Fraction, Fraction] | NotWorkedOut] = field(default_factory=dict)

    def bounds(self, tree: Tree) -> tuple[Fraction, Fraction]:
        """The least and the largest value of a formula over the box.

        Raises:
            NotWorkedOut: its shape does not show them, and a search takes too long.
            NoValue: it has no value at some point of the box that was looked at.
        """
        if tree not in self._bounds:
            try:
                low, high = self.ends(tree)
                self._bounds[tree] = self._at(tree, low), self._at(tree, high)
            except NotWorkedOut as error:
                self._bounds[tree] = error
        bounds = self._bounds[tree]
        if isinstance(bounds, NotWorkedOut):
            raise bounds
        return bounds

    def ends(self, tree: Tree) -> tuple[Point, Point]:
        """Where in the box a formula is least and largest; inputs that do not move it may be left out.

        Raises:
            NotWorkedOut: as :meth:`bounds`.
        """
        moving = {name: self.direction(tree, name) for name in self.box}
        if (under := self._under_that_turns(tree)) is not None:
            if any(self.direction(under, name) and name not in self._whole for name in self.box):
                raise NoValue("division by zero")
            moving = {name: way and None for name, way in moving.items()}  # whole steps lead over it: what is beyond has the other sign
        lowest = {name: self.box[name][0 if d == 1 else 1] for name, d in moving.items() if d}
        highest = {name: self.box[name][1 if d == 1 else 0] for name, d in moving.items() if d}
        if all(d is not None for d in moving.values()):
            return lowest, highest
        if self._at_corners_alone:
            first, *others = sorted(self.measured, key=lambda corner: self._at(tree, corner))
            return first, others[-1] if others else first
        if self.budget.left <= 0:
            raise NotWorkedOut
        still = {name: self.box[name][0] for name, d in moving.items() if d == 0}
        search = self._shared if self._shared and self._shared.serves(tree) else self._search
        return search.highest(tree, -1, {**still, **lowest}), search.highest(tree, 1, {**still, **highest})

    @cached_property
    def _at_corners_alone(self) -> bool:
        """Whether all of the box is the widening of measurements, and of more inputs than are searched: a few exact values tell."""
        return len(self.box) > MOST_AXES and bool(self.measured) and self.box.keys() == self.measured[0].keys()

    def _under_that_turns(self, tree: Tree) -> Tree | None:
        """A denominator of somebody's own formula that is negative in part of the box and positive in another; those of symroof's are not."""
        seen, waiting = set(), [tree]
        for formula in waiting:
            for part in parts(formula):
                if isinstance(part, Div) and self._turns(part.under):
                    return part.under
                if isinstance(part, Name) and part.name not in seen and self._is_own(part.name):
                    seen.add(part.name)
                    waiting.append(self.case.formula(part.name, self.box))
        return None

    def _is_own(self, name: str) -> bool:
        """Whether a name stands for a formula that somebody gave or declared."""
        if name in self.box or name in self.case.numbers:
            return False
        return name in self.case.given or (self.case.theory.own.quantity(name) is not None and self.case.has(name))

    def _turns(self, under: Tree) -> bool:
        """Whether a denominator has both signs in the box, as far as its ends show."""
        if under not in self._turning:
            self._turning[under] = False  # while it is worked out: a circle of given formulas shows nothing
            if names(under) and self.sign(under) is None and all(self.direction(under, name) is not None for name in self.box):
                with suppress(NoValue):
                    low, high = self.bounds(under)
                    self._turning[under] = low < 0 < high
        return self._turning[under]

    @cached_property
    def _search(self) -> BoxSearch:
        return self._box_search(None)

    @cached_property
    def _shared(self) -> BoxSearch | None:
        return self._box_search(self.like._shared or self.like._search) if self.like else None

    def _box_search(self, like: BoxSearch | None) -> BoxSearch:
        from symroof.cases.box_search import Axis, BoxSearch  # NumPy is not loaded for ranges that need no search

        corners = self.measured if len(self.box) > MOST_AXES else ()
        axes = {name: Axis.of(*self.box[name], name in self._whole) for name in self.box if not corners or name not in corners[0]}
        return BoxSearch(self.case, axes, self.budget, corners, self.stored, like)

    @cached_property
    def _whole(self) -> frozenset[str]:
        if self.whole is not None:
            return self.whole
        return frozenset(name for name, (low, high) in self.box.items() if low.denominator == high.denominator == 1 and self._counts(name))

    def _counts(self, name: str) -> bool:
        try:
            return self.case.theory.symbol(name).counted
        except UnknownName:
            return False

    def truths(self, tree: Compare) -> tuple[bool, ...]:
        """Every outcome a relation takes over the box."""
        low, high = self.bounds(Add((tree.left, Neg(tree.right))))
        holds = {"<=": (high <= 0, low > 0), "<": (high < 0, low >= 0), ">=": (low >= 0, high < 0), ">": (low > 0, high <= 0)}
        always, never = holds[tree.operator]
        return (True,) if always else (False,) if never else (True, False)

    def labels(self, tree: Largest) -> tuple[str, ...]:
        """Every label that is largest somewhere in the box."""
        labels = []
        for label, arm in tree.arms:
            others = tuple(other for name, other in tree.arms if name != label)
            _, high = self.bounds(Add((arm, Neg(Call("max", others)))))
            if high > 0 or (high == 0 and label == tree.arms[0][0]):  # a tie goes to the arm named first
                labels.append(label)
        return tuple(labels) or (self.case.evaluate(tree),)

    def _at(self, tree: Tree, point: Point) -> Fraction:
        corner = tuple(sorted(point.items()))
        if corner not in self._corners:
            if len(self._corners) > MOST_CORNERS:  # corners and grids come back, the points between them are visited once
                self._corners.clear()
            self._corners[corner] = self.case.changed(point)
        value: Fraction = self._corners[corner].evaluate(tree)
        return value

    def inside(self, changes: Mapping[str, tuple[Fraction, Fraction]], index: str = "") -> Ranges:
        """The same ranges with some more names that vary: the context over the steps of a response, or the ``index`` of a sum.

        Raises:
            NotWorkedOut: given formulas lead to ever more changed inputs.
        """
        key = tuple(sorted(changes.items()))
        if key not in self._inner:
            if self.depth >= MOST_CHANGES:
                raise NotWorkedOut
            still = {name: low for name, (low, high) in changes.items() if low == high}
            box = {name: span for name, span in {**self.box, **changes}.items() if name not in still}
            running = {name for name in box if name == index and all(end.denominator == 1 for end in box[name])}
            whole = (self._whole - changes.keys()) | running
            self._inner[key] = Ranges(self.case.changed(still) if still else self.case, box, self.budget, whole, self.measured, depth=self.depth + 1)
        return self._inner[key]

    # ------------------------------------------------------------------------------------------ which way it moves

    def direction(self, tree: Tree, by: str) -> Direction:
        """Which way a formula moves with an input."""
        if type(tree) is Name:
            return self._name(tree.name, by)
        try:  # one look-up: most are known
            return self._directions[tree, by]
        except KeyError:
            pass
        way = self._directions[tree, by] = 0 if all(self._apart(name, by) for name in names(tree)) else self._direction(tree, by)
        return way

    def _direction(self, tree: Tree, by: str) -> Direction:
        match tree:
            case Num():
                return 0
            case Neg(arg):
                return _times(-1, self.direction(arg, by))
            case Add():
                return _combined(self.direction(term, by) for term in _excess(tree))
            case Mul(factors):
                return self._product([(factor, 1) for factor in factors], by)
            case Div(over, under):
                part, rest = self._part_of_sum(over, under)
                if rest is not None:  # a/(a + b) falls as b/a grows
                    return _times(-1, self._product([(rest, 1), (part, -1)], by))
                return self._product([(over, 1), (under, -1)], by)
            case Pow(base, Num(value)):
                return _times(1 if value > 0 else -1, _times(self.direction(base, by), self.sign(base)))
            case Pow(base, exponent):
                by_base = _times(self.direction(base, by), self.sign(exponent))
                by_exponent = self.direction(exponent, by)
                return _combined([by_base, _times(by_exponent, self._beyond_one(base) if by_exponent else 1)])
            case Call("max" | "min" as function, args):
                return _combined(self.direction(arg, by) for arg in self._winners(args, function == "max"))
            case Call("of_largest", args):
                return self._chosen(args, by)
            case Call(function, (arg,)) if function in INCREASING:
                return self.direction(arg, by)
            case Call(_, args):  # a function of SymPy: it goes up and down
                return None if any(self.direction(arg, by) != 0 for arg in args) else 0
            case Total(body, index, first, last):
                return self._total(body, index, first, last, by)
            case At(name, changes):
                return self._changed(name, changes, by)
            case Compare() | Largest():
                return None
        raise TypeError(f"not a formula tree: {tree!r}")

    def _name(self, name: str, by: str) -> Direction:
        if name == by:
            return 1
        try:
            return self._memo[name, by]
        except KeyError:
            self._memo[name, by] = 0  # also while it is worked out: a cycle does not move itself
        if not (name in self.box or name in self.case.numbers or self._apart(name, by)):
            try:
                search = self.case.search(name, self.box)
                self._memo[name, by] = self._searched(search, by) if search else self.direction(self.case.formula(name, self.box), by)
            except (Missing, NoValue):  # what it depends on has no value somewhere: only values tell
                self._memo[name, by] = None
        return self._memo[name, by]

    def _searched(self, search: Search, by: str) -> Direction:
        """A value that is searched moves as its end does, and as what decides it: more room, or a condition that holds for longer."""
        body, high = parse(search.body), parse(search.high)
        if by == search.unknown:  # what decides it has the searched value in the place of this one
            return self.direction(high, by)
        least = FEWEST if search.kind == "fixed" else Fraction(1)
        over = self.inside({search.unknown: (least, max(self.bounds(high)[1], least))})
        return _combined([over.direction(body, by), self.direction(high, by)])

    def _apart(self, name: str, by: str) -> bool:
        """Whether no formula leads from a name to an input; to a total that is ranged its parts lead, which then follow it."""
        return by not in self.case.ancestry(name) and by not in self.case.theory.split

    def _product(self, parts: list[tuple[Tree, int]], by: str) -> Direction:
        """A product moves as its moving factors do, each times the sign of the others."""

        def one(i: int, factor: Tree, power: int) -> Direction:
            own = _times(self.direction(factor, by), power)
            for k, (other, _) in enumerate(parts):
                own = _times(own, self.sign(other)) if own and k != i else own
            return own

        return _combined(one(i, factor, power) for i, (factor, power) in enumerate(parts))

    def _changed(self, name: str, changes: tuple[tuple[str, Tree], ...], by: str) -> Direction:
        """Which way a quantity at changed inputs moves; their bounds are searched for only where wider ones leave it open."""
        ways = {key: self.direction(value, by) for key, value in changes}
        direction: Direction = None
        for span in (self._wide, self.bounds):
            inner = self.inside({key: span(value) for key, value in changes})
            moved = [(inner._name(name, key), way) for key, way in ways.items() if way != 0]
            direction = _combined(_times(outer, way) for outer, way in moved)
            if direction is not None and by not in ways:  # may take searches of its own
                direction = _combined((inner._name(name, by), direction))
            if direction is not None or any(outer and way is None for outer, way in moved):
                break
        return direction

    def _wide(self, tree: Tree) -> tuple[Fraction, Fraction]:
        """Two numbers that every value of a formula lies between: its bounds, or, without a search for them, sums and products of those of its parts."""
        if isinstance(tree, Name) and (search := self.case.search(tree.name, self.box)) and search.kind == "fixed":
            return FEWEST, self.bounds(parse(search.high))[1]
        if not isinstance(tree, Add | Neg | Mul) or all(self.direction(tree, name) is not None for name in self.box):
            return self.bounds(tree)
        if isinstance(tree, Neg):
            low, high = self._wide(tree.arg)
            return -high, -low
        if isinstance(tree, Add):
            lows, highs = zip(*map(self._wide, _excess(tree)), strict=True)
            return sum(lows, Fraction(0)), sum(highs, Fraction(0))
        corners = [math.prod(corner, start=Fraction(1)) for corner in itertools.product(*map(self._wide, tree.factors))]
        low, high = min(corners), max(corners)
        if pieces := self._pieces(tree):  # all but the last: less than the whole, by no more than a piece
            (least, most), (_, piece) = map(self._wide, pieces)
            return max(low, least - piece), min(high, most)
        return low, high

    def _pieces(self, tree: Mul) -> tuple[Tree, Tree] | None:
        """The whole and the piece of ``piece*(ceil(whole/piece) - 1)``, where that rounding has a name."""
        match tree.factors:
            case (piece, Add((Name(number), Num(value)))) if (
                value == -1 and number not in self.case.numbers and self.case.has(number) and self.nonnegative(piece)
            ):
                match self.case.formula(number, self.box):
                    case Call("ceil", (Div(whole, under),)) if under == piece:
                        return whole, piece
        return None

    def _chosen(self, args: tuple[Tree, ...], by: str) -> Direction:
        """Which way a choice moves: as its value does where one key is the largest over the whole box, or as all that can be chosen where no key moves."""
        keys = args[::2]
        winners = self._winners(keys, larger=True)
        if len(winners) > 1 and any(self.direction(key, by) != 0 for key in keys):
            return None
        return _combined(self.direction(args[2 * keys.index(winner) + 1], by) for winner in winners)

    def _total(self, body: Tree, index: str, first: Tree, last: Tree, by: str) -> Direction:
        start, end = self.bounds(first)[0], self.bounds(last)[1]
        if end < start:
            return 0
        each = self.inside({index: (start, end)}, index)
        bounds = _combined([_times(-1, self.direction(first, by)), self.direction(last, by)])
        return _combined([each.direction(body, by), _times(bounds, 1 if each.nonnegative(body) else None)])

    def _winners(self, args: tuple[Tree, ...], larger: bool) -> list[Tree]:
        """The arms of a maximum (minimum) that win somewhere in the box; the others do not move it."""
        if len(args) > 4 or all(self.direction(arg, name) == 0 for arg in args for name in self.box):
            return list(args)
        if any(self.direction(arg, name) is None for arg in args for name in self.box):
            return list(args)
        try:
            spans = [self.bounds(arg) for arg in args]
        except NoValue:
            return list(args)
        best = max(low for low, _ in spans) if larger else min(high for _, high in spans)
        return [arg for arg, (low, high) in zip(args, spans, strict=True) if (high >= best if larger else low <= best)]

    def _part_of_sum(self, part: Tree, whole: Tree) -> tuple[Tree, Tree | None]:
        """Of a fraction ``a/(a + b)``, both ``a`` and ``b``, whether the sum is written out or behind a name; no ``b`` where it is none.

        ``a/(c*(a/c + b))`` is one too, of ``a/c``: that is how a fraction of fractions is written.
        """
        if isinstance(whole, Name) and self.case.has(whole.name):
            whole = self.case.formula(whole.name, self.box)
        if isinstance(whole, Mul):
            sums = [factor for factor in whole.factors if isinstance(factor, Add)]
            others = [factor for factor in whole.factors if not isinstance(factor, Add)]
            if len(sums) == 1:
                part, whole = build.div(part, build.mul(*others)), sums[0]
        if isinstance(whole, Add) and part in whole.terms and len(whole.terms) == 2:
            return part, next(term for term in whole.terms if term != part)
        return part, None

    # ------------------------------------------------------------------------------------------------ which sign

    def sign(self, tree: Tree) -> Direction:
        """The sign of a formula over the whole box: +1 also where it may be zero."""
        if self.nonnegative(tree):
            return 1
        if all(self.direction(tree, name) == 0 for name in self.box):
            try:
                value = self.case.evaluate(tree)
            except NoValue:
                return None
            return 1 if value >= 0 else -1
        return None

    def _beyond_one(self, tree: Tree) -> Direction:
        """+1 where a formula is 1 or more over the whole box, -1 where it is between 0 and 1: which way its powers move."""
        if not self.nonnegative(tree) or any(self.direction(tree, name) is None for name in self.box):
            return None
        try:
            low, high = self.bounds(tree)
        except NoValue:
            return None
        return 1 if low >= 1 else -1 if high <= 1 else None

    def nonnegative(self, tree: Tree) -> bool:
        """Whether a formula cannot be negative, as far as its shape shows."""
        known = self._signs.get(tree)
        if known is None:
            self._signs[tree] = False  # while it is worked out: a circle of given formulas shows nothing
            known = self._signs[tree] = self._nonnegative(tree)
        return known

    def _nonnegative(self, tree: Tree) -> bool:
        match tree:
            case Num(value):
                return value >= 0
            case Name(name) | At(name, _):
                return self._positive_name(name)
            case Neg() | Compare() | Largest():
                return False
            case Add():
                if all(self.nonnegative(term) for term in _excess(tree)):
                    return True
                return self._low(tree)
            case Mul(parts) | Call("min", parts):
                return all(self.nonnegative(part) for part in parts)
            case Call("max", parts):
                return any(self.nonnegative(part) for part in parts)
            case Call("of_largest", parts):
                return all(self.nonnegative(part) for part in parts[1::2])
            case Call(function, (arg,)) if function in INCREASING:
                return self.nonnegative(arg)
            case Div(a, b) | Pow(a, b):
                return self.nonnegative(a) and self.nonnegative(b)
            case Total(body, index, first, last):
                return self._nonnegative_terms(body, index, first, last)
        return False

    def _nonnegative_terms(self, body: Tree, index: str, first: Tree, last: Tree) -> bool:
        """Whether no term of a sum is negative: its index runs from the least first to the largest last."""
        try:
            start, end = self.bounds(first)[0], self.bounds(last)[1]
        except NoValue:
            return False
        return end < start or self.inside({index: (start, end)}, index).nonnegative(body)

    def _positive_name(self, name: str) -> bool:
        if name in self.box or name in self.case.numbers:
            return self.box.get(name, (0, 0))[0] >= 0 if name in self.box else self.case.numbers[name] >= 0
        quantity = QUANTITIES.get(base_name(name))
        if quantity is not None and not quantity.signed and name not in self.case.given:
            return True
        try:
            return self.nonnegative(self.case.formula(name, self.box))
        except NoValue:
            return True

    def _low(self, tree: Add) -> bool:
        """A difference is not negative if its least value over the box is not."""
        if any(self.direction(tree, name) is None for name in self.box):
            return False
        try:
            return self.bounds(tree)[0] >= 0
        except NoValue:
            return False


@lru_cache(maxsize=4096)
def _excess(tree: Add) -> tuple[Tree, ...]:
    """The terms of a sum, a difference ``a - min(a, b)`` as the one term ``max(0, a - b)``: it cannot be negative, and grows with ``a``."""
    terms = list(tree.terms)
    for less in tree.terms:
        if isinstance(less, Neg) and isinstance(less.arg, Call) and less.arg.function == "min" and len(less.arg.args) == 2:
            first, second = less.arg.args
            for whole, limit in ((first, second), (second, first)):
                if whole in terms and less in terms:
                    terms.remove(less)
                    terms[terms.index(whole)] = Call("max", (ZERO, build.sub(whole, limit)))
    return tuple(terms)
