"""What layers with a window keep, by hand: the window, the chunk being prefilled too, or everything."""

import pytest

from symroof.api import Study

from ..tables import table

FULL, LOCAL, TOKEN = 12, 12, 2 * 8 * 64 * 2
"""Layers of gpt-oss-20b of each kind, and bytes of a token in one of them; its window is 128."""
CASE = {"model": "gpt-oss-20b", "hardware": "h100-sxm", "engine": "ideal", "batch": 32}


@pytest.mark.sample(5)
@pytest.mark.parametrize("prompt", [64, 128, 1000, 8192])
@pytest.mark.parametrize(
    ("kept", "chunk", "tokens"),
    [
        ("window", 0, 128),
        ("window", 8191, 128),
        ("chunk", 0, 128),
        ("chunk", 512, 640),
        ("chunk", 8191, 8319),
        ("full", 0, 10**6),
    ],
)
def test_the_cache_of_windows(prompt, kept, chunk, tokens):
    study = Study(**CASE, prompt=prompt, window_chunk=chunk, assume={"window_cache": kept})
    by_hand = 32 * TOKEN * (FULL * prompt + LOCAL * min(prompt, tokens))
    for quantity in ("kv_cache_bytes", "kv_reserved_bytes", "kv_cache_bytes_per_device"):
        assert study.value(quantity) == by_hand
    assert study.value("decode_bytes") == Study(**CASE, prompt=prompt).value("decode_bytes")


def test_vllm_reserves_what_its_log_says():
    """8,192 tokens x 32 reserve 12.00 GiB while a chunk of 8,192 is allowed (alvarobartt/hf-mem 60 and 70)."""
    for engine, gib in (("vllm", 12.0), ("ideal", 6.09)):
        held = Study(**CASE | {"engine": engine}, prompt=8192).value("kv_reserved_bytes")
        assert round(float(held) / 2**30, 2) == gib


def test_stages_and_groups_keep_as_much():
    """Two stages of twelve layers hold half each; two devices share the heads."""
    for degrees in ({"pp": 2}, {"tp": 2}):
        study = Study(
            **CASE, prompt=8192, window_chunk=512, assume={"window_cache": "chunk"}, **degrees
        )
        assert (
            study.value("kv_cache_bytes_per_device")
            == 32 * TOKEN * (FULL * 8192 + LOCAL * 640) // 2
        )


@pytest.mark.parametrize(("prompt", "layers"), [(100, FULL + LOCAL), (128, FULL), (8192, FULL)])
def test_one_more_token_adds_to_the_layers_whose_window_is_not_full(prompt, layers):
    study = Study(**CASE, prompt=prompt)
    assert study.value("kv_bytes_per_token") == (FULL + LOCAL) * TOKEN
    assert study.value("kv_bytes_per_added_token") == layers * TOKEN


def test_one_more_token_of_compressed_layers():
    """DeepSeek-V4-Pro: 61 windows are full, 30 layers keep an entry and an index entry for 4 tokens, 31 one for 128."""
    study = Study("deepseek-v4-pro", prompt=100000)
    added = 30 * (1024 + 132) / 4 + 31 * 1024 / 128
    assert study.value("kv_bytes_per_added_token") == added
    assert study.value("kv_bytes_per_token") == added + 61 * 1024


@pytest.mark.parametrize(
    ("model", "engine", "said"),
    table("""
# 12 and 12 layers: groups of 12
gpt-oss-20b | vllm | no
# 50 and 10: six groups of 10
gemma-4-31b | vllm | no
# 52 and 10: the last group of windows has 2
gemma-3-27b | vllm | yes
gemma-3-27b | sglang | no
# a state beside keys
qwen3.6-27b | vllm | yes
mamba-2.8b | vllm | no
minimax-m3 | vllm | yes
deepseek-v3.2 | vllm | no
"""),
)
def test_pages_that_vllm_pads_are_said_not_to_be_modelled(model, engine, said):
    case = Study(model, "h200", prompt=4096, engine=engine).first
    assert any("which is not modelled" in word for word in case.warnings) is (said == "yes")
