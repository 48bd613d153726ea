"""A theory in Python is what its file is: values, solutions and symbols of the caller's own, errors at the entry that is wrong."""

from fractions import Fraction

import pytest
import sympy
from sympy import Eq, Rational, Symbol, diff, sqrt

import symroof as sr
from symroof import symbols as s

from ..tables import case_of

WIDTH, DEPTH = sympy.symbols("width depth", positive=True)


def water(**more):
    """Shallow water: waves run at sqrt(g*depth), and a basin swings in twice its width over that."""
    return sr.Theory(
        inputs={
            WIDTH: None,
            DEPTH: {"means": "of the water"},
            "gravity": {"unit": "1/s^2", "default": 9.81, "means": "in lengths a squared second"},
        },
        define={
            "speed": {
                "formula": sqrt(Symbol("gravity") * DEPTH),
                "unit": "1/s",
                "means": "of a wave",
            },
            "swing": 2 * WIDTH / Symbol("speed"),
        },
        thresholds={"slow": (Eq(Symbol("swing"), 60), WIDTH)},
        **more,
    )


PLAIN = sr.Theory(
    {WIDTH: "byte", "rate": {"unit": "byte/s", "default": "2 GB/s"}},
    {"wait": WIDTH / Symbol("rate")},
)


def test_values_and_units():
    study = sr.Study(theory=PLAIN, width=8e9)
    assert study.value("wait") == 4 and study.value("wait").unit == "s"
    given = PLAIN.study(width="8 GB", rate="2 GB/s")
    assert PLAIN.study(width=8e9).value("wait") == given.value("wait") == 4
    assert PLAIN.study(width=[1e9, 2e9]).cases[1].result("wait").value == 1


def test_it_is_what_its_file_is(tmp_path):
    path = tmp_path / "wait.yaml"
    path.write_text(
        "name: wait\ntitle: Waiting\ninputs:\n  width: {unit: byte, means: width}\n  rate: {unit: byte/s, means: rate, default: 2 GB/s}\n"
        "define:\n  wait: {formula: width/rate, unit: s, means: wait}\n"
        "thresholds:\n- {name: a_second, equation: wait = 1 s, unknown: width, means: the width of a second}\n",
        encoding="utf-8",
    )
    entry = {"equation": "wait = 1 s", "unknown": "width", "means": "the width of a second"}
    inputs = {"width": "byte", "rate": {"unit": "byte/s", "default": "2 GB/s"}}
    define, read = {"wait": "width/rate"}, sr.Theory.load(path)
    assert read.solve("a_second").value == 2 * 10**9
    for thresholds in (
        {"a_second": entry},
        [{"name": "a_second", **entry}],
        {"a_second": {**entry, "equation": Eq(Symbol("wait"), 1), "unknown": WIDTH}},
    ):
        made = sr.Theory(inputs, define, thresholds, title="Waiting")
        assert made.solve("a_second").value == 2 * 10**9
    assert sr.Theory(inputs, define, {"a_second": entry}, title="Waiting") == read


def test_the_callers_symbols_stand_in_every_expression():
    assert PLAIN.sympy("wait") == WIDTH / PLAIN.symbols["rate"] and PLAIN.symbols["width"] is WIDTH
    assert PLAIN.study(width=3).sympy("wait").xreplace(PLAIN.study(width=3).values()) == Rational(
        3, 2 * 10**9
    )
    assert PLAIN.solve(Eq(PLAIN.symbols["wait"], 7), for_=WIDTH).sympy == 7 * PLAIN.symbols["rate"]
    assert PLAIN.study(width=3).value(WIDTH * 2) == 6
    assert sr.compile("wait", [WIDTH], study=PLAIN.study(width=3))([2e9, 4e9]).tolist() == [1, 2]


