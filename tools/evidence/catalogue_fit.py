"""Efficiencies fitted to the measurements of the catalogue, cross-validated by leaving out one source at a time.

Parameter classes: ``mfu`` by device family, separately for ggml engines and for models with experts; one ``mbu``; an overhead per layer by kind of memory and engine class; one
traffic between operators; one link share, and a link latency by group size. AMD's parts have an ``mbu`` of their own, and its generations an ``mfu`` and an overhead per layer, there by
engines and, in the overhead, for latent attention. The latency comes from separate measurements of small all-reduces: the engines' own kernels for ``compiled`` engines and those
before on NVIDIA's server parts, NCCL for all others. The other parameters minimise a robust loss of log(predicted/measured), in which each
source has the weight of the square root of its rows.
"""

from __future__ import annotations

import math
import statistics
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from symroof.specs.efficiencies import ALL, FITTED, SHARES, interval, link_group
from tools.evidence.catalogue_rows import MeasuredRow, sources

Array = NDArray[np.float64]

Key = tuple[str, str, str]
"""An input, a device family, an engine class."""

START = {
    "mfu": 0.6,
    "mbu": 0.8,
    "layer_overhead": 1e-4,
    "elementwise_bytes": 60.0,
    "link_latency": 1e-5,
    "link_share": 0.4,
}
MOST = dict.fromkeys(SHARES, 1.0)
STEPS = (0.5, 0.2, 0.08, 0.03, 0.01, 0.004)
ROBUST = 0.25
"""Log errors below this count by their square, above it linearly."""
HELD = 0.8
SMALL_MESSAGE = 40_000


def keys_of(row: MeasuredRow) -> tuple[Key, ...]:
    """The class of each input for a row, in the order of ``FITTED``.

    Compiled engines of 2025 are only measured on server parts: on other families they share the layer overhead of earlier ones.
    """
    family, engine, group = row.family, row.engine, row.row.link_group
    generations = family == "cdna"
    where = row.generation if generations else family
    experts = row.part and engine != "ggml" and family in WITH_EXPERTS
    latent = generations and row.part == "latent"
    own_kernels = engine == "compiled" or (engine, family) == ("earlier", "hbm")
    peak = f"{where} experts" if experts else where
    if engine == "ggml" and family in ("hbm", "gddr"):
        peak = "server"
    layers = f"{where} latent" if latent else where
    if family == "geforce":
        layers = "gddr"
    launched = "compiled" if engine == "earlier" and family not in WITH_EXPERTS else engine
    return (
        ("mfu", peak, engine if engine == "ggml" or generations else ALL),
        ("mbu", "cdna" if generations else ALL, ALL),
        ("layer_overhead", layers, launched),
        ("elementwise_bytes", ALL, ALL),
        ("link_latency", group, "compiled" if own_kernels and group != "experts" else ALL),
        ("link_share", ALL, ALL),
    )


WITH_EXPERTS = ("hbm", "cdna")
"""Families of devices on which models with experts were measured beside others, and engines of 2025 beside those before."""


SINGLE: tuple[Key, ...] = tuple((name, ALL, ALL) for name in FITTED)
"""One class for all devices and engines, used for families without measurements."""


def link_latencies() -> dict[Key, float]:
    """Median seconds of small all-reduces by group size: for the engines' own kernels, for NCCL, and for both."""
    times: dict[Key, list[float]] = {}
    for spec in sources():
        for ceiling in spec.ceilings:
            if (
                ceiling.op == "all_reduce"
                and ceiling.value.dimension == (("s", 1),)
                and ceiling.shape.get("message", SMALL_MESSAGE) < SMALL_MESSAGE
            ):
                kernels = ALL if "NCCL" in ceiling.engine else "compiled"
                for of in ((link_group(ceiling.devices), kernels), (ALL, ALL)):
                    times.setdefault(("link_latency", *of), []).append(float(ceiling.value.value))
    return {key: statistics.median(values) for key, values in times.items()}


