"""SymPy objects that mean nothing here, or are too large: each is refused in words at every door."""

import pytest
import sympy

import symroof as sr
from symroof import symbols as s

STUDY = sr.Study("llama-3-8b", "h100-sxm", prompt=2048, batch=8)


def deep():
    made = s.batch
    for i in range(3000):
        made = (
            sympy.Pow(made, sympy.Rational(1, 2), evaluate=False)
            if i % 2
            else sympy.Add(made, 1, evaluate=False)
        )
    return made


ODD = {
    "a number of thousands of digits": 10**5000 * s.batch,
    "thousands of levels": deep(),
    "infinity": sympy.oo * s.batch,
    "a matrix": sympy.Matrix([s.batch]),
}


@pytest.mark.parametrize("name", ODD)
def test_what_has_no_meaning_is_refused_at_every_door(name):
    odd = ODD[name]
    doors = (
        STUDY.value,
        STUDY.derive,
        lambda e: STUDY.solve(e, for_=s.batch),
        sr.solve,
        lambda e: sr.compile(e, [s.batch], study=STUDY),
    )
    for door in doors:
        with pytest.raises(sr.InputError):
            door(odd)


def test_a_value_beyond_a_float_is_none():
    with pytest.raises(sr.InputError, match="a number too large to work with"):
        STUDY.value(s.prompt ** (13 * s.batch))
    assert STUDY.value(s.batch**64) == 8**64


def test_a_relation_is_no_value_of_an_input():
    with pytest.raises(sr.InputError, match="a number is needed"):
        sr.Study(prompt=s.batch < 3)


@pytest.mark.parametrize("thing", [None, 3, 2.5, b"itl", ["itl"]])
def test_what_is_neither_text_nor_sympy_is_refused_by_name_of_its_type(thing):
    """What was met first was an attribute that the thing lacks."""
    study = sr.Study("llama-3-8b", "h100-sxm", prompt=128)
    doors = [
        study.value,
        study.sympy,
        study.derive,
        *([] if isinstance(thing, list) else [sr.solve, study.solve]),
    ]
    for door in doors:
        with pytest.raises(sr.InputError, match=f"not {type(thing).__name__}"):
            door(thing)
