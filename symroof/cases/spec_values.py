"""Values that specs supply to a case, each with its source."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sympy import Number

from symroof.errors import InputError, Problem
from symroof.specs.checkpoint_precisions import (
    is_checkpoint_precision,
    precision_width,
    quantization_at,
)
from symroof.specs.engine_profile import IDEAL, EngineProfile
from symroof.specs.fields import ValueRange
from symroof.specs.hardware import HardwareSpec
from symroof.specs.input_values import Setting
from symroof.specs.model import ModelSpec
from symroof.specs.precision import Width, compute_precision, peak_precision
from symroof.symbolic.expressions import Expr, fraction, is_number, number
from symroof.theory.declarations import NONE, Declarations, default_of
from symroof.theory.layout import DEGREES
from symroof.theory.symbols import base_name
from symroof.units import is_whole

if TYPE_CHECKING:  # presets load when one is chosen
    from symroof.specs.preset import Definition, PresetSpec


VARIANT = "variant"
"""The origin of values of a case that was made from another."""


@dataclass(frozen=True)
class SourcedValue:
    """One input's value in a case, with its source; a tool's own definition of a quantity comes with its terms.

    ``measured``: an efficiency from the catalogue's measurements. ``listed``: a price from the catalogue's list prices, at their median; the range
    from the lowest to the highest is of what the price moves alone.
    """

    setting: Setting
    source: str
    text: str = ""
    defaulted: bool = False
    definition: Definition | None = None
    measured: bool = False
    listed: bool = False


COUNTS_OF_TERMS = (
    "output",
    "draft_tokens",
    "response_steps",
    "chunk_steps",
    "prompt_chunks",
    "group_chunks",
)
"""Names that sums run up to: between whole numbers the sums have no value."""


def middle(setting: Setting, name: str, own: Declarations = NONE) -> Expr:
    """The value that a case is evaluated at: of a range its middle, a whole number where sums run up to it.

    >>> middle(ValueRange(Fraction(100), Fraction(301), "100..301"), "output"), middle(ValueRange(Fraction(1), Fraction(2), "1..2"), "batch")
    (200, 3/2)
    """
    if not isinstance(setting, ValueRange):
        return setting
    between = setting.middle
    whole = base_name(name) in COUNTS_OF_TERMS and setting.low.denominator == 1
    return number(Fraction(math.floor(between)) if whole else between)


ROLE_INPUT = {
    "weights": "weight_bytes_per_param",
    "kv": "kv_bytes_per_element",
    "activations": "act_bytes_per_element",
}
DEFAULT_PRECISION = "fp16"


def precision_values(
    roles: dict[str, str | None],
    given: dict[str, SourcedValue],
    origin: dict[str, str],
    model: ModelSpec | None = None,
    as_stored: bool = False,
) -> tuple[dict[str, str], dict[str, Width]]:
    """Precisions to widths; ``weights`` as the precision of another role means the same as the weights. Without a requested
    precision, weights are as the model's checkpoint stores them, and so are all with ``as_stored``."""
    stored = model.quantization if model and (as_stored or roles["weights"] is None) else None
    names = {role: name or DEFAULT_PRECISION for role, name in roles.items()}
    same = stored.format if stored else names["weights"]
    names = {role: same if name == "weights" else name for role, name in names.items()}
    widths = {
        role: precision_width(name) if role == "weights" else of_elements(precision_width(name))
        for role, name in names.items()
    }
    if stored and model:
        widths["weights"], names["weights"] = stored.width(model.operator_widths()), stored.method
        own = {"weights": stored.method} | (
            {"kv": stored.kv} if stored.kv and roles["kv"] is None and not as_stored else {}
        )
        origin = origin if as_stored else {**origin, **dict.fromkeys(own, f"model {model.name}")}
        roles = {**roles, **own}
        if "kv" in own:
            names["kv"], widths["kv"] = own["kv"], precision_width(own["kv"])
    for role, chosen in widths.items():
        if roles[role] is None:
            continue
        source = origin.get(role, "given")
        given |= {
            name: SourcedValue(tree, f"{source}: {role} {chosen.text}")
            for name, tree in chosen.settings
        }
        given[ROLE_INPUT[role]] = SourcedValue(chosen.bytes, f"{source}: {role} {chosen.text}")
    return names, widths


def of_elements(chosen: Width) -> Width:
    """A width with its share of a scale as one number: the cache and the activations have no bits and groups of their own."""
    parts = {name: fraction(tree) for name, tree in chosen.settings if is_number(tree)}
    if "weight_bits" not in parts:
        return chosen
    size = parts["weight_bits"] + parts.get("scale_bits", Fraction(0)) / parts.get(
        "scale_group", Fraction(1)
    )
    return Width(chosen.text, number(size), chosen.format)


