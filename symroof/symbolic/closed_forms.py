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

from symroof.symbolic.expressions import rebuild, symbol, total
from symroof.symbolic.nodes import OfLargest, Total
from symroof.symbolic.roots import (
    Evaluate,
    Form,
    NoClosedForm,
    fraction,
    roots,
    sign,
    terms_size,
    vanishes,
)

AGREE = 1e-9
"""How near a closed form comes to the crossing that was found by numbers."""
MOST_BRANCHES = 24
"""More choices of arms than a reader can use."""


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
        NoClosedForm: there are none.
    """
    settled, arms = settled_at(difference, x, numbers, place)
    found = []
    for form in roots(settled, x, numbers):
        value = math.nan
        with suppress(ArithmeticError):
            value = float(numbers(form.whole(form.root)))
        found.append((replace(form, conditions=(*form.conditions, *arms)), value))
    return found


@dataclass(frozen=True)
class Candidates:
    """The closed forms that an equation may have.

    Attributes:
        every: the forms, or what a reader has of them.
        verdict: without numbers, ``crosses`` where a root needs no condition, ``identical``, ``lhs_above``, ``lhs_below``, else ``conditional``.
        more: whether there are more combinations than a reader can use, of which none is listed, or powers that no root undoes.
        because: why a crossing has no closed form, or the equation none.
    """

    every: tuple[Any, ...] = ()
    verdict: str = ""
    more: bool = False
    because: str = ""


def every_form(difference: Any, x: Symbol, within: Sequence[Any] = ()) -> Candidates:
    """The roots on every combination of arms that can hold; ``within`` are bounds of the unknown.

    Raises:
        NoClosedForm: the unknown is rounded, or in an exponent and elsewhere too.

    >>> import sympy
    >>> a, b, c, x = sympy.symbols("a b c x", positive=True)
    >>> every_form(a*x - b*x - c, x).every[0]
    Form(root=c/(a - b), conditions=(a - b > 0,), named=())
    """
    if difference == 0:
        return Candidates((), "identical")
    chosen = list(islice(combinations(difference, x), MOST_BRANCHES + 1))
    if len(chosen) > MOST_BRANCHES:
        return Candidates((), "conditional", more=True)
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
            replace(form, conditions=(*form.conditions, *conditions, *found.nonzero, *within))
            for form in found
            if not any(_fails(condition, form) for condition in form.conditions)
        ]
        sides.add(found.side)
    if not sides:
        raise NoClosedForm("it divides by zero, whatever the symbols")
    if zero:
        return Candidates((), "identical")
    if not forms and not more and sides in ({1}, {-1}):
        return Candidates((), "lhs_above" if sides == {1} else "lhs_below")
    sure = not all(form.conditions for form in forms)
    return Candidates(tuple(forms), "crosses" if sure else "conditional", more)


def _fails(condition: Any, form: Form) -> bool:
    """Whether a condition that something is positive fails by its shape."""
    if not isinstance(condition, (Ge, Gt)) or condition.rhs != 0:
        return False
    return sign(form.whole(condition.lhs)) < 0 or (isinstance(condition, Gt) and condition.lhs == 0)


# ------------------------------------------------------------------------------------------------------------------ arms


class _Loses(Exception):
    """An arm that cannot win beside those already chosen."""


def settled_at(
    expr: Any, x: Symbol, numbers: Evaluate, place: float
) -> tuple[Any, tuple[Any, ...]]:
    """The expression on the arms that win at a place, and the comparisons that make them.

    Raises:
        NoClosedForm: different arms win at the two ends of a sum.
    """

    def pick(arms: list[tuple[Any, ...]]) -> int:
        """The first arm whose comparisons all hold."""
        for i, duels in enumerate(arms):
            if all(holds(duel, numbers, {x.name: place}) for duel in duels):
                return i
        raise NoClosedForm("steps of both kinds in one sum")

    arms = _Arms(x, pick)
    return arms.settled(expr), tuple(arms.conditions)


Pick = Callable[[list[tuple[Any, ...]]], int]
"""Which of several arms wins: of each the comparisons that make it."""


class _Arms:
    """An expression with every choice that the unknown moves replaced by the arm that a pick takes.

    Inside a sum its index moves as well, and choices are looked at at both of its ends.
    """

    def __init__(self, x: Symbol, pick: Pick) -> None:
        self.x, self.pick = x, pick
        self.conditions: list[Any] = []
        self.moving: tuple[Symbol, ...] = (x,)
        self.ends: tuple[dict[Any, Any], ...] = ({},)
        self.made: dict[Any, Any] = {}

    def settled(self, node: Any) -> Any:
        key = node, self.moving
        if key not in self.made:
            self.made[key] = self.fresh(node)
        return self.made[key]

    def fresh(self, node: Any) -> Any:
        if isinstance(node, Total) and self.x in node.free_symbols:
            return self.sum(node)
        if node.free_symbols.isdisjoint(self.moving):
            return node
        if isinstance(node, OfLargest):  # the first of equal keys
            place = self.winner([*map(self.settled, node.keys)], Ge, Gt)
            return self.settled(node.values[place])
        if isinstance(node, (sympy.Max, sympy.Min)):
            relation, args = (
                Ge if isinstance(node, sympy.Max) else Le,
                [*map(self.settled, node.args)],
            )
            return args[self.winner(args, relation, relation)]
        return rebuild(node, self.settled)

    def winner(self, keys: list[Any], behind: Any, before: Any) -> int:
        """The arm that wins, by relations to those behind it and those before it."""
        arms = [tuple(self.duels(i, keys, behind, before)) for i in range(len(keys))]
        place = self.pick(arms)
        known = set(map(lead, self.conditions))
        self.conditions += [duel for duel in arms[place] if lead(duel) not in known]
        return place

    def duels(self, place: int, keys: list[Any], behind: Any, before: Any) -> dict[Any, None]:
        """The comparisons that make a key win."""
        others = [(i, other) for i, other in enumerate(keys) if other is not keys[place]]
        return dict.fromkeys(
            (before if i < place else behind)(
                keys[place].xreplace(end), other.xreplace(end), evaluate=False
            )
            for i, other in others
            for end in self.ends
        )

    def sum(self, node: Any) -> Any:
        index, outer = symbol(node.index), (self.moving, self.ends)
        first, last = self.settled(node.first), self.settled(node.last)
        self.moving, self.ends = (*self.moving, index), ({index: first}, {index: last})
        body = self.settled(node.body)
        self.moving, self.ends = outer
        try:
            return added_up(body, index, first, last)
        except NoClosedForm:
            if {self.x} & (first.free_symbols | last.free_symbols):
                raise
        over, under = fraction(body, self.x)
        if set(under) != {0}:
            raise NoClosedForm("a sum of terms over different denominators")
        terms = (total(c / under[0], node.index, first, last) * self.x**k for k, c in over.items())
        return sympy.Add(*terms)


def added_up(body: Any, index: Symbol, first: Any, last: Any) -> Any:
    """The sum of a polynomial of degree 2 or less in its index.

    Raises:
        NoClosedForm: it is no such polynomial.

    >>> a, j, n = sympy.symbols("a j n")
    >>> added_up(a*j, j, sympy.Integer(1), n)
    a*n*(n + 1)/2
    """
    over, under = fraction(body, index)
    if set(under) != {0} or max(over) > 2:
        raise NoClosedForm("a sum that has no closed form")

    def upto(n: Any) -> tuple[Any, ...]:
        return n, n * (n + 1) / 2, n * (n + 1) * (2 * n + 1) / 6

    ends = list(zip(upto(last), upto(first - 1), strict=True))
    return sympy.Add(*(c / under[0] * (ends[k][0] - ends[k][1]) for k, c in over.items()))


def holds(relation: Any, numbers: Evaluate, at: Mapping[str, float], within: float = 0.0) -> bool:
    """Whether a relation holds at some numbers; sides that differ by less than a share of them are equal."""
    if relation in (True, False):
        return bool(relation)
    left, right = numbers(relation.lhs, at), numbers(relation.rhs, at)
    slack = within * max(
        abs(left),
        abs(right),
        terms_size(relation.lhs, numbers, at) if within and relation.rhs == 0 else 0.0,
    )
    if isinstance(relation, (Ge, Le)):
        lead = left - right if isinstance(relation, Ge) else right - left
        return lead >= -slack
    return left > right if isinstance(relation, Gt) else left < right


def combinations(difference: Any, x: Symbol) -> Iterator[tuple[Any, tuple[Any, ...]]]:
    """Every way to choose the arms that can win, one after another, with the comparisons that do not hold by their shape."""
    scripts: list[tuple[int, ...]] = [()]
    while scripts:
        with suppress(_Loses):
            yield _chosen(difference, x, scripts.pop(), scripts)


def _chosen(
    difference: Any, x: Symbol, script: tuple[int, ...], scripts: list[tuple[int, ...]]
) -> tuple[Any, tuple[Any, ...]]:
    """The choice that a script has; behind its end the first arms that can win, while the others go on to further scripts."""
    taken, held = list[int](), list[Any]()

    def pick(arms: list[tuple[Any, ...]]) -> int:
        found = _possible(arms, held)
        if not found:
            raise _Loses
        place = script[len(taken)] if len(taken) < len(script) else 0
        if len(taken) >= len(script):
            scripts.extend((*taken, other) for other in range(len(found) - 1, 0, -1))
        taken.append(place)
        arm, left = found[place]
        held.extend(left)
        return arm

    return _Arms(x, pick).settled(difference), tuple(dict.fromkeys(held))


def _possible(arms: list[tuple[Any, ...]], held: list[Any]) -> list[tuple[int, tuple[Any, ...]]]:
    """The arms that can win beside some comparisons, each with those that are left to make it: what has won in one place loses in none."""
    leads, won = [[lead(duel) for duel in arm] for arm in arms], set(map(lead, held))
    return [
        (
            i,
            tuple(
                duel
                for duel, ahead in zip(arms[i], own, strict=True)
                if ahead != 0 and sign(ahead) <= 0
            ),
        )
        for i, own in enumerate(leads)
        if not any(sign(ahead) < 0 or -ahead in won for ahead in own)
    ]


def lead(duel: Any) -> Any:
    """The lead of the winner of a comparison: not negative where it wins."""
    if duel in (True, False):
        return sympy.Integer(1 if duel else -1)
    return duel.lhs - duel.rhs if isinstance(duel, (Ge, Gt)) else duel.rhs - duel.lhs
