"""From a ``config.json``, or a folder that holds one, to a validated model spec; and what of the file was not read.

A number from a file that is understood by halves is wrong without a sign of it, so keys that no recipe took are named, less those known to change no
parameter, byte or operation; where a family is only assumed, a key that could carry structure stops the reading.
"""

import difflib
import os
import re
from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from symroof.errors import InputError, Problem, nearest
from symroof.specs.checkpoints.config_fields import Config
from symroof.specs.checkpoints.family import (
    Family,
    family_of,
    known_types,
    model_fields,
    refused,
    table,
)
from symroof.specs.checkpoints.json_text import LARGEST_FILE, JsonDocument, kind_of_value, load_json
from symroof.specs.checkpoints.quantization_config import FIELDS, read_quantization
from symroof.specs.fields import first_error, spec_name
from symroof.specs.model import ModelSpec
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


CONFIG, PARAMS = "config.json", "params.json"
"""The file of a repository on the hub, and that of Mistral's own."""
OWN_SPEC = "write a model spec (`symroof init model`)"


def read_config(
    document: JsonDocument,
    assume_family: str | None = None,
    quantization: JsonDocument | None = None,
) -> ModelSpec:
    """The model that a ``config.json`` describes; ``assume_family`` replaces an unknown ``model_type``, ``quantization`` is the ``hf_quant_config.json``
    beside it, which says how the weights are stored where the file itself does not.

    Raises:
        InputError: a field that is missing or not what it should be, a type that is not in the table, a family assumed that leaves structure unread.
    """
    place, data = _language_model(document)
    outer, own, wrapper = _types(document, place, data)
    name, family = _family(document, place, outer, own, assume_family)
    if paired := next((field for field in table()["paired"] if data.get(field) is True), None):
        raise document.error(
            (*place, paired),
            "is true: it is the decoder of a pair with an encoder; models of one decoder are read",
        )
    as_asked = f"read as {name}, as asked; its model_type is {own or 'not given'}"
    caveats = [as_asked] if own != name else []
    caveats += _left_aside(document, data)
    c = family.config(document, place, data)
    fields, kinds = model_fields(family, c)
    if place and wrapper.get("tied") is not None:
        fields["tied_embeddings"] = _tied(document, c, wrapper)
    caveats += _unread(c, family, name, assumed=own != name)
    fields |= {
        "name": spec_name(title_of(document)),
        "title": title_of(document),
        "filled": tuple(c.filled.values()),
        "caveats": tuple(caveats),
    }
    fields["source"] = {"title": f"{Path(document.file).name}, as {family.source} reads it"}
    try:
        made = ModelSpec.model_validate(fields).in_order(kinds)
    except ValidationError as error:
        raise document.error(
            place, f"is not a valid model: {', '.join(first_error(error))}"
        ) from None
    if quantization is None or any(document.data.get(name) or data.get(name) for name in FIELDS):
        stored = read_quantization(document.data, document.problem, made)
    else:
        around = {key: value for key, value in document.data.items() if key not in FIELDS}
        stored = read_quantization(
            {**around, FIELDS[0]: {"quant_method": "modelopt", **quantization.data}},
            lambda place, message, hint: quantization.problem(place[1:], message, hint),
            made,
        )
    return made.model_copy(update={"quantization": stored})


def _unread(c: Config, family: Family, name: str, assumed: bool) -> list[str]:
    """What is said of the keys that the family did not take.

    Raises:
        InputError: the family is only assumed, and one of them could carry structure.
    """
    left = unread(c, family.without_effect)
    structure = [entry for entry in left if entry[1]]
    if assumed and structure:
        message = f"{name} does not know what may be structure: {unread_text(structure)}"
        raise c.document.error(structure[0][0], message, OWN_SPEC)
    said = "keys of its file that are not read, so that any number may be wrong"
    return [f"{said}: {unread_text(left)}"] if left else []


def _language_model(document: JsonDocument) -> tuple[Location, Mapping[str, Any]]:
    """The part of the file that holds the language model: itself, or a nested object."""
    place: Location = ()
    data: Mapping[str, Any] = document.data
    while name := next((name for name in table()["nested"] if data.get(name) is not None), None):
        if not isinstance(data[name], dict):
            raise document.error(
                (*place, name), f"expected an object with fields, found {kind_of_value(data[name])}"
            )
        place, data = (*place, name), data[name]
    return place, data


def _type(document: JsonDocument, place: Location, data: Mapping[str, Any]) -> str | None:
    """``model_type`` at a place; None where there is none."""
    kind = data.get("model_type")
    if kind is not None and not isinstance(kind, str):
        raise document.error(
            (*place, "model_type"), f"expected a text, found {kind_of_value(kind)}"
        )
    return kind or None


