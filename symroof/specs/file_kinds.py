"""The kinds of spec file: how to tell them apart, their models, their schemas."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from symroof.errors import InputError

if TYPE_CHECKING:
    from symroof.specs.fields import Spec
    from symroof.strict_yaml import Document

FILE_KINDS = {
    "study": ("symroof.specs.study", "StudySpec"),
    "model": ("symroof.specs.model", "ModelSpec"),
    "hardware": ("symroof.specs.hardware", "HardwareSpec"),
    "preset": ("symroof.specs.preset", "PresetSpec"),
    "theory": ("symroof.specs.user_theory", "TheorySpec"),
    "engine": ("symroof.specs.engine_profile", "EngineSpec"),
    "claims": ("symroof.specs.claims", "ClaimsSpec"),
    "measured": ("symroof.specs.measured", "MeasuredSpec"),
    "efficiencies": ("symroof.specs.efficiencies", "EfficienciesSpec"),
}
IDENTIFYING_KEYS = {
    "measured": ("measurements", "serving", "ceilings"),
    "efficiencies": ("efficiencies",),
    "engine": ("class",),
    "hardware": ("memory",),
    "theory": ("inputs",),
    "study": ("workload", "targets", "theory", "model"),
    "model": ("layers", "d_model", "published_params", "params"),
    "preset": ("assume", "set", "definitions"),
    "claims": ("claims",),
}
"""Keys that tell a kind, looked for in this order."""


def spec_class(kind: str) -> type[Spec]:
    """The pydantic model of a kind of file."""
    module, name = FILE_KINDS[kind]
    model: type[Spec] = getattr(import_module(module), name)
    return model


def schema(kind: str) -> dict[str, Any]:
    """The JSON Schema of a kind of file."""
    fields = spec_class(kind).model_json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **fields}


def file_kind(document: Document) -> str:
    """What kind of file a document is, by its keys.

    Raises:
        InputError: none of them.
    """
    data = document.data
    if isinstance(data, dict):
        for kind, keys in IDENTIFYING_KEYS.items():
            if any(key in data for key in keys):
                return kind
    raise InputError(
        document.problem(
            (),
            "is not a study, model, hardware, preset, theory, engine, claims, measured or efficiencies file that symroof knows",
            "`symroof init KIND` writes a starter file",
        )
    )
