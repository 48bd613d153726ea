"""Attention that reads a part of its cache, counted the long way: query by query, key by key, head by head.

The expectations are written from what such a layer computes, with plain numbers and no code of the engine.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ..tables import case_of
from .test_other_layers import (
    HEAD_ROW,
    OUTSIDE,
    PASSES,
    D,
    V,
    decode,
    expanding,
    latent_matrices,
    multiplied,
    of_one_layer,
    prefill,
)

LATENT = case_of(
    "kind=mla n_heads=3 kv_lora_rank=6 qk_nope_dim=4 qk_rope_dim=2 value_dim=5 q_lora_rank=7"
)
INDEX = {"index_heads": 2, "index_dim": 3}
CONTEXT = st.integers(1, 40)
KEY_WIDTH = 33 / 32
"""Bytes of an element of an indexer's key: 8 bits, and a scale of 32 bits for 128."""


def index_matrices(made_of, weights):
    heads, width = INDEX["index_heads"], INDEX["index_dim"]
    return [(made_of, heads * width), (D, width), *([(D, heads)] if weights else [])]


def scored(keys, weights):
    """FLOPs of one query that is scored against some keys."""
    each = 2 * INDEX["index_dim"] + (2 if weights else 0)
    return sum(each for _ in range(keys) for _ in range(INDEX["index_heads"]))


@given(PASSES, st.integers(1, 3), CONTEXT, st.integers(1, 9), st.booleans())
def test_latent_attention_to_chosen_keys(one, batch, context, top, scores):
    """Every key is scored, the chosen are attended to, all are kept; a layer that takes another's choice keeps no key of an indexer."""
    a = {**LATENT, "index_topk": top, **(INDEX if scores else {})}
    spec, (requests, new, past) = of_one_layer(a, count=2), one
    matrices = latent_matrices(a) + (index_matrices(7, weights=True) if scores else [])
    p, d = prefill(spec, one), decode(spec, batch, context, {"activations": "off"})
    norms = 6 + 7 + (2 * 3 if scores else 0)
    assert p.value("params") == OUTSIDE + 2 * (
        sum(x * y for x, y in [*matrices, expanding(a)]) + norms
    )
    flops = multiplied(matrices, new) + multiplied([expanding(a)], past + new)
    for query in range(past, past + new):
        flops += scored(query + 1, weights=True) if scores else 0
        flops += sum(2 * (4 + 2) + 2 * 5 for _ in range(3) for _ in range(min(query + 1, top)))
    assert p.value("prefill_flops") == requests * (2 * flops + HEAD_ROW)
    step = (
        multiplied(matrices, 1)
        + sum(2 * 4 * 6 + 2 * 6 * 5 for _ in range(3))
        + (scored(context, weights=True) if scores else 0)
    )
    step += sum(2 * (6 + 2) + 2 * 6 for _ in range(3) for _ in range(min(context, top)))
    assert d.value("decode_flops") == batch * (2 * step + HEAD_ROW)
    index = 3 * KEY_WIDTH / 2 if scores else 0
    assert d.value("kv_bytes_per_token") == pytest.approx(2 * 2 * (6 + 2 + index))
    assert d.value("kv_cache_bytes") == pytest.approx(2 * batch * context * 2 * (6 + 2 + index))
    weights = 2 * (2 * sum(x * y for x, y in [*matrices, expanding(a)]) + D * V)
    read = min(context, top) * (6 + 2) + context * index
    assert d.value("decode_bytes") == pytest.approx(weights + 2 * batch * 2 * read)


@given(PASSES, st.integers(1, 3), CONTEXT, st.integers(1, 9))
def test_grouped_attention_to_chosen_blocks(one, batch, context, top):
    a = {"n_heads": 4, "n_kv_heads": 2, "head_dim": 3, "index_topk": top, **INDEX}
    spec, (requests, new, past) = of_one_layer(a), one
    matrices = [(D, 12), (D, 6), (D, 6), (12, D), *index_matrices(D, weights=False)]
    p, d = prefill(spec, one), decode(spec, batch, context, {"activations": "off"})
    assert p.value("params") == OUTSIDE + sum(x * y for x, y in matrices) + 2 * 3
    flops = multiplied(matrices, new)
    flops += sum(
        scored(query + 1, weights=False) + min(query + 1, top) * 4 * 2 * (3 + 3)
        for query in range(past, past + new)
    )
    assert p.value("prefill_flops") == requests * (flops + HEAD_ROW)
    assert d.value("kv_cache_bytes") == batch * context * 2 * (2 * 2 * 3 + 3)
    assert d.value("decode_bytes") == 2 * (sum(x * y for x, y in matrices) + D * V) + batch * 2 * (
        min(context, top) * 2 * 2 * 3 + context * 3
    )


COMPRESSED = case_of(
    "kind=compressed n_heads=4 head_dim=6 q_lora_rank=5 window=3 out_rank=7 out_groups=2"
)


def entries(query, rate):
    """Entries that a query sees: those whose last token is not behind it."""
    return sum(1 for last in range(rate - 1, query + 1, rate) if last <= query)


