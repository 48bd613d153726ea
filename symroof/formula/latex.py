r"""A formula as LaTeX, in the order it was written, every name spelled as its declaration says.

>>> from symroof.formula.parse import parse
>>> spelled = {"n_layers": "L", "n_kv_heads": "H_{kv}", "head_dim": "d_h"}
>>> latex(parse("2*n_layers*n_kv_heads*head_dim"), spelled.get)
'2 L H_{kv} d_h'
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from symroof.formula.notation import Named, Notation
from symroof.formula.text import number_text
from symroof.formula.tree import Tree

RELATIONS = {"<=": r"\le", ">=": r"\ge"}


def latex(tree: Tree, show: Callable[[str], str], dots: bool = False) -> str:
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


class _Latex(Notation):
    minus, dot, space = "-", r" \cdot ", " "

    def infix(self, operator: str) -> str:
        return f" {RELATIONS.get(operator, operator)} "

    def has_exponent(self, name: str) -> bool:
        return "^" in name

    def are_digits(self, before: str, after: str) -> bool:
        return before[-1:].isdigit() and after[:1].isdigit()

    def bracketed(self, printed: str) -> str:
        return rf"\left({printed}\right)"

    def number(self, value: Fraction) -> str:
        return number_latex(value)

    def fraction(self, over: str, under: str) -> str:
        return rf"\frac{{{over}}}{{{under}}}"

    def power(self, base: str, exponent: str) -> str:
        return f"{base}^{{{exponent}}}"

    def call(self, function: str, args: Sequence[str]) -> str:
        match function:
            case "ceil":
                return rf"\left\lceil {args[0]} \right\rceil"
            case "floor":
                return rf"\left\lfloor {args[0]} \right\rfloor"
            case "sqrt":
                return rf"\sqrt{{{args[0]}}}"
            case "log2":
                return r"\log_2" + self.bracketed(args[0])
            case "max" | "min":
                return rf"\{function}" + self.bracketed(", ".join(args))
        escaped = function.replace("_", r"\_")
        return rf"\operatorname{{{escaped}}}" + self.bracketed(", ".join(args))

    def total(self, index: str, first: str, last: str, body: str) -> str:
        return rf"\sum_{{{index}={first}}}^{{{last}}} {body}"

    def at(self, name: str, changes: Sequence[Named]) -> str:
        written = ", ".join(f"{key} = {value}" for key, value in changes)
        return rf"\left. {name} \right\vert_{{{written}}}"

    def largest(self, arms: Sequence[Named]) -> str:
        return r"\operatorname{arg\,max}" + self.bracketed(", ".join(rf"\text{{{label}: }} {arm}" for label, arm in arms))
