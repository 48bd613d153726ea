"""A waterfall chart: a bar for each of two values, and one for each step between them."""

import re
from dataclasses import dataclass
from fractions import Fraction

from symroof.analysis.differences import CaseDifference
from symroof.analysis.waterfall import Waterfall, WaterfallStep, fraction_of, signed_text
from symroof.cases.quantity_result import DOES_NOT_FIT
from symroof.drawing.canvas import Canvas
from symroof.drawing.colours import BLACK, BLUE, GREY, VERMILION, WHITE, tint
from symroof.drawing.frame import readable
from symroof.drawing.scales import Scale, linear_ticks, round_values
from symroof.drawing.text_metrics import shortened, text_width
from symroof.report.field_names import QUANTITIES_BY_NAME, name_in_words
from symroof.report.pictures.labels import in_unit
from symroof.report.pictures.picture import RIGHT, WIDTH, Picture, noted, sheet
from symroof.units import format_quantity, significant

ROW, BAR, NAMES, VALUES = 19.0, 11.0, 230.0, 96.0
MOST = 14
"""Maximum steps; smaller ones share a bar."""
NEGLIGIBLE = Fraction(1, 1000)
"""Steps of a smaller share of the larger value share a bar, or have none."""
NARROW = 0.5
"""Share of the values below which the axis starts near them instead of at zero."""
SIZE, DIGITS = 8.0, 3
TICK_SIZE = 8.0
RANGE = re.compile(r"^(\S+) (\S+)\.\.(\S+) \2$")
"""A range whose ends have the same unit."""


def waterfall_picture(way: Waterfall, start: str, end: str) -> Picture:
    """Draw a waterfall from the top down."""
    parts = _split(way)
    headline = f"{QUANTITIES_BY_NAME.get(way.symbol.name, way.symbol.name)}: why it differs"
    flagged = DOES_NOT_FIT in (*way.start.flags, *way.end.flags)
    canvas = sheet(
        headline,
        f"{start} to {end}",
        flagged,
        height=78 + ROW * (len(parts.drawn) + 2 + bool(parts.together)),
    )
    scale = Scale(*_ends(way), NAMES, WIDTH - RIGHT - VALUES)
    _axis(canvas, scale, way.symbol.unit)
    row = _Rows(canvas, scale, way.symbol.unit)
    row.total(start, fraction_of(way.start))
    value = fraction_of(way.start)
    for step in parts.drawn:
        row.step(step_in_words(step), value, value + step.effect, step.factor)
        value += step.effect
    if parts.together:
        row.step(f"{parts.count} smaller steps", value, value + parts.together, None)
    row.total(end, fraction_of(way.end))
    notes = [f"Mistake of {step.slip}." for step in parts.drawn if step.slip]
    notes += (
        [
            f"Without a bar, less than 0.1 % together: {'; '.join(map(step_in_words, parts.without_bar))}."
        ]
        if parts.without_bar
        else []
    )
    notes += (
        [f"The axis starts at {in_unit(way.symbol.unit)(scale.low)}, not at zero."]
        if scale.low > 0
        else []
    )
    noted(canvas, notes)
    shows = "Two bars for both values and one for each difference between them, in the order in which they are applied."
    return Picture("waterfall", f"{headline}: {start} to {end}", shows, says(way), canvas)


def says(way: Waterfall) -> str:
    """The takeaway: both values and the largest steps."""
    unit = way.symbol.unit
    most = sorted(way.steps, key=lambda step: -abs(step.effect))[:3]
    moved = "; ".join(f"{step.label}: {signed_text(step.effect, unit)}" for step in most)
    return f"{way.symbol.name} goes from {way.start.text()} to {way.end.text()}{f'; {moved}' if moved else ', nothing moves it'}."


def step_in_words(step: WaterfallStep) -> str:
    """The changes of a step: ``overhead per layer 61.1 to 117 µs -> 0 s``."""
    return ", ".join(map(_change_in_words, step.changes))


def _change_in_words(change: CaseDifference) -> str:
    if change.kind == "rest" or ": " in change.name or change.kind == "definition":
        return WaterfallStep((change,), Fraction(0), Fraction(0)).label
    before, after = (
        RANGE.sub(r"\1 to \3 \2", side).replace("..", " to ")
        for side in (change.before, change.after)
    )
    return f"{name_in_words(change.name)} {before} -> {after}"


@dataclass(frozen=True)
class _Parts:
    """The steps with a bar of their own, and what those without add up to: one bar if that is noticeable."""

    drawn: list[WaterfallStep]
    together: Fraction
    count: int
    without_bar: list[WaterfallStep]


