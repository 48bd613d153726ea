"""What the specs behind a case supply, laid over each other once for all cases that differ in other values only."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from symroof.cases.selection import Entry, Selection, Values
from symroof.cases.spec_values import Given, check_name, device_values, model_values, precision_values, stored_model
from symroof.specs.hardware import HardwareSpec
from symroof.specs.model import ModelSpec

if TYPE_CHECKING:  # presets load when one is chosen
    from symroof.specs.preset import Definition, PresetSpec


@dataclass(frozen=True)
class Supplied:
    """What the specs of a model and a device supply at some precisions, whatever else a case chooses."""

    preset: PresetSpec | None
    chosen_model: Entry[ModelSpec]
    chosen_device: Entry[HardwareSpec]
    given: dict[str, Given]
    special: Values
    precisions: dict[str, str]
    compute: str | None
    warnings: tuple[str, ...]


def supplied_by(
    layered: Selection, preset: PresetSpec | None, chosen_model: Entry[ModelSpec], chosen_device: Entry[HardwareSpec], roles: dict[str, str | None]
) -> Supplied:
    """The values of the specs and of the preset, laid over each other from the weakest to the strongest."""
    model, device = chosen_model.spec, chosen_device.spec
    given: dict[str, Given] = {}
    warnings: list[str] = []
    model, as_stored = stored_model(model, roles["weights"], warnings)
    chosen_model = replace(chosen_model, spec=model)
    precisions, widths = precision_values(roles, given, layered.origin, model, as_stored)
    if model:
        given |= model_values(model)
        warnings += model.cautions()
        check_name(chosen_model.name, roles, warnings)
    compute = device_values(device, preset, widths, given, warnings) if device else None
    special: Values = {}
    if preset:
        special = {**preset.hardware.get(device.name if device else "", {}), **preset.models.get(model.name if model else "", {})}
        given |= {name: Given(values[0], f"preset {preset.name}") for name, values in special.items()}
        given |= {name: Given(own.tree, f"definition of preset {preset.name}", definition=own) for name, own in _definitions(preset, given)}
    return Supplied(preset, chosen_model, chosen_device, given, special, precisions, compute, tuple(warnings))


def _definitions(preset: PresetSpec, given: Collection[str]) -> Iterator[tuple[str, Definition]]:
    """A tool's own definitions, as they are for this model."""
    for name, own in preset.definitions.items():
        if made := own.for_model(given):
            yield name, made
