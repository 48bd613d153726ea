"""Published rates of servers under load beside the bound of their devices: what the best layout sustains at 100 % of the peak."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

from sympy import divisors

from symroof.cases.bind_cases import bound_cases
from symroof.cases.request import request_of
from symroof.errors import InputError, NoValue
from symroof.specs.engine_profile import IDEAL
from symroof.specs.measured import MeasuredSpec, ServedRate
from symroof.specs.model import ModelSpec
from symroof.theory.case import Case
from tools.evidence.catalogue_rows import unlisted

MOST_STAGES = 8
"""The deepest pipeline of a layout that the source does not name."""

Layout = tuple[int, int, int]
"""The degrees tp, pp and attention_dp of one instance."""


@dataclass(frozen=True)
class BoundedRate:
    """A published rate, and the highest that its devices allow, in tokens per second.

    Attributes:
        bound: ``sustained_throughput`` of all copies with paced prompts, at the peak.
        layout: the degrees tp, pp and attention_dp that it belongs to.
        batch: the requests that decode at once in an instance.
        predicted: the rate of the best layout with the engine and the measured efficiencies; None where the prompt is not known.
    """

    source: str
    row: ServedRate
    bound: float
    layout: Layout
    batch: int
    predicted: float | None

    @property
    def share(self) -> float:
        """The rate over its bound."""
        return float(self.row.value.value) / self.bound


@dataclass(frozen=True)
class UnboundedRate:
    """A published rate without a bound, and why."""

    source: str
    row: ServedRate
    reason: str


def bounded_rates(spec: MeasuredSpec) -> Iterator[BoundedRate | UnboundedRate]:
    """The rates of a source, each with its bound or the reason why there is none."""
    for row in spec.serving:
        if reason := unlisted(row):
            yield UnboundedRate(spec.name, row, reason)
        else:
            deployed = _deployed(spec, row)
            layouts = list(_layouts(row, deployed))
            known = [found for one in layouts for found in _sustained(deployed, one, IDEAL)]
            if known:
                rate, layout, batch = max(known)
                engine = "tensorrt-llm" if "TensorRT" in row.engine else "vllm"
                real = [found for one in layouts for found in _sustained(deployed, one, engine)]
                predicted = max(real)[0] if row.prompt else None
                yield BoundedRate(spec.name, row, rate, layout, batch, predicted)
            else:
                yield UnboundedRate(spec.name, row, "fits in no layout of its devices")


def _layouts(row: ServedRate, deployed: _Deployed) -> Iterator[Layout]:
    """The layout of the source, or every one that its devices and the model's heads allow: attention groups or a pipeline, not both."""
    if row.tp or row.pp or row.attention_dp:
        yield row.tp or 1, row.pp or 1, row.attention_dp or 1
        return
    single = _case(deployed.model, deployed.hardware, deployed.precision, (1, 1, 1), IDEAL)
    for tp in (n for n in divisors(row.devices) if single.can_split_heads(n)):
        rest = divisors(row.devices // tp)
        yield from ((tp, pp, 1) for pp in rest if pp <= MOST_STAGES)
        yield from ((tp, 1, groups) for groups in rest if groups > 1 and single.has("n_experts"))


@dataclass(frozen=True)
class _Deployed:
    """What a rate was measured on, whatever the layout: rows that share it share its bounds."""

    model: str | ModelSpec
    hardware: str
    precision: tuple[tuple[str, str | None], ...]
    devices: int
    prompt: Fraction
    output: Fraction
    concurrency: int | None


def _deployed(spec: MeasuredSpec, row: ServedRate) -> _Deployed:
    model = spec.models.get(str(row.spec), str(row.spec))
    precision = (("weights", row.weights), ("kv", row.kv), ("activations", row.activations))
    # without a length the shortest stands in: reading less cannot be slower
    prompt = row.prompt.value if row.prompt else Fraction(1)
    return _Deployed(
        model, str(row.hardware), precision, row.devices, prompt, row.output.value, row.concurrency
    )


UNLIMITED, MOST_REQUESTS = 10**9, 2048
"""The requests that an engine runs at once in a group, unless it is told otherwise (TensorRT-LLM's ``max_batch_size``)."""


def _sustained(
    deployed: _Deployed, layout: Layout, engine: str
) -> Iterator[tuple[float, Layout, int]]:
    """What all copies of a layout sustain, and the batch of each; nothing where a model has no such layout or does not fit.

    As many requests decode as memory holds at their mean length: an engine takes blocks as a response grows, so that not all are full at once.
    """
    tp, pp, groups = layout
    copies = deployed.devices // (tp * pp * groups)
    try:
        case = _case(deployed.model, deployed.hardware, deployed.precision, layout, engine)
        sizes = {"prompt": deployed.prompt, "output": deployed.output}
        case = case.changed({**sizes, "peak_context": deployed.prompt + deployed.output / 2})
        most = deployed.concurrency or UNLIMITED, MOST_REQUESTS if engine != IDEAL else UNLIMITED
        held = Fraction(case.value("concurrency"))
        batch = min(held, Fraction(most[0], copies), Fraction(most[1] * groups))
        if batch >= 1:
            rate = float(case.changed({"batch": batch}).value("sustained_throughput"))
            yield rate * copies, layout, int(batch)
    except (InputError, NoValue):
        return


@cache
def _case(
    model: Any,
    hardware: str,
    precision: tuple[tuple[str, str | None], ...],
    layout: Layout,
    engine: str,
) -> Case:
    """The case of a model on a device in a layout, sizes aside."""
    given: dict[str, Any] = {
        **dict(precision),
        **dict(zip(("tp", "pp", "attention_dp"), layout, strict=True)),
    }
    return next(bound_cases(request_of(model, hardware, engine=engine, **given))).case
