r"""Prints a formula as MathML, in the same order and with the same brackets as LaTeX.

Names are spelled in LaTeX, in the few signs that :func:`spelling` knows: letters, digits, Greek, ``\mathrm``, scripts.

>>> from symroof.formula.parse import parse
>>> spelled = {"params": "P", "link_bandwidth": r"\beta_l"}
>>> mathml(parse("2*params/link_bandwidth"), lambda name: spelling(spelled[name]))
'<mfrac><mrow><mn>2</mn><mi>P</mi></mrow><mrow><msub><mi>β</mi><mi>l</mi></msub></mrow></mfrac>'
"""

import re
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from html import escape
from typing import ClassVar

from symroof.formula.latex import FormulaPrinter
from symroof.formula.latex_tokens import GREEK
from symroof.formula.text import number_text
from symroof.formula.tree import Expr

SIGNS = {"-": "−", "<=": "≤", ">=": "≥"}
SPELLED = re.compile(
    r"\s*(?:\\mathrm\{(?P<upright>(?:[^{}\\]|\\_)+)\}|\\(?P<greek>[A-Za-z]+)|(?P<letter>[A-Za-z])|(?P<number>\d+)|(?P<sign>[_^{},/]))",
    re.ASCII,
)
THIN = '<mspace width="0.167em"/>'
"""The space between a number and its unit."""
SCRIPTS = {(True, False): "msub", (False, True): "msup", (True, True): "msubsup"}
ENDS_IN_DIGIT = re.compile(r"\d</mn>(?:</msub>)?\Z")


def mathml(tree: Expr, show: Callable[[str], str], dots: bool = False) -> str:
    """The formula as the inside of a ``<math>`` element; ``show`` prints a name, ``dots`` puts a dot between all factors, as numbers need it."""
    return _Mathml(show, dots)(tree)


def words(text: str) -> str:
    """Plain text within a formula, its spaces left where they are."""
    unbroken = escape(text).replace(" ", "\u00a0")
    return f"<mtext>{unbroken}</mtext>"


def measured(number: str, unit: str) -> str:
    """A number with its unit, or without where it has none."""
    return _number(number) + (f"{THIN}{words(unit)}" if unit else "")


@lru_cache(maxsize=1024)
def spelling(latex: str) -> str:
    r"""A name's LaTeX as MathML; LaTeX that names do not use is an error.

    >>> spelling(r"t_{\mathrm{prefill}}")
    '<msub><mi>t</mi><mrow><mi>prefill</mi></mrow></msub>'

    Raises:
        ValueError: LaTeX beyond what names are spelled with.
    """
    tokens, at = [], 0
    while at < len(latex):
        match = SPELLED.match(latex, at)
        if match is None or (match["greek"] and match["greek"] not in GREEK):
            raise ValueError(f"no name is spelled {latex!r}")
        tokens.append((str(match.lastgroup), match[str(match.lastgroup)]))
        at = match.end()
    try:
        return _spelled(tokens[::-1], latex)
    except IndexError:
        raise ValueError(f"no name is spelled {latex!r}") from None


def _spelled(pending: list[tuple[str, str]], latex: str, end: str = "") -> str:
    """Signs up to ``end``, each with the scripts behind it; ``pending`` has the next one last."""
    done = ""
    while pending or end:
        kind, token = pending.pop()
        if kind == "sign" and token == end:
            return done
        base, scripts = _single(kind, token, latex), {}
        while pending and pending[-1] in (("sign", "_"), ("sign", "^")):
            place = pending.pop()[1]
            if place in scripts:
                raise ValueError(f"{latex!r} has two scripts in one place")
            kind, token = pending.pop()
            scripts[place] = (
                f"<mrow>{_spelled(pending, latex, '}')}</mrow>"
                if (kind, token) == ("sign", "{")
                else _single(kind, token[:1], latex)
            )
            if kind == "number" and token[1:]:  # a script without braces takes a single digit
                pending.append((kind, token[1:]))
        done += _scripted(base, scripts)
    return done


