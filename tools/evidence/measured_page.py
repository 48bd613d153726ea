"""The page ``measured.md``: how far real systems are from the roof, and how well each source is predicted from the others."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Callable, Iterable

from symroof.specs.efficiencies import ALL, TILE_ROWS, shipped_efficiencies, unit_of
from tools.evidence import cells, filled
from tools.evidence.accuracy_peers import peers_section
from tools.evidence.catalogue_fit import HeldOutPrediction
from tools.evidence.catalogue_table import CatalogueFit


def measured_page(fitted: CatalogueFit) -> str:
    """The whole page."""
    made = fitted.predictions
    table = "\n".join(
        cells(
            e.input,
            f"{e.family} (that of {e.of})" if e.of else e.family,
            e.engine,
            _text(e.value),
            _text(e.low),
            _text(e.high),
            e.rows,
            e.sources,
        )
        for e in shipped_efficiencies().efficiencies
    )
    between = fitted.values["elementwise_bytes", ALL, ALL]
    groups: tuple[tuple[str, Callable[[HeldOutPrediction], str]], ...] = (
        ("Device", lambda p: p.row.row.hardware or ""),
        ("Engines", lambda p: f"{p.row.engine}, {p.row.family}"),
        ("Batch", lambda p: _batch(p.row.row.batch)),
        ("Phase", _phase),
    )
    return filled(
        "measured",
        rows=len(fitted.rows),
        sources=len({row.source for row in fitted.rows}),
        widening=", ".join(f"{family} {by:.2f}" for family, by in sorted(fitted.widening.items())),
        table=table,
        elementwise=between,
        passes=between / 2,
        tile=TILE_ROWS,
        median=fitted.median_error,
        half=fitted.within_half,
        held=fitted.held,
        judged="\n".join(_judged(made, lambda p: p.row.source)),
        kinds="\n".join(_by_group(fitted)),
        **_of_compiled(made),
        peers=peers_section(made),
        tables="\n\n".join(_shares(name, made, group) for name, group in groups),
        refused=_refused(fitted),
    )


def _text(amount: object) -> str:
    value = amount.value  # type: ignore[attr-defined]
    unit = unit_of(amount)  # type: ignore[arg-type]
    return f"{float(value) * 1e6:.3g} µs" if unit == "s" else f"{float(value):.3g} {unit}".strip()


def _by_group(fitted: CatalogueFit) -> list[str]:
    """A row for each group: its rows predicted without their sources, and without the group."""
    without_source = dict(_grouped(fitted.predictions, lambda p: p.row.group))
    rows = []
    for name, group in _grouped(fitted.group_predictions, lambda p: p.row.group):
        columns = [
            (
                f"{statistics.median(abs(p.error) for p in made):.0%}",
                f"{statistics.median(1 + p.error for p in made):.2f}",
                f"{statistics.mean(p.held for p in made):.0%}",
            )
            for made in (without_source[name], group)
        ]
        rows.append(cells(name, len(group), *columns[0], *columns[1]))
    return rows


def _judged(made: Iterable[HeldOutPrediction], by: Callable[[HeldOutPrediction], str]) -> list[str]:
    rows = []
    for source, group in _grouped(made, by):
        errors = [abs(p.error) for p in group]
        shares = [statistics.mean(error <= limit for error in errors) for limit in (0.2, 0.5)]
        held = statistics.mean(p.held for p in group)
        bias = statistics.median(1 + p.error for p in group)
        rows.append(
            cells(
                source,
                len(group),
                f"{statistics.median(errors):.0%}",
                f"{bias:.2f}",
                *(f"{share:.0%}" for share in (*shares, held)),
            )
        )
    return rows


def _of_compiled(made: Iterable[HeldOutPrediction]) -> dict[str, float]:
    errors = [abs(p.error) for p in made if p.row.engine in ("compiled", "earlier")]
    return {
        "count": len(errors),
        "compiled": statistics.median(errors),
        "fifth": statistics.mean(error <= 0.2 for error in errors),
    }


def _grouped(
    made: Iterable[HeldOutPrediction], by: Callable[[HeldOutPrediction], str]
) -> list[tuple[str, list[HeldOutPrediction]]]:
    groups: dict[str, list[HeldOutPrediction]] = {}
    for prediction in made:
        groups.setdefault(by(prediction), []).append(prediction)
    return sorted(groups.items())


def _shares(
    name: str, made: Iterable[HeldOutPrediction], by: Callable[[HeldOutPrediction], str]
) -> str:
    rows = [
        f"| {name} | rows | median | lowest tenth | highest tenth |",
        "| --- | --- | --- | --- | --- |",
    ]
    for word, group in _grouped(made, by):
        shares = sorted(p.row.roof / p.row.seconds for p in group)
        tenth = len(shares) // 10
        rows.append(
            cells(
                word,
                len(shares),
                *(
                    f"{share:.0%}"
                    for share in (statistics.median(shares), shares[tenth], shares[-1 - tenth])
                ),
            )
        )
    return "\n".join(rows)


def _batch(batch: int) -> str:
    return (
        "1" if batch == 1 else "2 to 8" if batch <= 8 else "9 to 64" if batch <= 64 else "above 64"
    )


def _phase(prediction: HeldOutPrediction) -> str:
    row = prediction.row
    return (
        "whole response" if row.prefill and row.decode else "prefill" if row.prefill else "decode"
    )


def _refused(fitted: CatalogueFit) -> str:
    kinds = Counter(
        (
            r.source,
            "faster than the roof"
            if "least time" in r.reason
            else r.reason.partition(" is ")[2] or r.reason,
        )
        for r in fitted.refused
    )
    rows = [cells(source, count, reason) for (source, reason), count in sorted(kinds.items())]
    return "\n".join(
        [
            "## Measurements that are not compared",
            "",
            "| source | rows | why |",
            "| --- | --- | --- |",
            *rows,
        ]
    )
