"""Slips of experts, latent attention, speculation and prices, with numbers worked out by hand."""

import pytest

from symroof.claims.check import check_text
from tests.tables import table

# DeepSeek-V3: 61 layers, 128 heads, 128 + 64 wide queries and keys, values of 128, latent 512, rotated key 64.
LATENT = 61 * (512 + 64) * 2
EXPANDED = 61 * 128 * (128 + 64 + 128) * 2
# Mixtral: 32 layers, d 4096, 32 heads and 8 KV heads of 128, 8 experts of which 2, each three matrices of 4096 x 14336.
EXPERT = 32 * 3 * 4096 * 14336
ALWAYS = 32 * (4096 * (32 + 16) * 128 + 32 * 128 * 4096 + 4096 * 8) + 4096 * 32000


def read_per_step(experts):
    return 2 * (ALWAYS + experts * EXPERT)


WRITTEN = {
    "EXPANDED": f"{EXPANDED / 1e6:.2f} MB",
    "NO_ROPE": f"{61 * 512 * 2 / 1e3:.2f} kB",
    "OF_TWO": f"{read_per_step(2) / 1e9:.1f} GB",
    "OF_EIGHT": f"{read_per_step(8) / 1e9:.1f} GB",
}
CASES = """
kv_bytes_per_token model=deepseek-v3 | EXPANDED | latent_kv_expanded
kv_bytes_per_token model=deepseek-v3 | NO_ROPE | rope_key_forgotten
active_params model=mixtral-8x7b | 46.7 billion | total_vs_active_params
params model=mixtral-8x7b | 12.7 billion | total_vs_active_params
weight_bytes_read model=mixtral-8x7b batch=8 prompt=1 | OF_TWO | experts_topk_vs_all
weight_bytes_read model=mixtral-8x7b batch=4 prompt=1 | OF_EIGHT | experts_topk_vs_all
# a token after four drafted ones: 1 + 0.8 + 0.8^2 + 0.8^3 + 0.8^4 = 3.3616, and not 1 + 4*0.8
tokens_per_verify draft_tokens=4 acceptance=0.8 | 4.20 | acceptance_not_compounded
price_per_mtok cost_per_mtok='2 USD' margin=0.25 | 2.50 USD | markup_vs_margin
"""


@pytest.mark.sample(1)
@pytest.mark.parametrize(("annotation", "written", "slip"), table(CASES))
def test_the_slip_is_named_first(annotation, written, slip):
    sentence = f"It is {WRITTEN.get(written, written)}."
    (claim,) = check_text(f"{sentence} <!-- symroof: {annotation} -->", "notes.md").claims
    assert claim.verdict == "wrong"
    assert (claim.slips[0].slip, claim.slips[0].named) == (slip, True), claim.slips


def test_what_is_right_is_right():
    for text in (
        f"{LATENT / 1e3:.2f} kB. <!-- symroof: kv_bytes_per_token model=deepseek-v3 -->",
        f"{read_per_step(8 * (1 - 0.75**4)) / 1e9:.1f} GB. <!-- symroof: weight_bytes_read model=mixtral-8x7b batch=4 prompt=1 -->",
    ):
        (claim,) = check_text(text, "notes.md").claims
        assert claim.verdict == "rounded"
