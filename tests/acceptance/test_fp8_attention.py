"""Weights in 8 bits: products run at the fp8 peak, attention's own in 16 bits, in every command."""

import pytest

from symroof.api import Study
from tests.cli import good

H200 = 8
S, LAYERS, HEADS, WIDTH = 131072, 61, 128, 7168
LINEAR = 2 * 37.0e9 * S
"""37 billion active parameters (arXiv 2412.19437)."""
ATTENTION = 2 * LAYERS * HEADS * (192 + 128) * S * (S + 1) / 2
"""Keys of 128 + 64, values of 128 a head, under the causal mask."""
LINKS = 2 * LAYERS * 2 * 7 / 8 * S * WIDTH * 2 / 450e9
"""Two all-reduces a layer over NVLink 4."""
CASE = ["--hardware", "h200", "--prompt", str(S), "--output", "1000", "--json"]


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


@pytest.mark.full
@pytest.mark.parametrize(
    ("model", "hub", "options", "flags"),
    [
        ("deepseek-r1", "deepseek-ai/DeepSeek-R1", [], ""),
        (
            "llama-3.1-70b",
            "meta-llama/Llama-3.1-70B-Instruct",
            ["--weights", "fp8"],
            " --quantization fp8",
        ),
    ],
)
def test_every_command_computes_in_what_the_engine_does(model, hub, options, flags):
    evaluated = good("eval", "--model", model, "--tp", "8", *options, *CASE).json["cases"][0]
    line = good("vllm", f"vllm serve {hub} -tp 8{flags}", *CASE).json
    chosen = good("select", "--model", model, "--among", "tp=8", *options, *CASE).json[
        "configurations"
    ][0]
    peaks = {"peak_flops": 1978.9e12, "attention_peak_flops": 989.4e12, "act_bytes_per_element": 2}
    for answer in (evaluated, line, chosen):
        assert {name: answer["inputs"][name]["value"] for name in peaks} == peaks
        assert answer["assumptions"]["attention_arithmetic"]["value"] == "wide"
    ttft = evaluated["quantities"]["ttft"]
    assert [line["quantities"]["ttft"][end] for end in ("bound", "value")] == [
        ttft[end] for end in ("bound", "value")
    ]
