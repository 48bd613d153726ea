"""Closed forms of where a difference is zero: of one crossing, from the arms that win there, or without numbers of every combination of arms.

The arms are those of maxima, minima and choices that the unknown moves.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

import sympy
from sympy import Ge, Gt, Le, Symbol

from symroof.symbolic.expressions import symbol, total
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


@dataclass
class _Arms:
    """An expression with every choice that the unknown moves replaced by the arm that a pick takes."""

    x: Symbol
    pick: Pick
    conditions: list[Any] = field(default_factory=list)
    _made: dict[Any, Any] = field(default_factory=dict)

    def settled(self, expr: Any) -> Any:
        return self._go(expr, (self.x,), ({},))

    def _go(
        self, node: Any, moving: tuple[Symbol, ...], ends: tuple[Mapping[Any, Any], ...]
    ) -> Any:
        """A part, in which some symbols move; inside a sum choices are looked at at both of its ends."""
        key = (node, moving)
        if key not in self._made:
            self._made[key] = self._settled(node, moving, ends)
        return self._made[key]

    def _settled(
        self, node: Any, moving: tuple[Symbol, ...], ends: tuple[Mapping[Any, Any], ...]
    ) -> Any:
        if isinstance(node, Total) and self.x in node.free_symbols:
            return self._sum(node, moving, ends)
        if node.free_symbols.isdisjoint(moving):
            return node
        if isinstance(node, OfLargest):  # the first of equal keys
            keys = [self._go(key, moving, ends) for key in node.keys]
            place = self._won([_duels(i, keys, Ge, Gt, ends) for i in range(len(keys))])
            return self._go(node.values[place], moving, ends)
        args = [self._go(arg, moving, ends) for arg in node.args]
        if isinstance(node, (sympy.Max, sympy.Min)):
            relation = Ge if isinstance(node, sympy.Max) else Le
            arms = range(len(args))
            return args[self._won([_duels(i, args, relation, relation, ends) for i in arms])]
        return (
            node
            if all(new is old for new, old in zip(args, node.args, strict=True))
            else node.func(*args)
        )

    def _won(self, arms: list[tuple[Any, ...]]) -> int:
        place = self.pick(arms)
        self.conditions += [
            duel for duel in arms[place] if lead(duel) not in map(lead, self.conditions)
        ]
        return place

    def _sum(
        self, node: Any, moving: tuple[Symbol, ...], ends: tuple[Mapping[Any, Any], ...]
    ) -> Any:
        index = symbol(node.index)
        first, last = self._go(node.first, moving, ends), self._go(node.last, moving, ends)
        body = self._go(node.body, (*moving, index), ({index: first}, {index: last}))
        try:
            return added_up(body, index, first, last)
        except NoClosedForm:
            if {self.x} & (first.free_symbols | last.free_symbols):
                raise
        over, under = fraction(body, self.x)
        if set(under) != {0}:
            raise NoClosedForm("a sum of terms over different denominators")
        return sympy.Add(
            *(total(c / under[0], node.index, first, last) * self.x**k for k, c in over.items())
        )


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


def _duels(
    place: int, keys: list[Any], behind: Any, before: Any, ends: tuple[Mapping[Any, Any], ...]
) -> tuple[Any, ...]:
    """The comparisons that make a key win against those behind it and those before it."""
    duels = (
        relation(keys[place].xreplace(dict(end)), other.xreplace(dict(end)), evaluate=False)
        for i, other in enumerate(keys)
        for relation in (before if i < place else behind,)
        if other is not keys[place]
        for end in ends
    )
    return tuple(dict.fromkeys(duels))


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
        script, taken, held = scripts.pop(), list[int](), list[Any]()

        def pick(
            arms: list[tuple[Any, ...]],
            script: tuple[int, ...] = script,
            taken: list[int] = taken,
            held: list[Any] = held,
        ) -> int:
            """The arm that the script has; behind its end the first possible one, the others go on to further scripts."""
            found = _possible(arms, held)
            if not found:
                raise _Loses
            if len(taken) < len(script):
                place = script[len(taken)]
            else:
                place = 0
                scripts.extend((*taken, other) for other in range(len(found) - 1, 0, -1))
            taken.append(place)
            arm, left = found[place]
            held.extend(left)
            return arm

        with suppress(_Loses):
            yield _Arms(x, pick).settled(difference), tuple(dict.fromkeys(held))


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
