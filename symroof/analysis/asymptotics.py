"""Limits of a quantity as one input vanishes or grows.

Declared here are the inputs and ends that readers reason with; the mathematics is :mod:`symroof.symbolic.limits`.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np
import sympy

from symroof.analysis.closed_branches import solvable, written
from symroof.analysis.implicit_quantities import searched_quantity
from symroof.analysis.inline import readable_form, shortest
from symroof.cases.bound_case import BoundCase
from symroof.cases.quantity_result import Result, plain_value
from symroof.symbolic.evaluation import NoValue, UndefinedValue
from symroof.symbolic.expressions import (
    ZERO,
    Expr,
    is_condition_or_label,
    mentions,
    number,
    size,
    substitute,
    symbol,
)
from symroof.symbolic.kernels import nearly_equal
from symroof.symbolic.limits import End, Leading, leading_terms
from symroof.symbolic.polynomials import NoClosedForm, sign, terms_size
from symroof.symbolic.printing import latex, text
from symroof.symbols import expression
from symroof.theory.case import MOST_NODES
from symroof.theory.declarations import Declarations
from symroof.theory.symbols import Symbol

REPORTED: tuple[tuple[str, End, str], ...] = (
    ("act_bytes_per_element", 0, "as activation bytes go to 0"),
    ("kv_bytes_per_element", 0, "as cache bytes go to 0"),
    ("context", 0, "as the context goes to 0"),
    ("context", "infinity", "as the context grows"),
    ("prompt", "infinity", "as the prompt grows"),
    ("output", "infinity", "as the response grows"),
    ("batch", "infinity", "as the batch grows"),
    ("gemm_m", "infinity", "as the number of rows grows"),
    ("intensity", "infinity", "as the intensity grows"),
    ("peak_flops", "infinity", "as peak compute grows"),
    ("mem_bandwidth", "infinity", "as memory bandwidth grows"),
    ("link_bandwidth", "infinity", "as link bandwidth grows"),
    ("tp", "infinity", "as devices are added"),
)
"""The limits that a derivation reports: input, end, and how it is written."""

MOST_ARMS = 4
"""The most arms that a reader can keep apart."""

ROUNDING = 1e-12
"""A coefficient that small a share of its terms is zero."""

LONGEST = 240
"""Characters of a formula that can still be read at a glance."""


@dataclass(frozen=True, repr=False)
class LimitForm:
    """The limit of a quantity at one end of one input; where it grows, the term it grows like.

    Attributes:
        symbol, to: the input, and the end it goes to; ``words`` says so.
        grows: whether it grows without bound.
        result: the limit's value with unit and flags; None where it grows, or an input is missing.
    """

    symbol: Symbol
    to: End
    words: str
    grows: bool
    result: Result | None
    _tree: Expr
    _falls: Expr | None
    _conditions: tuple[Expr, ...]
    _own: Declarations

    def __repr__(self) -> str:
        return f"<{self.says} {self.text}>"

    @property
    def text(self) -> str:
        """The formula in the grammar of formulas."""
        return text(self._tree)

    @property
    def sympy(self) -> Any:
        """The formula as a SymPy expression."""
        return expression(self._tree, self._own)

    @property
    def conditions(self) -> tuple[Any, ...]:
        """What makes it the limit, as SymPy relations."""
        return tuple(expression(condition, self._own) for condition in self._conditions)

    @property
    def conditions_text(self) -> tuple[str, ...]:
        """The same in the grammar of formulas."""
        return tuple(map(text, self._conditions))

    @property
    def readable(self) -> bool:
        """Whether it can be read at a glance, with its conditions."""
        return len(self.text) + sum(map(len, self.conditions_text)) <= LONGEST

    @property
    def says(self) -> str:
        """The sentence before the formula."""
        said = self.words + "".join(f", while {condition}" for condition in self.conditions_text)
        if self.grows:
            return f"{said}, without bound, like"
        return said if self._falls is None else f"{said}, falling like {text(self._falls)}"

    def as_json(self, spell: Any) -> dict[str, Any]:
        return {
            "symbol": self.symbol.name,
            "to": self.to,
            "says": self.says,
            "text": self.text,
            "latex": latex(self._tree, spell),
            "value": plain_value(self.result.value) if self.result else None,
        }


def limit_forms(name: str, bound_case: BoundCase) -> tuple[LimitForm, ...]:
    """Every limit of :data:`REPORTED` that a quantity has here and that is not trivial.

    >>> from symroof.analysis.study import Study
    >>> for limit in limit_forms("gemm_intensity", Study().first):
    ...     print(limit.says, limit.text)
    as activation bytes go to 0 2*gemm_m/weight_bytes_per_param
    as the number of rows grows 2*gemm_k*gemm_n/(act_bytes_per_element*(gemm_k + gemm_n))
    """
    if is_condition_or_label(bound_case.case.formula_or_name(name)):
        return ()

    found: list[LimitForm] = []
    for x, to, words in REPORTED:
        with suppress(NoClosedForm):
            if not acts_through_context(x, name, bound_case):
                found += _limits(name, x, to, words, bound_case)
    return tuple(found)


def acts_through_context(x: str, name: str, bound_case: BoundCase) -> bool:
    """Whether an input is the prompt and moves a quantity through the context alone: the limit in the context is then reported instead."""
    if x != "prompt":
        return False
    at_context = readable_form(name, "context", bound_case)
    return (
        size(at_context) <= MOST_NODES
        and mentions(at_context, "context")
        and substitute(readable_form(name, x, bound_case), {x: symbol("context")}) == at_context
    )


def _limits(name: str, x: str, to: End, words: str, bound_case: BoundCase) -> list[LimitForm]:
    """The limits at one end, an arm each; none where it does not move, nothing is left out, or it is searched. Raises NoClosedForm."""
    tree = readable_form(name, x, bound_case)
    still = name == x or not mentions(tree, x)
    # a launch that takes no time is divided by
    if still or size(tree) > MOST_NODES or divides_by_zero(tree):
        return []
    if searched_quantity(symbol(name), x, bound_case):
        return []
    plain, formula = solvable(symbol(x), bound_case), solvable(tree, bound_case)
    found = leading_terms(formula, plain, to, lambda part: _sign(part, bound_case))
    terms = list(islice(found, MOST_ARMS + 1))
    if len(terms) > MOST_ARMS or all(term.whole and term.power for term in terms):
        return []
    forms = {shortest(_limit(term, x, to), bound_case): term for term in terms}
    if len(forms) == 1:  # every arm says the same, so that no condition matters
        forms = {form: replace(term, conditions=()) for form, term in forms.items()}
    if any(map(divides_by_zero, forms)):
        return []
    declared, own = bound_case.case.theory.symbol(x), bound_case.case.theory.own
    limits = []
    for form, term in forms.items():
        falls = _term(term, x) if form == ZERO and term.power else None
        conditions = tuple(
            c.func(written(c.lhs), written(c.rhs), evaluate=False) for c in term.conditions
        )
        result, grows = _value(name, form, term, to, bound_case), term.limit(to) is None
        limits.append(LimitForm(declared, to, words, grows, result, form, falls, conditions, own))
    if not all(limit.readable for limit in limits):  # one arm of two would be half the truth
        return []
    now = bound_case.get(name)
    return [limit for limit in limits if now is None or _says_something(limit, now, bound_case)]


def _limit(term: Leading, x: str, to: End) -> Expr:
    """The formula of a limit; of what grows without bound, the term it grows like."""
    limit = term.limit(to)
    return _term(term, x) if limit is None else written(limit)


def _term(term: Leading, x: str) -> Expr:
    """A coefficient times a power of the input."""
    moved = symbol(x) ** number(abs(term.power))
    coefficient = written(term.coefficient)
    return coefficient * moved if term.power > 0 else coefficient / moved


def _says_something(limit: LimitForm, now: Result, bound_case: BoundCase) -> bool:
    """Whether a limit is more than the value that the quantity has anyway, where another arm binds, and needs no input that the value does not:
    the links of a draft that is not in use take no time."""
    ranged = not nearly_equal(*now.at_median) if now.at_median else now.ranged
    if limit.result is not None and limit.result.value == now.value and not ranged:
        return False
    try:
        bound_case.case.evaluate(limit._tree)
    except UndefinedValue:
        return False
    except NoValue:
        pass
    return True


def divides_by_zero(tree: Expr) -> bool:
    """Whether a formula divides by zero here, such as by a launch that takes no time."""
    return bool(tree.has(sympy.zoo, sympy.nan))


def _sign(part: Any, bound_case: BoundCase) -> int | None:
    """The sign of a coefficient by its numbers, where every case of the ranges agrees; else by its shape, where that decides it."""
    if part not in bound_case.memo.signs:
        evaluate = bound_case.everywhere.evaluate
        try:
            with np.errstate(all="ignore"):
                value, size = evaluate(part), terms_size(part, evaluate)
            if np.isnan(value).any():
                raise NoValue("in a part of the ranges")
            signs = np.unique(np.where(np.abs(value) <= ROUNDING * size, 0, np.sign(value)))
            bound_case.memo.signs[part] = int(signs[0]) if len(signs) == 1 else None
        except ArithmeticError:
            bound_case.memo.signs[part] = 0 if part == 0 else sign(part) or None
    return bound_case.memo.signs[part]


def _value(name: str, form: Expr, term: Leading, to: End, bound_case: BoundCase) -> Result | None:
    """The limit's value where the quantity has one; a growing term has none, nor does a limit that holds on a condition only."""
    if term.limit(to) is None or term.conditions or bound_case.get(name) is None:
        return None
    try:
        return bound_case.formula(
            form, bound_case.case.theory.symbol(name), timed=bound_case.case.theory.timed(name)
        )
    except NoValue:
        return None
