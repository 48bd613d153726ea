"""Families with layer norms that have a bias, two feed-forward matrices, parallel blocks or learned positions."""

from collections.abc import Mapping

from symroof.specs.checkpoints.config_fields import Config
from symroof.specs.checkpoints.family import TIED, V5, V524, Family, sizes
from symroof.specs.checkpoints.layer_layouts import FULL, SLIDING, each, windowed
from symroof.specs.checkpoints.recipes import (
    ALL_BIASES,
    BIASES,
    FLOORED,
    GATED,
    GROUPED,
    LAYER_NORM,
    MLP_BIAS,
    MULTI_HEAD,
    PLAIN,
    even_share,
    flag,
    four_times,
    heads,
    kv_heads,
    normed_if,
    times,
    whole,
)

GPT_NAMES = {
    "hidden_size": ("n_embd", "hidden_size"), "num_attention_heads": ("n_head", "num_attention_heads"), "num_hidden_layers": ("n_layer", "num_hidden_layers"),
    "max_position_embeddings": ("n_positions", "max_position_embeddings"), "intermediate_size": ("n_inner",),
}  # fmt: skip
GPT_SIZES = {
    "vocab_size": 50257,
    "hidden_size": 768,
    "num_hidden_layers": 12,
    "num_attention_heads": 12,
    "max_position_embeddings": 1024,
    **TIED,
}
JAX_SIZES = {
    "vocab_size": 50400,
    "hidden_size": 4096,
    "num_hidden_layers": 28,
    "num_attention_heads": 16,
    "tie_word_embeddings": False,
}
POSITIONS = {"positions": whole("max_position_embeddings")}
WIDE = {"kind": "plain", "d_ff": four_times("intermediate_size"), "bias": True}
ONE_NORM = {"kind": "layer", "per_layer": 1}


def falcon_kv_heads(c: Config, i: int) -> int:
    """Falcon: the new decoder has its own number, the old one KV head or as many as heads."""
    if c.flag("new_decoder_architecture"):
        return kv_heads(c)
    return 1 if c.flag("multi_query") else heads(c)


def falcon_norms(c: Config, i: int) -> int:
    """Falcon: one norm where attention and feed-forward run in parallel, unless each has its own."""
    number = c.maybe("num_ln_in_parallel_attn")
    two = number == 2 if number is not None else c.flag("new_decoder_architecture")
    return 2 if two or not c.flag("parallel_attn") else 1


def opt_norm(c: Config, i: int) -> str:
    return "layer" if c.flag("layer_norm_elementwise_affine") else "none"


def opt_final(c: Config, i: int) -> bool:
    return c.flag("do_layer_norm_before") and not c.flag("_remove_final_layer_norm")


def opt_embedding(c: Config, i: int) -> int | None:
    """The width of OPT's tables, where it is not the residual's."""
    width = c.maybe("word_embed_proj_dim")
    return width if width != c.whole("hidden_size") else None


def local_by_type(c: Config, i: int) -> str:
    """GPT-Neo: ``attention_types`` holds pairs of a pattern and how often it is repeated."""
    words: list[str] = []
    for entry in c.listed("attention_types") or [[["global", "local"], 12]]:
        if not (
            isinstance(entry, list)
            and len(entry) == 2
            and isinstance(entry[0], list)
            and isinstance(entry[1], int)
            and 0 < entry[1] <= c.n_layers
        ):
            c.fail(
                "attention_types", "expected pairs of a list of words and how often it is repeated"
            )
        words += [str(word) for word in entry[0]] * entry[1]
        if len(words) > c.n_layers or not set(words) <= {"global", "local"}:
            break
    if len(words) != c.n_layers or not set(words) <= {"global", "local"}:
        c.fail(
            "attention_types", f"does not say 'global' or 'local' for each of {c.n_layers} layers"
        )
    return SLIDING if words[i] == "local" else FULL


def alone(c: Config, i: int) -> int:
    """GPT-2: the heads of a decoder by itself; one that reads an encoder's output has more, which is an error."""
    if c.flag("add_cross_attention"):
        c.fail("add_cross_attention", "a decoder that reads an encoder's output is not read")
    return heads(c)


