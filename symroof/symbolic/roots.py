"""The formulas at which an expression without choices is zero: roots of polynomials, inverses of what hides the unknown, or SymPy's ``solve``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import sympy
from sympy import Ge, Gt, Lt, Symbol

from symroof.symbolic.nodes import OfLargest, Total, ceiling, floor
from symroof.symbolic.polynomials import (
    Evaluate,
    NoClosedForm,
    Powers,
    abbreviated,
    fraction,
    is_zero,
    negated,
    reason,
    sign,
    tidied,
    vanishes,
)

COEFFICIENTS = {2: "c2", 1: "c1", 0: "c0"}
"""The names of the coefficients of a long quadratic: ``c2*x**2 + c1*x + c0``."""
LONGEST_INLINE = 20
"""Nodes of the coefficients beyond which they are called by name."""
MOST_TERMS, MOST_OPERATIONS = 3, 8
"""Terms and operations of an equation that SymPy's ``solve`` is asked about: longer ones take it minutes."""
ZERO = 1e-13
"""A coefficient that small a share of its terms is zero."""
CHOICES = (sympy.Max, sympy.Min, OfLargest)
ROUNDED = (sympy.ceiling, sympy.floor)


@dataclass(frozen=True)
class Form:
    """A root with what it rests on.

    Attributes:
        root: the formula, in named coefficients where it is long.
        named: what those coefficients are.
        exists: what has to hold for the root to be one, in the same coefficients.
        arms: the comparisons of the arms it was solved on; they may contain the unknown.
    """

    root: Any
    exists: tuple[Any, ...] = ()
    named: tuple[tuple[Any, Any], ...] = ()
    arms: tuple[Any, ...] = ()

    def whole(self, expr: Any) -> Any:
        """An expression of this form, or a relation, with the coefficients written out."""
        if not self.named:
            return expr
        if isinstance(expr, sympy.core.relational.Relational):
            return expr.func(*map(self.whole, expr.args), evaluate=False)
        return expr.xreplace(dict(self.named))


class Roots(tuple[Form, ...]):
    """The roots of one combination of arms.

    Attributes:
        beyond: whether the polynomial has a degree that no root undoes.
        nonzero: that a denominator which the unknown moves is not zero.
        side: the sign of the difference where it has no root, by its shape.
    """

    beyond: bool = False
    nonzero: tuple[Any, ...] = ()
    side: int = 0


def roots(difference: Any, x: Symbol, numbers: Evaluate | None = None) -> Roots:
    """The formulas at which a difference without choices is zero.

    Raises:
        NoClosedForm: neither a polynomial nor SymPy's ``solve`` gives one.
    """
    try:
        over, under = fraction(difference, x)
    except NoClosedForm as error:
        return Roots(_hidden_roots(difference, x, numbers, error))
    scaled, known = tidied(over, x)
    over = {
        k: c
        for k, c in scaled.items()
        if not (vanishes(c) if numbers is None else is_zero(c, numbers, ZERO))
    }
    found = Roots(_polynomial_roots(over, x, numbers))
    found.beyond = len(over) > 1 and not found
    signs = {sign(c) for c in over.values()}
    plain = all(sign(c) > 0 for c in under.values())
    found.side = signs.pop() * known if len(signs) == 1 and plain else 0
    if set(under) != {0} and not plain:
        found.nonzero = (Gt(sympy.Add(*(c * x**k for k, c in under.items())) ** 2, 0),)
    return found


