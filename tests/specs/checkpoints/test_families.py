"""Every family against its own class: parameters, cache, state and FLOPs of measured configs, to the last digit."""

import json

import pytest

from symroof.specs.checkpoints.family import family_of
from symroof.theory.architecture import CORE, SCAN
from symroof.theory.operator_table import placed_rows, total
from symroof.theory.switches import assume

from ...tables import words
from . import DATA, FULL, case, read

MEASURED = json.loads((DATA / "families.json").read_text())["models"]
CACHED_EXPANDED = {"falcon-40b", "falcon-11b", "made-up-falcon-new"}
"""Falcon's new decoder keeps a key and a value for every query head in this implementation; engines keep those of the KV heads."""
OF_CLASSES = json.loads((DATA / "class_defaults.json").read_text())
DEFAULTS, LAYERS = OF_CLASSES["types"], OF_CLASSES["layers"]
SETTINGS = {
    "default": {},
    "seven layers": {"num_hidden_layers": 7},
    "window in use": {
        "num_hidden_layers": 9,
        "use_sliding_window": True,
        "sliding_window": 512,
        "max_window_layers": 5,
    },
}
NOT_OF_THE_CLASS = {
    "tie_word_embeddings": words(
        "qwen2_5_omni_text qwen2_5_vl_text qwen2_vl_text qwen3_omni_moe_text qwen3_vl_moe_text "
        "qwen3_vl_text glm4v_text"
    ),
    "intermediate_size": ["qwen3_5_moe_text", "solar_open"],
    "num_key_value_heads": ["persimmon"],
    "num_hidden_layers": ["nemotron_h"],
}
"""Fields that the model around it decides on, that a class lacks, or that it counts from a pattern of layers."""
BESIDE = {
    "dots1": {"num_experts_per_tok": 6, "n_routed_experts": 128},
    "gemma3n_text": {"num_kv_shared_layers": 0},
}
"""What a class leaves open, or has for its own number of layers only."""
MIXING = {"gqa": "f", "mla": "f", "chunked": "c"}
NOT_COMPARED = frozenset({CORE, SCAN, "conv", "ssm_dt"})
"""Operators that are no module of one matrix product in the measured implementation."""


def tables(key):
    """Every model with a measured table: what it was measured at, the numbers."""
    return [
        pytest.param(
            model, {tuple(at.split("_")): value for at, value in entry[key].items()}, id=model
        )
        for model, entry in MEASURED.items()
        if key in entry
    ]


def spec(model):
    return read(MEASURED[model]["config"])


@pytest.mark.sample(16)
@pytest.mark.parametrize("name", DEFAULTS)
def test_what_a_silent_file_gets_is_the_default_of_its_class(name):
    def of_the_class(defaults):
        left_out = {field for field, names in NOT_OF_THE_CLASS.items() if name in names}
        return {field: value for field, value in defaults.items() if field not in left_out}

    assert of_the_class(family_of(name).defaults) == of_the_class(DEFAULTS[name])


@pytest.mark.sample(20)
@pytest.mark.parametrize("model", MEASURED)
def test_parameters_cache_and_state(model):
    truth, made = MEASURED[model], spec(model)
    found = case(made)
    assert found.value("params") == truth["params"]
    assert found.value("active_params") == truth["active_params"]
    expanded = (
        made.layers[0].attention.n_heads // made.layers[0].attention.n_kv_heads
        if model in CACHED_EXPANDED
        else 1
    )
    if "kv_bytes_per_token" in truth:
        assert found.value("kv_bytes_per_token") * expanded == truth["kv_bytes_per_token"]
    if "state_elements" in truth:
        assert (
            case(made, state_bytes_per_element=2).value("state_bytes_per_request")
            == 2 * truth["state_elements"]
        )
    if "state_bytes" in truth:  # what convolutions keep has 16 bits, what recurrences carry 32
        assert found.value("state_bytes_per_request") == truth["state_bytes"]


@pytest.mark.sample(16)
@pytest.mark.parametrize(("model", "measured"), tables("prefill_flops"))
def test_prefill_flops(model, measured):
    made = spec(model)
    found = {
        at: case(
            made, {**FULL, "logits": at[2]}, prompt=int(at[1][1:]), prefill_batch=int(at[0][1:])
        ).value("prefill_flops")
        for at in measured
    }
    assert found == measured


@pytest.mark.sample(16)
@pytest.mark.parametrize(("model", "measured"), tables("decode_flops"))
def test_decode_flops(model, measured):
    made = spec(model)
    assert {
        at: case(made, FULL, context=int(at[1][1:]) + 1, batch=int(at[0][1:])).value("decode_flops")
        for at in measured
    } == measured


def linear_flops(model, tokens, rows):
    """FLOPs of all matrix products of so many tokens and rows of logits."""
    made = spec(model)
    found = case(made)
    drivers = {"tokens": tokens, "logit_rows": rows}
    counted = [
        row
        for row in placed_rows(made.architecture(), assume(**FULL))
        if row.stream == "flops" and row.operator not in NOT_COMPARED
    ]
    assert {row.per for row in counted} <= set(drivers)
    return sum(drivers[row.per] * found.evaluate(total([row])) for row in counted)


@pytest.mark.sample(5)
@pytest.mark.parametrize(("model", "measured"), tables("prefill_linear_flops"))
def test_matrix_products_of_a_prompt_beside_a_recurrence(model, measured):
    for (requests, prompt, logits), flops in measured.items():
        batch, tokens = int(requests[1:]), int(requests[1:]) * int(prompt[1:])
        assert linear_flops(model, tokens, tokens if logits == "all" else batch) == flops


@pytest.mark.sample(5)
@pytest.mark.parametrize(("model", "measured"), tables("decode_linear_flops"))
def test_matrix_products_of_a_step_beside_a_recurrence(model, measured):
    for (requests, *_), flops in measured.items():
        assert linear_flops(model, int(requests[1:]), int(requests[1:])) == flops


def letters(made):
    """A letter for each layer's mixing: full, sliding, chunked or linear; and for its feed-forward: dense, or x for experts."""
    kinds = dict(zip(made.labels(), made.layers, strict=True))
    layers = [kinds[label] for label in made.sequence()] or [made.layers[0]] * made.layers[0].count
    mixing = [
        "s" if getattr(kind.attention, "window", None) else MIXING.get(kind.attention.kind, "l")
        for kind in layers
    ]
    return {
        "mixing": "".join(mixing),
        "feeding": "".join("x" if kind.ffn.kind == "moe" else "d" for kind in layers),
    }


@pytest.mark.sample(5)
@pytest.mark.parametrize("name", LAYERS)
def test_layers_are_of_the_kinds_that_the_class_works_out(name):
    for setting, expected in LAYERS[name].items():
        found = letters(read({"model_type": name, **SETTINGS[setting], **BESIDE.get(name, {})}))
        assert {key: found[key] for key in expected} == expected, setting
