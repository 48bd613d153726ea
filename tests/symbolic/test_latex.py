"""LaTeX that a typesetter accepts: balanced, every name spelled, never two superscripts on one sign."""

import re
from fractions import Fraction
from functools import cache

import pytest
from hypothesis import assume, given

from symroof.specs import catalogue
from symroof.specs.fields import build
from symroof.specs.model import ModelSpec
from symroof.symbolic.printing import latex, number_latex
from symroof.symbolic.reading import FormulaError, parse, written
from symroof.theory.quantities import QUANTITIES
from symroof.theory.switches import SWITCHES
from symroof.theory.switches import assume as assumptions
from symroof.theory.symbols import INPUTS
from symroof.theory.theory import theory

from .texts import with_functions

COMMANDS = {"frac", "left", "right", "cdot", "sqrt", "log", "ln", "exp", "sum", "max", "min", "lceil", "rceil", "lfloor", "rfloor", "le", "ge", "text", "operatorname", "mathrm", "vert",
            "alpha", "beta", "eta", "gamma", "kappa", "lambda", "sigma", "varphi", "Phi", "Psi", "phi", "psi", "mu", "rho", "tau", "theta", "pi", "omega", "delta", ","}  # fmt: skip


def balanced(shown):
    depth = 0
    for sign in re.findall(r"\\.|[{}]", shown):
        depth += {"{": 1, "}": -1}.get(sign, 0)
        assert depth >= 0, shown
    assert depth == 0, shown
    assert shown.count(r"\left") == shown.count(r"\right"), shown


def group_end(shown, start):
    """Where the group, command or sign that begins at ``start`` ends."""
    if shown[start] == "{":
        depth, at = 0, start
        while True:
            depth += {"{": 1, "}": -1}.get(shown[at], 0)
            at += 1
            if depth == 0:
                return at
    if command := re.match(r"\\(?:[A-Za-z]+|.)", shown[start:]):
        return start + command.end()
    return start + 1


def scripts(shown):
    """Every run of superscripts and subscripts on one sign, such as ``^_``; the inside of groups too."""
    at, run = 0, ""
    while at < len(shown):
        sign = shown[at]
        if sign in "^_":
            run += sign
            at += 1
            continue
        end = group_end(shown, at)
        if sign == "{":
            yield from scripts(shown[at + 1 : end - 1])
        at = end
        if at >= len(shown) or shown[at] not in "^_":
            yield run
            run = ""
    yield run


@cache
def typesets(shown):
    balanced(shown)
    for run in scripts(shown):
        assert run.count("^") <= 1, f"double superscript in {shown}"
        assert run.count("_") <= 1, f"double subscript in {shown}"
    assert set(re.findall(r"\\([A-Za-z]+|,)", shown)) <= COMMANDS, shown


def test_the_scanner_sees_what_latex_refuses():
    for wrong in ("a^{2}^{3}", "10^{7}^{n}", "{a_b}_c_d", r"\frac{a^2^3}{b}"):
        with pytest.raises(AssertionError):
            typesets(wrong)
    for right in (
        "a^{2}_{3}",
        "{a^{2}}^{3}",
        r"\left(10^{7}\right)^{n}",
        r"\frac{a_1}{b_1}",
        r"\sum_{j=1}^{4} j",
        r"t^{c}_{\mathrm{prefill}}",
    ):
        typesets(right)


@given(with_functions)
def test_any_formula_typesets_and_spells_its_names(source):
    try:
        tree = parse(source)
    except FormulaError:
        assume(False)
    for printed in (
        latex(tree, lambda name: rf"\mathrm{{{name.upper()}}}"),
        latex(written(source), lambda name: rf"\mathrm{{{name.upper()}}}", as_written=True),
    ):
        typesets(printed)
        assert not re.search(r"prompt|x1", printed)


@pytest.mark.sample(5)
@pytest.mark.parametrize("source", ["1e7**a", "(3/2000)**a", "(1/3)**a", "(0-2)**a", "a**b**a", "(a**b)**2", "(a/b)**2", "(a*b)**2", "(a + b)**-2", "sum(a**j, j, 1, a)**2",
                                    "max(a, b)**2", "1e7*1e-7*a", "2*a*3e9", "itl(context = a + 1)", "largest(one = a, two = b)", "a <= 2*b"])  # fmt: skip
def test_powers_and_numbers_typeset(source):
    typesets(latex(parse(source), str))


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


def test_the_square_of_any_sign_typesets():
    """A sign with a superscript of its own needs brackets before it is raised."""
    for name in (*INPUTS, *QUANTITIES):
        typesets(latex(parse(f"{name}**2"), theory().latex))


def spelled(built):
    for name, tree in built.definitions.items():
        yield name, f"{built.latex(name)} = {latex(tree, built.latex)}"


def words(shown):
    """What stands as text of several letters outside commands, mathrm and text."""
    bare = re.sub(r"\\(?:mathrm|text|operatorname)\{[^{}]*\}", " ", shown)
    return re.findall(r"(?<![\\A-Za-z])[A-Za-z]+_[a-z]{2,}|[a-z]+_[a-z]+_", bare)


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("switch", "value"),
    [(name, value) for name, switch in SWITCHES.items() for value in switch.values],
)
def test_every_definition_typesets(switch, value):
    for name, shown in spelled(theory(assumptions=assumptions(**{switch: value}))):
        typesets(shown)
        assert not words(shown), name
        assert not any(raw in shown for raw in INPUTS if "_" in raw), name


@pytest.mark.parametrize("model", ["gemma-2-9b", "gemma-3-1b", "gpt2", "phi-3-mini-4k"])
def test_every_definition_of_a_model_typesets(model):
    for name, shown in spelled(
        theory(build(catalogue.find("models", model), ModelSpec).architecture())
    ):
        typesets(shown)
        assert not any(raw in shown for raw in INPUTS if "_" in raw), name


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("3.35e12", r"3.35 \cdot 10^{12}"),
        ("1/3", r"\frac{1}{3}"),
        ("0.5", "0.5"),
        ("-1/3", r"\frac{-1}{3}"),
        ("4096", "4096"),
    ],
)
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
