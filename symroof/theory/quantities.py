"""Every derived quantity, declared once over names and blind to architecture.

``definition`` is a formula in symroof's own grammar, or one per value of a switch. ``{step}`` in a declaration stands for
each step in turn. Quantities without a definition here are put together from the operator table
(:mod:`symroof.theory.theory`). Each group states the reference of its quantities, and a quantity its own where that differs.
Adding a quantity is adding one declaration.
"""

import re
from collections.abc import Iterator
from dataclasses import replace

from symroof.theory import references as source
from symroof.theory.quantity import WORK_TIMES, Quantity, referenced
from symroof.theory.quantity import declared as _q
from symroof.theory.rows import gemm
from symroof.theory.serving import SERVING
from symroof.theory.steps import DRIVERS, EXPERTS_READ, STEPS
from symroof.theory.totals import ALWAYS_READ, COEFFICIENTS

GEMM = {row.stream: row.amount for row in gemm("gemm", "gemm_k", "gemm_n")}
"""One matrix product as every operator counts it: the weights, and the FLOPs and activations of one of its rows."""

DEVICE = referenced(
    source.ROOFLINE,
    _q("device", "ridge_point", "R", "FLOP/byte", "ridge point: intensity at which compute and memory take equally long", "peak_flops/mem_bandwidth"),
    _q("device", "effective_ridge", "R_{eff}", "FLOP/byte", "ridge point at achieved rates (MFU, MBU)", "ridge_point*mfu/mbu"),
    _q("device", "attainable_flops", "P_{att}", "FLOP/s", "upper bound on the FLOP/s of a kernel of a given intensity", "min(peak_flops, mem_bandwidth*intensity)"),
    _q("device", "sram_bandwidth", r"\beta_{sm}", "byte/s", "shared-memory bandwidth of one device", "multiprocessors*sram_bytes_per_clock*clock", reference=source.CUDA_GUIDE),
    _q("device", "sram_capacity", "M_{sram}", "byte", "shared memory and L1 of one device", "multiprocessors*sram_per_multiprocessor", reference=source.DEFINITION),
    _q("device", "sram_ridge", "R_{sm}", "FLOP/byte", "ridge against shared memory", "peak_flops/sram_bandwidth", reference=source.HIERARCHICAL_ROOFLINE),
    _q("device", "l2_tokens", "n_{L2}", "token", "cached tokens that fit the L2 cache", "floor(l2_capacity/kv_bytes_per_token)", counted=True, reference=source.DEFINITION),
    _q("device", "gemm_flops", r"\Phi_g", "FLOP", "FLOPs of one matrix product", f"gemm_m*{GEMM['flops']}", reference=source.GEMM_GUIDE),
    _q("device", "gemm_bytes", "Q_g", "byte", "bytes of one matrix product: the matrix once, rows in and out once",
       f"{GEMM['weights']} + gemm_m*{GEMM['activations']}", reference=source.GEMM_GUIDE),
    _q("device", "gemm_intensity", "I_g", "FLOP/byte", "intensity of one matrix product", "gemm_flops/gemm_bytes", reference=source.GEMM_GUIDE),
    _q("device", "instance_price", "p_g", "USD/s", "price of the devices of one instance", "price*instance_devices", written_in="USD/hour", reference=source.DEFINITION),
)  # fmt: skip

