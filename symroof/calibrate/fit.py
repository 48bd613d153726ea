"""Efficiencies and overheads fitted to measured latencies, with intervals and undetermined parameters: the terms of each time, then their least squares."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import sympy
from sympy import Symbol

from symroof.calibrate.benchmark_files import BLOCK, parse_printed, parse_report
from symroof.calibrate.calibration_result import (
    Calibration,
    Parameter,
    Residual,
    fit_warnings,
    to_four_digits,
)
from symroof.calibrate.least_squares import Array, LeastSquares, solve, squares, times
from symroof.calibrate.measurements import LOOP, METRICS, MeasuredLatency, parse_measured
from symroof.cases.bound_case import BoundCase
from symroof.cases.checks import check_changed
from symroof.errors import InputError, NoValue, Problem, nearest
from symroof.strict_yaml import read_text
from symroof.symbolic.expressions import Expr
from symroof.symbolic.searches import t_quantile
from symroof.theory.case import Case
from symroof.theory.theory import Theory
from symroof.theory.theory_files import listed
from symroof.units import format_quantity

UNDER_LOAD = "times between tokens under load are fitted as those of a closed loop: a step, and its part of the prompts of others"
LEVEL = 0.95
"""Level of every interval: Student's t; the degrees of freedom are rows minus parameters."""
DEPENDENT = 1e-7
"""Singular values below this share of the largest count as undetermined directions."""
SAME = 1e-9
"""Ratios that differ by less than this share are equal but for rounding."""
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


def calibrate(
    path: str | os.PathLike[str], answers: BoundCase, fit: Sequence[str] | None = None
) -> Calibration:
    """Fit efficiencies and overheads to the latencies in a CSV file, a benchmark's JSON or what it printed; rows override inputs of a case.

    Raises:
        InputError: every problem of the file; a row faster than the roof; a missing input.
    """
    own = {name: value for name, value in answers.given.items() if not value.measured}
    answers = answers.with_changes(given=own)  # what others measured is no part of these rows
    names = fit_parameters(fit if fit is not None else DEFAULT_FIT, answers.case.theory)
    text, theory = read_text(path), answers.case.theory
    if text.lstrip().startswith(("{", "[")):
        measured, unused = parse_report(text, str(path))
    elif BLOCK.search(text):
        measured, unused = parse_printed(text, str(path))
    else:
        measured, unused = parse_measured(text, str(path), names, theory.own)
    rows = _terms(measured, answers, names, str(path))
    given = [name for name in names if name in answers.given]
    notes = [f"{name} is ignored, because it is fitted" for name in given]
    notes += [*_memory_warning(measured, answers), *unused]
    if any(m.metric == LOOP for m in measured):
        notes.append(UNDER_LOAD)
    if fit is None:  # of the usual overheads, in their order, a step's and a link's
        ratios = [row.rates[1] / row.rates[0] for row in rows if row.rates[0]]
        if not ratios or max(ratios) - min(ratios) <= SAME * max(ratios):  # no links, or one group
            names = tuple(name for name in names if name != "link_latency")
            rows = _terms(measured, answers, names, str(path))
    return _fitted(str(path), answers, measured, rows, names, notes, chosen=fit is not None)


def _terms(
    measured: Sequence[MeasuredLatency], answers: BoundCase, fit: Sequence[str], file: str
) -> list[TimeTerms]:
    """The terms of every row.

    Raises:
        InputError: every row that lacks an input or is faster than the roof.
    """
    rows: list[TimeTerms] = []
    problems: dict[Problem, None] = {}  # a row with two times reports a problem once
    for m in measured:
        fault = hint = ""
        try:
            check_changed(answers, m.inputs, file)
            rows.append(made := terms(answers.case, m, fit))
            if m.seconds < made.roof:
                taken, least = (format_quantity(x, "s") for x in (m.seconds, made.roof))
                fault = f"impossible: above the {made.label} roof: {taken} measured, at least {least} at 100 % of peak"
                hint = "check model, device, precision, tp and cached prefix of this row, and that no time was left out"
        except InputError as error:
            for each in error.problems:
                problems[replace(each, line=m.line, column=1, source=m.source)] = None
        except NoValue as error:
            fault = f"{m.metric} {error}"
            hint = "add a column, or give it in the study or as a command-line option"
        if fault:
            problems[Problem(file, fault, m.line, m.column, m.metric, hint, m.source)] = None
    if problems:
        raise InputError(problems)
    return rows


