"""Text widths in Helvetica, which every PDF reader has and whose widths Arial and Liberation Sans share."""

import unicodedata

REGULAR = (
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556,
    1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556,
    333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
)  # fmt: skip
BOLD = (
    278, 333, 474, 556, 556, 889, 722, 238, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556, 556, 556, 556, 556, 556, 333, 333, 584, 584, 584, 611,
    975, 722, 722, 722, 722, 667, 611, 778, 722, 278, 556, 722, 611, 833, 722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 333, 278, 333, 584, 556,
    333, 556, 611, 556, 611, 556, 333, 611, 611, 278, 278, 556, 278, 889, 611, 611, 611, 611, 389, 556, 333, 611, 556, 778, 556, 556, 500, 389, 280, 389, 584,
)  # fmt: skip
"""Thousandths of the size, from the space to the tilde: Adobe, Core 14 AFM files, Helvetica and Helvetica-Bold."""

OTHER_CHARACTERS = {
    "·": 278,
    "×": 584,
    "±": 584,
    "–": 556,
    "—": 1000,
    "…": 1000,
    "°": 400,
    "µ": 611,
    "’": 278,
    "‘": 278,
    "“": 500,
    "”": 500,
    "\u00a0": 278,
}
WIDEST = 1000
"""The width of characters that are not in the tables."""


def text_width(text: str, size: float, bold: bool = False) -> float:
    """The width of a line of text in points.

    >>> round(text_width("ITL", 10), 2)
    14.45
    """
    table = BOLD if bold else REGULAR
    return sum(_width(c, table) for c in text) * size / 1000


def _width(c: str, table: tuple[int, ...]) -> int:
    place = ord(c) - 32
    if 0 <= place < len(table):
        return table[place]
    if c in OTHER_CHARACTERS:
        return OTHER_CHARACTERS[c]
    base = unicodedata.normalize("NFD", c)[0]
    return _width(base, table) if base != c else WIDEST


def shortened(text: str, size: float, most: float) -> str:
    """Truncate a text to a width in points, with an ellipsis.

    >>> shortened("Llama-3 70B on 2 × H100 SXM", 10, 90)
    'Llama-3 70B on 2…'
    """
    if text_width(text, size) <= most:
        return text
    while text and text_width(f"{text}…", size) > most:
        text = text[:-1].rstrip()
    return f"{text}…"


def wrapped(text: str, size: float, most: float) -> list[str]:
    """Wrap a text between words to a width in points; a longer word is truncated.

    >>> wrapped("the batch that memory holds", 10, 60)
    ['the batch', 'that memory', 'holds']
    """
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and text_width(longer, size) <= most:
            lines[-1] = longer
        else:
            lines.append(shortened(word, size, most))
    return lines
