"""A solved equation of one case: where its sides meet, how far that moves, the whole number to act on, and the closed forms, in SymPy as well."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import sympy

from symroof.analysis import in_sympy
from symroof.analysis.equation import LIMIT, MOST_DEGREES, REACH, Equation, to_whole
from symroof.cases.values import Result
from symroof.errors import NoValue
from symroof.symbolic.closed_forms import Candidates
from symroof.symbolic.crossings import Crossings
from symroof.symbolic.expressions import Expr, changed_inputs, is_relation, names
from symroof.symbolic.reading import as_written
from symroof.symbolic.roots import COEFFICIENTS, Form
from symroof.symbols import symbol as public
from symroof.theory.declarations import Threshold
from symroof.theory.spellings import printed_name, with_units
from symroof.theory.symbols import Symbol

CLAIMS_MEMORY = ("batch", "context", "prompt", "output", "prefill_batch")
"""Unknowns that take memory: for these the answer is tested for whether the case still fits."""


@dataclass(repr=False)
class SolvedEquation(Equation):
    """A solved equation of one case.

    Attributes:
        asked: what was asked: text, a name or SymPy; ``equation`` and ``relation`` are its equation, in SymPy and as a formula.
        kind: ``reach`` or ``limit``: which way a crossing is rounded.
        threshold: the named threshold, where the equation is one.
        settled: the closed form with its value, where inputs are missing and the form needs none of them.
    """

    asked: Any = None
    kind: str = REACH
    threshold: Threshold | None = None
    settled: Form | None = None

    def __hash__(self) -> int:
        return hash((self.relation, self.unknown))

    @cached_property
    def found(self) -> Crossings | None:
        """What the search finds; None where the answer is symbolic.

        Raises:
            MissingInput: an input that the sides need is missing.
        """
        if self.settled:
            return Crossings("crosses", (self.settled.value,))  # type: ignore[arg-type]
        return None if self.missing else self.everywhere[0]

    @cached_property
    def written(self) -> Expr:
        """The equation as it was asked, its numbers with their units: for printing alone."""
        asked = as_written(self.asked, printed_name)
        if asked is not None and is_relation(asked):
            return asked
        return with_units(self.relation, self.bound_case.case.theory.own)

    @property
    def declared(self) -> Symbol:
        """The unknown as the theory declares it, with its unit."""
        return self.bound_case.case.theory.symbol(self.unknown)

    @property
    def verdict(self) -> str:
        """Whether the sides meet, or which side stays the larger."""
        return self.found.verdict if self.found else self.candidates.verdict

    @property
    def method(self) -> str:
        """``closed_form``, or ``numeric`` where a crossing has none of readable size."""
        numeric = any(form.root is None for form in self.candidates.every)
        return "numeric" if self.candidates.because and numeric else "closed_form"

    @property
    def values(self) -> tuple[float, ...]:
        """Every crossing, in rising order, in base units."""
        return self.found.values if self.found else ()

    @property
    def value(self) -> float | None:
        """The first crossing, in base units."""
        return self.values[0] if self.values else None

    @property
    def domain(self) -> tuple[float, float | None]:
        """Where the unknown can lie; of sides that never meet, up to where a denominator vanishes."""
        if self.found is None:
            return 0.0, None
        axis = self.axis(self.bound_case.case)
        return axis.low, axis.high if self.found.pole is None else self.found.pole

    @property
    def low(self) -> float | None:
        """The least first crossing over the ranges of the inputs; None where nothing is a range, or the sides meet nowhere in them."""
        return self.extent[0]

    @property
    def high(self) -> float | None:
        """The largest, as :attr:`low` is the least."""
        return self.extent[1]

    @cached_property
    def corners(self) -> tuple[Crossings, ...]:
        """What is found at each corner of the case's ranges; none where nothing is ranged, or the unknown itself is."""
        return () if self.missing or self.settled else tuple(self.everywhere[1:])

    @cached_property
    def extent(self) -> tuple[float | None, float | None, bool]:
        """The least and the largest crossing over the ranges, and whether there is one in the middle and at every corner."""
        firsts = [each.values[0] for each in self.corners if each.values]
        met = [*firsts, *self.values[:1]]
        if not self.corners or not met:
            return None, None, not self.corners and self.value is not None
        return min(met), max(met), len(firsts) == len(self.corners) and self.value is not None

    @cached_property
    def at_peak(self) -> Self | None:
        """The same solved at 100 % of peak; None where it is that already, or no side depends on efficiencies."""
        own, timed = self.bound_case, self.bound_case.case.theory.timed
        given = own if own.case.numbers else own.with_changes()
        case = given.at_peak  # a degree that is solved for is open here, and again there
        if case is None or self.missing or not any(map(timed, names(self.relation))):
            return None
        asked = {self.unknown, *names(self.relation), *changed_inputs(self.relation)}
        made = replace(self, bound_case=case.without_values(asked), settled=None)
        with suppress(NoValue):
            return None if made.verdict == "none" else made
        return None

    @property
    def bound(self) -> float | None:
        """The value at 100 % of peak; None where there is none, or the case is there already."""
        return self.at_peak.value if self.at_peak is not None else None

    @cached_property
    def integer(self) -> dict[str, int] | None:
        """The whole-number answer, from the values at it and at its neighbours."""
        if not self.declared.counted or self.value is None:
            return None
        way = "at_most" if self.kind == LIMIT else "at_least"
        return {way: self.rounded(self.value)}

    def rounded(self, value: float) -> int:
        """One of the crossings as the whole number it allows: the last that keeps a limit, the first that reaches.

        The sides are evaluated at the candidate and its neighbours, as a jump may lie just behind a whole number.
        """
        down, up = to_whole(value, LIMIT), to_whole(value, REACH)
        larger, devices = self.larger_before(value), self.unknown == "tp"
        if not larger:
            return to_whole(value, self.kind)
        if self.kind == LIMIT and not devices:
            kept = (n for n in (down, down - 1) if n < 1 or self.larger_at(n) in (larger, 0))
            return next(kept, down)
        least, may_be = max(up, 1), self.bound_case.case.can_split_heads
        tried = filter(may_be, range(least, least + MOST_DEGREES)) if devices else (up, up + 1)
        reached = (n for n in tried if n >= 1 and self.larger_at(n) in (-larger, 0))
        return next(reached, least)

    def larger_before(self, value: float) -> int:
        """Which side is the larger just before one of the crossings; 0 where that is undecided."""
        axis = self.axis(self.bound_case.case)
        earlier = max((v for v in self.values if v < value), default=axis.low)
        larger = self.larger_at((earlier + value) / 2)
        if larger is None and axis.counted:  # between whole numbers a sum has no value
            larger = self.larger_at(math.ceil(value) - 1)
        return larger or 0

    @cached_property
    def whole(self) -> float | None:
        """The value to act on: the whole number where things are counted, else the crossing."""
        return float(next(iter(self.integer.values()))) if self.integer else self.value

    @cached_property
    def within_memory(self) -> bool | None:
        """Whether the case fits in memory with the unknown at its whole-number answer."""
        if self.whole is None or self.whole < 1 or self.unknown not in CLAIMS_MEMORY:
            return None
        try:
            return bool(self.bound_case.case.changed({self.unknown: self.whole}).value("fits"))
        except NoValue:
            return None

    @cached_property
    def defaults(self) -> dict[str, Result]:
        """The inputs that the answer rests on and that nobody gave, by name; empty where the answer is symbolic."""
        if self.missing:
            return {}
        given = self.bound_case.given  # of a formula that the answer moves no number was assumed
        moved = {n for n, x in given.items() if x.is_formula and self.unknown in names(x.setting)}
        inputs = self.bound_case.inputs(names(self.relation), everything=False)
        left_out = {self.unknown, *moved}
        return {n: entry for n, entry in inputs.items() if entry.defaulted and n not in left_out}

    @cached_property
    def candidates(self) -> Candidates:
        """The closed forms with their conditions, as formulas; found when they are first asked for.

        Raises:
            NoClosedForm: inputs are missing, and only numbers help.
        """
        if self.settled:
            return Candidates((self.settled,))
        if self.found is None:
            return self.forms_without_numbers()
        if self.verdict == "identical":
            return Candidates()
        return self.forms_at(self.values, self.found.searched[1])

    @property
    def answering(self) -> tuple[Form, ...]:
        """The closed forms that give the answer: of a case the one that holds, without numbers each that may."""
        every = self.candidates.every
        if self.missing:
            return () if self.candidates.more else every
        met = (form for form in every if form.value == self.value and form.root is not None)
        return tuple(met)[:1] if self.values else ()

    @property
    def form(self) -> Form | None:
        """The form that gives the value, or the first that would if its conditions held."""
        return next(iter(self.answering or self.candidates.every), None)

    def spelled(self, name: str) -> str:
        """How formulas of the answer spell a name, the coefficients of a long one included."""
        if name in COEFFICIENTS:
            return f"{name[0]}_{name[1:]}"
        return self.bound_case.case.theory.latex(name)

    @property
    def symbol(self) -> Any:
        """The unknown as a symbol of :mod:`symroof.symbols`."""
        return public(self.unknown, self.bound_case.case.theory.own)

    @property
    def equation(self) -> Any:
        """The equation as it is named, a SymPy ``Eq``."""
        sides = (in_sympy.in_sympy(side, self.bound_case) for side in self.sides)
        return sympy.Eq(*sides, evaluate=False)

    @cached_property
    def sympy(self) -> Any:
        """The answer as a SymPy expression in the symbols of :mod:`symroof.symbols`; None where there is none, and ``why_numeric`` says why.

        In a case it is the form that holds there, and ``solution.sympy.xreplace(study.values())`` is :attr:`value`. Without numbers it has every
        candidate, as a ``Piecewise`` whose conditions do not contain the unknown; no input is substituted.

        >>> import symroof as sr
        >>> sr.solve("kv_cache_bytes = weight_bytes", for_="context").sympy
        weight_bytes/(batch*kv_bytes_per_token)
        >>> sr.solve("max_batch_memory").sympy
        Piecewise(((mem_capacity*memory_share - memory_reserve - weight_bytes)/(kv_bytes_per_token*peak_context), mem_capacity*memory_share - memory_reserve - weight_bytes > 0))
        """
        answering = self.answering
        if self.missing and answering:
            return in_sympy.piecewise(answering, self.x, self.bound_case)
        return in_sympy.expression(answering[0].closed_form, self.bound_case) if answering else None

    @property
    def expanded(self) -> Any:
        """The answer in inputs alone, so that its derivative by an input is whole; None where there is no closed form."""
        return None if self.sympy is None else self.sympy.xreplace(self.where)

    @property
    def _shared(self) -> tuple[Expr, ...]:
        """The conditions that all closed forms of the answer need."""
        forms = self.answering or self.candidates.every[:1]
        first = forms[0].trees if forms else ()
        return tuple(tree for tree in first if all(tree in form.trees for form in forms))

    @property
    def conditions(self) -> tuple[Any, ...]:
        """What the answer rests on, as SymPy relations that may contain the unknown: in a case all that the form that holds needs, or that one
        which does not would need; without numbers what every candidate needs, or else that one of them holds. Those that declared signs decide
        are left out."""
        shared = in_sympy.relations(self._shared, self.bound_case)
        if shared or self.verdict != "conditional":
            return shared
        if isinstance(self.sympy, sympy.Piecewise):
            return (sympy.Or(*(met for _, met in self.sympy.args)),)
        return (self.equation,)

    @property
    def branches(self) -> tuple[tuple[Any, tuple[Any, ...]], ...]:
        """Every candidate, a choice of arms each: its closed form (None where there is none) and its conditions, in SymPy."""
        every, case = self.candidates.every, self.bound_case
        roots = (form.closed_form for form in every)
        made = (None if root is None else in_sympy.expression(root, case) for root in roots)
        conditions = (in_sympy.relations(form.trees, case) for form in every)
        return tuple(zip(made, conditions, strict=True))

    @cached_property
    def where(self) -> dict[Any, Any]:
        """Symbol -> expression in inputs, for every derived quantity in the closed forms, the conditions and the limits: one ``xreplace`` substitutes them all.

        >>> import symroof as sr
        >>> list(sr.solve("kv_cache_bytes = 1 GB", for_="batch").where.items())
        [(kv_bytes_per_token, 2*head_dim*kv_bytes_per_element*n_kv_heads*n_layers), (context, prompt)]
        """
        every = self.candidates.every
        forms = (form.closed_form for form in every if form.root is not None)
        conditions = (tree for form in every for tree in form.trees)
        whole = self.sides if self.conditions == (self.equation,) else ()
        trees = (*forms, *conditions, *self._solved_conditions, *whole)
        complete = False if self.missing else None
        return in_sympy.definitions(trees, self.unknown, self.bound_case, complete)

    @property
    def _solved_conditions(self) -> list[Expr]:
        solved = map(self.solved_condition, self._shared)
        return [limit for limit in solved if limit is not None]

    @property
    def limits(self) -> tuple[Any, ...]:
        """The conditions solved for the next symbol, as SymPy relations: a ridge batch exists below some context."""
        return in_sympy.relations(self._solved_conditions, self.bound_case)

    @property
    def assumed(self) -> dict[Any, Any]:
        """Symbol -> number, of each input that the answer rests on and that nobody gave: its default; empty without numbers."""
        own, number = self.bound_case.case.theory.own, in_sympy.number
        return {public(name, own): number(entry.value) for name, entry in self.defaults.items()}
