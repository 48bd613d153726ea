r"""The tokens of a LaTeX formula: layout commands are dropped, operator commands become operators.

A letter is a token of its own, because letters side by side multiply; a name of several letters stands in ``\mathrm{}``
or ``\text{}``, or is one of the ``known`` ones.

>>> [token.text for token in latex_tokens(r"2\,H_{kv} \le \tfrac{3.35 \times 10^{12}}{\eta_c}")][:8]
['2', 'H', '_', '{', 'k', 'v', '}', '<=']
"""

import difflib
import re
from collections.abc import Set

from symroof.formula.parse import FUNCTIONS, LONGEST, FormulaError, Token
from symroof.units import UNITS

GREEK = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ϵ", "varepsilon": "ε", "zeta": "ζ", "eta": "η", "theta": "θ", "vartheta": "ϑ",
    "iota": "ι", "kappa": "κ", "varkappa": "ϰ", "lambda": "λ", "mu": "μ", "nu": "ν", "xi": "ξ", "pi": "π", "varpi": "ϖ", "rho": "ρ", "varrho": "ϱ",
    "sigma": "σ", "varsigma": "ς", "tau": "τ", "upsilon": "υ", "phi": "ϕ", "varphi": "φ", "chi": "χ", "psi": "ψ", "omega": "ω",
    "Gamma": "Γ", "Delta": "Δ", "Theta": "Θ", "Lambda": "Λ", "Xi": "Ξ", "Pi": "Π", "Sigma": "Σ", "Upsilon": "Υ", "Phi": "Φ", "Psi": "Ψ", "Omega": "Ω", "ell": "ℓ",
}  # fmt: skip
"""Letters by their command, each with the character that prints it."""

OPERATORS = {
    "cdot": "*", "times": "*", "ast": "*", "div": "/", "le": "<=", "leq": "<=", "leqslant": "<=", "ge": ">=", "geq": ">=", "geqslant": ">=", "lt": "<", "gt": ">",
    "lceil": "lceil", "rceil": "rceil", "lfloor": "lfloor", "rfloor": "rfloor", "vert": "|", "mid": "|", "lbrace": r"\{", "rbrace": r"\}",
    "{": r"\{", "}": r"\}", "%": "%", "colon": ":",
}  # fmt: skip
STRUCTURE = frozenset(
    {"frac", "tfrac", "dfrac", "cfrac", "sqrt", "log", "ln", "exp", "max", "min", "sum"}
)
SPACE = frozenset({"quad", "qquad", ",", ";", ":", "!", ">", " ", "displaystyle", "textstyle", "limits", "nolimits", "big", "Big", "bigg", "Bigg", "bigl",
                   "bigr", "Bigl", "Bigr", "biggl", "biggr", "Biggl", "Biggr", "left", "right", "middle", "strut"})  # fmt: skip
WORDS = (
    "text",
    "mathrm",
    "mathit",
    "mathsf",
    "mathtt",
    "mathbf",
    "textrm",
    "textit",
    "texttt",
    "textsf",
    "operatorname",
    "mbox",
    "rm",
)
KNOWN = sorted({*OPERATORS, *STRUCTURE, *SPACE, *WORDS, *GREEK})
UPRIGHT = frozenset({*FUNCTIONS} - {"sum"})
"""Functions people also write upright, ``\\text{ceil}(..)``, or without a backslash."""

RELATIONS = frozenset({"<=", ">=", "<", ">", "="})

TOKEN = re.compile(
    r"(?P<space>\s+|~)"
    r"|(?P<number>(?:\d{1,3}(?:(?:\{,\}|\\,)\d{3})+(?!\d)(?:\.\d+)?|\d+(?:\.\d+|\.(?![.\d]))?|\.\d+)(?:[eE][+-]?\d+)?)"
    rf"|\\(?:{'|'.join(WORDS)})\*?\s*\{{(?P<text>[^{{}}\\]*(?:\\[,;_% ][^{{}}\\]*)*)\}}"
    r"|\\left\s*(?P<dot>\.)|\\(?P<command>[A-Za-z]+|.)"
    r"|(?P<letter>[A-Za-z])|(?P<op>\*\*|<=|>=|[-+*/^_(){}\[\]<>=,%&|:.;])",
    re.DOTALL,
)
WORD = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:\\?_[A-Za-z0-9]+)*(?:\.[A-Za-z]\w*)?")
OUTSIDE = (("$$", "$$"), ("$", "$"), (r"\(", r"\)"), (r"\[", r"\]"))


