r"""A formula as LaTeX, in the order it was written, every name spelled as its declaration says.

>>> from symroof.formula.parse import parse
>>> spelled = {"n_layers": "L", "n_kv_heads": "H_{kv}", "head_dim": "d_h"}
>>> latex(parse("2*n_layers*n_kv_heads*head_dim"), spelled.get)
'2 L H_{kv} d_h'
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise

from symroof.formula.text import ATOM, POWER, PRODUCT, SIGN, SUM, joined_sum, number_text
from symroof.formula.tree import Add, At, Call, Compare, Div, Largest, Mul, Name, Neg, Num, Pow, Total, Tree

RELATIONS = {"<=": r"\le", ">=": r"\ge", "<": "<", ">": ">", "=": "="}


def latex(tree: Tree, show: Callable[[str], str], times: str = " ") -> str:
    r"""The formula as LaTeX; ``show`` spells a name, ``times`` stands between factors (``r" \cdot "`` for numbers)."""
    return _Printer(show, times).print(tree)[0]


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


class _Printer:
    def __init__(self, show: Callable[[str], str], times: str) -> None:
        self.show, self.times = show, times

    def print(self, tree: Tree) -> tuple[str, int]:
        match tree:
            case Num(value):
                return number_latex(value), SIGN if value < 0 else ATOM
            case Name(name):
                return self.show(name), ATOM
            case Neg(arg):
                return "-" + self.inside(arg, PRODUCT), SIGN
            case Add(terms):
                return joined_sum(terms, self.inside), SUM
            case Mul(factors):
                return self.product(factors), PRODUCT
            case Div(over, under):
                return rf"\frac{{{self.print(over)[0]}}}{{{self.print(under)[0]}}}", ATOM
            case Pow(base, exponent):
                return f"{self.raised(base)}^{{{self.print(exponent)[0]}}}", POWER
            case Call(function, args):
                return self.call(function, [self.print(arg)[0] for arg in args]), ATOM
            case Total(body, index, first, last):
                bounds = rf"\sum_{{{self.show(index)}={self.print(first)[0]}}}^{{{self.print(last)[0]}}}"
                return f"{bounds} {self.inside(body, PRODUCT)}", SUM
            case At(name, pairs):
                changes = ", ".join(f"{self.show(k)} = {self.print(v)[0]}" for k, v in pairs)
                return rf"\left. {self.show(name)} \right\vert_{{{changes}}}", ATOM
            case Largest(arms):
                inner = ", ".join(rf"\text{{{label}: }} {self.print(arm)[0]}" for label, arm in arms)
                return rf"\operatorname{{arg\,max}}\left({inner}\right)", ATOM
            case Compare(operator, left, right):
                return f"{self.print(left)[0]} {RELATIONS[operator]} {self.print(right)[0]}", SUM
        raise TypeError(f"not a formula tree: {tree!r}")

    def inside(self, tree: Tree, binding: int, fractions: bool = False) -> str:
        written, own = self.print(tree)
        loose = own < binding or (fractions and isinstance(tree, Div))
        return rf"\left({written}\right)" if loose else written

    def raised(self, base: Tree) -> str:
        """The base of a power: in parentheses where it has an exponent or a fraction of its own."""
        written = self.inside(base, ATOM, fractions=True)
        loose = (isinstance(base, Name) and "^" in written) or (isinstance(base, Num) and not written.isdigit())
        return rf"\left({written}\right)" if loose else written

    def product(self, factors: tuple[Tree, ...]) -> str:
        written = [self.inside(factor, PRODUCT if i == 0 else POWER) for i, factor in enumerate(factors)]
        joined = written[0]
        for before, after in pairwise(written):
            between_digits = before[-1:].isdigit() and after[:1].isdigit()
            joined += (r" \cdot " if between_digits else self.times) + after
        return joined

    def call(self, function: str, args: list[str]) -> str:
        match function:
            case "ceil":
                return rf"\left\lceil {args[0]} \right\rceil"
            case "floor":
                return rf"\left\lfloor {args[0]} \right\rfloor"
            case "sqrt":
                return rf"\sqrt{{{args[0]}}}"
            case "log2":
                return rf"\log_2\left({args[0]}\right)"
        return rf"\{function}\left({', '.join(args)}\right)"
