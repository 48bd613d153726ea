"""Measured specs: what a public source measured, one file a source: latencies and rates of batches, rates of servers under load, ceilings of kernels and links."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Literal

from pydantic import Field, WithJsonSchema, model_validator

from symroof.specs.efficiencies import EngineClass, engine_class, link_group
from symroof.specs.fields import (
    NAME,
    AnyAmount,
    Fault,
    Faults,
    Read,
    Spec,
    Whole,
    amount,
    raise_faults,
)
from symroof.specs.model import ModelSpec
from symroof.specs.sources import Source
from symroof.specs.study_fields import precision_names
from symroof.units import Quantity, parse_unit, strict

METRICS = {
    "ttft": "s",
    "tpot": "s",
    "loop_tpot": "s",
    "loop_rate": "request/s",
    "itl": "s",
    "response_time": "s",
    "response_rate": "token/s",
    "decode_rate": "token/s",
    "prefill_rate": "token/s",
}
"""What was measured, and its unit. ``response_rate`` divides all generated tokens by the whole time, ``decode_rate`` by the time after the prefill.
``loop_tpot`` is ``tpot`` in a closed loop: each of ``batch`` requests is followed by another, whose prompt the others wait for; ``loop_rate`` are its responses."""

NEEDS_OUTPUT = METRICS.keys() - {"ttft", "itl", "prefill_rate"}

Precision = Annotated[str, Read(lambda value: precision_names(value, of_weights=True)[0])]


class MeasuredRow(Spec):
    """What every measurement has: the engine, the device as the source names it, the value, and its place in the source."""

    engine: str
    device: str
    value: AnyAmount
    place: str
    note: str | None = None


class OfModel(MeasuredRow):
    """A measurement of a model: ``model`` and ``device`` are the source's words, ``spec`` and ``hardware`` the entries of the catalogue that they are,
    where it has them."""

    model: str
    spec: Annotated[str, Field(pattern=NAME)] | None = None
    hardware: Annotated[str, Field(pattern=NAME)] | None = None
    weights: Precision
    activations: Precision | None = None
    kv: Precision


class Measurement(OfModel):
    """A static batch that was served alone, or a closed loop: no queue, no padding, all requests alike.

    ``weights`` is how symroof takes what the source calls ``stored``; ``accumulate`` that the engine sums products in 16 bits.
    """

    class_: EngineClass | None = Field(default=None, alias="class")
    stored: str | None = None
    accumulate: Literal["fp16"] | None = None
    tp: Whole = 1
    pp: Whole = 1
    attention_dp: Whole = 1
    ep: Whole | None = None
    batch: Whole
    prompt: Whole
    output: Whole | None = None
    metric: Literal[tuple(METRICS)]  # type: ignore[valid-type]

    @model_validator(mode="after")
    def _complete(self) -> Measurement:
        faults: list[Fault] = []
        if strict(self.value.dimension) != strict(parse_unit(METRICS[self.metric]).dimension):
            faults.append((("value",), f"{self.metric} is in {METRICS[self.metric]}"))
        if self.metric in NEEDS_OUTPUT and self.output is None:
            faults.append((("output",), f"is missing: {self.metric} is of all generated tokens"))
        if self.metric in ("tpot", "loop_tpot", "decode_rate") and self.output == 1:
            alone = "one token comes with the prefill: there is no decode to measure"
            faults.append((("output",), alone))
        if self.class_ is None:
            try:
                engine_class(self.engine)
            except ValueError as error:
                faults.append((("engine",), str(error)))
        raise_faults(faults)
        return self

    @property
    def group(self) -> int:
        """The devices that send each other a layer's results."""
        return self.tp * self.attention_dp

    @property
    def link_group(self) -> str:
        """What sends the messages of a pass."""
        experts = self.tp == 1 and bool(self.ep and self.ep > 1)
        return link_group(self.group, self.attention_dp > 1 or experts)

    @property
    def engine_class(self) -> str:
        """The class of the engine: as the row says, or by the engine's name."""
        return self.class_ or engine_class(self.engine)

    @property
    def seconds(self) -> Fraction:
        """The time behind the value: of the prefill, of one decode step, of the whole response, or between two responses of a loop.

        >>> row = Measurement.model_validate({"engine": "vLLM", "device": "H100", "value": "100 token/s", "place": "table 1", "model": "llama-3-8b",
        ...     "weights": "fp16", "kv": "fp16", "batch": 4, "prompt": 128, "output": 101, "metric": "response_rate"})
        >>> row.seconds
        Fraction(101, 25)
        """
        value, output = Fraction(self.value.value), self.output or 1
        match self.metric:
            case "response_rate":
                return self.batch * output / value
            case "prefill_rate":
                return self.batch * self.prompt / value
            case "decode_rate":
                return self.batch / value
            case "loop_rate":
                return 1 / value
        return value


class ServedRate(OfModel):
    """Output tokens per second of all devices of a server under load: requests come as fast as they are served, prefills included.

    ``prompt`` and ``output`` are mean lengths. Degrees that the source does not name are left out: any layout may stand behind the figure.
    ``concurrency`` is how many requests the server had at once, where that is published.
    """

    value: Annotated[Quantity, amount("token/s")]
    devices: Whole
    tp: Whole | None = None
    pp: Whole | None = None
    attention_dp: Whole | None = None
    concurrency: Whole | None = None
    prompt: Annotated[Quantity, amount("token")] | None = None
    output: Annotated[Quantity, amount("token")]

    @model_validator(mode="after")
    def _complete(self) -> ServedRate:
        if self.devices % ((self.tp or 1) * (self.pp or 1) * (self.attention_dp or 1)):
            what = "a whole number of instances of tp x attention_dp x pp devices"
            raise Faults([(("devices",), f"must be {what}")])
        return self


class Ceiling(MeasuredRow):
    """What one kernel or one link reached alone: a rate of arithmetic or of bytes, or the time of one call."""

    op: str
    devices: Whole = 1
    shape: dict[str, Whole] = {}
    link: str | None = None
    precision: str | None = None


class MeasuredSpec(Spec):
    """One source of measurements: where it is, its licence, what its figures mean, and the rows.

    ``models`` has those that no other document describes, as files of their own would, by the name that rows have for them in ``spec``.
    """

    name: Annotated[str, Field(pattern=NAME)]
    title: str
    source: Source
    license: str
    definition: str
    quality: str | None = None
    models: dict[str, Annotated[ModelSpec, WithJsonSchema({"type": "object"})]] = {}
    measurements: tuple[Measurement, ...] = ()
    serving: tuple[ServedRate, ...] = ()
    ceilings: tuple[Ceiling, ...] = ()
    notes: tuple[str, ...] = ()
