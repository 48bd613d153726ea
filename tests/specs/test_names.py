"""What people call models and parts, and where it leads."""

import pytest

import symroof as sr
from symroof.errors import InputError
from symroof.specs import catalogue
from symroof.specs.checkpoints.quantization_config import read_quantization
from symroof.specs.spec_files import read_spec

from ..near import near
from ..tables import fields, table

MODELS = {
    "meta-llama/Llama-3.1-8B-Instruct": "llama-3.1-8b",
    "meta-llama/Meta-Llama-3-70B-Instruct": "llama-3-70b",
    "mistralai/Mixtral-8x7B-Instruct-v0.1": "mixtral-8x7b",
    "RedHatAI/Meta-Llama-3.1-8B-Instruct-quantized.w4a16": "llama-3.1-8b",
    "unsloth/Meta-Llama-3.1-8B-Instruct-bnb-4bit": "llama-3.1-8b",
    "mistralai/Mistral-7B-Instruct-v0.3": "mistral-7b-v0.3",
}


@pytest.mark.sample(5)
@pytest.mark.parametrize("name", MODELS)
def test_models(name):
    assert read_spec("models", name)[0].name == MODELS[name]


@pytest.mark.parametrize("name", ["meta-llama/Llama-9-9T", "org/Llama-3.1-8B-Nemotron-Tuned"])
def test_a_model_of_the_hub_that_is_not_here_says_how_to_give_it(name):
    with pytest.raises(InputError) as caught:
        sr.Study(model=name, prompt=1).value("params")
    problem = caught.value.problems[0]
    assert "not in the catalogue" in problem.message
    assert "--model PATH/config.json" in problem.hint


def test_what_a_name_says_of_the_weights_is_taken_and_told():
    bound = sr.Study(model="Qwen/Qwen2.5-72B-Instruct-GPTQ-Int4", prompt=1).first
    assert bound.precisions["weights"] == "gptq"
    assert any("stored as gptq, as its name says (GPTQ)" in warning for warning in bound.warnings)
    for given in (
        {"model": "Qwen/Qwen2.5-72B-Instruct-AWQ", "weights": "awq"},
        {"model": "Qwen/Qwen2.5-72B-Instruct"},
    ):
        assert not sr.Study(**given, prompt=1).first.warnings
    wide = sr.Study(model="unsloth/gpt-oss-20b-BF16", prompt=1).value("weight_bytes")
    assert wide == 2 * sr.Study(model="gpt-oss-20b").value("params")


CONFIGS = """
Qwen/Qwen3-32B-FP8 | quant_method: fp8, activation_scheme: dynamic, weight_block_size: [128, 128]
Qwen/Qwen3-32B-AWQ | quant_method: awq, bits: 4, group_size: 128, version: gemm, zero_point: true
Qwen/Qwen3-32B-GPTQ-Int8 | quant_method: gptq, bits: 8, group_size: 128, sym: true
nvidia/Qwen3-32B-NVFP4 | quant_method: modelopt, quant_algo: NVFP4, exclude_modules: [lm_head]
"""


@pytest.mark.parametrize(("name", "config"), table(CONFIGS))
def test_a_checkpoint_by_its_name_and_by_its_file_is_one(name, config):
    """Bytes and arithmetic: a prompt of 8,192 tokens on an H200 took 587.9 ms by name and 293.9 ms by file."""
    stored = read_quantization({"quantization_config": fields(config)})
    file = sr.Study(model="qwen3-32b").first.model.model_copy(update={"quantization": stored})
    ways = [{"model": file}, {"model": name}]
    ways += [{"model": name, "weights": "fp8"}] if "FP8" in name else []
    studies = [sr.Study(**way, hardware="h200", prompt=8192, engine="ideal") for way in ways]
    for quantity in ("weight_bytes", "prefill_time", "itl"):
        assert len({study.value(quantity) for study in studies}) == 1


PRECISIONS = """
Llama-3.1-8B-Instruct-AWQ-INT4 | awq
Llama-3.1-8B-8bit-GPTQ | gptq-int8
Llama-3.1-8B-FP8-dynamic | fp8-dynamic
Llama-3.1-8B-8bit | w8a8
mlx-community/Llama-3.1-8B-Instruct-6bit | mlx-6bit
lmstudio-community/Llama-3.1-8B-Instruct-MLX-4bit | mlx-4bit
Llama-3.1-8B-quantized.w8a16 | w8a16
Llama-3.1-8B-GGUF | q4_k_m
bartowski/Llama-3.1-8B-GGUF:Q6_K | q6_k
hugging-quants/Llama-3.1-8B-Instruct-Q8_0-GGUF | q8_0
Llama-3.1-8B-it-qat-q4_0-gguf | q4_0
Llama-3.1-8B-it-qat-GGUF | q4_0
Llama-3.1-8B-FP8-KV | fp8-block
Llama-3.1-8B-MXFP4-Preview | mxfp4
"""


