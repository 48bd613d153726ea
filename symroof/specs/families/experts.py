"""Families with experts in their layers, all of them or some."""

from __future__ import annotations

from collections.abc import Mapping

from symroof.specs.families.dense import V5, sizes
from symroof.specs.families.family import Family
from symroof.specs.families.layouts import each, full_every, sparse_by_step, sparse_from, typed, windowed, windowed_if_used
from symroof.specs.families.recipes import BIASES, FLOORED, LATENT, experts, shared

LATENT_SIZES = {"kv_lora_rank": 512, "q_lora_rank": 1536, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128, "attention_bias": False}
ROUTED = {"n_routed_experts": ("n_routed_experts", "num_experts", "num_local_experts")}
LOCAL = {"num_local_experts": ("num_local_experts", "num_experts")}

EXPERT_FAMILIES: Mapping[str, Family] = {
    "mixtral": Family(
        f"MixtralConfig of {V5}", sizes(32000, 4096, 14336, 32, 32, 8, sliding_window=None, num_experts_per_tok=2, num_local_experts=8), FLOORED,
        experts=experts("num_local_experts", "intermediate_size"), mixing=each(windowed), names=LOCAL,
    ),
    "qwen3_moe": Family(
        f"Qwen3MoeConfig of {V5}",
        sizes(151936, 2048, 6144, 24, 32, 4, attention_bias=False, use_sliding_window=False, sliding_window=4096, decoder_sparse_step=1,
              moe_intermediate_size=768, num_experts_per_tok=8, num_experts=128),
        {**FLOORED, **BIASES, "qk_norm": "head"}, experts=experts("num_experts", "moe_intermediate_size"), mixing=each(windowed_if_used),
        feeding=each(sparse_by_step("num_experts")), names={"num_experts": ("num_experts", "num_local_experts")},
    ),
    "deepseek_v3": Family(
        f"DeepseekV3Config of {V5}",
        sizes(129280, 7168, 18432, 61, 128, 128, **LATENT_SIZES, moe_intermediate_size=2048, n_shared_experts=1, n_routed_experts=256, num_experts_per_tok=8,
              first_k_dense_replace=3),
        LATENT, experts=experts("n_routed_experts", "moe_intermediate_size", **shared("n_shared_experts", "moe_intermediate_size")),
        feeding=each(sparse_from("first_k_dense_replace")), names=ROUTED,
    ),
    "gpt_oss": Family(
        f"GptOssConfig of {V5}",
        sizes(201088, 2880, 2880, 36, 64, 8, head_dim=64, sliding_window=128, num_local_experts=128, num_experts_per_tok=4, attention_bias=True, pattern=2),
        {**FLOORED, **BIASES, "sinks": True}, experts=experts("num_local_experts", "intermediate_size", bias=True, router_bias=True),
        mixing=typed(full_every("pattern")), names=LOCAL,
    ),
}  # fmt: skip
