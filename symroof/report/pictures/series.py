"""The cases of a study as pictures compare them, labelled by their differences except for the input on an axis."""

from __future__ import annotations

from dataclasses import dataclass, replace

from symroof.analysis.case_titles import case_label
from symroof.analysis.study import Study
from symroof.analysis.verdict import queues, under_load
from symroof.cases.bound_case import BoundCase
from symroof.report.pictures.regime_map import at_a_context
from symroof.symbolic.evaluation import NoValue


@dataclass(frozen=True)
class Metrics:
    """What is compared by batch: latency, rate, rate of a device and cost, and the words for them."""

    itl: str
    rate: str
    device_rate: str
    cost: str
    where: str
    latency: str
    of_rate: str
    of_device_rate: str
    of_cost: str
    note: str


UNDER_LOAD = Metrics(
    "sustained_itl", "sustained_throughput", "sustained_throughput_per_device", "cost_per_mtok", "under load",
    "inter-token latency under load", "sustained output tokens per second, prefills included", "sustained output tokens per second of one device",
    "US dollars per million output tokens, prefills included", "A server under load, prefills included, as targets are tested.",
)  # fmt: skip
FULL_SLOTS = replace(
    UNDER_LOAD,
    where="at full slots",
    latency="inter-token latency at full slots",
    note="Every slot taken, prefills included: at the study's arrival rate fewer requests decode, in shorter steps.",
)
"""The same where an arrival rate is given: batches are compared with every slot taken, not at that rate."""
ISOLATED = Metrics(
    "itl", "decode_throughput", "decode_throughput_per_device", "decode_cost_per_mtok", "at the last step",
    "inter-token latency at the last step", "output tokens per second of the whole batch, at the last step", "output tokens per second of one device, at the last step",
    "US dollars per million output tokens, decode only, at the last step", "Decode alone: on a server under load, prefills lengthen the steps.",
)  # fmt: skip


def metrics_of(study: Study) -> Metrics:
    """Metrics under load if targets of every case apply to these; else of a decode-only batch."""
    if not all(under_load(case.case) for case in study.cases):
        return ISOLATED
    return FULL_SLOTS if any(queues(case.case) for case in study.cases) else UNDER_LOAD


@dataclass(frozen=True)
class BatchSeries:
    """Cases that only differ in their batch."""

    label: str
    cases: tuple[BoundCase, ...]

    @property
    def first(self) -> BoundCase:
        return self.cases[0]

    @property
    def batches(self) -> list[float]:
        return list(dict.fromkeys(float(case.case.value("batch")) for case in self.cases))


def batch_series(study: Study) -> list[BatchSeries]:
    """The cases of a study grouped by everything but the batch, in order."""
    groups: dict[str, list[BoundCase]] = {}
    for case, label in zip(study.cases, labels(study.cases, without=("batch",)), strict=True):
        groups.setdefault(label, []).append(case)
    return [BatchSeries(label, tuple(cases)) for label, cases in groups.items()]


def labels(cases: tuple[BoundCase, ...], without: tuple[str, ...] = ()) -> list[str]:
    """A label for each case: its devices, and the inputs that the study lists."""
    varied = [tuple(pair for pair in case.varied if pair[0] not in without) for case in cases]
    return [case_label(replace(c, varied=v)) for c, v in zip(cases, varied, strict=True)]


def compared(study: Study, what: str, where: str = "") -> str:
    """What all cases have in common, and how many are drawn, for the line below a title."""
    first = study.first
    models = {case.model.shown_name for case in study.cases if case.model}
    sizes = []
    for name in ("prompt", "output"):
        settings = [
            case.given[name].setting if name in case.given else None for case in study.cases
        ]
        if settings[0] is not None and all(each == settings[0] for each in settings):
            sizes.append(f"{name} {int(first.case.value(name)):,}")
    return ", ".join(filter(None, [*(models if len(models) == 1 else []), *sizes, what, where]))


def at_last_step(case: BoundCase) -> BoundCase:
    """The case as requests at the context of a response's last step, where memory and the ITL target are tested.

    Raises:
        NoValue: neither a context nor a prompt has a value.
    """
    return at_a_context(case, float(case.case.value("peak_context")))


def shown_case(series: BatchSeries, of: Metrics) -> BoundCase:
    """The case that is drawn: a server under load with whole responses, or the last decode step."""
    return at_last_step(series.first) if of is ISOLATED else series.first


def known(case: BoundCase, *names: str) -> bool:
    """Whether a case has all of some quantities."""
    try:
        return all(case.case.value(name) is not None for name in names)
    except NoValue:
        return False
