"""What a number of a unit may be: for each quantity a start, and how far each cue speaks for it or against it.

Weights are in steps of a whole cue beside the number. A quantity is drafted from :data:`LEAST` on; the rows of one unit only
compete with each other, so only their differences count.

>>> sorted(READINGS["FLOP/byte"])
['attention_intensity', 'decode_intensity', 'gemm_intensity', 'prefill_intensity', 'ridge_point']
"""

from collections.abc import Mapping

LEAST = 0.75
"""Evidence that a draft needs."""
SURE = 1.3
"""Below it a draft is doubtful."""
CLOSE = 0.45
"""A lead over the next reading that is smaller makes a draft doubtful."""

FOLLOWS: Mapping[str, Mapping[str, float]] = {
    "prefill_flops": {"prefill_time": 1.2, "prefill_compute_time": 0.6},
    "prefill_attention_flops": {"prefill_compute_time": 0.4},
    "decode_flops": {"decode_compute_time": 0.8},
    "weight_bytes": {"itl": 0.6, "decode_memory_time": 0.5, "weight_bytes_per_device": 0.8},
    "decode_bytes": {"itl": 0.6, "decode_memory_time": 0.6},
    "itl": {"user_rate": 0.3},
}
"""Of the numbers before it in its sentence, what speaks for what is worked out from them: prefill's FLOPs for its time."""

Reading = tuple[float, Mapping[str, float]]

