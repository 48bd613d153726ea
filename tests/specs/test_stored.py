"""Precisions of whole checkpoints: bytes by hand, and the sizes that are published."""

from fractions import Fraction

import pytest

import symroof as sr
from symroof.specs.checkpoints.gguf_mixtures import mixture
from symroof.specs.spec_files import read_spec

from ..tables import case_of

LINEAR = 32 * (4096 * (32 + 2 * 8) * 128 + 4096 * 4096 + 3 * 4096 * 14336)
TABLE = 128_256 * 4096
NORMS = 65 * 4096
MATRICES = 7 * 32
OUTPUTS = 32 * (32 * 128 + 2 * 8 * 128 + 4096 + 2 * 14336 + 4096)
INPUTS = 32 * (3 * 4096 + 4096 + 2 * 4096 + 14336)
"""Llama 3 8B: what multiplies, one table of two, norms; its 224 matrices, with their rows and columns."""


def bits(*parts):
    return sum(Fraction(weights) * Fraction(str(width)) for weights, width in parts) / 8


READ = {
    "int4": bits((LINEAR + TABLE, 4)),
    "awq": bits((LINEAR, 4), (LINEAR // 128, 16 + 4), (TABLE, 16)),
    "awq-g64": bits((LINEAR, 4), (LINEAR // 64, 16 + 4), (TABLE, 16)),
    "gptq": bits((LINEAR, 4), (LINEAR // 128, 16 + 4), (INPUTS, 32), (TABLE, 16)),
    "w4a16": bits((LINEAR, 4), (LINEAR // 128, 16), (MATRICES, 128), (TABLE, 16)),
    "w8a16": bits((LINEAR, 8), (OUTPUTS, 16), (MATRICES, 128), (TABLE, 16)),
    "w8a8": bits((LINEAR, 8), (OUTPUTS, 16), (TABLE, 16)),
    "fp8-dynamic": bits((LINEAR, 8), (OUTPUTS, 16), (TABLE, 16)),
    "mxfp4": bits((LINEAR, 4), (LINEAR // 32, 8), (TABLE, 16)),
    "nvfp4": bits((LINEAR, 4), (LINEAR // 16, 8), (MATRICES, 64), (TABLE, 16)),
    "nf4": bits((LINEAR, 4), (LINEAR // 64, 32), (MATRICES, 16 * 32), (TABLE, 16)),
    "q8_0": bits((LINEAR + TABLE, 8.5)),
    "q4_0": bits((LINEAR, 4.5), (TABLE, 6.5625)),
    "q6_k": bits((LINEAR + TABLE, 6.5625)),
}


@pytest.mark.sample(5)
@pytest.mark.parametrize("name", READ)
def test_bytes_of_a_decode_step(name):
    assert LINEAR == 6_979_321_856
    study = sr.Study(model="llama-3-8b", weights=name, prompt=1)
    assert study.value("weight_bytes_read") == READ[name]


def test_q4_k_m_is_put_together_as_llama_cpp_does():
    """Layers 0-3, 28-31 and 6, 9 ... 27 have attn_v and ffn_down in Q6_K; the head is Q6_K, all else Q4_K, norms 32 bits."""
    values, down = 4096 * 8 * 128, 4096 * 14336
    more = len({*range(4), *range(28, 32), *range(6, 28, 3)})
    assert more == 16
    layers = bits((LINEAR - more * (values + down), 4.5), (more * (values + down), 6.5625))
    study = sr.Study(model="llama-3-8b", weights="q4_k_m", prompt=1)
    read = layers + bits((TABLE, 6.5625))
    assert study.value("weight_bytes_read") == read == 4_616_331_264
    held = read + bits((TABLE, 4.5), (NORMS, 32))
    assert study.value("weight_bytes") == held == 4_912_898_048
    assert study.first.compute is None and study.first.precisions["weights"] == "q4_k_m"


PUBLISHED = case_of(
    "q2_k=3.1593 q3_k_s=3.6429 q3_k_l=4.2979 q4_k_s=4.6672 q4_k_m=4.8944 q5_k_s=5.5704 "
    "q5_k_m=5.7036 q6_k=6.5633 q8_0=8.5008 iq4_xs=4.4597 iq4_nl=4.6818"
)
"""Bits a weight of Llama 3.1 8B, from the table in ``tools/quantize/README.md`` of llama.cpp (commit 311c2c9)."""


@pytest.mark.sample(5)
@pytest.mark.parametrize("name", PUBLISHED)
def test_published_bits_of_a_weight(name):
    study = sr.Study(model="llama-3.1-8b", weights=name, prompt=1)
    found = float(study.value("weight_bytes") * 8 / study.value("params"))
    assert found == pytest.approx(PUBLISHED[name], abs=1e-4)


@pytest.mark.parametrize("name", ["awq", "w8a16", "nf4", "w8a8", "fp8-dynamic", "nvfp4"])
def test_what_stored_weights_are_multiplied_in(name):
    """Narrow formats of both operands in their own arithmetic, all others in 16 bits: PFLOP/s of a B200, which has units for fp4."""
    study = sr.Study(model="llama-3-8b", hardware="b200", weights=name, prompt=1)
    peaks = {"w8a8": 4.5, "fp8-dynamic": 4.5, "nvfp4": 9}
    assert study.value("peak_flops") == peaks.get(name, 2.25) * 10**15


def test_a_cache_with_scales_is_as_wide_as_its_blocks():
    """q8_0: 32 bytes and a 16-bit scale for 32 elements; the weights' own groups are another matter."""
    study = sr.Study(model="llama-3-8b", weights="awq", kv="q8_0", prompt=1)
    assert study.value("kv_bytes_per_token") == 2 * 32 * 8 * 128 * Fraction(34, 32)
    assert study.value("weight_bytes_read") == READ["awq"]


def test_without_layers_everything_is_narrow_and_that_is_told():
    study = sr.Study(params=8e9, weights="awq")
    assert study.value("weight_bytes") == bits((8 * 10**9, 4.15625))
    assert "without a model's layers" in study.first.warnings[0]


def mean(first, count, then):
    """Bits of a weight over 28 layers, so many of them in the first type."""
    return (count * first + (28 - count) * then) / 28


def of_queries_and_keys(most, value):
    """Rows of a fused product: 28 heads of queries and 4 of keys in one type, 4 of values in another."""
    return (32 * most + 4 * value) / 36


MORE = 3 + 4 + 7
"""Of 28 layers the first 28 // 8, those from 7*28 // 8 = 24 on, and of the rest the third, sixth, ...: 5, 8, 11, 14, 17, 20, 23."""
OF_28_LAYERS = {
    # of the down projection | of queries and keys | of values | of the way out, where another
    # seven query heads share a key head
    "iq4_xs": (mean(5.5, 3, 4.25), 4.25, 5.5),
    "q4_k_s": (mean(5.5, 3, 4.5), 4.5, mean(5.5, 4, 4.5)),
    "q3_k_m": (mean(5.5, 1, 4.5), 3.4375, mean(5.5, 2, 4.5), 4.5),
    "q4_k_m": (mean(6.5625, MORE, 4.5), 4.5, mean(6.5625, MORE, 4.5)),
    "q5_k_m": (mean(6.5625, MORE, 5.5), 5.5, mean(6.5625, MORE, 5.5)),
    "q2_k": (3.4375, 2.625, 4.5, 3.4375),
}


@pytest.mark.parametrize("name", OF_28_LAYERS)
def test_layers_that_do_not_divide_by_eight(name):
    """Qwen2.5-7B; the head of every one of these in Q6_K."""
    made = mixture(name, read_spec("models", "qwen2.5-7b")[0])
    widths = {operator: float(8 * width.value) for operator, width in made.widths.items()}
    down, most, value, *out = OF_28_LAYERS[name]
    expected = {"down": down, "qkv": of_queries_and_keys(most, value), "lm_head": 6.5625}
    expected |= {"attention_out": out[0]} if out else {}
    assert widths == pytest.approx(expected)
