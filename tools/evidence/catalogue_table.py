"""The efficiency table that symroof ships: fitted to the catalogue and cross-validated."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from symroof.specs.efficiencies import ALL, FITTED
from symroof.theory.symbols import INPUTS
from tools.evidence.catalogue_fit import (
    MAIN,
    MOST,
    HeldOutPrediction,
    Key,
    classes_of,
    fit,
    interval_ends,
    leave_each_group_out,
    leave_one_source_out,
    link_latencies,
    widths,
)
from tools.evidence.catalogue_rows import MeasuredRow, RefusedRow, comparable, sources

COMMAND = "python -m tools.evidence"


@dataclass(frozen=True)
class CatalogueFit:
    """The fit to all usable rows of the catalogue, and every row predicted from the other sources."""

    rows: tuple[MeasuredRow, ...]
    refused: tuple[RefusedRow, ...]

    @classmethod
    def of_catalogue(cls) -> CatalogueFit:
        """The fit to the built-in catalogue; takes about ten seconds."""
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
    def _left_out(self) -> tuple[list[HeldOutPrediction], dict[str, float]]:
        return leave_one_source_out(self.rows, self.latency, self.widths)

    @property
    def predictions(self) -> list[HeldOutPrediction]:
        """Every row predicted from the other sources."""
        return self._left_out[0]

    @cached_property
    def group_predictions(self) -> list[HeldOutPrediction]:
        """The rows of every device, class of engines and layout with ten or more, each group predicted from all others."""
        return leave_each_group_out(
            self.rows, self.latency, self.values, self.widths, self.widening
        )

    @property
    def widening(self) -> dict[str, float]:
        """Group of rows -> the factor on the scatter of each input for which its intervals contain 80 % of the held-out rows."""
        return self._left_out[1]

    @property
    def median_error(self) -> float:
        return statistics.median(abs(p.error) for p in self.predictions)

    @property
    def within_half(self) -> float:
        return statistics.mean(abs(p.error) <= 0.5 for p in self.predictions)

    @property
    def held(self) -> float:
        return statistics.mean(p.held for p in self.predictions)

    def count(self, key: Key) -> tuple[int, int]:
        """The number of rows and of sources of a class."""
        own = [
            row
            for row in self.rows
            if key in classes_of(row)
            and (key[0] not in ("link_share", "link_latency") or row.row.group > 1)
        ]
        return len(own), len({row.source for row in own})


def efficiencies(fitted: CatalogueFit) -> str:
    """The table as a spec file.

    Each class is listed under its families; the last entry of an input is for all devices, and its interval covers those of every class.
    """
    fast, slow = interval_ends(fitted.values, fitted.widths, fitted.widening)
    lines = [
        f"# Fitted to the measurements of the catalogue by `{COMMAND}`; not written by hand.",
        f"rows: {len(fitted.rows)}",
        f"sources: {len({row.source for row in fitted.rows})}",
        f"median_error: {fitted.median_error:.3f}",
        f"within_half: {fitted.within_half:.3f}",
        f"held: {fitted.held:.3f}",
        "efficiencies:",
    ]
    for name in FITTED:
        own = sorted(
            (key for key in fitted.values if key[0] == name), key=lambda key: (key[2] == ALL, key)
        )
        for key in own:
            for engine in (
                ("compiled", "earlier")
                if name == "layer_overhead" and key[1:] not in SERVERS and key[2] == "compiled"
                else (key[2],)
            ):
                for family in FAMILIES.get((name, key[1]), (key[1],)):
                    for shown, of in rests_on((name, family, engine), key, fitted.values):
                        lines.append(
                            _line(
                                shown,
                                fitted.values[of],
                                (fast[of], slow[of]),
                                fitted.count(of),
                                of[1] if of != key else "",
                            )
                        )
        if own[-1][1] != ALL or len(own) > 1:
            reach = [end for key in own for end in (fast[key], slow[key])]
            count = (len(fitted.rows), len({row.source for row in fitted.rows}))
            lines.append(_line((name, ALL, ALL), fitted.general[name, ALL, ALL], reach, count))
    kinds = Counter(row.kind for row in fitted.rows if row.kind)
    lines.append("measured:" if kinds else "measured: []")
    for kind, rows in sorted(kinds.items(), key=lambda item: item[0].words):
        described = ", ".join(
            f"{name}: {value}" for name, value in kind.model_dump(exclude={"rows"}).items()
        )
        lines.append(f"- {{{described}, rows: {rows}}}")
    return "\n".join(lines) + "\n"


def rests_on(shown: Key, key: Key, values: Mapping[Key, float]) -> list[tuple[Key, Key]]:
    """What is listed of a class, and the class that it rests on: itself, as a rule.

    A share fitted at its limit would be more if it could: its rows do not determine it, and say least where they are few. Then the class has the share of
    NVIDIA's devices with HBM, the family of most sources; and so it has for models with experts.
    """
    name, family, engine = shown
    main = (name, MAIN, ALL)
    if name not in MOST or values[key] < MOST[name] or values.get(main, MOST[name]) >= MOST[name]:
        return [(shown, key)]
    experts = (name, f"{MAIN} experts", ALL)
    beside = [((name, f"{family} experts", engine), experts)] if experts in values else []
    return [(shown, main), *beside]


FAMILIES: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("mfu", "server"): ("hbm", "gddr"),
    ("layer_overhead", "gddr"): ("gddr", "geforce"),
}
"""The families that share a class."""


SERVERS = (("hbm", "compiled"), ("cdna", "compiled"))
"""Where compiled engines have a layer overhead separate from earlier ones."""


def _line(
    key: Key, value: float, reach: Sequence[float], count: tuple[int, int], of: str = ""
) -> str:
    name, family, engine = key
    low, high = min(*reach, value), max(*reach, value)
    values = ", ".join(
        f"{word}: {_written(name, number)}"
        for word, number in (("value", value), ("low", low), ("high", high))
    )
    return f"- {{input: {name}, family: {family}, engine: {engine}, {values}, rows: {count[0]}, sources: {count[1]}{f', of: {of}' if of else ''}}}"


def _written(name: str, value: float) -> str:
    match INPUTS[name].unit:
        case "s":
            return f"{value * 1e6:.3g} us"
        case "byte":
            return f"{value:.3g} byte"
    return f"{value:.3g}"
