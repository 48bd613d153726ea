"""What a failing configuration lacks, put in, passes; a millionth less does not. All by cases built afresh."""

from fractions import Fraction
from functools import cache

import pytest

from symroof.analysis.tipping_points import flips
from symroof.analysis.verdict import findings
from symroof.api import Study
from symroof.report.view_flips import needed
from symroof.select.required_changes import combined_change, last_passing, margins, required_changes

HAIR = Fraction(1, 10**6)

WAITING = {
    "model": "llama-3.1-8b",
    "hardware": "h100-sxm",
    "prompt": 2048,
    "output": 300,
    "batch": 64,
    "chunk": 2048,
    "arrival_rate": 12,
    "dp": 1,
    "efficiency": "peak",
}
"""Its first token waits for the prompts before it: 48 ms at the peak."""

CASES = [
    (
        {"model": "llama-3-8b", "hardware": "a100-80gb-sxm", "prompt": 4096, "mfu": 0.5},
        {"ttft": 0.2},
    ),
    (
        {"model": "llama-3-8b", "hardware": "l4", "prompt": 512, "output": 128, "mbu": 0.6},
        {"itl": 0.05},
    ),
    ({"model": "llama-3-70b", "hardware": "h100-sxm", "prompt": 2048, "tp": 1, "mfu": 0.6}, {}),
    (
        {
            "model": "llama-3-70b",
            "hardware": "h100-sxm",
            "prompt": 4096,
            "output": 512,
            "tp": 2,
            "batch": 4,
            "mfu": 0.5,
            "mbu": 0.7,
        },
        {"ttft": 0.5, "itl": 0.03},
    ),
    (
        {"model": "llama-3-8b", "hardware": "t4", "prompt": 4096, "mfu": 0.4, "mbu": 0.7},
        {"ttft": 0.2, "itl": 0.05},
    ),
    (
        {
            "model": "mixtral-8x7b",
            "hardware": "a100-80gb-sxm",
            "prompt": 1024,
            "output": 64,
            "tp": 2,
            "batch": 8,
            "mbu": 0.6,
        },
        {"itl": 0.02, "cost": 1},
    ),
    (
        {
            "model": "llama-3-8b",
            "hardware": "h100-sxm",
            "prompt": 1024,
            "output": 64,
            "batch": 2,
            "efficiency": "peak",
            "assume": {"roofline": "no_overlap"},
        },
        {"ttft": 0.015, "itl": 0.004},
    ),
    (
        {
            "model": "llama-3-8b",
            "hardware": "h100-sxm",
            "prompt": 1024,
            "output": 64,
            "tp": 4,
            "batch": 8,
        },
        {"price": 10},
    ),
    (
        {
            "model": "llama-3-8b",
            "hardware": "h100-sxm",
            "prompt": 1024,
            "output": 64,
            "tp": 4,
            "batch": 8,
            "efficiency": "peak",
            "assume": {"roofline": "per_operator"},
        },
        {"itl": 0.001},
    ),
    (WAITING, {"ttft": 0.04}),
]


def neighbour(name, value, step):
    """The next number of something counted; of devices the next that deals out eight heads, or copies them evenly."""
    value += step
    while name == "tp" and value > 0 and 8 % value and value % 8:
        value += step
    return value


def wrong(case, targets, **changes):
    """What is wrong with a case that has other values, built from nothing."""
    written = {
        name: value * 3600 if name == "price" else value for name, value in changes.items()
    }  # a plain price is by the hour
    return findings(Study(**{**case, **written}, targets=targets).first)


@cache
def lacking(index):
    """What a case lacks, solved once for the tests that ask about it."""
    case, targets = CASES[index]
    answers = Study(**case, targets=targets).first
    return answers, required_changes(answers)


@pytest.mark.sample(1)
@pytest.mark.parametrize("index", range(len(CASES)))
def test_what_it_lacks_makes_it_pass_and_a_hair_less_does_not(index):
    (case, targets), (answers, levers) = CASES[index], lacking(index)
    assert findings(answers)
    solved = [lever for lever in levers if lever.flip]
    for lever in solved:
        assert wrong(case, targets, **{lever.name: lever.value}) == []
        up = lever.flip.up
        less = (
            neighbour(lever.name, lever.value, -1 if up else 1)
            if lever.now.symbol.counted
            else lever.value * (1 - HAIR if up else 1 + HAIR)
        )
        assert wrong(case, targets, **{lever.name: less})
    assert solved or combined_change(answers)


