"""Sums written out, against loops."""

from fractions import Fraction

import pytest

from symroof.formula.evaluate import evaluate
from symroof.formula.parse import parse
from symroof.formula.tree import names
from symroof.solver.rational import NotRational, closed_sum


class Numbers(dict):
    value = dict.__getitem__


NUMBERS = Numbers(
    a=Fraction(2), b=Fraction(-7, 3), c=Fraction(5), first=Fraction(3), last=Fraction(11)
)


@pytest.mark.parametrize(
    "body",
    [
        "c",
        "i",
        "a*i + c",
        "i^2",
        "a*i^2 + b*i + c",
        "(i - 4)*(b*i + 1)",
        "(a*i + i^2)/c",
        "i^2/(a + c)",
    ],
)
def test_up_to_the_square_of_its_index(body):
    written = closed_sum(parse(body), "i", parse("first"), parse("last"))
    assert "i" not in names(written)
    assert evaluate(written, NUMBERS) == sum(
        evaluate(parse(body), Numbers(NUMBERS, i=Fraction(i))) for i in range(3, 12)
    )


@pytest.mark.parametrize("body", ["i^3", "c/i", "a + b/(i + 1)", "i*(i + 1)*(i + 2)"])
def test_no_further(body):
    with pytest.raises(NotRational):
        closed_sum(parse(body), "i", parse("first"), parse("last"))
