"""What a request selects: names, lists of values and switches, and the models, devices and presets behind the names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from symroof.specs import catalogue
from symroof.specs.fields import build
from symroof.specs.hardware import HardwareSpec
from symroof.specs.input_values import Setting
from symroof.specs.model import ModelSpec
from symroof.specs.model_files import model_path, read_model
from symroof.specs.strict_yaml import Document
from symroof.theory.declarations import NONE, Declarations

if TYPE_CHECKING:  # presets load when one is chosen
    from symroof.specs.preset import PresetSpec

VLLM_LINE, RECOMMENDED = "vllm line", "recommended"
"""The origins of values that a command line of vLLM says or leaves to it, and of those that are advised in their place."""
Values = Mapping[str, tuple[Setting, ...]]


@dataclass(frozen=True)
class Selection:
    """A request: names, lists of values, switches. Later ones are laid over earlier ones.

    ``deciding``: hardware or settings are decided by the answers, so the memory an engine leaves free counts unless ``memory_share`` is set.
    ``efficiency``: where efficiencies that are not set come from, ``peak`` or ``measured`` (the default where something is decided, but by a preset);
    ``engine`` is the class of engines measured.
    ``own``: names that the study declares itself. ``of_devices``: inputs of one device, by a name such as ``h100-sxm.price``.
    """

    models: tuple[str | ModelSpec, ...] = field(default=(), hash=False)
    hardware: tuple[str, ...] = ()
    precision: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)
    values: Values = field(default_factory=dict, hash=False)
    assume: dict[str, str] = field(default_factory=dict, hash=False)
    preset: str | None = None
    origin: dict[str, str] = field(default_factory=dict, hash=False)
    base: Path | None = None
    assume_family: str | None = None
    draft: str | None = None
    deciding: bool = False
    efficiency: str = ""
    engine: str = ""
    own: Declarations = NONE
    of_devices: Values = field(default_factory=dict, hash=False)

    @property
    def basis(self) -> str:
        """Where efficiencies that are not set come from."""
        return self.efficiency or ("measured" if self.deciding and not self.preset else "peak")

    def over(self, weaker: Selection) -> Selection:
        """This selection laid over a weaker one: mappings name by name, everything else where it is set; an input of all devices over those of one."""
        replaced = [name for name in weaker.of_devices if name.rpartition(".")[2] in self.values]
        if replaced:
            weaker = replace(weaker, of_devices={name: value for name, value in weaker.of_devices.items() if name not in replaced})
        pairs = {f.name: (getattr(self, f.name), getattr(weaker, f.name)) for f in fields(self)}
        merged: dict[str, Any] = {name: {**under, **own} if isinstance(own, Mapping) else own or under for name, (own, under) in pairs.items()}
        return Selection(**merged)


S = TypeVar("S")


@dataclass(frozen=True)
class Entry(Generic[S]):
    """A requested name with its spec and file."""

    name: str = ""
    spec: S | None = field(default=None, hash=False)
    document: Document | None = field(default=None, hash=False)


def preset_of(chosen: Selection) -> tuple[PresetSpec | None, tuple[Document, ...]]:
    """The preset of a selection and its file, if it names one."""
    if not chosen.preset:
        return None, ()
    spec, document = _read_preset(chosen.preset, chosen.base) if catalogue.is_path(chosen.preset, chosen.base) else _shipped_preset(chosen.preset)
    return spec, (document,)


def _read_preset(name: str, base: Path | None) -> tuple[PresetSpec, Document]:
    from symroof.specs.preset import PresetSpec

    document = catalogue.find("presets", name, base)
    return build(document, PresetSpec), document


@lru_cache(maxsize=32)
def _shipped_preset(name: str) -> tuple[PresetSpec, Document]:
    """A preset of the catalogue, read once: a search among choices asks for it a hundred times."""
    return _read_preset(name, None)


def model_entry(name: str | ModelSpec, base: Path | None, assume_family: str | None) -> Entry[ModelSpec]:
    """A model by its name in the catalogue or its file, or as it is."""
    if isinstance(name, ModelSpec):
        return Entry(name.name, name)
    return _shipped_model(name) if model_path(name, base) is None else Entry(name, *read_model(name, base, assume_family))


@lru_cache(maxsize=256)
def _shipped_model(name: str) -> Entry[ModelSpec]:
    """A model of the catalogue, read once: the check of a claim asks for it a hundred times. A file may change, so is read anew."""
    return Entry(name, *read_model(name))


def device_entry(name: str, base: Path | None = None) -> Entry[HardwareSpec]:
    """A device by its name in the catalogue or its file, relative to ``base``."""
    return _read_device(name, base) if catalogue.is_path(name, base) else _shipped_device(name)


@lru_cache(maxsize=256)
def _shipped_device(name: str) -> Entry[HardwareSpec]:
    return _read_device(name, None)


def _read_device(name: str, base: Path | None) -> Entry[HardwareSpec]:
    document = catalogue.find("hardware", name, base)
    return Entry(name, build(document, HardwareSpec), document)
