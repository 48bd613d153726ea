"""A solved equation of one case for people: the answer as a SymPy expression, what it rests on, and its words."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import sympy

from symroof.analysis import in_sympy, solution_words
from symroof.analysis.closed_branches import Condition, solved_condition
from symroof.analysis.solved_equation import SolvedEquation
from symroof.symbolic.expressions import Expr
from symroof.symbols import symbol as public


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
        found: what the search found; None where the answer is symbolic.
        threshold: the named threshold, where the equation is one.
        missing: the input that lacks for an answer in numbers; the answer then contains nothing but inputs and quantities.
        without_numbers: the closed forms of a symbolic answer.

    Solutions of the same equation in the same case are equal, whichever study they come from; they can be copied and pickled.
    """

    @property
    def _conditions(self) -> tuple[Condition, ...]:
        """The conditions that all closed forms of the answer need."""
        branches = self.answering or self.candidates.every[:1]
        shared = branches[0].conditions if branches else ()
        return tuple(c for c in shared if all(c in branch.conditions for branch in branches))

    @property
    def _limits(self) -> tuple[Expr, ...]:
        solved = (
            solved_condition(condition, self.unknown, self.bound_case, bool(self.missing))
            for condition in self._conditions
        )
        return tuple(pair[0] for pair in solved if pair)

    @property
    def symbol(self) -> Any:
        """The unknown as a symbol of :mod:`symroof.symbols`."""
        return public(self.unknown, self.bound_case.case.theory.own)

    @property
    def equation(self) -> Any:
        """The equation as it is named, a SymPy ``Eq``."""
        return sympy.Eq(
            *(in_sympy.in_sympy(side, self.bound_case) for side in self.sides), evaluate=False
        )

    @cached_property
    def sympy(self) -> Any:
        """The answer as a SymPy expression in the symbols of :mod:`symroof.symbols`; None where there is none, and :attr:`why_numeric` says why.

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
            return in_sympy.piecewise(answering, self.unknown, self.bound_case)
        return in_sympy.expression(answering[0].closed_form, self.bound_case) if answering else None

    @property
    def why_numeric(self) -> str:
        """Why :attr:`sympy` is None: there is no closed form, so that values were bracketed, or no answer at all; empty where it is an expression."""
        return solution_words.why_numeric(self)

    @property
    def expanded(self) -> Any:
        """The answer in inputs alone, so that its derivative by an input is whole; None where there is no closed form."""
        return None if self.sympy is None else self.sympy.xreplace(self.where)

    @property
    def conditions(self) -> tuple[Any, ...]:
        """What the answer rests on, as SymPy relations that may contain the unknown: in a case all that the form that holds needs, or that one
        which does not would need; without numbers what every candidate needs, or else that one of them holds. Those that declared signs decide
        are left out."""
        shared = in_sympy.relations(
            (condition.tree for condition in self._conditions), self.bound_case
        )
        if shared or self.verdict != "conditional":
            return shared
        if isinstance(self.sympy, sympy.Piecewise):
            return (sympy.Or(*(met for _, met in self.sympy.args)),)
        return (self.equation,)

    @property
    def branches(self) -> tuple[tuple[Any, tuple[Any, ...]], ...]:
        """Every candidate, a choice of arms each: its closed form (None where there is none) and its conditions, in SymPy."""
        own = self.bound_case
        return tuple(
            (
                None if each.closed_form is None else in_sympy.expression(each.closed_form, own),
                in_sympy.relations((c.tree for c in each.conditions), own),
            )
            for each in self.candidates.every
        )

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
        every = (*forms, *conditions, *self._limits, *whole)
        return in_sympy.definitions(
            every, self.unknown, self.bound_case, False if self.missing else None
        )

    @property
    def limits(self) -> tuple[Any, ...]:
        """The conditions solved for the next symbol, as SymPy relations: a ridge batch exists below some context."""
        return in_sympy.relations(self._limits, self.bound_case)

    @property
    def assumed(self) -> dict[Any, Any]:
        """Symbol -> number, of each input that the answer rests on and that nobody gave: its default; empty without numbers."""
        own = self.bound_case.case.theory.own
        return {
            public(name, own): in_sympy.number(entry.value) for name, entry in self.defaults.items()
        }

    @cached_property
    def reason(self) -> str:
        """A plain sentence: the meaning of the number, or why there is none."""
        return solution_words.explain(self)

    def shown(self) -> str:
        """The answer in a few words: the whole number or value with its unit, or "never"."""
        return solution_words.shown(self)

    def in_ranges(self) -> str:
        """The answer at the middle of the ranges, and how far it moves over them."""
        return solution_words.in_ranges(self)

    def __repr__(self) -> str:
        return solution_words.in_brief(self)

    def _repr_latex_(self) -> str | None:
        return solution_words.answer_latex(self)
