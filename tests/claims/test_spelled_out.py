"""Arithmetic in prose and the fields of an annotation, piece by piece: what is one, what comes out, and which fault stands where."""

import pytest

from symroof.claims.spelled_arithmetic import equations

RIGHT, WRONG, NONE = True, False, None
ARITHMETIC = [
    ("6 × 70.6B × 2,000 = 282", WRONG, "847"),
    ("141 GB + 43 GB = 184 GB", RIGHT, "184"),
    ("141 GB + 43 GB = 194 GB", WRONG, "184"),  # 5.2 % off
    ("16 GB = 8B × 2 bytes", RIGHT, "16"),
    ("100 - 20 = 80", RIGHT, "80"),
    ("50-100 ms × 2 = 200", NONE, ""),  # a range
    ("(2 + 3) × 4 = 20", RIGHT, "20"),
    ("2 + 3) × 4 = 20", NONE, ""),
    ("141 GB / 80 GB = 2 GPUs", RIGHT, "1.8"),  # a whole number, up or down
    ("141 GB / 80 GB = 3 GPUs", WRONG, "1.8"),
    ("140 GB × 8 = 1,120 Gbit", RIGHT, "1,120"),
    ("4096 × 320 KiB = 1.25 GiB", RIGHT, "1.25"),
    ("1 GB / 2 GB/s = 500 ms", RIGHT, "500"),
    ("2 × 3.0 ≈ 6.31", RIGHT, "6"),
    ("n × 80 × 2 = 320", NONE, ""),
    ("2 × 3 = 6 × n", NONE, ""),
    ("2^3 × 4 = 30", NONE, ""),
    ("a*2 × 3 = 7", NONE, ""),
    ("2 × 3", NONE, ""),
    ("1" + " × 1" * 13 + " = 2", NONE, ""),  # more than a dozen numbers
    ("1" + " × 1" * 10 + " = 2", WRONG, "1"),
    ("100 × 1 = 106 GPUs", WRONG, "100"),
    # bits and bytes
    ("100 bytes × 1 = 840 bit", RIGHT, "800"),
    # digits that may have been rounded, on either side; a whole number is exact
    ("1.0 × 2.0 = 2.13", RIGHT, "2"),  # 6.1 % off, where 5 and 2.5 and 0.2 % may have been rounded
    ("1.0 × 2.0 = 2.18", WRONG, "2"),
    # whole results of a division, of what is counted
    ("9 GB / 4 GB = 3 requests", RIGHT, "2.2"),
    ("10 / 4 tokens = 3", RIGHT, "2.5"),
    # powers of a thousand are no fault, whichever side has more
    ("6 × 70 = 420,000", RIGHT, "420,000"),
]


@pytest.mark.sample(20)
@pytest.mark.parametrize(("text", "follows", "right"), ARITHMETIC)
def test_whether_it_comes_out(text, follows, right):
    assert [(one.follows, one.right) for one in equations(text)] == (
        [(follows, right)] if follows is not NONE else []
    )


def test_the_length_of_what_is_looked_through():
    text = "2 × 3 = 7 "
    assert len(equations(text.ljust(20_000))) == 1
    assert equations(text.ljust(20_001)) == []