@pytest.mark.sample(5)
@pytest.mark.parametrize(("name", "precision"), table(PRECISIONS))
def test_the_method_says_more_than_the_number_of_bits(name, precision):
    made = sr.Study(model=name, prompt=1).first
    (warning,) = made.warnings
    assert f"stored as {precision}, as its name says" in warning
    assert made.precisions["weights"] == precision


PARTS = {
    "H100-80GB": "h100-sxm",
    "nvidia-h100-80gb-hbm3": "h100-sxm",
    "NVIDIA H100 PCIe": "h100-pcie",
    "NVIDIA A100-SXM4-80GB": "a100-80gb-sxm",
    "Tesla V100-SXM2-32GB": "v100-sxm2-32gb",
    "RTX PRO 6000 Blackwell Server Edition": "rtx-pro-6000-server",
}


@pytest.mark.sample(5)
@pytest.mark.parametrize("name", PARTS)
def test_parts(name):
    assert sr.Study(hardware=name).first.hardware.name == PARTS[name]


CHECKPOINTS = [
    (entry.name, each)
    for entry in catalogue.entries("models").values()
    for each in entry.document.data.get("checkpoints") or ()
]


@pytest.mark.sample(12)
@pytest.mark.parametrize(
    ("model", "checkpoint"),
    CHECKPOINTS,
    ids=lambda value: value["name"] if isinstance(value, dict) else value,
)
def test_a_checkpoint_with_an_entry_is_stored_as_it_says_without_a_doubt(model, checkpoint):
    name = checkpoint["name"]
    assert checkpoint["source"]["address"] == f"https://huggingface.co/{name}"
    for called in (name, name.lower(), name.rpartition("/")[2]):
        spec = read_spec("models", called)[0]
        assert (spec.name, spec.title) == (model, name)
        assert spec.quantization.method == checkpoint["precision"]
        assert set(spec.quantization.kept) == set(checkpoint.get("kept", spec.quantization.kept))
    bound = sr.Study(model=name, prompt=1).first
    assert not any("as its name says" in warning for warning in bound.warnings)
    assert bound.precisions["kv"] == checkpoint.get("kv", "fp16")


def test_the_bytes_of_a_checkpoint_with_an_entry():
    """DeepSeek-V3.1-NVFP4: 9/16 byte a weight of the experts, the dense layers and the way out of the attention; the rest in two bytes."""
    d, latent, heads = 7168, 1536 + 512 + 64, 128
    narrow = 58 * 257 * 3 * d * 2048 + 3 * 3 * d * 18432 + 61 * heads * 128 * d
    total = 671_026_419_200
    matrices = 58 * 257 * 3 + 3 * 3 + 61  # each with two 32-bit scales of its own
    wide = total - narrow
    assert 61 * (d * latent + 1536 * heads * 192 + 512 * heads * 256) < wide < 0.03 * total
    assert sr.Study(model="nvidia/DeepSeek-V3.1-NVFP4").value("weight_bytes") == near(
        narrow * 9 / 16 + matrices * 8 + 2 * wide
    )


def test_files_of_names_on_the_hub_are_as_large_as_published():
    """GB of the files: huggingface.co, mlx-community, ggml-org and unsloth, to their digits."""
    for name, published in (
        ("mlx-community/Meta-Llama-3.1-8B-Instruct-4bit", 4.52),
        ("mlx-community/Qwen3-8B-4bit", 4.61),
        ("ggml-org/gpt-oss-120b-GGUF", 63.4),
        ("mlx-community/gpt-oss-120b-MXFP4-Q8", 63.4),
        ("ggml-org/gpt-oss-20b-GGUF", 12.1),
        ("unsloth/gpt-oss-120b-GGUF:Q4_K_M", 62.8),
    ):
        stored = sr.Study(model=name, prompt=1).value("weight_bytes")
        assert float(stored) / 1e9 == pytest.approx(published, rel=2e-3), name
