"""The blocks of a layer: mixers (attention, or a recurrence with a state instead of a cache), then a feed-forward layer or experts."""

from collections.abc import Iterator
from dataclasses import replace

from symroof.theory.architecture import Layer
from symroof.theory.rows import MatrixShape, OperatorRow, gemm, matrix, product, stacked, stored
from symroof.theory.sparse_rows import (
    CORE,
    block_indexer,
    compressed,
    shared_block,
    token_indexer,
)

SCAN = "scan"


def gqa(layer: Layer) -> Iterator[OperatorRow]:
    """Grouped-query attention; multi-head and multi-query are special cases.
    Core: scores and weighted values are a multiply-add per pair, head and head element each; the cache holds a key and
    a value per KV head (Ainslie et al. 2023); query in and result out are activations.
    """
    both = "head_dim + value_dim" if layer.has("value_dim") else "2*head_dim"
    cached = f"n_kv_heads*({both})" if layer.has("value_dim") else "2*n_kv_heads*head_dim"
    result = f"n_heads*{'value_dim' if layer.has('value_dim') else 'head_dim'}"
    queries = "2*n_heads*head_dim" if layer.has("out_gate") else "n_heads*head_dim"
    key = "n_kv_heads*head_dim"
    first = "q_lora_rank" if layer.has("q_lora") else queries
    value = "n_kv_heads*value_dim" if layer.has("value_dim") else key
    values = [value] * (not layer.has("value_is_key"))
    made, parts = [first, cached if values else key], [first, key, *values]
    if layer.has("shares_kv"):
        made = parts = [first]
    yield from _projections(layer, made, parts)
    if layer.has("q_lora"):
        yield from gemm("q_up", "q_lora_rank", queries)
        yield stored("latent_norm", "q_lora_rank")
    if layer.has("head_gate"):
        yield from gemm("head_gate", "d_model", "n_heads")
    if layer.has("differential"):
        yield stored(CORE, "4*head_dim")
    if layer.has("gate_bias"):
        yield stored("qkv", "n_heads")
    if layer.qk_norm == "head":
        yield stored("qk_norm", "head_dim" if layer.has("shares_kv") else "2*head_dim")
    if layer.qk_norm == "head_bias":
        yield stored("qk_norm", "4*head_dim")
    if layer.qk_norm == "full":
        yield stored("qk_norm", "(n_heads + n_kv_heads)*head_dim")
    if layer.has("indexer"):
        yield from block_indexer()
    if layer.has("result_norm"):
        yield stored("norm", result)
    if layer.has("images_only"):
        yield stored(CORE, "2")
    if layer.has("sinks"):
        yield stored(CORE, "n_heads")
    cache = OperatorRow(CORE, "kv", f"{cached}*kv_bytes_per_element", "span", reaching=True)
    if layer.has("differential"):
        yield from _core("6 FLOP*n_heads*head_dim", "3*n_heads*head_dim")
    else:
        yield from _core(f"2 FLOP*n_heads*({both})", f"n_heads*({both})")
    yield replace(cache, stream="kv_again") if layer.has("shares_kv") else cache
    bias = layer.only("out_bias", "d_model")
    yield from gemm("attention_out", result, "d_model", bias=bias)


def _projections(layer: Layer, made: list[str], parts: list[str]) -> Iterator[OperatorRow]:
    """Queries, keys and values in one product; equal heads are written as one factor. Checkpoints store its ``parts``."""
    outer = (
        "(n_heads + 2*n_kv_heads)*head_dim"
        if made == ["n_heads*head_dim", "2*n_kv_heads*head_dim"]
        else " + ".join(made)
    )
    biased = " + ".join(["n_heads*head_dim", *made[1:]]) if layer.has("unbiased_gate") else outer
    bias = layer.only("qkv_bias", biased)
    yield from gemm("qkv", "d_model", outer, bias=bias, parts=stacked(parts))


def _core(
    flops: str, moved: str, phase: str | None = None, when: tuple[tuple[str, str], ...] = ()
) -> Iterator[OperatorRow]:
    """Scores and weighted values: FLOPs of a pair, and query in and result out of a token."""
    core = OperatorRow(CORE, "flops", flops, "pairs", reaching=True, phase=phase, when=when)
    yield core
    yield replace(core, stream="activations", amount=f"{moved}*act_bytes_per_element", per="tokens")
    scores, unfused = "4*n_heads*act_bytes_per_element", (*when, ("fusion", "unfused"))
    yield replace(core, stream="activations", amount=scores, when=unfused)


