"""What lies beside a config.json: how the weights are stored, and how large they are."""

import json

import pytest

import symroof as sr
from symroof.api import Study
from symroof.specs.checkpoints.config_reader import read
from tests.cli import good

from ...tables import fields
from . import DATA
from . import read as read_config

LLAMA = json.loads((DATA / "configs" / "llama-3.1-8b.config.json").read_text())
COUNTED = 2 * 8_030_261_248


def folder(tmp_path, quantization=None, total=None, name="config.json", **changes):
    """A folder as it is downloaded; the path that leads to it."""
    stem = name.removesuffix("config.json")
    (tmp_path / name).write_text(json.dumps(LLAMA | changes))
    if quantization is not None:
        (tmp_path / f"{stem}hf_quant_config.json").write_text(
            json.dumps({"producer": {"name": "modelopt"}, "quantization": quantization})
        )
    if total is not None:
        (tmp_path / f"{stem}model.safetensors.index.json").write_text(
            json.dumps({"metadata": {"total_size": total}, "weight_map": {"lm_head": "a"}})
        )
    return tmp_path if name == "config.json" else tmp_path / name


FP8 = {"quant_algo": "FP8", "kv_cache_quant_algo": "FP8", "exclude_modules": ["lm_head"]}


@pytest.mark.parametrize("name", ["config.json", "nvidia--Llama_config.json"])
def test_the_quantization_beside_a_file_is_its_own(tmp_path, name):
    spec, _ = read(folder(tmp_path, FP8, name=name))
    stored = spec.quantization
    assert (stored.method, stored.compute, stored.kv) == ("fp8", "fp8", "fp8")
    narrow = 32 * (2 * 4096 * 4096 + 2 * 1024 * 4096 + 3 * 4096 * 14336)
    assert Study(model=spec).value("weight_bytes") == COUNTED - narrow + 32 * 7 * 8
    shown = good("eval", "--model", tmp_path / name, "--hardware", "h100-sxm", "--prompt", 8).out
    assert "FP8 weights and KV cache" in shown


def test_experts_beside_the_feed_forward_block():
    """nvidia/Gemma-4-26B-A4B-NVFP4: attention and the block of all tokens in 16 bits, 128 experts of 704 in NVFP4: 50.5 GB were said for 17.6."""
    gemma = fields("""model_type: gemma4_text, vocab_size: 262144, hidden_size: 2816,
        intermediate_size: 2112, num_hidden_layers: 30, num_attention_heads: 16,
        num_key_value_heads: 8, head_dim: 256, global_head_dim: 512, num_global_key_value_heads: 2,
        attention_k_eq_v: true, enable_moe_block: true, num_experts: 128, top_k_experts: 8,
        moe_intermediate_size: 704, hidden_size_per_layer_input: 0, sliding_window: 1024""")
    wide = [
        f"model.language_model.layers.{i}.{part}*"
        for i in range(30)
        for part in ("mlp", "router", "self_attn")
    ]
    stored = {"quant_method": "modelopt", "quant_algo": "NVFP4", "ignore": ["lm_head", *wide]}
    plain, narrow = (
        Study(model=read_config({"text_config": gemma, "model_type": "gemma4", **more}))
        for more in ({}, {"quantization_config": stored})
    )
    shapes = [(704, 2816), (704, 2816), (2816, 704)]
    saved = 30 * 128 * sum(2 * n * k - n * k // 2 - n * (k // 16) - 8 for n, k in shapes)
    assert plain.value("weight_bytes") - narrow.value("weight_bytes") == saved
    assert narrow.value("weight_bytes") == pytest.approx(17.6e9, rel=0.01)


# ------------------------------------------------------------------------------------------------------------ the index


def test_the_size_of_the_index_is_resident_and_a_difference_is_said(tmp_path):
    case = sr.Study(
        str(folder(tmp_path, total=17_000_000_000)), "h100-sxm", engine="ideal", prompt=8, tp=2
    ).first
    assert case.case.value("weight_bytes") == 17_000_000_000
    assert case.case.value("weight_bytes_per_device") == pytest.approx(8.5e9, rel=1e-3)
    (said,) = [warning for warning in case.warnings if "its index says" in warning]
    assert "its index says 17 GB, which is used; 16.06 GB are counted" in said
