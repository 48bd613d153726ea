"""The cases of a study as pictures compare them, labelled by their differences except for the input on an axis."""

from dataclasses import dataclass, replace
from fractions import Fraction

from symroof.analysis.case_titles import case_label
from symroof.analysis.study import Study
from symroof.cases.bound_case import BoundCase
from symroof.report.regime_map import at_a_context
from symroof.symbolic.evaluation import NoValue


@dataclass(frozen=True)
class BatchSeries:
    """Cases that only differ in their batch."""

    label: str
    cases: tuple[BoundCase, ...]

    @property
    def first(self) -> BoundCase:
        return self.cases[0]

    @property
    def batches(self) -> tuple[Fraction, ...]:
        return tuple(dict.fromkeys(Fraction(case.case.value("batch")) for case in self.cases))


def batch_series(study: Study) -> list[BatchSeries]:
    """The cases of a study grouped by everything but the batch, in order."""
    groups: dict[str, list[BoundCase]] = {}
    for case, label in zip(study.cases, labels(study.cases, without=("batch",)), strict=True):
        groups.setdefault(label, []).append(case)
    return [BatchSeries(label, tuple(cases)) for label, cases in groups.items()]


def labels(cases: tuple[BoundCase, ...], without: tuple[str, ...] = ()) -> list[str]:
    """A label for each case: its devices, and the inputs that the study lists."""
    return [_label(case, without) for case in cases]


def _label(case: BoundCase, without: tuple[str, ...]) -> str:
    varied = tuple(pair for pair in case.varied if pair[0] not in without)
    return case_label(replace(case, varied=varied))


def compared(study: Study, what: str, where: str = "") -> str:
    """What all cases have in common, and how many are drawn, for the line below a headline."""
    first = study.first
    models = {case.model.shown_name for case in study.cases if case.model}
    sizes = [
        f"{name} {int(study.first.case.value(name)):,}"
        for name in ("prompt", "output")
        if name in first.given and all(_same(case, first, name) for case in study.cases)
    ]
    parts = [*(sorted(models) if len(models) == 1 else []), *sizes, what, where]
    return ", ".join(filter(None, parts))


def _same(case: BoundCase, first: BoundCase, name: str) -> bool:
    return name in case.given and case.given[name].setting == first.given[name].setting


def at_last_step(case: BoundCase) -> BoundCase:
    """The case as requests at the context of a response's last step, where memory and the ITL target are tested.

    Raises:
        NoValue: neither a context nor a prompt has a value.
    """
    return at_a_context(case, float(case.case.value("peak_context")))


def shown_case(configuration: BatchSeries, loaded: bool) -> BoundCase:
    """The case that is drawn: a server under load with whole responses, or the last decode step."""
    return configuration.first if loaded else at_last_step(configuration.first)


def known(case: BoundCase, *names: str) -> bool:
    """Whether a case has all of some quantities."""
    try:
        return all(case.case.value(name) is not None for name in names)
    except NoValue:
        return False
