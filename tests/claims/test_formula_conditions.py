"""Formulas that are right under counting switches, identities between dimensions, or with a part of the model left out: the fewest are named."""

from fractions import Fraction

import pytest

from symroof.api import Study
from symroof.claims.judge import judge
from symroof.specs.claims import ClaimSpec

from ..near import near

STEP = "B*C*kv_bytes_per_token/mem_bandwidth + max(2*B*P/peak_flops, weight_bytes/mem_bandwidth)"
"""The step time of the scaling book: attention waits for the cache, the matrices for the larger of work and weights."""
PLAIN = (
    "d_ff = 4*d_model",
    "ffn_matrices = 2",
    "n_kv_heads = n_heads",
    "d_model = n_heads*head_dim",
)
"""What 12*L*d^2 takes for granted of the shape of a layer: 4 d^2 of attention and 8 d^2 of feed-forward."""


def judged(quantity, formula, **given):
    return judge(ClaimSpec(id="a", quantity=quantity, formula=formula, given=given))


@pytest.mark.full
@pytest.mark.parametrize(
    ("quantity", "formula", "given", "needs"),
    [
        ("itl", STEP, {}, ("detail kv, roofline per_operator",)),
        ("itl", STEP, {"assume": {"detail": "kv"}}, ("roofline per_operator",)),
        ("decode_throughput", f"B/({STEP})", {}, ("detail kv, roofline per_operator",)),
        (
            "itl", "(B*C*kv_bytes_per_token/mem_bandwidth + max(2*B*P/peak_flops, weight_bytes/mem_bandwidth))/tp", {},
            ("detail kv, roofline per_operator", "links left out"),
        ),
        ("params", "12*n_layers*d_model**2", {"model": "gpt2"}, ("norms and biases left out", "embeddings left out", *PLAIN)),
        ("params", "12*n_layers*d_model**2", {}, ("norms and biases left out", "embeddings left out", *PLAIN)),
        ("weight_bytes", "24*n_layers*d_model**2", {"weights": "fp16"}, ("norms and biases left out", "embeddings left out", *PLAIN)),
        ("linear_flops_per_token", "24*n_layers*d_model**2", {"d_model": 100, "n_heads": 4, "head_dim": 25}, PLAIN),
        ("prefill_flops", "24*n_layers*d_model^2*S", {"model": "gpt2"}, ("attention_flops off", "output head left out", *PLAIN)),
        ("prefill_flops", "24*n_layers*d_model^2*S + 4*n_layers*d_model*S^2", {}, ("attention full", "output head left out", *PLAIN)),
        ("itl", "decode_compute_time + decode_memory_time", {}, ("roofline no_overlap",)),
        ("queue_wait", "utilization*service_time/(2*(1 - utilization))", {}, ("queue md1",)),
    ],
)  # fmt: skip
def test_the_fewest_conditions_are_named(quantity, formula, given, needs):
    judgement = judged(quantity, formula, **given)
    assert (judgement.verdict, judgement.needs) == ("conditional", needs)


def test_what_is_left_out_of_the_parameters_of_gpt2_is_the_difference_to_the_published_count():
    """12 layers of width 768: tables of 50,257 tokens and 1,024 positions; 9 d of biases and 4 d of norms a layer, 2 d at the end."""
    left_out = 768 * (50257 + 1024) + 12 * (9 + 4) * 768 + 2 * 768
    assert Study("gpt2").value("params") == 12 * 12 * 768**2 + left_out == 124_439_808


def test_the_step_time_of_the_scaling_book_by_hand():
    """13e9 parameters in one byte, 819e9 byte/s, 197e12 FLOP/s, 40 layers of 40 heads of width 128: batch 64 of 1,024 tokens."""
    case = {
        "params": "13e9",
        "n_layers": 40,
        "n_kv_heads": 40,
        "head_dim": 128,
        "batch": 64,
        "prompt": 1024,
        "weights": "int8",
        "kv": "bf16",
    }
    study = Study(
        **case,
        mem_bandwidth="819 GB/s",
        peak_flops="197 TFLOP/s",
        assume={"detail": "kv", "roofline": "per_operator"},
    )
    by_hand = Fraction(64 * 1024 * 2 * 40 * 40 * 128 * 2, 819 * 10**9) + max(
        Fraction(2 * 64 * 13 * 10**9, 197 * 10**12), Fraction(13, 819)
    )
    assert study.value("itl") == near(by_hand)


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("quantity", "formula", "given"),
    [
        (
            "params",
            "12*n_layers*d_model**2",
            {"model": "llama-3-8b"},
        ),  # grouped heads, gated, 3.5 times as wide: no identity holds
        ("params", "13*n_layers*d_model**2", {}),
        ("params", "12*n_layers*d_model**2", {"d_model": 512, "d_ff": 1024}),
        ("itl", STEP.replace("2*B", "3*B"), {}),
        ("itl", STEP.replace("max", "min"), {}),
        ("prefill_flops", "24*n_layers*d_model^2*S + 8*n_layers*d_model*S^2", {}),
        ("kv_bytes_per_token", "4*n_layers*d_model", {}),  # a mistake with a name
        ("decode_time", "output*itl", {"assume": {"kv_growth": "fixed"}}),
    ],
)
def test_a_formula_that_no_conditions_make_right_is_wrong(quantity, formula, given):
    assert judged(quantity, formula, **given).verdict == "wrong"


@pytest.mark.full
def test_a_chosen_switch_stays_as_it_is():
    assert judged("itl", STEP, assume={"detail": "kv", "roofline": "aggregate"}).verdict == "wrong"
    assert (
        judged("itl", STEP, assume={"detail": "kv", "roofline": "per_operator"}).verdict == "exact"
    )
