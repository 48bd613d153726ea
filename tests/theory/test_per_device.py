"""What the fullest and the slowest device hold, read and multiply, against handing everything out device by device."""

from collections import Counter
from fractions import Fraction
from functools import cache

import pytest

import symroof as sr
from symroof.errors import InputError
from symroof.specs.layers import (
    Experts,
    GroupedAttention,
    LatentAttention,
    LinearAttention,
    Mamba,
    Mamba2,
)

from . import device_parts as parts
from . import per_device as counter
from . import shipped
from .device_parts import Layout, Widths, Workload

MEMORY, BANDWIDTH, PEAK = 141 * 10**9, 4 * 10**12, 10**15
DEVICE = {
    "hardware": "h200",
    "mem_capacity": MEMORY,
    "mem_bandwidth": BANDWIDTH,
    "peak_flops": PEAK,
}
"""A device of the catalogue for what is not asked here, with round numbers for what is."""

# ------------------------------------------------------------------------------------------- the catalogue, for the counter


def alternating(kinds):
    return [kinds[layer % 2] for layer in range(sum(kind.count for kind in kinds))]


def jamba(kinds):
    """Of eight layers the fifth is attention; of two the second has experts."""
    of_experts, dense, attention = kinds
    return [
        of_experts if layer % 2 else attention if layer % 8 == 4 else dense for layer in range(32)
    ]


def every_fourth_is_full(kinds):
    linear, full = kinds
    return [full if layer % 4 == 3 else linear for layer in range(48)]


ORDER = {
    "gemma-2-9b": alternating,
    "gpt-oss-20b": alternating,
    "jamba-1.5-mini": jamba,
    "qwen3-next-80b-a3b": every_fourth_is_full,
}
"""The order of the layers where kinds mix, from the checkpoints' configurations; else kind after kind (DeepSeek: dense layers first)."""


@cache
def described(name):
    """A model of the catalogue as the counter takes it."""
    spec = shipped(name)
    kinds = (
        ORDER[name](spec.layers)
        if name in ORDER
        else [kind for kind in spec.layers for _ in range(kind.count)]
    )
    assert Counter(id(kind) for kind in kinds) == {id(kind): kind.count for kind in spec.layers}
    assert (
        spec.norm.kind == "rms"
        and spec.norm.final
        and not (spec.norm.embedding or spec.head_bias or spec.positions)
    )
    layers = tuple(
        parts.Layer(
            _mixer(kind),
            _feed_forward(kind.ffn),
            spec.norm.per_layer if kind.norms is None else kind.norms,
        )
        for kind in kinds
    )
    return parts.Model(spec.d_model, spec.vocab_size, layers, spec.tied_embeddings)


def _mixer(kind):
    a = kind.mixer or kind.attention
    if isinstance(a, GroupedAttention):
        norm = None if a.qk_norm == "none" else a.qk_norm
        return parts.Grouped(
            a.n_heads,
            a.n_kv_heads,
            a.head_dim,
            a.value_dim,
            a.window,
            norm,
            a.qkv_bias,
            a.out_bias,
            a.sinks,
            a.out_gate,
        )
    if isinstance(a, LatentAttention):
        return parts.Latent(
            a.n_heads, a.kv_lora_rank, a.qk_nope_dim, a.qk_rope_dim, a.value_dim, a.q_lora_rank
        )
    if isinstance(a, Mamba):
        return parts.Mamba(a.d_inner, a.d_state, a.d_conv, a.dt_rank, a.conv_bias, a.mixer_norm)
    if isinstance(a, Mamba2):
        return parts.Mamba2(
            a.d_inner, a.d_state, a.d_conv, a.ssm_heads, a.ssm_groups, a.conv_bias, a.mixer_norm
        )
    assert isinstance(a, LinearAttention)
    return parts.LinearAttention(
        a.linear_key_heads, a.linear_value_heads, a.linear_key_dim, a.linear_value_dim, a.d_conv
    )


