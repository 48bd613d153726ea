"""What a serving engine decides where nobody says otherwise: one profile for every command."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from symroof.cases.bound_case import BoundCase
from symroof.cases.input import Input, number_of
from symroof.cases.request import Request
from symroof.specs.engine_profile import DEFAULT, IDEAL, EngineProfile, engine_profile
from symroof.specs.hardware import HardwareSpec
from symroof.specs.precision import BITS, peak_precision
from symroof.symbolic.expressions import is_number, names, number
from symroof.symbolic.reading import parse
from symroof.theory.switches import Assumptions, assume
from symroof.theory.symbols import INPUTS

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


def profile_of(request: Request, case: BoundCase) -> EngineProfile | None:
    """The engine of a case; None where neither a model nor a device is named. A model alone, and presets of tools and tutorials, stand on physics.

    Raises:
        InputError: no such engine.
    """
    if case.model is None and case.hardware is None:
        return None
    device = case.hardware is not None or not OF_DEVICES.isdisjoint(request.values)
    physics = case.preset is not None or not device
    return engine_profile(request.engine or (IDEAL if physics else DEFAULT))


def assumed(request: Request, profile: EngineProfile | None) -> Assumptions:
    """The counting choices of a request, over those of the engine, which count as defaults."""
    chosen, engine = assume(**request.assume), profile.assume if profile else {}
    own = {name: entry.value for name, entry in engine.items() if chosen.defaulted(name)}
    return Assumptions(chosen.replaced(**own).values, chosen.chosen)


def add_engine_defaults(case: BoundCase, profile: EngineProfile) -> None:
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
    more = parse(
        f"(token_budget - {own} token)*max({', '.join(widest)}, 0)*act_bytes_per_element/(1 token)"
    )
    source = f"{reserve.source}; and activations of a larger token_budget"
    given["memory_reserve"] = replace(reserve, setting=reserve.setting + more, source=source)


def _widen_attention(case: BoundCase, profile: EngineProfile, device: HardwareSpec) -> None:
    """Attention runs in 16 bits where products run in fewer, unless somebody says otherwise."""
    wide: Any = peak_precision(WIDE, list(device.peaks))
    chosen = not case.assumptions.defaulted("attention_arithmetic")
    if not profile.arithmetic or wide is None or chosen:
        return
    peak = device.peaks[wide]
    source = f"{device.name}, {wide} dense: {device.source_of(peak)}; attention in 16 bits ({profile.said})"
    case.add({"attention_peak_flops": Input(number(peak.dense.value), source)})
    case.assumptions = Assumptions(
        case.assumptions.replaced(attention_arithmetic="wide").values, case.assumptions.chosen
    )
