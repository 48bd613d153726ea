"""Families with experts in their layers, all of them or some; with latent attention too, which came with them."""

from collections.abc import Mapping

from symroof.specs.checkpoints.config_fields import Config
from symroof.specs.checkpoints.family import TIED, V5, Family, sizes
from symroof.specs.checkpoints.layer_layouts import (
    CHUNKED,
    DENSE,
    FULL,
    SLIDING,
    SPARSE,
    each,
    feed_typed,
    full_every,
    full_every_where_windowed,
    sparse_by_step,
    sparse_from,
    typed,
    windowed,
    windowed_after_unasked,
    windowed_if_used,
)
from symroof.specs.checkpoints.recipes import (
    BIASES,
    FLOORED,
    GATED,
    LATENT,
    LAYER_NORM,
    QKV_BIAS,
    at_least_taken,
    even_share,
    experts,
    flag,
    heads,
    normed_if,
    one_shared,
    shared,
    times_shared,
    whole,
)

LATENT_SIZES = {
    "kv_lora_rank": 512,
    "q_lora_rank": 1536,
    "qk_nope_head_dim": 128,
    "qk_rope_head_dim": 64,
    "v_head_dim": 128,
    "attention_bias": False,
}
ROUTED = {"n_routed_experts": ("n_routed_experts", "num_experts", "num_local_experts")}
LOCAL = {"num_local_experts": ("num_local_experts", "num_experts")}
FLOORED_BIASES = {**FLOORED, **BIASES}
QWEN_EXPERTS = experts("num_experts", "moe_intermediate_size")
QWEN_SHARED = {
    **QWEN_EXPERTS,
    "n_shared_experts": 1,
    "d_shared": whole("shared_expert_intermediate_size"),
    "shared_gate": True,
}
ROUTED_SHARED = experts(
    "n_routed_experts",
    "moe_intermediate_size",
    **shared("n_shared_experts", "moe_intermediate_size"),
)


def early_even(c: Config, i: int) -> str:
    """Qwen 2 MoE: even layers before ``max_window_layers`` have the window, where it is switched on."""
    return (
        SLIDING
        if windowed_if_used(c, i) == SLIDING
        and i % 2 == 0
        and i < c.whole("max_window_layers", least=0)
        else FULL
    )


def chunked_where_rotated(c: Config, i: int) -> str:
    """Llama 4: layers with rotation attend within chunks, those without to everything."""
    rotated = c.wholes("no_rope_layers") or None
    if rotated is not None and len(rotated) != c.n_layers:
        c.fail("no_rope_layers", f"has {len(rotated)} entries for {c.n_layers} layers")
    return (
        CHUNKED
        if (rotated[i] if rotated else (i + 1) % c.whole("no_rope_layer_interval"))
        else FULL
    )


def interleaved(c: Config, i: int) -> str:
    """Llama 4: the layers listed have experts, or else the last of every so many."""
    sparse = c.lists("moe_layers", i)
    if sparse is None:
        sparse = (i + 1) % c.whole("interleave_moe_layer_step") == 0
    return SPARSE if sparse else DENSE


def ernie_sparse(c: Config, i: int) -> str:
    """Ernie: every so many layers between the first and the last that may have experts; -1 is the last of all."""
    first, last = (
        c.whole("moe_layer_start_index", least=0),
        c.whole("moe_layer_end_index", least=-1),
    )
    inside = first <= i and (last == -1 or i <= last)
    return SPARSE if inside and (i + 1) % c.whole("moe_layer_interval") == 0 else DENSE


def dbrx_ffn(c: Config) -> Config:
    """DBRX: the experts' fields, in an object of their own."""
    return c.inside("ffn_config", {"ffn_hidden_size": 3584, "moe_num_experts": 4, "moe_top_k": 1})


