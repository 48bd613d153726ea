"""Efficiencies fitted to the measurements of the catalogue, cross-validated by leaving out one source at a time.

Parameter classes: ``mfu`` by device family, separately for ggml engines and for models with experts; one ``mbu``; an overhead per layer by kind of memory and engine class; one
traffic between operators; one link share, and a link latency by group size. The latency comes from separate measurements of small all-reduces: the
engines' own kernels for ``compiled`` engines, NCCL for all others. The other parameters minimise a robust loss of log(predicted/measured), in which each
source has the weight of the square root of its rows.
"""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from symroof.specs.efficiencies import ALL, FITTED, WITH_EXPERTS, compute_family, link_group
from tools.evidence.catalogue_rows import MeasuredRow, sources

Array = NDArray[np.float64]

Key = tuple[str, str, str]
"""An input, a device family, an engine class."""

START = {
    "mfu": 0.6, "mbu": 0.8, "layer_overhead": 1e-4, "elementwise_bytes": 60.0, "link_latency": 1e-5,
    "link_share": 0.4,
}  # fmt: skip
MOST = {"mfu": 1.0, "mbu": 1.0, "link_share": 1.0}
STEPS = (0.5, 0.2, 0.08, 0.03, 0.01, 0.004)
ROBUST = 0.25
"""Log errors below this count by their square, above it linearly."""
HELD = 0.8
SMALL_MESSAGE = 40_000


def keys_of(family: str, engine: str, group: str, experts: bool = False) -> tuple[Key, ...]:
    """The class of each input for a family, an engine class, what sends messages (:func:`link_group`) and models with experts, in the order of ``FITTED``.

    Compiled engines of 2025 are only measured on server parts: on other families they share the layer overhead of earlier ones.
    """
    ggml = engine == "ggml"
    server = ggml and family in ("hbm", "gddr")
    return (
        (
            "mfu",
            "server" if server else compute_family(family, engine, experts),
            "ggml" if ggml else engine if family == "cdna" else ALL,
        ),
        ("mbu", ALL, ALL),
        (
            "layer_overhead",
            "gddr" if family == "geforce" else family,
            "compiled" if engine == "earlier" and family not in ("hbm", "cdna") else engine,
        ),
        ("elementwise_bytes", ALL, ALL),
        ("link_latency", group, ALL if group == "experts" or engine != "compiled" else engine),
        ("link_share", ALL, ALL),
    )


def classes_of(row: MeasuredRow) -> tuple[Key, ...]:
    """The class of each input for a row."""
    return keys_of(row.family, row.engine, row.row.link_group, row.experts)


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
                for key in (
                    ("link_latency", link_group(ceiling.devices), kernels),
                    ("link_latency", ALL, ALL),
                ):
                    times.setdefault(key, []).append(float(ceiling.value.value))
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
        return SINGLE if self.single else classes_of(row)

    @cached_property
    def arrays(self) -> tuple[Array, Array, Array]:
        """The parts, the row of each, and the indices of their parameters."""
        place = {key: i for i, key in enumerate(self.keys)}
        parts = [
            (i, part, [place[key] for key in self.classes(row)])
            for i, row in enumerate(self.rows)
            for part in row.parts
        ]
        values = np.array(
            [
                [
                    max(p.compute, p.tile),
                    p.memory,
                    p.layers,
                    p.between,
                    p.messages,
                    p.sent,
                    p.added,
                    p.network,
                ]
                for _, p, _ in parts
            ]
        )
        return (
            values,
            np.array([i for i, _, _ in parts]),
            np.array([places for _, _, places in parts]),
        )

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
        return float(
            (
                self.weights * np.where(error < ROBUST, error**2 / (2 * ROBUST), error - ROBUST / 2)
            ).sum()
        )


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
    """Values of all classes; unmeasured ones take the geometric mean of the same family with other engines, else the general value."""
    made = {}
    for name, family, engine in keys:
        others = [value for (n, f, _), value in values.items() if (n, f) == (name, family)]
        own = values.get((name, family, engine))
        made[name, family, engine] = (
            own
            if own is not None
            else statistics.geometric_mean(others)
            if others
            else general[name, ALL, ALL]
        )
    return made


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


