"""The order of a model's layers: patterns that repeat, what is wrong with one, and where the layers of published models stand."""

import json
from pathlib import Path

import pytest

from symroof.errors import InputError
from symroof.specs import catalogue
from symroof.specs.fields import build
from symroof.specs.model import ModelSpec
from symroof.strict_yaml import loads

from ..tables import table
from .checkpoints import numbered, read

MODELS = sorted(catalogue.entries("models"))
MEASURED = json.loads((Path(__file__).parents[1] / "data" / "families.json").read_text())["models"]


def shipped(name):
    return build(catalogue.find("models", name), ModelSpec)


MODEL = """\
name: tiny
d_model: 64
vocab_size: 100
layers:
- {count: 4, label: local, attention: {n_heads: 4, n_kv_heads: 2, head_dim: 16, window: 8}, ffn: {d_ff: 128}}
- {count: 2, label: global, attention: {n_heads: 4, n_kv_heads: 2, head_dim: 16}, ffn: {d_ff: 128}}
"""


def model(text=MODEL, order=None):
    return build(loads(text + (f"order: {order}\n" if order else ""), "file.yaml"), ModelSpec)


PATTERNS = """
[local, local, global] | LLGLLG
[local, global, local, local] | LGLLLG
[local, global, local, local, global, local] | LGLLGL
"""


@pytest.mark.parametrize(("order", "sequence"), [("", "LLLLGG"), *table(PATTERNS)])
def test_a_pattern_repeats_and_is_cut_off_where_the_layers_end(order, sequence):
    made = model(order=order)
    assert "".join(label[0].upper() for label in made.sequence()) == sequence
    assert made.architecture().order == made.sequence()


WRONG = """
[local, locl, global] | order | makes 2 local instead of 4, 2 locl instead of 0 |
[local, global] | order | over 6 layers makes 3 local instead of 4, 3 global instead of 2 |
[local, local, global, local, local, global, local] | order | has 7 entries for 6 layers |
local | order | expected a list |
"""


@pytest.mark.parametrize(("order", "place", "message", "hint"), table(WRONG))
def test_a_wrong_order_is_said_with_place_and_hint(order, place, message, hint):
    with pytest.raises(InputError) as error:
        model(order=order)
    (problem,) = error.value.problems
    assert (problem.line, problem.path) == (7, place)
    assert message in problem.message
    assert hint == problem.hint


# --------------------------------------------------------------------------------------------------------- the catalogue


PLACES = {
    "deepseek-v3": {"dense": [0, 1, 2], "moe": range(3, 61)},
    "deepseek-v4-flash": {
        "local": [0, 1],
        "chosen": range(2, 43, 2),
        "compressed": range(3, 43, 2),
    },
    "glm-5.2": {"dense": [0, 1, 2], "indexed": range(6, 75, 4)},
    "gpt-oss-20b": {"local": range(0, 24, 2)},
    "jamba-1.5-mini": {"full_dense": [4, 12, 20, 28], "mamba_moe": range(1, 32, 2)},
    "kimi-k3": {"kimi_delta_dense": [0], "full_moe": [*range(3, 92, 4), 92]},
    "llama-4-maverick": {"full_moe": range(3, 48, 4), "chunked_moe": range(1, 48, 4)},
    "mimo-v2-flash": {"full_dense": [0], "full_moe": [5, 11, 17, 23, 29, 35, 41, 47]},
    "nemotron-nano-9b-v2": {"full": [14, 21, 30, 39], "mamba2": [0, 2, 4, 6, 7, 9, 11, 13]},
    "qwen3-next-80b-a3b": {"full": range(3, 48, 4)},
}
"""Layers, counted from 0, where configuration classes and files put them; of the Nemotrons' mixers the first ones."""


@pytest.mark.sample(12)
@pytest.mark.parametrize("name", PLACES)
def test_layers_stand_where_the_model_has_them(name):
    sequence = shipped(name).sequence()
    for label, places in PLACES[name].items():
        found = [i for i, other in enumerate(sequence) if other == label]
        assert found[: len(places)] == list(places)
        assert len(found) == len(places) or label == "mamba2"


# ----------------------------------------------------------------------------------------------------------- config.json


@pytest.mark.sample(12)
@pytest.mark.parametrize("name", sorted(set(MEASURED) & set(MODELS)))
def test_a_config_orders_the_layers_as_the_catalogue_does(name):
    assert numbered(read(MEASURED[name]["config"]).sequence()) == numbered(shipped(name).sequence())