MODEL = referenced(
    source.POPE,
    _q("model", "params", "P", "parameter", "total parameters, tied weights counted once", reference=source.DEFINITION),
    _q("model", "active_params", "P_a", "parameter", "active parameters, those that multiply one token: no gathered input table, no idle experts", reference=source.KAPLAN),
    _q("model", "linear_flops_per_token", r"\varphi", "FLOP/token", "FLOPs of one token outside attention scores and head", reference=source.KAPLAN),
    _q("model", "attention_flops_per_pair", "a", "FLOP", "FLOPs of one query-key pair over all layers, in a decode step where the phases differ", reference=source.PALM),
    _q("model", "expansion_flops_per_token", r"\varphi_e", "FLOP/token", "FLOPs of expanding the latent cache of one token that is read (latent attention)", reference=source.MLA),
    _q("model", "head_flops_per_row", r"\varphi_h", "FLOP/token", "FLOPs of one row of logits", reference=source.KAPLAN),
    _q("model", "weight_bytes", "W", "byte", "resident weights: every parameter", "params*weight_bytes_per_param", reference=source.DEFINITION),
    _q("model", "weight_bytes_read", "W_r", "byte", "weights a step streams: no gathered input table"),
    _q("model", "fixed_weight_bytes", "W_f", "byte", "weights every step streams, whatever its tokens: all but the experts"),
    _q("model", "expert_weight_bytes", "W_e", "byte", "weights of one expert, over all layers that have experts", reference=source.DEFINITION),
    _q("model", "quantized_params", "P_q", "parameter", "parameters in quantized matrices, without norms, biases and the matrices that a checkpoint leaves wide", reference=source.DEFINITION),
    _q("model", "expert_flops_per_token", r"\varphi_x", "FLOP/token", "FLOPs of one token in its routed experts", reference=source.SPARSE_EXPERTS),
    _q("model", "expert_activation_bytes_per_token", "A_x", "byte/token", "activations one token reads and writes in its routed experts", reference=source.GEMM_GUIDE),
    _q("model", "expert_layers", "L_e", "", "layers that have experts", counted=True, reference=source.DEFINITION),
    _q("model", "layer_weight_bytes", "W_L", "byte", "streamed weights of one layer on average", "(weight_bytes_read - d_model*vocab_size*weight_bytes_per_param)/n_layers", reference=source.DEFINITION),
    _q("model", "kv_bytes_per_token", r"\kappa", "byte/token", "cache of one token over all layers"),
    _q("model", "kv_bytes_read_again_per_token", r"\kappa_r", "byte/token", "cache traffic of one token beyond its own cache: shared caches, expanded latents", reference=source.MLA),
    _q("model", "state_bytes_per_request", r"\psi", "byte/request", "recurrent state of one request over all layers", reference=source.MAMBA),
    _q("model", "expansion_bytes_per_token", "A_e", "byte/token", "activations of expanding the latent cache of one token", reference=source.MLA),
    _q("model", "activation_bytes_per_token", "A", "byte/token", "activations one token reads and writes in the layers", reference=source.GEMM_GUIDE),
    _q("model", "head_activation_bytes_per_row", "A_h", "byte/token", "activations one row of logits reads and writes", reference=source.GEMM_GUIDE),
    _q("model", "score_bytes_per_pair", r"\sigma", "byte", "scores and probabilities of one pair, written and read", reference=source.FLASH),
    _q("model", "quantized_bytes_per_param", "b_q", "byte/parameter", "bytes of a weight with its share of the scale", "weight_bits + scale_bits/scale_group", reference=source.QLORA),
)  # fmt: skip


def _over_tokens(text: str) -> str:
    """The experts that the tokens of a decode step read."""
    return re.sub(r"\bt\b", "decode_tokens", text)


