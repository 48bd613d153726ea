"""Formulas that are right in a part of the cases, or of any number of devices; and those of which algebra tells nothing."""

import pytest

from symroof.claims.judge import judge
from symroof.specs.claims import ClaimSpec

CASE = {"model": "llama-3-8b", "hardware": "h100-sxm", "prompt": 2000, "output": 200, "batch": 8}


def judged(quantity, formula, **given):
    return judge(ClaimSpec(id="a", quantity=quantity, formula=formula, given=given))


# A backlog of 3 arrivals a second, served at 2 a second (half a second each), grows for 10 s by one a second; of one a second there is none.
BACKLOG = "(burst_rate - 1/service_time)*burst_duration"
BURST = {"burst_duration": "10 s", "service_time": "0.5 s"}


def test_what_is_never_below_zero_is_a_condition_of_a_formula_without_the_floor():
    judgement = judged("burst_backlog", BACKLOG)
    assert (judgement.verdict, judgement.needs) == (
        "conditional",
        ("burst_rate - 1/service_time >= 0",),
    )


def test_the_condition_is_met_by_the_numbers_of_the_case_or_the_formula_is_wrong():
    assert judged("burst_backlog", BACKLOG, burst_rate="3 request/s", **BURST).verdict == "exact"
    assert judged("burst_backlog", BACKLOG, burst_rate="1 request/s", **BURST).verdict == "wrong"


def test_only_the_floor_that_matters_is_named():
    """A queue that grows has no drain time, so that its floor goes without saying."""
    judgement = judged(
        "burst_drain_time",
        "(burst_rate*service_time - 1)*burst_duration/(1 - arrival_rate*service_time)",
    )
    assert judgement.needs == ("burst_rate - 1/service_time >= 0",)


@pytest.mark.full
@pytest.mark.parametrize(
    "formula", ["(burst_rate - 2/service_time)*burst_duration", "burst_rate*burst_duration"]
)
def test_another_formula_is_wrong_with_and_without_the_floor(formula):
    assert judged("burst_backlog", formula).verdict == "wrong"


def test_a_formula_that_does_not_round_says_so_where_no_numbers_tell_how_much_that_is():
    rest = "(usable_memory_per_device - memory_reserve - weight_bytes)/request_bytes_per_device"
    needs = judged("concurrency", rest).needs
    assert needs[0].startswith("floor(") and needs[0].endswith(" >= 0")
    assert needs[1:] == ("it is not rounded down to a whole number",)
    numbers = {
        "model": "llama-3-8b",
        "hardware": "h100-sxm",
        "prompt": 1000,
        "output": 100,
    }  # some 460 requests: at most one in 460 off
    assert judged("concurrency", rest, **numbers).verdict == "approximate"


def test_heads_that_no_more_devices_divide_are_a_condition():
    """Eight heads on sixteen devices are held twice: a sixteenth of the cache a device is too little."""
    judgement = judged(
        "kv_bytes_per_token_per_device", "kv_bytes_per_token/tp", model="llama-3-70b"
    )
    assert (judgement.verdict, judgement.needs) == ("conditional", ("n_kv_heads/tp >= 1",))


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("quantity", "formula"),
    [
        ("weight_bytes_per_device", "weight_bytes/tp"),
        ("devices", "tp*pp*dp"),
        ("instance_price", "price*tp"),
        ("fleet_price", "price*tp*dp"),
    ],
)
def test_a_formula_over_degrees_is_about_any_number_of_devices(quantity, formula):
    assert judged(quantity, formula).verdict == "exact"
    assert judged(quantity, f"2*{formula}").verdict == "wrong"


def test_a_degree_that_the_claim_sets_is_that():
    assert judged("devices", "tp*pp*dp", tp=2, pp=1, dp=1).verdict == "exact"
    assert judged("instance_price", "price", tp=2).verdict == "wrong"
    assert judged("instance_price", "price", tp=1).verdict == "exact"


def test_where_algebra_tells_nothing_numbers_of_the_case_do():
    judgement = judged("loaded_ttft", "prefill_time + queue_wait", **CASE)
    assert judgement.verdict == "wrong"
    assert judgement.reason.endswith("times what is derived where arrival_rate = 0.001 request/s")


def test_what_neither_tells_is_not_called_wrong():
    """Of a device without a model there are no numbers, and a sum over the pieces of a long prompt is not taken at random points."""
    judgement = judged(
        "loaded_ttft", "prefill_time + queue_wait", hardware="h100-sxm", prompt=2000, output=200
    )
    assert judgement.verdict == "unchecked"
    assert judgement.reason.startswith("undecided")


