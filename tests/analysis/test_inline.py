"""Formulas opened as far as an unknown reaches, as a reader would write them: what it does not move keeps its name, and defaults without effect are left out."""

import pytest

from symroof.analysis.inline import inlined, over_inputs, readable_form, shortest
from symroof.api import Study
from symroof.symbolic.printing import text
from symroof.symbolic.reading import parse

GPT2 = {"model": "gpt2", "hardware": "h100-sxm", "engine": "ideal", "prompt": 100, "output": 20}
FLOPS = "batch*linear_flops_per_token + batch*attention_flops_per_pair*context + batch*head_flops_per_row"
BYTES = "weight_bytes_read + batch*kv_bytes_per_token*context + batch*activation_bytes_per_token + batch*head_activation_bytes_per_row"
OPENED = [  # formula, unknown, options -> opened
    ("weight_bytes", "batch", {}, "weight_bytes"),
    ("kv_cache_bytes", "context", {}, "kv_bytes_per_token*context"),  # a batch of one is left out
    ("kv_cache_bytes", "context", {"fixed": frozenset({"batch"})}, "batch*kv_bytes_per_token*context"),
    ("kv_cache_bytes", "batch", {}, "batch*kv_bytes_per_token*context"),
    ("kv_cache_bytes", "kv_cache_bytes", {}, "kv_cache_bytes"),
    ("kv_cache_bytes", "kv_bytes_per_token", {}, "kv_bytes_per_token*context"),
    ("memory_bytes_per_device", "batch", {}, "weight_bytes + batch*kv_bytes_per_token*peak_context"),
    # a quantity at a changed input, as far as the change reaches
    ("kv_cache_bytes(context = prompt + 1)", "prompt", {}, "kv_bytes_per_token*(prompt + 1)"),
    ("kv_cache_bytes(batch = 2*batch)", "batch", {}, "2*batch*kv_bytes_per_token*context"),
    ("weight_bytes(batch = 3)", "batch", {}, "weight_bytes"),
    # efficiencies of one are left out of numbers, and stay in a symbolic answer; a name of the formula itself stays
    ("decode_compute_time", "batch", {}, f"({FLOPS})/peak_flops"),
    ("decode_compute_time", "batch", {"symbolic": True}, f"({FLOPS})/(peak_flops*mfu)"),
    ("decode_compute_time*mfu", "batch", {}, f"({FLOPS})/peak_flops"),
    ("decode_memory_time", "batch", {}, f"({BYTES})/mem_bandwidth"),
    ("decode_memory_time", "batch", {"fixed": frozenset({"mbu"})}, f"({BYTES})/(mem_bandwidth*mbu)"),
    ("itl", "batch", {}, f"max(({FLOPS})/peak_flops, ({BYTES})/mem_bandwidth)"),  # links of one device take no time
]  # fmt: skip


@pytest.fixture(scope="module")
def cases():
    return Study().first, Study(**GPT2).first


@pytest.mark.sample(5)
@pytest.mark.parametrize("row", OPENED, ids=lambda row: f"{row[0]} in {row[1]} {sorted(row[2])}")
def test_opened_as_far_as_the_unknown_reaches(row, cases):
    formula, unknown, options, expected = row
    for answers in cases:
        assert text(inlined(parse(formula), unknown, answers, **options)) == expected


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


def test_the_shortest_form(cases):
    """A definition is put in where that makes the line shorter; not one that was set, nor a name that readers know."""
    assert (
        text(shortest(parse("gemm_flops/(gemm_k*gemm_n*weight_bytes_per_param)"), cases[0]))
        == "2*gemm_m/weight_bytes_per_param"
    )
    assert (
        text(shortest(parse("gemm_flops/gemm_k"), Study(gemm_flops="7 FLOP").first))
        == "gemm_flops/gemm_k"
    )
    assert text(shortest(parse("kv_cache_bytes + 1 byte"), cases[0])) == "kv_cache_bytes + 1"
    assert text(shortest(parse("2*context"), Study(prompt=100).first)) == "2*context"
