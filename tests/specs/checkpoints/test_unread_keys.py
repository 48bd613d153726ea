"""A key that nothing takes is named: no file understood by halves yields a number without a word."""

import json
import random

import pytest

from symroof.errors import InputError
from symroof.specs.checkpoints.config_reader import NO_EFFECT_ENDS, known_keys
from symroof.specs.checkpoints.family import family_of, table

from ...tables import fields, words
from . import DATA, problem, read

CONFIGS = {
    path.name.removesuffix(".config.json"): json.loads(path.read_text())
    for path in sorted((DATA / "configs").glob("*.config.json"))
}
MEASURED = {
    name: entry["config"]
    for name, entry in json.loads((DATA / "families.json").read_text())["models"].items()
}
FIRST = words("num n expert recurrent shared index cross_layer hash global compressed")
LAST = words("experts rank ratio pattern window interval heads dim layers size groups")
VALUES = (1, 2, 7, 128, 0.5, 3.0, "ABAB", "full", True, [1, 2, 1], [4], {"every": 2}, [[1, 2], [3]])


def made_up(key, seed):
    """A key of structure that no class has, with a value of any kind."""
    chance = random.Random(seed)
    return f"{chance.choice(FIRST)}_{key}_{chance.choice(LAST)}", chance.choice(VALUES)


def with_key(config, key, value, inside):
    """A config with one more key, with the language model's own or around them."""
    for nested in table()["nested"]:
        if inside and isinstance(config.get(nested), dict):
            return config | {nested: with_key(config[nested], key, value, inside)}
    return config | {key: value}


def unread(config):
    """What is said of keys that are not read."""
    return [caveat for caveat in read(config).caveats if "not read" in caveat]


def test_one_unknown_key_of_structure_is_always_said_and_no_other():
    for seed, (model, config) in enumerate((CONFIGS | MEASURED).items()):
        assert unread(config) == [], model
        key, value = made_up("flux", model)
        (said,) = unread(with_key(config, key, value, seed % 2))
        assert key in said


@pytest.mark.sample(2)
@pytest.mark.parametrize("model", CONFIGS)
def test_a_family_is_not_assumed_over_an_unknown_key_of_structure(model):
    family = CONFIGS[model]["model_type"]
    plain = {**CONFIGS[model], "model_type": "own"}
    assert read(plain, assume_family=family).layers == read(CONFIGS[model]).layers
    for seed in range(4):
        key, value = made_up("flux", f"{model} {seed}")
        refused = problem({**plain, key: value}, assume_family=family)
        assert f"{family} does not know what may be structure: {key}" in refused


def test_keys_that_say_again_what_is_read_are_not_unread():
    llama = CONFIGS["llama-3.1-8b"]
    repeated = fields(
        "n_layers: 32, moe_layer_freq: 1, use_sliding_window: false, max_window_layers: 28"
    )
    repeated["layer_types"] = ["full_attention"] * 32
    assert read(llama | repeated).caveats == read(llama).caveats
    for key, value in (
        ("n_layers", 33),
        ("layer_types", ["sliding_attention"] * 32),
        ("moe_layer_freq", 2),
    ):
        assert any(key in caveat for caveat in read(llama | {key: value}).caveats)


DECODERS = {
    name: entry["small"]["config"]
    for name, entry in json.loads((DATA / "decoders.json").read_text())["types"].items()
}
PLAIN = {"id2label", "label2id", "rope_parameters", "rope_scaling"}
FOREIGN = {
    key: value
    for config in DECODERS.values()
    for key, value in config.items()
    if key not in PLAIN
    and not key.startswith("mtp_")
    and isinstance(value, (int, list, dict))
    and value
}


def another(value):
    """A value of the same kind that no class has."""
    if isinstance(value, bool) or not isinstance(value, int):
        return value
    return 2 * value + 3


def having(key):
    return [name for name, config in DECODERS.items() if key in config]


WITHOUT_EFFECT = {
    # each layer has its word already
    "first_k_dense_replace": having("mlp_layer_types"),
    "sliding_window_pattern": having("layer_types"),
    # the class has it, and no dense layer
    "intermediate_size": having("moe_intermediate_size"),
    # what it holds here, a width of heads, has none where heads have another
    "per_layer_config": DECODERS,
    # true is what it is
    "mamba_conv_bias": ["nemotron_h"],
}
"""Keys that change nothing where the class has them too, though it does not write them."""


def structure(made):
    sizes = made.values(), made.norm, made.tied_embeddings, made.max_context
    return made.layers, made.order, *sizes


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", DECODERS)
def test_a_key_of_another_class_is_read_or_refused_or_named(name):
    """Each key that some other class has and this one lacks: nothing changes in silence, unless it is declared to have no effect anywhere."""
    plain, known = read(DECODERS[name]), known_keys()
    declared = {*DECODERS[name], *known["no_effect"], *known["ahead"]}
    declared |= set(family_of(name).without_effect)
    silent = []
    for key, value in FOREIGN.items():
        if key in declared or NO_EFFECT_ENDS.fullmatch(key):
            continue
        try:
            made = read(DECODERS[name] | {key: another(value)})
        except InputError:
            continue
        if structure(made) == structure(plain) and not any(key in said for said in made.caveats):
            silent.append(key)
    assert [key for key in silent if name not in WITHOUT_EFFECT.get(key, ())] == []