def test_signs_are_those_of_the_symbols_or_as_declared():
    """The square root of a square is the number itself where that is positive, else its absolute value."""
    signed = Symbol("offset", real=True)
    inputs = {WIDTH: None, signed: None, "plain": None, "start": {"sign": "nonnegative"}}
    inputs |= {"late": {"default": 0}, "turn": {"sign": "real", "default": -2}}
    define = {"root": sqrt(6 * Symbol("plain") * WIDTH**2), "away": "sqrt(offset^2)"}
    define |= {"both": "start + plain", "rest": "plain - width"}
    define |= {"still": "2*start", "back": "3*turn"}
    theory = sr.Theory(inputs, define)
    symbols = theory.symbols
    assert theory.sympy("root") == sqrt(6) * sqrt(symbols["plain"]) * WIDTH
    assert theory.sympy("away") == sympy.Abs(signed)
    assert symbols["plain"].is_positive and symbols["both"].is_positive
    for name in ("start", "still"):
        assert symbols[name].is_nonnegative and symbols[name].is_positive is None
    assert symbols["late"].is_positive is None
    assert symbols["rest"].is_real and symbols["rest"].is_nonnegative is None
    assert [theory.study(**turn).value("back") for turn in ({}, {"turn": 5})] == [-6, 15]
    assert theory.study(offset=-4, width=1, plain=2).value("away") == 4


def test_what_may_be_negative_is_not_solved_for_and_needs_a_value():
    theory = sr.Theory({"offset": {"sign": "real"}, WIDTH: None}, {"far": "offset + width"})
    with pytest.raises(
        sr.InputError, match="offset may be negative; an equation is solved for what is positive"
    ):
        theory.study(width=2).solve("far = -1", for_="offset")
    with pytest.raises(
        sr.InputError, match="offset may be negative: which answer holds turns on its value"
    ):
        theory.solve("far = 3", for_="width")
    assert theory.study(offset=-4).solve("far = 3", for_="width").value == 7


def test_derivatives():
    theory = water()
    study = theory.study(width=100, depth=4)
    swing = study.symbol("swing")
    assert study.value(diff(swing, DEPTH)) == pytest.approx(-study.value("swing") / 8)
    assert study.value(diff(swing * WIDTH, WIDTH)) == pytest.approx(2 * study.value("swing"))
    assert theory.sympy(diff(swing, WIDTH)) == 2 / (sqrt(theory.symbols["gravity"]) * sqrt(DEPTH))


def test_formulas_speak_of_the_engine_and_definitions_stand_in_any_order():
    tax = Symbol("tax", positive=True)
    theory = sr.Theory(
        {tax: None},
        {
            "dear": Symbol("due") * 2,
            "due": {"formula": (1 + tax) * s.cost_per_mtok, "unit": "USD", "means": "with tax"},
        },
    )
    case = case_of("model=llama-3-8b hardware=h100-sxm prompt=1024 output=64 price=0.001")
    assert sr.Study(**case, theory=theory, tax=Fraction(1, 5)).value("dear") == Fraction(
        12, 5
    ) * sr.Study(**case).value("cost_per_mtok")


def test_flops_that_sympy_leaves_unsaid():
    theory = sr.Theory(
        {"size": "parameter", "tokens": "token"},
        {"work": {"formula": 6 * Symbol("size") * Symbol("tokens"), "unit": "FLOP"}},
    )
    assert theory.study(size=7e9, tokens=1e12).value("work") == pytest.approx(4.2e22)


def test_define_points_to_a_theory_where_a_symbol_is_new():
    with pytest.raises(sr.InputError, match=r"unknown name 'zeal'\n.*sr\.Theory\(inputs=\{"):
        sr.Study("llama-3-8b").define("keen", Symbol("zeal") * 2)


def test_an_integer_symbol_counts_whole_things():
    """Nine squared is the first square beyond 72; a half of one is none."""
    rows = sympy.Symbol("rows_held", integer=True, positive=True)
    theory = sr.Theory(inputs={rows: ""}, define={"cells": rows**2})
    assert (
        theory.study().solve("cells = 72", rows).integer == {"at_least": 9}
        and theory.study(rows_held=9).value("cells") == 81
    )
    with pytest.raises(sr.InputError, match="whole number"):
        theory.study(rows_held=3.5).value("cells")
