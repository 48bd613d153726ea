"""Experts, latent attention, chunks and recurrent states, counted the long way: matrix by matrix and token by token.

The expectations are written from what such a layer computes, with plain numbers and no code of the engine.
"""

from fractions import Fraction
from itertools import combinations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symroof.specs.model import ModelSpec

from ..near import near
from ..tables import case_of
from . import case

D, V = 24, 50
N = st.integers(1, 5)
PASSES = st.tuples(st.integers(1, 3), st.integers(1, 12), st.integers(0, 12))
"""Requests, new tokens, tokens already cached."""


def of_one_layer(attention=None, ffn=None, mixer=None, count=1):
    layer = {"count": count, "norms": 0, "ffn": ffn or {"kind": "none"}}
    layer |= {"attention": attention} if attention else {}
    layer |= {"mixer": mixer} if mixer else {}
    outer = {"name": "made-up", "d_model": D, "vocab_size": V, "layers": [layer]}
    return {**outer, "norm": {"kind": "none", "final": False}}


OUTSIDE = 2 * D * V
HEAD_ROW = 2 * D * V


def prefill(spec, one, switches=None, **more):
    requests, new, past = one
    return case(
        ModelSpec.model_validate(spec),
        switches,
        prefill_batch=requests,
        prompt=past + new,
        cached_prefix=past,
        **more,
    )


def decode(spec, requests, context, switches=None, **more):
    return case(ModelSpec.model_validate(spec), switches, batch=requests, prompt=context, **more)


def multiplied(matrices, rows):
    """FLOPs of rows through matrices: a multiply and an add for each element."""
    return sum(2 * rows * inner * outer for inner, outer in matrices)


def causal_pairs(new, past):
    return sum(past + i + 1 for i in range(new))


# --------------------------------------------------------------------------------------------------------------- experts


def union_read(experts, taken, tokens):
    """Experts that at least one token is sent to, averaged over every way the tokens can choose."""
    ways = list(combinations(range(experts), taken))
    unions = [len(set().union(*chosen)) for chosen in product(ways, repeat=tokens)]
    return Fraction(sum(unions), len(unions))


@pytest.mark.parametrize(
    ("experts", "taken", "tokens"),
    [(4, 1, 3), (4, 2, 3), (5, 2, 2), (6, 3, 2), (3, 3, 2), (5, 1, 4), (4, 3, 1)],
)
def test_experts_read_are_the_mean_over_every_choice(experts, taken, tokens):
    spec = of_one_layer(
        {"n_heads": 1, "n_kv_heads": 1, "head_dim": 4},
        {"kind": "moe", "n_experts": experts, "experts_per_token": taken, "d_expert": 3},
    )
    assert decode(spec, tokens, 9).value("experts_read") == near(union_read(experts, taken, tokens))
    assert decode(spec, tokens, 9, {"experts": "all"}).value("experts_read") == experts
    assert decode(spec, tokens, 9, {"experts": "distinct_max"}).value("experts_read") == min(
        experts, taken * tokens
    )


@st.composite
def pools(draw):
    taken = draw(st.integers(1, 3))
    shared = draw(st.none() | st.integers(1, 2))
    return {
        "kind": "moe",
        "n_experts": taken + draw(st.integers(0, 4)),
        "experts_per_token": taken,
        "d_expert": draw(N),
        "bias": draw(st.booleans()),
        "expert": draw(st.sampled_from(["gated", "plain"])),
        "router_bias": draw(st.booleans()),
        **(
            {"n_shared_experts": shared, "d_shared": draw(N), "shared_gate": draw(st.booleans())}
            if shared
            else {}
        ),
    }


