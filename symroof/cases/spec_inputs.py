"""The model, device and preset that a request names, and the inputs that their specs give to its cases."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from symroof.cases.bound_case import BoundCase
from symroof.cases.engine_inputs import profile_of
from symroof.cases.request import Request
from symroof.cases.values import ROLE_INPUT, Input
from symroof.specs.catalogue import model_by_hub_name
from symroof.specs.engine_profile import EngineCache
from symroof.specs.fields import ValueRange
from symroof.specs.hardware import HardwareSpec
from symroof.specs.model import ModelSpec
from symroof.specs.precision import precision_width, quantization_at, whole_checkpoint
from symroof.specs.preset import PresetSpec
from symroof.specs.quantization import BITS, Width, compute_precision, peak_precision
from symroof.specs.spec_files import read_spec
from symroof.strict_yaml import Document
from symroof.symbolic.expressions import is_number, number
from symroof.theory.theory_files import section

DEFAULT_PRECISION = "fp16"
Roles = Mapping[str, str | None]
"""The precision that is asked for by role."""


def loaded(
    kind: str, name: str | ModelSpec, base: Path | None = None, assume_family: str | None = None
) -> tuple[Any, Document | None]:
    """A model, a device or a preset by its name in the catalogue or its file, relative to ``base``, or a model as it is; and its file."""
    if isinstance(name, ModelSpec):
        return name, None
    return read_spec(kind, name, base, assume_family)


def inputs_of_specs(
    request: Request,
    preset: PresetSpec | None,
    model: ModelSpec | None,
    device: HardwareSpec | None,
) -> BoundCase:
    """The inputs that the specs and the preset give at the precisions of a request, whatever else it sets; the preset overrides the specs."""
    roles: Roles = {role: next(iter(request.precision.get(role, ())), None) for role in ROLE_INPUT}
    case = BoundCase(model, device, preset, request=request)
    stored = model.quantization if model else None
    by_name = stored and roles["weights"] == stored.format and model_by_hub_name(case.asked_model)
    if by_name:  # the name says so too: one checkpoint, whichever says it
        roles = {**roles, "weights": None}
    case.engine = profile_of(request, case)
    as_stored = _store(case, roles["weights"])
    widths = _set_precisions(case, roles, as_stored)
    if case.model:
        case.given |= model_values(case.model)
        case.warn(*case.model.cautions(roles["weights"] is None))
    if device:
        _set_device(case, device, roles, widths)
    if preset:
        source = f"definition of preset {preset.name}"
        for name, own in preset.defined_for(case.given).items():
            case.given[name] = Input(own.tree, source, definition=own)
    return case


def preset_request(
    preset: PresetSpec | None, model: ModelSpec | None, device: HardwareSpec | None
) -> Request:
    """What a preset sets, for this model and this device before what it sets for all."""
    if preset is None:
        return Request()
    precision = {role: value for role, value in preset.precision if value}
    values, assume = dict(preset.set), dict(preset.assume)
    values |= preset.hardware.get(device.name, {}) if device else {}
    values |= preset.models.get(model.name, {}) if model else {}
    origin = dict.fromkeys((*values, *assume, *precision), f"preset {preset.name}")
    return Request(precision=precision, values=values, assume=assume, origin=origin)


def _store(case: BoundCase, weights: str | None) -> bool:
    """Store the model as a precision of the weights says, where that is one of a whole checkpoint; whether it is."""
    model = case.model
    if weights is None or not whole_checkpoint(weights):
        return False
    if model is None or not model.layers:
        narrow = "without a model's layers every parameter counts as narrow"
        case.warn(f"{narrow}; a checkpoint in {weights} leaves some wide")
        return False
    case.model = model.model_copy(update={"quantization": quantization_at(weights, model)})
    return True


def _set_precisions(case: BoundCase, roles: Roles, as_stored: bool) -> dict[str, Width]:
    """Set the widths of precisions; ``weights`` as the precision of another role means the same as the weights. Without a requested
    precision, weights are as the model's checkpoint stores them, and so are all with ``as_stored``."""
    model, origin = case.model, case.request.origin
    stored = model.quantization if model and (as_stored or roles["weights"] is None) else None
    own_cache = cache_of_engine(case)
    said = case.engine.quoted(own_cache) if case.engine and own_cache else ""
    if own_cache and own_cache.auto and roles["kv"] is None and not (stored and stored.kv):
        roles, origin = {**roles, "kv": own_cache.auto}, {**origin, "kv": said}
    names = {role: name or DEFAULT_PRECISION for role, name in roles.items()}
    same = stored.format if stored else names["weights"]
    names = {role: same if name == "weights" else name for role, name in names.items()}
    widths = {
        role: precision_width(name) if role == "weights" else of_elements(precision_width(name))
        for role, name in names.items()
    }
    if stored and model:
        own = {"weights": stored.method}
        widths["weights"] = stored.width(model.operator_widths())
        if stored.kv and roles["kv"] is None and not as_stored:
            own["kv"], widths["kv"] = stored.kv, precision_width(stored.kv)
        names |= own
        origin = origin if as_stored else {**origin, **dict.fromkeys(own, f"model {model.name}")}
        roles = {**roles, **own}
    for role, chosen in widths.items():
        if roles[role] is not None:
            source = f"{origin.get(role, 'given')}: {role} {chosen.text}"
            case.given |= {name: Input(tree, source) for name, tree in chosen.settings}
            case.given[ROLE_INPUT[role]] = Input(chosen.bytes, source)
    if own_cache and own_cache.fp8_extra and names["kv"].startswith("fp8"):
        case.given["latent_extra_bytes"] = Input(number(own_cache.fp8_extra.value), said)
    case.precisions = names
    return widths


