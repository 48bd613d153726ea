"""From a name to a spec: an entry of the catalogue, or a file of any kind. How kinds of file are told apart, and what a name leads to."""

from __future__ import annotations

import os
import re
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from symroof.errors import InputError, nearest
from symroof.specs import catalogue
from symroof.specs.catalogue import find, has_entry
from symroof.specs.fields import Spec, build
from symroof.specs.precision import quantization_at
from symroof.strict_yaml import Document, load
from symroof.theory.declarations import NONE, Declarations

if TYPE_CHECKING:
    from symroof.specs.model import ModelSpec
    from symroof.specs.study import StudySpec
    from symroof.specs.user_theory import TheorySpec

FILE_KINDS = {
    "measured": ("measured.MeasuredSpec", ("measurements", "serving", "ceilings")),
    "efficiencies": ("efficiencies.EfficienciesSpec", ("efficiencies",)),
    "engine": ("engine_profile.EngineSpec", ("class",)),
    "hardware": ("hardware.HardwareSpec", ("memory",)),
    "theory": ("user_theory.TheorySpec", ("inputs",)),
    "study": ("study.StudySpec", ("workload", "targets", "theory", "model")),
    "model": ("model.ModelSpec", ("layers", "d_model", "published_params", "params")),
    "preset": ("preset.PresetSpec", ("assume", "set", "definitions")),
    "claims": ("claims.ClaimsSpec", ("claims",)),
}
"""The form of each kind of file, and the keys that tell it, looked for in this order."""


def spec_class(kind: str) -> type[Spec]:
    """The form of a kind of file."""
    module, _, name = FILE_KINDS[kind][0].partition(".")
    form: type[Spec] = getattr(import_module(f"symroof.specs.{module}"), name)
    return form


def schema(kind: str) -> dict[str, Any]:
    """The JSON Schema of a kind of file."""
    fields = spec_class(kind).model_json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **fields}


def file_kind(document: Document) -> str:
    """What kind of file a document is, by its keys.

    Raises:
        InputError: none of them.
    """
    data = document.data if isinstance(document.data, dict) else {}
    for kind, (_, keys) in FILE_KINDS.items():
        if any(key in data for key in keys):
            return kind
    message = "is not a study, model, hardware, preset, theory, engine, claims, measured or efficiencies file that symroof knows"
    raise InputError(document.problem((), message, "`symroof init KIND` writes a starter file"))


def read_spec(
    kind: str, name: str, base: Path | None = None, assume_family: str | None = None
) -> tuple[Any, Document]:
    """The spec of a model, a device, a preset or an engine behind a name or a path, with its file. Entries of the catalogue are read once:
    a search among choices asks for one a hundred times. A file may change, so is read anew.

    Raises:
        InputError: no such entry or file, everything wrong with it.
    """
    path = model_path(name, base) if kind == "models" else None
    if path is None and not catalogue.is_path(name, base):
        return _entry(kind, name)
    if path is not None and holds_config(path):
        reader = "gguf" if path.suffix.lower() == ".gguf" else "config_reader"
        made: tuple[ModelSpec, Document] = import_module(
            f"symroof.specs.checkpoints.{reader}"
        ).read(path, assume_family)
        return made
    document = load(path) if path else find(kind, name, base)
    return build(document, spec_class(catalogue.SINGULAR[kind])), document


@lru_cache(maxsize=256)
def _entry(kind: str, name: str) -> tuple[Any, Document]:
    document = find(kind, name)
    spec: Any = build(document, spec_class(catalogue.SINGULAR[kind]))
    return (_as_named(spec, name) if kind == "models" else spec), document


# ------------------------------------------------------------------------------------------------ models


def model_path(name: str, base: Path | None = None) -> Path | None:
    """The path that a name means, looked up from ``base`` first; None for a name of the catalogue."""
    path = Path(catalogue.resolve_path(name, base))
    own = os.path.isdir(path) and not catalogue.has_entry("models", name)
    return path if own or catalogue.is_path(name, base) else None


def holds_config(path: Path) -> bool:
    """Whether a path leads to a model's own file, or a folder with one, rather than to a spec."""
    return os.path.isdir(path) or path.suffix.lower() in (".json", ".gguf")


