"""Recipes: what the fields of a config make of a layer. A recipe maps a key of a layer kind to a constant or to a reader.

A reader is a function of the config and the number of the layer; None leaves the key out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from symroof.specs.families.config_json import Config

Reader = Callable[[Config, int], Any]
Recipe = Mapping[str, Any]


def made(recipe: Recipe, c: Config, layer: int) -> dict[str, Any]:
    """A recipe with its readers run."""
    found = {key: value(c, layer) if callable(value) else value for key, value in recipe.items()}
    return {key: value for key, value in found.items() if value is not None}


def whole(name: str) -> Reader:
    """A whole number that must be there."""
    return lambda c, layer: c.whole(name)


def maybe(name: str, least: int = 1) -> Reader:
    """A whole number, or nothing; a 0 that is allowed is nothing too."""
    return lambda c, layer: c.maybe(name, least) or None


def flag(name: str) -> Reader:
    """True or false."""
    return lambda c, layer: c.flag(name)


def unless(name: str) -> Reader:
    """False where the field is true."""
    return lambda c, layer: not c.flag(name)


def times(name: str, factor: int) -> Reader:
    """A width that is so many times another."""
    return lambda c, layer: factor * c.whole(name)


# ----------------------------------------------------------------------------------------------------------- attention


def heads(c: Config, layer: int = 0) -> int:
    return c.whole("num_attention_heads")


def kv_heads(c: Config, layer: int = 0) -> int:
    """KV heads: as many as query heads where the field is null, or absent and the class has no number of its own."""
    n_heads, found = heads(c), c.maybe("num_key_value_heads")
    if found is None:
        c.fill("num_key_value_heads", n_heads, "as many as num_attention_heads")
        return n_heads
    return grouped(c, n_heads, found, "num_key_value_heads")


def grouped(c: Config, n_heads: int, n_kv_heads: int, name: str) -> int:
    """KV heads that share out the query heads evenly."""
    if n_heads % n_kv_heads:
        given = "" if c.states(name) else f", the default of {c.source},"
        c.fail(name, f"{n_kv_heads}{given} does not divide num_attention_heads {n_heads}")
    return n_kv_heads


def head_dim(c: Config, layer: int = 0) -> int:
    """The width of a head; where the field is null or absent, an even share of the residual width."""
    return c.maybe("head_dim") or even_share(c)


def even_share(c: Config, layer: int = 0) -> int:
    """``hidden_size // num_attention_heads``, with an error where it does not come out even."""
    width, n_heads = c.whole("hidden_size"), heads(c)
    if width % n_heads:
        c.fail("hidden_size", f"{width} is not a multiple of num_attention_heads {n_heads}, and no head_dim is given")
    c.fill("head_dim", width // n_heads, "hidden_size / num_attention_heads")
    return width // n_heads


def floor_share(c: Config, layer: int = 0) -> int:
    """The width of a head in classes that round it down where it does not come out even."""
    found = c.maybe("head_dim")
    if found is None:
        width, n_heads = c.whole("hidden_size"), heads(c)
        if width < n_heads:
            c.fail("num_attention_heads", f"{n_heads} heads leave nothing of hidden_size {width} for one")
        found = width // n_heads
        c.fill("head_dim", found, "hidden_size // num_attention_heads" + (", rounded down" if width % n_heads else ""))
    return found


GROUPED: Recipe = {"kind": "gqa", "n_heads": heads, "n_kv_heads": kv_heads, "head_dim": head_dim}
FLOORED: Recipe = {**GROUPED, "head_dim": floor_share}
MULTI_HEAD: Recipe = {**GROUPED, "n_kv_heads": heads, "head_dim": even_share}
BIASES: Recipe = {"qkv_bias": flag("attention_bias"), "out_bias": flag("attention_bias")}
ALL_BIASES: Recipe = {"qkv_bias": True, "out_bias": True}
WINDOW: Recipe = {"window": whole("sliding_window")}
CHUNK: Recipe = {"kind": "chunked", "chunk_size": whole("attention_chunk_size")}

LATENT: Recipe = {
    "kind": "mla", "n_heads": heads, "kv_lora_rank": whole("kv_lora_rank"), "q_lora_rank": maybe("q_lora_rank"), "qk_nope_dim": whole("qk_nope_head_dim"),
    "qk_rope_dim": whole("qk_rope_head_dim"), "value_dim": whole("v_head_dim"), "qkv_bias": flag("attention_bias"), "out_bias": flag("attention_bias"),
}  # fmt: skip

# ------------------------------------------------------------------------------------------------------- feed-forward

GATED: Recipe = {"kind": "gated", "d_ff": whole("intermediate_size")}
PLAIN: Recipe = {"kind": "plain", "d_ff": whole("intermediate_size")}
NO_FEED: Recipe = {"kind": "none"}
MLP_BIAS: Recipe = {"bias": flag("mlp_bias")}


def n_experts(name: str) -> Reader:
    """The experts of a layer: at least as many as one token is sent to."""

    def read(c: Config, layer: int) -> int:
        taken, found = c.whole("num_experts_per_tok"), c.whole(name)
        if taken > found:
            c.fail("num_experts_per_tok", f"{taken} is more than {name} {found}")
        return found

    return read


def experts(count: str, width: str, **more: Any) -> Recipe:
    """A mixture of experts by the fields that hold how many there are and how wide one is."""
    return {"kind": "moe", "n_experts": n_experts(count), "experts_per_token": whole("num_experts_per_tok"), "d_expert": whole(width), **more}


def shared(count: str, width: str) -> Recipe:
    """Shared experts by the fields of their number and of the width of one; 0 or null is none."""
    return {"n_shared_experts": maybe(count, 0), "d_shared": lambda c, layer: c.whole(width) if c.maybe(count, 0) else None}


def one_shared(width: str) -> Recipe:
    """One shared expert of a width of its own; 0 or null is none."""
    return {"n_shared_experts": lambda c, layer: 1 if c.maybe(width, 0) else None, "d_shared": maybe(width, 0)}


# -------------------------------------------------------------------------------------------------------------- norms

RMS: Recipe = {"kind": "rms", "per_layer": 2}
LAYER_NORM: Recipe = {"kind": "layer", "per_layer": 2}
