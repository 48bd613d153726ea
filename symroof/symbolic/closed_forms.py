"""Closed forms of where a difference is zero: of one crossing, from the arms that win there, or without numbers of every combination of arms.

The arms are those of maxima, minima and choices that the unknown moves.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import sympy
from sympy import Ge, Gt, Le, Symbol

from symroof.symbolic.expressions import symbol
from symroof.symbolic.nodes import OfLargest, Total
from symroof.symbolic.roots import (
    CHOICES,
    UNREAL,
    Evaluate,
    Form,
    NoClosedForm,
    fraction,
    roots,
    sign,
    terms_size,
    vanishes,
)
from symroof.symbolic.step_polynomials import power_sum

AGREE = 1e-9
"""How near a closed form comes to the crossing that was found by numbers, and to each other the sides of a condition that are equal: at a crossing arms meet."""
MOST_BRANCHES = 24
"""More choices of arms than a reader can use."""

Arms = list[tuple[Any, tuple[Any, ...]]]
"""What each arm of a choice is, with the comparisons that make it win."""
Pick = Callable[[Arms, Sequence[Any]], Arms]
"""Which arms may win beside some comparisons."""


def form_at(difference: Any, x: Symbol, numbers: Evaluate, root: float) -> Form:
    """The closed form of a crossing that numbers have found.

    Raises:
        NoClosedForm: none of readable size gives it.
    """
    reason = "no closed form of readable size exists"
    for near in (root * (1 - AGREE), root * (1 + AGREE), root):
        try:
            forms = forms_at(difference, x, numbers, near)
        except NoClosedForm as error:
            reason = str(error)
            continue
        for form, value in forms:
            if abs(value - root) <= AGREE * abs(root):
                return form
    raise NoClosedForm(reason)


def forms_at(
    difference: Any, x: Symbol, numbers: Evaluate, place: float
) -> list[tuple[Form, float]]:
    """The closed forms on the arms that win at a place, each with the crossing that it gives, NaN where it has no value.

    Raises:
        NoClosedForm: there are none, or different arms win at the two ends of a sum.
    """

    def winner(arms: Arms, held: Sequence[Any]) -> Arms:
        for value, duels in arms:
            if all(holds(duel, numbers, {x.name: place}) for duel in duels):
                won = set(map(_lead, held))
                return [(value, tuple(duel for duel in duels if _lead(duel) not in won))]
        raise NoClosedForm("steps of both kinds in one sum")

    ((settled, conditions),) = combinations(difference, x, winner)
    found = []
    for form in roots(settled, x, numbers)[0]:
        value = math.nan
        with suppress(ArithmeticError):
            value = float(numbers(form.closed_form))
        found.append((replace(form, conditions=(*form.conditions, *conditions)), value))
    return found


@dataclass(frozen=True)
class Candidates:
    """The closed forms that an equation may have.

    Attributes:
        every: the forms; of a case those of the crossings found, or where there is none those that would be.
        verdict: without numbers, ``crosses`` where a root needs no condition, ``identical``, ``lhs_above``, ``lhs_below``, else ``conditional``.
        more: whether there are more combinations than a reader can use, of which none is listed, or some without a root of readable size.
        because: why a crossing has no closed form, or the equation none.
    """

    every: tuple[Form, ...] = ()
    verdict: str = ""
    more: bool = False
    because: str = ""


def every_form(difference: Any, x: Symbol, within: Sequence[Any] = ()) -> Candidates:
    """The roots on every combination of arms that can hold; ``within`` are bounds of the unknown.

    Raises:
        NoClosedForm: no combination has a root of readable size.

    >>> import sympy
    >>> a, b, c, x = sympy.symbols("a b c x", positive=True)
    >>> every_form(a*x - b*x - c, x).every[0]
    Form(root=c/(a - b), conditions=(a - b > 0,), named=(), value=None, met=())
    """
    if difference == 0:
        return Candidates((), "identical")
    chosen = list(islice(combinations(difference, x, _possible), MOST_BRANCHES + 1))
    if len(chosen) > MOST_BRANCHES:
        return Candidates((), "conditional", more=True)
    forms, sides, because = list[Form](), set[int | None](), ""
    for settled, conditions in chosen:
        if sympy.Tuple(settled, *conditions).has(*UNREAL):
            continue
        if vanishes(settled):
            sides.add(None)
            continue
        try:
            found, side = roots(settled, x)
        except NoClosedForm as error:
            found, side, because = [], 0, str(error)
        forms += [
            replace(form, conditions=(*form.conditions, *conditions, *within))
            for form in found
            if not any(_fails(condition, form) for condition in form.conditions)
        ]
        sides.add(side)
    if not sides or (because and not forms):
        raise NoClosedForm(because or "it divides by zero, whatever the symbols")
    if sides == {None}:
        return Candidates((), "identical")
    if not forms and sides in ({1}, {-1}):
        return Candidates((), "lhs_above" if sides == {1} else "lhs_below")
    sure = not all(form.conditions for form in forms)
    return Candidates(tuple(forms), "crosses" if sure else "conditional", bool(because))


def _fails(condition: Any, form: Form) -> bool:
    """Whether a condition that something is positive fails by its shape."""
    if not isinstance(condition, (Ge, Gt)) or condition.rhs != 0:
        return False
    return sign(form.whole(condition.lhs)) < 0 or (isinstance(condition, Gt) and condition.lhs == 0)


def combinations(difference: Any, x: Symbol, pick: Pick) -> Iterator[tuple[Any, tuple[Any, ...]]]:
    """An expression on each choice of its arms, with the comparisons that make it."""
    waiting: list[tuple[Any, tuple[Any, ...]]] = [(difference, ())]
    while waiting:
        expr, held = waiting.pop()
        choice = _first_choice(expr, x)
        if choice is None:
            yield expr, held
            continue
        node, ends = choice
        summed = isinstance(node, Total)
        arms = [(added_up(node), ())] if summed else pick(_arms(node, ends), held)
        waiting += [
            (expr.xreplace({node: arm}), tuple(dict.fromkeys((*held, *duels))))
            for arm, duels in reversed(arms)
        ]


def _first_choice(expr: Any, x: Symbol) -> tuple[Any, tuple[dict[Any, Any], ...]] | None:
    """The innermost choice that the unknown moves, or sum without one; and of a choice inside a sum both ends of the index, at which it is looked at."""
    seen = set()

    def go(node: Any, moving: frozenset[Any], ends: tuple[dict[Any, Any], ...]) -> Any:
        if (node, moving) in seen or moving.isdisjoint(node.free_symbols):
            return None
        seen.add((node, moving))
        inner = [(arg, moving, ends) for arg in _keys(node)]
        summed = isinstance(node, Total) and x in node.free_symbols
        if summed:
            index = symbol(node.index)
            inside = {index: node.first}, {index: node.last}
            inner = [*inner[2:], (node.body, moving | {index}, inside)]
        found = next((place for each in inner if (place := go(*each))), None)
        return found or ((node, ends) if summed or isinstance(node, CHOICES) else None)

    return go(expr, frozenset([x]), ({},))  # type: ignore[no-any-return]


def _arms(node: Any, ends: Sequence[Mapping[Any, Any]]) -> Arms:
    """The arms of a choice; of equal keys the first wins."""
    keys = _keys(node)
    behind = Le if isinstance(node, sympy.Min) else Ge
    before = Gt if isinstance(node, OfLargest) else behind

    def duels(place: int) -> tuple[Any, ...]:
        own, wins = keys[place], [before] * place + [behind] * (len(keys) - place)
        return tuple(
            win(own.xreplace(end), other.xreplace(end), evaluate=False)
            for win, other in zip(wins, keys, strict=True)
            for end in ends
            if other is not own
        )

    values = node.values if isinstance(node, OfLargest) else keys
    return [(value, duels(place)) for place, value in enumerate(values)]


def _keys(node: Any) -> tuple[Any, ...]:
    """What a choice compares; the parts of any other node."""
    return node.keys if isinstance(node, OfLargest) else node.args


def added_up(node: Any) -> Any:
    """A sum of a polynomial of degree 2 or less in its index.

    Raises:
        NoClosedForm: it is no such polynomial.

    >>> from symroof.symbolic.reading import parse
    >>> added_up(parse("sum(a*j, j, 1, n)"))
    a*n*(n + 1)/2
    """
    over, under = fraction(node.body, symbol(node.index))
    if set(under) != {0} or max(over) > 2:
        raise NoClosedForm("a sum that has no closed form")
    ends = {k: power_sum(node.last, k) - power_sum(node.first - 1, k) for k in over}
    return sympy.Add(*(c / under[0] * ends[k] for k, c in over.items()))


def holds(relation: Any, numbers: Evaluate, at: Mapping[str, float], within: float = 0.0) -> bool:
    """Whether a relation holds at some numbers; sides that differ by less than a share of them are equal."""
    left, right = numbers(relation.lhs, at), numbers(relation.rhs, at)
    ahead = left - right if isinstance(relation, (Ge, Gt)) else right - left
    if not isinstance(relation, (Ge, Le)):
        return bool(ahead > 0)
    terms = terms_size(relation.lhs, numbers, at) if within and relation.rhs == 0 else 0.0
    return bool(ahead >= -within * max(abs(left), abs(right), terms))


def _possible(arms: Arms, held: Sequence[Any]) -> Arms:
    """The arms that can win beside some comparisons, each with those that are left to make it: what has won in one place loses in none."""
    won, found = set(map(_lead, held)), []
    for value, duels in arms:
        leads = [_lead(duel) for duel in duels]
        if not any(sign(ahead) < 0 or -ahead in won for ahead in leads):
            open_ = (d for d, lead in zip(duels, leads, strict=True) if lead and sign(lead) <= 0)
            found.append((value, tuple(open_)))
    return found


def _lead(duel: Any) -> Any:
    """The lead of the winner of a comparison: not negative where it wins."""
    return duel.lhs - duel.rhs if isinstance(duel, (Ge, Gt)) else duel.rhs - duel.lhs
