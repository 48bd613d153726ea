"""The device-by-device counter itself, against numbers worked out by hand; nothing of symroof is imported."""

import json
from fractions import Fraction
from pathlib import Path

import pytest

from .device_parts import (
    Experts,
    FeedForward,
    Grouped,
    Latent,
    Layer,
    Layout,
    LinearAttention,
    Mamba,
    Mamba2,
    Model,
    Widths,
    Workload,
    experts_read,
    pairs,
)
from .per_device import (
    Device,
    concurrency,
    deal_heads,
    deploy,
    fullest,
    instance,
    place_mixer,
    prefill_passes,
    stages,
)

CONFIGS = Path(__file__).parent.parent / "data" / "configs"
HALF = Widths()
BYTE_WEIGHTS = Widths(weight=Fraction(1))


def config(name):
    return json.loads((CONFIGS / f"{name}.config.json").read_text())


def dense(name, qkv_bias=False):
    """A dense model with grouped heads, from its ``config.json``."""
    c = config(name)
    width = c["hidden_size"] // c["num_attention_heads"]
    attention = Grouped(
        c["num_attention_heads"], c["num_key_value_heads"], width, qkv_bias=qkv_bias
    )
    return Model(
        c["hidden_size"],
        c["vocab_size"],
        (Layer(attention, FeedForward(c["intermediate_size"])),) * c["num_hidden_layers"],
    )


def deepseek_v3():
    c = config("deepseek-v3")
    attention = Latent(
        c["num_attention_heads"],
        c["kv_lora_rank"],
        c["qk_nope_head_dim"],
        c["qk_rope_head_dim"],
        c["v_head_dim"],
        c["q_lora_rank"],
    )
    shared = c["n_shared_experts"] * c["moe_intermediate_size"]
    experts = Experts(
        c["n_routed_experts"], c["num_experts_per_tok"], c["moe_intermediate_size"], shared
    )
    n_dense = c["first_k_dense_replace"]
    layers = (Layer(attention, FeedForward(c["intermediate_size"])),) * n_dense + (
        Layer(attention, experts),
    ) * (c["num_hidden_layers"] - n_dense)
    return Model(c["hidden_size"], c["vocab_size"], layers)


# ------------------------------------------------------------------------------------------------------- whole deployments

LONG = Workload(batch=256, context=16_384, prompt=16_384, peak_context=16_895)
H200 = 141 * 10**9


def test_deepseek_over_eight_ways_of_tensor_parallelism():
    layout = Layout(tp=8)
    counts = deploy(deepseek_v3(), layout, BYTE_WEIGHTS, LONG)
    assert {(count.weights, count.request) for count in counts} == {(84_780_342_272, 1_187_245_440)}
    assert concurrency(deepseek_v3(), layout, BYTE_WEIGHTS, LONG, H200) == 47
    (one,) = deploy(deepseek_v3(), Layout(), BYTE_WEIGHTS, LONG)
    assert one.weights == 671_026_404_352
    copied = 1_030_904_832
    assert (one.weights - copied) // 8 + copied == 84_780_342_272


def test_deepseek_over_eight_groups_of_attention():
    layout = Layout(attention_dp=8)
    counts = deploy(deepseek_v3(), layout, BYTE_WEIGHTS, LONG)
    assert len(counts) == 8
    assert {(count.weights, count.total) for count in counts} == {(98_856_229_888, 136_848_083_968)}
    assert concurrency(deepseek_v3(), layout, BYTE_WEIGHTS, LONG, H200) == 8 * 35