LATENT = "(kv_lora_rank + qk_rope_dim)"
KEY_AND_VALUE = "(qk_nope_dim + value_dim)"
WIDE = "(qk_nope_dim + qk_rope_dim + value_dim)"
"""Elements of a query (or key) and of a value of one head, expanded."""
ABSORBED, EXPANDED, REEXPANDED = (
    (("mla", value),) for value in ("absorbed", "expanded", "reexpanded")
)


def mla(layer: Layer) -> Iterator[OperatorRow]:
    """Multi-head latent attention (DeepSeek-V2, arXiv 2405.04434): a latent of ``kv_lora_rank`` and one rotated key of
    ``qk_rope_dim`` are cached for all heads.

    ``absorbed``: a prompt's keys and values are expanded once, as engines do; a step that writes tokens moves the
    expansion into query and result, and its core works on the latent. ``expanded``: keys and values are cached in full.
    ``reexpanded``: every step expands all it reads.
    """
    queries = "n_heads*(qk_nope_dim + qk_rope_dim)"
    first = "q_lora_rank" if layer.has("q_lora") else queries
    parts = stacked([first, LATENT])
    biased = f"q_lora_rank + {LATENT}" if layer.has("q_lora") else LATENT
    down, bias = "qkv_down" if layer.has("q_lora") else "qkv", layer.only("qkv_bias", biased)
    yield from gemm(down, "d_model", f"{first} + {LATENT}", bias=bias, parts=parts)
    if layer.has("q_lora"):
        yield from gemm("q_up", "q_lora_rank", queries)
    normed = (
        ["q_lora_rank"] * layer.has("q_lora")
        + ["kv_lora_rank"]
        + ["qk_rope_dim"] * layer.has("rope_norm")
    )
    yield stored("latent_norm", " + ".join(normed))
    if layer.has("head_gate") or layer.has("out_gate"):
        gates = "n_heads" if layer.has("head_gate") else "n_heads*value_dim"
        yield from gemm("head_gate", "d_model", gates)
    if layer.has("sinks"):
        yield stored(CORE, "n_heads")
    out = f"n_heads*{KEY_AND_VALUE}"
    yield from matrix("kv_up", f"kv_lora_rank*{out}", (MatrixShape(out, "kv_lora_rank"),))
    if layer.has("indexer"):
        yield from token_indexer()
    yield from _expansions()
    yield from _latent_core(layer.only("indexer", " + latent_extra_bytes"))
    bias = layer.only("out_bias", "d_model")
    yield from gemm("attention_out", "n_heads*value_dim", "d_model", bias=bias)


def _expansions() -> Iterator[OperatorRow]:
    """The work of expanding the latents: of the tokens read, or of the new ones only."""
    elements = f"kv_lora_rank*n_heads*{KEY_AND_VALUE}"
    out = f"n_heads*{KEY_AND_VALUE}"
    yield from product("kv_up", elements, f"2*{out}", "span", phase="prompt", when=ABSORBED)
    yield from product(
        "kv_up", elements, f"2*n_heads*kv_lora_rank + {out}", "tokens", phase="token", when=ABSORBED
    )
    yield from product("kv_up", elements, f"2*{out}", "span", when=REEXPANDED)
    yield from product("kv_up", elements, f"kv_lora_rank + {out}", "tokens", when=EXPANDED)


def _latent_core(extra: str) -> Iterator[OperatorRow]:
    wide = f"n_heads*{WIDE}"
    latent = "n_heads*(2*kv_lora_rank + qk_rope_dim)"
    yield from _core(f"2 FLOP*{wide}", wide, "prompt", ABSORBED)
    yield from _core(f"2 FLOP*{latent}", latent, "token", ABSORBED)
    yield from _core(f"2 FLOP*{wide}", wide, when=EXPANDED)
    yield from _core(f"2 FLOP*{wide}", wide, when=REEXPANDED)
    latents = f"{LATENT}*kv_bytes_per_element{extra}"
    whole = f"{wide}*kv_bytes_per_element"
    for kept, when in ((latents, ABSORBED), (latents, REEXPANDED), (whole, EXPANDED)):
        yield OperatorRow(CORE, "kv", kept, "span", reaching=True, when=when)


