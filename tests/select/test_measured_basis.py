"""Decisions at measured efficiencies: a selection holds at the slow end, ranks by what is expected, and shows the bound beside it."""

import itertools

import pytest

from symroof.api import Study
from symroof.select.selection import select

from ..tables import case_of

CASE = case_of(
    "model=llama-3.1-8b hardware=h100-sxm prompt=2048 output=300 chunk=2048 memory_share=0.92"
)
INPUTS = Study(**CASE, batch=1, efficiency="measured").first.inputs()
ENTRIES = {name: INPUTS[name] for name in ("mfu", "mbu", "layer_overhead", "elementwise_bytes")}
SHARES = ("mfu", "mbu")
SLOW = {name: (entry.low if name in SHARES else entry.high) for name, entry in ENTRIES.items()}
SLOW["server_latency"] = "40 ms"
FAST = {name: (entry.high if name in SHARES else entry.low) for name, entry in ENTRIES.items()}
FAST["server_latency"] = "10 ms"
EXPECTED = {name: entry.value for name, entry in ENTRIES.items()} | {"server_latency": "20 ms"}


def at(values, batch, name="sustained_itl"):
    return float(Study(**CASE, **values, batch=batch).value(name))


@pytest.fixture(scope="module")
def chosen():
    (configuration,) = select(**CASE, tp=1, targets={"itl": 0.05}).configurations
    return configuration


def test_the_largest_batch_passes_at_the_slow_end_and_the_next_does_not(chosen):
    most = chosen.window.most
    assert chosen.state == "passes" and chosen.batch <= most
    assert at(SLOW, most) <= 0.05 < at(SLOW, most + 1)


def test_it_is_ranked_by_what_is_expected(chosen):
    assert chosen.rank("sustained_itl") == pytest.approx(at(EXPECTED, chosen.batch), rel=1e-9)
    result = chosen.result("sustained_itl")
    assert [float(x) for x in (result.low, result.value, result.high)] == pytest.approx(
        [at(v, chosen.batch) for v in (FAST, EXPECTED, SLOW)], rel=1e-9
    )


def test_the_bound_beside_it_is_the_case_at_the_peak(chosen):
    for name in ("sustained_itl", "loaded_ttft", "sustained_throughput"):
        assert float(chosen.case.peak_bound(name).value) == pytest.approx(
            at({"efficiency": "peak"}, chosen.batch, name), rel=1e-12
        )
    assert chosen.case.peak_bound("weight_bytes") is None


def test_it_fails_where_the_fast_end_misses_and_passes_in_part_between():
    ends = at(FAST, 16), at(SLOW, 16)
    states = [
        select(**CASE, batch=16, tp=1, targets={"itl": limit}).configurations[0].state
        for limit in (0.99 * ends[0], sum(ends) / 2, 1.01 * ends[1])
    ]
    assert states == ["fails", "in part", "passes"]


@pytest.mark.full
def test_a_wait_has_the_range_of_its_slow_and_its_fast_end():
    """The batch that a rate keeps busy is searched for at every point of the ranges, too long for all of them."""
    (configuration,) = select(**CASE, targets={"ttft": 2}, arrival_rate=4, batch=24).configurations
    result, copies = configuration.result("loaded_ttft"), configuration.copies
    ends = [
        float(Study(**CASE, **values, batch=24, dp=copies, arrival_rate=4).value("loaded_ttft"))
        for values in (FAST, EXPECTED, SLOW)
    ]
    assert [float(x) for x in (result.low, result.value, result.high)] == pytest.approx(
        ends, rel=1e-9
    )
    assert not result.flags


def test_an_efficiency_that_is_given_wins_and_the_others_are_measured_where_that_is_asked():
    """Else a selection is at the efficiencies given, as every other answer is."""
    alone = select(**CASE, batch=16, mbu=1).configurations[0].case.given
    assert not any(value.measured for value in alone.values())
    chosen = select(**CASE, batch=16, mbu=1, efficiency="measured").configurations[0]
    given = chosen.case.given
    found = [given[name].measured for name in ("mbu", "mfu", "layer_overhead")]
    assert found == [False, True, True]


def test_the_fast_and_the_slow_end_are_the_extremes_of_every_corner_of_the_ranges():
    """Corners of measured efficiencies end together; latencies and rates at all 256 corners lie between those at the four."""
    study = Study(
        "llama-3.1-8b", "h100-sxm", prompt=2048, output=300, batch=16, tp=2, efficiency="measured"
    )
    answers, box = study.first, study.first.box
    assert (len(box), len(answers.corners)) == (8, 4)
    every = [
        answers.case.changed(dict(zip(box, corner, strict=True)))
        for corner in itertools.product(*box.values())
    ]
    for name in ("itl", "ttft", "decode_throughput"):
        ours = [corner.value(name) for corner in answers.corners]
        all_of_them = [corner.value(name) for corner in every]
        assert (min(ours), max(ours)) == (min(all_of_them), max(all_of_them))


def test_a_preset_counts_as_its_tool_counts():
    assert Study("llama-3-8b", "h100-sxm", preset="tutorial-mlsysim", prompt=4096).first.box == {}
