"""The rows of every block, at made-up widths that are all different primes, against its matrices counted one by one."""

from collections import defaultdict
from fractions import Fraction

import pytest

from symroof.symbolic.evaluation import evaluate
from symroof.symbolic.reading import parse
from symroof.theory.architecture import Architecture, Layer
from symroof.theory.block_rows import FEED_FORWARDS, MIXERS
from symroof.theory.layer_rows import layer_rows, outer_rows
from symroof.theory.rows import gemm

from ..near import near
from .made_up import Made

V = Made(23)
D, TOKENS = V.d_model, "tokens"
ABSORBED, EXPANDED, AGAIN = ((("mla", value),) for value in ("absorbed", "expanded", "reexpanded"))
UNFUSED = (("fusion", "unfused"),)


class Count:
    """Elements, FLOPs and bytes by operator, stream, driver, phase and switch."""

    def __init__(self):
        self.of = defaultdict(Fraction)

    def add(self, operator, stream, amount, per="once", phase=None, when=()):
        self.of[operator, stream, per, phase, when] += amount

    def held(self, operator, elements, per="once"):
        self.add(operator, "params", elements, per)

    def matrix(self, operator, inner, outer, bias=0):
        self.held(operator, inner * outer + bias)
        self.add(operator, "weights", inner * outer * V.weight_bytes_per_param)

    def worked(self, operator, inner, outer, moved, per=TOKENS, phase=None, when=()):
        """A multiply and an add for each element; so many elements in and out."""
        self.add(operator, "flops", 2 * inner * outer, per, phase, when)
        self.add(operator, "activations", moved * V.act_bytes_per_element, per, phase, when)

    def product(self, operator, inner, outer, bias=0, per=TOKENS):
        self.matrix(operator, inner, outer, bias)
        self.worked(operator, inner, outer, inner + outer, per)

    def core(self, query, result, heads, phase=None, when=()):
        """A score and a weighted value for each pair and head; scores and probabilities written and read where they are not fused."""
        self.add("attention", "flops", 2 * heads * (query + result), "pairs", phase, when)
        self.add(
            "attention",
            "activations",
            heads * (query + result) * V.act_bytes_per_element,
            TOKENS,
            phase,
            when,
        )
        self.add(
            "attention",
            "activations",
            4 * heads * V.act_bytes_per_element,
            "pairs",
            phase,
            (*when, *UNFUSED),
        )


def attention(has, norm="none"):
    count, heads, shared, width = Count(), V.n_heads, V.n_kv_heads, V.head_dim
    value = V.value_dim if "value_dim" in has else width
    outputs = heads * width * (2 if "out_gate" in has else 1)
    if "shares_kv" not in has:
        outputs += shared * width + (0 if "value_is_key" in has else shared * value)
    gate = heads * width if "out_gate" in has and "unbiased_gate" in has else 0
    count.product("qkv", D, outputs, outputs - gate if "qkv_bias" in has else 0)
    if "gate_bias" in has:
        count.held("qkv", heads)
    if "head_gate" in has:
        count.product("head_gate", D, heads)
    vectors = {
        "none": 0,
        "head": width if "shares_kv" in has else 2 * width,
        "head_bias": 4 * width,
        "full": heads * width + shared * width,
    }[norm]
    if vectors:
        count.held("qk_norm", vectors)
    if "result_norm" in has:
        count.held("norm", heads * value)
    if "images_only" in has or "sinks" in has:
        count.held("attention", ("images_only" in has) * 2 + ("sinks" in has) * heads)
    if "indexer" in has:
        scored(count, D, weights=False)
    count.core(width, value, heads)
    count.add(
        "attention",
        "kv_again" if "shares_kv" in has else "kv",
        shared * (width + value) * V.kv_bytes_per_element,
        "span",
    )
    count.product("attention_out", heads * value, D, D if "out_bias" in has else 0)
    return count


