"""Figures of the review, drawn by matplotlib when they are wanted: memory by case, and the roofline."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from symroof.report.figure import BLUE, GREEN, GREY, ORANGE, SKY, VERMILION, Drawing, blank, saved
from symroof.report.regime_map import regime_map
from symroof.report.view_case import memory_parts
from symroof.results import Answers
from symroof.study import Study
from symroof.theory.case import NoValue
from symroof.units import format_quantity
from symroof.verdict import case_label

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PHASES = {"prefill": (BLUE, "^"), "decode": (VERMILION, "o")}


def drawings(study: Study, subject: Answers, operators: list[dict[str, Any]]) -> list[Drawing]:
    """Every figure this review has data for."""
    found = [memory(study), roofline(subject, operators), regime_map(subject)]
    return [drawing for drawing in found if drawing is not None]


# --------------------------------------------------------------------------------------------------------- memory


PART_COLOURS = {"weights": BLUE, "cache": ORANGE, "state": GREEN, "reserve": GREY}


def memory(study: Study) -> Drawing | None:
    """Stacked bars: weights, cache and reserve of every case against what may be used."""
    cases = [case for case in study.cases if case.get("memory_bytes") and case.get("usable_memory")]
    if not cases:
        return None
    figure, axes = blank(7.2, 0.75 + 0.46 * len(cases))
    parts = memory_parts(cases)
    for row, case in enumerate(cases):
        start = 0.0
        for name, label in parts.items():
            size = _number(case, name) / 1e9
            axes.barh(row, size, left=start, color=PART_COLOURS[label], height=0.56, label=label if row == 0 else None)
            start += size
        usable = _number(case, "usable_memory") / 1e9
        axes.plot([usable, usable], [row - 0.42, row + 0.42], color="black", linewidth=1.6, label="usable" if row == 0 else None)
        if case.does_not_fit:
            axes.annotate("does not fit", (start, row), xytext=(4, 0), textcoords="offset points", va="center", color=VERMILION, fontweight="bold")
    axes.set_yticks(range(len(cases)), [case_label(case) for case in cases])
    axes.invert_yaxis()
    axes.set_xlabel("GB")
    axes.margins(x=0.14)
    figure.legend(loc="outside upper right", ncols=4, frameon=False)
    return saved(figure, "memory", "; ".join(_memory_words(case) for case in cases))


def _memory_words(case: Answers) -> str:
    needed, usable = case.result("memory_bytes").plain(), case.result("usable_memory").plain()
    return f"{case_label(case)}: {needed} of {usable}{', does not fit' if case.does_not_fit else ''}"


def _number(case: Answers, name: str) -> float:
    return float(case.case.value(name))


# ------------------------------------------------------------------------------------------------------- roofline


def roofline(subject: Answers, operators: list[dict[str, Any]]) -> Drawing | None:
    """The roof of one device with its ridge, both phases, and their operators."""
    try:
        peak, bandwidth = (float(subject.case.value(name)) for name in ("peak_flops", "mem_bandwidth"))
        mfu, mbu, group = (float(subject.case.value(name)) for name in ("mfu", "mbu", "tp"))
    except NoValue:
        return None
    if not operators:
        return None
    points = [_phase_point(phase["step"], subject) for phase in operators]
    reached = [x for _, x, _ in points] + [float(e["intensity"]) for phase in operators for e in phase["entries"] if e["intensity"]]
    low, high = min(reached) / 2.5, max(peak / bandwidth * 60, max(reached) * 2)
    figure, axes = blank(7.2, 4.4)
    _roof(axes, peak, bandwidth, low, high, "peak", ":", GREY)
    _roof(axes, peak * mfu, bandwidth * mbu, low, high, "reachable", "-", "black")
    ridge = subject.result("effective_ridge")
    axes.axvline(float(ridge.value), color=GREEN, linewidth=1, linestyle="--")
    axes.annotate(f"effective ridge\n{ridge.plain()}", (float(ridge.value), 0.02), xycoords=("data", "axes fraction"), xytext=(-5, 0), textcoords="offset points", color=GREEN, ha="right", va="bottom")  # fmt: skip
    for phase, (step, x, y) in zip(operators, points, strict=True):
        colour, marker = PHASES.get(step, (SKY, "s"))
        axes.plot(x, y, marker, color=colour, markersize=11, label=f"{step}: {format_quantity(Fraction(x).limit_denominator(10**6), 'FLOP/byte')}", zorder=5)
        _operators(axes, phase["entries"], group, colour, marker)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("arithmetic intensity (FLOP/byte)")
    axes.set_ylabel("FLOP/s of one device")
    axes.set_ylim(top=peak * 6)
    flag = " (does not fit in memory)" if subject.does_not_fit else ""
    axes.set_title(f"{case_label(subject)}{flag}", fontsize=9, color=VERMILION if flag else "black")
    axes.legend(loc="lower right", frameon=False, bbox_to_anchor=(1.0, 0.12))
    return saved(figure, "roofline", _roofline_words(subject, points) + flag)


def _phase_point(step: str, subject: Answers) -> tuple[str, float, float]:
    """A phase as (name, intensity, FLOP/s of one device under the roofline)."""
    intensity = float(subject.case.value(f"{step}_intensity"))
    rate = float(subject.case.value(f"{step}_flops") / subject.case.value(f"{step}_roofline_time") / subject.case.value("tp"))
    return step, intensity, rate


def _roof(axes: Axes, peak: float, bandwidth: float, low: float, high: float, label: str, style: str, colour: str) -> None:
    ridge = peak / bandwidth
    axes.plot([low, ridge, high], [low * bandwidth, peak, peak], style, color=colour, linewidth=1.4, label=label)


LABEL: dict[str, Any] = {
    "textcoords": "offset points", "fontsize": 7.5, "zorder": 6, "arrowprops": {"arrowstyle": "-", "color": GREY, "linewidth": 0.5},
    "bbox": {"boxstyle": "square,pad=0.1", "facecolor": "white", "edgecolor": "none"},
}  # fmt: skip


def _operators(axes: Axes, entries: list[dict[str, Any]], group: float, colour: str, marker: str) -> None:
    """Small markers; operators that fall together share one label, and labels step away from the roof in turn."""
    placed = sorted((float(e["intensity"]), float(e["flops"] / e["time"].value) / group, e["operator"]) for e in entries if e["intensity"])
    groups: list[tuple[float, float, list[str]]] = []
    for x, y, name in placed:
        if groups and x < groups[-1][0] * 1.6:
            if name not in groups[-1][2]:
                groups[-1][2].append(name)
        else:
            groups.append((x, y, [name]))
        axes.plot(x, y, marker, color=colour, markersize=4, markerfacecolor="white", zorder=4)
    for i, (x, y, labels) in enumerate(groups):
        on_roof = marker == "^" and y > 0.5 * max(top for _, top, _ in groups)  # labels of the flat roof go up, of the slope to the right
        across, above = (0, 18 + 19 * (i % 3)) if on_roof else (16, -(16 + 12 * (i % 2)))
        words = "\n".join([", ".join(labels[:3]), ", ".join(labels[3:])]).strip()
        axes.annotate(words, (x, y), xytext=(across, above), ha="center" if on_roof else "left", color=colour, **LABEL)


def _roofline_words(subject: Answers, points: list[tuple[str, float, float]]) -> str:
    ridge = subject.result("effective_ridge").plain()
    words = [f"{step} at {subject.result(f'{step}_intensity').plain()}, limited by {subject.result(f'{step}_bound').plain()}" for step, _, _ in points]
    return f"Effective ridge {ridge}; " + "; ".join(words)
