"""What a reader must know before the numbers of a case: what does not fit, has no effect or is counted otherwise."""

from collections.abc import Collection, Iterator

from symroof.analysis.case_titles import devices
from symroof.analysis.verdict import MEMORY_OF_A_DEVICE
from symroof.cases.bound_case import BoundCase
from symroof.cases.input import VARIANT
from symroof.cases.request import RECOMMENDED, VLLM_LINE
from symroof.theory.layout import shapes_layout
from symroof.theory.symbols import TARGET_SYMBOLS
from symroof.units import format_quantity

PUBLISHED_TOLERANCE = 0.001


def case_warnings(bound_case: BoundCase) -> list[str]:
    """Everything a reader must know before a number of this case."""
    warnings, targets = [], {TARGET_SYMBOLS[target] for target in bound_case.targets}
    if bound_case.does_not_fit:
        word = "does not fit" if bound_case.never_fits else "does not fit in part of the range"
        reach = "no latency, rate or cost of it can be reached"
        warnings.append(f"{word}: {memory_needed(bound_case)}; {reach}")
    elif bound_case.fits is None and bound_case.model and bound_case.hardware:
        why = bound_case.why_unknown("fits")
        warnings.append(f"whether this fits in memory is not known: {why}")
    warnings += [
        *bound_case.warnings,
        *(
            f"{name} has no effect: no formula of this case uses it"
            for name, used in _set_by_hand(bound_case, *BY_TOOLS)
            if not used and name not in targets
        ),
    ]
    case = bound_case.case
    warnings += [
        f"impossible: {share} is {bound_case.result(share).plain()}, above 100 %"
        for share in ACHIEVED
        if case.has_value(share) and case.value(share) > ROOF
    ]
    return [*warnings, *filter(None, [published_mismatch(bound_case)])]


USUAL = ("ttft", "itl", "response_time", "memory_bytes_per_device", "loaded_itl", "cost_per_mtok")
BY_TOOLS = ("preset", VLLM_LINE, RECOMMENDED)
"""How the origins of values begin that a tool or a preset sets for every model."""


def unused_inputs(
    bound_case: BoundCase, shown: Collection[str], targets_decide: bool = True
) -> list[str]:
    """Inputs that somebody set and that none of the quantities shown depends on, though others of the case do; a target counts as used where it decides."""
    targets = {TARGET_SYMBOLS[target] for target in bound_case.targets}
    reached = frozenset().union(*map(bound_case.case.dependencies, shown))
    return [
        name
        for name, used in _set_by_hand(bound_case, *BY_TOOLS, VARIANT)
        if name not in reached and (not targets_decide if name in targets else used)
    ]


def _set_by_hand(bound_case: BoundCase, *tools: str) -> Iterator[tuple[str, bool]]:
    """Inputs that somebody set here, layouts aside, and not one of the tools, by how the origins of their values begin; and whether a quantity uses each."""
    chosen, dependencies = bound_case.request, bound_case.case.dependencies
    # nearly all inputs move one of the usual: the others are then not even read
    every = bound_case.quantity_names
    names = (*(name for name in USUAL if name in every), *every)
    for name in chosen.values:
        if not shapes_layout(name) and not chosen.origin.get(name, "").startswith(tools):
            yield name, any(name in dependencies(each) for each in names)


ACHIEVED = ("prefill_mfu", "prefill_mbu", "decode_mfu", "decode_mbu")
ROOF = 1 + 1e-9
"""A share above it is above the roof, and not rounded there."""


def memory_needed(bound_case: BoundCase) -> str:
    """The memory that the most loaded device needs, of the memory it may use."""
    needed, usable = map(bound_case.result, MEMORY_OF_A_DEVICE)
    count = devices(bound_case)
    who = f"the most loaded of {count} GPUs needs" if count > 1 else "needs"
    return f"{who} {needed.plain()}, and {usable.plain()} of memory are usable"


def published_mismatch(bound_case: BoundCase) -> str | None:
    """A warning where the engine's own parameter count is not the published one."""
    model = bound_case.model
    published = model.published_params if model and model.layers else None
    if model is None or not published or "params" in bound_case.given:
        return None
    counted = bound_case.get("params")
    if counted is None or abs(counted.value - published) <= PUBLISHED_TOLERANCE * published:
        return None
    both = (format_quantity(count, "parameter") for count in (counted.value, published))
    return f"{model.name}: counted {', published '.join(both)}"
