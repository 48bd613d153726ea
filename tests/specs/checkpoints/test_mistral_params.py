"""Mistral's own params.json, DeepSeek-OCR, checkpoints in FP8 and MXFP8, embeddings: counts as published."""

import json

import pytest

import symroof as sr
from symroof.specs.checkpoints.config_reader import read as read_file
from symroof.specs.spec_files import read_spec

from ...tables import fields
from . import case, problem, read

MISTRAL_7B = fields(
    "dim: 4096, n_layers: 32, head_dim: 128, hidden_dim: 14336, n_heads: 32, n_kv_heads: 8, "
    "norm_eps: 0.00001, sliding_window: 4096, vocab_size: 32000"
)
"""params.json of mistral-7b-v0.1, which has 7,241,732,096 parameters."""


def test_params_json_of_mistral(tmp_path):
    (tmp_path / "params.json").write_text(json.dumps(MISTRAL_7B))
    made, _ = read_file(tmp_path)
    assert case(made).value("params") == 7_241_732_096
    assert (made.layers[0].attention.window, made.caveats) == (4096, ())
    mixtral = read(MISTRAL_7B | {"moe": {"num_experts": 8, "num_experts_per_tok": 2}})
    assert case(mixtral).value("params") == 46_702_792_704
    several = read(MISTRAL_7B | {"sliding_window": [None, 512]})
    assert [kind.attention.window for kind in several.layers] == [None, 512]
    assert several.order == ("full", "local")
    assert "sliding_window: expected whole numbers and null" in problem(
        MISTRAL_7B | {"sliding_window": ["x"]}
    )


def test_params_json_with_a_latent_and_experts():
    """The widths of DeepSeek-V3 under Mistral's names, but for the 58 x 256 biases that choose experts."""
    made = read(
        fields("""dim: 7168, n_layers: 61, n_heads: 128, n_kv_heads: 128, hidden_dim: 18432,
        vocab_size: 129280, q_lora_rank: 1536, kv_lora_rank: 512, qk_nope_head_dim: 128,
        qk_rope_head_dim: 64, v_head_dim: 128, moe: {num_experts: 256, num_experts_per_tok: 8,
        expert_hidden_dim: 2048, num_shared_experts: 1, first_k_dense_replace: 3, route_every_n: 1}""")
    )
    assert case(made).value("params") == 671_026_419_200 - 58 * 256


@pytest.mark.parametrize(("act", "bits"), [("TENSOR", 64), ("NO_SCALES", 32)])
def test_params_json_in_fp8(act, bits):
    """8 bits a weight and one or two scales a matrix of 224; table and head wide."""
    stored = {"qformat_weight": "fp8_e4m3", "qscheme_act": act}
    made = sr.Study(model=read(MISTRAL_7B | {"quantization": stored}))
    wide = 2 * 32000 * 4096 + 65 * 4096
    assert made.value("weight_bytes") == 7_241_732_096 + wide + 7 * 32 * bits // 8


def test_deepseek_ocr():
    """DeepSeek3B-MoE-A570M (arXiv 2510.18234): plain attention of ten heads where ``use_mla`` is false."""
    inner = fields("""first_k_dense_replace: 1, hidden_size: 1280, intermediate_size: 6848,
        kv_lora_rank: null, max_position_embeddings: 8192, moe_intermediate_size: 896, n_group: 1,
        n_routed_experts: 64, n_shared_experts: 2, num_attention_heads: 10, num_experts_per_tok: 6,
        num_hidden_layers: 12, num_key_value_heads: 10, q_lora_rank: null, qk_nope_head_dim: 0,
        qk_rope_head_dim: 0, topk_group: 1, topk_method: greedy, use_mla: false, v_head_dim: 0,
        vocab_size: 129280""")
    made = read({"model_type": "deepseek_vl_v2", "language_config": inner})
    assert case(made).value("params") == pytest.approx(2.93e9, rel=0.01)
    assert case(made).value("active_params") == pytest.approx(570e6, rel=0.01)
    assert case(made).value("kv_bytes_per_token") == 12 * 2 * 10 * 128 * 2


def test_mxfp8():
    """8 bits, and as many again for each 32: by name, by Model Optimizer's words and by the method's own."""
    expected = sr.Study(model="llama-3-8b", weights="mxfp8").value("weight_bytes")
    narrow = 8_030_261_248 - 2 * 128_256 * 4096 - 65 * 4096
    assert expected == narrow * 33 // 32 + 2 * (8_030_261_248 - narrow)
    assert sr.Study(model="x/Llama-3-8B-MXFP8").value("weight_bytes") == expected
    assert read_spec("models", "MiniMaxAI/MiniMax-M3-MXFP8")[0].quantization.method == "mxfp8"


def test_a_release_in_fp8_is_stored_so_and_its_16_bit_sister_is_not():
    name = "mistralai/Ministral-3-8B-Instruct-2512"
    wide = 2 * 131072 * 4096 + 69 * 4096
    stored = sr.Study(model=name).value("weight_bytes")
    assert stored == 8_489_553_920 + wide + 34 * 7 * 8
    assert sr.Study(model=f"{name}-BF16").value("weight_bytes") == 2 * 8_489_553_920


def test_embeddings_and_rerankers_by_their_names():
    """100 documents of 32K take about 351 GiB (a thread on Qwen3-Reranker-0.6B)."""
    assert read_spec("models", "Qwen/Qwen3-Embedding-8B")[0].published_params == 7_567_295_488
    reranker = sr.Study(model="Qwen/Qwen3-Reranker-0.6B", prompt=32768, batch=100)
    assert reranker.value("kv_cache_bytes") / 2**30 == pytest.approx(350, rel=1e-3)
