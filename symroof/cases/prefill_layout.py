"""Instances that prefill with a layout of their own: their passes as formulas over the inputs of the instances that decode.

A case has one layout, that of its decode. The passes of the others are those of the theory for their layout: degrees go in as numbers, and so does
whatever a layout changes, as the latency of a link; the load, the device and the efficiencies stay names.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from symroof.cases.bound_case import BoundCase
from symroof.cases.input import Input
from symroof.cases.request import Request
from symroof.errors import InputError, Problem
from symroof.symbolic.expressions import Expr, inline, number, symbol
from symroof.theory.case import Case
from symroof.theory.layout import DEGREES
from symroof.units import is_whole

INSTANCES, DEVICES = "instances", "devices"
"""How many instances prefill beside all those that decode, or how many devices."""
NOT_ITS_OWN = frozenset(
    {*DEGREES, "prefill_devices", "prefill_batch", "batch", "output", "chunk", "arrival_rate"}
)
"""Values of a case that do not count for the instances that prefill: those of the decode, and of both together."""
PARTS = (
    "time",
    "flops_per_device",
    "bytes_per_device",
    "attention_flops_per_device",
    "compute_time",
    "memory_time",
    "roofline_time",
    "link_time",
    "exchange_time",
    "busy_time",
    "overhead",
)
"""What a layout decides of a pass."""


def alone(layered: Request) -> Request:
    """The request of the instances that prefill."""
    layout = {name: (number(value),) for name, value in layered.prefill.items() if name in DEGREES}
    values = {name: value for name, value in layered.values.items() if name not in NOT_ITS_OWN}
    return replace(layered, prefill={}, values=values | layout, statistics={})


def prefill_inputs(
    other: BoundCase, made: BoundCase, prefill: Mapping[str, Any]
) -> dict[str, Input]:
    """The values that instances of another layout set in a case.

    Raises:
        InputError: they do not hold the model and a prompt; they are no whole number of instances.
    """
    if other.does_not_fit:
        needed, usable = (
            other.result(name).text(3)
            for name in ("memory_bytes_per_device", "usable_memory_per_device")
        )
        message = "an instance does not hold the model and a prompt"
        message += f": {needed} on a device with {usable}"
        raise InputError(Problem("prefill", message, hint="more devices: tp, pp, ep"))
    size = other.case.value("instance_devices")
    devices = float(prefill.get(DEVICES, prefill.get(INSTANCES, 1) * size))
    if not is_whole(devices / size):
        message = f"{devices:g} devices are no whole number of instances of {size:g}"
        raise InputError(Problem("prefill", message, path=DEVICES))
    copies = made.number("dp")
    title = f"prefill: {devices / size:g} instance{'s' * (devices != size)} of {size:g} device{'s' * (size != 1)}"
    spread = f", for {copies:g} instances that decode" if copies != 1 else ""
    # where nobody set the copies, a search may: the more there are, the fewer each has of these
    each = number(devices / copies) if "dp" in made.given else number(devices) / symbol("dp")
    values = {
        "prefill_devices": Input(each, title + spread),
        "prefill_instance_devices": Input(number(size), title),
    }
    if "prefill_batch" not in made.given:
        prompts = number(other.case.value("prefill_batch"))
        values["prefill_batch"] = Input(prompts, title)
    passes = _passes(other.case, made.case)
    return values | {name: Input(tree, title) for name, tree in passes.items()}


def _passes(own: Case, case: Case) -> dict[str, Expr]:
    """What differs of the passes of the instances that prefill, as formulas over the inputs of those that decode."""

    @cache
    def same(name: str) -> bool:
        """Whether a name, and all that it depends on, is the same in both."""
        return all(
            own.given.get(other) == case.given.get(other)
            and own.theory.definition(other) == case.theory.definition(other)
            for other in own.dependencies(name)
        )

    def stands(name: str, changed: frozenset[str]) -> Expr | None:
        """The formula for a name; None where it means the same in the case."""
        if not own.dependencies(name) & changed and same(name):
            return None
        given = own.given.get(name)
        return given if given is not None else own.formula_or_name(name, changed=changed)

    names = [f"prefill_{part}" for part in PARTS]
    return {
        name: inline(symbol(name), stands)
        for name in names
        if own.theory.definition(name) is not None and not same(name)
    }