def cache_of_engine(case: BoundCase) -> EngineCache | None:
    """How the engine of a case stores its latent cache, where it has a way of its own for the model."""
    if case.engine is None or case.model is None:
        return None
    device = case.hardware.name if case.hardware else ""
    for mixer in (layer.attention for layer in case.model.layers):
        if mixer.kind == "compressed":
            return case.engine.cache("compressed", device)
        if mixer.kind == "mla" and mixer.index_topk:
            return case.engine.cache("indexer", device)
    return None


def of_elements(chosen: Width) -> Width:
    """A width with its share of a scale as one number: the cache and the activations have no bits and groups of their own."""
    parts = {name: float(tree) for name, tree in chosen.settings if is_number(tree)}
    if "weight_bits" not in parts:
        return chosen
    size = parts["weight_bits"] + parts.get("scale_bits", 0) / parts.get("scale_group", 1)
    return Width(chosen.text, number(size), chosen.format)


def model_values(model: ModelSpec) -> dict[str, Input]:
    """The inputs a model supplies."""
    source = f"model {model.name}"
    return {name: Input(number(value), source) for name, value in model.values().items()}


TOLD_APART = 0.005
"""A difference between two sizes of a checkpoint that is worth a word: layers that predict ahead, parts for images."""


def stored_size(model: ModelSpec, counted: float) -> tuple[Input, list[str]]:
    """The size of a checkpoint as its index says, and a difference from what is counted in words.

    Matrices stored in 32 bits are narrowed when they are loaded, and are half as large.
    """
    held, said = float(model.stored_bytes or 0), f"{model.shown_name}: its index says"
    warnings = []
    if model.quantization is None and held > 1.8 * counted:
        warnings.append(f"{said} {held / 1e9:,.4g} GB in 32 bits; the half is resident")
        held /= 2
    if abs(held / counted - 1) > TOLD_APART:
        used = f"{held / 1e9:,.4g} GB, which is used; {counted / 1e9:,.4g} GB are counted"
        warnings.append(f"{said} {used}")
    source = f"model {model.name}: total_size of model.safetensors.index.json"
    return Input(number(held), source), warnings


OVER_HOST_LINK = {
    "link_bandwidth": "over the host link, there is no link between devices",
    "network_bandwidth": "the host link, a bound: a network card sits behind it",
}
"""Links that the host link stands in for where a device has none, and why."""


