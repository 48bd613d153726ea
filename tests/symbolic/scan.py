"""An independent scan: a formula on a whole grid of one input at once, in arrays, and at the point alone wherever a sign is in doubt.

Nothing of what solves equations is used here. The walk below evaluates definitions on arrays; those in doubt come from the case at
changed inputs. What the scan says of an equation is a list of intervals on which left less right changes sign.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

import numpy as np

from symroof.formula.evaluate import NoValue, evaluate
from symroof.formula.parse import parse
from symroof.formula.tree import Add, Call, Div, Mul, Name, Neg, Num, Pow, QuantityAt, Sum

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
        match node:
            case Num(value):
                return np.array([[float(value)]])
            case Name(name):
                return bound[name] if name in bound else self.value(name)
            case Neg(arg):
                return -self.of(arg, bound)
            case Add(terms):
                return sum((self.of(term, bound) for term in terms[1:]), self.of(terms[0], bound))
            case Mul(factors):
                product = self.of(factors[0], bound)
                for factor in factors[1:]:
                    if not product.any():
                        return product
                    product = product * self.of(factor, bound)
                return product
            case Div(over, under):
                return self.of(over, bound) / self.of(under, bound)
            case Pow(base, exponent):
                return self.of(base, bound) ** self.of(exponent, bound)
            case Call(function, args):
                return FUNCTIONS[function](*(self.of(arg, bound) for arg in args))
            case QuantityAt(name, pairs):
                return Grid(
                    self.case,
                    {**self.changes, **{key: self.of(value, bound) for key, value in pairs}},
                ).value(name)
            case Sum(body, name, first, last):
                return self.total(body, name, self.of(first, bound), self.of(last, bound))
        raise TypeError(node)

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
    "max": lambda *args: _fold(np.maximum, args),
    "min": lambda *args: _fold(np.minimum, args),
    "ceil": np.ceil,
    "floor": np.floor,
    "sqrt": np.sqrt,
    "log2": np.log2,
    "exp": np.exp,
    "of_largest": lambda *args: _of_largest(args[::2], args[1::2]),
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
                for side in (self.tree.left, self.tree.right)
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
            return evaluate(self.tree.left, case), evaluate(self.tree.right, case)
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