MEMORY = referenced(
    source.DEFINITION,
    _q("memory", "context", "C", "token", "keys a decode step's token attends to, its own included", "prompt", counted=True),
    _q("memory", "kv_cache_bytes", r"\mathrm{KV}", "byte", "cache of the whole batch at the context", reference=source.POPE),
    _q("memory", "state_bytes", r"\Psi", "byte", "recurrent state of the whole batch: its size does not grow with the context", reference=source.MAMBA),
    _q("memory", "experts_read", "E_r", "", "experts of a layer whose weights a decode step of the batch reads", switch="experts", reference=source.MOESD,
       variants={value: _over_tokens(text) for value, text in EXPERTS_READ.items()}),
    _q("memory", "peak_context", "C_{max}", "token", "longest context of a response", "max(context, prompt + output - 1)", absent=(("output", "1"), ("prompt", "1")), counted=True),
    _q("memory", "peak_kv_cache_bytes", r"\mathrm{KV}_{max}", "byte", "cache of the whole batch at the longest context", "kv_cache_bytes(context = peak_context)"),
    _q("memory", "kv_reserved_bytes", r"\mathrm{KV}_{res}", "byte", "cache an engine reserves at the longest context", switch="kv_reserve", reference=source.PAGED_ATTENTION, variants={
        "logical": "peak_kv_cache_bytes",
        "paged": "kv_cache_bytes(context = ceil(peak_context/block_size)*block_size)",
        "unified": "batch*peak_context*kv_bytes_per_token",
    }),
    _q("memory", "replicated_weight_bytes", "W_c", "byte", "resident weights replicated on each of the tp devices: norms, routers, latent projections", reference=source.MEGATRON),
    _q("memory", "weight_bytes_per_device", "W_1", "byte", "resident weights on the fullest device, replicated ones included", reference=source.MEGATRON),
    _q("memory", "kv_cache_bytes_per_device", r"\mathrm{KV}_1", "byte", "cache on the fullest device at the context; heads are replicated where there are more devices than heads, and a latent cache always is", reference=source.POPE),
    _q("memory", "state_bytes_per_device", r"\Psi_1", "byte", "recurrent states on the fullest device"),
    _q("memory", "peak_kv_cache_bytes_per_device", r"\mathrm{KV}_{1,max}", "byte", "cache on the fullest device at the longest context", "kv_cache_bytes_per_device(context = peak_context)"),
    _q("memory", "memory_bytes_per_device", "M_1", "byte", "weights, cache at the longest context, recurrent state and reserve of the fullest device",
       "weight_bytes_per_device + peak_kv_cache_bytes_per_device + state_bytes_per_device + memory_reserve"),
    _q("memory", "memory_bytes", "M_u", "byte", "memory needed on all devices of an instance, each counted as the fullest, replicated weights and caches included", "memory_bytes_per_device*instance_devices"),
    _q("memory", "usable_memory_per_device", r"M_{u1}", "byte", "memory of one device that may be used", "memory_share*mem_capacity"),
    _q("memory", "usable_memory", "M_a", "byte", "memory of an instance that may be used", "instance_devices*usable_memory_per_device"),
    _q("memory", "memory_utilization", "u_M", "", "used share of the fullest device's memory", "memory_bytes_per_device/mem_capacity"),
    _q("memory", "fits", r"\mathrm{fits}", "", "whether everything resident fits the fullest device", "memory_bytes_per_device <= usable_memory_per_device"),
    _q("memory", "free_memory", "M_f", "byte", "usable memory left over; negative where it does not fit", "usable_memory - memory_bytes", signed=True),
    _q("memory", "request_bytes_per_device", "M_{r}", "byte", "cache and state of one request on a device at its longest context", "kv_cache_bytes_per_device(batch = 1, context = peak_context) + state_bytes_per_device(batch = 1)", reference=source.DEFINITION),
    _q("memory", "concurrency", "B_{max}", "request", "requests whose longest caches fit beside the weights",
       "attention_dp*max(floor((usable_memory_per_device - memory_reserve - weight_bytes_per_device)/request_bytes_per_device), 0)", counted=True),
    _q("memory", "load_time", "t_{load}", "s", "time to read the weights from storage", "weight_bytes/disk_bandwidth"),
)  # fmt: skip

BETWEEN = "step_overhead + layer_overhead*n_layers + elementwise_bytes*{step}_vector_elements/mem_bandwidth"
"""What a pass costs beside its operators and the launch of kernels."""

