"""The ways to lay a number of devices out: one wide group, copies of narrower ones, attention groups, prefills on devices of their own."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from symroof.cases.case_results import Answers
from symroof.errors import InputError, Problem
from symroof.select.candidates import MOST_CANDIDATES

DEVICES = "devices"
LAID_OUT = ("tp", "pp", "attention_dp", "dp", "prefill_devices")
"""The inputs that a layout sets."""

MOST_DEVICES = 1024


def device_counts(among: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[int, ...]]:
    """The candidates without their numbers of devices, and those numbers.

    >>> device_counts({"hardware": "all", "devices": "4,8"})
    ({'hardware': 'all'}, (4, 8))

    Raises:
        InputError: a number of devices that is none, or a degree listed beside them.
    """
    rest = dict(among)
    listed = rest.pop(DEVICES, ())
    words = listed.split(",") if isinstance(listed, str) else [listed] if isinstance(listed, int) else list(listed)
    counts = tuple(dict.fromkeys(_count(str(word).strip()) for word in words))
    clash = [name for name in LAID_OUT if counts and name in rest]
    if clash:
        raise InputError(Problem("among", f"{clash[0]} is what layouts of devices choose", path=DEVICES, hint=f"list {DEVICES} or {clash[0]}, not both"))
    return rest, counts


def _count(word: str) -> int:
    if not (word.isascii() and word.isdigit() and len(word) < 6 and 0 < int(word) <= MOST_DEVICES):
        raise InputError(Problem("among", f"{word[:40]!r} is no number of devices", path=DEVICES, hint=f"{DEVICES}=4,8, at most {MOST_DEVICES:,}"))
    return int(word)


def laid_out(cases: Sequence[Answers], counts: Sequence[int]) -> tuple[Answers, ...]:
    """Every case in every layout of every number of devices; the cases as they are where no number is listed.

    >>> from symroof.analysis.study import Study
    >>> study = Study("llama-3.1-8b", "h100-sxm", prompt=2048, output=300)
    >>> [(int(laid.case.value("tp")), int(laid.case.value("dp"))) for laid in laid_out(study.cases, [2])]  # or one that prefills
    [(1, 2), (1, 1), (2, 1)]

    Raises:
        InputError: a study that chooses a degree itself.
    """
    if not counts:
        return tuple(cases)
    chosen = [name for name in LAID_OUT if name in cases[0].binding.given]
    if chosen:
        raise InputError(Problem("study", f"it chooses {chosen[0]}, which layouts of devices choose", path=chosen[0], hint=f"leave {chosen[0]} out"))
    every = (laid for answers in cases for count in counts for degrees in _layouts(answers, count) for laid in _laid(answers, degrees))
    made = tuple(itertools.islice(every, MOST_CANDIDATES + 1))
    if len(made) > MOST_CANDIDATES:
        raise InputError(Problem("among", f"more than {MOST_CANDIDATES:,} layouts", path=DEVICES, hint=f"fewer numbers of {DEVICES}"))
    return made


def _layouts(answers: Answers, count: int) -> Iterator[dict[str, int]]:
    """Degrees whose product is the number of devices; heads have to be shared out or copied evenly."""
    case, experts = answers.case, answers.case.has("n_experts")
    for tp in (n for n in _divisors(count) if case.permits(n)):
        for groups in _divisors(count // tp) if experts else [1]:
            yield {"tp": tp, "attention_dp": groups, "dp": count // (tp * groups)}
        if case.has("network_bandwidth") and case.chosen("output"):
            for sides in (n for n in _divisors(count // tp) if n > 1):  # as wide a group to decode as each that prefills
                yield {"tp": tp, "dp": count // (tp * sides), "prefill_devices": tp * (sides - 1)}


def _divisors(n: int) -> list[int]:
    return [k for k in range(1, n + 1) if n % k == 0]


def _laid(answers: Answers, degrees: Mapping[str, int]) -> Iterator[Answers]:
    """The case in a layout; none where the model does not allow it."""
    own = answers.binding
    assume = dict(own.selection.assume) | ({"scheduling": "disaggregated"} if "prefill_devices" in degrees else {})
    base = replace(own, selection=replace(own.selection, assume=assume))
    try:
        made = base.variant(None, **degrees)
    except InputError:
        return
    yield Answers(replace(made, several_models=own.several_models, varied=own.varied))