@given(pools(), PASSES)
def test_experts(pool, one):
    heads = {"n_heads": 2, "n_kv_heads": 1, "head_dim": 4}
    with_experts, without = of_one_layer(heads, pool), of_one_layer(heads)
    matrices = [(D, pool["d_expert"])] * (2 if pool["expert"] == "gated" else 1) + [
        (pool["d_expert"], D)
    ]
    expert = sum(a * b for a, b in matrices) + (sum(b for _, b in matrices) if pool["bias"] else 0)
    fixed = D * pool["n_experts"]
    if "d_shared" in pool:
        wide = pool["n_shared_experts"] * pool["d_shared"]
        shared = (
            [(D, wide)] * (2 if pool["expert"] == "gated" else 1)
            + [(wide, D)]
            + ([(D, 1)] if pool["shared_gate"] else [])
        )
    else:
        shared = []
    fixed += sum(a * b for a, b in shared)
    unstreamed = pool["n_experts"] if pool["router_bias"] else 0
    a, b = prefill(with_experts, one), prefill(without, one)

    def more(name):
        return a.value(name) - b.value(name)

    rows = one[0] * one[1]
    assert more("params") == pool["n_experts"] * expert + fixed + unstreamed
    assert more("active_params") == pool["experts_per_token"] * expert + fixed + unstreamed
    assert more("prefill_flops") == multiplied(
        [(D, pool["n_experts"]), *shared, *matrices * pool["experts_per_token"]], rows
    )
    read = a.value("prefill_experts_read")
    gated = pool["expert"] == "gated"
    moved = (D + pool["n_experts"]) + pool["experts_per_token"] * in_and_out(
        pool["d_expert"], gated
    )
    if shared:
        moved += in_and_out(wide, gated) + (D + 1 if pool["shared_gate"] else 0)
    assert more("prefill_bytes") == near(
        2 * fixed + read * 2 * sum(a * b for a, b in matrices) + rows * 2 * moved
    )


def in_and_out(width, gated):
    """Elements into and out of the widening product, which makes both halves at once, and the narrowing one."""
    return (D + (2 * width if gated else width)) + (width + D)


# ------------------------------------------------------------------------------------------------------- latent attention


@st.composite
def latents(draw):
    return {
        "kind": "mla",
        "n_heads": draw(N),
        "kv_lora_rank": draw(N),
        "qk_nope_dim": draw(N),
        "qk_rope_dim": draw(N),
        "value_dim": draw(N),
        "qkv_bias": draw(st.booleans()),
        "out_bias": draw(st.booleans()),
        **({"q_lora_rank": draw(N)} if draw(st.booleans()) else {}),
    }


def latent_matrices(a):
    queries = a["n_heads"] * (a["qk_nope_dim"] + a["qk_rope_dim"])
    down = [(D, a["kv_lora_rank"] + a["qk_rope_dim"])]
    down += (
        [(D, a["q_lora_rank"]), (a["q_lora_rank"], queries)]
        if "q_lora_rank" in a
        else [(D, queries)]
    )
    return [*down, (a["n_heads"] * a["value_dim"], D)]


def expanding(a):
    return a["kv_lora_rank"], a["n_heads"] * (a["qk_nope_dim"] + a["value_dim"])


@given(latents(), PASSES, st.integers(1, 3), st.integers(1, 20))
def test_latent_attention(a, one, batch, context):
    spec = of_one_layer(a)
    requests, new, past = one
    plain = latent_matrices(a)
    up = expanding(a)
    norms = a["kv_lora_rank"] + a.get("q_lora_rank", 0)
    vectors = (
        a["kv_lora_rank"] + a["qk_rope_dim"] + a.get("q_lora_rank", 0) if a["qkv_bias"] else 0
    ) + (D if a["out_bias"] else 0)
    count = sum(x * y for x, y in [*plain, up])
    latent = a["kv_lora_rank"] + a["qk_rope_dim"]
    for mode in ("absorbed", "expanded", "reexpanded"):
        switches = {"mla": mode}
        p, d = prefill(spec, one, switches), decode(spec, batch, context, switches)
        assert p.value("params") == OUTSIDE + count + norms + vectors
        whole = sum(
            a["qk_nope_dim"] + a["qk_rope_dim"] + a["value_dim"] for _ in range(a["n_heads"])
        )
        assert p.value("kv_bytes_per_token") == 2 * (whole if mode == "expanded" else latent)
        expanded_tokens = new if mode == "expanded" else past + new
        flops = requests * (multiplied(plain, new) + multiplied([up], expanded_tokens) + HEAD_ROW)
        flops += (
            requests
            * 2
            * a["n_heads"]
            * (a["qk_nope_dim"] + a["qk_rope_dim"] + a["value_dim"])
            * causal_pairs(new, past)
        )
        assert p.value("prefill_flops") == flops, mode
        assert d.value("decode_flops") == batch * (
            multiplied(plain, 1) + decode_core(a, context, mode) + HEAD_ROW
        ), mode


