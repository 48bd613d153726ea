"""Broken and hostile files: one line that names the field, in no time, and nothing in them is ever run."""

import json
import time

import pytest

from symroof.errors import InputError
from symroof.specs.checkpoints.config_reader import read_config
from symroof.specs.checkpoints.json_text import DEEPEST, LARGEST_FILE, load_json, loads_json

from . import DATA, problem, read

CONFIGS = {
    path.name.removesuffix(".config.json"): json.loads(path.read_text())
    for path in sorted((DATA / "configs").glob("*.config.json"))
}
MEASURED = json.loads((DATA / "families.json").read_text())["models"]
WIDTHS = ("hidden_size", "num_hidden_layers", "num_attention_heads", "vocab_size")
BAD_NUMBERS = [-1, 0, 0.5, 4096.0, 10**9, 10**30, 1e308, float("nan"), float("inf"), True, False]
BAD_NUMBERS += ["4096", "64*64", "__import__('os').system('true')", [], [32], {}, {"value": 32}]
SECONDS = 10


def one_line(text, file="config.json"):
    """The first line of the error of a text, which comes quickly and alone."""
    begun = time.process_time()
    with pytest.raises(InputError) as error:
        read_config(loads_json(text, file))
    assert time.process_time() - begun < SECONDS
    assert len(error.value.problems) == 1
    return str(error.value).splitlines()[0]


# ------------------------------------------------------------------------------------------------------ what a field is


def test_a_width_that_is_none():
    for value in BAD_NUMBERS:
        for field in (*WIDTHS, "num_key_value_heads", "head_dim", "max_position_embeddings"):
            said = problem(CONFIGS["llama-2-7b"] | {field: value})
            assert said.startswith("config.json:1:"), (field, value)
            assert f": {field}: " in said, (field, value)


ANYTHING = (None, -1, 0, 2.5, 10**12, "x", [], {}, True)


def mutations(config, values):
    """A config with each of the values in each of its fields, and in those of the language model inside it."""
    inner = config.get("text_config", {})
    for value in values:
        yield from (config | {field: value} for field in config)
        yield from (config | {"text_config": inner | {field: value}} for field in inner)


@pytest.mark.sample(11)
@pytest.mark.parametrize(("place", "model"), list(enumerate(MEASURED)))
def test_no_field_of_any_family_breaks_the_reader(place, model):
    """A third of the values for each model, another third for the next. Whatever stands in a field, there is a model or an error that says where, never anything else."""
    begun = time.process_time()
    tried = list(mutations(MEASURED[model]["config"], ANYTHING[place % 3 :: 3]))
    for changed in tried:
        try:
            read(changed)
        except InputError as error:
            assert len(error.problems) == 1
            assert "\n" not in error.problems[0].message
            assert "is not a valid model" not in str(error), changed
    assert time.process_time() - begun < SECONDS * len(tried)


# ---------------------------------------------------------------------------------------------------------------- lists


def test_lists_of_layers_that_are_none():
    full = "full_attention"
    for kinds in ([], [full] * 23, ["full"] * 24, [None] * 24, [[full]] * 24, full, {}):
        changed = CONFIGS["gpt-oss-20b"] | {"layer_types": kinds}
        assert ": layer_types: " in problem(changed), kinds


# ------------------------------------------------------------------------------------------------------------- the file


STEP = '{"model_type": "step3p5", "num_hidden_layers": 1000, "moe_layers_enum": "?"}'
TEXTS = [
    ("  \n ", "is empty"),
    ("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 5\n", "is a Git LFS pointer"),
    ("<!DOCTYPE html><html>404</html>", "is a web page, not JSON"),
    ("[1, 2]", "expected an object with fields, found a list"),
    ('"llama"', "expected an object with fields, found the text 'llama'"),
    ("{", "not valid JSON"),
    ('{"a": 1,}', "not valid JSON"),
    ('{"a": 1} {"b": 2}', "not valid JSON"),
    ('{"a": {"b": 1, "b": 2}}', "b: duplicate key"),
    # the second, not the last
    ('{"a": 1,\n "a": 2,\n "a": 3}', "config.json:2:2: a: duplicate key"),
    # spelled otherwise, so the one that is there
    ('{"a": 1,\n "\\u0061": 2}', "config.json:1:2: a: duplicate key"),
    ("[" * 100_000, f"nested more than {DEEPEST} deep"),
    ('{"a":' * 50_000 + "1" + "}" * 50_000, f"nested more than {DEEPEST} deep"),
    ('{"a": [' + "[]," * 300_000 + "[]]}", "more than 200,000 values"),
    ('{"hidden_size": ' + "9" * 1_000_000 + "}", "model_type: is missing"),
    ('{"a": "' + '\\"' * 400_000, "not valid JSON"),
    ('{"model_type": 7}', "model_type: expected a text, found 7"),
    ('{"model_type": null}', "model_type: is missing"),
    ('{"text_config": []}', "text_config: expected an object with fields, found a list"),
    (f'{{"model_type": "llama", "hidden_size": {"9" * 3000}}}', "expected a whole number"),
    (STEP.replace("?", "1," * 100_000), "moe_layers_enum: expected a text"),
]


@pytest.mark.sample(10)
@pytest.mark.parametrize(("text", "said"), TEXTS, ids=range(len(TEXTS)))
def test_what_a_file_may_not_be(text, said):
    assert said in one_line(text)


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b"\xff\xfe{\x00}\x00", "is UTF-16 text, not UTF-8"),
        ("{}".encode("utf-32"), "is UTF-32 text, not UTF-8"),
        (b'{"model_type": "ll\xe4ma"}', "is not UTF-8 text (byte 18)"),
        (b"\x00" * 100, "not valid JSON"),
        (b" " * (LARGEST_FILE + 1), f"is larger than {LARGEST_FILE:,} bytes"),
    ],
)
def test_bytes_that_are_no_text(tmp_path, raw, said):
    (tmp_path / "config.json").write_bytes(raw)
    with pytest.raises(InputError, match=said.replace("(", r"\(").replace(")", r"\)")):
        load_json(tmp_path / "config.json")
