"""Which way each cue speaks for a reading of a number, as a reader would say: what a cue speaks against, in each unit, and what no unit alone suggests."""

import pytest

from symroof.claims.draft.readings import READINGS

AGAINST = {
    "byte": """
        cache: weight_bytes weight_bytes_per_device memory_reserve mem_capacity
        weights: kv_cache_bytes kv_cache_bytes_per_device mem_capacity decode_bytes
        state: kv_cache_bytes
        expert: weight_bytes
        precision: mem_capacity
        model: mem_capacity
        footprint: mem_capacity
        capacity: weight_bytes_per_device decode_bytes
        labelled: weight_bytes weight_bytes_per_device kv_cache_bytes
        free: weight_bytes weight_bytes_per_device kv_bytes_per_token kv_cache_bytes kv_cache_bytes_per_device memory_bytes memory_bytes_per_device memory_reserve mem_capacity
        leaving: weight_bytes_per_device kv_cache_bytes kv_cache_bytes_per_device mem_capacity
        reserved: weight_bytes free_memory mem_capacity
        in_all: weight_bytes weight_bytes_per_device kv_cache_bytes kv_cache_bytes_per_device mem_capacity
        per_device: weight_bytes kv_cache_bytes memory_bytes
        per_request: weight_bytes weight_bytes_per_device
        per_token: kv_cache_bytes free_memory
        of_tokens: kv_bytes_per_token
        context: kv_bytes_per_token
        layer: kv_bytes_per_token
        reading: weight_bytes kv_bytes_per_token memory_bytes memory_bytes_per_device mem_capacity
        step: weight_bytes kv_bytes_per_token memory_bytes
        prefill: decode_bytes
        load_word: decode_bytes
        swap: decode_bytes""",
    "byte/token": "off_topic: kv_bytes_per_token",
    "byte/s": """
        link: mem_bandwidth
        network: mem_bandwidth link_bandwidth
        host: mem_bandwidth
        disk: mem_bandwidth
        l2: mem_bandwidth""",
    "FLOP/s": "achieved: peak_flops",
    "FLOP": """
        prefill: peak_flops decode_flops
        step: peak_flops prefill_flops
        per_token: peak_flops prefill_flops
        computing: peak_flops
        attention: prefill_flops
        gemm: decode_flops""",
    "FLOP/byte": """
        decode: ridge_point
        step: ridge_point
        attention: ridge_point
        ridge: decode_intensity prefill_intensity attention_intensity
        prefill: decode_intensity""",
    "s": """
        target: ttft prefill_time itl tpot decode_time response_time
        first_token: prefill_time itl response_time itl_target
        between_tokens: ttft decode_time response_time
        response: prefill_time itl
        prefill: itl decode_compute_time
        decoding_all: response_time
        step: decode_time response_time load_time
        load_word: ttft decode_memory_time
        recompute: prefill_time swap_time
        swap: decode_memory_time
        sustained: prefill_time
        weights: transfer_time
        all_reduce: itl
        overhead: itl
        layer: itl
        launch: step_overhead""",
    "token/s": """
        aggregate: user_rate
        in_all: user_rate
        per_user: decode_throughput prefill_throughput
        per_device: user_rate decode_throughput
        prefill: user_rate decode_throughput
        sustained: user_rate decode_throughput prefill_throughput
        target: user_rate""",
    "request/s": "arriving: sustained_requests\nsustained: arrival_rate",
    "USD": """
        of_input: cost_per_mtok decode_cost_per_mtok
        without_prefill: cost_per_mtok
        sustained: decode_cost_per_mtok
        per_million: cost_per_request
        off_topic: cost_per_mtok""",
    "USD/token": "of_input: cost_per_mtok decode_cost_per_mtok\nwithout_prefill: cost_per_mtok",
    "USD/s": "group: price\nfleet: price group_price\nper_device: group_price\noff_topic: price",
    "J/token": "without_prefill: energy_per_token",
    "token": """
        output_word: prompt context
        chunk_word: prompt context
        prefill: context output
        context: output
        speculation: output""",
    "request": "decode: concurrency",
    "device": "fleet: tp",
    "parameter": "active: params",
    "": "active: params",
    "%": "achieved: mfu mbu\nshare_mbu: memory_utilization",
}
"""Unit -> what each cue speaks against: the size of a cache is no size of weights, what is per device is not of all of them."""
ALONE = {
    "byte": ["weight_bytes", "kv_cache_bytes"], "byte/token": ["kv_bytes_per_token"], "byte/parameter": ["weight_bytes_per_param"], "byte/s": ["mem_bandwidth"],
    "FLOP/s": ["peak_flops"], "FLOP": ["prefill_flops", "decode_flops"], "s": [], "USD": [], "J": [], "": [], "%": [],
    "FLOP/byte": ["ridge_point", "decode_intensity", "prefill_intensity", "attention_intensity", "gemm_intensity"], "token/s": ["user_rate", "decode_throughput"],
    "request/s": ["arrival_rate", "sustained_requests"], "USD/token": ["cost_per_mtok", "decode_cost_per_mtok", "cost_per_mtok_input"], "USD/request": ["cost_per_request"],
    "USD/s": ["price", "group_price", "fleet_price"], "W": ["power"], "J/token": ["energy_per_token", "decode_energy_per_token"], "J/request": ["energy_per_request"],
    "token": ["prompt", "context", "output"], "request": ["concurrency", "batch"], "device": ["tp", "devices"], "parameter": ["params", "active_params"],
}  # fmt: skip
"""What a number of a unit may be without a word that speaks for it; every other reading starts with something against it."""


@pytest.mark.parametrize("unit", READINGS)
def test_what_a_cue_speaks_against(unit):
    lines = (line.strip().partition(": ") for line in AGAINST.get(unit, "").strip().splitlines())
    expected = {(cue, name) for cue, _, listed in lines for name in listed.split()}
    assert {(cue, name) for name, (_, weights) in READINGS[unit].items() for cue, weight in weights.items() if weight < 0} == expected


@pytest.mark.parametrize("unit", READINGS)
def test_what_a_unit_may_be_without_words(unit):
    assert [name for name, (start, _) in READINGS[unit].items() if start >= 0] == ALONE[unit]
