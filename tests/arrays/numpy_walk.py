"""The oracle of compiled functions: a plain walk of the formulas in NumPy, without graph, blocks, closed sums or exact fallbacks."""

import operator
from functools import reduce

import numpy as np

from symroof.formula.evaluate import NoValue
from symroof.formula.parse import parse
from symroof.formula.tree import (
    Add,
    ArgMax,
    Call,
    Compare,
    Div,
    Mul,
    Name,
    Neg,
    Num,
    Pow,
    QuantityAt,
    Sum,
    children,
)
from symroof.theory.quantities import QUANTITIES

NEAR = 1e-9
COMPARE = {
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
    "=": operator.eq,
}


class Walk:
    """Values of one case at points: ``inputs`` maps names to arrays of one length, ``changes`` those that a formula changes.

    What a change does not reach has the value that it has without it, and equal changes have the same walk: formulas nest them ten deep.
    """

    def __init__(self, case, inputs, changes=None, root=None):
        self.case, self.changes, self.root = case, changes or {}, root or self
        self.inputs = {**inputs, **self.changes}
        self.known = frozenset(self.inputs)
        self.memo = {}
        if root is None:
            self.walks, self.numbers, self.reached = {frozenset(): self}, {}, {}

    def value(self, name):
        """A number, truth or label at every point; NaN where it has none."""
        if name in self.inputs:
            return self.inputs[name]
        if name not in self.memo:
            there = self.changed(
                {
                    key: value
                    for key, value in self.changes.items()
                    if key in self.reach(name, self.known)
                }
            )
            self.memo[name] = self.found(name) if there is self else there.value(name)
        return self.memo[name]

    def found(self, name):
        search, formula, conditions = self.definition(name, self.known)
        found = self.searched(search) if search else self.tree(formula, {})
        for condition in conditions:
            found = np.where(self.tree(condition, {}), found, np.nan)
        return found

    def definition(self, name, known):
        """The search or formula of a name, and the conditions under which it has a value."""
        search = self.case.search(name, known)
        conditions = (
            QUANTITIES[name].exists if name in QUANTITIES and name not in self.case.given else ()
        )
        return (
            search,
            None if search else self.case.formula(name, known),
            [parse(condition) for condition, _ in conditions],
        )

    def changed(self, changes):
        """The walk of all that these changes reach."""
        key = frozenset((name, self.numbered(value)) for name, value in changes.items())
        if key not in self.root.walks:
            self.root.walks[key] = Walk(self.case, self.root.inputs, changes, self.root)
        return self.root.walks[key]

    def numbered(self, value):
        """The same number for the same values."""
        return self.root.numbers.setdefault(
            (np.shape(value), np.asarray(value, dtype=float).tobytes()), len(self.root.numbers)
        )

    def reach(self, name, known):
        """A name and all that its value may be computed from, where the values of some names are known."""
        if (name, known) not in self.root.reached:
            self.root.reached[name, known] = {name}
            try:
                search, formula, conditions = (
                    (None, Name(name), []) if name in known else self.definition(name, known)
                )
            except NoValue:  # what was not given
                return self.root.reached[name, known]
            trees = [formula] if search is None else [parse(search.body), parse(search.high)]
            self.root.reached[name, known] = {name}.union(
                *(self.tree_reach(tree, known) for tree in (*trees, *conditions))
            )
        return self.root.reached[name, known]

    def tree_reach(self, tree, known):
        match tree:
            case Name(name):
                return self.reach(name, known)
            case QuantityAt(name, changes):
                own = self.reach(name, known.union(key for key, _ in changes)) - {
                    key for key, _ in changes
                }
                return own.union(*(self.tree_reach(value, known) for _, value in changes))
            case Sum(body, name, first, last):
                return self.tree_reach(body, known | {name}).union(
                    self.tree_reach(first, known), self.tree_reach(last, known)
                )
        return set().union(*(self.tree_reach(part, known) for part in children(tree)))

    def searched(self, search):
        """Point by point, each with a walk of its own: halving for a fixed point, counting down for the largest that qualifies."""
        points = next(len(values) for values in self.inputs.values() if np.ndim(values))
        high = np.broadcast_to(self.tree(parse(search.high), {}), points)
        return np.array([self.searched_at(search, i, high[i]) for i in range(points)])

    def searched_at(self, search, i, high):
        point = {
            name: np.ravel(values)[i if np.size(values) > 1 else 0]
            for name, values in self.inputs.items()
        }

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
                arms = list(map(go, args[::2]))
                chosen = np.choose(self.first(arms), np.broadcast_arrays(*map(go, args[1::2])))
                return np.where(
                    np.isnan(reduce(np.maximum, arms)), np.nan, chosen
                )  # nothing is the largest of what has no value
            case Compare(relation, left, right):
                return COMPARE[relation](go(left), go(right))
            case ArgMax(arms):
                return np.array([label for label, _ in arms])[
                    self.first([go(arm) for _, arm in arms])
                ]
            case QuantityAt(name, changes):
                values = {key: go(value) for key, value in changes}
                found = self.changed({**self.changes, **values}).value(name)
                if np.asarray(found).dtype.kind != "f":
                    return found
                return np.where(
                    np.isnan(sum(values.values())), np.nan, found
                )  # nothing is at a change that has no value
            case Sum(body, name, first, last):
                first, last = go(first), go(last)
                steps = range(int(np.min(first)), int(np.max(last)) + 1)
                return sum(
                    np.where(
                        (first <= j) & (j <= last), self.tree(body, {**index, name: float(j)}), 0.0
                    )
                    for j in steps
                )
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
