"""SVG output: text at a fixed width in any font, with title and description for screen readers."""

from html import escape

from symroof.drawing.canvas import Canvas, Point, Polyline, TextLine
from symroof.drawing.colours import BLACK

FONTS = "Helvetica, Arial, 'Liberation Sans', sans-serif"


def svg(canvas: Canvas, title: str, description: str) -> bytes:
    """The drawing as a reproducible SVG file."""
    width, height = canvas.width, canvas.height + canvas.below
    clips = {
        clip: f"c{i}"
        for i, clip in enumerate(
            dict.fromkeys(
                item.clip for item in canvas.items if isinstance(item, Polyline) and item.clip
            )
        )
    }
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{number(width)}pt" height="{number(height)}pt" '
        f'viewBox="0 0 {number(width)} {number(height)}" font-family="{FONTS}">',
        f'<title>{_text(title)}</title>',
        f'<desc>{_text(description)}</desc>',
        *(["<defs>", *(f'<clipPath id="{name}"><path d="{_path(clip, True, canvas.height)}"/></clipPath>' for clip, name in clips.items()), "</defs>"] if clips else []),
        f'<rect width="{number(width)}" height="{number(height)}" fill="#FFFFFF"/>',
        *(_shape(item, canvas.height, clips) if isinstance(item, Polyline) else _words(item, canvas.height) for item in canvas.items),
        "</svg>",
    ]  # fmt: skip
    return ("\n".join(lines) + "\n").encode()


def number(value: float) -> str:
    """A number with up to two decimals.

    >>> number(3.0), number(-0.001), number(12.345)
    ('3', '0', '12.35')
    """
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _text(text: str) -> str:
    """Escaped text without control characters."""
    return escape("".join(c if c.isprintable() else " " for c in text))


def _path(points: tuple[Point, ...], closed: bool, top: float) -> str:
    pairs = [f"{number(x)} {number(top - y)}" for x, y in points]
    return f"M{'L'.join(pairs)}{'Z' if closed else ''}"


def _shape(shape: Polyline, top: float, clips: dict[tuple[Point, ...], str]) -> str:
    look = [f'fill="{shape.fill or "none"}"']
    if shape.stroke:
        look += [
            f'stroke="{shape.stroke}"',
            f'stroke-width="{number(shape.width)}"',
            'stroke-linejoin="round"',
        ]
    if shape.dash:
        look.append(f'stroke-dasharray="{" ".join(map(number, shape.dash))}"')
    if shape.clip:
        look.append(f'clip-path="url(#{clips[shape.clip]})"')
    return f'<path d="{_path(shape.points, shape.closed, top)}" {" ".join(look)}/>'


def _words(words: TextLine, top: float) -> str:
    look = [
        f'x="{number(words.x)}"',
        f'y="{number(top - words.y)}"',
        f'font-size="{number(words.size)}"',
        f'textLength="{number(words.width)}"',
        'lengthAdjust="spacingAndGlyphs"',
    ]
    look += ['font-weight="bold"'] if words.bold else []
    look += [f'fill="{words.colour}"'] if words.colour != BLACK else []
    return f"<text {' '.join(look)}>{_text(words.text)}</text>"
