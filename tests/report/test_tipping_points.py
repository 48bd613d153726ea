"""What flips a verdict, against the case bound anew at other values: both sides of every flip, and what lies between and beyond."""

from fractions import Fraction
from functools import cache

import pytest

from symroof.analysis.tipping_points import UNCERTAIN, WIDEST, flips
from symroof.api import Study
from tests.cli import write_study

from . import blocks, rows_under, text_of, to_standard_output

CASES = {
    "good": {
        "model": "llama-3-8b",
        "hardware": "h100-sxm",
        "engine": "ideal",
        "prompt": 1024,
        "output": 256,
        "batch": 16,
        "mfu": 0.5,
        "mbu": 0.8,
        "step_overhead": "1 ms",
        "memory_reserve": "4 GB",
        "memory_share": 0.9,
        "targets": {"ttft": "200 ms", "itl": "50 ms"},
    },
    "small": {
        "model": "qwen2.5-0.5b",
        "hardware": "h100-sxm",
        "engine": "ideal",
        "prompt": 512,
        "output": 64,
        "batch": 256,
        "targets": {"itl": "2 ms"},
    },
    "one step": {
        "model": "llama-3-8b",
        "hardware": "a10",
        "engine": "ideal",
        "context": 4096,
        "batch": 4,
        "targets": {"itl": "60 ms"},
    },
    "slow links": {
        "model": "llama-3-8b",
        "hardware": "l4",
        "engine": "ideal",
        "prompt": 600,
        "output": 32,
        "link_latency": "700 us",
        "mfu": 0.5,
        "mbu": 0.8,
        "targets": {"ttft": "400 ms", "itl": "70 ms"},
    },
    "cached": {
        "model": "llama-3-8b",
        "hardware": "a100-80gb-sxm",
        "engine": "ideal",
        "prompt": 16384,
        "output": 64,
        "cached_prefix": 4096,
        "targets": {"ttft": "500 ms"},
    },
}
SIDES = {
    "memory": ("memory_bytes_per_device", "usable_memory_per_device"),
    "ttft": ("loaded_ttft", "ttft_target"),
    "itl": ("sustained_itl", "itl_target"),
}
SMALLEST = {"s": Fraction(1, 10**7), "byte": Fraction(10**6)}
"""Where a scan begins for an input that is zero now."""

LEAST = {"output": 2}
"""The least of something counted, where it is more than one: a response of one token has no decode steps, and so no ITL."""


def study(label, **changes):
    return Study(**(CASES[label] | changes))


@cache
def flipped(label):
    """A case with its flips."""
    answers = study(label).first
    return answers, flips(answers)


def at(label, name, value):
    """The conditions of a case bound anew with one input set to a value: which hold."""
    changed = study(
        label,
        **(
            {name: f"{float(value):.15g} s"}
            if name in ("step_overhead", "layer_overhead", "queue_time", "link_latency")
            else {name: value}
        ),
    )
    return holding(changed.first.case)


def holding(case):
    sides = (
        SIDES
        if case.has("output")
        else SIDES | {"ttft": ("ttft", "ttft_target"), "itl": ("itl", "itl_target")}
    )
    return {
        name: case.value(metric) <= case.value(limit)
        for name, (metric, limit) in sides.items()
        if name == "memory" or limit in case.given
    }


@pytest.fixture(params=("good", "small", "one step", "cached"))
def label(request):
    return request.param


def beyond(flip, sign=1):
    """Just past a flip, or just before it."""
    if not flip.now.symbol.counted:
        return flip.crossing * (1 + Fraction(sign if flip.up else -sign, 10**6))
    return flip.value if sign > 0 else neighbour(flip.name, flip.value, -1 if flip.up else 1)


def permitted(name, value):
    """Whether all of the cases' heads (8, or 2 of the small one) can be dealt to so many devices: powers of two can."""
    return name != "tp" or (value >= 1 and int(value).bit_count() == 1)


def neighbour(name, value, step):
    """The next number of something counted, towards one side; of devices the next that the heads permit."""
    value += step
    while not permitted(name, value) and value >= 1:
        value += step
    return value


@pytest.mark.full
def test_the_condition_differs_on_the_two_sides_of_every_flip(label):
    answers, every = flipped(label)
    assert len(every) >= 5
    now = holding(answers.case)
    for flip in every:
        here, there = at(label, flip.name, beyond(flip, -1)), at(label, flip.name, beyond(flip))
        assert here[flip.condition] is now[flip.condition] is not there[flip.condition], flip
        assert flip.holds is there[flip.condition]
        assert set(flip.wrong) == {name for name, holds in there.items() if not holds}, flip
        assert set(flip.wrong_now) == {name for name, holds in now.items() if not holds}
        assert flip.good is (all(there.values()) and not all(now.values()))
        assert (not flip.wrong_now and bool(flip.wrong)) is (
            all(now.values()) and not all(there.values())
        )


