"""Slips in formulas: formulas written by hand, right ones and ones with a known slip, and random wrong ones that get no name."""

from __future__ import annotations

import random

import pytest

from symroof.claims.claimed_formula import ClaimedFormula, DetailLevel
from symroof.claims.judge import judge
from symroof.claims.judgement import Judgement
from symroof.claims.slips.explanation import SlipExplanation
from symroof.specs.claims import ClaimSpec


def judged(quantity: str, formula: str, **given: object) -> Judgement:
    """A formula claim judged; ``detail`` is short for the assumption."""
    detail = {"assume": {"detail": given.pop("detail")}} if "detail" in given else {}
    return judge(ClaimSpec(id="f", quantity=quantity, formula=formula, given={**given, **detail}))


def named(judgement: Judgement) -> list[str]:
    return [slip.slip for slip in judgement.slips if slip.named]


def suggested(judgement: Judgement) -> list[SlipExplanation]:
    return [slip for slip in judgement.slips if not slip.named]


SEEDED = [
    ("gqa_forgotten", "kv_cache_bytes", "2*L*H*d_h*b_kv*S", {}),
    ("gqa_forgotten", "kv_bytes_per_token", "2*L*H*d_h*b_kv", {}),
    ("gqa_forgotten", "decode_bytes", "weight_bytes + 2*L*H*d_h*b_kv*C*B", {"detail": "kv"}),
    ("gqa_forgotten", "decode_memory_time", "(weight_bytes + 2*L*H*d_h*b_kv*C*B)/mem_bandwidth", {"detail": "kv"}),
    ("head_dim_assumed", "kv_bytes_per_token", "2*L*H_kv*d_model/H*b_kv", {}),
    ("k_and_v_factor", "kv_cache_bytes", "L*H_kv*d_h*b_kv*S", {}),
    ("k_and_v_factor", "kv_cache_bytes", "4*L*H_kv*d_h*b_kv*S", {"model": "llama-3-70b", "prompt": 4096}),
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
    ("causal_factor", "prefill_flops", "2*P*S + 4*L*H*d_h*S^2", {}),
    ("causal_factor", "prefill_attention_flops", "4*L*H*d_h*S^2", {}),
    ("kv_ignored", "decode_bytes", "weight_bytes", {"detail": "kv"}),
    ("kv_ignored", "memory_bytes", "weight_bytes", {}),
    ("mac_vs_flop", "prefill_flops", "P*S", {"detail": "weights"}),
    ("mac_vs_flop", "prefill_compute_time", "P*S/peak_flops", {"detail": "weights"}),
    ("mac_vs_flop", "itl", "max(P*B/peak_flops, P*b_w/mem_bandwidth)", {"detail": "weights"}),
    ("memory_floor_ignored", "prefill_time", "2*P*S/peak_flops", {"detail": "weights"}),
    ("memory_floor_ignored", "ttft", "2*P*S/peak_flops", {}),
    ("compute_floor_ignored", "itl", "weight_bytes/mem_bandwidth", {"detail": "weights"}),
    ("compute_floor_ignored", "itl", "(weight_bytes + kv_cache_bytes)/mem_bandwidth", {"detail": "attention"}),
    ("compute_floor_ignored", "decode_throughput", "B*mem_bandwidth/weight_bytes", {"detail": "weights"}),
    ("n_vs_n_minus_one", "decode_time", "N*itl", {"assume": {"kv_growth": "fixed"}}),
    ("n_vs_n_minus_one", "response_time", "ttft + N*itl", {"assume": {"kv_growth": "fixed"}}),
    ("n_vs_n_minus_one", "response_time", "ttft + N*tpot", {}),
    ("inverted_ratio", "ridge_point", "mem_bandwidth/peak_flops", {}),
    ("inverted_ratio", "decode_intensity", "decode_bytes/decode_flops", {}),
    ("inverted_ratio", "user_rate", "itl", {}),
    ("hours_seconds", "decode_cost_per_mtok", "3600*price*itl/B*10^6", {}),
    ("hours_seconds", "decode_cost_per_mtok", "price/3600*itl/B*10^6", {}),
]  # fmt: skip