def _feed_forward(ffn):
    if isinstance(ffn, Experts):
        shared = (ffn.n_shared_experts or 0) * (ffn.d_shared or ffn.d_expert)
        gated = ffn.expert == "gated"
        return parts.Experts(
            ffn.n_experts,
            ffn.experts_per_token,
            ffn.d_expert,
            shared,
            gated,
            ffn.bias,
            ffn.router_bias,
            ffn.shared_gate,
        )
    return (
        None if ffn.kind == "none" else parts.FeedForward(ffn.d_ff, ffn.kind == "gated", ffn.bias)
    )


# ------------------------------------------------------------------------------------------------------- cases and layouts

MODELS = (
    "llama-3-8b", "llama-3-70b", "qwen2.5-7b", "qwen3-235b-a22b", "qwen3-30b-a3b", "mixtral-8x7b", "deepseek-v3", "deepseek-v2-lite",
    "gemma-2-9b", "gpt-oss-20b", "mamba2-2.7b", "falcon-mamba-7b", "jamba-1.5-mini", "qwen3-next-80b-a3b",
)  # fmt: skip
LAYOUTS = (
    *(Layout(tp=tp) for tp in (1, 2, 4, 8, 16)),
    *(Layout(pp=pp) for pp in (2, 3, 4)),
    *(Layout(attention_dp=groups) for groups in (2, 8, 16)),
    *(Layout(tp, pp) for tp, pp in ((2, 2), (2, 4), (8, 2), (4, 3), (4, 4))),
    *(Layout(tp, 1, groups) for tp, groups in ((2, 8), (4, 2), (8, 2))),
    *(Layout(tp, pp, groups) for tp, pp, groups in ((1, 2, 8), (2, 2, 4), (1, 3, 2), (4, 2, 2))),
)
WORKLOADS = (
    {"batch": 32, "prompt": 1024, "output": 256},
    {
        "batch": 437,
        "prompt": 1500,
        "cached_prefix": 700,
        "output": 300,
        "context": 6000,
        "prefill_batch": 2,
    },
    {"batch": 5, "prompt": 200, "output": 5000, "weights": "fp8", "kv": "fp8"},
)
"""As keywords of a study, but for ``prefill_batch``, which is of one attention_dp group. A plain one, one with rests, prefix and a
context of its own (over every window), and one with fewer requests than devices and a peak far beyond the prompt."""

BYTES = {"fp16": Fraction(2), "fp8": Fraction(1)}


def cases():
    """Every model on two layouts of three, the workloads in turn, so that each model and each layout meets all of them."""
    for m, model in enumerate(MODELS):
        for n, layout in enumerate(LAYOUTS):
            if (2 * m + n) % 3 == 1:
                continue
            turn = (m + n) % len(WORKLOADS)
            name = f"{model}-tp{layout.tp}-pp{layout.pp}-adp{layout.attention_dp}-{turn}"
            yield pytest.param(model, layout, WORKLOADS[turn], id=name)


def study(model, layout, workload, **more):
    chosen = {"weights": "fp16", "kv": "fp16", "activations": "fp16", **DEVICE, **workload, **more}
    if "prefill_batch" in workload:
        chosen["prefill_batch"] = workload["prefill_batch"] * layout.attention_dp
    degrees = {"tp": layout.tp, "pp": layout.pp, "attention_dp": layout.attention_dp}
    return sr.Study(
        model=model,
        engine="ideal",
        **chosen,
        **{name: degree for name, degree in degrees.items() if degree > 1},
    )


def expected(model, layout, workload):
    """Every quantity by the counter: of the fullest device what memory is about, of the slowest what time is about."""
    described_model, widths, work = _counted(model, layout, workload)
    counts = counter.deploy(described_model, layout, widths, work)
    full = counter.fullest(counts)
    slowest = {
        name: max(getattr(count, name) for count in counts)
        for name in ("decode_bytes", "decode_flops", "prefill_bytes", "prefill_flops")
    }
    decode_passes, prefill_passes = layout.pp, counter.prefill_passes(work, layout)
    passes = {
        "decode": decode_passes,
        "prefill": prefill_passes - layout.pp + 1,
    }  # those that the fullest device works in
    return {
        "memory_bytes_per_device": full.total,
        "weight_bytes_per_device": full.weights,
        "kv_cache_bytes_per_device": full.cache,
        "memory_bytes": full.total * layout.devices,
        "memory_utilization": full.total / MEMORY,
        "fits": full.total <= MEMORY,
        "concurrency": counter.concurrency(described_model, layout, widths, work, MEMORY),
        **{
            f"{name}_per_device": passes[name.partition("_")[0]] * getattr(full, name)
            for name in slowest
        },
        "decode_memory_time": decode_passes * slowest["decode_bytes"] / BANDWIDTH,
        "decode_compute_time": decode_passes * slowest["decode_flops"] / PEAK,
        "prefill_memory_time": prefill_passes * slowest["prefill_bytes"] / BANDWIDTH,
        "prefill_compute_time": prefill_passes * slowest["prefill_flops"] / PEAK,
    }


