"""Texts with a role, and how each output format writes and escapes them.

Templates get plain data: ``str`` (escaped wherever it is printed), ``Code`` (a name), ``Ranged`` (a value with its range), ``Math``
(LaTeX from our own printers), numbers, truths, lists and mappings. Nothing else ever reaches a template.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from symroof.formula.latex import latex
from symroof.formula.mathml import mathml, spelling, words
from symroof.formula.tree import Tree


class Code(str):
    """A name as it is typed."""


class Math(str):
    """A formula in LaTeX, from our own printers, and the same in MathML: the inside of a ``<math>`` element."""

    mathml: str

    def __new__(cls, latex: str, mathml: str) -> Math:
        made = super().__new__(cls, latex)
        made.mathml = mathml
        return made

    def __reduce__(self) -> tuple[type[Math], tuple[str, str]]:  # a template of the user's gets it in another process
        return Math, (str(self), self.mathml)


NOTHING = Math("", "<mi></mi>")
"""The left side of a line that goes on; without an element there, browsers leave no room around the sign."""


def formula(tree: Tree, spell: Callable[[str], str]) -> Math:
    """A formula whose names are spelled in LaTeX."""
    return Math(latex(tree, spell), mathml(tree, lambda name: spelling(spell(name))))


def symbol(spelled: str) -> Math:
    """A name as formulas spell it."""
    return Math(spelled, spelling(spelled))


def in_words(text: str) -> Math:
    """A value in words within a formula."""
    escaped = text.replace("%", r"\%").replace("µ", r"}\mu\text{")
    return Math(rf"\text{{{escaped}}}", words(text))


def equation(*sides: Math) -> Math:
    """Things that are equal, in one line."""
    return Math(" = ".join(sides), "<mo>=</mo>".join(side.mathml for side in sides))


UNIT = re.compile(r"(?<=\d) \S+$")
"""What stands behind the last number of a text."""


class Ranged(str):
    """A value with its range in parentheses; a format may write the range smaller, or under the value.

    >>> cell = Ranged("12.3 ms", "11.0 to 14.2 ms")
    >>> cell, cell.value, cell.span, cell.ends
    ('12.3 ms (11.0 to 14.2 ms)', '12.3 ms', '11.0 to 14.2 ms', '11.0 to 14.2')
    """

    value: str
    span: str

    def __new__(cls, value: str, span: str) -> Ranged:  # both finished markup, or both plain
        made = super().__new__(cls, f"{value} ({span})")
        made.value, made.span = value, span
        return made

    @property
    def ends(self) -> str:
        """The range without its unit, where that is the unit of the value."""
        unit = UNIT.search(self.value)
        low, _, high = self.span.partition(" to ")
        return type(self.span)(f"{low} to {high.removesuffix(unit[0])}") if unit and " " not in low and high.endswith(unit[0]) else self.span

    def __reduce__(self) -> tuple[type[Ranged], tuple[str, str]]:
        return Ranged, (self.value, self.span)


MARKDOWN_SPECIAL = re.compile(r"([\\`*_\[\]|$~#])")


LINE_START = re.compile(r"^(\d{0,9})((?<=\d)[.)](?=\s|$)|(?<!\d)[-+](?=\s|$|-))")
"""What would begin a list or draw a rule at the start of a line."""


def markdown_text(text: str) -> str:
    """Text that reads literally in GitHub's Markdown, also inside a table cell.

    >>> markdown_text("a|b <c> kv_cache")
    'a\\\\|b &lt;c&gt; kv\\\\_cache'
    """
    escaped = LINE_START.sub(r"\1\\\2", MARKDOWN_SPECIAL.sub(r"\\\1", _one_line(text)))
    return escaped.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def markdown_code(text: str) -> str:
    """A code span, its fence longer than any run of backticks inside; a bar would end the cell of a table.

    >>> markdown_code("a``b` <i>"), markdown_code("`")
    ('```a``b` <i>```', '`` ` ``')
    """
    plain = _one_line(text).replace("|", "¦")
    mark = fence(plain, 1)
    space = " " if plain.startswith("`") or plain.endswith("`") else ""
    return f"{mark}{space}{plain}{space}{mark}"


def fence(text: str, least: int = 3) -> str:
    """Backticks that no run of backticks inside the text can close."""
    return "`" * max(least, 1 + max(map(len, re.findall("`+", text)), default=0))


def markdown_table(rows: Sequence[Sequence[str]], header: Sequence[str]) -> str:
    """A table in GitHub's Markdown with escaped cells.

    >>> print(markdown_table([["a_b", "1"]], ["name", "value"]))
    | name | value |
    | --- | --- |
    | a\\_b | 1 |
    """
    lines = [list(map(markdown_text, header)), ["---"] * len(header), *(list(map(markdown_text, row)) for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def markdown_math(text: str) -> str:
    return f"$`{text}`$"


LATEX_SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "_": r"\_", "%": r"\%",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}",
    '"': r"\textquotedbl{}", "'": r"'", "`": r"\textasciigrave{}", "µ": r"$\mu$", "×": r"$\times$", "≤": r"$\le$", "≥": r"$\ge$",
    "→": r"$\to$", "–": "--", "—": "---", "…": r"\ldots{}", "·": r"$\cdot$", "±": r"$\pm$", "−": r"$-$", "≈": r"$\approx$",
    "’": "'", "‘": "`", "“": "``", "”": "''", "\u00a0": "~", "°": r"\textdegree{}", "†": r"\textdagger{}", "€": r"\texteuro{}",
}  # fmt: skip


def latex_text(text: str) -> str:
    """Text that prints literally under pdflatex; a character its fonts do not have is named by its code.

    >>> latex_text("50 % of a_b ≤ 3")
    '50 \\\\% of a\\\\_b $\\\\le$ 3'
    """
    return " ".join(_latex_word(word, "_/*" if len(word) >= LONG_WORD else "") for word in _one_line(text).split(" "))


LONG_WORD = 20
"""Characters of a formula or address from which a narrow column may need to break it, though it has no spaces."""


def _latex_word(word: str, breaks: str) -> str:
    """Characters that print literally; a line may break after some of them."""
    return "".join(_latex_character(c) + (r"\allowbreak{}" if c in breaks else "") for c in word)


def _latex_character(c: str) -> str:
    if c in LATEX_SPECIAL:
        return LATEX_SPECIAL[c]
    if c.isascii() or ("À" <= c <= "ÿ" and c.isalpha()):
        return c
    return f"[U+{ord(c):04X}]"


def latex_code(text: str) -> str:
    """A name in type-writer, allowed to break after underscores and operators."""
    written = _latex_word(_one_line(text), "_").replace("--", "-{}-")
    return rf"\texttt{{{written}}}"


def latex_math(text: str) -> str:
    return f"${text}$"


def latex_ranged(cell: Ranged) -> str:
    return rf"\ranged{{{_once(cell.value, latex_text)}}}{{{_once(cell.ends, latex_text)}}}"


def _once(text: str, write: Callable[[str], str]) -> str:
    """A text as a format writes it; finished markup as it is, so that nothing is escaped twice."""
    return text if isinstance(text, Markup) else write(text)


def html_text(text: str) -> str:
    return html.escape(_one_line(text))


def html_ranged(cell: Ranged) -> str:
    return f"{_once(cell.value, html_text)} <small>({_once(cell.span, html_text)})</small>"


def html_math(formula: Math, display: str = "inline") -> str:
    return f'<math xmlns="http://www.w3.org/1998/Math/MathML" display="{display}"><mrow>{formula.mathml}</mrow></math>'


def _one_line(text: str) -> str:
    """No control characters and no line breaks: a title cannot start a heading or end a table row."""
    if text.isprintable():  # no character of category C, and no line break
        return text.strip()
    return "".join(c if not unicodedata.category(c).startswith("C") else " " for c in text).strip()


@dataclass(frozen=True)
class Format:
    """An output format: how it writes each kind of text, and what figures it takes."""

    name: str
    figure_ending: str
    text: Callable[[str], str]
    code: Callable[[str], str]
    math: Callable[[Math], str]
    ranged: Callable[[Ranged], str] | None = None

    def stacked(self, value: Any) -> Markup:
        """What a table prints for a cell: a range smaller, or under its value, where the format has a way to."""
        return Markup(self.ranged(value)) if isinstance(value, Ranged) and self.ranged else self.written(value)

    def written(self, value: Any) -> Markup:
        """What a template prints for a value: everything but finished markup is escaped here."""
        if isinstance(value, Markup):
            return value
        if isinstance(value, Ranged) and isinstance(value.value, Markup):
            return Markup(value)
        if value is None:
            return Markup()
        if isinstance(value, Math):
            return Markup(self.math(value))
        if isinstance(value, Code):
            return Markup(self.code(value))
        return Markup(self.text(str(value)))


FORMATS = {
    "md": Format("markdown", "svg", markdown_text, markdown_code, markdown_math),
    "tex": Format("latex", "pdf", latex_text, latex_code, latex_math, latex_ranged),
    "html": Format("html", "svg", html_text, lambda text: f"<code>{html_text(text)}</code>", html_math, html_ranged),
}