def _memory_warning(measured: Sequence[MeasuredLatency], answers: BoundCase) -> list[str]:
    """Rows that were measured though memory would not hold them: something about the case is wrong."""
    lines: dict[str, None] = {}
    for m in measured:
        with suppress(NoValue):
            if answers.case.changed(m.inputs).value("fits") is False:
                lines[str(m.line)] = None
    rows = ", ".join(lines)
    message = f"was measured, but does not fit in memory by this case (line {rows}): is the model, precision or tp right?"
    return [message] if lines else []


# ---------------------------------------------------------------------------------------------------------- the fit


def _problem(
    measured: Sequence[MeasuredLatency],
    terms: list[TimeTerms],
    fit: Sequence[str],
    answers: BoundCase,
) -> LeastSquares:
    overheads = [name for name in fit if name in OVERHEADS]
    arms = [(row, float(c), float(m)) for row, made in enumerate(terms) for c, m in made.arms]
    full = [1.0 if name in fit else 1 / float(answers.case.value(name)) for name in SHARES]
    return LeastSquares(
        measured=np.array([float(m.seconds) for m in measured]),
        row=np.array([row for row, _, _ in arms], dtype=np.intp),
        compute=np.array([c for _, c, _ in arms]),
        memory=np.array([m for _, _, m in arms]),
        rates=np.array([made.rates for made in terms], float).reshape(len(terms), len(overheads)),
        fixed=np.array([float(made.fixed) for made in terms]),
        least=np.array([*full, *(0.0 for _ in overheads)]),
        held=np.array([*(name not in fit for name in SHARES), *(False for _ in overheads)]),
    )


def _fitted(
    file: str,
    answers: BoundCase,
    measured: list[MeasuredLatency],
    terms: list[TimeTerms],
    fit: Sequence[str],
    notes: list[str],
    chosen: bool,
) -> Calibration:
    """The fit of ``fit``; ``chosen`` where somebody named these parameters, none of which is then left out because rows are alike."""
    names = [*SHARES, *(name for name in fit if name in OVERHEADS)]
    rows, point, untold = _solved(_problem(measured, terms, fit, answers), names, fit, chosen)
    columns = rows.columns(point[1] / point[0])
    moves = [i for i, name in enumerate(names) if name in fit and name not in untold]
    spread, undetermined, rank = _spread(columns[:, moves])
    freedom = len(measured) - rank
    deviation = math.sqrt(squares(rows, point) / freedom) if freedom > 0 else None
    reach = t_quantile(LEVEL, freedom) * deviation if deviation is not None else None
    unclear = [names[i] for k, i in enumerate(moves) if undetermined[k]]
    found = {}
    for k, i in enumerate(moves):
        off = None if reach is None else reach * float(spread[k])
        found[names[i]] = _parameter(names[i], float(point[i]), off, float(rows.measured.min()))
    for name in (*unclear, *untold):
        column = columns[:, names.index(name)] * (name not in untold)
        why = _why_undetermined(name, column, [*unclear, *untold], rows, point)
        note = untold.get(name) or why
        held = None if name in SHARES or name not in untold else 0.0
        found[name] = Parameter(name, None, note=note, held=held)
    parameters = tuple(found[name] for name in names if name in fit)
    residuals = tuple(
        Residual(m, float(t), _limiting_resource(made, point))
        for m, t, made in zip(measured, times(rows, point), terms, strict=True)
    )
    warnings = (*notes, *fit_warnings(parameters, residuals, freedom))
    fitted = (parameters, residuals, freedom, LEVEL, deviation)
    return Calibration(*fitted, warnings, answers, file)


NEAR = 0.25
"""A share is not fitted where its time at full efficiency is below this part of the other's in every row: a fit could only make it up."""
ALIKE = 0.02
"""Rows whose columns differ by less than this part tell one number."""


