"""A value compared with the derived one: verdicts, tolerances, plainer counts, and their sentences."""

from fractions import Fraction

import pytest

from symroof.claims.check import check_text
from symroof.claims.unstated_assumptions import simplification
from symroof.claims.checked import (
    ORDER,
    Checked,
    flags_of,
    joined,
    tolerance_of,
    value_text,
    worst,
)
from symroof.errors import InputError
from symroof.specs.claims import ClaimSpec

CLAIM = ClaimSpec(id="x", quantity="itl", value="5 ms", given={"batch": 2})


def of(verdict, derived="6 ms", **fields):
    return Checked(fields.pop("claim", CLAIM), verdict, "5 ms", derived, **fields)


# ---------------------------------------------------------------------------------------------------- verdicts and their texts


def test_a_row_is_as_good_as_its_worst_value():
    parts = [
        of(verdict, flags=flags)
        for verdict, flags in (
            ("exact", ("a",)),
            ("wrong", ("b", "a")),
            ("rounded", ()),
            ("wrong", ("c",)),
        )
    ]
    assert worst(parts) is parts[1]
    assert flags_of(*parts) == ("a", "b", "c")
    assert joined(parts) == {
        "claimed": "5 ms, 5 ms, 5 ms, 5 ms",
        "derived": "6 ms, 6 ms, 6 ms, 6 ms",
        "flags": ("a", "b", "c"),
        "parts": tuple(parts),
    }
    assert [
        ORDER.index(verdict)
        for verdict in (
            "exact",
            "rounded",
            "approximate",
            "plausible",
            "conditional",
            "inconsistent",
            "wrong",
            "unchecked",
        )
    ] == list(range(8))


def test_the_tolerance_that_a_text_states():
    figure = {"catalogue": "h100-sxm.power", "value": "1"}
    assert [tolerance_of(ClaimSpec(id="x", **figure), digits) for digits in (3, 4)] == [None, 0]
    assert tolerance_of(CLAIM, 9) is None
    assert tolerance_of(ClaimSpec(id="x", **figure, tolerance="2 %"), 9) == Fraction(1, 50)
    for tolerance, message in (
        ("-1", "'-1' is not a share of the value"),
        ("soon", "'soon' is not a share of the value"),
        ("3 GB", "is byte"),
    ):
        with pytest.raises(InputError, match=message) as caught:
            tolerance_of(ClaimSpec(id="x", **figure, tolerance=tolerance))
        assert caught.value.problems[0].hint == ("" if "GB" in tolerance else "write '5 %' or 0.05")


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [(True, "", "true"), (False, "", "false"), ("memory", "", "memory"), (Fraction(1, 1800), "USD/s", "2 USD/hour"), (Fraction(1234567, 1800000), "USD/s", "2,469.1 USD/hour"), (Fraction(1, 40), "s", "25 ms"), (None, "", "None")],
)  # fmt: skip
def test_a_derived_value_as_text(value, unit, text):
    assert value_text(value, unit) == text


# -------------------------------------------------------------------------------------------------- what a text leaves out

TRUE = Fraction(10, 1000)


def wrong(verdict="wrong", **fields):
    return Checked(CLAIM, verdict, "5 ms", "10 ms", value=TRUE, unit="s", **fields)


def plainer(*verdicts):
    """Judges each plainer count in its order, with a value beside the true one."""
    order = iter(verdicts)

    def judged(claim):
        verdict = next(order, "wrong")
        return Checked(claim, verdict, value=TRUE / 2 if verdict != "wrong" else TRUE * 3)

    return judged


def test_a_plainer_count_is_no_evidence_where_a_fifth_of_all_errors_would_have_one():
    """A number of one digit: 4.5 to 5.5 ms around 5, and as much again around others, of half to twice of it."""
    for value, seldom in (("5.00 ms", True), ("5.0 ms", True), ("5 ms", False)):
        assert (
            simplification(CLAIM.model_copy(update={"value": value}), wrong(), plainer("exact"))
            is not None
        ) is seldom
    assert (
        simplification(CLAIM, Checked(CLAIM, "wrong", value=None, unit="s"), plainer("exact"))
        is None
    )
    assert (
        simplification(
            CLAIM, Checked(CLAIM, "wrong", value=Fraction(0), unit="s"), plainer("exact")
        )
        is None
    )


# --------------------------------------------------------------------------------------------------- a prompt that is not stated

CASE = "model=llama-3-8b hardware=h100-sxm batch=1"


@pytest.mark.parametrize(
    ("text", "verdict", "reason"),
    [
        (
            f"Decode is memory-bound. <!-- symroof: relation=decode_bound {CASE} -->",
            "exact",
            "prompt is not stated, and the claim holds for any from 1 to 131,072",
        ),
        (f"A step takes 4.481 ms. <!-- symroof: itl {CASE} -->", "conditional", "prompt is not stated: 4.4820 ms without it"),
        (f"A step takes 99 ms. <!-- symroof: itl {CASE} -->", "unchecked", "needs prompt, which is not stated and changes the result"),
    ],
)  # fmt: skip
def test_a_prompt_that_is_not_stated(text, verdict, reason):
    """15.01 GB of weights and a cache of one token over 3.35 TB/s are 4.48 ms; 131,072 tokens of cache add 5.1 ms."""
    (claim,) = check_text(text, "n.md").claims
    assert (claim.verdict, claim.reason) == (verdict, reason)
