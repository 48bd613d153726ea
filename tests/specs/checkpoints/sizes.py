"""Models and resident bytes for the tests of files that people have."""

from symroof.api import Study
from symroof.specs.fields import build
from symroof.specs.model import ModelSpec
from symroof.strict_yaml import loads


def spec(text, **changes):
    """A model written as YAML, with fields put beside."""
    return build(loads(text), ModelSpec).model_copy(update=changes)


def resident(model):
    """Resident bytes of a model's weights, exact."""
    return Study(model=model).value("weight_bytes")
