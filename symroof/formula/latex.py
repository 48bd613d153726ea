r"""Prints a formula as LaTeX, in written order, with each name spelled as declared.

>>> from symroof.formula.parse import parse
>>> spelled = {"n_layers": "L", "n_kv_heads": "H_{kv}", "head_dim": "d_h"}
>>> latex(parse("2*n_layers*n_kv_heads*head_dim"), spelled.get)
'2 L H_{kv} d_h'
"""

import re
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
GREEK = (
    "alpha|beta|gamma|delta|epsilon|varepsilon|zeta|eta|theta|vartheta|iota|kappa|varkappa|lambda|mu|nu|xi|pi|varpi|rho"
    "|varrho|sigma|varsigma|tau|upsilon|phi|varphi|chi|psi|omega|Gamma|Delta|Theta|Lambda|Xi|Pi|Sigma|Upsilon|Phi|Psi|Omega|ell"
)
LETTER = rf"(?:\\mathrm\{{(?:[A-Za-z0-9,/ ]|\\_)+\}}|\\(?:{GREEK})(?![A-Za-z])|[A-Za-z0-9,/])"
SCRIPT = rf"(?:{LETTER}|\{{(?:\s*{LETTER}(?:_{LETTER})?)+\s*\}})"
SPELLED = re.compile(
    rf"(?:\s*{LETTER}(?:_{SCRIPT}(?:\^{SCRIPT})?|\^{SCRIPT}(?:_{SCRIPT})?)?)+\s*", re.ASCII
)
"""How a name is spelled: letters, digits and Greek, each with a script below and one above."""
LONGEST = 64


def latex(tree: Expr, show: Callable[[str], str], dots: bool = False) -> str:
    r"""The formula as LaTeX; ``show`` spells a name, ``dots`` puts a ``\cdot`` between all factors, as numbers need it."""
    return _Latex(show, dots)(tree)


def is_spelling(latex: str) -> bool:
    r"""Whether LaTeX is how a name may be spelled, and nothing else that LaTeX could do.

    >>> [is_spelling(latex) for latex in (r"t_{\mathrm{prefill}}", r"\beta_l", r"\input{x}", "x_a_b", "{")]
    [True, True, False, False, False]
    """
    return len(latex) <= LONGEST and SPELLED.fullmatch(latex) is not None


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
                printed = number_latex(value) + (rf"\,\mathrm{{{unit}}}" if unit else "")
                return printed, SIGN if value < 0 else PRODUCT if unit else ATOM
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
                return f"{self(left)} {RELATIONS.get(operator, operator)} {self(right)}", SUM
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
        raised = isinstance(base, Name) and "^" in printed
        return self.brackets.format(printed) if own < ATOM or fraction or raised else printed

    def _sum(self, terms: Sequence[Expr]) -> str:
        """Terms, each with its sign between it and the one before."""
        printed = self._inside(terms[0], PRODUCT)
        for term in terms[1:]:
            minus = is_negative(term)
            printed += (" - " if minus else " + ") + self._inside(
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
            digits = before[-1:].isdigit() and after[:1].isdigit()
            joined += (self.dot if self.dots or measured or digits else self.space) + after
        return joined

    def call(self, function: str, args: Sequence[str]) -> str:
        """A function of printed arguments, or a constant."""
        printed = self.comma.join(args)
        if function in self.calls:
            return self.calls[function].format(printed)
        if not args:
            return rf"\mathrm{{{function}}}"
        escaped = function.replace("_", r"\_")
        return rf"\operatorname{{{escaped}}}" + self.brackets.format(printed)

    def total(self, index: str, first: str, last: str, body: str) -> str:
        return self.sums.format(index=index, first=first, last=last) + body

    def at(self, name: str, changes: Sequence[Named]) -> str:
        return self.changed.format(
            name, self.comma.join(self.equals.format(*change) for change in changes)
        )

    def largest(self, arms: Sequence[Named]) -> str:
        return self.calls["argmax"].format(
            self.comma.join(rf"\text{{{label}: }} {arm}" for label, arm in arms)
        )
