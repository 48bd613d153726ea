"""When a written number agrees with a derived one: at each edge, one step inside and one outside, against decimal arithmetic."""

import operator
from decimal import ROUND_DOWN, ROUND_HALF_UP, Decimal
from fractions import Fraction

import pytest

from symroof.claims.read.written_number import read_written
from symroof.claims.slips.explanation import agreeing_ranges, chance, error_range

HAIR = Fraction(1, 10**9)


@pytest.mark.parametrize("text", ["1.23", "100", "0.05", "7", "998", "12.0", "99.95", "2.50"])
def test_a_number_agrees_with_what_rounds_or_is_cut_off_to_it(text):
    """Thousands of values around a number: those that decimal rounding, either way at a tie, or truncation within 5 % writes the same."""
    written, place = read_written(text, ""), Decimal(text).as_tuple().exponent
    unit = Fraction(10) ** place
    for k in range(-60, 61):
        derived = Fraction(text) + unit * Fraction(k, 20)
        exact, last = (
            Decimal(derived.numerator) / Decimal(derived.denominator),
            Decimal((0, (1,), place)),
        )
        tie = abs(derived - Fraction(text)) == unit / 2
        near = abs(derived - Fraction(text)) <= abs(derived) / 20
        cut, rounded = (
            exact.quantize(last, way) == Decimal(text) for way in (ROUND_DOWN, ROUND_HALF_UP)
        )
        assert written.agrees(derived) is (tie or rounded or (cut and near)), derived


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("text", "derived", "verdict"),
    [
        ("100", "100", "exact"),
        ("100", "100.5", "rounded"),
        ("100", "100.99", "rounded"),
        ("100", "101", "approximate"),
        ("100", "99.5", "rounded"),
        ("100", "99.49", "approximate"),
        ("95", "100", "approximate"),  # 5 % of the derived value, no more
        ("94.9", "100", "wrong"),
        ("105", "100", "approximate"),
        ("105.1", "100", "wrong"),
        ("10..20", "20.5", "exact"),
        ("10..20", "20.6", "approximate"),
        ("10..20", "9.5", "exact"),
        ("10..20", "22", "wrong"),
    ],
)
def test_verdicts_change_exactly_at_the_next_digit_and_at_five_percent(text, derived, verdict):
    assert read_written(text, "").verdict(Fraction(derived)) == verdict


@pytest.mark.parametrize("text", ["< 5", "<= 5", "> 5", ">= 5", "at most 5", "at least 5"])
def test_bounds_at_equality_and_a_hair_beside(text):
    holds = {
        "<": operator.lt,
        "<=": operator.le,
        ">": operator.gt,
        ">=": operator.ge,
        "at most": operator.le,
        "at least": operator.ge,
    }[text.rpartition(" ")[0]]
    for derived in (5 - HAIR, Fraction(5), 5 + HAIR):
        assert read_written(text, "").agrees(derived) is holds(derived, 5)
        otherwise = "wrong" if text[:2] in ("< ", "> ") else "rounded"
        assert read_written(text, "").verdict(derived) == (
            "exact" if holds(derived, 5) else otherwise
        )


@pytest.mark.parametrize(
    ("text", "derived", "verdict"),
    [
        ("at most 95", "95.371", "rounded"),
        ("at most 95", "95.6", "wrong"),  # 96, rounded
        ("at least 10.5", "10.485", "rounded"),
        ("at least 10.5", "10.44", "wrong"),
        ("no more than 1.3", "1.342", "wrong"),  # 3 % more is more
        ("no more than 1.34", "1.342", "rounded"),
        ("under 95", "95.371", "wrong"),
        ("over 10.5", "10.485", "wrong"),
        ("up to 95", "20", "exact"),
    ],
)
def test_a_bound_that_may_be_reached_is_the_limit_rounded(text, derived, verdict):
    assert read_written(text, "").verdict(Fraction(derived)) == verdict


