"""The 307 claims of the five sources: judged by derivation, held against what a reader made of them by hand."""

from collections import Counter
from functools import cache
from pathlib import Path

import pytest
import yaml

from symroof.claims.check import check

ROOT = Path(__file__).resolve().parent.parent.parent
FILES = sorted((ROOT / "specs" / "claims").glob("seed-*.yaml"))
BY_HAND = yaml.safe_load(
    (ROOT / "tests" / "data" / "source_verdicts.yaml").read_text(encoding="utf-8")
)


@cache
def judged():
    return {claim.id: claim for claim in check([str(path) for path in FILES]).claims}


@pytest.mark.full
def test_the_verdict_is_that_of_the_reader_or_the_difference_is_explained():
    differing = {
        name: f"{judged()[name].verdict}: {judged()[name].reason}"
        for name, verdict in BY_HAND["verdicts"].items()
        if judged()[name].verdict != verdict
    }
    assert differing.keys() == set(BY_HAND["differs"]), differing


def test_what_came_of_the_sources():
    assert (
        sum(judged()[name].verdict == verdict for name, verdict in BY_HAND["verdicts"].items())
        >= 285
    )
    assert Counter(claim.verdict for claim in judged().values())["unchecked"] <= 8