def latent(has):
    count, heads, rank, turned, plain, value = (
        Count(),
        V.n_heads,
        V.kv_lora_rank,
        V.qk_rope_dim,
        V.qk_nope_dim,
        V.value_dim,
    )
    queries, both = heads * (plain + turned), heads * (plain + value)
    if "q_lora" in has:
        narrow = V.q_lora_rank
        count.product(
            "qkv_down",
            D,
            narrow + rank + turned,
            narrow + rank + turned if "qkv_bias" in has else 0,
        )
        count.product("q_up", narrow, queries)
        count.held("latent_norm", narrow + rank)
    else:
        count.product("qkv", D, queries + rank + turned, rank + turned if "qkv_bias" in has else 0)
        count.held("latent_norm", rank)
    if "rope_norm" in has:
        count.held("latent_norm", turned)
    if "head_gate" in has or "out_gate" in has:
        count.product("head_gate", D, heads if "head_gate" in has else heads * value)
    if "sinks" in has:
        count.held("attention", heads)
    if "indexer" in has and "q_lora" in has:
        scored(count, V.q_lora_rank, weights=True)
    count.matrix("kv_up", rank, both)
    count.worked(
        "kv_up", rank, both, both + both, "span", "prompt", ABSORBED
    )  # written, and read back
    count.worked(
        "kv_up",
        rank,
        both,
        heads * (plain + rank) + heads * (rank + value),
        TOKENS,
        "token",
        ABSORBED,
    )  # queries into the latent, results out of it
    count.worked("kv_up", rank, both, both + both, "span", None, AGAIN)
    count.worked("kv_up", rank, both, rank + both, TOKENS, None, EXPANDED)
    count.core(plain + turned, value, heads, "prompt", ABSORBED)
    count.core(rank + turned, rank, heads, "token", ABSORBED)
    for when in (EXPANDED, AGAIN):
        count.core(plain + turned, value, heads, None, when)
    for when in (ABSORBED, AGAIN):
        count.add("attention", "kv", (rank + turned) * V.kv_bytes_per_element, "span", None, when)
    count.add(
        "attention",
        "kv",
        heads * (plain + turned + value) * V.kv_bytes_per_element,
        "span",
        None,
        EXPANDED,
    )
    count.product("attention_out", heads * value, D, D if "out_bias" in has else 0)
    return count


def scored(count, made_of, weights):
    """Queries of the indexer out of something so wide, one key and a weight a head out of the residual; a score for each pair and head."""
    heads, width = V.index_heads, V.index_dim
    if weights:
        count.product("indexer", made_of, heads * width)
        count.product("indexer", D, width + heads)
    else:
        count.product("indexer", D, heads * width + width)
    count.held("indexer", width + width)
    count.add("index_scores", "flops", heads * (2 * width + 2 * weights), "pairs")
    count.add(
        "index_scores",
        "activations",
        (heads * width + heads * weights) * V.act_bytes_per_element,
        TOKENS,
    )
    if weights:
        count.add("index_scores", "activations", 2 * V.act_bytes_per_element, "pairs")
    count.add("index_scores", "kv", width * V.kv_bytes_per_element, "span")


