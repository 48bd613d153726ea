"""Which tool says that: numbers that a tool printed lead to its preset, numbers made by hand to the choices they were made with."""

from fractions import Fraction
from itertools import pairwise

import pytest

import symroof as sr
from symroof.analysis.number_origins import origins, to_number
from symroof.claims.read.written_number import read_written

CASE = {
    "model": "llama-3-8b",
    "hardware": "h100-sxm",
    "prompt": 2048,
    "peak_flops": "989 TFLOP/s",
    "mem_bandwidth": "3350 GB/s",
}


def made(quantity, text, **more):
    study = sr.Study(**CASE, **more)
    return origins(study, quantity, read_written(text, "s").agrees)


@pytest.mark.parametrize(
    ("quantity", "text", "preset"),
    [
        ("ttft", "41.52 ms", "llm-viewer"),
        ("ttft", "35.48 ms", "genz"),
        ("itl", "4.643 ms", "llm-analysis"),
        ("ttft", "33.30 ms", "aiconfigurator"),
        ("ttft", "70.97 ms", "mlsysim"),
        ("ttft", "66.52 ms", "tutorial-mlsysim"),
    ],
)
def test_a_printed_number_leads_to_the_tool_that_printed_it(quantity, text, preset):
    assert [entry.preset for entry in made(quantity, text).explanations if entry.preset] == [preset]


def test_a_number_that_is_right_as_it_stands_is_tried_once():
    plain = sr.Study(**CASE).exact("itl")
    found = origins(sr.Study(**CASE), "itl", lambda value: value == plain)
    assert (
        found.tried,
        found.complete,
        [(entry.preset, entry.changes) for entry in found.explanations],
    ) == (1, True, [("", ())])


def test_the_smallest_set_of_choices_is_what_the_number_was_made_with():
    """The cache once more than it is read, by hand: 2,048 tokens of 131,072 bytes."""
    plain = sr.Study(**CASE).exact("itl")
    doubled = plain + Fraction(2048 * 131072, 3350 * 10**9)
    found = origins(sr.Study(**CASE), "itl", lambda value: value == doubled)
    assert [(len(entry.changes), entry.text) for entry in found.explanations] == [
        (1, "the cache is charged twice (llm-analysis)")
    ]


def test_two_choices_are_found_together():
    target = sr.Study(**CASE, assume={"attention": "full", "logits": "all"}).exact("ttft")
    found = origins(sr.Study(**CASE), "ttft", lambda value: value == target)
    assert ["attention", "logits"] in [
        [change.name for change in entry.changes] for entry in found.explanations
    ]
    assert all(len(entry.changes) == 2 for entry in found.explanations if not entry.preset)
    assert all(entry.value == target for entry in found.explanations)


def test_the_case_itself_needs_no_choice():
    (entry,) = made("ttft", f"{float(1000 * sr.Study(**CASE).exact('ttft')):.5g} ms").explanations
    assert (entry.preset, entry.changes, entry.text) == ("", (), "the case as it is")


def test_a_number_out_of_reach_has_no_explanation():
    found = made("itl", "1.234567 s")
    assert (found.explanations, found.complete) == ((), True)
    assert found.tried > 50


@pytest.mark.parametrize("text", ["4.643 ms", "5 ms", "0.3 ms"])
def test_the_way_to_a_number_ends_at_the_number(text):
    study, written = sr.Study(**CASE), read_written(text, "s")
    best = next(
        (entry for entry in origins(study, "itl", written.agrees).explanations if entry.changes),
        None,
    )
    way = to_number(study, "itl", written.number, best)
    assert (
        way.end.value
        == written.number
        == study.exact("itl") + sum(step.effect for step in way.steps)
    )
    assert all(one.after == other.before for one, other in pairwise(way.steps))
    rest = [step for step in way.steps if step.changes[0].kind == "rest"]
    assert len(rest) == 1
    assert best is None or abs(rest[0].effect) <= written.margin


def test_what_is_no_number_here_is_refused():
    with pytest.raises(sr.InputError, match="is not a number"):
        made("fits", "1 ms")
    with pytest.raises(sr.InputError, match="has no value"):
        made("queue_wait", "1 ms")