def _single(kind: str, token: str, latex: str) -> str:
    match kind:
        case "letter":
            return f"<mi>{token}</mi>"
        case "greek":
            return f"<mi>{GREEK[token]}</mi>"
        case "upright":
            return _upright(token.replace(r"\_", "_"))
        case "number":
            return f"<mn>{token}</mn>"
    if token in ",/":
        return f"<mo>{token}</mo>"
    raise ValueError(f"no name is spelled {latex!r}")


def _upright(name: str) -> str:
    """A name of several letters is upright by itself."""
    return (
        f"<mi>{escape(name)}</mi>"
        if len(name) > 1
        else f'<mi mathvariant="normal">{escape(name)}</mi>'
    )


def _scripted(base: str, scripts: dict[str, str]) -> str:
    if not scripts:
        return base
    tag = SCRIPTS["_" in scripts, "^" in scripts]
    return f"<{tag}>{base}{scripts.get('_', '')}{scripts.get('^', '')}</{tag}>"


def _number(written: str) -> str:
    """A number as :func:`number_text` writes it."""
    if written.startswith("-"):
        return _Mathml.minus + _number(written[1:])
    if "e" in written:
        mantissa, exponent = written.split("e")
        return f"{_number(mantissa)}{_Mathml.dot}<msup><mn>10</mn><mrow>{_number(exponent)}</mrow></msup>"
    if "/" in written:
        over, under = written.split("/")
        return f"<mfrac><mn>{over}</mn><mn>{under}</mn></mfrac>"
    return f"<mn>{written}</mn>"


def _function(name: str) -> str:
    """The name of a function: a little room before it, none before its brackets."""
    return f'<mo lspace="0.167em" rspace="0">{name}</mo>'


class _Mathml(FormulaPrinter):
    minus, dot, space, comma, equals = (
        '<mo form="prefix">−</mo>',
        "<mo>·</mo>",
        "",
        "<mo>,</mo>",
        "{}<mo>=</mo>{}",
    )
    brackets, fractions = (
        "<mrow><mo>(</mo>{}<mo>)</mo></mrow>",
        "<mfrac><mrow>{}</mrow><mrow>{}</mrow></mfrac>",
    )
    powers = "<msup><mrow>{}</mrow><mrow>{}</mrow></msup>"
    sums = "<munderover><mo>∑</mo><mrow>{index}<mo>=</mo>{first}</mrow><mrow>{last}</mrow></munderover>"
    changed = '<msub><mrow>{}<mo form="postfix" stretchy="true">|</mo></mrow><mrow>{}</mrow></msub>'
    calls: ClassVar = {
        "ceil": "<mrow><mo>⌈</mo>{}<mo>⌉</mo></mrow>",
        "floor": "<mrow><mo>⌊</mo>{}<mo>⌋</mo></mrow>",
        "sqrt": "<msqrt>{}</msqrt>",
        "log2": f"<msub>{_function('log')}<mn>2</mn></msub>{brackets}",
        "log": f"{_function('ln')}{brackets}",
        "pi": "<mi>π</mi>",
        "argmax": _function("arg\u00a0max") + brackets,
    }

    def function(self, name: str) -> str:
        return _function(name)

    def constant(self, name: str) -> str:
        return _upright(name)

    def label(self, label: str) -> str:
        return words(f"{label}: ")

    def infix(self, operator: str) -> str:
        return f"<mo>{escape(SIGNS.get(operator, operator))}</mo>"

    def has_exponent(self, name: str) -> bool:
        return "<msup>" in name or "<msubsup>" in name

    def are_digits(self, before: str, after: str) -> bool:
        return bool(ENDS_IN_DIGIT.search(before)) and after.removeprefix("<msup>").removeprefix(
            "<mrow>"
        ).startswith("<mn>")

    def number(self, value: Fraction, unit: str) -> str:
        return measured(number_text(value), unit)