def _solved(
    rows: LeastSquares, names: Sequence[str], fit: Sequence[str], chosen: bool
) -> tuple[LeastSquares, Array, dict[str, str]]:
    """The rows with what they do not tell held, their best point, and why that is held; an empty reason where it is that no row is limited by it."""
    untold: dict[str, str] = {}
    if not set(SHARES) - set(fit):
        own = {"mfu": (rows.compute, rows.memory), "mbu": (rows.memory, rows.compute)}
        untold |= {name: "" for name, (mine, other) in own.items() if (mine < NEAR * other).all()}
    while True:
        held = replace(rows, held=rows.held | np.array([name in untold for name in names]))
        point = solve(held)
        columns = held.columns(point[1] / point[0])[:, ~held.held]
        size = np.linalg.norm(columns, axis=0)
        values = np.linalg.svd(columns[:, size > 0] / size[size > 0], compute_uv=False)
        overheads = [name for name in names if name in OVERHEADS and name not in untold]
        if chosen or not overheads or (len(values) and values.min() > ALIKE * values.max()):
            return held, point, untold
        others = " and ".join(x for x in names if x in SHARES and x in fit and x not in untold)
        untold[overheads[-1]] = (
            f"taken as 0: rows so alike tell one number; measure other prompts and batches to tell it from {others}"
        )


def _spread(columns: Array) -> tuple[Array, list[bool], int]:
    """The change of each parameter per unit of residual, which ones are undetermined, and the rank."""
    size = np.linalg.norm(columns, axis=0)
    safe = np.where(size > 0, size, 1)
    _, values, directions = np.linalg.svd(columns / safe, full_matrices=True)
    values = np.concatenate((values, np.zeros(len(directions) - len(values))))
    lost = values <= DEPENDENT * max(values.max(initial=0), DEPENDENT)
    inverse = np.where(lost, 0, 1 / np.where(lost, 1, values))
    undetermined = (np.abs(directions[lost]) > math.sqrt(DEPENDENT)).any(axis=0) | (size == 0)
    spread = np.sqrt(((directions * inverse[:, None]) ** 2).sum(axis=0)) / safe
    return spread, list(undetermined), int((~lost).sum())


WIDE, LITTLE = 0.5, 0.1
"""A share is not determined where it can be off by more than this part of it, an overhead where it can be nothing and can be
more than this part of the shortest time."""


def _parameter(
    name: str, value: float, reach: float | None, shortest: float = math.inf
) -> Parameter:
    """A parameter with its interval; a share is the reciprocal of the fitted value, its interval linearised."""
    if name in SHARES:
        value, reach = 1 / value, None if reach is None else reach / value**2
    most = 1.0 if name in SHARES else math.inf
    at_limit = (name in SHARES and value >= 1) or (name not in SHARES and value <= 0)
    note = "at its limit: the rows imply more than is possible" if at_limit else ""
    if reach is None:
        return Parameter(name, value, note=note)
    low, high = max(value - reach, 0.0), min(value + reach, most)
    wide = reach > WIDE * value if name in SHARES else low == 0 and reach > LITTLE * shortest
    if wide:
        ends = f"{low:.2g} to {high:.2g}"
        if name not in SHARES:
            ends = f"0 s to {format_quantity(to_four_digits(high), 's')}"
        return Parameter(name, None, low, high, f"its interval is {ends}")
    return Parameter(name, value, low, high, note)


NO_ROW = {
    "mfu": "no row is limited by compute",
    "mbu": "no row is limited by memory",
    "link_latency": "no row crosses a link",
}


def _why_undetermined(
    name: str, column: Array, others: list[str], rows: LeastSquares, point: Array
) -> str:
    """Why the rows do not determine a parameter, and the bound they give."""
    if column.any():
        return f"these rows cannot separate it from {' and '.join(other for other in others if other != name)}"
    why = NO_ROW.get(name, "no row depends on it")
    if name not in SHARES or any(other in others for other in SHARES if other != name):
        return why
    arm, against = rows.compute, rows.memory * point[1]
    if name == "mbu":
        arm, against = rows.memory, rows.compute * point[0]
    least = float((arm[against > 0] / against[against > 0]).max(initial=0.0))
    return f"{why}; it is at least {least:.2g}" if 0 < least < 1 else why


def _limiting_resource(made: TimeTerms, point: Array) -> str:
    """The resource that most of a row's fitted roofline time is spent on."""
    times = [(float(c) * point[0], float(m) * point[1]) for c, m in made.arms]
    compute = sum(c for c, m in times if c >= m)
    return "compute" if compute >= sum(m for c, m in times if c < m) else "memory"
