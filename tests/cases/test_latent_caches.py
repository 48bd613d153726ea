"""Caches of DeepSeek-V3.2 and V4 as engines lay them out, by the bytes of an entry (vLLM pull request 47716, FlashMLA)."""

import pytest

import symroof as sr

MILLION = 1_048_576


def cache(model, hardware=None, quantity="kv_bytes_per_token", **given):
    return sr.Study(model, hardware, **{"prompt": MILLION, **given}).value(quantity)


def test_v32_has_scales_and_a_wide_rotary_part_in_fp8():
    assert cache("deepseek-v3.2", "h200", kv="fp8") == 61 * (512 + 4 * 4 + 64 * 2 + 132)
    assert cache("deepseek-v3.2", "h200") == 61 * (576 * 2 + 132)  # auto is 16 bits in vLLM
    assert cache("deepseek-v3.2", "h200", engine="sglang") == 61 * (576 * 2 + 132)
    assert cache("deepseek-v3.2", "b200", engine="sglang") == 61 * 788  # and fp8 on SM100
    assert cache("deepseek-v3", "h200", kv="fp8") == 61 * 576  # no indexer: plain fp8


@pytest.mark.parametrize(("model", "gib"), [("deepseek-v4-pro", 8.71), ("deepseek-v4-flash", 6.09)])
def test_v4_without_an_engine_is_as_published(model, gib):
    """Published for fp16: 8.71 and 6.08 GiB at a million tokens, 1,024 bytes an entry and 132 an entry of the index."""
    assert cache(model, quantity="kv_cache_bytes") / 2**30 == pytest.approx(gib, rel=2e-3)


def test_v4_of_flashmla_takes_584_bytes_an_entry():
    got = cache("deepseek-v4-pro", "h200", "kv_cache_bytes", tp=8)
    window, kept = 61 * 584 * (128 + 8191), 30 * (MILLION // 4) * (584 + 132)
    assert got == pytest.approx(window + kept + 31 * (MILLION // 128) * 584, rel=1e-12)
    plain = cache("deepseek-v4-pro", "b200", "kv_bytes_per_element", tp=8)
    assert plain == 2  # plain rows on SM100: auto is 16 bits
