"""The pages ``measured.md`` and ``efficiencies.md`` and their picture: how well each source is predicted from the others, and the values that predict it."""

from __future__ import annotations

import io
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

import matplotlib
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from symroof.report.pictures.chart import RC, line, themed
from symroof.specs.efficiencies import ALL, TILE_ROWS, shipped_efficiencies, unit_of
from tools.evidence import filled, grouped, median_error, middle, within
from tools.evidence.catalogue_fit import ENOUGH, HeldOutPrediction, share_held
from tools.evidence.catalogue_rows import OF_LOOPS
from tools.evidence.catalogue_table import CatalogueFit
from tools.markdown import cells, headed, table


def measured_page(fitted: CatalogueFit) -> str:
    """How accurate predictions are."""
    return filled(
        "measured",
        rows=f"{len(fitted.rows):,}",
        sources=len({row.source for row in fitted.rows}),
        result="\n".join(_result(fitted.predictions)),
        weak="; ".join(_weak(fitted)),
    )


def efficiencies_page(fitted: CatalogueFit) -> str:
    """The fitted values, and how they were found."""
    made = fitted.predictions
    listed = "\n".join(
        cells(
            e.input,
            e.family + f" (that of {e.of})" * bool(e.of),
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
        ("Phase", lambda p: p.row.phase),
    )
    return filled(
        "efficiencies",
        scatter=", ".join(f"`{name}` {by:.2f}" for name, by in fitted.widths.items()),
        near=", ".join(f"{by:.2f} on {name}" for name, by in sorted(fitted.near.items())),
        far=fitted.far,
        table=listed,
        elementwise=between,
        passes=between / 2,
        tile=TILE_ROWS,
        judged="\n".join(_judged(made)),
        classes="\n".join(_classes(fitted)),
        tables="\n\n".join(_shares(name, made, group) for name, group in groups),
        refused=_refused(fitted),
    )


def measured_plot(fitted: CatalogueFit) -> str:
    """The page's picture: predicted over measured of the rows of each class, as an SVG."""
    groups = [
        (_class_name(*name), [p for p in fitted.in_use_predictions if p.row.interval_class == name])
        for name in reversed(fitted.classes)
    ]
    names = ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color")
    with matplotlib.rc_context(RC | dict.fromkeys(names, line("ink"))):
        figure = Figure(figsize=(8, 0.27 * len(groups) + 1), layout="constrained")
        axes = figure.subplots()
        for place, (_, made) in enumerate(groups):
            ratios = sorted(1 + p.error for p in made)
            for share, width in ((20, 1), (10, 3), (4, 6)):
                cut = len(ratios) // share
                axes.plot(
                    [ratios[cut], ratios[-1 - cut]], [place] * 2, color=line("sky"), linewidth=width
                )
            axes.plot(statistics.median(ratios), place, "o", color=line("blue"), markersize=5)
        axes.axvline(1, color=line("faint"), linewidth=0.8)
        axes.set_xscale("log")
        axes.set_xlim(0.3, 3.3)
        axes.set_xticks([0.33, 0.5, 0.67, 0.8, 1, 1.25, 1.5, 2, 3], minor=False)
        axes.xaxis.set_major_formatter("{x:g}")
        axes.xaxis.set_minor_locator(NullLocator())
        axes.set_yticks(range(len(groups)), [f"{name}: {len(made)}" for name, made in groups])
        axes.set_xlabel("predicted time / measured time")
        text = io.StringIO()
        figure.savefig(text, format="svg", metadata={"Date": None})
    svg = themed(
        text.getvalue(),
        "Predicted over measured time",
        "For each class: the median, and the ranges that contain half, 80 % and 90 % of its measurements",
    )
    return "\n".join(each.rstrip() for each in svg.splitlines()) + "\n"


KINDS: tuple[tuple[str, Callable[[HeldOutPrediction], bool]], ...] = (
    ("all", lambda p: True),
    ("without AMD Instinct", lambda p: p.row.family != "cdna"),
    ("dense models", lambda p: p.row.part == ""),
    ("mixture of experts", lambda p: p.row.part == "experts"),
    ("latent attention (DeepSeek)", lambda p: p.row.part == "latent"),
    ("one device", lambda p: p.row.row.group == 1),
    ("several devices", lambda p: p.row.row.group > 1 and p.row.row.attention_dp == 1),
    ("DP attention", lambda p: p.row.row.attention_dp > 1),
    ("closed loops", lambda p: p.row.row.metric in OF_LOOPS),
    ("prefill only", lambda p: p.row.phase == "prefill"),
    ("decode only", lambda p: p.row.phase == "decode"),
    ("engines since 2024 (`compiled`)", lambda p: p.row.engine == "compiled"),
    ("engines until 2024 (`earlier`)", lambda p: p.row.engine == "earlier"),
    ("llama.cpp, Ollama, MLX (`ggml`)", lambda p: p.row.engine == "ggml"),
)
GENERATIONS = {
    "ampere": "NVIDIA A100",
    "hopper": "NVIDIA Hopper (H100, H200, GH200, H20)",
    "blackwell": "NVIDIA Blackwell (B200, B300, GB200, GB300)",
    "gddr": "GDDR cards (L40S, RTX A6000 …)",
    "geforce": "NVIDIA GeForce",
    "unified": "Jetson Orin, GB10, Strix Halo",
    "cdna2": "AMD MI250X",
    "cdna3": "AMD MI300X",
    "cdna4": "AMD MI355X",
    "apple": "Apple silicon",
    "gaudi": "Intel Gaudi 2",
    "neuron": "AWS Trainium, Inferentia",
}
PARTS = {"": "", "experts": ", MoE", "latent": ", MLA"}


def _result(made: Sequence[HeldOutPrediction]) -> list[str]:
    groups = [(name, [p for p in made if of(p)]) for name, of in KINDS]
    generations = grouped(made, lambda p: p.row.generation)
    named = [(GENERATIONS[name], generations[name]) for name in GENERATIONS]
    return [
        cells(name, f"{len(own):,}", *_figures(own))
        for name, own in (*groups[:2], *named, *groups[2:])
    ]


def _figures(made: Sequence[HeldOutPrediction]) -> tuple[str, str, str]:
    """The median error, and the shares within half and inside the interval."""
    errors = [p.error for p in made]
    return f"{median_error(errors):.0%}", f"{within(errors, 0.5):.0%}", f"{share_held(made):.0%}"


def _classes(fitted: CatalogueFit) -> Iterator[str]:
    """A row for each class: predicted as a case like it is, and from all other classes."""
    in_use, apart = (
        grouped(made, lambda p: p.row.interval_class)
        for made in (fitted.in_use_predictions, fitted.class_predictions)
    )
    for name, rows in fitted.classes.items():
        own, other = in_use[name], apart[name]
        counts, reach = (len(own), len({row.source for row in rows})), f"{fitted.reach[name]:.2f}"
        yield cells(", ".join(name), *counts, *_of_class(own), reach, *_of_class(other))


def _of_class(made: Sequence[HeldOutPrediction]) -> tuple[str, str, str, str]:
    """The median error, where its middle is, the share inside, and how wide the interval is to either side."""
    median, _, held = _figures(made)
    wide = statistics.median(p.high / p.low for p in made) ** 0.5
    return median, middle([p.error for p in made]), held, f"{wide:.2f}"


def _weak(fitted: CatalogueFit) -> Iterator[str]:
    """The classes whose rows are predicted worse than promised."""
    for name, own in grouped(fitted.in_use_predictions, lambda p: p.row.interval_class).items():
        error = median_error(p.error for p in own)
        if len(own) >= ENOUGH and error > 0.2:
            yield f"{_class_name(*name)} ({error:.0%})"


def _class_name(kind: str, engine: str) -> str:
    generation, _, part = kind.partition(" ")
    device = GENERATIONS[generation].partition(" (")[0]
    return f"{device}{PARTS[part]}, {engine}"


def _text(amount: object) -> str:
    value = amount.value  # type: ignore[attr-defined]
    unit = unit_of(amount)  # type: ignore[arg-type]
    return f"{float(value) * 1e6:.3g} µs" if unit == "s" else f"{float(value):.3g} {unit}".strip()


def _judged(made: Iterable[HeldOutPrediction]) -> Iterator[str]:
    for source, group in grouped(made, lambda p: p.row.source).items():
        errors = [p.error for p in group]
        median, half, held = _figures(group)
        near = f"{within(errors, 0.2):.0%}"
        yield cells(source, len(group), median, middle(errors), near, half, held)


def _shares(
    name: str, made: Iterable[HeldOutPrediction], by: Callable[[HeldOutPrediction], str]
) -> str:
    rows = []
    for word, group in grouped(made, by).items():
        shares = sorted(p.row.roof / p.row.seconds for p in group)
        tenth = len(shares) // 10
        marks = statistics.median(shares), shares[tenth], shares[-1 - tenth]
        rows.append([word, len(shares), *(f"{share:.0%}" for share in marks)])
    return "\n".join(table([name, "rows", "median", "lowest tenth", "highest tenth"], rows)[:-1])


def _batch(batch: int) -> str:
    most = {1: "1", 8: "2 to 8", 64: "9 to 64"}
    return next((words for limit, words in most.items() if batch <= limit), "above 64")


def _refused(fitted: CatalogueFit) -> str:
    kinds = Counter(
        (
            r.source,
            "faster than the theoretical minimum"
            if "least time" in r.reason
            else r.reason.partition(" is ")[2] or r.reason,
        )
        for r in fitted.refused
    )
    rows = [(source, count, reason) for (source, reason), count in sorted(kinds.items())]
    heading = headed("## Measurements that are not used")
    return "\n".join([*heading, *table(["source", "rows", "why"], rows)][:-1])
