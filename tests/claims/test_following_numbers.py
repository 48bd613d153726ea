"""Rates that were worked out of a latency that is wrong, and claims that contradict each other: on judgements made by hand."""

from fractions import Fraction

import pytest

from symroof.claims.judgement import Judgement
from symroof.claims.related_claims import by_id, claimed_value, with_conflict
from symroof.claims.slips.explanation import SlipExplanation
from symroof.errors import InputError
from symroof.specs.claims import ClaimSpec

CASE = {"model": "llama-3-8b", "prompt": 100}
HALF = SlipExplanation("half", True, Fraction(7, 1000), 0.1, "one half left out: ÷2")
GUESS = SlipExplanation("guess", False, Fraction(7, 1000), 0.3, "a guess: ÷2")
LATENCY = Judgement(
    ClaimSpec(id="a", quantity="itl", given=CASE, value="7 ms"),
    "wrong",
    "7 ms",
    "14 ms",
    Fraction(1, 2),
    slips=(HALF, GUESS),
)


# ------------------------------------------------------------------------------------------------------- contradictions


def claim(value, other=None, unit="byte", derived="", **fields):
    spec = ClaimSpec(
        id=fields.pop("id", "a"), quantity="weight_bytes", value=value, conflicts_with=other
    )
    return Judgement(spec, fields.pop("verdict", "wrong"), value, derived, unit=unit, **fields)


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("one", "two", "reason"),
    [
        (claim("3 GB", "b"), claim("4 GB", id="b"), "3 GB here and 4 GB in b cannot both be right"),
        (claim("3 GB", "b", derived="3.5 GB"), claim("4 GB", id="b"), "3 GB here and 4 GB in b cannot both be right; derived 3.5 GB"),
        (claim("3 GB", "b"), claim("3.4 GB", id="b"), None),  # to the digit of the coarser one
        (claim("3 GB", "b"), claim("3.6 GB", id="b"), "3 GB here and 3.6 GB in b cannot both be right"),
        (claim("3 GB", "b", unit=""), claim("4 GB", id="b", unit=""), "3 GB here and 4 GB in b cannot both be right"),
        (claim("3 GB", "b", unit=""), claim("4 s", id="b", unit=""), None),
        (claim("3", "b", unit=""), claim("4", id="b", unit=""), "3 here and 4 in b cannot both be right"),
        (claim("compute", "b", unit=""), claim("memory", id="b", unit=""), "compute here and memory in b cannot both be right"),
        (claim("3 GB", "c"), claim("4 GB", id="b"), None),
        (claim("3 GB"), claim("4 GB", id="b"), None),
        (claim("3 GB", "b"), claim("4 s", id="b", unit="s"), None),
        (claim("", "b"), claim("4 GB", id="b"), None),
        (claim("3 GB", "b", error=InputError("x")), claim("4 GB", id="b"), None),
    ],
)  # fmt: skip
def test_claims_that_cannot_both_be_right(one, two, reason):
    settled = with_conflict(one, by_id([one, two]))
    assert (settled.verdict, settled.reason) == (
        ("inconsistent", reason) if reason else (one.verdict, one.reason)
    )


def test_a_value_that_cannot_be_read_states_nothing():
    assert claimed_value(claim("3 apples")) is None
    assert claimed_value(claim("")) is None
    assert claimed_value(claim("3 GB")).number == 3 * 10**9