@pytest.mark.parametrize(
    ("text", "unit", "derived", "verdict"),
    [
        ("no faster than 10.5 ms", "s", "0.010485", "rounded"),
        ("no faster than 10.5 ms", "s", "0.011", "exact"),
        ("no faster than 10.5 ms", "s", "0.009", "wrong"),
        ("no faster than 95 token/s", "token/s", "95.371", "rounded"),
        ("no faster than 95 token/s", "token/s", "60", "exact"),
        ("no slower than 95 token/s", "token/s", "60", "wrong"),
        ("no slower than 10.5 ms", "s", "0.009", "exact"),
    ],
)
def test_bounds_on_speed_turn_round_with_what_is_bounded(text, unit, derived, verdict):
    assert read_written(text, unit).verdict(Fraction(derived)) == verdict


def test_the_chance_of_an_explanation_is_a_share_of_lengths():
    """A random error of the size of ×2 reaches from half to twice the claim; spans that overlap count once, what lies outside not at all."""
    e = 2.718281828459045
    assert error_range(2, 1) == pytest.approx(0.6931471805599453)
    assert chance(1.0, 10.0, [(0.5, 2**0.5 / 2)]) == pytest.approx(0.25)
    assert chance(1.0, 10.0, [(0.5, 1.0), (0.7, 1.0), (0.9, 2.0)]) == pytest.approx(1.0)
    assert chance(1.0, 10.0, [(0.25, 2**-0.5), (4.0, 8.0), (3.0, e), (1, 1)]) == pytest.approx(0.25)
    assert chance(1.0, 10.0, [(-1.0, 1.0)]) == 0
    assert (
        error_range(1.01, 1)
        == pytest.approx(error_range(1 / 1.01, 1))
        == pytest.approx(0.04879016416943204)
    )


@pytest.mark.parametrize(("text", "value"), [("100", 200), ("12.0", 8), ("~100", 200)])
def test_a_span_holds_the_claims_that_would_have_agreed(text, value):
    """Scaling claim and derived value alike: at the ends of the span the value is at the ends of what the claim agrees with."""
    written = read_written(text, "")
    ((low, high),) = agreeing_ranges([Fraction(value)], written)
    room = (
        Fraction(1, 2)
        * Fraction(10) ** (Decimal(text.strip("~")).as_tuple().exponent)
        * (2 if "~" in text else 1)
    )
    number = Fraction(text.strip("~"))
    assert low == pytest.approx(
        float(value * number / (number + max(room, 2 * room if "~" not in text else room))),
        rel=1e-12,
    )
    assert high == pytest.approx(float(value * number / (number - room)), rel=1e-12)


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("text", "derived", "verdict"),
    [
        ("about 24", "24.5", "rounded"),  # as any 24
        ("about 24", "25", "rounded"),  # half a unit more: 4 % off
        ("~24", "23", "rounded"),  # 4.3 %
        ("~24", "22.9", "approximate"),  # 4.8 %, more than a unit off
        ("about 4", "4.5", "rounded"),
        ("about 4", "4.6", "approximate"),  # 13 %
        ("about 4", "4.913", "approximate"),  # 19 %: within a unit of one digit, and no rounding
        ("about 4", "5", "approximate"),
        ("about 4", "5.001", "wrong"),
        ("about 4", "3.2", "approximate"),  # 25 %
        ("about 4", "3.19", "wrong"),
        ("4", "4.913", "wrong"),
        ("about 25", "27.2", "wrong"),  # 8 %, and two units off
        ("about 1e1", "16.1", "wrong"),  # one digit of tens: 38 %
        ("about 3..4", "4.9", "approximate"),
        ("about 3..4", "5.1", "wrong"),
        ("about 20..30", "31", "exact"),
    ],
)
def test_a_hedge_is_half_a_unit_more_and_no_licence(text, derived, verdict):
    assert read_written(text, "").verdict(Fraction(derived)) == verdict


def test_a_hedge_helps_no_tolerance_that_the_text_states():
    assert read_written("about 4", "").verdict(Fraction("4.9"), Fraction(1, 10)) == "wrong"
