"""How large a file of measurements may be: what is just allowed is read, one more is refused where it stands."""

import pytest

from symroof.calibrate.measurements import parse_measured
from symroof.errors import InputError
from symroof.theory.symbols import INPUTS

ROW = "1,2\n"
WIDE = [
    "batch",
    "itl_ms",
    *(
        name
        for name, symbol in INPUTS.items()
        if symbol.unit in ("", "token", "request", "device") and name != "batch"
    ),
]
"""More than 64 columns of bare numbers."""


def refused(text):
    with pytest.raises(InputError) as error:
        parse_measured(text)
    (problem,) = error.value.problems
    return problem.message, problem.line


def test_a_thousand_rows():
    assert len(parse_measured("batch,itl_ms\n" + ROW * 1000)) == 1000
    assert refused("batch,itl_ms\n# a comment\n" + ROW * 1001) == (
        "has 1,001 rows; at most 1,000 are read",
        1003,
    )


def test_sixty_four_columns():
    def table(columns):
        return f"{','.join(WIDE[:columns])}\n{','.join('1' * columns)}\n"

    assert len(parse_measured(table(64))[0].inputs) == 63
    assert refused(table(65)) == ("has 65 columns; at most 64 are read", 1)


def test_lines_of_four_thousand_characters():
    assert len(parse_measured(f"batch,itl_ms\n1,{'2'.rjust(4094)}\n")) == 1
    assert refused(f"batch,itl_ms\n1,{'2'.rjust(4095)}\n") == (
        "the line is longer than 4,096 characters",
        2,
    )