def decode_core(a, context, mode):
    """One written token: its heads one by one."""
    n, r, v, k = a["qk_nope_dim"], a["qk_rope_dim"], a["value_dim"], a["kv_lora_rank"]
    # the query into the latent, scores and values over the latent, the result out of it
    if mode == "absorbed":
        return sum(
            2 * n * k + context * (2 * (k + r) + 2 * k) + 2 * k * v for _ in range(a["n_heads"])
        )
    grown = context if mode == "reexpanded" else 1
    return multiplied([expanding(a)], grown) + sum(
        context * (2 * (n + r) + 2 * v) for _ in range(a["n_heads"])
    )


def test_what_latent_attention_reads_in_a_step():
    a = case_of(
        "kind=mla n_heads=4 kv_lora_rank=8 qk_nope_dim=6 qk_rope_dim=2 value_dim=5 q_lora_rank=7"
    )
    weights = 2 * (sum(x * y for x, y in [*latent_matrices(a), expanding(a)]) + D * V)
    read = {
        mode: decode(of_one_layer(a), 3, 11, {"mla": mode, "activations": "off"}).value(
            "decode_bytes"
        )
        - weights
        for mode in ("absorbed", "expanded", "reexpanded")
    }
    assert read == {
        "absorbed": 3 * 11 * 2 * 10,
        "reexpanded": 3 * 11 * 2 * 10,
        "expanded": 3 * 11 * 2 * 4 * (6 + 2 + 5),
    }


# ----------------------------------------------------------------------------------------------------------------- chunks


