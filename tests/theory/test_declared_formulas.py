"""Every declared formula by itself, over made-up values of its names, against the same written a second time from its meaning.

Values are primes, others at every point, so that a name taken for its neighbour, a factor that is missing or a sum that ends one early shows. A name at changed
inputs is a made-up number that depends on each of them. What the table cannot hold is held elsewhere: which variant a case takes, and what rows of operators make.
"""

import math
from decimal import Decimal
from fractions import Fraction

import pytest

from symroof.formula.evaluate import NoValue, evaluate
from symroof.formula.parse import parse
from symroof.formula.tree import names
from symroof.theory.quantities import QUANTITIES
from symroof.theory.steps import STEPS

from .made_up import SHARES, Made

MILLION = 10**6
BLOCKS = {"chunk": 12, "step_budget": 12, "group_budget": 12, "cached_prefix": 5, "block_size": 16, "l2_capacity": 600, "kv_bytes_per_token": 60}
ROOM = {"memory_reserve": 100, "weight_bytes_per_device": 300, "request_bytes_per_device": 60}
POINTS = [
    *map(Made, range(5)),
    *(Made(9, prompt=53 + more, peak_context=48 + more, usable_memory_per_device=1000 + more, **BLOCKS, **ROOM) for more in (-1, 0, 1)),
    *(Made(10, itl_target=30 + more, judged_itl=30, ttft_target=40 + more, judged_ttft=40, ttft=40, usable_memory_per_device=390 + more, **ROOM) for more in (-1, 0, 1, 7)),
    *(Made(11, prompts_per_step=x, mix_prompts_per_step=x, response_steps=1, batch=4, prefill_batch=4 + x) for x in (Fraction(1, 2), Fraction(5, 2), 0)),
    *(Made(12, burst_rate=3 + x, dp=3, service_time=1, arrival_rate=2 + x, percentile=Fraction(1, 4) + x / 2, utilization=Fraction(1, 2)) for x in (Fraction(1, 3), 0, Fraction(-1, 5))),
    *(Made(13 + k, context=20, prompt=20 + k, output=1, batch=2) for k in (-2, 0, 2)),
    *(Made(16, prompt_chunks=k, final_chunk=1, prompt=10**6, step_budget=5000) for k in (1, 2, 3)),
    *(Made(16, even_chunk=31 + k, step_budget=32, mix_even_chunk=31 + k, mix_budget=32, memory_bytes_per_device=9 + k, usable_memory_per_device=10) for k in (0, Fraction(1, 2), 1, Fraction(3, 2), 2)),
    Made(20, batch=2, prompt=1000, cached_prefix=0, step_budget=5000, response_steps=3, intensity=1, mem_bandwidth=3, decode_request_rate=1),
    *(Made(17, **dict.fromkeys(SHARES[:3], x)) for x in (1, Fraction(9, 8))),
]  # fmt: skip
"""Random ones; one less and one more than whole blocks and a full memory; targets met exactly, just missed and by far; loads about their ends."""
HALVES = Fraction(0), Fraction(2, 5), Fraction(3, 5), Fraction(2)
MORE = {
    **{name: [Made(18, response_steps=x, decode_request_rate=1) for x in HALVES] for name in ("chunked_request_rate", "disaggregated_request_rate")},
    "max_goodput": [Made(19, best_batch=x) for x in HALVES],
}
"""Quantities that are chosen by whether there is a step, or a batch, at all."""


def new(v):
    """Tokens of a prompt that are not cached."""
    return v.prompt - v.cached_prefix


def prefill(v):
    return v.prefill_time + v.prefill_overhead


def ring(v, devices, message, rounds):
    """Each of n devices sends n - 1 parts of a message, once or twice."""
    return v.link_latency + rounds * (devices - 1) * message / devices / v.link_share / v.link_bandwidth


def lengths(v):
    return {"prompt": v.long_prompt, "output": v.long_output}


def mixed(v, name, **changes):
    """Mean over requests of both kinds."""
    own = v(name, **changes) if changes else v.value(name)
    return own + v.long_share * (v(name, **lengths(v), **changes) - own)


def long_prefill(v):
    return v("prefill_time", **lengths(v)) + v("prefill_overhead", **lengths(v))


def mean(v, own, other):
    """Of a number for requests of the case and one for long ones."""
    return own + v.long_share * (other - own)


def per_step(v, name, **changes):
    """Mean over all decode steps: each kind's by how many steps it takes part in."""
    long_steps = v.long_share * v("response_steps", output=v.long_output)
    own_steps = v.response_steps - v.long_share * v.response_steps
    return (own_steps * v(name, **changes) + long_steps * v(name, **lengths(v), **changes)) / v.mix_steps


def piece(v, tokens, prompts, read):
    """A step that takes so many tokens of each of some prompts along, of which so many have been read."""
    return v("loaded_time", batch=v.chunked_batch, prefill_chunk=tokens, concurrent_chunks=prompts, chunk_start=v.cached_prefix + read, chunk_logit_rows=1)


def full_pieces(v):
    return sum(piece(v, v.step_budget, 1, turn * v.step_budget) for turn in range(int(v.prompt_chunks) - 1))


def final_chunk(v):
    return piece(v, v.final_chunk, v.concurrent_prompts, (v.prompt_chunks - 1) * v.step_budget)


