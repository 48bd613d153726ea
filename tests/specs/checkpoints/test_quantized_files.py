"""Quantized models from the files people have, through the commands they run."""

import json

from symroof.api import Study
from tests.cli import good

from . import DATA, from_file

AWQ = {
    "quant_method": "awq",
    "bits": 4,
    "group_size": 128,
    "zero_point": True,
    "version": "gemm",
    "modules_to_not_convert": None,
}


def config(tmp_path, name, **changes):
    """A config.json like one of the tests' own, with fields changed."""
    found = json.loads((DATA / "configs" / f"{name}.config.json").read_text()) | changes
    path = tmp_path / "config.json"
    path.write_text(json.dumps(found, indent=2))
    return str(path)


def test_the_config_of_gpt_oss_alone_gives_the_size_of_its_index():
    """openai/gpt-oss-20b, model.safetensors.index.json: total_size 13761264768."""
    assert Study(model=from_file("gpt-oss-20b")).value("weight_bytes") == 13_761_264_768


def test_deepseek_v3_and_what_its_files_hold_beside_it():
    """deepseek-ai/DeepSeek-V3: the tensors of its 163 files take 688,574,839,360 byte. They hold, beside the model, a layer that
    guesses ahead (README_WEIGHTS.md: one more layer of experts, a projection of two streams, five norms, table and head again)
    and the routers' corrections in 32 bits."""

    def narrow(rows, inputs):
        return rows * inputs + 4 * -(-rows // 128) * -(-inputs // 128)

    attention = sum(
        narrow(*shape)
        for shape in (
            (1536, 7168),
            (576, 7168),
            (128 * 192, 1536),
            (128 * 256, 512),
            (7168, 128 * 128),
        )
    )
    experts = 257 * (2 * narrow(2048, 7168) + narrow(7168, 2048))
    wide = 2 * (256 * 7168 + 7168 * 14336 + 2 * 129280 * 7168 + 5 * 7168 + 1536 + 512)
    beside = attention + experts + wide + 59 * 256 * 4
    assert Study(model=from_file("deepseek-v3")).value("weight_bytes") + beside == 688_574_839_360


def test_an_awq_config_on_the_command_line(tmp_path):
    """Qwen/Qwen2.5-7B-Instruct-AWQ: two files of 4.48 and 1.09 GB."""
    path = config(tmp_path, "qwen2.5-7b", quantization_config=AWQ)
    (case,) = good("eval", "--model", path, "--json").json["cases"]
    assert case["quantities"]["weight_bytes"]["value"] == 5_570_747_392
    assert "awq" in case["inputs"]["weight_bytes_per_param"]["source"]
