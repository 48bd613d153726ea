"""Why no batch is good enough: what the smallest one that has a steady state breaks."""

import numpy as np
from sympy import Symbol

from symroof.analysis.verdict import memory_needed
from symroof.cases.bound_case import BoundCase
from symroof.cases.quantity_result import Result
from symroof.symbolic.searches import largest_whole
from symroof.theory.case import Case

BEST = frozenset({"best_batch", "max_goodput"})
"""The quantities that are 0 for this reason."""

HELD = {"judged_itl": "itl_target", "judged_ttft": "ttft_target"}
"""What rises with the batch, and the target it is compared with."""


def why_no_batch(bound_case: BoundCase) -> str | None:
    """The reason for a ``best_batch`` of 0, and so for no ``max_goodput``; None where there is a batch, or it is not known.

    >>> from symroof.analysis.study import Study
    >>> study = Study("llama-3.1-8b", "l40s", prompt=2048, output=300, itl_target="15 ms")
    >>> why_no_batch(study.first)
    'best_batch is 0: a batch of 1 already has a sustained_itl of 23.11 ms, over its target of 15 ms'
    """
    best = bound_case.get("best_batch")
    if best is None or best.value != 0:
        return None
    case = bound_case.case
    room = float(case.value("concurrency"))
    if room < 1:
        alone = bound_case.at(case.changed({"batch": 1}))
        return f"best_batch is 0: a batch of 1 does not fit, it {memory_needed(alone)}"
    batch = _first_known(case, int(room))
    if batch is None:
        why = _no_steady_state(case.changed({"batch": room}), int(room))
        return why and f"best_batch is 0: no steady state at any batch that fits; {why}"
    there = case.changed({"batch": batch})
    missed = [
        _over(there, name, limit)
        for name, limit in HELD.items()
        if limit in case.given and there.value(name) > there.value(limit)
    ]
    least = f"{batch:,}, the least that keeps up with the arrivals, has"
    few = f"a batch of {'1 already has' if batch == 1 else least}"
    return f"best_batch is 0: {few} {' and '.join(missed)}"


def _no_steady_state(largest: Case, room: int) -> str | None:
    """Why a queue grows even at the largest batch; None where it is no queue, but a target's own formula, that has no value."""
    if not (largest.has_value("load") and largest.has_value("open_room")):
        return None
    if largest.value("load") >= 1:
        return f"at the largest, {room:,}, load is {_plain(largest, 'load')}"
    busy = "prefill_slot_utilization"
    if not largest.has_value(busy) or largest.value(busy) < 1:
        return None
    step = _plain(largest, "open_room")
    return f"prompts arrive faster than they are prefilled, {step} a step"


def _plain(case: Case, name: str) -> str:
    return Result(case.theory.symbol(name), case.value(name)).plain()


def _over(case: Case, name: str, limit: str) -> str:
    metric, symbol = case.theory.definitions[name], case.theory.symbol(name)
    value, target = (Result(symbol, case.value(each)).plain() for each in (name, limit))
    shown = metric.name if isinstance(metric, Symbol) else name
    return f"a {shown} of {value}, over its target of {target}"


def _first_known(case: Case, most: int) -> int | None:
    """The smallest batch at which every figure that targets limit has a value; None where none has.

    It is the one behind the largest at which one has none: most servers keep up from the start.
    """
    if not _known(case, most):
        return None
    if _known(case, 1):
        return 1
    unknown = np.vectorize(lambda batch: float(not _known(case, batch)), otypes=[float])
    return 1 + int(largest_whole(unknown, np.array([most - 1.0]))[0])


def _known(case: Case, batch: float) -> bool:
    there = case.changed({"batch": batch})
    return all(there.has_value(name) for name, limit in HELD.items() if limit in case.given)
