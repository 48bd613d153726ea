"""The measurements of the catalogue as times with free efficiencies: the parts of each time at 100 % of peak."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from symroof.cases.bind_cases import bound_cases
from symroof.cases.bound_case import BoundCase
from symroof.cases.engine_inputs import OF_EXPERTS, OF_NETWORK, kind_of, share_of_tile
from symroof.cases.request import request_of
from symroof.errors import InputError, NoValue
from symroof.specs.catalogue import entries, find
from symroof.specs.efficiencies import MeasuredKind, model_part
from symroof.specs.engine_profile import IDEAL
from symroof.specs.fields import build
from symroof.specs.hardware import HardwareSpec
from symroof.specs.measured import MeasuredSpec, Measurement, ServedRate
from symroof.theory.case import Case

FREE = Fraction(10) ** 12
"""A share so large that what it divides takes no time, which isolates the other arm of a maximum."""

OF_LOOPS = ("loop_tpot", "loop_rate")
SHARES = ("mfu", "mbu", "link_share")
LATENCIES = ("layer_overhead", "elementwise_bytes", "link_latency")


@dataclass(frozen=True)
class TimeParts:
    """A time in seconds, as ``max(compute/mfu, tile/mfu, memory/mbu) + layers*layer_overhead + between*elementwise_bytes + messages*link_latency +
    sent/link_share + network``; ``between`` is in seconds per byte; ``tile`` is the time of multiplying the smallest tile of rows with all weights read.
    With ``added`` (1) the maximum is a sum, as of attention groups."""

    compute: float
    memory: float
    layers: float
    between: float
    messages: float
    sent: float
    tile: float = 0.0
    added: float = 0.0
    network: float = 0.0

    def scaled(self, times: float) -> "TimeParts":
        """The parts of so many times the time."""
        return replace(
            self, **{name: value * times for name, value in vars(self).items() if name != "added"}
        )

    @property
    def columns(self) -> tuple[float, ...]:
        """What the fit adds up, the larger of the two times of multiplying first."""
        fixed = self.layers, self.between, self.messages, self.sent, self.added, self.network
        return max(self.compute, self.tile), self.memory, *fixed

    @property
    def roof(self) -> float:
        """The lower bound: all shares 1, no overhead."""
        return max(self.compute, self.memory) + self.sent


@dataclass(frozen=True)
class MeasuredRow:
    """A usable measurement: its time, the parts of its prefill and decode, and what its efficiencies depend on."""

    source: str
    row: Measurement
    family: str
    seconds: float
    prefill: TimeParts | None
    decode: TimeParts | None
    kind: MeasuredKind | None = None

    @property
    def engine(self) -> str:
        return self.row.engine_class

    @property
    def generation(self) -> str:
        """That of its device; the family of one that has none."""
        return self.kind.generation if self.kind else self.family

    @property
    def part(self) -> str:
        """What sets its model apart from dense ones."""
        return model_part(self.kind.model) if self.kind else ""

    @property
    def interval_class(self) -> tuple[str, str]:
        """The cases that share its intervals: a generation with a part of models, and a class of engines."""
        return f"{self.generation} {self.part}".strip(), self.engine

    @property
    def phase(self) -> str:
        if self.prefill and self.decode:
            return "whole response"
        return "prefill" if self.prefill else "decode"

    @property
    def cell(self) -> str:
        """Its device, model, layout and lengths: what is measured for several batches in one go."""
        row = self.row
        return f"{row.hardware} {row.spec} {row.weights} {row.tp} {row.attention_dp} {row.prompt} {row.output}"

    @property
    def parts(self) -> tuple[TimeParts, ...]:
        return tuple(part for part in (self.prefill, self.decode) if part)

    @property
    def roof(self) -> float:
        """The lower bound of the time."""
        return sum(part.roof for part in self.parts)


@dataclass(frozen=True)
class RefusedRow:
    """A measurement that cannot be used, and why."""

    source: str
    row: Measurement
    reason: str


def sources() -> Iterator[MeasuredSpec]:
    """Every source of the catalogue, ordered by name."""
    for entry in entries("measured").values():
        yield build(entry.document, MeasuredSpec)


def unlisted(row: Measurement | ServedRate) -> str:
    """Why a published figure has no catalogue entry; empty if device and model have one."""
    if row.hardware is None:
        return f"{row.device} is not in the catalogue of hardware"
    return f"{row.model} is not in the catalogue of models" if row.spec is None else ""


def comparable(spec: MeasuredSpec) -> Iterator[MeasuredRow | RefusedRow]:
    """The measurements of a source with their parts, or the reason why one cannot be used."""
    for row in spec.measurements:
        reason = unlisted(row)
        if not reason:
            try:
                made = _parts(spec, row)
            except (InputError, NoValue) as error:
                reason = str(error)
            else:
                slack = made.seconds / made.roof
                if slack >= LEAST:
                    yield made
                    continue
                reason = f"{slack:.2f} of the least time that its device allows: a unit or a length is wrong"
        yield RefusedRow(spec.name, row, reason)


LEAST = 0.8
"""A time below this share of the roof is an error of the row; slightly below, the device beats its nominal peak."""


def _parts(spec: MeasuredSpec, row: Measurement) -> MeasuredRow:
    bound_case = row_binding(spec, row)
    case, device, tile = bound_case.case, bound_case.hardware, _tile(bound_case, row)
    assert device is not None
    prefill, decode = (_of_loop if row.metric in OF_LOOPS else _of_batch)(case, row, tile)
    kind, seconds = kind_of(bound_case, device, row.engine_class), float(row.seconds)
    return MeasuredRow(spec.name, row, device.family, seconds, prefill, decode, kind)


def _of_batch(
    case: Case, row: Measurement, tile: Fraction | None
) -> tuple[TimeParts | None, TimeParts | None]:
    """The parts of a static batch's prefill and decode, as far as its time has them."""
    whole = row.metric in ("response_time", "response_rate")
    prefill = _of(case, "ttft", tile) if whole or row.metric in ("ttft", "prefill_rate") else None
    if (prefill and not whole) or row.output == 1:
        return prefill, None
    decode = _of(case, "itl" if row.output is None else "decode_time", tile)
    if not whole and row.output is not None:
        decode = decode.scaled(1 / (row.output - 1))
    return prefill, decode