def _counted(model, layout, workload):
    """The same case as the counter takes it."""
    context = workload.get("context", workload["prompt"])
    work = Workload(
        batch=workload["batch"], context=context,
        prefill_batch=workload.get("prefill_batch", 1) * layout.attention_dp,
        prompt=workload["prompt"], cached_prefix=workload.get("cached_prefix", 0),
        peak_context=max(context, workload["prompt"] + workload["output"] - 1),
    )  # fmt: skip
    widths = Widths(BYTES[workload.get("weights", "fp16")], BYTES[workload.get("kv", "fp16")])
    return described(model), widths, work


def differences(asked, wanted):
    """What the study answers otherwise, as ``name: (study, counter)``; to rounding."""
    answers = {name: asked.value(name) for name in wanted}
    return {
        name: (float(answers[name]), float(value))
        for name, value in wanted.items()
        if abs(answers[name] - value) > abs(value) * 1e-12
    }


# ------------------------------------------------------------------------------------------------------------------ the tests


@pytest.mark.sample(5)
@pytest.mark.parametrize("model", MODELS)
def test_the_description_has_the_published_parameters(model):
    (device,) = counter.instance(described(model), Layout(), Widths())
    assert sum(part.elements for part in device.parts) == shipped(model).published_params


@pytest.mark.sample(7)
@pytest.mark.parametrize(("model", "layout", "workload"), list(cases()))
def test_per_device(model, layout, workload):
    assert not differences(study(model, layout, workload), expected(model, layout, workload))


@pytest.mark.parametrize("ep", [1, 4, 8])
def test_experts_whole_or_cut_are_the_same_bytes(ep):
    layout = Layout(tp=2, attention_dp=4)
    assert not differences(
        study("qwen3-30b-a3b", layout, WORKLOADS[0], ep=ep),
        expected("qwen3-30b-a3b", layout, WORKLOADS[0]),
    )


@pytest.mark.parametrize(
    ("model", "tp"),
    [("llama-3-8b", 3), ("llama-3-8b", 12), ("qwen2.5-7b", 7), ("jamba-1.5-mini", 6)],
)
def test_key_value_heads_that_cannot_be_dealt_are_refused(model, tp):
    with pytest.raises(InputError, match=r"(?i)kv|key"):
        study(model, Layout(tp=tp), WORKLOADS[0]).value("memory_bytes")


@pytest.mark.parametrize(
    ("layout", "batch", "given"),
    [
        (
            Layout(tp=8),
            47,
            {
                "memory_bytes_per_device": 84_780_342_272 + 47 * 1_187_245_440,
                "concurrency": 47,
                "weight_bytes_per_device": 84_780_342_272,
            },
        ),
        (
            Layout(attention_dp=8),
            256,
            {
                "memory_bytes_per_device": 136_848_083_968,
                "concurrency": 280,
                "weight_bytes_per_device": 98_856_229_888,
            },
        ),
    ],
)
def test_deepseek_as_the_definitions_have_it(layout, batch, given):
    """The catalogue's entry has 58 * 256 router biases more than the configuration, which are copied and change no request."""
    biases = 58 * 256
    chosen = study(
        "deepseek-v3", layout, {"batch": batch, "prompt": 16_384, "output": 512, "weights": "fp8"}
    )
    wanted = {name: value + biases if "bytes" in name else value for name, value in given.items()}
    assert not differences(chosen, {**wanted, "fits": True})
