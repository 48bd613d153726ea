"""Differences of two sides in floats: right in sign, silent where floats show none, and shared wherever one set of array operations serves."""

import math
from fractions import Fraction

import pytest

from symroof.analysis.rough_difference import RoughDifferences, in_floats
from symroof.api import Study
from symroof.formula.parse import parse

ROOFS = {
    "params": 10**10,
    "peak_flops": "1000 TFLOP/s",
    "mem_bandwidth": "2 TB/s",
    "prompt": 1000,
    "assume": {"detail": "weights"},
}
"""A step of 10 ms for the weights, and of 20 µs a request."""
SIDES = parse("decode_compute_time = decode_memory_time")


def at(differences, unknown, points, case, relation=SIDES):
    return differences.at(relation, unknown, points, differences.places([case], unknown))


@pytest.fixture(scope="module")
def plain():
    return Study(**ROOFS).first


@pytest.fixture(scope="module")
def ranged():
    return Study(**ROOFS, mbu="0.5..0.8", mfu="0.4..1").first


def test_left_less_right(plain):
    """250 requests take 5 ms of arithmetic, a thousand 20 ms; at 500 both take 10 ms, to the last digit or not."""
    below, equal, above = at(
        RoughDifferences.of("batch", plain), "batch", [250, 500, 1000], plain.case
    )
    assert (below, above) == (pytest.approx(-5e-3), pytest.approx(10e-3)) and math.isnan(equal)
    near = at(
        RoughDifferences.of("batch", plain),
        "batch",
        [500 * (1 + 1e-12), 500 * (1 - 1e-12), 500 * (1 + 1e-8), 500 * (1 - 1e-8)],
        plain.case,
    )
    assert [math.isnan(value) for value in near] == [True, True, False, False]
    assert near[2] > 0 > near[3]


def test_where_there_is_no_value_nothing_is_shown(plain):
    for relation in ("decode_compute_time = itl_target", "instance_price = 1 USD/hour"):
        assert all(
            map(
                math.isnan,
                at(
                    RoughDifferences.of("batch", plain),
                    "batch",
                    [1, 2, 3],
                    plain.case,
                    parse(relation),
                ),
            )
        )
    (pole, beside) = at(
        RoughDifferences.of("batch", plain), "batch", [2, 3], plain.case, parse("1/(batch - 2) = 0")
    )
    assert math.isnan(pole) and beside == 1


def test_plain_numbers_are_unknowns_together(plain, ranged):
    """One set of operations for bandwidth and arithmetic; a count has its own. Ranges that floats hold are places like others."""
    shared = RoughDifferences.of("mem_bandwidth", plain)
    assert shared is RoughDifferences.of("peak_flops", plain) and {
        "mem_bandwidth",
        "peak_flops",
    } <= set(shared.inputs)
    counted = RoughDifferences.of("batch", plain)
    assert counted is not shared and counted.inputs == ("batch",) and not shared.ranged
    within = RoughDifferences.of("batch", ranged)
    assert set(within.inputs) == {"batch", "mbu", "mfu"} and within.ranged
    assert RoughDifferences.of("mem_bandwidth", ranged).ranged
    nodes = Study(**ROOFS, node_devices="1..4").first
    assert (
        RoughDifferences.of("batch", nodes).inputs == ("batch",)
        and not RoughDifferences.of("batch", nodes).ranged
    )


def test_many_places_at_once(ranged):
    """The corners: the weights take 20 or 12.5 ms, a request 50 or 20 µs."""
    differences, corners = RoughDifferences.of("batch", ranged), ranged.corners
    places = differences.places(corners, "batch")
    values = differences.at(SIDES, "batch", [100] * len(corners), places, range(len(corners)))
    each = [
        Fraction(100) * Fraction(20, 10**6) / case.value("mfu")
        - Fraction(1, 100) / case.value("mbu")
        for case in corners
    ]
    assert values == [pytest.approx(float(value)) for value in each] and len(set(values)) == 4
    assert at(differences, "batch", [100], ranged.case) == [pytest.approx(2e-3 / 0.7 - 1e-2 / 0.65)]


@pytest.mark.parametrize(
    ("value", "holds"),
    [
        ("0.1", True),
        ("0.7", True),
        ("1", True),
        ("0", True),
        ("1/3", False),
        ("123456789012345678901", False),
    ],
)
def test_numbers_that_a_float_is_written_as(value, holds):
    assert in_floats(Fraction(value)) is holds