def compressed(has):
    """A window of keys that are values, entries of several tokens behind it, those that an indexer chooses of them."""
    count, heads, width = Count(), V.n_heads, V.head_dim
    count.product("qkv_down", D, V.q_lora_rank + width)
    count.product("q_up", V.q_lora_rank, heads * width)
    count.held("latent_norm", V.q_lora_rank + width)
    count.held("attention", heads)
    kinds = 1 + ("compressed" in has)
    count.add("attention", "flops", kinds * heads * (2 * width + 2 * width), "pairs")
    count.add(
        "attention",
        "activations",
        kinds * 4 * heads * V.act_bytes_per_element,
        "pairs",
        None,
        UNFUSED,
    )
    count.add("attention", "kv", width * V.kv_bytes_per_element, "span")
    count.add(
        "attention",
        "activations",
        (heads * width + heads * width) * V.act_bytes_per_element,
        TOKENS,
    )
    if "compressed" in has:
        count.add("attention", "kv", width * V.kv_bytes_per_element / V.compress_rate, "span")
        series = 2 if "indexer" in has else 1
        count.product("compressor", D, series * width + series * width)
        count.held("compressor", V.compress_rate * series * width + width)
    if "indexer" in has:
        count.product("indexer", D, 4 * V.index_dim)
        count.held("indexer", V.compress_rate * 2 * V.index_dim + V.index_dim)
        count.product("indexer", V.q_lora_rank, V.index_heads * V.index_dim)
        count.product("indexer", D, V.index_heads)
        count.add("index_scores", "flops", V.index_heads * (2 * V.index_dim + 2), "pairs")
        count.add(
            "index_scores",
            "activations",
            V.index_heads * (V.index_dim + 1) * V.act_bytes_per_element,
            TOKENS,
        )
        count.add("index_scores", "activations", 2 * V.act_bytes_per_element, "pairs")
        count.add(
            "index_scores", "kv", V.index_dim * V.kv_bytes_per_element / V.compress_rate, "span"
        )
    count.matrix("attention_out", heads * width, V.out_rank)
    count.worked(
        "attention_out", heads * width, V.out_rank, heads * width + V.out_groups * V.out_rank
    )
    count.product("attention_out", V.out_groups * V.out_rank, D)
    return count


def recurrence(
    has, inputs, outputs, channels=0, state=0, products=0, state_bytes=0, held=0, norm=0
):
    """A projection in, a short convolution, a scan with so many products with its state, a projection out."""
    count = Count()
    count.product("ssm_in", D, inputs, inputs if "state_in_bias" in has else 0)
    if channels:
        taps = channels * V.d_conv
        count.matrix("conv", channels, V.d_conv, channels if "conv_bias" in has else 0)
        count.add("conv", "flops", 2 * taps, TOKENS)
        count.add("conv", "state", taps * V.act_bytes_per_element, "state_moves")
    if held:
        count.held("scan", held)
    if norm:
        count.held("mixer_norm", norm)
    if state:
        count.add("scan", "flops", 2 * products * state, TOKENS)
        count.add("scan", "state", state * state_bytes, "state_moves")
    count.product("ssm_out", outputs, D, D if "state_out_bias" in has else 0)
    return count


def mamba(has):
    inner, wide = V.d_inner, V.dt_rank + 2 * V.d_state
    state = inner * V.d_state
    count = recurrence(
        has,
        2 * inner,
        inner,
        inner,
        state,
        2,
        V.state_bytes_per_element,
        state + inner,
        wide if "mixer_norm" in has else 0,
    )
    count.product("ssm_x", inner, wide)
    count.product("ssm_dt", V.dt_rank, inner, inner)
    return count


def rg_lru(has):
    inner = V.d_inner
    count = recurrence(
        has, inner + inner, inner, inner, inner, 1, V.state_bytes_per_element, 3 * inner
    )
    count.matrix("ssm_x", inner * inner / V.ssm_heads, 2)
    count.worked("ssm_x", inner * inner / V.ssm_heads, 2, inner + inner + inner)
    return count


def mamba2(has):
    inner, groups = V.d_inner, V.ssm_groups * V.d_state
    channels = inner + groups + groups
    return recurrence(
        has,
        inner + channels + V.ssm_heads,
        inner,
        channels,
        inner * V.d_state,
        2,
        V.state_bytes_per_element,
        3 * V.ssm_heads,
        inner if "mixer_norm" in has else 0,
    )


