"""From one case to another, change by change as people write it, with the value after each; tools' ways are gone backwards, what cannot be explained is refused."""

from fractions import Fraction
from math import prod

import pytest
import yaml

import symroof as sr
from symroof.analysis.waterfall import changes, waterfall
from symroof.api import Study

from ..near import near

BASE = {"model": "gpt2", "hardware": "h100-sxm", "engine": "ideal", "prompt": 100}
ITL = "decode_roofline_time + decode_link_time + decode_overhead"

# what both cases have beside the base | what the second has | changes: kind name: before -> after
CHANGES = f"""
{{}} | {{}} |
{{}} | {{batch: 4}} | input batch: 1 request -> 4 requests
{{prompt: 100..200}} | {{prompt: 150..200}} | input prompt: 100..200 -> 150..200
{{prompt: 100..200}} | {{prompt: 100..200}} |
{{mfu: 0.5, tp: 2}} | {{}} | input mfu: 0.5 -> 1; input tp: 2 devices -> 1 device
{{}} | {{output: 20}} | input output: not set -> 20 tokens
{{}} | {{context: 50}} | input context: prompt -> 50 tokens
{{}} | {{weights: fp8, batch: 2}} | input weights: fp16 -> fp8; input batch: 1 request -> 2 requests
{{}} | {{weight_bytes_per_param: 3}} | input weights: 2 bytes/parameter -> 3 bytes/parameter
{{weights: fp8}} | {{model: opt-6.7b}} | input model: gpt2 -> opt-6.7b; input weights: fp8 -> fp16
{{model: null}} | {{}} | input model: none -> gpt2
{{}} | {{params: 100000000}} | input params: by a formula of its own -> 100 million parameters
{{}} | {{itl: 2*ttft}} | definition itl: {ITL} -> 2*ttft
{{itl: 2*ttft}} | {{}} | definition itl: 2*ttft -> {ITL}
{{}} | {{prompt: 3*batch}} | definition prompt: 100 tokens -> 3*batch
{{}} | {{assume: {{roofline: per_operator}}}} | switch roofline: aggregate -> per_operator
"""


@pytest.mark.sample(5)
@pytest.mark.parametrize("row", CHANGES.strip().splitlines())
def test_the_changes_from_one_case_to_another(row):
    first, second, expected = row.split(" |")
    a, b = (Study(**{**BASE, **yaml.safe_load(side)}).first for side in (first, second))
    made = list(changes(a, b))
    said = [f"{x.kind} {x.name}: {x.before} -> {x.after}" for x, _ in made]
    assert said == [each.strip() for each in expected.split(";") if each.strip()]
    there = made[-1][1] if made else a
    assert there.case.value("kv_cache_bytes") == b.case.value("kv_cache_bytes")
    assert there.case.value("prefill_time") == b.case.value("prefill_time")


@pytest.mark.parametrize("preset", ["llm-viewer", "genz"])
def test_the_changes_to_a_tool_end_at_its_numbers(preset):
    """Its terms one by one, its choices, its inputs: all applied, the case is the tool's; its last change of each formula is the tool's own."""
    case, tool = Study(**BASE, output=20).first, Study(**BASE, output=20, preset=preset).first
    made = list(changes(case, tool))
    assert len({change.name for change, _ in made}) == len(made)
    _, case = made[-1]
    for name in ("prefill_time", "itl", "memory_bytes_per_device"):
        assert case.case.value(name) == tool.case.value(name), name


def test_each_value_on_the_way():
    """A cache of 36,864 bytes a token: of half the width, of three times as many tokens, of five requests."""
    one, other = Study(**BASE).first, Study(**{**BASE, "prompt": 300}, kv="fp8", batch=5).first
    way = waterfall(one, other, "kv_cache_bytes")
    token = 36_864
    assert [(step.label, step.before, step.after) for step in way.steps] == [
        ("kv_bytes_per_element: 2 bytes -> 1 byte", token * 100, token * 50),
        ("prompt: 100 tokens -> 300 tokens", token * 50, token * 150),
        ("batch: 1 request -> 5 requests", token * 150, token * 750),
    ]
    assert (way.effect, way.factor) == (token * 650, Fraction(15, 2))


def test_what_moves_nothing_is_said_and_not_listed():
    """The compute rate leaves the cache alone."""
    other = Study(**{**BASE, "batch": 2}, mfu=0.5, peak_flops="1 PFLOP/s").first
    way = waterfall(Study(**BASE).first, other, "kv_cache_bytes")
    assert way.notes() == ["differs without effect here: peak_flops, mfu"]
    assert way.rows("one", "two") == [
        ["from", "one", "", "", "3.686 MB"],
        ["input", "batch: 1 request -> 2 requests", "+3.686 MB", "× 2", "7.373 MB"],
        ["to", "two", "+3.686 MB", "× 2", "7.373 MB"],
    ]


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
