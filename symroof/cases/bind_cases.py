"""From a request to its cases: which value each input takes, and its source.

Strongest first: the command line (or Python call), the study, the preset, the specs of model and hardware, the default.
A case is one combination of everything that was listed.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sympy import Number

from symroof.cases.bound_case import BoundCase
from symroof.cases.draft_model import DRAFTING, OF_TARGET, add_drafts, draft_inputs
from symroof.cases.engine_defaults import add_engine_defaults, assumed
from symroof.cases.input_formulas import check_formulas, formula_inputs
from symroof.cases.loaded_specs import (
    LoadedSpec,
    SpecInputs,
    inputs_of_specs,
    load_device,
    load_model,
    load_preset,
)
from symroof.cases.measured_efficiencies import add_measured_efficiencies
from symroof.cases.prefill_layout import alone, prefill_inputs
from symroof.cases.quantity_result import as_written
from symroof.cases.request import Request
from symroof.cases.request_mix import add_mix
from symroof.cases.spec_values import (
    ROLE_INPUT,
    VARIANT,
    SourcedValue,
    beyond_context,
    check_heads,
    check_split,
    check_together,
    groups_inside,
    lengths,
    number_of,
    stored_size,
)
from symroof.errors import InputError, Problem
from symroof.specs.fields import ValueRange
from symroof.specs.hardware import HardwareSpec
from symroof.specs.input_values import Setting, device_input
from symroof.specs.model import ModelSpec
from symroof.strict_yaml import Document
from symroof.symbolic.expressions import mentions, number
from symroof.symbolic.reading import parse
from symroof.theory.layout import DEGREES
from symroof.theory.operator_table import WIDTH

if TYPE_CHECKING:  # presets load when one is chosen
    from symroof.specs.preset import PresetSpec

MOST_CASES = 1000


def bound_cases(chosen: Request, most: int = MOST_CASES) -> Iterator[BoundCase]:
    """Every combination of the listed models, devices, precisions and values, in written order; no more than ``most``.

    Raises:
        InputError: a name that is not in the catalogue, a file that cannot be read, more combinations.
    """
    preset, documents = load_preset(chosen)
    models = [load_model(name, chosen.base, chosen.assume_family) for name in chosen.models] or [
        LoadedSpec()
    ]
    devices = [load_device(name, chosen.base) for name in chosen.hardware] or [LoadedSpec()]
    layered = _over_preset(_with_known_devices(chosen, devices), preset)
    _within_limit(
        [
            len(models),
            len(devices),
            *map(len, layered.precision.values()),
            *map(len, layered.values.values()),
        ],
        most,
    )
    roles = [
        dict(zip(ROLE_INPUT, names, strict=True))
        for names in itertools.product(
            *(layered.precision.get(role) or (None,) for role in ROLE_INPUT)
        )
    ]
    listed = {name: values for name, values in layered.values.items() if len(values) > 1}
    stored = [role for role, names in layered.precision.items() if len(names) > 1]
    idle = tuple(
        f"no effect on any device here: {name}"
        for name in layered.of_devices
        if not any(d.spec and name.startswith(f"{d.spec.name}.") for d in devices)
    )
    singles = [
        dict(zip(listed, values, strict=True)) for values in itertools.product(*listed.values())
    ]
    for model, device, role in itertools.product(models, devices, roles):
        from_specs = inputs_of_specs(layered, preset, model, device, role)
        shown = tuple(
            (name, from_specs.precisions[name]) for name in stored if name in from_specs.precisions
        )
        for single in singles:
            made = _bind(layered, from_specs, documents, role, single)
            if formulas := formula_inputs(made.given):
                check_formulas(formulas, made.given, made.box, made.case)
            yield replace(
                made,
                several_models=len(models) > 1,
                varied=(*shown, *made.varied),
                warnings=(*made.warnings, *idle),
            )


def variant(bound_case: BoundCase, *, on: BoundCase | None = None, **changes: Any) -> BoundCase:
    """The same request on the device of another case, or with other precisions by role and values by name."""
    line = Request(
        precision={role: (changes.pop(role),) for role in ROLE_INPUT if role in changes},
        values={name: (number(Fraction(value)),) for name, value in changes.items()},
    )
    origin = dict.fromkeys([*line.precision, *line.values], VARIANT)
    chosen = Request(precision=line.precision, values=line.values, origin=origin).over(
        bound_case.request
    )
    roles = {role: next(iter(chosen.precision.get(role, ())), None) for role in ROLE_INPUT}
    device = (on or bound_case).chosen_device
    made = bound_case.spec_inputs
    if (
        made is None
        or line.precision
        or made.chosen_model is not bound_case.chosen_model
        or made.chosen_device is not device
    ):
        made = inputs_of_specs(chosen, bound_case.preset, bound_case.chosen_model, device, roles)
    return _bind(chosen, made, bound_case.documents[:1] if bound_case.preset else (), roles, {})


def _with_known_devices(chosen: Request, devices: Iterable[LoadedSpec[HardwareSpec]]) -> Request:
    """Inputs of one device under the name in its spec; of a device that is not chosen they count for nothing.

    Raises:
        InputError: there is no such device.
    """
    if not chosen.of_devices:
        return chosen
    known = {
        name: device.spec.name
        for device in devices
        if device.spec
        for name in (device.name, device.spec.name)
    }
    named: dict[str, tuple[Setting, ...]] = {}
    for name, values in chosen.of_devices.items():
        device, own = device_input(name) or ("", name)
        try:
            spec = known.get(device) or load_device(device, chosen.base).spec.name  # type: ignore[union-attr]
        except InputError as error:
            raise InputError([replace(problem, path=name) for problem in error.problems]) from None
        named[f"{spec}.{own}"] = values
    return replace(
        chosen,
        of_devices=named,
        origin=chosen.origin
        | {key: chosen.origin[name] for name, key in zip(chosen.of_devices, named, strict=True)},
    )


def _within_limit(lengths: Iterable[int], most: int) -> None:
    """A few lists multiply to many cases; more than a reader can use is an error before any is evaluated."""
    count = math.prod(lengths)
    if count > most:
        raise InputError(
            Problem(
                "study",
                f"its lists multiply to {count:,} cases; at most {most:,} are computed",
                hint="give fewer values",
            )
        )


def _over_preset(chosen: Request, preset: PresetSpec | None) -> Request:
    """The request over its preset."""
    if preset is None:
        return chosen
    precision = {role: value for role, value in preset.precision if value}
    origin = dict.fromkeys((*preset.set, *preset.assume, *precision), f"preset {preset.name}")
    return chosen.over(
        Request(
            precision=precision, values=dict(preset.set), assume=dict(preset.assume), origin=origin
        )
    )


def _bind(
    layered: Request,
    from_specs: SpecInputs,
    documents: tuple[Document, ...],
    roles: dict[str, str | None],
    single: dict[str, Setting],
) -> BoundCase:
    """One combination: the chosen values over those of the specs."""
    preset, chosen_model, chosen_device = (
        from_specs.preset,
        from_specs.chosen_model,
        from_specs.chosen_device,
    )
    profile = from_specs.profile
    assumptions = assumed(layered, profile)
    model, device = chosen_model.spec, chosen_device.spec
    given, warnings = dict(from_specs.given), list(from_specs.warnings)
    values = {name: single.get(name, values[0]) for name, values in layered.values.items()}
    for name, value in values.items():
        if (
            preset
            and name in from_specs.special
            and layered.origin.get(name) == f"preset {preset.name}"
        ):
            continue  # what the preset sets for this device or model is stronger than what it sets for all
        given[name] = SourcedValue(
            value,
            layered.origin.get(name, "given"),
            value.text if isinstance(value, ValueRange) else "",
        )
    for name, (value,) in layered.of_devices.items():
        if device and name.startswith(f"{device.name}."):
            given[name.removeprefix(f"{device.name}.")] = SourcedValue(
                value,
                f"{layered.origin.get(name, 'given')}: {name}",
                value.text if isinstance(value, ValueRange) else "",
            )
    if profile:
        assumptions = add_engine_defaults(
            profile, device, assumptions, from_specs.compute, given, model is not None
        )
    if assumptions["targets_under"] == "load":
        add_mix(given, warnings)
        add_drafts(given, warnings)
    if layered.basis == "measured" and device and profile:
        add_measured_efficiencies(
            device,
            profile,
            layered.engine_class or profile.kind,
            from_specs.compute,
            given,
            warnings,
            assumptions["scheduling"] == "disaggregated",
        )
    if WIDTH in values:  # a width chosen by hand is that of every quantized operator
        given = {name: chosen for name, chosen in given.items() if not name.startswith(f"{WIDTH}.")}
    _add_measured(given)
    if model is None:
        _add_experts(given)
    if (
        "hit_rate" in given
        and "cached_prefix" not in given
        and not any(mentions(formula, "hit_rate") for _, formula in layered.own.formulas)
    ):
        warnings.append(
            "hit_rate without cached_prefix has no effect: nothing of a prompt is cached"
        )
    if (
        "long_share" not in given
        and (long := [name for name in ("long_prompt", "long_output") if name in given])
        and not layered.own.formulas
    ):
        warnings.append(f"{' and '.join(long)} without long_share: no request is long")
    warnings += [
        f"the {statistic} of {name} is decided by simulation, in `symroof select` and `symroof simulate`; elsewhere its mean is held against the target"
        for name, statistic in layered.percentiles.items()
    ]
    check_split(values, given)
    check_together(given, warnings)
    if profile:
        check_heads(given, profile)
        warnings += groups_inside(given, profile)
    warnings += beyond_context(model, lengths(given))
    files = (*documents, *(f for f in (chosen_model.document, chosen_device.document) if f))
    draft = (
        load_model(layered.draft, layered.base, layered.assume_family)
        if layered.draft
        else LoadedSpec[ModelSpec]()
    )
    files = (*files, draft.document) if draft.document else files
    varied = tuple((name, as_written(name, value, bare=True)) for name, value in single.items())
    made = BoundCase(
        chosen_model,
        chosen_device,
        assumptions,
        given,
        from_specs.precisions,
        from_specs.compute,
        tuple(warnings),
        files,
        varied,
        _narrowed(layered, from_specs, roles, values),
        preset,
        chosen_draft=draft,
        spec_inputs=from_specs,
    )
    if (
        model
        and model.stored_bytes
        and roles["weights"] is None
        and values.keys().isdisjoint(STORAGE)
    ):
        size, more = stored_size(model, made.case.value("weight_bytes"))
        made = made.with_changes(
            given=made.given | {"weight_bytes": size}, warnings=(*made.warnings, *more)
        )
    made = _with_draft(made, layered, documents, roles, single) if draft.spec else made
    return _with_prefill(made, layered, documents, roles, single) if layered.prefill else made


FOLLOWS_FROM = {
    "ttft": ("prefill_time", "ttft - queue_time - prefill_overhead", "what ttft leaves"),
    "tpot": ("decode_time", "tpot*response_steps", "tpot in every step"),
}
"""What a measured value says of the quantity that it is made of: the achieved shares of the peaks follow from it, and the time of a response."""
EXPERTS = {"n_experts": "params/active_params + 1", "experts_per_token": "1"}


def _add_measured(given: dict[str, SourcedValue]) -> None:
    """A measured time to first token is that of a prefill, a measured mean time per token that of every decode step."""
    for name, (part, formula, why) in FOLLOWS_FROM.items():
        measured = given.get(name)
        if measured and part not in given and isinstance(measured.setting, (Number, ValueRange)):
            given[part] = SourcedValue(parse(formula), f"{why} ({measured.source})")


def _add_experts(given: dict[str, SourcedValue]) -> None:
    """What a single token reads of a model with experts follows from the parameters it multiplies, however many experts there are."""
    if (
        "active_params" in given
        and number_of(given, "batch", defaults=True) == 1
        and not given.keys() & EXPERTS.keys()
    ):
        given.update(
            {
                name: SourcedValue(
                    parse(formula), "default: of one token any number is the same", defaulted=True
                )
                for name, formula in EXPERTS.items()
            }
        )


def _with_prefill(
    made: BoundCase,
    layered: Request,
    documents: tuple[Document, ...],
    roles: dict[str, str | None],
    single: dict[str, Setting],
) -> BoundCase:
    """The combination with prompts read by instances of another layout, on the same kind of device."""
    if made.assumptions["scheduling"] != "disaggregated":
        raise InputError(
            Problem(
                layered.origin.get("scheduling", "given"),
                f"prefill has instances of its own, and scheduling is {made.assumptions['scheduling']}",
                path="prefill",
            )
        )
    other = alone(layered)
    assert made.spec_inputs is not None
    bound = _bind(
        other,
        made.spec_inputs,
        documents,
        roles,
        {
            name: value
            for name, value in single.items()
            if name in other.values and name not in DEGREES
        },
    )
    return replace(
        made, given=made.given | prefill_inputs(bound, made, layered.prefill), prefill_case=bound
    )


STORAGE = (WIDTH, "weight_bytes", "params")
"""Inputs that replace what the model's own files say of their size."""