# One forward pass: declared once for every step. FLOPs and bytes come from the operator table.
STEP = referenced(
    source.ROOFLINE,
    *(_q("{step}", f"{{step}}_{per}", letter + "_{{{step}}}", unit, meaning, counted=True, reference=source.MOESD if per == "experts_read" else source.DEFINITION)
      for per, (letter, unit, meaning) in DRIVERS.items()),
    _q("{step}", "{step}_flops", r"\Phi_{{{step}}}", "FLOP", "FLOPs of the pass", reference=source.KAPLAN),
    _q("{step}", "{step}_bytes", "Q_{{{step}}}", "byte", "bytes the pass moves", reference=source.POPE),
    _q("{step}", "{step}_intensity", "I_{{{step}}}", "FLOP/byte", "FLOPs per byte of the pass", "{step}_flops/{step}_bytes"),
    *(_q("{step}", f"{{step}}_{kind}", f"t^{{{{{kind[0]}}}}}_{{{{{{step}}}}}}", "s", f"time of the {what.replace('flops', 'FLOPs')} alone", f"{{step}}_{what}_per_device/{rate}")
      for kind, (what, rate) in WORK_TIMES.items()),
    _q("{step}", "{step}_roofline_time", "t^{{r}}_{{{step}}}", "s", "time under the roofline", switch="roofline", variants={
        "aggregate": "max({step}_compute_time, {step}_memory_time)",
        "per_operator": "",
        "no_overlap": "{step}_compute_time + {step}_memory_time",
    }),
    _q("{step}", "{step}_link_time", "t^{{l}}_{{{step}}}", "s", "communication time between devices: all-reduces, pipeline stages, experts", reference=source.SCALING_BOOK),
    _q("{step}", "{step}_vector_elements", "D_{{{step}}}", "", "elements of the activation vectors of all tokens in all layers, one vector per token and layer, on one device of a group", counted=True, reference=source.DEFINITION),
    _q("{step}", "{step}_busy_time", "t^{{b}}_{{{step}}}", "s", "time of the pass on devices and links, without overheads", "{step}_roofline_time + {step}_link_time", reference=source.SCALING_BOOK),
    _q("{step}", "{step}_overhead", "t^{{o}}_{{{step}}}", "s", "overheads of the pass beside its operators: fixed ones, and the work between operators", switch="launches", absent=(("kernel_launch", "0"), ("elementwise_bytes", "0")), reference=source.CUDA_GRAPHS, variants={
        "exposed": f"{BETWEEN} + kernel_launch*kernels",
        "hidden": f"max({BETWEEN}, kernel_launch*kernels - {{step}}_busy_time)",
        "graph": f"{BETWEEN} + kernel_launch",
    }),
    _q("{step}", "{step}_bound", "b_{{{step}}}", "", "the largest single term of the pass",
       "largest(compute = {step}_compute_time, memory = {step}_memory_time, link = {step}_link_time, overhead = {step}_overhead)"),
    _q("{step}", "{step}_flops_per_device", r"\Phi^1_{{{step}}}", "FLOP", "FLOPs of the fullest device, replicated work included", reference=source.MEGATRON),
    _q("{step}", "{step}_bytes_per_device", "Q^1_{{{step}}}", "byte", "bytes of the fullest device, replicated ones included", reference=source.MEGATRON),
)  # fmt: skip

