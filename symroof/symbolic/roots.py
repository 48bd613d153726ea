"""The formulas at which an expression without choices is zero: roots of polynomials, inverses of what hides the unknown, or SymPy's ``solve``.
The coefficients of polynomials are left as they are written: never expanded, they stay readable.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import sympy
from sympy import Ge, Gt, Le, Lt, Symbol

from symroof.symbolic.nodes import OfLargest, Total, ceiling, floor
from symroof.symbolic.random_points import RandomPoint

LARGEST_POWER = 16
COEFFICIENTS = ("c0", "c1", "c2")
"""The names of the coefficients of a long quadratic: ``c2*x**2 + c1*x + c0``."""
LONGEST_INLINE = 20
"""Nodes of the coefficients beyond which they are called by name."""
MOST_TERMS, MOST_OPERATIONS = 3, 8
"""Terms and operations of an equation that SymPy's ``solve`` is asked about: longer ones take it minutes."""
ZERO, ZERO_AT_RANDOM = 1e-13, 1e-9
"""A coefficient that small a share of its terms is zero: with numbers, and at random points."""
CHOICES = (sympy.Max, sympy.Min, OfLargest)
ROUNDED = (sympy.ceiling, sympy.floor)
UNREAL = (sympy.zoo, sympy.nan, sympy.oo, sympy.I)
"""What no formula of a value contains."""

Evaluate = Callable[..., float]
"""The number of a formula, some names of which may be set for it: ``Case.evaluate``. It raises an ArithmeticError where there is none."""
Numbers = Evaluate | None
Root = tuple[Any, tuple[Any, ...]]
"""A formula, and the conditions that it is a root."""


class NoClosedForm(ValueError):
    """Why there is none."""


Powers = dict[int, Any]
"""Power of the unknown -> coefficient."""


@dataclass(frozen=True)
class Form:
    """A root with what it rests on.

    Attributes:
        root: the formula, in named coefficients where it is long; None of a crossing that has none.
        conditions: what has to hold for the root to be one, in the same coefficients, and the comparisons of the arms it was solved on.
        named: what those coefficients are.
        value: the crossing that it gives, if it gives one.
        met: whether each condition holds there; None where that is not known.
    """

    root: Any
    conditions: tuple[Any, ...] = ()
    named: tuple[tuple[Any, Any], ...] = ()
    value: float | None = None
    met: tuple[bool | None, ...] = ()

    @property
    def closed_form(self) -> Any:
        """The whole formula."""
        return None if self.root is None else self.whole(self.root)

    @property
    def trees(self) -> tuple[Any, ...]:
        """The conditions with the coefficients written out."""
        return tuple(map(self.whole, self.conditions))

    def whole(self, expr: Any) -> Any:
        """An expression of this form, or a relation, with the coefficients written out."""
        if not self.named:
            return expr
        if isinstance(expr, sympy.core.relational.Relational):
            return expr.func(*map(self.whole, expr.args), evaluate=False)
        return expr.xreplace(dict(self.named))


def roots(difference: Any, x: Symbol, numbers: Numbers = None) -> tuple[list[Form], int]:
    """The formulas at which a difference without choices is zero; where there is none, the sign that it has by its shape.

    Raises:
        NoClosedForm: neither a polynomial nor SymPy's ``solve`` gives one.
    """
    try:
        powers, before = polynomial(difference, x)
    except NoClosedForm as error:
        forms, side = _hidden_roots(difference, x, numbers, error), 0
    else:
        powers = {k: c for k, c in powers.items() if not vanishes(c, numbers)}
        signs = {sign(c) for c in powers.values()}
        forms = _polynomial_roots(powers, x, numbers)
        side = signs.pop() * before if len(signs) == 1 else 0
    unreal = (sympy.Tuple(form.root, *form.conditions).has(*UNREAL) for form in forms)
    return [form for form, none in zip(forms, unreal, strict=True) if not none], side


