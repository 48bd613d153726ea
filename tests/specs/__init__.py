"""Documents for the specs' tests."""

from symroof.errors import InputError
from symroof.strict_yaml import loads


def problems(text):
    """The problems of a text, none where it reads."""
    try:
        loads(text)
    except InputError as error:
        return error.problems
    return ()
