"""The family whose class would read a file of unknown type: by the keys that the two share, tried out on a layer of each kind, and only among equals by the look of its name."""

import difflib
from collections.abc import Mapping
from itertools import accumulate
from typing import Any

from symroof.errors import InputError
from symroof.specs.checkpoints.config_fields import Config
from symroof.specs.checkpoints.family import Family, try_layers
from symroof.specs.checkpoints.family_table import FAMILIES
from symroof.specs.checkpoints.unread_keys import unread, unread_text

LEAST_SHARED = 5
"""Keys below which sharing them says nothing: every class has a width, a depth and a vocabulary."""
LIKE = 0.6
"""How alike two names are that are of one family; below it the commoner family, listed first, is the better guess."""
MOST_ENTRIES = 2_000
"""Keys, and entries of lists, of a file that is compared with the families; that of a real model has some hundred."""
ENOUGH_LAYERS = 128
"""Layers that show every kind there is: no real model has more."""
NONE_KNOWN = (
    "no family that is known reads all of its keys: write a model spec (`symroof init model`)"
)


def nearest_family(c: Config, own: str) -> str:
    """A hint with the family that leaves the least of a file unread and has the least of its own to put in; ``own`` is the type that it names."""
    if _entries(c) > MOST_ENTRIES:
        return NONE_KNOWN
    tried = [made for name in FAMILIES if (made := _read_as(name, c, own))]
    if not tried:
        return NONE_KNOWN
    (missing, _, shared, _), name, left = min(tried, key=lambda made: made[0])
    if missing == 0 and -shared >= LEAST_SHARED:
        return f"the nearest by its keys is {name}: `--assume-family {name}` reads every one that could be structure, if its layers are built alike"
    return (
        f"the nearest family by its keys is {name}, which does not know {left}; {NONE_KNOWN}"
        if -shared >= LEAST_SHARED
        else NONE_KNOWN
    )


def _entries(c: Config) -> int:
    """How much there is to compare: the keys in and around a language model, and the entries of their lists and objects."""
    around = accumulate(c.place, lambda data, key: data[key], initial=c.document.data)
    return sum(
        1 + (len(value) if isinstance(value, list | dict) else 0)
        for data in around
        for key, value in data.items()
        if key not in c.place and key != "quantization_config"
    )


def _with_fewer_layers(data: Mapping[str, Any], family: Family) -> Mapping[str, Any]:
    """The fields of a model cut off after enough layers, with the lists and texts that have an entry for each."""
    spellings = family.names.get("num_hidden_layers", ("num_hidden_layers",))
    counts = {
        key: value
        for key in spellings
        if isinstance(value := data.get(key), int) and value > ENOUGH_LAYERS
    }
    if not counts:
        return data
    cut = {
        key: value[:ENOUGH_LAYERS]
        for key, value in data.items()
        if isinstance(value, list | str) and len(value) in counts.values()
    }
    return {**data, **cut, **dict.fromkeys(counts, ENOUGH_LAYERS)}


def _read_as(name: str, c: Config, own: str) -> tuple[tuple[int, int, int, float], str, str] | None:
    """How a family would read the file: keys it does not know, settings of its own that the file is silent about, keys it takes, likeness of its name;
    None where it cannot."""
    family = FAMILIES[name]
    data = _with_fewer_layers(c.data, family)
    tried = Config(c.document, c.place, data, family.defaults, family.names, family.source)
    try:
        try_layers(family, tried)
    except InputError:
        return None
    left = [entry for entry in unread(tried, name) if entry[1]]
    put_in = sum(
        bool(value) and not any(spelling in c.data for spelling in tried.spellings(key))
        for key, value in family.defaults.items()
    )
    taken = sum(place[:-1] == c.place and place[-1] in c.data for place in tried.consulted)
    alike = difflib.SequenceMatcher(None, own, name).ratio()
    return (len(left), put_in, -taken, -alike if alike > LIKE else 0.0), name, unread_text(left)
