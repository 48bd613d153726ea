"""MathML of what symroof prints, held against latex2mathml, which reads all of LaTeX."""

import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from latex2mathml.converter import convert

from symroof.formula.latex import latex
from symroof.formula.tree import Total, walk
from symroof.report.markup import html_math
from symroof.report.mathml import NotPrinted, mathml
from symroof.theory.quantities import QUANTITIES
from symroof.theory.symbols import INPUTS
from symroof.theory.theory import theory

PARTS = (
    "a", "P", "12", "0.5", "+", "-", "=", "(", ")", "|", ",", "/", "<", r"\cdot", r"\le ", r"\ge ", r"\max", r"\min", r"\log_2", r"\eta_c", r"\Phi", r"\_",
    r"\,", r"\ ", r"\mathrm{s}", r"\mathrm{TFLOP/s}", r"\mathrm{billion\ parameters}", r"\text{0.5 to 0.7 ms}", r"\text{}", "t^{r}_{x}", "x_2", "10^{-3}", "{}",
)  # fmt: skip
AROUND = ("%s", "{%s}", r"\frac{%s}{2}", r"\frac{1}{%s}", r"\sqrt{%s}", r"\left(%s\right)", r"\left\lceil %s \right\rceil", r"\left. %s \right|_{b}", "x_{%s}", "y^{%s}")  # fmt: skip


def formulas():
    """The names and definitions of everything, as a review prints them; sums have limits of their own kind."""
    known = theory()
    for name in (*INPUTS, *QUANTITIES):
        yield known.latex(name)
    for name in known.definitions:
        tree = known.definition(name)
        if not any(isinstance(node, Total) for node in walk(tree)) and QUANTITIES[name].unit != "label":
            yield latex(tree, known.latex)


def printed():
    return [text for text in dict.fromkeys(formulas()) if r"\operatorname" not in text]


@pytest.mark.parametrize("display", ["inline", "block"])
def test_every_name_and_definition_is_written_as_the_library_writes_it(display):
    texts = printed()
    assert len(texts) > 250
    for text in texts:
        text = text.replace(r"\vert", "|")
        assert mathml(text, display) == convert(text, display=display), text


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(AROUND), st.lists(st.sampled_from(PARTS), min_size=1, max_size=4)), min_size=1, max_size=4))
def test_any_formula_of_the_printed_parts_is_written_as_the_library_writes_it(shapes):
    text = " ".join(around % " ".join(parts) for around, parts in shapes)
    try:
        ours = mathml(text)
    except NotPrinted:
        return
    assert ours == convert(text), text


@pytest.mark.parametrize(
    "text",
    [r"\sum_{i=1}^{n} x", r"\begin{matrix}a\end{matrix}", "a'", "x_{a}_{b}", r"\frac12", r"a % b", "2 mm", r"\left(a", "{a", r"\foo", r"\text{a < b}", "_a"],
)
def test_what_is_not_printed_is_left_to_the_library(text):
    with pytest.raises(NotPrinted):
        mathml(text)


def test_a_sum_is_still_written():
    assert "<munderover><mo>&#x02211;</mo>" in html_math(r"\sum_{i=1}^{n} x", "block")


def test_a_review_in_html_needs_no_library():
    study = "specs/studies/llama-3-8b-chat.yaml"
    code = f"import sys; from symroof.cli.main import main; main(['report', {study!r}, '--format', 'html', '-o', '-']); sys.exit('latex2mathml' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode == 0
