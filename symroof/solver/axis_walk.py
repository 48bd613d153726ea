"""Where two formulas meet: walk the unknown's axis, split it where arms of maxima cross, solve each region in closed form."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from itertools import pairwise, takewhile

from symroof.formula import build
from symroof.formula.evaluate import RELATIONS, NoValue
from symroof.formula.rewrite import replaced, substitute
from symroof.formula.tree import ZERO, Call, Compare, Expr, Name, Num, mentions
from symroof.solver.arms import beats, ends, innermost, winner
from symroof.solver.closed_forms import Form, closed_forms
from symroof.solver.rational import Polynomial, factored, rational, shared_factors_out
from symroof.solver.result import CLOSED, NUMERIC, Branch, Condition, Crossing, Evaluate, Region
from symroof.solver.roots import positive_roots, sign, value

CLOSE = Fraction(1, 10**25)
"""Two numbers nearer than this share of their size are one root, computed to 40 digits in two ways."""


@dataclass
class AxisWalk:
    """The walk along one unknown's axis; with ``roots_only`` its branches are places alone, without closed forms and conditions."""

    x: str
    evaluate: Evaluate
    low: Fraction = Fraction(0)
    high: Fraction | None = None
    roots_only: bool = False
    _numbers: dict[Expr, Fraction] = field(default_factory=dict)
    _quotients: dict[Expr, tuple[Polynomial, Polynomial]] = field(default_factory=dict)

    @property
    def domain(self) -> tuple[Fraction, Fraction | None]:
        return self.low, self.high

    def solve(self, difference: Expr) -> Crossing:
        """Every zero of ``difference`` on the axis.

        Raises:
            NotRational: the unknown is rounded, in an exponent or under a root.
        """
        if difference == ZERO:
            return Crossing("identical", CLOSED, domain=self.domain)
        regions = list(self.regions(Region(self.low, self.high, difference)))
        branches = [branch for region in regions for branch in self.region_branches(region)]
        values = self._values(branches)
        for before, region in pairwise(regions):
            if (
                not region.after_pole
                and not any(_same(region.low, v) for v in values)
                and self._turns(before, region, values)
            ):
                branches.append(self._edge_branch(region))
                values = sorted([*values, region.low])
        if values:
            bracketed = any(b.holds and b.closed_form is None for b in branches)
            return Crossing(
                "crosses",
                NUMERIC if bracketed else CLOSED,
                tuple(branches),
                tuple(values),
                self.domain,
            )
        signs = {self._sign_at(region, region.inside) for region in regions} - {0}
        if (
            len(signs) > 1
        ):  # they change over at a pole without meeting: the verdict holds for the axis up to there
            regions = [*takewhile(lambda region: not region.after_pole, regions)]
            signs = {self._sign_at(region, region.inside) for region in regions} - {0}
        verdict = {frozenset(): "identical", frozenset({1}): "lhs_above"}.get(
            frozenset(signs), "lhs_below"
        )
        return Crossing(verdict, CLOSED, tuple(branches), domain=(self.low, regions[-1].high))

    def _values(self, branches: list[Branch]) -> list[Fraction]:
        distinct: list[Fraction] = []
        for root in sorted({b.value for b in branches if b.value is not None}):
            if not distinct or not _same(distinct[-1], root):
                distinct.append(root)
        return distinct

    def _turns(self, before: Region, after: Region, values: list[Fraction]) -> bool:
        """Whether the sides change over, or begin or cease to be the same, just where one region ends and the next begins."""
        cut = after.low
        last = max([before.low, *(v for v in values if v < cut)])
        following = [v for v in values if v > cut]
        first = (
            following[0]
            if following and (after.high is None or following[0] < after.high)
            else after.high
        )
        left, right = (
            self._sign_at(before, before.between(last, cut)),
            self._sign_at(after, after.between(cut, first)),
        )
        return left != right

    def _edge_branch(self, region: Region) -> Branch:
        """The crossing at a region's beginning: in closed form, where the arms that change there meet in one."""
        edge = (
            Region(self.low, self.high, region.edge)
            if region.edge is not None and not self.roots_only
            else None
        )
        for branch in self.region_branches(edge) if edge else ():
            if branch.value is not None and _same(branch.value, region.low):
                arm_conditions = tuple(
                    Condition(tree, self._holds(tree, region.low)) for tree in region.conditions
                )
                return replace(
                    branch, conditions=(*branch.conditions, *arm_conditions), value=region.low
                )
        return Branch(None, (), region.low)

    def _sign_at(self, region: Region, point: Fraction) -> int:
        over, under = self._quotient(region.tree)
        return sign(
            value(self._coefficients(over), point) * value(self._coefficients(under), point)
        )

    # ---------------------------------------------------------------------------------------------------- regions

    def regions(self, region: Region) -> Iterator[Region]:
        """Split a region until no maximum, minimum or sum over one depends on the unknown."""
        node = innermost(region.tree, self.x)
        if node is None:
            yield from self._between_poles(region)
            return
        sides = ends(region.tree, node)
        arms = [substitute(arm, end) for arm in node.args for end in sides]
        edges = {
            root: build.sub(a, b)
            for i, a in enumerate(arms)
            for b in arms[i + 1 :]
            for root in self._roots(build.sub(a, b), region)
        }
        cuts = sorted(edges)
        for low, high in zip([region.low, *cuts], [*cuts, region.high], strict=True):
            part = Region(low, high, region.tree)
            wins = self._winner(node, sides, part)
            losers = [arm for arm in node.args if arm != wins]
            arm_conditions = tuple(
                beats(node, substitute(wins, end), substitute(loser, end))
                for loser in losers
                for end in sides
            )
            edge = edges.get(low, region.edge)
            yield from self.regions(
                Region(
                    low,
                    high,
                    replaced(region.tree, node, wins),
                    (*region.conditions, *arm_conditions),
                    edge,
                )
            )

    def _winner(self, node: Call, sides: list[dict[str, Expr]], part: Region) -> Expr:
        """The arm that wins by its value inside a region: on either side of the middle where a pole lies just there.

        Raises:
            NoValue: there is a value at none of these.
        """
        for point in (part.inside, part.between(part.low, part.inside)):
            with suppress(NoValue):
                return winner(node, sides, partial(self._at, x=point))
        return winner(node, sides, partial(self._at, x=part.between(part.inside, part.high)))

    def _between_poles(self, region: Region) -> Iterator[Region]:
        """A region cut where the denominator vanishes: the sides do not meet there, they diverge."""
        poles = positive_roots(
            self._coefficients(self._quotient(region.tree)[1]), region.low, region.high
        )
        for i, (low, high) in enumerate(
            zip([region.low, *poles], [*poles, region.high], strict=True)
        ):
            yield replace(region, low=low, high=high, after_pole=i > 0)

    def _roots(self, tree: Expr, region: Region) -> list[Fraction]:
        if not mentions(tree, self.x):
            return []
        over, _ = self._quotient(tree)
        return positive_roots(self._coefficients(over), region.low, region.high)

    # --------------------------------------------------------------------------------------------------- branches

    def region_branches(self, region: Region) -> list[Branch]:
        """The closed-form roots of one region, with conditions."""
        if not mentions(region.tree, self.x):
            return []
        over, below = self._quotient(region.tree)
        under = self._coefficients(
            below
        )  # where it vanishes too, a root of the numerator is no crossing
        over = factored(shared_factors_out(over))
        numbers = self._coefficients(over)
        over = {power: over[power] for power in over if numbers.get(power)}
        if not over:
            return []
        roots = [
            root for root in positive_roots(numbers, region.low, region.high) if value(under, root)
        ]
        roots = sorted(
            {
                *roots,
                *(
                    end
                    for end in self._own_ends(region)
                    if value(numbers, end) == 0 and value(under, end)
                ),
            }
        )
        if self.roots_only:
            return [Branch(None, (), root) for root in roots]
        if max(over) - min(over) > 2:
            return [self._branch(None, region, root, root) for root in roots]
        branches = []
        for form in closed_forms(over, lambda tree: sign(self._number(tree))):
            candidate = self._candidate(form.expand(form.abbreviated))
            root = next((r for r in roots if candidate is not None and _same(r, candidate)), None)
            branches.append(self._branch(form, region, root, root or candidate))
        return branches

    def _own_ends(self, region: Region) -> list[Fraction]:
        """The ends that belong to a region: its first point where another precedes it, and the last of the whole domain."""
        first = [region.low] if region.low > self.low else []
        return (
            [*first, region.high] if region.high is not None and region.high == self.high else first
        )

    def _branch(
        self, form: Form | None, region: Region, root: Fraction | None, point: Fraction | None
    ) -> Branch:
        """A candidate with its conditions, looked at in its root or where it would put one: the failing one shows why."""
        inside = (Compare("<=", Name(self.x), Num(self.high)),) if self.high is not None else ()
        conditions = [self._condition(form, tree) for tree in form.conditions] if form else []
        if point is not None:
            conditions += [
                Condition(tree, self._holds(tree, point)) for tree in (*region.conditions, *inside)
            ]
        if form is None:
            return Branch(None, tuple(conditions), root)
        return Branch(
            form.expand(form.abbreviated), tuple(conditions), root, form.abbreviated, form.named
        )

    def _condition(self, form: Form, abbreviated: Compare) -> Condition:
        whole = Compare(
            abbreviated.operator, form.expand(abbreviated.left), form.expand(abbreviated.right)
        )
        return Condition(whole, self._holds(whole, None), abbreviated)

    def _candidate(self, form: Expr) -> Fraction | None:
        """Where a closed form would put the crossing, if anywhere on the axis."""
        try:
            point = self.evaluate(form, {})
        except NoValue:
            return None
        return point if point > 0 else None

    def _holds(self, tree: Compare, root: Fraction | None) -> bool | None:
        at = {} if root is None else {self.x: root}
        try:
            left, right = self.evaluate(tree.left, at), self.evaluate(tree.right, at)
        except NoValue:
            return None
        if tree.operator in ("<=", ">=") and _same(left, right):
            return True  # at a root computed to 40 digits, two sides that meet there differ by less than that
        return bool(RELATIONS[tree.operator](left, right))

    # ---------------------------------------------------------------------------------------------------- numbers

    def _coefficients(self, p: Polynomial) -> dict[int, Fraction]:
        return {power: self._number(c) for power, c in p.items()}

    def _quotient(self, tree: Expr) -> tuple[Polynomial, Polynomial]:
        if tree not in self._quotients:
            self._quotients[tree] = rational(tree, self.x)
        return self._quotients[tree]

    def _number(self, tree: Expr) -> Fraction:
        if tree not in self._numbers:
            self._numbers[tree] = self.evaluate(tree, {})
        return self._numbers[tree]

    def _at(self, tree: Expr, x: Fraction) -> Fraction:
        return self.evaluate(tree, {self.x: x})


def _same(a: Fraction, b: Fraction) -> bool:
    return abs(a - b) <= abs(b) * CLOSE
