"""Rates that were worked out of a latency that is wrong, and claims that contradict each other: on judgements made by hand."""

from dataclasses import replace
from fractions import Fraction

import pytest

from symroof.claims.judgement import Judgement
from symroof.claims.related_claims import by_id, claimed_value, with_conflict, with_derived_rates
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


def rate(value="200 token/s", quantity="user_rate", given=None, verdict="wrong", **fields):
    """A rate that is 100 token/s in truth: at half the latency twice as much."""
    claim = ClaimSpec(
        id="b", quantity=quantity, given=CASE if given is None else given, value=value, **fields
    )
    return Judgement(
        claim,
        verdict,
        value,
        "100 token/s",
        Fraction(2),
        value=Fraction(100),
        unit="token/s",
        slips=(GUESS,),
    )


def test_a_rate_at_the_latency_that_is_written_follows_from_it():
    """It is wrong for the same reason, by the inverse factor; what is only suggested for the latency is none for the rate."""
    first, second = with_derived_rates([LATENCY, rate()])
    assert first is LATENCY
    assert (second.verdict, second.reason) == ("wrong", "follows from 7 ms in a")
    assert second.slips == (
        SlipExplanation("half", True, Fraction(200), 0.1, "one half left out: ×2"),
    )


def test_a_latency_of_a_file_is_named_by_its_line():
    at = replace(LATENCY, claim=LATENCY.claim.model_copy(update={"line": 12}))
    assert with_derived_rates([at, rate()])[1].reason == "follows from 7 ms in line 12"


def test_a_rate_holds_under_the_condition_of_its_latency():
    conditional = replace(
        LATENCY, verdict="conditional", needs=("half",), reason="holds at half; otherwise 14 ms"
    )
    settled = with_derived_rates([conditional, rate()])[1]
    assert (settled.verdict, settled.needs) == ("conditional", ("half",))
    assert settled.reason == "follows from 7 ms in a, which holds at half"


@pytest.mark.parametrize("value", ["200 token/s", "~201 token/s"])
@pytest.mark.parametrize(
    "fields",
    [
        {"quantity": "decode_throughput"},
        {"quantity": "decode_throughput_per_device"},
        {"per": "second"},
        {"per": ""},
    ],
)
def test_rates_that_a_latency_divides(value, fields):
    assert with_derived_rates([LATENCY, rate(value, **fields)])[1].reason


@pytest.mark.parametrize(
    "other",
    [
        rate("210 token/s"), rate("> 150 token/s"), rate(quantity="prefill_throughput"), rate(given={"model": "llama-3-8b"}), rate(verdict="conditional"), rate(per="device"),
        replace(rate(), parts=(LATENCY,)), replace(rate(), value=None), rate("soon"),
    ],
)  # fmt: skip
def test_what_does_not_follow_from_a_latency(other):
    assert with_derived_rates([LATENCY, other])[1] is other


@pytest.mark.parametrize(
    "before",
    [
        replace(LATENCY, verdict="approximate"), replace(LATENCY, ratio=None), replace(LATENCY, claim=LATENCY.claim.model_copy(update={"quantity": "ttft"})),
        replace(LATENCY, claim=LATENCY.claim.model_copy(update={"per": "layer"})),
    ],
)  # fmt: skip
def test_a_latency_from_which_nothing_follows(before):
    assert with_derived_rates([before, rate()])[1] == rate()


def test_only_the_latency_before_a_rate_counts_the_nearest_that_fits():
    tpot = replace(LATENCY, claim=ClaimSpec(id="t", quantity="tpot", given=CASE, value="7 ms"))
    far = replace(LATENCY, ratio=Fraction(1, 3))
    assert with_derived_rates([rate(), LATENCY])[0] == rate()
    assert (
        with_derived_rates([LATENCY, tpot, far, rate()])[2:][1].reason == "follows from 7 ms in t"
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