def gated_delta(has):
    keys, values = V.linear_key_heads * V.linear_key_dim, V.linear_value_heads * V.linear_value_dim
    channels = 2 * keys + values
    state = V.linear_value_heads * V.linear_key_dim * V.linear_value_dim
    gates = 2 * V.linear_value_heads
    return recurrence(
        has,
        channels + values + gates,
        values,
        channels,
        state,
        3,
        V.state_bytes_per_element,
        gates,
        V.linear_value_dim,
    )


def kimi_delta(has):
    keys, values, heads = (
        V.linear_key_heads * V.linear_key_dim,
        V.linear_value_heads * V.linear_value_dim,
        V.linear_value_heads,
    )
    state = heads * V.linear_key_dim * V.linear_value_dim
    decay, gate = (
        keys if "full_decay" in has else V.linear_key_dim,
        values if "full_gate" in has else V.linear_value_dim,
    )
    channels = keys + keys + values
    count = recurrence(
        has,
        channels + heads + decay + gate,
        values,
        channels,
        state,
        3,
        V.state_bytes_per_element,
        keys + heads,
        V.linear_value_dim,
    )
    if "full_decay" not in has:
        count.product("ssm_dt", V.linear_key_dim, keys)
    if "full_gate" not in has:
        count.product("ssm_gate", V.linear_value_dim, values)
    return count


def linear(has):
    keys, values = V.linear_key_heads * V.linear_key_dim, V.linear_value_heads * V.linear_value_dim
    state = V.linear_value_heads * V.linear_key_dim * V.linear_value_dim
    return recurrence(
        has, 2 * keys + 2 * values, values, 0, state, 2, V.act_bytes_per_element, 0, values
    )


def short_conv(has):
    return recurrence(has, 3 * D, D, D)


def dense(has, kind):
    count, wide = Count(), (V.ffn_matrices - 1) * V.d_ff
    operator = "gate_up" if kind == "gated" else "up"
    count.product(operator, D, wide, wide if "ffn_bias" in has else 0)
    if "learned_activation" in has:
        count.held(operator, 2)
    if "inner_norm" in has:
        count.held("norm", V.d_ff)
    if "ffn_result_gate" in has:
        count.product("ffn_gate", D, D)
    count.product("down", V.d_ff, D, D if "ffn_bias" in has else 0)
    return count


def experts(has):
    count, matrices = Count(), 2 if "plain_experts" in has else 3
    width, inner = V.d_latent if "expert_latent" in has else D, V.d_expert
    one, moved = matrices * width * inner, 2 * width + matrices * inner
    routes = V.n_experts + (V.n_zero_experts if "zero_experts" in has else 0)
    count.product("router", D, routes, routes if "router_bias" in has else 0)
    count.held(
        "experts",
        one + ((matrices - 1) * inner + width if "ffn_bias" in has else 0),
        "experts_held",
    )
    count.add("experts", "weights", one * V.weight_bytes_per_param, "experts_read")
    count.add("experts", "flops", 2 * one * V.experts_per_token, TOKENS)
    count.add(
        "experts", "activations", V.experts_per_token * moved * V.act_bytes_per_element, TOKENS
    )
    if "expert_latent" in has:
        count.product("latent_down", D, V.d_latent, V.d_latent if "shared_bias" in has else 0)
        count.product("latent_up", V.d_latent, D, D if "shared_bias" in has else 0)
    if "shared_expert" in has:
        inner = V.n_shared_experts * V.d_shared
        count.matrix(
            "shared_experts",
            D,
            matrices * inner,
            (matrices - 1) * inner + D if "shared_bias" in has else 0,
        )
        count.worked("shared_experts", D, matrices * inner, 2 * D + matrices * inner)
    if "shared_gate" in has:
        count.product("shared_gate", D, 1)
    return count


def counted(rows):
    count = Count()
    for row in rows:
        count.add(
            row.operator, row.stream, evaluate(parse(row.amount), V), row.per, row.phase, row.when
        )
    return {key: amount for key, amount in count.of.items() if amount}


