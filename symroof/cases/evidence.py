"""Efficiencies from evidence: what measurements of others say of a device and a class of engines, where a case gives no number."""

from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache

from symroof.cases.spec_values import Given
from symroof.formula.tree import Num
from symroof.specs.efficiencies import FITTED, TILE_ROWS, Efficiency, group_of, shipped, tile_share, unit_of
from symroof.specs.fields import Span
from symroof.specs.hardware import HardwareSpec
from symroof.specs.input_values import Setting
from symroof.specs.precision import BITS
from symroof.theory.declarations import default_of
from symroof.theory.layout import DEGREES
from symroof.units import Quantity, format_quantity

COPIES = "dp"
OF_LINKS = frozenset({"link_latency", "link_share"})

AT_PEAK = {"mfu": 1, "mbu": 1, "link_share": 1, "layer_overhead": 0, "step_overhead": 0, "elementwise_bytes": 0}
"""Efficiencies, and where each stands at the peak."""

COSTS = frozenset({"layer_overhead", "step_overhead", "elementwise_bytes", "link_latency"})
"""Efficiencies that slow a server down as they grow; the others are shares of a peak."""

FAMILIES = {"hbm": "HBM", "gddr": "GDDR", "geforce": "GeForce", "apple": "Apple", "pair": "pairs of", "group": "larger groups of"}
"""How families of devices, and the groups that a latency of links is of, are written."""


def paced(ends: tuple[Fraction, Fraction], name: str) -> tuple[Fraction, Fraction]:
    """The ends of an efficiency's range, the slower first."""
    low, high = ends
    return (high, low) if name in COSTS else (low, high)


def at_peak(given: Mapping[str, Given]) -> dict[str, Given]:
    """The values of a case with every efficiency at the peak: a bound."""
    return {name: value for name, value in given.items() if name not in AT_PEAK and not value.measured}


def add_evidence(device: HardwareSpec, engine: str, compute: str | None, given: dict[str, Given], warnings: list[str], apart: bool = False) -> None:
    """Add to ``given`` what it lacks of the fitted inputs, each a range with its expected value; those of links where several devices work on a request.

    ``compute`` is the precision that the device multiplies in, ``apart`` whether prompts are read on devices of their own. Copies have no links.

    Raises:
        FileNotFoundError: a broken installation.
    """
    grouped = apart or any(_degree(given.get(name)) for name in DEGREES if name != COPIES)
    for name in FITTED:
        if name in given or (name in OF_LINKS and not grouped):
            continue
        given[name], word = _fitted(name, group_of(_number(given, "tp")) if name == "link_latency" else device.family, engine)
        if word:
            warnings.append(word)
        if name == "mbu":
            _limit_by_tile(given, share_of_tile(device.family, engine, compute, given))


def share_of_tile(family: str, engine: str, compute: str | None, given: Mapping[str, Given]) -> Fraction | None:
    """The share of the bandwidth that the smallest tile of a matrix product leaves for weights, at full compute, on server parts, where a library multiplies
    with matrix units; None where a value is not known, where weights are narrower than what is multiplied, and for ggml: their kernels take single rows."""
    if family != "hbm" or engine == "ggml":
        return None
    width, peak, bandwidth = (_number(given, name) for name in ("weight_bytes_per_param", "peak_flops", "mem_bandwidth"))
    if compute is None or width is None or peak is None or bandwidth is None or width < Fraction(BITS[compute], 8):
        return None
    return tile_share(peak, width, bandwidth)


def _limit_by_tile(given: dict[str, Given], share: Fraction | None) -> None:
    """Lower the share of the bandwidth to what a device can take that multiplies slowly: nothing reads weights faster than they are multiplied."""
    mbu, own, reached = given["mbu"], _ends(given["mbu"].setting), _ends(given["mfu"].setting)
    if share is None or own is None or reached is None or share * reached[1] >= own[1]:
        return
    low, value, high = (min(mine, share * of_peak) for mine, of_peak in zip(own, reached, strict=True))
    low_text, value_text, high_text = (format_quantity(end, "", 3).strip() for end in (low, value, high))
    why = f"{mbu.source}; no more than the device takes that multiplies {TILE_ROWS} rows at least by each weight"
    given["mbu"] = Given(Span(low, high, f"{low_text}..{high_text}", value), why, f"{value_text} ({low_text} to {high_text})", measured=True)


def _ends(setting: Setting) -> tuple[Fraction, Fraction, Fraction] | None:
    """The low end, the expected value and the high end of a setting; None of a formula."""
    if isinstance(setting, Span):
        return setting.low, setting.middle, setting.high
    return (setting.value, setting.value, setting.value) if isinstance(setting, Num) else None


def _number(given: Mapping[str, Given], name: str) -> Fraction | None:
    """The value of an input, or its default; None where it is a range or a formula, or has neither."""
    setting = given[name].setting if name in given else default_of(name)
    return setting.value if isinstance(setting, Num) else None


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
