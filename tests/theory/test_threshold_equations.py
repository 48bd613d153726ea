"""The two sides of every threshold, over made-up values of their names, against the same written a second time from its question."""

import pytest

from symroof.symbolic.evaluation import evaluate
from symroof.symbolic.expressions import operator_of
from symroof.symbolic.reading import parse
from symroof.theory.thresholds import THRESHOLDS

from ..near import near
from .made_up import Made

POINTS = [
    *map(Made, range(3)),
    *(
        Made(4, **{name: 10**9})
        for name in ("itl_last", "memory_bytes_per_device", "decode_compute_time")
    ),
]
"""Random ones, and one for each of three limits that a batch may reach first."""


def full(v):
    return v.memory_bytes_per_device, v.mem_capacity * v.memory_share


def ttft(v):
    return v.ttft, v.ttft_target


def last_step(v):
    return v.itl_last, v.itl_target


def at_work(v):
    return v.sustained_itl, v.itl_target


def one_more_request(v, name, **of_experts):
    """The time that a second request adds to a step's."""
    return v(name, batch=2, **of_experts) - v(name, batch=1, **of_experts)


LIMITS = {  # name: unknown, sides; the answer is the last value before the sides change over
    "context_beyond_ridge": ("context", lambda v: (one_more_request(v, "decode_compute_time"), one_more_request(v, "decode_memory_time", experts_read=1))),
    "max_batch_memory": ("batch", full),
    "max_context_memory": ("context", full),
    "max_prompt_memory": ("prompt", full),
    "max_weight_width_memory": ("weight_bytes_per_param", full),
    "min_capacity_memory": ("mem_capacity", full),
    "max_batch_itl": ("batch", last_step),
    "max_num_seqs": ("batch", lambda v: (max(v.itl_last / v.itl_target, v.memory_bytes_per_device / v.usable_memory_per_device, v.decode_compute_time / v.decode_memory_time), 1)),
    "max_context_itl": ("context", lambda v: (v.itl, v.itl_target)),
    "max_prompt_ttft": ("prompt", ttft),
    "min_bandwidth_itl": ("mem_bandwidth", last_step),
    "min_flops_ttft": ("peak_flops", ttft),
    "min_mfu_ttft": ("mfu", ttft),
    "min_mbu_itl": ("mbu", last_step),
    "max_chunk_itl": ("chunk", lambda v: (v.mixed_time, v.itl_target)),
    "free_chunk": ("chunk", lambda v: (v.mixed_compute_time, v.decode_memory_time)),
    "batch_verify_ridge": ("batch", lambda v: (v.verify_compute_time, v.verify_memory_time)),
    "min_acceptance_speculation": ("acceptance", lambda v: (v.speculation_speedup, v.speedup_target)),
    "max_batch_speculation": ("batch", lambda v: (v.speculation_speedup, 1)),
    "min_host_bandwidth_swap": ("host_bandwidth", lambda v: (v.swap_time, v.recompute_time)),
    "min_network_bandwidth_transfer": ("network_bandwidth", lambda v: (v.transfer_time, v.itl)),
    "max_arrival_ttft": ("arrival_rate", lambda v: (v.loaded_ttft, v.ttft_target)),
    "max_batch_sustained_itl": ("batch", at_work),
    "max_chunk_sustained_itl": ("chunk", at_work),
    "output_disaggregation_pays": (
        "output", lambda v: (v.disaggregated_target_rate / (v.prefill_devices + v.instance_devices), v.chunked_target_rate / v.instance_devices),
    ),
    "break_even_price": ("price", lambda v: (v.price_ratio, v.break_even_ratio)),
    "max_price_cost": ("price", lambda v: (v.cost_per_mtok, v.cost_target)),
    "weight_width_stops_helping": ("weight_bytes_per_param", lambda v: (v.decode_memory_time, v.decode_compute_time)),
    "cache_width_stops_helping": ("kv_bytes_per_element", lambda v: (v.decode_memory_time, v.decode_compute_time)),
}  # fmt: skip
REACHED = {  # the same; the answer is the first value at which they have
    "batch_to_ridge": ("batch", lambda v: (v.decode_compute_time, v.decode_memory_time)),
    "prompt_to_ridge": ("prompt", lambda v: (v.prefill_compute_time, v.prefill_memory_time)),
    "gemm_rows_to_ridge": ("gemm_m", lambda v: (v.gemm_intensity, v.effective_ridge)),
    "prompt_ttft_exceeds_decode": ("prompt", lambda v: (v.ttft, v.decode_time)),
    "output_decode_exceeds_ttft": ("output", lambda v: (v.decode_time, v.ttft)),
    "batch_kv_equals_weights": ("batch", lambda v: (v.kv_cache_bytes, v.weight_bytes)),
    "context_kv_equals_weights": ("context", lambda v: (v.kv_cache_bytes, v.weight_bytes)),
    "context_cache_full": ("context", lambda v: (v("kv_cache_bytes", context=v.context + 1), v.kv_cache_bytes)),
    "min_devices_memory": ("tp", full),
    "min_devices_ttft": ("tp", ttft),
    "min_devices_itl": ("tp", last_step),
    "best_draft_tokens": ("draft_tokens", lambda v: (v("speculation_speedup", draft_tokens=v.draft_tokens + 1), v.speculation_speedup)),
    "useful_devices_itl": ("tp", lambda v: (v("itl", tp=v.tp + 1), v.itl)),
    "devices_link_bound": ("tp", lambda v: (v.decode_link_time, v.decode_roofline_time)),
    "min_copies_arrival": ("dp", lambda v: (v.load, 1)),
    "prefill_devices_pace": ("prefill_devices", lambda v: (v.prefill_request_rate, v.decode_request_rate)),
    "output_equal_shares": (
        "output", lambda v: (v.loaded_decode_time * v.slot_steps / v.batch, v.prefill_time / v.prefill_batch + v.prefill_overhead / v.prefill_batch),
    ),
    "cached_prefix_memory_bound": ("cached_prefix", lambda v: (v.prefill_compute_time, v.prefill_memory_time)),
    "launches_dominate": ("kernels_per_layer", lambda v: (v.launch_time, v.decode_roofline_time)),
    "attention_reaches_share": ("prompt", lambda v: (v.attention_to_linear, v.attention_share)),
    "attention_equals_linear": ("prompt", lambda v: (v.prefill_attention_flops, v.prefill_linear_flops)),
    "batch_reads_experts": ("batch", lambda v: (v.experts_read, v.n_experts * v.expert_share)),
}  # fmt: skip


def test_every_threshold_has_a_row():
    for kind, rows in (("limit", LIMITS), ("reach", REACHED)):
        assert {
            name for name, threshold in THRESHOLDS.items() if threshold.kind == kind
        } == rows.keys()


@pytest.mark.sample(5)
@pytest.mark.parametrize("name", [*LIMITS, *REACHED])
def test_the_sides_of_an_equation(name):
    unknown, by_hand = {**LIMITS, **REACHED}[name]
    equation = parse(THRESHOLDS[name].equation)
    assert (operator_of(equation), THRESHOLDS[name].unknown) == ("=", unknown)
    for point in POINTS:
        assert (evaluate(equation.lhs, point), evaluate(equation.rhs, point)) == near(
            by_hand(point)
        )
