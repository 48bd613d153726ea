"""Ranges of thresholds of which some corner has none: the end is named, and the value at the middle lies inside."""

import pytest

from symroof.api import Study

RIDGE = {
    "model": "llama-3-8b",
    "hardware": "h100-sxm",
    "prompt": 512,
    "mbu": 0.8,
    "layer_overhead": 0,
    "elementwise_bytes": 0,
}
SLOW = {
    "model": "llama-3-8b",
    "hardware": "h100-sxm",
    "prompt": 512,
    "mfu": 1,
    "layer_overhead": 0,
    "elementwise_bytes": 0,
}


def first_compute_bound(mfu, most=10**15):
    """The first batch of which compute takes as long as memory, by halving; None where none up to a very large one does."""
    case = Study(**RIDGE, mfu=mfu).first.case

    def bound(batch):
        there = case.changed({"batch": batch})
        return there.value("decode_compute_time") >= there.value("decode_memory_time")

    if not bound(most):
        return None
    low, high = 0, most
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if bound(middle) else (middle, high)
    return high


def test_a_batch_that_no_ridge_follows_at_the_fast_end_is_never():
    middle, slow, fast = (first_compute_bound(mfu) for mfu in ("0.55", "0.2", "0.9"))
    assert fast is None
    assert (
        Study(**RIDGE, mfu="0.2..0.9").solve("batch_to_ridge").in_ranges()
        == f"at least {middle:,} requests ({slow:,} to never)"
    )


@pytest.fixture(scope="module")
def late():
    """At half the bandwidth the weights alone, 8.03 G parameters less the gathered table of 128,256 rows of 4,096, of two bytes, take 8.96 ms."""
    assert 2 * (8_030_261_248 - 128_256 * 4096) / (0.5 * 3.35e12) > 8.9e-3
    return Study(
        **SLOW,
        mbu="0.5..0.9",
        batch=8,
        output=64,
        assume={"targets_under": "isolated"},
        targets={"itl": "8 ms"},
    )


def last_within(mbu):
    """The last batch within the target, by counting."""
    case = Study(**SLOW, mbu=mbu, batch=1, output=64).first.case
    return next(
        batch
        for batch in range(1000)
        if case.changed({"batch": batch + 1}).value("itl_last") * 1000 > 8
    )


def test_a_limit_that_allows_nothing_at_the_slow_end_is_none(late):
    assert not last_within("0.5")
    text = late.solve("itl_last = itl_target", "batch").in_ranges()
    assert "(any to " in text  # of an equation of one's own the crossing is reached
    assert int(text.partition(" to ")[2].rstrip(")").replace(",", "")) - last_within("0.9") in (
        0,
        1,
    )
