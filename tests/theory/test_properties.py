"""What must hold of every case: scaling, monotony, sums over steps, switches, given quantities."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symroof.specs.model import ModelSpec
from symroof.theory.switches import SWITCHES

from ..near import near
from ..tables import words
from . import DEVICE, case, oracle
from .oracle import Kind, Model, Pass, Widths

LATENCIES = words("prefill_time ttft itl decode_time tpot itl_first itl_last response_time")
TIMES = words("prefill_compute_time prefill_memory_time decode_compute_time decode_memory_time")
MODELS = ("llama-3-8b", "gemma-2-9b", "falcon-7b", "mistral-7b-v0.1")
ROOFLINES = ("aggregate", "per_operator", "no_overlap")
WORK = {"prompt": 900, "output": 40, "batch": 6}
FIXED = {
    "step_overhead": Fraction(1, 1000),
    "layer_overhead": Fraction(1, 10**5),
    "queue_time": Fraction(1, 100),
}
WINDOWS = Model(
    (
        Kind(3, 4, 2, 16, window=20, d_ff=90),
        Kind(2, 8, 2, 16, window=33, ffn="plain"),
        Kind(1, 4, 4, 16),
    ),
    vocab_size=500,
)
"""Two windows and a layer without; a response crosses both."""

workloads = st.fixed_dictionaries(
    {"prompt": st.integers(1, 20_000), "output": st.integers(2, 300), "batch": st.integers(1, 500)}
)
some_model = st.sampled_from(MODELS)


@given(some_model, workloads, st.integers(1, 4))
def test_twice_the_device_is_twice_as_fast(model, work, devices):
    """Without links and fixed costs every time is work over peak."""
    slow = case(model, **DEVICE | {"link_latency": 0, "link_bandwidth": 10**9}, **work, tp=1)
    fast = case(
        model,
        **DEVICE
        | {"peak_flops": 2 * DEVICE["peak_flops"], "mem_bandwidth": 2 * DEVICE["mem_bandwidth"]},
        **work,
    )
    for name in TIMES + LATENCIES:
        assert fast.value(name) == slow.value(name) / 2, name
    for name in ("prefill_bound", "decode_bound", "ridge_point"):
        assert fast.value(name) == slow.value(name), name


@given(some_model, workloads, st.integers(2, 8))
def test_a_group_divides_what_counts_no_copies(model, work, devices):
    """All weights and nothing else: the roofline is divided, whatever the heads, and the model's own numbers stay."""
    one, group = (
        case(model, {"detail": "weights"}, **DEVICE, **work, tp=tp) for tp in (1, devices)
    )
    assert group.value("decode_roofline_time") == near(one.value("decode_roofline_time") / devices)
    for name in ("decode_flops", "decode_bytes", "weight_bytes", "kv_cache_bytes"):
        assert group.value(name) == one.value(name), name


def one_step(model, switches, batch, context):
    """ITL of one step from the oracle, with the fixed costs in :data:`FIXED`."""
    compute, memory = Fraction(10**6), Fraction(10**5)
    layers = sum(kind.count for kind in model.kinds)
    return (
        oracle.roofline(model, Pass(batch, 1, context - 1), switches, Widths(), compute, memory)
        + FIXED["step_overhead"]
        + layers * FIXED["layer_overhead"]
    )


@pytest.mark.sample(6)
@pytest.mark.parametrize("roofline", ROOFLINES)
@pytest.mark.parametrize("steps", SWITCHES["decode_steps"].values)
@pytest.mark.parametrize("growth", SWITCHES["kv_growth"].values)
@pytest.mark.parametrize("model", [Model((Kind(4, 4, 2, 16),)), WINDOWS], ids=["full", "windows"])
def test_decode_time_is_the_sum_of_its_steps(model, growth, steps, roofline):
    """Each step with its own maximum; the device is such that the bound flips on the way."""
    chosen = {
        **{name: switch.default for name, switch in SWITCHES.items()},
        "kv_growth": growth,
        "decode_steps": steps,
        "roofline": roofline,
    }
    spec = ModelSpec.model_validate(oracle.as_spec(model))
    for batch in (1, 7, 40):
        work = {"prompt": 10, "output": 45, "batch": batch, **FIXED}
        found = case(spec, chosen, peak_flops=10**6, mem_bandwidth=10**5, **work)
        expected = Fraction(0)
        for j in range(1, 45 + (steps == "output")):
            expected += one_step(model, chosen, batch, 10 + j if growth == "growing" else 10)
        count = 45 if steps == "output" else 44
        assert found.value("decode_time") == near(expected)
        assert found.value("response_steps") == count
        assert found.value("tpot") == near(expected / count)
        assert found.value("response_time") == near(found.value("ttft") + float(expected))
        last = one_step(model, chosen, batch, 10 + count if growth == "growing" else 10)
        assert found.value("itl_last") == near(last)


