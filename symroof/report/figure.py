"""How every figure begins and ends: its style, and its two file forms, of which the same data gives the same bytes.

Colours are Okabe and Ito's, apart for colour-blind readers; what they tell apart differs in shape or words too, and every
figure has a text alternative.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLUE, ORANGE, GREEN, SKY, VERMILION, GREY = "#0072B2", "#E69F00", "#009E73", "#56B4E9", "#D55E00", "#555555"
SETTINGS: dict[Any, Any] = {
    "svg.hashsalt": "symroof",
    "svg.fonttype": "path",
    "font.size": 9,
    "pdf.compression": 6,
    "axes.spines.top": False,
    "axes.spines.right": False,
}


@dataclass(frozen=True)
class Drawing:
    """A figure with its text alternative."""

    name: str
    alt: str
    svg: bytes
    pdf: bytes


def blank(width: float, height: float) -> tuple[Figure, Axes]:
    from matplotlib import rcParams
    from matplotlib.figure import Figure

    rcParams.update(SETTINGS)
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.add_subplot()


def saved(figure: Figure, name: str, alt: str) -> Drawing:
    """Both file forms without a date, so that the same run gives the same bytes."""
    svg, pdf = io.BytesIO(), io.BytesIO()
    figure.savefig(svg, format="svg", metadata={"Date": None, "Creator": None})
    figure.savefig(pdf, format="pdf", metadata={"CreationDate": None, "Creator": None, "Producer": None})
    return Drawing(name, alt, _with_text(svg.getvalue(), alt), pdf.getvalue())


def _with_text(svg: bytes, alt: str) -> bytes:
    """The SVG with its text alternative, for screen readers."""
    from html import escape

    head, mark, rest = svg.decode().partition("<defs>")
    marked = head.replace("<svg ", '<svg role="img" ', 1)
    return f"{marked}<desc>{escape(alt)}</desc>\n{mark}{rest}".encode()