def _narrowed(
    layered: Request,
    from_specs: SpecInputs,
    roles: dict[str, str | None],
    values: dict[str, Setting],
) -> Request:
    """The request for one combination: every list narrowed to what was taken of it."""
    return replace(
        layered,
        models=(from_specs.chosen_model.name,) if from_specs.chosen_model.spec else (),
        hardware=(from_specs.chosen_device.name,) if from_specs.chosen_device.spec else (),
        precision={role: (name,) for role, name in roles.items() if name},
        values={name: (value,) for name, value in values.items()},
    )


def _with_draft(
    made: BoundCase,
    layered: Request,
    documents: tuple[Document, ...],
    roles: dict[str, str | None],
    single: dict[str, Setting],
) -> BoundCase:
    """The combination with its draft model: the cost of drafting and its memory, on the same device under the same load."""
    draft, name = made.chosen_draft, made.chosen_draft.name
    if made.model is None:
        raise InputError(
            Problem(
                layered.origin.get("draft", "given"),
                "a draft model drafts for a model: give one",
                path="draft",
            )
        )
    values = {
        key: value for key, value in layered.values.items() if key not in OF_TARGET | DRAFTING
    }
    alone_too = replace(layered, values=values, draft=None)
    from_specs = inputs_of_specs(alone_too, made.preset, draft, made.chosen_device, roles)
    alone = _bind(
        alone_too, from_specs, documents, roles, {k: v for k, v in single.items() if k in values}
    )
    extra = draft_inputs(alone.case, made.case, made.given, name)
    notes = [
        f"drafted by {name}: its own prefill of the prompt is not in ttft",
        *(f"draft {warning}" for warning in alone.warnings if warning not in made.warnings),
    ]
    notes += (
        ["the draft model's own time is ignored, because draft_cost is given"]
        if "draft_cost" in made.given
        else []
    )
    return replace(made, given=made.given | extra, warnings=(*made.warnings, *notes))
