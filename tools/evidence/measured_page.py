"""The page ``measured.md`` and its picture: how far real systems are from the roof, and how well each source is predicted from the others."""

from __future__ import annotations

import io
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

import matplotlib
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from symroof.specs.efficiencies import ALL, TILE_ROWS, shipped_efficiencies, unit_of
from symroof.specs.measured import OF_LOOPS
from tools.evidence import cells, filled
from tools.evidence.accuracy_peers import peers_section
from tools.evidence.catalogue_fit import ENOUGH, HeldOutPrediction
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
        rows=f"{len(fitted.rows):,}",
        sources=len({row.source for row in fitted.rows}),
        result="\n".join(_result(made)),
        scatter=", ".join(f"`{name}` {by:.2f}" for name, by in fitted.widths.items()),
        near=", ".join(f"{by:.2f} on {name}" for name, by in sorted(fitted.near.items())),
        far=fitted.far,
        table=table,
        elementwise=between,
        passes=between / 2,
        tile=TILE_ROWS,
        judged="\n".join(_judged(made, lambda p: p.row.source)),
        classes="\n".join(_classes(fitted)),
        weak=", ".join(_weak(fitted)),
        peers=peers_section(made),
        tables="\n\n".join(_shares(name, made, group) for name, group in groups),
        refused=_refused(fitted),
    )


def measured_plot(fitted: CatalogueFit) -> str:
    """The page's picture: predicted over measured of the rows of each class, as an SVG."""
    groups = [
        (", ".join(name), [p for p in fitted.in_use_predictions if p.row.interval_class == name])
        for name in reversed(fitted.classes)
    ]
    with matplotlib.rc_context({"svg.hashsalt": "symroof", "svg.fonttype": "none"}):
        figure = Figure(figsize=(8, 0.27 * len(groups) + 1), layout="constrained")
        axes = figure.subplots()
        for place, (_, made) in enumerate(groups):
            ratios = sorted(1 + p.error for p in made)
            for share, width in ((20, 1), (10, 3), (4, 6)):
                cut = len(ratios) // share
                axes.plot(
                    [ratios[cut], ratios[-1 - cut]], [place] * 2, color="#7fa3c7", linewidth=width
                )
            axes.plot(statistics.median(ratios), place, "o", color="#1f4e79", markersize=5)
        axes.axvline(1, color="#555555", linewidth=0.8)
        axes.set_xscale("log")
        axes.set_xlim(0.3, 3.3)
        axes.set_xticks([0.33, 0.5, 0.67, 0.8, 1, 1.25, 1.5, 2, 3], minor=False)
        axes.xaxis.set_major_formatter("{x:g}")
        axes.xaxis.set_minor_locator(NullLocator())
        axes.set_yticks(range(len(groups)), [f"{name}: {len(made)}" for name, made in groups])
        axes.set_xlabel("time predicted from other rows / time measured")
        text = io.StringIO()
        figure.savefig(text, format="svg", metadata={"Date": None})
    return "\n".join(line.rstrip() for line in text.getvalue().splitlines()) + "\n"


KINDS: tuple[tuple[str, Callable[[HeldOutPrediction], bool]], ...] = (
    ("all", lambda p: True),
    ("all but AMD's", lambda p: p.row.family != "cdna"),
    ("dense models", lambda p: p.row.part == ""),
    ("models with experts", lambda p: p.row.part == "experts"),
    ("models with latent attention", lambda p: p.row.part == "latent"),
    ("one device", lambda p: p.row.row.group == 1),
    ("several devices", lambda p: p.row.row.group > 1 and p.row.row.attention_dp == 1),
    ("attention groups", lambda p: p.row.row.attention_dp > 1),
    ("closed loops", lambda p: p.row.row.metric in OF_LOOPS),
    ("prefill alone", lambda p: _phase(p) == "prefill"),
    ("decode alone", lambda p: _phase(p) == "decode"),
    ("compiled engines", lambda p: p.row.engine == "compiled"),
    ("engines until 2024", lambda p: p.row.engine == "earlier"),
    ("llama.cpp and its like", lambda p: p.row.engine == "ggml"),
)
"""What the first table counts, beside generations of devices."""


def _result(made: Sequence[HeldOutPrediction]) -> list[str]:
    groups = [(name, [p for p in made if of(p)]) for name, of in KINDS]
    generations = _grouped(made, lambda p: p.row.generation)
    return [
        cells(name, f"{len(own):,}", *_figures(own))
        for name, own in (*groups[:2], *generations, *groups[2:])
    ]


def _figures(made: Sequence[HeldOutPrediction]) -> tuple[str, str, str]:
    """The median error, and the shares within half and inside the interval."""
    errors = [abs(p.error) for p in made]
    half = statistics.mean(error <= 0.5 for error in errors)
    held = statistics.mean(p.held for p in made)
    return f"{statistics.median(errors):.0%}", f"{half:.0%}", f"{held:.0%}"


def _classes(fitted: CatalogueFit) -> Iterator[str]:
    """A row for each class: predicted as a case like it is, and from all other classes."""
    in_use, apart = (
        dict(_grouped(made, lambda p: ", ".join(p.row.interval_class)))
        for made in (fitted.in_use_predictions, fitted.class_predictions)
    )
    for name, rows in fitted.classes.items():
        own, other = in_use[", ".join(name)], apart[", ".join(name)]
        yield cells(
            ", ".join(name),
            len(own),
            len({row.source for row in rows}),
            *_of_class(own),
            f"{fitted.reach[name]:.2f}",
            *_of_class(other),
        )


def _of_class(made: Sequence[HeldOutPrediction]) -> tuple[str, str, str, str]:
    """The median error, where its middle is, the share inside, and how wide the interval is to either side."""
    median, _, held = _figures(made)
    middle = statistics.median(1 + p.error for p in made)
    wide = statistics.median(p.high / p.low for p in made) ** 0.5
    return median, f"{middle:.2f}", held, f"{wide:.2f}"


def _weak(fitted: CatalogueFit) -> Iterator[str]:
    """The classes whose rows are predicted worse than promised."""
    for name, own in _grouped(fitted.in_use_predictions, lambda p: ", ".join(p.row.interval_class)):
        error = statistics.median(abs(p.error) for p in own)
        if len(own) >= ENOUGH and error > 0.2:
            yield f"{name} ({error:.0%})"


def _text(amount: object) -> str:
    value = amount.value  # type: ignore[attr-defined]
    unit = unit_of(amount)  # type: ignore[arg-type]
    return f"{float(value) * 1e6:.3g} µs" if unit == "s" else f"{float(value):.3g} {unit}".strip()


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
