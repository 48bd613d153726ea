"""The family whose class would read a file of unknown type: by the keys that the two share, tried out, and only among equals by the look of its name."""

import difflib

from symroof.errors import InputError
from symroof.specs.checkpoints.config_fields import Config
from symroof.specs.checkpoints.family import model_fields
from symroof.specs.checkpoints.family_table import FAMILIES
from symroof.specs.checkpoints.unread_keys import unread, unread_text

LEAST_SHARED = 5
"""Keys below which sharing them says nothing: every class has a width, a depth and a vocabulary."""
LIKE = 0.6
"""How alike two names are that are of one family; below it the commoner family, listed first, is the better guess."""
NONE_KNOWN = (
    "no family that is known reads all of its keys: write a model spec (`symroof init model`)"
)


def nearest_family(c: Config, own: str) -> str:
    """A hint with the family that leaves the least of a file unread and has the least of its own to put in; ``own`` is the type that it names."""
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


def _read_as(name: str, c: Config, own: str) -> tuple[tuple[int, int, int, float], str, str] | None:
    """How a family would read the file: keys it does not know, settings of its own that the file is silent about, keys it takes, likeness of its name;
    None where it cannot."""
    family = FAMILIES[name]
    tried = Config(c.document, c.place, c.data, family.defaults, family.names, family.source)
    try:
        model_fields(family, tried)
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