def _polynomial_roots(over: Powers, x: Symbol, numbers: Evaluate | None) -> list[Form]:
    """Those of degree one and two, and of a single power."""
    if len(over) < 2:
        return []
    low = min(over)
    p = {k - low: c for k, c in over.items()}

    def known(c: Any) -> int:
        return sign(c) if numbers is None else int((value := numbers(c)) > 0) - int(value < 0)

    if set(p) == {0, 1, 2}:
        p = {k: negated(c) for k, c in p.items()} if known(p[2]) < 0 else p
        long = sum(1 for c in p.values() for _ in sympy.preorder_traversal(c)) > LONGEST_INLINE
        short = {k: Symbol(COEFFICIENTS[k], real=True) if long else c for k, c in p.items()}
        named = tuple((short[k], p[k]) for k in sorted(p, reverse=True)) if long else ()
        return [Form(root, exists, named) for root, exists in _two_roots(p, short, known)]
    if len(p) > 2:
        return []
    power = max(p)
    root, exists = _linear(p[power], p[0], known)
    return [Form(root if power == 1 else root ** sympy.Rational(1, power), exists)]


def _linear(slope: Any, start: Any, known: Callable[[Any], int]) -> tuple[Any, tuple[Any, ...]]:
    """The root of ``slope*x + start``, over the denominator that has to be positive, and the conditions that it exists.

    What is positive by its shape stays so, and the other part becomes the condition.
    """
    plain = sign(slope) or sign(negated(start))
    turned = plain < 0 if plain else known(slope) < 0
    over, under = (start, negated(slope)) if turned else (negated(start), slope)
    root = over / under
    signs = sign(over), sign(under), known(over), known(under)
    if not any(signs):  # both may turn: they have to agree
        return root, (Gt(root, 0, evaluate=False),)
    return root, tuple(Gt(part, 0, evaluate=False) for part in (over, under) if not sign(part) > 0)


def _two_roots(
    p: Powers, short: Powers, known: Callable[[Any], int]
) -> list[tuple[Any, tuple[Any, ...]]]:
    """The positive roots of ``a*x**2 + b*x + c``, in the forms that do not cancel where ``a`` is small.

    Descartes: the signs of the coefficients tell how many roots are positive, as far as they are known; of two the smaller comes first."""
    a, b, c = short[2], short[1], short[0]
    inside = b**2 - 4 * a * c
    root = sympy.sqrt(inside)
    grown, shrunk = (-b + root) / (2 * a), -2 * c / (b + root)
    near, other = 2 * c / (-b + root), (-b - root) / (2 * a)
    real, below = Ge(inside, 0, evaluate=False), Lt(c, 0, evaluate=False)

    def positive(form: Any) -> tuple[Any, tuple[Any, ...]]:
        return form, (real, Gt(form, 0, evaluate=False))

    if not known(p[2]):  # either way up, or a line: one of the two forms holds for that as well
        return [
            positive(form)
            for form in {1: (shrunk, other), 0: (shrunk, near), -1: (near, grown)}[known(p[1])]
        ]
    if sign(p[2]) > 0 and sign(p[0]) < 0:
        return [(shrunk if known(p[1]) >= 0 else grown, ())]
    if known(p[1]) > 0:
        return [(shrunk, (below,))]
    if known(p[1]) < 0:
        return [(near, (real, Gt(c, 0, evaluate=False))), (grown, (real,))]
    return [positive(form) for form in (other, grown)]


def _hidden_roots(
    difference: Any, x: Symbol, numbers: Evaluate | None, why: NoClosedForm
) -> list[Form]:
    """Where one rounding, root, power or logarithm holds all of the unknown it is solved for, and taken back; everything else is SymPy's."""
    node = _hiding(difference, x)
    y = sympy.Dummy("y", positive=True)
    outer = _replaced(difference, node, y)
    if x in outer.free_symbols:
        return _by_sympy(difference, x, numbers, why)
    if numbers is None and isinstance(node, ROUNDED):
        raise why
    zero = (Form(sympy.S.Zero),) if isinstance(node, ROUNDED) else ()
    forms = []
    for form in (*roots(outer, y, numbers), *zero):
        inside, levels = _undone(node, x, form.whole(form.root))
        exists = tuple(form.whole(condition) for condition in form.exists)
        for level in levels:
            for back in roots(inside - level, x, numbers):
                forms.append(Form(back.root, (*exists, *back.exists), back.named))
    return forms


