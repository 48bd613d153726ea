"""From a request to its cases: which value each input takes, and its source.

Strongest first: the command line (or Python call), the study, the preset, the specs of model and hardware, the default.
A case is one combination of everything that was listed.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from symroof.cases.bound_case import BoundCase
from symroof.cases.checks import (
    beyond_context,
    check_engine,
    check_formulas,
    check_split,
    check_together,
    lengths,
)
from symroof.cases.engine_inputs import add_engine_defaults, add_measured_efficiencies, assumed
from symroof.cases.other_cases import (
    DRAFTED,
    DRAFTING,
    OF_TARGET,
    add_drafts,
    alone,
    draft_inputs,
    head_of,
    prefill_inputs,
)
from symroof.cases.request import Request
from symroof.cases.spec_inputs import inputs_of_specs, loaded, preset_request, stored_size
from symroof.cases.values import HEADS, ROLE_INPUT, VARIANT, Input, as_written, number_of
from symroof.errors import InputError, Problem
from symroof.specs.engine_profile import IDEAL
from symroof.specs.input_values import Setting, device_input
from symroof.specs.spec_files import read_spec
from symroof.symbolic.expressions import number, symbol
from symroof.symbolic.reading import parse
from symroof.theory.operator_table import WIDTH
from symroof.theory.quantities import OF_THE_MIX

MOST_CASES = 1000


def bound_cases(chosen: Request, most: int = MOST_CASES) -> Iterator[BoundCase]:
    """Every combination of the listed models, devices, precisions and values, in written order; no more than ``most``.

    Raises:
        InputError: a name that is not in the catalogue, a file that cannot be read, more combinations.
    """
    base, family = chosen.base, chosen.assume_family
    preset, of_preset = loaded("presets", chosen.preset, base) if chosen.preset else (None, None)
    models = [(name, *loaded("models", name, base, family)) for name in chosen.models]
    devices = [(name, *loaded("hardware", name, base)) for name in chosen.hardware]
    known = {each: spec.name for name, spec, _ in devices for each in (name, spec.name)}
    chosen = _with_known_devices(chosen, known)
    each = [
        (chosen.over(preset_request(preset, model[1], device[1])), model, device)
        for model in models or [("", None, None)]
        for device in devices or [("", None, None)]
    ]
    lists = [[*request.precision.values(), *request.values.values()] for request, _, _ in each]
    count = sum(math.prod(map(len, own)) for own in lists)
    if count > most:
        message = f"its lists multiply to {count:,} cases; at most {most:,} are computed"
        raise InputError(Problem("study", message, hint="give fewer values"))
    here = tuple(f"{device}." for device in known.values())
    elsewhere = (name for name in chosen.of_devices if not name.startswith(here))
    idle = [f"no effect on any device here: {name}" for name in elsewhere]
    for request, (model, spec, of_model), (device, hardware, of_device) in each:
        roles = {r: request.precision[r] for r in ROLE_INPUT if request.precision.get(r)}
        for names in itertools.product(*roles.values()):
            single = replace(
                request,
                models=(model,) if model else (),
                hardware=(device,) if device else (),
                precision={role: (name,) for role, name in zip(roles, names, strict=True)},
            )
            specs = inputs_of_specs(single, preset, spec, hardware)
            specs.documents = tuple(filter(None, (of_preset, of_model, of_device)))
            shown = tuple((name, specs.precisions[name]) for name in roles if len(roles[name]) > 1)
            for picked in itertools.product(*request.values.values()):
                values = dict(zip(request.values, picked, strict=True))
                made = _bound(specs, replace(single, values={n: (x,) for n, x in values.items()}))
                check_formulas(made)
                made.warn(*idle)
                listed = (name for name, own in request.values.items() if len(own) > 1)
                written = ((name, as_written(name, values[name], bare=True)) for name in listed)
                made.varied, made.several_models = (*shown, *written), len(models) > 1
                yield made


def variant(
    bound_case: BoundCase,
    changes: Mapping[str, Any],
    prefill: Mapping[str, Any] | None = None,
    **assume: str,
) -> BoundCase:
    """The same combination with other inputs and switches, and with instances that prefill of a layout of their own.

    Raises:
        InputError: the engine does not start it.
    """
    values, origin = {n: (number(x),) for n, x in changes.items()}, dict.fromkeys(changes, VARIANT)
    line = Request(values=values, assume=assume, origin=origin, prefill=dict(prefill or {}))
    assert bound_case.specs, "it was bound from a request"
    made = _bound(bound_case.specs, line.over(bound_case.request))
    names = ("several_models", "varied", "search_inside")
    return replace(made, **{name: getattr(bound_case, name) for name in names})


def _with_known_devices(chosen: Request, known: Mapping[str, str]) -> Request:
    """Inputs of one device under the name in its spec; of a device that is not chosen they count for nothing.

    Raises:
        InputError: there is no such device.
    """
    named: dict[str, tuple[Setting, ...]] = {}
    origin = dict(chosen.origin)
    for name, values in chosen.of_devices.items():
        device, own = device_input(name) or ("", name)
        try:
            spec = known.get(device) or read_spec("hardware", device, chosen.base)[0].name
        except InputError as error:
            raise InputError([replace(problem, path=name) for problem in error.problems]) from None
        named[f"{spec}.{own}"] = values
        origin[f"{spec}.{own}"] = chosen.origin[name]
    return replace(chosen, of_devices=named, origin=origin)


FOLLOWS_FROM = {
    "ttft": ("prefill_time", "ttft - queue_time - prefill_overhead", "what ttft leaves"),
    "tpot": ("decode_time", "tpot*response_steps", "tpot in every step"),
}
"""What a measured value says of the quantity that it is made of: the achieved shares of the peaks follow from it, and the time of a response."""
FITTED_TOGETHER = {"mfu", "mbu", "layer_overhead"}
IN_PART = "mfu or mbu is given: the rest of mfu, mbu and layer_overhead is at its best, not as measured; --efficiency measured takes it from measurements"
EXPERTS = {"n_experts": "params/active_params + 1", "experts_per_token": "1"}
STORAGE = (WIDTH, "weight_bytes", "params")
"""Inputs that replace what the model's own files say of their size."""


