"""Elementary functions and constants of SymPy, and ``log`` and ``pi`` in the grammar of text, at every door where they have a value."""

import math

import numpy as np
import pytest
import sympy
from sympy import pi

import symroof as sr
from symroof import symbols as s
from symroof.symbolic.printing import text
from symroof.symbolic.reading import FormulaError, parse

STUDY = sr.Study("llama-3-8b", "h100-sxm", prompt=1024, batch=8)
BATCH = s.batch

VALUES = [  # an expression over the batch, and Python's own function of it
    (sympy.sin(BATCH), math.sin),
    (sympy.atan2(BATCH, 3), lambda b: math.atan2(b, 3)),
    (sympy.erf(BATCH / 10), lambda b: math.erf(b / 10)),
    (sympy.gamma(BATCH / 3), lambda b: math.gamma(b / 3)),
    (sympy.factorial(BATCH), lambda b: math.gamma(b + 1)),
    (sympy.Mod(-BATCH, 3), lambda b: -b % 3),
    (sympy.sign(5 - BATCH), lambda b: float(np.sign(5 - b))),
    (sympy.Abs(5 - BATCH), lambda b: abs(5 - b)),
    (sympy.log(BATCH), math.log),
    (sympy.log(BATCH, 10), math.log10),
    (pi * BATCH, lambda b: math.pi * b),
    (sympy.EulerGamma * BATCH, lambda b: 0.5772156649015329 * b),
]


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("expression", "function"), VALUES, ids=[str(expression) for expression, _ in VALUES]
)
def test_value_and_arrays(expression, function):
    assert STUDY.value(expression) == pytest.approx(function(8), rel=1e-14)
    batches = np.array([1.0, 4.0, 8.0, 11.0])
    assert sr.compile(expression, [BATCH], study=STUDY)(batches) == pytest.approx(
        [function(batch) for batch in batches], rel=1e-12
    )


SLOPES = [
    (sympy.sin(BATCH) * BATCH, 8),
    (sympy.erf(BATCH / 10), 8),
    (sympy.gamma(BATCH / 30), 8),
    (sympy.log(BATCH), 8),
    (sympy.atan2(BATCH, 3), 8),
]


@pytest.mark.parametrize(("expression", "at"), SLOPES, ids=str)
def test_slopes(expression, at):
    """SymPy's own derivative, and that of a quantity within the function by differences."""
    assert STUDY.value(sympy.diff(expression, BATCH)) == pytest.approx(
        float(sympy.diff(expression, BATCH).subs(BATCH, at))
    )
    within = expression.xreplace({BATCH: 1000 * s.itl / s.ttft})
    case = {"model": "llama-3-8b", "hardware": "h100-sxm", "prompt": 1024, "batch": 8}
    below, above = (
        sr.Study(**case, mem_bandwidth=335e10 + step).value(within) for step in (-1e6, 1e6)
    )
    slope = STUDY.value(sympy.diff(within, s.mem_bandwidth))
    assert slope == pytest.approx((above - below) / 2e6, rel=1e-6)


def test_over_ranges_what_goes_up_and_down_is_looked_at_between():
    """The sine of 1 to 2 is largest in between, where the quarter of a circle lies."""
    number = sr.Study("llama-3-8b", "h100-sxm", prompt=1024, mbu="0.2..0.9").value(
        sympy.sin(pi * s.mbu)
    )
    assert number.high == pytest.approx(1, rel=1e-3) and number.low == pytest.approx(
        math.sin(0.9 * math.pi)
    )


def test_where_there_is_no_real_value_it_says_so():
    for expression in (sympy.asin(BATCH), sympy.gamma(8 - BATCH), sympy.log(8 - BATCH)):
        with pytest.raises(sr.InputError, match="has no value here"):
            STUDY.value(expression)
    assert np.isnan(
        sr.compile([sympy.asin(BATCH), sympy.gamma(8 - BATCH)], [BATCH], study=STUDY)([8.0])
    ).all()


def test_a_function_that_nobody_knows_is_named():
    class Mine(sympy.Function):
        pass

    for expression in (sympy.Function("f")(BATCH), Mine(BATCH)):
        with pytest.raises(sr.InputError, match="has no meaning here"):
            STUDY.value(expression)


# -------------------------------------------------------------------------------------------------------------------- text


def test_log_and_pi_in_text():
    assert STUDY.solve("2*pi*batch = log(prompt)", "batch").value == pytest.approx(
        math.log(1024) / (2 * math.pi)
    )
    assert text(parse("log(2*a)/pi")) == "log(2*a)/pi"
    study = sr.Study("llama-3-8b", "h100-sxm", prompt=1024).define("nats", "log(prompt)/pi")
    assert study.value("nats") == pytest.approx(math.log(1024) / math.pi)
    assert study.sympy("nats") == sympy.log(s.prompt) / pi
    with pytest.raises(sr.InputError, match="a reserved word of studies and formulas"):
        study.define("pi", "3")


def test_text_has_no_more_functions_than_that():
    for name in ("sin", "erf", "Mod"):
        with pytest.raises(FormulaError, match=f"unknown function '{name}'"):
            parse(f"{name}(batch)")
