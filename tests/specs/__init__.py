"""Documents for the specs' tests."""

from hypothesis import settings

from symroof.errors import InputError
from symroof.strict_yaml import loads


def examples(count):
    """Hypothesis settings: so many examples, the same ones every time."""
    return settings(max_examples=count, deadline=None, database=None, derandomize=True)


def problems(text):
    """The problems of a text, none where it reads."""
    try:
        loads(text)
    except InputError as error:
        return error.problems
    return ()
