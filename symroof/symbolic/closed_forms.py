"""Closed forms of where a difference is zero: of one crossing, from the arms that win there, or without numbers of every combination of arms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import sympy
from sympy import Ge, Gt, Symbol

from symroof.symbolic.arms import combinations, settled_at
from symroof.symbolic.polynomials import Evaluate, NoClosedForm, sign, vanishes
from symroof.symbolic.roots import Form, roots

AGREE = 1e-9
"""How near a closed form comes to the crossing that was found by numbers."""
MOST_BRANCHES = 32
"""More choices of arms than a reader can use."""


def form_at(difference: Any, x: Symbol, numbers: Evaluate, root: float) -> Form:
    """The closed form of a crossing that numbers have found.

    Raises:
        NoClosedForm: none of readable size gives it.

    >>> import sympy
    >>> a, b, c, x = sympy.symbols("a b c x", positive=True)
    >>> numbers = lambda expr, at=None: float(expr.subs({a: 2, b: 3, c: 8, x: (at or {}).get("x", 0)}))
    >>> form = form_at(sympy.Max(a*x, b) - c, x, numbers, 4.0)
    >>> form.root, form.arms
    (c/a, (a*x >= b,))
    """
    reason, tried = "no closed form of readable size exists", set[Any]()
    for near in (root * (1 - AGREE), root * (1 + AGREE), root):
        try:
            settled, conditions = settled_at(difference, x, numbers, near)
            if settled in tried:
                continue
            tried.add(settled)
            forms = roots(settled, x, numbers)
        except NoClosedForm as error:
            reason = str(error)
            continue
        for form in forms:
            if _is_at(form.whole(form.root), root, numbers):
                return replace(form, arms=conditions)
    raise NoClosedForm(reason)


def _is_at(root: Any, place: float, numbers: Evaluate) -> bool:
    try:
        return abs(numbers(root) - place) <= AGREE * abs(place)
    except ArithmeticError:
        return False


def candidates(difference: Any, x: Symbol, numbers: Evaluate, place: float) -> list[Form]:
    """The closed forms on the arms that win at a place, whether or not they give a crossing.

    Raises:
        NoClosedForm: there are none.
    """
    settled, conditions = settled_at(difference, x, numbers, place)
    return [replace(form, arms=conditions) for form in roots(settled, x, numbers)]


@dataclass(frozen=True)
class Answer:
    """What can be said without numbers: every root that some combination of arms has.

    Attributes:
        verdict: ``crosses`` where a root needs no condition, ``identical``, ``lhs_above``, ``lhs_below``, else ``conditional``.
        more: whether there are more combinations than a reader can use, of which none is listed, or powers that no root undoes.
    """

    verdict: str
    forms: tuple[Form, ...] = ()
    more: bool = False


def every_form(difference: Any, x: Symbol, within: Sequence[Any] = ()) -> Answer:
    """The roots on every combination of arms that can hold; ``within`` are bounds of the unknown.

    Raises:
        NoClosedForm: the unknown is rounded, or in an exponent and elsewhere too.

    >>> import sympy
    >>> a, b, c, x = sympy.symbols("a b c x", positive=True)
    >>> every_form(a*x - b*x - c, x).forms[0]
    Form(root=c/(a - b), exists=(a - b > 0,), named=(), arms=())
    """
    if difference == 0:
        return Answer("identical")
    chosen = list(islice(combinations(difference, x), MOST_BRANCHES + 1))
    if len(chosen) > MOST_BRANCHES:
        return Answer("conditional", more=True)
    forms: list[Form] = []
    sides, more, zero = set(), False, True
    for settled, conditions in chosen:
        if settled.has(sympy.zoo, sympy.nan):
            continue
        if vanishes(settled):
            sides.add(0)
            continue
        zero = False
        found = roots(settled, x)
        more = more or found.beyond
        forms += [
            Form(form.root, form.exists, form.named, (*conditions, *found.nonzero, *within))
            for form in found
            if not any(_fails(condition, form) for condition in form.exists)
        ]
        sides.add(found.side)
    if not sides:
        raise NoClosedForm("it divides by zero, whatever the symbols")
    if zero:
        return Answer("identical")
    if not forms and not more and sides in ({1}, {-1}):
        return Answer("lhs_above" if sides == {1} else "lhs_below")
    sure = any(not (form.exists or form.arms) for form in forms)
    return Answer("crosses" if sure else "conditional", tuple(forms), more)


def _fails(condition: Any, form: Form) -> bool:
    """Whether a condition that something is positive fails by its shape."""
    known = (
        sign(form.whole(condition.lhs))
        if isinstance(condition, (Ge, Gt)) and condition.rhs == 0
        else 0
    )
    return known < 0 or (isinstance(condition, Gt) and condition.lhs == 0)
