"""Cases and equations that are in no book: a seed draws a model, a device, a workload, switches, an equation between quantities of one unit."""

import math

from symroof.api import Study
from symroof.errors import InputError
from symroof.symbolic.expressions import names
from symroof.symbolic.reading import parse
from symroof.theory.declarations import default_of

MODELS = [
    "llama-3-8b",
    "llama-3-70b",
    "llama-2-7b",
    "gemma-2-9b",
    "gemma-2-27b",
    "gemma-3-1b",
    "mistral-7b-v0.1",
    "falcon-7b",
    "falcon-40b",
    "qwen2.5-0.5b",
    "qwen3-8b",
    "gpt2",
    "opt-6.7b",
    "gpt-neox-20b",
    "phi-3-mini-4k",
    "starcoder2-15b",
    "olmo-2-7b",
    "smollm2-135m",
    "llama-3.1-405b",
    "phi-2",
]
DEVICES = [
    "h100-sxm",
    "a100-80gb-sxm",
    "mi300x",
    "l4",
    "tpu-v5e",
    "h200",
    "b200",
    "rtx-4090",
    "l40s",
    "gaudi3",
]
QUANTITIES = {
    "s": [
        "ttft",
        "itl",
        "decode_time",
        "response_time",
        "prefill_compute_time",
        "prefill_memory_time",
        "prefill_time",
        "prefill_roofline_time",
        "tpot",
        "itl_first",
        "decode_compute_time",
        "decode_memory_time",
        "decode_roofline_time",
        "decode_link_time",
        "prefill_link_time",
        "itl_last",
        "prefill_overhead",
        "itl_target",
    ],
    "byte": [
        "kv_cache_bytes",
        "weight_bytes",
        "weight_bytes_read",
        "decode_bytes",
        "prefill_bytes",
        "memory_bytes",
        "usable_memory",
        "peak_kv_cache_bytes",
        "kv_reserved_bytes",
        "kv_cache_bytes_per_device",
        "weight_bytes_per_device",
        "logit_bytes",
        "free_memory",
    ],
    "FLOP": [
        "prefill_flops",
        "decode_flops",
        "prefill_attention_flops",
        "prefill_linear_flops",
        "decode_flops_per_device",
        "sampling_flops",
    ],
    "FLOP/byte": [
        "prefill_intensity",
        "decode_intensity",
        "ridge_point",
        "effective_ridge",
        "attention_intensity",
    ],
    "token/s": ["decode_throughput", "user_rate", "prefill_throughput"],
    "": [
        "prefill_mfu",
        "prefill_mbu",
        "decode_mfu",
        "decode_mbu",
        "ttft_share",
        "memory_utilization",
        "attention_to_linear",
        "head_share",
        "prefill_decode_ratio",
    ],
    "byte/token": [
        "kv_bytes_per_token",
        "activation_bytes_per_token",
        "head_activation_bytes_per_row",
    ],
    "USD": ["decode_cost_per_mtok", "cost_per_request"],
    "J/token": ["decode_energy_per_token"],
}
SPANS = {
    **dict.fromkeys(
        ("batch", "prefill_batch", "prompt", "context", "window", "learned_positions"), (1e-2, 1e7)
    ),
    **dict.fromkeys(
        ("n_layers", "d_model", "n_heads", "n_kv_heads", "head_dim", "d_ff", "vocab_size"),
        (1e-1, 1e6),
    ),
    **dict.fromkeys(("mfu", "mbu", "memory_share"), (1e-4, 1)),
    **dict.fromkeys(
        ("weight_bytes_per_param", "kv_bytes_per_element", "act_bytes_per_element"), (1e-4, 1e4)
    ),
    **dict.fromkeys(
        ("step_overhead", "layer_overhead", "queue_time", "link_latency", "itl_target"), (1e-9, 1e4)
    ),
    "output": (1, 2e4),
    "tp": (1e-1, 1e5),
    "mem_bandwidth": (1e8, 1e17),
    "peak_flops": (1e10, 1e20),
    "mem_capacity": (1e6, 1e16),
    "link_bandwidth": (1e6, 1e16),
    "memory_reserve": (1e3, 1e15),
    "price": (1e-9, 1e2),
    "power": (1e-2, 1e6),
    "cached_prefix": (1e-2, math.inf),
}
"""Where an input is scanned."""