OLDER_FAMILIES: Mapping[str, Family] = {
    "gpt2": Family(f"GPT2Config of {V5}", GPT_SIZES, {**MULTI_HEAD, **ALL_BIASES, "n_heads": alone}, ffn=WIDE, norm=LAYER_NORM, outer=POSITIONS, names=GPT_NAMES),
    "gpt_bigcode": Family(
        f"GPTBigCodeConfig of {V5}", GPT_SIZES | {"multi_query": True},
        {**MULTI_HEAD, **ALL_BIASES, "n_kv_heads": lambda c, i: 1 if c.flag("multi_query") else heads(c)},
        ffn=WIDE, norm=LAYER_NORM, outer=POSITIONS, names=GPT_NAMES,
    ),
    "gpt_neo": Family(
        f"GPTNeoConfig of {V5}",
        {"vocab_size": 50257, "hidden_size": 2048, "num_hidden_layers": 24, "num_attention_heads": 16, "max_position_embeddings": 2048, "sliding_window": 256, **TIED},
        {**MULTI_HEAD, "out_bias": True}, ffn=WIDE, norm=LAYER_NORM, outer=POSITIONS, mixing=each(local_by_type),
        names={"num_attention_heads": ("num_heads", "num_attention_heads"), "num_hidden_layers": ("num_layers", "num_hidden_layers"), "sliding_window": ("window_size",)},
    ),
    "gptj": Family(f"GPTJConfig of {V5}", JAX_SIZES, MULTI_HEAD, ffn=WIDE, norm=ONE_NORM, outer={"head_bias": True}, names=GPT_NAMES),
    "codegen": Family(f"CodeGenConfig of {V5}", JAX_SIZES, MULTI_HEAD, ffn=WIDE, norm=ONE_NORM, outer={"head_bias": True}, names=GPT_NAMES),
    "gpt_neox": Family(
        f"GPTNeoXConfig of {V5}",
        {"vocab_size": 50432, "hidden_size": 6144, "intermediate_size": 24576, "num_hidden_layers": 44, "num_attention_heads": 64, "attention_bias": True,
         "tie_word_embeddings": False},
        {**MULTI_HEAD, **BIASES}, ffn={**PLAIN, "bias": True}, norm=LAYER_NORM,
    ),
    "opt": Family(
        f"OPTConfig of {V5}",
        {"vocab_size": 50272, "hidden_size": 768, "ffn_dim": 3072, "num_hidden_layers": 12, "num_attention_heads": 12, "max_position_embeddings": 2048,
         "enable_bias": True, "layer_norm_elementwise_affine": True, "do_layer_norm_before": True, "_remove_final_layer_norm": False, **TIED},
        {**MULTI_HEAD, "qkv_bias": flag("enable_bias"), "out_bias": flag("enable_bias")}, ffn={"kind": "plain", "d_ff": whole("ffn_dim"), "bias": flag("enable_bias")},
        norm={"kind": opt_norm, "per_layer": 2, "final": opt_final},
        outer={"positions": lambda c, i: c.whole("max_position_embeddings") + 2, "d_embedding": opt_embedding},
    ),
    "bloom": Family(
        f"BloomConfig of {V5}", {"vocab_size": 250880, "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 8, **TIED},
        {**MULTI_HEAD, **ALL_BIASES}, ffn={"kind": "plain", "d_ff": times("hidden_size", 4), "bias": True}, norm={**LAYER_NORM, "embedding": True},
        names={**GPT_NAMES, "hidden_size": ("n_embed", "hidden_size")},
    ),
    "mpt": Family(
        f"MptConfig of {V5}", {"vocab_size": 50368, "hidden_size": 2048, "num_hidden_layers": 24, "num_attention_heads": 16, **TIED},
        MULTI_HEAD, ffn={"kind": "plain", "d_ff": times("hidden_size", 4)},
        names={"hidden_size": ("d_model", "hidden_size"), "num_attention_heads": ("n_heads", "num_attention_heads"),
               "num_hidden_layers": ("n_layers", "num_hidden_layers"), "max_position_embeddings": ("max_seq_len",)},
    ),
    "falcon": Family(
        f"FalconConfig of {V5}",
        {"vocab_size": 65024, "hidden_size": 4544, "num_hidden_layers": 32, "num_attention_heads": 71, "new_decoder_architecture": False, "multi_query": True,
         "parallel_attn": True, "bias": False, **TIED},
        {**MULTI_HEAD, "n_kv_heads": falcon_kv_heads, "qkv_bias": flag("bias"), "out_bias": flag("bias")},
        ffn={"kind": "plain", "d_ff": four_times("ffn_hidden_size"), "bias": flag("bias")}, norm={"kind": "layer", "per_layer": falcon_norms},
        names={**GPT_NAMES, "hidden_size": ("n_embed", "hidden_size"), "num_key_value_heads": ("num_kv_heads",)},
    ),
    "phi": Family(
        f"PhiConfig of {V5}", sizes(51200, 2048, 8192, 24, 32, None, qk_layernorm=False), {**FLOORED, **ALL_BIASES, "qk_norm": normed_if("qk_layernorm", "head_bias")},
        ffn={**PLAIN, "bias": True}, norm=ONE_NORM, outer={"head_bias": True},
    ),
    "persimmon": Family(
        f"PersimmonConfig of {V5}", sizes(262144, 4096, 16384, 36, 64, None, qk_layernorm=True),
        {**MULTI_HEAD, **ALL_BIASES, "qk_norm": normed_if("qk_layernorm", "head_bias")}, ffn={**PLAIN, "bias": True}, norm=LAYER_NORM,
        names={"num_key_value_heads": ()},  # the class has no such field
    ),
    "stablelm": Family(
        f"StableLmConfig of {V5}", sizes(50304, 2560, 6912, 32, 32, 32, use_qkv_bias=False, qk_layernorm=False, use_parallel_residual=False),
        {**GROUPED, "head_dim": even_share, "qkv_bias": flag("use_qkv_bias"), "qk_norm": normed_if("qk_layernorm", "full")}, ffn=GATED,
        norm={"kind": "layer", "per_layer": lambda c, i: 1 if c.flag("use_parallel_residual") else 2},
    ),
    "starcoder2": Family(
        f"Starcoder2Config of {V5}", sizes(49152, 3072, 12288, 30, 24, 2, sliding_window=None, use_bias=True) | TIED,
        {**FLOORED, "qkv_bias": flag("use_bias"), "out_bias": flag("use_bias")}, ffn={**PLAIN, "bias": flag("use_bias")}, norm=LAYER_NORM, mixing=each(windowed),
    ),
    "nemotron": Family(
        f"NemotronConfig of {V5}", sizes(256000, 6144, 24576, 32, 48, None, attention_bias=False, mlp_bias=False), {**FLOORED, **BIASES},
        ffn={**PLAIN, **MLP_BIAS}, norm=LAYER_NORM,
    ),
    "gpt_neox_japanese": Family(
        f"GPTNeoXJapaneseConfig of {V524}",
        {"vocab_size": 32000, "hidden_size": 2560, "intermediate_multiple_size": 4, "num_hidden_layers": 32, "num_attention_heads": 32, **TIED},
        {**MULTI_HEAD, "out_bias": lambda c, i: i == c.n_layers - 1},  # the biases of the others are no parameters
        ffn={"kind": "plain", "d_ff": lambda c, i: c.whole("hidden_size") * c.whole("intermediate_multiple_size")}, norm=LAYER_NORM,
    ),
    "openai-gpt": Family(
        f"OpenAIGPTConfig of {V524}", {**GPT_SIZES, "vocab_size": 40478, "max_position_embeddings": 512}, {**MULTI_HEAD, **ALL_BIASES},
        ffn={"kind": "plain", "d_ff": times("hidden_size", 4), "bias": True}, norm={**LAYER_NORM, "final": False}, outer=POSITIONS, names=GPT_NAMES,
    ),
    "ctrl": Family(
        f"CTRLConfig of {V524}", {"vocab_size": 246534, "hidden_size": 1280, "dff": 8192, "num_hidden_layers": 48, "num_attention_heads": 16, **TIED},
        {**MULTI_HEAD, **ALL_BIASES}, ffn={"kind": "plain", "d_ff": whole("dff"), "bias": True}, norm=LAYER_NORM, outer={"head_bias": True}, names=GPT_NAMES,
    ),
    "xglm": Family(
        f"XGLMConfig of {V524}", {"vocab_size": 256008, "hidden_size": 1024, "ffn_dim": 4096, "num_hidden_layers": 24, "num_attention_heads": 16, **TIED},
        {**MULTI_HEAD, **ALL_BIASES}, ffn={"kind": "plain", "d_ff": whole("ffn_dim"), "bias": True}, norm=LAYER_NORM,
        names={"hidden_size": ("d_model", "hidden_size"), "num_hidden_layers": ("num_layers", "num_hidden_layers"),
               "num_attention_heads": ("attention_heads", "num_attention_heads")},
    ),
    "biogpt": Family(
        f"BioGptConfig of {V524}",
        {"vocab_size": 42384, "hidden_size": 1024, "intermediate_size": 4096, "num_hidden_layers": 24, "num_attention_heads": 16, "max_position_embeddings": 1024, **TIED},
        {**MULTI_HEAD, **ALL_BIASES}, ffn={**PLAIN, "bias": True}, norm=LAYER_NORM, outer={"positions": lambda c, i: c.whole("max_position_embeddings") + 2},
    ),
    "jais2": Family(
        f"Jais2Config of {V5}", sizes(150272, 3328, 26624, 32, 26, None, attention_bias=True, mlp_bias=True), {**GROUPED, **BIASES},
        ffn={**PLAIN, **MLP_BIAS}, norm=LAYER_NORM,
    ),
}  # fmt: skip
