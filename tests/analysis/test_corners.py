"""Thresholds at the corners of ranges: those of studies that have the numbers of a corner and no ranges."""

from itertools import product

import pytest

from symroof.analysis.corners import at_corners, spread
from symroof.analysis.posed import Posed
from symroof.analysis.solution import trees
from symroof.analysis.solve import solve
from symroof.api import Study
from symroof.arrays.lower import Builder

EFFICIENCIES = {"mfu": ("0.4", "0.6"), "mbu": ("0.6", "0.9")}
CHUNKED = {
    "model": "llama-3-8b", "hardware": "h100-sxm", "prompt": 512, "output": 64, "batch": 8, "chunk": 256,
    "assume": {"scheduling": "chunked"}, "targets": {"itl": "8 ms"},
}  # fmt: skip


def ranged(case, spans):
    return Study(**case, **{name: "..".join(ends) for name, ends in spans.items()}).first


def alone(case, spans):
    """The case at each corner, without ranges."""
    return [Study(**case, **dict(zip(spans, ends, strict=True))).first for ends in product(*spans.values())]


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
    assert trees(solution).crossing.searched
    expected = [solve(equation, answers, unknown).values for answers in alone(CHUNKED, EFFICIENCIES)]
    together = at_corners(solution)
    assert [len(values) for values in together] == [len(values) for values in expected]
    for here, there in zip(together, expected, strict=True):
        assert all(abs(a - b) <= abs(b) / 10**25 for a, b in zip(here, there, strict=True))
    firsts = [values[0] for values in together if values]
    assert spread(solution) == ((min(firsts), max(firsts), len(firsts) == 4) if firsts else (None, None, True))


WINDOWED = CHUNKED | {"model": "gemma-3-1b", "output": 256, "chunk": 2048, "mfu": "0.5", "mbu": "0.7"}
LOAD = {"prompt": ("512", "4096"), "batch": ("4", "64")}


def counted(monkeypatch, owner, name):
    """The arguments of every call of a method from here on."""
    calls, method = [], getattr(owner, name)
    monkeypatch.setattr(owner, name, lambda self, *args: (calls.append(args), method(self, *args))[1])
    return calls


def test_corners_that_need_a_scan_are_scanned_together_and_lowered_once(monkeypatch):
    """In the middle of the ranges all steps of a response are of one kind and there is a closed form; at two corners they are of both.

    Equations whose unknown is a plain number share what is lowered: the second one lowers no more.
    """
    case = {name: value for name, value in WINDOWED.items() if name not in LOAD}
    answers, at_ends = ranged(case, LOAD), alone(case, LOAD)
    lowered, scanned = counted(monkeypatch, Builder, "value"), counted(monkeypatch, Posed, "scanned_in")
    for i, unknown in enumerate(("mem_bandwidth", "peak_flops")):
        solution = solve("sustained_itl = itl_target", answers, unknown)
        assert solution.method == "closed_form"
        together = at_corners(solution)
        assert (len(lowered), [len(cases) for (cases,) in scanned]) == (0 if i else 2, [2] * (i + 1))
        expected = [solve("sustained_itl = itl_target", each, unknown) for each in at_ends]
        lowered.clear()
        assert sorted(each.method for each in expected) == ["closed_form"] * 2 + ["numeric"] * 2
        for here, there in zip(together, expected, strict=True):
            assert len(here) == len(there.values) == 1
            assert abs(here[0] - there.value) <= there.value / 10**25
