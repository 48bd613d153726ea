"""One configuration against memory and the targets: passes or fails, by how much, and at which batch."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Literal

from symroof.analysis.verdict import TARGET_METRICS, TargetCheck, degrees, devices, target_checks
from symroof.cases.case_results import TARGETS, Answers, Result
from symroof.select.batch_window import Window, window
from symroof.theory.layout import DEGREES

State = Literal["passes", "in part", "fails", "unknown"]
MEMORY = "memory"


@dataclass(frozen=True)
class Run:
    """A configuration at one batch.

    Attributes:
        label: what tells it from its neighbours.
        answers: the case behind it.
    """

    label: str
    answers: Answers

    @property
    def batch(self) -> int:
        return int(self.answers.case.value("batch"))

    def result(self, name: str) -> Result | None:
        """A quantity with its flags; ``itl`` is that of the last step, where the target is tested. None where it has no value."""
        tested = self._tested(name)
        return self.answers.result(tested) if self.answers.case.known(tested) else None

    def value(self, name: str) -> Fraction | None:
        """The same as a number, at the middle of any ranges: what runs are compared by."""
        tested = self._tested(name)
        return Fraction(self.answers.case.value(tested)) if self.answers.case.known(tested) else None

    def _tested(self, name: str) -> str:
        return "itl_last" if name == "itl" and self.answers.case.known("itl_last") else name

    @cached_property
    def checks(self) -> tuple[TargetCheck, ...]:
        """Memory and every target that there is a metric for."""
        checks = tuple(target_checks(self.answers))
        fits = self.answers.fits
        if fits is None:
            return checks
        met = None if len(fits.possible) > 1 else bool(fits.value)
        limit = Fraction(self.answers.result("usable_memory_per_device").value)
        return (TargetCheck(MEMORY, self.answers.result("memory_bytes_per_device"), limit, met), *checks)

    @cached_property
    def unknown(self) -> dict[str, str]:
        """What cannot be judged, and why: a size, a price or a link is missing."""
        judged = {check.name for check in self.checks}
        reasons = {} if MEMORY in judged else {MEMORY: self.answers.why_unknown("fits")}
        return reasons | {name: self.answers.why_unknown(TARGET_METRICS[name]) for name in self.answers.targets if name not in judged}

    @property
    def state(self) -> State:
        """What it amounts to: one miss is a failure, whatever is not known; over ranges it passes where it does throughout."""
        met = [check.met for check in self.checks]
        return "fails" if False in met else "unknown" if self.unknown else "in part" if None in met else "passes"

    @property
    def passes(self) -> bool:
        return self.state == "passes"

    @property
    def missed(self) -> tuple[str, ...]:
        return tuple(check.name for check in self.checks if check.met is False)

    @property
    def worst(self) -> Fraction:
        """The largest metric over its limit: above one it fails."""
        return max((Fraction(check.metric.value) / check.limit for check in self.checks), default=Fraction(0))


@dataclass(frozen=True)
class Configuration:
    """One combination of the models, devices and values that the study lists, judged.

    >>> from symroof.select.choice import select
    >>> choice = select(model="llama-3-8b", hardware="l40s", prompt=4096, batch=1, targets={"itl": "10 ms"})
    >>> configuration = choice.configurations[0]
    >>> configuration.label, configuration.state, configuration.run.missed, configuration.chosen
    ('l40s', 'fails', ('itl',), True)

    Attributes:
        run: the configuration at the batch it is judged at: its own, or where none was chosen the largest that passes.
        window: the batches that pass; None where none does, where some condition is not known, and where the study lists batches.
        chosen: whether its batch was chosen, by the study or by the caller.
    """

    run: Run
    window: Window | None
    chosen: bool

    @property
    def label(self) -> str:
        """The configuration in few words: devices, and the listed values that set it apart."""
        return self.run.label

    @property
    def state(self) -> State:
        """``passes``, ``fails``, ``in part`` (over part of the ranges) or ``unknown``."""
        return self.run.state

    @cached_property
    def largest(self) -> Run | None:
        """The configuration at the largest batch that passes."""
        if self.window is None or self.window.most is None:
            return None
        return self.run if self.run.batch == self.window.most else at_batch(self.run, self.window.most)

    @cached_property
    def runs(self) -> tuple[Run, ...]:
        """What it competes with: its own batch, the smallest and the largest that pass. Latency is best at the one end, what a device gives at the other."""
        ends = [self.window.least] if self.window else []
        by_batch = {run.batch: run for run in (self.run, *(at_batch(self.run, n) for n in ends if n != self.run.batch), self.largest) if run and run.passes}
        return tuple(by_batch[batch] for batch in sorted(by_batch))


def judged(answers: Answers, listed: bool) -> Configuration:
    """One case judged; ``listed`` says that the study lists batches, so that no other is looked for."""
    run = Run(label(answers), answers)
    chosen = "batch" in answers.binding.given
    batches = None if listed or run.unknown else window(answers)
    if batches and batches.most and not chosen:
        run = at_batch(run, batches.most)
    return Configuration(run, batches, chosen)


def label(answers: Answers) -> str:
    """A configuration in the names one types: how many of which device, and what the study lists."""
    binding, count = answers.binding, devices(answers)
    model = [binding.model.name] if binding.several_models and binding.model else []
    device = [f"{f'{count} x ' if count > 1 else ''}{binding.hardware.name if binding.hardware else 'no hardware'}"]
    return ", ".join([*model, *device, *degrees(answers), *(f"{name} {value}" for name, value in binding.varied if name not in DEGREES)])


def at_batch(run: Run, batch: int) -> Run:
    """The same configuration at another batch."""
    binding = run.answers.binding
    moved = binding.variant(batch=batch)
    return Run(run.label, Answers(replace(moved, several_models=binding.several_models, varied=binding.varied)))


def targets_of(runs: tuple[Run, ...]) -> dict[str, Fraction]:
    """The targets that are set, by name, in declared order."""
    targets: dict[str, Fraction] = {}
    for run in runs:
        targets |= run.answers.targets
    return {name: targets[name] for name in TARGETS if name in targets}
