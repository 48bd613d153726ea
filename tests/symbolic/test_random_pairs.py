"""A hundred equations that are in no book, solved, and scanned on their own: verdicts, places and closed forms must agree.

A seed draws a model, a device, a workload, switches, an equation between quantities of one unit, and an input that moves it.
"""

import math
import random
from functools import cache

import pytest

from symroof.analysis.solution_text import solution_json
from symroof.errors import InputError
from symroof.symbolic.evaluation import NoValue, evaluate
from symroof.symbolic.reading import LONGEST, parse
from symroof.theory.declarations import MissingInput
from symroof.theory.thresholds import THRESHOLDS
from symroof.units import is_whole
from tools.random_equations import SPANS, draw_case, draw_equation, movers, shared_out

from .scan import POLE, ROOT, Scan

pytestmark = pytest.mark.usefixtures("bounded")

SEEDS = 100
CLOSE = 1e-12
"""How near values read back are, as a share."""
LARGEST = {
    **dict.fromkeys(("mfu", "mbu", "memory_share"), lambda case: 1),
    "cached_prefix": lambda case: case.value("prompt"),
}
"""What an input cannot exceed: a share one, a cached prefix its prompt."""

TOGETHER = {frozenset((*t.equation.split(" = "), t.unknown)) for t in THRESHOLDS.values()}
"""Equations that have a name, with their unknowns: those are tested elsewhere."""


@cache
def draw(seed):
    """A random case, equation and unknown."""
    rng = random.Random(seed)
    while True:
        study = draw_case(rng)
        if not shared_out(study):
            continue
        equation = draw_equation(rng, study)
        found = movers(study, equation) if equation else []
        if not found:
            continue
        unknown = rng.choice(found)
        if frozenset((*equation.split(" = "), unknown)) in TOGETHER or "= 0 " in equation:
            continue
        try:
            return study, equation, unknown, scanned(study, equation, unknown)
        except MissingInput:  # splitting over devices whose link nobody gave
            continue


def scanned(study, equation, unknown):
    low, high = SPANS[unknown.partition(".")[0]]
    if unknown == "cached_prefix":
        high = float(study.value("prompt")) * (1 - 1e-9)
    if unknown == "prompt":
        low = max(low, float(study.value("cached_prefix")) * (1 + 1e-9))
    return Scan(study.first.case, equation, unknown, low, high, whole=unknown == "output")


@pytest.mark.sample(7)
@pytest.mark.parametrize("seed", range(SEEDS))
def test_solver_and_scan_agree(seed):
    study, equation, unknown, scan = draw(seed)
    label = f"{equation} for {unknown} of {study}, {study.first.assumptions.values}"
    try:
        solution = study.solve(equation, unknown)
    except InputError as error:
        assert "does not occur" in str(error), f"{label}: {error}"
        assert len({round(float(v), 30) for v in scan.left - scan.right}) == 1, f"{label}: {error}"
        return
    places = "".join(f"\n  {kind} from {a:.9g} to {b:.9g}" for a, b, kind in scan.changes)
    label += f":\n{solution.verdict} {solution.method} {[float(v) for v in solution.values]}{places}\n  signs {scan.runs()}"
    check_verdict(solution, scan, label)
    check_places(solution, scan, label)
    check_forms(study, equation, solution, scan, label)


def check_verdict(solution, scan, label):
    low, high = solution.domain
    signs = {
        scan.signs[i]
        for i in scan.known
        if low <= scan.xs[i] and (high is None or scan.xs[i] <= high)
    }
    if scan.everywhere:
        assert solution.verdict == "identical", label
    elif solution.verdict == "identical":
        raise AssertionError(label)
    if solution.verdict == "lhs_above":
        assert signs <= {1, 0}, label
    if solution.verdict == "lhs_below":
        assert signs <= {-1, 0}, label
    assert (solution.verdict == "crosses") == bool(solution.values), label
    most = LARGEST.get(solution.unknown, lambda case: math.inf)(scan.case)
    assert all(v <= most for v in solution.values), f"{label}\n{solution.unknown} is at most {most}"
    assert list(solution.values) == sorted(set(solution.values)) and all(
        v > 0 for v in solution.values
    ), label


def check_places(solution, scan, label):
    """Every turn of the sign holds a crossing, every crossing is a turn, a touch or the end of a stretch of equality."""
    low, high = scan.ends
    inside = [v for v in solution.values if low < v < high]
    for a, b, kind in scan.changes:
        if kind == POLE:
            continue
        assert any(a <= v <= b for v in inside), f"{label}\nnothing found from {a} to {b} ({kind})"
        if kind == ROOT and not any(p >= a and q <= b for p, q in scan.plateaus()):
            assert sum(a <= v <= b for v in inside) % 2 == 1, label
    for v in solution.values:
        if scan.whole and not is_whole(v):
            assert scan.sign(math.floor(v)) != scan.sign(math.ceil(v)), (
                f"{label}\n{float(v)} is no crossing"
            )
        elif not scan.meets(v):
            step = 1 if scan.whole else v / 10**9
            assert scan.sign(v - step) != scan.sign(v + step), (
                f"{label}\n{float(v)} is no crossing: residual {scan.residual(v)}"
            )


def check_forms(study, equation, solution, scan, label):
    """Closed forms as printed, read back, put in: no residual; and the conditions of those that hold, hold."""
    printed = solution_json(solution)
    for branch, entry in zip(solution.candidates.every, printed["branches"], strict=True):
        assert (
            all(condition["holds"] is True for condition in entry["conditions"]) or not branch.holds
        ), label
        if (
            not branch.holds
            or entry["closed_form"] is None
            or len(entry["closed_form"]["text"]) > LONGEST
        ):
            continue
        value = read_back(entry, study.first.case)
        assert abs(value / branch.value - 1) < CLOSE, label
        assert any(abs(value / v - 1) < CLOSE for v in solution.values), label
        if not scan.whole or is_whole(value):
            step = value / 10**9
            turns = scan.sign(value - step) != scan.sign(value + step)
            assert scan.meets(value) or turns, f"{label}\n{entry['closed_form']['text']}"


class WithCoefficients:
    """A case that also knows the coefficients named in ``where``."""

    axes, careful = 0, False

    def __init__(self, case, where):
        self.case, self.where = case, where

    def value(self, name):
        try:
            return self.case.value(name)
        except (LookupError, NoValue):
            return evaluate(parse(self.where[name]["text"]), self)

    def at(self, name, changes):
        return self.case.at(name, changes)


def read_back(entry, case):
    return evaluate(parse(entry["closed_form"]["text"]), WithCoefficients(case, entry["where"]))


@pytest.mark.full
def test_the_draws_are_varied():
    """The random pairs are not one kind of question: many unknowns, and every verdict that sides of different formulas can have."""
    drawn = [draw(seed) for seed in range(0, SEEDS, 5)]
    assert len({unknown for _, _, unknown, _ in drawn}) > 15
    turns = [len(scan.turns()) for *_, scan in drawn]
    assert min(turns) == 0 and max(turns) > 0 and 12 < sum(map(bool, turns)) < 54
