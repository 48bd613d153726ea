"""The oracle of compiled functions: a plain walk of the formulas in NumPy, without graph, blocks, closed sums or exact fallbacks."""

import operator
from functools import reduce

import numpy as np

from symroof.formula.evaluate import NoValue
from symroof.formula.parse import parse
from symroof.formula.tree import Add, ArgMax, Call, Compare, Div, Mul, Name, Neg, Num, Pow, QuantityAt, Sum
from symroof.theory.quantities import QUANTITIES

NEAR = 1e-9
COMPARE = {"<=": operator.le, ">=": operator.ge, "<": operator.lt, ">": operator.gt, "=": operator.eq}


class Walk:
    """Values of one case at points: ``inputs`` maps names to arrays of one length."""

    def __init__(self, case, inputs):
        self.case, self.inputs = case, inputs
        self.memo = {}

    def value(self, name):
        """A number, truth or label at every point; NaN where it has none."""
        if name in self.inputs:
            return self.inputs[name]
        if name not in self.memo:
            search = self.case.search(name, frozenset(self.inputs))
            found = self.searched(search) if search else self.tree(self.case.formula(name, frozenset(self.inputs)), {})
            for condition, _ in QUANTITIES[name].exists if name in QUANTITIES and name not in self.case.given else ():
                found = np.where(self.tree(parse(condition), {}), found, np.nan)
            self.memo[name] = found
        return self.memo[name]

    def searched(self, search):
        """Point by point, each with a walk of its own: halving for a fixed point, counting down for the largest that qualifies."""
        points = next(len(values) for values in self.inputs.values() if np.ndim(values))
        high = np.broadcast_to(self.tree(parse(search.high), {}), points)
        return np.array([self.searched_at(search, i, high[i]) for i in range(points)])

    def searched_at(self, search, i, high):
        point = {name: np.ravel(values)[i if np.size(values) > 1 else 0] for name, values in self.inputs.items()}

        def at(x):
            return float(Walk(self.case, {**point, search.unknown: x}).tree(parse(search.body), {}))

        if search.kind == "fixed_point":
            return high if at(high) >= high else halved(lambda x: at(x) > x, 0.0, high)
        if np.isnan(high):
            return np.nan
        return next((float(n) for n in range(int(high), 0, -1) if at(float(n)) == 1), 0.0)

    def tree(self, tree, index):
        def go(child):
            return self.tree(child, index)

        match tree:
            case Num(value):
                return float(value)
            case Name(name):
                return index[name] if name in index else self.value(name)
            case Neg(arg):
                return -go(arg)
            case Add(terms):
                return reduce(np.add, map(go, terms))
            case Mul(factors):
                found = 1.0
                for factor in factors:  # nothing times what was not given is nothing
                    found = found * go(factor) if np.any(found) else found
                return found
            case Div(over, under):
                below = np.asarray(go(under))
                return go(over) / np.where(below == 0, np.nan, below)
            case Pow(base, exponent):
                return np.power(np.float64(go(base)), go(exponent))
            case Call("max" | "min" as function, args):
                return reduce(np.maximum if function == "max" else np.minimum, map(go, args))
            case Call("pi", ()):
                return np.pi
            case Call("ceil", (arg,)):
                return np.ceil(go(arg) - NEAR)
            case Call("floor", (arg,)):
                return np.floor(go(arg) + NEAR)
            case Call("sqrt" | "log2" | "log" | "exp" as function, (arg,)):
                return getattr(np, function)(go(arg))
            case Call("of_largest", args):
                return np.choose(self.first(list(map(go, args[::2]))), np.broadcast_arrays(*map(go, args[1::2])))
            case Compare(relation, left, right):
                return COMPARE[relation](go(left), go(right))
            case ArgMax(arms):
                return np.array([label for label, _ in arms])[self.first([go(arm) for _, arm in arms])]
            case QuantityAt(name, changes):
                return Walk(self.case, {**self.inputs, **{key: go(value) for key, value in changes}}).value(name)
            case Sum(body, name, first, last):
                first, last = go(first), go(last)
                steps = range(int(np.min(first)), int(np.max(last)) + 1)
                return sum(np.where((first <= j) & (j <= last), self.tree(body, {**index, name: float(j)}), 0.0) for j in steps)
        raise NoValue(f"not a formula: {tree!r}")

    @staticmethod
    def first(arms):
        """The place of the largest; of arms as good as equal the first."""
        arms = np.stack(np.broadcast_arrays(*arms))
        return np.argmax(arms >= np.max(arms, axis=0) * (1 - NEAR), axis=0)


def halved(below, low, high):
    """Where a condition that holds below a number ends."""
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if below(middle) else (low, middle)
    return high
