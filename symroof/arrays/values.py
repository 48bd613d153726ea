"""The values of a graph: over arrays by NumPy, or at one point exactly. The walk is the same.

>>> from fractions import Fraction
>>> from symroof.formula.polynomial import power_of, scaled
>>> graph = Graph(("prompt",))
>>> blocks = graph.operation("ceil", scaled(power_of("prompt"), Fraction(1, 49)))
>>> exact(graph, {"prompt": Fraction(98)}).form(blocks)
Fraction(2, 1)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np

from symroof.arrays.graph import Form, Graph
from symroof.arrays.kernels import ARRAYS, EXACT, SEARCHES, Kernel, inverted
from symroof.formula.evaluate import MOST_TERMS, NoValue, divide, place_chosen
from symroof.formula.polynomial import Monomial, Polynomial
from symroof.theory.search import fixed_point, most

LARGEST_LOOP = 5000
"""Points up to which a search remembers what does not move: over more, NumPy itself takes the time, and there may be much to remember."""


@dataclass
class Loop:
    """What a search over a name works out once, though it asks in every turn: of each polynomial the parts that do not move."""

    moving: frozenset[str]
    forms: dict[int, tuple[Form, list[tuple[Monomial, Any]]]] = field(default_factory=dict)
    """Each polynomial, by its identity, as what moves and the part that does not: equal ones are compared term by term."""
    inner: dict[frozenset[str], Loop] = field(default_factory=dict)

    def within(self, names: Iterable[str]) -> Loop:
        """The loop where some more names move: the steps of a sum."""
        return self.inner.setdefault(moving := self.moving.union(names), Loop(moving))


@dataclass
class Values:
    """Values of names and polynomials over ``point``, each worked out when asked, once."""

    graph: Graph
    point: dict[str, Any]
    kernels: Mapping[str, Kernel]
    number: Callable[[Fraction], Any]
    inverse: Callable[[Any], Any]
    mend: Callable[[Values, str, Any], Any] | None = None
    """Puts right what floats cannot decide: the values, the name of the operation, what it came to."""
    loop: Loop | None = None
    sizes: dict[tuple[str, bool], float] = field(default_factory=dict)
    """How large (with True how small) names get, as far as the mend has asked."""
    _raised: dict[tuple[str, int], Any] = field(default_factory=dict)

    def name(self, name: str) -> Any:
        """The value of an input or operation.

        Raises:
            NoValue: it has none (over arrays there is NaN instead).
        """
        if name not in self.point:
            operation = self.graph.operations[name]
            if operation.kind == "steps":
                value = self._steps(operation.args, operation.words[0])
            elif operation.kind in SEARCHES:
                value = self._searched(operation.kind, operation.args, operation.words[0])
            elif operation.kind == "of_largest" and self.number is Fraction:
                value = self._chosen(operation.args)
            else:
                value = self.kernels[operation.kind](*(self.form(arg) for arg in operation.args))
            self.point[name] = self.mend(self, name, value) if self.mend else value
        return self.point[name]

    def form(self, form: Form | Polynomial) -> Any:
        """The value of a polynomial."""
        form = form if isinstance(form, Form) else Form(form.items())
        total, known = None, self.point
        for monomial, coefficient in self._terms(form):
            term: Any = coefficient
            for name, exponent in monomial:
                # names are looked up here: most of the time goes into this loop
                term = term * ((known[name] if name in known else self.name(name)) if exponent == 1 else self.raised(name, exponent))
            total = term if total is None else total + term
        return self.number(Fraction(0)) if total is None else total

    def _terms(self, form: Form) -> Iterable[tuple[Monomial, Any]]:
        """The terms of a polynomial; in a loop those that move, each with all that does not."""
        if self.loop is None:
            return form if self.number is Fraction else form.floats
        if id(form) not in self.loop.forms:
            self.loop.forms[id(form)] = form, self._parts(form, self.loop.moving)
        return self.loop.forms[id(form)][1]

    def _parts(self, form: Form, moving: frozenset[str]) -> list[tuple[Monomial, Any]]:
        """A polynomial by what moves in it, the sums of all else as numbers."""
        parts: dict[Monomial, Any] = {}
        for monomial, coefficient in form.floats:
            moves = tuple(factor for factor in monomial if self.graph.reach(factor[0]) & moving)
            still: Any = coefficient
            for name, exponent in monomial:
                if (name, exponent) not in moves:
                    still = still * (self.name(name) if exponent == 1 else self.raised(name, exponent))
            parts[moves] = parts[moves] + still if moves in parts else still
        return list(parts.items())

    def raised(self, name: str, exponent: int) -> Any:
        """A power of a name other than itself."""
        if (name, exponent) not in self._raised:
            base = self.name(name)
            whole = base if abs(exponent) == 1 else base ** abs(exponent)
            self._raised[name, exponent] = whole if exponent > 0 else self.inverse(whole)
        return self._raised[name, exponent]

    def at(self, changes: Mapping[str, Any]) -> Values:
        """The same inputs with others beside them: the step of a sum."""
        moved = {name: value for name, value in self.point.items() if not self.graph.reach(name) & changes.keys()}
        loop = self.loop.within(changes) if self.loop is not None else None
        return Values(self.graph, {**moved, **changes}, self.kernels, self.number, self.inverse, self.mend, loop)

    def _searched(self, kind: str, args: tuple[Form, ...], unknown: str) -> Any:
        """The value of an unknown up to the last argument at which it equals the first, or the largest whole one at which the first is 1."""
        body, high = args[0], self.form(args[1])
        self._settle(body, frozenset((unknown,)))

        def at(x: Any) -> Any:
            return turn.at({unknown: x}).form(body)

        turn = self
        if isinstance(high, Fraction):
            return fixed_point(at, high) if kind == "fixed" else most(at, high)
        if max(map(np.size, self.point.values())) <= LARGEST_LOOP:
            turn = replace(self, loop=Loop(frozenset()))
        shape = np.broadcast_shapes(np.shape(high), *(np.shape(self.point[name]) for name in self.graph.inputs_of(body) - {unknown}))
        return SEARCHES[kind](at, np.broadcast_to(np.asarray(high, dtype=float), shape))

    def _chosen(self, args: tuple[Form, ...]) -> Any:
        """At one point, the value of the pair (key, value) whose key is largest; the others may have none."""
        return self.form(args[place_chosen([self.form(key) for key in args[::2]])])

    def _settle(self, form: Form, moving: frozenset[str]) -> None:
        """Work out once what a search or a sum would work out at every step: whatever in a form does not move with its unknown."""
        seen: set[tuple[str, frozenset[str]]] = set()  # operations share their arguments
        left = [(form, moving)]  # no function that calls itself: it would hold all these values for as long as the process lasts
        while left:
            form, moving = left.pop()
            for name in {name for monomial, _ in form for name, _ in monomial} & self.graph.operations.keys():
                if (name, moving) in seen:
                    continue
                seen.add((name, moving))
                operation = self.graph.operations[name]
                if not self.graph.reach(name) & moving:
                    self.name(name)
                elif name not in self.point:
                    left += [(arg, moving.union(operation.words)) for arg in operation.args]

    def _steps(self, args: tuple[Form, ...], index: str) -> Any:
        """A sum taken term by term; where some points have fewer terms than others, the rest is not counted for them."""
        body, first, last = args[0], self.form(args[1]), self.form(args[2])
        total = (first + last) * self.number(Fraction(0))
        if isinstance(total, Fraction):
            if last - first >= MOST_TERMS:
                raise NoValue(f"a sum of {last - first + 1} terms that has no closed form")
            return sum((self.at({index: Fraction(j)}).form(body) for j in range(int(first), int(last) + 1)), total)
        last = np.where(np.less(last - first, MOST_TERMS), last, np.nan)  # longer ones have no value
        total = total + last * 0
        if not np.any(last >= first):
            return total
        self._settle(body, frozenset((index,)))
        shape = np.broadcast_shapes(np.shape(total), *(np.shape(self.point[name]) for name in self.graph.inputs_of(body) - {index}))
        return (self._in_a_row if len(shape) == 1 else self._in_blocks)(body, index, first, last, np.array(np.broadcast_to(total, shape)))

    def _in_a_row(self, body: Form, index: str, first: Any, last: Any, total: Any) -> Any:
        """The sums at points in a row, as many terms of each as it has: those of so many points at a time stand in one row."""
        start = np.broadcast_to(first, total.shape)
        counts = np.nan_to_num(np.maximum(last - start + 1, 0)).astype(int)
        ends, begin = np.cumsum(counts), 0
        while begin < len(total):
            before = ends[begin] - counts[begin]
            stop = max(begin + 1, int(np.searchsorted(ends, before + MOST_TOGETHER, side="right")))
            chosen = np.repeat(np.arange(begin, stop), counts[begin:stop])
            steps = start[chosen] + (np.arange(len(chosen)) + before - (ends - counts)[chosen])
            terms = np.broadcast_to(self._at_points(body, chosen, len(total)).at({index: steps}).form(body), steps.shape)
            total[begin:stop] += np.bincount(chosen - begin, terms, stop - begin)
            begin = stop
        return total

    def _in_blocks(self, body: Form, index: str, first: Any, last: Any, total: Any) -> Any:
        """The sums at points that stand in any other way, so many terms of each at a time."""
        start, end = _end(np.nanmin, first), _end(np.nanmax, last)
        axes = max(map(np.ndim, self.point.values()), default=0)
        together, low = max(1, MOST_TOGETHER // max(1, *map(np.size, (total, *self.point.values())))), start
        while low <= end:
            steps = np.arange(low, min(low + together, end + 1), dtype=float).reshape(-1, *(1,) * axes)
            terms = np.where((first <= steps) & (steps <= last), self.at({index: steps}).form(body), 0.0)
            shape = np.broadcast_shapes(np.shape(total), terms.shape[1:])
            total = np.add.accumulate(np.concatenate([np.broadcast_to(rows, (len(rows), *shape)) for rows in (np.asarray(total)[None], terms)]))[-1]
            low += together
        return total

    def _at_points(self, form: Form, chosen: Any, size: int) -> Values:
        """What a polynomial is worked out from, at some of the points in a row."""
        needed = {*self.graph.within(form), *self.graph.inputs_of(form)} & self.point.keys()
        point = {name: value[chosen] if np.shape(value := self.point[name]) == (size,) else value for name in needed}
        return Values(self.graph, point, self.kernels, self.number, self.inverse, self.mend)


MOST_TOGETHER = 2**16
"""Numbers of a sum that are worked out at once. They are added one after the other, whatever the shape of the arrays: the same sum to the last digit."""


def _end(furthest: Callable[[Any], Any], value: Any) -> int:
    if isinstance(value, Fraction):
        return int(value)
    reached = furthest(value) if np.any(np.isfinite(value)) else 0
    return int(reached)


def arrays(graph: Graph, inputs: Mapping[str, Any], mend: Callable[[Values, str, Any], Any] | None = None) -> Values:
    """Values over arrays that broadcast against each other; NaN where there is no value."""
    return Values(graph, dict(inputs), ARRAYS, float, inverted, mend)


def exact(graph: Graph, point: Mapping[str, Fraction], spend: Callable[[], None] | None = None) -> Values:
    """Values at one point, exact; the mend of floats. ``spend`` is called for every operation that is worked out."""

    def counted(_: Values, __: str, result: Any) -> Any:
        if spend:
            spend()
        return result

    return Values(graph, dict(point), EXACT, Fraction, lambda x: divide(Fraction(1), x), counted if spend else None)
