"""What specs supply to a case: values by name, each with who gave it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from symroof.formula.tree import Num, Tree
from symroof.specs.errors import InputError, Problem
from symroof.specs.fields import Span
from symroof.specs.hardware import HardwareSpec
from symroof.specs.model import ModelSpec
from symroof.specs.precision import Width, compute_precision, peak_precision, width
from symroof.specs.study import PresetSpec, Setting
from symroof.theory.symbols import INPUTS, base_name
from symroof.units import PLAIN, Dimension


@dataclass(frozen=True)
class Given:
    """One input's value in a case, with who gave it."""

    setting: Setting
    source: str
    text: str = ""


def middle(setting: Setting, name: str) -> Tree:
    if isinstance(setting, Span):
        return Num(setting.middle, INPUTS[name].dimension if name in INPUTS else ())
    return setting


def dimension(name: str) -> Dimension:
    """The dimension of an input, whatever kind of layer it belongs to."""
    symbol = INPUTS.get(base_name(name))
    return symbol.dimension if symbol else PLAIN


ROLE_INPUT = {"weights": "weight_bytes_per_param", "kv": "kv_bytes_per_element", "activations": "act_bytes_per_element"}
DEFAULT_PRECISION = "fp16"


def precision_values(
    roles: dict[str, str | None], given: dict[str, Given], origin: dict[str, str], model: ModelSpec | None = None
) -> tuple[dict[str, str], dict[str, Width]]:
    """Precisions to widths; ``weights`` as the precision of another role means the same as the weights. Weights that
    nobody chose a precision for are as the model's checkpoint stores them."""
    stored = model.quantization if model and roles["weights"] is None else None
    names = {role: name or DEFAULT_PRECISION for role, name in roles.items()}
    same = stored.format if stored else names["weights"]
    names = {role: same if name == "weights" else name for role, name in names.items()}
    widths = {role: width(name) for role, name in names.items()}
    if stored and model:
        widths["weights"], names["weights"] = stored.width(model.operator_widths()), stored.method
        roles, origin = {**roles, "weights": stored.method}, {**origin, "weights": f"model {model.name}"}
    for role, chosen in widths.items():
        if roles[role] is None:
            continue
        source = origin.get(role, "given")
        given |= {name: Given(tree, f"{source}: {role} {chosen.text}") for name, tree in chosen.settings}
        given[ROLE_INPUT[role]] = Given(chosen.bytes, f"{source}: {role} {chosen.text}")
    return names, widths


def model_values(model: ModelSpec) -> dict[str, Given]:
    """The inputs a model supplies."""
    return {name: Given(Num(value, dimension(name)), f"model {model.name}") for name, value in model.values().items()}


def device_values(device: HardwareSpec, preset: PresetSpec | None, widths: dict[str, Width], given: dict[str, Given], warnings: list[str]) -> str | None:
    """The inputs a device supplies, and the precision its peak is taken at."""
    wanted = compute_precision(widths["weights"], widths["activations"])
    own = preset.peaks.get(device.name, {}) if preset else {}
    rates = {name: peak.dense for name, peak in device.peaks.items()} | ({} if not own else dict(own))
    available = list(own) if own else list(rates)
    compute = peak_precision(wanted, available)
    if compute is None:
        warnings.append(f"{device.title} has no dense peak at {wanted} or wider in its spec: times that need peak_flops are not known")
    else:
        if compute != wanted:
            warnings.append(f"{device.title} has no dense {wanted} peak: operands are widened and compute at {compute}")
        where = f"preset {preset.name}" if own and preset else str(device.source_of(device.peaks[compute]))  # type: ignore[index]
        given["peak_flops"] = Given(Num(rates[compute].value, INPUTS["peak_flops"].dimension), f"{device.name}, {compute} dense: {where}", rates[compute].text)
    for name, valued in _device_numbers(device).items():
        given[name] = _device_given(device, name, valued, str(device.source_of(valued)))
    if device.memory.reported is None:
        label = device.memory.capacity
        given["mem_capacity"] = _device_given(device, "mem_capacity", label, f"{device.source_of(label)} (the label; what the driver reports is not known)")
    if device.host_link is not None:
        for name, why in OVER_HOST_LINK.items():
            given.setdefault(name, _device_given(device, name, device.host_link.bandwidth, why))
    return compute


OVER_HOST_LINK = {
    "link_bandwidth": "over the host link, there is no link between devices",
    "network_bandwidth": "the host link, a bound: a network card sits behind it",
}
"""What a device without a link of its own for it sends over the host link, and why."""


def _device_given(device: HardwareSpec, name: str, valued: Any, source: str) -> Given:
    return Given(Num(valued.value.value, dimension(name)), f"{device.name}: {source}", valued.value.text)


def _device_numbers(device: HardwareSpec) -> dict[str, Any]:
    chip = device.chip
    found = {
        "mem_bandwidth": device.memory.bandwidth,
        "mem_capacity": device.memory.reported,
        "link_bandwidth": device.link.bandwidth if device.link else None,
        "node_devices": device.link.devices if device.link else None,
        "network_bandwidth": device.network.bandwidth if device.network else None,
        "host_bandwidth": device.host_link.bandwidth if device.host_link else None,
        "power": device.power,
        "price": device.price,
        "multiprocessors": chip.multiprocessors if chip else None,
        "clock": chip.boost_clock if chip else None,
        "l2_capacity": chip.l2 if chip else None,
        "sram_capacity": chip.shared_memory if chip else None,
    }
    return {name: valued for name, valued in found.items() if valued is not None}


def check_split(values: Mapping[str, Setting], given: Mapping[str, Given]) -> None:
    """A width that differs between kinds of layer, or between operators, cannot be set for all of them at once without saying how.

    Raises:
        InputError: somebody does; the names to set instead.
    """
    problems = []
    for name in values:
        parts = sorted(other for other in given if base_name(other) == name and other != name)
        if parts:
            problems.append(Problem("given", f"{name} differs between parts of this model", path=name, hint=f"set {' and '.join(parts)}"))
    if problems:
        raise InputError(problems)


def check_context(model: ModelSpec | None, given: dict[str, Given], warnings: list[str]) -> None:
    """A prompt and output beyond what the model was made for is worth a word."""
    if model is None or model.max_context is None:
        return
    sizes = [middle(given[name].setting, name) for name in ("prompt", "output") if name in given]
    length = sum(size.value for size in sizes if isinstance(size, Num))
    if length > model.max_context:
        warnings.append(f"prompt and output together are {int(length):,} tokens; {model.shown_name} was made for {model.max_context:,}")