def agree(rows, expected, label):
    made = {key: amount for key, amount in expected.of.items() if amount}
    found = counted(rows)
    assert found.keys() == made.keys(), label
    assert {
        key: (amount, made[key]) for key, amount in found.items() if amount != near(made[key])
    } == {}, label


ATTENTION_TRAITS = (
    "qkv_bias",
    "out_bias",
    "sinks",
    "out_gate",
    "head_gate",
    "shares_kv",
    "value_is_key",
    "value_dim",
    "result_norm",
    "images_only",
    "gate_bias",
    "unbiased_gate",
    "indexer",
)
LATENT_TRAITS = ("q_lora", "qkv_bias", "out_bias", "out_gate", "head_gate", "sinks", "rope_norm")
STATE_TRAITS = ("state_in_bias", "state_out_bias", "conv_bias", "mixer_norm")
DELTA_TRAITS = ("full_decay", "full_gate", "conv_bias")
EXPERT_TRAITS = (
    "router_bias",
    "plain_experts",
    "expert_latent",
    "shared_expert",
    "shared_gate",
    "shared_bias",
    "ffn_bias",
    "zero_experts",
)
DENSE_TRAITS = ("ffn_bias", "learned_activation", "inner_norm", "ffn_result_gate")


def choices(traits):
    """None, each alone, each pair, all."""
    pairs = [(one, other) for i, one in enumerate(traits) for other in traits[i + 1 :]]
    return [frozenset(some) for some in ((), *((trait,) for trait in traits), *pairs, traits)]


def test_attention():
    for has in choices(ATTENTION_TRAITS):
        for norm in ("none", "head", "head_bias", "full"):
            agree(MIXERS["gqa"](Layer(traits=has, qk_norm=norm)), attention(has, norm), (has, norm))
    for has in choices(LATENT_TRAITS):
        agree(MIXERS["mla"](Layer(mixers=("mla",), traits=has)), latent(has), has)
    chosen = frozenset({"q_lora", "indexer"})
    agree(MIXERS["mla"](Layer(mixers=("mla",), reach="top", traits=chosen)), latent(chosen), chosen)
    for has in map(frozenset, ((), ("compressed",), ("compressed", "indexer"))):
        agree(MIXERS["compressed"](Layer(mixers=("compressed",), traits=has)), compressed(has), has)


def test_recurrences():
    for name, by_hand in {
        "mamba": mamba,
        "mamba2": mamba2,
        "rg_lru": rg_lru,
        "gated_delta": gated_delta,
        "linear": linear,
        "conv": short_conv,
    }.items():
        for has in choices(STATE_TRAITS):
            agree(MIXERS[name](Layer(mixers=(name,), traits=has)), by_hand(has), (name, has))


def test_kimi_delta():
    for has in choices(DELTA_TRAITS):
        agree(MIXERS["kimi_delta"](Layer(mixers=("kimi_delta",), traits=has)), kimi_delta(has), has)


def test_feed_forwards():
    for kind in ("gated", "plain"):
        for has in choices(DENSE_TRAITS):
            agree(
                FEED_FORWARDS[kind](Layer(feed_forward=kind, traits=has)),
                dense(has, kind),
                (kind, has),
            )
    for has in choices(EXPERT_TRAITS):
        agree(FEED_FORWARDS["moe"](Layer(feed_forward="moe", traits=has)), experts(has), has)
    assert [*FEED_FORWARDS["none"](Layer(feed_forward="none"))] == []