@pytest.mark.sample(1)
@pytest.mark.parametrize("index", range(len(CASES) - 1))  # a wait says that it has no formula
def test_what_it_is_said_not_to_help_with_does_not_help(index):
    """Every tried value of an input that has no answer leaves something wrong; what it cures alone, it cures."""
    (case, targets), (answers, levers) = CASES[index], lacking(index)
    for lever in levers:
        if lever.flip is None:
            now = lever.now.value
            tried = (
                (1, 2, 4, 8)
                if lever.name == "tp"
                else range(1, 9)
                if lever.now.symbol.counted
                else [
                    now / 2,
                    now,
                    *([1] if lever.now.symbol.most == "1" else [now * 3, now * 10**9]),
                ]
            )
            assert all(wrong(case, targets, **{lever.name: value}) for value in tried)
        for name, cure in lever.cures:
            mark = "does_not_fit" if name == "memory" else f"{name}_missed"
            beyond = (
                cure.value
                if lever.now.symbol.counted
                else cure.value * (1 + HAIR if cure.up else 1 - HAIR)
            )
            assert mark in findings(answers) and mark not in wrong(
                case, targets, **{lever.name: beyond}
            )


@pytest.mark.sample(3)
@pytest.mark.parametrize(("case", "targets"), CASES)
def test_what_another_device_brings_passes_and_less_of_any_does_not(case, targets):
    found = combined_change(Study(**case, targets=targets).first)
    if found is None:
        return
    values = {name: Fraction(result.value) for name, result in found.items()}
    assert wrong(case, targets, **values) == []
    for name, value in values.items():
        less = value * (1 + HAIR if name == "price" else 1 - HAIR)
        assert wrong(case, targets, **{**values, name: less})


def test_bandwidth_alone_does_not_help_where_compute_limits():
    """The first token takes 2*P*S/(mfu*F) and more, whatever the bandwidth; that time is what is told."""
    case = {"model": "llama-3-8b", "hardware": "a100-80gb-sxm", "prompt": 4096, "mfu": 0.5}
    study = Study(**case, targets={"ttft": 0.2})
    lever = next(lever for lever in required_changes(study.first) if lever.name == "mem_bandwidth")
    assert lever.flip is None
    ((name, best),) = lever.stuck
    assert name == "ttft" and best.value == study.value("prefill_compute_time")


def test_no_mfu_does_where_even_the_peak_is_too_slow():
    """The tutorial's A100: 2*8.03e9*4096/312e12 = 210.839 ms at MFU 1, and 0.015 ms of dispatch."""
    study = Study(
        model="llama-3-8b",
        hardware="a100-80gb-sxm",
        prompt=4096,
        preset="tutorial-mlsysim",
        targets={"ttft": 0.2},
    )
    lever = next(lever for lever in required_changes(study.first) if lever.name == "mfu")
    assert lever.flip is None
    assert float(lever.stuck[0][1].value) == pytest.approx(
        2 * 8.03e9 * 4096 / 312e12 + 15e-6, rel=1e-12
    )


def test_the_least_mfu_that_passes():
    """The tutorial's H100: 2*8.03e9*4096 FLOP in 200 ms less 0.01 ms on 989 TFLOP/s: 0.3326."""
    study = Study(
        model="llama-3-8b",
        hardware="h100-sxm",
        prompt=4096,
        preset="tutorial-mlsysim",
        targets={"ttft": 0.2},
    )
    (keep,) = margins(study.first, ["mfu"])
    assert not keep.up
    assert float(last_passing(keep)) == pytest.approx(
        2 * 8.03e9 * 4096 / ((0.2 - 10e-6) * 989e12), rel=1e-12
    )


KEEPING = [
    (
        {
            "model": "llama-3-8b",
            "hardware": "h100-sxm",
            "prompt": 2048,
            "output": 64,
            "batch": 8,
            "mfu": 0.5,
            "mbu": 0.8,
        },
        {"ttft": 0.2, "itl": 0.02, "cost": 3},
    ),
    (
        {
            "model": "llama-3-70b",
            "hardware": "h100-sxm",
            "prompt": 2048,
            "output": 64,
            "tp": 4,
            "batch": 8,
            "mfu": 0.5,
            "mbu": 0.8,
        },
        {"ttft": 1, "itl": 0.04, "price": 40},
    ),
]