def _types(
    document: JsonDocument, place: Location, data: Mapping[str, Any]
) -> tuple[str | None, str | None, Mapping[str, Any]]:
    """The type of the file, that of its language model as it is named or as its wrapper has it, and the wrapper's entry: empty where it is none."""
    own, outer = _type(document, place, data), _type(document, (), document.data)
    if own is None and outer is None:
        untyped = table()["untyped"].items()
        own = next((kind for kind, keys in untyped if set(keys) <= data.keys()), None)
    wrapper = table()["wrappers"].get(outer, {})
    if wrapper and (own is None or not place):  # text fields may be at the top level (Qwen2-VL)
        own = wrapper["family"]
    return outer, own, wrapper


def _family(
    document: JsonDocument, place: Location, outer: str | None, own: str | None, assumed: str | None
) -> tuple[str, Family]:
    """The type that a language model is read as, and its family."""
    unreadable = next((kind for kind in (outer, own) if kind in refused()), None)
    if assumed is None and unreadable is not None:
        at = () if unreadable == outer else (*place, "model_type")
        raise document.error(at, f"{unreadable} is not read: {refused()[unreadable]}")
    name = assumed if assumed is not None else own
    family = family_of(name) if name is not None else None
    if name is not None and family is not None:
        return name, family
    if assumed is not None:
        hint = nearest(assumed, known_types())
        raise document.error((), f"no such family {assumed[:40]!r}", hint)
    message = "is missing" if own is None else f"no family {own[:60]!r} is known"
    near = (difflib.get_close_matches(own or "", known_types(), n=1) or ["llama"])[0]
    hint = f"`--assume-family {near}` reads it, if its layers are built alike; else {OWN_SPEC}"
    raise document.error((*place, "model_type"), message, hint)


def _left_aside(document: JsonDocument, data: Mapping[str, Any]) -> list[str]:
    """What the file describes and no number counts: parts for images and sounds, layers that guess further tokens."""
    parts = [name for name in table()["other_parts"] if isinstance(document.data.get(name), dict)]
    caveats = (
        [f"the language model alone is counted, without {' and '.join(parts)}"] if parts else []
    )
    further = next(
        (data[name] for name in table()["ahead"] if isinstance(data.get(name), int) and data[name]),
        0,
    )
    if not isinstance(further, bool) and further > 0:
        caveats.append(
            f"counted without {further} further layer{'s that predict' if further > 1 else ' that predicts'} tokens ahead"
        )
    return caveats


def _tied(document: JsonDocument, c: Config, wrapper: Mapping[str, Any]) -> bool:
    """Whether the embeddings are tied, which the file around a nested language model decides."""
    name = "tie_word_embeddings"
    around = Config(document, (), document.data, {name: wrapper["tied"]}, {}, "its class", {})
    tied = around.flag(name)
    if not tied and wrapper.get("forwards") and c.flag(name):
        return True
    c.filled.pop(name, None)
    c.filled.update(around.filled)
    return tied


def title_of(document: JsonDocument) -> str:
    """How people call it: ``_name_or_path``, or else the folder or the file."""
    stated = document.data.get("_name_or_path")
    if isinstance(stated, str) and (last := _last_part(stated)):
        return last
    path = Path(document.file)
    folder = path.resolve().parent
    if path.name in (CONFIG, PARAMS) and folder.name:
        return _last_part(str(folder))
    return _last_part(path.name) or "model"


def _last_part(path: str) -> str:
    last = re.split(r"[\\/]", path.strip().rstrip("\\/"))[-1]
    last = re.sub(r"(\.config)?\.json$", "", last)
    return "".join(letter for letter in last if letter.isprintable())[:64]


def find_config(path: str | os.PathLike[str]) -> Path:
    """The ``config.json`` that a path means: itself, or the one in a folder."""
    file = Path(path)
    try:
        if not file.is_dir():
            return file
    except (OSError, ValueError):  # a name that no file can have: opening it gives the error
        return file
    for name in (CONFIG, PARAMS):
        if (file / name).exists():
            return file / name
    raise InputError(Problem(str(path), f"is a directory that holds no {CONFIG}"))


def read(
    path: str | os.PathLike[str], assume_family: str | None = None
) -> tuple[ModelSpec, JsonDocument]:
    """The model spec behind a path, with the file it came from.

    Raises:
        InputError: no such file, not JSON, not a model that can be read.
    """
    file = find_config(path)
    document = load_json(file)
    spec = read_config(document, assume_family, _beside(file, "hf_quant_config.json"))
    index = _beside(file, "model.safetensors.index.json", LARGEST_INDEX)
    size = index and isinstance(held := index.data.get("metadata"), dict) and held.get("total_size")
    return spec.model_copy(update={"stored_bytes": int(size)}) if isinstance(
        size, (int, float)
    ) and 0 < size < MOST_BYTES else spec, document


LARGEST_INDEX, MOST_BYTES = 64_000_000, 10**15
"""An index names every tensor: a model of 60 layers with 384 experts has some hundred thousand."""


def _beside(config: Path, name: str, largest: int = LARGEST_FILE) -> JsonDocument | None:
    """The file of a name in the folder of a ``config.json``, or by its side under the same first words (``NAME_config.json``)."""
    if not config.name.endswith(CONFIG):
        return None
    file = config.with_name(config.name.removesuffix(CONFIG) + name)
    return load_json(file, largest) if file.is_file() else None