@given(
    PASSES,
    st.integers(1, 3),
    CONTEXT,
    st.integers(1, 5),
    st.none() | st.integers(1, 4),
    st.sampled_from(["causal", "full"]),
)
def test_compressed_entries_behind_a_window(one, batch, context, rate, top, attention):
    """One vector a token in the window, and one an entry behind it; of the entries those that an indexer chooses, where there is one."""
    a = {**COMPRESSED, "compress_rate": rate, **({**INDEX, "index_topk": top} if top else {})}
    spec, (requests, new, past) = of_one_layer(a, count=2), one
    series = 2 if top else 1
    matrices = [(D, 5), (D, 6), (5, 24), (D, 2 * series * 6), *([(4 * 6 // 2, 7)] * 2), (2 * 7, D)]
    vectors = 5 + 6 + 4 + (rate * series * 6 + 6)
    if top:
        matrices += [(D, 4 * 3), (5, 2 * 3), (D, 2)]
        vectors += rate * 2 * 3 + 3
    p, d = (
        prefill(spec, one, {"attention": attention}),
        decode(spec, batch, context, {"activations": "off"}),
    )
    assert p.value("params") == OUTSIDE + 2 * (sum(x * y for x, y in matrices) + vectors)
    flops = multiplied(matrices, new)
    for query in range(past, past + new):
        seen = query if attention == "causal" else past + new - 1
        window = min(query + 1, 3) if attention == "causal" else min(past, 2) + new
        every = entries(seen, rate)
        flops += (window + min(every, top or every)) * 4 * (2 * 6 + 2 * 6) + (
            scored(every, weights=True) if top else 0
        )
    assert p.value("prefill_flops") == requests * (2 * flops + HEAD_ROW)
    every = entries(context - 1, rate)
    step = (
        multiplied(matrices, 1)
        + (min(context, 3) + min(every, top or every)) * 4 * 24
        + (scored(every, weights=True) if top else 0)
    )
    assert d.value("decode_flops") == batch * (2 * step + HEAD_ROW)
    index = 3 * KEY_WIDTH / 2 if top else 0
    kept = min(context, 3) * 6 + every * (6 + index)
    assert d.value("kv_cache_bytes") == pytest.approx(2 * batch * 2 * kept)
    read = min(context, 3) * 6 + min(every, top or every) * 6 + every * index
    weights = 2 * (2 * sum(x * y for x, y in matrices) + D * V)
    assert d.value("decode_bytes") == pytest.approx(weights + 2 * batch * 2 * read)


DELTA = case_of(
    "kind=kimi_delta linear_key_heads=3 linear_value_heads=3 linear_key_dim=4 "
    "linear_value_dim=5 d_conv=4"
)


@pytest.mark.parametrize("full_decay", [True, False])
@pytest.mark.parametrize("full_gate", [True, False])
def test_kimi_delta_attention(full_decay, full_gate):
    spec = of_one_layer(mixer={**DELTA, "full_decay": full_decay, "full_gate": full_gate}, count=3)
    matrices = [(D, 12), (D, 12), (D, 15), (D, 3), (15, D)]
    matrices += [(D, 12)] if full_decay else [(D, 4), (4, 12)]
    matrices += [(D, 15)] if full_gate else [(D, 5), (5, 15)]
    taps, state = (12 + 12 + 15) * 4, 3 * 4 * 5
    p, d = prefill(spec, (2, 7, 3)), decode(spec, 3, 100, {"activations": "off"})
    assert p.value("params") == OUTSIDE + 3 * (sum(x * y for x, y in matrices) + taps + 12 + 3 + 5)
    # the value that the state has for a key, the correction added to it, the result read from it
    products = sum(3 * 2 for _ in range(state))
    assert (
        p.value("prefill_flops")
        == 2 * 7 * 3 * (multiplied(matrices, 1) + 2 * taps + products) + 2 * HEAD_ROW
    )
    assert d.value("state_bytes") == 3 * 3 * (2 * taps + 4 * state)
    assert d.value("kv_cache_bytes") == 0


def test_rwkv4():
    """Two sums a channel, each decayed and added to, and each read with the bonus of the token itself; a result gated over the residual."""
    spec = of_one_layer(
        ffn={"kind": "plain", "d_ff": 10, "result_gate": True},
        mixer={"kind": "rwkv4", "d_inner": 6},
        count=3,
    )
    matrices = [(D, 6)] * 3 + [(6, D), (D, 10), (10, D), (D, D)]
    p, d = prefill(spec, (2, 7, 3)), decode(spec, 3, 100, {"activations": "off"})
    assert p.value("params") == OUTSIDE + 3 * (
        sum(x * y for x, y in matrices) + 2 * 6 + 3 * D + 2 * D
    )
    products = sum(2 + 2 for _ in range(6) for _ in ("values", "weights"))
    assert (
        p.value("prefill_flops") == 2 * 7 * 3 * (multiplied(matrices, 1) + products) + 2 * HEAD_ROW
    )
    assert d.value("state_bytes") == 3 * 3 * (2 * 2 * D + 4 * 3 * 6)
    assert d.value("kv_cache_bytes") == 0


@pytest.mark.parametrize("first", [True, False])
def test_rwkv7(first):
    """Its state: what decays, what is forgotten along a vector (a product to find it, one to take it away), what is added, what is read."""
    mixer = case_of(
        "kind=rwkv7 linear_key_heads=3 linear_value_heads=3 linear_key_dim=4 "
        "linear_value_dim=4 decay_rank=2 erase_rank=5 gate_rank=7"
    )
    spec = of_one_layer(mixer={**mixer, **({} if first else {"value_rank": 6})}, count=3)
    ranks = [2, 5, 7, *([] if first else [6])]
    matrices = (
        [(D, 12)] * 3 + [(12, D)] + [(D, rank) for rank in ranks] + [(rank, 12) for rank in ranks]
    )
    biases, state = 12 * (2 if first else 3), 3 * 4 * 4
    p, d = prefill(spec, (2, 7, 3)), decode(spec, 3, 100, {"activations": "off"})
    # of the blocks with the token before; of keys and results, and the norm of the result
    mixes, vectors = (6 * D + D, 3 * 12 + 2 * 12)
    assert p.value("params") == OUTSIDE + 3 * (
        sum(x * y for x, y in matrices) + biases + mixes + vectors
    )
    products = sum(4 * 2 for _ in range(state))
    assert (
        p.value("prefill_flops") == 2 * 7 * 3 * (multiplied(matrices, 1) + products) + 2 * HEAD_ROW
    )
    assert d.value("state_bytes") == 3 * 3 * (2 * 2 * D + 4 * state)


def test_a_step_for_each_head():
    """PLaMo 2: of 6 channels in 2 heads, step sizes, decays and the way past the state are 2 numbers each."""
    mixer = case_of("kind=mamba d_inner=6 d_state=3 d_conv=4 dt_rank=2 ssm_heads=2")
    spec = of_one_layer(mixer={**mixer, "conv_bias": False, "mixer_norm": True})
    matrices = [(D, 12), (6, 2 + 3 + 3), (2, 2), (6, D)]
    assert prefill(spec, (1, 5, 0)).value("params") == OUTSIDE + sum(
        x * y for x, y in matrices
    ) + 6 * 4 + 2 + 2 + 2 + (2 + 3 + 3)


@pytest.mark.parametrize("residual", [True, False])
def test_hyper_connections(residual):
    """Around both blocks of a layer: weights out of all copies, and each copy multiplied with those that are its own."""
    spec = of_one_layer({"n_heads": 2, "n_kv_heads": 1, "head_dim": 4}, count=3)
    with_copies = {**spec, "hyper_connections": {"copies": 4, "residual": residual}}
    a, b = prefill(with_copies, (2, 5, 0)), prefill(spec, (2, 5, 0))
    mixes = 4 + 4 + (4 * 4 if residual else 0)
    assert (
        a.value("params") - b.value("params")
        == 3 * 2 * (4 * D * mixes + mixes + (3 if residual else 2)) + 4 * D * 4 + 4 + 1
    )
    assert a.value("prefill_flops") - b.value("prefill_flops") == 2 * 5 * (
        3 * 2 * (2 * 4 * D * mixes + 2 * D * mixes) + 2 * 4 * D * 4
    )


@pytest.mark.parametrize(
    "adapters", [{}, {"adapter_rank": 3}, {"adapter_rank": 3, "attention_adapters": True}]
)
def test_a_block_that_layers_share(adapters):
    """Five layers take two blocks in turn: two are stored, five are read and run, and each layer has its own matrices beside."""
    block = (
        case_of("kind=shared shared_blocks=2 n_heads=3 n_kv_heads=1 head_dim=4 d_ff=7") | adapters
    )
    d = prefill(of_one_layer(block, count=5), (2, 6, 3))
    shared = [(2 * D, 12), (2 * D, 4), (2 * D, 4), (12, D), (D, 7), (D, 7), (7, D)]
    own = [
        (D, D),
        *([(D, 3), (3, 14)] if adapters else []),
        *([(2 * D, 3), (3, 2 * D)] * 3 if "attention_adapters" in adapters else []),
    ]
    held, beside = (sum(x * y for x, y in some) for some in (shared, own))
    assert d.value("params") == OUTSIDE + 2 * (held + 2 * D + D) + 5 * beside
    pairs = sum(3 + i + 1 for i in range(6))
    assert d.value("prefill_flops") == 2 * (
        5 * (multiplied([*shared, *own], 6) + pairs * sum(2 * 4 + 2 * 4 for _ in range(3)))
        + HEAD_ROW
    )
    assert d.value("kv_bytes_per_token") == 5 * 2 * 2 * 1 * 4
    step = decode(of_one_layer(block, count=5), 3, 9, {"activations": "off"})
    assert step.value("decode_bytes") == 2 * (5 * (held + beside) + D * V) + 3 * 9 * 5 * 2 * 2 * 4
