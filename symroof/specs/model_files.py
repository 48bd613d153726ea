"""From what somebody calls a model to its spec: a name of the catalogue, or a path to a file of any kind that describes one."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from symroof.errors import nearest
from symroof.specs import catalogue
from symroof.strict_yaml import Document, load

if TYPE_CHECKING:
    from symroof.specs.model import ModelSpec


def read_model(
    name: str, base: Path | None = None, assume_family: str | None = None
) -> tuple[ModelSpec, Document]:
    """The model behind a name or a path, with the file that says so.

    Raises:
        InputError: no such model, a file that cannot be read, everything wrong with it.
    """
    path = model_path(name, base)
    if path is None:
        spec, document = _built(catalogue.find("models", name, base))
        return _as_named(spec, name), document
    if not holds_config(path):
        return _built(load(path))
    reader = "gguf" if path.suffix.lower() == ".gguf" else "config_reader"
    made: tuple[ModelSpec, Document] = import_module(f"symroof.specs.checkpoints.{reader}").read(
        path, assume_family
    )
    return made


def _as_named(spec: ModelSpec, name: str) -> ModelSpec:
    """A model stored as its name on the hub says; by its own name in the catalogue it is as it was published."""
    from symroof.specs.checkpoint_precisions import is_checkpoint_precision, quantization_at

    named = catalogue.model_by_hub_name(name)
    called = named.name if named else name
    asked, own_words = _words(called), _words(spec.name)
    if not (
        asked.keys() <= own_words.keys()
        or own_words.keys() <= asked.keys()
        or "".join(asked) == "".join(own_words)
    ):  # another model of the same shape
        spec = spec.model_copy(update={"title": f"{spec.shown_name} ({called})"})
    if named is None:
        return spec
    said = [f"{name[:80]} is taken as {named.name}; {named.remark()}"] if named.version else []
    own = spec.quantization
    if own is not None and own.method == "mxfp4" and named.stored_word == "GGUF":
        named = replace(
            named, stored="q8_0"
        )  # its experts stay as they are, and all else has 8 bits
    if checkpoint := next(
        (each for each in spec.checkpoints if each.name == named.checkpoint), None
    ):
        plain = quantization_at(
            checkpoint.precision, spec.model_copy(update={"quantization": None})
        )
        return spec.model_copy(
            update={
                "quantization": plain and checkpoint.laid_over(plain),
                "title": named.checkpoint,
                "source": checkpoint.source,
            }
        )
    if named.stored == "fp16" and own is not None:
        spec = spec.model_copy(update={"quantization": None})
        said.append(
            f"stored in 16 bits, as its name says ({named.stored_word}); its config.json says it better"
        )
    elif is_checkpoint_precision(named.stored) and (
        own is None or quantization_at(named.stored, spec).format != own.format  # type: ignore[union-attr]
    ):
        doubt = f"stored as {named.stored}, as its name says ({named.stored_word}); its config.json says it better"
        stored = quantization_at(named.stored, spec)
        spec = spec.model_copy(
            update={"quantization": stored.model_copy(update={"unread": (*stored.unread, doubt)})}  # type: ignore[union-attr]
        )
    elif named.stored and named.stored != "fp16" and not is_checkpoint_precision(named.stored):
        from symroof.specs.checkpoints.gguf_mixtures import MIXTURES

        near = nearest(named.stored.removeprefix("ud-"), MIXTURES)
        said.append(
            f"its name says {named.stored_word}, which is not known here: counted as it was published, {'; '.join(filter(None, ('say --weights', near)))}"
        )
    return spec.model_copy(update={"caveats": (*spec.caveats, *said)})


def _words(name: str) -> dict[str, None]:
    """The words and numbers of a name, in order."""
    return dict.fromkeys(re.findall("[a-z]+|[0-9]+", name.lower()))


def model_path(name: str, base: Path | None = None) -> Path | None:
    """The path that a name means, looked up from ``base`` first; None for a name of the catalogue."""
    path = Path(catalogue.resolve_path(name, base))
    own = os.path.isdir(path) and not catalogue.has_entry("models", name)
    return path if own or catalogue.is_path(name, base) else None


def holds_config(path: Path) -> bool:
    """Whether a path leads to a model's own file, or a folder with one, rather than to a spec."""
    return os.path.isdir(path) or path.suffix.lower() in (".json", ".gguf")


def _built(document: Document) -> tuple[ModelSpec, Document]:
    from symroof.specs.fields import build
    from symroof.specs.model import ModelSpec

    return build(document, ModelSpec), document
