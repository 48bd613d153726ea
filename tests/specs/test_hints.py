"""What a name or a value that is none leads to, word for word: the nearest, what to write, or where to look."""

import time
from fractions import Fraction

import pytest

from symroof import Study
from symroof.errors import InputError
from symroof.specs.catalogue import (
    find,
)
from symroof.specs.checkpoint_precisions import precision_width
from symroof.specs.file_kinds import file_kind
from symroof.specs.input_values import setting
from symroof.strict_yaml import loads
from symroof.symbolic.expressions import fraction

CATALOGUE = "`symroof list {}` shows the catalogue; a path to a spec file works too"
MODELS = (
    "`symroof list models` shows the catalogue; a path to a spec file or a config.json works too"
)


@pytest.mark.parametrize(
    ("kind", "name", "message", "hint"),
    [
        (
            "models",
            "x/Lama-9-8B",
            "not in the catalogue, and no such path here",
            "download its config.json and give --model PATH/config.json (`symroof list models`: the catalogue)",
        ),
        (
            "models",
            "LLAMA-3-8C",
            "no such model in the catalogue",
            f"did you mean 'llama-3-8b'? {MODELS}",
        ),
        ("models", "é!", "no such model in the catalogue", MODELS),
        ("hardware", "zzzz", "no such hardware in the catalogue", CATALOGUE.format("hardware")),
        (
            "hardware",
            "h100, l4",
            "expected a single name",
            "several: --among hardware=h100,l4 of select, or a list in a study",
        ),
        (
            "hardware",
            "all",
            "expected a single name",
            "several: --among hardware=all of select, or a list in a study",
        ),
        (
            "hardware",
            "MacBook",
            "no such hardware in the catalogue",
            "name its chip, such as m4-max: `symroof list hardware apple` has all",
        ),
        ("hardware", "RTX", "matches several devices", "`symroof list hardware`"),
        ("presets", "genx", "no such preset in the catalogue", "did you mean 'genz'?"),
    ],
)
def test_an_entry_that_is_not_there(kind, name, message, hint):
    with pytest.raises(InputError) as error:
        find(kind, name)
    (problem,) = error.value.problems
    assert (problem.message, problem.hint) == (message, hint)


@pytest.mark.parametrize(
    ("keys", "kind"),
    [
        ("measurements serving ceilings", "measured"),
        ("inputs", "theory"),
        ("workload targets theory", "study"),
        ("layers d_model published_params params", "model"),
        ("assume set definitions", "preset"),
    ],
)
def test_one_key_tells_what_kind_of_file_it_is(keys, kind):
    for key in keys.split():
        assert file_kind(loads(f"name: x\n{key}: 3")) == kind
    with pytest.raises(InputError, match="is not a study, model, hardware"):
        file_kind(loads(f"name: {keys.split()[0]}"))


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("name", "bits", "shared", "group", "format_", "computes"),
    [
        ("awq", 4, 20, 128, "int4", None),
        ("awq-g64", 4, 20, 64, "int4", None),
        ("gptq-g32", 4, 20, 32, "int4", None),
        ("w4a16", 4, 16, 128, "int4", None),
        ("w4a16-g32", 4, 16, 32, "int4", None),
        ("w8a8", 8, 0, 1, "int8", "int8"),
        ("w8a16", 8, 0, 1, "int8", None),
        ("fp8-dynamic", 8, 0, 1, "fp8", "fp8"),
        ("mxfp4", 4, 8, 32, "fp4", None),
        ("nvfp4", 4, 8, 16, "fp4", "fp4"),
        ("nf4", 4, 32, 64, "fp4", None),
        ("q4_k_m", Fraction(9, 2), 0, 1, "int4", None),
    ],
)
def test_what_a_weight_and_its_group_take(name, bits, shared, group, format_, computes):
    stored = precision_width(name)
    settings = {key: fraction(value) for key, value in stored.settings}
    sizes = (8 * settings["weight_bits"], 8 * settings["scale_bits"], settings["scale_group"])
    assert sizes == (bits, shared, group)
    assert (stored.format, stored.computes) == (format_, computes)
    assert settings["unquantized_bytes_per_param"] == 2


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("prompt", "10.5", "counts tokens: write a whole number"),
        ("prompt", "1.5..2", "counts tokens: write a whole number"),
        ("batch", "0", "must be positive"),
        ("output", "0", "must be positive; leave it out for a prompt alone"),
        ("mfu", "1.01", "must be between 0 and 1 (for example 0.62 or 62 %)"),
        ("mfu", "0.5..1.1", "must be between 0 and 1 (for example 0.62 or 62 %)"),
        ("link_latency", "-1 us", "must be 0 or more"),
        ("itl", "2*params", "itl is declared as s but 2*params is parameter"),
        ("itl", "x*2", "unknown name 'x'"),
    ],
)
def test_a_value_that_is_none(name, value, message):
    with pytest.raises(ValueError) as error:
        setting(name, value)
    assert str(error.value) == message


@pytest.mark.parametrize("key", ["set", "workload", "assume"])
def test_many_unknown_keys_are_told_up_to_a_bound(key, tmp_path):
    started = time.process_time()
    lines = [f"model: llama-3-8b\n{key}:\n", *(f"  nosuch{i}: 3\n" for i in range(5_000))]
    (tmp_path / "study.yaml").write_text("".join(lines), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        Study.load(tmp_path / "study.yaml")
    assert 0 < len(caught.value.problems) <= 60
    assert time.process_time() - started < 4
