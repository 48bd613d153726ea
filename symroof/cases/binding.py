"""From names to cases: which value each input takes, and its source.

Strongest first: the command line (or Python call), the study, the preset, the specs of model and hardware, the default.
A case is one combination of everything that was listed.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from symroof.cases.decisions import set_for_decision
from symroof.cases.draft_model import OF_TARGET, draft_given
from symroof.cases.evidence import AT_PEAK, COSTS, add_evidence, at_peak, paced
from symroof.cases.given_formulas import check_formulas
from symroof.cases.quantity_result import as_written
from symroof.cases.selection import Entry, Selection, device_entry, model_entry, preset_of
from symroof.cases.spec_values import (
    ROLE_INPUT,
    Given,
    beyond_context,
    check_split,
    check_together,
    dimension,
    lengths,
    middle,
)
from symroof.cases.supplied import Supplied, supplied_by
from symroof.errors import InputError, Problem
from symroof.formula.tree import Num
from symroof.specs.efficiencies import DEFAULT_ENGINE
from symroof.specs.fields import ValueRange
from symroof.specs.hardware import HardwareSpec
from symroof.specs.input_values import Setting, device_input
from symroof.specs.model import ModelSpec
from symroof.specs.strict_yaml import Document
from symroof.theory.architecture import GENERIC, Architecture
from symroof.theory.case import Case
from symroof.theory.operator_table import KEPT_WIDTH, WIDTH
from symroof.theory.switches import Assumptions, assume
from symroof.theory.theory import Theory

if TYPE_CHECKING:  # presets load when one is chosen
    from symroof.specs.preset import PresetSpec


@dataclass(frozen=True)
class Binding:
    """One combination: a model on a device under assumptions, with every value and its source."""

    chosen_model: Entry[ModelSpec]
    chosen_device: Entry[HardwareSpec]
    assumptions: Assumptions
    given: dict[str, Given] = field(hash=False)
    precisions: dict[str, str] = field(default_factory=dict, hash=False)
    compute: str | None = None
    warnings: tuple[str, ...] = ()
    documents: tuple[Document, ...] = field(default=(), hash=False)
    varied: tuple[tuple[str, str], ...] = ()
    selection: Selection = field(default_factory=Selection)
    preset: PresetSpec | None = field(default=None, hash=False)
    several_models: bool = False
    searched: bool = True
    chosen_draft: Entry[ModelSpec] = field(default_factory=Entry)
    supplied: Supplied | None = field(default=None, repr=False, compare=False)

    @property
    def model(self) -> ModelSpec | None:
        return self.chosen_model.spec

    @property
    def hardware(self) -> HardwareSpec | None:
        return self.chosen_device.spec

    def variant(self, on: Binding | None = None, **changes: Any) -> Binding:
        """The same binding on another's device, or with a precision role or values by name chosen otherwise."""
        line = Selection(
            precision={role: (changes.pop(role),) for role in ROLE_INPUT if role in changes},
            values={name: (Num(Fraction(value), dimension(name, self.selection.own)),) for name, value in changes.items()},
        )
        origin = dict.fromkeys([*line.precision, *line.values], "variant")
        chosen = Selection(precision=line.precision, values=line.values, origin=origin).over(self.selection)
        roles = {role: next(iter(chosen.precision.get(role, ())), None) for role in ROLE_INPUT}
        device = (on or self).chosen_device
        made = self.supplied
        if made is None or line.precision or made.chosen_model is not self.chosen_model or made.chosen_device is not device:
            made = supplied_by(chosen, self.preset, self.chosen_model, device, roles)
        return _bind(chosen, made, self.documents[:1] if self.preset else (), roles, {})

    def on(self, device: str) -> Binding:
        """The same request on another device of the catalogue.

        Raises:
            InputError: there is no such device.
        """
        return replace(self, chosen_device=device_entry(device))

    @property
    def architecture(self) -> Architecture:
        if self.model is None:
            return GENERIC
        own = frozenset(name.removeprefix(f"{WIDTH}.") for name in self.given if name.startswith(f"{WIDTH}."))
        return self.model.architecture(KEPT_WIDTH in self.given, own)

    def case(self) -> Case:
        """The theory with these values; a range stands at its middle."""
        return Case(
            Theory(self.architecture, self.assumptions, own=self.selection.own),
            {name: middle(g.setting, name, self.selection.own) for name, g in self.given.items()},
        )

    def check(self, values: Mapping[str, Fraction], source: str) -> None:
        """Whether a request may have these values beside those of the case.

        Raises:
            InputError: parallel degrees that the model does not allow, a cached prefix longer than its prompt.
        """
        check_together(self.given | {name: Given(Num(value), source) for name, value in values.items()}, [])

    def box(self) -> dict[str, tuple[Fraction, Fraction]]:
        """The inputs that are ranges."""
        return {name: (g.setting.low, g.setting.high) for name, g in self.given.items() if isinstance(g.setting, ValueRange)}

    def measured_box(self) -> dict[str, tuple[Fraction, Fraction]]:
        """Those of them that are of measured efficiencies."""
        return {name: ends for name, ends in self.box().items() if self.given[name].measured}

    def corners(self) -> list[dict[str, Fraction]]:
        """The corners of the ranges: all ends of those that were given with one another, and with :meth:`measured_corners`."""
        axes = [[{name: end} for end in ends] for name, ends in self.box().items() if name not in self.measured_box()]
        measured = self.measured_corners()
        return _crossed([*axes, measured] if measured else axes)

    def measured_corners(self) -> list[dict[str, Fraction]]:
        """The corners of the measured ranges, whose interval is one common widening: the slow ends go together and the fast ones, those of
        compute apart from all others."""
        box = self.measured_box()
        common = [name for name in box if name != "mfu"]
        axes = [[{name: end} for end in ends] for name, ends in box.items() if name not in common]
        if common:
            axes.append([{name: paced(box[name], name)[fast] for name in common} for fast in (False, True)])
        return _crossed(axes)

    def paced(self, fast: bool) -> Binding | None:
        """The same binding with every range at its slow end, or its fast one; None where something beside efficiencies is a range."""
        box = self.box()
        if not box or not box.keys() <= {*AT_PEAK, *COSTS}:
            return None
        ends = {name: Num(paced(box[name], name)[fast], dimension(name)) for name in box}
        return replace(self, given=self.given | {name: replace(self.given[name], setting=end) for name, end in ends.items()})

    def between_corners(self) -> Binding:
        """The same binding with ranges from corner to corner where more than efficiencies are ranges: a search of each takes too long for many cases."""
        return self if self.box().keys() <= {*AT_PEAK, *COSTS} else replace(self, searched=False)

    def at_peak(self) -> Binding | None:
        """The same binding with every efficiency at the peak; None where it stands there."""
        given = at_peak(self.given)
        return None if given.keys() == self.given.keys() else replace(self, given=given)


