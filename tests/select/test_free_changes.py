"""What a configuration lacks where its batch and copies may follow: every answer passes when it is bound on its own, and a little less does not."""

from fractions import Fraction

import pytest

from symroof.select.free_changes import are_free, free_changes
from symroof.select.selection import select

CASE = {
    "model": "llama-3.1-8b",
    "hardware": "a10g",
    "prompt": 2048,
    "output": 300,
    "mfu": "0.6",
    "mbu": "0.75",
    "arrival_rate": 20,
    "efficiency": "peak",
}
TARGETS = {"itl": "40 ms", "ttft": "300 ms"}


@pytest.fixture(scope="module")
def changes():
    (c,) = select(**CASE, targets=TARGETS).configurations
    assert not c.run.passes and are_free(c.run)
    return {found.name: found for found in free_changes(c.run)}


def passing(**chosen):
    (c,) = select(**{**CASE, **chosen}, targets=TARGETS).configurations
    return (c.run.batch, c.run.copies) if c.run.passes else None


@pytest.mark.full
def test_a_faster_device_does_with_the_batch_and_the_copies_that_it_allows(changes):
    """70 TFLOP/s read 2,048 tokens of 8 billion parameters in more than 700 ms: that takes 2.5 times as many at least."""
    found = changes["peak_flops"]
    assert found.value > Fraction(70 * 10**12) * 5 / 2
    assert passing(peak_flops=f"{float(found.value)} FLOP/s") == (found.batch, found.copies)
    assert passing(peak_flops=f"{float(found.value) * 0.99} FLOP/s") is None


def test_the_first_number_of_devices_that_does(changes):
    found = changes["tp"]
    assert passing(tp=int(found.value)) == (found.batch, found.copies)
    assert all(passing(tp=n) is None for n in (2, 4) if n < found.value)


def test_what_no_value_cures(changes):
    assert (
        changes["mem_bandwidth"].value is None
        and "at any batch and number of replicas" in changes["mem_bandwidth"].text()
    )
