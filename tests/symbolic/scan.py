"""An independent scan: a formula on a whole grid of one input at once, in arrays, and at the point alone wherever a sign is in doubt.

Nothing of what solves equations is used here. The walk below evaluates definitions on arrays; those in doubt come from the case at
changed inputs. What the scan says of an equation is a list of intervals on which left less right changes sign.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

import numpy as np
import sympy

from symroof.symbolic.evaluation import NoValue, evaluate
from symroof.symbolic.expressions import At, OfLargest, Total
from symroof.symbolic.reading import parse

DOUBT = 1e-7
"""Gaps below this share of the larger side are looked at alone."""

JUMP, ROOT, POLE = "jump", "root", "pole"


class Grid:
    """A case with one input spread over a grid: arrays are (points, 1), or (1, steps) under a sum."""

    def __init__(self, case, changes):
        self.case, self.changes, self.memo = case, changes, {}

    def value(self, name):
        if name in self.changes:
            return self.changes[name]
        if name not in self.memo:
            self.memo[name] = self.of(self.case.formula(name, self.changes))
        return self.memo[name]

    def of(self, node, index=None):
        bound = index or {}
        if node.is_number:
            return np.array([[float(node)]])
        if node.is_Symbol:
            return bound[node.name] if node.name in bound else self.value(node.name)
        if node.is_Mul:
            return self.product(node, bound)
        if isinstance(node, At):
            changes = {key: self.of(value, bound) for key, value in node.changes}
            return Grid(self.case, {**self.changes, **changes}).value(node.name)
        if isinstance(node, Total):
            first, last = self.of(node.first, bound), self.of(node.last, bound)
            return self.total(node.body, node.index, first, last)
        function = next(made for kind, made in FUNCTIONS.items() if isinstance(node, kind))
        return function(*(self.of(arg, bound) for arg in node.args))

    def product(self, node, bound):
        """Factors one after another, as far as they are not zero; what is below the bar is divided by."""
        product = np.array([[1.0]])
        for factor in sorted(node.args, key=lambda factor: factor.is_Pow):
            if not product.any():
                return product
            below = factor.is_Pow and factor.exp == -1
            part = self.of(factor.base if below else factor, bound)
            product = product / part if below else product * part
        return product

    def total(self, body, name, first, last):
        """A sum from a fixed first term; where its end moves with the input, its terms must not."""
        assert first.size == 1
        ends = np.rint(last).astype(int) - round(float(first[0, 0])) + 1
        steps = float(first[0, 0]) + np.arange(max(int(ends.max()), 0), dtype=float)[None, :]
        terms = self.of(body, {name: steps}) + np.zeros_like(steps)
        if ends.size == 1:
            return terms.sum(axis=1, keepdims=True)
        assert terms.shape[0] == 1
        sums = np.concatenate([[0.0], np.cumsum(terms[0])])
        return sums[np.maximum(ends, 0)]


FUNCTIONS = {
    sympy.Add: lambda *args: sum(args[1:], args[0]),
    sympy.Pow: np.power,
    sympy.Max: lambda *args: _fold(np.maximum, args),
    sympy.Min: lambda *args: _fold(np.minimum, args),
    sympy.ceiling: np.ceil,
    sympy.floor: np.floor,
    sympy.log: np.log,
    sympy.exp: np.exp,
    OfLargest: lambda *args: _of_largest(args[::2], args[1::2]),
}


def _fold(pick, args):
    found = args[0]
    for arg in args[1:]:
        found = pick(found, arg)
    return found


def _of_largest(keys, values):
    """The value that goes with the largest key, the first of equal ones."""
    largest = _fold(np.maximum, keys)
    return np.select(
        [
            np.asarray(key == largest)
            & np.ones(np.broadcast_shapes(*(np.shape(v) for v in values)), bool)
            for key in keys
        ],
        values,
    )


def apart(sides):
    """How far apart two values are, as a share of the larger."""
    larger = max(map(abs, sides))
    return abs(float((sides[0] - sides[1]) / larger)) if larger else 0.0


@dataclass
class Scan:
    """Left less right of one equation along one input of a case."""

    case: object
    equation: str
    unknown: str
    low: float
    high: float
    points: int = 480
    whole: bool = False

    def __post_init__(self):
        self.tree = parse(self.equation)
        grid = np.geomspace(self.low, self.high, self.points)
        self.xs = np.unique(np.rint(grid)) if self.whole else grid
        child = self.case.changed({self.unknown: Fraction(1)})
        on_grid = Grid(child, {self.unknown: self.xs[:, None]})
        with np.errstate(all="ignore"):
            self.left, self.right = (
                np.broadcast_to(on_grid.of(side), (len(self.xs), 1))[:, 0]
                for side in self.tree.args
            )
            gap, scale = self.left - self.right, np.maximum(abs(self.left), abs(self.right))
        self.signs = [self._sign(i, gap[i], scale[i]) for i in range(len(self.xs))]
        self.known = [i for i, sign in enumerate(self.signs) if sign is not None]

    def _sign(self, i, gap, scale):
        if not np.isfinite(gap):
            return None
        if abs(gap) > DOUBT * scale:
            return int(np.sign(gap))
        return self.sign(self.x(i))

    def x(self, i):
        """A grid point as the exact number it stands for."""
        return Fraction(float(self.xs[i]))

    def sides(self, x):
        """Both sides exactly; None where they have no value."""
        case = self.case.changed({self.unknown: Fraction(x)})
        try:
            return evaluate(self.tree.lhs, case), evaluate(self.tree.rhs, case)
        except NoValue:
            return None

    def sign(self, x):
        sides = self.sides(x)
        return None if sides is None else (sides[0] > sides[1]) - (sides[0] < sides[1])

    def residual(self, x):
        """How far apart the sides are at a point, as a share of the larger."""
        sides = self.sides(x)
        return None if sides is None else apart(sides)

    def meets(self, x):
        """Whether the sides have a value there, and the same to nine digits."""
        residual = self.residual(x)
        return residual is not None and residual < 1e-9

    @property
    def ends(self):
        return self.xs[self.known[0]], self.xs[self.known[-1]]

    def runs(self):
        """Stretches of grid points of one sign: ``(sign, first, last)`` by index."""
        found = []
        for i in self.known:
            if found and found[-1][0] == self.signs[i]:
                found[-1][2] = i
            else:
                found.append([self.signs[i], i, i])
        return [tuple(run) for run in found]

    def turns(self):
        """Where the sign turns: ``(i, k, sign)``, the last point of one sign and the first of the other, by index."""
        solid = [run for run in self.runs() if run[0]]
        return [(a[2], b[1], a[0]) for a, b in pairwise(solid) if a[0] != b[0]]

    @cached_property
    def changes(self):
        """Every turn as ``(low, high, kind)``."""
        return [
            (self.xs[i], self.xs[k], self.kind(self.x(i), self.x(k), sign))
            for i, k, sign in self.turns()
        ]

    def kind(self, low, high, sign):
        """A crossing, a jump from one side to the other, or a pole, seen by halving; the ends are confirmed exactly."""
        assert self.sign(low) == sign == -self.sign(high), (
            f"the grid is wrong about {self.equation} for {self.unknown} at {float(low)} and {float(high)}"
        )
        if self.whole:
            return ROOT
        before = self.residual(low) * self._scale(low)
        for _ in range(50):
            middle = (low + high) / 2
            sides = self.sides(middle)
            if sides is None:
                return POLE
            if apart(sides) < 1e-10:
                return ROOT
            low, high = (middle, high) if (sides[0] > sides[1]) == (sign > 0) else (low, middle)
        return POLE if self.residual(low) * self._scale(low) > 1e6 * before else JUMP

    def _scale(self, x):
        return float(max(map(abs, self.sides(x))))

    def plateaus(self):
        """Stretches of three points or more on which the sides are the same."""
        return [
            (self.xs[first], self.xs[last])
            for sign, first, last in self.runs()
            if sign == 0 and last - first >= 2
        ]

    @property
    def everywhere(self):
        """Whether the sides are the same at every point."""
        return all(self.signs[i] == 0 for i in self.known)
