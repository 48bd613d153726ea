"""Sums over steps as operations over arrays: closed where the terms are straight lines or the larger of two, else step by step.

A decode step's time is the larger of two lines in the step number. The sum of ``max(a, b)`` is that of ``b`` and of what
``a`` has over it, and the positive part of a line has a closed form wherever the line crosses zero. A window (``min(prompt +
step, w)``) bends the lines once; the range is cut there. Cuts that a float puts one step too early or late do no harm: both
arms are equal there.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import comb

from symroof.arrays.graph import EXTREMES, Graph, added, number_of
from symroof.formula.polynomial import MINUS, ONE_TERM, Monomial, Polynomial, constant, merged, plus, power_of, scaled


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

    @property
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
            return plus(self._powers(self.last, exponent), scaled(self._powers(plus(self.first, constant(MINUS)), exponent), MINUS))
        if not rest and exponent == 1 and (closed := self._operation(name)) is not None:
            return closed
        return self.graph.operation("steps", {moving: Fraction(1)}, self.first, self.last, words=(self.index,))

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
        if operation.kind not in EXTREMES or len(args) != 2:
            return None
        for kink in self._kinks(args):
            return self._cut(name, kink)
        return self._extreme(operation.kind, *args)

    def _kinks(self, args: list[Polynomial]) -> Iterator[str]:
        """Operations inside that move with the index: where they bend, the range has to be cut first."""
        for arg in args:
            for monomial in arg:
                yield from (name for name, _ in monomial if name != self.index and self.index in self.graph.reach(name))

    def _line(self, p: Polynomial) -> tuple[Polynomial, Polynomial] | None:
        """A polynomial as (value at zero, slope) where it is a line in the index."""
        start: Polynomial = {}
        slope: Polynomial = {}
        for monomial, coefficient in p.items():
            exponent = dict(monomial).get(self.index, 0)
            if exponent not in (0, 1) or any(name != self.index and self.index in self.graph.reach(name) for name, _ in monomial):
                return None
            (slope if exponent else start)[merged(monomial, ((self.index, exponent),), -1)] = coefficient
        return start, slope

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
        operation = self.graph.operations[kink]
        if operation.kind not in EXTREMES or len(operation.args) != 2:
            return None
        a, b = (dict(arg) for arg in operation.args)
        line = self._line(plus(a, scaled(b, MINUS)))
        rising = number_of(line[1]) if line is not None else None
        if line is None or not rising:
            return None
        before, after = (b, a) if (rising > 0) == (operation.kind == "max") else (a, b)
        bend = self.graph.operation("cut", scaled(line[0], -1 / rising))
        middle = self.graph.operation("min", self.graph.operation("max", bend, plus(self.first, constant(MINUS))), self.last)
        parts = ((self.first, middle, before), (plus(middle, ONE_TERM), self.last, after))
        return added(_Sum(self.graph, self.index, first, last).of(self.graph.replaced(power_of(name), {kink: arm})) for first, last, arm in parts)
