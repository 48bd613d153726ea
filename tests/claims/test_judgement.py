"""A value compared with the derived one: verdicts, tolerances, plainer counts, and their sentences."""

import pytest

from symroof.claims.check import check_text
from tests.tables import table

# --------------------------------------------------------------------------------------------------- a prompt that is not stated

CASE = "model=llama-3-8b hardware=h100-sxm batch=1"


UNSTATED = """
Decode is memory-bound. | relation=decode_bound | exact | prompt is not stated, and the claim \
holds for any from 1 to 131,072
A step takes 4.481 ms. | itl | conditional | prompt is not stated: 4.4820 ms without it
A step takes 99 ms. | itl | unchecked | needs prompt, which is not stated and changes the result
"""


@pytest.mark.parametrize(("text", "quantity", "verdict", "reason"), table(UNSTATED))
def test_a_prompt_that_is_not_stated(text, quantity, verdict, reason):
    """15.01 GB of weights and a cache of one token over 3.35 TB/s are 4.48 ms; 131,072 tokens of cache add 5.1 ms."""
    (claim,) = check_text(f"{text} <!-- symroof: {quantity} {CASE} -->", "n.md").claims
    assert (claim.verdict, claim.reason) == (verdict, reason)
