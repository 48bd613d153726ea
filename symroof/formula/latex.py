r"""A formula as LaTeX, in the order it was written, every name spelled as its declaration says.

>>> from symroof.formula.parse import parse
>>> spelled = {"n_layers": "L", "n_kv_heads": "H_{kv}", "head_dim": "d_h"}
>>> latex(parse("2*n_layers*n_kv_heads*head_dim"), spelled.get)
'2 L H_{kv} d_h'
"""

from collections.abc import Callable
from fractions import Fraction
from typing import ClassVar

from symroof.formula.notation import Notation
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
