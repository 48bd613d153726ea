"""PNG output, painted by matplotlib's Agg, which is only imported here."""

import io
from typing import Any

from symroof.drawing.canvas import Canvas, Point, Polyline, TextLine
from symroof.errors import require

RESOLUTION = 200
"""Dots per inch."""


def png(canvas: Canvas, title: str, description: str) -> bytes:
    """The drawing as a PNG file with its text alternative in the metadata.

    Raises:
        InputError: matplotlib is not installed.
    """
    require("PNG", "matplotlib")
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.transforms import Affine2D

    figure = Figure(
        figsize=(canvas.width / 72, (canvas.height + canvas.below) / 72), dpi=RESOLUTION
    )
    FigureCanvasAgg(figure)
    page = Affine2D().translate(0, canvas.below).scale(RESOLUTION / 72)
    for order, item in enumerate(canvas.items):
        artist = _shape(item, page) if isinstance(item, Polyline) else _words(item, page)
        artist.set_zorder(order)
        figure.add_artist(artist, clip=False)
    made = io.BytesIO()
    figure.savefig(
        made, format="png", metadata={"Title": title, "Description": description, "Software": None}
    )
    return made.getvalue()


def _outline(points: tuple[Point, ...], closed: bool) -> Any:
    from matplotlib.path import Path

    return Path([*points, points[0]], closed=True) if closed else Path(points)


def _shape(shape: Polyline, page: Any) -> Any:
    from matplotlib.patches import PathPatch

    dash: Any = (0, [part / shape.width for part in shape.dash]) if shape.dash else "solid"
    artist = PathPatch(
        _outline(shape.points, shape.closed), facecolor=shape.fill or "none", edgecolor=shape.stroke or "none", transform=page,
        linewidth=shape.width if shape.stroke else 0, linestyle=dash, joinstyle="round", capstyle="butt",
    )  # fmt: skip
    if shape.clip:
        artist.set_clip_path(_outline(shape.clip, True), page)
    return artist


def _words(words: TextLine, page: Any) -> Any:
    """Glyph outlines, scaled to the text width of the other formats."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.patches import PathPatch
    from matplotlib.textpath import TextPath
    from matplotlib.transforms import Affine2D

    font = FontProperties(family="DejaVu Sans", weight="bold" if words.bold else "normal")
    size = words.size * 0.96  # its glyphs are taller than Helvetica's
    outline: Any = TextPath((0, 0), words.text.replace("$", r"\$"), size=size, prop=font)
    drawn = outline.get_extents().width if words.text.strip() else 0.0
    squeeze = words.width / drawn if drawn else 1.0
    return PathPatch(
        outline,
        facecolor=words.colour,
        edgecolor="none",
        linewidth=0,
        transform=Affine2D().scale(squeeze, 1).translate(words.x, words.y) + page,
    )