def stored_model(
    model: ModelSpec | None, weights: str | None, warnings: list[str]
) -> tuple[ModelSpec | None, bool]:
    """The model as a precision of the weights stores it, where that is one of a whole checkpoint; and whether it is."""
    if weights is None or not is_checkpoint_precision(weights):
        return model, False
    if model is None or not model.layers:
        warnings.append(
            f"without a model's layers every parameter counts as narrow; a checkpoint in {weights} leaves some wide"
        )
        return model, False
    return model.model_copy(update={"quantization": quantization_at(weights, model)}), True


TOLD_APART = Fraction(1, 200)
"""A difference between two sizes of a checkpoint that is worth a word: layers that predict ahead, parts for images."""


def stored_size(model: ModelSpec, counted: Fraction) -> tuple[SourcedValue, list[str]]:
    """The size of a checkpoint as its index says, and a difference from what is counted in words.

    Matrices stored in 32 bits are narrowed when they are loaded, and are half as large.
    """
    held, said = Fraction(model.stored_bytes or 0), f"{model.shown_name}: its index says"
    warnings = []
    if model.quantization is None and held > Fraction(18, 10) * counted:
        warnings.append(f"{said} {float(held) / 1e9:,.4g} GB in 32 bits; the half is resident")
        held /= 2
    if abs(held / counted - 1) > TOLD_APART:
        warnings.append(
            f"{said} {float(held) / 1e9:,.4g} GB, which is used; {float(counted) / 1e9:,.4g} GB are counted"
        )
    return SourcedValue(
        number(held),
        f"model {model.name}: total_size of model.safetensors.index.json",
    ), warnings


def model_values(model: ModelSpec) -> dict[str, SourcedValue]:
    """The inputs a model supplies."""
    return {
        name: SourcedValue(number(value), f"model {model.name}")
        for name, value in model.values().items()
    }


def device_values(
    device: HardwareSpec, preset: PresetSpec | None, widths: dict[str, Width], given: dict[str, SourcedValue], warnings: list[str], native: str | None = None,
    sixteen_bits: bool = False,
) -> str | None:  # fmt: skip
    """The inputs a device supplies, and the precision its peak is taken at; ``native`` is that of the weights where the engine computes in it,
    ``sixteen_bits`` says that nobody chose which of the two 16-bit formats."""
    required = native or compute_precision(widths["weights"], widths["activations"])
    if sixteen_bits and required == DEFAULT_PRECISION and _faster_in_bf16(device):
        required = "bf16"
    own = preset.peaks.get(device.name, {}) if preset else {}
    rates = {name: peak.dense for name, peak in device.peaks.items()} | (
        {} if not own else dict(own)
    )
    available = list(own) if own else list(rates)
    compute = peak_precision(required, available)
    if compute is None:
        warnings.append(
            f"{device.title} has no dense peak at {required} or wider in its spec: times that need peak_flops are not known"
        )
    else:
        if compute != required:
            warnings.append(
                f"{device.title} has no dense {required} peak: operands are widened and compute at {compute}"
            )
        where = (
            f"preset {preset.name}"
            if own and preset
            else str(device.source_of(device.peaks[compute]))  # type: ignore[index]
        )
        given["peak_flops"] = SourcedValue(
            number(rates[compute].value),
            f"{device.name}, {compute} dense: {where}",
            rates[compute].text,
        )
    for name, valued in _device_numbers(device).items():
        given[name] = _device_given(device, name, valued, str(device.source_of(valued)))
    if (price := device.price) is not None:
        given["price"] = _list_price(device, price)
    if device.memory.reported is None:
        label = device.memory.capacity
        given["mem_capacity"] = _device_given(
            device,
            "mem_capacity",
            label,
            f"{device.source_of(label)} (the label; what the driver reports is not known)",
        )
    if device.host_link is not None:
        for name, why in OVER_HOST_LINK.items():
            given.setdefault(name, _device_given(device, name, device.host_link.bandwidth, why))
    return compute


def _faster_in_bf16(device: HardwareSpec) -> bool:
    """Whether bf16 is the 16-bit format that a device is made for (Gaudi 3: 1,678 TFLOP/s, and 459 in fp16)."""
    rates = {
        name: device.peaks[name].dense.value for name in ("fp16", "bf16") if name in device.peaks
    }
    return len(rates) == 2 and rates["bf16"] > rates["fp16"]


OVER_HOST_LINK = {
    "link_bandwidth": "over the host link, there is no link between devices",
    "network_bandwidth": "the host link, a bound: a network card sits behind it",
}
"""Links that the host link stands in for where a device has none, and why."""


def _device_given(device: HardwareSpec, name: str, valued: Any, source: str) -> SourcedValue:
    return SourcedValue(number(valued.value.value), f"{device.name}: {source}", valued.value.text)


