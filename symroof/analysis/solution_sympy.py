"""The SymPy side of a solution: the form that holds in a case, or every candidate under conditions free of the unknown."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any

from symroof.analysis.closed_branches import (
    Branch,
    Branches,
    Condition,
    solved_condition,
)
from symroof.analysis.in_sympy import expression, in_sympy, relations
from symroof.cases.bound_case import BoundCase
from symroof.symbolic.expressions import Expr, names, symbol


def definitions(
    formulas: Iterable[Expr], unknown: str, bound_case: BoundCase, symbolic: bool
) -> dict[Any, Any]:
    """Symbol -> expression over inputs, of every derived quantity in some formulas."""
    from symroof.symbols import symbol as public

    case = bound_case.case
    named = dict.fromkeys(
        name
        for tree in formulas
        for name in names(tree)
        if name != unknown and case.theory.definition(name) is not None
    )
    written = {
        name: case.expanded(symbol(name), complete=False if symbolic else None) for name in named
    }
    return {
        public(name, case.theory.own): in_sympy(tree, bound_case)
        for name, tree in written.items()
        if tree != symbol(name)
    }


class InSympy:
    """The side of a solution that is SymPy: the answer, what it rests on, and what its names are."""

    unknown: str
    bound_case: BoundCase
    missing: str | None
    sides: tuple[Expr, Expr]
    value: Any
    verdict: str
    candidates: Branches

    @property
    def why_numeric(self) -> str:
        """Why :attr:`sympy` is None: there is no closed form, so that values were bracketed, or no answer at all; empty where it is an expression.

        >>> from symroof.analysis.study import Study
        >>> Study("llama-3-8b", "h100-sxm", prompt=1024).solve("batch**3 + batch = 30", "batch").why_numeric
        'no closed form of readable size exists'
        """
        if self._answering:
            return ""
        if self.value is not None and self.candidates.because:
            return self.candidates.because.replace("the unknown", self.unknown)
        if self.symbolic and self.candidates.more:
            return "there are more choices of arms than are listed, or powers that no root of readable size undoes"
        return (
            "the two sides are the same"
            if self.verdict == "identical"
            else "the two sides do not meet"
        )

    @property
    def equation(self) -> Any:
        """The equation as it is named, a SymPy ``Eq``."""
        import sympy

        return sympy.Eq(*(in_sympy(side, self.bound_case) for side in self.sides), evaluate=False)

    @property
    def closed_form(self) -> Any:
        """The same as :attr:`sympy`."""
        return self.sympy

    @property
    def symbolic(self) -> bool:
        """Whether the answer is in symbols, an input being missing for one in numbers: it contains nothing but inputs and quantities."""
        return self.missing is not None

    @property
    def _answering(self) -> tuple[Branch, ...]:
        """The closed forms that give the answer: of a case the one that holds, without numbers each that may."""
        found = self.candidates
        if self.symbolic:
            return () if found.more else found.every
        met = (
            b
            for b in found.every
            if b.holds and b.value == self.value and b.closed_form is not None
        )
        return tuple(met)[:1]

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
        if not answering:
            return None
        if not self.symbolic:
            return self._expression(answering[0])
        from symroof.analysis.solution_pieces import piecewise

        return piecewise(answering, self.unknown, self.bound_case)

    @property
    def expanded(self) -> Any:
        """The answer in inputs alone, so that its derivative by an input is whole; None where there is no closed form.

        >>> import symroof as sr
        >>> sr.solve("kv_cache_bytes = 1 GB", for_="batch").expanded
        500000000/(head_dim*kv_bytes_per_element*n_kv_heads*n_layers*prompt)
        """
        return None if self.sympy is None else self.sympy.xreplace(self.where)

    @property
    def conditions(self) -> tuple[Any, ...]:
        """What the answer rests on, as SymPy relations that may contain the unknown: in a case all that the form that holds needs, or that one
        which does not would need; without numbers what every candidate needs. Those that declared signs decide are left out."""
        return self._relations(self._conditions)

    @property
    def branches(self) -> tuple[tuple[Any, tuple[Any, ...]], ...]:
        """Every candidate, a choice of arms each: its closed form (None where there is none) and its conditions, in SymPy.

        >>> import symroof as sr
        >>> for form, conditions in sr.solve("max(kv_cache_bytes, weight_bytes) = mem_capacity", for_="batch").branches:
        ...     print(form, conditions)
        mem_capacity/(context*kv_bytes_per_token) (batch*context*kv_bytes_per_token >= weight_bytes,)
        """
        return tuple(
            (self._expression(branch), self._relations(branch.conditions))
            for branch in self.candidates.every
        )

    def _expression(self, branch: Branch) -> Any:
        return (
            None if branch.closed_form is None else expression(branch.closed_form, self.bound_case)
        )

    def _relations(self, conditions: tuple[Condition, ...]) -> tuple[Any, ...]:
        return relations((condition.tree for condition in conditions), self.bound_case)

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
        return definitions(
            (*forms, *conditions, *self._limits), self.unknown, self.bound_case, self.symbolic
        )

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
        branches = self._answering or self.candidates.every[:1]
        first = branches[0].conditions if branches else ()
        return tuple(
            condition
            for condition in first
            if all(condition in branch.conditions for branch in branches)
        )
