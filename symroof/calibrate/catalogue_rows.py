"""The measurements of the catalogue as times with free efficiencies: what each would take at the peak, by the engine's own formulas."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from symroof.cases.bind_cases import bound_cases
from symroof.cases.bound_case import BoundCase
from symroof.cases.measured_efficiencies import share_of_tile
from symroof.cases.request import request_of
from symroof.errors import InputError
from symroof.formula.evaluate import NoValue
from symroof.specs.catalogue import entries, find
from symroof.specs.engine_profile import IDEAL
from symroof.specs.fields import build
from symroof.specs.hardware import HardwareSpec
from symroof.specs.measured import MeasuredSpec, Measurement, ServedRate
from symroof.theory.case import Case

FREE = Fraction(10) ** 12
"""A share so large that what it divides takes no time: one arm of a maximum is left alone with the other at this share."""

SHARES = ("mfu", "mbu", "link_share")
LATENCIES = ("layer_overhead", "elementwise_bytes", "link_latency")


@dataclass(frozen=True)
class Parts:
    """A time in seconds, as ``max(compute/mfu, tile/mfu, memory/mbu) + layers*layer_overhead + between*elementwise_bytes + messages*link_latency +
    sent/link_share``; ``between`` is in seconds a byte, ``tile`` is what the multiplication takes of the smallest tile of rows by all that is read."""

    compute: float
    memory: float
    layers: float
    between: float
    messages: float
    sent: float
    tile: float = 0.0

    @property
    def roof(self) -> float:
        """The least time: all shares 1, no overhead."""
        return max(self.compute, self.memory) + self.sent


@dataclass(frozen=True)
class MeasuredRow:
    """A measurement that can be compared: its time, the parts of its prefill and of its decode, and what its efficiencies depend on."""

    source: str
    row: Measurement
    family: str
    seconds: float
    prefill: Parts | None
    decode: Parts | None

    @property
    def engine(self) -> str:
        return self.row.engine_class

    @property
    def parts(self) -> tuple[Parts, ...]:
        return tuple(part for part in (self.prefill, self.decode) if part)

    @property
    def roof(self) -> float:
        """The least time the theory allows."""
        return sum(part.roof for part in self.parts)


@dataclass(frozen=True)
class Refused:
    """A measurement that cannot be compared, and why."""

    source: str
    row: Measurement
    reason: str


def sources() -> Iterator[MeasuredSpec]:
    """Every source of the catalogue, in order of names."""
    for entry in entries("measured").values():
        yield build(entry.document, MeasuredSpec)


def unlisted(row: Measurement | ServedRate) -> str:
    """Why no entry of the catalogue goes with a published figure; empty where its device and its model are in it."""
    if row.hardware is None:
        return f"{row.device} is not in the catalogue of hardware"
    return f"{row.model} is not in the catalogue of models" if row.spec is None else ""


def comparable(spec: MeasuredSpec) -> Iterator[MeasuredRow | Refused]:
    """The measurements of a source with their parts; a refusal with its reason for each that cannot be used."""
    for row in spec.measurements:
        if reason := unlisted(row):
            yield Refused(spec.name, row, reason)
        else:
            try:
                made = _parts(spec, row)
            except (InputError, NoValue) as error:
                yield Refused(spec.name, row, str(error))
                continue
            slack = made.seconds / made.roof
            yield made if slack >= LEAST else Refused(spec.name, row, f"{slack:.2f} of the least time that its device allows: a unit or a length is wrong")


LEAST = 0.8
"""A time below this share of the roof is a fault of the row; a little below is a device that beats its nominal peak."""


def _parts(spec: MeasuredSpec, row: Measurement) -> MeasuredRow:
    bound_case = bound(spec, row)
    case, device, tile = bound_case.case, bound_case.hardware, _tile(bound_case, row)
    assert device is not None
    whole = row.metric in ("response_time", "response_rate")
    prefill = _of(case, "ttft", tile) if whole or row.metric in ("ttft", "prefill_rate") else None
    decode = None if (prefill and not whole) or row.output == 1 else _of(case, "itl" if row.output is None else "decode_time", tile)
    if decode and not whole and row.output is not None:
        steps = row.output - 1
        decode = Parts(*(value / steps for value in vars(decode).values()))
    return MeasuredRow(spec.name, row, device.family, float(row.seconds), prefill, decode)


def bound(spec: MeasuredSpec, row: Measurement) -> BoundCase:
    """What a row stands for: a static batch at the peak, on its device."""
    inline: Any = spec.models.get(row.spec or "", row.spec)
    given: dict[str, Any] = {"weights": row.weights, "kv": row.kv, "activations": row.activations, "tp": row.tp, "pp": row.pp}
    given |= {"batch": row.batch, "prefill_batch": row.batch, "prompt": row.prompt, "output": row.output}
    if row.accumulate:
        given["peak_flops"] = accumulating(row)
    chosen = request_of(inline, row.hardware, engine=IDEAL, **given)
    return next(bound_cases(chosen))


def _tile(bound_case: BoundCase, row: Measurement) -> Fraction | None:
    """The share of the bandwidth that the smallest tile leaves for weights; None where engines have kernels for few rows."""
    assert bound_case.hardware is not None
    return share_of_tile(bound_case.hardware.family, row.engine_class, bound_case.compute, bound_case.given)


def accumulating(row: Measurement) -> Fraction | None:
    """The peak of a row's device in FLOP/s for sums in 16 bits; None where it has none of its own."""
    device = build(find("hardware", str(row.hardware)), HardwareSpec)
    rate = device.peaks["fp16"].fp16_accumulate
    return rate.value if rate else None


def _of(case: Case, metric: str, tile: Fraction | None) -> Parts:
    """The parts of a time, each by letting the others take none."""
    none = {**dict.fromkeys(SHARES, FREE), **dict.fromkeys(LATENCIES, Fraction(0))}

    def alone(**changes: int) -> float:
        return float(case.changed({**none, **{name: Fraction(value) for name, value in changes.items()}}).value(metric))

    memory = alone(mbu=1)
    costs = (alone(layer_overhead=1), alone(elementwise_bytes=1), alone(link_latency=1), alone(link_share=1))
    return Parts(alone(mfu=1), memory, *costs, tile=memory / float(tile) if tile else 0.0)
