"""What a fit found: parameters with their intervals, residuals, and what a reader should know before using them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from symroof.calibration.measured import Measurement
from symroof.results import Answers

LARGE = 0.2
"""A residual beyond this share of the measured time is worth a word."""


@dataclass(frozen=True)
class Parameter:
    """A fitted parameter.

    Attributes:
        value: in base units; None where the rows do not determine it.
        low, high: its interval; None where there is none (as many parameters as rows).
        note: why it is not determined, or that it stands at a limit.
    """

    name: str
    value: float | None
    low: float | None = None
    high: float | None = None
    note: str = ""


@dataclass(frozen=True)
class Residual:
    """A measurement, the time the fit gives it, and what limits that."""

    measurement: Measurement
    fitted: float
    bound: str

    @property
    def relative(self) -> float:
        """(fitted - measured)/measured."""
        return self.fitted / float(self.measurement.seconds) - 1


@dataclass(frozen=True)
class Calibration:
    """Efficiencies and overheads fitted to measured latencies.

    >>> from symroof import calibrate
    >>> fit = calibrate("docs/measured.csv", model="llama-3.1-8b", hardware="h100-sxm")
    >>> mfu = fit["mfu"]
    >>> round(mfu.low, 2), round(mfu.value, 2), round(mfu.high, 2)
    (0.54, 0.55, 0.55)
    >>> len(fit.residuals), fit.freedom, max(abs(residual.relative) for residual in fit.residuals) < 0.02
    (16, 13, True)

    Attributes:
        parameters: in the order mfu, mbu, overheads.
        residuals: one a measurement.
        freedom: measurements beyond the parameters determined.
        level: of the intervals.
        deviation: root mean square of the relative residuals, per degree of freedom; None without one.
        answers: the case the rows were laid over.
    """

    parameters: tuple[Parameter, ...]
    residuals: tuple[Residual, ...]
    freedom: int
    level: float
    deviation: float | None
    warnings: tuple[str, ...]
    answers: Answers
    file: str

    def __getitem__(self, name: str) -> Parameter:
        """A fitted parameter by the name of its input."""
        return next(parameter for parameter in self.parameters if parameter.name == name)

    def block(self) -> str:
        """The fit as keys of a study file: ``efficiency:``, and ``set:`` for what is no efficiency."""
        from symroof.calibration.block import block

        return block(self)


def doubts(parameters: Iterable[Parameter], residuals: Sequence[Residual], freedom: int) -> list[str]:
    """What a reader should know before using the fit."""
    found = []
    if freedom <= 0:
        found.append("there are no more rows than parameters: the fit has no intervals and says nothing of how well it holds")
    far = [r for r in residuals if abs(r.relative) > LARGE]
    if far:
        lines = ", ".join(dict.fromkeys(str(r.measurement.line) for r in far))
        found.append(f"{len(far)} of {len(residuals)} times are more than {LARGE:.0%} off the fit (line {lines}): one mfu and mbu do not describe them")
    found += [f"{p.name} is not determined by these rows: {p.note}" for p in parameters if p.value is None]
    found += [f"{p.name} is {p.note}" for p in parameters if p.value is not None and p.note]
    wide = [p.name for p in parameters if p.value and p.low is not None and p.low <= 0 and not p.note]
    found += [f"the interval of {name} reaches down to 0: these rows hardly tell it" for name in wide]
    return found


def as_fraction(value: float, digits: int = 4) -> Fraction:
    """A fitted number to so many digits, exact from there on."""
    return Fraction(f"{value:.{digits}g}")
