"""Which case a review details, and what it recommends where that fails: against every degree, chunk and batch worked out one by one."""

import json

import pytest

from symroof.analysis.constraints import passes
from symroof.api import Study
from symroof.cases.request import request_of
from symroof.report.purchase_text import usd
from symroof.report.recommendation import (
    beyond_reach,
    recommendation,
    reviewed,
    subject_of,
)
from symroof.report.render import render
from symroof.report.view import view
from symroof.select.recommend import recommend

from ..cli import call

CASE = {
    "efficiency": "peak",
    "model": "llama-3.1-8b",
    "hardware": "a10g",
    "prompt": 1024,
    "output": 128,
    "batch": 64,
    "mfu": 0.6,
    "mbu": 0.75,
    "price": 1,
    "engine": "vllm",
}


def test_the_subject_is_the_cheapest_that_passes_else_the_last_of_the_first_device():
    listed = Study(
        **{**CASE, "hardware": ["a10g", "h100-sxm"], "batch": [1, 8, 16]}, targets={"itl": "50 ms"}
    )
    good = [case for case in listed.cases if passes(case)]
    assert len(good) > 1
    assert subject_of(listed) is min(good, key=lambda case: case.case.value("cost_per_mtok"))
    none = Study(
        **{**CASE, "hardware": ["a10g", "h100-sxm"], "batch": [1, 8]}, targets={"itl": "1 ms"}
    )
    assert subject_of(none) is none.cases[1]


def test_nothing_is_recommended_to_what_passes_and_the_nearest_where_nothing_does():
    good = Study(**{**CASE, "batch": 1}, targets={"itl": "1 s"})
    assert recommendation(good, good.first) == (None, None)
    never = Study(**CASE, targets={"itl": "10 us"})
    made, case = recommendation(never, never.first)
    assert case is None and made["found"] is None and "× NVIDIA A10G" in made["nearest"]


def test_what_no_tuning_reaches_is_said_by_its_bound():
    """A step of an 8B in 16 bits reads 15.0 GB at 600 GB/s: no a10g is below 25 ms."""
    missed = Study(**{**CASE, "batch": 1}, targets={"itl": "20 ms"}).first
    ((name, bound, limit),) = beyond_reach(missed)
    assert (name, limit) == ("itl", "20 ms") and float(bound.split()[0]) >= 15.01e9 / 600e9 * 1e3
    assert beyond_reach(Study(**{**CASE, "batch": 1}, targets={"itl": "30 ms"}).first) == []


@pytest.fixture(scope="module")
def chat(tmp_path_factory):
    """A study of two devices and a rate, which fixes neither layout nor batch."""
    path = tmp_path_factory.mktemp("chat") / "chat.yaml"
    path.write_text(
        "model: llama-3.1-8b\nhardware: [l40s, h100-sxm]\nworkload: {prompt: 2000, output: 300}\n"
        "set: {arrival_rate: 60/s}\ntargets: {ttft: 1 s, itl: 40 ms}\n",
        encoding="utf-8",
    )
    return str(path)


def test_a_review_starts_on_what_select_names(chat):
    study, found = reviewed(Study.load(chat))
    pick = recommend(Study.load(chat)).pick
    assert (found.pick.hardware, found.pick.devices, found.pick.batch) == (
        pick.hardware,
        pick.devices,
        pick.batch,
    )
    assert subject_of(study) is study.cases[0] and passes(study.cases[0])
    assert [case.hardware.name for case in study.cases] == [one.hardware for one in found.best]
    data = view(study, "x", ("verdict",), found=found)
    text = render(data, "md")
    assert f"**Use {pick.devices} × H100 SXM.**" in text
    assert f"{usd(pick.usd_per_month)} USD/month" in text and "| L40S |" in text
    assert "overloaded" not in text.partition("**Flips if**")[0]


def test_a_study_that_fixes_its_batch_is_reviewed_as_it_stands(chat):
    study = Study.load(chat, request_of(batch=8))
    shown, found = reviewed(study)
    assert shown == study and found.best


@pytest.mark.full
def test_every_command_names_the_same_purchase(chat):
    chosen = json.loads(call("select", chat, "--json").out)["recommendation"]
    told = call("report", chat, "--format", "json", "-o", "-", "--no-plots").out
    review = json.loads(told)["recommendation"]
    assert review == chosen


def test_where_nothing_passes_a_review_says_so():
    asked = Study("llama-3.1-8b", "l40s", prompt=2000, output=300, targets={"itl": "1 ms"})
    study, found = reviewed(asked)
    text = render(view(study, "x", ("verdict",), found=found), "md")
    assert "**Nothing passes. Closest: 1 × NVIDIA L40S" in text and "Use " not in text