LATENCY = referenced(
    source.METRICS,
    _q("latency", "all_reduces", "n_{ar}", "", "all-reduces of a pass inside a group: two per layer where a layer is split", reference=source.MEGATRON),
    _q("latency", "prefill_time", r"t_{\mathrm{prefill}}", "s", "time of the prefill pass", "prefill_busy_time", reference=source.DEFINITION),
    _q("latency", "ttft", r"\mathrm{TTFT}", "s", "time to first token", "queue_time + prefill_time + prefill_overhead"),
    _q("latency", "itl", r"\mathrm{ITL}", "s", "inter-token latency: one decode step at the context", "decode_busy_time + decode_overhead"),
    _q("latency", "response_steps", "n_s", "", "decode steps of a response", switch="decode_steps", variants={"output_minus_one": "output - 1", "output": "output"}, counted=True, reference=source.METRICS),
    _q("latency", "decode_time", r"t_{\mathrm{decode}}", "s", "all decode steps of a response, each with its own maximum", switch="kv_growth", reference=source.DEFINITION, variants={
        "growing": "sum(itl(context = prompt + step), step, 1, response_steps)",
        "fixed": "response_steps*itl",
    }),
    _q("latency", "tpot", r"\mathrm{TPOT}", "s", "mean time per output token after the first", "decode_time/response_steps"),
    _q("latency", "itl_first", r"\mathrm{ITL}_1", "s", "first decode step of a response", "itl(context = prompt + 1)", reference=source.DEFINITION),
    _q("latency", "itl_last", r"\mathrm{ITL}_N", "s", "last decode step of a response; the ITL target is tested here", switch="kv_growth", reference=source.DEFINITION, variants={
        "growing": "itl(context = prompt + response_steps)",
        "fixed": "itl",
    }),
    _q("latency", "response_time", r"t_{\mathrm{response}}", "s", "from request to last token", "ttft + decode_time"),
    _q("latency", "ttft_share", r"s_{\mathrm{TTFT}}", "", "share of the response spent before the first token", "ttft/response_time", reference=source.DEFINITION),
)  # fmt: skip

RATE = referenced(
    source.DEFINITION,
    _q("rate", "prefill_throughput", r"X_{\mathrm{prefill}}", "token/s", "prompt tokens computed per second", "prefill_tokens/prefill_time"),
    _q("rate", "decode_throughput", r"X_{\mathrm{decode}}", "token/s", "output tokens per second of the whole batch", "batch/itl", reference=source.METRICS),
    _q("rate", "decode_throughput_per_device", r"X^1_{\mathrm{decode}}", "token/s", "output tokens per second of the whole batch, for each device of the instance", "decode_throughput/instance_devices"),
    _q("rate", "user_rate", r"X_{\mathrm{user}}", "token/s", "output tokens per second of one user", "1/itl", reference=source.METRICS),
    _q("rate", "request_throughput", r"X_{\mathrm{request}}", "request/s", "responses per second while decoding", "decode_throughput/output", reference=source.METRICS),
    _q("rate", "prefill_decode_ratio", r"r_{p/d}", "", "prefill rate over decode rate, token for token", "prefill_throughput/decode_throughput"),
    _q("rate", "prefill_mfu", r"\mathrm{MFU}_{\mathrm{prefill}}", "", "achieved share of peak compute in the prefill", "prefill_flops/(prefill_time*instance_devices*peak_flops)", reference=source.PALM),
    _q("rate", "prefill_mbu", r"\mathrm{MBU}_{\mathrm{prefill}}", "", "achieved share of peak bandwidth in the prefill", "prefill_bytes/(prefill_time*instance_devices*mem_bandwidth)", reference=source.MBU),
    _q("rate", "decode_mfu", r"\mathrm{MFU}_{\mathrm{decode}}", "", "achieved share of peak compute in a decode step", "decode_flops/(itl*instance_devices*peak_flops)", reference=source.PALM),
    _q("rate", "decode_mbu", r"\mathrm{MBU}_{\mathrm{decode}}", "", "achieved share of peak bandwidth in a decode step", "decode_bytes/(itl*instance_devices*mem_bandwidth)", reference=source.MBU),
)  # fmt: skip

