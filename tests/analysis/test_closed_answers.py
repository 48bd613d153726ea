"""Every answer in SymPy is the number it stands for: named thresholds for models of all kinds, and equations that are in no book."""

import pytest

from tools.closed_answers import EQUATIONS, random_answers, tallies


@pytest.mark.full
@pytest.mark.parametrize("model", ["llama-3-8b", "deepseek-v2-lite"])
def test_named_thresholds(model):
    """The check itself is in :func:`tallies`; nearly every question has a formula, and each kind of model asks some forty."""
    found = tallies(model).values()
    closed, numeric = (
        sum(tally.closed for tally in found),
        sum(tally.numeric.total() for tally in found),
    )
    assert closed > 60 and closed > 1.5 * numeric
    assert sum(tally.pieces for tally in found) > 60


@pytest.mark.full
def test_equations_that_are_in_no_book():
    found = random_answers(EQUATIONS)
    assert (
        found["closed and in symbols"] > 7
        and found["closed"] > 20
        and found["never and in symbols"] > 7
    )
