"""Which way every quantity goes with every input, by physics: what is not in its row does not move it.

A dense model of eight small layers on one device. Its prefill of 550 tokens is limited by compute, its decode steps by memory. Inputs rise by a tenth, counts
by one; only the sign of the change is looked at, and that no other input makes one.
"""

from fractions import Fraction

import pytest

from . import case

MATRICES = "n_layers d_model n_heads n_kv_heads head_dim d_ff ffn_matrices"
SHAPE = f"{MATRICES} vocab_size"
CACHE = "n_layers n_kv_heads head_dim kv_bytes_per_element"
ATTENTION = "n_layers n_heads head_dim"
WEIGHTS = f"{SHAPE} weight_bytes_per_param"
BYTES = "weight_bytes_per_param kv_bytes_per_element act_bytes_per_element"
OVERHEAD = "step_overhead layer_overhead"
MEMORY = f"{WEIGHTS} {CACHE} prompt output batch memory_reserve"
PREFILL, DECODE = "prompt prefill_batch", "prompt batch"
COMPUTED = (f"{SHAPE} {PREFILL}", "cached_prefix peak_flops mfu")
READ = (f"{SHAPE} {BYTES} {DECODE}", "mem_bandwidth mbu")
"""What a prefill limited by compute, and a decode step limited by memory, rises and falls with."""

BASE = {
    "n_layers": 8, "d_model": 512, "n_heads": 8, "n_kv_heads": 4, "head_dim": 64, "d_ff": 2048, "ffn_matrices": 3, "vocab_size": 4096,
    "weight_bytes_per_param": 2, "kv_bytes_per_element": 2, "act_bytes_per_element": 2, "link_bytes_per_element": 2, "peak_flops": 10**13, "mem_bandwidth": 10**11,
    "mem_capacity": 10**10, "memory_reserve": 10**8, "memory_share": Fraction(4, 5), "prompt": 600, "output": 100, "batch": 4, "cached_prefix": 50, "prefill_batch": 1,
    "mfu": Fraction(1, 2), "mbu": Fraction(3, 4), "step_overhead": Fraction(1, 1000), "layer_overhead": Fraction(1, 10**5), "queue_time": Fraction(1, 100),
    "price": Fraction(1, 1000), "power": 500, "host_bandwidth": 10**10, "disk_bandwidth": 10**9, "network_bandwidth": 10**10, "arrival_rate": Fraction(1, 2),
    "ttft_target": Fraction(3, 100), "chunk": 128,
}  # fmt: skip
COUNTED = {*SHAPE.split(), "prompt", "output", "batch", "cached_prefix", "prefill_batch", "chunk"}

