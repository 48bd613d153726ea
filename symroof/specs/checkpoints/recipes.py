"""Recipes: what the fields of a config make of a layer. A recipe maps a key of a layer kind to a constant or to a reader.

A reader is a function of the config and the number of the layer; None leaves the key out.
"""

from collections.abc import Callable, Mapping
from typing import Any

from symroof.specs.checkpoints.config_fields import MISSING, Config

Reader = Callable[[Config, int], Any]
Recipe = Mapping[str, Any]


def made(recipe: Recipe, c: Config, layer: int) -> dict[str, Any]:
    """A recipe with its readers run."""
    fields = {key: value(c, layer) if callable(value) else value for key, value in recipe.items()}
    return {key: value for key, value in fields.items() if value is not None}


def whole(name: str) -> Reader:
    """A whole number that must be there."""
    return lambda c, layer: c.whole(name)


def maybe(name: str, least: int = 1) -> Reader:
    """A whole number, or nothing; a 0 that is allowed is nothing too."""
    return lambda c, layer: c.maybe(name, least) or None


def layered(name: str) -> Reader:
    """A whole number, or a list of one for each layer."""
    return lambda c, layer: (
        entries[layer]
        if isinstance(c.raw(name), list) and (entries := c.wholes(name, c.n_layers, least=1))
        else c.whole(name)
    )


def flag(name: str) -> Reader:
    """True or false."""
    return lambda c, layer: c.flag(name)


def times(name: str, factor: int) -> Reader:
    """A width that is so many times another."""
    return lambda c, layer: factor * c.whole(name)


# ----------------------------------------------------------------------------------------------------------- attention


def heads(c: Config, layer: int = 0) -> int:
    return c.whole("num_attention_heads")


def kv_heads(c: Config, layer: int = 0) -> int:
    """KV heads: as many as query heads where the field is null, or absent and the class has no number of its own."""
    n_heads, n_kv_heads = heads(c), c.maybe("num_key_value_heads")
    if n_kv_heads is None:
        c.fill("num_key_value_heads", n_heads, "as many as num_attention_heads")
        return n_heads
    return grouped(c, n_heads, n_kv_heads, "num_key_value_heads")


def grouped(c: Config, n_heads: int, n_kv_heads: int, name: str) -> int:
    """KV heads that share out the query heads evenly."""
    if n_heads % n_kv_heads:
        origin = "" if c.states(name) else f", the default of {c.source},"
        c.fail(name, f"{n_kv_heads}{origin} does not divide num_attention_heads {n_heads}")
    return n_kv_heads


def head_dim(c: Config, layer: int = 0) -> int:
    """The width of a head; where the field is null or absent, an even share of the residual width."""
    return c.maybe("head_dim") or even_share(c)


