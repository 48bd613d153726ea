"""SymPy in: expressions, relations and symbols wherever text is taken."""

import numpy as np
import pytest
import sympy

import symroof as sr
from symroof import symbols as s

from ..near import near

STUDY = sr.Study("llama-3-8b", "h100-sxm", prompt=1024, output=64, batch=8)


# --------------------------------------------------------------------------------------------------------------- the doors


def test_solve_takes_an_equation():
    fiftieth = sympy.Rational(1, 50)
    text = STUDY.solve("itl = 20 ms", "batch")
    expression = STUDY.solve(sympy.Eq(s.itl, fiftieth), for_=s.batch)
    assert expression.value == text.value and expression.integer == text.integer
    bare = STUDY.solve(sympy.Eq(sympy.Symbol("itl"), fiftieth), for_=sympy.Symbol("bs"))
    assert bare.value == text.value
    found = sr.solve(sympy.Eq(s.kv_cache_bytes, s.weight_bytes), for_=s.batch)
    assert found.sympy == s.weight_bytes / (s.kv_bytes_per_token * s.context)


def test_what_sympy_has_decided_is_no_equation():
    with pytest.raises(sr.InputError, match="has evaluated it"):
        STUDY.solve(sympy.Eq(s.itl, -1), for_=s.batch)
    with pytest.raises(sr.InputError, match="lhs = rhs"):
        STUDY.solve(s.itl, for_=s.batch)


def test_value_and_exact_take_expressions():
    assert STUDY.value(s.ttft / s.itl) == STUDY.value("ttft") / STUDY.value("itl")
    assert STUDY.value(2 * s.itl).unit == "s" and STUDY.value(s.itl) == STUDY.value("itl")
    assert STUDY.value(s.itl < sympy.Rational(1, 100)) is True
    with pytest.raises(sr.InputError, match=r"write study\.solve"):
        sr.solve("batch_to_ridge", sr.Study("llama-3-8b"))
    with pytest.raises(sr.InputError, match="unknown name 'foo'"):
        STUDY.value(sympy.Symbol("foo") * s.itl)
    with pytest.raises(sr.InputError, match="itl is s but prefill_flops is FLOP"):
        STUDY.value(s.itl + s.prefill_flops)


def test_compile_takes_expressions_and_symbols():
    both = sr.compile([s.ttft / s.itl, "itl"], [s.batch], study=STUDY)
    ratio, _ = both(np.array([1.0, 8.0, 64.0]))
    assert ratio[1] == pytest.approx(float(STUDY.value("ttft") / STUDY.value("itl")))
    slope = sr.compile(sympy.diff(STUDY.sympy("itl"), s.batch), ["batch"], study=STUDY)
    itl_at = sr.compile("itl", ["batch"], study=STUDY)
    assert slope(8.5) == pytest.approx(itl_at(9.0) - itl_at(8.0))


def test_an_extremum_is_a_place():
    """B/(a + bB)² is largest at B = a/b, by the slope b and the start a of a step's time."""
    case = sr.Study("llama-3-8b", "h100-sxm", prompt=4096)
    one, two = (
        sr.Study("llama-3-8b", "h100-sxm", prompt=4096, batch=batch).value("itl")
        for batch in (1, 2)
    )
    best = (2 * one - two) / (two - one)
    solution = case.solve(
        sympy.Eq(sympy.diff(s.batch / case.sympy("itl") ** 2, s.batch), 0), for_=s.batch
    )
    assert solution.value == near(best, 1e-9)
    assert solution.shown() == f"{float(best):.2f} requests"
    assert len(repr(solution)) < 250 and len(solution.reason) < 250


def test_keywords_and_targets_take_numbers_and_formulas():
    study = sr.Study(
        "llama-3-8b",
        "h100-sxm",
        prompt=sympy.Integer(1024),
        ttft=2 * s.itl,
        targets={"itl": sympy.Rational(1, 20)},
    )
    assert study.value("ttft") == 2 * study.value("itl")
    assert study.first.targets["itl"] == near(0.05)
    given = sr.Study("llama-3-8b", prompt=8, prefill_flops=2 * s.params * s.prompt)
    assert given.value("prefill_flops") == 16 * 8030261248
    with pytest.raises(sr.InputError, match="ttft is declared as s but"):
        sr.Study(ttft=2 * s.prompt)


def test_check_takes_a_formula_and_gives_the_difference():
    right = 2 * s.n_layers * s.n_kv_heads * s.head_dim * s.kv_bytes_per_element
    assert sr.check(sympy.Eq(s.kv_bytes_per_token, right)).claims[0].verdict == "exact"
    wrong = sr.check(sympy.Eq(right * s.n_heads / s.n_kv_heads, s.kv_bytes_per_token)).claims[0]
    assert wrong.verdict == "wrong" and wrong.factor == s.n_heads / s.n_kv_heads
    matmul = s.params - 2 * s.vocab_size * s.d_model
    assert sr.check(sympy.Eq(s.active_params, matmul)).claims[0].verdict != "exact"
    with pytest.raises(sr.InputError, match=r"is not Eq\(quantity, formula\)"):
        sr.check(sympy.Eq(2 * s.itl, s.itl + 1))


def test_a_symbol_that_is_none_points_to_ones_own():
    with pytest.raises(AttributeError, match=r"symbol\('cost_of_wait'\)"):
        s.cost_of_wait  # noqa: B018
    study = sr.Study("llama-3-8b", "h100-sxm", prompt=1024, price="3.6 USD/hour")
    study.define("cost_of_wait", s.price * s.ttft, unit="USD")
    dear = sympy.Eq(s.symbol("cost_of_wait"), sympy.Rational(1, 1000))
    assert study.solve(dear, s.prompt).value == study.solve("ttft = 1 s", "prompt").value