def _crossed(axes: list[list[dict[str, Fraction]]]) -> list[dict[str, Fraction]]:
    """Every choice of one place on each axis; none where there is no axis."""
    return [{name: end for part in corner for name, end in part.items()} for corner in itertools.product(*axes)] if axes else []


MOST_CASES = 1000


def bindings(chosen: Selection, most: int = MOST_CASES) -> Iterator[Binding]:
    """Every combination of the listed models, devices, precisions and values, in written order; no more than ``most``.

    Raises:
        InputError: a name that is not in the catalogue, a file that cannot be read, more combinations.
    """
    preset, documents = preset_of(chosen)
    models = [model_entry(name, chosen.base, chosen.assume_family) for name in chosen.models] or [Entry()]
    devices = [device_entry(name, chosen.base) for name in chosen.hardware] or [Entry()]
    layered = _under(_of_known_devices(chosen, devices), preset)
    _within_limit([len(models), len(devices), *map(len, layered.precision.values()), *map(len, layered.values.values())], most)
    roles = [dict(zip(ROLE_INPUT, names, strict=True)) for names in itertools.product(*(layered.precision.get(role) or (None,) for role in ROLE_INPUT))]
    listed = {name: values for name, values in layered.values.items() if len(values) > 1}
    stored = [role for role, names in layered.precision.items() if len(names) > 1]
    singles = [dict(zip(listed, values, strict=True)) for values in itertools.product(*listed.values())]
    for model, device, role in itertools.product(models, devices, roles):
        supplied = supplied_by(layered, preset, model, device, role)
        shown = tuple((name, supplied.precisions[name]) for name in stored if name in supplied.precisions)
        for single in singles:
            made = _bind(layered, supplied, documents, role, single)
            check_formulas(made.case, made.given, made.box())
            yield replace(made, several_models=len(models) > 1, varied=(*shown, *made.varied))


def _of_known_devices(chosen: Selection, devices: Iterable[Entry[HardwareSpec]]) -> Selection:
    """Inputs of one device under the name in its spec; of a device that is not chosen they count for nothing.

    Raises:
        InputError: there is no such device.
    """
    if not chosen.of_devices:
        return chosen
    known = {name: device.spec.name for device in devices if device.spec for name in (device.name, device.spec.name)}
    named: dict[str, tuple[Setting, ...]] = {}
    for name, values in chosen.of_devices.items():
        device, own = device_input(name) or ("", name)
        try:
            spec = known.get(device) or device_entry(device, chosen.base).spec.name  # type: ignore[union-attr]
        except InputError as error:
            raise InputError([replace(problem, path=name) for problem in error.problems]) from None
        named[f"{spec}.{own}"] = values
    return replace(chosen, of_devices=named, origin=chosen.origin | {key: chosen.origin[name] for name, key in zip(chosen.of_devices, named, strict=True)})