@pytest.mark.sample(1)
@pytest.mark.parametrize(("case", "targets"), KEEPING)
def test_a_passing_one_can_go_as_far_as_told(case, targets):
    answers = Study(**case, targets=targets).first
    assert not findings(answers)
    found = margins(answers)
    assert {"mfu", "mbu", "mem_capacity", "price"} <= {keep.name for keep in found}
    for keep in found:
        value, up = last_passing(keep), keep.up
        assert wrong(case, targets, **{keep.name: value}) == []
        more = (
            neighbour(keep.name, value, 1 if up else -1)
            if keep.now.symbol.counted
            else value * (1 + HAIR if up else 1 - HAIR)
        )
        assert more == 0 or wrong(case, targets, **{keep.name: more})


@pytest.mark.full
def test_a_wait_bounds_how_far_a_passing_one_can_go():
    """At an MFU of 0.7 the ITL of 17 ms is met, and the first token takes 94 ms where 60 are allowed: the wait is the end, not the ITL."""
    answers = Study(**WAITING, mfu=0.99, targets={"ttft": 0.06, "itl": 0.05}).first
    (keep,) = margins(answers, ["mfu"])
    assert keep.condition == "ttft"
    assert (
        answers.case.changed({"mfu": last_passing(keep) * (1 + HAIR)}).value("loaded_ttft")
        < Fraction(6, 100)
        < answers.case.changed({"mfu": last_passing(keep) * (1 - HAIR)}).value("loaded_ttft")
    )


def test_a_wait_is_not_solved_for_numbers_of_devices():
    answers = Study(**WAITING, targets={"ttft": 0.0002}).first
    (lever,) = required_changes(answers, ("tp",))
    assert lever.flip is None and lever.unsolved == ("ttft",)
    assert needed(lever, answers).startswith("not known, as the wait has no formula to solve: ttft")


def test_a_rate_that_nothing_serves_is_said_once():
    """At 80 requests a second even endless bandwidth leaves more prompts than compute reads, and no wait is reported beside that."""
    answers = Study(**{**WAITING, "arrival_rate": 80}, targets={"ttft": 0.04}).first
    (lever,) = required_changes(answers, ("mem_bandwidth",))
    assert dict(lever.stuck)["ttft"] is None
    assert needed(lever, answers).startswith(
        "no value is enough: however large, load is "
    ) and "ttft" not in needed(lever, answers)


def test_more_devices_of_which_nobody_gave_the_links_are_no_answer():
    """A second M2 Ultra would hold the model; what its first token takes is not known, and so it is not said to pass."""
    answers = Study(
        model="llama-3-70b",
        hardware="m2-ultra",
        prompt=4096,
        memory_share=0.5,
        targets={"ttft": 1000},
    ).first
    assert findings(answers) == ["does_not_fit"]
    assert "tp" not in {flip.name for flip in flips(answers)}
    assert "tp" not in {lever.name for lever in required_changes(answers)}


@pytest.mark.parametrize(
    ("targets", "more", "levers", "others"),
    [
        # a step that memory limits: neither its size nor its price makes it shorter
        ({"itl": 0.002}, {}, {"mbu", "mem_bandwidth"}, {"mem_capacity", "price"}),
        ({"ttft": 0.01}, {}, {"mfu", "peak_flops"}, {"mem_capacity", "price"}),
        ({"itl": 1.0, "cost": 1e-6}, {}, {"price"}, {"mem_capacity"}),
        (
            {"itl": 1000.0},
            {"batch": 4000},
            {"mem_capacity"},
            {"mfu", "mbu", "peak_flops", "mem_bandwidth", "price"},
        ),
    ],
)
def test_only_what_moves_a_missed_condition_is_a_lever(targets, more, levers, others):
    case = {
        "model": "llama-3-8b",
        "hardware": "h100-sxm",
        "prompt": 2048,
        "output": 128,
        "batch": 4,
        "mfu": 0.5,
        "mbu": 0.8,
        "price": "2.5 USD/hour",
    }
    named = {
        lever.name for lever in required_changes(Study(**{**case, **more}, targets=targets).first)
    }
    assert levers <= named and not others & named