def _recurrence(
    layer: Layer,
    parts: list[str],
    outputs: str,
    state: str = "",
    flops: str = "",
    conv: str = "",
    held: str = "",
    norm: str = "",
    cut: bool = False,
) -> Iterator[OperatorRow]:
    """A projection in, a short convolution, a scan over a state of fixed size, a projection out.

    The scan in its recurrent form: an outer product added to the state and a product with it, a multiply-add each per
    element; gates and decays are elementwise. The state is read and written by every pass: the last inputs of the
    convolution, ``d_conv`` of them as transformers caches them, and the state of the scan. Devices share it out by heads or
    channels; ``cut`` where the channels are those of the residual.
    """
    inputs = " + ".join(parts)
    bias = layer.only("state_in_bias", f"({inputs})")
    yield from gemm(
        "ssm_in", "d_model", inputs, bias=bias, cut="outer" if cut else "", parts=stacked(parts)
    )
    if conv:
        taps = f"({conv})*d_conv"
        own = f"{taps}/tp" if cut else ""
        shapes, bias = (MatrixShape(conv, "d_conv"),), layer.only("conv_bias", f"({conv})")
        yield from matrix("conv", taps, shapes, bias, own)
        for stream, each, per in (
            ("flops", "2 FLOP", "tokens"),
            ("state", "act_bytes_per_element", "state_moves"),
        ):
            part = f"{each}*{own}" if cut else ""
            yield OperatorRow("conv", stream, f"{each}*{taps}", per, own=part)
    if held:
        yield stored(SCAN, held)
    if norm:
        yield stored("mixer_norm", norm)
    if flops:
        yield OperatorRow(SCAN, "flops", flops, "tokens")
        yield OperatorRow(SCAN, "state", state, "state_moves")
    bias = layer.only("state_out_bias", "d_model")
    yield from gemm("ssm_out", outputs, "d_model", bias=bias, cut="inner" if cut else "")


def mamba(layer: Layer) -> Iterator[OperatorRow]:
    """Selective state space (Gu and Dao 2023, arXiv 2312.00752): a state of ``d_state`` for each of ``d_inner`` channels."""
    norm = layer.only("mixer_norm", "dt_rank + 2*d_state")
    state, flops = "d_inner*d_state*state_bytes_per_element", "4 FLOP*d_inner*d_state"
    held, steps = (
        ("2*ssm_heads", "ssm_heads")
        if layer.has("head_steps")
        else ("d_inner*d_state + d_inner", "d_inner")
    )
    yield from _recurrence(layer, ["2*d_inner"], "d_inner", state, flops, "d_inner", held, norm)
    yield from gemm("ssm_x", "d_inner", "dt_rank + 2*d_state")
    yield from gemm("ssm_dt", "dt_rank", steps, bias=steps)


def mamba2(layer: Layer) -> Iterator[OperatorRow]:
    """State-space duality (Dao and Gu 2024, arXiv 2405.21060): one decay a head, keys and queries shared by groups."""
    conv = "d_inner + 2*ssm_groups*d_state"
    state, flops = "d_inner*d_state*state_bytes_per_element", "4 FLOP*d_inner*d_state"
    parts, norm = [f"d_inner + {conv} + ssm_heads"], layer.only("mixer_norm", "d_inner")
    yield from _recurrence(layer, parts, "d_inner", state, flops, conv, "3*ssm_heads", norm)


def rwkv4(layer: Layer) -> Iterator[OperatorRow]:
    """RWKV-4 (arXiv 2305.13048): each channel sums values weighed by the exponentials of keys, and the weights, under a scale that keeps both in
    range; an update and a reading of both sums. Both blocks mix a token with the one before it, which is kept."""
    state, held = "3*d_inner*state_bytes_per_element", "2*d_inner + 5*d_model"
    parts = ["d_inner"] * 3
    yield from _recurrence(layer, parts, "d_inner", state, "8 FLOP*d_inner", held=held)
    yield OperatorRow("conv", "state", "2*d_model*act_bytes_per_element", "state_moves")


def rg_lru(layer: Layer) -> Iterator[OperatorRow]:
    """RG-LRU (Griffin, De et al. 2024, arXiv 2402.19427): each channel has one number of state, whose decay and whose input are gated by
    a matrix over the channels of its block. A branch beside it gates the result."""
    gates, one = "2*d_inner^2/ssm_heads", "d_inner/ssm_heads"
    state, parts = "d_inner*state_bytes_per_element", ["d_inner"] * 2
    flops, held = "2 FLOP*d_inner", "3*d_inner"
    yield from _recurrence(layer, parts, "d_inner", state, flops, "d_inner", held)
    yield from matrix("ssm_x", gates, (MatrixShape(one, one, "2*ssm_heads"),))
    yield from product("ssm_x", gates, "3*d_inner")


