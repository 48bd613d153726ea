"""Swings of TTFT, ITL and cost as each input goes from its low to its high value, the largest first."""

from collections.abc import Collection
from dataclasses import dataclass
from fractions import Fraction

from symroof.analysis.case_titles import case_title
from symroof.analysis.sensitivity import FIXED
from symroof.analysis.study import Study
from symroof.analysis.verdict import at_rate, under_load
from symroof.cases.bound_case import BoundCase
from symroof.cases.quantity_result import Result
from symroof.drawing.canvas import Canvas
from symroof.drawing.colours import BLACK, BLUE, GREY, VERMILION, tint
from symroof.drawing.scales import Scale
from symroof.drawing.text_metrics import shortened, text_width
from symroof.report.field_names import input_name
from symroof.report.pictures.picture import RIGHT, WIDTH, Picture, lacking, noted, sheet
from symroof.symbolic.evaluation import NoValue
from symroof.theory.case import Case
from symroof.theory.symbols import SHARES, Symbol, base_name

HEADLINE = "What moves latencies and cost"
COST = {"cost_per_mtok": "cost per million tokens"}
UNDER_LOAD = {"loaded_ttft": "TTFT under load", "sustained_itl": "ITL under load"} | COST
ISOLATED = {"ttft": "time to first token", "itl": "inter-token latency"} | COST
ROW, BAR, NAMES, GAP = 25.0, 11.0, 150.0, 6.0
MOST = 12
"""Maximum inputs; weaker ones are listed in a note."""
STEP = Fraction(1, 10)
"""How far an input without a range goes up and down."""
LEAST = Fraction(1, 100)
"""Swings of a smaller share of the value are not drawn."""
NAME_SIZE, SMALL = 8.5, 7.0
NUMBERS = 32.0
"""Width for the number at each end of a bar."""


@dataclass(frozen=True)
class Swing:
    """An input with its low and its high value, and what each metric is there; None where it has no value.

    Attributes:
        ranged: whether the ends are those of a range, and not a step up and down.
    """

    name: str
    low: Fraction
    high: Fraction
    ranged: bool
    ends: dict[str, tuple[Fraction | None, Fraction | None]]


def picture(study: Study, subject: BoundCase) -> Picture:
    """The picture of one case.

    Raises:
        InputError: the case has neither latency, or nothing moves them.
    """
    every = swings(subject)
    if not every:
        raise lacking("tornado", subject, "ttft", "itl")
    metrics = {
        metric: word
        for metric, word in metrics_of(subject).items()
        if any(metric in swing.ends for swing in every)
    }
    shown = every[:MOST]
    canvas = sheet(
        HEADLINE, case_title(subject), subject.does_not_fit, height=86 + ROW * len(shown)
    )
    canvas.axes = ("input", "value")
    for i, swing in enumerate(shown):
        _name(canvas, swing, subject, i)
    width = (WIDTH - NAMES - RIGHT / 2 - GAP * (len(metrics) - 1)) / len(metrics)
    for column, metric in enumerate(metrics):
        left = NAMES + column * (width + GAP)
        _Panel(canvas, subject, metric, shown, left + NUMBERS, left + width - NUMBERS).draw(
            metrics[metric]
        )
    notes = [
        f"Each input alone goes from its low to its high value: the ends of its range, or {float(STEP * 100):.0f} % down and up where it has none. Blue: at the low value. "
        "Orange: at the high value.",
        f"Weaker, not drawn: {', '.join(input_name(swing.name, subject) for swing in every[MOST:])}."
        if every[MOST:]
        else "",
    ]
    noted(canvas, notes)
    shows = "A bar for each input from what a metric is at its low value to what it is at its high value, the largest swing first."
    return Picture(
        "tornado",
        f"{HEADLINE}: {case_title(subject)}",
        shows,
        says(subject, every, metrics),
        canvas,
    )


