"""Families of dense layers with root-mean-square norms: attention in its forms, windows, one gated block."""

from collections.abc import Mapping

from symroof.specs.checkpoints.config_fields import Config
from symroof.specs.checkpoints.family import TIED, V5, Family, sizes
from symroof.specs.checkpoints.layer_layouts import (
    each,
    full_every,
    full_every_where_windowed,
    typed,
    windowed,
    windowed_after,
    windowed_without_rope,
)
from symroof.specs.checkpoints.recipes import (
    BIASES,
    FLOORED,
    GATED,
    GROUPED,
    MLP_BIAS,
    PLAIN,
    QKV_BIAS,
    even_share,
    flag,
    normed_if,
    own_share,
)

NO_BIAS = {"attention_bias": False, "mlp_bias": False}
LLAMA_SIZES = sizes(32000, 4096, 11008, 32, 32, None, **NO_BIAS)
LLAMA_ATTENTION, LLAMA_FFN = {**GROUPED, **BIASES}, {**GATED, **MLP_BIAS}
FLOORED_BIASES = {**FLOORED, **BIASES}
GEMMA_SIZES = sizes(
    256000, 2304, 9216, 26, 8, 4, head_dim=256, attention_bias=False, sliding_window=4096, **TIED
)
QWEN_WINDOW = {"use_sliding_window": False, "sliding_window": 4096, "max_window_layers": 28}
QWEN_VL_SIZES = sizes(
    152064,
    8192,
    29568,
    80,
    64,
    8,
    use_sliding_window=False,
    sliding_window=4096,
    max_window_layers=80,
)
QWEN2_ATTENTION = {**FLOORED, "qkv_bias": True}


def whole_residual(c: Config, i: int) -> int:
    """Helium: the heads make up the residual, since its output projection is a square; anything else is an error."""
    width, n_heads, head = (
        c.whole("hidden_size"),
        c.whole("num_attention_heads"),
        c.whole("head_dim"),
    )
    if n_heads * head != width:
        c.fail("head_dim", f"{n_heads} heads of {head} are not hidden_size {width}")
    return head


