"""A key that nothing takes is named: no file understood by halves yields a number without a word."""

import json
import random

import pytest

from symroof.errors import InputError
from symroof.specs.checkpoints.family import family_of, table
from symroof.specs.checkpoints.unread_keys import NO_EFFECT_ENDS, known_keys

from . import DATA, problem, read

CONFIGS = {
    path.name.removesuffix(".config.json"): json.loads(path.read_text())
    for path in sorted((DATA / "configs").glob("*.config.json"))
}
MEASURED = {
    name: entry["config"]
    for name, entry in json.loads((DATA / "families.json").read_text())["models"].items()
}
FIRST = (
    "num",
    "n",
    "expert",
    "recurrent",
    "shared",
    "index",
    "cross_layer",
    "hash",
    "global",
    "compressed",
)
LAST = (
    "experts",
    "rank",
    "ratio",
    "pattern",
    "window",
    "interval",
    "heads",
    "dim",
    "layers",
    "size",
    "groups",
)
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
    repeated = {
        "n_layers": 32,
        "layer_types": ["full_attention"] * 32,
        "moe_layer_freq": 1,
        "use_sliding_window": False,
        "max_window_layers": 28,
    }
    assert read(llama | repeated).caveats == read(llama).caveats
    for key, value in {
        "n_layers": 33,
        "layer_types": ["sliding_attention"] * 32,
        "moe_layer_freq": 2,
    }.items():
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


WITHOUT_EFFECT = {
    "first_k_dense_replace": [
        name for name, config in DECODERS.items() if "mlp_layer_types" in config
    ],  # each layer has its word already
    "sliding_window_pattern": [
        name for name, config in DECODERS.items() if "layer_types" in config
    ],
    "intermediate_size": [
        name for name, config in DECODERS.items() if "moe_intermediate_size" in config
    ],  # the class has it, and no dense layer
    "per_layer_config": DECODERS,  # what it holds here, a width of heads, has none where heads have another
    "mamba_conv_bias": ["nemotron_h"],  # true is what it is
}
"""Keys that change nothing where the class has them too, though it does not write them."""


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", DECODERS)
def test_a_key_of_another_class_is_read_or_refused_or_named(name):
    """Each key that some other class has and this one lacks: nothing changes in silence, unless it is declared to have no effect anywhere."""
    plain = read(DECODERS[name])
    silent = []
    for key, value in FOREIGN.items():
        if (
            key in DECODERS[name]
            or key in known_keys()["no_effect"]
            or NO_EFFECT_ENDS.fullmatch(key)
            or key in family_of(name).without_effect
            or key in known_keys()["ahead"]
        ):
            continue
        try:
            made = read(DECODERS[name] | {key: another(value)})
        except InputError:
            continue
        same = (made.layers, made.order, made.values(), made.norm, made.tied_embeddings) == (
            plain.layers,
            plain.order,
            plain.values(),
            plain.norm,
            plain.tied_embeddings,
        )
        if (
            same
            and not any(key in caveat for caveat in made.caveats)
            and made.max_context == plain.max_context
        ):
            silent.append(key)
    assert [key for key in silent if name not in WITHOUT_EFFECT.get(key, ())] == []
