"""Elasticities of TTFT, ITL and cost as bars, the strongest input first."""

from collections.abc import Collection

from symroof.analysis.case_titles import case_title
from symroof.analysis.sensitivity import FIXED, NOTICEABLE, ElasticityRange, elasticities_over_ranges
from symroof.analysis.study import Study
from symroof.analysis.verdict import under_load
from symroof.cases.bound_case import BoundCase
from symroof.drawing.canvas import Canvas
from symroof.drawing.colours import BLACK, BLUE, GREY, VERMILION, tint
from symroof.drawing.scales import Scale
from symroof.drawing.text_metrics import shortened
from symroof.report.pictures.picture import RIGHT, WIDTH, Picture, lacking, noted, sheet
from symroof.theory.symbols import base_name

HEADLINE = "Sensitivity of latencies and cost"
COST = {"cost_per_mtok": "cost per token"}
UNDER_LOAD = {"loaded_ttft": "TTFT under load", "sustained_itl": "ITL under load"} | COST
ISOLATED = {"ttft": "time to first token", "itl": "inter-token latency"} | COST
ROW, BAR, NAMES, GAP = 19.0, 11.0, 132.0, 12.0
MOST = 16
"""Maximum inputs; weaker ones are listed in a note."""
SMALL = 7.5


def picture(study: Study, subject: BoundCase) -> Picture:
    """The picture of one case.

    Raises:
        InputError: the case has neither latency, or nothing moves them.
    """
    inputs = elasticities(subject)
    if not inputs:
        raise lacking("tornado", subject, "ttft", "itl")
    metrics = {metric: word for metric, word in metrics_of(subject).items() if any(metric in spans for spans in inputs.values())}
    shown = dict(list(inputs.items())[:MOST])
    canvas = sheet(HEADLINE, case_title(subject), subject.does_not_fit, height=66 + ROW * len(shown))
    reach = max(1.0, *(float(abs(end)) for spans in shown.values() for span in spans.values() for end in span))
    width = (WIDTH - NAMES - RIGHT - GAP * (len(metrics) - 1)) / len(metrics)
    for i, name in enumerate(shown):
        foot = canvas.height - 71 - ROW * i
        if i % 2:
            canvas.area([(4, foot - 5.5), (WIDTH - 8, foot - 5.5), (WIDTH - 8, foot - 5.5 + ROW), (4, foot - 5.5 + ROW)], tint(GREY, 0.07))
        canvas.text(shortened(name, 8.5, NAMES - 14), NAMES - 8, foot, 8.5, align=1.0)
    canvas.axes = ("input", "elasticity")
    canvas.drawn += [(metric, name, float(spans[metric][0])) for metric in metrics for name, spans in shown.items() if metric in spans]
    for column, metric in enumerate(metrics):
        left = NAMES + column * (width + GAP)
        _panel(canvas, metrics[metric], [spans.get(metric) for spans in shown.values()], Scale(-reach, reach, left + 26, left + width - 26))
    weaker = [name for name in inputs if name not in shown]
    notes = [
        "Elasticities: the % change of each per 1 % more of the input on the left; bars to the right lengthen or raise it, bars to the left shorten or lower it."
        + (" The thin line is the span over the ranges." if subject.corners else ""),
        f"Weaker, not drawn: {', '.join(weaker)}." if weaker else "",
        f"Without an elasticity where it moves a metric in steps: {', '.join(stepped)}." if (stepped := in_steps(subject, metrics)) else "",
    ]
    noted(canvas, notes)
    return Picture("tornado", f"{HEADLINE}: {case_title(subject)}", "Elasticities as bars, the strongest input first.", says(subject, inputs, metrics), canvas)


def metrics_of(subject: BoundCase) -> dict[str, str]:
    """The metrics that targets apply to, with their names."""
    return UNDER_LOAD if under_load(subject.case) else ISOLATED


def elasticities(subject: BoundCase) -> dict[str, dict[str, ElasticityRange]]:
    """Input -> metric -> elasticity with its range, for every adjustable input that matters; the strongest first."""
    metrics = [metric for metric in metrics_of(subject) if subject.get(metric) is not None]
    free, inputs = _free(subject, metrics), dict[str, dict[str, ElasticityRange]]()
    for metric in metrics:
        for name, span in elasticities_over_ranges(subject, metric, free).items():
            if max(map(abs, span)) >= NOTICEABLE:
                inputs.setdefault(name, {})[metric] = span
    return dict(sorted(inputs.items(), key=lambda item: -max(abs(span[0]) for span in item[1].values())))


def _free(subject: BoundCase, metrics: Collection[str]) -> list[str]:
    """The adjustable inputs of some metrics; one list for all, so that slopes are computed together."""
    names = dict.fromkeys(name for metric in metrics for name in subject.case.inputs_used(metric))
    return [name for name in names if base_name(name) not in FIXED and name not in metrics]


def in_steps(subject: BoundCase, metrics: Collection[str]) -> list[str]:
    """The adjustable inputs that change a metric in steps, such as the prefill chunk."""
    free, last = _free(subject, metrics), {name: metric for metric in metrics for name in subject.case.inputs_used(metric)}
    known = {metric: elasticities_over_ranges(subject, metric, free) for metric in metrics}
    return [name for name in free if name not in known[last[name]]]


def _panel(canvas: Canvas, name: str, spans: list[ElasticityRange | None], scale: Scale) -> None:
    """The bars of one metric around their zero."""
    top, middle = canvas.height - 60, scale(0)
    canvas.text(name, middle, top + 10, 8.5, BLACK, bold=True, align=0.5)
    canvas.line([(middle, top + 5), (middle, top - ROW * len(spans) + 2)], GREY, 0.8)
    for i, span in enumerate(spans):
        foot = canvas.height - 71 - ROW * i
        if span is None:
            continue
        value, low, high = map(float, span)
        end, centre = scale(value), foot + 3
        colour = VERMILION if value > 0 else BLUE
        if abs(end - middle) > 0.4:
            canvas.area(
                [(middle, centre - BAR / 2), (end, centre - BAR / 2), (end, centre + BAR / 2), (middle, centre + BAR / 2)],
                tint(colour, 0.75 if value < 0 else 0.6),
            )
        if high - low >= float(NOTICEABLE):
            canvas.line([(scale(low), centre), (scale(high), centre)], BLACK, 0.9)
            canvas.line([(scale(low), centre - 2.5), (scale(low), centre + 2.5)], BLACK, 0.9)
            canvas.line([(scale(high), centre - 2.5), (scale(high), centre + 2.5)], BLACK, 0.9)
        right = value > 0
        edge = max(end, scale(high)) + 3 if right else min(end, scale(low)) - 3
        canvas.text(f"{value:+.2f}".replace("+0.00", "0").replace("-0.00", "0"), edge, foot + 0.3, SMALL, BLACK, align=0.0 if right else 1.0)


def says(subject: BoundCase, inputs: dict[str, dict[str, ElasticityRange]], metrics: dict[str, str]) -> str:
    """The takeaway: the strongest inputs of each metric, and their direction."""
    sentences = []
    for metric, word in metrics.items():
        spans = sorted(((name, by[metric][0]) for name, by in inputs.items() if metric in by), key=lambda pair: -abs(pair[1]))[:3]
        sentences.append(f"{word} depends most on " + ", ".join(f"{name} ({float(value):+.2f} %)" for name, value in spans))
    flag = " The case does not fit in memory." if subject.does_not_fit else ""
    text = "; ".join(sentences)
    return f"{text[0].upper()}{text[1:]}: % change per 1 % more of the input.{flag}"