def even_share(c: Config, layer: int = 0) -> int:
    """``hidden_size // num_attention_heads``, with an error where it does not come out even."""
    width, n_heads = c.whole("hidden_size"), heads(c)
    if width % n_heads:
        c.fail(
            "hidden_size",
            f"{width} is not a multiple of num_attention_heads {n_heads}, and no head_dim is given",
        )
    c.fill("head_dim", width // n_heads, "hidden_size / num_attention_heads")
    return width // n_heads


def floor_share(c: Config, layer: int = 0) -> int:
    """The width of a head in classes that round it down where it does not come out even."""
    return c.maybe("head_dim") or own_share(c)


def own_share(c: Config, layer: int = 0) -> int:
    """The same in classes that do not look at ``head_dim``."""
    width, n_heads = c.whole("hidden_size"), heads(c)
    if width < n_heads:
        c.fail(
            "num_attention_heads", f"{n_heads} heads leave nothing of hidden_size {width} for one"
        )
    c.fill(
        "head_dim",
        width // n_heads,
        "hidden_size // num_attention_heads" + (", rounded down" if width % n_heads else ""),
    )
    return width // n_heads


GROUPED: Recipe = {"kind": "gqa", "n_heads": heads, "n_kv_heads": kv_heads, "head_dim": head_dim}
FLOORED: Recipe = {**GROUPED, "head_dim": floor_share}
MULTI_HEAD: Recipe = {**GROUPED, "n_kv_heads": heads, "head_dim": even_share}
QKV_BIAS: Recipe = {"qkv_bias": flag("attention_bias")}
BIASES: Recipe = {"qkv_bias": flag("attention_bias"), "out_bias": flag("attention_bias")}
ALL_BIASES: Recipe = {"qkv_bias": True, "out_bias": True}
WINDOW: Recipe = {"window": whole("sliding_window")}
CHUNK: Recipe = {"kind": "chunked", "chunk_size": whole("attention_chunk_size")}

LATENT: Recipe = {
    "kind": "mla", "n_heads": heads, "kv_lora_rank": whole("kv_lora_rank"), "q_lora_rank": maybe("q_lora_rank"), "qk_nope_dim": whole("qk_nope_head_dim"),
    "qk_rope_dim": whole("qk_rope_head_dim"), "value_dim": whole("v_head_dim"), "qkv_bias": flag("attention_bias"), "out_bias": flag("attention_bias"),
}  # fmt: skip

# -------------------------------------------------------------------------------------------------------- recurrences


def dt_rank(c: Config, layer: int = 0) -> int:
    """The width through which step sizes come: a number, or ``auto`` for a sixteenth of the residual's."""
    if c.raw("time_step_rank") == "auto":
        rank = -(-c.whole("hidden_size") // 16)
        c.fill(c.spellings("time_step_rank")[0], rank, "auto: hidden_size / 16, rounded up")
        return rank
    return c.whole("time_step_rank")


def inner(c: Config, layer: int = 0) -> int:
    """Channels of a state space: the file's own number, or so many times the residual width."""
    return c.maybe("intermediate_size") or c.whole("expand") * c.whole("hidden_size")


def shared_out(c: Config, layer: int = 0) -> int:
    """Channels of a Mamba-2 layer, which its heads share out evenly."""
    width, n_heads = c.whole("expand") * c.whole("hidden_size"), c.whole("num_heads")
    width_of_one = None if c.raw("mamba_head") in ("auto", MISSING) else c.maybe("mamba_head")
    if width % n_heads or (width_of_one is not None and width_of_one * n_heads != width):
        each_ = f" heads of {width_of_one}" if width_of_one is not None else " heads"
        c.fail("num_heads", f"{n_heads}{each_} do not make up the {width} channels of the state")
    return width


STATE_BIASES: Recipe = {
    "in_bias": flag("use_bias"),
    "out_bias": flag("use_bias"),
    "conv_bias": flag("use_conv_bias"),
}
MAMBA: Recipe = {
    "kind": "mamba",
    "d_inner": inner,
    "d_state": whole("state_size"),
    "d_conv": whole("conv_kernel"),
    "dt_rank": dt_rank,
    **STATE_BIASES,
}
MAMBA2: Recipe = {
    "kind": "mamba2", "d_inner": shared_out, "d_state": whole("state_size"), "d_conv": whole("conv_kernel"), "ssm_heads": whole("num_heads"),
    "ssm_groups": whole("n_groups"), **STATE_BIASES,
}  # fmt: skip
LINEAR_ATTENTION: Recipe = {
    "kind": "linear", "linear_key_heads": heads, "linear_value_heads": heads, "linear_key_dim": floor_share, "linear_value_dim": floor_share,
}  # fmt: skip

# ------------------------------------------------------------------------------------------------------- feed-forward

GATED: Recipe = {"kind": "gated", "d_ff": whole("intermediate_size")}
PLAIN: Recipe = {"kind": "plain", "d_ff": whole("intermediate_size")}
NO_FEED: Recipe = {"kind": "none"}
MLP_BIAS: Recipe = {"bias": flag("mlp_bias")}


def n_experts(name: str) -> Reader:
    """The experts of a layer: at least as many as one token is sent to."""

    return lambda c, layer: at_least_taken(c, "num_experts_per_tok", name, layer)


def at_least_taken(c: Config, taken: str, name: str, layer: int = 0) -> int:
    """Experts there are, checked against those one token is sent to."""
    drawn, number = layered(taken)(c, layer), layered(name)(c, layer)
    if drawn > number:
        c.fail(taken, f"{drawn} is more than {name} {number}")
    return int(number)


def experts(count: str, width: str, **more: Any) -> Recipe:
    """A mixture of experts by the fields that hold how many there are and how wide one is."""
    return {
        "kind": "moe",
        "n_experts": n_experts(count),
        "experts_per_token": layered("num_experts_per_tok"),
        "d_expert": whole(width),
        **more,
    }


def shared(count: str, width: str) -> Recipe:
    """Shared experts by the fields of their number and of the width of one; 0 or null is none."""
    return {
        "n_shared_experts": maybe(count, 0),
        "d_shared": lambda c, layer: c.whole(width) if c.maybe(count, 0) else None,
    }


def times_shared(count: str, width: str) -> Recipe:
    """Shared experts that are one block, so many times as wide."""
    return {
        "n_shared_experts": lambda c, layer: 1 if c.maybe(count, 0) else None,
        "d_shared": lambda c, layer: (c.maybe(count, 0) or 0) * c.whole(width) or None,
    }


def one_shared(width: str) -> Recipe:
    """One shared expert of a width of its own; 0 or null is none."""
    return {
        "n_shared_experts": lambda c, layer: 1 if c.maybe(width, 0) else None,
        "d_shared": maybe(width, 0),
    }


def four_times(name: str) -> Reader:
    """The feed-forward width, four times the residual's where the file does not say."""

    def read(c: Config, layer: int) -> int:
        width = c.maybe(name)
        if width is None:
            width = 4 * c.whole("hidden_size")
            c.fill(name, width, "4 * hidden_size")
        return width

    return read


# -------------------------------------------------------------------------------------------------------------- norms


def normed_if(name: str, how: str) -> Reader:
    """Queries and keys are normalised where a field says so."""
    return lambda c, layer: how if c.flag(name) else "none"


RMS: Recipe = {"kind": "rms", "per_layer": 2}
LAYER_NORM: Recipe = {"kind": "layer", "per_layer": 2}