@dataclass(frozen=True)
class FitArrays:
    """The time parts of all rows as arrays, with the parameter index of each class."""

    rows: tuple[MeasuredRow, ...]
    single: bool = False

    @cached_property
    def keys(self) -> tuple[Key, ...]:
        return tuple(sorted({key for row in self.rows for key in self.classes(row)}))

    def classes(self, row: MeasuredRow) -> tuple[Key, ...]:
        return SINGLE if self.single else keys_of(row)

    @cached_property
    def arrays(self) -> tuple[Array, Array, Array]:
        """The parts, the row of each, and the indices of their parameters."""
        place = {key: i for i, key in enumerate(self.keys)}
        parts = [
            (i, part, [place[key] for key in self.classes(row)])
            for i, row in enumerate(self.rows)
            for part in row.parts
        ]
        rows, _, places = map(np.array, zip(*parts, strict=True))
        return np.array([part.columns for _, part, _ in parts]), rows, places

    @cached_property
    def measured(self) -> Array:
        return np.log([row.seconds for row in self.rows])

    @cached_property
    def weights(self) -> Array:
        count = Counter(row.source for row in self.rows)
        weight = np.array([count[row.source] ** -0.5 for row in self.rows])
        share: Array = weight / weight.sum()
        return share

    def times(self, values: Mapping[Key, float]) -> Array:
        """Predicted seconds of every row."""
        return self._times(np.array([values[key] for key in self.keys]))

    def _times(self, values: Array) -> Array:
        parts, row, places = self.arrays
        mfu, mbu, layer, elementwise, latency, link = values[places].T
        fixed = (
            parts[:, 2] * layer + parts[:, 3] * elementwise + parts[:, 4] * latency + parts[:, 7]
        )
        compute, memory = parts[:, 0] / mfu, parts[:, 1] / mbu
        times = (
            np.maximum(compute, memory)
            + parts[:, 6] * np.minimum(compute, memory)
            + fixed
            + parts[:, 5] / link
        )
        summed: Array = np.bincount(row, weights=times, minlength=len(self.rows)).astype(np.float64)
        return summed

    def loss(self, logarithms: Array) -> float:
        """The weighted robust loss of a set of parameters."""
        error = np.abs(np.log(self._times(np.exp(logarithms))) - self.measured)
        robust = np.where(error < ROBUST, error**2 / (2 * ROBUST), error - ROBUST / 2)
        return float((self.weights * robust).sum())


def fit(
    rows: Sequence[MeasuredRow],
    latency: Mapping[Key, float],
    single: bool = False,
    start: Mapping[str, float] = START,
    near: Mapping[Key, float] | None = None,
) -> dict[Key, float]:
    """Minimise the loss by coordinate descent with decreasing steps, from the values of ``near`` where it has any; link latencies stay fixed."""
    table = FitArrays(tuple(rows), single)
    known = {**(near or {}), **latency}
    point = np.log([known.get(key, start[key[0]]) for key in table.keys])
    most = np.log([MOST.get(key[0], 1e9) for key in table.keys])
    free = [i for i, key in enumerate(table.keys) if key not in latency]
    best = table.loss(point)
    for step in STEPS:
        moved = True
        while moved:
            moved = False
            for i in free:
                for way in (step, -step):
                    tried = point.copy()
                    tried[i] = min(tried[i] + way, most[i])
                    if (loss := table.loss(tried)) < best - 1e-9:
                        point, best, moved = tried, loss, True
                        break
    return dict(zip(table.keys, np.exp(point).tolist(), strict=True))


def with_missing_classes(
    values: Mapping[Key, float], general: Mapping[Key, float], keys: Sequence[Key]
) -> dict[Key, float]:
    """Values of all classes; one without rows takes the geometric mean of the other generations with these engines, else of other engines there, else the general value."""
    return {
        key: values[key]
        if key in values
        else statistics.geometric_mean(_nearest(values, key) or [general[key[0], ALL, ALL]])
        for key in keys
    }


def _nearest(values: Mapping[Key, float], key: Key) -> list[float]:
    name, family, engine = key
    siblings = [
        value
        for (n, f, e), value in values.items()
        if (n, e) == (name, engine) and maker(f) == maker(family) != f
    ]
    return siblings or [value for (n, f, _), value in values.items() if (n, f) == (name, family)]


def maker(family: str) -> str:
    """The family of a generation of AMD's parts, and what part of models it is of: ``cdna latent`` of ``cdna3 latent``."""
    name, _, part = family.partition(" ")
    return f"{'cdna' if name.startswith('cdna') else name} {part}".strip()


@dataclass(frozen=True)
class HeldOutPrediction:
    """A row with its time predicted from the other sources: expected, low and high, in seconds."""

    row: MeasuredRow
    expected: float
    low: float
    high: float

    @property
    def error(self) -> float:
        """(expected - measured)/measured."""
        return self.expected / self.row.seconds - 1

    @property
    def held(self) -> bool:
        return self.low <= self.row.seconds <= self.high


def share_held(made: Iterable[HeldOutPrediction]) -> float:
    """The share of rows that are inside their intervals."""
    return statistics.mean(each.held for each in made)


