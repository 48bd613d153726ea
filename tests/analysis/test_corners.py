"""Thresholds at the corners of ranges: those of studies that have the numbers of a corner and no ranges."""

from fractions import Fraction
from itertools import product

import pytest

from symroof.analysis.corners import (
    at_corners,
    by_closed_form,
    crossing_spread,
    crossings_in,
    side_beyond,
)
from symroof.analysis.numeric_equation import NumericEquation
from symroof.analysis.solution import ABOVE, BELOW, formula_trees
from symroof.analysis.solve import solve
from symroof.api import Study
from symroof.formula.evaluate import evaluate
from symroof.formula.parse import parse

EFFICIENCIES = {"mfu": ("0.4", "0.6"), "mbu": ("0.6", "0.9")}
CHUNKED = {
    "model": "llama-3-8b", "hardware": "h100-sxm", "prompt": 512, "output": 64, "batch": 8, "chunk": 256,
    "assume": {"scheduling": "chunked"}, "targets": {"itl": "8 ms"},
}  # fmt: skip


def ranged(case, spans):
    return Study(**case, **{name: "..".join(ends) for name, ends in spans.items()}).first


def alone(case, spans):
    """The case at each corner, without ranges."""
    return [
        Study(**case, **dict(zip(spans, ends, strict=True))).first
        for ends in product(*spans.values())
    ]


@pytest.mark.parametrize(
    ("equation", "unknown"),
    [
        ("sustained_itl = itl_target", "batch"),
        ("sustained_itl = itl_target", "output"),  # exists from two tokens on only
        ("sustained_itl = itl_target/100", "batch"),  # nowhere
    ],
)
def test_crossings_at_corners_are_those_of_studies_without_ranges(equation, unknown):
    solution = solve(equation, ranged(CHUNKED, EFFICIENCIES), unknown)
    assert formula_trees(solution).crossing.searched
    expected = [
        solve(equation, answers, unknown).values for answers in alone(CHUNKED, EFFICIENCIES)
    ]
    together = at_corners(solution)
    assert [len(values) for values in together] == [len(values) for values in expected]
    for here, there in zip(together, expected, strict=True):
        assert all(abs(a - b) <= abs(b) / 10**17 for a, b in zip(here, there, strict=True))
    firsts = [values[0] for values in together if values]
    assert crossing_spread(solution) == (
        (min(firsts), max(firsts), len(firsts) == 4) if firsts else (None, None, True)
    )


@pytest.mark.parametrize(
    ("equation", "unknown"),
    [
        ("itl = itl_target", "context"),
        ("itl = itl_target", "step_overhead"),
        ("itl_last = itl_target", "mem_bandwidth"),
    ],
)
def test_a_range_of_heads_has_other_formulas_at_each_corner(equation, unknown):
    """Four and sixteen heads of the cache on eight devices: four are copied."""
    case, spans = CHUNKED | {"tp": 8}, {"n_kv_heads": ("4", "16"), "mbu": ("0.5", "0.9")}
    solution = solve(equation, ranged(case, spans), unknown)
    expected = [solve(equation, answers, unknown).values for answers in alone(case, spans)]
    assert all(
        abs(here[0] - there[0]) <= there[0] / 10**17
        for here, there in zip(at_corners(solution), expected, strict=True)
    )
    assert len(set(expected)) == 4


WINDOWED = CHUNKED | {
    "model": "gemma-3-1b",
    "output": 256,
    "chunk": 3000,
    "mfu": "0.5",
    "mbu": "0.7",
}
LOAD = {"prompt": ("512", "4096"), "batch": ("4", "64")}


def counted(monkeypatch, owner, name):
    """The arguments of every call of a method from here on."""
    calls, method = [], getattr(owner, name)
    monkeypatch.setattr(
        owner, name, lambda self, *args: (calls.append(args), method(self, *args))[1]
    )
    return calls


def test_corners_that_need_a_scan_are_scanned_together(monkeypatch):
    """In the middle of the ranges one step prefills the prompt and there is a closed form; at two corners it takes two steps, of both kinds."""
    case = {name: value for name, value in WINDOWED.items() if name not in LOAD}
    answers, at_ends = ranged(case, LOAD), alone(case, LOAD)
    scanned = counted(monkeypatch, NumericEquation, "crossings_by_scan")
    for i, unknown in enumerate(("mem_bandwidth", "peak_flops")):
        solution = solve("chunked_ttft = 40 ms", answers, unknown)
        assert solution.method == "closed_form"
        together = at_corners(solution)
        assert [len(cases) for (cases,) in scanned] == [2] * (i + 1)
        expected = [solve("chunked_ttft = 40 ms", each, unknown) for each in at_ends]
        assert sorted(each.method for each in expected) == ["closed_form"] * 2 + ["numeric"] * 2
        for here, there in zip(together, expected, strict=True):
            assert len(here) == len(there.values) == 1
            assert abs(here[0] - there.value) <= there.value / 10**17


