"""Tables of tests as text, a row a line, and cases in a line."""

import contextlib
import re
import shlex

import yaml

from symroof.theory.switches import SWITCHES


def table(text):
    """The cells of the lines of a table; those that begin with ``#`` say what follows.

    >>> table("itl | 3 ms\\n# of a prompt\\nttft | 5 ms")
    [['itl', '3 ms'], ['ttft', '5 ms']]
    """
    lines = [line for line in text.strip().splitlines() if line and line[0] != "#"]
    return [[cell.strip() for cell in re.split(r" \|(?= |$)", line)] for line in lines]


def case_of(words, names=None):
    """A case: cases by their names, then ``input=value`` and ``switch=value``.

    >>> case_of("H100 detail=kv batch=8 price='2 USD/hour'", {"H100": {"hardware": "h100-sxm"}})
    {'hardware': 'h100-sxm', 'batch': 8, 'price': '2 USD/hour', 'assume': {'detail': 'kv'}}
    """
    case, assumed = {}, {}
    for word in shlex.split(words):
        name, mark, value = word.partition("=")
        if not mark:
            case |= names[name]
            assumed |= names[name].get("assume", {})
        elif name == "detail" or value in getattr(SWITCHES.get(name), "values", ()):
            assumed[name] = value
        else:
            case[name] = plain(value)
    return case | ({"assume": assumed} if assumed else {})


def plain(value):
    """A number, or a text that is none."""
    for kind in (int, float):
        with contextlib.suppress(ValueError):
            return kind(value)
    return value


def words(text):
    """The words of a text: many names in few lines."""
    return text.split()


def fields(text):
    """The fields of a mapping in YAML, without its braces.

    >>> fields("quant_method: awq, bits: 4, zero_point: true")
    {'quant_method': 'awq', 'bits': 4, 'zero_point': True}
    """
    return yaml.safe_load(f"{{{text}}}")
