"""Units that SymPy leaves unsaid: a number beside a quantity has its unit, and work is often written without FLOP."""

import pytest
import sympy

from symroof import symbols as s
from symroof.errors import InputError
from symroof.symbolic.dimensions import DimensionError, dimension
from symroof.symbolic.reading import parse
from symroof.theory.spellings import known, name_or_expression, read_expression
from symroof.theory.theory import theory
from symroof.units import describe

UNSAID = [  # as SymPy has it, and what it is measured in
    ("itl + 1/20", "s"),
    ("max(itl, 1/20)", "s"),
    ("itl = 1/20", ""),
    ("itl = 0", ""),
    ("of_largest(itl, 1, 2, ttft)", "s"),
    # FLOPs are numbers in what people write
    ("prefill_flops + 2*params*prompt", "FLOP"),
    ("2*params*prompt/peak_flops + itl", "s"),
    ("max(2*params*prompt, 3*params)/peak_flops + itl", "s"),
    ("(2*params/peak_flops)**2 + itl**2", "s^2"),
    # a number makes the argument of an exponential plain
    ("exp(-100*itl)", ""),
    ("2 + exp(3*itl + 7*ttft)", ""),
]
UNLIKE = [
    ("prefill_flops + 2*itl", "prefill_flops is FLOP but 2*itl is s"),
    ("prefill_flops + params*prompt", "FLOP but .* is a plain number"),
    ("kv_cache_bytes + 2*linear_flops_per_token*weight_bytes", "is byte but"),
    ("max(5*prompt, itl)", "5*prompt is a plain number but itl is s"),
    ("exp(itl)", "must be a plain number, but itl is s"),
]


@pytest.mark.parametrize(("plain", "unit"), UNSAID)
def test_a_number_has_the_unit_of_what_stands_beside_it(plain, unit):
    found = dimension(parse(plain), theory().dimension, bare=True)
    assert (describe(found) if found else "") == unit


@pytest.mark.parametrize(("plain", "why"), UNLIKE)
def test_what_is_unlike_is_refused(plain, why):
    with pytest.raises(DimensionError, match=why.replace("*itl", r"\*itl").replace("5*", r"5\*")):
        dimension(parse(plain), theory().dimension, bare=True)


def test_names_are_those_of_the_objects():
    assert known(s.itl) == known(sympy.Symbol("itl")) == known("itl") == "itl"
    assert name_or_expression(2 * s.itl) == "2*itl" and known(s.symbol("n_layers.local"))
    assert read_expression(s.seq_len + 1) == parse("prompt + 1")
    for stranger in (sympy.Symbol("itl", integer=True), sympy.Dummy("itl"), sympy.Symbol("H_kv")):
        with pytest.raises(
            InputError, match=f"unknown name '{stranger.name}', a symbol of your own"
        ):
            known(stranger)
    with pytest.raises(InputError, match="no such quantity or input"):
        known(sympy.Symbol("itll"))
    with pytest.raises(InputError, match="unknown name 'itll'"):
        known(2 * sympy.Symbol("itll"))