def _within_limit(lengths: Iterable[int], most: int) -> None:
    """A few lists multiply to many cases; more than a reader can use is an error before any is evaluated."""
    count = math.prod(lengths)
    if count > most:
        raise InputError(Problem("study", f"its lists multiply to {count:,} cases; at most {most:,} are computed", hint="give fewer values"))


def _under(chosen: Selection, preset: PresetSpec | None) -> Selection:
    """The selection over its preset."""
    if preset is None:
        return chosen
    precision = {role: value for role, value in preset.precision if value}
    origin = dict.fromkeys((*preset.set, *preset.assume, *precision), f"preset {preset.name}")
    return chosen.over(Selection(precision=precision, values=dict(preset.set), assume=dict(preset.assume), origin=origin))


def _bind(layered: Selection, supplied: Supplied, documents: tuple[Document, ...], roles: dict[str, str | None], single: dict[str, Setting]) -> Binding:
    """One combination: the chosen values over those of the specs."""
    preset, chosen_model, chosen_device = supplied.preset, supplied.chosen_model, supplied.chosen_device
    assumptions = assume(**layered.assume)
    model, device = chosen_model.spec, chosen_device.spec
    given, warnings = dict(supplied.given), list(supplied.warnings)
    values = {name: single.get(name, values[0]) for name, values in layered.values.items()}
    for name, value in values.items():
        if preset and name in supplied.special and layered.origin.get(name) == f"preset {preset.name}":
            continue  # what the preset sets for this device or model is stronger than what it sets for all
        given[name] = Given(value, layered.origin.get(name, "given"), value.text if isinstance(value, ValueRange) else "")
    for name, (value,) in layered.of_devices.items():
        if device and name.startswith(f"{device.name}."):
            given[name.removeprefix(f"{device.name}.")] = Given(
                value, f"{layered.origin.get(name, 'given')}: {name}", value.text if isinstance(value, ValueRange) else ""
            )
    if layered.deciding:
        set_for_decision(assumptions, given, warnings)
    if layered.basis == "measured" and device:
        add_evidence(device, layered.engine or DEFAULT_ENGINE, supplied.compute, given, warnings, assumptions["scheduling"] == "disaggregated")
    if WIDTH in values:  # a width chosen by hand is that of every quantized operator
        given = {name: chosen for name, chosen in given.items() if not name.startswith(f"{WIDTH}.")}
    check_split(values, given)
    check_together(given, warnings)
    warnings += beyond_context(model, lengths(given))
    files = (*documents, *(f for f in (chosen_model.document, chosen_device.document) if f))
    draft = model_entry(layered.draft, layered.base, layered.assume_family) if layered.draft else Entry[ModelSpec]()
    files = (*files, draft.document) if draft.document else files
    varied = tuple((name, as_written(name, value, bare=True)) for name, value in single.items())
    made = Binding(
        chosen_model,
        chosen_device,
        assumptions,
        given,
        supplied.precisions,
        supplied.compute,
        tuple(warnings),
        files,
        varied,
        _single(layered, supplied, roles, values),
        preset,
        chosen_draft=draft,
        supplied=supplied,
    )
    return _drafted(made, layered, documents, roles, single) if draft.spec else made


def _single(layered: Selection, supplied: Supplied, roles: dict[str, str | None], values: dict[str, Setting]) -> Selection:
    """The selection of one combination: every list narrowed to what was taken of it."""
    return replace(
        layered,
        models=(supplied.chosen_model.name,) if supplied.chosen_model.spec else (),
        hardware=(supplied.chosen_device.name,) if supplied.chosen_device.spec else (),
        precision={role: (name,) for role, name in roles.items() if name},
        values={name: (value,) for name, value in values.items()},
    )


def _drafted(made: Binding, layered: Selection, documents: tuple[Document, ...], roles: dict[str, str | None], single: dict[str, Setting]) -> Binding:
    """The combination with its draft model: the cost of drafting and its memory, on the same device under the same load."""
    draft, name = made.chosen_draft, made.chosen_draft.name
    if made.model is None:
        raise InputError(Problem(layered.origin.get("draft", "given"), "a draft model drafts for a model: give one", path="draft"))
    values = {key: value for key, value in layered.values.items() if key not in OF_TARGET}
    alone_too = replace(layered, values=values, draft=None)
    supplied = supplied_by(alone_too, made.preset, draft, made.chosen_device, roles)
    alone = _bind(alone_too, supplied, documents, roles, {k: v for k, v in single.items() if k in values})
    extra = draft_given(alone.case(), made.case(), made.given, name)
    notes = [
        f"drafted by {name}: its own prefill of the prompt is not in ttft",
        *(f"draft {warning}" for warning in alone.warnings if warning not in made.warnings),
    ]
    notes += ["the draft model's own time is ignored, because draft_cost is given"] if "draft_cost" in made.given else []
    return replace(made, given=made.given | extra, warnings=(*made.warnings, *notes))
