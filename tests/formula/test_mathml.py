"""MathML of formulas: well formed, every element with the parts it takes, and sign for sign what the LaTeX says, read in another way."""

import re
import unicodedata
from fractions import Fraction
from xml.etree import ElementTree

import pytest
from hypothesis import assume, given

from symroof.formula.latex import latex
from symroof.formula.mathml import mathml, measured, spelling, words
from symroof.formula.parse import FormulaError, parse
from symroof.specs import catalogue
from symroof.specs.fields import build
from symroof.specs.model import ModelSpec
from symroof.theory.quantities import QUANTITIES
from symroof.theory.switches import SWITCHES
from symroof.theory.switches import assume as assumptions
from symroof.theory.symbols import INPUTS, STEP_INDEX
from symroof.theory.theory import theory

from . import examples, with_functions

PARTS = {"mfrac": 2, "msub": 2, "msup": 2, "msubsup": 3, "munderover": 3}
ELEMENTS = {*PARTS, "mrow", "msqrt", "mi", "mn", "mo", "mtext", "mspace"}
SIGNS = {"cdot": "·", "le": "≤", "ge": "≥", "sum": "∑", "lceil": "⌈", "rceil": "⌉", "lfloor": "⌊", "rfloor": "⌋", "vert": "|", "max": "max", "min": "min", "log": "log", "exp": "exp", "ln": "ln",
         "phi": "ϕ", "varphi": "φ", ",": "", "_": "_", "%": "%"}  # fmt: skip
SILENT = {"left", "right", "frac", "sqrt", "mathrm", "text", "operatorname", "left."}


def shown(inside):
    """The signs of a MathML formula in their order; every element has what it takes."""
    root = ElementTree.fromstring(f"<math>{inside}</math>")
    for element in list(root.iter())[1:]:
        assert element.tag in ELEMENTS, element.tag
        assert len(element) == PARTS.get(element.tag, len(element)), inside
        assert not (element.text and len(element)), inside
    return re.sub(r"\s", "", "".join(root.itertext()))


def read(written):
    """The signs of a LaTeX formula in their order, subscripts before superscripts; braces and commands that only lay out are silent."""
    group = r"(\{(?:[^{}]|\{[^{}]*\})*\}|\\[A-Za-z]+|.)"
    written = re.sub(rf"\^{group}_{group}", r"_\2^\1", written)
    signs = ""
    for command, single in re.findall(r"\\(left\.|[A-Za-z]+|.)|(.)", written):
        if single:
            signs += "" if single in "{}_^ " else "−" if single == "-" else single
        elif command not in SILENT:
            size = "CAPITAL" if command[0].isupper() else "SMALL"
            signs += (
                SIGNS[command]
                if command in SIGNS
                else unicodedata.lookup(
                    f"GREEK {size} LETTER {command.replace('lambda', 'lamda').upper()}"
                )
            )
    return signs


def agree(tree, spell):
    for dots in (False, True):
        assert shown(mathml(tree, lambda name: spelling(spell(name)), dots)) == read(
            latex(tree, spell, dots)
        ), tree


def test_the_two_readers_see_the_signs():
    assert (
        read(r"\frac{2 P}{\beta_l} - \left. t^{c}_{\mathrm{decode}} \right\vert_{B = 2}")
        == "2Pβl−tdecodec|B=2"
    )
    assert (
        shown("<mfrac><mrow><mn>2</mn></mrow><mi>β</mi></mfrac><mtext>a\u00a0b</mtext>") == "2βab"
    )
    with pytest.raises(AssertionError):
        shown("<mfrac><mi>a</mi></mfrac>")


def test_every_symbol_is_printed():
    for name in (*INPUTS, *QUANTITIES, STEP_INDEX.name):
        spelled = theory().latex(name)
        assert shown(spelling(spelled)) == read(spelled), name


AGREED = set()
"""Definitions of theories without a model that were looked at: a name has one sign in all of them."""


@pytest.mark.parametrize(
    ("switch", "value"),
    [(name, value) for name, switch in SWITCHES.items() for value in switch.values],
)
def test_every_definition_is_printed(switch, value):
    built = theory(assumptions=assumptions(**{switch: value}))
    for tree in built.definitions.values():
        if tree not in AGREED:  # most definitions are those of the defaults
            agree(tree, built.latex)
            AGREED.add(tree)


