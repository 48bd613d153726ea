"""Colours for light and dark screens: Okabe and Ito's, distinct for colour-blind readers; marks also differ in shape."""

from __future__ import annotations

from html import escape
from typing import Any

PALETTE = {  # role: line and text on white, line and text on black
    "back": ("#ffffff", "#ffffff", "#16181b", "#16181b"),
    "ink": ("#111111", "#111111", "#e8e8e8", "#e8e8e8"),
    "faint": ("#5b5f64", "#5b5f64", "#a8adb3", "#a8adb3"),
    "pale": ("#b4b8bd", "#6f7378", "#50565c", "#8d939a"),
    "blue": ("#0072b2", "#00629a", "#4fa8e0", "#7dbdec"),
    "orange": ("#e69f00", "#8a5a00", "#e39c12", "#f0b840"),
    "green": ("#009e73", "#00795a", "#2cbf95", "#5fd3b3"),
    "sky": ("#56b4e9", "#1b6e9c", "#7cc6f0", "#9ed5f5"),
    "vermilion": ("#d55e00", "#b84e00", "#ff8c42", "#ffa066"),
    "purple": ("#cc79a7", "#a13d70", "#df9cc0", "#e8b4d0"),
}
SERIES = (*zip(("blue", "green", "purple", "orange", "sky", "faint"), "os^Dvx", strict=True),)
"""Colour and sign of each candidate; each of the two identifies it."""
RC: dict[str, Any] = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "text.parse_math": False,
    "text.usetex": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "symroof",
    "pdf.fonttype": 42,
    "hatch.linewidth": 0.6,
    "path.simplify": True,
}
"""Settings of Matplotlib under which a picture is drawn and saved, whatever its user has set."""
SMALL = 8.0
"""Points of words in a picture."""
FONTS = "'DejaVu Sans', sans-serif"


def line(role: str) -> str:
    """The colour of a line or an area."""
    return PALETTE[role][0]


def words(role: str) -> str:
    """The colour of words, which are thinner and so darker."""
    return PALETTE[role][1]


def themed(svg: str, title: str, description: str) -> str:
    """An SVG of Matplotlib with its text alternative, a font that every reader has, and dark colours where the reader's theme is dark."""
    rest = svg.partition("<svg ")[2]
    attributes, _, body = rest.partition(">")
    about = f"<title>{_text(title)}</title>\n <desc>{_text(description)}</desc>"
    pairs = {
        light: dark
        for row in PALETTE.values()
        for light, dark in zip(row[:2], row[2:], strict=True)
    }
    rules = "".join(
        f'[style*="{what}: {light}"]{{{what}:{dark}!important}}'
        for light, dark in pairs.items()
        for what in ("fill", "stroke")
    )
    theme = f"\n <style>@media (prefers-color-scheme: dark){{{rules}}}</style>"
    body = body.replace(f"font-family: {FONTS}", "font-family: sans-serif")
    return f'<svg role="img" {attributes}>\n {about}{theme}{body}'


def _text(text: str) -> str:
    return escape(printable(text))


def printable(text: str) -> str:
    """A text without control characters but for its line breaks."""
    return "".join(c if c.isprintable() or c == "\n" else " " for c in text)