@given(st.integers(1, 9), PASSES, st.integers(1, 30))
def test_chunked_attention_meets_the_keys_of_its_own_chunk(chunk, one, context):
    attention = case_of(f"kind=chunked n_heads=2 n_kv_heads=1 head_dim=4 chunk_size={chunk}")
    spec = of_one_layer(attention, count=3)
    requests, new, past = one
    p, d = prefill(spec, one), decode(spec, 2, context)
    met = sum(
        1 for q in range(past, past + new) for key in range(q + 1) if key // chunk == q // chunk
    )
    assert p.value("prefill_pairs.chunk") == requests * met
    assert p.value("prefill_attention_flops") == 3 * 4 * 2 * 4 * requests * met
    same = sum(1 for key in range(context) if key // chunk == (context - 1) // chunk)
    assert d.value("decode_pairs.chunk") == d.value("decode_span.chunk") == 2 * same
    assert d.value("kv_cache_bytes") == 2 * 3 * 2 * 4 * 2 * min(context, chunk)


# ------------------------------------------------------------------------------------------------------- recurrent states

MAMBA = {"kind": "mamba", "d_inner": 6, "d_state": 3, "d_conv": 4, "dt_rank": 2}
MAMBA2 = case_of("kind=mamba2 d_inner=6 d_state=3 d_conv=4 ssm_heads=2 ssm_groups=1")
DELTA = case_of(
    "kind=gated_delta linear_key_heads=2 linear_value_heads=4 linear_key_dim=3 "
    "linear_value_dim=5 d_conv=4"
)
LINEAR = case_of(
    "kind=linear linear_key_heads=2 linear_value_heads=2 linear_key_dim=3 linear_value_dim=3"
)
CONV = {"kind": "conv", "d_conv": 3}
RG_LRU = {"kind": "rg_lru", "d_inner": 6, "d_conv": 4, "ssm_heads": 2}

# mixer, matrices, channels under the convolution, its bias, other parameters, elements of the state, products with the state
RECURRENT = [
    (MAMBA, [(D, 12), (6, 2 + 3 + 3), (2, 6), (6, D)], 6, 6, 6 * 3 + 6 + 6, 6 * 3, 2),
    (MAMBA2, [(D, 6 + 6 + 3 + 3 + 2), (6, D)], 12, 12, 2 + 2 + 2 + 6, 6 * 3, 2),
    (DELTA, [(D, 6 + 6 + 20 + 20 + 4 + 4), (20, D)], 6 + 6 + 20, 0, 4 + 4 + 5, 4 * 3 * 5, 3),
    (LINEAR, [(D, 6 + 6 + 6 + 6), (6, D)], 0, 0, 6, 2 * 3 * 3, 2),
    # two gates of two blocks, their biases, a decay a channel
    (RG_LRU, [(D, 6), (D, 6), *[(3, 3)] * 2 * 2, (6, D)], 6, 6, 6 + 6 + 6, 6, 1),
    (CONV, [(D, 3 * D), (D, D)], D, 0, 0, 0, 0),
]


@pytest.mark.parametrize(
    ("mixer", "matrices", "channels", "conv_bias", "vectors", "state", "products"),
    RECURRENT,
    ids=lambda x: x.get("kind") if isinstance(x, dict) else "",
)
def test_recurrent_layers(mixer, matrices, channels, conv_bias, vectors, state, products):
    spec = of_one_layer(mixer=mixer, count=5)
    taps = mixer.get("d_conv", 0)
    count = sum(a * b for a, b in matrices) + channels * taps
    # recurrences carry 32 bits
    kept = channels * taps * 2 + state * (2 if mixer["kind"] == "linear" else 4)
    p = prefill(spec, (2, 7, 3))
    assert p.value("params") == OUTSIDE + 5 * (count + conv_bias + vectors)
    assert (
        p.value("prefill_flops")
        == 2 * 7 * 5 * (multiplied(matrices, 1) + 2 * channels * taps + 2 * products * state)
        + 2 * HEAD_ROW
    )
    for context in (1, 9, 100):
        d = decode(spec, 3, context, {"activations": "off"})
        assert d.value("state_bytes") == 3 * 5 * kept
        assert d.value("kv_cache_bytes") == d.value("kv_bytes_per_token") == 0
        assert d.value("decode_bytes") == 2 * (5 * count + D * V) + 2 * 3 * 5 * kept, (
            "weights once, the state read and written"
        )
        assert d.value("memory_bytes") == d.value("weight_bytes") + d.value("state_bytes")


# --------------------------------------------------------------------------------------------------- traits of attention


def attention_of(**traits):
    spec = of_one_layer({"n_heads": 4, "n_kv_heads": 2, "head_dim": 3, **traits})
    return case(ModelSpec.model_validate(spec), prompt=10, batch=2)


def test_traits_change_the_parameters_and_the_cache_they_are_about():
    base = attention_of()
    params, kv = base.value("params"), base.value("kv_bytes_per_token")
    assert kv == 2 * 2 * 2 * 3
    added = case_of(f"sinks=4 out_gate={D * 12} head_gate={D * 4} value_is_key={-D * 6}")
    for trait, more in (added | {"shares_kv": -D * 12}).items():
        assert attention_of(**{trait: True}).value("params") - params == more
    assert attention_of(value_dim=5).value("params") - params == D * 2 * 2 + D * 4 * 2
    assert attention_of(value_dim=5).value("kv_bytes_per_token") == 2 * 2 * (3 + 5)
    assert attention_of(value_is_key=True).value("kv_bytes_per_token") == kv, (
        "values are kept beside the rotated keys"
    )
    shared = attention_of(shares_kv=True)
    assert shared.value("kv_cache_bytes") == 0
    assert shared.value("decode_bytes") < base.value("decode_bytes"), "fewer weights"
    assert base.value("decode_bytes") - shared.value("decode_bytes") == 2 * D * 12 + 2 * 2 * 12, (
        "the same keys and values are read"
    )


def test_two_mixers_may_stand_side_by_side():
    heads = {"n_heads": 2, "n_kv_heads": 1, "head_dim": 4}
    both, one, other = (
        case(ModelSpec.model_validate(of_one_layer(**what)), prompt=9)
        for what in ({"attention": heads, "mixer": MAMBA2}, {"attention": heads}, {"mixer": MAMBA2})
    )
    for name in ("params", "prefill_flops", "decode_flops"):
        rest = OUTSIDE if name == "params" else HEAD_ROW
        assert both.value(name) - rest == one.value(name) - rest + other.value(name) - rest
    assert both.value("state_bytes") == other.value("state_bytes")
    assert both.value("kv_cache_bytes") == one.value("kv_cache_bytes")
