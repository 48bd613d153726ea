"""Formulas written by hand: right ones, right under what they do not say, and ones with a known mistake."""

import time

import pytest

from symroof.claims.formula_claims import Sides, equal, factor_of
from symroof.claims.judge import judge
from symroof.specs.claims import ClaimSpec
from symroof.symbolic.printing import text
from symroof.symbolic.reading import parse

from ..tables import words

RATE = {"output": 100, "arrival_rate": "1 request/s"}
CASE = {"model": "llama-3-8b", "hardware": "h100-sxm", "prompt": 4096}


def judged(quantity, formula, **given):
    """A formula claim judged; ``detail`` is short for the assumption."""
    detail = {"assume": {"detail": given.pop("detail")}} if "detail" in given else {}
    return judge(ClaimSpec(id="f", quantity=quantity, formula=formula, given={**given, **detail}))


def named(judgement):
    return [slip.slip for slip in judgement.slips if slip.named]


SEEDED = [
    ("gqa_forgotten", "kv_cache_bytes", "2*L*H*d_h*b_kv*S", {}),
    ("gqa_forgotten", "decode_bytes", "weight_bytes + 2*L*H*d_h*b_kv*C*B", {"detail": "kv"}),
    ("head_dim_assumed", "kv_bytes_per_token", "2*L*H_kv*d_model/H*b_kv", {}),
    ("k_and_v_factor", "kv_cache_bytes", "L*H_kv*d_h*b_kv*S", {}),
    ("kv_heads_wrong", "kv_bytes_per_token", "2*L*d_h*b_kv", {}),
    ("layers_factor", "kv_cache_bytes", "2*H_kv*d_h*b_kv*S", {}),
    ("layers_factor", "prefill_attention_flops", "2*H*d_h*S*(S + 1)", {}),
    ("batch_factor", "kv_cache_bytes", "2*L*H_kv*d_h*b_kv*S", {"batch": 8}),
    ("batch_factor", "decode_throughput", "1/itl", {"batch": 8}),
    ("per_token_vs_per_sequence", "kv_bytes_per_token", "2*L*H_kv*d_h*b_kv*C", {}),
    ("per_device_vs_total", "weight_bytes", "P*b_w/tp", {}),
    ("bytes_per_param_forgotten", "weight_bytes", "P", {}),
    ("bytes_per_param_forgotten", "decode_memory_time", "P/mem_bandwidth", {"detail": "weights"}),
    ("precision_mixed", "weight_bytes", "2*P", {"weights": "fp8"}),
    ("bits_bytes", "kv_bytes_per_token", "16*L*H_kv*d_h*b_kv", {}),
    ("attention_ignored", "prefill_flops", "2*P*S", {"detail": "attention"}),
    ("attention_ignored", "decode_flops", "2*P*B", {"detail": "attention"}),
    ("causal_factor", "prefill_flops", "2*P*S + 4*L*H*d_h*S^2", {"detail": "attention"}),
    ("causal_factor", "prefill_attention_flops", "4*L*H*d_h*S^2", {}),
    ("kv_ignored", "decode_bytes", "weight_bytes", {"detail": "kv"}),
    ("kv_ignored", "memory_bytes", "weight_bytes", {}),
    ("mac_vs_flop", "prefill_flops", "P*S", {"detail": "weights"}),
    ("mac_vs_flop", "itl", "max(P*B/peak_flops, P*b_w/mem_bandwidth)", {"detail": "weights"}),
    ("memory_floor_ignored", "prefill_time", "2*P*S/peak_flops", {"detail": "weights"}),
    ("memory_floor_ignored", "ttft", "2*P*S/peak_flops", {}),
    ("compute_floor_ignored", "itl", "weight_bytes/mem_bandwidth", {"detail": "weights"}),
    (
        "compute_floor_ignored",
        "decode_throughput",
        "B*mem_bandwidth/weight_bytes",
        {"detail": "weights"},
    ),
    ("n_vs_n_minus_one", "decode_time", "N*itl", {"assume": {"kv_growth": "fixed"}}),
    ("n_vs_n_minus_one", "response_time", "ttft + N*tpot", {}),
    ("inverted_ratio", "ridge_point", "mem_bandwidth/peak_flops", {}),
    ("inverted_ratio", "user_rate", "itl", {}),
    ("hours_seconds", "decode_cost_per_mtok", "3600*price*itl/B*10^6", {}),
]


OTHER_COUNTS = words(
    "attention_ignored causal_factor kv_ignored memory_floor_ignored compute_floor_ignored"
)
"""Right where something is counted otherwise, or where one arm of the roofline binds: the formula does not say so."""


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    ("slip", "quantity", "formula", "given"),
    SEEDED,
    ids=[f"{slip}: {quantity} = {formula}" for slip, quantity, formula, _ in SEEDED],
)
def test_seeded_slips_are_named_first(slip, quantity, formula, given):
    found = judged(quantity, formula, **given)
    assert named(found)[:1] == [slip]
    assert found.slips[0].chance == 0
    assert found.verdict == ("conditional" if slip in OTHER_COUNTS else "wrong")