def _bound(specs: BoundCase, request: Request) -> BoundCase:
    """One combination of a request, with one value of each name, over what the specs give; with what its draft model and its instances that prefill bring.

    Raises:
        InputError: values that may not be together.
    """
    made = _alone(specs, request)
    if request.draft:
        made = _with_draft(made, request, request.draft)
    if not request.prefill:
        return made
    if (scheduling := made.assumptions["scheduling"]) != "disaggregated":
        message = f"prefill has instances of its own, and scheduling is {scheduling}"
        where = request.origin.get("scheduling", "given")
        raise InputError(Problem(where, message, path="prefill"))
    other = _bound(specs, alone(request))  # prompts are read by instances of another layout
    values = prefill_inputs(other, made, request.prefill)
    return replace(made, given=made.given | values, prefills=other)


def _alone(specs: BoundCase, request: Request) -> BoundCase:
    """The case of its own specs and values, completed by its engine, by measurements and by what follows from them."""
    values = {name: value for name, (value,) in request.values.items()}
    case = replace(specs, given=dict(specs.given), specs=specs, request=request)
    if request.draft in HEADS and specs.model and specs.model.layers:
        case.draft = head_of(specs.model, request.draft)
    elif request.draft:
        case.draft, file = loaded("models", request.draft, request.base, request.assume_family)
        case.documents += (file,) if file else ()
    case.assumptions = assumed(request, case.engine)
    _set_values(case, values)
    if case.engine:
        add_engine_defaults(case, case.engine)
    if case.assumptions["targets_under"] == "load":
        add_mix(case)
        add_drafts(case)
    stated = request.preset or request.engine == IDEAL or request.efficiency
    if request.basis == "measured":
        add_measured_efficiencies(case)
    elif case.hardware and not (stated or case.given.keys() >= FITTED_TOGETHER):
        case.warn(IN_PART)
    if WIDTH in values:  # a width chosen by hand is that of every quantized operator
        for name in [name for name in case.given if name.startswith(f"{WIDTH}.")]:
            del case.given[name]
    _add_what_follows(case)
    check_split(values, case.given)
    case.warn(*check_together(case.given))
    check_engine(case)
    case.warn(*beyond_context(case.model, lengths(case.given)))
    own_size = "weights" not in request.precision and values.keys().isdisjoint(STORAGE)
    if case.model and case.model.stored_bytes and own_size:
        size, more = stored_size(case.model, case.case.value("weight_bytes"))
        case = case.with_given({"weight_bytes": size})
        case.warn(*more)
    return case


