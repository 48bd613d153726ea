"""Thresholds at the corners of ranges: those of studies that have the numbers of a corner and no ranges."""

from itertools import product

import pytest

from symroof.analysis.corners import at_corners, spread
from symroof.analysis.solution import trees
from symroof.analysis.solve import solve
from symroof.api import Study

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