def metrics_of(subject: BoundCase) -> dict[str, str]:
    """The metrics that targets apply to, with their names."""
    metrics = UNDER_LOAD if under_load(subject.case) else ISOLATED
    return {
        at_rate(name, subject.case) if "itl" in name else name: words
        for name, words in metrics.items()
    }


def swings(subject: BoundCase) -> list[Swing]:
    """Every adjustable input that moves a metric noticeably, the largest swing first."""
    metrics = [metric for metric in metrics_of(subject) if subject.get(metric) is not None]
    base = {metric: Fraction(subject.case.value(metric)) for metric in metrics}
    found = []
    for name in _free(subject, metrics):
        low, high, ranged = _ends(name, subject)
        lower, higher = (_values(subject.case, name, value, metrics) for value in (low, high))
        ends = {
            m: (lower[m], higher[m])
            for m in metrics
            if _moved(base[m], lower[m], higher[m]) >= LEAST
        }
        if ends:
            found.append(Swing(name, low, high, ranged, ends))
    return sorted(
        found,
        key=lambda swing: -max(_moved(base[metric], *ends) for metric, ends in swing.ends.items()),
    )


def _free(subject: BoundCase, metrics: Collection[str]) -> list[str]:
    """The adjustable inputs of some metrics."""
    names = dict.fromkeys(name for metric in metrics for name in subject.case.inputs_used(metric))
    return [name for name in names if base_name(name) not in FIXED and name not in metrics]


def _ends(name: str, subject: BoundCase) -> tuple[Fraction, Fraction, bool]:
    """The low and the high value of an input: its range or list prices, else a step down and up; a count stays whole, a share below one."""
    if name in subject.box:
        low, high = subject.box[name]
        return Fraction(low), Fraction(high), True
    if name == "price" and subject.list_prices:
        low, high = subject.list_prices
        return low, high, True
    value = Fraction(subject.case.value(name))
    low, high = value * (1 - STEP), value * (1 + STEP)
    if subject.case.theory.symbol(name).counted:
        low, high = (
            (Fraction(round(low)), Fraction(round(high)))
            if value * STEP >= 1
            else (max(value - 1, Fraction(1)), value + 1)
        )
    return low, min(high, Fraction(1)) if name in SHARES else high, False


def _values(
    case: Case, name: str, value: Fraction, metrics: Collection[str]
) -> dict[str, Fraction | None]:
    there = case.changed({name: value})
    return {metric: _value(there, metric) for metric in metrics}


def _value(case: Case, metric: str) -> Fraction | None:
    try:
        return Fraction(case.value(metric))
    except NoValue:
        return None


def _moved(base: Fraction, *ends: Fraction | None) -> Fraction:
    """How far the ends lie from a value, as a share of it."""
    return (
        max((abs(end - base) / base for end in ends if end is not None), default=Fraction(0))
        if base
        else Fraction(0)
    )


def _name(canvas: Canvas, swing: Swing, subject: BoundCase, i: int) -> None:
    """The input in words, and its low and high value below."""
    foot = canvas.height - 80 - ROW * i
    if i % 2:
        canvas.area(
            [
                (4, foot - 11),
                (WIDTH - 4, foot - 11),
                (WIDTH - 4, foot - 11 + ROW),
                (4, foot - 11 + ROW),
            ],
            tint(GREY, 0.07),
        )
    canvas.text(
        shortened(input_name(swing.name, subject), NAME_SIZE, NAMES - 10), 6, foot + 2, NAME_SIZE
    )
    canvas.text(
        shortened(span_in_words(subject.case.theory.symbol(swing.name), swing), SMALL, NAMES - 10),
        6,
        foot - 6.5,
        SMALL,
        GREY,
    )


def span_in_words(symbol: Symbol, swing: Swing) -> str:
    """``922 to 1,126 tokens``: the low and the high value of an input."""
    low, high = (Result(symbol, value).plain(3) for value in (swing.low, swing.high))
    unit = high.partition(" ")[2]
    return f"{low.removesuffix(f' {unit}') if unit else low} to {high}"


