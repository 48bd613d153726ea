"""The family whose class would read a file of unknown type, by the names of the keys that the two share."""

import difflib

from symroof.specs.checkpoints.config_fields import Config
from symroof.specs.checkpoints.family import Family, families
from symroof.specs.checkpoints.unread_keys import unread, unread_text

LEAST_SHARED = 5
"""Keys below which sharing them says nothing: every class has a width, a depth and a vocabulary."""
LIKE = 0.6
"""How alike two names are that are of one family; below it the commoner family, listed first, is the better guess."""
MOST_KEYS = 500
"""Keys of a file that is compared with the families; that of a real model has some hundred."""
NONE_KNOWN = (
    "no family that is known reads all of its keys: write a model spec (`symroof init model`)"
)


def nearest_family(c: Config, own: str) -> str:
    """A hint with the family that leaves the least of a file unread and has the least of its own to put in; ``own`` is the type that it names."""
    if len(c.document.data) + len(c.data) > MOST_KEYS:
        return NONE_KNOWN
    compared = (_compared(name, family, c, own) for name, family in families())
    (missing, _, shared, _), name, left = min(compared, key=lambda each: each[0])
    if -shared < LEAST_SHARED:
        return NONE_KNOWN
    if missing:
        return f"the nearest family by its keys is {name}, which does not know {left}; {NONE_KNOWN}"
    return f"the nearest by its keys is {name}: `--assume-family {name}` reads every one that could be structure, if its layers are built alike"


def _compared(
    name: str, family: Family, c: Config, own: str
) -> tuple[tuple[int, int, int, float], str, str]:
    """Keys that a family does not know, settings of its own that the file is silent about, keys that both have, likeness of its name."""
    tried = family.config(c.document, c.place, c.data)
    shared = c.data.keys() & family.keys
    tried.consulted.update((*c.place, key) for key in shared)
    left = [entry for entry in unread(tried, family.without_effect) if entry[1]]
    put_in = sum(
        bool(value) and not any(spelling in c.data for spelling in tried.spellings(key))
        for key, value in family.defaults.items()
    )
    alike = difflib.SequenceMatcher(None, own, name).ratio()
    score = (len(left), put_in, -len(shared), -alike if alike > LIKE else 0.0)
    return score, name, unread_text(left)
