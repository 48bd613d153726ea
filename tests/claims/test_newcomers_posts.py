"""What posts of newcomers stumbled over: units a thousand off, bounds, other parts. Every answer is worked out by hand.

Llama-3-8B: 8,030,261,248 parameters, 16.06 GB in 16 bits; its cache takes 2*32*8*128*2 = 131,072 byte a token. A100: 2.039 TB/s, 312 TFLOP/s.
"""

import pytest

from symroof.claims.check import check_text
from tests.tables import table

L8 = "model=llama-3-8b hardware=a100-80gb-sxm"


def claims(text, name="note.md"):
    return check_text(text, name).claims


COINCIDENCES = """
# 41.6 ms at four bytes
at least 21 ms | itl model=llama-3.1-70b hardware=h100-sxm weights=fp8 activations=fp8 prompt=2048 \
tp=2 | precision_mixed
# 129.6/2.039 = 63.6, of a part for games
64 FLOPs/byte | ridge_point hardware=a100-80gb-sxm weights=int8 activations=int8 | peak_of_other_sku
# any number would fit one digit
0.1 s | prefill_time model=llama-3.1-8b hardware=rtx-4090 weights=q4_k_m prompt=2048 | \
peak_of_other_sku
# 79.9 GB with 64 heads for 8, and the memory of an H100
80 GB | weight_bytes model=llama-3.1-70b weights=fp8 | gqa_forgotten
# 289.2: it comes out
2 × 70.6e9 × 2048 = 289 TFLOPs | prefill_flops model=llama-3.1-70b prompt=2048 | arithmetic
"""


@pytest.mark.sample(3)
@pytest.mark.parametrize(("text", "quantity", "slip"), table(COINCIDENCES))
def test_a_coincidence_is_no_explanation(text, quantity, slip):
    (claim,) = claims(f"It is {text}. <!-- symroof: {quantity} -->")
    assert claim.verdict in ("wrong", "approximate", "plausible")
    assert slip not in [one.slip for one in claim.slips]


def test_sentences_and_prices_are_shown_as_they_were_written():
    note = f"A prompt takes 2*8e9*2048/330e12 = 0.1 s. <!-- symroof: prefill_time {L8} prompt=2048 -->\n\nIt costs $1.79 per hour. <!-- symroof: price price='1.79 USD/hour' -->"
    arithmetic, price = claims(note)
    assert arithmetic.says == "A prompt takes 2*8e9*2048/330e12 = 0.1 s."
    assert (price.derived, price.verdict) == ("1.79 USD/hour", "exact")
