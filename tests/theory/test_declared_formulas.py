"""Every declared formula by itself, over made-up values of its names, against the same written a second time from its meaning.

Values are primes, others at every point, so that a name taken for its neighbour, a factor that is missing or a sum that ends one early shows. A name at changed
inputs is a made-up number that depends on each of them. What the table cannot hold is held elsewhere: which variant a case takes, and what rows of operators make.
"""

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import pytest

from symroof.symbolic.evaluation import NoValue, evaluate
from symroof.symbolic.expressions import names
from symroof.symbolic.reading import parse
from symroof.theory.quantities import QUANTITIES
from symroof.theory.steps import STEPS

from . import Floats
from .made_up import SHARES, Made

MILLION, HALF = 10**6, Fraction(1, 2)
BLOCKS = {
    "chunk": 12, "step_budget": 12, "group_budget": 12, "cached_prefix": 5, "block_size": 16,
    "l2_capacity": 600, "kv_bytes_per_token": 60,
}  # fmt: skip
ROOM = {"memory_reserve": 100, "weight_bytes_per_device": 300, "request_bytes_per_device": 60}
POINTS = [
    *map(Made, range(5)),
    *(Made(9, prompt=53 + more, peak_context=48 + more, usable_memory_per_device=1000 + more, **BLOCKS, **ROOM) for more in (-1, 0, 1)),
    *(Made(10, itl_target=30 + more, judged_itl=30, ttft_target=40 + more, judged_ttft=40, ttft=40, usable_memory_per_device=390 + more, **ROOM) for more in (-1, 0, 1, 7)),
    *(Made(11, prompts_per_step=x, mix_prompts_per_step=x, response_steps=1, batch=4, prefill_batch=4 + x) for x in (Fraction(1, 2), Fraction(5, 2), 0)),
    *(Made(12, burst_rate=3 + x, dp=3, service_time=1, arrival_rate=2 + x, percentile=Fraction(1, 4) + x / 2, utilization=Fraction(1, 2)) for x in (Fraction(1, 3), 0, Fraction(-1, 5))),
    *(Made(13 + k, context=20, prompt=20 + k, output=1, batch=2) for k in (-2, 0, 2)),
    *(Made(16, prompt_chunks=k, prompt=10**6, step_budget=5000) for k in (1, 2, 3)),
    *(Made(16, even_chunk=31 + k, step_budget=32, mix_even_chunk=31 + k, mix_budget=32, memory_bytes_per_device=9 + k, usable_memory_per_device=10) for k in (0, Fraction(1, 2), 1, Fraction(3, 2), 2)),
    Made(20, batch=2, prompt=1000, cached_prefix=0, step_budget=5000, response_steps=3, intensity=1, mem_bandwidth=3, decode_request_rate=1),
    *(Made(17, **dict.fromkeys(SHARES[:3], x)) for x in (1, Fraction(9, 8))),
]  # fmt: skip
"""Random ones; one less and one more than whole blocks and a full memory; targets met exactly, just missed and by far; loads about their ends."""
HALVES = Fraction(0), Fraction(2, 5), Fraction(3, 5), Fraction(2)
MORE = {
    **{
        name: [Made(18, response_steps=x, decode_request_rate=1) for x in HALVES]
        for name in ("chunked_request_rate", "disaggregated_request_rate")
    },
    "max_goodput": [Made(19, best_batch=x) for x in HALVES],
}
"""Quantities that are chosen by whether there is a step, or a batch, at all."""


def new(v):
    """Tokens of a prompt that are not cached."""
    return v.prompt - v.cached_prefix


def of_hits(v, hit, miss):
    """The mean of a number for requests that find their prefix cached and one for those that do not."""
    return miss + v.hit_rate * (hit - miss)


def uncached(v, prompt):
    """Tokens of a prompt that are prefilled, in the mean."""
    return of_hits(v, prompt - v.cached_prefix, prompt)


def uncached_moment(v, k, prompt):
    return of_hits(v, (prompt - v.cached_prefix) ** k, prompt**k)


def start_of_chunk(v, prompt, chunk):
    """The cached tokens before a token that is prefilled, in the mean over those tokens, and the share of the rest of its prompt."""
    cached_before = v.hit_rate * (prompt - v.cached_prefix) / uncached(v, prompt) * v.cached_prefix
    return cached_before + v.chunk_position * (
        uncached_moment(v, 2, prompt) / uncached(v, prompt) - chunk
    )


def prefill(v):
    return v.prefill_time + v.prefill_overhead


def ring(v, devices, message, rounds):
    """Each of n devices sends n - 1 parts of a message, once or twice."""
    return (
        v.link_latency
        + rounds * (devices - 1) * message / devices / v.link_share / v.link_bandwidth
    )


def lengths(v):
    return {"prompt": v.long_prompt, "output": v.long_output}


def mixed(v, name, **changes):
    """Mean over requests of both kinds."""
    own = v(name, **changes) if changes else v.value(name)
    return own + v.long_share * (v(name, **lengths(v), **changes) - own)


def mean(v, own, other):
    """Of a number for requests of the case and one for long ones."""
    return own + v.long_share * (other - own)


def power(base, exponent):
    """Of any positive numbers, to forty digits."""
    with localcontext() as context:
        context.prec = 60
        base, exponent = (
            Decimal(Fraction(x).numerator) / Fraction(x).denominator for x in (base, exponent)
        )
        return Fraction(base**exponent)


def e(exponent):
    with localcontext() as context:
        context.prec = 60
        return Fraction(
            (Decimal(Fraction(exponent).numerator) / Fraction(exponent).denominator).exp()
        )


PI = Fraction("3.14159265358979323846264338327950288419716939937510")


def root(x):
    return power(x, Fraction(1, 2))


def beside(v, **tokens):
    """A step that prefills, by its prompt tokens."""
    return v("chunked_step_time", **tokens)


def open_to_arrivals(v, decoding):
    """What changes from a full batch to one of chance: Poisson instead of binomial, and those that decode."""
    return {
        "prompts_per_step": v.open_prompts, "no_prompt_share": e(-v.open_prompts), "other_tokens": v.open_prompts * v.uncached_prompt, "turn_share": 0,
        "prefill_room": v.open_room, "packed_tokens": v.open_room, "prompted_groups": v.attention_dp, "batch": decoding, "batch_beside_chunks": decoding,
    }  # fmt: skip


def no_event(mean, spread, groups):
    """The negative binomial distribution at 0 over all groups, of one of them."""
    return power(1 / (1 + mean * groups * spread), 1 / spread / groups)