def read_by_a_group(v):
    """Every group reads a prompt of its own with its share of the budget; the last pieces are of as many prompts as share a step, or one in each group."""
    groups, share, read = v.attention_dp, v.group_budget, 0
    seconds = 0
    for _ in range(int(v.group_chunks) - 1):
        seconds += piece(v, share, groups, read)
        read += share
    return seconds + piece(v, new(v) - read, max(groups, v.concurrent_prompts), read)


def late_piece(v):
    return piece(v, min(v.step_budget, new(v)), v.concurrent_prompts, max(v.prompt_chunks - 2, 0) * v.step_budget)


def mixed_steps(v, count):
    return sum(v("mixed_time", chunk_past=v.cached_prefix + turn * v.chunk) for turn in range(int(count)))


def idle(v, busy):
    """The share of time that is left; none from a load of one on."""
    return max(0, 1 - v.value(busy))


def waiting(busy, service):
    """Waits in queues of one server: M/M/1, M/D/1 (half of it), M/G/1 (by the spread)."""
    return {
        "mm1": lambda v: v.value(service) * v.value(busy) / idle(v, busy),
        "md1": lambda v: v.value(service) * v.value(busy) / idle(v, busy) / 2,
        "mg1": lambda v: v.value(service) * v.value(busy) / idle(v, busy) * (1 + v.service_spread) / 2,
    }


def waiting_for_a_slot(load, requests):
    """Waits in a queue of as many servers as the batch has slots (Sakasegawa): mean over the rate of all, times half the sum of both squared spreads."""

    def wait(v, spread):
        rate, slots, share = v.value(requests) * idle(v, load), v.batch, v.value(load)
        full = (2 * Decimal(slots.numerator) / slots.denominator + 2).sqrt() - 1
        return Fraction(1 + spread) / 2 / rate * Fraction((Decimal(share.numerator) / share.denominator) ** full)

    return {"mm1": lambda v: wait(v, 1), "md1": lambda v: wait(v, 0), "mg1": lambda v: wait(v, v.service_spread)}


def in_time(v):
    """M/M/1: the wait exceeds t with the chance rho exp(-(1 - rho) t/s)."""
    slack = v.ttft_target - v.ttft
    return 0 if slack < 0 else 1 - v.utilization * Fraction(math.exp(-float(idle(v, "utilization") * slack / v.service_time)))


def wait_quantile(v):
    """The wait t at which rho exp(-(1 - rho) t/s) is the share that waits longer; none where fewer wait at all."""
    longer = 1 - v.percentile
    return max(0, -Fraction(math.log(longer / v.utilization))) * v.service_time / idle(v, "utilization")


def of_attention(v, step):
    """FLOPs beside attention and of attention, each with its peak."""
    own = v.value(f"{step}_attention_flops_per_device")
    return (v.value(f"{step}_flops_per_device") - own, v.peak_flops), (own, v.attention_peak_flops)


def vectors(v, step):
    return v.step_overhead + v.n_layers * v.layer_overhead + v.value(f"{step}_vector_elements") * v.elementwise_bytes / v.mem_bandwidth


def one_request(v, **more):
    return v("kv_cache_bytes", batch=1, **more) + v.state_bytes / v.batch


def attention(v, scores):
    """Per head: queries, keys, values and results of the prompt, and its scores and probabilities, each written and read."""
    elements = 4 * v.prompt * v.head_dim + 4 * v.prompt**2 * scores
    return 4 * v.prompt**2 * v.head_dim / (elements * v.act_bytes_per_element)


def harmonic(v, name):
    return 1 / mean(v, 1 / v.value(name), 1 / v(name, **lengths(v)))


def beside(v):
    return {"chunked_batch": v.mix_batch, "prompts_per_step": v.mix_prompts_per_step, "step_budget": v.mix_budget}


def readings(kind):
    """For how long a prompt of the case, and a long one, is being read."""
    if kind == "chunked":
        return lambda v: (v("prompt_prefill_time", **beside(v)), v("prompt_prefill_time", **lengths(v), **beside(v)))
    if kind == "exclusive":
        return lambda v: (v.prompt_prefill_time, v("prompt_prefill_time", **lengths(v)))
    return lambda v: (prefill(v), long_prefill(v))


def at_rate(v, name):
    """At the requests that decode at the arrival rate; the budget of a step stays that of all slots."""
    return v(name, batch=v.mix_steady_batch, mix_budget=v.mix_budget)


def residual(v, kind):
    own, other = readings(kind)(v)
    return mean(v, own * own, other * other) / v.mix_prefill_slot_time


KINDS = ("chunked", "exclusive", "disaggregated")

