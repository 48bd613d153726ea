"""What another case sets in this one, as formulas over its inputs: a draft model, and instances that prefill with a layout of their own.

The step, the memory and the passes of the other are those of the theory for its own architecture or layout. Its dimensions and degrees go in as numbers;
the load, the device and the efficiencies stay names, so that a threshold over the batch or the bandwidth moves both along.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import sympy

from symroof.cases.bound_case import BoundCase
from symroof.cases.request import Request
from symroof.cases.values import Input
from symroof.errors import InputError, Problem
from symroof.specs.model import ModelSpec
from symroof.symbolic.expressions import ZERO, Expr, inline, number, symbol
from symroof.symbolic.reading import parse
from symroof.theory.case import Case
from symroof.theory.layout import DEGREES
from symroof.theory.quantities import QUANTITIES
from symroof.theory.symbols import GROUPS, base_name
from symroof.theory.theory import TIME_PARTS
from symroof.units import is_whole


def formulas_of(own: Case, case: Case) -> Callable[[str, frozenset[str]], Expr | None]:
    """The formula for a name of another case; None where the name, and all that it depends on, is the same here and not among what changes."""

    @cache
    def same(name: str) -> bool:
        return all(
            own.given.get(other) == case.given.get(other)
            and own.theory.definition(other) == case.theory.definition(other)
            for other in own.dependencies(name)
        )

    def formula(name: str, changed: frozenset[str]) -> Expr | None:
        if same(name) and not own.dependencies(name) & changed:
            return None
        given = own.given.get(name)
        return given if given is not None else own.formula_or_name(name, changed=changed)

    return formula


RESERVE = "memory_reserve"
REQUEST = "request_bytes_per_device"
OF_TARGET = {*QUANTITIES.keys() - {"context"}, *(each.name for each in GROUPS["architecture"])}
"""Names whose values belong to the target model: a measured latency, a width. The draft has its own."""


def draft_inputs(
    draft: Case, case: Case, given: Mapping[str, Input], name: str, head: bool = False
) -> dict[str, Input]:
    """The values a draft model sets in a case: the cost of a drafted token, and the memory it takes besides the reserve.

    ``concurrency`` gets a new formula: the draft keeps a cache of every request, so the reserve that holds it grows with them.
    A ``head`` shares the model's embedding and output matrix, so they take no memory again.

    Raises:
        InputError: the reserve is a range, to which nothing can be added.
    """
    own = given.get(RESERVE)
    if own is not None and own.ranged:
        message = "a range cannot be combined with a draft model, whose memory is added to it"
        raise InputError(Problem(own.source, message, path=RESERVE))

    differing = formulas_of(draft, case)

    def stands(name: str, changed: frozenset[str]) -> Expr | None:
        # it has no reserve of its own: that of the case holds the draft
        return ZERO if name == RESERVE else differing(name, changed)

    def of_weights(name: str, changed: frozenset[str]) -> Expr | None:
        return ZERO if head and name == "vocab_size" else stands(name, changed)

    weights = inline(symbol("weight_bytes_per_device"), of_weights)
    parts = ("peak_kv_cache_bytes_per_device", "state_bytes_per_device", "itl", REQUEST)
    cache, state, step, request = (inline(symbol(part), stands) for part in parts)
    fixed = (own.setting if own is not None else ZERO) + weights
    source = f"draft {name}"
    beside = "" if own is None else f", beside what is given ({own.source})"
    why = f"{source}: its weights and cache{beside}"
    values = {RESERVE: Input(sympy.Add(fixed, cache, state), why)}
    if "draft_cost" not in given:
        why = f"{source}: its decode step over the model's"
        values["draft_cost"] = Input(step / symbol("itl"), why)
    if "concurrency" not in given and (tree := case.theory.definition("concurrency")) is not None:

        def counted(name: str, changed: frozenset[str]) -> Expr | None:
            # the draft's weights are in the reserve, and its cache is next to that of each request
            own = symbol(name) + request if base_name(name) == REQUEST else None
            return fixed if name == RESERVE else own

        values["concurrency"] = Input(inline(tree, counted), f"{source}: its caches counted")
    return values


def head_of(model: ModelSpec, kind: str) -> ModelSpec:
    """A draft head as a model: one layer like the model's last. A head's small projection of two inputs to one is left out."""
    last = next((own for own in model.layers if own.label == (*model.order, "")[-1]), None)
    layer = (last or model.layers[-1]).model_copy(update={"count": 1})
    of_head = {"title": f"{kind.upper()} head of {model.shown_name}", "layers": (layer,)}
    return model.model_copy(update={**of_head, "order": (), "stored_bytes": None, "caveats": ()})


DRAFTING = frozenset({"draft_tokens", "acceptance"})
"""Inputs of a model that is drafted for; the draft has none."""
DRAFTED = ("draft_tokens", "verified_tokens")

UNDER_LOAD = {
    "decoded_tokens": "verified_tokens",
    "gained_tokens": "tokens_per_verify",
    "loaded_draft_time": (
        "draft_time(context = loaded_context)"
        " + (1 - 1/verify_slowdown)*verify_time(context = loaded_context)"
    ),
}
"""What the steps of a server under load are with drafts."""


def add_drafts(case: BoundCase) -> None:
    """Let the steps of a server under load be verifications of drafts, where what is drafted and what is accepted of it are known; else say that they are not."""
    drafted = [name for name in DRAFTED if name in case.given]
    accepted = [name for name in ("acceptance", "tokens_per_verify") if name in case.given]
    if drafted and accepted:
        for name, text in UNDER_LOAD.items():
            case.add({name: Input(parse(text), "drafts of each step", defaulted=True)})
        if case.request.draft is None and "draft_cost" not in case.given:
            free = "draft_cost 0 is taken, as if drafting cost nothing"
            heads = "--draft mtp or --draft eagle (a head of the model)"
            case.warn(f"{free}: give {heads}, --draft MODEL, or --set draft_cost=0.1")
        if not any(case.given[name].ranged for name in accepted):
            exact = f"{accepted[0]} is taken as exact"
            case.warn(f"{exact}: a range (acceptance=0.6..0.8) gives an interval")
    elif drafted or accepted or case.request.draft is not None:
        more = [] if drafted else ["--set draft_tokens=3"]
        more += [] if accepted else ["--set acceptance=0.6..0.8 (the share of drafts accepted)"]
        without = "nothing is drafted: times, rates and costs are those without drafts"
        case.warn(f"{without}; add {' and '.join(more)}")


INSTANCES, DEVICES = "instances", "devices"
"""How many instances prefill beside all those that decode, or how many devices."""
NOT_ITS_OWN = frozenset(
    {"dp", "prefill_devices", "prefill_batch", "batch", "output", "chunk", "arrival_rate"}
)
"""Values of a case that do not count for the instances that prefill: those of the decode, and of both together."""
WORK = ("flops", "bytes", "attention_flops")
PARTS = ("time", *(f"{part}_per_device" for part in WORK), *TIME_PARTS, "mfu", "mbu")
"""What a layout decides of a pass."""


def alone(layered: Request) -> Request:
    """The request of the instances that prefill."""
    layout = {name: (number(value),) for name, value in layered.prefill.items() if name in DEGREES}
    others = NOT_ITS_OWN.union(DEGREES if layout else ())
    values = {name: value for name, value in layered.values.items() if name not in others}
    return replace(layered, prefill={}, values=values | layout, statistics={})


def prefill_inputs(
    other: BoundCase, made: BoundCase, prefill: Mapping[str, Any]
) -> dict[str, Input]:
    """The values that instances of another layout set in a case.

    Raises:
        InputError: they do not hold the model and a prompt; they are no whole number of instances.
    """
    if other.does_not_fit:
        needed = other.result("memory_bytes_per_device").text(3)
        usable = other.result("usable_memory_per_device").text(3)
        both = f"{needed} on a device with {usable}"
        message = f"an instance does not hold the model and a prompt: {both}"
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
    values = {"prefill_instance_devices": Input(number(size), title)}
    # without a number of its own as many beside each that decodes as are set
    if {DEVICES, INSTANCES} & prefill.keys() or "prefill_devices" not in made.request.values:
        values["prefill_devices"] = Input(each, title + spread)
    if "prefill_batch" not in made.given:
        prompts = number(other.case.value("prefill_batch"))
        values["prefill_batch"] = Input(prompts, title)
    passes = _passes(other.case, made.case)
    return values | {name: Input(tree, title) for name, tree in passes.items()}


def _passes(own: Case, case: Case) -> dict[str, Expr]:
    """What differs of the passes of the instances that prefill, as formulas over the inputs of those that decode."""
    differing = formulas_of(own, case)
    return {
        name: inline(symbol(name), differing)
        for name in (f"prefill_{part}" for part in PARTS)
        if own.theory.definition(name) is not None and differing(name, frozenset()) is not None
    }