LINEAR_STATE = "linear_value_heads*linear_key_dim*linear_value_dim"


def gated_delta(layer: Layer) -> Iterator[OperatorRow]:
    """Gated delta rule (Yang et al. 2024, arXiv 2412.06464): the value that the state has for a key is subtracted first,
    a third product with the state."""
    conv = "2*linear_key_heads*linear_key_dim + linear_value_heads*linear_value_dim"
    values = "linear_value_heads*linear_value_dim"
    parts = [f"{conv} + {values}", "2*linear_value_heads"]
    state, flops = f"{LINEAR_STATE}*state_bytes_per_element", f"6 FLOP*{LINEAR_STATE}"
    norm = "linear_value_dim"
    yield from _recurrence(layer, parts, values, state, flops, conv, parts[1], norm)


def kimi_delta(layer: Layer) -> Iterator[OperatorRow]:
    """Kimi delta attention (Kimi Linear, arXiv 2510.26692): the gated delta rule with a decay for each channel of a key. Decays and the gate of
    the result come through a bottleneck of one head's width, or (``full_decay``, ``full_gate``) from the residual at once."""
    keys, values = "linear_key_heads*linear_key_dim", "linear_value_heads*linear_value_dim"
    conv = f"2*{keys} + {values}"
    decays = keys if layer.has("full_decay") else "linear_key_dim"
    gates = values if layer.has("full_gate") else "linear_value_dim"
    parts = [keys, keys, values, "linear_value_heads", decays, gates]
    state, flops = f"{LINEAR_STATE}*state_bytes_per_element", f"6 FLOP*{LINEAR_STATE}"
    held, norm = f"{keys} + linear_value_heads", "linear_value_dim"
    yield from _recurrence(layer, parts, values, state, flops, conv, held, norm)
    if not layer.has("full_decay"):
        yield from gemm("ssm_dt", "linear_key_dim", keys)
    if not layer.has("full_gate"):
        yield from gemm("ssm_gate", "linear_value_dim", values)


def rwkv7(layer: Layer) -> Iterator[OperatorRow]:
    """RWKV-7 (arXiv 2503.14456): each head's state decays a channel at a time, forgets along one vector and adds a key and a value, four products
    with it. Decays, the rate of forgetting, the gate, and behind the first layer the share of that layer's values come through bottlenecks. Each
    block mixes a token with the one before it, which is kept."""
    keys = "linear_key_heads*linear_key_dim"
    ranks = ["decay_rank", "erase_rank", "gate_rank"]
    parts = [keys, keys, keys, *ranks, *["value_rank"] * layer.has("value_residual")]
    state, flops = f"{LINEAR_STATE}*state_bytes_per_element", f"8 FLOP*{LINEAR_STATE}"
    held, norm = f"7*d_model + 3*{keys}", f"2*{keys}"
    yield from _recurrence(layer, parts, keys, state, flops, held=held, norm=norm)
    yield from gemm("ssm_dt", "decay_rank", keys, bias=keys)
    yield from gemm("ssm_x", "erase_rank", keys, bias=keys)
    yield from gemm("ssm_gate", "gate_rank", keys)
    if layer.has("value_residual"):
        yield from gemm("ssm_value", "value_rank", keys, bias=keys)
    yield OperatorRow("conv", "state", "2*d_model*act_bytes_per_element", "state_moves")


def linear(layer: Layer) -> Iterator[OperatorRow]:
    """Linear attention with a fixed decay a head (Lightning Attention, arXiv 2401.04658), its result normalised and
    gated. Its state has the width of activations."""
    values = "linear_value_heads*linear_value_dim"
    inputs = f"2*linear_key_heads*linear_key_dim + 2*{values}"
    state, flops = f"{LINEAR_STATE}*act_bytes_per_element", f"4 FLOP*{LINEAR_STATE}"
    yield from _recurrence(layer, [inputs], values, state, flops, norm=values)


def short_conv(layer: Layer) -> Iterator[OperatorRow]:
    """A gated short convolution alone (LFM2): its state is the last tokens of its window."""
    yield from _recurrence(layer, ["3*d_model"], "d_model", conv="d_model", cut=True)


