"""Data of a review: elasticities, and the results at other levels of detail."""

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


HARDWARE_LEVERS = ("peak_flops", "mem_bandwidth", "link_bandwidth")


def elasticities(study: Study, subject: BoundCase) -> dict[str, Any]:
    """Percent change of each metric per 1 % change of an input, for the bound_case resource, and the hardware input that each latency depends on most."""
    metrics = [m for m in METRICS if subject.get(m) is not None]
    levers = [lever for lever in LEVERS if subject.case.has(lever)]
    spans = {metric: elasticities_over_ranges(subject, metric, levers) for metric in metrics}
    rows, best = [], {}
    for lever in levers:
        known = {metric: own[lever] for metric, own in spans.items() if lever in own}
        if any(abs(span[0]) >= NOTICEABLE for span in known.values()):
            cells = (span_text(*known[m]) if m in known else UNKNOWN for m in metrics)
            rows.append([Code(lever), *cells])
    for metric in ("ttft", "itl"):
        own = {n: abs(span[0]) for n, span in spans.get(metric, {}).items() if n in HARDWARE_LEVERS}
        best[metric] = max(own, key=lambda n: own[n]) if max(own.values(), default=0) else None
    return {"metrics": [Code(m) for m in metrics], "rows": rows, "best": best}


LEVELS = ("weights", "kv", "attention", "exact")


def levels(study: Study, subject: BoundCase) -> list[list[str]]:
    """The case at every level of detail."""
    names = ("ttft", "itl", "prefill_intensity", "decode_intensity")
    cases = {level: subject.with_switches(**DETAIL[level]) for level in LEVELS}
    return [[Code(level), *(shown(case.get(n)) for n in names)] for level, case in cases.items()]


NOTABLE_DIFFERENCE = 0.02


def rooflines(study: Study, subject: BoundCase) -> list[list[str]]:
    """The latencies under both rooflines; empty where they differ by less than 2 %."""
    both = {name: subject.with_switches(roofline=name) for name in ("aggregate", "per_operator")}
    pairs = [[case.get(latency) for case in both.values()] for latency in ("ttft", "itl")]
    known = [(float(one.value), float(other.value)) for one, other in pairs if one and other]
    if not any(one and abs(other / one - 1) > NOTABLE_DIFFERENCE for one, other in known):
        return []
    return [[Code(n), shown(c.get("ttft")), shown(c.get("itl"))] for n, c in both.items()]