def test_the_last_stage_of_a_llama():
    counts = deploy(dense("llama-3.1-70b"), Layout(tp=2, pp=4), HALF, Workload())
    by_stage = {count.stage: count.weights for count in counts}
    assert by_stage[3] == 2 * 9_082_052_608 == 18_164_105_216
    assert by_stage[0] == by_stage[3] - 2 * 8192, (
        "the embedding is as large as the head, the final norm is more"
    )
    assert by_stage[1] == by_stage[2] == 2 * 20 * (855_638_016 // 2 + 16_384)
    assert fullest(counts).stage == 3


def test_four_key_value_heads_on_eight_devices():
    model = dense("qwen2.5-7b", qkv_bias=True)
    counts = deploy(model, Layout(tp=8), HALF, Workload(batch=64, context=4096, peak_context=4096))
    assert {count.cache for count in counts} == {3_758_096_384}
    assert {count.request for count in counts} == {4096 * 14_336}
    (one,) = deploy(model, Layout(), HALF, Workload())
    assert one.weights == 2 * 7_615_616_512, "the published count"


# ------------------------------------------------------------------------------------------------------------------ dealing


def test_heads_are_dealt_to_the_device_that_has_their_keys():
    assert deal_heads(64, 8, 4) == [(16, 2)] * 4
    assert deal_heads(64, 8, 16) == [(4, 1)] * 16
    assert deal_heads(28, 4, 8) == [(4, 1), (3, 1)] * 4
    assert deal_heads(28, 4, 2) == [(14, 2)] * 2
    assert deal_heads(80, 1, 16) == [(5, 1)] * 16


@pytest.mark.parametrize(
    ("heads", "kv_heads", "tp"), [(32, 8, 3), (32, 8, 6), (28, 4, 7), (64, 8, 12)]
)
def test_key_value_heads_that_cannot_be_dealt(heads, kv_heads, tp):
    with pytest.raises(ValueError, match="neither divide"):
        deal_heads(heads, kv_heads, tp)


@pytest.mark.parametrize(
    ("heads", "kv_heads"), [(28, 4), (32, 8), (40, 8), (96, 8), (71, 1), (12, 12)]
)
def test_the_fullest_device_has_the_ceiling_of_both(heads, kv_heads):
    for tp in range(1, 65):
        if tp % kv_heads == 0 or kv_heads % tp == 0:
            dealt = deal_heads(heads, kv_heads, tp)
            assert sum(own for own, _ in dealt) == heads
            assert max(dealt) == (-(-heads // tp), -(-kv_heads // tp)), tp


def test_stages_are_runs_of_equal_length_with_a_rest():
    assert [len(run) for run in stages(range(61), 4)] == [16, 16, 16, 13]
    assert [len(run) for run in stages(range(94), 4)] == [24, 24, 24, 22]
    assert [list(run) for run in stages(range(5), 2)] == [[0, 1, 2], [3, 4]]
    assert [len(run) for run in stages(range(5), 4)] == [2, 2, 1, 0]


def test_pairs_and_experts():
    assert pairs(4, 0, None) == 1 + 2 + 3 + 4
    assert pairs(3, 10, None) == 11 + 12 + 13
    assert pairs(5, 0, 3) == 1 + 2 + 3 + 3 + 3
    assert pairs(1, 10, 4) == 4
    assert experts_read(4, 1, 2) == 4 * (1 - Fraction(9, 16))
    assert experts_read(8, 2, 1) == 2


# ------------------------------------------------------------------------------------------------------------- small models

SMALL = Model(8, 20, (Layer(Grouped(4, 2, 2), FeedForward(12)),) * 2)
THREE = Workload(batch=3, context=5, prefill_batch=1, prompt=4, cached_prefix=1, peak_context=6)


def test_a_step_of_a_small_model_on_two_devices():
    """A device's layer: qkv 8 x 8, out 4 x 8, up 8 x 12, down 6 x 8 = 240 elements and 16 of norms; table and head 80 each."""
    one, other = deploy(SMALL, Layout(tp=2), HALF, THREE)
    assert one.weights == other.weights == 2 * (2 * (240 + 16) + 80 + 80 + 8)
    assert (one.cache, one.total) == (3 * 5 * 2 * 4 * 2, one.weights + 3 * 6 * 2 * 4 * 2)
    activations = 2 * ((8 + 8) + (2 * 2 * 2) + (4 + 8) + (8 + 12) + (6 + 8)) + (8 + 10)
    assert one.decode_bytes == 2 * (2 * 240 + 80) + 3 * 5 * 2 * 4 * 2 + 3 * activations * 2
    assert one.decode_flops == 3 * (2 * (2 * 240 + 80) + 2 * 5 * 16)
    # three new tokens behind one: 2 + 3 + 4 pairs, four token-caches, one row of logits
    assert one.prefill_flops == 3 * 2 * 2 * 240 + 2 * 80 + 2 * (2 + 3 + 4) * 16
    assert one.prefill_bytes == 2 * (2 * 240 + 80) + 4 * 2 * 4 * 2 + 2 * (3 * 2 * 70 + 18)


def test_two_stages_of_a_small_model():
    first, last = deploy(SMALL, Layout(pp=2), HALF, THREE)
    whole = (8 * 16 + 8 * 8) + (8 * 24 + 12 * 8) + 16
    assert (first.weights, last.weights) == (2 * (whole + 160), 2 * (whole + 160 + 8))
    assert first.cache == last.cache == 3 * 5 * 8 * 2, "of the whole batch, for one layer"
    streamed = whole - 16
    assert last.decode_flops - first.decode_flops == 2 * 2 * 160, (
        "two of three requests are on a stage together"
    )
    assert first.decode_flops == 2 * (2 * streamed + 5 * 32)
    assert first.decode_bytes == 2 * streamed + 2 * 5 * 8 * 2 + 2 * 2 * (24 + 16 + 16 + 32 + 20)


def test_a_tied_table_is_at_both_ends():
    tied = Model(8, 20, SMALL.layers, tied=True)
    (one,) = deploy(tied, Layout(), HALF, THREE)
    (two,) = deploy(SMALL, Layout(), HALF, THREE)
    assert two.weights - one.weights == 2 * 160
    assert two.decode_bytes == one.decode_bytes
    assert [count.weights for count in deploy(tied, Layout(pp=2), HALF, THREE)] == [
        count.weights for count in deploy(SMALL, Layout(pp=2), HALF, THREE)
    ]


def test_experts_are_shared_by_all_groups():
    """Three tokens of two groups: the experts see three, the router and the head of the first group two."""
    model = Model(4, 10, (Layer(None, Experts(4, 1, 3), norms=0),))
    first, second = deploy(model, Layout(attention_dp=2), HALF, Workload(batch=3))
    expert = 3 * 4 * 3
    assert first.weights == second.weights == 2 * (2 * expert + 16 + 4 + 40 + 40)
    read = Fraction(4 * (64 - 27), 64) / 2 * expert
    assert first.decode_flops == 3 * 2 * expert / 2 + 2 * 2 * (16 + 40) == 332
    assert second.decode_flops == 3 * 2 * expert / 2 + 2 * (16 + 40)
    shared = Fraction(3 * (4 + 6 + 3 + 4), 2)
    assert (
        first.decode_bytes
        == 2 * (read + 16 + 40) + 2 * (shared + 2 * (4 + 4) + 2 * (4 + 10))
        == Fraction(1337, 4)
    )


def test_shared_experts_are_split_and_their_gate_is_copied():
    model = Model(
        4,
        10,
        (
            Layer(
                None,
                Experts(4, 1, 3, d_shared=6, shared_gate=True, bias=True, router_bias=True),
                norms=0,
            ),
        ),
    )
    one, _ = deploy(model, Layout(tp=2), HALF, Workload())
    routed, shared = 4 * (4 * 6 + 6 + 3 * 4 + 4) // 2, 4 * 6 + 3 * 4
    assert one.weights == 2 * (routed + shared + 4 + (16 + 4) + 20 + 20 + 4)


def test_groups_have_their_own_requests():
    counts = deploy(SMALL, Layout(attention_dp=2), HALF, THREE)
    assert [count.cache for count in counts] == [2 * 5 * 2 * 8 * 2, 1 * 5 * 2 * 8 * 2]
    room = counts[0].weights + 3 * counts[0].request
    assert concurrency(SMALL, Layout(attention_dp=2), HALF, THREE, room) == 2 * 3
    assert concurrency(SMALL, Layout(attention_dp=2), HALF, THREE, room - 1) == 2 * 2
    assert concurrency(SMALL, Layout(attention_dp=2), HALF, THREE, counts[0].weights - 1) == 0


def test_a_prefill_goes_through_stages_request_by_request():
    work = Workload(prefill_batch=4, prompt=7)
    assert prefill_passes(work, Layout()) == 1
    assert prefill_passes(work, Layout(pp=3)) == 4 + 3 - 1
    assert prefill_passes(work, Layout(pp=3, attention_dp=2)) == 2 + 3 - 1
    one = deploy(SMALL, Layout(pp=2), HALF, Workload(prefill_batch=1, prompt=7))
    four = deploy(SMALL, Layout(pp=2), HALF, work)
    assert [count.prefill_flops for count in one] == [count.prefill_flops for count in four]


def test_a_window_caps_what_is_held_and_what_is_read():
    model = Model(4, 10, (Layer(Grouped(2, 1, 2, window=3), None, norms=0),))
    (one,) = deploy(model, Layout(), HALF, Workload(batch=2, context=9, prompt=5, peak_context=12))
    assert (one.cache, one.request) == (2 * 3 * 4 * 2, 3 * 4 * 2)
    streamed = 4 * 8 + 4 * 4 + 4 * 10
    assert one.decode_bytes == 2 * streamed + 2 * 3 * 4 * 2 + 2 * 2 * (
        (4 + 8) + 8 + (4 + 4) + (4 + 10)
    )
    assert one.prefill_flops == 5 * 2 * (32 + 16) + 2 * 40 + (1 + 2 + 3 + 3 + 3) * 4 * 2 * 2


def on_two(mixer):
    """The first of two devices with one mixer: parameters, bytes of one request's state, FLOPs of one token beside its weights."""
    device = Device(0, 0, 0)
    place_mixer(device, mixer, 4, 2, HALF)
    return sum(part.elements for part in device.parts), device.state_bytes(1)


def test_latent_attention_on_two_devices():
    """Four heads: both down projections and both norms are copied, two heads' queries, keys, values and output are a device's own."""
    model = Model(4, 10, (Layer(Latent(4, 8, 6, 2, 5, 7), None, norms=0),))
    one, _ = deploy(
        model,
        Layout(tp=2),
        HALF,
        Workload(batch=3, context=11, prompt=3, cached_prefix=1, peak_context=11),
    )
    streamed = 4 * (7 + 10) + 7 * 16 + 8 * 2 * 11 + 10 * 4
    assert one.weights == 2 * (streamed + 7 + 8 + 20 + 20 + 4)
    assert one.request == 11 * 10 * 2, "the latent is on both"
    core = 11 * 2 * (2 * 10 + 2 * 8)
    assert one.decode_flops == 3 * (2 * streamed + core + 2 * 20)
    moved = (4 + 17) + (7 + 16) + 2 * (6 + 8 + 8 + 5) + 2 * (10 + 8) + (10 + 4) + (4 + 5)
    assert one.decode_bytes == 2 * (streamed + 20) + 3 * 11 * 10 * 2 + 3 * moved * 2
    # two new tokens behind one, all three expanded, 2 + 3 pairs at the full width of keys and values
    assert (
        one.prefill_flops
        == 2 * 2 * (streamed - 8 * 22) + 3 * 2 * 8 * 22 + 5 * 2 * 2 * (8 + 5) + 2 * 20
    )
    moved = 2 * ((4 + 17) + (7 + 16) + 2 * (8 + 5) + (10 + 4)) + 3 * (22 + 22) + (4 + 5)
    assert one.prefill_bytes == 2 * (streamed + 20) + 3 * 10 * 2 + moved * 2


def test_queries_made_at_once_beside_a_copied_latent():
    parameters, _ = on_two(Latent(4, 8, 6, 2, 5))
    assert parameters == 4 * (2 * 8 + 10) + 8 + 8 * 2 * 11 + 10 * 4


def test_channels_of_a_state_space_are_cut_evenly():
    parameters, state = on_two(Mamba(d_inner=6, d_state=3, d_conv=4, dt_rank=2, mixer_norm=True))
    assert parameters == 4 * 6 + (12 + 3) + 3 * 8 + 8 + (2 * 3 + 3) + 9 + 3 + 3 * 4
    assert state == 3 * 4 * 2 + 9 * 4


def test_heads_of_a_state_space_are_dealt_and_its_one_group_is_copied():
    parameters, state = on_two(Mamba2(d_inner=6, d_state=3, d_conv=4, ssm_heads=2, ssm_groups=1))
    assert parameters == 4 * (3 + 3 + 2 * 3 + 1) + 9 * 4 + 9 + 3 + 6 + 3 * 4
    assert state == 9 * 4 * 2 + 3 * 3 * 4


def test_key_and_value_heads_of_the_delta_rule():
    parameters, state = on_two(LinearAttention(2, 4, 3, 5, d_conv=4))
    assert parameters == 4 * (2 * 3 + 2 * 10 + 4) + 16 * 4 + 4 + 5 + 10 * 4
    assert state == 16 * 4 * 2 + 2 * 15 * 4


def test_linear_attention_with_a_fixed_decay():
    parameters, state = on_two(LinearAttention(2, 2, 3, 3))
    assert parameters == 4 * (4 * 3) + 6 + 3 * 4
    assert state == 9 * 2


def test_a_state_is_read_and_written_and_multiplied():
    model = Model(4, 10, (Layer(Mamba2(6, 3, 4, 2, 1), None, norms=0),))
    one, _ = deploy(model, Layout(tp=2), HALF, Workload(batch=3))
    products = 4 * 13 + 3 * 4
    assert one.decode_flops == 3 * (2 * (products + 9 * 4) + 2 * 2 * 9 + 2 * 20)
    moved = (4 + 13) + (3 + 4) + (4 + 5)
    assert one.decode_bytes == 2 * (products + 36 + 20) + 3 * 2 * 108 + 3 * moved * 2


# ----------------------------------------------------------------------------------------------------------------- properties


@pytest.mark.parametrize("tp", [2, 4, 8])
def test_what_is_cut_adds_up_and_what_is_copied_is_there_so_many_times(tp):
    """Llama: only norms are copied, so the devices' parameters are those of the model and tp - 1 more times its norms."""
    model = dense("llama-3.1-70b")
    counts = deploy(model, Layout(tp=tp), HALF, Workload())
    assert sum(count.weights for count in counts) == 2 * (70_553_706_496 + (tp - 1) * 161 * 8192)


@pytest.mark.parametrize(
    "layout", [Layout(tp=2, pp=2, attention_dp=4), Layout(pp=3), Layout(tp=4, attention_dp=2)]
)
def test_an_instance_has_the_product_of_its_degrees(layout):
    devices = instance(SMALL, Layout(tp=1), HALF)
    assert len(devices) == 1
    assert (
        len(instance(dense("llama-3.1-70b"), layout, HALF))
        == layout.devices
        == layout.tp * layout.pp * layout.attention_dp
    )


def test_everything_held_is_listed_with_its_width():
    (device,) = instance(SMALL, Layout(), HALF)
    (count,) = deploy(SMALL, Layout(), HALF, THREE)
    assert (
        sum(elements * width for _, elements, width in device.held(HALF, requests=3, context=6))
        == count.total
    )
    assert ("embedding", 160, 2) in device.held(HALF)