def latex_tokens(source: str, known: Set[str] = frozenset()) -> list[Token]:
    """The formula as tokens of kinds number, letter, text, command, op and end; columns are those of the source.

    Raises:
        FormulaError: a character or command that is not in the subset, with the nearest command that is.
    """
    if len(source) > LONGEST:
        raise FormulaError(
            f"a formula has at most {LONGEST} characters; this one has {len(source)}", LONGEST
        )
    bare = _inside(source)
    result: list[Token] = []
    position = 0
    while position < len(bare):
        match = TOKEN.match(bare, position)
        if not match:
            raise FormulaError(f"unexpected character {bare[position]!r}", position + 1)
        kind, column = match.lastgroup or "", position + 1
        position = match.end()
        if kind == "letter":
            written = _word(bare, column, known, result)
            position = match.start() + len(written)
            result.append(
                Token("letter" if len(written) == 1 else "text", written.replace("\\", ""), column)
            )
        elif kind not in ("space", "dot"):
            result += _token(kind, match[kind], column, known)
    return _one_line([*result, Token("end", "", len(source) + 1)])


def _inside(source: str) -> str:
    """The formula with the surrounding math delimiters blanked, so that columns stay."""
    bare = source.rstrip().removesuffix(".").removesuffix(",")
    start = len(bare) - len(bare.lstrip())
    for opening, closing in OUTSIDE:
        if (
            bare[start:].startswith(opening)
            and bare.endswith(closing)
            and len(bare) - start >= len(opening) + len(closing)
        ):
            inside = (
                bare[start + len(opening) : len(bare) - len(closing)]
                .rstrip()
                .removesuffix(".")
                .removesuffix(",")
            )
            return " " * (start + len(opening)) + inside
    return bare


def _token(kind: str, written: str, column: int, known: Set[str]) -> list[Token]:
    if kind == "number":
        if re.match(r"0\d", written):  # the rest of 1,024
            raise FormulaError(
                r"a number that begins with 0; thousands are grouped as 1{,}024", column
            )
        return [Token("number", re.sub(r"\{,\}|\\,", "", written), column)]
    if kind == "text":
        return [Token("text", re.sub(r"\\[,; ]|~", "", written).replace("\\", "").strip(), column)]
    if kind == "op":
        return [Token("op", written, column)]
    if written in SPACE:
        return []
    if written in OPERATORS:
        return [Token("op", OPERATORS[written], column)]
    if written in GREEK:
        return [Token("letter", written, column)]
    if written in STRUCTURE:
        return [Token("command", written, column)]
    if written == "\\":
        return [Token("op", "\\\\", column)]
    raise FormulaError(unknown_command(written, known), column)


def unknown_command(name: str, known: Set[str] = frozenset()) -> str:
    r"""The error for a command that is not in the subset.

    >>> print(unknown_command("fracc"))
    unknown command \fracc; did you mean \frac?
    """
    if name in ("begin", "end"):
        return rf"\{name}: paste the formula without the environment around it"
    if name in WORDS:
        return rf"\{name} takes a name or a unit in braces"
    if name in known:
        return rf"unknown command \{name}; write \mathrm{{{name}}}"
    shown = name[:40] if name.isprintable() else ascii(name)[1:-1]
    near = difflib.get_close_matches(name[:40], KNOWN, n=1, cutoff=0.7)
    return rf"unknown command \{shown}" + (rf"; did you mean \{near[0]}?" if near else "")


def _word(source: str, column: int, known: Set[str], before: list[Token]) -> str:
    """The text of the next token: a known name, a function or a unit; else the single letter."""
    written = WORD.match(source, column - 1)
    run = written[0] if written else source[column - 1]
    word = run.replace("\\", "")
    if word in known or word in UPRIGHT:
        return run
    if len(word) > 1 and word in UNITS and _binds(before):
        if known and all(letter in known for letter in word):
            raise FormulaError(
                rf"{word} is a unit and a product of symbols; write \mathrm{{{word}}} or {' '.join(word)}",
                column,
            )
        return run
    return source[column - 1]


def _binds(before: list[Token]) -> bool:
    """Whether a bare unit may stand here: after a number, after a power of ten, or under the slash of a unit."""
    last = before[-1] if before else Token("end", "", 1)
    if last.text == "/" and len(before) > 1:
        return before[-2].kind == "text" and before[-2].text in UNITS
    if last.text == "}":
        return [token.text for token in before[-5:-3]] == ["10", "^"] or [
            token.text for token in before[-6:-4]
        ] == ["10", "^"]
    return last.kind == "number"


def _one_line(tokens: list[Token]) -> list[Token]:
    """Tokens without alignment marks next to a relation and a line break at the end; elsewhere these would hide a second formula."""
    while len(tokens) > 1 and tokens[-2].text == "\\\\":
        del tokens[-2]
    result = []
    for i, token in enumerate(tokens):
        if token.kind == "op" and token.text == "&":
            if i == 0 or tokens[i - 1].text in RELATIONS or tokens[i + 1].text in RELATIONS:
                continue
            raise FormulaError("'&' separates columns: paste one formula at a time", token.column)
        if token.kind == "op" and token.text == "\\\\":
            raise FormulaError("a line break: paste one formula at a time", token.column)
        result.append(token)
    return result
