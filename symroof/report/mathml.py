r"""The LaTeX that symroof prints, as MathML: quotients, roots, scripts, parentheses, names and units, and no more.

Whatever else a formula holds is left to latex2mathml, which reads all of LaTeX and takes as long to load as half a review
takes to derive. Both write the same, to the byte.

>>> mathml(r"\frac{2 P}{\beta_l}")
'<math xmlns="http://www.w3.org/1998/Math/MathML" display="inline"><mrow><mfrac><mrow><mn>2</mn><mi>P</mi></mrow><mrow><msub><mi>&#x003B2;</mi><mi>l</mi></msub></mrow></mfrac></mrow></math>'
"""

from __future__ import annotations

import re
from collections.abc import Iterator

TOKEN = re.compile(
    r"""
    \s*(?:
      (?P<odd> %|'|-?\d+(?:\.\d+)?\s*(?:in|mm|cm|pt|em|ex|pc|bp|dd|cc|sp|mu)) |
      (?P<letter> [A-Za-z]) |
      (?P<script> [_^]) |
      (?P<number> \d+(?:\.\d+)?) |
      \\text\s*\{(?P<text>[^{}\\$%<>&"']*)\} |
      \\mathrm\{(?P<upright>[A-Za-z])\} |
      (?P<command> \\[A-Za-z]+) |
      (?P<sign> \\[ ,_%] | [^\s\\])
    )
    """,
    re.VERBOSE | re.ASCII,
)

SIGNS = {
    "+": "0002B", "-": "02212", "=": "0003D", ",": "0002C", "/": "0002F", ".": "0002E", "<": "0003C", ">": "0003E",
    r"\cdot": "000B7", r"\times": "000D7", r"\le": "02264", r"\ge": "02265",
}  # fmt: skip
FENCES = {"(": "00028", ")": "00029", "|": "0007C", r"\lceil": "02308", r"\rceil": "02309", r"\lfloor": "0230A", r"\rfloor": "0230B"}
PARENTHESES = ("(", ")", "|")
GREEK = {
    r"\alpha": "003B1", r"\beta": "003B2", r"\gamma": "003B3", r"\eta": "003B7", r"\kappa": "003BA", r"\lambda": "003BB", r"\mu": "003BC",
    r"\rho": "003C1", r"\sigma": "003C3", r"\tau": "003C4", r"\varphi": "003C6", r"\psi": "003C8", r"\Phi": "003A6", r"\Psi": "003A8",
    r"\_": "0005F", r"\%": "00025",
}  # fmt: skip
WORDS = {r"\max": "<mo>max</mo>", r"\min": "<mo>min</mo>"}
SPACES = {r"\,": '<mspace width="0.167em" />', r"\ ": "<mtext>&#x000A0;</mtext>"}
SCRIPTS = {(True, False): "msub", (False, True): "msup", (True, True): "msubsup"}


class NotPrinted(ValueError):
    """Something in a formula that symroof's own printers do not write."""


def mathml(latex: str, display: str = "inline") -> str:
    """A formula as a MathML element.

    Raises:
        NotPrinted: LaTeX beyond what symroof prints.
    """
    inside = _row(_tokens(latex), None, "")
    return f'<math xmlns="http://www.w3.org/1998/Math/MathML" display="{display}">{_grouped(inside)}</math>'


def _tokens(latex: str) -> Iterator[tuple[str, str]]:
    """Kind and text of each token, spaces left out."""
    at, end = 0, len(latex.rstrip())
    while at < end:
        found = TOKEN.match(latex, at)
        if found is None or found.lastgroup in (None, "odd"):
            raise NotPrinted(latex)
        yield str(found.lastgroup), found[str(found.lastgroup)]
        at = found.end()


