"""The efficiency table that symroof ships: fitted to the catalogue and cross-validated."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from symroof.specs.efficiencies import ALL, CLASSES, FITTED, MeasuredKind
from symroof.theory.symbols import INPUTS
from tools.evidence import grouped, median_error, within
from tools.evidence.catalogue_fit import (
    ENOUGH,
    HELD,
    MAIN,
    MOST,
    WITH_EXPERTS,
    FitArrays,
    HeldOutPrediction,
    HeldOutRow,
    Key,
    fit,
    folds,
    keys_of,
    known_elsewhere,
    least_reach,
    left_out,
    link_latencies,
    maker,
    share_held,
    widths,
)
from tools.evidence.catalogue_rows import MeasuredRow, RefusedRow, comparable, sources

COMMAND = "python -m tools.evidence"
Class = tuple[str, str]
"""A generation with a part of models, and a class of engines."""


@dataclass(frozen=True)
class CatalogueFit:
    """The fit to all usable rows of the catalogue, and every row predicted from others."""

    rows: tuple[MeasuredRow, ...]
    refused: tuple[RefusedRow, ...]

    @classmethod
    def of_catalogue(cls) -> CatalogueFit:
        """The fit to the built-in catalogue; takes about a minute."""
        made = [row for spec in sources() for row in comparable(spec)]
        return cls(
            tuple(row for row in made if isinstance(row, MeasuredRow)),
            tuple(row for row in made if isinstance(row, RefusedRow)),
        )

    @cached_property
    def latency(self) -> dict[Key, float]:
        return link_latencies()

    @cached_property
    def values(self) -> dict[Key, float]:
        return fit(self.rows, self.latency)

    @cached_property
    def general(self) -> dict[Key, float]:
        """One value of each input for all devices and engines."""
        return fit(self.rows, self.latency, single=True)

    @cached_property
    def widths(self) -> dict[str, float]:
        return widths(self.rows, self.values)

    @cached_property
    def classes(self) -> dict[Class, list[MeasuredRow]]:
        """The classes that have rows enough, with these."""
        found = grouped(self.rows, lambda row: row.interval_class)
        return {name: rows for name, rows in found.items() if len(rows) >= ENOUGH}

    @cached_property
    def without_source(self) -> list[HeldOutRow]:
        """Every row with the fit to the other sources."""
        return left_out(self.rows, self.latency, lambda row: row.source, self.values)

    @cached_property
    def without_class(self) -> list[HeldOutRow]:
        """The rows of each class with the fit to all other classes."""
        wanted = self.classes.__contains__
        return left_out(
            self.rows,
            self.latency,
            lambda row: row.interval_class,
            self.values,
            lambda row: wanted(row.interval_class),
        )

    @cached_property
    def in_use(self) -> list[HeldOutRow]:
        """Every row as a case like it is predicted: without its source or, where no other source has its classes, without a tenth of all cells."""
        elsewhere = known_elsewhere(self.rows)
        cells = left_out(
            self.rows, self.latency, folds(self.rows), self.values, lambda r: not elsewhere(r)
        )
        return [one for one in self.without_source if elsewhere(one.row)] + cells

    @cached_property
    def reach(self) -> dict[Class, float]:
        """How many times the scatter the interval of each class goes to either side: no further than where nothing was measured, and of few rows no less than of all."""
        of_all = least_reach(self.in_use, self.widths)
        return {
            name: min(found if len(self.classes[name]) >= MANY else max(found, of_all), self.far)
            for name, found in self._reaches(self.in_use).items()
        }

    def _reaches(self, made: Sequence[HeldOutRow]) -> dict[Class, float]:
        return {
            name: least_reach([p for p in made if p.row.interval_class == name], self.widths)
            for name in self.classes
        }

    @cached_property
    def near(self) -> dict[str, float]:
        """The reach where a class has no rows but others of its family and engines have: that holds the rows of four classes in five left out."""
        made: dict[str, list[float]] = {}
        for name, found in self._reaches(self.without_class).items():
            if self.has_neighbours(name):
                made.setdefault(self.classes[name][0].family, []).append(found)
        return {family: _at_share(sorted(found), HELD) for family, found in made.items()}

    @cached_property
    def far(self) -> float:
        """The reach where nothing of a family and its engines was measured: that holds the rows of four classes in five, each left out."""
        return _at_share(sorted(self._reaches(self.without_class).values()), HELD)

    def has_neighbours(self, name: Class) -> bool:
        """Whether another class is of the same family and the same engines."""
        family = self.classes[name][0].family
        return any(
            (rows[0].family, other[1]) == (family, name[1])
            for other, rows in self.classes.items()
            if other != name
        )

    @cached_property
    def predictions(self) -> list[HeldOutPrediction]:
        """Every row predicted from the other sources; where these do not have its class, with the interval of classes left out."""
        elsewhere = known_elsewhere(self.rows)
        return [
            one.predicted(self.widths, self._reach_of(one.row, elsewhere(one.row)))
            for one in self.without_source
        ]

    @cached_property
    def in_use_predictions(self) -> list[HeldOutPrediction]:
        """Every row as a case like it is predicted, with the interval that is shipped."""
        return [one.predicted(self.widths, self._reach_of(one.row, True)) for one in self.in_use]

    @cached_property
    def class_predictions(self) -> list[HeldOutPrediction]:
        """The rows of each class predicted from all other classes, with the interval of classes left out."""
        return [
            one.predicted(self.widths, self._reach_of(one.row, False)) for one in self.without_class
        ]

    def _reach_of(self, row: MeasuredRow, known: bool) -> float:
        name = row.interval_class
        if known and name in self.reach:
            return self.reach[name]
        alone = name in self.classes and not self.has_neighbours(name)
        return self.far if alone else self.near.get(row.family, self.far)

    def count(self, key: Key) -> tuple[int, int]:
        """The number of rows and of sources of a class."""
        own = [
            row
            for row in self.rows
            if key in keys_of(row)
            and (key[0] not in ("link_share", "link_latency") or row.row.group > 1)
        ]
        return len(own), len({row.source for row in own})

    @cached_property
    def undetermined(self) -> set[Key]:
        """The values that rows do not determine: shares that fit best at their limit, and what may be half as large again, or less, at the same loss."""
        table = FitArrays(self.rows)
        point = [math.log(self.values[key]) for key in table.keys]
        best = table.loss(point)
        found = set()
        for i, key in enumerate(table.keys):
            moved = [[x + way * (i == k) for k, x in enumerate(point)] for way in (-0.4, 0.4)]
            flat = any(table.loss(each) < best + INDIFFERENT for each in moved)
            if flat or self.values[key] >= MOST.get(key[0], math.inf):
                found.add(key)
        return found - set(self.latency) - {("link_share", ALL, ALL)}


MANY = 30
"""Rows of a class that determine how wide its interval is."""
INDIFFERENT = 1e-6
"""A change of the loss that says nothing."""


def _at_share(values: Sequence[float], share: float) -> float:
    """The smallest value that so large a share of them does not exceed."""
    return values[math.ceil(share * len(values)) - 1]


def _order(kind: MeasuredKind) -> tuple[str, ...]:
    return f"{kind.model} in", str(kind.bits), kind.layout, f"{kind.device},", CLASSES[kind.engine]


def efficiencies(fitted: CatalogueFit) -> str:
    """The table as a spec file: the values, and how far their intervals reach in each class."""
    errors = [each.error for each in fitted.predictions]
    requests = sorted((row.engine, row.row.prompt + (row.row.output or 0)) for row in fitted.rows)
    lines = [
        f"# Fitted to the measurements of the catalogue by `{COMMAND}`; not written by hand.",
        f"rows: {len(fitted.rows)}",
        f"sources: {len({row.source for row in fitted.rows})}",
        f"median_error: {median_error(errors):.3f}",
        f"within_half: {within(errors, 0.5):.3f}",
        f"held: {share_held(fitted.predictions):.3f}",
        f"scatter: {{{', '.join(f'{name}: {fitted.widths[name]:.3f}' for name in FITTED)}}}",
        f"near: {{{', '.join(f'{family}: {reach:.2f}' for family, reach in sorted(fitted.near.items()))}}}",
        f"far: {fitted.far:.2f}",
        f"longest: {{{', '.join(f'{engine}: {most}' for engine, most in dict(requests).items())}}}",
        "intervals:",
    ]
    for (family, engine), rows in fitted.classes.items():
        reach, sources = fitted.reach[family, engine], len({row.source for row in rows})
        lines.append(
            f"- {{family: {family}, engine: {engine}, reach: {reach:.2f}, rows: {len(rows)}, sources: {sources}}}"
        )
    lines.append("efficiencies:")
    for shown, value, of, count in entries(fitted):
        name, family, engine = shown
        own = f", of: {of}" if of else ""
        said = f"value: {_written(name, value)}, rows: {count[0]}, sources: {count[1]}{own}"
        lines.append(f"- {{input: {name}, family: {family}, engine: {engine}, {said}}}")
    kinds = Counter(row.kind for row in fitted.rows if row.kind)
    lines.append("measured:" if kinds else "measured: []")
    for kind, number in sorted(kinds.items(), key=lambda item: _order(item[0])):
        fields = {**kind.model_dump(exclude={"rows"}), "rows": number}
        lines.append(f"- {{{', '.join(f'{name}: {value}' for name, value in fields.items())}}}")
    return "\n".join(lines) + "\n"


def entries(fitted: CatalogueFit) -> Iterator[tuple[Key, float, str, tuple[int, int]]]:
    """What is listed: each class under its families, those of AMD's generations under ``cdna`` too; the last of an input is for all devices."""
    for name in FITTED:
        own = sorted(
            (key for key in fitted.values if key[0] == name),
            key=lambda key: (key[1] == ALL, key[2] == ALL, key),
        )
        for key in own:
            for shown in _shown(key):
                for listed, of in rests_on(shown, key, fitted.values, fitted.undetermined):
                    yield listed, fitted.values[of], of[1] if of != key else "", fitted.count(of)
        generations: dict[Key, list[Key]] = {}
        for key in own:
            if maker(key[1]) != key[1] and key not in fitted.undetermined:
                generations.setdefault((name, maker(key[1]), key[2]), []).append(key)
        for shown, found in generations.items():
            counts = [fitted.count(key) for key in found]
            mean = statistics.geometric_mean(fitted.values[key] for key in found)
            rows, most = sum(count[0] for count in counts), max(count[1] for count in counts)
            yield shown, mean, shown[1], (rows, most)
        if (name, ALL, ALL) not in fitted.values:
            count = (len(fitted.rows), len({row.source for row in fitted.rows}))
            yield (name, ALL, ALL), fitted.general[name, ALL, ALL], ALL, count


