"""Which case a review details, and what it recommends where that fails: against every degree, format and batch worked out one by one."""

import itertools

import pytest

from symroof.analysis.constraints import passes
from symroof.api import Study
from symroof.report.recommendation import beyond_reach, recommendation, subject_of

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


@pytest.mark.full
@pytest.mark.parametrize("targets", [{"itl": "40 ms"}, {"itl": "25 ms", "ttft": "500 ms"}])
def test_the_cheapest_of_all_degrees_formats_and_batches(targets):
    study = Study(**CASE, targets=targets)
    data, chosen = recommendation(study, study.first)
    found = data["found"]
    costs = {}
    for tp, weights, batch in itertools.product((1, 2, 4, 8), ("fp16", "fp8"), range(1, 257, 5)):
        case = Study(**{**CASE, "batch": batch}, tp=tp, weights=weights, targets=targets).first
        if passes(case):
            costs[tp, weights, batch] = case.case.value("cost_per_mtok")
    tp, weights, batch = min(costs, key=costs.get)
    assert found["label"] == f"{tp} × NVIDIA A10G 24 GB, weights {weights}"
    assert (
        chosen.case.value("tp") == tp and chosen.precisions["weights"] == weights and passes(chosen)
    )
    assert batch <= int(found["batch"]) < batch + 5
    assert int(found["devices"]) == tp and found["replicas"] is None


def test_nothing_is_recommended_to_what_passes_and_the_nearest_where_nothing_does():
    good = Study(**{**CASE, "batch": 1}, targets={"itl": "1 s"})
    assert recommendation(good, good.first) == (None, None)
    never = Study(**CASE, targets={"itl": "10 us"})
    made, case = recommendation(never, never.first)
    assert case is None and made["found"] is None and "× NVIDIA A10G" in made["nearest"]


@pytest.mark.full
def test_a_rate_is_met_by_replicas():
    study = Study(**CASE, arrival_rate="20 request/s", targets={"itl": "60 ms", "ttft": "2 s"})
    data, chosen = recommendation(study, study.first)
    found = data["found"]
    copies, batch = int(found["replicas"]), int(found["batch"])
    label = dict(part.split(" ")[:2] for part in found["label"].split(", ")[1:])
    tp = int(found["label"].split(" replicas of ")[1].split(" × ")[0])
    one = Study(
        **{**CASE, "batch": batch},
        tp=tp,
        weights=label["weights"],
        dp=copies,
        arrival_rate="20 request/s",
        targets={"itl": "60 ms", "ttft": "2 s"},
    ).first
    assert passes(one) and int(found["devices"]) == tp * copies
    assert chosen.case.value("dp") == copies and chosen.case.value("batch") == batch


def test_what_no_tuning_reaches_is_said_by_its_bound():
    """A step of an 8B in 16 bits reads 15.0 GB at 600 GB/s: no a10g is below 25 ms."""
    missed = Study(**{**CASE, "batch": 1}, targets={"itl": "20 ms"}).first
    ((name, bound, limit),) = beyond_reach(missed)
    assert (name, limit) == ("itl", "20 ms") and float(bound.split()[0]) >= 15.01e9 / 600e9 * 1e3
    assert beyond_reach(Study(**{**CASE, "batch": 1}, targets={"itl": "30 ms"}).first) == []
