"""What a case is made of, completed step by step: the request, the specs, and the value of each input with its source."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, TypeVar

from symroof.cases.input import Input
from symroof.cases.request import Request, Values
from symroof.specs.efficiencies import DEFAULT_ENGINE
from symroof.specs.engine_profile import EngineProfile
from symroof.specs.hardware import HardwareSpec
from symroof.specs.model import ModelSpec
from symroof.strict_yaml import Document
from symroof.theory.layout import DEGREES
from symroof.theory.switches import Assumptions, assume

if TYPE_CHECKING:  # presets load when one is chosen
    from symroof.specs.preset import PresetSpec

S = TypeVar("S")

COPIES = "dp"


@dataclass(frozen=True)
class LoadedSpec(Generic[S]):
    """A requested name with its spec and file."""

    name: str = ""
    spec: S | None = field(default=None, hash=False)
    document: Document | None = field(default=None, hash=False)


@dataclass
class CaseInputs:
    """One combination of a model, a device and values under assumptions.

    Attributes:
        given: the value of every input that something sets, with its source.
        precisions: the precision of each role by name; ``compute`` that which the device multiplies in.
        engine: the profile of the serving engine that the case stands on; None without a model and a device.
    """

    chosen_model: LoadedSpec[ModelSpec] = field(default_factory=LoadedSpec)
    chosen_device: LoadedSpec[HardwareSpec] = field(default_factory=LoadedSpec)
    assumptions: Assumptions = field(default_factory=assume)
    given: dict[str, Input] = field(default_factory=dict)
    precisions: dict[str, str] = field(default_factory=dict)
    compute: str | None = None
    warnings: tuple[str, ...] = ()
    request: Request = field(default_factory=Request)
    preset: PresetSpec | None = None
    engine: EngineProfile | None = None

    @property
    def model(self) -> ModelSpec | None:
        return self.chosen_model.spec

    @property
    def hardware(self) -> HardwareSpec | None:
        return self.chosen_device.spec

    @property
    def engine_class(self) -> str:
        """The class of engines that measured efficiencies are of."""
        return self.request.engine_class or (self.engine.kind if self.engine else DEFAULT_ENGINE)

    @property
    def preset_for_this(self) -> Values:
        """What the preset sets for this device and this model."""
        if self.preset is None:
            return {}
        device = self.preset.hardware.get(self.hardware.name if self.hardware else "", {})
        return {**device, **self.preset.models.get(self.model.name if self.model else "", {})}

    def warn(self, *texts: str) -> None:
        """Add warnings."""
        self.warnings += texts

    def add(self, values: dict[str, Input]) -> None:
        """Add values of inputs that have none."""
        self.given |= {name: value for name, value in values.items() if name not in self.given}

    def above_one(self, name: str) -> bool:
        """Whether a parallel degree is, or may be, above 1."""
        return name in self.given and self.given[name].number != 1

    @property
    def several_devices(self) -> bool:
        """Whether several devices work on a request: copies have no links."""
        return any(self.above_one(name) for name in DEGREES if name != COPIES)