ATTENTION = referenced(
    source.DEFINITION,
    _q("attention", "prefill_attention_flops", r"\Phi^{att}_{\mathrm{prefill}}", "FLOP", "attention FLOPs of the prefill", reference=source.PALM),
    _q("attention", "attention_to_linear", "r_{att}", "", "attention FLOPs of the prefill over all its other FLOPs", "prefill_attention_flops/prefill_linear_flops"),
    _q("attention", "prefill_linear_flops", r"\Phi^{lin}_{\mathrm{prefill}}", "FLOP", "FLOPs of the prefill outside attention scores", reference=source.KAPLAN),
    _q("attention", "attention_intensity", "I_{att}", "FLOP/byte", "intensity of the attention core in a decode step",
       "attention_flops_per_pair/kv_bytes_per_token", reference=source.GQA),
    _q("attention", "score_traffic", r"Q_{\mathrm{score}}", "byte", "bytes that an unfused attention adds to the prefill", reference=source.FLASH),
    _q("attention", "logit_bytes", r"Q_{\mathrm{logit}}", "byte", "bytes of the prefill's logits", "prefill_logit_rows*vocab_size*act_bytes_per_element"),
    _q("attention", "sampling_flops", r"\Phi_{\mathrm{sample}}", "FLOP", "FLOPs of sampling one token: softmax and a draw, 5 FLOP per vocabulary entry", "5 FLOP*vocab_size"),
    _q("attention", "head_share", "s_h", "", "share of the head in a decode step's FLOPs", "head_flops_per_row*decode_logit_rows/decode_flops"),
)  # fmt: skip

MONEY = referenced(
    source.DEFINITION,
    _q("money", "cost_per_mtok", "c_{1M}", "USD", "cost per million output tokens, prefills included", "price*served_devices*10^6/sustained_throughput"),
    _q("money", "decode_cost_per_mtok", "c_{dec}", "USD", "cost per million output tokens, decode alone", "price*instance_devices*10^6/decode_throughput"),
    _q("money", "cost_per_request", "c_r", "USD", "cost per response: an instance's devices over the responses it sustains", "price*served_devices/sustained_requests"),
    _q("money", "energy_per_token", "E_t", "J/token", "energy per output token, prefills included: a bound, from the devices' power limit", "power*served_devices/sustained_throughput"),
    _q("money", "decode_energy_per_token", "E_{dec}", "J/token", "energy per output token, decode alone: a bound", "power*instance_devices/decode_throughput"),
    _q("money", "served_devices", r"n_{\mathrm{served}}", "device", "devices of one instance, its prefill devices included", switch="scheduling", counted=True, variants={
        "chunked": "instance_devices", "exclusive": "instance_devices", "disaggregated": "instance_devices + prefill_devices",
    }),
)  # fmt: skip


def _of_one(latex: str) -> str:
    """How the part of one device is spelled: ``W_r`` is ``W_{r1}``."""
    base, mark, index = latex.partition("_")
    return f"{base}_{{{index.strip('{}')}1}}" if mark else f"{base}_1"


SHARES_OF_A_DEVICE = tuple(
    replace(q, name=f"{q.name}_per_device", latex=_of_one(q.latex), meaning=f"{q.meaning}: the part on one device")
    for q in MODEL
    if q.name in {*COEFFICIENTS.values(), ALWAYS_READ}
)
"""Coefficients of the operator table, of which a device can have a part that is no even share."""


def _steps() -> Iterator[Quantity]:
    for step in STEPS:
        for quantity in STEP:
            put = {"step": step.name}
            yield replace(
                quantity,
                name=quantity.name.format(**put),
                latex=quantity.latex.format(step=rf"\mathrm{{{step.name}}}"),
                meaning=f"{step.name}: {quantity.meaning}",
                definition=quantity.definition.format(**put) if quantity.definition else None,
                variants=tuple((value, text.format(**put)) for value, text in quantity.variants),
                group=step.name,
            )


QUANTITIES: dict[str, Quantity] = {q.name: q for q in (*DEVICE, *MODEL, *SHARES_OF_A_DEVICE, *MEMORY, *_steps(), *LATENCY, *RATE, *ATTENTION, *MONEY, *SERVING)}