def dense(layer: Layer) -> Iterator[OperatorRow]:
    """Gated (three matrices) or plain (two): all but the last widen, the last narrows."""
    wide = "(ffn_matrices - 1)*d_ff"
    operator = "gate_up" if layer.feed_forward == "gated" else "up"
    parts = [MatrixShape("d_ff", "d_model", "ffn_matrices - 1")]
    bias = layer.only("ffn_bias", wide)
    yield from gemm(operator, "d_model", wide, bias=bias, parts=parts)
    if layer.has("learned_activation"):
        yield stored(operator, "2")
    if layer.has("inner_norm"):
        yield stored("norm", "d_ff")
    if layer.has("ffn_result_gate"):
        yield from gemm("ffn_gate", "d_model", "d_model", cut="outer")
    yield from gemm("down", "d_ff", "d_model", bias=layer.only("ffn_bias", "d_model"))


def experts(layer: Layer) -> Iterator[OperatorRow]:
    """A router and ``n_experts`` small feed-forward layers, of which a token sees ``experts_per_token``; beside them,
    where there are any, shared ones that every token sees (DeepSeekMoE, arXiv 2401.06066). Experts that compute nothing
    (LongCat-Flash, arXiv 2509.01322) only have a place in the router: ``experts_per_token`` is then the mean of the others."""
    routes = "n_experts + n_zero_experts" if layer.has("zero_experts") else "n_experts"
    yield from gemm("router", "d_model", routes, bias=layer.only("router_bias", routes))
    matrices = 2 if layer.has("plain_experts") else 3
    width = "d_latent" if layer.has("expert_latent") else "d_model"
    yield from (replace(row, pooled=True) for row in _routed(layer, matrices, width))
    if layer.has("expert_latent"):
        for operator, inner, outer in (
            ("latent_down", "d_model", "d_latent"),
            ("latent_up", "d_latent", "d_model"),
        ):
            yield from gemm(operator, inner, outer, bias=layer.only("shared_bias", outer))
    if layer.has("latent_norm"):
        yield stored("latent_norm", "d_latent")
    if layer.has("shared_expert"):
        wide = "n_shared_experts*d_shared"
        bias = layer.only("shared_bias", f"{matrices - 1}*{wide} + d_model")
        elements = f"{matrices}*d_model*{wide}"
        yield from matrix("shared_experts", elements, _narrowed(matrices, wide), bias)
        yield from product("shared_experts", elements, _moved(matrices, wide))
    if layer.has("shared_gate"):
        yield from gemm("shared_gate", "d_model", "1")


def _routed(layer: Layer, matrices: int, width: str) -> Iterator[OperatorRow]:
    """The routed experts: all are held, those that tokens draw are read, each token's multiply."""
    one = f"{matrices}*{width}*d_expert"
    shapes = _narrowed(matrices, "d_expert", width, "n_experts")
    yield OperatorRow("experts", "params", one, "experts_held", shapes=shapes)
    if layer.has("ffn_bias"):
        yield stored("experts", f"{matrices - 1}*d_expert + {width}", "experts_held")
    yield OperatorRow("experts", "weights", f"{one}*weight_bytes_per_param", "experts_read")
    moved = f"experts_per_token*({_moved(matrices, 'd_expert', width)})"
    yield from product("experts", f"experts_per_token*{one}", moved)


def _narrowed(
    matrices: int, inner: str, width: str = "d_model", times: str = "1"
) -> tuple[MatrixShape, MatrixShape]:
    """The matrices that widen and the one that narrows, of so many experts."""
    return MatrixShape(inner, width, f"{matrices - 1}*{times}"), MatrixShape(width, inner, times)


def _moved(matrices: int, inner: str, width: str = "d_model") -> str:
    """Elements that go into and come out of the widening product and the narrowing one."""
    return f"2*{width} + {matrices}*{inner}"


def nothing(layer: Layer) -> Iterator[OperatorRow]:
    """No operator at all."""
    yield from ()


MIXERS = {
    "gqa": gqa,
    "mla": mla,
    "mamba": mamba,
    "mamba2": mamba2,
    "rg_lru": rg_lru,
    "rwkv4": rwkv4,
    "linear": linear,
    "gated_delta": gated_delta,
    "kimi_delta": kimi_delta,
    "conv": short_conv,
    "compressed": compressed,
    "shared": shared_block,
    "rwkv7": rwkv7,
}
FEED_FORWARDS = {"gated": dense, "plain": dense, "moe": experts, "none": nothing}