def _set_device(
    case: BoundCase, device: HardwareSpec, roles: Roles, widths: dict[str, Width]
) -> None:
    """Set the inputs a device supplies, and the precision its peak is taken at."""
    _set_peak(case, device, _multiplied(case, device, roles, widths))
    values = {}
    for _, name, path in section("from_device"):
        valued: Any = device
        for field in path.split("."):
            valued = getattr(valued, field, None)
        if valued is not None:
            values[name] = _of_device(device, valued, device.source_of(valued))
    if (price := device.price) is not None:
        values["price"] = _list_price(device, price)
    if device.memory.reported is None:
        label = device.memory.capacity
        why = f"{device.source_of(label)} (the label; what the driver reports is not known)"
        values["mem_capacity"] = _of_device(device, label, why)
    case.given |= values
    if device.host_link is not None:
        link = device.host_link.bandwidth
        case.add({name: _of_device(device, link, why) for name, why in OVER_HOST_LINK.items()})


def _multiplied(
    case: BoundCase, device: HardwareSpec, roles: Roles, widths: dict[str, Width]
) -> str:
    """The format that products run in: that of the weights where the engine computes in it, unless activations are given or the checkpoint says.

    A checkpoint of integers that says nothing of its activations leaves them wide: a name such as ``w8a16``, a GGUF file.
    """
    stored, native = widths["weights"], None
    integers = stored.format.startswith("int") and stored.text not in BITS
    if roles["activations"] is None and not stored.computes and not integers:
        entry = case.engine.arithmetic.get(stored.format) if case.engine else None
        if entry and entry.runs == "native" and stored.format in device.peaks:
            native = stored.format
    required = native or compute_precision(stored, widths["activations"])
    unchosen = roles["activations"] is None and not (roles["weights"] or "").startswith("fp16")
    if not unchosen or required != DEFAULT_PRECISION or not {"fp16", "bf16"} <= device.peaks.keys():
        return required
    # a Gaudi 3 is made for one of the two: 1,678 TFLOP/s, and 459 in fp16
    faster = device.peaks["bf16"].dense.value > device.peaks["fp16"].dense.value
    return "bf16" if faster else required


def _set_peak(case: BoundCase, device: HardwareSpec, required: str) -> None:
    """Set the peak that products run at: at the format they need, or a wider one."""
    own = dict(case.preset.peaks.get(device.name, {})) if case.preset else {}
    rates = {name: peak.dense for name, peak in device.peaks.items()} | own
    compute: Any = peak_precision(required, list(own or rates))
    case.compute = compute
    if compute is None:
        none = f"{device.title} has no dense peak at {required} or wider in its spec"
        case.warn(f"{none}: times that need peak_flops are not known")
        return
    if compute != required:
        widened = f"operands are widened and compute at {compute}"
        case.warn(f"{device.title} has no dense {required} peak: {widened}")
    preset = f"preset {case.preset.name}" if own and case.preset else ""
    source = f"{device.name}, {compute} dense: {preset or device.source_of(device.peaks[compute])}"
    case.given["peak_flops"] = Input(number(rates[compute].value), source)


def _of_device(device: HardwareSpec, valued: Any, source: object) -> Input:
    return Input(number(valued.value.value), f"{device.name}: {source}")


def _list_price(device: HardwareSpec, price: ValueRange) -> Input:
    """The median of the list prices of a device; a range where there are several."""
    asked = [listed for listed in device.prices if listed.kind == "on_demand"]
    if price.low == price.high:
        source = f"{device.name}: {asked[0].provider}: {device.source_of(asked[0])}"
        return Input(number(price.low), source)
    sources = map(device.source_of, asked)
    dates = sorted((source.date or source.consulted or "")[:7] for source in sources)
    when = dates[0] if dates[0] == dates[-1] else f"{dates[0]} to {dates[-1]}"
    source = f"{device.name}: median of {len(asked)} list prices on demand, {when}"
    return Input(price, source, listed=True)
