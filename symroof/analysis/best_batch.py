"""Why no batch is good enough: what the smallest one that has a steady state breaks."""

from bisect import bisect_left
from fractions import Fraction

from sympy import Symbol

from symroof.analysis.verdict import memory_needed
from symroof.cases.bound_case import BoundCase
from symroof.cases.quantity_result import Result
from symroof.symbolic.evaluation import NoValue
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
    'best_batch is 0: a batch of 1 already has a sustained_itl of 17.71 ms, over its target of 15 ms'
    """
    best = bound_case.get("best_batch")
    if best is None or best.value != 0:
        return None
    case = bound_case.case
    room = Fraction(case.value("concurrency"))
    if room < 1:
        alone = bound_case.at(case.changed({"batch": Fraction(1)}))
        return f"best_batch is 0: a batch of 1 does not fit, it {memory_needed(alone)}"
    batch = _first_known(case, int(room))
    if batch is None:
        largest = case.changed({"batch": room})
        if not (
            largest.has_value("load") and largest.has_value("open_room")
        ):  # a target's own formula, or one given for a part, is what has no value
            return None
        if largest.value("load") < 1:
            if not (
                largest.has_value("prefill_slot_utilization")
                and largest.value("prefill_slot_utilization") >= 1
            ):
                return None
            room_of_step = Result(case.theory.symbol("open_room"), largest.value("open_room"))
            return f"best_batch is 0: no steady state at any batch that fits; prompts arrive faster than they are prefilled, {room_of_step.plain()} a step"
        load = Result(case.theory.symbol("load"), largest.value("load"))
        return f"best_batch is 0: no steady state at any batch that fits; at the largest, {int(room):,}, load is {load.plain()}"
    there = case.changed({"batch": Fraction(batch)})
    missed = [
        _over(there, name, limit)
        for name, limit in HELD.items()
        if limit in case.given and there.value(name) > there.value(limit)
    ]
    few = (
        "a batch of 1 already has"
        if batch == 1
        else f"a batch of {batch:,}, the least that keeps up with the arrivals, has"
    )
    return f"best_batch is 0: {few} {' and '.join(missed)}"


def _over(case: Case, name: str, limit: str) -> str:
    metric = case.theory.definitions[name]
    value, target = (
        Result(case.theory.symbol(name), case.value(each)).plain() for each in (name, limit)
    )
    return f"a {metric.name if isinstance(metric, Symbol) else name} of {value}, over its target of {target}"


def _first_known(case: Case, most: int) -> int | None:
    """The smallest batch at which every figure that targets limit has a value; None where none has."""
    if not _known(case, most):
        return None
    if _known(case, 1):  # most servers keep up from the start
        return 1
    return 2 + bisect_left(range(2, most), True, key=lambda batch: _known(case, batch))


def _known(case: Case, batch: int) -> bool:
    there = case.changed({"batch": Fraction(batch)})
    try:
        for name, limit in HELD.items():
            if limit in case.given:
                there.value(name)
    except NoValue:
        return False
    return True