def rest_of_step(**changed):
    """Of a step without prompts where one fills steps; else the mean over all steps."""

    def of(v):
        if v.uncached_prompt >= v.open_room and v.attention_dp <= Fraction(3, 2):
            return v("loaded_decode_time", batch=v.seen_batch) / 2
        more = {name: how(v) for name, how in changed.items()}
        return v("mean_step_rest", **{**open_to_arrivals(v, v.seen_batch), **more})

    return of


def by_amount(v, none, few, many, full):
    """A mean over the steps without prompts, with few, with many and with as many as they have room for."""
    return (
        none * v.decode_only_share
        + few * (v.few_share - v.decode_only_share)
        + many * (v.not_full_share - v.few_share)
        + full * (1 - v.not_full_share)
    )


def around(v, sign):
    """Mean and a root of two points that keep three moments; prompts that are longer than a step has room for leave a rest."""
    return (
        v.rest_tokens
        if v.uncached_prompt >= v.prefill_room
        else min(v.packed_tokens, v.fresh_tokens + v.fresh_skew + sign * v.fresh_spread)
    )


def between(v):
    """The lower root x of (slots - x)(most - x) = w x^2."""
    slots, most = v.unbounded_prompts, v.most_prompts
    return 2 / (
        1 / slots + 1 / most + root((1 / slots - 1 / most) ** 2 + 4 * v.budget_wait / slots / most)
    )


def skew(v):
    """E X^2/E X and E X^3/E X of a sum of prompts, then the third central moment over twice the variance."""
    square = v.fresh_square
    cube = v.uncached_prompt_of_token * (
        v.uncached_prompt_of_pair + 3 * v.other_tokens
    ) + v.other_tokens * (v.other_tokens - v.turn_share * v.uncached_prompt)
    return (
        (cube - 3 * v.fresh_tokens * square + 2 * v.fresh_tokens**2)
        / 2
        / max(square - v.fresh_tokens, v.fresh_tokens / 10**6)
    )


def last_time(v):
    """The step that ends a prefill beside that of the other groups, if there are any."""
    own = v.read_last_tokens
    if v.busy_groups < Fraction(3, 2):
        return beside(v, fullest_tokens=own)
    none, few, many = (
        power(v.value(name), 1 - 1 / v.busy_groups)
        for name in ("decode_only_share", "few_share", "not_full_share")
    )
    return (
        none * beside(v, fullest_tokens=own)
        + (few - none) * beside(v, fullest_tokens=max(own, v.few_tokens))
        + (many - few) * beside(v, fullest_tokens=max(own, v.many_tokens))
        + (1 - many) * v.full_step_time
    )


def lane_wait(v):
    """A load to a power over what is left, by the mean square over mean of a prompt; or M/G/1 with what steps take at once left out."""
    left, lanes = idle(v, "prefill_slot_utilization"), v.prefill_slots
    if v.uncached_prompt >= v.open_room:
        busy = power(v.prefill_slot_utilization, root(2 * lanes + 2) - 1)
        return busy * v.uncached_prompt_of_token * v.open_full_time / v.open_room / lanes / left / 2
    others = {"other_tokens": v.uncached_prompt * v.clustered_prompts}
    taken = v(
        "step_square", **others, prompts_per_step=v.open_prompts, no_prompt_share=v.clustered_none, turn_share=0,
        prefill_room=v.open_room, packed_tokens=v.open_room,
    )  # fmt: skip
    behind = max(0, v("fresh_square", **others) - taken) / v.open_room
    return behind * v.open_full_time * v.prefill_slot_utilization / left / 2


def lane_wait_elsewhere(v):
    lanes = max(1, v.prefill_slots)
    return (
        power(v.prefill_slot_utilization, root(2 * lanes + 2) - 1)
        * v.service_time_met
        / min(1, v.prefill_slots)
        / lanes
        / idle(v, "prefill_slot_utilization")
        / 2
    )


def slot_wait(v):
    """Erlang's C over what is left of the rate, times half of one and the spread, and Cosmetatos's correction of constant service."""
    constant = (
        max(0, 1 - v.slot_steps_spread)
        * (1 - v.slots_taken)
        * (v.batch - 1)
        * (root(4 + 5 * v.batch) - 2)
        / v.batch
        / 16
        / v.slots_taken
    )
    return (
        v.all_slots_share
        * (1 + v.uneven_work + v.slot_steps_spread + constant)
        / 2
        / idle(v, "load")
        / v.served_requests
    )


def worst(v):
    """Full of prompts at the end of their text: of those that decode as many fewer as prompts are in it."""
    left = v.batch - v.busy_groups * max(1, v.most_tokens / v.uncached_prompt)
    full = v(
        "loaded_time",
        batch=max(v.busy_groups, left),
        fullest_tokens=v.most_tokens,
        all_tokens=v.busy_groups * v.most_tokens,
        prefill_room=max(1, v.most_tokens),
        chunk_position=1,
    )
    return max(full, v.loaded_decode_time)


def behind(v, own, service, step):
    """What came while a request waited and was prefilled, less the part of it that steps leave in the mean."""
    came = v.arrival_rate / v.dp * (v.prefill_queue_wait + service)
    return came * max(0, 1 - step / own) * (1 - v.taken_share)


def over_two_numbers(v):
    """Between the times of few and of many, as the mean is between them."""
    few, many = (v("loaded_decode_time", batch=n) for n in (v.few_joined, v.many_joined))
    part = (v.joined_batch - v.few_joined) / max(Fraction(1, 1000), v.many_joined - v.few_joined)
    return (1 - part) * few + part * many


