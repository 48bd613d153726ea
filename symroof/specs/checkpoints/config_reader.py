"""From a ``config.json``, or a folder that holds one, to a validated model spec."""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from symroof.errors import InputError, Problem, nearest
from symroof.specs.checkpoints.config_fields import Config
from symroof.specs.checkpoints.family import Family, model_fields
from symroof.specs.checkpoints.family_table import NESTED, REFUSED, WRAPPERS, family_of, known_types
from symroof.specs.checkpoints.json_text import JsonDocument, kind_of_value, load_json
from symroof.specs.checkpoints.quantization_config import read_quantization
from symroof.specs.fields import first_error, spec_name
from symroof.specs.model import ModelSpec
from symroof.strict_yaml import Location

CONFIG = "config.json"
ASSUME_HINT = "`--assume-family llama` reads it as that family"


def read_config(document: JsonDocument, assume_family: str | None = None) -> ModelSpec:
    """The model that a ``config.json`` describes; ``assume_family`` replaces an unknown ``model_type``.

    Raises:
        InputError: a field that is missing or not what it should be, a type that is not in the table.
    """
    place, data = _language_model(document)
    family, caveats = _family(document, place, data, assume_family)
    caveats += _left_aside(document, data)
    c = Config(document, place, data, family.defaults, family.names, family.source)
    fields, kinds = model_fields(family, c)
    fields |= _around(document, place, c)
    fields |= {"name": spec_name(title_of(document)), "title": title_of(document), "filled": tuple(c.filled.values()), "caveats": tuple(caveats)}
    fields["source"] = {"title": f"{Path(document.file).name}, as {family.source} reads it"}
    fields["quantization"] = read_quantization(document.data, document.problem)
    try:
        return ModelSpec.model_validate(fields).in_order(kinds)
    except ValidationError as error:
        raise InputError(document.problem(place, f"is not a valid model: {': '.join(first_error(error))}")) from None


def _language_model(document: JsonDocument) -> tuple[Location, Mapping[str, Any]]:
    """The part of the file that holds the language model: itself, or a nested object."""
    place: Location = ()
    data: Mapping[str, Any] = document.data
    while name := next((name for name in NESTED if data.get(name) is not None), None):
        if not isinstance(data[name], dict):
            raise InputError(document.problem((*place, name), f"expected an object with fields, found {kind_of_value(data[name])}"))
        place, data = (*place, name), data[name]
    return place, data


def _type(document: JsonDocument, place: Location, data: Mapping[str, Any]) -> str | None:
    """``model_type`` at a place; None where there is none."""
    kind = data.get("model_type")
    if kind is not None and not isinstance(kind, str):
        raise InputError(document.problem((*place, "model_type"), f"expected a text, found {kind_of_value(kind)}"))
    return kind or None


def _family(document: JsonDocument, place: Location, data: Mapping[str, Any], assumed: str | None) -> tuple[Family, list[str]]:
    """The family of a language model, and what to warn about."""
    own, outer = _type(document, place, data), _type(document, (), document.data)
    wrapper = WRAPPERS.get(outer or "")
    if wrapper and (own is None or not place):  # its text fields may be at the top level (Qwen2-VL)
        own = wrapper.family
    if assumed is not None:
        family = family_of(assumed)
        if family is None:
            raise InputError(document.problem((), f"no such family {assumed[:40]!r}", nearest(assumed, known_types())))
        return family, [f"read as {assumed}, as asked; its model_type is {own or 'not given'}"] if own != assumed else []
    if own is None:
        raise InputError(document.problem((*place, "model_type"), "is missing", ASSUME_HINT))
    family = family_of(own)
    refused = next((kind for kind in (outer, own) if kind in REFUSED), None)
    if refused is not None:
        raise InputError(document.problem(() if refused == outer else (*place, "model_type"), f"{refused} is not read: {REFUSED[refused]}"))
    if family is None:
        near = nearest(own, known_types()) or f"known are {', '.join(known_types())}"
        raise InputError(document.problem((*place, "model_type"), f"no family {own[:60]!r} is known", f"{near}; {ASSUME_HINT}"))
    return family, []


OTHER_PARTS = ("vision_config", "audio_config", "vit_config", "speech_config", "talker_config", "code2wav_config", "token2wav_config", "vq_config")


def _left_aside(document: JsonDocument, data: Mapping[str, Any]) -> list[str]:
    """What the file describes and no number counts: parts for images and sounds, layers that guess further tokens."""
    parts = [name for name in OTHER_PARTS if isinstance(document.data.get(name), dict)]
    caveats = [f"the language model alone is counted, without {' and '.join(parts)}"] if parts else []
    further = data.get("num_nextn_predict_layers", data.get("num_mtp_layers"))
    if isinstance(further, int) and not isinstance(further, bool) and further > 0:
        caveats.append(f"counted without {further} further layer{'s' * (further > 1)} that predict tokens ahead")
    return caveats


def _around(document: JsonDocument, place: Location, c: Config) -> dict[str, Any]:
    """What the file around a nested language model decides: whether the embeddings are tied."""
    wrapper = WRAPPERS.get(_type(document, (), document.data) or "")
    if not place or wrapper is None or wrapper.tied is None:
        return {}
    around = Config(document, (), document.data, {"tie_word_embeddings": wrapper.tied}, {}, "its class", {})
    tied = around.flag("tie_word_embeddings")
    if not tied and wrapper.forwards and c.flag("tie_word_embeddings"):
        return {"tied_embeddings": True}
    decides = around.filled.get("tie_word_embeddings")
    c.filled.pop("tie_word_embeddings", None)
    c.filled.update({"tie_word_embeddings": decides} if decides else {})
    return {"tied_embeddings": tied}


def title_of(document: JsonDocument) -> str:
    """How people call it: ``_name_or_path``, or else the folder or the file."""
    stated = document.data.get("_name_or_path")
    if isinstance(stated, str) and (last := _last_part(stated)):
        return last
    path = Path(document.file)
    return _last_part(str(path.resolve().parent)) if path.name == CONFIG and path.resolve().parent.name else _last_part(path.name) or "model"


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
    if not (file / CONFIG).exists():
        raise InputError(Problem(str(path), f"is a directory that holds no {CONFIG}"))
    return file / CONFIG


def read(path: str | os.PathLike[str], assume_family: str | None = None) -> tuple[ModelSpec, JsonDocument]:
    """The model spec behind a path, with the file it came from.

    Raises:
        InputError: no such file, not JSON, not a model that can be read.
    """
    document = load_json(find_config(path))
    return read_config(document, assume_family), document
