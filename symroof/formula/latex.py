r"""Prints a formula as LaTeX, in written order, with each name spelled as declared.

>>> from symroof.formula.parse import parse
>>> spelled = {"n_layers": "L", "n_kv_heads": "H_{kv}", "head_dim": "d_h"}
>>> latex(parse("2*n_layers*n_kv_heads*head_dim"), spelled.get)
'2 L H_{kv} d_h'
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import ClassVar

from symroof.formula.build import is_negative, neg
from symroof.formula.text import ATOM, POWER, PRODUCT, SIGN, SUM, bare, number_text, unit_text
from symroof.formula.tree import (
    Add,
    ArgMax,
    Call,
    Compare,
    Div,
    Expr,
    Mul,
    Name,
    Neg,
    Num,
    Pow,
    QuantityAt,
    Sum,
)

RELATIONS = {"<=": r"\le", ">=": r"\ge"}


def latex(tree: Expr, show: Callable[[str], str], dots: bool = False) -> str:
    r"""The formula as LaTeX; ``show`` spells a name, ``dots`` puts a ``\cdot`` between all factors, as numbers need it."""
    return _Latex(show, dots)(tree)


def number_latex(value: Fraction) -> str:
    """An exact number: ``3.35e12`` as a power of ten, a quotient as a fraction."""
    written = number_text(value)
    if "e" in written:
        mantissa, exponent = written.split("e")
        return rf"{mantissa} \cdot 10^{{{exponent}}}"
    if "/" in written:
        over, under = written.split("/")
        return rf"\frac{{{over}}}{{{under}}}"
    return written


Named = tuple[str, str]
"""A printed name or label, and the printed formula."""


class _Latex:
    """Prints a formula in written order, with brackets around a looser expression inside a tighter one.

    ``show`` prints a name; with ``dots`` there is a dot between all factors, else only between two numbers.
    """

    minus, dot, space, comma, equals = "-", r" \cdot ", " ", ", ", "{} = {}"
    brackets, fractions, powers = r"\left({}\right)", r"\frac{{{}}}{{{}}}", "{}^{{{}}}"
    sums, changed = r"\sum_{{{index}={first}}}^{{{last}}} ", r"\left. {} \right\vert_{{{}}}"
    calls: ClassVar = {
        "ceil": r"\left\lceil {} \right\rceil",
        "floor": r"\left\lfloor {} \right\rfloor",
        "sqrt": r"\sqrt{{{}}}",
        "log2": r"\log_2" + brackets,
        "log": r"\ln" + brackets,
        "exp": r"\exp" + brackets,
        "pi": r"\pi",
        "max": r"\max" + brackets,
        "min": r"\min" + brackets,
        "argmax": r"\operatorname{{arg\,max}}" + brackets,
    }

    def __init__(self, show: Callable[[str], str], dots: bool = False) -> None:
        self.show, self.dots = show, dots

    def __call__(self, tree: Expr) -> str:
        return self._print(tree)[0]

    def _print(self, tree: Expr) -> tuple[str, int]:
        """The printed text, and how tightly it binds."""
        match tree:
            case Num(value, dimension):
                unit = unit_text(dimension)
                return self.number(value, unit), SIGN if value < 0 else PRODUCT if unit else ATOM
            case Name(name):
                return self.show(name), ATOM
            case Neg(arg):
                return self.minus + self._inside(arg, PRODUCT), SIGN
            case Add(terms):
                return self._sum(terms), SUM
            case Mul(factors):
                return self._product(factors), PRODUCT
            case Div(over, under):
                return self.fractions.format(self(over), self(under)), ATOM
            case Pow(base, exponent):
                return self.powers.format(self._base(base), self(exponent)), POWER
            case Call(function, args):
                return self.call(function, [self(arg) for arg in args]), ATOM
            case Sum(body, index, first, last):
                return self.total(
                    self.show(index), self(first), self(last), self._inside(body, PRODUCT)
                ), SUM
            case QuantityAt(name, changes):
                return self.at(
                    self.show(name), [(self.show(key), self(value)) for key, value in changes]
                ), ATOM
            case ArgMax(arms):
                return self.largest([(label, self(arm)) for label, arm in arms]), ATOM
            case Compare(operator, left, right):
                return self(left) + self.infix(operator) + self(right), SUM
        raise TypeError(f"not a formula tree: {tree!r}")

    def _inside(self, tree: Expr, binding: int) -> str:
        """A formula where something binds so tightly: in brackets if it binds less."""
        printed, own = self._print(tree)
        return self.brackets.format(printed) if own < binding else printed

    def _base(self, base: Expr) -> str:
        """The base of a power: in brackets also where it is a fraction, a number with a point, or has an exponent of its own."""
        printed, own = self._print(base)
        fraction = isinstance(base, Div) or (
            isinstance(base, Num) and not number_text(base.value).isdigit()
        )
        raised = isinstance(base, Name) and self.has_exponent(printed)
        return self.brackets.format(printed) if own < ATOM or fraction or raised else printed

    def _sum(self, terms: Sequence[Expr]) -> str:
        """Terms, each with its sign between it and the one before."""
        printed = self._inside(terms[0], PRODUCT)
        for term in terms[1:]:
            minus = is_negative(term)
            printed += self.infix("-" if minus else "+") + self._inside(
                neg(term) if minus else term, PRODUCT
            )
        return printed

    def _product(self, factors: Sequence[Expr]) -> str:
        factors = [bare(factor) for factor in factors]
        printed = [
            self._inside(factor, PRODUCT if i == 0 else POWER) for i, factor in enumerate(factors)
        ]
        joined = printed[0]
        for factor, (before, after) in zip(factors, pairwise(printed), strict=False):
            measured = isinstance(factor, Num) and bool(
                unit_text(factor.dimension)
            )  # a unit next to a name would read as a name
            joined += (
                self.dot if self.dots or measured or self.are_digits(before, after) else self.space
            ) + after
        return joined

    def call(self, function: str, args: Sequence[str]) -> str:
        """A function of printed arguments, or a constant."""
        printed = self.comma.join(args)
        if function in self.calls:
            return self.calls[function].format(printed)
        return (
            self.function(function) + self.brackets.format(printed)
            if args
            else self.constant(function)
        )

    def total(self, index: str, first: str, last: str, body: str) -> str:
        return self.sums.format(index=index, first=first, last=last) + body

    def at(self, name: str, changes: Sequence[Named]) -> str:
        return self.changed.format(
            name, self.comma.join(self.equals.format(*change) for change in changes)
        )

    def largest(self, arms: Sequence[Named]) -> str:
        return self.calls["argmax"].format(
            self.comma.join(self.label(label) + arm for label, arm in arms)
        )

    def function(self, name: str) -> str:
        escaped = name.replace("_", r"\_")
        return rf"\operatorname{{{escaped}}}"

    def constant(self, name: str) -> str:
        return rf"\mathrm{{{name}}}"

    def label(self, label: str) -> str:
        return rf"\text{{{label}: }} "

    def infix(self, operator: str) -> str:
        return f" {RELATIONS.get(operator, operator)} "

    def has_exponent(self, name: str) -> bool:
        return "^" in name

    def are_digits(self, before: str, after: str) -> bool:
        return before[-1:].isdigit() and after[:1].isdigit()

    def number(self, value: Fraction, unit: str) -> str:
        return number_latex(value) + (rf"\,\mathrm{{{unit}}}" if unit else "")
