"""What a case gets where nobody gives a number: what its serving engine decides, and the efficiencies that measurements of others lead to expect."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from symroof.cases.bound_case import EXPECTED, BoundCase
from symroof.cases.checks import lengths
from symroof.cases.request import Request
from symroof.cases.values import Input, number_of
from symroof.specs.efficiencies import (
    FITTED,
    TILE_ROWS,
    Efficiency,
    MeasuredKind,
    families_of,
    link_group,
    model_part,
    shipped_efficiencies,
    tile_share,
    unit_of,
)
from symroof.specs.engine_profile import DEFAULT, IDEAL, EngineSpec, engine_profile
from symroof.specs.fields import ValueRange
from symroof.specs.hardware import HardwareSpec
from symroof.specs.quantization import BITS, peak_precision
from symroof.symbolic.expressions import is_number, names, number
from symroof.symbolic.reading import parse
from symroof.theory.layout import DEGREES
from symroof.theory.switches import Assumptions, assume
from symroof.theory.symbols import INPUTS
from symroof.theory.theory_files import column, section
from symroof.units import format_quantity

BUDGET_LEFT = parse("max(attention_dp*token_budget - batch*decoded_tokens, 1 token)")
"""Prompt tokens that a step takes along: what the decoding requests leave of the budget of each attention group."""
SLOTS = parse("max(min(attention_dp*max_batch, concurrency), 1 request)")
"""Requests that a server decodes together where it is loaded and nobody gives a batch: what the engine allows, within memory."""
WIDEST = {
    "d_ff": "2*d_model + (ffn_matrices - 1)*d_ff/tp",
    "d_expert": "2*d_model + experts_per_token*(2*d_expert/tp + d_model)",
}
"""Elements of a token's activations in a feed-forward layer: the residual and its norm, and what stands between the matrices; experts keep every result of a
token until they are summed (vLLM's fused_moe has these three buffers)."""
OF_DEVICES = frozenset({"peak_flops", "mem_bandwidth", "mem_capacity"})
"""Inputs that describe a device where none is named."""
WIDE = "bf16"
"""The precision of attention where products run in fewer bits."""


def profile_of(request: Request, case: BoundCase) -> EngineSpec | None:
    """The engine of a case; None where neither a model nor a device is named. A model alone, and presets of tools and tutorials, stand on physics.

    Raises:
        InputError: no such engine.
    """
    if case.model is None and case.hardware is None:
        return None
    device = case.hardware is not None or not OF_DEVICES.isdisjoint(request.values)
    physics = case.preset is not None or not device
    return engine_profile(request.engine or (IDEAL if physics else DEFAULT))


def assumed(request: Request, profile: EngineSpec | None) -> Assumptions:
    """The counting choices of a request, over those of the engine, which count as defaults."""
    chosen, engine = assume(**request.assume), profile.assume if profile else {}
    own = {name: entry.value for name, entry in engine.items() if chosen.defaulted(name)}
    return Assumptions(chosen.replaced(**own).values, chosen.chosen)


def add_engine_defaults(case: BoundCase, profile: EngineSpec) -> None:
    """Complete the inputs of a case, and its counting choices, by what its engine decides."""
    device, given = case.hardware, case.given
    memory, name_of = number_of(given, "mem_capacity"), device.name if device else ""
    plain_first = sorted(profile.inputs.items(), key=lambda item: item[1].formula is not None)
    for name, entry in plain_first:  # a formula may be over the other values
        tree = profile.tree(name, memory, name_of)
        if tree is None or name in given:
            continue
        # a case without a model or a device has a formula only where it has all that this needs
        missing = [each for each in names(tree) if each not in given]
        if all(INPUTS[n].default is not None if n in INPUTS else case.model for n in missing):
            source = profile.quoted(entry)
            given[name] = Input(tree, source, defaulted=True)
    own = profile.tree("token_budget", memory, name_of)
    if is_number(own):
        _add_larger_steps(int(own), given)
    if {"arrival_rate", "max_batch", "mem_capacity"} <= given.keys() and case.model:
        source = f"the engine's max_batch ({given['max_batch'].source}), as far as memory holds it"
        case.add({"batch": Input(SLOTS, source, defaulted=True)})
    chunked = case.assumptions["scheduling"] == "chunked"
    if chunked and {"token_budget", "output"} <= given.keys():
        source = f"what the batch leaves of token_budget ({given['token_budget'].source})"
        case.add({"chunk": Input(BUDGET_LEFT, source, defaulted=True)})
    if case.compute is None or BITS[case.compute] >= BITS[WIDE]:
        return
    if "n_experts" in given and not {"ep", "attention_dp"}.isdisjoint(given):
        source = f"experts that compute in {case.compute} are sent 8-bit activations (DeepEP)"
        case.add({"dispatch_bytes_per_element": Input(parse("1 byte"), source)})
    if device:
        _widen_attention(case, profile, device)


def _add_larger_steps(own: int, given: dict[str, Input]) -> None:
    """Add to the engine's reserve, an estimate for steps of its own budget, the activations of the tokens that a larger budget has beyond it."""
    budget, reserve = number_of(given, "token_budget"), given.get("memory_reserve")
    widest = [formula for name, formula in WIDEST.items() if name in given]
    if budget is None or budget <= own or not widest or reserve is None or not reserve.defaulted:
        return
    if reserve.ranged or "token_budget" in names(reserve.setting):
        return
    each = f"max({', '.join(widest)}, 0)*act_bytes_per_element"
    more = parse(f"(token_budget - {own} token)*{each}/(1 token)")
    source = f"{reserve.source}; and activations of a larger token_budget"
    given["memory_reserve"] = replace(reserve, setting=reserve.setting + more, source=source)


def _widen_attention(case: BoundCase, profile: EngineSpec, device: HardwareSpec) -> None:
    """Attention runs in 16 bits where products run in fewer, unless somebody says otherwise."""
    wide: Any = peak_precision(WIDE, list(device.peaks))
    chosen = not case.assumptions.defaulted("attention_arithmetic")
    if not profile.arithmetic or wide is None or chosen:
        return
    peak = device.peaks[wide]
    source = f"{device.name}, {wide} dense: {device.source_of(peak)}; attention in 16 bits ({profile.said})"
    case.add({"attention_peak_flops": Input(number(peak.dense.value), source)})
    said = case.assumptions
    case.assumptions = Assumptions(said.replaced(attention_arithmetic="wide").values, said.chosen)


OF_LINKS = frozenset({"link_latency", "link_share", "network_latency"})


def _between(low: Any, value: Any, high: Any, source: str, unit: str = "") -> Input:
    text = "..".join(format_quantity(end, unit, 3).strip() for end in (low, high))
    return Input(ValueRange(low, high, text, value), source, measured=True)


def _beside(where: str) -> dict[str, Input]:
    """What some cases cost beyond their peak: said of the rows that the fit is made of, and not fitted itself."""
    found = {}
    for name, entry in MEASURED.items():
        if entry["where"] == where:
            low, value, high = (float(entry[end]) for end in ("low", "value", "high"))
            source, unit = entry["source"], INPUTS[name].unit
            single = Input(number(value), source, measured=True)
            found[name] = single if low == high else _between(low, value, high, source, unit)
    return found


MEASURED: dict[str, dict[str, Any]] = column("moving", "measured")
OF_EXPERTS, OF_GROUPS, OF_NETWORK = map(_beside, ("experts", "groups", "network"))
"""Of whole experts spread over devices; of attention groups beside experts; of groups larger than a node."""
OF_DRAFTS = "not measured: a verification may be slower beside a step than one step is beside another on devices of its class"

FAMILIES: dict[str, str] = {entry.name: entry.fields for entry in section("family_words")}
"""How families of devices, and the groups that a latency of links is of, as words."""
PARTS = {"experts": "models with experts on ", "latent": "models with latent attention on "}


def above_one(given: Mapping[str, Input], name: str) -> bool:
    """Whether a parallel degree is, or may be, above 1."""
    return name in given and given[name].number != 1


def several_devices(given: Mapping[str, Input]) -> bool:
    """Whether several devices work on a request: copies have no links."""
    return any(above_one(given, name) for name in DEGREES if name != "dp")


def kind_of(case: BoundCase, device: HardwareSpec, engine: str) -> MeasuredKind:
    """What a case is among those measured, on a class of engines."""
    given = case.given
    stored = "weight_bits" if "weight_bits" in given else "weight_bytes_per_param"
    bits = 8 * (number_of(given, stored, defaults=True) or 2)  # in bytes; unknown is 16 bits
    recurrent = any(
        name.startswith(("d_state", "linear_key")) or name.endswith(("_state_size", "lru_width"))
        for name in given
    )
    words = {"kv_lora_rank": "latent attention", "n_experts": "experts"}
    parts = " and ".join(word for name, word in words.items() if name in given)
    layout = "several devices" if several_devices(given) else "one device"
    if "n_experts" in given and above_one(given, "attention_dp"):
        layout = "attention groups"
    model = "recurrent" if recurrent else parts or "dense"
    size = next((size for size, least in ((16, 10), (8, 6)) if bits > least), 4)
    part = {"device": device.name, "family": device.family, "generation": device.generation}
    return MeasuredKind(**part, model=model, bits=size, layout=layout, engine=engine)


def beyond_measurements(case: BoundCase) -> str:
    """In words, that nothing like a case was measured; empty where something was, or nothing is expected by measurements."""
    if case.hardware is None or case.engine is None or case.basis != EXPECTED:
        return ""
    beyond = shipped_efficiencies().beyond(kind_of(case, case.hardware, case.engine_class))
    known = shipped_efficiencies().longest
    longest = known.get(case.engine_class, max(known.values()))
    sizes = lengths(case.given)
    if beyond or max(sizes.pop("context", 0), sum(sizes.values())) <= longest:
        return beyond
    return f"no request longer than {longest:,} tokens was measured; times of longer ones may lie outside their ranges"


def add_measured_efficiencies(case: BoundCase) -> None:
    """Add what a case lacks of the fitted inputs, each a range with its expected value; those of links where several devices work on a request;
    and the times that servers of the engine were seen to take. A case without a device, an engine or layers gets none.

    Raises:
        FileNotFoundError: a broken installation.
    """
    device, profile, given = case.hardware, case.engine, case.given
    layers = case.model is not None or "n_layers" in given
    if device is None or profile is None or not layers:
        return
    engine, experts = case.engine_class, "n_experts" in given
    groups = above_one(given, "attention_dp")
    spread = experts and (above_one(given, "ep") or groups)
    exchanges = spread and (groups or not above_one(given, "tp"))
    grouped = case.assumptions["scheduling"] == "disaggregated" or several_devices(given)
    kind = kind_of(case, device, engine)
    part, reach = model_part(kind.model), shipped_efficiencies().reach(kind)
    elsewhere = device.family == "apple" and engine != "ggml"
    if elsewhere:
        case.warn(
            f"{profile.title} does not run on Apple GPUs: add --engine llama.cpp or --engine mlx, whose efficiencies are used here"
        )
    others = defaultdict[str, list[str]](list)
    sending = link_group(number_of(given, "tp", defaults=True), exchanges)
    for name in FITTED:
        if name in given or (name in OF_LINKS and not grouped):
            continue
        families, kernels = [sending], engine
        if name != "link_latency":
            families = families_of(name, device.family, device.generation, part, engine)
        elif (engine, device.family) == ("earlier", "hbm"):
            kernels = "compiled"  # engines until 2024 sum with kernels of their own on NVIDIA
        given[name], words = _fitted(name, tuple(families), kernels, reach)
        others[words].append(name)
        if name == "mbu":
            share = share_of_tile(device.family, engine, case.compute, given)
            _limit_by_tile(given, share)
    told = [(why, " and ".join(own)) for why, own in others.items() if why and not elsewhere]
    case.warn(*(f"nobody measured {own} {why}" for why, own in told))
    beside = OF_EXPERTS if spread else {}
    if not {"draft_tokens", "verified_tokens"}.isdisjoint(given):
        width = math.exp(reach * float(shipped_efficiencies().scatter["mbu"].value))
        beside = beside | {"verify_slowdown": _between(1, 1, width, OF_DRAFTS)}
    beside = beside | (OF_GROUPS if spread and groups else {}) | (OF_NETWORK if grouped else {})
    for name, entry in profile.measured.items():  # times that its servers were seen to take
        source = f"measured: {profile.source_of(entry)}"
        beside[name] = Input(entry.range_of(name), source, measured=True)
    case.add(beside)


def share_of_tile(
    family: str, engine: str, compute: str | None, given: Mapping[str, Input]
) -> float | None:
    """The share of the bandwidth that the smallest tile of a matrix product leaves for weights, at full compute, on server parts, where a library multiplies
    with matrix units; None where a value is not known, where weights are narrower than what is multiplied, for ggml, whose kernels take single rows, and for
    experts, whose kernels take tiles of 16."""
    if family != "hbm" or engine == "ggml" or "n_experts" in given:
        return None
    inputs = ("weight_bytes_per_param", "peak_flops", "mem_bandwidth")
    width, peak, bandwidth = (number_of(given, name, defaults=True) for name in inputs)
    if compute is None or width is None or peak is None or bandwidth is None:
        return None
    narrow = width < BITS[compute] / 8
    return None if narrow else tile_share(peak, width, bandwidth)


def _limit_by_tile(given: dict[str, Input], share: float | None) -> None:
    """Lower the share of the bandwidth to what a device can take that multiplies slowly: nothing reads weights faster than they are multiplied."""
    own, reached = ([x.low, x.value, x.high] for x in (given["mbu"], given["mfu"]))
    if share is None or None in own + reached or share * reached[1] >= own[1]:  # type: ignore[operator]
        return
    low, value, high = (min(mine, share * peak) for mine, peak in zip(own, reached, strict=True))  # type: ignore[operator, type-var]
    tile = f"no more than the device takes that multiplies {TILE_ROWS} rows at least by each weight"
    given["mbu"] = _between(low, value, high, f"{given['mbu'].source}; {tile}")


@lru_cache(maxsize=256)
def _fitted(name: str, families: tuple[str, ...], engine: str, reach: float) -> tuple[Input, str]:
    """The value of an input, made once for all devices of a family, and a word where it is that of others: those have a wide interval."""
    table = shipped_efficiencies()
    entry, word = table.chosen(name, families, engine)
    low, high = table.ends(entry, float(table.far.value) if word else reach)
    said, unit = source(entry, engine), unit_of(entry.value)
    return _between(low, entry.value.value, high, said, unit), word


def source(entry: Efficiency, engine: str) -> str:
    """What an entry rests on, in words."""
    apart = entry.of not in ("", entry.family)
    own = f"; the rows of {_devices(entry.family)} do not determine it" if apart else ""
    engines = "all engines" if entry.engine == "all" else f"{entry.engine} engines"
    sources = f"{entry.sources} source{'' if entry.sources == 1 else 's'}"
    return f"measured ({engine}): {entry.rows} rows of {sources}, {_devices(entry.of or entry.family)}, {engines}{own}"


def _devices(family: str) -> str:
    """``models with experts on NVIDIA HBM devices``."""
    name, _, part = family.partition(" ")
    return f"{PARTS.get(part, '')}{FAMILIES.get(name, name)} devices"
