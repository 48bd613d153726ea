"""``symroof list models``: what a token makes active, counted from the operators that hold parameters."""

import pytest

from symroof.cli.list_command import models
from symroof.theory import theory as theories


def test_active_parameters_are_counted_without_a_theory_of_latencies(monkeypatch):
    """Mixtral 8x7B: all but six of the eight experts of each of 32 layers, three matrices of 4,096 x 14,336 each, and the table of 32,000 rows that is gathered."""
    monkeypatch.setattr(theories, "_theory", lambda *_: pytest.fail("built the whole theory"))
    mixtral = next(row for row in models() if row["name"] == "mixtral-8x7b")
    assert mixtral["active_params"] == 46_702_792_704 - 32 * 6 * 3 * 4096 * 14336 - 32_000 * 4096
