"""Constructors: what they fold and merge, by hand."""

import pytest

from symroof.formula import build
from symroof.formula.parse import parse
from symroof.formula.text import text
from symroof.formula.tree import Div, Num


@pytest.mark.parametrize(
    ("terms", "merged"),
    [
        (("k*C", "-k*C/2"), "k*C/2"),
        (("k*C/3", "k*C/6"), "k*C/2"),
        (("C/2", "C/2"), "C"),
        (("a", "C/2", "-3*C/2"), "a - C"),
        (("C/2", "-C/2"), "0"),
        (("a/b", "a/(2*b)"), "a/b + a/(2*b)"),
    ],
)
def test_halves_are_like_terms(terms, merged):
    assert text(build.add(*map(parse, terms))) == merged


def test_a_division_by_zero_stays_one():
    nothing = Num(parse("0").value)
    assert build.div(parse("2"), nothing) == Div(parse("2"), nothing)