def _list_price(device: HardwareSpec, price: ValueRange) -> SourcedValue:
    """The median of the list prices of a device; a range where there are several."""
    asked = [listed for listed in device.prices if listed.kind == "on_demand"]
    if price.low == price.high:
        return SourcedValue(
            number(price.low),
            f"{device.name}: {asked[0].provider}: {device.source_of(asked[0])}",
            asked[0].price.text,
        )
    dates = sorted(
        (source.date or source.consulted or "")[:7] for source in map(device.source_of, asked)
    )
    when = dates[0] if dates[0] == dates[-1] else f"{dates[0]} to {dates[-1]}"
    return SourcedValue(
        price,
        f"{device.name}: median of {len(asked)} list prices on demand, {when}",
        price.text,
        listed=True,
    )


def _device_numbers(device: HardwareSpec) -> dict[str, Any]:
    chip = device.chip
    numbers = {
        "mem_bandwidth": device.memory.bandwidth,
        "mem_capacity": device.memory.reported,
        "link_bandwidth": device.link.bandwidth if device.link else None,
        "node_devices": device.link.devices if device.link else None,
        "network_bandwidth": device.network.bandwidth if device.network else None,
        "host_bandwidth": device.host_link.bandwidth if device.host_link else None,
        "power": device.power,
        "multiprocessors": chip.multiprocessors if chip else None,
        "clock": chip.boost_clock if chip else None,
        "l2_capacity": chip.l2 if chip else None,
        "sram_capacity": chip.shared_memory if chip else None,
    }
    return {name: valued for name, valued in numbers.items() if valued is not None}


def check_split(values: Mapping[str, Setting], given: Mapping[str, SourcedValue]) -> None:
    """A width that differs between kinds of layer, or between operators, cannot be set for all of them at once without saying how.

    Raises:
        InputError: one is set; the hint has the names to set instead.
    """
    problems = []
    of_parts = [name for name in given if "." in name and base_name(name) != name]
    for name in values:
        parts = sorted(part for part in of_parts if base_name(part) == name)
        if parts:
            problems.append(
                Problem(
                    "given",
                    f"{name} differs between parts of this model",
                    path=name,
                    hint=f"set {' and '.join(parts)}",
                )
            )
    if problems:
        raise InputError(problems)


LENGTHS = (("prompt", "output"), ("context",))
"""The lengths of a request: prompt and output together, and the keys of a step alone."""


def beyond_context(model: ModelSpec | None, sizes: Mapping[str, Fraction]) -> list[str]:
    """A remark for each length of a request beyond the model's context.

    >>> from symroof.specs.model_files import read_model
    >>> beyond_context(read_model("llama-3-8b")[0], {"prompt": Fraction(8000), "output": Fraction(500), "context": Fraction(8192)})
    ["prompt and output together are 8,500 tokens, which exceeds Llama 3 8B's maximum context of 8,192 tokens"]
    """
    if model is None or model.max_context is None:
        return []
    remarks = []
    for names in LENGTHS:
        known = [name for name in names if name in sizes]
        length = sum((sizes[name] for name in known), Fraction(0))
        if length > model.max_context:
            subject = f"{known[0]} is" if len(known) == 1 else f"{' and '.join(known)} together are"
            remarks.append(
                f"{subject} {int(length):,} tokens, which exceeds {model.shown_name}'s maximum context of {model.max_context:,} tokens"
            )
    return remarks


def lengths(given: Mapping[str, SourcedValue]) -> dict[str, Fraction]:
    """The lengths of a request that are numbers; of a range its upper end."""
    settings = {name: given[name].setting for names in LENGTHS for name in names if name in given}
    return {
        name: setting.high if isinstance(setting, ValueRange) else fraction(setting)
        for name, setting in settings.items()
        if isinstance(setting, (ValueRange, Number))
    }


def check_together(given: Mapping[str, SourcedValue], warnings: list[str]) -> None:
    """Whether a request may have these values together.

    Raises:
        InputError: as :func:`check_prefix` and :func:`check_degrees`.
    """
    check_prefix(given)
    check_degrees(given, warnings)


def check_prefix(given: Mapping[str, SourcedValue]) -> None:
    """The cached part of a prompt is not longer than the prompt.

    Raises:
        InputError: it is, somewhere in the ranges of the two.
    """
    cached, prompt = (given.get(name) for name in ("cached_prefix", "prompt"))
    if cached is None or prompt is None:
        return
    most, least = _end(cached.setting, "high"), _end(prompt.setting, "low")
    if most is not None and least is not None and most > least:
        message = f"{float(most):,g} cached tokens are more than the {float(least):,g} of the prompt they are a part of"
        raise InputError(
            Problem(cached.source, message, path="cached_prefix", hint=f"at most {float(least):,g}")
        )


