"""What a measured time is made of, from the theory: arms of maxima at full efficiency, and how each overhead enters."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from symroof.calibrate.measurements import METRICS, Measurement
from symroof.errors import InputError, Problem, nearest
from symroof.formula.tree import Call, Name, Tree
from symroof.solver.rational import terms_of
from symroof.theory.case import Case
from symroof.theory.symbols import INPUTS
from symroof.theory.theory import Theory

SHARES = ("mfu", "mbu")
OVERHEADS = ("step_overhead", "layer_overhead", "link_latency", "prefill_overhead", "queue_time")
"""What can be fitted beside the shares: each enters a time in proportion."""
DEFAULT_FIT = ("mfu", "mbu", "step_overhead", "link_latency")

NOT_LINEAR = {"launches": "hidden"}
"""Counting choices under which an overhead is an arm of a maximum of its own; no fit is offered there."""


@dataclass(frozen=True)
class Terms:
    """A time as ``sum(max(compute/mfu, memory/mbu)) + sum(rate*overhead) + fixed``, everything at full efficiency.

    Attributes:
        arms: pairs of a compute and a memory time; one of a pair is 0 where the roofline adds instead of overlapping.
        rates: seconds for one second of each fitted overhead.
        fixed: what none of the fitted parameters moves: bytes over links, overheads that are held.
        label: what binds at the peak.
    """

    arms: tuple[tuple[Fraction, Fraction], ...]
    rates: tuple[Fraction, ...]
    fixed: Fraction
    label: str

    @property
    def roof(self) -> Fraction:
        """The least time the theory allows: both shares 1, every fitted overhead 0."""
        return sum((max(pair) for pair in self.arms), self.fixed)


def chosen(fit: Sequence[str], theory: Theory) -> tuple[str, ...]:
    """The parameters to fit, in their own order.

    Raises:
        InputError: one that cannot be fitted, or a counting choice that the fit does not support.
    """
    known = (*SHARES, *OVERHEADS)
    problems = [Problem("fit", f"{name[:40]!r} cannot be fitted", hint=nearest(name, known)) for name in fit if name not in known]
    problems += [
        Problem("assume", f"{switch}={value} makes the overhead an arm of a maximum; calibrate under another choice", path=switch)
        for switch, value in NOT_LINEAR.items()
        if theory.assumptions[switch] == value
    ]
    if not fit:
        problems.append(Problem("fit", "nothing to fit", hint=f"any of {', '.join(known)}"))
    if problems:
        raise InputError(problems)
    return tuple(name for name in known if name in fit)


def terms(case: Case, measured: Measurement, fit: Sequence[str]) -> Terms:
    """The terms of a measurement's time under a theory with values.

    Raises:
        InputError: a part of the time has a number, so there is nothing left to fit.
        NoValue: an input is missing.
    """
    step, metric = METRICS[measured.metric], measured.metric
    _check_free(case, step, metric)
    overheads = [name for name in fit if name in OVERHEADS]
    zero, one = Fraction(0), Fraction(1)
    full = case.changed({**measured.inputs, **dict.fromkeys(SHARES, one), **dict.fromkeys(overheads, zero)})
    total, roofline = full.value(metric), full.value(f"{step}_roofline_time")
    rates = tuple(full.changed({name: one}).value(metric) - total for name in overheads)
    arms = tuple(_arms(full, term) for term in terms_of(full.formula(f"{step}_roofline_time")))
    return Terms(arms, rates, total - roofline, full.value(f"{step}_bound"))


def _check_free(case: Case, step: str, metric: str) -> None:
    """A time with a number of its own has no roof to compare with."""
    parts = (metric, "prefill_time", *(f"{step}_{part}" for part in ("roofline_time", "compute_time", "memory_time", "link_time")))
    fixed = [name for name in parts if name in case.given]
    if fixed:
        raise InputError(
            Problem("given", "is given a number, so there is nothing to fit", path=fixed[0], hint="leave it out of the study and the command line")
        )


def _arms(case: Case, term: Tree) -> tuple[Fraction, Fraction]:
    """The compute and memory time of one term of a roofline: both arms of a maximum, or a time that stands alone."""
    sides = term.args if isinstance(term, Call) else (term,)
    times = {"compute": Fraction(0), "memory": Fraction(0)}
    for side in sides:
        kind = next((kind for kind in times if isinstance(side, Name) and f"_{kind}_time" in side.name), None)
        if kind is None:
            raise InputError(Problem("roofline", "is not a maximum or a sum of a compute and a memory time here", path="roofline"))
        times[kind] = case.evaluate(side)
    return times["compute"], times["memory"]


def unit(name: str) -> str:
    """The unit of a parameter."""
    return INPUTS[name].unit if name in INPUTS else "s"
