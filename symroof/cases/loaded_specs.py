"""The model, device and preset that a request names, and the inputs that their specs give to its cases."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from symroof.cases.engine_defaults import native_format, profile_of
from symroof.cases.request import Request, Values
from symroof.cases.spec_values import (
    SourcedValue,
    device_values,
    model_values,
    precision_values,
    stored_model,
)
from symroof.specs import catalogue
from symroof.specs.catalogue import model_by_hub_name
from symroof.specs.engine_profile import EngineProfile
from symroof.specs.fields import build
from symroof.specs.hardware import HardwareSpec
from symroof.specs.model import ModelSpec
from symroof.specs.model_files import model_path, read_model
from symroof.specs.precision import BITS, Width
from symroof.strict_yaml import Document

if TYPE_CHECKING:  # presets load when one is chosen
    from symroof.specs.preset import Definition, PresetSpec

S = TypeVar("S")


@dataclass(frozen=True)
class LoadedSpec(Generic[S]):
    """A requested name with its spec and file."""

    name: str = ""
    spec: S | None = field(default=None, hash=False)
    document: Document | None = field(default=None, hash=False)


def load_preset(request: Request) -> tuple[PresetSpec | None, tuple[Document, ...]]:
    """The preset of a request and its file, if it names one."""
    if not request.preset:
        return None, ()
    spec, document = (
        _read_preset(request.preset, request.base)
        if catalogue.is_path(request.preset, request.base)
        else _shipped_preset(request.preset, None)
    )
    return spec, (document,)


def _read_preset(name: str, base: Path | None) -> tuple[PresetSpec, Document]:
    from symroof.specs.preset import PresetSpec

    document = catalogue.find("presets", name, base)
    return build(document, PresetSpec), document


_shipped_preset = lru_cache(maxsize=32)(_read_preset)
"""The same for presets of the catalogue, read once: a search among choices asks for one a hundred times. A file may change, so is read anew."""


def load_model(
    name: str | ModelSpec, base: Path | None, assume_family: str | None
) -> LoadedSpec[ModelSpec]:
    """A model by its name in the catalogue or its file, or as it is."""
    if isinstance(name, ModelSpec):
        return LoadedSpec(name.name, name)
    return (
        _shipped_model(name)
        if model_path(name, base) is None
        else LoadedSpec(name, *read_model(name, base, assume_family))
    )


@lru_cache(maxsize=256)
def _shipped_model(name: str) -> LoadedSpec[ModelSpec]:
    """A model of the catalogue, read once: the check of a claim asks for it a hundred times. A file may change, so is read anew."""
    return LoadedSpec(name, *read_model(name))


def load_device(name: str, base: Path | None = None) -> LoadedSpec[HardwareSpec]:
    """A device by its name in the catalogue or its file, relative to ``base``."""
    return (
        _read_device(name, base) if catalogue.is_path(name, base) else _shipped_device(name, None)
    )


def _read_device(name: str, base: Path | None) -> LoadedSpec[HardwareSpec]:
    document = catalogue.find("hardware", name, base)
    return LoadedSpec(name, build(document, HardwareSpec), document)


_shipped_device = lru_cache(maxsize=256)(_read_device)


@dataclass(frozen=True)
class SpecInputs:
    """The inputs that the specs of a model and a device give at some precisions, whatever else a case sets: shared by all such cases."""

    preset: PresetSpec | None
    chosen_model: LoadedSpec[ModelSpec]
    chosen_device: LoadedSpec[HardwareSpec]
    given: dict[str, SourcedValue]
    special: Values
    precisions: dict[str, str]
    compute: str | None
    warnings: tuple[str, ...]
    profile: EngineProfile | None


def inputs_of_specs(
    layered: Request,
    preset: PresetSpec | None,
    chosen_model: LoadedSpec[ModelSpec],
    chosen_device: LoadedSpec[HardwareSpec],
    roles: dict[str, str | None],
) -> SpecInputs:
    """The inputs given by the specs and the preset; the preset overrides the specs."""
    model, device = chosen_model.spec, chosen_device.spec
    given: dict[str, SourcedValue] = {}
    warnings: list[str] = []
    if (
        model
        and model.quantization
        and roles["weights"] == model.quantization.format
        and model_by_hub_name(chosen_model.name)
    ):
        roles = {
            **roles,
            "weights": None,
        }  # the name says so too: one checkpoint, whichever says it
    model, as_stored = stored_model(model, roles["weights"], warnings)
    chosen_model = replace(chosen_model, spec=model)
    profile = profile_of(layered, bool(model or device), preset is not None)
    precisions, widths = precision_values(roles, given, layered.origin, model, as_stored)
    if model:
        given |= model_values(model)
        warnings += model.cautions(roles["weights"] is None)
    unchosen = roles["activations"] is None and not (roles["weights"] or "").startswith("fp16")
    compute = (
        device_values(
            device,
            preset,
            widths,
            given,
            warnings,
            _native(profile, device, roles, widths),
            unchosen,
        )
        if device
        else None
    )
    special: Values = {}
    if preset:
        special = {
            **preset.hardware.get(device.name if device else "", {}),
            **preset.models.get(model.name if model else "", {}),
        }
        given |= {
            name: SourcedValue(values[0], f"preset {preset.name}")
            for name, values in special.items()
        }
        given |= {
            name: SourcedValue(own.tree, f"definition of preset {preset.name}", definition=own)
            for name, own in _definitions(preset, given)
        }
    return SpecInputs(
        preset,
        chosen_model,
        chosen_device,
        given,
        special,
        precisions,
        compute,
        tuple(warnings),
        profile,
    )


def _native(
    profile: EngineProfile | None,
    device: HardwareSpec,
    roles: dict[str, str | None],
    widths: dict[str, Width],
) -> str | None:
    """The format that products run in as the engine has it; None where activations are given, or the checkpoint says what they run in.

    A checkpoint of integers that says nothing of its activations leaves them wide: a name such as ``w8a16``, a GGUF file.
    """
    stored = widths["weights"]
    if (
        roles["activations"] is not None
        or stored.computes
        or (stored.format.startswith("int") and stored.text not in BITS)
    ):
        return None
    return native_format(profile, stored.format, list(device.peaks))


def _definitions(preset: PresetSpec, given: Collection[str]) -> Iterator[tuple[str, Definition]]:
    """The preset's definitions, as they are for this model."""
    for name, own in preset.definitions.items():
        if made := own.for_model(given):
            yield name, made