def added_by_prompt(v):
    """Its part of full steps where others wait, and else its own steps; in one step what it makes that longer."""
    none = v("loaded_decode_time", batch=v.seen_batch)
    if v.uncached_prompt < v.open_room:
        own = {**open_to_arrivals(v, v.seen_batch), "fullest_tokens": v.uncached_prompt}
        return beside(v, **own) - none
    shared, steps = v.uncached_prompt / v.open_room, -(-v.uncached_prompt // v.open_room)
    busy = min(1, v.prefill_slot_utilization)
    alone = v.mean_prefill_time - steps * none
    return alone + busy * (shared * (v.open_full_time - none) - alone)


def of_mix(v):
    """What changes from requests of one kind to those of both."""
    return {
        "long_step_share": v.long_slots_share, "slot_steps": v.mix_steps, "slot_steps_spread": v.mix_steps_spread, "uncached_prompt": v.mix_new,
        "uncached_prompt_of_token": v.mix_new_of_token, "uncached_prompt_of_pair": v.mix_new_of_pair, "service_time": v.mix_service_time,
        "service_time_met": v.mix_service_time_met,
    }  # fmt: skip


def moment(v, k):
    return mean(v, uncached_moment(v, k, v.prompt), uncached_moment(v, k, v.long_prompt))


def read_squared(v, **changed):
    return of_hits(
        v,
        v("hit_service_time", **changed) ** 2,
        v("hit_service_time", **changed, cached_prefix=0) ** 2,
    )


def long_of(v, name):
    return v(name, **lengths(v))


def worst_of_kind(v, prompt, share):
    return v(
        "worst_chunked_itl",
        **{**of_mix(v), "uncached_prompt": uncached(v, prompt)},
        long_token_share=share,
    )


def prefill_of_kind(prompt, known):
    return {
        "chunked": lambda v: v("prompt_prefill_time", **of_mix(v), read_prompt=prompt(v) - v.cached_prefix), "exclusive": lambda v: known(v, "service_time"),
        "disaggregated": lambda v: known(v, "service_time") + known(v, "transfer_time"),
    }  # fmt: skip


def ttft_of_kind(prompt, kind):
    at = lambda v, **more: v("open_ttft", **of_mix(v), decoding_requests=v.mix_steady_batch, **more)  # noqa: E731
    apart = lambda v: at(v, prompt_prefill_time=v.value(f"mix_{kind}_prefill_time"))  # noqa: E731
    return {
        "chunked": lambda v: at(v, read_prompt=prompt(v) - v.cached_prefix),
        "exclusive": apart,
        "disaggregated": apart,
    }


def mixed_steps(v, count):
    return sum(
        v("mixed_time", chunk_past=v.cached_prefix + turn * v.chunk) for turn in range(int(count))
    )


def idle(v, busy):
    """The share of time that is left; none from a load of one on."""
    return max(0, 1 - v.value(busy))


def waiting(busy, service):
    """Waits in queues of one server: M/M/1, M/D/1 (half of it), M/G/1 (by the spread)."""
    return {
        "mm1": lambda v: v.value(service) * v.value(busy) / idle(v, busy),
        "md1": lambda v: v.value(service) * v.value(busy) / idle(v, busy) / 2,
        "mg1": lambda v: (
            v.value(service) * v.value(busy) / idle(v, busy) * (1 + v.service_spread) / 2
        ),
    }


def in_time(v):
    """M/M/1: the wait exceeds t with the chance rho exp(-(1 - rho) t/s)."""
    slack = v.ttft_target - v.ttft
    return (
        0
        if slack < 0
        else 1
        - v.utilization
        * Fraction(math.exp(-float(idle(v, "utilization") * slack / v.service_time)))
    )


def wait_quantile(v):
    """The wait t at which rho exp(-(1 - rho) t/s) is the share that waits longer; none where fewer wait at all."""
    longer = 1 - v.percentile
    return (
        max(0, -Fraction(math.log(longer / v.utilization)))
        * v.service_time
        / idle(v, "utilization")
    )


def of_attention(v, step):
    """FLOPs beside attention and of attention, each with its peak."""
    own = v.value(f"{step}_attention_flops_per_device")
    return (v.value(f"{step}_flops_per_device") - own, v.peak_flops), (own, v.attention_peak_flops)


def vectors(v, step):
    return (
        v.step_overhead
        + v.n_layers * v.layer_overhead
        + v.value(f"{step}_vector_elements") * v.elementwise_bytes / v.mem_bandwidth
    )


def one_request(v, **more):
    return v("kv_cache_bytes", batch=1, **more) + v.state_bytes / v.batch


def attention(v, scores):
    """Per head: queries, keys, values and results of the prompt, and its scores and probabilities, each written and read."""
    elements = 4 * v.prompt * v.head_dim + 4 * v.prompt**2 * scores
    return 4 * v.prompt**2 * v.head_dim / (elements * v.act_bytes_per_element)


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
    "decoded_tokens": lambda v: 1,
    "gained_tokens": lambda v: 1,
    "loaded_draft_time": lambda v: 0,
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
    "expert_devices": lambda v: v.ep * (1 - (1 - 1 / v.ep) ** v.experts_per_token),
    "expert_nodes": lambda v: (n := math.ceil(v.ep / v.node_devices)) * (1 - (1 - 1 / n) ** v.experts_per_token),
    "dispatch_bytes_per_element": lambda v: v.link_bytes_per_element,
    "all_to_all_time": lambda v: ring(v, v.ep, v.message_bytes * v.expert_devices * v.expert_imbalance, 1) if v.ep > 1 else 0,
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
    "hit_service_time": prefill,
    "service_time": lambda v: of_hits(v, v.hit_service_time, v("hit_service_time", cached_prefix=0)),
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
    "slot_steps": lambda v: v.response_steps / v.gained_tokens,
    "slot_steps_spread": lambda v: v.output_spread,
    "uncached_prompt": lambda v: uncached(v, v.prompt),
    "uncached_prompt_of_token": lambda v: uncached_moment(v, 2, v.prompt) / v.uncached_prompt,
    "uncached_prompt_of_pair": lambda v: uncached_moment(v, 3, v.prompt) / v.uncached_prompt / v.uncached_prompt_of_token,
    "read_prompt": new,
    "even_chunk": lambda v: v.uncached_prompt * v.batch / v.slot_steps,
    "busy_groups": lambda v: min(v.batch, v.attention_dp),
    "prompted_groups": lambda v: v.busy_groups,
    "group_requests": lambda v: v.batch / v.busy_groups,
    "step_budget": lambda v: v.chunk / v.attention_dp,
    "prompt_chunks": lambda v: -(-v.uncached_prompt // v.step_budget),
    "unbounded_prompts": lambda v: v.group_requests / (v.prompt_chunks + v.slot_steps),
    "most_prompts": lambda v: (v.step_budget + v.decoded_tokens * v.group_requests) / (v.decoded_tokens * v.slot_steps + v.uncached_prompt),
    "length_spread": lambda v: v.uncached_prompt_of_token + v.uncached_prompt * (v.slot_steps_spread - 1),
    "budget_wait": lambda v: v.length_spread / 2 / (v.step_budget + v.decoded_tokens * (v.group_requests - v.slot_steps * v.most_prompts)) * (v.uncached_prompt / (v.uncached_prompt + v.decoded_tokens * v.slot_steps)) / (v.prompt_chunks + v.slot_steps),
    "prompts_per_step": between,
    "packed_tokens": lambda v: v.prefill_room if v.uncached_prompt + v.length_spread >= min(v.prefill_room, v.uncached_prompt * Fraction(1001, 1000)) else v.uncached_prompt * max(v.prompts_per_step, v.prefill_room // v.uncached_prompt),
    "chunked_batch": lambda v: v.slot_steps * v.prompts_per_step * v.busy_groups,
    "prefill_room": lambda v: v.decoded_tokens * (v.group_requests - v.slot_steps * v.prompts_per_step) + v.step_budget,
    "turn_share": lambda v: v.prompts_per_step / v.group_requests,
    "no_prompt_share": lambda v: power(1 - v.turn_share, v.group_requests),
    "other_tokens": lambda v: (v.prompts_per_step - v.turn_share) * v.uncached_prompt,
    "fresh_tokens": lambda v: v.uncached_prompt * v.prompts_per_step / (1 - v.no_prompt_share),
    "fresh_square": lambda v: v.other_tokens + v.uncached_prompt_of_token,
    "fresh_skew": skew,
    "fresh_spread": lambda v: root(v.fresh_skew**2 + max(0, v.fresh_square - v.fresh_tokens) * v.fresh_tokens),
    "few_tokens": lambda v: around(v, -1),
    "many_tokens": lambda v: around(v, 1),
    "many_share": lambda v: (v.fresh_spread - v.fresh_skew) / max(v.fresh_spread, v.fresh_tokens / 10**9) / 2,
    "partial_tokens": lambda v: (1 - v.many_share) * v.few_tokens + v.many_share * v.many_tokens,
    "full_share": lambda v: max(0, v.prompts_per_step * v.uncached_prompt - (1 - v.no_prompt_share) * v.partial_tokens) / max(v.packed_tokens / 10**9, v.packed_tokens - v.partial_tokens * (1 - v.no_prompt_share)),
    "step_square": lambda v: (v.full_share * v.packed_tokens**2 + (1 - v.full_share) * (1 - v.no_prompt_share) * (v.few_tokens**2 + v.many_share * (v.many_tokens**2 - v.few_tokens**2))) / v.uncached_prompt / v.prompts_per_step,
    "rest_tokens": lambda v: v.prefill_room / 2 + (v.uncached_prompt - v.prefill_room * (-(-v.uncached_prompt // v.prefill_room) - Fraction(1, 2))) * e(v.prompts_per_step * min(0, 1 - v.uncached_prompt / v.prefill_room)),
    "decode_only_share": lambda v: power((1 - v.full_share) * v.no_prompt_share, v.prompted_groups),
    "few_share": lambda v: power((1 - v.full_share) * (1 - v.many_share + v.no_prompt_share * v.many_share), v.prompted_groups),
    "not_full_share": lambda v: power(1 - v.full_share, v.prompted_groups),
    "batch_beside_chunks": lambda v: min(1, v.batch - 1) * max(0, v.chunked_batch - v.batch * v.decode_only_share) / (1 - v.decode_only_share),
    "fullest_tokens": lambda v: v.uncached_prompt * v.prompts_per_step,
    "all_tokens": lambda v: v.fullest_tokens + (max(0, v.uncached_prompt * v.prompts_per_step * v.prompted_groups / (1 - v.decode_only_share) - v.fullest_tokens) * min(1, v.attention_dp - 1)),
    "prefill_chunk": lambda v: min(v.prefill_room, v.uncached_prompt),
    "concurrent_chunks": lambda v: v.all_tokens / v.prefill_chunk,
    "group_chunks": lambda v: v.fullest_tokens / v.prefill_chunk,
    "chunk_position": lambda v: Fraction(1, 2),
    "chunk_start": lambda v: v.chunk_position * (v.uncached_prompt_of_token - v.prefill_chunk) + v.hit_rate * (v.prompt - v.cached_prefix) / v.uncached_prompt * v.cached_prefix,
    "chunk_logit_rows": lambda v: v.prefill_chunk / v.uncached_prompt,
    "loaded_time": lambda v: v.loaded_draft_time + v.mixture_overhead + v.mixture_busy_time,
    "loaded_decode_time": lambda v: v("loaded_time", fullest_tokens=0, all_tokens=0, prefill_room=v.uncached_prompt),
    "chunked_step_time": lambda v: v("loaded_time", batch=v.batch_beside_chunks, fullest_tokens=v.fullest_tokens, all_tokens=v.all_tokens, prefill_room=v.prefill_room),
    "few_step_time": lambda v: beside(v, fullest_tokens=v.few_tokens),
    "many_step_time": lambda v: beside(v, fullest_tokens=v.many_tokens),
    "full_step_time": lambda v: beside(v, fullest_tokens=v.packed_tokens),
    "chunked_steps_time": lambda v: by_amount(v, 0, v.few_step_time, v.many_step_time, v.full_step_time),
    "mean_step_time": lambda v: v.chunked_steps_time + v.loaded_decode_time * v.decode_only_share,
    "mean_step_rest": lambda v: by_amount(v, v.loaded_decode_time**2, v.few_step_time**2, v.many_step_time**2, v.full_step_time**2) / 2 / v.mean_step_time,
    "chunked_itl": lambda v: (v.chunked_steps_time * v.batch_beside_chunks + v.loaded_decode_time * (v.chunked_batch - v.batch_beside_chunks * (1 - v.decode_only_share))) / v.chunked_batch,
    "chunked_request_rate": lambda v: v.prompts_per_step * v.busy_groups / v.mean_step_time if v.slot_steps >= Fraction(1, 2) else v.prefill_batch / v.service_time,
    "exclusive_request_rate": lambda v: 1 / (v.slot_steps * v.loaded_decode_time / v.batch + v.service_time / v.prefill_batch),
    "prefill_instance_devices": lambda v: v.instance_devices,
    "prefill_request_rate": lambda v: v.prefill_batch * v.prefill_devices / (v.service_time * v.prefill_instance_devices),
    "decode_request_rate": lambda v: v.batch / v.loaded_decode_time / v.slot_steps,
    "disaggregated_request_rate": lambda v: min(v.prefill_request_rate, v.decode_request_rate) if v.slot_steps >= Fraction(1, 2) else v.prefill_request_rate,
    "served_itl": lambda v: v.served_step_time / v.gained_tokens,
    "served_step_time": {
        "chunked": lambda v: v.chunked_itl,
        "exclusive": lambda v: v.loaded_decode_time + max(0, v.batch - v.prefill_batch) / v.prefill_batch * v.service_time / v.slot_steps,
        "disaggregated": lambda v: v("loaded_decode_time", batch=max(1, v.disaggregated_batch)),
    },
    "sustained_itl": lambda v: v.served_itl,
    "sustained_requests": lambda v: v.served_requests,
    "served_requests": {"chunked": lambda v: v.chunked_request_rate, "exclusive": lambda v: v.exclusive_request_rate, "disaggregated": lambda v: v.disaggregated_request_rate},
    "sustained_throughput": lambda v: v.sustained_requests * v.output,
    "sustained_throughput_per_device": lambda v: v.sustained_throughput / v.served_devices,
    "read_last_tokens": lambda v: min(v.prefill_room, v.joining_tokens + v.read_prompt - v.prefill_room * (-(-v.read_prompt // v.prefill_room) - 1)),
    "read_last_time": last_time,
    "prompt_steps_time": lambda v: v.read_last_time + v.full_step_time * (-(-v.read_prompt // v.prefill_room) - 1),
    "prompt_prefill_time": {
        "chunked": lambda v: of_hits(v, v.prompt_steps_time, v("prompt_steps_time", read_prompt=v.cached_prefix + v.read_prompt)), "exclusive": lambda v: v.service_time,
        "disaggregated": lambda v: v.transfer_time + v.service_time,
    },
    "most_tokens": lambda v: min(v.uncached_prompt * min(v.group_requests, v.batch - 1), v.step_budget + max(1, v.step_budget / v.uncached_prompt)),
    "worst_chunked_itl": worst,
    "worst_itl": {
        "chunked": lambda v: v.worst_chunked_itl, "exclusive": lambda v: v.service_time + v.loaded_decode_time, "disaggregated": lambda v: v("itl_last", batch=max(1, v.disaggregated_batch)),
    },
    "load": lambda v: v.arrival_rate / v.sustained_requests / v.dp,
    "most_decoding": {"chunked": lambda v: v.chunked_batch, "exclusive": lambda v: v.batch, "disaggregated": lambda v: v.disaggregated_batch},
    "decoding_requests": lambda v: v.most_decoding,
    "open_prompts": lambda v: max(Fraction(1, 10**9), v.decoding_requests / v.attention_dp / v.slot_steps),
    "open_room": lambda v: v.decoded_tokens * (v.group_requests - v.decoding_requests / v.attention_dp) + v.step_budget,
    "seen_batch": lambda v: v.slot_steps * v.open_prompts * v.attention_dp / (1 - e(-v.slot_steps * v.open_prompts * v.attention_dp)),
    "slots_taken": {
        **{kind: lambda v: min(Fraction(999, 1000), (v.mean_prefill_time * v.arrival_rate / v.dp + v.decoding_requests) / v.batch) for kind in ("chunked", "exclusive")},
        "disaggregated": lambda v: min(Fraction(999, 1000), v.decoding_requests / v.batch),
    },
    "taken_share": lambda v: power(v.slots_taken, root(2 * v.batch + 2) - 1),
    "joining_requests": lambda v: 1 if v.uncached_prompt >= v.open_room else 1 / (1 - min(Fraction(1, 2), v.prompt_added_time * v.arrival_rate / v.dp)),
    "joined_batch": lambda v: max(1, min(v.batch, v.joining_requests + v.decoding_requests - v.taken_share)),
    "few_joined": lambda v: v.joined_batch + HALF - root(max(0, v.joined_batch - 1) + HALF**2),
    "many_joined": lambda v: max(v.joined_batch, min(v.batch, v.joined_batch + HALF + root(max(0, v.joined_batch - 1) + HALF**2))),
    "joined_decode_time": over_two_numbers,
    "plain_rest": {"chunked": rest_of_step(), "exclusive": lambda v: v("loaded_decode_time", batch=v.seen_batch) / 2, "disaggregated": lambda v: 0},
    "clustering": lambda v: max(Fraction(1, 1000), min(v.open_room / v.uncached_prompt, 2 * v.plain_rest * v.arrival_rate / v.dp / v.attention_dp) / v.open_prompts - 1),
    "clustered_none": lambda v: no_event(v.open_prompts, v.clustering, v.attention_dp),
    "clustered_prompts": lambda v: (v.open_prompts + v.open_prompts * v.clustering) / v.attention_dp,
    "met_rest": {
        "chunked": rest_of_step(no_prompt_share=lambda v: v.clustered_none, other_tokens=lambda v: v.uncached_prompt * v.clustered_prompts),
        "exclusive": lambda v: v("loaded_decode_time", batch=v.seen_batch) / 2, "disaggregated": lambda v: 0,
    },
    "prefill_slots": {
        "chunked": lambda v: max(1, v.open_room / v.uncached_prompt) * v.attention_dp, "exclusive": lambda v: v.prefill_batch,
        "disaggregated": lambda v: v.prefill_batch * v.prefill_devices / v.prefill_instance_devices,
    },
    "open_full_time": lambda v: v("full_step_time", **open_to_arrivals(v, v.seen_batch)),
    "prefill_slot_utilization": {
        "chunked": lambda v: v.arrival_rate * v.uncached_prompt / v.dp / v.attention_dp / v.open_room * v.open_full_time,
        **{kind: lambda v: v.service_time * v.arrival_rate / (v.prefill_slots * v.dp) for kind in ("exclusive", "disaggregated")},
    },
    "idle_share": lambda v: e(-v.slot_steps * v.open_prompts * v.attention_dp) * min(idle(v, "prefill_slot_utilization"), e(-v.open_prompts * v.attention_dp)),
    "service_time_met": lambda v: read_squared(v) / v.service_time,
    "prefill_queue_wait": {
        "chunked": lane_wait, "exclusive": lambda v: v.service_time_met * v.prefill_slot_utilization / idle(v, "prefill_slot_utilization") / 2,
        "disaggregated": lane_wait_elsewhere,
    },
    "joined_prompts": lambda v: min(v.open_room / v.uncached_prompt, max(Fraction(1, 10**9), 2 * v.met_rest * v.arrival_rate / v.dp / v.attention_dp)),
    "open_prefill_time": lambda v: v("prompt_prefill_time", **open_to_arrivals(v, v.seen_batch), joining_tokens=v.joined_prompts * v.uncached_prompt if v.uncached_prompt < v.open_room else 0),
    "lone_prefill_time": lambda v: v("prompt_prefill_time", **{**open_to_arrivals(v, v.seen_batch), "batch_beside_chunks": 0}),
    "mean_prefill_time": {
        "chunked": lambda v: v("open_prefill_time", read_prompt=v.uncached_prompt - v.cached_prefix + v.hit_rate * v.cached_prefix), "exclusive": lambda v: v.service_time, "disaggregated": lambda v: v.service_time,
    },
    "prompt_added_time": {"chunked": added_by_prompt, "exclusive": lambda v: v.service_time, "disaggregated": lambda v: 0},
    "met_clustering": lambda v: max(Fraction(1, 1000), v.joined_prompts / v.open_prompts - 1),
    "seen_none": lambda v: no_event(v.seen_prompts, v.met_clustering, v.attention_dp),
    "seen_prompts": lambda v: max(Fraction(1, 10**9), v.open_prompts - v.taken_share / v.attention_dp / v.slot_steps),
    "joined_step_time": lambda v: v("mean_step_time", **{**open_to_arrivals(v, v.joined_batch), "prompts_per_step": v.seen_prompts, "no_prompt_share": v.seen_none, "other_tokens": v.uncached_prompt * v.seen_prompts * (1 + v.met_clustering) / v.attention_dp, "loaded_decode_time": v.joined_decode_time}),
    "prompts_behind": {
        "chunked": lambda v: behind(v, v.open_full_time if v.uncached_prompt >= v.open_room else v.mean_prefill_time, v.mean_prefill_time, v.joined_step_time),
        "exclusive": lambda v: behind(v, v.service_time, v.service_time, v.joined_decode_time), "disaggregated": lambda v: 0,
    },
    "open_step_time": {
        "chunked": lambda v: min(v.open_full_time, v.joined_step_time + 1 / (1 / v.prompts_behind + 1 - 1 / v.attention_dp) * min(v.open_full_time, v.prompt_added_time / v.slot_steps)),
        "exclusive": lambda v: v.joined_decode_time + (max(0, (1 + v.decoding_requests - v.taken_share) / v.prefill_batch - 1) + v.prompts_behind) / v.slot_steps * v.service_time,
        "disaggregated": lambda v: v.joined_decode_time,
    },
    "decode_added_time": lambda v: (v.loaded_decode_time - v("loaded_decode_time", batch=1)) / max(1, v.batch - 1),
    "added_time_deviation": lambda v: abs(v.long_added_time - v.own_added_time) * root(v.long_share * (1 - v.long_share)),
    "peakedness": lambda v: (1 + (v.added_time_deviation * v.arrival_rate / v.dp) ** 2) / (1 - min(Fraction(9, 10), v.prompt_added_time * v.arrival_rate / v.dp)) / (1 - min(Fraction(19, 20), max(0, (v.served_step_time / v.open_step_time - 1) / max(Fraction(1, 1000), v.most_decoding / v.decoding_requests - 1)))),
    "peaked_slots": lambda v: v.batch / v.peakedness,
    "slots_full_odds": lambda v: e(v.peaked_slots * (1 - v.slots_taken)) * power(v.slots_taken, v.peaked_slots) / root(2 * v.peaked_slots * PI) / (1 + 1 / v.peaked_slots / 12) / v.peakedness * (1 + v.uneven_work / 2) / idle(v, "load"),
    "uneven_work": lambda v: v.added_time_deviation**2 * v.served_requests**2,
    "all_slots_share": lambda v: 1 / (1 + 1 / v.slots_full_odds / (1 + e(Fraction(-1702, 1000) * (v.peaked_slots - v.peaked_slots * v.slots_taken - Fraction(1, 2)) / root(v.peaked_slots * v.slots_taken)))),
    "admission_wait": lambda v: v("wait_for_slot", decoding_requests=v.steady_batch),
    "slot_queue_wait": slot_wait,
    "wait_for_slot": {"chunked": lambda v: v.slot_queue_wait, "exclusive": lambda v: v.slot_queue_wait, "disaggregated": lambda v: 0},
    "wait_to_decode": {"chunked": lambda v: 0, "exclusive": lambda v: 0, "disaggregated": lambda v: v.slot_queue_wait},
    "time_outside_steps": lambda v: v.server_latency + v.queue_time,
    "open_ttft": lambda v: v.idle_share * (v.lone_prefill_time - v.met_rest - v.prefill_queue_wait - v.open_prefill_time) + v.met_rest + v.prefill_queue_wait + v.open_prefill_time + v.time_outside_steps + v.wait_for_slot,
    "loaded_ttft": lambda v: max(v("ttft", prefill_batch=v.attention_dp), v("open_ttft", decoding_requests=v.steady_batch)),
    "loaded_itl": lambda v: v.sustained_itl if v.load >= 1 else min(v.sustained_itl, v.steady_batch / (v.arrival_rate / v.dp) / v.slot_steps / v.gained_tokens) + v("wait_to_decode", decoding_requests=v.steady_batch) / v.slot_steps / v.gained_tokens,
    "judged_itl": {"load": lambda v: v.sustained_itl, "isolated": lambda v: v.itl_last},
    "judged_ttft": {"load": lambda v: v.loaded_ttft, "isolated": lambda v: v.ttft},
    "meets_itl": lambda v: int(v.judged_itl <= v.itl_target),
    "meets_ttft": lambda v: int(v.judged_ttft <= v.ttft_target),
    "goodput": lambda v: v.dp * v.sustained_requests * v.slo_share * v.meets_ttft * v.meets_itl,
    "max_goodput": lambda v: v("goodput", batch=v.best_batch) if v.best_batch >= Fraction(1, 2) else 0,
    # a mix at work
    "own_added_time": lambda v: uncached(v, v.prompt) / v.mix_new * v.prompt_added_time + v("decode_added_time", long_step_share=0) * v.response_steps / v.gained_tokens,
    "long_added_time": lambda v: uncached(v, v.long_prompt) / v.mix_new * v.prompt_added_time + v("decode_added_time", long_step_share=1) * v.long_response_steps / v.gained_tokens,
    "mix_response_time": lambda v: mixed(v, "response_time"),
    "mix_cost_per_request": lambda v: mixed(v, "cost_per_request"),
    "response_bytes": lambda v: v.prefill_bytes / v.prefill_batch + sum(v("decode_bytes", context=v.prompt + 1 + turn) for turn in range(int(v.response_steps))) / v.batch,
    "long_time_share": lambda v: v.long_share * v("response_time", **lengths(v)) / mixed(v, "response_time"),
    "long_bytes_share": lambda v: v.long_share * v("response_bytes", **lengths(v)) / mixed(v, "response_bytes"),
    "mix_output": lambda v: mean(v, v.output, v.long_output),
    "mix_steps": lambda v: mean(v, v.response_steps, v("response_steps", output=v.long_output)) / v.gained_tokens,
    "long_slots_share": lambda v: v("response_steps", output=v.long_output) / v.gained_tokens / v.mix_steps * v.long_share,
    "mix_new": lambda v: mean(v, uncached(v, v.prompt), uncached(v, v.long_prompt)),
    "mix_new_of_token": lambda v: moment(v, 2) / v.mix_new,
    "mix_new_of_pair": lambda v: moment(v, 3) / v.mix_new / v.mix_new_of_token,
    "mix_steps_spread": lambda v: mean(v, v.response_steps**2, v("response_steps", output=v.long_output) ** 2) * (1 + v.output_spread) / v.gained_tokens**2 / v.mix_steps**2 - 1,
    "mix_service_time": lambda v: mean(v, v.service_time, long_of(v, "service_time")),
    "mix_service_time_met": lambda v: mean(v, read_squared(v), read_squared(v, **lengths(v))) / v.mix_service_time,
    "long_token_share": lambda v: v.long_share / v.mix_new * uncached(v, v.long_prompt),
    "own_chunk": lambda v: min(v.prefill_room, uncached(v, v.prompt)),
    "long_chunk": lambda v: min(v.prefill_room, uncached(v, v.long_prompt)),
    "own_chunks": lambda v: v.all_tokens / v.own_chunk * (1 - v.long_token_share),
    "long_chunks": lambda v: v.all_tokens / v.long_chunk * v.long_token_share,
    "group_own_chunks": lambda v: v.fullest_tokens / v.own_chunk * (1 - v.long_token_share),
    "group_long_chunks": lambda v: v.fullest_tokens / v.long_chunk * v.long_token_share,
    "own_chunk_start": lambda v: start_of_chunk(v, v.prompt, v.own_chunk),
    "long_chunk_start": lambda v: start_of_chunk(v, v.long_prompt, v.long_chunk),
    "own_logit_rows": lambda v: v.own_chunk / uncached(v, v.prompt),
    "long_logit_rows": lambda v: v.long_chunk / uncached(v, v.long_prompt),
    "own_batch": lambda v: v.batch - v.batch * v.long_step_share,
    "long_batch": lambda v: v.long_step_share * v.batch,
    "long_context": lambda v: long_of(v, "loaded_context"),
    "long_response_steps": lambda v: v("response_steps", output=v.long_output),
    **{name: lambda v, of=of: v(of, **of_mix(v)) for name, of in (
        ("mix_batch", "most_decoding"), ("mix_sustained_requests", "served_requests"), ("mix_sustained_itl", "served_itl"),
    )},
    "mix_own_prefill_time": prefill_of_kind(lambda v: v.prompt, lambda v, name: v.value(name)),
    "mix_long_prefill_time": prefill_of_kind(lambda v: v.long_prompt, long_of),
    "mix_prompt_prefill_time": lambda v: mean(v, v.mix_own_prefill_time, v.mix_long_prefill_time),
    "mix_sustained_throughput": lambda v: v.mix_sustained_requests * v.mix_output,
    "mix_cost_per_mtok": lambda v: MILLION / v.mix_sustained_throughput * v.served_devices * v.price,
    "mix_load": lambda v: v.arrival_rate / v.mix_sustained_requests / v.dp,
    "mix_peak_context": lambda v: v.prompt + v.output - 1 + v.long_slots_share * (v.long_prompt + v.long_output - v.prompt - v.output),
    "mix_worst_itl": {
        "chunked": lambda v: max(worst_of_kind(v, v.long_prompt, 1), worst_of_kind(v, v.prompt, 0)),
        "exclusive": lambda v: max(v.service_time, long_of(v, "service_time")) + v("loaded_decode_time", **of_mix(v)),
        "disaggregated": lambda v: max(v("itl_last", batch=v.mix_batch, **lengths(v)), v("itl_last", batch=v.mix_batch)),
    },
    "mix_admission_wait": lambda v: v("wait_for_slot", **of_mix(v), decoding_requests=v.mix_steady_batch),
    "mix_own_ttft": ttft_of_kind(lambda v: v.prompt, "own"),
    "mix_long_ttft": ttft_of_kind(lambda v: v.long_prompt, "long"),
    "mix_loaded_itl": lambda v: v.mix_sustained_itl if v.mix_load >= 1 else min(v.mix_sustained_itl, v.mix_steady_batch / (v.arrival_rate / v.dp) / v.mix_steps / v.gained_tokens) + v("wait_to_decode", **of_mix(v), decoding_requests=v.mix_steady_batch) / v.mix_steps / v.gained_tokens,
    "mix_loaded_ttft": lambda v: mean(v, v.mix_own_ttft, v.mix_long_ttft),
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
        "aggregate": lambda v, s: (
            (times := [v.value(f"{s}_memory_time"), v.value(f"{s}_compute_time")])
            and sum(times) - v.work_overlap * min(times)
        ),
        "no_overlap": lambda v, s: v.value(f"{s}_memory_time") + v.value(f"{s}_compute_time"),
    },
    "overhead": {
        "exposed": lambda v, s: v.kernels * v.kernel_launch + vectors(v, s),
        "hidden": lambda v, s: max(
            v.kernels * v.kernel_launch - v.value(f"{s}_busy_time"), vectors(v, s)
        ),
        "graph": lambda v, s: v.kernel_launch + vectors(v, s),
    },
    "bound": lambda v, s: max(
        ("compute", "memory", "link", "overhead"),
        key=lambda kind: v.value(f"{s}_{kind}" + "_time" * (kind != "overhead")),
    ),
}

INSTEAD = {
    "service_time": ("hit_rate", lambda v: v.hit_service_time),
    "service_time_met": ("hit_rate", lambda v: v.service_time),
    "uncached_prompt_of_token": ("hit_rate", lambda v: v.uncached_prompt),
    "uncached_prompt_of_pair": ("hit_rate", lambda v: v.uncached_prompt),
    "chunk_start": (
        "hit_rate",
        lambda v: v.chunk_position * (v.uncached_prompt - v.prefill_chunk) + v.cached_prefix,
    ),
    "step_budget": ("chunk", lambda v: v.uncached_prompt * v.group_requests),
    "loaded_time": (
        "long_step_share",
        lambda v: v.loaded_draft_time + v.loaded_overhead + v.loaded_busy_time,
    ),
    "added_time_deviation": (
        "long_step_share",
        lambda v: root(
            v.prompt_added_time**2 * (v.uncached_prompt_of_token / v.uncached_prompt - 1)
            + v.slot_steps**2 * v.decode_added_time**2 * v.slot_steps_spread
        ),
    ),
    "steady_batch": ("arrival_rate", lambda v: v.most_decoding),
    "mix_steady_batch": ("arrival_rate", lambda v: v.mix_batch),
    "loaded_itl": ("arrival_rate", lambda v: v.sustained_itl),
    "mix_loaded_itl": ("arrival_rate", lambda v: v.mix_sustained_itl),
    "loaded_ttft": (
        "arrival_rate",
        lambda v: max(
            v("ttft", prefill_batch=v.attention_dp), v.prompt_prefill_time + v.time_outside_steps
        ),
    ),
    **{
        f"mix_{kind}_ttft": (
            "arrival_rate",
            lambda v, kind=kind: v.value(f"mix_{kind}_prefill_time") + v.time_outside_steps,
        )
        for kind in ("own", "long")
    },
    "judged_itl": ("output", lambda v: v.itl),
    "judged_ttft": ("output", lambda v: v.ttft),
    "meets_itl": ("itl_target", lambda v: 1),
    "meets_ttft": ("ttft_target", lambda v: 1),
}
"""Name -> an input, and what it is where that has no value."""

SEARCHED = {
    "disaggregated_batch": (
        "fixed_point",
        "batch",
        lambda v: (
            v("loaded_decode_time", batch=max(1, v.batch)) * v.slot_steps * v.prefill_request_rate
        ),
        lambda v: v.batch,
    ),
    "steady_batch": (
        "fixed_point",
        "decoding_requests",
        lambda v: v.open_step_time * v.slot_steps * v.arrival_rate / v.dp,
        lambda v: v.most_decoding,
    ),
    "mix_steady_batch": (
        "fixed_point",
        "decoding_requests",
        lambda v: v("open_step_time", **of_mix(v)) * v.mix_steps * v.arrival_rate / v.dp,
        lambda v: v.mix_batch,
    ),
    "best_batch": (
        "largest",
        "batch",
        lambda v: v("meets_ttft", wait_for_slot=0) * v.meets_itl,
        lambda v: v.concurrency,
    ),
}
"""Name -> what is searched for, its unknown, the formula that this has to equal or that has to be 1, and the largest batch."""

TURN = ("response_steps", 0)
HAS_A_VALUE = {
    **dict.fromkeys(["even_chunk", "chunked_itl", "decode_request_rate", "sustained_itl", "mix_sustained_itl", "loaded_itl", "mix_loaded_itl", "open_prompts", "open_step_time", "served_itl"], TURN),
    **dict.fromkeys(["queue_wait", "queue_wait_quantile", "share_in_time", "burst_drain_time"], ("utilization", 1)),
    "steady_batch": ("load", 1), "mix_steady_batch": ("mix_load", 1), "slot_queue_wait": ("load", 1), "slots_full_odds": ("load", 1), "prefill_queue_wait": ("prefill_slot_utilization", 1),
}  # fmt: skip
"""Name -> what has to be above 0, or below 1, and not at it."""


def same(value, expected):
    """Exactly, or as far as roots and logarithms in floats go."""
    return (
        value == expected
        if isinstance(value, (str, bool))
        else abs(value - expected) <= abs(expected) * Fraction(1, 10**11) + Fraction(1, 10**300)
    )


def agree(text, by_hand, label):
    """Compare a formula at the random points and those that fix a name of it; where there is no value by hand it has none either."""
    tree, compared = parse(text), 0
    spoken = {*names(tree)}
    for i, point in enumerate(
        [
            *(point for point in POINTS if not point.fixed or point.fixed & spoken),
            *MORE.get(label, []),
        ]
    ):
        try:
            expected = by_hand(point)
        except ZeroDivisionError:
            with pytest.raises(NoValue):
                evaluate(tree, point)
            continue
        value = evaluate(tree, point)
        assert same(value, expected), (
            f"{label} at point {i}: {float(value)} and not {float(expected)}"
        )
        compared += 1
    assert compared > 2, label


def texts(name):
    quantity = QUANTITIES[name]
    return (
        {None: quantity.definition}
        if quantity.definition is not None
        else {value: text for value, text in quantity.variants if text}
    )


def test_every_formula_is_what_its_meaning_says():
    rows = {name: row if isinstance(row, dict) else {None: row} for name, row in FORMULAS.items()}
    for step in (step.name for step in STEPS):
        for what, row in OF_A_STEP.items():
            rows[f"{step}_{what}"] = {
                value: lambda v, f=f, s=step: f(v, s)
                for value, f in (row if isinstance(row, dict) else {None: row}).items()
            }
    for name, row in rows.items():
        assert texts(name).keys() == row.keys(), name
        for value, by_hand in row.items():
            agree(texts(name)[value], by_hand, f"{name} {value}" if value else name)


@pytest.mark.sample(5)
@pytest.mark.parametrize("name", INSTEAD)
def test_what_replaces_an_input_without_a_value(name):
    key, by_hand = INSTEAD[name]
    assert QUANTITIES[name].without[0] == key
    agree(QUANTITIES[name].without[1], by_hand, f"{name} without")


@pytest.mark.parametrize("name", SEARCHED)
def test_what_is_searched_for(name):
    kind, unknown, body, high = SEARCHED[name]
    search = QUANTITIES[name].search
    assert (search.kind, search.unknown) == (kind, unknown)
    agree(search.body, body, f"body of {name}")
    agree(search.high, high, f"end of {name}")


def test_numbers_in_the_place_of_inputs_without_a_value():
    assert dict(QUANTITIES["peak_context"].absent) == {"output": "1", "prompt": "1"}
    assert all(
        dict(QUANTITIES[f"{step.name}_overhead"].absent)
        == {"kernel_launch": "0", "elementwise_bytes": "0"}
        for step in STEPS
    )


@pytest.mark.sample(5)
@pytest.mark.parametrize("name", HAS_A_VALUE)
def test_a_value_ends_just_where_its_condition_does(name):
    key, end = HAS_A_VALUE[name]
    ((condition, _),) = QUANTITIES[name].exists
    assert [*names(parse(condition))] == [key]
    beside = Fraction(1, 10**9)
    inside, outside = (end + beside, end - beside) if end == 0 else (end - beside, end + beside)
    for value, holds in ((inside, True), (end, False), (outside, False)):
        assert bool(evaluate(parse(condition), Floats({key: value}))) is holds
