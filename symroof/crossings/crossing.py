"""Where two formulas meet: walk the unknown's axis, split it where arms of maxima cross, solve each region in closed form."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from itertools import pairwise

from symroof.crossings.arms import decided, ends, innermost, winner
from symroof.crossings.closed import closed_forms
from symroof.crossings.rational import NotRational, Polynomial, factored, rational, shared_factors_out
from symroof.crossings.roots import positive_roots, sign, value
from symroof.formula import build
from symroof.formula.evaluate import NoValue
from symroof.formula.tree import ZERO, Compare, Name, Num, Total, Tree, mentions, substitute, walk

Evaluate = Callable[[Tree, dict[str, Fraction]], Fraction]
"""The exact value of a tree with some names set."""

GRID_LOW, GRID_HIGH, GRID_POINTS = Fraction(1, 1000), Fraction(10**12), 241
NUMERIC_HALVINGS = 60
MOST_STEPS = 10**6


@dataclass(frozen=True)
class Condition:
    """Something that must hold for a closed form to be the answer, and whether it does."""

    tree: Tree
    holds: bool | None


@dataclass(frozen=True)
class Branch:
    """One candidate: its formula, its conditions, its value, and whether it is a crossing here."""

    closed_form: Tree | None
    conditions: tuple[Condition, ...]
    value: Fraction | None
    holds: bool


@dataclass(frozen=True)
class Crossing:
    """The answer to ``lhs = rhs``.

    Attributes:
        verdict: ``crosses``, ``lhs_above``, ``lhs_below`` or ``identical``.
        method: ``closed_form``, or ``numeric`` where no closed form of readable size exists.
        branches: candidate closed forms with their conditions.
        values: every crossing in the domain.
    """

    verdict: str
    method: str
    branches: tuple[Branch, ...] = ()
    values: tuple[Fraction, ...] = ()
    domain: tuple[Fraction, Fraction | None] = (Fraction(0), None)

    @property
    def value(self) -> Fraction | None:
        return self.values[0] if self.values else None


@dataclass(frozen=True)
class Region:
    """An interval of the unknown on which every maximum has one winner."""

    low: Fraction
    high: Fraction | None
    tree: Tree
    conditions: tuple[Compare, ...] = ()

    @property
    def inside(self) -> Fraction:
        return self.low * 2 + 1 if self.high is None else (self.low + self.high) / 2


@dataclass
class Walk:
    """The walk along one unknown's axis."""

    x: str
    evaluate: Evaluate
    low: Fraction = Fraction(0)
    high: Fraction | None = None
    _numbers: dict[Tree, Fraction] = field(default_factory=dict)

    def solve(self, difference: Tree) -> Crossing:
        """Every zero of ``difference`` on the axis."""
        if difference == ZERO:
            return Crossing("identical", "closed_form", domain=(self.low, self.high))
        try:
            regions = list(self.regions(Region(self.low, self.high, difference)))
            found = [self.region_branches(region) for region in regions]
        except NotRational:
            return self.numeric(difference)
        branches = tuple(branch for group in found for branch in group)
        inside = {b.value for b in branches if b.holds and b.value is not None}
        at_cuts = {r.low for r in regions if r.low > self.low and self._over(r, r.low) == 0}
        values = tuple(sorted(inside | at_cuts))
        if values:
            return Crossing("crosses", "closed_form", branches, values, (self.low, self.high))
        signs = {self._region_sign(region) for region in regions} - {0}
        if not signs:
            return Crossing("identical", "closed_form", branches, domain=(self.low, self.high))
        if len(signs) > 1:  # they meet where one side jumps
            return self.numeric(difference)
        return Crossing("lhs_above" if signs == {1} else "lhs_below", "closed_form", branches, domain=(self.low, self.high))

    def _over(self, region: Region, x: Fraction) -> Fraction:
        """The numerator of a region's difference at a point: its zeros are the crossings."""
        over, _ = rational(region.tree, self.x)
        return value(self._coefficients(over), x)

    def _region_sign(self, region: Region) -> int:
        over, under = rational(region.tree, self.x)
        point = region.inside
        return sign(value(self._coefficients(over), point) * value(self._coefficients(under), point))

    # ---------------------------------------------------------------------------------------------------- regions

    def regions(self, region: Region) -> Iterator[Region]:
        """Split a region until no maximum, minimum or sum over one depends on the unknown."""
        node = innermost(region.tree, self.x)
        if node is None:
            yield region
            return
        sides = ends(region.tree, node)
        arms = [substitute(arm, end) for arm in node.args for end in sides]
        cuts = sorted({root for i, a in enumerate(arms) for b in arms[i + 1 :] for root in self._roots(build.sub(a, b), region)})
        for low, high in zip([region.low, *cuts], [*cuts, region.high], strict=True):
            part = Region(low, high, region.tree, region.conditions)
            wins = winner(node, sides, partial(self._at, x=part.inside))
            losers = [arm for arm in node.args if arm != wins]
            relation = ">=" if node.function == "max" else "<="
            held = tuple(Compare(relation, substitute(wins, end), substitute(loser, end)) for loser in losers for end in sides)
            yield from self.regions(Region(low, high, decided(region.tree, node, wins), (*region.conditions, *held)))

    def _roots(self, tree: Tree, region: Region) -> list[Fraction]:
        if not mentions(tree, self.x):
            return []
        over, _ = rational(tree, self.x)
        return positive_roots(self._coefficients(over), region.low, region.high)

    # --------------------------------------------------------------------------------------------------- branches

    def region_branches(self, region: Region) -> list[Branch]:
        """The closed-form roots of one region, with conditions."""
        if not mentions(region.tree, self.x):
            return []
        over, _ = rational(region.tree, self.x)
        over = factored(shared_factors_out(over))
        numbers = self._coefficients(over)
        over = {power: over[power] for power in over if numbers.get(power)}
        roots = positive_roots(numbers, region.low, region.high)
        degree = max(over, default=0) - min(over, default=0)
        if degree > 2:
            return [self._branch(None, region, root, root, ()) for root in roots]
        found = []
        for form, extra in closed_forms(over, lambda tree: self._sign(tree, Fraction(1))):
            candidate = self._candidate(form)
            root = next((r for r in roots if candidate is not None and abs(r - candidate) <= r * Fraction(1, 10**25)), None)
            found.append(self._branch(form, region, root, root or candidate, extra))
        return found

    def _branch(self, form: Tree | None, region: Region, root: Fraction | None, point: Fraction | None, extra: tuple[Tree, ...]) -> Branch:
        """A candidate with its conditions, looked at in its root or where it would put one: the failing one shows why."""
        inside = (Compare("<=", Name(self.x), Num(self.high)),) if self.high is not None else ()
        conditions = [Condition(tree, self._holds(tree, None)) for tree in extra]
        if point is not None:
            conditions += [Condition(tree, self._holds(tree, point)) for tree in (*region.conditions, *inside)]
        return Branch(form, tuple(conditions), root, root is not None)

    def _candidate(self, form: Tree) -> Fraction | None:
        """Where a closed form would put the crossing, if anywhere on the axis."""
        try:
            found = self.evaluate(form, {})
        except NoValue:
            return None
        return found if found > 0 else None

    def _holds(self, tree: Tree, root: Fraction | None) -> bool | None:
        try:
            return bool(self.evaluate(tree, {} if root is None else {self.x: root}))
        except NoValue:
            return None

    # ---------------------------------------------------------------------------------------------------- numbers

    def _coefficients(self, p: Polynomial) -> dict[int, Fraction]:
        return {power: self._number(c) for power, c in p.items()}

    def _number(self, tree: Tree) -> Fraction:
        if tree not in self._numbers:
            self._numbers[tree] = self.evaluate(tree, {})
        return self._numbers[tree]

    def _at(self, tree: Tree, x: Fraction) -> Fraction:
        return self.evaluate(tree, {self.x: x})

    def _sign(self, tree: Tree, x: Fraction) -> int:
        return sign(self._at(tree, x))

    def numeric(self, difference: Tree) -> Crossing:
        """Sign changes on a logarithmic grid, bracketed and bisected: said to be numeric."""
        whole = any(isinstance(node, Total) and (mentions(node.first, self.x) or mentions(node.last, self.x)) for node in walk(difference))
        points = [(x, s) for x in self._grid(whole) if (s := self._safe_sign(difference, x)) is not None]
        values = [self._bisected(difference, a, b, s, whole) for (a, s), (b, t) in pairwise(points) if s * t < 0]
        values += [x for x, s in points if s == 0]
        if values:
            return Crossing("crosses", "numeric", (), tuple(sorted(values)), (self.low, self.high))
        if not points:
            raise NoValue("the equation has no value anywhere on the axis")
        return Crossing("lhs_above" if points[0][1] > 0 else "lhs_below", "numeric", domain=(self.low, self.high))

    def _grid(self, whole: bool) -> list[Fraction]:
        """Points to look at; whole numbers only, and not too many steps, where the unknown bounds a sum."""
        low, high = max(self.low, GRID_LOW), self.high or GRID_HIGH
        if whole:
            low, high = Fraction(1), min(high, Fraction(MOST_STEPS))
        ratio = (float(high) / float(low)) ** (1 / (GRID_POINTS - 1))
        inside = (Fraction(float(low) * ratio**i) for i in range(1, GRID_POINTS - 1))
        points = [low, *(Fraction(round(x)) if whole else x.limit_denominator(10**6) for x in inside), high]
        return sorted(set(points))

    def _safe_sign(self, tree: Tree, x: Fraction) -> int | None:
        try:
            return self._sign(tree, x)
        except NoValue:
            return None

    def _bisected(self, tree: Tree, low: Fraction, high: Fraction, sign: int, whole: bool) -> Fraction:
        for _ in range(NUMERIC_HALVINGS):
            middle = Fraction((low + high) // 2) if whole else ((low + high) / 2).limit_denominator(10**18)
            if middle in (low, high):
                break
            low, high = (middle, high) if self._sign(tree, middle) == sign else (low, middle)
        return high
