"""A keyword of a sweep that is a formula names a column; everything else stays an axis, and a name is one thing."""

import numpy as np
import pytest
import sympy
from sympy import diff

import symroof as sr
from symroof import symbols as s

CASE = {"model": "llama-3-8b", "hardware": "h100-sxm", "prompt": 1024}
ENDS = ("low", "high")
STUDY = sr.Study(**CASE)
BATCHES = [1, 8, 64]


def at(batch, expression):
    return float(sr.Study(**{**CASE, "batch": batch}).value(expression))


@pytest.mark.parametrize(
    ("formula", "expression"),
    [
        (s.itl / s.batch, s.itl / s.batch),
        ("itl/batch", s.itl / s.batch),
        (sympy.sin(s.itl / s.ttft), sympy.sin(s.itl / s.ttft)),
        (diff(s.itl * s.batch, s.batch), diff(s.itl * s.batch, s.batch)),
        (sympy.Symbol("itl") * 2, 2 * s.itl),
        (s.itl, s.itl),
    ],
    ids=str,
)
def test_a_column_has_the_name_of_its_keyword(formula, expression):
    grid = STUDY.sweep(batch=BATCHES, mine=formula)
    assert set(grid) <= {"mine", "mine_low", "mine_high", "fits"} and grid.mine.dims == ("batch",)
    assert grid.mine.values.tolist() == pytest.approx([at(batch, expression) for batch in BATCHES])


def test_the_ends_of_a_column_are_those_of_its_value():
    """The ends of a quotient hold those where both times are fast, and where both are slow."""
    grid = STUDY.sweep(["ttft", "itl"], batch=BATCHES, quotient=s.ttft / s.itl)
    for batch in BATCHES:
        study, here = sr.Study(**{**CASE, "batch": batch}), grid.sel(batch=batch)
        for name in ("ttft", "itl"):
            value = study.value(name)
            found = [float(here[f"{name}_{end}"]) for end in ENDS]
            assert found == pytest.approx([float(value.low), float(value.high)])
        low, high = (float(here[f"quotient_{end}"]) for end in ENDS)
        fast, slow = here.ttft_low / here.itl_low, here.ttft_high / here.itl_high
        assert low <= fast * (1 + 1e-12) and slow <= high * (1 + 1e-12) and fast < slow


def test_units_meanings_and_order():
    grid = STUDY.sweep(["ttft"], batch=BATCHES, traffic=s.decode_bytes / s.itl, twice="2*traffic")
    assert list(grid)[:7:3] == ["ttft", "traffic", "twice"]
    assert grid.traffic.units == "byte/s" and grid.traffic.long_name == "decode_bytes/itl"
    assert np.array_equal(grid.twice.values, 2 * grid.traffic.values)


def test_a_comparison_is_a_column_of_truths():
    grid = STUDY.sweep(batch=BATCHES, quick=s.itl < sympy.Rational(1, 200))
    assert grid.quick.values.tolist() == [at(batch, s.itl) < 0.005 for batch in BATCHES]


def test_columns_of_a_theory_of_ones_own():
    theory = sr.Theory({"width": None}, {"area": "width^2"})
    grid = theory.study(width=2).sweep(
        width=[1, 2, 3], volume=theory.symbols["area"] * theory.symbols["width"]
    )
    assert grid.volume.values.tolist() == [1, 8, 27] and list(grid) == ["volume"]


TAKEN = {
    "batch": "is already a name in symroof",
    "bs": "is read as batch in formulas",
    "hardware": "is a reserved word",
    "max_batch_memory": "is already the name of a threshold",
}


@pytest.mark.parametrize("name", TAKEN)
def test_a_name_that_is_taken(name):
    with pytest.raises(sr.InputError, match=f"{name}: {TAKEN[name]}"):
        STUDY.sweep(prompt=[1, 2], **{name: s.ttft * 2})


def test_names_that_cannot_be_one():
    with pytest.raises(sr.InputError, match="lower-case"):
        STUDY.sweep(batch=[1], Mine=s.itl)
    with pytest.raises(sr.InputError, match="unknown name 'foo'"):
        STUDY.sweep(batch=[1], mine=s.itl * sympy.Symbol("foo"))
    with pytest.raises(sr.InputError, match="itl is s but prefill_flops is FLOP"):
        STUDY.sweep(batch=[1], mine=s.itl + s.prefill_flops)


def test_a_misspelled_axis_is_still_one():
    for values in ("1:8", [1, 2], "8", 3):
        with pytest.raises(sr.InputError, match="did you mean 'batch'"):
            STUDY.sweep(bacth=values)
