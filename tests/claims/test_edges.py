"""Verdicts at their edges. By hand: Llama-3-70B caches 2*80*8*128*2 = 327,680 byte a token."""

import pytest

from symroof.claims.check import check_text

EXACT = 327_680


def verdict(value, more=""):
    return (
        check_text(
            f"claims:\n- {{id: a, quantity: kv_bytes_per_token, given: {{model: llama-3-70b}}, value: '{value}'{more}}}\n",
            "claims.yaml",
        )
        .claims[0]
        .verdict
    )


@pytest.mark.parametrize(
    ("percent", "expected"),
    [(4.9, "approximate"), (-4.7, "approximate"), (5.4, "wrong"), (-5.1, "wrong")],
)
def test_a_figure_is_close_up_to_five_percent(percent, expected):
    """Of the value as it is written, to every byte: 5 % off either way is the last that is close."""
    assert verdict(f"{round(EXACT * (1 + percent / 100))} byte") == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("327.68 kB", "exact"),
        ("327.7 kB", "rounded"),
        ("327.6 kB", "rounded"),  # cut off after the digit
        (
            "327.67 kB",
            "approximate",
        ),  # the derived value is exactly the next digit: nothing was cut off
        ("327.5 kB", "approximate"),
        ("328 kB", "rounded"),
        ("329 kB", "approximate"),
        ("326 kB", "approximate"),
    ],
)
def test_a_figure_is_rounded_or_cut_off_within_its_last_digit(value, expected):
    assert verdict(value) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("13", "rounded"),
        ("12", "rounded"),
        ("12.5", "exact"),
        ("12.4", "approximate"),
        ("12.6", "approximate"),
    ],
)
def test_a_half_may_be_rounded_either_way(value, expected):
    """12.5 is 13 or 12 without decimals; with one it is neither 12.4 nor 12.6."""
    assert (
        check_text(f"claims:\n- {{id: a, expression: 25/2, value: '{value}'}}\n", "claims.yaml")
        .claims[0]
        .verdict
        == expected
    )


@pytest.mark.parametrize(
    ("value", "holds"),
    [
        (">= 327680 byte", True),
        (">= 327681 byte", False),
        ("<= 327680 byte", True),
        ("<= 327679 byte", False),
        ("> 327680 byte", False),
        ("> 327679 byte", True),
        ("< 327680 byte", False),
        ("< 327681 byte", True),
    ],
)
def test_a_bound_at_equality(value, holds):
    """At least and at most hold where they are met exactly, more than and less than do not."""
    assert (verdict(value) in ("exact", "rounded")) == holds
