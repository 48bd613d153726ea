"""Data of a review: elasticities, and the results at other levels of detail."""

from fractions import Fraction
from typing import Any

from symroof.analysis.sensitivity import LEVERS, NOTICEABLE, elasticities_over_ranges, span_text
from symroof.analysis.study import Study
from symroof.cases.bound_case import BoundCase
from symroof.report.markup import Code
from symroof.report.view_case import shown
from symroof.table_formats import UNKNOWN
from symroof.theory.switches import DETAIL
from symroof.theory.theory_files import listed

METRICS = listed("shown", "effects")


def elasticities(study: Study, subject: BoundCase) -> dict[str, Any]:
    """Percent change of each metric per 1 % change of an input, for the bound_case resource."""
    metrics = [m for m in METRICS if subject.get(m) is not None]
    by_lever: dict[str, dict[str, tuple[float, float, float]]] = {}
    levers = [lever for lever in LEVERS if subject.case.has(lever)]
    spans = {metric: elasticities_over_ranges(subject, metric, levers) for metric in metrics}
    for lever in levers:
        known = {metric: own[lever] for metric, own in spans.items() if lever in own}
        if any(abs(v[0]) >= NOTICEABLE for v in known.values()):
            by_lever[lever] = known
    rows = [
        [Code(lever), *(_cell(values.get(metric)) for metric in metrics)]
        for lever, values in by_lever.items()
    ]
    return {
        "metrics": [Code(m) for m in metrics],
        "rows": rows,
        "best": {metric: _strongest(by_lever, metric) for metric in ("ttft", "itl")},
    }


def _strongest(
    by_lever: dict[str, dict[str, tuple[float, float, float]]], metric: str
) -> str | None:
    """The hardware input that a metric depends on most."""
    levers = [lever for lever in HARDWARE_LEVERS if metric in by_lever.get(lever, {})]
    return max(levers, key=lambda lever: abs(by_lever[lever][metric][0]), default=None)


HARDWARE_LEVERS = ("peak_flops", "mem_bandwidth", "link_bandwidth")


def _cell(value: tuple[float, float, float] | None) -> str:
    if value is None:
        return UNKNOWN
    return span_text(*value)


LEVELS = ("weights", "kv", "attention", "exact")


def approximations(study: Study, subject: BoundCase) -> dict[str, Any]:
    """The case at every level of detail and with both rooflines."""
    rows = []
    for level in LEVELS:
        answers = subject.with_switches(**DETAIL[level])
        rows.append(
            [
                Code(level),
                *(
                    shown(answers.get(name))
                    for name in ("ttft", "itl", "prefill_intensity", "decode_intensity")
                ),
            ]
        )
    rooflines = {
        name: subject.with_switches(roofline=name) for name in ("aggregate", "per_operator")
    }
    table = [
        [Code(name), shown(a.get("ttft")), shown(a.get("itl"))] for name, a in rooflines.items()
    ]
    return {"levels": rows, "rooflines": table, "apart": _rooflines_differ(*rooflines.values())}


NOTABLE_DIFFERENCE = Fraction(2, 100)


def _rooflines_differ(aggregate: BoundCase, per_operator: BoundCase) -> bool:
    """Whether the two rooflines differ by more than 2 % in a latency."""
    for name in ("ttft", "itl"):
        first, second = aggregate.get(name), per_operator.get(name)
        if (
            first
            and second
            and first.value
            and abs(second.value / first.value - 1) > NOTABLE_DIFFERENCE
        ):
            return True
    return False