OTHER_COUNTS = (
    "attention_ignored",
    "causal_factor",
    "kv_ignored",
    "memory_floor_ignored",
    "compute_floor_ignored",
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
    claim = {"id": "t", "threshold": "batch_kv_equals_weights", "solve_for": "batch"}
    assert judge(ClaimSpec(**claim, formula="P*b_w/(2*L*H_kv*d_h*b_kv*S)")).verdict == "exact"
    assert named(judge(ClaimSpec(**claim, formula="P*b_w/(2*L*H*d_h*b_kv*S)")))[:1] == [
        "gqa_forgotten"
    ]
    assert named(judge(ClaimSpec(**claim, formula="P*b_w/(L*H_kv*d_h*b_kv*S)")))[:1] == [
        "k_and_v_factor"
    ]


def test_a_floor_left_out_and_one_slip_more():
    found = judged("prefill_time", "P*S/peak_flops", detail="weights")
    assert set(named(found)) == {"mac_vs_flop", "memory_floor_ignored"}
    assert len({slip.text for slip in found.slips}) == 1
    cache = judged("itl", "weight_bytes/mem_bandwidth", detail="attention")
    assert (set(named(cache)), cache.verdict) == ({"kv_ignored", "compute_floor_ignored"}, "wrong")


def test_words_factor_and_json():
    found = judged("kv_cache_bytes", "2*L*H*d_h*b_kv*S")
    assert found.slips[0].as_json() == {
        "slip": "gqa_forgotten", "named": True, "chance": 0.0, "text": "query heads used for KV heads in the cache: ×n_heads/n_kv_heads",
        "explains": "2*n_layers*n_heads*head_dim*kv_bytes_per_element*prompt",
    }  # fmt: skip
    assert (
        judged("prefill_flops", "2*P*S + 4*L*H*d_h*S^2")
        .slips[0]
        .text.endswith("at detail attention")
    )


def test_a_formula_close_in_numbers_is_explained_where_no_tolerance_is_stated():
    """100 steps for 99 are 1 % too many."""
    close = ClaimSpec(
        id="b",
        quantity="decode_time",
        formula="N*itl",
        given={"output": 100, "itl": "20 ms", "assume": {"kv_growth": "fixed"}},
    )
    assert (judge(close).verdict, named(judge(close))) == ("approximate", ["n_vs_n_minus_one"])
    assert judge(close.model_copy(update={"tolerance": "2 %"})).slips == ()


@pytest.mark.full
def test_free_parameters_are_suggested_with_their_value():
    half = suggested(judged("prefill_compute_time", "2*prefill_flops/(0.8*peak_flops)"))
    assert [(slip.slip, slip.text) for slip in half] == [
        ("hidden_efficiency", "equal at mfu 0.4: that share of the peak is reached")
    ]
    assert half[0].chance > 0.2
    arm = suggested(
        judged("itl", "max(2*P*B/(0.6*peak_flops), P*b_w/mem_bandwidth)", detail="weights")
    )
    assert "mfu 0.6" in arm[0].text
    added = suggested(judged("itl", "decode_roofline_time + 3 ms"))
    assert [(slip.slip, slip.text) for slip in added] == [
        ("hidden_overhead", "3 ms more than derived: a fixed overhead of that length")
    ]


@pytest.mark.full
def test_what_is_said_of_a_formula_fits_beside_it():
    """At full detail the factor between two maxima has a thousand characters."""
    assert len(judged("prefill_time", "P*S/F").reason) <= 202


@pytest.mark.full
def test_right_and_stated_formulas_have_no_slips():
    assert judged("kv_cache_bytes", "2*L*H_kv*d_h*b_kv*S").slips == ()
    assert judged("prefill_flops", "2*P*S").slips == ()  # at detail weights
    assert judged("memory_bytes", "weight_bytes + kv_cache_bytes + 7*weight_bytes").slips == ()


def test_nothing_is_right_where_nothing_of_it_is_left():
    """Three caches are not explained by there being none."""
    assert (
        named(judged("decode_bytes", "weight_bytes_read + 3*kv_bytes_per_token*C*B", detail="kv"))
        == []
    )


# ------------------------------------------------------------------------------------------------------ measured

Term = tuple[float, dict[str, int]]
"""A number times names to powers."""
RIGHT: list[tuple[str, dict[str, object], list[Term]]] = [
    ("kv_cache_bytes", {}, [(2, {"L": 1, "H_kv": 1, "d_h": 1, "b_kv": 1, "S": 1, "B": 1})]),
    ("kv_bytes_per_token", {}, [(2, {"L": 1, "H_kv": 1, "d_h": 1, "b_kv": 1})]),
    ("weight_bytes", {}, [(1, {"P": 1, "b_w": 1})]),
    ("memory_bytes", {"output": 1}, [(1, {"P": 1, "b_w": 1}), (2, {"L": 1, "H_kv": 1, "d_h": 1, "b_kv": 1, "S": 1, "B": 1})]),
    ("prefill_flops", {"detail": "attention"}, [(2, {"P": 1, "S": 1}), (2, {"L": 1, "H": 1, "d_h": 1, "S": 2}), (2, {"L": 1, "H": 1, "d_h": 1, "S": 1})]),
    ("decode_flops", {"detail": "attention"}, [(2, {"P": 1, "B": 1}), (4, {"L": 1, "H": 1, "d_h": 1, "S": 1, "B": 1})]),
    ("decode_bytes", {"detail": "kv"}, [(1, {"P": 1, "b_w": 1}), (2, {"L": 1, "H_kv": 1, "d_h": 1, "b_kv": 1, "S": 1, "B": 1})]),
    ("decode_memory_time", {"detail": "weights"}, [(1, {"P": 1, "b_w": 1, "mem_bandwidth": -1})]),
    ("prefill_compute_time", {"detail": "weights"}, [(2, {"P": 1, "S": 1, "peak_flops": -1})]),
    ("ridge_point", {}, [(1, {"peak_flops": 1, "mem_bandwidth": -1})]),
    ("decode_cost_per_mtok", {}, [(1e6, {"price": 1, "itl": 1, "B": -1})]),
    ("attention_intensity", {}, [(2, {"H": 1, "H_kv": -1, "b_kv": -1})]),
]  # fmt: skip
NAMES = (
    "L", "H", "H_kv", "d_h", "d_model", "d_ff", "vocab_size", "b_w", "b_kv", "b_a", "S", "N", "B",
    "P", "tp", "peak_flops", "mem_bandwidth", "mem_capacity",
)  # fmt: skip


def spelled(terms: list[Term]) -> str:
    return " + ".join(
        "*".join([repr(number), *(f"{name}^({power})" for name, power in powers.items() if power)])
        for number, powers in terms
    )


def mistaken(rng: random.Random, terms: list[Term]) -> list[Term]:
    """A formula with one random error in one of its terms: a number, a power, a name for another, a name too many, a term too many."""
    made = [(number, dict(powers)) for number, powers in terms]
    at = rng.randrange(len(made))
    number, powers = made[at]
    match rng.choice(("number", "power", "name", "extra", "term")):
        case "number":
            over, under = rng.sample(range(1, 21), 2)
            made[at] = (number * over / under, powers)
        case "power":
            powers[rng.choice(sorted(powers))] += rng.choice((-2, 1, 2))
        case "name":
            gone = rng.choice(sorted(powers))
            other = rng.choice([name for name in NAMES if name not in powers])
            powers[other] = powers.pop(gone)
        case "extra":
            powers[rng.choice([name for name in NAMES if name not in powers])] = rng.choice((-1, 1))
        case "term":
            made.append(
                (rng.randint(1, 20), {name: rng.choice((-1, 1)) for name in rng.sample(NAMES, 2)})
            )
    return made


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


def test_the_formulas_that_errors_are_made_in_are_right():
    assert [
        quantity
        for quantity, given, terms in RIGHT
        if judged(quantity, spelled(terms), **given).verdict != "exact"
    ] == []


@pytest.mark.full
def test_random_wrong_formulas_are_seldom_named():
    """Of 50 formulas with a random error in them fewer than 5 % get a named slip, which then is one: H in the place of H_kv is drawn as well."""
    rng = random.Random(5)
    count = misnamed = 0
    while count < 50:
        quantity, given, terms = rng.choice(RIGHT)
        found = judged(quantity, spelled(mistaken(rng, terms)), **given)
        if found.verdict != "exact":
            count += 1
            misnamed += bool(named(found))
    assert misnamed < 3


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("quantity", "formula", "needs"),
    [
        (
            "kv_bytes_per_token",
            "2*n_layers*n_kv_heads*head_dim*2",
            ("kv_bytes_per_element = 2 byte",),
        ),
        ("weight_bytes", "2*params", ("weight_bytes_per_param = 2 byte",)),
        (
            "decode_memory_time",
            "(2*params + 4*n_layers*n_kv_heads*head_dim*context*batch)/mem_bandwidth",
            ("detail attention", "weight_bytes_per_param = 2 byte, kv_bytes_per_element = 2 byte"),
        ),
    ],
)
def test_a_plain_2_for_two_bytes_holds_where_a_number_has_16_bits(quantity, formula, needs):
    """What most people write: right at 16 bits, which a model states and a bare formula does not; wrong at 8 bits."""
    bare = judged(quantity, formula)
    assert (bare.verdict, bare.needs) == ("conditional", needs)
    of_a_model = judged(quantity, formula, model="llama-3-8b")
    assert (of_a_model.verdict, of_a_model.needs) == (
        ("conditional", needs[:1]) if needs[1:] else ("exact", ())
    )
    assert judged(quantity, formula, model="llama-3-8b", weights="fp8", kv="fp8").verdict == "wrong"