def n_kv_inside(c: Config) -> int:
    """DBRX: the KV heads, in an object of the attention's own."""
    inner = c.inside("attn_config", {"kv_n_heads": 1})
    n_kv_heads = inner.whole("kv_n_heads")
    if heads(c) % n_kv_heads:
        inner.fail("kv_n_heads", f"{n_kv_heads} does not divide n_heads {heads(c)}")
    return n_kv_heads


EXPERT_FAMILIES: Mapping[str, Family] = {
    "mixtral": Family(
        f"MixtralConfig of {V5}", sizes(32000, 4096, 14336, 32, 32, 8, sliding_window=None, num_experts_per_tok=2, num_local_experts=8), FLOORED,
        experts=experts("num_local_experts", "intermediate_size"), mixing=each(windowed), names=LOCAL,
    ),
    "phimoe": Family(
        f"PhimoeConfig of {V5}",
        sizes(32064, 4096, 6400, 32, 32, 8, sliding_window=None, num_experts_per_tok=2, num_local_experts=16, attention_bias=False, lm_head_bias=False),
        FLOORED_BIASES, experts=experts("num_local_experts", "intermediate_size"), mixing=each(windowed), norm=LAYER_NORM,
        outer={"head_bias": flag("lm_head_bias")}, names=LOCAL,
    ),
    "qwen2_moe": Family(
        f"Qwen2MoeConfig of {V5}",
        sizes(151936, 2048, 5632, 24, 16, 16, use_sliding_window=False, sliding_window=4096, max_window_layers=28, decoder_sparse_step=1,
              moe_intermediate_size=1408, shared_expert_intermediate_size=5632, num_experts_per_tok=4, num_experts=60, qkv_bias=True),
        {**FLOORED, "qkv_bias": flag("qkv_bias")}, experts=QWEN_SHARED, mixing=typed(early_even), feeding=each(sparse_by_step("num_experts")),
    ),
    "qwen3_moe": Family(
        f"Qwen3MoeConfig of {V5}",
        sizes(151936, 2048, 6144, 24, 32, 4, attention_bias=False, use_sliding_window=False, sliding_window=4096, decoder_sparse_step=1,
              moe_intermediate_size=768, num_experts_per_tok=8, num_experts=128),
        {**FLOORED_BIASES, "qk_norm": "head"}, experts=QWEN_EXPERTS, mixing=each(windowed_if_used), feeding=each(sparse_by_step("num_experts")),
        names={"num_experts": ("num_experts", "num_local_experts")},
    ),
    "qwen3_vl_moe_text": Family(
        f"Qwen3VLMoeTextConfig of {V5}",
        sizes(151936, 2048, 5632, 24, 16, 16, attention_bias=False, decoder_sparse_step=1, moe_intermediate_size=1408, num_experts_per_tok=4, num_experts=60),
        {**FLOORED_BIASES, "qk_norm": "head"}, experts=QWEN_EXPERTS, feeding=each(sparse_by_step("num_experts")),
        names={"num_experts": ("num_experts", "num_local_experts")},
    ),
    "qwen3_omni_moe_text": Family(
        f"Qwen3OmniMoeTextConfig of {V5}",
        sizes(3584, 2048, 18944, 28, 28, 4, attention_bias=False, sliding_window=None, decoder_sparse_step=1, moe_intermediate_size=768,
              num_experts_per_tok=8, num_experts=128),
        {**FLOORED_BIASES, "qk_norm": "head"}, experts=QWEN_EXPERTS, feeding=each(sparse_by_step("num_experts")),
    ),
    "olmoe": Family(
        f"OlmoeConfig of {V5}", sizes(50304, 2048, 2048, 16, 16, None, attention_bias=False, num_experts_per_tok=8, num_experts=64),
        {**FLOORED_BIASES, "qk_norm": "full"}, experts=experts("num_experts", "intermediate_size"), names={"num_experts": ("num_experts", "num_local_experts")},
    ),
    "flex_olmo": Family(
        f"FlexOlmoConfig of {V5}", sizes(100352, 4096, 11008, 32, 32, None, attention_bias=False, num_experts_per_tok=5, num_experts=7),
        {**FLOORED_BIASES, "qk_norm": "full"}, experts=experts("num_experts", "intermediate_size"), names={"num_experts": ("num_experts", "num_local_experts")},
    ),
    "granitemoe": Family(
        f"GraniteMoeConfig of {V5}", sizes(32000, 4096, 11008, 32, 32, None, attention_bias=False, num_local_experts=8, num_experts_per_tok=2),
        FLOORED_BIASES, experts=experts("num_local_experts", "intermediate_size"),
    ),
    "granitemoeshared": Family(
        f"GraniteMoeSharedConfig of {V5}",
        sizes(32000, 4096, 11008, 32, 32, None, attention_bias=False, num_local_experts=8, num_experts_per_tok=2, shared_intermediate_size=0),
        FLOORED_BIASES, experts=experts("num_local_experts", "intermediate_size", **one_shared("shared_intermediate_size")),
    ),
    "dbrx": Family(
        f"DbrxConfig of {V5}", {"vocab_size": 32000, "hidden_size": 2048, "num_hidden_layers": 24, "num_attention_heads": 16, "tie_word_embeddings": False},
        {**FLOORED, "n_kv_heads": lambda c, i: n_kv_inside(c)}, experts={
            "kind": "moe", "n_experts": lambda c, i: at_least_taken(dbrx_ffn(c), "moe_top_k", "moe_num_experts"),
            "experts_per_token": lambda c, i: dbrx_ffn(c).whole("moe_top_k"), "d_expert": lambda c, i: dbrx_ffn(c).whole("ffn_hidden_size"),
        },
        names={"hidden_size": ("d_model", "hidden_size"), "num_attention_heads": ("n_heads", "num_attention_heads"),
               "num_hidden_layers": ("n_layers", "num_hidden_layers"), "max_position_embeddings": ("max_seq_len",)},
    ),
    "deepseek_v2": Family(
        f"DeepseekV2Config of {V5}",
        sizes(102400, 4096, 11008, 32, 32, None, **LATENT_SIZES, moe_intermediate_size=1407, n_shared_experts=2, n_routed_experts=64, num_experts_per_tok=None,
              first_k_dense_replace=0, mlp_bias=False),
        LATENT, ffn={**GATED, "bias": flag("mlp_bias")}, experts={**ROUTED_SHARED, "shared_bias": flag("mlp_bias")}, feeding=each(sparse_from("first_k_dense_replace")), names=ROUTED,
    ),
    "deepseek_v3": Family(
        f"DeepseekV3Config of {V5}",
        sizes(129280, 7168, 18432, 61, 128, 128, **LATENT_SIZES, moe_intermediate_size=2048, n_shared_experts=1, n_routed_experts=256, num_experts_per_tok=8,
              first_k_dense_replace=3),
        LATENT, experts=ROUTED_SHARED, feeding=each(sparse_from("first_k_dense_replace")), names=ROUTED,
    ),
    "glm4_moe": Family(
        f"Glm4MoeConfig of {V5}",
        sizes(151552, 4096, 10944, 46, 96, 8, attention_bias=False, use_qk_norm=False, moe_intermediate_size=1408, num_experts_per_tok=8, n_shared_experts=1,
              n_routed_experts=128, first_k_dense_replace=1),
        {**FLOORED, **QKV_BIAS, "qk_norm": normed_if("use_qk_norm", "head")}, experts=ROUTED_SHARED, feeding=each(sparse_from("first_k_dense_replace")), names=ROUTED,
    ),
    "glm4v_moe_text": Family(
        f"Glm4vMoeTextConfig of {V5}",
        sizes(151424, 4096, 10944, 46, 96, 8, attention_bias=True, moe_intermediate_size=1408, num_experts_per_tok=8, n_shared_experts=1,
              n_routed_experts=128, first_k_dense_replace=1),
        {**FLOORED, **QKV_BIAS}, experts=ROUTED_SHARED, feeding=each(sparse_from("first_k_dense_replace")), names=ROUTED,
    ),
    "glm4_moe_lite": Family(
        f"Glm4MoeLiteConfig of {V5}",
        sizes(154880, 2048, 10240, 47, 20, 20, kv_lora_rank=512, q_lora_rank=768, qk_nope_head_dim=192, qk_rope_head_dim=64, v_head_dim=256, attention_bias=False,
              moe_intermediate_size=1536, num_experts_per_tok=4, n_shared_experts=1, n_routed_experts=64, first_k_dense_replace=1),
        LATENT, experts=ROUTED_SHARED, feeding=feed_typed(sparse_from("first_k_dense_replace")), names=ROUTED,
    ),
    "minicpm3": Family(
        f"MiniCPM3Config of {V5}",
        sizes(73448, 2560, 6400, 62, 40, 40, kv_lora_rank=256, q_lora_rank=768, qk_nope_head_dim=64, qk_rope_head_dim=32, attention_bias=False, mlp_bias=False) | TIED,
        {**LATENT, "value_dim": lambda c, i: c.maybe("v_head_dim") or even_share(c)}, ffn={**GATED, "bias": flag("mlp_bias")},
    ),
    "youtu": Family(
        f"YoutuConfig of {V5}", sizes(128256, 2048, 6144, 32, 16, 16, **LATENT_SIZES) | TIED, LATENT,
    ),
    "afmoe": Family(
        f"AfmoeConfig of {V5}",
        sizes(200192, 2048, 6144, 32, 16, None, head_dim=128, attention_bias=False, sliding_window=1024, global_attn_every_n_layers=4, moe_intermediate_size=1408,
              num_dense_layers=1, num_experts=64, num_experts_per_tok=6, num_shared_experts=2),
        {**FLOORED_BIASES, "qk_norm": "head", "out_gate": True, "unbiased_gate": True},
        experts=experts("num_experts", "moe_intermediate_size", router_bias=True, **shared("num_shared_experts", "moe_intermediate_size")),
        mixing=typed(full_every("global_attn_every_n_layers")), feeding=each(sparse_from("num_dense_layers")), norm={"per_layer": 4},
    ),
    "hy_v3": Family(
        f"HYV3Config of {V5}",
        sizes(120832, 4096, 13312, 80, 64, 8, head_dim=128, attention_bias=False, mlp_bias=False, moe_intermediate_size=1536, num_experts=192, num_experts_per_tok=8,
              num_shared_experts=1, first_k_dense_replace=1),
        {**FLOORED_BIASES, "qk_norm": "head"}, ffn={**GATED, "bias": flag("mlp_bias")},
        experts=experts("num_experts", "moe_intermediate_size", shared_bias=flag("mlp_bias"), **times_shared("num_shared_experts", "moe_intermediate_size")),
        feeding=feed_typed(sparse_from("first_k_dense_replace")), names={"num_experts": ("num_experts", "num_local_experts")},
    ),
    "solar_open": Family(
        f"SolarOpenConfig of {V5}",
        sizes(196608, 4096, None, 48, 64, 8, head_dim=128, attention_bias=False, moe_intermediate_size=1280, num_experts_per_tok=8, n_shared_experts=1, n_routed_experts=128),
        {**FLOORED, **QKV_BIAS}, experts=ROUTED_SHARED, names=ROUTED,
    ),
    "dots1": Family(
        f"Dots1Config of {V5}",
        sizes(152064, 4608, 10944, 62, 32, 32, attention_bias=False, sliding_window=4096, max_window_layers=62, moe_intermediate_size=1408, n_shared_experts=None,
              n_routed_experts=None, num_experts_per_tok=None, first_k_dense_replace=0),
        {**FLOORED_BIASES, "qk_norm": "head"}, experts=ROUTED_SHARED, mixing=typed(windowed_after_unasked), feeding=each(sparse_from("first_k_dense_replace")), names=ROUTED,
    ),
    "exaone_moe": Family(
        f"ExaoneMoeConfig of {V5}",
        sizes(102400, 4096, 16384, 32, 32, 32, sliding_window=4096, sliding_window_pattern=4, moe_intermediate_size=1024, num_experts=64, num_experts_per_tok=8,
              num_shared_experts=1, first_k_dense_replace=1),
        {**FLOORED, "qk_norm": "head"}, experts=experts("num_experts", "moe_intermediate_size", **shared("num_shared_experts", "moe_intermediate_size")),
        mixing=typed(full_every_where_windowed("sliding_window_pattern")), feeding=feed_typed(sparse_from("first_k_dense_replace")),
    ),
    "gpt_oss": Family(
        f"GptOssConfig of {V5}",
        sizes(201088, 2880, 2880, 36, 64, 8, head_dim=64, sliding_window=128, num_local_experts=128, num_experts_per_tok=4, attention_bias=True),
        {**FLOORED_BIASES, "sinks": True}, experts=experts("num_local_experts", "intermediate_size", bias=True, router_bias=True),
        mixing=typed(full_every(2)), names=LOCAL,
    ),
    "minimax_m2": Family(
        f"MiniMaxM2Config of {V5}", sizes(200064, 3072, 1536, 62, 48, 8, head_dim=128, num_experts_per_tok=8, num_local_experts=256),
        {**FLOORED, "qk_norm": "full"}, experts=experts("num_local_experts", "intermediate_size"), names=LOCAL,
    ),
    "llama4_text": Family(
        f"Llama4TextConfig of {V5}",
        sizes(202048, 5120, 8192, 48, 40, 8, head_dim=128, intermediate_size_mlp=16384, attention_bias=False, num_experts_per_tok=1, num_local_experts=16,
              interleave_moe_layer_step=1, no_rope_layer_interval=4, attention_chunk_size=8192),
        FLOORED_BIASES, ffn={"kind": "gated", "d_ff": whole("intermediate_size_mlp")},
        experts=experts("num_local_experts", "intermediate_size", n_shared_experts=1, d_shared=whole("intermediate_size")),
        mixing=typed(chunked_where_rotated), feeding=each(interleaved),
    ),
    "ernie4_5_moe": Family(
        f"Ernie4_5_MoeConfig of {V5}",
        sizes(103424, 2560, 12288, 28, 20, 4, use_bias=False, moe_intermediate_size=1536, num_experts_per_tok=6, num_experts=64, moe_num_shared_experts=2,
              moe_layer_start_index=1, moe_layer_end_index=-1, moe_layer_interval=1) | TIED,
        {**FLOORED, "qkv_bias": flag("use_bias"), "out_bias": flag("use_bias")}, ffn={**GATED, "bias": flag("use_bias")},
        experts=experts("num_experts", "moe_intermediate_size", router_bias=True, shared_bias=flag("use_bias"),
                        **times_shared("moe_num_shared_experts", "moe_intermediate_size")),
        feeding=each(ernie_sparse), outer={"head_bias": flag("use_bias")},
        names={"num_experts": ("moe_num_experts", "num_experts"), "num_experts_per_tok": ("moe_k", "num_experts_per_tok")},
    ),
    "hunyuan_v1_moe": Family(
        f"HunYuanMoEV1Config of {V5}", sizes(290943, 4096, 11008, 32, 32, None, attention_bias=False, num_experts=1, num_experts_per_tok=1),
        {**FLOORED_BIASES, "qk_norm": "head"}, experts=experts("num_experts", "intermediate_size", n_shared_experts=1, d_shared=whole("intermediate_size")),
        names={"num_experts": ("num_experts", "num_local_experts"), "num_experts_per_tok": ("moe_topk", "num_experts_per_tok")},
    ),
}  # fmt: skip