def _polynomial_roots(over: Powers, x: Symbol, numbers: Numbers) -> list[Form]:
    """Those of degree one and two, and of a single power.

    Raises:
        NoClosedForm: of a higher degree.
    """
    if len(over) < 2:
        return []
    low = min(over)
    p = {k - low: c for k, c in over.items()}
    known = partial(sign, numbers=numbers)
    if set(p) == {0, 1, 2}:
        p = {k: negated(c) for k, c in p.items()} if known(p[2]) < 0 else p
        long = sum(1 for c in p.values() for _ in sympy.preorder_traversal(c)) > LONGEST_INLINE
        short = {k: Symbol(COEFFICIENTS[k], real=True) if long else c for k, c in p.items()}
        named = tuple((short[k], p[k]) for k in sorted(p, reverse=True)) if long else ()
        return [Form(*root, named) for root in _two_roots(p, short, known)]
    if len(p) > 2:
        raise NoClosedForm("no closed form of readable size exists")
    power = max(p)
    root, exists = _linear(p[power], p[0], known)
    return [Form(root if power == 1 else root ** sympy.Rational(1, power), exists)]


def _linear(slope: Any, start: Any, known: Callable[[Any], int]) -> Root:
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


def _two_roots(p: Powers, short: Powers, known: Callable[[Any], int]) -> list[Root]:
    """The positive roots of ``a*x**2 + b*x + c``, in the forms that do not cancel where ``a`` is small.

    Descartes: the signs of the coefficients tell how many roots are positive, as far as they are known; of two the smaller comes first."""
    a, b, c = short[2], short[1], short[0]
    inside = b**2 - 4 * a * c
    root = sympy.sqrt(inside)
    grown, shrunk = (-b + root) / (2 * a), -2 * c / (b + root)
    near, other = 2 * c / (-b + root), (-b - root) / (2 * a)
    real, below = Ge(inside, 0, evaluate=False), Lt(c, 0, evaluate=False)

    def positive(form: Any) -> Root:
        return form, (real, Gt(form, 0, evaluate=False))

    if not known(p[2]):  # either way up, or a line: one of the two forms holds for that as well
        both = {1: (shrunk, other), 0: (shrunk, near), -1: (near, grown)}[known(p[1])]
        return list(map(positive, both))
    if sign(p[2]) > 0 and sign(p[0]) < 0:
        return [(shrunk if known(p[1]) >= 0 else grown, ())]
    if known(p[1]) > 0:
        return [(shrunk, (below,))]
    if known(p[1]) < 0:
        return [(near, (real, Gt(c, 0, evaluate=False))), (grown, (real,))]
    return [positive(form) for form in (other, grown)]


def _hidden_roots(difference: Any, x: Symbol, numbers: Numbers, why: NoClosedForm) -> list[Form]:
    """Where one rounding holds all of the unknown, the places at which it jumps across the number it is solved for; everything else is SymPy's."""
    node = next((part for part in difference.atoms(*ROUNDED) if x in part.free_symbols), None)
    if node is None:
        return _by_sympy(difference, x, numbers, why)
    y = sympy.Dummy("y", positive=True)
    outer, rises = difference.xreplace({node: y}), isinstance(node, sympy.floor)
    if x in outer.free_symbols or numbers is None:
        raise why
    forms = []
    for form in (*roots(outer, y, numbers)[0], Form(sympy.S.Zero)):
        value, exists = form.closed_form, form.trees
        # what is rounded up passes the whole number below on its way to the next
        for level in (value, floor(value) + 1) if rises else (ceiling(value) - 1, value):
            for back in roots(node.args[0] - level, x, numbers)[0]:
                forms.append(Form(back.root, (*exists, *back.conditions), back.named))
    return forms


