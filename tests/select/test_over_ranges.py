"""Selections over a range: every answer holds at both ends, each worked out in a case of its own, and the next one fails at an end."""

import pytest

from symroof.api import Study
from symroof.select.selection import select

from ..near import near
from ..tables import case_of

CASE = case_of(
    "model=llama-3-8b hardware=h100-sxm output=256 chunk=2048 memory_share=0.92 tp=1 "
    "efficiency=peak"
)
ENDS = (1024, 4096)
METRICS = {"itl": "sustained_itl", "cost": "cost_per_mtok"}
PRICE = {"price": "2.5 USD/hour"}


def chosen(**more):
    (configuration,) = select(**CASE, **more, prompt=f"{ENDS[0]}..{ENDS[1]}").configurations
    return configuration


def passes(targets, prompt, batch, **more):
    made = Study(**CASE, prompt=prompt, batch=batch, **more)
    met = all(made.value(METRICS[name]) <= limit for name, limit in targets.items())
    return (
        met and bool(made.value("fits")) and ("arrival_rate" not in more or made.value("load") < 1)
    )


@pytest.mark.sample(1)
@pytest.mark.parametrize("targets", [{"itl": 0.03, "cost": 0.25}, {"itl": 0.06, "cost": 0.4}])
def test_the_window_is_that_of_both_ends(targets):
    window = chosen(targets=targets, **PRICE).window
    beyond = [Study(**CASE, prompt=prompt, batch=window.most + 1) for prompt in ENDS]
    broken = {
        "memory": any(not made.value("fits") for made in beyond),
        "itl": any(made.value("sustained_itl") > targets["itl"] for made in beyond),
    }
    assert window.stopped_by == tuple(name for name, breaks in broken.items() if breaks)
    for batch, both in ((window.most, True), (window.most + 1, False)):
        assert all(passes(targets, prompt, batch, **PRICE) for prompt in ENDS) is both, batch


@pytest.mark.full
def test_the_copies_are_those_of_the_end_that_takes_most():
    """Twenty requests a second are too many for one copy at the long prompts, and one copy less than it takes has no steady state there."""
    configuration = chosen(targets={"itl": 0.03}, arrival_rate=20)
    copies, batch = configuration.copies, configuration.batch
    assert configuration.state == "passes" and batch == configuration.window.most and copies == 2
    assert all(passes({"itl": 0.03}, prompt, batch, arrival_rate=20, dp=copies) for prompt in ENDS)
    assert [
        passes({"itl": 0.03}, prompt, batch, arrival_rate=20, dp=copies - 1) for prompt in ENDS
    ] == [True, False]


@pytest.mark.full
def test_a_wait_takes_more_copies_than_the_load():
    """The fewest copies whose waits, for a slot and for earlier prompts, are within the target: one less would bear the load, but not in time; a thousand million requests a second are too many."""
    case = {**CASE, "prompt": 2048, "batch": 64, "arrival_rate": 30}
    waits = {}
    for copies in range(1, 9):
        made = Study(**case, dp=copies)
        if made.value("load") < 1:
            waits[copies] = made.value("loaded_ttft")
    assert min(waits) == 2
    for target, more in ((0.036, True), (0.037, True), (0.039, True), (0.05, True), (0.4, False)):
        (configuration,) = select(**case, targets={"ttft": target}).configurations
        assert configuration.copies == min(
            copies for copies, wait in waits.items() if wait <= target
        )
        assert (configuration.copies > min(waits)) is more
    for targets in ({"ttft": 0.05}, {"itl": 0.05}):
        (flooded,) = select(**{**case, "arrival_rate": 10**9}, targets=targets).configurations
        assert (flooded.copies, flooded.state) == (
            1,
            "fails",
        )  # more than 65,536 are not laid out: it is judged as it stands


def test_a_batch_passes_in_part_where_one_end_does():
    states = {}
    for batch in (50, 150, 600):
        met = [passes({"itl": 0.03}, prompt, batch) for prompt in ENDS]
        states[batch] = "passes" if all(met) else "in part" if any(met) else "fails"
        assert chosen(targets={"itl": 0.03}, batch=batch).state == states[batch]
    assert set(states.values()) == {"passes", "in part", "fails"}


def test_the_worse_end_may_be_the_low_one():
    """A slower memory passes fewer, so the window is that of the low end; what is expected is worked out in the middle."""
    more = {**CASE, "prompt": 2048, "targets": {"itl": 0.03}}
    (ranged,) = select(**more, mem_bandwidth="1 TB/s..3 TB/s").configurations
    (slow,) = select(**more, mem_bandwidth="1 TB/s").configurations
    assert ranged.window == slow.window
    middle = Study(**CASE, prompt=2048, batch=ranged.batch, mem_bandwidth="2 TB/s")
    assert ranged.rank("sustained_itl") == near(middle.value("sustained_itl"), 1e-9)


def test_isolated_requests_over_a_range_are_those_of_the_longer_prompt_by_hand():
    """A step reads 2 * 8.03 GB of weights and 4,096 * 131,072 byte a request at the long end, in 12 ms at 3.35 TB/s."""
    case = case_of(
        "model=llama-3-8b hardware=h100-sxm params=8_030_000_000 detail=kv tp=1 efficiency=peak"
    )
    (configuration,) = select(**case, prompt="2048..4096", targets={"itl": 0.012}).configurations
    assert configuration.window.most == (12 * 3_350_000_000 - 2 * 8_030_000_000) // (4096 * 131_072)


@pytest.mark.parametrize(("longest", "itl"), [(400_000, 0.02), (600_000, 0.03)])
def test_where_an_end_passes_at_no_batch_there_is_no_window(longest, itl):
    """Of the long prompts one fits and its step lasts for 20.1 ms, the cache of the other alone is as large as the memory."""
    targets = {"itl": itl}
    (over,) = select(**CASE, prompt=f"1024..{longest}", targets=targets).configurations
    assert over.window is None and not passes(targets, longest, 1)
    (alone,) = select(**CASE, prompt=1024, targets=targets).configurations
    assert alone.window is not None


@pytest.mark.parametrize(
    ("more", "says"),
    [({"prompt": "1024..2048"}, True), ({"mfu": "0.4..0.6", "prompt": 2048}, False)],
)
def test_where_ranges_are_judged_is_said(more, says):
    case = case_of("model=llama-3-8b hardware=h100-sxm output=64 batch=4")
    basis = select(**case, targets={"itl": "50 ms"}, **more).basis
    assert (basis[-1] == "over the ranges that are given: evaluated at their corners") is says
