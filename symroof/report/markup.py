"""Typed texts, and how each output format writes and escapes them.

Templates get plain data: ``str`` (escaped wherever it is printed), ``Code`` (a name), ``Ranged`` (a value with its range), ``Math``
(a formula), numbers, booleans, lists and mappings. Nothing else reaches a template.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from symroof.symbolic.expressions import Expr
from symroof.symbolic.printing import latex, text


class Code(str):
    """A name in code font."""


class Math(str):
    """A formula in LaTeX, and as text where a format prints no LaTeX; a symbol without text is left out there."""

    text: str

    def __new__(cls, latex: str, text: str = "") -> Math:
        made = super().__new__(cls, latex)
        made.text = text
        return made


NOTHING = Math("")
"""The empty left side of a continued equation."""


def formula(tree: Expr, spell: Callable[[str], str]) -> Math:
    """A formula tree as LaTeX and as text."""
    return Math(latex(tree, spell), text(tree))


def in_words(words: str) -> Math:
    """Text within a formula."""
    escaped = words.replace("%", r"\%").replace("µ", r"}\mu\text{")
    return Math(rf"\text{{{escaped}}}", words)


def equation(*sides: Math) -> Math:
    """A chain of equal terms on one line."""
    return Math(" = ".join(sides), " = ".join(side.text for side in sides))


UNIT = re.compile(r"(?<=\d) \S+$")
"""The unit at the end of a text."""


class Ranged(str):
    """A value with its range in parentheses; a format may print the range smaller or below the value.

    >>> cell = Ranged("12.3 ms", "11.0 to 14.2 ms")
    >>> cell, cell.value, cell.span, cell.ends
    ('12.3 ms (11.0 to 14.2 ms)', '12.3 ms', '11.0 to 14.2 ms', '11.0 to 14.2')
    """

    value: str
    span: str

    def __new__(cls, value: str, span: str) -> Ranged:
        made = super().__new__(cls, f"{value} ({span})")
        made.value, made.span = value, span
        return made

    @property
    def ends(self) -> str:
        """The range, without its unit if the value has the same."""
        unit = UNIT.search(self.value)
        low, _, high = self.span.partition(" to ")
        if unit and " " not in low and high.endswith(unit[0]):
            return f"{low} to {high.removesuffix(unit[0])}"
        return self.span


MARKDOWN_SPECIAL = re.compile(r"([\\`*_\[\]|$~#])")


LINE_START = re.compile(r"^(\d{0,9})((?<=\d)[.)](?=\s|$)|(?<!\d)[-+](?=\s|$|-))")
"""Start of a line that Markdown would read as a list or rule."""


def markdown_text(text: str) -> str:
    """Escape text for GitHub's Markdown, including table cells.

    >>> markdown_text("a|b <c> kv_cache")
    'a\\\\|b &lt;c&gt; kv\\\\_cache'
    """
    escaped = LINE_START.sub(r"\1\\\2", MARKDOWN_SPECIAL.sub(r"\\\1", _one_line(text)))
    return escaped.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def markdown_code(text: str) -> str:
    """A code span with a fence longer than any inner backticks; bars, which would end a table cell, are replaced.

    >>> markdown_code("a``b` <i>"), markdown_code("`")
    ('```a``b` <i>```', '`` ` ``')
    """
    plain = _one_line(text).replace("|", "¦")
    mark = fence(plain, 1)
    space = " " if plain.startswith("`") or plain.endswith("`") else ""
    return f"{mark}{space}{plain}{space}{mark}"


def fence(text: str, least: int = 3) -> str:
    """A backtick fence that nothing inside the text can close."""
    return "`" * max(least, 1 + max(map(len, re.findall("`+", text)), default=0))


MATHS = zip(
    "µ×≤≥→·±≈✓✗",
    ["mu", "times", "le", "ge", "to", "cdot", "pm", "approx", "checkmark", "times"],
    strict=True,
)
SIGNS = "backslash asciitilde asciicircum less greater bar quotedbl asciigrave degree dagger euro"
QUOTES = {"’": "'", "‘": "`", "“": "``", "”": "''", "–": "--", "—": "---", "\u00a0": "~"}
LATEX_SPECIAL = {
    **{c: rf"\{c}" for c in "{}$&#_%"},
    **{c: rf"$\{name}$" for c, name in MATHS},
    **{c: rf"\text{name}{{}}" for c, name in zip('\\~^<>|"`°†€', SIGNS.split(), strict=True)},
    **QUOTES,
    "−": "$-$",
    "…": r"\ldots{}",
}


def latex_text(text: str) -> str:
    """Escape text for pdflatex; characters missing in its fonts are written as their code.

    >>> latex_text("50 % of a_b ≤ 3")
    '50 \\\\% of a\\\\_b $\\\\le$ 3'
    """
    return " ".join(
        _latex_word(word, "_/*" if len(word) >= LONG_WORD else "")
        for word in _one_line(text).split(" ")
    )


LONG_WORD = 20
"""Length from which a word, such as a formula or an address, may be broken."""


def _latex_word(word: str, breaks: str) -> str:
    """Escaped characters; a line may break after those in ``breaks``."""
    made = []
    for c in word:
        plain = c.isascii() or ("À" <= c <= "ÿ" and c.isalpha())
        escaped = LATEX_SPECIAL.get(c, c if plain else f"[U+{ord(c):04X}]")
        made.append(escaped + (r"\allowbreak{}" if c in breaks else ""))
    return "".join(made)


def latex_code(text: str) -> str:
    """A name in typewriter font that may break after underscores."""
    written = _latex_word(_one_line(text), "_").replace("--", "-{}-")
    return rf"\texttt{{{written}}}"


def html_text(text: str) -> str:
    return html.escape(_one_line(text))


def html_code(text: str) -> str:
    return f"<code>{html_text(text)}</code>"


def _one_line(text: str) -> str:
    """Remove control characters and line breaks, so that a title cannot start a heading or end a table row."""
    if text.isprintable():  # no character of category C, and no line break
        return text.strip()
    return "".join(c if not unicodedata.category(c).startswith("C") else " " for c in text).strip()


@dataclass(frozen=True)
class Format:
    """An output format: how it writes each type of text, and its figure format."""

    name: str
    figure_ending: str
    text: Callable[[str], str]
    code: Callable[[str], str]
    math: Callable[[Math], str]
    ranged: str = ""

    def stacked(self, value: Any) -> Markup:
        """Write a table cell, with a smaller or separate range if the format supports it."""
        if isinstance(value, Ranged) and self.ranged:
            value = Markup(
                self.ranged.format(
                    **{part: self.text(getattr(value, part)) for part in ("value", "span", "ends")}
                )
            )
        return self.written(value)

    def written(self, value: Any) -> Markup:
        """Write a value of a template; everything except finished markup is escaped."""
        if isinstance(value, Markup) or value is None:
            return value or Markup()
        if isinstance(value, Math):
            return Markup(self.math(value))
        return Markup(self.code(value) if isinstance(value, Code) else self.text(str(value)))


FORMATS = {
    "md": Format("markdown", "svg", markdown_text, markdown_code, lambda tex: f"$`{tex}`$"),
    "tex": Format(
        "latex",
        "pdf",
        latex_text,
        latex_code,
        lambda tex: f"${tex}$",
        r"\ranged{{{value}}}{{{ends}}}",
    ),
    "html": Format(
        "html",
        "svg",
        html_text,
        html_code,
        lambda tex: html_code(tex.text) if tex.text else "",
        "{value} <small>({span})</small>",
    ),
}