@pytest.mark.parametrize("model", ["gemma-2-9b", "deepseek-v3", "gpt2"])
def test_every_definition_of_a_model_is_printed(model):
    built = theory(build(catalogue.find("models", model), ModelSpec).architecture())
    for tree in built.definitions.values():
        agree(tree, built.latex)


@examples(300)
@given(with_functions)
def test_any_formula_is_printed_in_the_order_and_with_the_brackets_of_its_latex(source):
    try:
        tree = parse(source)
    except FormulaError:
        assume(False)
    agree(tree, lambda name: {"prompt": "x^1", "x1": "x_1"}.get(name, name))


@pytest.mark.parametrize(
    "source",
    [
        "sum(a**j, j, 1, a)**2",
        "itl(context = a + 1, batch = 2)",
        "largest(one = a, two = b)",
        "a <= 2*b",
        "log2(a)*2*3",
        "exp(-a/2)*b",
        "sqrt(a/b)",
        "3e9*2",
        "(1/3)**a",
    ],
)
def test_the_other_kinds_of_nodes(source):
    agree(
        parse(source),
        lambda name: {"itl": r"\mathrm{ITL}", "context": "C", "batch": "B"}.get(name, name),
    )


def test_formulas_by_hand():
    spelled = {"n": "N", "rate": r"\lambda", "time": r"t^{c}_{\mathrm{decode}}"}

    def printed(source):
        return mathml(parse(source), lambda name: spelling(spelled[name]))

    decode = "<msubsup><mi>t</mi><mrow><mi>decode</mi></mrow><mrow><mi>c</mi></mrow></msubsup>"
    assert (
        printed("n*(n - 1)")
        == "<mi>N</mi><mrow><mo>(</mo><mi>N</mi><mo>−</mo><mn>1</mn><mo>)</mo></mrow>"
    )
    assert (
        printed("time**2")
        == f"<msup><mrow><mrow><mo>(</mo>{decode}<mo>)</mo></mrow></mrow><mrow><mn>2</mn></mrow></msup>"
    )
    assert (
        printed("-1/rate")
        == '<mfrac><mrow><mo form="prefix">−</mo><mn>1</mn></mrow><mrow><mi>λ</mi></mrow></mfrac>'
    )
    assert (
        printed("5e12*n")
        == "<mn>5</mn><mo>·</mo><msup><mn>10</mn><mrow><mn>12</mn></mrow></msup><mi>N</mi>"
    )
    assert (
        printed("2*3**n")
        == "<mn>2</mn><mo>·</mo><msup><mrow><mn>3</mn></mrow><mrow><mi>N</mi></mrow></msup>"
    )
    assert (
        printed("ceil(n/2) <= n")
        == "<mrow><mo>⌈</mo><mfrac><mrow><mi>N</mi></mrow><mrow><mn>2</mn></mrow></mfrac><mo>⌉</mo></mrow><mo>≤</mo><mi>N</mi>"
    )


def test_values_and_words():
    assert measured("3.35", "TB/s") == '<mn>3.35</mn><mspace width="0.167em"/><mtext>TB/s</mtext>'
    assert measured("-2", "") == '<mo form="prefix">−</mo><mn>2</mn>'
    assert words("a < b & c") == "<mtext>a\u00a0&lt;\u00a0b\u00a0&amp;\u00a0c</mtext>"
    assert mathml(parse("a"), {"a": words("x")}.get) == words("x")
    assert shown(mathml(parse("-a"), {"a": measured(str(Fraction(1, 2)), "")}.get)) == "−12"


@pytest.mark.parametrize(
    "wrong",
    [
        r"\frac{a}{b}",
        r"a'",
        "x_{a}_{b}",
        r"\foo",
        "{a",
        "a}",
        "x_",
        "^a",
        "a b$",
        r"\mathrm{a{b}}",
        "<b>",
        r"\left(a",
    ],
)
def test_what_no_name_is_spelled_with_is_refused(wrong):
    with pytest.raises(ValueError, match="spelled|two scripts"):
        spelling(wrong)


def test_a_script_without_braces_takes_one_digit_as_in_latex():
    assert spelling("x_12") == "<msub><mi>x</mi><mn>1</mn></msub><mn>2</mn>"


def test_a_number_has_its_unit():
    assert (
        mathml(parse("0.5 s + 3 s*x"), lambda name: f"<mi>{name}</mi>")
        == f"{measured('0.5', 's')}<mo>+</mo>{measured('3', 's')}<mo>·</mo><mi>x</mi>"
    )