def test_a_threshold_s_closed_form_has_slips_too():
    """The cache is as large as the weights at P*b_w over one request's cache; with keys alone at twice as many requests."""
    claim = {"id": "t", "threshold": "batch_kv_equals_weights", "for": "batch"}
    assert judge(ClaimSpec(**claim, formula="P*b_w/(2*L*H_kv*d_h*b_kv*S)")).verdict == "exact"
    assert named(judge(ClaimSpec(**claim, formula="P*b_w/(2*L*H*d_h*b_kv*S)")))[:1] == [
        "gqa_forgotten"
    ]
    assert named(judge(ClaimSpec(**claim, formula="P*b_w/(L*H_kv*d_h*b_kv*S)")))[:1] == [
        "k_and_v_factor"
    ]


def test_an_input_that_a_formula_speaks_of_is_any_number():
    """A default of one device or one request makes no formula right that divides or multiplies by them."""
    for quantity, formula in (
        ("weight_bytes", "P*b_w/tp"),
        ("kv_cache_bytes", "kv_bytes_per_token*S*B^2"),
        ("prefill_compute_time", "prefill_flops/(mfu^2*F)"),
    ):
        assert judged(quantity, formula).verdict == "wrong"
    assert judged("kv_cache_bytes", "kv_bytes_per_token*S*B").verdict == "exact"
    assert judged("kv_cache_bytes", "kv_bytes_per_token*S").verdict == "exact"


@pytest.mark.parametrize(
    ("quantity", "formula", "given", "needs"),
    [
        ("kv_bytes_per_token", "2*L*H_kv*d_h*2", {}, "kv_bytes_per_element = 2 byte"),
        ("weight_bytes", "2*params", {}, "weight_bytes_per_param = 2 byte"),
        ("prefill_flops", "2*P*S + 2*L*H*d_h*S^2", {}, "prompt + 1 taken as prompt"),
        ("itl", "kv_cache_bytes/beta + max(2*B*P/F, weight_bytes/beta)", {}, "per_operator"),
        ("itl", "(2*P + 4*L*H_kv*d_h*S*B)/beta", CASE | {"batch": 4}, "no compute floor"),
    ],
)
def test_what_a_formula_needs_is_named(quantity, formula, given, needs):
    result = judged(quantity, formula, **given)
    assert result.verdict == "conditional" and needs in "; ".join(result.assumptions_needed)


def test_a_plain_2_is_right_of_a_model_of_16_bits_and_wrong_at_8():
    assert judged("weight_bytes", "2*params", model="llama-3-8b").verdict == "exact"
    assert judged("weight_bytes", "2*params", model="llama-3-8b", weights="fp8").verdict == "wrong"
    assert named(judged("kv_bytes_per_token", "4*L*H*d_h"))[:1] == ["gqa_forgotten"]


def test_near_in_numbers_wrong_in_dimension_and_too_long():
    assert judged("queue_wait", "2*itl").reason.startswith("undecided")
    close = {"output": 100, "itl": "20 ms", "assume": {"kv_growth": "fixed"}}
    found = judged("decode_time", "N*itl", **close)
    assert (found.verdict, named(found)) == ("approximate", ["n_vs_n_minus_one"])
    assert judged("itl", "2*weight_bytes").flags == ("dimension",)
    assert judged("queue_wait", "2*itl", **CASE, **RATE).verdict == "wrong"


def test_wrong_formulas_without_a_known_mistake_get_no_name_and_end_soon():
    start = time.process_time()
    for quantity, formula in (
        ("decode_bytes", "weight_bytes_read + 3*kv_bytes_per_token*C*B"),
        ("kv_cache_bytes", "2*L*H_kv*d_h*b_kv*S*d_ff"),
        ("ridge_point", "peak_flops/mem_bandwidth^2"),
        ("decode_flops", "7*P*B"),
    ):
        found = judged(quantity, formula)
        assert (found.verdict, named(found)) == ("wrong", [])
    assert time.process_time() - start < 60


def test_equality_and_factors():
    assert equal(parse("max(b/w, f/p) + t"), parse("t + max(f/p, b/w)"))
    assert not equal(parse("max(a, b)"), parse("a + b"))
    assert text(factor_of(parse("6*a*b^2"), parse("4*a*c"))) in ("3*b**2/(2*c)", "3*b^2/(2*c)")
    assert factor_of(parse("a + b"), parse("a")) is None
    sides = Sides(
        ClaimSpec(
            id="f",
            quantity="peak_kv_cache_bytes",
            formula="memory_bytes - weight_bytes",
            given=CASE,
        )
    )
    assert sides.equal


def test_a_comparison_in_where_is_refused():
    claim = ClaimSpec(id="f", quantity="kv_cache_bytes", formula="2*b", where={"b": "batch > 2"})
    assert "a comparison in where" in judge(claim).reason