def _end(setting: Setting, which: str) -> Fraction | None:
    """The low or the high end of a setting; None of a formula."""
    end: Fraction | None = (
        getattr(setting, which)
        if isinstance(setting, ValueRange)
        else fraction(setting)
        if is_number(setting)
        else None
    )
    return end


def check_degrees(given: Mapping[str, SourcedValue], warnings: list[str]) -> None:
    """Parallel degrees that a model allows: key and value heads are dealt whole, or copied evenly.

    Raises:
        InputError: ``tp`` neither divides the key and value heads nor is a multiple of them; a degree that is not whole, or a range: each is another
            layout, and few of the numbers between two are permitted.
    """
    for name in DEGREES:
        if name in given and isinstance(ends := given[name].setting, ValueRange):
            values = [str(2**k) for k in range(10) if ends.low <= 2**k <= ends.high]
            hint = (
                f"one of {', '.join(values)}, or a list of them: a case for each" if values else ""
            )
            raise InputError(
                Problem(
                    given[name].source,
                    f"{name} is a range; a number of devices is one, or a list",
                    path=name,
                    hint=hint,
                )
            )
    degrees = {name: number for name in DEGREES if (number := number_of(given, name)) is not None}
    for name, degree in degrees.items():
        if not is_whole(degree) or degree < 1:
            raise InputError(
                Problem(
                    given[name].source,
                    f"{name} {float(degree):g} is not a number of devices",
                    path=name,
                    hint="write 1, 2, 4 …",
                )
            )
    tp = degrees.get("tp", Fraction(1))
    for name in sorted(
        name for name in given if name.startswith("n_kv_heads") and base_name(name) == "n_kv_heads"
    ):
        heads = number_of(given, name)
        if heads is not None and is_whole(heads) and heads % tp and tp % heads:
            permitted = ", ".join(str(n) for n in range(1, int(heads) + 1) if not heads % n)
            raise InputError(
                Problem(
                    given["tp"].source,
                    f"tp {tp} cannot share out {heads} key and value heads",
                    path="tp",
                    hint=f"{permitted}, or a multiple of {heads}",
                )
            )
    batch, pp = number_of(given, "batch") or Fraction(1), degrees.get("pp", Fraction(1))
    if batch < pp:
        warnings.append(f"batch {batch} is less than pp {pp}: stages are idle in a decode step")
    layers = sum(
        (number_of(given, name) or Fraction(0) for name in given if base_name(name) == "n_layers"),
        Fraction(0),
    )
    if layers and pp > layers:
        warnings.append(
            f"pp {pp} is more than the {layers} layers of the model: a stage needs at least one"
        )
    if (
        layers
        and degrees.get("ep", Fraction(1)) > 1
        and not any(base_name(name) == "n_experts" for name in given)
    ):
        warnings.append(f"ep {degrees['ep']} has no effect: the model has no experts")


def check_heads(given: Mapping[str, SourcedValue], engine: EngineProfile) -> None:
    """Query heads that the engine can share out: it keeps each whole, on one device; llama.cpp cuts rows, and physics alone cuts what it likes.

    Raises:
        InputError: ``tp`` does not divide them.
    """
    tp = number_of(given, "tp") or Fraction(1)
    if engine.label == IDEAL or engine.kind == "ggml":
        return
    for name in sorted(name for name in given if base_name(name) == "n_heads"):
        heads = number_of(given, name)
        if heads is not None and is_whole(heads) and heads % tp:
            permitted = ", ".join(str(n) for n in range(1, int(heads) + 1) if not heads % n)
            message = f"tp {tp} does not divide {heads} query heads, which {engine.said} refuses"
            raise InputError(
                Problem(
                    given["tp"].source, message, path="tp", hint=f"{permitted}; or --engine ideal"
                )
            )


def groups_inside(given: Mapping[str, SourcedValue], engine: EngineProfile) -> list[str]:
    """That a layout has more devices than the same numbers have on the line of an engine that forms attention's groups inside its tensor-parallel ones."""
    tp, groups = (number_of(given, name) or Fraction(1) for name in ("tp", "attention_dp"))
    both = [given[name].source for name in ("tp", "attention_dp") if name in given]
    if (
        engine.spec.data_parallel != "inside"
        or tp == 1
        or groups == 1
        or tp % groups
        or VARIANT in both
    ):
        return []
    alike = f"tp {tp // groups}, attention_dp {groups}"
    return [
        f"tp is of one attention group here, so tp {tp} and attention_dp {groups} are {tp * groups} devices; {engine.said} counts groups inside its tp: its tp {tp} is {alike}"
    ]


def number_of(
    given: Mapping[str, SourcedValue], name: str, defaults: bool = False
) -> Fraction | None:
    """The number of a name, or with ``defaults`` its default; None where its value is a range or a formula, or it has none."""
    setting = given[name].setting if name in given else default_of(name) if defaults else None
    return fraction(setting) if is_number(setting) else None
