"""The pages ``serving.md`` and ``published-rates.md``: quantities under load next to published rates and a server that is simulated step by step."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache

from tools.evidence import filled, grouped
from tools.evidence.catalogue_rows import sources
from tools.evidence.serving_bounds import BoundedRate, UnboundedRate, bounded_rates
from tools.markdown import cells, headed, table
from tools.simulation import FEW, LOADS, MANY, SERVED, first_tokens

Simulated = Mapping[tuple[str, float], tuple[float, float]]
"""Mean times to first token, simulated and in closed form, by scheduling and load."""


def serving_page() -> str:
    """The whole page; it simulates for a minute."""
    says = "{model} on {hardware}, prompt {prompt:,}, output {output}, {batch} slots"
    simulated = {(kind, load): first_tokens(kind, load) for kind in SERVED for load in LOADS}
    bounded, _ = _rates()
    shares = [rate.share for rate in bounded]
    by_source = grouped(bounded, lambda rate: rate.source)
    summary = "\n".join(
        cells(source, len(group), *_marks([rate.share for rate in group], ".0%"))
        for source, group in by_source.items()
    )
    return filled(
        "serving",
        count=len(bounded),
        sources=len(by_source),
        highest=max(shares),
        median=statistics.median(shares),
        summary=summary,
        predicted="\n".join(_predicted(bounded)),
        case=says.format_map(MANY),
        slot_case=says.format_map(FEW),
        table="\n".join(wait_line(*key, *value) for key, value in simulated.items()),
    )


def rates_page() -> str:
    """Every published rate with its theoretical maximum."""
    bounded, refused = _rates()
    tables = [
        part
        for source, group in grouped(bounded, lambda rate: rate.source).items()
        for part in (f"## {source}", "", HEADER, *map(rate_line, group), "")
    ]
    return filled("published-rates", rates="\n".join([*tables, *_refused(refused)]))


@cache
def _rates() -> tuple[list[BoundedRate], list[UnboundedRate]]:
    rates = [rate for source in sources() for rate in bounded_rates(source)]
    return (
        [rate for rate in rates if isinstance(rate, BoundedRate)],
        [rate for rate in rates if isinstance(rate, UnboundedRate)],
    )


HEADER = (
    "| model | devices | weights | prompt | output | published token/s | theoretical maximum | share | layout | batch | predicted |\n|"
    + " --- |" * 11
)


def rate_line(rate: BoundedRate) -> str:
    """One rate with its bound."""
    row = rate.row
    degrees = zip(("tp", "pp", "attention_dp"), rate.layout, strict=True)
    layout = " ".join(f"{name} {degree}" for name, degree in degrees if degree > 1)
    lengths = [
        f"{float(length.value):,.6g}" if length else "unknown"
        for length in (row.prompt, row.output)
    ]
    return cells(
        row.spec,
        f"{row.devices} x {row.hardware}",
        row.weights,
        *lengths,
        f"{float(row.value.value):,.6g}",
        f"{rate.bound:,.0f}",
        f"{rate.share:.0%}",
        layout or "one GPU each",
        f"{rate.batch:,}",
        f"{rate.predicted:,.0f}" if rate.predicted else "",
    )


def wait_line(kind: str, load: float, simulated: float, closed: float) -> str:
    """A simulated time to first token beside its closed form."""
    times = f"{simulated * 1e3:.1f} ms", f"{closed * 1e3:.1f} ms"
    return cells(kind, load, *times, f"{closed / simulated - 1:+.0%}")


def _marks(found: list[float], form: str) -> list[str]:
    return [format(mark, form) for mark in (min(found), statistics.median(found), max(found))]


def _predicted(rates: Iterable[BoundedRate]) -> Iterator[str]:
    """Published over predicted rates, by model and kind of device."""
    known = [
        (rate, float(rate.row.value.value) / rate.predicted) for rate in rates if rate.predicted
    ]
    groups = grouped(known, lambda one: (one[0].row.spec, one[0].row.hardware, one[0].row.weights))
    for (model, device, weights), group in sorted(groups.items()):
        marks = _marks([ratio for _, ratio in group], ".2f")
        yield cells(model, device, weights, len(group), *marks)


def _refused(rates: Iterable[UnboundedRate]) -> list[str]:
    """What has no maximum, and which device or model is lacking."""
    kinds = Counter((rate.source, rate.reason) for rate in rates)
    rows = [(source, count, reason) for (source, reason), count in sorted(kinds.items())]
    return headed("## Rates that are not used") + table(["source", "rates", "why"], rows)
