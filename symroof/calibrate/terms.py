"""The terms of a measured time: arms of maxima at full efficiency, and the coefficient of each overhead."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import sympy
from sympy import Symbol

from symroof.calibrate.measurements import LOOP, METRICS, MeasuredLatency
from symroof.errors import InputError, Problem, nearest
from symroof.symbolic.expressions import Expr
from symroof.theory.case import Case
from symroof.theory.symbols import INPUTS
from symroof.theory.theory import Theory
from symroof.theory.theory_files import listed

SHARES = listed("moving", "shares")
OVERHEADS = listed("moving", "overheads")
"""Overheads that can be fitted; each enters a time linearly."""
DEFAULT_FIT = ("mfu", "mbu", "step_overhead", "link_latency")


@dataclass(frozen=True)
class TimeTerms:
    """A time as ``sum(max(compute/mfu, memory/mbu)) + sum(rate*overhead) + fixed``, everything at full efficiency.

    Attributes:
        arms: pairs of a compute and a memory time; one is 0 if the roofline adds them instead of overlapping.
        rates: seconds per second of each fitted overhead.
        fixed: time independent of the fitted parameters: link transfers, fixed overheads.
        label: the bound at 100 % of peak.
    """

    arms: tuple[tuple[Fraction, Fraction], ...]
    rates: tuple[Fraction, ...]
    fixed: Fraction
    label: str

    @property
    def roof(self) -> Fraction:
        """The lower bound: both shares 1, every fitted overhead 0."""
        return sum((max(pair) for pair in self.arms), self.fixed)


def fit_parameters(fit: Sequence[str], theory: Theory) -> tuple[str, ...]:
    """The parameters to fit, in canonical order.

    Raises:
        InputError: one that cannot be fitted, or a counting choice that the fit does not support.
    """
    known = (*SHARES, *OVERHEADS)
    problems = [
        Problem("fit", f"{name[:40]!r} cannot be fitted", hint=nearest(name, known))
        for name in fit
        if name not in known
    ]
    if theory.assumptions["launches"] == "hidden":
        message = (
            "launches=hidden makes the overhead an arm of a maximum; calibrate under another choice"
        )
        problems.append(Problem("assume", message, path="launches"))
    if not fit:
        problems.append(Problem("fit", "nothing to fit", hint=f"any of {', '.join(known)}"))
    if problems:
        raise InputError(problems)
    return tuple(name for name in known if name in fit)


def terms(case: Case, measured: MeasuredLatency, fit: Sequence[str]) -> TimeTerms:
    """The terms of a measurement's time.

    Raises:
        InputError: a part of the time is given, so there is nothing to fit.
        NoValue: an input is missing.
    """
    if measured.metric == LOOP:
        return _of_loop(case, measured, fit)
    step, metric = METRICS[measured.metric], measured.metric
    parts = (f"{step}_{part}_time" for part in ("roofline", "compute", "memory", "link"))
    fixed = [name for name in (metric, "prefill_time", *parts) if name in case.given]
    if fixed:
        message = "is given a number, so there is nothing to fit"
        hint = "leave it out of the study and the command line"
        raise InputError(Problem("given", message, path=fixed[0], hint=hint))
    overheads = [name for name in fit if name in OVERHEADS]
    zero, one = Fraction(0), Fraction(1)
    full = case.changed(
        {**measured.inputs, **dict.fromkeys(SHARES, one), **dict.fromkeys(overheads, zero)}
    )
    total, roofline = full.value(metric), full.value(f"{step}_roofline_time")
    rates = tuple(full.changed({name: one}).value(metric) - total for name in overheads)
    arms = tuple(
        _arms(full, term) for term in sympy.Add.make_args(full.formula(f"{step}_roofline_time"))
    )
    return TimeTerms(arms, rates, total - roofline, full.value(f"{step}_bound"))


WAIT = "queue_time"


def _of_loop(case: Case, measured: MeasuredLatency, fit: Sequence[str]) -> TimeTerms:
    """The mean time between tokens of a closed loop: a step in the middle of the response, and its part of the other slots' prompts, one each."""
    here = case.changed(measured.inputs)
    batch, prompt, output, at_once = (
        here.value(name) for name in ("batch", "prompt", "output", "prefill_batch")
    )
    middle = {**measured.inputs, "context": Fraction(round(prompt + output / 2))}
    step = terms(case, replace(measured, metric="itl", inputs=middle), fit)
    if output <= 1 or batch <= at_once:
        return step
    share = (batch / at_once - 1) / (output - 1)
    alone = {**measured.inputs, WAIT: Fraction(0)}
    own = terms(case, replace(measured, metric="ttft", inputs=alone), fit)
    overheads = (name for name in fit if name in OVERHEADS)
    rates = (  # a prompt that waits takes no time of the step
        a + share * b * (name != WAIT)
        for a, b, name in zip(step.rates, own.rates, overheads, strict=True)
    )
    arms = (*step.arms, *((share * compute, share * memory) for compute, memory in own.arms))
    return TimeTerms(arms, tuple(rates), step.fixed + share * own.fixed, step.label)


def _arms(case: Case, term: Expr) -> tuple[Fraction, Fraction]:
    """The compute and memory time of one roofline term: both arms of a maximum, or a single time."""
    sides = term.args if isinstance(term, sympy.Max) else (term,)
    times = {"compute": Fraction(0), "memory": Fraction(0)}
    for side in sides:
        name = side.name if isinstance(side, Symbol) else ""
        kind = next((kind for kind in times if f"_{kind}_time" in name), None)
        if kind is None:
            message = "is not a maximum or a sum of a compute and a memory time here"
            raise InputError(Problem("roofline", message, path="roofline"))
        times[kind] = case.evaluate(side)
    return times["compute"], times["memory"]


def unit_of(name: str) -> str:
    """The unit of a parameter."""
    return INPUTS[name].unit if name in INPUTS else "s"
