"""What a case is made of, completed step by step: the request, the specs, and the value of each input with its source; and where the values can lie."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Generic, TypeVar

from symroof.cases.input import AT_PEAK, COSTS, Ends, Input, slow_first
from symroof.cases.request import Request, Values
from symroof.specs.efficiencies import DEFAULT_ENGINE
from symroof.specs.engine_profile import EngineProfile
from symroof.specs.hardware import HardwareSpec
from symroof.specs.model import ModelSpec
from symroof.strict_yaml import Document
from symroof.theory.architecture import GENERIC, SPARSE, Architecture
from symroof.theory.case import Case
from symroof.theory.layout import DEGREES
from symroof.theory.operator_table import KEPT_WIDTH, WIDTH
from symroof.theory.quantities import QUANTITIES
from symroof.theory.switches import Assumptions, assume
from symroof.theory.theory import Theory

if TYPE_CHECKING:  # presets load when one is chosen
    from symroof.cases.ranges import Ranges
    from symroof.specs.preset import PresetSpec

S = TypeVar("S")

COPIES, PRICE = "dp", "price"
EFFICIENCIES = frozenset({*AT_PEAK, *COSTS})


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
        search_inside: whether ranges are searched between their corners as well.
        changed_case: the case at other values, such as a corner of the ranges; None where the values are those given.
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
    search_inside: bool = True
    changed_case: Case | None = None

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

    # ------------------------------------------------------------------------------------------------ the definitions at them

    @property
    def architecture(self) -> Architecture:
        if self.model is not None:
            widths = (name for name in self.given if name.startswith(f"{WIDTH}."))
            own = frozenset(name.removeprefix(f"{WIDTH}.") for name in widths)
            return self.model.architecture(KEPT_WIDTH in self.given, own)
        active, every = (
            self.given[name].setting if name in self.given else None
            for name in ("active_params", "params")
        )  # a token that multiplies all parameters leaves none out
        return GENERIC if active is None or active == every else SPARSE

    @cached_property
    def given_case(self) -> Case:
        """The definitions with the values given; a range is at its middle."""
        own = self.request.own
        return Case(
            Theory(self.architecture, self.assumptions, own=own),
            {name: each.middle(name, own) for name, each in self.given.items()},
        )

    @property
    def case(self) -> Case:
        """The definitions with the values of this case."""
        return self.changed_case or self.given_case

    @property
    def theory_only(self) -> bool:
        """Whether the case is of a user-defined theory alone, without a model or a device."""
        return bool(self.case.theory.own.inputs) and self.model is None and self.hardware is None

    @property
    def quantity_names(self) -> tuple[str, ...]:
        """The quantities that the case is about, in declared order: those of a user-defined theory alone, or else all."""
        own = tuple(quantity.name for quantity in self.case.theory.own.quantities)
        return own if self.theory_only else (*QUANTITIES, *own)

    @cached_property
    def known(self) -> tuple[str, ...]:
        """The names of all quantities that have a value here, in declared order."""
        parts = () if self.theory_only else tuple(self.case.theory.definitions)
        names = dict.fromkeys((*self.quantity_names, *parts))
        return tuple(filter(self.case.has_value, names))

    @cached_property
    def box(self) -> dict[str, Ends]:
        """The ends of the inputs that are ranges; list prices are at their median here, see :attr:`list_prices`."""
        ranged = {
            name: own.setting for name, own in self.given.items() if own.ranged and not own.listed
        }
        return {name: (float(span.low), float(span.high)) for name, span in ranged.items()}

    @cached_property
    def list_prices(self) -> tuple[float, ...]:
        """The lowest and the highest list price of the device where the case is at their median; empty where there is one price, or one is given."""
        price = self.given.get(PRICE)
        if price is None or not price.listed or not self.case.has_value(PRICE):
            return ()
        low, middle, high = (float(end) for end in (price.low, price.value, price.high))  # type: ignore[arg-type]
        return (low, high) if self.case.value(PRICE) == middle else ()

    def priced(self, name: str) -> bool:
        """Whether the list prices move a quantity."""
        return bool(self.list_prices) and PRICE in self.case.dependencies(name)

    @property
    def measured_box(self) -> dict[str, Ends]:
        """Those of measured efficiencies."""
        return {name: ends for name, ends in self.box.items() if self.given[name].measured}

    @property
    def corner_points(self) -> list[dict[str, float]]:
        """The corners of the ranges: all ends of those that were given, combined with each of :attr:`measured_corners`."""
        given = self.box.keys() - self.measured_box.keys()
        axes = [[{name: end} for end in ends] for name, ends in self.box.items() if name in given]
        return _product([*axes, *([self.measured_corners] if self.measured_box else [])])

    @property
    def measured_corners(self) -> list[dict[str, float]]:
        """The corners of the measured ranges, whose interval is one common widening: all slow ends go together, and all fast ones; those of
        compute vary independently of the others."""
        box = {name: slow_first(ends, name) for name, ends in self.measured_box.items()}
        compute = [[{"mfu": end} for end in sorted(box["mfu"])]] if "mfu" in box else []
        both = [
            {name: ends[fast] for name, ends in box.items() if name != "mfu"} for fast in (0, 1)
        ]
        return _product([*compute, *([both] if both[0] else [])])

    @cached_property
    def corners(self) -> tuple[Case, ...]:
        """The case at every corner of its ranges; empty where no input is a range."""
        return tuple(map(self.case.changed, self.corner_points))

    @cached_property
    def everywhere(self) -> Case:
        """The case and every corner of its ranges as the columns of one case, the case itself first; without ranges the case alone."""
        points = self.corner_points
        if not points:
            return self.case
        import numpy as np

        columns = {
            name: np.array([float(self.case.value(name)), *(point[name] for point in points)])
            for name in points[0]
        }
        open_case = self.case.without_values(columns, rounded=True)
        return open_case.changed(columns)

    @cached_property
    def ranges(self) -> Ranges:
        """The bounds of quantities over the ranges of the inputs."""
        from symroof.cases.ranges import Ranges  # NumPy is loaded for the first range

        return Ranges(self.case, self.box, self.measured_corners, self.search_inside)

    @property
    def range_position(self) -> str:
        """Where in its ranges the case is evaluated, in words."""
        measured = self.measured_box
        if measured and measured == self.box:
            return "at the predicted values"
        return "at the middle of the ranges" + (
            " and the predicted efficiencies" if measured else ""
        )


def _product(axes: list[list[dict[str, float]]]) -> list[dict[str, float]]:
    """Every choice of one point on each axis; none where there is no axis."""
    corners = itertools.product(*axes) if axes else ()
    return [{name: end for part in corner for name, end in part.items()} for corner in corners]
