"""Hardware specs: peaks per precision (dense and sparse apart), memory, links, power, price, each number with its source."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from pydantic import BeforeValidator, Field, WithJsonSchema, field_validator, model_validator

from symroof.specs.fields import NAME, Source, Spec, amount
from symroof.units import Quantity

Precision = Literal["fp64", "fp32", "tf32", "fp16", "bf16", "fp8", "fp6", "fp4", "int8", "int4"]
Text = Annotated[str, BeforeValidator(lambda value: str(value) if isinstance(value, (int, Fraction)) and not isinstance(value, bool) else value), WithJsonSchema({"type": ["string", "number"]})]  # fmt: skip


if TYPE_CHECKING:
    BytesPerSecond: TypeAlias = Quantity
    Bytes: TypeAlias = Quantity
    FlopsPerSecond: TypeAlias = Quantity
    Watts: TypeAlias = Quantity
    DollarsPerHour: TypeAlias = Quantity
    Number: TypeAlias = Quantity
    Devices: TypeAlias = Quantity
    Hertz: TypeAlias = Quantity
else:
    BytesPerSecond, Bytes, FlopsPerSecond = amount("byte/s"), amount("byte"), amount("FLOP/s")
    Watts, DollarsPerHour, Number, Hertz = amount("W"), amount("USD/s", "USD/hour"), amount(""), amount("Hz")
    Devices = amount("device")


class Sourced(Spec):
    """What every number has: a source, by its key in ``sources`` or in full, and perhaps a remark."""

    source: str | Source
    note: str | None = None


class Peak(Sourced):
    """Peak rates of one precision; ``sparse`` is what the vendor prints for 2:4 sparsity and is never used as a rate."""

    dense: FlopsPerSecond
    sparse: FlopsPerSecond | None = None


class Bandwidth(Sourced):
    value: BytesPerSecond


class Capacity(Sourced):
    value: Bytes


class Power(Sourced):
    value: Watts


class Price(Sourced):
    value: DollarsPerHour


class Count(Sourced):
    value: Number


class DeviceCount(Sourced):
    """How many devices."""

    value: Devices

    @field_validator("value")
    @classmethod
    def _whole(cls, read: Quantity) -> Quantity:
        if read.value.denominator != 1:
            raise ValueError("counts devices: write a whole number")
        return read


class Clock(Sourced):
    value: Hertz


class Memory(Spec):
    """Device memory: ``capacity`` is the label on the box, ``reported`` the total that the driver reports."""

    kind: str
    bandwidth: Bandwidth
    capacity: Capacity
    reported: Capacity | None = None


class Link(Spec):
    """A link to the host, or the network between nodes: one direction, one device."""

    name: str
    bandwidth: Bandwidth


class DeviceLink(Link):
    """The link between the devices of a node: one direction, one device; ``devices`` is how many it joins."""

    devices: DeviceCount | None = None


class Chip(Spec):
    """What is on the chip; capacities are of the whole device."""

    multiprocessors: Count | None = None
    boost_clock: Clock | None = None
    registers: Capacity | None = None
    shared_memory: Capacity | None = None
    l2: Capacity | None = None


class HardwareSpec(Spec):
    """One accelerator, as its sources say."""

    name: Annotated[str, Field(pattern=NAME)]
    title: str
    aliases: tuple[str, ...] = ()
    vendor: str
    architecture: str | None = None
    released: Text | None = None
    sources: dict[str, Source]
    peaks: dict[Precision, Peak]
    memory: Memory
    link: DeviceLink | None = None
    host_link: Link | None = None
    network: Link | None = None
    power: Power | None = None
    price: Price | None = None
    chip: Chip | None = None
    notes: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _sources_resolve(self) -> HardwareSpec:
        for where, valued in self.numbers():
            if isinstance(valued.source, str) and valued.source not in self.sources:
                raise ValueError(f"{where}: source {valued.source!r} is not listed under sources")
        return self

    def numbers(self) -> list[tuple[str, Any]]:
        """Every number with its path."""
        numbers: list[tuple[str, Any]] = [(f"peaks.{precision}", peak) for precision, peak in self.peaks.items()]
        numbers += [(f"memory.{name}", getattr(self.memory, name)) for name in ("bandwidth", "capacity", "reported") if getattr(self.memory, name)]
        numbers += [("link.devices", self.link.devices)] if self.link and self.link.devices else []
        numbers += [(f"{name}.bandwidth", getattr(self, name).bandwidth) for name in ("link", "host_link", "network") if getattr(self, name)]
        numbers += [(name, valued) for name, valued in (("power", self.power), ("price", self.price)) if valued]
        numbers += [(f"chip.{name}", getattr(self.chip, name)) for name in Chip.model_fields if self.chip and getattr(self.chip, name)]
        return numbers

    def source_of(self, valued: Any) -> Source:
        """The source of a number."""
        return self.sources[valued.source] if isinstance(valued.source, str) else valued.source
