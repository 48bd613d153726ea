"""Quantities of serving: speculation, chunks, links, queues, caches that come and go, money. Declarations like all others."""

from symroof.theory import references as source
from symroof.theory.links import all_gather, all_reduce, all_to_all, others
from symroof.theory.mixes import MIXES
from symroof.theory.quantity import MEMORY_RATE, NEGLIGIBLE_WAIT, referenced
from symroof.theory.quantity import declared as _q
from symroof.theory.under_load import STEADY as KEEPS_UP
from symroof.theory.under_load import UNDER_LOAD, waits_in_line

SPECULATION = referenced(
    source.LEVIATHAN,
    _q("speculation", "verified_tokens", r"T_{\gamma}", "token", "tokens of one request that a verification checks: the drafted ones and the last; given for a tree of drafts, its size", "draft_tokens + 1", counted=True,
       reference=source.MEDUSA),
    _q("speculation", "verify_time", r"t_{\mathrm{verify}}", "s", "time of one verification", "verify_busy_time + verify_overhead", reference=source.DEFINITION),
    _q("speculation", "tokens_per_verify", r"E_{\gamma}", "token", "expected tokens per verification: the accepted ones and one more",
       "sum(acceptance^step, step, 0, draft_tokens)"),
    _q("speculation", "draft_time", r"t_{\mathrm{draft}}", "s", "time to draft all tokens of a verification", "draft_tokens*draft_cost*itl"),
    _q("speculation", "speculative_itl", r"\mathrm{ITL}_{\gamma}", "s", "mean time per token with speculation", "(verify_time + draft_time)/tokens_per_verify"),
    _q("speculation", "speculation_speedup", r"u_{\gamma}", "", "speed-up of a token with speculation", "itl/speculative_itl"),
)  # fmt: skip

CHUNKS = referenced(
    source.SARATHI,
    _q("chunks", "mixed_time", r"t_{\mathrm{mixed}}", "s", "time of a mixed step: a decode step that also prefills a chunk", "mixed_busy_time + mixed_overhead"),
    _q("chunks", "chunk_steps", r"n_{\mathrm{chunk}}", "", "steps over which a prompt is prefilled", "ceil((prompt - cached_prefix)/chunk)", counted=True),
    _q("chunks", "chunked_ttft", r"\mathrm{TTFT}_c", "s", "time to first token of a prompt that is prefilled in chunks beside the decode of the batch; the next prompt fills its last step",
       "queue_time + sum(mixed_time(chunk_past = cached_prefix + chunk*(step - 1)), step, 1, chunk_steps)"),
    _q("chunks", "last_chunk", "c_n", "token", "prompt tokens left for the last chunk", "prompt - cached_prefix - chunk*(chunk_steps - 1)", counted=True),
    _q("chunks", "chunked_ttft_alone", r"\mathrm{TTFT}_{c1}", "s", "chunked_ttft with no prompt after it: its last step prefills only what is left",
       "queue_time + sum(mixed_time(chunk_past = cached_prefix + chunk*(step - 1)), step, 1, chunk_steps - 1)"
       " + mixed_time(chunk = last_chunk, chunk_past = cached_prefix + chunk*(chunk_steps - 1))"),
    _q("chunks", "step_tokens", r"T_{\mathrm{step}}", "token", "tokens of a mixed step: the engine's token budget", "chunk + batch", counted=True),
)  # fmt: skip

BATCHING = referenced(
    source.DEFINITION,
    _q("batching", "bandwidth_throughput_limit", "X^{m}_{max}", "token/s", "upper bound on decode throughput at any batch: cache and states read at full bandwidth",
       "attention_dp*" + MEMORY_RATE + "/(kv_cache_bytes_per_device(batch = 1) + 2*state_bytes_per_device(batch = 1))", reference=source.ROOFLINE),
    _q("batching", "compute_throughput_limit", "X^{c}_{max}", "token/s", "upper bound on decode throughput at any batch: FLOPs at full rate", "attention_dp*pp/decode_compute_time(batch = attention_dp*pp)", reference=source.ROOFLINE),
    _q("batching", "in_flight", "B_{L}", "request", "requests in the system on average: Little's law", "arrival_rate*response_time", reference=source.LITTLE),
    _q("batching", "static_fill_wait", r"t_{\mathrm{fill}}", "s", "mean wait until a static batch is full", "(batch - 1)/(2*arrival_rate/dp)", reference=source.KLEINROCK),
    _q("batching", "continuous_join_wait", r"t_{\mathrm{join}}", "s", "mean wait for the next step of a continuous batch", "itl/2", reference=source.ORCA),
    _q("batching", "uncached_tokens", "T_{u}", "token", "tokens a loop without cache processes for one response", "output*prompt + output*(output - 1)/2", counted=True),
    _q("batching", "cached_tokens", "T_{k}", "token", "tokens a loop with cache processes for one response", "prompt + output - 1", counted=True),
    _q("batching", "uncached_flops", r"\Phi_{u}", "FLOP", "FLOPs of a loop without cache, which recomputes the whole text for every token", "sum(prefill_flops(prompt = prompt + step - 1, cached_prefix = 0), step, 1, output)"),
    _q("batching", "cached_flops", r"\Phi_{k}", "FLOP", "FLOPs of one response with a cache: the prefill and every decode step",
       "prefill_flops/prefill_batch + sum(decode_flops(batch = 1, context = prompt + step), step, 1, output - 1)"),
    _q("batching", "uncached_time", "t_{u}", "s", "time of a loop without cache, which recomputes the whole text for every token", "sum(prefill_time(prompt = prompt + step - 1, cached_prefix = 0), step, 1, output)"),
)  # fmt: skip


