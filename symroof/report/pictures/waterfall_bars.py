"""A waterfall chart: a bar for each of two values, and one for each step between them."""

from fractions import Fraction

from symroof.analysis.waterfall import Waterfall, WaterfallStep, factor_text, fraction_of, signed_text
from symroof.cases.quantity_result import DOES_NOT_FIT
from symroof.drawing.canvas import Canvas
from symroof.drawing.colours import BLACK, BLUE, GREY, VERMILION, tint
from symroof.drawing.scales import Scale
from symroof.drawing.text_metrics import shortened
from symroof.report.pictures.picture import RIGHT, WIDTH, Picture, noted, sheet
from symroof.units import format_quantity

ROW, BAR, NAMES, VALUES = 19.0, 11.0, 230.0, 96.0
MOST = 14
"""Maximum steps; smaller ones share a bar."""
SIZE = 8.0


def waterfall_picture(way: Waterfall, start: str, end: str) -> Picture:
    """Draw a waterfall from the top down."""
    steps, others = _largest(way.steps)
    headline = f"Why {way.symbol.name} differs"
    flagged = DOES_NOT_FIT in (*way.start.flags, *way.end.flags)
    canvas = sheet(headline, f"{start} to {end}", flagged, height=52 + ROW * (len(steps) + 2 + bool(others)))
    numbers = [*(value for step in way.steps for value in (step.before, step.after)), fraction_of(way.start), fraction_of(way.end)]
    low, high = min(0.0, float(min(numbers))), max(0.0, float(max(numbers)))
    scale = Scale(low, high or 1.0, NAMES, WIDTH - RIGHT - VALUES)
    row = _Rows(canvas, scale, way.symbol.unit)
    row.total(start, fraction_of(way.start))
    value = fraction_of(way.start)
    for step in steps:
        row.step(step.label, value, value + step.effect, factor_text(step.factor))
        value += step.effect
    if others:
        row.step(f"{len(others)} smaller steps", value, value + sum((step.effect for step in others), Fraction(0)), "")
    row.total(end, fraction_of(way.end))
    noted(canvas, [f"Slip of {step.slip}." for step in steps if step.slip])
    shows = "Two bars for both values and one for each difference between them, in the order in which they are applied."
    return Picture("waterfall", f"{headline}: {start} to {end}", shows, says(way), canvas)


def says(way: Waterfall) -> str:
    """The takeaway: both values and the largest steps."""
    unit = way.symbol.unit
    most = sorted(way.steps, key=lambda step: -abs(step.effect))[:3]
    moved = "; ".join(f"{step.label}: {signed_text(step.effect, unit)}" for step in most)
    return f"{way.symbol.name} goes from {way.start.text()} to {way.end.text()}{f'; {moved}' if moved else ', nothing moves it'}."


def _largest(steps: tuple[WaterfallStep, ...]) -> tuple[list[WaterfallStep], list[WaterfallStep]]:
    """The steps that are drawn, in their order, and the smaller ones that are not."""
    if len(steps) <= MOST:
        return list(steps), []
    drawn = set(sorted(range(len(steps)), key=lambda i: -abs(steps[i].effect))[:MOST])
    return [step for i, step in enumerate(steps) if i in drawn], [step for i, step in enumerate(steps) if i not in drawn]


class _Rows:
    """Rows from the top down: a name on the left, a bar, its number on the right."""

    def __init__(self, canvas: Canvas, scale: Scale, unit: str) -> None:
        self.canvas, self.scale, self.unit, self.foot = canvas, scale, unit, canvas.height - 52.0
        self.reached: float | None = None  # where the row above ended

    def total(self, name: str, value: Fraction) -> None:
        self._bar(Fraction(0), value, GREY, 0.5)
        self._words(name, format_quantity(value, self.unit), bold=True)

    def step(self, name: str, before: Fraction, after: Fraction, factor: str) -> None:
        self._bar(before, after, VERMILION if after > before else BLUE, 0.65)
        self._words(name, f"{signed_text(after - before, self.unit)}{f'  {factor}' if factor else ''}")

    def _bar(self, before: Fraction, after: Fraction, colour: str, strength: float) -> None:
        left, right = sorted((self.scale(float(before)), self.scale(float(after))))
        right = max(right, left + 0.6)
        centre = self.foot + 3
        self.canvas.area([(left, centre - BAR / 2), (right, centre - BAR / 2), (right, centre + BAR / 2), (left, centre + BAR / 2)], tint(colour, strength))
        if self.reached is not None:
            self.canvas.line([(self.reached, centre + ROW - BAR / 2), (self.reached, centre + BAR / 2)], GREY, 0.5)
        self.reached = self.scale(float(after))

    def _words(self, name: str, number: str, bold: bool = False) -> None:
        self.canvas.text(shortened(name, SIZE, NAMES - (46 if bold else 16)), NAMES - 8, self.foot, SIZE, BLACK, bold=bold, align=1.0)
        self.canvas.text(number, WIDTH - RIGHT - VALUES + 8, self.foot, SIZE, BLACK, bold=bold)
        self.foot -= ROW
