"""Small parts of reading claims: the unit in a column's head, and whether two written values can be one."""

import pytest

from symroof.claims.conflicts import compatible
from symroof.claims.read.tables import Cell, Table
from symroof.claims.read.written_number import LONGEST, read_written

HEADS = {
    "KV cache (GB)": "GB", "time, ms": "ms", "rate (token/s)": "token/s", "ITL (ms per layer)": "ms", "batch (requests)": "request", "(%)": "%", "GB": "GB",
    "speedup (x)": "", "x (x of it)": "", "words": "", "size (GB today)": "", "latency (ms, p50)": "",
}  # fmt: skip


@pytest.mark.parametrize("head", HEADS)
def test_the_unit_of_a_column(head):
    """A unit alone, or one of something; a factor is none, and neither is a unit among other words."""
    assert Table((Cell(0, head),), (), 0).unit(0) == HEADS[head]


@pytest.mark.parametrize(
    ("one", "two", "same"),
    [
        ("20-30", "25", True), ("20-30", "22", True), ("20-30", "28", True), ("20-30", "31", False), ("20-30", "30.4", True), ("20-30", "19", False), ("20-30", "18.9", False), ("24", "23.5", True),
        ("24", "23.4", False), ("24", "24.6", False), ("< 5", "4", True), ("< 5", "6", False), ("> 5", "6", True), ("> 5", "4", False), ("> 5", "< 4", False),
        ("> 5", "< 6", True), ("< 5", "< 2", True), ("about 5", "5.4", True), ("5", "compute", False), ("compute", "compute", True), ("compute", "memory", False),
    ],
)  # fmt: skip
def test_two_values_are_one_as_far_as_their_digits_go(one, two, same):
    """24 stands for 23.5 to 24.5; a bound for everything on its side."""
    written = (read_written(one, ""), read_written(two, ""))
    assert compatible(*written) is compatible(*reversed(written)) is same


def test_a_value_is_no_longer_than_it_may_be():
    assert read_written("compute" + "x" * (LONGEST - 7), "").word
    with pytest.raises(ValueError, match=f"at most {LONGEST} characters"):
        read_written("compute" + "x" * (LONGEST - 6), "")
