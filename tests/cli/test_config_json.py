"""A model by its own ``config.json``: on every command that takes a model, from a file or a folder, with a way out for unknown types."""

import json
import shutil
import time

import pytest

from . import ROOT, call, cases, flat, good, refused, write_study

CONFIGS = ROOT / "tests" / "data" / "configs"
LLAMA = CONFIGS / "llama-3.1-8b.config.json"


@pytest.fixture
def folder(tmp_path):
    """A model's folder as it is downloaded."""
    made = tmp_path / "Llama-3.1-8B"
    made.mkdir()
    shutil.copy(LLAMA, made / "config.json")
    return made


def changed(path, **fields):
    """A config.json with other values of some fields."""
    path.write_text(json.dumps(json.loads(path.read_text()) | fields))
    return path


@pytest.fixture
def unknown(folder):
    """The same with an unknown type."""
    return changed(folder / "config.json", model_type="lama")


def params(*arguments):
    return cases("--hardware", "h100-sxm", "--prompt", 128, *arguments)[0]["quantities"]["params"][
        "value"
    ]


def test_eval_reads_a_file_and_a_folder(folder):
    assert (
        params("--model", folder)
        == params("--model", folder / "config.json")
        == params("--model", LLAMA)
        == 8_030_261_248
    )


def test_an_unknown_type_names_a_family_that_is_called_alike(unknown):
    message = refused("eval", "--model", unknown, "--prompt", 128)
    assert "model_type: no family 'lama' is known" in message
    assert "`--assume-family llama` reads it, if its layers are built alike" in message


def test_a_type_with_structure_of_its_own_cannot_be_assumed(unknown):
    structure = {"num_hash_experts": 4, "recurrent_pattern": "ABA"}
    changed(unknown, model_type="qwen3_moe_like", **structure)
    assert "`--assume-family qwen3_moe` reads it" in refused("show", unknown)
    assert (
        "llama does not know what may be structure: num_hash_experts, recurrent_pattern"
        in refused("show", unknown, "--assume-family", "llama")
    )


@pytest.mark.parametrize(
    "more",
    [
        {"num_hidden_layers": 4096},
        {"num_hidden_layers": 4096, "layer_types": ["full_attention"] * 4096},
        {f"k{i}": 1 for i in range(40_000)},
        {"sliding_window_pattern": list(range(100_000))},
    ],
    ids=["layers", "listed layers", "keys", "entries"],
)
def test_a_large_file_of_an_unknown_type_is_refused_quickly(more, unknown):
    changed(unknown, **more)
    started = time.process_time()
    assert "model_type: no family 'lama' is known" in refused("validate", unknown)
    assert time.process_time() - started < 3


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    "more",
    [
        {"model_type": "smollm3", "no_rope_layers": [1] * 10_000},
        {"model_type": "qwen3_moe", "mlp_only_layers": [*range(10_000, 20_000)]},
    ],
    ids=["flags", "numbers"],
)
def test_a_list_for_each_of_many_layers_is_read_quickly(more, unknown):
    changed(unknown, num_hidden_layers=10_000, **more)
    started = time.process_time()
    call("validate", unknown)
    assert time.process_time() - started < 5


def test_a_key_that_is_not_read_is_said_in_text_and_json(folder):
    changed(folder / "config.json", num_hash_experts=4, comment="abc")
    said = "keys of its file that are not read, so that any number may be wrong: num_hash_experts, comment"
    assert said in good("show", folder, "--all").out
    assert said in flat(good("eval", "--model", folder, "--prompt", 128).out)
    assert any(
        said in warning for warning in cases("--model", folder, "--prompt", 128)[0]["warnings"]
    )
    assert said in flat(good("vllm", f"vllm serve {folder}", "--hardware", "h100-sxm").out)


def test_assume_family_is_the_way_out_and_is_reported(unknown):
    case = cases("--model", unknown, "--assume-family", "llama", "--prompt", 128)[0]
    assert case["quantities"]["params"]["value"] == 8_030_261_248
    assert any(
        "read as llama, as asked; its model_type is lama" in warning for warning in case["warnings"]
    )
    assert "read as llama" in good("show", unknown, "--assume-family", "llama", "--all").out
    assert good("validate", unknown, "--assume-family", "llama").out.endswith(
        "a valid model file\n"
    )
    assert "no such family 'lma'" in refused("show", unknown, "--assume-family", "lma")


def test_a_study_beside_the_folder(folder):
    path = write_study(folder.parent, model="./Llama-3.1-8B")
    assert cases(path)[0]["model"] == "llama-3.1-8b"
    assert "holds no config.json" in refused("eval", write_study(folder.parent, model="./"))


@pytest.mark.parametrize(
    "command",
    [
        ("show",),
        ("validate",),
        ("eval", "--prompt", 8, "--model"),
        ("derive", "params", "--model"),
        ("solve", "max_batch_memory", "--model"),
    ],
)
def test_a_broken_file_is_one_line_and_exit_code_two(command, folder):
    path = folder / "config.json"
    path.write_text(
        path.read_text().replace(
            '"hidden_size": 4096', "\"hidden_size\": \"__import__('os').system('true')\""
        )
    )
    message = refused(*command, path)
    assert message.count("hidden_size: expected a whole number, found the text") == 1
    refused(*command, folder)