def draw_case(rng, models=MODELS):
    """A model, a device, a workload and switches."""
    prompt = rng.choice([48, 512, 2048, 8192])
    case = {
        "model": rng.choice(models),
        "hardware": rng.choice(DEVICES),
        "prompt": prompt,
        "output": rng.choice([2, 16, 128]),
        "batch": rng.choice([1, 4, 32, 200]),
        "tp": rng.choice([1, 1, 2, 8]),
        "mfu": rng.choice([0.3, 0.5, 1]),
        "mbu": rng.choice([0.6, 0.8, 1]),
        "itl_target": "50 ms",
    }
    sometimes = {
        "prefill_batch": 4,
        "cached_prefix": prompt // 3,
        "step_overhead": "1 ms",
        "layer_overhead": "20 us",
        "queue_time": "30 ms",
        "link_latency": "8 us",
        "memory_reserve": "2 GB",
        "memory_share": 0.9,
        "context": rng.choice([1, 1024, 20_000]),
        "price": "3 USD/hour",
        "power": "700 W",
    }
    case |= {
        name: value
        for name, value in sometimes.items()
        if rng.random() < (0.9 if name in ("price", "power") else 0.25)
    }
    case |= {role: rng.choice(["fp16", "fp8"]) for role in ("weights", "kv") if rng.random() < 0.3}
    switches = {
        "detail": ["exact", "exact", "attention", "kv", "weights"],
        "attention": ["causal", "full"],
        "roofline": ["aggregate", "aggregate", "per_operator", "no_overlap"],
        "kv_growth": ["growing", "growing", "fixed"],
        "decode_steps": ["output_minus_one", "output"],
        "fusion": ["flash", "unfused"],
        "logits": ["last", "all"],
        "kv_reserve": ["logical", "logical", "unified", "paged"],
    }
    assume = {switch: rng.choice(values) for switch, values in switches.items()}
    if rng.random() < 0.2:
        assume["activations"] = "off"
    return Study(**case, engine="ideal", assume=assume)


def shared_out(study):
    """Whether the drawn devices can hold the model's key and value heads: whole ones, or as many copies of each."""
    try:
        return bool(study.cases)
    except InputError as error:
        assert "cannot share out" in str(error)
        return False


def draw_equation(rng, study):
    """A pair, a multiple, a number near the value, a sum, or a ratio."""
    unit = rng.choice(list(QUANTITIES))
    known = [name for name in QUANTITIES[unit] if study.first.get(name) is not None]
    if not known:
        return None
    first, second, third = (rng.choice(known) for _ in range(3))
    form = rng.choice(["pair", "pair", "pair", "multiple", "number", "number", "sum", "ratio"])
    factor = rng.choice(["2", "3", "10", "256", "0.37"])
    if form == "number":
        return f"{first} = {float(study.value(first)) * rng.choice([0.2, 0.7, 0.95, 1.3, 4]):.6g} {unit}"
    if form == "sum":
        return f"{first} + {second} = {factor}*{third}"
    if form == "ratio":
        value = study.value(second)
        return (
            f"{first}/{second} = {float(study.value(first) / value) * rng.choice([0.3, 1.5, 7]):.5g}"
            if value
            else None
        )
    return (
        f"{first} = {f'{factor}*' if form == 'multiple' else ''}{second}"
        if first != second
        else None
    )


def movers(study, equation):
    """The inputs that an equation depends on and that have a value here."""
    case = study.first.case
    behind = {
        name for written in names(parse(equation)) for name in case.theory.dependencies(written)
    }
    return sorted(
        name
        for name in behind
        if name.partition(".")[0] in SPANS
        and (name == "context" or name in case.given or default_of(name) is not None)
    )
