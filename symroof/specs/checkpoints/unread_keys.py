"""What of a ``config.json`` was not read: keys that no recipe took, less those known to change no parameter, byte or operation.

A number from a file that is understood by halves is wrong without a sign of it, so what is left is named; where a family is only assumed, a key that
could carry structure stops the reading.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache
from typing import Any

from symroof.specs.checkpoints.config_fields import Config
from symroof.specs.checkpoints.family import table
from symroof.strict_yaml import Location

NO_EFFECT_ENDS = re.compile(
    r".*(?:_token_ids?|_token_index|_tokens?_index|dropout(?:_rate|_prob)?|_eps|_epsilon|_loss_coef|_loss_weight|_prompt_template)"
)

BIASES = re.compile(r"(?:.*_)?bias(?:_.*)?")
MOST_NAMED = 12


@lru_cache(maxsize=1)
def known_keys() -> dict[str, frozenset[str]]:
    """Keys of which it is known what leaving them unread does: those that change nothing that is counted, nothing where they are off, or 1, and so on."""
    names = ("no_effect", "ahead", "off", "one", "windowed", "structural")
    return {name: frozenset(table()[name]) for name in names}


@lru_cache(maxsize=1)
def repeated() -> dict[str, str]:
    """Keys that repeat another, each with that other."""
    return {key: other for other, keys in table()["repeated"].items() for key in keys}


def unread(c: Config, without_effect: Collection[str]) -> list[tuple[Location, bool]]:
    """The keys of a file that nothing took and that are not ``without_effect`` in its family, those that could carry structure (true) first, each with its place."""
    left = [
        (place, could_be_structure(place[-1], value)) for place, value in _left(c, without_effect)
    ]
    return sorted(left, key=lambda entry: not entry[1])


def unread_text(left: list[tuple[Location, bool]]) -> str:
    """The keys in a sentence."""
    names = [".".join(map(str, place)) for place, _ in left]
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return f"{', '.join(names[:MOST_NAMED])}{more}"


def could_be_structure(key: object, value: Any) -> bool:
    """Whether a key of unknown meaning could say what a layer is made of: by a word of its name, or because it counts or lists something.

    >>> could_be_structure("engram_vocab", 8), could_be_structure("expert_pattern", "abc"), could_be_structure("comment", "abc")
    (True, True, False)
    """
    words = re.split(r"[^a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", str(key)).lower())
    counts = isinstance(value, (int, list, dict)) and not isinstance(value, bool)
    return counts or bool(known_keys()["structural"] & set(words))


def _left(c: Config, without_effect: Collection[str]) -> Iterator[tuple[Location, Any]]:
    """Every key around and in the language model that nothing took and that may have an effect."""
    data: Mapping[str, Any] = c.document.data
    for depth in range(len(c.place) + 1):
        inside = c.place[depth] if depth < len(c.place) else None
        for key, value in data.items():
            place = (*c.place[:depth], key)
            aside = (
                key == inside
                or (key in table()["other_parts"] and isinstance(value, dict))
                or (inside and _is_repeated(value, c.data.get(key)))
            )
            if aside or _is_known(c, without_effect, place, value):
                continue
            yield from _left_inside(c, without_effect, place, value)
        data = data[str(inside)] if inside else {}


def _left_inside(
    c: Config, without_effect: Collection[str], place: Location, value: Any
) -> Iterator[tuple[Location, Any]]:
    """A key, or, of an object that was looked into, those in it that nothing took."""
    if place not in c.consulted or not isinstance(value, dict):
        yield place, value
    else:
        for key, inner in value.items():
            if not _is_known(c, without_effect, (*place, key), inner):
                yield from _left_inside(c, without_effect, (*place, key), inner)


def _is_known(c: Config, without_effect: Collection[str], place: Location, value: Any) -> bool:
    """Whether a key was taken, states nothing, or changes nothing."""
    key, known = str(place[-1]), known_keys()
    if value is None or value == [] or value == {}:
        return True
    if place[:-1] == c.place and c.contradicts(key):
        return False
    if place in c.consulted and not isinstance(value, dict):
        return True
    if (
        key in known["no_effect"] | known["ahead"]
        or key in without_effect
        or NO_EFFECT_ENDS.fullmatch(key)
        or key.startswith("mtp_")
        or key in c.known
    ):
        return True
    if key == "qk_head_dim":
        return value == sum(  # type: ignore[no-any-return]
            c.data.get(part, 0)
            for part in ("qk_nope_head_dim", "qk_rope_head_dim")
            if isinstance(c.data.get(part), int)
        )
    if key == "use_sliding_window" and value is False:
        return (*c.place, "sliding_window") not in c.consulted or c.data.get(
            "sliding_window"
        ) is None
    if value is False or value == 0:
        return key in known["off"] or bool(BIASES.fullmatch(key))
    if (plain := table()["one_kind"].get(key)) and isinstance(value, list):
        return all(entry in plain for entry in value)
    if key in known["windowed"] and not c.data.get("use_sliding_window", True):
        return True
    other = repeated().get(key, "")  # it may say again what another one says that was taken
    said = c.data.get(other, c.defaults.get(other)) if (*c.place, other) in c.consulted else None
    return (key in known["one"] and value == 1) or _is_repeated(value, said)


def _is_repeated(value: Any, read: Any) -> bool:
    """Whether a value, or every entry of a list, is the one that was read."""
    return read is not None and (
        value == read or (isinstance(value, list) and all(entry == read for entry in value))
    )
