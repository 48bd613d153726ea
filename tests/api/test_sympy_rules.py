"""What SymPy makes of symroof's objects is right, unevaluated or refused: never as if quantities were constant, nor one symbol another."""

import pytest
import sympy
from sympy import Eq, Symbol, oo

import symroof as sr
from symroof import symbols as s

GENERAL = sr.Study()
STUDY = sr.Study("llama-3-8b", "h100-sxm", prompt=4096, batch=8)


def test_a_limit_of_a_quantity_stands_and_that_of_its_formula_is_taken():
    for expression in (s.decode_intensity, GENERAL.sympy("decode_intensity", depth=2)):
        assert sympy.limit(expression, s.batch, oo).has(sympy.Limit)
    limit = sympy.limit(GENERAL.sympy("decode_intensity"), s.batch, oo)
    assert not limit.has(sympy.Limit, s.batch)
    many = {**STUDY.values(), s.batch: 10**12}
    far = float(GENERAL.sympy("decode_intensity").xreplace(many))
    assert float(limit.xreplace(STUDY.values())) == pytest.approx(far, rel=1e-6)


def test_sums_of_quantities_are_of_their_values():
    each = [
        sr.Study("llama-3-8b", "h100-sxm", prompt=4096, batch=b).value("itl") for b in (1, 2, 3)
    ]
    for total in (sympy.Sum(s.itl, (s.batch, 1, 3)), sympy.summation(s.itl, (s.batch, 1, 3))):
        assert STUDY.value(total) == pytest.approx(sum(each), rel=1e-12)
    assert STUDY.value(sympy.Sum(s.itl * s.batch, (s.batch, 1, 3))) == pytest.approx(
        each[0] + 2 * each[1] + 3 * each[2], rel=1e-12
    )


@pytest.mark.parametrize("place", ["fixed", "changed"])
def test_a_quantity_at_other_inputs_has_the_value_of_the_case_there(place):
    longer = {"fixed": 8192, "changed": 2 * s.prompt}[place]
    there = s.itl.subs(s.prompt, longer)
    expected = sr.Study("llama-3-8b", "h100-sxm", prompt=8192, batch=8).value("itl")
    assert STUDY.value(there) == pytest.approx(expected, rel=1e-12)
    assert float((2 * there).xreplace(STUDY.values())) == pytest.approx(2 * expected, rel=1e-12)


@pytest.mark.parametrize("letter", ["h", "gamma", "bs"])
def test_a_symbol_of_the_callers_is_no_letter_of_formulas(letter):
    for assumed in ({}, {"positive": True}):
        own = Symbol(letter, **assumed)
        assert sympy.diff(own * s.itl, own) == s.itl and sympy.solve(own * s.itl - 1, own)
        with pytest.raises(sr.InputError, match=f"unknown name '{letter}', a symbol of your own"):
            STUDY.value(own * s.itl)
        with pytest.raises(sr.InputError, match=f"unknown name '{letter}'"):
            sr.solve(Eq(s.kv_cache_bytes, own * s.weight_bytes), for_=s.batch)


def test_a_full_name_without_assumptions_is_symroofs_and_one_with_others_is_not():
    assert STUDY.value(Symbol("itl") * Symbol("batch")) == STUDY.value(s.itl * s.batch)
    assert STUDY.value(Symbol("batch", positive=True) + 1) == 9
    with pytest.raises(
        sr.InputError, match=r"unknown name 'batch'.*\n.*write symroof\.symbols\.batch"
    ):
        STUDY.value(Symbol("batch", integer=True) * s.itl)
    own = Symbol("width", integer=True, positive=True)
    theory = sr.Theory({own: "byte"}, {"area": own**2, "twice": 2 * Symbol("area", positive=True)})
    assert theory.study(width=3).value("twice") == 18 and own in theory.sympy("twice").free_symbols


@pytest.mark.parametrize("factor", [1, 2])
def test_bytes_are_no_bytes_of_work(factor):
    wrong = Eq(s.kv_cache_bytes, factor * s.linear_flops_per_token * s.weight_bytes)
    with pytest.raises(sr.InputError, match=r"kv_cache_bytes is byte but .* is FLOP\*byte"):
        sr.solve(wrong, for_=s.batch)
    assert sr.solve(Eq(s.prefill_flops, 2 * s.params * s.prompt), for_=s.prompt).sympy is not None


def test_attention_alone_has_no_batch_at_which_it_turns():
    """Its work and its bytes both grow with the batch: the ridge is met at every batch, or at none."""
    solution = sr.solve("decode_compute_time.attention = decode_memory_time.attention", "batch")
    assert solution.sympy is None and "at no positive batch" in solution.reason


aa, bb, xx = sympy.symbols("aa bb xx", positive=True)
PLAIN = sr.Theory({aa: "", bb: "", xx: ""})


def test_a_choice_turns_on_what_it_turns_on():
    choice = sympy.Piecewise((aa, xx > 1), (2 * aa, True))
    pieces = {
        str(value): condition for value, condition in PLAIN.solve(Eq(choice, 3), aa).sympy.args
    }
    assert {value: condition.subs(xx, 2) for value, condition in pieces.items()} == {
        "3": True,
        "3/2": False,
    }
