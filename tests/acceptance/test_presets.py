"""Presets of other tools against what the tools themselves printed, and the parts that their totals were taken apart into.

The tools ran on one normalised pair of devices (H100: 989 TFLOP/s, 3,350 GB/s; A100: 312 TFLOP/s, 2,039 GB/s) in bf16 at an
efficiency of 1, with Llama 3 8B. Every number is held to the digits that were printed; `test_peers.py` has more deployments.
"""

from fractions import Fraction

import pytest

import symroof as sr
from symroof.analysis.waterfall import waterfall

from . import case_of

H100 = case_of(
    "hardware=h100-sxm peak_flops='989 TFLOP/s' mem_bandwidth='3350 GB/s' "
    "link_bandwidth='450 GB/s' batch=1 prompt=2048 efficiency=peak"
)


def case(preset):
    return sr.Study("llama-3-8b", preset=preset, **H100)


@pytest.mark.parametrize(
    ("cache", "batch", "milliseconds"),
    [
        (cache, batch, printed)
        for cache, row in (
            (6.7, (4.98, 12.13, 20.30, 36.65, 69.33, 249.09)),
            (1.34, (4.17, 5.60, 7.23, 10.50, 17.04, 52.99)),
        )
        for batch, printed in zip((1, 8, 16, 32, 64, 240), row, strict=True)
    ],
)
def test_the_scaling_book_s_table_of_step_times(batch, cache, milliseconds):
    """LLaMA 2-13B on 8 TPU v5e: 26 GB of weights, 6.7 GB of cache a request, a fifth of it with grouped heads. Its own last digits
    are off by up to one: 32.7/6.56 is 4.985, 27.34/6.56 is 4.168."""
    device = {"tp": 8, "mem_bandwidth": "0.82 TB/s", "peak_flops": "197 TFLOP/s"}
    token = {"context": 8192, "kv_bytes_per_token": f"{cache * 1e9 / 8192} byte/token"}
    book = sr.Study(params=13e9, preset="scaling-book", batch=batch, **device, **token)
    assert 1000 * float(book.value("itl")) == pytest.approx(milliseconds, abs=0.0101)


def test_the_scaling_book_s_quiz():
    """30B parameters in int8 on 16 TPU v5e: 2.5 ms for 4 requests, 21 ms for 256, where the multiplications bind."""
    device = {"tp": 16, "mem_bandwidth": "0.81 TB/s", "peak_flops": "197 TFLOP/s"}
    quiz = {"params": 30e9, "preset": "scaling-book", "weights": "int8", **device}
    few, many = (
        sr.Study(**quiz, batch=batch, context=8192, kv_bytes_per_token="100 kB").value("itl")
        for batch in (4, 256)
    )
    assert few == pytest.approx((4 * 819.2e6 + 30e9) / (16 * 8.1e11))
    assert many == pytest.approx(256 * 819.2e6 / (16 * 8.1e11) + 2 * 256 * 30e9 / (16 * 1.97e14))


def test_vllm_sizes_the_cache_in_whole_blocks():
    study = sr.Study("llama-3-8b", "h100-sxm", preset="vllm", prompt=1000, output=10)
    assert study.value("kv_reserved_bytes") == 64 * 16 * 131072  # 1,009 tokens are 64 blocks of 16
    assert study.value("usable_memory_per_device") == Fraction(92, 100) * study.value(
        "mem_capacity"
    )


def test_hf_mem_adds_the_cache_to_the_weights():
    """2 · layers · KV heads · head width · length · bytes · batch, as its source multiplies them, beside 8,030,261,248 weights of 2 bytes."""
    study = sr.Study(
        "llama-3-8b", "h100-sxm", preset="hf-mem", prompt=8192, batch=4, memory_reserve="3 GB"
    )
    assert study.value("memory_bytes") == 2 * 32 * 8 * 128 * 8192 * 2 * 4 + 2 * 8_030_261_248
    with_states = waterfall(
        *(
            sr.Study("falcon-mamba-7b", "h100-sxm", prompt=128, preset=preset, engine="ideal").first
            for preset in (None, "hf-mem")
        ),
        "memory_bytes",
    )
    assert with_states.effect == -sr.Study("falcon-mamba-7b", "h100-sxm", prompt=128).value(
        "state_bytes"
    )


def steps(one, other, quantity="ttft"):
    found = waterfall(case(one).first, case(other).first, quantity)
    return {
        step.changes[0].name.removeprefix("prefill_time: "): float(1000 * step.effect)
        for step in found.steps
    }


def test_genz_against_aiconfigurator_term_by_term():
    """The parts that the two tools' totals, 35.480 and 33.301 ms, were taken apart into."""
    by = steps("genz", "aiconfigurator")
    assert by.pop("the embedding as a GEMM") == pytest.approx(-2.176, abs=5e-4)
    assert by.pop("the head on every position of the prompt") == pytest.approx(
        0.314 - 2.176, abs=2e-3
    )
    assert by.pop("the whole square of queries and keys") == pytest.approx(1.112 - 2.223, abs=2e-3)
    assert by.pop("rows of the embedding are read") == pytest.approx(0.005, abs=5e-4)
    vectors = by.pop("norms and residuals move their vectors") + by.pop(
        "the activation of the feed-forward moves its vectors"
    )
    assert vectors == pytest.approx(2.965, abs=5e-4)
    assert all(abs(effect) < 0.005 for effect in by.values()), by


def test_what_llm_viewer_adds_to_the_multiplications():
    by = steps(None, "llm-viewer")
    assert by["elementwise operators move 11 vectors"] == pytest.approx(1.763, abs=5e-4)
    scores = (
        by["the whole square of queries and keys"]
        + by["scores and probabilities are written and read"]
    )
    # causal attention, by hand, and what the tool counts beside it
    assert 1.112 + scores == pytest.approx(10.537, abs=2e-3)
    total = float(1000 * case("llm-viewer").value("ttft"))
    assert total - 28.905 - 1.763 - 0.314 == pytest.approx(10.537, abs=2e-3)


def test_the_vllm_preset_leaves_room_for_activations():
    """A log of vLLM has 41,408 tokens of cache for this case (LLMServingSim issue 59); without a reserve they would be 54,400."""
    study = sr.Study("llama-3.1-8b", "rtx-4090", preset="vllm", prompt=41408, memory_share=0.9)
    assert study.value("concurrency") == pytest.approx(1.0, rel=0.15)