READINGS: dict[str, dict[str, Reading]] = {
    "byte": {
        "weight_bytes": (0, {"whole": -0.8, "weights": 2.6, "precision": 0.8, "model": 0.5, "footprint": 0.9, "params": 0.8, "cache": -0.6, "per_device": -0.9, "per_request": -0.8, "labelled": -1.2, "free": -0.9, "in_all": -0.5, "step": -0.3, "reading": -0.3, "expert": -1.4, "layer": -1.0, "divided": 1.6, "reserved": -1}),
        "weight_bytes_per_device": (-0.8, {"weights": 2.2, "precision": 0.4, "model": 0.2, "params": 0.4, "per_device": 2.2, "per_request": -0.5, "labelled": -1.2, "cache": -0.6, "free": -2.0, "leaving": -1.0, "in_all": -0.4, "capacity": -0.6}),
        "expert_weight_bytes": (-1.2, {"expert": 3.2, "weights": 1, "precision": 0.3}),
        "layer_weight_bytes": (-1.3, {"layer": 2.6, "weights": 1.4, "precision": 0.3}),
        "kv_bytes_per_token": (-0.8, {"of_tokens": -1.6, "divided": -1.6, "cache": 1.7, "per_token": 2.4, "free": -0.8, "context": -0.2, "layer": -0.8, "reading": -0.3, "step": -0.3}),
        "kv_cache_bytes": (0, {"whole": -1.0, "of_tokens": 1.6, "leaving": -1.0, "cache": 2.4, "context": 1.2, "per_request": 1.1, "fits": 0.2, "labelled": -0.8, "per_token": -1.1, "per_device": -0.7, "free": -0.9, "weights": -0.5, "in_all": -0.5, "state": -1}),
        "kv_cache_bytes_per_device": (-0.8, {"leaving": -1.0, "cache": 1.9, "per_device": 2.2, "weights": -0.5, "free": -0.9, "in_all": -0.6, "context": 0.4}),
        "state_bytes_per_request": (-0.8, {"state": 3.2, "per_request": 0.6}),
        "logit_bytes": (-0.8, {"logits": 3}),
        "memory_bytes": (-0.2, {"in_all": 2.4, "memory": 0.2, "footprint": 0.8, "weights": 0.2, "cache": 0.2, "capacity": 0.2, "free": -0.8, "per_device": -1, "reading": -1.2, "step": -1}),
        "memory_bytes_per_device": (-0.8, {"in_all": 2, "per_device": 2, "free": -0.8, "reading": -0.8}),
        "free_memory": (-0.4, {"whole": -1.0, "free": 2.6, "leaving": 3.2, "per_token": -1.0, "cache": 0.2, "capacity": 0.1, "per_device": 0.2, "reserved": -0.6}),
        "memory_reserve": (-0.4, {"reserved": 3.0, "per_device": 0.1, "free": -0.6, "cache": -0.3}),
        "usable_memory_per_device": (-1.2, {"usable": 3.2}),
        "mem_capacity": (-0.1, {"whole": 2.2, "capacity": 1.7, "memory": 0.9, "labelled": 2.0, "precision": -0.5, "model": -0.4, "footprint": -0.8, "device": 0.9, "per_device": 0.4, "bandwidth": 0.2, "leaving": -0.3, "cache": -1.1, "weights": -0.8, "free": -1, "in_all": -0.5, "reserved": -0.8, "reading": -0.6}),
        "decode_bytes": (-0.7, {"divided": 1.4, "reading": 1.7, "step": 1.5, "decode": 0.7, "in_all": 0.8, "weights": -0.3, "capacity": -0.3, "swap": -0.6, "prefill": -0.8, "load_word": -1}),
        "prefill_bytes": (-1.2, {"reading": 1.4, "prefill": 2.0}),
        "l2_capacity": (-1, {"l2": 3.2}),
    },
    "byte/token": {
        "kv_bytes_per_token": (1.2, {"cache": 1.4, "off_topic": -0.8}),
    },
    "byte/parameter": {
        "weight_bytes_per_param": (2, {}),
    },
    "byte/s": {
        "mem_bandwidth": (0.4, {"divisor": 1.2, "bandwidth": 1.7, "device": 0.9, "capacity": 0.3, "link": -0.9, "network": -1.2, "host": -1, "disk": -1, "l2": -1}),
        "link_bandwidth": (-0.2, {"link": 2.6, "per_device": 0.1, "network": -0.5}),
        "network_bandwidth": (-0.3, {"network": 2.6}),
        "host_bandwidth": (-0.3, {"host": 2.4}),
        "disk_bandwidth": (-0.3, {"disk": 2.2, "load_word": 0.8}),
        "l2_bandwidth": (-0.5, {"l2": 3}),
    },
    "FLOP/s": {
        "peak_flops": (1.2, {"peak": 0.9, "device": 0.4, "achieved": -0.4}),
    },
    "FLOP": {
        "peak_flops": (-0.6, {"peak": 1.2, "device": 1.3, "precision": 0.9, "bandwidth": 0.4, "prefill": -1.2, "per_token": -1.6, "step": -1.0, "computing": -0.3}),
        "prefill_flops": (0.2, {"prefill": 2.0, "first_token": 0.8, "per_token": -0.9, "attention": -0.3, "attention_work": -1.6, "context": 0.3, "step": -0.2}),
        "decode_flops": (0.3, {"per_token": 1.7, "decode": 1.4, "step": 1.2, "prefill": -0.6, "gemm": -0.4}),
        "prefill_attention_flops": (-1.2, {"attention": 1.6, "attention_work": 2.6, "prefill": 1.0}),
        "gemm_flops": (-1.2, {"gemm": 3}),
    },
    "FLOP/byte": {
        "ridge_point": (1.0, {"ridge": 2.0, "device": 0.5, "peak": 0.3, "bandwidth": 0.2, "decode": -0.5, "step": -0.3, "attention": -0.5}),
        "decode_intensity": (0.8, {"decode": 1.4, "intensity": 0.6, "step": 0.8, "per_user": 0.3, "ridge": -0.6, "prefill": -0.5}),
        "prefill_intensity": (0.4, {"prefill": 2.0, "intensity": 0.6, "ridge": -0.6}),
        "attention_intensity": (0, {"attention": 2.8, "intensity": 0.6, "ridge": -0.4}),
        "gemm_intensity": (0, {"gemm": 2.8, "intensity": 0.6}),
    },
    "s": {
        "ttft": (-0.2, {"first_token": 3.4, "prefill": 0.7, "target": -0.5, "between_tokens": -0.8, "load_word": -0.8}),
        "prefill_time": (-0.2, {"prefill": 2.4, "share_mfu": 0.4, "first_token": -1.2, "target": -0.3, "recompute": -0.9, "response": -0.3, "sustained": -0.2}),
        "prefill_compute_time": (-1.4, {"prefill": 1.6, "computing": 1.8}),
        "itl": (-0.1, {"between_tokens": 1.8, "step": 1.7, "decode": 1.0, "target": -0.5, "prefill": -0.6, "first_token": -1, "response": -0.5, "all_reduce": -1, "overhead": -0.7, "layer": -0.8}),
        "tpot": (-0.6, {"tpot": 2.8, "between_tokens": 0.3, "target": -0.5}),
        "decode_memory_time": (-1.1, {"reading": 1.9, "weights": 1.0, "decode": 0.6, "step": 0.5, "load_word": -1.5, "swap": -0.8}),
        "decode_compute_time": (-1.3, {"computing": 1.8, "decode": 1.0, "step": 0.9, "prefill": -1}),
        "decode_time": (-0.6, {"decoding_all": 2.1, "decode": 0.9, "output_word": 0.5, "step": -1.2, "between_tokens": -0.6, "target": -0.3}),
        "response_time": (-0.2, {"response": 2.4, "output_word": 0.3, "first_token": -0.6, "step": -0.6, "between_tokens": -0.7, "target": -0.4, "decoding_all": -0.2}),
        "load_time": (-0.8, {"load_word": 2.6, "disk": 1.2, "weights": 0.6, "step": -0.6}),
        "swap_time": (-0.8, {"swap": 2.4, "host": 1.0, "cache": 0.4, "recompute": -0.8}),
        "recompute_time": (-0.8, {"recompute": 3.0, "prefill": 0.2}),
        "transfer_time": (-1, {"transfer": 2.6, "network": 0.8, "cache": 0.3, "weights": -0.5}),
        "all_reduce_time": (-0.5, {"all_reduce": 3.4, "communication": 0.4}),
        "all_to_all_time": (-0.5, {"all_to_all": 3.4, "communication": 0.4}),
        "all_gather_time": (-0.5, {"all_gather": 3.4, "communication": 0.4}),
        "decode_link_time": (-0.8, {"communication": 2.2, "link": 1.0, "step": 0.6, "all_reduce": 0.3}),
        "queue_wait": (-0.8, {"queue": 2.8, "arriving": 0.3}),
        "step_overhead": (-0.9, {"overhead": 2.8, "step": 0.6, "launch": -0.6}),
        "kernel_launch": (-0.9, {"launch": 3.0, "overhead": 0.2}),
        "verify_time": (-0.9, {"verify": 2.9, "speculation": 0.3}),
        "draft_time": (-1.2, {"speculation": 2.2}),
        "sustained_itl": (-1.3, {"sustained": 2.2, "between_tokens": 1.3, "step": 0.9}),
        "loaded_ttft": (-1.3, {"sustained": 2.2, "first_token": 1.8, "queue": 0.6}),
        "ttft_target": (-1.2, {"target": 2.2, "first_token": 2.2}),
        "itl_target": (-1.2, {"target": 2.2, "between_tokens": 2.0, "first_token": -0.9}),
    },
    "token/s": {
        "user_rate": (1.0, {"per_user": 1.8, "aggregate": -0.6, "in_all": -0.5, "prefill": -0.5, "sustained": -0.4, "per_device": -0.5, "target": -0.2}),
        "decode_throughput": (0.9, {"aggregate": 1.3, "in_all": 0.6, "decode": 0.6, "per_user": -0.5, "prefill": -0.7, "sustained": -0.4, "per_device": -0.5}),
        "decode_throughput_per_device": (-0.6, {"per_device": 2.6, "aggregate": 0.2}),
        "prefill_throughput": (-0.2, {"prefill": 2.4, "sustained": -0.9, "per_user": -0.4}),
        "sustained_throughput": (-0.4, {"sustained": 2.6, "aggregate": 0.5}),
        "fleet_throughput": (-0.7, {"fleet": 2.6, "aggregate": 0.4}),
    },
    "request/s": {
        "arrival_rate": (0.6, {"arriving": 1.8, "sustained": -0.5}),
        "sustained_requests": (0.5, {"sustained": 2.0, "aggregate": 0.6, "arriving": -0.4}),
        "request_throughput": (-0.2, {"decode": 1.4, "aggregate": 0.6}),
        "goodput": (-0.6, {"target": 1.4}),
    },
    "USD": {
        "cost_per_mtok": (-0.2, {"per_million": 2.0, "sustained": 0.7, "without_prefill": -0.4, "of_input": -0.8, "off_topic": -0.4}),
        "decode_cost_per_mtok": (-0.4, {"per_million": 1.8, "without_prefill": 1.4, "decode": 0.6, "sustained": -0.6, "of_input": -0.8}),
        "cost_per_mtok_input": (-0.6, {"per_million": 1.4, "of_input": 1.8, "prefill": 0.3}),
        "cost_per_request": (-0.4, {"per_request_cost": 1.9, "per_million": -1.4}),
    },
    "USD/token": {
        "cost_per_mtok": (1.4, {"of_input": -0.8, "without_prefill": -0.4}),
        "decode_cost_per_mtok": (0.9, {"without_prefill": 1.4, "of_input": -0.8}),
        "cost_per_mtok_input": (0.6, {"of_input": 2, "prefill": 0.5}),
    },
    "USD/request": {
        "cost_per_request": (1.6, {}),
    },
    "USD/s": {
        "price": (1.2, {"per_device": 1.2, "device": 1.0, "rent": 0.3, "group": -1.0, "fleet": -1.2, "off_topic": -0.6}),
        "group_price": (0.7, {"group": 1.6, "per_device": -0.6, "in_all": 0.3, "fleet": -0.5}),
        "fleet_price": (0.2, {"fleet": 2.4, "in_all": 0.2}),
    },
    "W": {
        "power": (0.2, {"power_word": 1.2, "device": 0.8, "per_device": 0.3}),
    },
    "J/token": {
        "energy_per_token": (1.4, {"sustained": 0.3, "without_prefill": -0.5}),
        "decode_energy_per_token": (0.7, {"without_prefill": 1.5, "decode": 0.9}),
    },
    "J": {
        "energy_per_token": (-0.2, {"per_token": 1.8, "power_word": 0.5}),
        "energy_per_request": (-0.2, {"per_request": 1.6, "response": 0.8, "power_word": 0.5}),
    },
    "J/request": {
        "energy_per_request": (1.6, {}),
    },
    "token": {
        "prompt": (0.4, {"prefill": 1.7, "recompute": 1.0, "chunk_word": -0.6, "output_word": -0.5, "context": 0.3}),
        "context": (0.3, {"context": 1.8, "sliding": -1.0, "cache": 0.7, "prefill": -0.3, "chunk_word": -0.5, "output_word": -1.0}),
        "output": (0.1, {"output_word": 1.9, "prefill": -0.7, "context": -0.3, "speculation": -0.5}),
        "chunk": (-0.6, {"chunk_word": 2.4}),
        "window": (-0.8, {"window": 1.8, "sliding": 1.6}),
        "tokens_per_verify": (-0.8, {"accept": 1.6, "verify": 1.6, "speculation": 0.8}),
        "draft_tokens": (-0.8, {"speculation": 2.2}),
        "cached_prefix": (-0.9, {"prefix": 2.4, "cache": 0.4, "hit": 0.8}),
        "vocab_size": (-1, {"logits": 1}),
    },
    "request": {
        "concurrency": (0.2, {"fits": 1.8, "cache": 0.4, "free": 0.3, "capacity": 0.2, "decode": -0.3}),
        "batch": (0.3, {"aggregate": 1.4, "decode": 0.8, "step": 0.5}),
    },
    "device": {
        "tp": (0.3, {"weights": 0.8, "link": 0.4, "fleet": -1.0}),
        "devices": (0.5, {"fleet": 1.8, "aggregate": 0.6, "sustained": 0.4}),
    },
    "parameter": {
        "params": (1.6, {"params": 0.5, "active": -1.4, "whole": 2.0}),
        "active_params": (1.0, {"active": 1.8, "per_token": 0.5, "part": 0.8}),
    },
    "": {
        "params": (-0.8, {"params": 2.4, "active": -1.2, "part": -1.0, "whole": 2.4}),
        "active_params": (-0.9, {"active": 2.4, "params": 0.6, "per_token": 0.3, "part": 1.4}),
    },
    "%": {
        "mfu": (-0.2, {"share_mfu": 2.6, "achieved": -0.2}),
        "mbu": (-0.2, {"share_mbu": 2.6, "achieved": -0.2}),
        "memory_utilization": (-0.4, {"memory_share": 2.4, "share_mbu": -0.5}),
        "acceptance": (-0.5, {"accept": 2.6, "speculation": 0.4}),
        "hit_rate": (-0.5, {"hit": 2.8}),
    },
}  # fmt: skip
