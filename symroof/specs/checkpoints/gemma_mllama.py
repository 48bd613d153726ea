"""Families with parts of their own beside attention and feed-forward: vectors for each layer, shared caches, layers for images."""

from collections.abc import Mapping
from typing import Any

from symroof.specs.checkpoints.config_fields import Config
from symroof.specs.checkpoints.family import TIED, V5, V524, Family, sizes
from symroof.specs.checkpoints.layer_layouts import (
    DENSE,
    FULL,
    MIXERS,
    SLIDING,
    SPARSE,
    Layout,
    Rule,
    each,
    full_every,
    indices,
)
from symroof.specs.checkpoints.recipes import (
    BIASES,
    FLOORED,
    GATED,
    WINDOW,
    Recipe,
    experts,
    flag,
    grouped,
    heads,
    kv_heads,
    layered,
    own_share,
)

SHARED, CROSS = "shared_", "cross_attention"
NORMED: Recipe = {**FLOORED, **BIASES, "qk_norm": "head"}
OWN_SHARE: Recipe = {**FLOORED, "head_dim": own_share}
SHARES: Recipe = {"shares_kv": True}


def shared_at_the_end(rule: Rule, last_full: bool = False) -> Layout:
    """Kinds by a list or a rule; the last ``num_kv_shared_layers`` have keys and values of earlier layers."""

    def layout(c: Config) -> list[str]:
        words = c.words("layer_types", MIXERS, c.n_layers) or each(rule)(c)
        if last_full and words[-1] != FULL:
            words = [*words[:-1], FULL]
        shared = c.maybe("num_kv_shared_layers", 0) or 0
        if shared >= c.n_layers:
            c.fail(
                "num_kv_shared_layers",
                f"{shared} leaves no layer of {c.n_layers} that makes keys and values",
            )
        return [SHARED + word if i >= c.n_layers - shared else word for i, word in enumerate(words)]

    return layout


def with_shared(full: Recipe, sliding: Recipe) -> Mapping[str, Recipe]:
    """Both kinds of attention, each with keys and values of its own or with an earlier layer's."""
    own = {FULL: full, SLIDING: {**sliding, **WINDOW}}
    return own | {SHARED + word: {**recipe, **SHARES} for word, recipe in own.items()}


def layer_inputs(c: Config, i: int) -> dict[str, Any] | None:
    """The table of vectors for each layer; a width of 0 is none."""
    width = c.maybe("hidden_size_per_layer_input", 0)
    return {"vocab_size": c.whole("vocab_size_per_layer_input"), "width": width} if width else None


def altup(c: Config, i: int) -> dict[str, int]:
    return {"inputs": c.whole("altup_num_inputs", least=2), "laurel_rank": c.whole("laurel_rank")}


def global_kv_heads(c: Config, i: int) -> int:
    """Gemma 4: full layers have KV heads of their own number where their values are their keys."""
    own = (
        c.maybe("num_global_key_value_heads")
        if c.flag("attention_k_eq_v") and not c.states("per_layer_config")
        else None
    )
    return grouped(c, heads(c), own, "num_global_key_value_heads") if own else kv_heads(c)


def global_head_dim(c: Config, i: int) -> int:
    """Gemma 4: the width of a head of full layers; newer files give each of them its own."""
    return c.whole("head_dim" if c.states("per_layer_config") else "global_head_dim")


def wider_where_shared(c: Config, i: int) -> int:
    """Gemma 4: the feed-forward width, doubled in layers without keys of their own where the file says so."""
    shared = i >= c.n_layers - (c.maybe("num_kv_shared_layers", 0) or 0)
    return c.whole("intermediate_size") * (2 if shared and c.flag("use_double_wide_mlp") else 1)


def gemma4_norms(c: Config, i: int) -> int:
    """Four; one after the layer's own vector; three around the experts, and the router's scale, which is as long as one."""
    return (
        4
        + (c.maybe("hidden_size_per_layer_input", 0) is not None and layer_inputs(c, i) is not None)
        + 4 * c.flag("enable_moe_block")
    )


GEMMA4_FULL: Recipe = {
    **NORMED,
    "head_dim": global_head_dim,
    "n_kv_heads": global_kv_heads,
    "value_is_key": flag("attention_k_eq_v"),
}

GEMMA_MLLAMA_FAMILIES: Mapping[str, Family] = {
    "gemma3n_text": Family(
        f"Gemma3nTextConfig of {V5}",
        sizes(262400, 2048, 16384, 35, 8, 2, head_dim=256, attention_bias=False, sliding_window=512, vocab_size_per_layer_input=262144,
              hidden_size_per_layer_input=256, altup_num_inputs=4, num_kv_shared_layers=15, laurel_rank=64) | TIED,
        NORMED, mixers=with_shared(NORMED, NORMED), ffn={"kind": "gated", "d_ff": layered("intermediate_size")}, mixing=shared_at_the_end(full_every(5)),
        norm={"per_layer": 5}, outer={"layer_inputs": layer_inputs, "altup": altup},
    ),
    "gemma4_text": Family(
        f"Gemma4TextConfig of {V5}",
        sizes(262144, 2304, 9216, 30, 8, 4, head_dim=256, global_head_dim=512, attention_bias=False, sliding_window=512, vocab_size_per_layer_input=262144,
              hidden_size_per_layer_input=256, attention_k_eq_v=False, num_kv_shared_layers=0, enable_moe_block=False, use_double_wide_mlp=False) | TIED,
        NORMED, mixers=with_shared(GEMMA4_FULL, NORMED), ffn={"kind": "gated", "d_ff": wider_where_shared},
        experts=experts("num_experts", "moe_intermediate_size", router_bias=True, n_shared_experts=1, d_shared=wider_where_shared),
        mixing=shared_at_the_end(full_every(6), last_full=True), feeding=each(lambda c, i: SPARSE if c.flag("enable_moe_block") else DENSE),
        norm={"per_layer": gemma4_norms}, outer={"layer_inputs": layer_inputs}, names={"num_experts_per_tok": ("top_k_experts",)},
    ),
    "gemma4_unified_text": Family(
        f"Gemma4UnifiedTextConfig of {V524}",
        sizes(262144, 2304, 9216, 30, 8, 4, head_dim=256, global_head_dim=512, attention_bias=False, sliding_window=1024, attention_k_eq_v=False, num_kv_shared_layers=0,
              use_double_wide_mlp=False) | TIED,
        NORMED, mixers=with_shared(GEMMA4_FULL, NORMED), ffn={"kind": "gated", "d_ff": wider_where_shared}, mixing=shared_at_the_end(full_every(6), last_full=True),
        norm={"per_layer": 4},
    ),
    "mllama_text_model": Family(
        f"MllamaTextConfig of {V5}", sizes(128256, 4096, 14336, 40, 32, 8, cross_attention_layers=[3, 8, 13, 18, 23, 28, 33, 38]), OWN_SHARE,
        mixers={CROSS: {**OWN_SHARE, "qk_norm": "head", "images_only": True}}, ffn=GATED, mixing=each(indices("cross_attention_layers", CROSS, FULL)),
        outer={"more_embeddings": 8, "tied_embeddings": False},
    ),
}  # fmt: skip
