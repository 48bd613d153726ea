"""Which way every quantity goes with every input, by physics: what is not in its row does not move it.

A dense model of eight small layers on one device. Its prefill of 550 tokens is limited by compute, its decode steps by memory. Inputs rise by a tenth, counts
by one; only the sign of the change is looked at, and that no other input makes one.
"""

from fractions import Fraction

import pytest

from ..tables import table, words
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
NETWORKED = f"{COMPUTED[1]} network_bandwidth"
READ = (f"{SHAPE} {BYTES} {DECODE}", "mem_bandwidth mbu")
"""What a prefill limited by compute, and a decode step limited by memory, rises and falls with."""

BASE = {
    name: Fraction(value)
    for name, _, value in (
        word.partition("=")
        for word in words(
            "n_layers=8 d_model=512 n_heads=8 n_kv_heads=4 head_dim=64 d_ff=2048 ffn_matrices=3 "
            "vocab_size=4096 weight_bytes_per_param=2 kv_bytes_per_element=2 "
            "act_bytes_per_element=2 link_bytes_per_element=2 peak_flops=1e13 mem_bandwidth=1e11 "
            "mem_capacity=1e10 memory_reserve=1e8 memory_share=4/5 prompt=600 output=100 batch=4 "
            "cached_prefix=50 prefill_batch=1 mfu=1/2 mbu=3/4 step_overhead=1e-3 "
            "layer_overhead=1e-5 queue_time=1e-2 price=1e-3 power=500 host_bandwidth=1e10 "
            "disk_bandwidth=1e9 network_bandwidth=1e10 arrival_rate=1/2 ttft_target=3/100 chunk=128"
        )
    )
}
COUNTED = {*SHAPE.split(), "prompt", "output", "batch", "cached_prefix", "prefill_batch", "chunk"}

# a quantity: what it rises with, and what it falls with
TABLE = f"""
effective_ridge | peak_flops mfu | mem_bandwidth mbu
active_params | {SHAPE} |
attention_flops_per_pair | {ATTENTION} |
weight_bytes | {WEIGHTS} |
# an average over the layers
layer_weight_bytes | {MATRICES.removeprefix("n_layers ")} weight_bytes_per_param |
kv_cache_bytes | {CACHE} prompt batch |
memory_bytes | {MEMORY} |
memory_utilization | {MEMORY} | mem_capacity
free_memory | mem_capacity memory_share | {MEMORY}
load_time | {WEIGHTS} | disk_bandwidth
# cached tokens are read as well
prefill_span | {PREFILL} |
prefill_flops | {SHAPE} {PREFILL} | cached_prefix
prefill_time | {COMPUTED[0]} | {COMPUTED[1]}
decode_bytes | {SHAPE} {BYTES} {DECODE} |
decode_memory_time | {READ[0]} | {READ[1]}
mixed_time | {SHAPE} {DECODE} chunk {OVERHEAD} | peak_flops mfu
ttft | {COMPUTED[0]} {OVERHEAD} queue_time | {COMPUTED[1]}
itl_last | {READ[0]} {OVERHEAD} output | {READ[1]}
# more to attend to for each token
prefill_throughput | peak_flops mfu | {SHAPE} prompt cached_prefix
decode_throughput | mem_bandwidth mbu batch | {SHAPE} {BYTES} prompt {OVERHEAD}
request_throughput | mem_bandwidth mbu batch | {SHAPE} {BYTES} prompt {OVERHEAD} output
attention_intensity | n_heads | n_kv_heads kv_bytes_per_element
decode_cost_per_mtok | {SHAPE} {BYTES} prompt {OVERHEAD} price | mem_bandwidth mbu batch
bandwidth_throughput_limit | mem_bandwidth mbu | {CACHE} prompt
static_fill_wait | batch | arrival_rate
recompute_time | {SHAPE} prompt | peak_flops mfu
swap_time | {CACHE} prompt | host_bandwidth
disaggregated_ttft | {COMPUTED[0]} {OVERHEAD} queue_time kv_bytes_per_element | {NETWORKED}
activation_memory | d_model d_ff ffn_matrices act_bytes_per_element {PREFILL} | cached_prefix
share_in_time | {COMPUTED[1]} ttft_target | {COMPUTED[0]} {OVERHEAD} arrival_rate queue_time
even_chunk | {DECODE} | cached_prefix output
cost_per_mtok_input | {SHAPE} prompt cached_prefix price | peak_flops mfu
"""


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


@pytest.mark.sample(10)
@pytest.mark.parametrize(("quantity", "up", "down"), table(TABLE), ids=str)
def test_a_quantity_goes_the_way_that_its_inputs_push_it(cases, quantity, up, down):
    base, moved = cases
    here = base.value(quantity)
    change = {name: other.value(quantity) - here for name, other in moved.items()}
    rounding = 1e-12 * abs(here)
    assert {name for name, by in change.items() if by > rounding} == {*up.split()}
    assert {name for name, by in change.items() if by < -rounding} == {*down.split()}


def test_the_case_is_on_the_arms_that_the_table_speaks_of(cases):
    base, _ = cases
    assert base.value("prefill_compute_time") > 2 * base.value("prefill_memory_time")
    assert base.value("decode_memory_time") > 2 * base.value("decode_compute_time")
    assert base.value("mixed_compute_time") > base.value("mixed_memory_time")
