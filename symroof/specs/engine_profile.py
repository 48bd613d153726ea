"""Engine profiles: what a serving engine decides where nobody says otherwise, each value with its source and the version it was read in.

A profile sets inputs (share of memory, reserve, budget of a step, largest batch) and counting choices, says which arithmetic a checkpoint runs in,
and which class of efficiencies the engine is of. ``ideal`` sets nothing: it is physics, with the whole memory and no overheads.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from symroof.specs import catalogue
from symroof.specs.efficiencies import EngineClass, engine_class
from symroof.specs.fields import NAME, Read, Spec, ValueRange, amount, build, read_at, read_each
from symroof.specs.input_values import setting, symbol_of
from symroof.specs.sources import Sourced, SourcedFile
from symroof.specs.study_fields import read_assumptions
from symroof.symbolic.expressions import Expr, fraction
from symroof.units import Quantity

DEFAULT = "vllm"
"""The engine of every command where none is named."""
IDEAL = "ideal"
"""The engine of hand calculations: the whole memory, the peak, no overheads, nothing reserved."""

OF_CLASS: dict[str, str] = {"compiled": DEFAULT, "earlier": DEFAULT, "ggml": "llama.cpp"}
"""The profile that stands for a class of engines where the class alone is named."""

Number = Annotated[Any, WithJsonSchema({"type": ["string", "number"]})]
Version = Annotated[str, BeforeValidator(str), Field(pattern=r"^[0-9]{1,4}(\.[0-9]{1,4}){0,3}$")]


class ByMemory(Spec):
    """A value for devices with at least so much memory, except for some families of parts, by what their names contain."""

    least: Annotated[Quantity, amount("byte")] | None = None
    other_than: tuple[str, ...] = ()
    value: Number


class EngineValue(Sourced):
    """What an engine sets an input to: a value, a formula over other inputs, or values by the memory of a device; and where that is written."""

    value: Number = None
    formula: str | None = None
    by_memory: tuple[ByMemory, ...] = ()

    @model_validator(mode="after")
    def _one_way(self) -> EngineValue:
        if sum((self.value is not None, self.formula is not None, bool(self.by_memory))) != 1:
            raise ValueError("has to have one of value, formula and by_memory")
        return self

    def of(self, memory: float | None, device: str) -> object:
        """The value or formula for a device; None where the profile has none for it."""
        if not self.by_memory:
            return self.formula if self.value is None else self.value
        for row in self.by_memory:
            enough = row.least is None or (memory is not None and memory >= row.least.value)
            if enough and not any(part in device for part in row.other_than):
                return row.value
        return None


class EngineChoice(Sourced):
    """The value of a counting choice that an engine makes."""

    value: str


class EngineArithmetic(Sourced):
    """What the products of a checkpoint's format run in: ``native`` where the device has a peak for it (16 bits elsewhere), or ``wide``: always 16 bits."""

    runs: Literal["native", "wide"]


class EngineCache(Sourced):
    """A latent cache on devices with such parts in their names: its own precision, and what an fp8 entry has besides."""

    of: Literal["compressed", "indexer"]  # of DeepSeek-V4, of DeepSeek-V3.2
    only: tuple[str, ...] = ()
    auto: str | None = None
    fp8_extra: Annotated[Quantity, amount("byte")] | None = None


class EngineMeasurement(Sourced):
    """What servers of an engine were seen to take: the expected value of an input between its ends."""

    value: Number
    low: Number
    high: Number

    def range_of(self, name: str) -> ValueRange:
        """The ends, and what to expect."""
        ends = (self.low, self.value, self.high)
        low, value, high = (fraction(setting(name, end)) for end in ends)
        return ValueRange(low, high, f"{self.low}..{self.high}", value)


class OneVersion(Spec):
    """What an engine sets and chooses, and what it computes in."""

    inputs: dict[str, EngineValue] = {}
    assume: dict[str, EngineChoice] = {}
    arithmetic: dict[str, EngineArithmetic] = {}

    @model_validator(mode="after")
    def _known(self) -> Self:
        def read_input(name: str, entry: EngineValue) -> None:
            for row in [row.value for row in entry.by_memory] or [entry.of(None, "")]:
                setting(symbol_of(name).name, row)

        choices = {name: choice.value for name, choice in self.assume.items()}
        read_at("assume", lambda: read_assumptions(choices))
        read_at("inputs", lambda: read_each(self.inputs.items(), read_input))
        return self


class EarlierVersion(OneVersion):
    """What versions before one did otherwise."""

    before: Version
    kind: Annotated[EngineClass | None, Field(alias="class")] = None


