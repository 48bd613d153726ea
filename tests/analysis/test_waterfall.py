"""From one number to another: effects add up exactly, tools' ways are gone backwards, what cannot be explained is refused."""

from math import prod

import pytest

import symroof as sr
from symroof.analysis.waterfall import waterfall

from ..near import near

PLAIN = {"model": "llama-3-8b", "hardware": "h100-sxm", "engine": "ideal", "prompt": 2048}
LARGE = {"model": "llama-3-70b", "hardware": "h200", "engine": "ideal", "prompt": 4096}
OTHERS = [
    {**PLAIN, "preset": "tutorial-mlsysim"},
    {**LARGE, "batch": 8, "weights": "fp8", "assume": {"attention": "full"}},
]
GPT2 = {"model": "gpt2", "hardware": "h100-sxm", "engine": "ideal", "prompt": 100, "output": 20}


def way(one, other, quantity):
    return waterfall(sr.Study(**one).first, sr.Study(**other).first, quantity)


@pytest.mark.sample(2)
@pytest.mark.parametrize("other", OTHERS)
@pytest.mark.parametrize("turned", [False, True])
def test_effects_add_up_to_the_difference_and_factors_multiply_to_the_ratio(other, turned):
    one, other = (other, PLAIN) if turned else (PLAIN, other)
    for quantity in ("itl", "ttft", "memory_bytes"):
        found = way(one, other, quantity)
        a, b = (sr.Study(**side).value(quantity) for side in (one, other))
        assert (found.start.value, found.end.value) == (a, b)
        assert a + sum(step.effect for step in found.steps) == near(b)
        factors = [prod(step.factor for step in found.steps), found.factor]
        assert factors == near([b / a, b / a])


def test_from_a_preset_the_way_there_is_gone_backwards():
    """A tool's term of its own formula acts once: beside another formula and a switch that count the same it would come and go."""
    tool = {**PLAIN, "preset": "llm-viewer"}
    there, back = way(PLAIN, tool, "itl"), way(tool, PLAIN, "itl")
    assert [(step.before, step.after) for step in back.steps] == [
        (step.after, step.before) for step in reversed(there.steps)
    ]
    labels = [step.label for step in back.steps]
    assert labels[-1] == "itl = decode_busy_time + decode_overhead"
    assert labels.count("scores and probabilities are written and read (left out)") == 1
    assert not any(label.startswith("fusion") for label in labels)


@pytest.mark.parametrize(
    ("other", "quantity", "message"),
    [
        ({"model": "llama-3-8b"}, "itl", "has no value on the second side: needs"),
        (PLAIN, "fits", "is not a number"),
        (PLAIN, "it1", "no such quantity"),
    ],
)
def test_what_cannot_be_explained_is_refused(other, quantity, message):
    with pytest.raises(sr.InputError, match=message):
        way(PLAIN, other, quantity)


def test_a_choice_and_what_it_needs_are_one_step():
    """Prefill on devices of its own has no value until there are any: both changes are one step, of the kind of the last."""
    apart = {"assume": {"scheduling": "disaggregated"}, "prefill_devices": 2}
    found = way(
        {**GPT2, "assume": {"scheduling": "exclusive"}}, {**GPT2, **apart}, "sustained_requests"
    )
    (step,) = found.steps
    both = "scheduling: exclusive -> disaggregated, prefill_devices: not set -> 2 devices"
    assert found.rows("a", "b")[1][:2] == ["input", step.label] == ["input", both]


def test_a_side_that_memory_does_not_hold_is_flagged():
    found = way({**GPT2, "model": "llama-3-70b"}, {**GPT2, "memory_share": "0.99"}, "itl")
    assert (found.start.flags, found.end.flags) == (("does_not_fit",), ())
    assert found.rows()[0][-1].endswith("ms (does not fit)")