def scan(name, start, up, most):
    """Magnitudes an input can have, away from its value now."""
    counted = name in (
        "prompt",
        "output",
        "context",
        "batch",
        "prefill_batch",
        "cached_prefix",
        "tp",
        "dp",
    )
    first = start or SMALLEST.get(Study().first.case.theory.symbol(name).unit, Fraction(1))
    ratio = Fraction(7, 4) if up else Fraction(4, 7)
    values = [first * ratio**i for i in range(0 if not start else 1, 16)]
    values = [Fraction(round(value)) for value in values] if counted else values
    least = LEAST.get(name, 1)
    allowed = [
        v
        for v in values
        if v != start
        and (v >= least if counted else v > 0)
        and (most is None or v <= most)
        and permitted(name, v)
    ]
    return [*allowed, most] if up and most is not None and most > start else allowed


def most_of(name, case):
    """The largest value an input can have, where there is one."""
    if name in ("mfu", "mbu", "memory_share"):
        return Fraction(1)
    if name in ("weight_bytes_per_param", "kv_bytes_per_element"):
        return WIDEST
    return case.value("prompt") - 1 if name == "cached_prefix" else None


def changed(flip, value, up):
    """Whether a value lies where a condition has changed an odd number of times."""
    return (
        flip is not None
        and sum(value >= turn if up else value <= turn for turn in (flip.value, *flip.turns)) % 2
        == 1
    )


@pytest.mark.full
def test_nothing_flips_before_a_flip_and_nothing_where_there_is_none(label):
    """Every input is scanned in both directions over many magnitudes, in a case of its own for each value."""
    answers, every = flipped(label)
    now = holding(answers.case)
    nearest = {(f.name, f.up, f.condition): f for f in every}
    looked = 0
    for name in UNCERTAIN:
        if name not in answers.case.given and not (name != "context" and answers.case.has(name)):
            continue
        if name == "cached_prefix" and not answers.case.has("prompt"):
            continue
        start = answers.case.value(name)
        for up in (True, False):
            for value in scan(name, start, up, most_of(name, answers.case)) if up or start else ():
                if name == "prompt" and value <= answers.case.value("cached_prefix"):
                    continue
                there = at(label, name, value)
                for condition, holds in there.items():
                    assert (holds is not now[condition]) is changed(
                        nearest.get((name, up, condition)), value, up
                    ), (name, float(value), condition)
                    looked += 1
    assert looked > 200


def test_a_condition_that_comes_back_says_where():
    """Two devices pay for their links what they gain in bandwidth; more gain more. The number comes from trying each."""
    every = flipped("slow links")[1]
    states = {
        n: at("slow links", "tp", n)["itl"] for n in (1, 2, 4, 8, *range(16, 200, 8))
    }  # 8 key and value heads
    (flip,) = [f for f in every if f.name == "tp" and f.condition == "itl" and f.up]
    first = next(n for n, state in states.items() if state is not states[1])
    back = next((n for n, state in states.items() if n > first and state is states[1]), None)
    assert (flip.value, flip.turns[0]) == (first, back) == (2, 4)


# -------------------------------------------------------------------------------------------------------- review


@pytest.mark.full
def test_the_review_prints_every_repair_and_marks_what_is_good_again():
    text = blocks(text_of("llama-3-70b-chat", "md"), "md")
    rows = rows_under(text, "Appendix: all that would change the result", "Input")
    cells = {(row[0], row[2]): row for row in rows}
    # ((0.92 - 0.04)*2*81,559 MiB - 141.1 GB)/(327,680 byte * 4,607) = 6.23
    assert ("batch", "at most 6 requests") in cells
    assert cells["tp", "at least 8 devices"][4] == "fits, meets every target"
    # 189.4 GB over 2 * 0.88 * 81,559 MiB
    assert [row[3] for row in rows if row[0] == "mem_capacity"] == ["+26 %"]


@pytest.mark.full
def test_without_targets_only_memory_flips(tmp_path):
    text = to_standard_output(write_study(tmp_path), "md", "--no-plots")
    section = text.partition("## What would change the result")[2].partition("\n## ")[0]
    assert "does not fit" in section
    assert "target" not in section