def _by_sympy(difference: Any, x: Symbol, numbers: Numbers, why: NoClosedForm) -> list[Form]:
    """The roots that ``solve`` finds of the equation in few terms, each with one coefficient whose sign it knows."""
    still: dict[Any, Any] = {}
    short = sympy.expand(abbreviated(difference, x, still, inside=True))
    if short.has(Total, *CHOICES, *ROUNDED):
        raise why
    back = {dummy: part for part, dummy in still.items()}
    equation, coefficients = sympy.S.Zero, short.as_coefficients_dict(x)
    for moving, coefficient in coefficients.items():
        value = coefficient.xreplace(back)
        known = sign(value, numbers)
        if not value.is_number:
            name = sympy.Dummy(positive=True) if known else sympy.Dummy(real=True)
            back[name] = negated(value) if known < 0 else value
            value = -name if known < 0 else name
        equation += moving * value
    if len(coefficients) > MOST_TERMS or equation.count_ops() > MOST_OPERATIONS:
        raise why
    try:
        found = sympy.solve(equation, x, check=False, simplify=False)
    except (NotImplementedError, ValueError, TypeError, RecursionError, ZeroDivisionError):
        raise why from None
    if numbers is None and any(root.has(sympy.LambertW) for root in found):
        raise why  # which of its branches it is turns on the numbers
    whole = (root.xreplace(back) for root in found if not root.has(x, sympy.I))
    found = [
        root.replace(sympy.log, lambda arg: sympy.log(sympy.gcd_terms(arg) if arg.is_Mul else arg))
        for root in whole
    ]
    forms = []
    for root in found:
        inside = sorted({log.args[0] for log in root.atoms(sympy.log)}, key=str)
        positive = (part for part in (*inside, root) if not sign(part) > 0)
        forms.append(Form(root, tuple(Gt(part, 0, evaluate=False) for part in positive)))
    return forms


def fraction(expr: Any, x: Symbol) -> tuple[Powers, Powers]:
    """Numerator and denominator in powers of ``x``, coefficients left as they are.

    Raises:
        NoClosedForm: it is no quotient of polynomials in ``x``.

    >>> a, b, x = sympy.symbols("a b x")
    >>> fraction(a*(b*x + 1)/x - b, x)
    ({1: a*b - b, 0: a}, {1: 1})
    """
    still: dict[Any, Any] = {}
    whole = sympy.fraction(sympy.together(abbreviated(expr, x, still)))
    back = {dummy: part for part, dummy in still.items()}
    powers = (sympy.Poly(part, x).terms() for part in whole)
    over, under = ({k: c.xreplace(back) for (k,), c in terms} for terms in powers)
    over = {k: c for k, c in over.items() if c != 0} or {0: sympy.S.Zero}
    low = min(*over, *under)  # common powers of the unknown are cancelled
    return {k - low: c for k, c in over.items()}, {k - low: c for k, c in under.items()}


def abbreviated(expr: Any, x: Symbol, still: dict[Any, Any], inside: bool = False) -> Any:
    """The expression with a symbol for each part without the unknown, which SymPy would expand; ``inside`` functions of the unknown, too."""

    def go(part: Any) -> Any:
        if x not in part.free_symbols:
            positive = sign(part) > 0 or None
            name = sympy.Dummy(positive=positive, real=True)
            return part if part.is_Number else still.setdefault(part, name)
        if part == x:
            return x
        if part.is_Add or part.is_Mul:
            moving = [arg for arg in part.args if x in arg.free_symbols]
            rest = go(part.func(*(arg for arg in part.args if x not in arg.free_symbols)))
            if part.is_Mul:
                return sympy.Mul(rest, *map(go, moving))
            powers: dict[Any, list[Any]] = {}
            for term in map(go, moving):
                coefficient, power = term.as_independent(x, as_Add=False)
                powers.setdefault(power, []).append(coefficient)
            back = {dummy: own for own, dummy in still.items()}
            added = (go(sympy.Add(*own).xreplace(back)) * p for p, own in powers.items())
            return sympy.Add(rest, *added)
        if part.is_Pow and part.exp.is_Integer and abs(part.exp) <= LARGEST_POWER:
            return go(part.base) ** part.exp
        if not inside:
            raise NoClosedForm(reason(part, x))
        if part.is_Pow and x not in part.base.free_symbols and not part.base.is_Number:
            return sympy.exp(go(sympy.log(part.base)) * go(part.exp))  # else `solve` gives up
        return part.func(*map(go, part.args))

    return go(expr)


def reason(expr: Any, x: Symbol) -> str:
    if (isinstance(expr, sympy.Pow) and x in expr.exp.free_symbols) or isinstance(expr, sympy.exp):
        return "the unknown is in an exponent"
    if isinstance(expr, sympy.Pow) and not expr.exp.is_Rational:
        return "the unknown is raised to a power that is no number"
    names = {"ceiling": "ceil", "Max": "max", "Min": "min", "Pow": "sqrt", "Total": "sum"}
    return f"the unknown is an argument of {names.get(type(expr).__name__, type(expr).__name__)}()"


