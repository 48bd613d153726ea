"""A solved equation of one case for people: the answer as a SymPy expression, what it rests on, and how it is told."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import sympy

from symroof.analysis.case_titles import range_position
from symroof.analysis.closed_branches import Branch, Condition, solved_condition
from symroof.analysis.explain_solution import explain_solution
from symroof.analysis.in_sympy import expression, in_sympy, number, piecewise, relations
from symroof.analysis.solved_equation import (
    ABOVE,
    BELOW,
    LIMIT,
    REACH,
    SolvedEquation,
    stretch_text,
    to_whole,
)
from symroof.cases.quantity_result import Result
from symroof.symbolic.expressions import ZERO, Expr, names, symbol
from symroof.symbolic.printing import latex, shortened_formula
from symroof.symbols import symbol as public
from symroof.theory.symbols import GROUPS, base_name
from symroof.units import plural, settled, significant

COEFFICIENTS = ("c0", "c1", "c2")
"""The names of the coefficients of a long root."""
LONGEST = 80
"""Characters of a side that a solution shows of itself."""
OF_MODEL = frozenset(each.name for group in ("architecture", "precision") for each in GROUPS[group])
"""Inputs that come with the model."""
NO_END = {REACH: ("never", "any"), LIMIT: ("no limit", "none")}
"""The ends of a range of crossings where some corner has none: what is reached at no value or at any, what is limited by nothing or allows none."""


class Solution(SolvedEquation):
    """A solved equation of one case.

    >>> from symroof.analysis.study import Study
    >>> solution = Study(model="llama-3-8b", hardware="h100-sxm", prompt=128).solve("batch_to_ridge")
    >>> solution
    <decode_compute_time = decode_memory_time for batch: at least 399 requests (138 to 2,773), bound at least 518 requests>
    >>> solution.verdict, solution.method, solution.integer, solution.within_memory
    ('crosses', 'closed_form', {'at_least': 399}, True)
    >>> solution.reason
    'from this batch on a decode step is limited by compute'

    Attributes:
        asked: what was asked: text, a name or SymPy; ``equation`` and ``relation`` are its equation, in SymPy and as a formula.
        kind: ``reach`` or ``limit``: which way a crossing is rounded.
        threshold: the named threshold, where the equation is one.
        found: what the search found; None where the answer is symbolic, as an input is ``missing``.
        without_numbers: the closed forms of a symbolic answer.

    Solutions of the same equation in the same case are equal, whichever study they come from; they can be copied and pickled.
    """

    # ------------------------------------------------------------------------------------------------ in SymPy

    @property
    def symbol(self) -> Any:
        """The unknown as a symbol of :mod:`symroof.symbols`."""
        return public(self.unknown, self.bound_case.case.theory.own)

    @property
    def equation(self) -> Any:
        """The equation as it is named, a SymPy ``Eq``."""
        return sympy.Eq(*(in_sympy(side, self.bound_case) for side in self.sides), evaluate=False)

    @property
    def _answering(self) -> tuple[Branch, ...]:
        """The closed forms that give the answer: of a case the one that holds, without numbers each that may."""
        found = self.candidates
        if self.symbolic:
            return () if found.more else found.every
        met = (b for b in found.every if b.holds and b.value == self.value)
        return tuple(b for b in met if b.closed_form is not None)[:1]

    @cached_property
    def sympy(self) -> Any:
        """The answer as a SymPy expression in the symbols of :mod:`symroof.symbols`; None where there is none, and :attr:`why_numeric` says why.

        In a case it is the form that holds there, and ``solution.sympy.xreplace(study.values())`` is :attr:`value`. Without numbers it has every
        candidate, as a ``Piecewise`` whose conditions do not contain the unknown; no input is substituted.

        >>> import symroof as sr
        >>> from symroof.symbols import batch, context, kv_cache_bytes, weight_bytes
        >>> import sympy
        >>> sr.solve(sympy.Eq(kv_cache_bytes, weight_bytes), for_=context).sympy
        weight_bytes/(batch*kv_bytes_per_token)
        >>> sr.solve("max_batch_memory").sympy
        Piecewise(((mem_capacity*memory_share - memory_reserve - weight_bytes)/(kv_bytes_per_token*peak_context), mem_capacity*memory_share - memory_reserve - weight_bytes > 0))
        """
        answering = self._answering
        if self.symbolic and answering:
            return piecewise(answering, self.unknown, self.bound_case)
        return self._expression(answering[0]) if answering else None

    @property
    def why_numeric(self) -> str:
        """Why :attr:`sympy` is None: there is no closed form, so that values were bracketed, or no answer at all; empty where it is an expression."""
        if self._answering:
            return ""
        if self.value is not None and self.candidates.because:
            return self.candidates.because.replace("the unknown", self.unknown)
        if self.symbolic and self.candidates.more:
            return "there are more choices of arms than are listed, or powers that no root of readable size undoes"
        same = self.verdict == "identical"
        return "the two sides are the same" if same else "the two sides do not meet"

    @property
    def expanded(self) -> Any:
        """The answer in inputs alone, so that its derivative by an input is whole; None where there is no closed form."""
        return None if self.sympy is None else self.sympy.xreplace(self.where)

    @property
    def conditions(self) -> tuple[Any, ...]:
        """What the answer rests on, as SymPy relations that may contain the unknown: in a case all that the form that holds needs, or that one
        which does not would need; without numbers what every candidate needs, or else that one of them holds. Those that declared signs decide
        are left out. Where the unknown cancels, what makes the sides the same everywhere."""
        trees = (*(condition.tree for condition in self._conditions), *self.candidates.same)
        shared = relations(trees, self.bound_case)
        if shared or self.verdict != "conditional":
            return shared
        if isinstance(self.sympy, sympy.Piecewise):
            return (sympy.Or(*(met for _, met in self.sympy.args)),)
        return (self.equation,)

    @property
    def branches(self) -> tuple[tuple[Any, tuple[Any, ...]], ...]:
        """Every candidate, a choice of arms each: its closed form (None where there is none) and its conditions, in SymPy."""
        return tuple(
            (self._expression(each), relations((c.tree for c in each.conditions), self.bound_case))
            for each in self.candidates.every
        )

    def _expression(self, branch: Branch) -> Any:
        form = branch.closed_form
        return None if form is None else expression(form, self.bound_case)

    @cached_property
    def where(self) -> dict[Any, Any]:
        """Symbol -> expression in inputs, for every derived quantity in the closed forms, the conditions and the limits: one ``xreplace`` substitutes them all.

        >>> import symroof as sr
        >>> list(sr.solve("kv_cache_bytes = 1 GB", for_="batch").where.items())
        [(kv_bytes_per_token, 2*head_dim*kv_bytes_per_element*n_kv_heads*n_layers), (context, prompt)]
        """
        branches = self.candidates.every
        forms = (branch.closed_form for branch in branches if branch.closed_form is not None)
        conditions = (condition.tree for branch in branches for condition in branch.conditions)
        whole = self.sides if self.conditions == (self.equation,) else ()
        every = (*forms, *conditions, *self._limits, *self.candidates.same, *whole)
        case, found = self.bound_case.case, dict[Any, Any]()
        for name in dict.fromkeys(name for tree in every for name in names(tree)):
            if name != self.unknown and case.theory.definition(name) is not None:
                tree = case.expanded(symbol(name), complete=False if self.symbolic else None)
                if tree != symbol(name):
                    found[public(name, case.theory.own)] = in_sympy(tree, self.bound_case)
        return found

    @property
    def limits(self) -> tuple[Any, ...]:
        """The conditions solved for the next symbol, as SymPy relations: a ridge batch exists below some context."""
        return relations(self._limits, self.bound_case)

    @property
    def _limits(self) -> tuple[Expr, ...]:
        solved = (
            solved_condition(condition, self.unknown, self.bound_case, self.symbolic)
            for condition in self._conditions
        )
        return tuple(pair[0] for pair in solved if pair)

    @property
    def _conditions(self) -> tuple[Condition, ...]:
        """The conditions that all closed forms of the answer need."""
        branches = self._answering or self.candidates.every[:1]
        shared = branches[0].conditions if branches else ()
        return tuple(c for c in shared if all(c in branch.conditions for branch in branches))

    @cached_property
    def assumed(self) -> dict[Any, Any]:
        """Symbol -> number, of each input that the answer rests on and that nobody gave: its default; empty without numbers.

        >>> import symroof as sr
        >>> sr.solve("kv_cache_bytes = 1 GB", for_="batch").assumed
        {}
        """
        if self.symbolic:
            return {}
        own = self.bound_case.case.theory.own
        return {public(name, own): number(entry.value) for name, entry in self.defaults.items()}

    @cached_property
    def reason(self) -> str:
        """A plain sentence: the meaning of the number, or why there is none."""
        return explain_solution(self)

    def spelled(self, name: str) -> str:
        """How formulas of the answer spell a name, the coefficients of a long one included."""
        if name in COEFFICIENTS:
            return f"{name[0]}_{name[1:]}"
        return self.bound_case.case.theory.latex(name)

    def shown(self) -> str:
        """The answer in a few words: the whole number or value with its unit, or "never"."""
        said = {"identical": "everywhere", "conditional": "depends on the inputs"}
        if self.verdict in said:
            return said[self.verdict]
        if self.value is None:
            return "always exists" if self.verdict == "crosses" else "never"
        unit = self.declared.display_unit
        if not self.integer:
            return Result(self.declared, self.value).plain()
        if (
            self.threshold is None and ZERO in self.sides
        ):  # a place, as an extremum: no whole number is asked for
            exact = settled(self.value)
            place = f"{significant(exact)} {plural(unit, exact)}".rstrip()
            low, high = math.floor(exact), math.ceil(exact)
            return place if low == high else f"{place}, between {low:,} and {high:,}"
        word, last = next(iter(self.integer.items()))
        if len(self.integer) > 1:
            return f"{stretch_text((self.integer['at_least'], last))} {plural(unit, last)}"
        return f"{word.replace('_', ' ')} {last:,} {plural(unit, last)}".rstrip()

    def in_ranges(self) -> str:
        """The answer at the middle of the ranges, and how far it moves over them; the same as :meth:`shown` where it does not."""
        value, (low, high, everywhere, beyond) = self.shown(), self.extent
        if low is None or high is None:
            return value
        first, last = self._end(low), self._end(high)
        if first == last and everywhere:
            return value
        if beyond:
            past, short = NO_END[self.kind]
            return f"{value} ({short if BELOW in beyond else first} to {past if ABOVE in beyond else last})"
        digits, _, unit = first.partition(" ")
        least = digits if unit and last.endswith(f" {unit}") else first
        ends = first if first == last else f"{least} to {last}"
        if self.value is None:
            return f"never {range_position(self.bound_case)}; {ends} in part of them"
        return f"{value} ({ends}{'' if everywhere else '; in part of the ranges only'})"

    def _end(self, value: float) -> str:
        if self.declared.counted:
            return f"{to_whole(value, self.kind):,}"
        return Result(self.declared, value).plain()

    def __repr__(self) -> str:
        sides = " = ".join(shortened_formula(side, LONGEST) for side in self.written_sides)
        peak = f", bound {self.at_peak.in_ranges()}" if self.at_peak is not None else ""
        answer = f"{self.in_ranges()}{peak}"
        told = [
            f"{name} = {entry.text()}"
            for name, entry in self.defaults.items()
            if entry.value and base_name(name) not in OF_MODEL
        ]  # the load and the efficiencies that nobody gave; 0 adds nothing
        rests = f"; assumed {', '.join(told)}" if told and self.value is not None else ""
        return f"<{sides} for {self.unknown}: {answer}{rests}>"

    def _repr_latex_(self) -> str | None:
        forms = [
            (latex(branch.shown, self.spelled), branch.conditions)
            for branch in self._answering
            if branch.shown is not None
        ]
        if not forms:
            return None
        if len(forms) == 1:
            return rf"$\displaystyle {self.spelled(self.unknown)} = {forms[0][0]}$"
        both, row = r" \wedge ", r" \\ "
        lines = (
            rf"{form} & \text{{if }} {both.join(latex(c.shown, self.spelled) for c in met)}"
            for form, met in forms
        )
        cases = rf"\begin{{cases}} {row.join(lines)} \end{{cases}}"
        return rf"$\displaystyle {self.spelled(self.unknown)} = {cases}$"
