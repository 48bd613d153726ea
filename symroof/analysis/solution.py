"""A solved equation of one case: the crossings, the whole number to act on, whether memory allows it, and its meaning."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from symroof.analysis.conditions import solved_condition, times_compared
from symroof.analysis.expressions import in_sympy, together
from symroof.cases.case_results import Answers
from symroof.cases.quantity_result import DOES_NOT_FIT, plural
from symroof.formula import build
from symroof.formula.evaluate import NoValue
from symroof.formula.latex import latex
from symroof.formula.text import in_short, text
from symroof.formula.tree import ZERO, Compare, Tree, names
from symroof.solver.closed_forms import COEFFICIENTS
from symroof.solver.result import CLOSED, Condition, Solved
from symroof.solver.roots import sign
from symroof.theory.symbols import Symbol
from symroof.theory.thresholds import Threshold
from symroof.units import format_quantity, significant

LONGEST = 80
"""Characters of a side that a solution shows of itself."""

MOST_DEGREES = 1024
"""How many numbers of devices beyond a crossing are tried."""
LIMIT, REACH = "limit", "reach"
CLOSE = Fraction(1, 10**20)
"""How near a crossing, known to 40 digits, lies to a whole number that it is."""
CLAIMS_MEMORY = ("batch", "context", "prompt", "output", "prefill_batch")
"""Unknowns that take memory: for these the answer is tested for whether the case still fits."""


def whole(value: Fraction, kind: str) -> int:
    """A crossing as a whole number: down to the last that keeps a limit, up to the first that reaches."""
    near = round(value)
    if abs(value - near) < CLOSE:
        return near
    return math.floor(value) if kind == LIMIT else math.ceil(value)


@dataclass(repr=False)
class Solution:
    """A solved equation of one case.

    >>> from symroof.analysis.study import Study
    >>> solution = Study(model="llama-3-8b", hardware="h100-sxm", prompt=128).solve("batch_to_ridge")
    >>> solution
    <decode_compute_time = decode_memory_time for batch: at least 518 requests>
    >>> solution.verdict, solution.method, solution.integer, solution.within_memory
    ('crosses', 'closed_form', {'at_least': 518}, True)
    >>> solution.reason
    'from this batch on a decode step is limited by compute'

    Attributes:
        equation: the equation as it is named, in SymPy.
        unknown: the name solved for.
        kind: ``reach`` or ``limit``: which way a crossing is rounded.
        answers: the case.
        threshold: the named threshold, where the equation is one.
        missing: the input that a number would need, where the answer is symbolic.
        moves: whether a side depends on the unknown in this case.
        verdict: ``crosses``, ``lhs_above``, ``lhs_below``, ``identical``; ``conditional`` without numbers.
        value: the first crossing, exact or to 40 digits; None where the sides never meet.
        integer: ``{"at_least": n}`` or ``{"at_most": n}`` where the unknown counts things.
        within_memory: whether the case still fits at that value; None where memory is not known or not concerned.
        reason: a plain sentence.
        sympy, conditions, where, limits: the closed form, what it rests on, and the definitions of its names, in SymPy.
        branches: the same of every candidate.
    """

    _trees: Solved
    unknown: str
    kind: str
    answers: Answers
    threshold: Threshold | None = None
    missing: str | None = None
    moves: bool = True
    explain: Callable[[Solution], str] | None = None

    @property
    def verdict(self) -> str:
        """Whether the sides meet, or which side stays the larger."""
        return self._trees.crossing.verdict

    @property
    def method(self) -> str:
        """``closed_form``, or ``numeric`` where values were bracketed."""
        return self._trees.crossing.method

    @property
    def why_numeric(self) -> str:
        """Why there is no closed form, where values were bracketed; empty where there is one.

        >>> from symroof.analysis.study import Study
        >>> study = Study("llama-3-8b", "h100-sxm", prompt=1024, output=128, chunk=256, itl_target="8 ms")
        >>> study.solve("max_batch_sustained_itl").why_numeric
        'which formula chunked_itl follows turns on batch'
        """
        return "" if self.method == CLOSED else self._trees.crossing.because or "no closed form of readable size exists"

    @property
    def values(self) -> tuple[Fraction, ...]:
        """Every crossing, in rising order, in base units."""
        return self._trees.crossing.values

    @property
    def value(self) -> Fraction | None:
        """The first crossing, in base units."""
        return self._trees.crossing.value

    @property
    def symbol(self) -> Symbol:
        """The unknown with its unit and meaning."""
        return self.answers.case.theory.symbol(self.unknown)

    @property
    def equation(self) -> Any:
        """The equation as it is named, a SymPy ``Eq``."""
        import sympy

        return sympy.Eq(*(in_sympy(side, self.answers) for side in self._trees.sides), evaluate=False)

    @property
    def closed_form(self) -> Any:
        """The same as :attr:`sympy`."""
        return self.sympy

    @property
    def sympy(self) -> Any:
        """The closed form as a SymPy expression in the symbols of :mod:`symroof.symbols`; None where there is none.

        >>> import symroof as sr
        >>> from symroof.symbols import batch, kv_cache_bytes, weight_bytes
        >>> import sympy
        >>> sr.solve(sympy.Eq(kv_cache_bytes, weight_bytes), for_=batch).sympy
        weight_bytes/(context*kv_bytes_per_token)
        """
        form = self._trees.closed_form
        return None if form is None else in_sympy(form, self.answers)

    @property
    def conditions(self) -> tuple[Any, ...]:
        """The conditions under which the closed form is the answer, as SymPy relations; those that declared signs decide are left out."""
        return self._relations(self._conditions)

    @property
    def branches(self) -> tuple[tuple[Any, tuple[Any, ...]], ...]:
        """Every candidate, a choice of arms each: its closed form (None where there is none) and its conditions, in SymPy.

        >>> import symroof as sr
        >>> for form, conditions in sr.solve("max(kv_cache_bytes, weight_bytes) = mem_capacity", for_="batch").branches:
        ...     print(form, conditions)
        mem_capacity/(context*kv_bytes_per_token) (batch*context*kv_bytes_per_token >= weight_bytes,)
        """
        branches = self._trees.crossing.branches
        forms = (None if branch.closed_form is None else in_sympy(branch.closed_form, self.answers) for branch in branches)
        return tuple((form, self._relations(branch.conditions)) for form, branch in zip(forms, branches, strict=True))

    def _relations(self, conditions: tuple[Condition, ...]) -> tuple[Any, ...]:
        relations = [in_sympy(condition.tree, self.answers) for condition in conditions]
        return tuple(relation for relation in relations if relation != True)  # noqa: E712

    @property
    def where(self) -> dict[Any, Any]:
        """Symbol -> definition, for the derived quantities in the closed form and in what defines them."""
        case, definitions, form = self.answers.case, {}, self._trees.closed_form
        waiting = list(names(form)) if form else []
        for name in waiting:
            if name not in definitions and name != self.unknown and case.theory.definition(name) is not None:
                definitions[name] = case.explains(name)
                waiting += names(definitions[name])
        return together(definitions, self.answers)

    @property
    def limits(self) -> tuple[Any, ...]:
        """The conditions solved for the next symbol, as SymPy relations: a ridge batch exists below some context."""
        symbolic = self.verdict == "conditional"
        solved = (solved_condition(condition, self.unknown, self.answers, symbolic) for condition in self._conditions)
        return tuple(in_sympy(pair[0], self.answers) for pair in solved if pair)

    @property
    def _conditions(self) -> tuple[Condition, ...]:
        branch = self._trees.branch
        return branch.conditions if branch else ()

    def spelled(self, name: str) -> str:
        """How formulas of the answer spell a name, the coefficients of a long one included."""
        return f"{name[0]}_{name[1:]}" if name in COEFFICIENTS.values() else self.answers.case.theory.latex(name)

    @cached_property
    def _times(self) -> dict[Tree, Tree]:
        return times_compared(self.unknown, self.answers, symbolic=self.verdict == "conditional")

    @cached_property
    def integer(self) -> dict[str, int] | None:
        """The whole-number answer, from exact values at it and at its neighbours."""
        if not self.symbol.counted or self.value is None:
            return None
        return {"at_most" if self.kind == LIMIT else "at_least": self.rounded(self.value)}

    def rounded(self, value: Fraction) -> int:
        """A crossing as the whole number it allows: the last that keeps a limit, the first that reaches.

        The sides are evaluated at the candidate and its neighbours: a jump just behind a whole number, or a crossing
        known to 40 digits that lies on one, is not left to rounding.
        """
        down, up = whole(value, LIMIT), whole(value, REACH)
        before = self.before(value)
        if not before:
            return whole(value, self.kind)
        if self.unknown == "tp":
            return next((n for n in self.degrees(max(up, 1)) if self.side(n) in (-before, 0)), max(up, 1))
        if self.kind == LIMIT:
            return next((n for n in (down, down - 1) if n < 1 or self.side(n) in (before, 0)), down)
        return next((n for n in (up, up + 1) if n >= 1 and self.side(n) in (-before, 0)), max(up, 1))

    def degrees(self, first: int, up: bool = True) -> Iterator[int]:
        """Numbers of devices that can share out the key and value heads, from one on, upwards or downwards."""
        tried = range(first, first + MOST_DEGREES) if up else range(first, 0, -1)
        return (n for n in tried if self.answers.case.permits(n))

    def before(self, value: Fraction) -> int:
        """Which side is the larger just before a crossing; 0 where that is undecided."""
        earlier = max((v for v in self.values if v < value), default=self._trees.crossing.domain[0])
        side = self.side((earlier + value) / 2)
        if side is None and self.symbol.counted:  # between whole numbers a sum has no value
            side = self.side(math.ceil(value) - 1)
        return side or 0

    def side(self, point: Fraction | int) -> int | None:
        """The sign of left less right at a value of the unknown, by the definitions themselves."""
        try:
            return sign(self.answers.case.changed({self.unknown: Fraction(point)}).evaluate(build.sub(*self._trees.sides)))
        except NoValue:
            return None

    @cached_property
    def whole(self) -> Fraction | None:
        """The value to act on: the whole number where things are counted, else the crossing."""
        return Fraction(next(iter(self.integer.values()))) if self.integer else self.value

    @cached_property
    def within_memory(self) -> bool | None:
        """Whether the case fits in memory with the unknown at its whole-number answer."""
        if self.whole is None or self.whole < 1 or self.unknown not in CLAIMS_MEMORY:
            return None
        try:
            return bool(self.answers.case.changed({self.unknown: self.whole}).value("fits"))
        except NoValue:
            return None

    @property
    def flags(self) -> tuple[str, ...]:
        """``does_not_fit`` where the answer is beyond memory."""
        return (DOES_NOT_FIT,) if self.within_memory is False else ()

    def shown(self) -> str:
        """The answer in a few words: the whole number or value with its unit, or "never".

        Where a side is 0, as of the derivative at an extremum, no whole number is asked for, and the place itself is the answer.

        >>> from symroof.analysis.study import Study
        >>> study = Study("llama-3-8b", "h100-sxm", prompt=4096)
        >>> study.solve("itl = 10 ms", "batch").shown(), study.solve("itl - 10 ms = 0", "batch").shown()
        ('at least 35 requests', '34.11 requests, between 34 and 35')
        """
        if self.verdict == "identical":
            return "everywhere"
        if self.verdict == "conditional":
            return "depends on the conditions"
        if self.verdict == "crosses" and self.value is None:
            return "always one, by the formula"
        if self.value is None:
            return "never"
        if self.integer and self.threshold is None and ZERO in self._trees.sides:
            return self._place(self.value)
        if self.integer:
            (word, number), unit = next(iter(self.integer.items())), self.symbol.spoken_unit
            return f"{word.replace('_', ' ')} {number:,}" + (f" {plural(unit, Fraction(number))}" if unit else "")
        return format_quantity(self.value, self.symbol.spoken_unit)

    def _place(self, value: Fraction) -> str:
        """A crossing of a count as it lies, between two whole numbers or on one."""
        unit = self.symbol.spoken_unit
        named = f" {plural(unit, value)}" if unit else ""
        if value.denominator == 1:
            return f"{value.numerator:,}{named}"
        return f"{significant(value)}{named}, between {math.floor(value):,} and {math.ceil(value):,}"

    def _repr_latex_(self) -> str | None:
        branch = self._trees.branch
        form = branch.shown if branch else None
        return None if form is None else f"$\\displaystyle {self.spelled(self.unknown)} = {latex(form, self.spelled)}$"

    def __repr__(self) -> str:
        return f"<{in_short(text(self._trees.lhs), LONGEST)} = {in_short(text(self._trees.rhs), LONGEST)} for {self.unknown}: {self.shown()}>"

    @cached_property
    def reason(self) -> str:
        """A plain sentence: the meaning of the number, or why there is none."""
        return self.explain(self) if self.explain else ""


def trees(solution: Solution) -> Solved:
    """The formula trees behind a solution, for the rooms of this package."""
    return solution._trees


def readable(condition: Condition, solution: Solution) -> Compare:
    """A condition in the shortest names: in coefficients, or as the times whose formulas stand on its two sides."""
    tree, times = condition.spoken or condition.tree, solution._times
    return Compare(tree.operator, times.get(tree.left, tree.left), times.get(tree.right, tree.right))