ROWS = {  # quantity: what it rises with, what it falls with
    "ridge_point": ("peak_flops", "mem_bandwidth"),
    "effective_ridge": ("peak_flops mfu", "mem_bandwidth mbu"),
    "instance_price": ("price", ""),
    "params": (SHAPE, ""),
    "active_params": (SHAPE, ""),
    "linear_flops_per_token": (MATRICES, ""),
    "attention_flops_per_pair": (ATTENTION, ""),
    "head_flops_per_row": ("d_model vocab_size", ""),
    "weight_bytes": (WEIGHTS, ""),
    "weight_bytes_read": (WEIGHTS, ""),
    "layer_weight_bytes": (
        f"{MATRICES} weight_bytes_per_param",
        "",
        "n_layers",
    ),  # an average over the layers
    "kv_bytes_per_token": (CACHE, ""),
    "activation_bytes_per_token": (f"{MATRICES} act_bytes_per_element", ""),
    "head_activation_bytes_per_row": ("d_model vocab_size act_bytes_per_element", ""),
    "context": ("prompt", ""),
    "peak_context": ("prompt output", ""),
    "kv_cache_bytes": (f"{CACHE} prompt batch", ""),
    "peak_kv_cache_bytes": (f"{CACHE} prompt output batch", ""),
    "memory_bytes_per_device": (MEMORY, ""),
    "memory_bytes": (MEMORY, ""),
    "usable_memory": ("mem_capacity memory_share", ""),
    "memory_utilization": (MEMORY, "mem_capacity"),
    "free_memory": ("mem_capacity memory_share", MEMORY),
    "request_bytes_per_device": (f"{CACHE} prompt output", ""),
    "load_time": (WEIGHTS, "disk_bandwidth"),
    "prefill_tokens": (PREFILL, "cached_prefix"),
    "prefill_pairs": (PREFILL, "cached_prefix"),
    "prefill_span": (PREFILL, ""),  # cached tokens are read as well
    "prefill_logit_rows": ("prefill_batch", ""),
    "prefill_flops": (f"{SHAPE} {PREFILL}", "cached_prefix"),
    "prefill_bytes": (f"{SHAPE} {BYTES} {PREFILL}", "cached_prefix"),
    "prefill_compute_time": COMPUTED,
    "prefill_memory_time": (f"{SHAPE} {BYTES} {PREFILL}", "cached_prefix mem_bandwidth mbu"),
    "prefill_time": COMPUTED,
    "prefill_overhead": (f"n_layers {OVERHEAD}", ""),
    "decode_tokens": ("batch", ""),
    "decode_pairs": (DECODE, ""),
    "decode_span": (DECODE, ""),
    "decode_logit_rows": ("batch", ""),
    "decode_flops": (f"{SHAPE} {DECODE}", ""),
    "decode_bytes": (f"{SHAPE} {BYTES} {DECODE}", ""),
    "decode_compute_time": (f"{SHAPE} {DECODE}", "peak_flops mfu"),
    "decode_memory_time": READ,
    "decode_roofline_time": READ,
    "mixed_tokens": ("batch chunk", ""),
    "mixed_pairs": (f"{DECODE} chunk", ""),
    "mixed_logit_rows": ("batch", ""),
    "mixed_flops": (f"{SHAPE} {DECODE} chunk", ""),
    "mixed_bytes": (f"{SHAPE} {BYTES} {DECODE} chunk", ""),
    "mixed_time": (f"{SHAPE} {DECODE} chunk {OVERHEAD}", "peak_flops mfu"),
    "ttft": (f"{COMPUTED[0]} {OVERHEAD} queue_time", COMPUTED[1]),
    "itl": (f"{READ[0]} {OVERHEAD}", READ[1]),
    "itl_first": (f"{READ[0]} {OVERHEAD}", READ[1]),
    "itl_last": (f"{READ[0]} {OVERHEAD} output", READ[1]),
    "response_steps": ("output", ""),
    "prefill_throughput": (
        "peak_flops mfu",
        f"{SHAPE} prompt cached_prefix",
    ),  # more to attend to for each token
    "decode_throughput": ("mem_bandwidth mbu batch", f"{SHAPE} {BYTES} prompt {OVERHEAD}"),
    "user_rate": ("mem_bandwidth mbu", f"{READ[0]} {OVERHEAD}"),
    "request_throughput": ("mem_bandwidth mbu batch", f"{SHAPE} {BYTES} prompt {OVERHEAD} output"),
    "prefill_mfu": ("mfu", ""),  # limited by compute: what was assumed
    "attention_intensity": ("n_heads", "n_kv_heads kv_bytes_per_element"),
    "prefill_attention_flops": (f"{ATTENTION} {PREFILL}", "cached_prefix"),
    "prefill_linear_flops": (f"{SHAPE} {PREFILL}", "cached_prefix"),
    "logit_bytes": ("vocab_size act_bytes_per_element prefill_batch", ""),
    "sampling_flops": ("vocab_size", ""),
    "decode_cost_per_mtok": (f"{SHAPE} {BYTES} prompt {OVERHEAD} price", "mem_bandwidth mbu batch"),
    "decode_energy_per_token": (
        f"{SHAPE} {BYTES} prompt {OVERHEAD} power",
        "mem_bandwidth mbu batch",
    ),
    "step_tokens": ("batch chunk", ""),
    "compute_throughput_limit": ("peak_flops mfu", f"{SHAPE} prompt"),
    "bandwidth_throughput_limit": ("mem_bandwidth mbu", f"{CACHE} prompt"),
    "static_fill_wait": ("batch", "arrival_rate"),
    "continuous_join_wait": (f"{READ[0]} {OVERHEAD}", READ[1]),
    "uncached_tokens": ("prompt output", ""),
    "cached_tokens": ("prompt output", ""),
    "recompute_time": (f"{SHAPE} prompt", "peak_flops mfu"),
    "swap_time": (f"{CACHE} prompt", "host_bandwidth"),
    "transfer_time": (f"{CACHE} prompt", "network_bandwidth"),
    "disaggregated_ttft": (
        f"{COMPUTED[0]} {OVERHEAD} queue_time kv_bytes_per_element",
        f"{COMPUTED[1]} network_bandwidth",
    ),
    "activation_memory": (
        f"d_model d_ff ffn_matrices act_bytes_per_element {PREFILL}",
        "cached_prefix",
    ),
    "message_bytes": ("d_model link_bytes_per_element batch", ""),
    "service_time": (f"{COMPUTED[0]} {OVERHEAD}", COMPUTED[1]),
    "utilization": (f"{COMPUTED[0]} {OVERHEAD} arrival_rate", COMPUTED[1]),
    "queue_wait": (f"{COMPUTED[0]} {OVERHEAD} arrival_rate", COMPUTED[1]),
    "share_in_time": (
        f"{COMPUTED[1]} ttft_target",
        f"{COMPUTED[0]} {OVERHEAD} arrival_rate queue_time",
    ),
    "even_chunk": (DECODE, "cached_prefix output"),
    "cost_per_mtok_input": (f"{SHAPE} prompt cached_prefix price", "peak_flops mfu"),
}


@pytest.fixture(scope="module")
def cases():
    """The case, and for each input the case with more of it."""
    more = {
        name: value + (4 if name == "n_heads" else 1)
        if name in COUNTED
        else value * Fraction(11, 10)
        for name, value in BASE.items()
    }
    return case(**BASE), {name: case(**{**BASE, name: value}) for name, value in more.items()}


@pytest.mark.sample(20)
@pytest.mark.parametrize("quantity", ROWS)
def test_a_quantity_goes_the_way_that_its_inputs_push_it(cases, quantity):
    base, moved = cases
    up, down, *still = ({*names.split()} for names in ROWS[quantity])
    up -= still[0] if still else set()
    here = base.value(quantity)
    change = {name: other.value(quantity) - here for name, other in moved.items()}
    rounding = 1e-12 * abs(here)
    assert {name for name, by in change.items() if by > rounding} == up
    assert {name for name, by in change.items() if by < -rounding} == down


def test_the_case_is_on_the_arms_that_the_table_speaks_of(cases):
    base, _ = cases
    assert base.value("prefill_compute_time") > 2 * base.value("prefill_memory_time")
    assert base.value("decode_memory_time") > 2 * base.value("decode_compute_time")
    assert base.value("mixed_compute_time") > base.value("mixed_memory_time")