def test_the_wrong_heads_and_a_plain_2_are_still_the_wrong_heads():
    assert named(judged("kv_bytes_per_token", "4*n_layers*n_heads*head_dim"))[:1] == [
        "gqa_forgotten"
    ]


@pytest.mark.full
def test_weights_and_cache_over_the_bandwidth_is_the_itl_where_memory_binds():
    """The one formula of every post: at batch 4 on an H100, the larger term of the roofline, in all but the details."""
    result = judged(
        "itl",
        "(2*P + 4*n_layers*H_kv*d_h*S*B)/mem_bandwidth",
        model="llama-3-8b",
        hardware="h100-sxm",
        prompt=2048,
        batch=4,
    )
    assert result.verdict == "conditional" and "decode bound by memory" in result.needs[0]


@pytest.mark.sample(1)
@pytest.mark.parametrize("given", [{}, {"model": "llama-3-8b"}])
def test_the_square_of_a_prompt_is_its_pairs_where_it_is_long(given):
    """The published 2PS + 2 L d S^2: S*(S + 1) pairs, of which S are nothing beside S^2. Twice the square is the causal half forgotten."""
    result = judged("prefill_flops", "2*P*S + 2*L*H*d_h*S^2", **given)
    assert (
        result.verdict == "conditional"
        and "prompt + 1 taken as prompt" in result.needs[0]
        and "detail attention" in result.needs[0]
    )
    assert judged("prefill_flops", "P*S + 2*L*H*d_h*S^2", **given).verdict == "wrong"


@pytest.mark.parametrize(
    ("quantity", "formula", "equal"),
    [
        ("kv_cache_bytes", "kv_bytes_per_token*batch*context", True),
        ("peak_kv_cache_bytes", "memory_bytes - weight_bytes", True),
        ("peak_kv_cache_bytes", "memory_bytes", False),
    ],
)
def test_sides_that_are_equal_over_the_names_of_the_claim_or_over_inputs(quantity, formula, equal):
    """Memory holds weights and caches. That the rest is the caches shows over inputs alone: nothing that caches are made of has memory's name."""
    case = {"model": "llama-3-8b", "hardware": "h100-sxm", "prompt": 4096}
    assert (
        DetailLevel(
            "", ClaimedFormula(ClaimSpec(id="f", quantity=quantity, formula=formula, given=case))
        ).equal
        is equal
    )
