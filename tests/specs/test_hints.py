"""What a name or a value that is none leads to, word for word: the nearest, what to write, or where to look."""

import time

import pytest

from symroof import Study
from symroof.errors import InputError
from symroof.specs.catalogue import find
from symroof.specs.input_values import setting
from symroof.specs.spec_files import file_kind
from symroof.strict_yaml import loads

from ..tables import table

SHOWN = "shows the catalogue; a path to a spec file"
NOT_THERE = f"""
# kind | name | message | hint
models | x/Lama-9-8B | not in the catalogue, and no such path here | give --model PATH/config.json
models | LLAMA-3-8C | no such model in the catalogue | did you mean 'llama-3-8b'?
models | é! | no such model in the catalogue | `symroof list models` {SHOWN} or a config.json
hardware | zzzz | no such hardware in the catalogue | `symroof list hardware` {SHOWN} works too
hardware | h100, l4 | expected a single name | several: --hardware h100,l4 on the line, hardware: [h100, l4] in a study
hardware | all | expected a single name | --among hardware=all of select, or a list in a study
hardware | MacBook | no such hardware in the catalogue | name its chip, such as m4-max
hardware | RTX | matches several devices | `symroof list hardware`
presets | genx | no such preset in the catalogue | did you mean 'genz'?
"""


@pytest.mark.parametrize(("kind", "name", "message", "hint"), table(NOT_THERE))
def test_an_entry_that_is_not_there(kind, name, message, hint):
    with pytest.raises(InputError) as error:
        find(kind, name)
    (problem,) = error.value.problems
    assert problem.message == message and hint in problem.hint


@pytest.mark.parametrize(
    ("keys", "kind"),
    table("""
measurements serving ceilings | measured
inputs | theory
workload targets theory | study
layers d_model published_params params | model
assume set definitions | preset
"""),
)
def test_one_key_tells_what_kind_of_file_it_is(keys, kind):
    for key in keys.split():
        assert file_kind(loads(f"name: x\n{key}: 3")) == kind
    with pytest.raises(InputError, match="is not a study, model, hardware"):
        file_kind(loads(f"name: {keys.split()[0]}"))


NO_VALUES = """
prompt | 10.5 | counts tokens: write a whole number
prompt | 1.5..2 | counts tokens: write a whole number
batch | 0 | must be positive
output | 0 | must be positive; leave it out for a prompt alone
mfu | 1.01 | must be between 0 and 1 (for example 0.62 or 62 %)
mfu | 0.5..1.1 | must be between 0 and 1 (for example 0.62 or 62 %)
link_latency | -1 us | must be 0 or more
itl | 2*params | itl is declared as s but 2*params is parameter
itl | x*2 | unknown name 'x'
"""


@pytest.mark.sample(5)
@pytest.mark.parametrize(("name", "value", "message"), table(NO_VALUES))
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