@pytest.mark.parametrize(("norm", "vectors"), [("rms", 1), ("layer", 2), ("none", 0)])
def test_around_the_blocks(norm, vectors):
    """Norms, vectors for each layer, copies of the residual; tables and head."""
    bare = Layer(mixers=(), feed_forward="none", norms=3)
    count = Count()
    count.held("norm", 3 * vectors * D)
    agree(layer_rows(bare, norm), count, norm)
    count = Count()
    count.held("norm", 3 * vectors * D + 3 * D)
    count.product("layer_input", D, V.d_layer_input)
    count.product("layer_input", V.d_layer_input, D)
    copies = altup = V.altup_inputs
    count.product("altup", D, copies)  # the router before the layer, and once more behind it
    count.worked("altup", D, copies, D + copies)
    count.product("altup", copies, copies * copies)  # what predicts each copy from all
    count.worked("altup", D, copies * copies, copies * D + copies * D)
    count.product("altup", copies, copies)
    count.product("laurel", D, V.laurel_rank)
    count.product("laurel", V.laurel_rank, D)
    agree(
        layer_rows(
            Layer(
                mixers=(), feed_forward="none", norms=3, traits=frozenset({"layer_input", "altup"})
            ),
            norm,
        ),
        count,
        norm,
    )
    for residual in (True, False):
        copies = V.hyper_copies
        mixes, scales = (
            (copies * copies + 2 * copies, 3) if residual else (2 * copies, 2)
        )  # out of all copies, into each, and among them
        count = Count()
        count.held("norm", 3 * vectors * D)
        for operator in ("hyper_attention", "hyper_ffn"):
            count.product(operator, copies * D, mixes, mixes + scales)
            count.worked(operator, D, mixes, 2 * copies * D + 2 * D)
        traits = frozenset({"hyper", *(["hyper_residual"] if residual else [])})
        agree(
            layer_rows(Layer(mixers=(), feed_forward="none", norms=3, traits=traits), norm),
            count,
            norm,
        )
    count = Count()
    count.held("norm", 3 * vectors * D)
    for operator in (
        "residual_attention",
        "residual_ffn",
    ):  # a vector and the norm before it; each source is scored, and weighed
        count.held(operator, D + D)
        count.worked(
            operator, D, V.residual_sources + V.residual_sources, V.residual_sources * D + D
        )
    agree(
        layer_rows(
            Layer(
                mixers=(), feed_forward="none", norms=3, traits=frozenset({"attention_residuals"})
            ),
            norm,
        ),
        count,
        norm,
    )
    count = Count()
    count.held("embedding", V.vocab_size * D)
    count.held("norm", vectors * D)
    count.product("lm_head", D, V.vocab_size, per="logit_rows")
    agree(outer_rows(Architecture(norm=norm)), count, norm)
    count = Count()
    count.held("embedding", (V.vocab_size + V.more_embeddings) * V.d_embedding)
    count.held("positions", V.learned_positions * D)
    count.held("norm", vectors * D + V.d_layer_input)  # of the embedding; none at the end
    count.held("layer_inputs", V.layer_input_vocab * V.n_layers * V.d_layer_input)
    count.product("layer_input_in", D, V.n_layers * V.d_layer_input)
    count.product("embedding_in", V.d_embedding, D)
    count.product("embedding_out", D, V.d_embedding)
    count.product("altup_in", D, (altup - 1) * D)
    count.product("altup_out", (altup - 1) * D, D)
    count.product("hyper_head", V.hyper_copies * D, V.hyper_copies, V.hyper_copies + 1)
    count.held("residual_head", D + D)
    count.worked("residual_head", D, 2 * (V.residual_sums + 1), (V.residual_sums + 1) * D + D)
    count.product("lm_head", V.d_embedding, V.vocab_size, V.vocab_size, per="logit_rows")
    every = dict.fromkeys(
        (
            "learned_positions",
            "head_bias",
            "embedding_norm",
            "narrow_embedding",
            "more_embeddings",
            "layer_inputs",
            "altup",
            "hyper",
            "attention_residuals",
        ),
        True,
    )
    agree(outer_rows(Architecture(norm=norm, final_norm=False, **every)), count, norm)


