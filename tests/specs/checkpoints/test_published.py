"""Families whose classes are in the model's own repository: sizes that their authors published, from the fields of their files."""

import pytest

from ...tables import fields
from . import case, read

PUBLISHED = """
16.8 | 2.75 | Ling-lite: github.com/inclusionAI/Ling
model_type: bailing_moe, vocab_size: 126464, hidden_size: 2048, intermediate_size: 5632,
num_hidden_layers: 28, num_attention_heads: 16, num_key_value_heads: 4, num_experts: 64,
num_shared_experts: 2, num_experts_per_tok: 6, moe_intermediate_size: 1408, norm_head: false,
use_bias: false, use_qkv_bias: false, tie_word_embeddings: false

# what is active is published without both tables, 0.789; the head counts here
16 | 1.111 | Ling-mini-2.0: github.com/inclusionAI/Ling-V2
model_type: bailing_moe, vocab_size: 157184, hidden_size: 2048, intermediate_size: 5120,
num_hidden_layers: 20, num_attention_heads: 16, num_key_value_heads: 4, head_dim: 128,
num_experts: 256, num_shared_experts: 1, num_experts_per_tok: 8, moe_intermediate_size: 512,
first_k_dense_replace: 1, use_qk_norm: true

316 | 38 | Step-3: arXiv 2507.19427
model_type: step3_vl, text_config: {model_type: step3_text, num_hidden_layers: 61}

196 | 11 | Step-3.5-Flash: github.com/stepfun-ai/Step-3.5-Flash
model_type: step3p5, vocab_size: 128896, sliding_window: 512, attention_other_setting:
{attention_type: sliding_attention, num_attention_heads: 96, num_attention_groups: 8}

0.191 | 0.1407 | RWKV-7 0.1B: arXiv 2503.14456
model_type: rwkv7, vocab_size: 65536, hidden_size: 768, num_hidden_layers: 12, head_dim: 64,
decay_low_rank_dim: 64, gate_low_rank_dim: 128, a_low_rank_dim: 64, v_low_rank_dim: 32,
hidden_ratio: 4

1.29 | 1.29 | PLaMo 2 1B: huggingface.co/pfnet/plamo-2-1b
model_type: plamo2, vocab_size: 100000, hidden_size: 2048, intermediate_size: 8192,
num_hidden_layers: 16, num_attention_heads: 16, num_key_value_heads: 1, hidden_size_per_head: 128,
mamba_num_heads: 32, mamba_d_state: 64, mamba_d_conv: 4, mamba_step: 2

0.16934 | 0.1307 | RWKV-4 169M: arXiv 2305.13048, table 2
model_type: rwkv, hidden_size: 768, num_hidden_layers: 12

2.68 | 2.68 | RecurrentGemma 2B: arXiv 2404.07839, table 1
model_type: recurrent_gemma, num_key_value_heads: 1, intermediate_size: 15360

744 | 40 | GLM-5: github.com/zai-org/GLM-5
model_type: glm_moe_dsa

560 | 27 | LongCat-Flash: arXiv 2509.01322
model_type: longcat_flash

284 | 13 | DeepSeek-V4-Flash: huggingface.co/deepseek-ai/DeepSeek-V4-Flash
model_type: deepseek_v4, num_hidden_layers: 43
"""
"""Billions of parameters, of them active, the source, and the fields of a file."""
LAYERS = {
    "step3p5": {
        "layer_types": ["full_attention", *["sliding_attention"] * 3] * 11 + ["full_attention"]
    },
    "deepseek_v4": {"compress_ratios": [0, 0, *[4, 128] * 20, 4, 0]},
}
K3 = fields(
    """model_type: kimi_linear, hidden_size: 7168, intermediate_size: 33792, num_hidden_layers: 93,
    num_attention_heads: 96, num_key_value_heads: 96, num_experts: 896, num_experts_per_token: 16,
    num_shared_experts: 2, moe_intermediate_size: 3072, first_k_dense_replace: 1, kv_lora_rank: 512,
    q_lora_rank: 1536, qk_nope_head_dim: 128, qk_rope_head_dim: 64, v_head_dim: 128,
    vocab_size: 163840, routed_expert_hidden_size: 3584, latent_moe_use_norm: true,
    mla_use_output_gate: true, attn_res_block_size: 12, linear_attn_config: {head_dim: 128,
    num_heads: 96, short_conv_kernel_size: 4, use_full_rank_gate: true}"""
)
K3["linear_attn_config"]["full_attn_layers"] = [*range(4, 93, 4), 93]


def published():
    for part in PUBLISHED.strip().split("\n\n"):
        lines = [line for line in part.splitlines() if line[0] != "#"]
        total, active, source = lines[0].split(" | ")
        config = fields(" ".join(lines[1:]))
        config |= LAYERS.get(config["model_type"], {})
        yield pytest.param(config, float(total) * 1e9, float(active) * 1e9, id=source)


@pytest.mark.sample(5)
@pytest.mark.parametrize(("config", "total", "active"), [*published()])
def test_parameters_are_as_published(config, total, active):
    """To the digits that are published; what is active is counted with and without embeddings, so that it is near at best."""
    found = case(read(config))
    assert found.value("params") == pytest.approx(total, rel=0.02)
    assert found.value("active_params") == pytest.approx(active, rel=0.15)


def test_only_the_full_layers_of_kimi_k3_cache_tokens():
    """24 of 93 layers hold a latent of 576 elements of two bytes: about 27 kB a token (github.com/inference-sim/inference-sim/issues/1635)."""
    spec = read(K3)
    found = case(spec)
    assert found.value("kv_bytes_per_token") == 24 * 576 * 2 == 27648
    assert (
        spec.values()["residual_sums"] + 1 == 9
    )  # sources of the head: 93 layers in groups of 12, and the running sum (arXiv 2607.24653, section 2.2)
    assert [caveat for caveat in spec.caveats if "not read" in caveat] == []


def nemotron(*blocks):
    parts = [
        {
            "attention": {"n_heads_in_group": heads, "no_op": heads is None},
            "ffn": {"ffn_mult": factor, "no_op": factor is None},
        }
        for heads, factor in blocks
    ]
    said = """model_type: nemotron-nas, hidden_size: 8192, num_attention_heads: 64, vocab_size: 1000,
    num_key_value_heads: null, intermediate_size: null"""
    return fields(said) | {"num_hidden_layers": len(blocks), "block_configs": parts}


def test_blocks_of_a_searched_architecture():
    """Each layer has what its own entry says; without attention it has no norm for it, and no cache."""
    spec = read(nemotron((8, 5.25), (None, 2.625), (8, None), (16, 0.5)))
    d, attention = (
        8192,
        {8: 2 * 8192 * 8192 + 2 * 8192 * 8 * 128, 16: 2 * 8192 * 8192 + 2 * 8192 * 4 * 128},
    )
    layers = [
        attention[8] + 3 * d * 28672 + 2 * d,
        3 * d * 14336 + d,
        attention[8] + d,
        attention[16] + 3 * d * 2816 + 2 * d,
    ]
    assert case(spec).value("params") == 2 * 1000 * d + d + sum(layers)
    assert case(spec).value("kv_bytes_per_token") == 2 * 2 * 128 * (8 + 8 + 4)
