"""What a serving engine decides where nobody says otherwise: one profile for every command."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sympy import Basic

from symroof.cases.spec_values import SourcedValue
from symroof.specs.engine_profile import DEFAULT, IDEAL, EngineProfile, engine_profile
from symroof.specs.hardware import HardwareSpec
from symroof.specs.precision import BITS, peak_precision
from symroof.symbolic.expressions import Expr, fraction, is_number, names, number
from symroof.symbolic.reading import parse
from symroof.theory.switches import Assumptions, assume
from symroof.theory.symbols import INPUTS

if TYPE_CHECKING:
    from symroof.cases.request import Request

BUDGET_LEFT = parse("max(attention_dp*token_budget - batch*decoded_tokens, 1 token)")
"""Prompt tokens that a step takes along: what the decoding requests leave of the budget of each attention group."""
WIDEST = {
    "d_ff": "2*d_model + (ffn_matrices - 1)*d_ff/tp",
    "d_expert": "2*d_model + experts_per_token*(2*d_expert/tp + d_model)",
}
"""Elements of a token's activations in a feed-forward layer: the residual and its norm, and what stands between the matrices; experts keep every result of a
token until they are summed (vLLM's fused_moe has these three buffers)."""
WIDE = "bf16"
"""The precision of attention where products run in fewer bits."""


def profile_of(request: Request, described: bool, preset: bool) -> EngineProfile | None:
    """The engine of a case; None where neither a model nor a device is named. Presets of tools and tutorials stand on physics alone.

    Raises:
        InputError: no such engine.
    """
    if not described:
        return None
    return engine_profile(request.engine or (IDEAL if preset else DEFAULT))


def assumed(request: Request, profile: EngineProfile | None) -> Assumptions:
    """The counting choices of a request, over those of the engine, which count as defaults."""
    chosen = assume(**request.assume)
    own = {
        name: entry.value
        for name, entry in (profile.assume if profile else {}).items()
        if chosen.defaulted(name)
    }
    return Assumptions(chosen.replaced(**own).values, chosen.chosen)


def native_format(profile: EngineProfile | None, stored: str, available: list[str]) -> str | None:
    """The format that products run in where the engine computes in that of the stored weights; None where it widens them, or the device cannot."""
    entry = profile.arithmetic.get(stored) if profile else None
    return stored if entry and entry.runs == "native" and stored in available else None


def add_engine_defaults(
    profile: EngineProfile,
    device: HardwareSpec | None,
    assumptions: Assumptions,
    compute: str | None,
    given: dict[str, SourcedValue],
    with_model: bool,
) -> Assumptions:
    """Complete the inputs of a case by what its engine decides, and give back the counting choices, attention's arithmetic among them."""
    memory = given["mem_capacity"].setting if "mem_capacity" in given else None
    for name, entry in sorted(
        profile.inputs.items(), key=lambda item: item[1].formula is not None
    ):  # a formula may be over the other values
        tree = profile.tree(
            name,
            fraction(memory) if is_number(memory) else None,
            device.name if device else "",
        )
        if tree is not None and name not in given and _has_a_value(tree, given, with_model):
            given[name] = SourcedValue(
                tree, f"{profile.said}: {profile.source(entry.source)}", defaulted=True
            )
    own = profile.tree(
        "token_budget",
        fraction(memory) if is_number(memory) else None,
        device.name if device else "",
    )
    if is_number(own):
        _add_larger_steps(int(own), given)
    if "token_budget" in given and "output" in given and assumptions["scheduling"] == "chunked":
        source = given["token_budget"].source
        given.setdefault(
            "chunk",
            SourcedValue(
                BUDGET_LEFT, f"what the batch leaves of token_budget ({source})", defaulted=True
            ),
        )
    if (
        compute is not None
        and BITS[compute] < BITS[WIDE]
        and "n_experts" in given
        and not {"ep", "attention_dp"}.isdisjoint(given)
    ):
        given.setdefault(
            "dispatch_bytes_per_element",
            SourcedValue(
                parse("1 byte"),
                f"experts that compute in {compute} are sent 8-bit activations (DeepEP)",
            ),
        )
    return _with_wide_attention(profile, device, assumptions, compute, given)


def _add_larger_steps(own: int, given: dict[str, SourcedValue]) -> None:
    """Add to the engine's reserve, an estimate for steps of its own budget, the activations of the tokens that a larger budget has beyond it."""
    budget, reserve = given.get("token_budget"), given.get("memory_reserve")
    larger = budget is not None and is_number(budget.setting) and fraction(budget.setting) > own
    widest = [formula for name, formula in WIDEST.items() if name in given]
    if not (
        larger
        and widest
        and reserve is not None
        and reserve.defaulted
        and isinstance(reserve.setting, Basic)
    ) or "token_budget" in names(reserve.setting):
        return
    more = parse(
        f"(token_budget - {own} token)*max({', '.join(widest)}, 0)*act_bytes_per_element/(1 token)"
    )
    given["memory_reserve"] = replace(
        reserve,
        setting=(reserve.setting + more),
        source=f"{reserve.source}; and activations of a larger token_budget",
    )


def _has_a_value(tree: Expr, given: dict[str, SourcedValue], with_model: bool) -> bool:
    """Whether a case without a model or a device has what a formula needs."""
    return all(
        name in given or (INPUTS[name].default is not None if name in INPUTS else with_model)
        for name in names(tree)
    )


def _with_wide_attention(
    profile: EngineProfile,
    device: HardwareSpec | None,
    assumptions: Assumptions,
    compute: str | None,
    given: dict[str, SourcedValue],
) -> Assumptions:
    """Attention runs in 16 bits where products run in fewer, unless somebody says otherwise."""
    narrow = compute is not None and BITS[compute] < BITS[WIDE]
    wide: Any = peak_precision(WIDE, list(device.peaks)) if device and narrow else None
    if (
        not profile.arithmetic
        or device is None
        or wide is None
        or not assumptions.defaulted("attention_arithmetic")
    ):
        return assumptions
    peak = device.peaks[wide]
    source = f"{device.name}, {wide} dense: {device.source_of(peak)}; attention in 16 bits ({profile.said})"
    given.setdefault(
        "attention_peak_flops",
        SourcedValue(
            number(peak.dense.value),
            source,
            peak.dense.text,
        ),
    )
    return Assumptions(assumptions.replaced(attention_arithmetic="wide").values, assumptions.chosen)
