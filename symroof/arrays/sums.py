"""Sums over steps as operations over arrays: closed where the terms are straight lines or the larger of two, else step by step.

A decode step's time is the larger of two lines in the step number. The sum of ``max(a, b)`` is that of ``b`` and of what
``a`` has over it, and the positive part of a line has a closed form wherever the line crosses zero. A window (``min(prompt +
step, w)``) bends the lines once; the range is cut there. Cuts that a float puts one step too early or late do no harm: both
arms are equal there. A line rounded to whole numbers (the chunk that a token lies in) is a staircase: the sum is taken stair by stair.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property
from math import comb

from symroof.arrays.graph import EXTREMES, Graph, added, number_of
from symroof.formula.evaluate import MOST_TERMS
from symroof.formula.polynomial import MINUS, ONE_TERM, Monomial, Polynomial, constant, merged, plus, power_of, scaled

ROUNDINGS = ("floor", "ceil")
LEAST_WIDTH = 16
"""Terms of the narrowest stair that a sum is taken stair by stair over: a stair costs as much as several terms."""


def total(graph: Graph, body: Polynomial, index: str, first: Polynomial, last: Polynomial) -> Polynomial:
    """The sum of a polynomial over every whole index from first to last; nothing where last lies below first.

    Operations it may leave: ``ramp`` (first value, slope, number of terms: the sum of the positive terms of a line),
    ``geometric`` (ratio, first, last) and ``steps`` (a sum taken term by term).
    """
    end = graph.operation("max", _whole(graph, last), plus(_whole(graph, first), constant(MINUS)))
    return _Sum(graph, index, first, end).of(body)


def _whole(graph: Graph, p: Polynomial) -> Polynomial:
    """The bound of a sum, without a value where it is not whole."""
    value = number_of(p)
    return p if value is not None and value.denominator == 1 else graph.operation("whole", p)


class _Sum:
    def __init__(self, graph: Graph, index: str, first: Polynomial, last: Polynomial) -> None:
        self.graph, self.index, self.first, self.last = graph, index, first, last
        self._parts: dict[str, tuple[tuple[_Sum, Polynomial], ...]] = {}
        self._power_sums: dict[int, Polynomial] = {}

    @cached_property
    def count(self) -> Polynomial:
        return plus(plus(self.last, scaled(self.first, MINUS)), ONE_TERM)

    def of(self, body: Polynomial) -> Polynomial:
        """Term by term of the body, each in the best way there is."""
        moving = {monomial: tuple(power for power in monomial if self.index in self.graph.reach(power[0])) for monomial in body}
        return added(self.graph.times({merged(m, moving[m], -1): coefficient}, self._moving(moving[m])) for m, coefficient in body.items())

    def _moving(self, moving: Monomial) -> Polynomial:
        if not moving:
            return self.count
        ((name, exponent), *rest) = moving
        if not rest and name == self.index and exponent > 0:
            return self._power_sum(exponent)
        if not rest and exponent == 1 and (closed := self._operation(name)) is not None:
            return closed
        return self.graph.operation("steps", {moving: Fraction(1)}, self.first, self.last, words=(self.index,))

    def _power_sum(self, exponent: int) -> Polynomial:
        """``first**p + ... + last**p``."""
        if exponent not in self._power_sums:
            before = plus(self.first, constant(MINUS))
            self._power_sums[exponent] = plus(self._powers(self.last, exponent), scaled(self._powers(before, exponent), MINUS))
        return self._power_sums[exponent]

    def _powers(self, n: Polynomial, exponent: int) -> Polynomial:
        """``1**p + ... + n**p`` as a polynomial in n, by telescoping."""
        sums = [n]
        for p in range(1, exponent + 1):
            raised = ONE_TERM
            for _ in range(p + 1):
                raised = self.graph.times(raised, plus(n, ONE_TERM))
            known = scaled(ONE_TERM, MINUS)
            for i in range(p):
                known = plus(known, scaled(sums[i], Fraction(-comb(p + 1, i))))
            sums.append(scaled(plus(raised, known), Fraction(1, p + 1)))
        return sums[exponent]

    def _operation(self, name: str) -> Polynomial | None:
        """The sum of one operation, in closed form; None where there is none."""
        operation = self.graph.operations.get(name)
        if operation is None:
            return None
        args = [dict(arg) for arg in operation.args]
        if operation.kind == "form":
            return self.of(args[0])
        if operation.kind == "power" and args[1] == power_of(self.index) and self.index not in self.graph.inputs_of(args[0]):
            return self.graph.operation("geometric", args[0], self.first, self.last)
        if operation.kind in ROUNDINGS:
            return self._stairs(name, name)
        if operation.kind not in EXTREMES or len(args) != 2:
            return None
        for kink in self._kinks(args):
            return self._stairs(name, kink) if self.graph.operations[kink].kind in ROUNDINGS else self._cut(name, kink)
        return self._extreme(operation.kind, *args)

    def _kinks(self, args: list[Polynomial]) -> Iterator[str]:
        """Operations inside that move with the index, and are no polynomials: where they bend, the range has to be cut first."""
        for arg in args:
            for name in {name: None for monomial in arg for name, _ in monomial if name != self.index and self.index in self.graph.reach(name)}:
                operation = self.graph.operations[name]
                yield from self._kinks([dict(operation.args[0])]) if operation.kind == "form" else (name,)

    def _line(self, p: Polynomial) -> tuple[Polynomial, Polynomial] | None:
        """A polynomial as (value at zero, slope) where it is a line in the index."""
        start: Polynomial = {}
        slope: Polynomial = {}
        for monomial, coefficient in p.items():
            moving = [power for power in monomial if self.index in self.graph.reach(power[0])]
            if not moving:
                start = plus(start, {monomial: coefficient})
                continue
            name, exponent = moving[0]
            parts = self._factor(name) if len(moving) == exponent == 1 else None
            if parts is None:
                return None
            rest = {merged(monomial, ((name, 1),), -1): coefficient}
            start, slope = (plus(whole, self.graph.times(rest, part)) for whole, part in zip((start, slope), parts, strict=True))
        return start, slope

    def _factor(self, name: str) -> tuple[Polynomial, Polynomial] | None:
        """The index, or a polynomial that has a name, as (value at zero, slope); None where it is no line."""
        if name == self.index:
            return {}, ONE_TERM
        operation = self.graph.operations[name]
        return self._line(dict(operation.args[0])) if operation.kind == "form" else None

    def _extreme(self, kind: str, a: Polynomial, b: Polynomial) -> Polynomial | None:
        """The larger of two lines: the second, and the excess of the first. The smaller: the first, less its excess."""
        line = self._line(plus(a, scaled(b, MINUS)))
        if line is None:
            return None
        start, slope = line
        ramp = self.graph.operation("ramp", plus(start, self.graph.times(slope, self.first)), slope, self.count)
        return plus(self.of(b), ramp) if kind == "max" else plus(self.of(a), scaled(ramp, MINUS))

    def _cut(self, name: str, kink: str) -> Polynomial | None:
        """The range cut where an inner maximum or minimum of two lines bends, the arm that holds put in on either side."""
        if kink not in self._parts:
            self._parts[kink] = tuple(self._beside(kink))
        parts = self._parts[kink]
        return added(part.of(self.graph.replaced(power_of(name), {kink: arm})) for part, arm in parts) if parts else None

    def _beside(self, kink: str) -> Iterator[tuple[_Sum, Polynomial]]:
        """The ranges on either side of a bend, each with the arm that holds there; none where it is not between two lines."""
        operation = self.graph.operations[kink]
        if operation.kind not in EXTREMES or len(operation.args) != 2:
            return
        a, b = (dict(arg) for arg in operation.args)
        line = self._line(plus(a, scaled(b, MINUS)))
        rising = number_of(line[1]) if line is not None else None
        if line is None or not rising:
            return
        before, after = (b, a) if (rising > 0) == (operation.kind == "max") else (a, b)
        bend = self.graph.operation("cut", scaled(line[0], -1 / rising))
        middle = self.graph.operation("min", self.graph.operation("max", bend, plus(self.first, constant(MINUS))), self.last)
        yield _Sum(self.graph, self.index, self.first, middle), before
        yield _Sum(self.graph, self.index, plus(middle, ONE_TERM), self.last), after

    def _stairs(self, name: str, kink: str) -> Polynomial | None:
        """The sum stair by stair, where a line inside that rises by one in a whole number of steps is rounded."""
        operation, graph = self.graph.operations[kink], self.graph
        line = self._line(dict(operation.args[0]))
        rise = number_of(line[1]) if line is not None else None
        if line is None or not rise or rise.numerator != 1 or rise.denominator < LEAST_WIDTH:
            return None
        width, stair = Fraction(rise.denominator), f"{kink}/{self.index}"  # counted from the stair of the first term: elsewhere there are as few
        lowest, highest = (graph.replaced(power_of(kink), {self.index: end}) for end in (self.first, self.last))
        over = scaled(plus(plus(line[0], scaled(self.first, rise)), scaled(lowest, MINUS)), width)  # terms from the level of the first one to the line
        rest = graph.operation("floor", over if operation.kind == "floor" else scaled(over, MINUS))
        left = plus(constant(width), scaled(rest, MINUS)) if operation.kind == "floor" else plus(rest, ONE_TERM)
        ended = plus(plus(self.first, left), {((stair, 1),): width})
        begin = graph.operation("max", plus(ended, constant(-width)), self.first)
        finish = graph.operation("min", plus(ended, constant(MINUS)), self.last)
        each = _Sum(graph, self.index, begin, finish).of(graph.replaced(power_of(name), {kink: plus(lowest, power_of(stair))}))
        sum_ = graph.operation("steps", each, {}, plus(highest, scaled(lowest, MINUS)), words=(stair,))
        few = graph.operation("<", plus(plus(self.last, scaled(self.first, MINUS)), constant(Fraction(-MOST_TERMS))))
        return graph.operation("guard", sum_, few)  # more terms have no value, here as anywhere