@pytest.mark.parametrize("tied", [True, False])
def test_where_rows_after_the_layers_stand(tied):
    """The head's table is the embedding's where they are tied: stored once, but at both ends of a pipeline."""
    rows = {
        (row.operator, row.stream): row.end
        for row in outer_rows(Architecture(tied_embeddings=tied))
    }
    ends = {
        "params": "tied" if tied else "last",
        "weights": "last",
        "flops": "last",
        "activations": "last",
    }
    assert rows == {
        ("embedding", "params"): "",
        ("norm", "params"): "last",
        **{("lm_head", stream): end for stream, end in ends.items()},
    }


def test_equal_heads_are_written_together():
    """A reader sees ``(n_heads + 2*n_kv_heads)*head_dim`` and not three terms; unequal ones stand apart."""
    (plain, *_), (gated, *_) = (
        MIXERS["gqa"](Layer()),
        MIXERS["gqa"](Layer(traits=frozenset({"out_gate"}))),
    )
    assert plain.amount == "(d_model)*((n_heads + 2*n_kv_heads)*head_dim)"
    assert gated.amount == "(d_model)*(2*n_heads*head_dim + 2*n_kv_heads*head_dim)"


def test_a_layer_for_images_is_held_and_does_nothing():
    awake, asleep = (
        Layer(feed_forward="plain", traits=frozenset(traits)) for traits in ((), ("images_only",))
    )
    params = {
        key: amount
        for key, amount in counted(layer_rows(awake, "rms")).items()
        if key[1] == "params"
    }
    assert counted(layer_rows(asleep, "rms")) == params | {
        ("attention", "params", "once", None, ()): 2
    }


def every_row():
    for mixer, traits in {
        "gqa": ATTENTION_TRAITS,
        "mla": LATENT_TRAITS,
        **dict.fromkeys(
            ("mamba", "mamba2", "rg_lru", "gated_delta", "linear", "conv"), STATE_TRAITS
        ),
    }.items():
        for has in choices(traits):
            yield from MIXERS[mixer](Layer(mixers=(mixer,), traits=has))
    for kind, traits in {
        "gated": DENSE_TRAITS,
        "plain": DENSE_TRAITS,
        "moe": EXPERT_TRAITS,
    }.items():
        for has in choices(traits):
            yield from FEED_FORWARDS[kind](Layer(feed_forward=kind, traits=has))


def test_the_matrices_that_a_checkpoint_stores_hold_all_parameters_of_a_row():
    for row in every_row():
        if row.shapes:
            held = sum(
                evaluate(parse(part.rows), V)
                * evaluate(parse(part.columns), V)
                * evaluate(parse(part.times), V)
                for part in row.shapes
            )
            assert held == evaluate(parse(row.amount), V) * (
                V.n_experts if row.per == "experts_held" else 1
            ), row
        assert row.reach or row.reaching is (
            row.operator == "attention" and row.stream in ("flops", "activations", "kv", "kv_again")
        ), row
        assert row.kept is (row.stream == "params" and not row.shapes), row
        assert row.pooled is (row.operator == "experts"), row


@pytest.mark.parametrize("cut", ["", "inner", "outer"])
def test_a_matrix_that_devices_cut_along_one_side(cut):
    """Of an 7 by 11 matrix on 3 devices: a third of its elements each, and of what goes in or out the part on the side that is cut."""
    rows = {row.stream: row for row in gemm("x", "n_heads", "d_ff", cut=cut)}
    inner, outer = (
        V.n_heads / (V.tp if cut == "inner" else 1),
        V.d_ff / (V.tp if cut == "outer" else 1),
    )
    own = {
        "params": inner * outer,
        "weights": inner * outer * V.weight_bytes_per_param,
        "flops": 2 * inner * outer,
        "activations": (inner + outer) * V.act_bytes_per_element,
    }
    assert {
        stream: evaluate(parse(row.own), V) if row.own else None for stream, row in rows.items()
    } == (near(own if cut else dict.fromkeys(own)))
