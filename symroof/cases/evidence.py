"""Efficiencies from evidence: what measurements of others say of a device and a class of engines, where a case gives no number."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache

from symroof.cases.spec_values import Given
from symroof.formula.tree import Num
from symroof.specs.efficiencies import FITTED, Efficiency, shipped, unit_of
from symroof.specs.fields import Span
from symroof.specs.hardware import HardwareSpec
from symroof.theory.layout import DEGREES
from symroof.units import Quantity, format_quantity

OF_LINKS = frozenset({"link_latency", "link_share"})

AT_PEAK = {"mfu": 1, "mbu": 1, "link_share": 1, "layer_overhead": 0, "step_overhead": 0, "elementwise_bytes": 0}
"""Efficiencies, and where each stands at the peak."""

COSTS = frozenset({"layer_overhead", "step_overhead", "elementwise_bytes", "link_latency"})
"""Efficiencies that slow a server down as they grow; the others are shares of a peak."""

FAMILIES = {"hbm": "HBM", "gddr": "GDDR", "geforce": "GeForce", "apple": "Apple"}
"""How families of devices are written."""


def paced(ends: tuple[Fraction, Fraction], name: str) -> tuple[Fraction, Fraction]:
    """The ends of an efficiency's range, the slower first."""
    low, high = ends
    return (high, low) if name in COSTS else (low, high)


def at_peak(given: Mapping[str, Given]) -> dict[str, Given]:
    """The values of a case with every efficiency at the peak: a bound."""
    return {name: value for name, value in given.items() if name not in AT_PEAK and not value.measured}


def add_evidence(device: HardwareSpec, engine: str, given: dict[str, Given], warnings: list[str]) -> None:
    """Add to ``given`` what it lacks of the fitted inputs, each a range with its expected value; those of links where there are several devices.

    Raises:
        FileNotFoundError: a broken installation.
    """
    grouped = any(_degree(given.get(name)) for name in DEGREES)
    for name in FITTED:
        if name in given or (name in OF_LINKS and not grouped):
            continue
        given[name], word = _fitted(name, device.family, engine)
        if word:
            warnings.append(word)


@lru_cache(maxsize=256)
def _fitted(name: str, family: str, engine: str) -> tuple[Given, str]:
    """The value of an input, written once for all devices of a family, and a word where it is that of others."""
    entry, word = shipped().chosen(name, family, engine)
    return Given(spanned(entry), source(entry, engine), written(entry), measured=True), word


def _degree(given: Given | None) -> bool:
    """Whether a parallel degree is, or may be, above 1."""
    return given is not None and not (isinstance(given.setting, Num) and given.setting.value == 1)


def spanned(entry: Efficiency) -> Span:
    """The interval of an entry, with its expected value."""
    low, high = (_written(amount) for amount in (entry.low, entry.high))
    return Span(entry.low.value, entry.high.value, f"{low}..{high}", entry.value.value)


def written(entry: Efficiency) -> str:
    """``0.548 (0.396 to 0.758)``."""
    value, low, high = (_written(amount) for amount in (entry.value, entry.low, entry.high))
    return f"{value} ({low} to {high})"


def _written(amount: Quantity) -> str:
    return format_quantity(amount.value, unit_of(amount), 3).strip()


def source(entry: Efficiency, engine: str) -> str:
    """What an entry rests on, in words."""
    devices = f"{FAMILIES.get(entry.family, entry.family)} devices"
    engines = "all engines" if entry.engine == "all" else f"{entry.engine} engines"
    sources = f"{entry.sources} source{'' if entry.sources == 1 else 's'}"
    return f"measured ({engine}): {entry.rows} rows of {sources}, {devices}, {engines}"
