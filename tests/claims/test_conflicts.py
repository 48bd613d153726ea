"""Claims that contradict each other: on judgements made by hand."""

import pytest

from symroof.claims.checked import Checked
from symroof.claims.related_claims import with_conflict
from symroof.errors import InputError
from symroof.specs.claims import ClaimSpec

# ------------------------------------------------------------------------------------------------------- contradictions


def claim(value, other=None, unit="byte", derived="", **fields):
    spec = ClaimSpec(
        id=fields.pop("id", "a"), quantity="weight_bytes", value=value, conflicts_with=other
    )
    return Checked(spec, fields.pop("verdict", "wrong"), value, derived, unit=unit, **fields)


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("one", "two", "reason"),
    [
        (claim("3 GB", "b"), claim("4 GB", id="b"), "3 GB here and 4 GB in b cannot both be right"),
        (claim("3 GB", "b", derived="3.5 GB"), claim("4 GB", id="b"), "3 GB here and 4 GB in b cannot both be right; derived 3.5 GB"),
        (claim("3 GB", "b"), claim("3.4 GB", id="b"), None),  # to the digit of the coarser one
        (claim("3 GB", "b"), claim("3.6 GB", id="b"), "3 GB here and 3.6 GB in b cannot both be right"),
        (claim("3 GB", "b", unit=""), claim("4 GB", id="b", unit=""), "3 GB here and 4 GB in b cannot both be right"),
        (claim("3 GB", "b", unit=""), claim("4 s", id="b", unit=""), None),
        (claim("3", "b", unit=""), claim("4", id="b", unit=""), "3 here and 4 in b cannot both be right"),
        (claim("compute", "b", unit=""), claim("memory", id="b", unit=""), "compute here and memory in b cannot both be right"),
        (claim("3 GB"), claim("4 GB", id="b"), None),
        (claim("3 GB", "b"), claim("4 s", id="b", unit="s"), None),
        (claim("", "b"), claim("4 GB", id="b"), None),
        (claim("3 GB", "b", error=InputError("x")), claim("4 GB", id="b"), None),
    ],
)  # fmt: skip
def test_claims_that_cannot_both_be_right(one, two, reason):
    settled = with_conflict(one, {each.claim.id: each for each in (one, two)})
    assert (settled.verdict, settled.reason) == (
        ("inconsistent", reason) if reason else (one.verdict, one.reason)
    )


def test_a_value_that_cannot_be_read_states_nothing():
    assert claim("3 apples").number_claimed is None
    assert claim("").number_claimed is None
    assert claim("3 GB").number_claimed.number == 3 * 10**9
