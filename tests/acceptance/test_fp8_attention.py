"""Weights in 8 bits: products run at the fp8 peak, attention's own in 16 bits, in every command."""

import pytest

from symroof.api import Study

H200 = 8
S, LAYERS, HEADS, WIDTH = 131072, 61, 128, 7168
LINEAR = 2 * 37.0e9 * S
"""37 billion active parameters (arXiv 2412.19437)."""
ATTENTION = 2 * LAYERS * HEADS * (192 + 128) * S * (S + 1) / 2
"""Keys of 128 + 64, values of 128 a head, under the causal mask."""
LINKS = 2 * LAYERS * 2 * 7 / 8 * S * WIDTH * 2 / 450e9
"""Two all-reduces a layer over NVLink 4."""


def test_a_long_prompt_of_deepseek_r1_by_hand():
    """7 s, not the 4.3 that attention in fp8 would take."""
    by_hand = (LINEAR / 1978.9e12 + ATTENTION / 989.4e12) / H200 + LINKS
    case = {"tp": 8, "prompt": S, "output": 1000, "efficiency": "peak"}
    found = Study("deepseek-r1", "h200", **case).value("ttft")
    assert found == pytest.approx(by_hand, rel=0.03)
    assume = {"attention_arithmetic": "as_activations"}
    narrow = Study("deepseek-r1", "h200", **case, assume=assume)
    assert narrow.value("ttft") == pytest.approx(
        (LINEAR + ATTENTION) / 1978.9e12 / H200 + LINKS, rel=0.03
    )