def widths(rows: Sequence[MeasuredRow], values: Mapping[Key, float]) -> dict[str, float]:
    """The scatter of each input: 1.4826 times the median absolute deviation of the log of the value that each row alone implies,
    over the rows whose time it dominates; if they are few, the scatter of the layer overhead."""
    table = FitArrays(tuple(rows))
    times = table.times(values)
    made: dict[str, list[float]] = {name: [] for name in FITTED}
    for i, row in enumerate(rows):
        shares = dict.fromkeys(FITTED, 0.0)
        for part in row.parts:
            mfu, mbu, layer, elementwise, latency, link = (values[key] for key in classes_of(row))
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


MAIN = "hbm"
"""The family with the most sources, whose intervals the inputs have that all families share."""


def interval_ends(
    values: Mapping[Key, float], width: Mapping[str, float], widening: Mapping[str, float]
) -> tuple[dict[Key, float], dict[Key, float]]:
    """The parameters at the fast and at the slow end of their intervals; ``widening``: group of rows -> factor on the scatter."""
    fast, slow = {}, {}
    for key, value in values.items():
        factor = math.exp(
            widening.get(interval_group(key[1], key[2]), widening[MAIN]) * width[key[0]]
        )
        share = key[0] in MOST
        fast[key] = min(value * factor, MOST[key[0]]) if share else value / factor
        slow[key] = value / factor if share else value * factor
    return fast, slow


SHARED_BY = {"server": "hbm", "experts": "hbm"} | {
    compute_family(family, "compiled", experts=True): family for family in WITH_EXPERTS
}
"""The families whose intervals classes have that several share."""


def interval_group(family: str, engine: str) -> str:
    """The rows whose scatter a class's interval covers: those of its family; of AMD's parts those of engines until 2024 apart, which nothing else predicts."""
    shared = SHARED_BY.get(family, family)
    return "cdna earlier" if (shared, engine) == ("cdna", "earlier") else shared


def leave_one_source_out(
    rows: Sequence[MeasuredRow], latency: Mapping[Key, float], width: Mapping[str, float]
) -> tuple[list[HeldOutPrediction], dict[str, float]]:
    """Predict every row from the other sources; also, for each group of rows, the smallest widening of its intervals that contains 80 % of them."""
    fitted = []
    for name in sorted({row.source for row in rows}):
        others, own = (
            [row for row in rows if row.source != name],
            FitArrays(tuple(row for row in rows if row.source == name)),
        )
        general = fit(others, latency, single=True)
        near = {key[0]: value for key, value in general.items()}
        values = fit(
            others, latency, start={**near, "mfu": START["mfu"]}
        )  # an mfu that no row determines keeps its start value
        fitted.append((own, with_missing_classes({**values, **latency}, general, own.keys)))
    made, widening = [], {}
    for group in sorted({interval_group(row.family, row.engine) for row in rows}):
        tables = [
            (
                FitArrays(
                    tuple(
                        row for row in own.rows if interval_group(row.family, row.engine) == group
                    )
                ),
                values,
            )
            for own, values in fitted
        ]
        for step in range(1, MOST_STEPS + 1):
            widening[group] = step / 20
            tried = [
                prediction
                for own, values in tables
                if own.rows
                for prediction in _predicted(own, values, width, widening[group])
            ]
            if sum(prediction.held for prediction in tried) >= HELD * len(tried):
                break
        made += tried
    return made, widening


MOST_STEPS = 200


def leave_each_group_out(
    rows: Sequence[MeasuredRow],
    latency: Mapping[Key, float],
    values: Mapping[Key, float],
    width: Mapping[str, float],
    widening: Mapping[str, float],
) -> list[HeldOutPrediction]:
    """Predict the rows of each device, class of engines and layout from all others, those of the same source among them; ``values`` of the fit to all rows are
    where each fit begins."""
    made = []
    for group, count in sorted(Counter(row.group for row in rows).items()):
        if count < ENOUGH:
            continue
        others, own = (
            [row for row in rows if row.group != group],
            FitArrays(tuple(row for row in rows if row.group == group)),
        )
        found = {**fit(others, latency, near=values), **latency}
        general = fit(others, latency, single=True) if set(own.keys) - set(found) else {}
        family = interval_group(own.rows[0].family, own.rows[0].engine)
        made += _predicted(
            own, with_missing_classes(found, general, own.keys), width, widening[family]
        )
    return made


def _predicted(
    table: FitArrays, values: Mapping[Key, float], width: Mapping[str, float], widening: float
) -> list[HeldOutPrediction]:
    fast, slow = interval_ends(values, width, {MAIN: widening})
    columns = (table.times(values), table.times(fast), table.times(slow))
    return [
        HeldOutPrediction(row, *map(float, times))
        for row, *times in zip(table.rows, *columns, strict=True)
    ]
