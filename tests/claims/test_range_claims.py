"""Claims throughout a range of one input, held against every whole number of it."""

import itertools

import pytest

from symroof.claims.check import check_text
from symroof.claims.judge import judge
from symroof.specs.claims import ClaimSpec
from tests.tables import table

RELATIONS = {
    "batch > 6": lambda n: n > 6,
    "batch >= 6": lambda n: n >= 6,
    "batch < 6": lambda n: n < 6,
    "batch <= 6": lambda n: n <= 6,
    "2*batch > 13": lambda n: 2 * n > 13,
    "batch^2 >= 36": lambda n: n * n >= 36,
    "batch*(14 - batch) > 40": lambda n: n * (14 - n) > 40,  # from 5 to 9
    "batch*(14 - batch) >= 40": lambda n: n * (14 - n) >= 40,  # from 4 to 10
    "batch*(14 - batch) < 40": lambda n: n * (14 - n) < 40,
}


def judged(relation, span, value, name="batch"):
    return judge(
        ClaimSpec(
            id="x", relation=relation, given={"prompt": 100}, for_all={name: span}, value=value
        )
    )


@pytest.mark.sample(5)
@pytest.mark.parametrize("value", [True, False])
@pytest.mark.parametrize("relation", RELATIONS)
def test_the_stretches_are_those_of_every_whole_number(relation, value):
    """Where a claim turns at a whole number exactly, that number is on one side of it."""
    failing = [n for n in range(1, 13) if RELATIONS[relation](n) is not value]
    runs = [
        [n for _, n in run]
        for _, run in itertools.groupby(enumerate(failing), lambda item: item[1] - item[0])
    ]
    claim = judged(relation, "1..12", value)
    words = ", ".join(f"not for batch {run[0]} to {run[-1]}" for run in runs)
    assert (claim.verdict, claim.reason) == (
        "conditional",
        f"holds in only part of the range: {words}",
    )


ENDS = """
# the end of a stretch of a share is the crossing itself
mfu > 1/2 | 0.25..1 | True | not for mfu 0.25 to 0.5
mfu > 1/2 | 0.25..1 | False | not for mfu 0.5 to 1
mfu > 1/3 | 0.25..1 | False | not for mfu 0.333333 to 1
# near an end of the range
batch < 100 | 1..100 | True | not for batch 100 to 100
batch > 3000 | 1000..4000 | False | not for batch 3,001 to 4,000
"""


@pytest.mark.parametrize(("relation", "span", "value", "words"), table(ENDS))
def test_where_a_stretch_ends(relation, span, value, words):
    found = judged(relation, span, value == "True", relation.split()[0])
    assert found.reason == f"holds in only part of the range: {words}"


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("verdict", "value"),
    table("""
conditional | 30 ms
conditional | 15 ms
conditional | 62.2 ms
rounded | 33.9 ms
wrong | 300 ms
wrong | 5 ms
"""),
)
def test_a_number_of_a_case_of_ranges(verdict, value):
    """From 7.29 to 62.2 ms, 33.9 ms in the middle: what lies within was wrong and impossible, and written over by the middle."""
    note = f"It takes {value}. <!-- symroof: ttft model=llama-3-8b hardware=h100-sxm prompt=512..4096 -->"
    (claim,) = check_text(note, "note.md").claims
    assert claim.verdict == verdict
    assert claim.assumptions_needed == (
        ("some prompt of 512..4096",) if verdict == "conditional" else ()
    )
    assert "roof" not in claim.reason and ("7.2940 ms to 62.234 ms" in claim.reason) is (
        verdict not in ("rounded",)
    )