def _of_one_request(changed: str = "") -> str:
    """The cache and the state of one request, on all devices of an instance; ``changed`` are more inputs of the cache."""
    return f"(kv_cache_bytes(batch = 1{changed}) + state_bytes/batch)"


CACHES = referenced(
    source.DEFINITION,
    _q("caches", "expected_ttft", r"\mathrm{TTFT}_h", "s", "mean time to first token where some requests find their prefix cached", "hit_rate*ttft + (1 - hit_rate)*ttft(cached_prefix = 0)"),
    _q("caches", "recompute_time", r"t_{\mathrm{re}}", "s", "time to recompute a request's cache", "prefill_time(prompt = context, cached_prefix = 0, prefill_batch = 1)", reference=source.PAGED_ATTENTION),
    _q("caches", "swap_time", r"t_{\mathrm{swap}}", "s", "time to swap a request's cache in from the host", _of_one_request() + "/host_bandwidth", reference=source.PAGED_ATTENTION),
    _q("caches", "preemption_overhead", r"o_{p}", "", "share of time lost to preemptions, by recomputation or swap, whichever is cheaper", "preemption_rate*min(recompute_time, swap_time)"),
    _q("caches", "transfer_time", r"t_{\mathrm{transfer}}", "s", "time to transfer a prompt's cache from a prefill device to a decode device", "link_latency + " + _of_one_request(", context = prompt") + "/network_bandwidth", reference=source.SPLITWISE),
    _q("caches", "disaggregated_ttft", r"\mathrm{TTFT}_d", "s", "time to first token where the prompt's cache is transferred to another device before the decode", "ttft + transfer_time", reference=source.SPLITWISE),
    _q("caches", "prefill_device_share", r"s_{p}", "", "share of devices for prefill at which prefill and decode are balanced", "(prefill_time/prefill_batch)/(prefill_time/prefill_batch + decode_time/batch)",
       reference=source.DISTSERVE),
    _q("caches", "activation_memory", "M_{a1}", "byte", "activations of the widest layer of a prefill pass at once: an estimate for the reserve", "prefill_tokens*(2*d_model + (ffn_matrices - 1)*d_ff)*act_bytes_per_element"),
)  # fmt: skip

LINKS = referenced(
    source.DEFINITION,
    _q("links", "instance_devices", "n_i", "device", "devices of one instance (one replica of the model)", counted=True),
    _q("links", "message_bytes", "m_l", "byte", "activations of one decode step that one collective of a group moves", reference=source.POPE),
    _q("links", "all_reduce_time", r"t_{\mathrm{ar}}", "s", "time of one ring all-reduce of the message", all_reduce("tp", "message_bytes"), reference=source.RING),
    _q("links", "all_gather_time", r"t_{\mathrm{ag}}", "s", "time of one ring all-gather of the message", all_gather("tp", "message_bytes"), reference=source.RING),
    _q("links", "all_to_all_time", r"t_{\mathrm{aa}}", "s", "time to send every token to its experts on other devices", all_to_all("message_bytes"), reference=source.GSHARD),
    _q("links", "link_ridge", "R_l", "FLOP/byte", "FLOPs per byte sent at which compute and links take equally long: the third roof", "peak_flops/link_bandwidth", reference=source.SCALING_BOOK),
    _q("links", "link_bytes", "Q_l", "byte", "bytes one device sends in the all-reduces of a decode step", f"all_reduces*2*{others('tp')}*message_bytes", reference=source.RING),
    _q("links", "link_intensity", "I_l", "FLOP/byte", "FLOPs of a decode step on one device per byte it sends", "decode_flops_per_device/link_bytes", reference=source.SCALING_BOOK),
    _q("links", "devices", "n_{dev}", "device", "devices of the fleet: all replicas of the instance", "instance_devices*dp", counted=True),
    _q("links", "stage_send_time", r"t_{\mathrm{send}}", "s", "time a token's activations take between the stages of a pipeline", reference=source.GPIPE),
    _q("links", "fleet_throughput", r"X_{\mathrm{all}}", "token/s", "output tokens per second of the fleet", "dp*decode_throughput"),
)  # fmt: skip

