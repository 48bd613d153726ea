"""What a derivation explains: limit forms and elasticities, against hand formulas, values far out and central differences."""

from fractions import Fraction

import pytest

from symroof.api import Study

from ..near import near

H100 = {"hardware": "h100-sxm", "prompt": 4096, "output": 512, "batch": 8, "efficiency": "peak"}
CASES = {
    "two devices": {"model": "llama-3-70b", "tp": 2, **H100},
    "windows": {"model": "gemma-2-9b", **H100, "prompt": 6000},
    "within the window": {"model": "gemma-2-9b", **H100, "prompt": 1000},
    "preset": {"model": "llama-3-8b", "preset": "tutorial-mlsysim", **H100},
    "per operator": {
        "model": "qwen2.5-7b",
        "assume": {"roofline": "per_operator", "kv_growth": "fixed"},
        **H100,
    },
    "first order": {
        "model": "llama-3-8b",
        "assume": {"detail": "weights", "logits": "all"},
        **H100,
        "batch": 400,
    },
    "overheads": {
        "model": "falcon-7b",
        "layer_overhead": "10 us",
        "step_overhead": "1 ms",
        "price": "2 USD/hour",
        "gemm_m": 64,
        "gemm_k": 4096,
        "gemm_n": 512,
        **H100,
    },
    "paged": {
        "model": "llama-3-8b",
        "assume": {"kv_reserve": "paged", "attention": "full"},
        **H100,
        "cached_prefix": 1000,
    },
}


def limits_of(study, quantity):
    return {(limit.symbol.name, limit.to): limit for limit in study.derive(quantity).limits}


def test_without_numbers_each_arm_has_a_limit_of_its_own():
    limits = [
        limit
        for limit in Study().derive("itl").limits
        if limit.symbol.name == "context" and limit.to == "infinity"
    ]
    assert [len(limit.conditions_text) for limit in limits] == [1, 1]
    assert all("while" in limit.says and "without bound" in limit.says for limit in limits)


# --------------------------------------------------------------------------------------------------- hand formulas


def test_a_matrix_product_without_activations_and_with_many_rows():
    """Theory, row 3: 2S/b_w, and d/b of a square matrix."""
    limits = limits_of(Study(), "gemm_intensity")
    assert limits["act_bytes_per_element", 0].text == "2*gemm_m/weight_bytes_per_param"
    d, b = Fraction(4096), Fraction(2)
    square = limits_of(Study(gemm_m=1000, gemm_k=4096, gemm_n=4096), "gemm_intensity")
    assert square["gemm_m", "infinity"].result.value == d / b
    assert square["act_bytes_per_element", 0].result.value == 2 * 1000 / b
    assert square["gemm_m", "infinity"].result.text() == "2,048 FLOP/byte"


def test_intensity_of_an_endless_batch():
    """Theory, row 37: (2P + aS)/(kappa S) is 112.3 for the 70B at 4,096 tokens."""
    study = Study(
        model="llama-3-70b",
        params=70e9,
        hardware="h100-sxm",
        prompt=4096,
        assume={"detail": "attention"},
    )
    limit = limits_of(study, "decode_intensity")["batch", "infinity"]
    p, a, kappa, s = 70 * 10**9, 4 * 80 * 64 * 128, 2 * 80 * 8 * 128 * 2, 4096
    assert limit.result.value == near(Fraction(2 * p + a * s, kappa * s))
    assert f"{float(limit.result.value):.1f}" == "112.3"
    assert (
        limit.text == "(2*params + attention_flops_per_pair*context)/(kv_bytes_per_token*context)"
    )
    assert (
        limits_of(study, "decode_intensity")["context", "infinity"].result.value
        == Fraction(a, kappa)
        == 8
    )


def test_ideal_devices_leave_the_other_roof():
    study = Study(**CASES["two devices"])
    limits, case = limits_of(study, "itl"), study.first.case
    assert limits["mem_bandwidth", "infinity"].result.value == case.value(
        "decode_compute_time"
    ) + case.value("decode_link_time")
    assert ("peak_flops", "infinity") not in limits  # memory binds: more compute changes nothing


# -------------------------------------------------------------------------------------------------- nothing to tell


@pytest.mark.sample(5)
@pytest.mark.parametrize("quantity", ["fits", "decode_bound", "prefill_bound"])
@pytest.mark.parametrize(
    "chosen",
    [{}, CASES["two devices"], CASES["windows"], {**CASES["windows"], "mbu": "0.5..1"}],
    ids=str,
)
def test_labels_and_truths_have_neither(quantity, chosen):
    derivation = Study(**chosen).derive(quantity)
    assert (derivation.limits, derivation.elasticities) == ((), ())


def test_a_length_of_response_bounds_a_sum_and_is_left_out():
    result = Study(model="llama-3-8b", **H100).derive("decode_time").elasticities
    assert "output" not in {e.symbol.name for e in result}
    assert "mem_bandwidth" in {e.symbol.name for e in result}


def test_a_range_shows_how_far_an_elasticity_moves():
    study = Study(model="llama-3-8b", **H100, step_overhead="1 ms", mbu="0.5..1")
    actual = next(e for e in study.derive("itl").elasticities if e.symbol.name == "mem_bandwidth")
    low, middle, high = actual.span[1], actual.value, actual.span[2]
    assert low < middle < high < 0
    for corner, expected in ((Fraction(1, 2), low), (Fraction(1), high)):
        exact = Study(model="llama-3-8b", **H100, step_overhead="1 ms", mbu=corner).first
        share = exact.case.value("decode_memory_time") / exact.case.value("itl")
        assert -share == near(expected)
    limit = limits_of(study, "itl")["kv_bytes_per_element", 0]
    assert limit.result.ranged


def test_a_limit_of_what_does_not_fit_carries_the_flag():
    limits = limits_of(Study(model="llama-3-70b", **H100), "itl")
    assert all(limit.result.flags == ("does_not_fit",) for limit in limits.values() if limit.result)
    assert any(limit.result for limit in limits.values())
