"""A value compared with the derived one: verdicts, tolerances, plainer counts, and their sentences."""

from fractions import Fraction

import pytest

from symroof.claims.check import check_text
from symroof.claims.checked import (
    tolerance_of,
)
from symroof.errors import InputError
from symroof.specs.claims import ClaimSpec

CLAIM = ClaimSpec(id="x", quantity="itl", value="5 ms", given={"batch": 2})


# ---------------------------------------------------------------------------------------------------- verdicts and their texts


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


# -------------------------------------------------------------------------------------------------- what a text leaves out


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
