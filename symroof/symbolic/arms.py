"""The arms of maxima, minima and choices that an unknown moves: those that win at a place, or one after another all that can."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import sympy
from sympy import Ge, Gt, Le, Lt, Symbol

from symroof.symbolic.expressions import OfLargest, Total, symbol, total
from symroof.symbolic.polynomials import (
    Evaluate,
    NoClosedForm,
    added_up,
    fraction,
    sign,
    terms_size,
)


class _Loses(Exception):
    """An arm that cannot win beside those already chosen."""


def settled_at(
    expr: Any, x: Symbol, numbers: Evaluate, place: float
) -> tuple[Any, tuple[Any, ...]]:
    """The expression on the arms that win at a place, and the comparisons that make them.

    Raises:
        NoClosedForm: different arms win at the two ends of a sum.
    """
    arms = _Arms(x, _by_numbers(numbers, x, place))
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
        if isinstance(node, OfLargest):
            return self._largest(node, moving, ends)
        args = [self._go(arg, moving, ends) for arg in node.args]
        if isinstance(node, (sympy.Max, sympy.Min)):
            relation = Ge if isinstance(node, sympy.Max) else Le
            return args[self._won([_duels(arm, args, relation, ends) for arm in args])]
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

    def _largest(
        self, node: Any, moving: tuple[Symbol, ...], ends: tuple[Mapping[Any, Any], ...]
    ) -> Any:
        """The value of the largest key, the first of equal ones."""
        keys = [self._go(key, moving, ends) for key in node.keys]
        duels = [
            (*(Lt(other, key) for other in keys[:i]), *(Ge(key, other) for other in keys[i + 1 :]))
            for i, key in enumerate(keys)
        ]
        arms = [tuple(duel.xreplace(dict(end)) for duel in arm for end in ends) for arm in duels]
        return self._go(node.values[self._won(arms)], moving, ends)

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


def _duels(
    arm: Any, args: list[Any], relation: Any, ends: tuple[Mapping[Any, Any], ...]
) -> tuple[Any, ...]:
    """The comparisons that make an arm win against all others."""
    duels = (
        relation(arm.xreplace(dict(end)), other.xreplace(dict(end)), evaluate=False)
        for other in args
        if other is not arm
        for end in ends
    )
    return tuple(dict.fromkeys(duels))


def _by_numbers(numbers: Evaluate, x: Symbol, place: float) -> Pick:
    """The first arm whose comparisons all hold at a place."""

    def pick(arms: list[tuple[Any, ...]]) -> int:
        for i, duels in enumerate(arms):
            if all(holds(duel, numbers, {x.name: place}) for duel in duels):
                return i
        raise NoClosedForm("steps of both kinds in one sum")

    return pick


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