ROOFS = {
    "params": 10**10,
    "peak_flops": "1000 TFLOP/s",
    "mem_bandwidth": "2 TB/s",
    "prompt": 1000,
    "assume": {"detail": "weights"},
}
"""A step of 10 ms for the weights, and of 20 µs a request."""
BY_HAND = {  # ranges, equation, unknown -> the crossings at each corner, where those have gone that there are none of
    # 500 times mfu over mbu
    "each": ({"mfu": "0.4..0.8", "mbu": "0.5..1"}, "batch_to_ridge", None, [[400], [200], [800], [400]], set()),
    "of the unknown itself": ({"mfu": "0.4..0.8", "mbu": "0.5..1", "batch": 600}, "decode_compute_time = decode_memory_time", "mbu", [], set()),
    "several": ({"gemm_n": "1..9"}, "(batch - 50*gemm_n)*(batch - 100) = 0", "batch", [[50, 100], [100, 450]], set()),
    # at half of the bandwidth a step takes 20 ms whatever the batch: it is missed from the first on
    "come before any": ({"mbu": "0.5..0.8"}, "itl = 16 ms", "batch", [[], [800]], {BELOW}),
    "come after any": ({"mbu": "0.5..0.8"}, "itl = 16 ms", "peak_flops", [[], ["1.25e12"]], {ABOVE}),
    # a share that grows towards one meets 0.39; the ends are -0.3, below all of it, and 1.08, above
    "gone to both ends": ({"mbu": "0.3..0.99"}, "batch/(batch + 10) = 2*mbu - 9/10", "batch", [[], []], {ABOVE, BELOW}),
    # of four times n: the line at four from n = 4 on, before that the square
    "on another arm": ({"gemm_n": "1..9"}, "max(batch*gemm_n, batch**2) = 4*gemm_n", "batch", [[2], [4]], set()),
    "by one condition of two": ({"gemm_n": "1..9"}, "max(batch*gemm_n, batch**2, 3) = 4*gemm_n", "batch", [[2], [4]], set()),
    "on no arm": ({"gemm_n": "1..9"}, "max(batch*gemm_n, 30) = 10*gemm_n", "batch", [[], [10]], {BELOW}),
    "where a root is negative": ({"gemm_n": "1..9"}, "batch + 2 = gemm_n", "batch", [[], [7]], {BELOW}),
    "where a root is zero": ({"gemm_n": "2..8"}, "batch + 2 = gemm_n", "batch", [[], [6]], {BELOW}),
    "at less than one": ({"gemm_n": "5..9"}, "batch + 2 = gemm_n/2", "batch", [["0.5"], ["2.5"]], set()),
    "nowhere, and beyond": ({"gemm_n": "5..9"}, "batch*(8 - gemm_n) = 1", "batch", [["1/3"], []], {ABOVE}),
    "the same up to there": ({"gemm_n": "1..9"}, "max(batch, gemm_n) = 5", "batch", [[5], []], set()),
    "as many as stands in the case": ({"mbu": "0.5..0.8", "batch": 3}, "itl = 16 ms", "batch", [[], [800]], {BELOW}),
    "without ranges": ({}, "itl = 16 ms", "batch", [[]], None),
}  # fmt: skip


@pytest.mark.sample(8)
@pytest.mark.parametrize("label", BY_HAND)
def test_corners_by_hand(label):
    ranges, equation, unknown, expected, gone = BY_HAND[label]
    solution = solve(equation, Study(**ROOFS, **ranges).first, unknown)
    corners = at_corners(solution)
    if gone is None:  # the case is its only corner, or has none
        assert all(values == solution.values for values in corners)
        return
    assert [len(values) for values in corners] == [len(values) for values in expected]
    for values, numbers in zip(corners, expected, strict=True):
        assert list(values) == list(map(Fraction, numbers))
    firsts = [values[0] for values in corners if values]
    assert crossing_spread(solution) == (
        (min(firsts), max(firsts), len(firsts) == len(corners)) if firsts else (None, None, True)
    )
    assert side_beyond(solution, solution.value) == gone


def test_crossings_of_one_solution_are_looked_for_once():
    solution = solve("itl = 16 ms", Study(**ROOFS, mbu="0.5..0.8").first, "batch")
    assert at_corners(solution) is at_corners(solution)
    assert at_corners(solve("itl = 17 ms", solution.bound_case, "batch"))[1] == (850,)
    assert crossings_in(solution, solution.bound_case.case.changed({"mbu": Fraction(7, 10)})) == (
        800,
    )
    assert (
        by_closed_form(solution, solution.bound_case.case.changed({"mbu": Fraction(1, 2)})) is None
    )


@pytest.mark.parametrize(
    ("n", "crossing"),
    [("9", "6"), ("4", "1"), ("7/2", "1/2"), ("4 - 1/1000", "999/1000"), ("3", None), ("2", None)],
)
def test_a_closed_form_gives_any_crossing_above_nothing(n, crossing):
    """``batch = n - 3``."""
    solution = solve("batch = gemm_n - 3", Study(gemm_n=7, prompt=100).first, "batch")
    at = solution.bound_case.case.changed({"gemm_n": evaluate(parse(n), {})})
    assert by_closed_form(solution, at) == (None if crossing is None else Fraction(crossing))
