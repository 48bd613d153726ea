"""Formulas opened as far as an unknown reaches, as a reader would write them: what it does not move keeps its name, and defaults without effect are left out."""

import pytest

from symroof.analysis.inline import inlined, over_inputs, readable_form
from symroof.api import Study
from symroof.symbolic.printing import text
from symroof.symbolic.reading import parse

GPT2 = {"model": "gpt2", "hardware": "h100-sxm", "engine": "ideal", "prompt": 100, "output": 20}
BYTES = "weight_bytes_read + batch*kv_bytes_per_token*context + batch*activation_bytes_per_token + batch*head_activation_bytes_per_row"


@pytest.fixture(scope="module")
def cases():
    return Study().first, Study(**GPT2).first


def test_numbers_of_a_case_decide_which_defaults_have_an_effect(cases):
    """Efficiencies and overheads that were given stand in the formula."""
    given = Study(**GPT2, mbu="0.8", step_overhead="1 ms", batch=3).first
    assert (
        text(inlined(parse("kv_cache_bytes"), "context", given))
        == "batch*kv_bytes_per_token*context"
    )
    assert (
        text(inlined(parse("decode_memory_time"), "batch", given))
        == f"({BYTES})/(mem_bandwidth*mbu)"
    )
    assert (
        text(inlined(parse("itl"), "peak_flops", given))
        == "decode_overhead + max(decode_flops/peak_flops, decode_memory_time)"
    )
    assert (
        text(inlined(parse("itl"), "peak_flops", cases[1]))
        == "max(decode_flops/peak_flops, decode_memory_time)"
    )
    links = Study(**GPT2, tp=2).first
    assert (
        text(inlined(parse("itl"), "peak_flops", links))
        == "decode_link_time + max(decode_flops_per_device/peak_flops, decode_memory_time)"
    )


def test_what_readers_are_shown_keeps_the_batch_and_the_context(cases):
    """And the efficiencies where there are no numbers."""
    generic, gpt2 = cases
    assert (
        text(readable_form("kv_cache_bytes", "context", generic))
        == text(readable_form("kv_cache_bytes", "context", gpt2))
        == "batch*kv_bytes_per_token*context"
    )
    assert text(readable_form("decode_memory_time", "weight_bytes_read", generic)).endswith(
        "/(mem_bandwidth*mbu)"
    )
    assert text(readable_form("decode_memory_time", "weight_bytes_read", gpt2)).endswith(
        "/mem_bandwidth"
    )
    assert (
        text(
            readable_form(
                "itl",
                "decode_bytes",
                gpt2,
                lambda name: parse("7 s") if name == "decode_memory_time" else None,
            )
        )
        == "max(decode_compute_time, 7)"
    )


def test_written_out_down_to_inputs(cases):
    for answers in cases:
        assert (
            text(over_inputs(parse("kv_cache_bytes"), answers))
            == "2*n_layers*n_kv_heads*head_dim*kv_bytes_per_element*batch*context"
        )
        assert text(over_inputs(parse("decode_overhead + step_overhead"), answers)) == "0"
    set_by_hand = Study(**GPT2, kv_bytes_per_token="1 kB").first
    assert (
        text(over_inputs(parse("kv_cache_bytes"), set_by_hand))
        == "batch*kv_bytes_per_token*context"
    )
    weights = Study(assume={"detail": "weights"}).first
    assert (
        text(over_inputs(parse("decode_memory_time"), weights))
        == "weight_bytes_per_param*params/(mem_bandwidth*mbu)"
    )
