"""Hardware specs: peaks per precision (dense and sparse apart), memory, links, power, list prices, each number with its source."""

from __future__ import annotations

import statistics
from fractions import Fraction
from typing import Annotated, Literal

from pydantic import Field, field_validator, model_validator

from symroof.specs.fields import NAME, Faults, Spec, ValueRange, amount
from symroof.specs.sources import Sourced, SourcedFile, Text
from symroof.units import Quantity, format_quantity, parse_unit

Precision = Literal["fp64", "fp32", "tf32", "fp16", "bf16", "fp8", "fp6", "fp4", "int8", "int4"]
Bytes = Annotated[Quantity, amount("byte")]
BytesPerSecond = Annotated[Quantity, amount("byte/s")]
FlopsPerSecond = Annotated[Quantity, amount("FLOP/s")]


class Peak(Sourced):
    """Peak rates of one precision; ``sparse`` is what the vendor prints for 2:4 sparsity and is never used as a rate.

    ``fp16_accumulate`` is the dense rate of a part that sums faster in 16 bits than in 32: engines that do so may beat ``dense``.
    """

    dense: FlopsPerSecond
    sparse: FlopsPerSecond | None = None
    fp16_accumulate: FlopsPerSecond | None = None


class Bandwidth(Sourced):
    value: BytesPerSecond


class Capacity(Sourced):
    value: Bytes


class Power(Sourced):
    value: Annotated[Quantity, amount("W")]


class ListPrice(Sourced):
    """What a provider asks for one device: ``on_demand`` without a commitment, ``reserved`` with one, ``spot`` where it may be taken away.

    Its source has a date. The price is that of one device in a whole server where it depends on how many are rented together.
    """

    price: Annotated[Quantity, amount("USD/s", "USD/hour")]
    kind: Literal["on_demand", "reserved", "spot"]
    provider: str

    @property
    def value(self) -> Quantity:
        """The price, under the name that every number has."""
        return self.price


class Count(Sourced):
    value: Annotated[Quantity, amount("")]


class DeviceCount(Sourced):
    """How many devices."""

    value: Annotated[Quantity, amount("device")]

    @field_validator("value")
    @classmethod
    def _whole(cls, read: Quantity) -> Quantity:
        if read.value.denominator != 1:
            raise ValueError("counts devices: write a whole number")
        return read


class Clock(Sourced):
    value: Annotated[Quantity, amount("Hz")]


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


OF_VENDOR = {"AMD": "cdna", "Intel": "gaudi", "Google": "tpu", "AWS": "neuron"}
"""The families of server parts with HBM whose kernels are not NVIDIA's."""


class HardwareSpec(SourcedFile):
    """One accelerator, as its sources say."""

    name: Annotated[str, Field(pattern=NAME)]
    title: str
    aliases: tuple[str, ...] = ()
    vendor: str
    architecture: str | None = None
    released: Text | None = None
    peaks: dict[Precision, Peak]
    memory: Memory
    link: DeviceLink | None = None
    host_link: Link | None = None
    network: Link | None = None
    power: Power | None = None
    prices: tuple[ListPrice, ...] = ()
    chip: Chip | None = None
    notes: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _prices_dated(self) -> HardwareSpec:
        seen = set()
        for place, listed in enumerate(self.prices):
            source = self.source_of(listed)
            if not (source.date or source.consulted):
                raise Faults([(("prices", place), "the source of a price needs a date")])
            if (listed.provider, listed.kind) in seen:
                message = f"{listed.provider} already has a price of the kind {listed.kind}"
                raise Faults([(("prices", place), message)])
            seen.add((listed.provider, listed.kind))
        return self

    @property
    def price(self) -> ValueRange | None:
        """What one device costs: the median of the list prices on demand, between the lowest and the highest; None where there is none.

        >>> from symroof.specs.catalogue import find
        >>> from symroof.specs.fields import build
        >>> price = build(find("hardware", "h100-nvl"), HardwareSpec).price
        >>> price.text, [float(3600 * end) for end in (price.low, price.middle, price.high)]
        ('2.59..6.98 USD/hour', [2.59, 3.19, 6.98])
        """
        asked = [listed.price.value for listed in self.prices if listed.kind == "on_demand"]
        if not asked:
            return None
        ends, hour = (min(asked), max(asked)), parse_unit("USD/hour").size
        low, high = (format_quantity(end / hour, "USD/hour", 6) for end in ends)
        text = f"{low.removesuffix(' USD/hour')}..{high}"
        return ValueRange(*ends, text, Fraction(statistics.median(asked)))

    @property
    def family(self) -> str:
        """The family of devices whose measurements speak for this one: by its memory, and by its maker where that decides how it computes."""
        kind = self.memory.kind.upper()
        if kind.startswith("HBM"):
            return OF_VENDOR.get(self.vendor, "hbm")
        if kind.startswith("GDDR"):
            return "geforce" if "geforce" in self.title.lower() else "gddr"
        return "apple" if self.vendor == "Apple" else "unified"

    @property
    def generation(self) -> str:
        """The family, or the architecture of a server part of NVIDIA or AMD: ``hopper``, ``cdna3``. A refresh (Blackwell Ultra) is of its generation."""
        if self.family not in ("hbm", "cdna") or not self.architecture:
            return self.family
        return self.architecture.lower().replace("cdna ", "cdna").split()[0]