def _split(way: Waterfall) -> _Parts:
    least = NEGLIGIBLE * max(abs(fraction_of(way.start)), abs(fraction_of(way.end)))
    order = sorted(range(len(way.steps)), key=lambda i: -abs(way.steps[i].effect))
    own = {i for i in order[:MOST] if abs(way.steps[i].effect) >= least}
    rest = [step for i, step in enumerate(way.steps) if i not in own]
    together = sum((step.effect for step in rest), Fraction(0))
    shared = abs(together) >= least and together != 0
    return _Parts(
        [step for i, step in enumerate(way.steps) if i in own],
        together if shared else Fraction(0),
        len(rest),
        [] if shared else rest,
    )


def _ends(way: Waterfall) -> tuple[float, float]:
    """The ends of the axis: from zero, or from a round value below all bars where these differ little."""
    numbers = [
        float(n)
        for n in (
            *(n for step in way.steps for n in (step.before, step.after)),
            fraction_of(way.start),
            fraction_of(way.end),
        )
    ]
    low, high = min(numbers), max(numbers)
    if low <= 0 or high - low > NARROW * high or high == low:
        return min(0.0, low), max(0.0, high) or 1.0
    marks = round_values(0.0, low - (high - low) / 4, 12)
    return max(mark for mark in marks if mark <= low - (high - low) / 8), high


def _axis(canvas: Canvas, scale: Scale, unit: str) -> None:
    """A line with round values above the bars, and a faint line down from each."""
    write, line = in_unit(unit), canvas.height - 54
    canvas.axes = ("step", unit)
    for mark in readable(
        linear_ticks(scale.low, scale.high)[1:],
        lambda m: (scale(m), text_width(write(m), TICK_SIZE)),
        8.0,
    ):
        canvas.text(write(mark), scale(mark), line + 4, TICK_SIZE, GREY, align=0.5)
        canvas.line([(scale(mark), line), (scale(mark), 12)], tint(GREY, 0.25), 0.6)
    canvas.line([(scale.start, line), (scale.end, line)], GREY, 0.8)


class _Rows:
    """Rows from the top down: a name on the left, a bar, its number on the right."""

    def __init__(self, canvas: Canvas, scale: Scale, unit: str) -> None:
        self.canvas, self.scale, self.unit, self.foot = canvas, scale, unit, canvas.height - 72.0
        self.reached: float | None = None  # where the row above ended

    def total(self, name: str, value: Fraction) -> None:
        self._bar(Fraction(self.scale.low) if self.scale.low > 0 else Fraction(0), value, GREY, 0.5)
        if self.scale.low > 0:
            self._break()
        self._words(name, format_quantity(value, self.unit, DIGITS), bold=True)

    def step(self, name: str, before: Fraction, after: Fraction, factor: Fraction | None) -> None:
        self._bar(before, after, VERMILION if after > before else BLUE, 0.65)
        times = "" if factor is None else f"  × {significant(factor, DIGITS)}"
        self._words(
            name,
            f"{'+' if after >= before else ''}{format_quantity(after - before, self.unit, DIGITS)}{times}",
        )

    def _bar(self, before: Fraction, after: Fraction, colour: str, strength: float) -> None:
        left, right = sorted((self.scale(float(before)), self.scale(float(after))))
        right = max(right, left + 0.6)
        centre = self.foot + 3
        self.canvas.area(
            [
                (left, centre - BAR / 2),
                (right, centre - BAR / 2),
                (right, centre + BAR / 2),
                (left, centre + BAR / 2),
            ],
            tint(colour, strength),
        )
        if self.reached is not None:
            self.canvas.line(
                [(self.reached, centre + ROW - BAR / 2), (self.reached, centre + BAR / 2)],
                GREY,
                0.5,
            )
        self.canvas.drawn.append(("after", str(self.foot), float(after)))
        self.reached = self.scale(float(after))

    def _break(self) -> None:
        """A gap near the start of a bar that does not start at zero."""
        left, foot = self.scale.start + 6, self.foot + 3 - BAR / 2
        self.canvas.area(
            [
                (left, foot - 1),
                (left + 3, foot - 1),
                (left + 6, foot + BAR + 1),
                (left + 3, foot + BAR + 1),
            ],
            WHITE,
        )

    def _words(self, name: str, number: str, bold: bool = False) -> None:
        self.canvas.text(
            shortened(name, SIZE, NAMES - (46 if bold else 16)),
            NAMES - 8,
            self.foot,
            SIZE,
            BLACK,
            bold=bold,
            align=1.0,
        )
        self.canvas.text(number, self.scale.end + 8, self.foot, SIZE, BLACK, bold=bold)
        self.foot -= ROW
