"""Families whose layers are all attention and one feed-forward block, whatever windows the attention has."""

from __future__ import annotations

from collections.abc import Mapping

from symroof.specs.families.config_json import Config
from symroof.specs.families.family import Family
from symroof.specs.families.layouts import each, full_every, typed, windowed, windowed_after
from symroof.specs.families.recipes import BIASES, FLOORED, GATED, GROUPED, MLP_BIAS, Reader, even_share, flag, heads, kv_heads

V5 = "transformers 5.23.0"


def falcon_kv_heads(c: Config, i: int) -> int:
    """Falcon: the new decoder has its own number, the old one KV head or as many as heads."""
    if c.flag("new_decoder_architecture"):
        return kv_heads(c)
    return 1 if c.flag("multi_query") else heads(c)


def falcon_norms(c: Config, i: int) -> int:
    """Falcon: one norm where attention and feed-forward stand side by side on it, unless each has its own."""
    given = c.maybe("num_ln_in_parallel_attn")
    two = given == 2 if given is not None else c.flag("new_decoder_architecture")
    return 2 if two or not c.flag("parallel_attn") else 1


def four_times(name: str) -> Reader:
    """The feed-forward width, four times the residual's where the file does not say."""

    def read(c: Config, i: int) -> int:
        found = c.maybe(name)
        if found is None:
            found = 4 * c.whole("hidden_size")
            c.fill(name, found, "4 * hidden_size")
        return found

    return read


def sizes(vocab: int, width: int, inner: int, layers: int, heads: int, kv_heads: int | None, **more: object) -> dict[str, object]:
    """The defaults nearly every class has."""
    return {
        "vocab_size": vocab, "hidden_size": width, "intermediate_size": inner, "num_hidden_layers": layers,
        "num_attention_heads": heads, "num_key_value_heads": kv_heads, "tie_word_embeddings": False, **more,
    }  # fmt: skip


NO_BIAS = {"attention_bias": False, "mlp_bias": False}
TIED = {"tie_word_embeddings": True}
LLAMA_ATTENTION, LLAMA_FFN = {**GROUPED, **BIASES}, {**GATED, **MLP_BIAS}
GEMMA_SIZES = sizes(256000, 2304, 9216, 26, 8, 4, head_dim=256, attention_bias=False, sliding_window=4096, **TIED)
GPT_NAMES = {"num_attention_heads": ("num_attention_heads", "n_head"), "num_hidden_layers": ("num_hidden_layers", "n_layer")}
QWEN_WINDOW = {"use_sliding_window": False, "sliding_window": 4096, "max_window_layers": 28}

DENSE_FAMILIES: Mapping[str, Family] = {
    "llama": Family(f"LlamaConfig of {V5}", sizes(32000, 4096, 11008, 32, 32, None, **NO_BIAS), LLAMA_ATTENTION, ffn=LLAMA_FFN),
    "mistral": Family(f"MistralConfig of {V5}", sizes(32000, 4096, 14336, 32, 32, 8, sliding_window=4096), FLOORED, mixing=each(windowed)),
    "ministral": Family(f"MinistralConfig of {V5}", sizes(32000, 4096, 14336, 32, 32, 8, sliding_window=4096), FLOORED, mixing=typed(windowed)),
    "ministral3": Family(f"Ministral3Config of {V5}", sizes(131072, 4096, 14336, 34, 32, 8, head_dim=128, sliding_window=None), FLOORED, mixing=each(windowed)),
    "qwen2": Family(
        f"Qwen2Config of {V5}", sizes(151936, 4096, 22016, 32, 32, 32, **QWEN_WINDOW), {**FLOORED, "qkv_bias": True}, mixing=typed(windowed_after)
    ),
    "qwen3": Family(
        f"Qwen3Config of {V5}", sizes(151936, 4096, 22016, 32, 32, 32, head_dim=128, attention_bias=False, **QWEN_WINDOW),
        {**FLOORED, **BIASES, "qk_norm": "head"}, mixing=typed(windowed_after),
    ),
    "gemma": Family(f"GemmaConfig of {V5}", sizes(256000, 3072, 24576, 28, 16, 16, head_dim=256, attention_bias=False, **TIED), {**FLOORED, **BIASES}),
    "gemma2": Family(f"Gemma2Config of {V5}", GEMMA_SIZES | {"pattern": 2}, {**FLOORED, **BIASES}, mixing=typed(full_every("pattern")), norm={"per_layer": 4}),
    "gemma3_text": Family(
        f"Gemma3TextConfig of {V5}", GEMMA_SIZES | {"vocab_size": 262208, "sliding_window_pattern": 6},
        {**FLOORED, **BIASES, "qk_norm": "head"}, mixing=typed(full_every("sliding_window_pattern")), norm={"per_layer": 4},
    ),
    "falcon": Family(
        f"FalconConfig of {V5}",
        sizes(65024, 4544, 0, 32, 71, None, new_decoder_architecture=False, multi_query=True, parallel_attn=True, bias=False, **TIED),
        {**GROUPED, "n_kv_heads": falcon_kv_heads, "head_dim": even_share, "qkv_bias": flag("bias"), "out_bias": flag("bias")},
        ffn={"kind": "plain", "d_ff": four_times("ffn_hidden_size"), "bias": flag("bias")}, norm={"kind": "layer", "per_layer": falcon_norms},
        names={"hidden_size": ("n_embed", "hidden_size"), "num_key_value_heads": ("num_kv_heads",), **GPT_NAMES},
    ),
    "phi3": Family(f"Phi3Config of {V5}", sizes(32064, 3072, 8192, 32, 32, None, sliding_window=None), FLOORED, mixing=each(windowed)),
}  # fmt: skip