def _set_values(case: BoundCase, values: Mapping[str, Setting]) -> None:
    """Set the values that were chosen: those of all devices, then those of this one."""
    origin = case.request.origin
    for name, value in values.items():
        case.given[name] = Input(value, origin.get(name, "given"))
    for name, (value,) in case.request.of_devices.items():
        device, _, own = name.rpartition(".")
        if case.hardware and case.hardware.name == device:
            case.given[own] = Input(value, f"{origin.get(name, 'given')}: {name}")


def _with_draft(made: BoundCase, request: Request, name: str) -> BoundCase:
    """The combination with its draft model: the cost of drafting and its memory, on the same device under the same load."""
    if made.model is None:
        message = "a draft model drafts for a model: give one"
        where = request.origin.get("draft", "given")
        raise InputError(Problem(where, message, path="draft"))
    of_target = OF_TARGET | DRAFTING
    values = {key: each for key, each in request.values.items() if key not in of_target}
    request = replace(request, values=values, draft=None, models=(name,))
    specs = inputs_of_specs(request, made.preset, made.draft, made.hardware)
    draft = _bound(specs, request)
    head = name in HEADS
    extra = draft_inputs(draft.case, made.case, made.given, name, head)
    what = f"a head ({name}), counted as one more layer and the output matrix" if head else name
    what += ", whether or not the checkpoint has one" * (name == "mtp")
    notes = [f"drafted by {what}: its own prefill of the prompt is not in ttft"]
    notes += [f"draft {each}" for each in draft.warnings if each not in made.warnings]
    if "draft_cost" in made.given:
        notes.append("the draft model's own time is ignored, because draft_cost is given")
    if made.given.keys().isdisjoint(DRAFTED):  # a warning says that it drafts nothing
        notes = []
    return replace(made, given=made.given | extra, warnings=(*made.warnings, *notes))


def _add_what_follows(case: BoundCase) -> None:
    """A measured time to first token is that of a prefill, a measured mean time per token that of every decode step. Of a model with experts of which only the
    totals are known, what a single token reads follows from the parameters it multiplies, however many experts there are."""
    given = case.given
    for name, (part, formula, why) in FOLLOWS_FROM.items():
        measured = given.get(name)
        if measured and not measured.is_formula:
            case.add({part: Input(parse(formula), f"{why} ({measured.source})")})
    one = number_of(given, "batch", defaults=True) == 1
    if case.model is None and "active_params" in given and one and not given.keys() & EXPERTS:
        why = "default: of one token any number is the same"
        case.add({name: Input(parse(x), why, defaulted=True) for name, x in EXPERTS.items()})


MIXED = ("prompt", "output", "long_prompt", "long_output")
"""The lengths of both kinds: a mix is known with all of them."""

SHARE = "long_share"


def has_mix(given: Mapping[str, Input]) -> bool:
    """Whether some requests are long ones, of a length that is known."""
    return SHARE in given and given[SHARE].number != 0 and all(name in given for name in MIXED)


def add_mix(case: BoundCase) -> None:
    """Let what decides be that of the mix, and say so; a quantity that is given stays. Long requests of which one length is said have the other of all."""
    alike = {"long_prompt": "prompt", "long_output": "output"}
    if SHARE in case.given and alike.keys() & case.given.keys():
        for name, other in alike.items():
            if other in case.given:
                case.add({name: Input(symbol(other), f"{other}, as of the other requests", True)})
    if has_mix(case.given):
        mixed, why = OF_THE_MIX.items(), "of the mix of requests"
        case.add({name: Input(symbol(own), why, defaulted=True) for name, own in mixed})
        case.warn(
            "a mix of requests: targets, rates, costs, memory and latencies under load are means over the mix; latencies of one request alone are those of the ordinary requests"
        )
    elif SHARE in case.given and case.given[SHARE].number != 0:
        missing = " and ".join(name for name in MIXED if name not in case.given)
        case.warn(f"{SHARE} without {missing}: all requests are treated as equal")
