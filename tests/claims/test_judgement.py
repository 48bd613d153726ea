"""A value compared with the derived one: verdicts, tolerances, plainer counts, and their sentences."""

import pytest

from symroof.claims.check import check_text

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
        (
            f"A step takes 4.481 ms. <!-- symroof: itl {CASE} -->",
            "conditional",
            "prompt is not stated: 4.4820 ms without it",
        ),
        (
            f"A step takes 99 ms. <!-- symroof: itl {CASE} -->",
            "unchecked",
            "needs prompt, which is not stated and changes the result",
        ),
    ],
)
def test_a_prompt_that_is_not_stated(text, verdict, reason):
    """15.01 GB of weights and a cache of one token over 3.35 TB/s are 4.48 ms; 131,072 tokens of cache add 5.1 ms."""
    (claim,) = check_text(text, "n.md").claims
    assert (claim.verdict, claim.reason) == (verdict, reason)