def _shown(key: Key) -> Iterator[Key]:
    """The families and engines that a class is listed under."""
    name, family, engine = key
    shared = maker(family).split()[0] not in WITH_EXPERTS
    engines = [engine]
    if (name, engine) == ("layer_overhead", "compiled") and shared:
        engines = ["compiled", "earlier"]
    for each in engines:
        for one in FAMILIES.get((name, family), (family,)):
            yield name, one, each


def rests_on(
    shown: Key, key: Key, values: Mapping[Key, float], undetermined: set[Key]
) -> list[tuple[Key, Key]]:
    """What is listed of a class, and the class that it rests on: itself, as a rule.

    One that its rows do not determine has the share of NVIDIA's devices with HBM, the family of most sources, with the same engines; and so it has for models
    with experts. Where these have none, it is not listed.
    """
    name, family, engine = shown
    if key not in undetermined:
        return [(shown, key)]
    main = (name, "server" if engine == "ggml" else MAIN, engine if engine == "ggml" else ALL)
    experts = (name, f"{MAIN} experts", ALL)
    own_experts = engine == "ggml" or maker(family).split()[0] in WITH_EXPERTS
    listed = [(shown, main)]
    if not own_experts:
        listed.append(((name, f"{family} experts", engine), experts))
    return [(each, of) for each, of in listed if of in values and of not in undetermined]


FAMILIES: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("mfu", "server"): ("hbm", "gddr"),
    ("layer_overhead", "gddr"): ("gddr", "geforce"),
}
"""The families that share a class."""


def _written(name: str, value: float) -> str:
    unit = INPUTS[name].unit
    return f"{value * 1e6:.3g} us" if unit == "s" else f"{value:.3g} {unit}".rstrip()
