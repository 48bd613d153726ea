"""Models read from their ``config.json``, and cases of them."""

import json
from fractions import Fraction
from functools import lru_cache
from pathlib import Path

from symroof.errors import InputError
from symroof.specs.checkpoints.config_reader import read_config
from symroof.specs.checkpoints.json_text import loads_json
from symroof.symbolic.expressions import number
from symroof.theory.case import Case
from symroof.theory.switches import assume
from symroof.theory.theory import theory

DATA = Path(__file__).parents[2] / "data"
FULL = {"attention": "full", "mla": "reexpanded"}
"""How the measured implementations count: masked pairs too, and latents expanded again at every step."""


def read(config, **options):
    """The spec of a config given as a dict."""
    return read_config(loads_json(json.dumps(config)), **options)


@lru_cache(maxsize=64)
def from_file(name):
    """The spec of one of the config files beside the tests."""
    return read_config(loads_json((DATA / "configs" / f"{name}.config.json").read_text()))


def case(spec, switches=None, **values):
    """A case of a spec with whole-number inputs."""
    given = {name: number(Fraction(value)) for name, value in {**spec.values(), **values}.items()}
    return Case(theory(spec.architecture(), assume(**(switches or {}))), given)


def numbered(sequence):
    """A sequence of labels numbered as they first come: what is left when names differ."""
    numbers = {label: i for i, label in enumerate(dict.fromkeys(sequence))}
    return [numbers[label] for label in sequence]


def problem(config, **options):
    """The one line of the error that a config gives."""
    try:
        read(config, **options)
    except InputError as error:
        assert len(error.problems) == 1
        return str(error).splitlines()[0]
    raise AssertionError("no error")
