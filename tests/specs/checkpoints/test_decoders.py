"""Every decoder of transformers: read, with as many parameters as its model holds, or refused for a reason that we give.

The counts in ``tests/data/decoders.json`` are of a release; where transformers is installed (``pip install symroof[oracle]``), each class is built.
"""

import json

import pytest

from symroof.errors import InputError
from symroof.specs.checkpoints.family import refused, table

from . import case, read
from .decoders import COUNTS, configuration, parameters, small, types, written

MEASURED = json.loads(COUNTS.read_text())["types"]
SILENT = {name: entry["silent"] for name, entry in MEASURED.items() if "silent" in entry}
SMALL = {name: entry["small"] for name, entry in MEASURED.items() if "small" in entry}


def params(config):
    return case(read(config)).value("params")


@pytest.mark.sample(16)
@pytest.mark.parametrize("name", SMALL)
def test_parameters_are_those_of_the_class(name):
    assert params(SMALL[name]["config"]) == SMALL[name]["params"]


@pytest.mark.sample(16)
@pytest.mark.parametrize("name", SILENT)
def test_a_silent_file_has_the_parameters_of_its_class(name):
    assert params({"model_type": name, **SILENT[name]["with"]}) == SILENT[name]["params"]


def classes():
    try:
        return types()
    except ImportError:
        return []


@pytest.mark.parametrize(
    "name", classes() or [pytest.param("", marks=pytest.mark.skip("transformers is not installed"))]
)
def test_each_class_is_read_or_refused(name):
    """What cannot be read says why, and is not one that we say we read."""
    try:
        config = small(name)
        file = written(config)
    except Exception:  # a class without a configuration of its own
        config, file = None, {"model_type": name}
    try:
        found = params(file)
    except InputError as error:
        assert name not in table()["families"]
        assert any(
            f"{unread} is not read: {reason}" in str(error) for unread, reason in refused().items()
        )
        return
    assert config is not None
    try:
        expected = parameters(config)
    except ImportError:
        pytest.skip("the class around it needs a library for images")
    assert found == expected


FIELDS = [
    (name, field, value)
    for name in classes()
    if name in table()["families"]
    for field, value in written(configuration(name)).items()
    if type(value) in (int, bool)
]


@pytest.mark.parametrize(("name", "field", "value"), FIELDS)
def test_another_value_of_a_field_counts_as_in_the_class(name, field, value):
    """One field at a time: a truth turned around, a number doubled. What a class takes is read alike, or not at all."""
    try:
        config = configuration(name, **{field: not value if isinstance(value, bool) else 2 * value})
        expected = parameters(config)
    except Exception:  # a class refuses many values
        pytest.skip("not a value for the class")
    try:
        assert params(written(config)) == expected
    except InputError:
        pytest.skip("refused")