def polynomial(expr: Any, x: Symbol) -> tuple[Powers, int]:
    """The powers of ``x`` whose roots are those of a quotient, without common factors and denominators of their coefficients, and the sign of what they
    are multiplied by, as far as it is known. A factor of all terms of one coefficient is written once.

    Raises:
        NoClosedForm: it is no quotient of polynomials in ``x``.

    >>> a, b, c, x = sympy.symbols("a b c x", positive=True)
    >>> polynomial(a*x/b - a/c, x)
    ({1: c, 0: -b}, 1)
    """
    over, under = fraction(expr, x)
    signs = {sign(c) for c in under.values()}
    terms = [term * x**k for k, c in over.items() for term in sympy.Add.make_args(c)]
    whole = sympy.gcd_terms(sympy.Add(*terms))
    factors = sympy.Mul.make_args(whole)
    inner = next((part for part in factors if x in part.free_symbols and part.is_Add), None)
    if inner is not None:
        shared = sign(sympy.Mul(*(part for part in factors if part is not inner and part != x)))
        whole, signs = (inner if shared >= 0 else -inner), {own * abs(shared) for own in signs}
    powers = {k: sympy.gcd_terms(c) if c.is_Add else c for k, c in fraction(whole, x)[0].items()}
    return powers, signs.pop() if len(signs) == 1 else 0


def bound_on(x: Symbol, condition: Any, difference: Any) -> Any:
    """A condition, whose left side less the right is a difference, as a bound of a symbol in which it is linear; None where it is not.

    >>> a, b, x = sympy.symbols("a b x", positive=True)
    >>> bound_on(x, a > b*x, a - b*x)
    x < a/b
    """
    powers, before = polynomial(difference, x)
    if set(powers) != {0, 1} or not before:
        return None
    rises = isinstance(condition, (Gt, Ge)) == (before > 0)
    slope, start = (powers[k] if rises else negated(powers[k]) for k in (1, 0))
    strict = isinstance(condition, (Gt, Lt))
    if sign(slope) > 0:
        return (Gt if strict else Ge)(x, negated(start) / slope, evaluate=False)
    return (Lt if strict else Le)(x, start / negated(slope), evaluate=False)


def sign(expr: Any, numbers: Numbers = None) -> int:
    """The sign of an expression by its shape, its symbols having theirs; 0 where the shape does not decide. With ``numbers`` that of its value.

    >>> a, b = sympy.symbols("a b", positive=True)
    >>> sign(a + b), sign(-a*b), sign(a - b)
    (1, -1, 0)
    """
    if numbers is not None:
        return int((value := numbers(expr)) > 0) - int(value < 0)
    return _sign(expr)


@lru_cache(maxsize=1 << 14)
def _sign(expr: Any) -> int:
    kept = (power for power in expr.atoms(sympy.Pow) if power.exp == sympy.S.Half)
    there = expr.xreplace({root: sympy.Dummy(nonnegative=True) for root in kept})  # as it exists
    return int(bool(there.is_nonnegative) and not there.is_zero) - bool(there.is_negative)


def negated(expr: Any) -> Any:
    """The negative, by turning the terms of a sum among its factors where it has one: ``b*(1 - a)`` is ``b*(a - 1)``."""
    for factor in expr.args if expr.is_Mul and not expr.args[0].is_Number else ():
        if factor.is_Add:
            return sympy.Mul(*(-part if part is factor else part for part in expr.args))
    return -expr


def vanishes(expr: Any, numbers: Numbers = None) -> bool:
    """Whether a number is nothing but the rounding of its terms. Without numbers whether an expression is zero whatever its symbols, as random points
    show, of one size: nothing vanishes beside another."""
    if numbers is not None:
        return abs(numbers(expr)) <= ZERO * terms_size(expr, numbers)
    if expr.is_Number or not expr.is_Add:
        return bool(expr == 0)
    known = False
    for seed in "abc":
        with suppress(ArithmeticError):
            point = RandomPoint(seed, 0, whole=False).evaluate
            if abs(point(expr)) > ZERO_AT_RANDOM * terms_size(expr, point):
                return False
            known = True
    return known


def terms_size(expr: Any, numbers: Evaluate, at: Mapping[str, float] | None = None) -> float:
    """The sum of the sizes of a formula's terms: what rounding is a share of."""
    return sum(abs(numbers(term, at)) for term in sympy.Add.make_args(expr))