def _of_loop(case: Case, row: Measurement, tile: Fraction | None) -> tuple[TimeParts, TimeParts]:
    """The parts of a closed loop: of the mean time between tokens a step's, and those of the prompts that come while a response is written, one of each
    other slot; of the time between two responses those of a prompt and of a share of the steps that all slots take together."""
    assert row.output is not None
    prefill, decode = _of(case, "ttft", tile), _of(case, "decode_time", tile)
    at_once = case.value("prefill_batch")
    if row.metric == "loop_rate":
        return prefill.scaled(1 / float(at_once)), decode.scaled(1 / row.batch)
    steps = row.output - 1
    prompts = max(Fraction(row.batch) / at_once - 1, Fraction(0)) / steps
    return prefill.scaled(float(prompts)), decode.scaled(1 / steps)


def row_binding(spec: MeasuredSpec, row: Measurement) -> BoundCase:
    """The case of a row: a static batch on its device at 100 % of peak."""
    inline: Any = spec.models.get(row.spec or "", row.spec)
    stated = ("weights", "kv", "activations", "tp", "pp", "batch", "prompt", "output")
    given: dict[str, Any] = {name: getattr(row, name) for name in stated}
    if row.attention_dp > 1 or row.ep:
        degrees = {"attention_dp": row.attention_dp, "ep": row.ep or 1}
        given |= {name: degree for name, degree in degrees.items() if degree > 1}
        given |= {
            name: own.value for name, own in OF_EXPERTS.items()
        }  # experts as engines run them
    if row.metric not in OF_LOOPS:
        given["prefill_batch"] = row.batch
    if row.accumulate:
        given["peak_flops"] = accumulating(row)
    chosen = request_of(inline, row.hardware, engine=IDEAL, **given)
    return next(bound_cases(chosen))


def _tile(bound_case: BoundCase, row: Measurement) -> Fraction | None:
    """The bandwidth share that the smallest tile leaves for weights; None if the engine has kernels for few rows."""
    assert bound_case.hardware is not None
    return share_of_tile(
        bound_case.hardware.family, row.engine_class, bound_case.compute, bound_case.given
    )


def accumulating(row: Measurement) -> Fraction | None:
    """The device's peak in FLOP/s with 16-bit accumulation; None if it has none."""
    device = build(find("hardware", str(row.hardware)), HardwareSpec)
    rate = device.peaks["fp16"].fp16_accumulate
    return rate.value if rate else None


def _of(case: Case, metric: str, tile: Fraction | None) -> TimeParts:
    """The parts of a time, each isolated by removing the others."""
    none = {**dict.fromkeys(SHARES, FREE), **dict.fromkeys((*LATENCIES, *OF_NETWORK), Fraction(0))}

    def alone(**changes: Fraction | int) -> float:
        return float(
            case.changed(
                {**none, **{name: Fraction(value) for name, value in changes.items()}}
            ).value(metric)
        )

    memory = alone(mbu=1)
    costs = [alone(**{name: 1}) for name in (*LATENCIES, "link_share")]
    added = float(case.theory.layout.attention_dp and case.has("n_experts"))
    network = alone(**{name: own.value for name, own in OF_NETWORK.items()})
    return TimeParts(
        alone(mfu=1),
        memory,
        *costs,
        tile=memory / float(tile) if tile else 0.0,
        added=added,
        network=network,
    )
