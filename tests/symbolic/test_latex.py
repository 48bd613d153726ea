"""LaTeX that a typesetter accepts: balanced, every name spelled, never two superscripts on one sign."""

from fractions import Fraction

import pytest

from symroof.symbolic.printing import latex, number_latex
from symroof.symbolic.reading import parse, written


@pytest.mark.parametrize(
    ("source", "bad"),
    [
        ("(1/3)**a", r"\frac{1}{3}^{a}"),
        ("1e7**a", r"10^{7}^{a}"),
        ("2*3e9*a", "23"),
        ("a*1e9", "a1"),
    ],
)
def test_what_would_be_misread(source, bad):
    assert bad not in latex(parse(source), str)


NUMBERS = {"3.35e12": r"3.35 \cdot 10^{12}", "1/3": r"\frac{1}{3}", "0.5": "0.5", "4096": "4096"}
NUMBERS["-1/3"] = r"\frac{-1}{3}"


@pytest.mark.parametrize(("value", "shown"), NUMBERS.items())
def test_numbers(value, shown):
    assert number_latex(Fraction(value)) in (shown, shown.replace(r"\frac{-1}", r"-\frac{1}"))


UNITED = {
    "0.5 s + 0.003 s*a": r"0.5\,\mathrm{s} + 0.003\,\mathrm{s} \cdot a",
    "a*(3 s)": r"3\,\mathrm{s} \cdot a",
    "b/(3.35 TB/s)": r"\frac{b}{3.35\,\mathrm{TB/s}}",
    "(a + b)/(2 byte) - 3 ms": r"\frac{a + b}{2\,\mathrm{byte}} - 3\,\mathrm{ms}",
    "2 FLOP*a*b": "2 a b",
}
"""Of work the unit goes without saying among factors, as in every definition."""


@pytest.mark.parametrize("source", UNITED)
def test_a_number_has_its_unit(source):
    assert latex(written(source), str, as_written=True) == UNITED[source]


def test_a_measured_number_is_bracketed_under_an_exponent():
    assert latex(written("(3 s)**2"), str, as_written=True) == r"\left(3\,\mathrm{s}\right)^{2}"