def widths(rows: Sequence[MeasuredRow], values: Mapping[Key, float]) -> dict[str, float]:
    """The scatter of each input: 1.4826 times the median absolute deviation of the log of the value that each row alone implies,
    over the rows whose time it dominates; if they are few, the scatter of the layer overhead."""
    table = FitArrays(tuple(rows))
    times = table.times(values)
    made: dict[str, list[float]] = {name: [] for name in FITTED}
    for i, row in enumerate(rows):
        shares = dict.fromkeys(FITTED, 0.0)
        for part in row.parts:
            mfu, mbu, layer, elementwise, latency, link = (values[key] for key in keys_of(row))
            compute, memory = max(part.compute, part.tile) / mfu, part.memory / mbu
            shares["mfu" if compute > memory else "mbu"] += max(compute, memory)
            shares["mbu" if compute > memory else "mfu"] += part.added * min(compute, memory)
            shares["layer_overhead"] += part.layers * layer
            shares["elementwise_bytes"] += part.between * elementwise
            shares["link_latency"] += part.messages * latency
            shares["link_share"] += part.sent / link
        for name, own in shares.items():
            asked = row.seconds - (times[i] - own)
            if own > times[i] / 2 and asked > 0:
                made[name].append(math.log(asked / own))
    spread = {
        name: 1.4826 * float(np.median(np.abs(np.array(logs) - np.median(logs))))
        for name, logs in made.items()
        if len(logs) >= ENOUGH
    }
    return {name: spread.get(name, spread["layer_overhead"]) for name in FITTED}


ENOUGH = 10
"""Rows of a class, or of an input, below which they say nothing of its scatter."""
MAIN = "hbm"
"""The family with the most sources."""

FAR = "far"
NEAR = "near"


def interval_ends(
    values: Mapping[Key, float], width: Mapping[str, float], reach: float
) -> tuple[dict[Key, float], dict[Key, float]]:
    """The parameters at the fast and at the slow end of intervals that go so many times the scatter to either side."""
    fast, slow = {}, {}
    for key, value in values.items():
        low, high = interval(key[0], value, reach * width[key[0]])
        fast[key], slow[key] = (high, low) if key[0] in SHARES else (low, high)
    return fast, slow


@dataclass(frozen=True)
class HeldOutRow:
    """A row, and the values that the fit to others gives its classes."""

    row: MeasuredRow
    values: dict[Key, float]

    @cached_property
    def _table(self) -> FitArrays:
        return FitArrays((self.row,))

    def predicted(self, width: Mapping[str, float], reach: float) -> HeldOutPrediction:
        columns = (self.values, *interval_ends(self.values, width, reach))
        return HeldOutPrediction(self.row, *(float(self._table.times(each)[0]) for each in columns))


def left_out(
    rows: Sequence[MeasuredRow],
    latency: Mapping[Key, float],
    by: Callable[[MeasuredRow], Hashable],
    near: Mapping[Key, float],
    wanted: Callable[[MeasuredRow], bool] = lambda row: True,
) -> list[HeldOutRow]:
    """The rows wanted, each group of them with the fit to all rows of other groups; ``near`` is where the fits begin."""
    made = []
    for group in sorted({by(row) for row in rows if wanted(row)}, key=str):
        others = [row for row in rows if by(row) != group]
        own = [row for row in rows if by(row) == group and wanted(row)]
        keys = {key for row in own for key in keys_of(row)}
        found = {**fit(others, latency, near=near), **latency}
        general = fit(others, latency, single=True) if keys - set(found) else {}
        made += [HeldOutRow(row, with_missing_classes(found, general, keys_of(row))) for row in own]
    return made


def known_elsewhere(rows: Sequence[MeasuredRow]) -> Callable[[MeasuredRow], bool]:
    """Whether other sources have enough rows of each class of a row."""
    count = Counter((row.source, key) for row in rows for key in keys_of(row))
    total = Counter(key for row in rows for key in keys_of(row))
    return lambda row: all(total[key] - count[row.source, key] >= ENOUGH for key in keys_of(row))


def least_reach(made: Sequence[HeldOutRow], width: Mapping[str, float]) -> float:
    """The smallest reach, in twentieths, for which the intervals hold four rows in five."""

    def hold(step: int) -> bool:
        return sum(one.predicted(width, step / 20).held for one in made) >= HELD * len(made)

    return (bisect_left(range(1, MOST_STEPS), True, key=hold) + 1) / 20


def folds(rows: Sequence[MeasuredRow]) -> Callable[[MeasuredRow], int]:
    """One of ten parts of the rows for each; those of a cell are all in one."""
    place = {cell: i for i, cell in enumerate(sorted({row.cell for row in rows}))}
    return lambda row: place[row.cell] % FOLDS


FOLDS = 10
MOST_STEPS = 200