def test_the_bound_flips_within_a_response():
    """So that the sum above is not the sum of one arm: context doubles, and with it the bytes of the cache."""
    model = Model((Kind(4, 4, 4, 16, ffn="none"),), d_model=8, vocab_size=2)
    spec = ModelSpec.model_validate(oracle.as_spec(model))
    values = {"peak_flops": 13 * 10**5, "mem_bandwidth": 10**6}
    values |= {"prompt": 4, "output": 60, "batch": 30}
    found = case(spec, {"activations": "off"}, **values)
    labels = {found.at("decode_bound", {"context": Fraction(4 + j)}) for j in range(1, 60)}
    assert labels == {"compute", "memory"}
    switches = {**{name: switch.default for name, switch in SWITCHES.items()}, "activations": "off"}
    expected = sum(
        oracle.roofline(model, Pass(30, 1, 4 + j - 1), switches, Widths(), 13 * 10**5, 10**6)
        for j in range(1, 60)
    )
    assert found.value("decode_time") == near(expected)


def test_resident_by_hand():
    """Gemma 2 9B, 20 requests of 6,000: 21 layers keep 4,096 tokens, 21 all; a token is 2*8*256*2 bytes in each."""
    found = case("gemma-2-9b", **DEVICE, prompt=6000, batch=20, output=100)
    cached = 20 * 21 * 2 * 8 * 256 * 2
    assert found.value("kv_cache_bytes") == cached * (4096 + 6000)
    assert found.value("peak_context") == 6099
    assert found.value("memory_bytes") == 9241705984 * 2 + cached * (4096 + 6099)
    assert found.value("fits") is True
    assert case("gemma-2-9b", **DEVICE, prompt=6000, batch=30, output=100).value("fits") is True
    assert case("gemma-2-9b", **DEVICE, prompt=6000, batch=40, output=100).value("fits") is False


def test_a_given_quantity_replaces_its_definition():
    itl = Fraction(14, 1000)
    found = case("llama-3-8b", **DEVICE, **WORK, itl=itl)
    moved = case("llama-3-8b", **DEVICE, **WORK).value("decode_bytes")
    assert found.value("itl") == near(itl)
    assert found.value("decode_mbu") == moved / (itl * DEVICE["mem_bandwidth"])
    assert found.value("user_rate") == near(1 / itl)
    assert found.value("decode_throughput") == near(6 / itl)
    assert found.value("decode_time") == near(39 * itl)


@pytest.mark.parametrize(
    ("compute", "memory", "more", "bound"),
    [
        (10, 10, {}, "compute"),
        (11, 10, {}, "memory"),
        (11, 10, {"mfu": Fraction(1, 2)}, "compute"),
        (10**6, 10**6, {"step_overhead": 1}, "overhead"),
        (10**6, 10**6, {"tp": 2, "link_latency": 1, "link_bandwidth": 1}, "link"),
    ],
)
def test_what_binds(compute, memory, more, bound):
    """70 parameters nominal, one request: 140 FLOP and 140 byte; equal rates make equal times, and a tie is compute."""
    device = {"peak_flops": compute, "mem_bandwidth": memory, **more}
    values = {"params": 70, "prompt": 5, "n_layers": 1, "d_model": 1, **device}
    assert case(None, {"detail": "weights"}, **values).value("decode_bound") == bound