def _as_named(spec: ModelSpec, name: str) -> ModelSpec:
    """A model stored as its name on the hub says; by its own name in the catalogue it is as it was published."""
    named = catalogue.model_by_hub_name(name)
    called = named.name if named else name
    asked, own_words = _words(called), _words(spec.name)
    alike = asked.keys() <= own_words.keys() or own_words.keys() <= asked.keys()
    if not alike and "".join(asked) != "".join(own_words):  # another model of the same shape
        spec = spec.model_copy(update={"title": f"{spec.shown_name} ({called})"})
    if named is None:
        return spec
    said = [f"{name[:80]} is taken as {named.name}; {named.remark}"] if named.remark else []
    own, wide = spec.quantization, spec.model_copy(update={"quantization": None})
    # the experts of mxfp4 stay as they are, and all else has 8 bits
    as_experts = own is not None and own.method == "mxfp4" and named.stored_word == "GGUF"
    precision = "q8_0" if as_experts else named.stored
    doubt = f"as its name says ({named.stored_word}); its config.json says it better"
    for checkpoint in spec.checkpoints:
        if checkpoint.name == named.checkpoint:
            plain = quantization_at(checkpoint.precision, wide)
            laid = {"quantization": plain and checkpoint.laid_over(plain)}
            named_so = {"title": checkpoint.name, "source": checkpoint.source}
            return spec.model_copy(update=laid | named_so)
    stored = quantization_at(precision, spec)
    if precision == "fp16" and own is not None:
        spec = wide
        said.append(f"stored in 16 bits, {doubt}")
    elif stored and (own is None or stored.format != own.format):
        unread = (*stored.unread, f"stored as {precision}, {doubt}")
        stored = stored.model_copy(update={"unread": unread})
        spec = spec.model_copy(update={"quantization": stored})
    elif precision not in ("", "fp16") and not stored:
        from symroof.specs.checkpoints.gguf_mixtures import MIXTURES

        near = nearest(precision.removeprefix("ud-"), MIXTURES)
        hint = "; ".join(filter(None, ("say --weights", near)))
        known = f"its name says {named.stored_word}, which is not known here"
        said.append(f"{known}: counted as it was published, {hint}")
    return spec.model_copy(update={"caveats": (*spec.caveats, *said)})


def _words(name: str) -> dict[str, None]:
    """The words and numbers of a name, in order."""
    return dict.fromkeys(re.findall("[a-z]+|[0-9]+", name.lower()))


# ------------------------------------------------------------------------------------------------ studies and theories


def study_document(path: str) -> Document:
    """The file of a study or a theory, or the shipped one of that name.

    Raises:
        InputError: no such file, no such name.
    """
    study, theory = (has_entry(kind, path) for kind in ("studies", "theories"))
    if Path(path).is_file() or (Path(path).exists() and not (study or theory)):
        return load(path)  # a folder hides no name
    return find("theories" if theory and not study else "studies", path)


def read_study(document: Document) -> StudySpec | TheorySpec:
    """A study, or a theory of its own; what a study declares includes the names of its theory.

    Raises:
        InputError: everything wrong with it, or with its theory.
    """
    own = isinstance(document.data, dict) and "inputs" in document.data
    spec: Any = spec_class("theory" if own else "study")
    return build(document, spec, _theory_of(document))  # type: ignore[no-any-return]


def declared_in(name: str) -> Declarations:
    """What a theory or a study declares, by its file or the shipped name of a theory.

    Raises:
        InputError: no such file or name, everything wrong with it.
    """
    return read_study(find("theories", name)).declared


def _theory_of(document: Document) -> Declarations:
    """What the theory that a study names declares; a name that leads nowhere is a fault of the study's line."""
    name = document.data.get("theory") if isinstance(document.data, dict) else None
    if not isinstance(name, str):
        return NONE
    try:
        theory: Any = find("theories", name, Path(document.file).resolve().parent)
        return build(theory, spec_class("theory")).declared  # type: ignore[attr-defined, no-any-return]
    except InputError as error:
        first = error.problems[0]
        if first.line is not None:  # a fault inside the file has a place of its own
            raise
        message = f"{name[:60]}: {first.message}"
        raise InputError(document.problem(("theory",), message, first.hint)) from None