DENSE_FAMILIES: Mapping[str, Family] = {
    "llama": Family(f"LlamaConfig of {V5}", LLAMA_SIZES, LLAMA_ATTENTION, ffn=LLAMA_FFN),
    "mistral": Family(f"MistralConfig of {V5}", sizes(32000, 4096, 14336, 32, 32, 8, sliding_window=4096), FLOORED, mixing=each(windowed)),
    "ministral": Family(f"MinistralConfig of {V5}", sizes(32000, 4096, 14336, 32, 32, 8, sliding_window=4096), FLOORED, mixing=typed(windowed)),
    "ministral3": Family(f"Ministral3Config of {V5}", sizes(131072, 4096, 14336, 34, 32, 8, head_dim=128, sliding_window=None), FLOORED, mixing=each(windowed)),
    "qwen2": Family(f"Qwen2Config of {V5}", sizes(151936, 4096, 22016, 32, 32, 32, **QWEN_WINDOW), QWEN2_ATTENTION, mixing=typed(windowed_after)),
    "qwen2_vl_text": Family(f"Qwen2VLTextConfig of {V5}", QWEN_VL_SIZES, {**QWEN2_ATTENTION, "head_dim": even_share}, mixing=typed(windowed_after)),
    "qwen2_5_vl_text": Family(f"Qwen2_5_VLTextConfig of {V5}", QWEN_VL_SIZES, {**QWEN2_ATTENTION, "head_dim": even_share}, mixing=typed(windowed_after)),
    "qwen2_5_omni_text": Family(
        f"Qwen2_5OmniTextConfig of {V5}", sizes(152064, 3584, 18944, 28, 28, 4, use_sliding_window=False, sliding_window=32768, max_window_layers=28),
        QWEN2_ATTENTION, mixing=typed(windowed_after),
    ),
    "qwen3": Family(
        f"Qwen3Config of {V5}", sizes(151936, 4096, 22016, 32, 32, 32, head_dim=128, attention_bias=False, **QWEN_WINDOW),
        {**FLOORED_BIASES, "qk_norm": "head"}, mixing=typed(windowed_after),
    ),
    "qwen3_vl_text": Family(
        f"Qwen3VLTextConfig of {V5}", sizes(151936, 4096, 22016, 32, 32, 32, head_dim=128, attention_bias=False), {**FLOORED_BIASES, "qk_norm": "head"},
    ),
    "gemma": Family(f"GemmaConfig of {V5}", sizes(256000, 3072, 24576, 28, 16, 16, head_dim=256, attention_bias=False, **TIED), FLOORED_BIASES),
    "gemma2": Family(f"Gemma2Config of {V5}", GEMMA_SIZES, FLOORED_BIASES, mixing=typed(full_every(2)), norm={"per_layer": 4}),
    "gemma3_text": Family(
        f"Gemma3TextConfig of {V5}", GEMMA_SIZES | {"vocab_size": 262208, "sliding_window_pattern": 6},
        {**FLOORED_BIASES, "qk_norm": "head"}, mixing=typed(full_every("sliding_window_pattern")), norm={"per_layer": 4},
    ),
    "vaultgemma": Family(f"VaultGemmaConfig of {V5}", GEMMA_SIZES, FLOORED_BIASES, mixing=typed(full_every(2))),
    "phi3": Family(f"Phi3Config of {V5}", sizes(32064, 3072, 8192, 32, 32, None, sliding_window=None), FLOORED, mixing=each(windowed)),
    "olmo": Family(f"OlmoConfig of {V5}", sizes(50304, 4096, 11008, 32, 32, None, attention_bias=False), FLOORED_BIASES, norm={"kind": "none"}),
    "olmo2": Family(f"Olmo2Config of {V5}", sizes(50304, 4096, 11008, 32, 32, None, attention_bias=False), {**FLOORED_BIASES, "qk_norm": "full"}),
    "olmo3": Family(
        f"Olmo3Config of {V5}", sizes(50304, 4096, 11008, 32, 32, None, attention_bias=False, sliding_window=4096),
        {**FLOORED_BIASES, "qk_norm": "full"}, mixing=typed(full_every(4)),
    ),
    "glm": Family(f"GlmConfig of {V5}", sizes(151552, 4096, 13696, 40, 32, 2, head_dim=128, attention_bias=True), {**FLOORED, **QKV_BIAS}),
    "glm4": Family(
        f"Glm4Config of {V5}", sizes(151552, 4096, 13696, 40, 32, 2, head_dim=128, attention_bias=True), {**FLOORED, **QKV_BIAS}, norm={"per_layer": 4},
    ),
    "glm4v_text": Family(f"Glm4vTextConfig of {V5}", sizes(151552, 4096, 13696, 40, 32, 2), {**FLOORED, "head_dim": own_share, "qkv_bias": True}, norm={"per_layer": 4}),
    "granite": Family(f"GraniteConfig of {V5}", LLAMA_SIZES, FLOORED_BIASES, ffn=LLAMA_FFN),
    "internlm3": Family(
        f"InternLM3Config of {V5}", sizes(128512, 4096, 10240, 48, 32, 2, head_dim=128, **NO_BIAS), LLAMA_ATTENTION, ffn=LLAMA_FFN,
        names={"attention_bias": ("attention_bias", "qkv_bias"), "mlp_bias": ("mlp_bias", "bias")},
    ),
    "arcee": Family(
        f"ArceeConfig of {V5}", sizes(32000, 2560, 18432, 32, 32, None, **NO_BIAS), LLAMA_ATTENTION, ffn={**PLAIN, **MLP_BIAS},
    ),
    "helium": Family(
        f"HeliumConfig of {V5}", sizes(48000, 2560, 7040, 24, 20, 20, head_dim=128, **NO_BIAS), {**FLOORED, **QKV_BIAS, "head_dim": whole_residual}, ffn=LLAMA_FFN,
    ),
    "cwm": Family(
        f"CwmConfig of {V5}", sizes(128256, 6144, 21504, 64, 48, 8, head_dim=128, mlp_bias=False, sliding_window=8192),
        GROUPED, ffn=LLAMA_FFN, mixing=typed(full_every(4, first=True)),
    ),
    "seed_oss": Family(
        f"SeedOssConfig of {V5}", sizes(155136, 4096, 27648, 64, 80, 8, head_dim=128, attention_bias=True, attention_out_bias=False, mlp_bias=False),
        {**FLOORED, **QKV_BIAS, "out_bias": flag("attention_out_bias")}, ffn=LLAMA_FFN,
    ),
    "smollm3": Family(
        f"SmolLM3Config of {V5}", sizes(128256, 2048, 11008, 36, 16, 4, use_sliding_window=False, sliding_window=None, no_rope_layer_interval=4, **NO_BIAS, **TIED),
        FLOORED_BIASES, ffn=LLAMA_FFN, mixing=typed(windowed_without_rope),
    ),
    "exaone4": Family(
        f"Exaone4Config of {V5}", sizes(102400, 4096, 16384, 32, 32, 32, sliding_window=4096, sliding_window_pattern=4),
        {**FLOORED, "qk_norm": "head"}, mixing=typed(full_every_where_windowed("sliding_window_pattern")),
    ),
    "ernie4_5": Family(
        f"Ernie4_5Config of {V5}", sizes(103424, 1024, 3072, 18, 16, 2, use_bias=False, head_dim=128, **TIED),
        {**FLOORED, "qkv_bias": flag("use_bias"), "out_bias": flag("use_bias")}, ffn={**GATED, "bias": flag("use_bias")},
    ),
    "hunyuan_v1_dense": Family(
        f"HunYuanDenseV1Config of {V5}", sizes(290943, 4096, 11008, 32, 32, None, attention_bias=False), {**FLOORED_BIASES, "qk_norm": "head"},
    ),
    "cohere": Family(
        f"CohereConfig of {V5}", sizes(256000, 8192, 22528, 40, 64, None, attention_bias=False, use_qk_norm=False, **TIED),
        {**FLOORED_BIASES, "qk_norm": normed_if("use_qk_norm", "full")}, norm={"per_layer": 1},
    ),
    "cohere2": Family(
        f"Cohere2Config of {V5}", sizes(256000, 8192, 22528, 40, 64, None, attention_bias=False, sliding_window=4096, sliding_window_pattern=4, **TIED),
        FLOORED_BIASES, mixing=typed(full_every("sliding_window_pattern")), norm={"per_layer": 1},
    ),
    "apertus": Family(
        f"ApertusConfig of {V5}", sizes(131072, 4096, 14336, 32, 32, None, attention_bias=False), {**FLOORED_BIASES, "qk_norm": "head"}, ffn={**PLAIN, "learned_activation": True},
    ),
    "bitnet": Family(
        f"BitNetConfig of {V5}", sizes(128256, 2560, 6912, 30, 20, 5, attention_bias=False), {**FLOORED_BIASES, "result_norm": True}, ffn={**GATED, "inner_norm": True},
    ),
}  # fmt: skip
