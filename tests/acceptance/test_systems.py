"""All sixty systems from the command line: every row of ``tools/docs/pages/validation/systems.yaml`` prints the number worked out by hand."""

from fractions import Fraction

import pytest
import yaml

from tools.docs import tables

from . import held

ROWS = list(
    tables.rows(
        yaml.load(
            (tables.PAGES / "validation" / "systems.yaml").read_text(encoding="utf-8"),
            yaml.BaseLoader,
        )
    )
)


def agrees(row):
    """A word for word; a number to its digits, or as the whole number that a crossing allows."""
    if not any(map(str.isdigit, row.expected)):
        return row.value == row.expected
    number, half = held(row.expected)
    return abs(Fraction(row.value) - number) <= half or number in row.whole.values()


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.number}: {row.what}")
def test_a_row_prints_the_number_worked_out_by_hand(row):
    assert agrees(row), f"{row.command}: {row.printed}, by hand {row.expected}"
