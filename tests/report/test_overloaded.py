"""Reviews of servers that requests overload, everywhere or in a part of the ranges: written in every format, and saying so."""

import re

import pytest

from symroof.api import Study
from symroof.report.page_one import page_one
from symroof.report.recommendation import Reviewed, as_they_stand, reviewed
from symroof.report.render import render
from symroof.report.review_sections import memory
from symroof.report.view import view
from symroof.select.recommend import Recommendation
from symroof.select.selection import select_from

from ..tables import fields
from . import FORMATS, static

SERVER = fields(
    "model: llama-3.1-8b, hardware: h100-sxm, engine: ideal, prompt: 1000, output: 200, batch: 32"
)
CASE = SERVER | fields("mbu: 0.6..0.9, mfu: 0.6, layer_overhead: 0, elementwise_bytes: 0")
STUDIES = {
    "everywhere": {"arrival_rate": "60 request/s", "targets": {"ttft": "500 ms"}},
    "in part, at its middle": {"arrival_rate": "14 request/s", "targets": {"ttft": "500 ms"}},
    "in part, not at its middle": {"arrival_rate": "12.5 request/s", "targets": {"ttft": "500 ms"}},
    "in chunks": {"arrival_rate": "60 request/s", "assume": {"scheduling": "chunked"}},
}
STEADY = "in part, not at its middle"


def as_it_stands(study):
    """Without what would pass instead."""
    return Reviewed(study, None, Recommendation(as_they_stand(study.cases)))


@pytest.fixture(scope="module")
def made():
    """Each study with the data of its review, as far as its body shows it."""
    studies = {
        name: Study(**CASE, **{"assume": {"scheduling": "exclusive"}, **rest})
        for name, rest in STUDIES.items()
    }
    return {
        name: (study, view(as_it_stands(study), "symroof report x.yaml"))
        for name, study in studies.items()
    }


@pytest.mark.full
@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("name", STUDIES)
def test_a_review_in_every_format_says_that_the_server_does_not_keep_up(name, kind, made):
    text = " ".join(re.sub(r"<[^>]*>", "", static(render(made[name][1], kind))).split())
    assert "Nothing passes for Llama 3.1 8B" in text
    assert "load, as a share of capacity" in text
    assert ("unbounded: the queue has no steady state" in text) is (
        name != STEADY and "targets" in STUDIES[name]
    )


@pytest.mark.parametrize("name", STUDIES)
def test_the_load_and_the_first_token_of_an_overloaded_server_stand_beside_their_limits(name, made):
    rows = {row[0]: row for row in made[name][1]["page"]["rows"]}
    load = rows["load, as a share of capacity"]
    assert load[3] == "1"
    assert (load[4] == "missed") is not name.startswith("in part")
    if "targets" in STUDIES[name]:
        _, value, _, limit, outcome = rows["time to first token"]
        assert limit == "500 ms" and outcome.startswith("missed")
        assert (value == "unbounded: the queue has no steady state") is (name != STEADY)


@pytest.mark.full
def test_a_wait_for_a_slot_where_all_is_slow_makes_a_review_say_that_a_target_is_met_in_part():
    """23 copies bear 20 requests a second at a load of 0.93 where all is slow, and a slot is waited for there longer than the target; 60 copies have slots to spare."""
    case = fields(
        "model: llama-3.3-70b, hardware: h100-sxm, engine: ideal, tp: 4, prompt: 3000, "
        "output: 400, batch: 23, arrival_rate: 20 request/s, memory_share: 0.92, chunk: 2048, "
        "price: 4.29 USD/hour, efficiency: measured"
    )
    targets = {"ttft": "1 s", "itl": "70 ms"}
    studies = [Study(**case, dp=copies, targets=targets) for copies in (23, 60)]
    ends = [study.first.slow_end.case for study in studies]
    assert 0.9 < ends[0].value("load") < 1
    assert (
        [end.value("admission_wait") > 1 for end in ends]
        == [end.value("loaded_ttft") > 1 for end in ends]
        == [True, False]
    )
    assert all(end.value("loaded_ttft") - end.value("admission_wait") < 1 for end in ends)
    tight, ample = (page_one(as_it_stands(study)) for study in studies)
    assert tight["heading"].startswith("Nothing passes")
    assert ample["heading"] == "Use 240 × H100 SXM for Llama 3.3 70B Instruct"
    outcomes = [
        next(row for row in page["rows"] if "first token" in row[0])[4] for page in (tight, ample)
    ]
    assert outcomes == ["missed in the worst case", "met"]
    assert "35.8 USD per million output tokens" in ample["price"][1], (
        "4.29 USD an hour for each of 240 devices, over 20*400 tokens a second"
    )


SEPARATE = SERVER | fields(
    "assume: {scheduling: disaggregated}, targets: {ttft: 500 ms, itl: 50 ms}"
)


@pytest.mark.full
def test_all_devices_of_both_roles_and_all_replicas_are_recommended():
    study = Study(**SEPARATE, dp=3, prefill_devices=2, arrival_rate="20 request/s")
    assert (
        page_one(reviewed(study))["heading"]
        == "Use 9 × H100 SXM (6 of them only prefill) for Llama 3.1 8B"
    )


@pytest.mark.full
def test_prompts_of_more_replicas_do_not_get_more_instances_that_prefill():
    """However many replicas a search adds, the instances of the fleet that prefill are as many as were given: no number of them keeps up."""
    study = Study(**SEPARATE, tp=1, prefill={"instances": 1}, arrival_rate="200 request/s")
    assert not select_from(study).passing
    assert not page_one(reviewed(study))["heading"].startswith("Use")


def test_the_memory_of_instances_that_only_prefill_is_told():
    """A whole 8B model in 16 bits on each, beside decode instances that share it among two."""
    study = Study(**SEPARATE | {"tp": 2}, prefill={"tp": 1, "instances": 2})
    told = memory(study, study.first)
    assert told["apart"] == "16.06 GB"
    assert memory(Study(**SERVER), Study(**SERVER).first)["apart"] == ""
