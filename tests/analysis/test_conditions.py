"""The times that closed forms compare: each formula is the time of the step that its name says."""

import pytest

from symroof.analysis.closed_branches import EquationForms
from symroof.api import Study
from symroof.symbolic.printing import text
from symroof.symbolic.reading import parse

CASE = {"model": "llama-3-8b", "hardware": "h100-sxm", "prompt": 1000, "output": 200, "batch": 6}


def forms(answers):
    return EquationForms(parse("itl = 1 s"), "batch", answers, symbolic=True)


@pytest.mark.parametrize(
    ("name", "context"),
    [("", 1000), ("(context = prompt + 1)", 1001), ("(context = prompt + response_steps)", 1199)],
)
@pytest.mark.parametrize("kind", ["compute", "memory"])
def test_the_first_and_the_last_step_of_a_response(name, context, kind):
    """Of 200 tokens the prefill makes the first: steps 1 to 199 follow, at contexts of 1001 to 1199 tokens, whatever the context of the case is."""
    answers = Study(**CASE).first
    by_name = {text(tree): formula for formula, tree in forms(answers).times_compared.items()}
    formula = by_name[f"decode_{kind}_time{name}"]
    value = answers.case.evaluate(formula)
    there = Study(**CASE, context=context).value(f"decode_{kind}_time")
    assert value == pytest.approx(float(there), rel=1e-12)


def test_times_that_neither_the_unknown_nor_the_context_moves_are_left_alone():
    names = [text(tree) for tree in forms(Study(**CASE).first).times_compared.values()]
    assert "decode_compute_time" in names and not any(name.startswith("prefill") for name in names)