class _Panel:
    """The bars of one metric around its value, with a number at each end."""

    def __init__(
        self,
        canvas: Canvas,
        subject: BoundCase,
        metric: str,
        rows: list[Swing],
        left: float,
        right: float,
    ) -> None:
        self.canvas, self.rows, self.metric = canvas, rows, metric
        self.symbol = subject.case.theory.symbol(metric)
        self.base = Fraction(subject.case.value(metric))
        values = [
            self.base,
            *(end for swing in rows for end in swing.ends.get(metric, ()) if end is not None),
        ]
        low, high = float(min(values)), float(max(values))
        spare = 1e-9 + 0.02 * (high - low)
        self.scale = Scale(low - spare, high + spare, left, right)

    def draw(self, word: str) -> None:
        top, middle = self.canvas.height - 62, self.scale(float(self.base))
        centre = (self.scale.start + self.scale.end) / 2
        self.canvas.text(word, centre, top + 13, 8.5, BLACK, bold=True, align=0.5)
        now = self._written(self.base)
        half = text_width(now, SMALL) / 2
        self.canvas.text(
            now,
            min(max(middle, self.scale.start - NUMBERS + half), self.scale.end + NUMBERS - half),
            top + 3,
            SMALL,
            GREY,
            align=0.5,
        )
        self.canvas.line([(middle, top), (middle, top - ROW * len(self.rows) - 5)], GREY, 0.8)
        for i, swing in enumerate(self.rows):
            if self.metric in swing.ends:
                self._bar(swing, self.canvas.height - 78 - ROW * i)

    def _bar(self, swing: Swing, centre: float) -> None:
        middle = self.scale(float(self.base))
        for end, colour, side in zip(
            swing.ends[self.metric], (BLUE, VERMILION), ("low", "high"), strict=True
        ):
            if end is None:
                continue
            self.canvas.drawn.append((f"{self.metric} at {side}", swing.name, float(end)))
            place = self.scale(float(end))
            self.canvas.area(
                [
                    (middle, centre - BAR / 2),
                    (place, centre - BAR / 2),
                    (place, centre + BAR / 2),
                    (middle, centre + BAR / 2),
                ],
                tint(colour, 0.65),
            )
        self._numbers([end for end in swing.ends[self.metric] if end is not None], centre)

    def _numbers(self, ends: list[Fraction], centre: float) -> None:
        """The smallest value to the left of the bar, the largest to the right, where they differ from the value itself."""
        sides = ((min(ends), -3, 1.0), (max(ends), 3, 0.0)) if ends else ()
        for value, place, align in sides:
            if abs(value - self.base) > LEAST / 10 * self.base and (value < self.base) == (
                align == 1.0
            ):
                self.canvas.text(
                    self._written(value),
                    self.scale(float(value)) + place,
                    centre - 2.5,
                    SMALL,
                    align=align,
                )

    def _written(self, value: Fraction) -> str:
        return Result(self.symbol, value).plain(3)


def says(subject: BoundCase, every: list[Swing], metrics: dict[str, str]) -> str:
    """The takeaway: the inputs with the largest swings of each metric, and what it is at their ends."""
    sentences = []
    for metric, word in metrics.items():
        base, symbol = Fraction(subject.case.value(metric)), subject.case.theory.symbol(metric)
        most = sorted(
            (swing for swing in every if metric in swing.ends),
            key=lambda swing: -_moved(base, *swing.ends[metric]),
        )[:3]
        parts = (
            f"{input_name(swing.name, subject)} {span_in_words(subject.case.theory.symbol(swing.name), swing)} "
            f"({' to '.join('no value' if end is None else Result(symbol, end).plain(3) for end in swing.ends[metric])})"
            for swing in most
        )
        sentences.append(f"{word} moves most with {', '.join(parts)}")
    text = "; ".join(sentences)
    return f"{text[0].upper()}{text[1:]}.{' The case does not fit in memory.' if subject.does_not_fit else ''}"
