"""What a fit says: numbers and ranges at the edges of their forms, warnings at their limits, the block of a study, every word of it."""

from fractions import Fraction

import pytest

from symroof.calibrate.calibration_result import (
    Calibration,
    Parameter,
    Residual,
    fit_warnings,
    to_four_digits,
    written,
)
from symroof.calibrate.measurements import MeasuredLatency


def residual(line, measured, fitted):
    return Residual(MeasuredLatency("itl", Fraction(measured), {}, line, 1), fitted, "memory")


def fit(*parameters, file="a/b.csv", rows=3):
    return Calibration(
        parameters, tuple(residual(i, 1, 1.0) for i in range(rows)), 1, 0.95, 0.01, (), None, file
    )


@pytest.mark.sample(8)
@pytest.mark.parametrize(
    ("parameter", "text"),
    [
        (Parameter("mfu", 0.123456), "0.1235"),
        (Parameter("mfu", 1.00004), "1"),
        (Parameter("step_overhead", 1.0), "1 s"),
        (Parameter("step_overhead", 0.99994), "999.9 ms"),
        (Parameter("step_overhead", 1e-3), "1 ms"),
        (Parameter("step_overhead", 0.99e-3), "990 us"),
        (Parameter("step_overhead", 1e-6), "1 us"),
        (Parameter("step_overhead", 2.5e-7), "0.25 us"),
        (Parameter("step_overhead", 0.0), "0 s"),
        (Parameter("mfu", 0.5, 0.4, 0.6009), "0.4..0.6009"),  # the middle is not quite 0.1 % off
        (Parameter("mfu", 0.5, 0.4, 0.6011), "0.5"),
        (Parameter("mfu", 0.5, 0.4, 0.5991), "0.4..0.5991"),
        (Parameter("mfu", 0.5, 0.4, 0.5989), "0.5"),
        (Parameter("mfu", 0.5, 0.4975, 0.5025), "0.5"),  # half a percent to either side
        (Parameter("mfu", 0.5, 0.497, 0.503), "0.497..0.503"),
        (Parameter("mfu", 0.5, 0.0, 1.0), "0.5"),
        (Parameter("step_overhead", 0.5, 0.0, 1.0), "0 s..1 s"),
        (Parameter("mfu", 0.5, None, 0.6), "0.5"),
        (Parameter("mfu", 0.5, 0.4, None), "0.5"),
    ],
)
def test_a_parameter_as_a_study_takes_it(parameter, text):
    assert written(parameter) == text


@pytest.mark.parametrize(
    ("value", "exact"),
    [(0.54876, Fraction(5488, 10000)), (1234567.0, Fraction(1235000)), (7e-6, Fraction(7, 10**6))],
)
def test_four_digits_are_exact_from_there_on(value, exact):
    assert to_four_digits(value) == exact


def test_an_interval_of_every_share_tells_nothing():
    known = [
        Parameter("mbu", 0.5, low, high).any_share
        for low, high in ((0.0, 1.0), (0.0, 0.99), (0.01, 1.0))
    ]
    assert known == [True, False, False]
    assert not Parameter("step_overhead", 0.5, 0.0, 1.0).any_share


def test_the_block_of_a_study_word_by_word():
    """Efficiencies and what is set apart; what is not determined, and intervals that cannot be written as a range, stand in comments."""
    made = fit(
        Parameter("mfu", None, note="no row is limited by compute"),
        Parameter("mbu", 0.8, 0.7, 0.9),
        Parameter("step_overhead", 2e-3, 0.0, 9e-3),
        Parameter("layer_overhead", 1e-5, 0.99999e-5, 1.00001e-5),
        Parameter("link_latency", 5e-6, 4e-6, 6e-6),
        Parameter("queue_time", 0.5),
        file="C:\\runs\\my\u0007file.csv",
    )
    assert made.block().splitlines() == [
        "# fitted to 3 measured times of my?file.csv; intervals at 95%",
        "# mfu is not determined by these rows",
        "# step_overhead lies between 0 s and 9 ms",
        "efficiency: {mbu: 0.7..0.9, step_overhead: 2 ms, layer_overhead: 10 us, queue_time: 500 ms}",
        "set: {link_latency: 4 us..6 us}",
    ]
    assert fit(Parameter("mbu", 0.8, 0.0, 1.0)).block().splitlines()[1:] == [
        "# mbu lies between 0 and 1; not known",
        "efficiency: {mbu: 0.8}",
    ]
    assert (
        fit(Parameter("link_latency", 1e-6), file="x" * 100).block()
        == f"# fitted to 3 measured times of {'x' * 80}; intervals at 95%\nset: {{link_latency: 1 us}}\n"
    )


def test_a_fit_in_a_line():
    made = fit(
        Parameter("mfu", None),
        Parameter("mbu", 0.8, 0.7, 0.9),
        Parameter("step_overhead", 1e-3),
        Parameter("queue_time", 1e-3, None, 1.0),
        Parameter("link_latency", 1e-3, 0.0),
    )
    assert (
        repr(made)
        == "<Calibration of 3 times: mfu not determined, mbu 0.8 (0.7 to 0.9), step_overhead 1 ms, queue_time 1 ms, link_latency 1 ms>"
    )
    assert made["mbu"].value == 0.8


NOTHING = "there are no more rows than parameters: the fit has no intervals and does not show how well it holds"


@pytest.mark.parametrize(("freedom", "says"), [(-1, [NOTHING]), (0, [NOTHING]), (1, [])])
def test_no_more_rows_than_parameters(freedom, says):
    assert fit_warnings([], [], freedom) == says


@pytest.mark.parametrize(("fitted", "far"), [(1.0, 0), (1.19, 0), (1.25, 1), (0.81, 0), (0.75, 1)])
def test_a_row_more_than_a_fifth_off_is_pointed_at(fitted, far):
    """Each line once, though both of its times are off; a fifth itself is none."""
    rows = [residual(7, 1, fitted), residual(7, 1, fitted), residual(9, 2, 2.0)]
    expected = (
        [
            "2 of 3 times are more than 20% off the fit (line 7): a single mfu and mbu does not describe them"
        ]
        if far
        else []
    )
    assert fit_warnings([], rows, 5) == expected
    several = fit_warnings([], [residual(n, 1, 2.0) for n in (3, 5, 3)], 5)
    assert several == [
        "3 of 3 times are more than 20% off the fit (line 3, 5): a single mfu and mbu does not describe them"
    ]


def test_residuals_are_of_the_measured_time():
    assert [residual(1, 4, fitted).relative for fitted in (5.0, 4.0, 3.0)] == [0.25, 0, -0.25]


@pytest.mark.parametrize(
    ("parameter", "says"),
    [
        (
            Parameter("mfu", None, note="no row is limited by compute"),
            ["mfu is not determined by these rows: no row is limited by compute"],
        ),
        (Parameter("mfu", 1.0, 0.9, 1.0, "at its limit"), ["mfu is at its limit"]),
        (
            Parameter("mbu", 0.5, 0.0, 0.9),
            ["the interval of mbu reaches down to 0: these rows hardly determine it"],
        ),
        (Parameter("mbu", 0.5, 0.01, 0.9), []),
        (Parameter("mbu", 0.5), []),
        (Parameter("mbu", 0.5, None, 0.9), []),
        (Parameter("mbu", 0.5, 0.0, 1.0, "not known"), ["mbu is not known"]),
        (Parameter("step_overhead", 0.0, 0.0, 1.0), []),
    ],
)
def test_what_a_parameter_has_to_be_said(parameter, says):
    assert fit_warnings([parameter], [], 1) == says