def _row(tokens: Iterator[tuple[str, str]], end: str | None, font: str) -> str:
    """Everything up to a token that ends it, each thing with the scripts behind it."""
    done: list[list[str]] = []
    for kind, token in tokens:
        if token == end and kind != "text":
            return "".join(map(_scripted, done))
        if kind == "script":
            place = 1 if token == "_" else 2
            if not done or done[-1][place]:
                raise NotPrinted(token)
            done[-1][place] = _one(*_next(tokens, script=True), tokens, font)
        else:
            done.append([_one(kind, token, tokens, font), "", ""])
    if end is not None:
        raise NotPrinted(end)
    return "".join(map(_scripted, done))


def _scripted(thing: list[str]) -> str:
    base, below, above = thing
    if not below and not above:
        return base
    tag = SCRIPTS[bool(below), bool(above)]
    return f"<{tag}>{base}{below}{above}</{tag}>"


def _one(kind: str, token: str, tokens: Iterator[tuple[str, str]], font: str) -> str:
    """One thing: a letter, a number, a sign, or a command with what it takes."""
    match kind:
        case "letter":
            return f"<mi{font}>{token}</mi>"
        case "number":
            return f"<mn>{token}</mn>"
        case "text":
            return f"<mtext>{token.replace(' ', '&#x000A0;')}</mtext>" if token else "<mtext />"
        case "upright":  # the letter by its code, whatever it stands in
            return f"<mi>&#x{ord(token):05X};</mi>"
        case "command" | "sign":
            return _signed(token, font) or _built(token, tokens, font)
    raise NotPrinted(token)


def _signed(token: str, font: str) -> str:
    """What stands for itself; nothing where a token begins something longer."""
    if token in SIGNS:
        return f"<mo>&#x{SIGNS[token]};</mo>"
    if token in PARENTHESES:
        return f'<mo stretchy="false">&#x{FENCES[token]};</mo>'
    if token in GREEK:
        return f"<mi{font}>&#x{GREEK[token]};</mi>"
    return SPACES.get(token) or WORDS.get(token) or (f"<mi{font}>log</mi>" if token == r"\log" else "")


def _built(token: str, tokens: Iterator[tuple[str, str]], font: str) -> str:
    """A group, a quotient, a root, upright letters, or what stands between two fences."""
    match token:
        case "{":
            return _grouped(_row(tokens, "}", font))
        case r"\mathrm" if not font:
            return _braced(tokens, ' mathvariant="normal"')
        case r"\frac":
            return f"<mfrac>{_braced(tokens, font)}{_braced(tokens, font)}</mfrac>"
        case r"\sqrt":
            return f"<msqrt>{_braced(tokens, font)}</msqrt>"
        case r"\left":
            opening = _fence(tokens, "prefix")
            inside = _row(tokens, r"\right", font)
            return f"<mrow>{opening}{inside}{_fence(tokens, 'postfix')}</mrow>"
    raise NotPrinted(token)


def _braced(tokens: Iterator[tuple[str, str]], font: str) -> str:
    """The group that has to follow."""
    if _next(tokens)[1] != "{":
        raise NotPrinted("{")
    return _grouped(_row(tokens, "}", font))


def _grouped(inside: str) -> str:
    return f"<mrow>{inside}</mrow>" if inside else "<mrow />"


def _fence(tokens: Iterator[tuple[str, str]], form: str) -> str:
    """A parenthesis as high as what it encloses; a dot is one that nobody sees."""
    _, token = _next(tokens)
    head = f'<mo stretchy="true" fence="true" form="{form}"'
    if token == ".":
        return f"{head} />"
    if token not in FENCES:
        raise NotPrinted(token)
    return f"{head}>&#x{FENCES[token]};</mo>"


def _next(tokens: Iterator[tuple[str, str]], script: bool = False) -> tuple[str, str]:
    """The next token; of a number behind a script only one digit would be meant."""
    kind, token = next(tokens, ("odd", ""))
    if kind in ("odd", "script") or token == "}" or (script and kind == "number" and len(token) > 1) or (script and token == r"\left"):
        raise NotPrinted(token)
    return kind, token