FORMULAS = {
    "ridge_point": lambda v: v.peak_flops / v.mem_bandwidth,
    "effective_ridge": lambda v: v.mfu * v.ridge_point / v.mbu,
    "attainable_flops": lambda v: min(v.intensity * v.mem_bandwidth, v.peak_flops),
    "sram_bandwidth": lambda v: v.clock * v.sram_bytes_per_clock * v.multiprocessors,
    "sram_capacity": lambda v: v.sram_per_multiprocessor * v.multiprocessors,
    "sram_ridge": lambda v: v.peak_flops / v.sram_bandwidth,
    "l2_tokens": lambda v: v.l2_capacity // v.kv_bytes_per_token,
    "gemm_flops": lambda v: 2 * v.gemm_m * v.gemm_k * v.gemm_n,
    "gemm_bytes": lambda v: v.gemm_k * v.gemm_n * v.weight_bytes_per_param + v.gemm_m * (v.gemm_k + v.gemm_n) * v.act_bytes_per_element,
    "gemm_intensity": lambda v: v.gemm_flops / v.gemm_bytes,
    "instance_price": lambda v: v.instance_devices * v.price,
    "weight_bytes": lambda v: v.params * v.weight_bytes_per_param,
    "layer_weight_bytes": lambda v: (v.weight_bytes_read - v.vocab_size * v.d_model * v.weight_bytes_per_param) / v.n_layers,
    "quantized_bytes_per_param": lambda v: (v.weight_bits * v.scale_group + v.scale_bits) / v.scale_group,
    "context": lambda v: v.prompt,
    "experts_read": {
        "expected": lambda v: v.n_experts - v.n_experts * Fraction(math.pow(1 - v.experts_per_token / v.n_experts, v.decode_tokens)),
        "all": lambda v: v.n_experts,
        "distinct_max": lambda v: min(v.decode_tokens * v.experts_per_token, v.n_experts),
    },
    "peak_context": lambda v: max(v.prompt + v.output - 1, v.context),
    "peak_kv_cache_bytes": lambda v: v("kv_cache_bytes", context=v.peak_context),
    "kv_reserved_bytes": {
        "logical": lambda v: v.peak_kv_cache_bytes,
        "paged": lambda v: v("kv_cache_bytes", context=-(-v.peak_context // v.block_size) * v.block_size),
        "unified": lambda v: v.kv_bytes_per_token * v.peak_context * v.batch,
    },
    "peak_kv_cache_bytes_per_device": lambda v: v("kv_cache_bytes_per_device", context=v.peak_context),
    "memory_bytes_per_device": lambda v: v.memory_reserve + v.state_bytes_per_device + v.peak_kv_cache_bytes_per_device + v.weight_bytes_per_device,
    "memory_bytes": lambda v: v.instance_devices * v.memory_bytes_per_device,
    "usable_memory_per_device": lambda v: v.mem_capacity * v.memory_share,
    "usable_memory": lambda v: v.usable_memory_per_device * v.instance_devices,
    "memory_utilization": lambda v: v.memory_bytes_per_device / v.mem_capacity,
    "fits": lambda v: not v.memory_bytes_per_device > v.usable_memory_per_device,
    "free_memory": lambda v: -(v.memory_bytes - v.usable_memory),
    "request_bytes_per_device": lambda v: v("state_bytes_per_device", batch=1) + v("kv_cache_bytes_per_device", context=v.peak_context, batch=1),
    "concurrency": lambda v: v.attention_dp * max((v.usable_memory_per_device - v.weight_bytes_per_device - v.memory_reserve) // v.request_bytes_per_device, 0),
    "load_time": lambda v: v.weight_bytes / v.disk_bandwidth,
    "prefill_time": lambda v: v.prefill_busy_time,
    "ttft": lambda v: v.queue_time + prefill(v),
    "itl": lambda v: v.decode_overhead + v.decode_busy_time,
    "response_steps": {"output_minus_one": lambda v: v.output - 1, "output": lambda v: v.output},
    "decode_time": {
        "growing": lambda v: sum(v("itl", context=v.prompt + 1 + token) for token in range(int(v.response_steps))),
        "fixed": lambda v: v.itl * v.response_steps,
    },
    "tpot": lambda v: v.decode_time / v.response_steps,
    "itl_first": lambda v: v("itl", context=1 + v.prompt),
    "itl_last": {"growing": lambda v: v("itl", context=v.response_steps + v.prompt), "fixed": lambda v: v.itl},
    "response_time": lambda v: v.decode_time + v.ttft,
    "ttft_share": lambda v: v.ttft / v.response_time,
    "prefill_throughput": lambda v: v.prefill_tokens / v.prefill_time,
    "decode_throughput": lambda v: v.batch / v.itl,
    "decode_throughput_per_device": lambda v: v.decode_throughput / v.instance_devices,
    "user_rate": lambda v: 1 / v.itl,
    "request_throughput": lambda v: v.decode_throughput / v.output,
    "prefill_decode_ratio": lambda v: v.prefill_throughput / v.decode_throughput,
    "prefill_mfu": lambda v: v.prefill_flops / v.prefill_time / v.peak_flops / v.instance_devices,
    "prefill_mbu": lambda v: v.prefill_bytes / v.prefill_time / v.mem_bandwidth / v.instance_devices,
    "decode_mfu": lambda v: v.decode_flops / v.itl / v.peak_flops / v.instance_devices,
    "decode_mbu": lambda v: v.decode_bytes / v.itl / v.mem_bandwidth / v.instance_devices,
    "attention_to_linear": lambda v: v.prefill_attention_flops / v.prefill_linear_flops,
    "attention_intensity": lambda v: v.attention_flops_per_pair / v.kv_bytes_per_token,
    "logit_bytes": lambda v: v.vocab_size * v.act_bytes_per_element * v.prefill_logit_rows,
    "sampling_flops": lambda v: v.vocab_size * 5,
    "head_share": lambda v: v.decode_logit_rows * v.head_flops_per_row / v.decode_flops,
    "cost_per_mtok": lambda v: MILLION / v.sustained_throughput * v.served_devices * v.price,
    "decode_cost_per_mtok": lambda v: MILLION / v.decode_throughput * v.instance_devices * v.price,
    "cost_per_request": lambda v: v.served_devices / v.sustained_requests * v.price,
    "energy_per_token": lambda v: v.served_devices / v.sustained_throughput * v.power,
    "decode_energy_per_token": lambda v: v.instance_devices / v.decode_throughput * v.power,
    "served_devices": {
        "chunked": lambda v: v.instance_devices, "exclusive": lambda v: v.instance_devices, "disaggregated": lambda v: v.prefill_devices + v.instance_devices,
    },
    # speculation and chunks
    "verified_tokens": lambda v: 1 + v.draft_tokens,
    "verify_time": lambda v: v.verify_overhead + v.verify_busy_time,
    "tokens_per_verify": lambda v: (1 - v.acceptance ** int(v.draft_tokens + 1)) / (1 - v.acceptance),
    "draft_time": lambda v: v.itl * v.draft_cost * v.draft_tokens,
    "speculative_itl": lambda v: (v.draft_time + v.verify_time) / v.tokens_per_verify,
    "speculation_speedup": lambda v: v.itl / v.speculative_itl,
    "mixed_time": lambda v: v.mixed_overhead + v.mixed_busy_time,
    "chunk_steps": lambda v: -(-new(v) // v.chunk),
    "chunked_ttft": lambda v: mixed_steps(v, v.chunk_steps) + v.queue_time,
    "last_chunk": lambda v: new(v) - (v.chunk_steps - 1) * v.chunk,
    "chunked_ttft_alone": lambda v: v.queue_time + mixed_steps(v, v.chunk_steps - 1) + v("mixed_time", chunk=v.last_chunk, chunk_past=v.cached_prefix + (v.chunk_steps - 1) * v.chunk),
    "step_tokens": lambda v: v.batch + v.chunk,
    # batches and caches
    "bandwidth_throughput_limit": lambda v: v.attention_dp * v.mem_bandwidth * v.mbu / (v("kv_cache_bytes_per_device", batch=1) + v("state_bytes_per_device", batch=1) * 2),
    "compute_throughput_limit": lambda v: v.pp * v.attention_dp / v("decode_compute_time", batch=v.pp * v.attention_dp),
    "in_flight": lambda v: v.response_time * v.arrival_rate,
    "static_fill_wait": lambda v: v.dp / v.arrival_rate * (v.batch - 1) / 2,
    "continuous_join_wait": lambda v: v.itl / 2,
    "uncached_tokens": lambda v: sum(v.prompt + written for written in range(int(v.output))),
    "cached_tokens": lambda v: v.prompt + (v.output - 1),
    "uncached_flops": lambda v: sum(v("prefill_flops", prompt=v.prompt + written, cached_prefix=0) for written in range(int(v.output))),
    "cached_flops": lambda v: v.prefill_flops / v.prefill_batch + sum(v("decode_flops", batch=1, context=v.prompt + written) for written in range(1, int(v.output))),
    "uncached_time": lambda v: sum(v("prefill_time", prompt=v.prompt + written, cached_prefix=0) for written in range(int(v.output))),
    "expected_ttft": lambda v: v("ttft", cached_prefix=0) - v.hit_rate * (v("ttft", cached_prefix=0) - v.ttft),
    "recompute_time": lambda v: v("prefill_time", prompt=v.context, cached_prefix=0, prefill_batch=1),
    "swap_time": lambda v: one_request(v) / v.host_bandwidth,
    "preemption_overhead": lambda v: min(v.swap_time, v.recompute_time) * v.preemption_rate,
    "transfer_time": lambda v: one_request(v, context=v.prompt) / v.network_bandwidth + v.link_latency,
    "disaggregated_ttft": lambda v: v.transfer_time + v.ttft,
    "prefill_device_share": lambda v: 1 / (1 + v.decode_time * v.prefill_batch / (v.batch * v.prefill_time)),
    "activation_memory": lambda v: v.act_bytes_per_element * (2 * v.d_model + v.d_ff * (v.ffn_matrices - 1)) * v.prefill_tokens,
    # links and overheads
    "all_reduce_time": lambda v: ring(v, v.tp, v.message_bytes, 2),
    "all_gather_time": lambda v: ring(v, v.tp, v.message_bytes, 1),
    "all_to_all_time": lambda v: ring(v, v.ep, v.message_bytes * v.experts_per_token, 1) if v.ep > 1 else 0,
    "link_ridge": lambda v: v.peak_flops / v.link_bandwidth,
    "link_bytes": lambda v: 2 * v.all_reduces * v.message_bytes * (v.tp - 1) / v.tp,
    "link_intensity": lambda v: v.decode_flops_per_device / v.link_bytes,
    "devices": lambda v: v.dp * v.instance_devices,
    "fleet_throughput": lambda v: v.decode_throughput * v.dp,
    "kernels": lambda v: v.n_layers * v.kernels_per_layer,
    "launch_time": lambda v: v.kernels * v.kernel_launch,
    "kernels_to_dominate": lambda v: v.decode_roofline_time / v.kernel_launch / v.n_layers,
    "l2_ridge": lambda v: v.peak_flops / v.l2_bandwidth,
    "fused_attention_intensity": lambda v: attention(v, 0),
    "unfused_attention_intensity": lambda v: attention(v, 1),
    # queues and prices
    "ln2": lambda v: v.ln2,
    "service_time": prefill,
    "utilization": lambda v: v.service_time * v.arrival_rate / v.dp,
    "queue_wait": waiting("utilization", "service_time"),
    "queue_wait_quantile": {"mm1": wait_quantile},
    "share_in_time": {"mm1": in_time},
    "burst_backlog": lambda v: v.burst_duration * max(0, v.burst_rate - v.dp / v.service_time),
    "burst_drain_time": lambda v: v.burst_backlog / max(0, v.dp / v.service_time - v.arrival_rate),
    "fleet_price": lambda v: v.dp * v.served_devices * v.price,
    "cost_per_mtok_at_rate": lambda v: v.fleet_price * MILLION / min(v.arrival_rate, v.dp * v.sustained_requests) / (v.sustained_throughput / v.sustained_requests),
    "cost_per_mtok_input": lambda v: MILLION / v.prefill_throughput * v.instance_devices * v.price,
    "price_ratio": lambda v: v.price / v.rival_price,
    "break_even_ratio": lambda v: v.decode_throughput / v.instance_devices / v.rival_throughput,
    "price_per_mtok": lambda v: v.cost_per_mtok / (1 - v.margin),
    "energy_per_request": lambda v: v.served_devices / v.sustained_requests * v.power,
    # a server under load
    "loaded_context": {"growing": lambda v: v.prompt + (1 + v.response_steps + v.output_spread * v.output) / 2, "fixed": lambda v: v.context},
    "even_chunk": lambda v: new(v) * v.batch / v.response_steps,
    "step_budget": lambda v: v.chunk,
    "chunked_batch": lambda v: min(v.response_steps * v.step_budget / new(v), v.batch),
    "prompts_per_step": lambda v: v.chunked_batch / v.response_steps,
    "concurrent_prompts": lambda v: max(1, v.prompts_per_step),
    "prefill_chunk": lambda v: min(v.prompts_per_step, 1) * new(v),
    "concurrent_chunks": lambda v: v.concurrent_prompts,
    "chunk_start": lambda v: v.cached_prefix + (new(v) - v.prefill_chunk) / 2,
    "chunk_logit_rows": lambda v: v.prefill_chunk / new(v),
    "prompt_chunks": lambda v: -(-new(v) // v.step_budget),
    "final_chunk": lambda v: new(v) - (v.prompt_chunks - 1) * v.step_budget,
    "loaded_time": lambda v: v.loaded_overhead + v.loaded_busy_time,
    "loaded_decode_time": lambda v: v("loaded_time", concurrent_chunks=0),
    "even_prefill_itl": lambda v: v("loaded_time", batch=v.chunked_batch),
    "prompt_steps": lambda v: v.prompt_chunks - (1 - 1 / v.concurrent_prompts),
    "chunks_per_step": lambda v: v.prompts_per_step * (v.prompt_chunks - 1 + 1 / max(1, v.prompts_per_step)),
    "prompt_steps_time": lambda v: full_pieces(v) + final_chunk(v) / v.concurrent_prompts,
    "chunk_added_time": lambda v: v.prompt_steps_time - v("loaded_decode_time", batch=v.chunked_batch) * v.prompt_steps,
    "chunked_itl": lambda v: v.even_prefill_itl if v.even_chunk >= v.step_budget else v("loaded_decode_time", batch=v.chunked_batch) + v.prompts_per_step * v.prompt_steps_time - v.chunks_per_step * v("loaded_decode_time", batch=v.chunked_batch),
    "chunked_request_rate": lambda v: v.chunked_batch / v.chunked_itl / v.response_steps if v.response_steps >= Fraction(1, 2) else v.prefill_batch / prefill(v),
    "exclusive_request_rate": lambda v: 1 / (v.response_steps * v.loaded_decode_time / v.batch + prefill(v) / v.prefill_batch),
    "prefill_request_rate": lambda v: v.prefill_batch * v.prefill_devices / (prefill(v) * v.instance_devices),
    "decode_request_rate": lambda v: v.batch / v.loaded_decode_time / v.response_steps,
    "disaggregated_request_rate": lambda v: min(v.prefill_request_rate, v.decode_request_rate) if v.response_steps >= Fraction(1, 2) else v.prefill_request_rate,
    "sustained_itl": {
        "chunked": lambda v: v.chunked_itl,
        "exclusive": lambda v: v.loaded_decode_time + max(0, v.batch - v.prefill_batch) / v.prefill_batch * prefill(v) / v.response_steps,
        "disaggregated": lambda v: v("loaded_decode_time", batch=v.disaggregated_batch),
    },
    "sustained_requests": {"chunked": lambda v: v.chunked_request_rate, "exclusive": lambda v: v.exclusive_request_rate, "disaggregated": lambda v: v.disaggregated_request_rate},
    "sustained_throughput": lambda v: v.sustained_requests * v.output,
    "sustained_throughput_per_device": lambda v: v.sustained_throughput / v.served_devices,
    "group_budget": lambda v: v.step_budget / v.attention_dp,
    "group_chunks": lambda v: -(-new(v) // v.group_budget),
    "prompt_prefill_time": {"chunked": read_by_a_group, "exclusive": prefill, "disaggregated": lambda v: v.transfer_time + prefill(v)},
    "worst_chunked_itl": lambda v: max(final_chunk(v), late_piece(v)),
    "worst_itl": {
        "chunked": lambda v: v.worst_chunked_itl, "exclusive": lambda v: prefill(v) + v.loaded_decode_time, "disaggregated": lambda v: v("itl_last", batch=v.disaggregated_batch),
    },
    "load": lambda v: v.arrival_rate / v.sustained_requests / v.dp,
    "prefill_slots": {
        "chunked": lambda v: v.concurrent_prompts * v.attention_dp, "exclusive": lambda v: v.prefill_batch,
        "disaggregated": lambda v: v.prefill_batch * v.prefill_devices / v.instance_devices,
    },
    "prefill_slot_time": {"chunked": lambda v: v.prompt_prefill_time, "exclusive": lambda v: v.prompt_prefill_time, "disaggregated": prefill},
    "prefill_slot_utilization": lambda v: v.prefill_slot_time * v.arrival_rate / (v.prefill_slots * v.dp),
    "prefill_queue_wait": waiting("prefill_slot_utilization", "prefill_slot_time"),
    "loaded_ttft": lambda v: v("prompt_prefill_time", batch=v.steady_batch, step_budget=v.step_budget) + v("prefill_queue_wait", batch=v.steady_batch, step_budget=v.step_budget) + v.queue_time,
    "admission_wait": waiting_for_a_slot("load", "sustained_requests"),
    "queued_ttft": lambda v: v.admission_wait + v.loaded_ttft,
    "judged_itl": {"load": lambda v: v.sustained_itl, "isolated": lambda v: v.itl_last},
    "judged_ttft": {"load": lambda v: v.loaded_ttft, "isolated": lambda v: v.ttft},
    "meets_itl": lambda v: int(v.judged_itl <= v.itl_target),
    "meets_ttft": lambda v: int(v.judged_ttft <= v.ttft_target),
    "goodput": lambda v: v.dp * v.sustained_requests * v.slo_share * v.meets_ttft * v.meets_itl,
    "max_goodput": lambda v: v("goodput", batch=v.best_batch) if v.best_batch >= Fraction(1, 2) else 0,
    # a mix at work
    "mix_response_time": lambda v: mixed(v, "response_time"),
    "mix_cost_per_request": lambda v: mixed(v, "cost_per_request"),
    "response_bytes": lambda v: v.prefill_bytes / v.prefill_batch + sum(v("decode_bytes", context=v.prompt + 1 + turn) for turn in range(int(v.response_steps))) / v.batch,
    "long_time_share": lambda v: v.long_share * v("response_time", **lengths(v)) / mixed(v, "response_time"),
    "long_bytes_share": lambda v: v.long_share * v("response_bytes", **lengths(v)) / mixed(v, "response_bytes"),
    "mix_output": lambda v: mean(v, v.output, v.long_output),
    "mix_steps": lambda v: mean(v, v.response_steps, v("response_steps", output=v.long_output)),
    "long_slots_share": lambda v: v("response_steps", output=v.long_output) / v.mix_steps * v.long_share,
    "mix_new": lambda v: mean(v, v.prompt, v.long_prompt) - v.cached_prefix,
    "mix_even_chunk": lambda v: v.mix_new / v.mix_steps * v.batch,
    "mix_budget": lambda v: v.chunk,
    "mix_batch": lambda v: min(v.mix_steps * v.mix_budget / v.mix_new, v.batch),
    "mix_prompts_per_step": lambda v: v.mix_batch / v.mix_steps,
    "mix_prefill_chunk": lambda v: min(v.mix_prompts_per_step, 1) * v.mix_new,
    "mix_chunk_start": lambda v: v.cached_prefix + mean(v, new(v) ** 2, (v.long_prompt - v.cached_prefix) ** 2) / v.mix_new / 2 - v.mix_prefill_chunk / 2,
    "mix_even_prefill_itl": lambda v: per_step(v, "loaded_time", batch=v.mix_batch, prefill_chunk=v.mix_prefill_chunk, concurrent_chunks=max(1, v.mix_prompts_per_step), chunk_start=v.mix_chunk_start, chunk_logit_rows=v.mix_prefill_chunk / v.mix_new),
    "mix_decode_itl": lambda v: per_step(v, "loaded_decode_time", batch=v.batch),
    "mix_chunked_itl": lambda v: v.mix_even_prefill_itl if v.mix_even_chunk >= v.mix_budget else per_step(v, "loaded_decode_time", batch=v.mix_batch) + v.mix_prompts_per_step * mixed(v, "chunk_added_time", **beside(v)),
    "mix_prefill_request_rate": lambda v: harmonic(v, "prefill_request_rate"),
    "mix_sustained_requests": {
        "chunked": lambda v: v.mix_batch / v.mix_chunked_itl / v.mix_steps,
        "exclusive": lambda v: harmonic(v, "exclusive_request_rate"),
        "disaggregated": lambda v: min(v.mix_prefill_request_rate, harmonic(v, "decode_request_rate")),
    },
    "mix_sustained_itl": {
        "chunked": lambda v: v.mix_chunked_itl,
        "exclusive": lambda v: v.mix_decode_itl + max(0, v.batch - v.prefill_batch) / v.prefill_batch * mean(v, prefill(v), long_prefill(v)) / v.mix_steps,
        "disaggregated": lambda v: v("mix_decode_itl", batch=v.mix_disaggregated_batch),
    },
    "mix_sustained_throughput": lambda v: v.mix_sustained_requests * v.mix_output,
    "mix_cost_per_mtok": lambda v: MILLION / v.mix_sustained_throughput * v.served_devices * v.price,
    "mix_load": lambda v: v.arrival_rate / v.mix_sustained_requests / v.dp,
    "mix_peak_context": lambda v: v.prompt + v.output - 1 + v.long_slots_share * (v.long_prompt + v.long_output - v.prompt - v.output),
    "mix_worst_itl": {
        "chunked": lambda v: max(v("worst_chunked_itl", **lengths(v), **beside(v)), v("worst_chunked_itl", **beside(v))),
        "exclusive": lambda v: max(long_prefill(v), prefill(v)) + v.mix_decode_itl,
        "disaggregated": lambda v: max(v("itl_last", batch=v.mix_disaggregated_batch, **lengths(v)), v("itl_last", batch=v.mix_disaggregated_batch)),
    },
    "mix_own_prompt_prefill_time": {
        "chunked": lambda v: v("prompt_prefill_time", **beside(v)), "exclusive": lambda v: v.prompt_prefill_time, "disaggregated": lambda v: v.prompt_prefill_time,
    },
    "mix_long_prompt_prefill_time": {
        "chunked": lambda v: v("prompt_prefill_time", **lengths(v), **beside(v)),
        "exclusive": lambda v: v("prompt_prefill_time", **lengths(v)), "disaggregated": lambda v: v("prompt_prefill_time", **lengths(v)),
    },
    "mix_prompt_prefill_time": lambda v: mean(v, v.mix_own_prompt_prefill_time, v.mix_long_prompt_prefill_time),
    "mix_prefill_slot_time": {kind: lambda v, kind=kind: mean(v, *readings(kind)(v)) for kind in KINDS},
    "mix_prefill_slot_residual": {kind: lambda v, kind=kind: residual(v, kind) for kind in KINDS},
    "mix_prefill_slot_utilization": lambda v: v.arrival_rate * v.mix_prefill_slot_time / v("prefill_slots", prompts_per_step=v.mix_prompts_per_step) / v.dp,
    "mix_prefill_queue_wait": waiting("mix_prefill_slot_utilization", "mix_prefill_slot_residual"),
    "mix_admission_wait": waiting_for_a_slot("mix_load", "mix_sustained_requests"),
    **{name: lambda v, reading=reading: v.queue_time + at_rate(v, "mix_prefill_queue_wait") + at_rate(v, reading) for name, reading in (
        ("mix_loaded_ttft", "mix_prompt_prefill_time"), ("mix_own_ttft", "mix_own_prompt_prefill_time"), ("mix_long_ttft", "mix_long_prompt_prefill_time"),
    )},
}  # fmt: skip
"""Name -> its formula, or one for each value of a switch."""

OF_A_STEP = {
    "intensity": lambda v, s: v.value(f"{s}_flops") / v.value(f"{s}_bytes"),
    "compute_time": {
        "as_activations": lambda v, s: v.value(f"{s}_flops_per_device") / v.peak_flops / v.mfu,
        "wide": lambda v, s: sum(part / rate for part, rate in of_attention(v, s)) / v.mfu,
    },
    "memory_time": lambda v, s: v.value(f"{s}_bytes_per_device") / v.mem_bandwidth / v.mbu,
    "roofline_time": {
        "aggregate": lambda v, s: max(v.value(f"{s}_memory_time"), v.value(f"{s}_compute_time")),
        "no_overlap": lambda v, s: v.value(f"{s}_memory_time") + v.value(f"{s}_compute_time"),
    },
    "busy_time": lambda v, s: v.value(f"{s}_link_time") + v.value(f"{s}_roofline_time"),
    "overhead": {
        "exposed": lambda v, s: v.kernels * v.kernel_launch + vectors(v, s),
        "hidden": lambda v, s: max(v.kernels * v.kernel_launch - v.value(f"{s}_busy_time"), vectors(v, s)),
        "graph": lambda v, s: v.kernel_launch + vectors(v, s),
    },
    "bound": lambda v, s: max(("compute", "memory", "link", "overhead"), key=lambda kind: v.value(f"{s}_{kind}" + "_time" * (kind != "overhead"))),
}

INSTEAD = {
    "step_budget": ("chunk", lambda v: v.even_chunk),
    "chunked_batch": ("chunk", lambda v: v.batch),
    "chunked_itl": ("chunk", lambda v: v.even_prefill_itl),
    "steady_batch": ("arrival_rate", lambda v: v.batch),
    "loaded_ttft": ("arrival_rate", lambda v: v.prompt_prefill_time + v.queue_time),
    "judged_itl": ("output", lambda v: v.itl),
    "judged_ttft": ("output", lambda v: v.ttft),
    "meets_itl": ("itl_target", lambda v: 1),
    "meets_ttft": ("ttft_target", lambda v: 1),
    "mix_budget": ("chunk", lambda v: v.mix_even_chunk),
    "mix_batch": ("chunk", lambda v: v.batch),
    "mix_chunked_itl": ("chunk", lambda v: v.mix_even_prefill_itl),
    "mix_steady_batch": ("arrival_rate", lambda v: v.batch),
    "mix_loaded_ttft": ("arrival_rate", lambda v: v.mix_prompt_prefill_time + v.queue_time),
    "mix_own_ttft": ("arrival_rate", lambda v: v.mix_own_prompt_prefill_time + v.queue_time),
    "mix_long_ttft": ("arrival_rate", lambda v: v.mix_long_prompt_prefill_time + v.queue_time),
}
"""Name -> an input, and what it is where that has no value."""

SEARCHED = {
    "disaggregated_batch": ("fixed_point", lambda v: v.loaded_decode_time * v.response_steps * v.prefill_request_rate, lambda v: v.batch),
    "steady_batch": ("fixed_point", lambda v: v.sustained_itl * v.response_steps * v.arrival_rate / v.dp, lambda v: v.batch),
    "best_batch": ("largest", lambda v: v.meets_ttft * v.meets_itl, lambda v: v.concurrency),
    "mix_disaggregated_batch": ("fixed_point", lambda v: v.mix_decode_itl * v.mix_steps * v.mix_prefill_request_rate, lambda v: v.batch),
    "mix_steady_batch": ("fixed_point", lambda v: v.mix_sustained_itl * v.mix_steps * v.arrival_rate / v.dp, lambda v: v.batch),
}
"""Name -> what is searched for, the formula that the batch has to equal or that has to be 1, and the largest batch."""

TURN = ("response_steps", 0)
HAS_A_VALUE = {
    **dict.fromkeys(["even_chunk", "prompts_per_step", "chunked_itl", "decode_request_rate", "sustained_itl", "mix_even_prefill_itl", "mix_decode_itl", "mix_chunked_itl", "mix_sustained_itl"], TURN),
    **dict.fromkeys(["queue_wait", "queue_wait_quantile", "share_in_time", "burst_drain_time"], ("utilization", 1)),
    "steady_batch": ("load", 1), "prefill_queue_wait": ("prefill_slot_utilization", 1), "mix_steady_batch": ("mix_load", 1), "mix_prefill_queue_wait": ("mix_prefill_slot_utilization", 1),
    "admission_wait": ("load", 1), "mix_admission_wait": ("mix_load", 1),
}  # fmt: skip
"""Name -> what has to be above 0, or below 1, and not at it."""


class At:
    """A value of one name alone."""

    def __init__(self, known):
        self.known = known

    def value(self, name):
        return Fraction(self.known[name])


def same(value, expected):
    """Exactly, or as far as roots and logarithms in floats go."""
    return value == expected if isinstance(value, (str, bool)) else abs(value - expected) <= abs(expected) * Fraction(1, 10**11)


def agree(text, by_hand, label):
    """Compare a formula at the random points and those that fix a name of it; where there is no value by hand it has none either."""
    tree, compared = parse(text), 0
    spoken = {*names(tree)}
    for i, point in enumerate([*(point for point in POINTS if not point.fixed or point.fixed & spoken), *MORE.get(label, [])]):
        try:
            expected = by_hand(point)
        except ZeroDivisionError:
            with pytest.raises(NoValue):
                evaluate(tree, point)
            continue
        value = evaluate(tree, point)
        assert same(value, expected), f"{label} at point {i}: {float(value)} and not {float(expected)}"
        compared += 1
    assert compared > 2, label


def texts(name):
    quantity = QUANTITIES[name]
    return {None: quantity.definition} if quantity.definition is not None else {value: text for value, text in quantity.variants if text}


def test_every_formula_is_what_its_meaning_says():
    rows = {name: row if isinstance(row, dict) else {None: row} for name, row in FORMULAS.items()}
    for step in (step.name for step in STEPS):
        for what, row in OF_A_STEP.items():
            rows[f"{step}_{what}"] = {value: lambda v, f=f, s=step: f(v, s) for value, f in (row if isinstance(row, dict) else {None: row}).items()}
    for name, row in rows.items():
        assert texts(name).keys() == row.keys(), name
        for value, by_hand in row.items():
            agree(texts(name)[value], by_hand, f"{name} {value}" if value else name)


@pytest.mark.parametrize("name", INSTEAD)
def test_what_replaces_an_input_without_a_value(name):
    key, by_hand = INSTEAD[name]
    assert QUANTITIES[name].without[0] == key
    agree(QUANTITIES[name].without[1], by_hand, f"{name} without")


@pytest.mark.parametrize("name", SEARCHED)
def test_what_is_searched_for(name):
    kind, body, high = SEARCHED[name]
    search = QUANTITIES[name].search
    assert (search.kind, search.unknown) == (kind, "batch")
    agree(search.body, body, f"body of {name}")
    agree(search.high, high, f"end of {name}")


def test_numbers_in_the_place_of_inputs_without_a_value():
    assert dict(QUANTITIES["peak_context"].absent) == {"output": "1", "prompt": "1"}
    assert all(dict(QUANTITIES[f"{step.name}_overhead"].absent) == {"kernel_launch": "0", "elementwise_bytes": "0"} for step in STEPS)


@pytest.mark.parametrize("name", HAS_A_VALUE)
def test_a_value_ends_just_where_its_condition_does(name):
    key, end = HAS_A_VALUE[name]
    ((condition, _),) = QUANTITIES[name].exists
    assert [*names(parse(condition))] == [key]
    beside = Fraction(1, 10**9)
    inside, outside = (end + beside, end - beside) if end == 0 else (end - beside, end + beside)
    for value, holds in ((inside, True), (end, False), (outside, False)):
        assert bool(evaluate(parse(condition), At({key: value}))) is holds