OVERHEADS = referenced(
    source.DEFINITION,
    _q("overheads", "kernels", "n_K", "", "kernels of a step", "kernels_per_layer*n_layers", counted=True),
    _q("overheads", "launch_time", r"t_{\mathrm{launch}}", "s", "time to launch every kernel of a step", "kernel_launch*kernels", reference=source.CUDA_GRAPHS),
    _q("overheads", "kernels_to_dominate", "n_{k,max}", "", "kernels of a layer beyond which launches take longer than a decode step", "decode_roofline_time/(kernel_launch*n_layers)"),
    _q("overheads", "l2_ridge", "R_{L2}", "FLOP/byte", "ridge against the L2 cache", "peak_flops/l2_bandwidth", reference=source.HIERARCHICAL_ROOFLINE),
    _q("overheads", "fused_attention_intensity", "I_{fa}", "FLOP/byte", "intensity of one head's attention over a prompt, scores staying on the chip",
       "4 FLOP*prompt^2*head_dim/(4*prompt*head_dim*act_bytes_per_element)", reference=source.FLASH),
    _q("overheads", "unfused_attention_intensity", "I_{ua}", "FLOP/byte", "intensity of one head's attention over a prompt, scores and probabilities written and read",
       "4 FLOP*prompt^2*head_dim/((4*prompt^2 + 4*prompt*head_dim)*act_bytes_per_element)", reference=source.FLASH),
)  # fmt: skip

STEADY = (("utilization < 1", "no steady state: at utilization >= 1 the queue is unstable, as requests arrive at least as fast as they are served"),)

LOAD = referenced(
    source.KLEINROCK,
    _q("load", "ln2", "c_{ln}", "", "natural logarithm of 2: formulas have logarithms to base 2 only", "0.6931471805599453094172321214581765680755", reference=source.DEFINITION),
    _q("load", "service_time", "t_s", "s", "service time: how long a request occupies the prefill", "prefill_time + prefill_overhead", reference=source.DEFINITION),
    _q("load", "utilization", r"\rho", "", "utilization: share of time the prefill of one instance is busy; the queue is unstable from 1 on", "arrival_rate/dp*service_time"),
    _q("load", "queue_wait", "W_q", "s", "mean wait before the prefill", switch="queue", negligible=NEGLIGIBLE_WAIT, exists=STEADY, variants=waits_in_line("utilization", "service_time")),
    _q("load", "queue_wait_quantile", "W_{q}^{p}", "s", "quantile of the wait before the prefill; a closed form exists for M/M/1 only", switch="queue", negligible=NEGLIGIBLE_WAIT, exists=STEADY, variants={
        "mm1": "ln2*service_time/max(1 - utilization, 0)*max(log2(utilization/(1 - percentile)), 0)",
    }),
    _q("load", "share_in_time", r"s_{\mathrm{TTFT}}^{\lambda}", "", "share of requests whose first token meets the TTFT target, its own prefill taken as the mean; a closed form exists for M/M/1 only",
       switch="queue", exists=STEADY, variants={
        "mm1": "min(1, max(0, floor((ttft_target - ttft)/service_time) + 1))*(1 - utilization*2^(-max(1 - utilization, 0)*(ttft_target - ttft)/(ln2*service_time)))",
    }),
    _q("load", "burst_backlog", "B_b", "request", "requests that wait when a burst ends", "max(burst_rate - dp/service_time, 0)*burst_duration", reference=source.NEWELL),
    _q("load", "burst_drain_time", r"t_{\mathrm{drain}}", "s", "time until the backlog of a burst is gone", "burst_backlog/max(dp/service_time - arrival_rate, 0)", exists=STEADY, reference=source.NEWELL),
)  # fmt: skip

PRICES = referenced(
    source.DEFINITION,
    _q("prices", "fleet_price", "p_f", "USD/s", "price of all devices of the fleet, prefill devices included", "price*served_devices*dp", written_in="USD/hour"),
    _q("prices", "cost_per_mtok_at_rate", r"c_{1M}^{\lambda}", "USD", "cost per million output tokens at the arrival rate: the whole fleet over what it is asked for, idle time included",
       "fleet_price*10^6*sustained_requests/(arrival_rate*sustained_throughput)", exists=KEEPS_UP),
    _q("prices", "cost_per_mtok_input", r"c_{1M}^{\mathrm{in}}", "USD", "cost per million prompt tokens", "price*instance_devices*10^6/prefill_throughput"),
    _q("prices", "price_ratio", "r_p", "", "price of this device over that of the one it is compared with", "price/rival_price"),
    _q("prices", "break_even_ratio", "r_{be}", "", "price ratio at which a token costs the same on both", "decode_throughput/(instance_devices*rival_throughput)"),
    _q("prices", "price_per_mtok", "p_{1M}", "USD", "price per million output tokens at which the margin is left over", "cost_per_mtok/(1 - margin)"),
    _q("prices", "energy_per_request", "E_{req}", "J/request", "energy per response: a bound, from the devices' power limit", "power*served_devices/sustained_requests"),
)  # fmt: skip

SERVING = (*SPECULATION, *CHUNKS, *BATCHING, *CACHES, *LINKS, *OVERHEADS, *LOAD, *UNDER_LOAD, *MIXES, *PRICES)