class EngineSpec(SourcedFile, OneVersion):
    """A serving engine: its defaults, each with its source, at one version; ``versions`` says what earlier ones did."""

    name: Annotated[str, Field(pattern=NAME)]
    title: str
    aliases: tuple[str, ...] = ()
    version: Version | None = None
    date: Annotated[str, BeforeValidator(str)] | None = None
    kind: Annotated[EngineClass, Field(alias="class")] = "compiled"
    measured: dict[str, EngineMeasurement] = {}
    caches: tuple[EngineCache, ...] = ()
    data_parallel: Literal["copies", "groups", "inside"] = "copies"
    versions: tuple[EarlierVersion, ...] = ()
    notes: tuple[str, ...] = ()
    _asked: str = ""

    @property
    def label(self) -> str:
        return f"{self.name}@{self._asked}" if self._asked else self.name

    @property
    def said(self) -> str:
        """Name and version as texts write it: ``vLLM 0.33``."""
        version = self._asked or self.version
        return f"{self.title} {version}" if version else self.title

    def cache(self, kind: str, device: str) -> EngineCache | None:
        """How it stores the caches of a kind of model on a device; None where it has no way of its own."""
        for own in self.caches:
            if own.of == kind and (not own.only or any(part in device for part in own.only)):
                return own
        return None

    def quoted(self, entry: Sourced) -> str:
        """What the engine says and where that is written, as the source of an input."""
        return f"{self.said}: {self.source_of(entry)}"

    def tree(self, name: str, memory: float | None, device: str) -> Expr | None:
        """The value or formula of an input on a device; None where the profile leaves it open."""
        entry = self.inputs.get(name)
        value = entry.of(memory, device) if entry else None
        return None if value is None else setting(name, value)


def version_key(version: str) -> tuple[int, ...]:
    """Versions in order.

    >>> version_key("0.9.2") < version_key("0.11")
    True
    """
    return tuple(map(int, version.split(".")))


def chosen_engine(name: str) -> tuple[str, str]:
    """The profile that a name means, and the class of engines where the name is that of a class, or of an engine without a profile.

    Raises:
        ValueError: no such engine, with the nearest.

    >>> chosen_engine("vLLM 0.11"), chosen_engine("compiled"), chosen_engine("transformers")
    (('vllm@0.11', ''), ('vllm', 'compiled'), ('ideal', 'eager'))
    """
    base, _ = named_version(name[:200])
    if catalogue.has_entry("engines", base):
        return engine_profile(name[:200]).label, ""
    kind = engine_class(name)
    return (OF_CLASS.get(kind, IDEAL) if base == kind else IDEAL), kind


def _engine(value: object) -> str:
    """The name of an engine, as it is written."""
    chosen_engine(str(value))
    return str(value)


ENGINES = "a serving engine, with a version where it matters: vllm, vllm@0.11, sglang, ideal"
Engine = Annotated[Any, Read(_engine, "string", {"description": ENGINES})]


@lru_cache(maxsize=64)
def engine_profile(name: str) -> EngineSpec:
    """The profile of an engine by its name or an alias, as it stands at a version where one follows.

    Raises:
        InputError: no such engine.

    >>> engine_profile("vLLM 0.9.1").label, engine_profile("sglang").label
    ('vllm@0.9.1', 'sglang')
    """
    base, version = named_version(name)
    spec = build(catalogue.find("engines", base), EngineSpec)
    laid: dict[str, Any] = {}
    # of the entries for versions before several, the lowest is the nearest, and laid over the others
    for earlier in sorted(spec.versions, key=lambda each: version_key(each.before), reverse=True):
        if version and version_key(version) < version_key(earlier.before):
            laid["kind"] = earlier.kind or laid.get("kind", spec.kind)
            for part in OneVersion.model_fields:
                laid[part] = laid.get(part, getattr(spec, part)) | getattr(earlier, part)
    profile = spec.model_copy(update=laid)
    profile._asked = version
    return profile


def named_version(name: str) -> tuple[str, str]:
    """The name of an engine and its version, as people write them.

    >>> named_version("vllm@0.11"), named_version("SGLang v0.4.6.post1"), named_version("llama.cpp"), named_version("llama.cpp b4567")
    (('vllm', '0.11'), ('sglang', '0.4.6'), ('llama.cpp', ''), ('llama.cpp', ''))
    """
    match = re.match(
        r"(?P<name>[a-z][\w.+-]*?(?: / [\w.]+)?)(?:(?:@| v?| ?@ ?v?)(?P<version>\d{1,4}(?:\.\d{1,4})+))?(?:[.\s-]?(?:post|rc|b|\+)\S*)?\s*$",
        name.strip().lower(),
    )
    return (match["name"], match["version"] or "") if match else (name.strip().lower(), "")
