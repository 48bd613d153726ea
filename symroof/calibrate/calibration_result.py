"""The result of a fit: parameters with their intervals, residuals, and warnings."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from symroof.calibrate.measurements import MeasuredLatency
from symroof.cases.bound_case import BoundCase
from symroof.theory.symbols import GROUPS, INPUTS, SHARES

LARGE = 0.2
"""Residuals above this share of the measured time cause a warning."""


@dataclass(frozen=True)
class Parameter:
    """A fitted parameter.

    Attributes:
        value: in base units; None if the rows do not determine it.
        low, high: its interval; None if there is none (as many parameters as rows).
        note: why it is not determined, or that it is at a limit.
        held: what the others were fitted with where it is not determined.
    """

    name: str
    value: float | None
    low: float | None = None
    high: float | None = None
    note: str = ""
    held: float | None = None

    @property
    def unit(self) -> str:
        """Its base unit; empty of a share."""
        return INPUTS[self.name].unit


@dataclass(frozen=True)
class Residual:
    """A measurement, its fitted time, and what limits that."""

    measurement: MeasuredLatency
    fitted: float
    bound: str

    @property
    def relative(self) -> float:
        """(fitted - measured)/measured."""
        return self.fitted / float(self.measurement.seconds) - 1


@dataclass(frozen=True, repr=False)
class Calibration:
    """Efficiencies and overheads fitted to measured latencies.

    >>> from symroof import Study
    >>> fit = Study("llama-3.1-8b", "h100-sxm").calibrate("docs/measured.csv")
    >>> fit
    <Calibration of 16 times: mfu 0.5488 (0.5436 to 0.554), mbu 0.8133 (0.7981 to 0.8285), step_overhead 743.5 us (611.1 us to 875.8 us)>
    >>> mfu = fit["mfu"]
    >>> round(mfu.low, 2), round(mfu.value, 2), round(mfu.high, 2)
    (0.54, 0.55, 0.55)
    >>> len(fit.residuals), fit.freedom, max(abs(residual.relative) for residual in fit.residuals) < 0.02
    (16, 13, True)

    Attributes:
        parameters: in the order mfu, mbu, overheads.
        residuals: one per measurement.
        freedom: measurements beyond the parameters determined.
        level: of the intervals.
        deviation: root mean square of the relative residuals, per degree of freedom; None without one.
        answers: the case that the rows override.
    """

    parameters: tuple[Parameter, ...]
    residuals: tuple[Residual, ...]
    freedom: int
    level: float
    deviation: float | None
    warnings: tuple[str, ...]
    answers: BoundCase
    file: str

    def __getitem__(self, name: str) -> Parameter:
        """A fitted parameter by the name of its input."""
        return next(parameter for parameter in self.parameters if parameter.name == name)

    def __repr__(self) -> str:
        return f"<Calibration of {len(self.residuals)} times: {', '.join(map(_summary, self.parameters))}>"

    def block(self) -> str:
        """The fit as keys of a study file: ``efficiency:``, and ``set:`` for the others, with intervals as ranges.

        What the rows do not determine is not written: where it is a share, or an overhead that the fit could not tell from
        one, a study takes what was measured elsewhere.
        """
        known = {p.name: written(p) for p in self.parameters if p.value is not None}
        open_ = [p for p in self.parameters if p.value is None]
        last = self.file.replace("\\", "/").rpartition("/")[2]
        name = "".join(c if c.isprintable() else "?" for c in last)[:80]
        count = len(self.residuals)
        lines = [f"# fitted to {count} measured times of {name}; intervals at {self.level:.0%}"]
        lines += [f"# {p.name} is not determined by these rows: {p.note}" for p in open_]
        shares = {name: text for name, text in known.items() if name in EFFICIENCY}
        if any(p.held is None for p in open_):
            taken = {p.name: _number(p.name, p.held) for p in open_ if p.held is not None}
            shares = {"from": "measured", **shares, **taken}
        others = {name: text for name, text in known.items() if name not in EFFICIENCY}
        for key, members in (("efficiency", shares), ("set", others)):
            if members:
                pairs = ", ".join(f"{name}: {text}" for name, text in members.items())
                lines.append(f"{key}: {{{pairs}}}")
        return "\n".join(lines) + "\n"


UNDER_LOAD = (
    "are these times of a server under load? then a time between tokens holds prompts of other requests: "
    "write concurrency for batch, and the output"
)


def fit_warnings(
    parameters: Iterable[Parameter], residuals: Sequence[Residual], freedom: int
) -> list[str]:
    """Warnings about the fit."""
    few = "there are no more rows than parameters: the fit has no intervals and does not show how well it holds"
    warnings = [few] if freedom <= 0 else []
    far = [r for r in residuals if abs(r.relative) > LARGE]
    if far:
        lines = ", ".join(dict.fromkeys(str(r.measurement.line) for r in far))
        warnings.append(
            f"{len(far)} of {len(residuals)} times are more than {LARGE:.0%} off the fit (line {lines}): a single mfu and mbu does not describe them"
        )
    warnings += [
        f"{p.name} is not determined by these rows: {p.note}" for p in parameters if p.value is None
    ]
    warnings += [f"{p.name} is {p.note}" for p in parameters if p.value is not None and p.note]
    steps = [r.measurement for r in residuals if r.measurement.metric == "itl"]
    doubtful = far or any(p.high is not None and p.note for p in parameters)
    if doubtful and len({m.inputs.get("batch") for m in steps}) > 1:
        warnings.append(UNDER_LOAD)
    return warnings


def to_four_digits(value: float) -> Fraction:
    """A fitted number to four digits, exact from there on."""
    return Fraction(f"{value:.4g}")


EFFICIENCY = frozenset(symbol.name for symbol in GROUPS["efficiency"])
NARROW = 0.005
"""Half-width, as a share of the value, below which an interval is not written."""


def written(parameter: Parameter) -> str:
    """A value or a range as a study file takes it: ``0.52..0.58``, ``1.2 ms``."""
    value, low, high = parameter.value or 0.0, parameter.low, parameter.high
    if low is None or high is None or high - low <= 2 * NARROW * value:
        return _number(parameter.name, value)
    return _ends(parameter, "..")


def _ends(parameter: Parameter, between: str) -> str:
    """Both ends of an interval; empty if there is none."""
    if parameter.low is None or parameter.high is None:
        return ""
    ends = (_number(parameter.name, end) for end in (parameter.low, parameter.high))
    return between.join(ends)


def _summary(parameter: Parameter) -> str:
    """``mfu 0.55 (0.54 to 0.55)``."""
    if parameter.value is None:
        return f"{parameter.name} not determined"
    ends = _ends(parameter, " to ")
    value = f"{parameter.name} {_number(parameter.name, parameter.value)}"
    return f"{value} ({ends})" if ends else value


def _number(name: str, value: float) -> str:
    if name in SHARES:
        return f"{min(value, 1.0):.4g}"
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if value >= size:
            return f"{value / size:.4g} {unit}"
    return f"{value / 1e-6:.4g} us" if value else "0 s"