def test_a_case_with_numbers_for_everything_tells_where_the_claim_has_none():
    judgement = judged("loaded_ttft", "prefill_time + queue_wait", prompt=2000, output=200)
    assert (judgement.verdict, judgement.reason.partition("times ")[2]) == (
        "wrong",
        "what is derived in a case that it was tried in",
    )


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("quantity", "formula", "verdict", "needs"),
    [
        ("cost_per_mtok", "10^6*price*tp/sustained_throughput", "exact", ()),
        ("cost_per_mtok", "10^6*price/decode_throughput", "conditional", ("prefills left out",)),
        ("cost_per_mtok", "2*10^6*price/decode_throughput", "wrong", ()),
        ("energy_per_token", "power/decode_throughput", "conditional", ("prefills left out",)),
        ("cost_per_mtok", "10^6*price*weight_bytes/(mem_bandwidth*batch)", "conditional", ("prefills left out", "decode bound by memory, at detail weights")),
        ("memory_bytes", "weight_bytes + kv_cache_bytes", "conditional", ("the output left out of the longest context",)),
        ("peak_kv_cache_bytes", "kv_bytes_per_token*batch*(prompt + output)", "conditional", ("prompt + output - 1 taken as prompt + output",)),
        ("kv_cache_bytes", "kv_bytes_per_token*batch*(prompt + output)", "conditional", ("context = prompt + output",)),
        ("response_time", "2*P*S/peak_flops + (N - 1)*weight_bytes/mem_bandwidth", "conditional",
         ("prefill bound by compute", "decode bound by memory", "detail weights")),
        ("prefill_time", "2*P*S/(peak_flops*tp)", "conditional", ("prefill bound by compute, at detail kv", "links left out")),
        ("speculation_speedup", "tokens_per_verify/(1 + draft_tokens*draft_cost)", "conditional", ("a verification takes as long as a decode step",)),
        ("params", "n_layers*(2*d_model^2 + 2*d_model*n_kv_heads*head_dim + 3*d_model*d_ff) + 2*vocab_size*d_model", "conditional",
         ("norms and biases left out", "ffn_matrices = 3", "d_model = n_heads*head_dim")),
    ],
)  # fmt: skip
def test_what_texts_leave_out_is_named(quantity, formula, verdict, needs):
    judgement = judged(quantity, formula)
    assert (judgement.verdict, judgement.needs) == (verdict, needs)


@pytest.mark.full
@pytest.mark.parametrize(
    ("quantity", "formula", "slip"),
    [
        ("response_time", "2*P*S/peak_flops + N*weight_bytes/mem_bandwidth", "n_vs_n_minus_one"),
        ("kv_cache_bytes", "2*L*H*d_h*kv_bytes_per_element*B*(S + N)", "gqa_forgotten"),
    ],
)
def test_a_slip_in_what_leaves_something_out(quantity, formula, slip):
    judgement = judged(quantity, formula)
    assert (judgement.verdict, [one.slip for one in judgement.slips if one.named]) == (
        "wrong",
        [slip],
    )


def test_a_step_at_its_own_context_is_not_a_step_in_general():
    """``ttft + (output - 1)*itl`` is right where no step sees a longer context than another, and 26 % off in this case."""
    wrong = ClaimSpec(
        id="c",
        quantity="response_time",
        formula="ttft + (output - 1)*itl",
        given={
            "model": "llama-3-8b",
            "hardware": "h100-sxm",
            "prompt": 4096,
            "batch": 64,
            "output": 4096,
        },
    )
    assert judge(wrong).verdict == "conditional"
    assert (
        judge(ClaimSpec(id="c", quantity="response_time", formula="ttft + decode_time")).verdict
        == "exact"
    )


def test_requests_are_not_tokens():
    given = {
        "model": "llama-3-8b",
        "hardware": "h100-sxm",
        "prompt": 4096,
        "batch": 8,
        "output": 256,
    }
    verdicts = [
        judge(ClaimSpec(id="c", quantity="decode_throughput", value=value, given=given)).verdict
        for value in ("1,385 requests/s", "1,385 tokens/s", "1385")
    ]
    assert verdicts == ["wrong", "rounded", "rounded"]


@pytest.mark.parametrize(
    ("quantity", "formula", "given", "said"),
    [
        ("kv_cache_bytes", "context*kv_bytes_per_token", {}, "at a batch of 1"),
        ("kv_cache_bytes", "batch*context*kv_bytes_per_token", {}, ""),
        ("kv_cache_bytes", "context*kv_bytes_per_token", {"batch": 1}, ""),
        ("decode_throughput", "1/itl", {}, "at a batch of 1"),
        ("weight_bytes_per_device", "weight_bytes", {}, "at one device"),
        ("weight_bytes_per_device", "weight_bytes/tp", {}, ""),
        ("kv_cache_bytes_per_device", "kv_cache_bytes", {"batch": 8}, "at one device"),
        ("weight_bytes", "params*weight_bytes_per_param", {}, ""),
    ],
)
def test_a_formula_that_forgets_the_batch_or_the_devices_is_told_what_it_stands_at(
    quantity, formula, given, said
):
    judgement = judged(quantity, formula, **given)
    assert (judgement.verdict, judgement.reason) == ("exact", said)


def test_a_number_in_place_of_a_formula_is_that_of_the_case():
    """Keys and values of 32 layers, 8 heads of 128, 2 bytes each."""
    assert (
        judged("kv_bytes_per_token", f"{2 * 32 * 8 * 128 * 2} byte/token", **CASE).verdict
        == "exact"
    )
    assert (
        judged("kv_bytes_per_token", f"{2 * 32 * 8 * 128 * 2 + 1} byte/token", **CASE).verdict
        == "approximate"
    )
    assert (
        judged("kv_bytes_per_token", f"{2 * 32 * 32 * 128 * 2} byte/token", **CASE).verdict
        == "wrong"
    )


@pytest.mark.sample(1)
@pytest.mark.parametrize("given", [{}, CASE], ids=["any model", "a model with a table of its own"])
@pytest.mark.parametrize(
    ("quantity", "formula"),
    [("prefill_flops", "2*active_params*prompt"), ("decode_flops", "2*active_params*batch")],
)
def test_parameters_that_multiply_a_token_are_a_count_of_dense_models_too(quantity, formula, given):
    """Two FLOPs a parameter leave attention out and count the head for every token, whichever of its two tables is meant."""
    size = {
        key: value for key, value in given.items() if quantity == "decode_flops" or key != "batch"
    } | ({"prompt": 8000} if given else {})
    judgement = judged(quantity, formula, **size)
    assert judgement.verdict == "conditional" and judgement.needs == (
        "detail kv, with params = active_params",
    )
    assert judged(quantity, f"3*{formula}", **size).verdict == "wrong"
