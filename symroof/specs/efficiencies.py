"""The efficiencies that the catalogue's measurements ask for, by family of devices and class of engines: fitted by ``python -m tools.evidence``."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Literal

from pydantic import model_validator

from symroof.errors import nearest
from symroof.resources import data_folder
from symroof.specs.fields import AnyAmount, Spec, Whole, build
from symroof.strict_yaml import load
from symroof.theory.symbols import INPUTS
from symroof.theory.theory_files import listed
from symroof.units import Quantity, describe

FITTED = listed("moving", "evidence")  # step_overhead is part of layer_overhead

SHARES = frozenset({"mfu", "mbu", "link_share"})
ALL = "all"

TILE_ROWS = 64
"""Rows of the smallest tile that a library's matrix product computes, however few it is asked for: NVIDIA, Matrix Multiplication Background User's Guide
(DU-09799-001), tile quantization; the least of the wgmma instructions of Hopper too."""


def tile_share(peak: float, width: float, bandwidth: float) -> float:
    """The share of the bandwidth at which a device takes weights of so many bytes while it multiplies each by the rows of one tile, at full compute.

    An H20 multiplies slowly for the memory it has: at 148 TFLOP/s and 4 TB/s, weights in 16 bits come at most at 58 % of the bandwidth.

    >>> round(tile_share(148e12, 2, 4e12), 3)
    0.578
    """
    return peak * width / (2 * TILE_ROWS * bandwidth)


def model_part(model: str) -> str:
    """What sets a kind of model apart from dense ones (:class:`MeasuredKind`): ``latent`` attention, whose layers have more kernels, or ``experts``."""
    return next((part for part in ("latent", "experts") if part in model), "")


def families_of(name: str, family: str, generation: str, part: str, engine: str) -> list[str]:
    """Where the value of an input is looked for, best first: a generation of devices before its family, a part of models before all.

    Each expert multiplies the few tokens that chose it: models with experts have a share of the peak of their own, but not in ggml.

    >>> families_of("mfu", "cdna", "cdna3", "latent", "compiled")
    ['cdna3 experts', 'cdna experts', 'cdna3', 'cdna']
    >>> families_of("layer_overhead", "hbm", "hopper", "experts", "compiled")
    ['hopper', 'hbm']
    """
    own = "latent" if (name, part) == ("layer_overhead", "latent") else ""
    if name == "mfu" and part and engine != "ggml":
        own = "experts"
    return [
        f"{where} {what}".strip()
        for what in dict.fromkeys((own, ""))
        for where in dict.fromkeys((generation, family))
    ]


def link_group(devices: float | None, experts: bool = False) -> str:
    """What replaces the family for the latency of links: ``experts`` that devices hold whole, whose exchanges are kernels of their own, else a ``pair`` of
    devices, or a larger ``group``; so where the number is not known."""
    if experts:
        return "experts"
    return "pair" if devices is not None and devices <= 2 else "group"


def unit_of(amount: Quantity) -> str:
    """The base unit of an amount; empty for a share."""
    return describe(amount.dimension) if amount.dimension else ""


class Efficiency(Spec):
    """One input for one family of devices and one class of engines, ``all`` where it does not depend on them; the family of ``link_latency`` is the
    size of the group that sends, ``pair`` or ``group``.

    ``of`` is what the value is taken from where the family's own measurements do not determine it: another family, ``all``, or
    its own other generations.
    """

    input: Literal[
        "mfu", "mbu", "layer_overhead", "elementwise_bytes", "link_latency", "link_share"
    ]
    family: str
    engine: str
    value: AnyAmount
    rows: Whole
    sources: Whole
    of: str = ""

    @model_validator(mode="after")
    def _in_its_unit(self) -> Efficiency:
        if INPUTS[self.input].unit != unit_of(self.value):
            raise ValueError(f"{self.input} is in {INPUTS[self.input].unit or 'no unit'}")
        return self


class IntervalClass(Spec):
    """Cases whose intervals are alike: a generation of devices with a part of models (``cdna3 latent``), and a class of engines.

    ``reach`` is how many times the scatter of each input its interval goes to either side, so that 80 % of ``rows`` are inside, each predicted without its source
    or, where no other source has the class, without all rows of its device, model, layout and lengths.
    """

    family: str
    engine: str
    reach: AnyAmount
    rows: Whole
    sources: Whole


class MeasuredKind(Spec):
    """A kind of case of which there are measurements: what a prediction is near to, or not.

    ``model`` is ``dense``, ``experts``, ``latent attention`` or both of these, or ``recurrent``; ``bits`` are those of the weights; ``layout`` is ``one device``,
    ``several devices`` or ``attention groups``.
    """

    device: str
    family: str
    generation: str
    model: str
    bits: Whole
    layout: str
    engine: str
    rows: Whole = 1

    def differences(self, other: MeasuredKind) -> tuple[str, ...]:
        """What another case differs in, the device last."""
        return tuple(name for name in FARTHEST if getattr(self, name) != getattr(other, name))

    def words(self, beside: MeasuredKind | None = None) -> str:
        """``of 16-bit dense models on several H100 SXM in vLLM-class engines``; beside another only what differs."""
        models = f"models with {self.model}"
        models = f"{self.model} models" if self.model in ("dense", "recurrent") else models
        device = self.device.upper().replace("-", " ")
        parts = {
            f"of {self.bits}-bit {models}": ("model", "bits"),
            f"on {WHERE[self.layout].format(device)}": ("device", "layout"),
            f"in {CLASSES[self.engine]}": ("engine",),
        }
        differ = {*self.differences(beside)} if beside else {*FARTHEST}
        return " ".join(text for text, names in parts.items() if differ & {*names})


WHERE = {
    "one device": "one {}",
    "several devices": "several {}",
    "attention groups": "{} with DP attention",
}
FARTHEST = {
    "family": 8,
    "generation": 1,
    "model": 3,
    "bits": 2,
    "layout": 3,
    "engine": 3,
    "device": 1,
}
"""How far each difference takes a case from a measured one."""


class EfficienciesSpec(Spec):
    """Every fitted efficiency, how many measurements of how many sources it rests on, and how well each source is predicted from the others."""

    rows: Whole
    sources: Whole
    median_error: AnyAmount
    within_half: AnyAmount
    held: AnyAmount
    scatter: dict[str, AnyAmount]
    near: dict[str, AnyAmount]
    far: AnyAmount
    longest: dict[str, Whole]
    intervals: tuple[IntervalClass, ...]
    efficiencies: tuple[Efficiency, ...]
    measured: tuple[MeasuredKind, ...] = ()

    def beyond(self, case: MeasuredKind) -> str:
        """In words, that nothing like a case was measured, and what is nearest; empty where something was, if on another device of the generation."""
        if not self.measured:
            return ""
        nearest = min(
            self.measured,
            key=lambda kind: (sum(FARTHEST[name] for name in kind.differences(case)), -kind.rows),
        )
        if nearest.differences(case) in ((), ("device",)):
            return ""
        return f"no public measurement {case.words()}; the 80 % interval is that of the nearest, {nearest.words(beside=case)}"

    def chosen(self, name: str, families: Sequence[str], engine: str) -> tuple[Efficiency, str]:
        """The first entry of an input that is for one of the families (:func:`families_of`) and for the engines, and words where it is of others."""
        mine = [e for e in self.efficiencies if e.input == name]
        own = [entry for family in families for entry in mine if entry.family == family]
        for entry in own:
            if entry.engine in (engine, ALL):
                return entry, ""
        here = f"on this family of devices ({families[-1]}); values are those of"
        if own:
            theirs = CLASSES.get(own[0].engine, own[0].engine)
            return own[0], f"of {CLASSES.get(engine, engine)} {here} {theirs}"
        general = next(e for e in mine if e.family == ALL)
        return general, f"{here} all devices, with a wide interval" * bool(general.of)

    def reach(self, case: MeasuredKind) -> float:
        """How many times the scatter an interval reaches: that of the case's class where something like the case was measured; else no less than ``near``
        where others of its family and engines were, and ``far`` where none was."""
        own = f"{case.generation} {model_part(case.model)}".strip(), case.engine
        found = [float(e.reach.value) for e in self.intervals if (e.family, e.engine) == own]
        if found and not self.beyond(case):
            return found[0]
        measured = any((k.family, k.engine) == (case.family, case.engine) for k in self.measured)
        near = self.near[case.family] if measured and case.family in self.near else self.far
        return max([float(near.value), *found])

    def ends(self, entry: Efficiency, reach: float) -> tuple[float, float]:
        """The low and the high end of an input's interval; of one that its family's rows do not determine it reaches far. Shares end at 1."""
        wide = float(self.far.value) if entry.of else reach
        scatter = float(self.scatter[entry.input].value)
        return interval(entry.input, float(entry.value.value), wide * scatter)


def interval(name: str, value: float, width: float) -> tuple[float, float]:
    """The low and the high end of an input that goes so far, in logarithms, to either side; a share ends at 1."""
    high = value * math.exp(width)
    return value / math.exp(width), min(high, 1.0) if name in SHARES else high


@lru_cache(maxsize=1)
def shipped_efficiencies() -> EfficienciesSpec:
    """The table that symroof ships."""
    return build(load(data_folder("specs") / "efficiencies.yaml"), EfficienciesSpec)


EngineClass = Literal["compiled", "earlier", "eager", "ggml"]
SERVERS = data_folder("specs") / "servers"
CLASS_TABLE: dict[EngineClass, Any] = load(SERVERS / "engine_classes.yaml").data
CLASSES: dict[str, str] = {kind: entry["words"] for kind, entry in CLASS_TABLE.items()}
ENGINES: dict[str, EngineClass] = {kind: kind for kind in CLASS_TABLE}
ENGINES |= {name: kind for kind, entry in CLASS_TABLE.items() for name in entry["engines"]}
"""Classes of engines, and the engines that lead to them; where several names are in a text, the first in this order counts."""
DEFAULT_ENGINE: EngineClass = "compiled"


def engine_class(engine: str) -> EngineClass:
    """The class of an engine by its name, and by its version where one follows the name.

    >>> engine_class("vLLM 0.9.1"), engine_class("vLLM 0.6.3"), engine_class("Ollama / llama.cpp")
    ('compiled', 'earlier', 'ggml')
    """
    lower = engine[:200].lower()
    for name, kind in ENGINES.items():
        if name in lower:
            # the version that follows the name, after letters and hyphens alone
            version = re.search(rf"{name}[-a-z]{{0,8}} ?v?(\d{{1,4}})\.(\d{{1,4}})", lower)
            numbers = (int(version[1]), int(version[2])) if version else None
            since = tuple(CLASS_TABLE[kind].get("since", {}).get(name, ()))
            return "earlier" if numbers and numbers < since else kind
    hint = nearest(lower, ENGINES) or "write a class: compiled, earlier, eager or ggml"
    raise ValueError(f"no such engine {engine[:40]!r}; {hint}")
