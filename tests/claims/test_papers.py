"""The claim files of papers and books: how many of their figures hold, and that each that does not is explained."""

from pathlib import Path

import pytest

from symroof.claims.check import check
from symroof.claims.checked import HOLDS

CLAIMS = Path(__file__).parents[2] / "specs/claims"
PAPERS = {
    "scaling-book-inference": {"wrong": ["table-cache"], "conditional": ["least-step", "step"]},
    "efficiently-scaling-inference": {},
    "distserve": {"wrong": ["cache", "link"]},
    "deepseek-v4": {"wrong": ["pro-cache", "flash-cache", "flash-flops", "grouped"]},
}


@pytest.mark.full
@pytest.mark.parametrize("paper", PAPERS)
def test_what_does_not_hold_is_explained(paper):
    claims = check(CLAIMS / f"{paper}.yaml").claims
    others = [claim for claim in claims if claim.verdict not in HOLDS]
    assert {
        verdict: [claim.id for claim in others if claim.verdict == verdict]
        for verdict in PAPERS[paper]
    } == PAPERS[paper]
    assert len(others) == sum(map(len, PAPERS[paper].values()))
    assert all(claim.claim.note for claim in others)
