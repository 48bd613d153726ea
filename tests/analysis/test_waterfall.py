"""From one number to another: single changes equal their plain effect, effects add up exactly, every step by hand."""

from math import prod

import pytest

import symroof as sr
from symroof.analysis.waterfall import waterfall

from ..near import near

PLAIN = {"model": "llama-3-8b", "hardware": "h100-sxm", "engine": "ideal", "prompt": 2048}
PAIRS = [
    (PLAIN, {**PLAIN, "preset": "tutorial-mlsysim"}),
    (
        PLAIN,
        {
            "model": "llama-3-70b",
            "hardware": "h200",
            "engine": "ideal",
            "prompt": 4096,
            "batch": 8,
            "weights": "fp8",
            "assume": {"attention": "full"},
        },
    ),
    (PLAIN, {**PLAIN, "weights": "awq"}),
]


def way(one, other, quantity):
    return waterfall(sr.Study(**one).first, sr.Study(**other).first, quantity)


@pytest.mark.sample(6)
@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("turned", [False, True])
def test_effects_add_up_to_the_difference_and_factors_multiply_to_the_ratio(pair, turned):
    one, other = reversed(pair) if turned else pair
    for quantity in ("itl", "ttft", "memory_bytes"):
        found = way(one, other, quantity)
        a, b = (sr.Study(**side).value(quantity) for side in (one, other))
        assert (found.start.value, found.end.value) == (a, b)
        assert a + sum(step.effect for step in found.steps) == near(b)
        assert found.factor == near(b / a)
        assert prod(step.factor for step in found.steps) == near(b / a)
        assert all(step.effect for step in found.steps)


def test_from_a_preset_the_way_there_is_gone_backwards():
    """A tool's term of its own formula acts once: beside another formula and a switch that count the same it would come and go."""
    there, back = (
        way(PLAIN, {**PLAIN, "preset": "llm-viewer"}, "itl"),
        way({**PLAIN, "preset": "llm-viewer"}, PLAIN, "itl"),
    )
    assert [step.effect for step in back.steps] == [-step.effect for step in reversed(there.steps)]
    assert [(step.before, step.after) for step in back.steps] == [
        (step.after, step.before) for step in reversed(there.steps)
    ]
    assert (
        back.steps[0].changes[0].kind == "input"
        and back.steps[-1].label == "itl = decode_busy_time + decode_overhead"
    )
    assert [step.label for step in back.steps].count(
        "scores and probabilities are written and read (left out)"
    ) == 1
    assert not any(step.label.startswith("fusion") for step in back.steps)


@pytest.mark.parametrize(
    ("one", "other", "quantity", "message"),
    [
        (PLAIN, {"model": "llama-3-8b"}, "itl", "has no value on the second side: needs"),
        (PLAIN, PLAIN, "fits", "is not a number"),
        (PLAIN, PLAIN, "decode_bound", "is not a number"),
        (PLAIN, PLAIN, "it1", "no such quantity"),
    ],
)
def test_what_cannot_be_explained_is_refused(one, other, quantity, message):
    with pytest.raises(sr.InputError, match=message):
        way(one, other, quantity)


GPT2 = {"model": "gpt2", "hardware": "h100-sxm", "engine": "ideal", "prompt": 100, "output": 20}


def test_a_choice_and_what_it_needs_are_one_step():
    """Prefill on devices of its own has no value until there are any: both changes are one step, of the kind of the last."""
    found = way(
        {**GPT2, "assume": {"scheduling": "exclusive"}},
        {**GPT2, "assume": {"scheduling": "disaggregated"}, "prefill_devices": 2},
        "sustained_requests",
    )
    (step,) = found.steps
    assert [(change.kind, change.name) for change in step.changes] == [
        ("switch", "scheduling"),
        ("input", "prefill_devices"),
    ]
    assert (
        step.label
        == "scheduling: exclusive -> disaggregated, prefill_devices: not set -> 2 devices"
    )
    assert found.rows("a", "b")[1][:2] == ["input", step.label] and found.notes() == []
    assert step.after - step.before == found.effect == found.end.value - found.start.value


def test_a_side_that_memory_does_not_hold_is_flagged():
    found = way({**GPT2, "model": "llama-3-70b"}, {**GPT2, "memory_share": "0.99"}, "itl")
    assert (found.start.flags, found.end.flags) == (("does_not_fit",), ())
    assert found.rows()[0][-1].endswith("ms (does not fit)") and not found.rows()[-1][-1].endswith(
        "(does not fit)"
    )