def _hiding(expr: Any, x: Symbol) -> Any:
    """The innermost node that keeps the unknown from being a power of a polynomial."""
    for node in sympy.postorder_traversal(expr):
        plain = (
            node.is_Symbol or node.is_Add or node.is_Mul or (node.is_Pow and node.exp.is_Integer)
        )
        if x in node.free_symbols and not plain:
            return node
    raise AssertionError("it is a quotient of polynomials")


def _undone(node: Any, x: Symbol, value: Any) -> tuple[Any, tuple[Any, ...]]:
    """What a node is of, and the values of that at which the node has a value; of a rounding, where it jumps across it."""
    match node:
        case sympy.ceiling():  # what is rounded passes the whole number below on its way to the next
            return node.args[0], (ceiling(value) - 1, value)
        case sympy.floor():
            return node.args[0], (value, floor(value) + 1)
        case sympy.log() | sympy.exp():
            return node.args[0], (node.inverse()(value),)
        case sympy.Pow() if x not in node.base.free_symbols:
            return node.exp, (sympy.log(value) / sympy.log(node.base),)
        case sympy.Pow() if x not in node.exp.free_symbols:
            return node.base, (value ** (1 / node.exp),)
    raise NoClosedForm(reason(node, x))


def _replaced(expr: Any, part: Any, by: Any) -> Any:
    """One part replaced everywhere, nothing else rebuilt."""
    if expr == part:
        return by
    if not expr.args or not expr.has(part):
        return expr
    return expr.func(*(_replaced(arg, part, by) for arg in expr.args))


def _by_sympy(
    difference: Any, x: Symbol, numbers: Evaluate | None, why: NoClosedForm
) -> list[Form]:
    """The roots that ``solve`` finds of the equation in few terms, each with one coefficient."""
    named: dict[Any, Any] = {}

    def dummy(part: Any) -> Any:
        positive = sign(part) > 0 if numbers is None else numbers(part) > 0
        return sympy.Dummy(positive=positive or None, real=True)

    short = sympy.expand(abbreviated(difference, x, named, dummy, inside=True))
    if short.has(Total, *CHOICES, *ROUNDED):
        raise why
    back = {dummy: part for part, dummy in named.items()}
    by_moving: dict[Any, list[Any]] = {}
    for term in sympy.Add.make_args(short):
        still, moving = term.as_independent(x, as_Add=False)
        by_moving.setdefault(moving, []).append(still)
    if len(by_moving) > MOST_TERMS:
        raise why
    equation, coefficients = sympy.S.Zero, dict[Any, Any]()
    for moving, parts in by_moving.items():
        coefficient = sympy.Add(*parts).xreplace(back)
        equation += moving * _coefficient(coefficient, numbers, coefficients)
    if equation.count_ops() > MOST_OPERATIONS:
        raise why
    try:
        found = sympy.solve(equation, x, check=False, simplify=False)
    except (NotImplementedError, ValueError, TypeError, RecursionError, ZeroDivisionError):
        raise why from None
    if numbers is None and any(root.has(sympy.LambertW) for root in found):
        raise why  # which of its branches it is turns on the numbers
    back |= coefficients
    found = [root.xreplace(back) for root in found if not root.has(x, sympy.I)]
    return [Form(root, () if sign(root) > 0 else (Gt(root, 0, evaluate=False),)) for root in found]


def _coefficient(value: Any, numbers: Evaluate | None, named: dict[Any, Any]) -> Any:
    """A name for a coefficient, with its sign where that is known."""
    if value.is_number:
        return value
    known = sign(value) if numbers is None else bool(numbers(value) > 0) * 2 - 1
    name = sympy.Dummy(positive=True) if known else sympy.Dummy(real=True)
    named[name] = negated(value) if known < 0 else value
    return -name if known < 0 else name
