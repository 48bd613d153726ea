"""Okabe and Ito's colours, distinct for colour-blind readers; lines also differ in dash, shape or words."""

BLUE, ORANGE, GREEN, SKY, VERMILION, PURPLE = (
    "#0072B2",
    "#E69F00",
    "#009E73",
    "#56B4E9",
    "#D55E00",
    "#CC79A7",
)
BLACK, GREY, PALE, WHITE = "#000000", "#555555", "#AAAAAA", "#FFFFFF"
OCHRE = "#8A5A00"
"""Orange, dark enough for text."""

DARKER = {ORANGE: OCHRE, SKY: "#1B6E9C", PURPLE: "#A13D70", GREEN: "#00795A", VERMILION: "#B84E00"}
"""Darker variants for text of colours that are too light."""

Dash = tuple[float, ...]
SOLID: Dash = ()
DASHED: Dash = (5, 3)
DOTTED: Dash = (1.4, 2.4)
DASH_DOT: Dash = (7, 2.5, 1.4, 2.5)
LONG: Dash = (10, 3)

SERIES: tuple[tuple[str, Dash, str], ...] = (
    (BLUE, SOLID, "circle"),
    (GREEN, DASH_DOT, "square"),
    (PURPLE, LONG, "up"),
    (ORANGE, DOTTED, "diamond"),
    (SKY, (7, 2, 1.4, 2, 1.4, 2), "down"),
    (GREY, (3, 2), "cross"),
)
"""Colour, dash and marker of each line; each of the three identifies it."""


def tint(colour: str, share: float) -> str:
    """A colour mixed with white, instead of transparency.

    >>> tint("#0072B2", 0.0), tint("#000000", 0.25)
    ('#FFFFFF', '#BFBFBF')
    """
    parts = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return "#" + "".join(f"{round(255 - (255 - part) * share):02X}" for part in parts)
