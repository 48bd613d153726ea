"""Derivatives of quantities: whatever form SymPy leaves them in, the number is that of differences between whole cases, never silently 0."""

import random
from fractions import Fraction

import pytest
import sympy
from sympy import Eq, Max, Min, Rational, Symbol, diff

import symroof as sr
from symroof import symbols as s

from ..near import near
from ..tables import case_of, words

CASE = case_of("model=llama-3-8b hardware=h100-sxm engine=ideal prompt=1024 output=64 batch=8")
LOADED = case_of(
    "model=llama-3-8b hardware=h100-sxm engine=ideal prompt=1024 output=128 batch=32 "
    "arrival_rate=1 prefill_devices=1"
)
MIXTURE = case_of(
    "model=mixtral-8x7b hardware=h100-sxm engine=ideal prompt=1024 output=64 batch=8 tp=4"
)
STUDY = sr.Study(**CASE)


def by_differences(expression, by, case):
    """The slope between two whole cases, one a little below and one a little above."""
    at = float(sr.Study(**case).value(by.name))
    step = at / 10**5
    below, above = (
        sr.Study(**{**case, by.name: at + sign * step}).value(expression) for sign in (-1, 1)
    )
    return (above - below) / (2 * step)


def assert_slope(expression, by, case, rel=1e-6):
    slope = sr.Study(**case).value(diff(expression, by))
    assert slope == near(by_differences(expression, by, case), rel)
    return slope


RATES = (
    (s.itl * s.mem_bandwidth**2, s.mem_bandwidth),
    (s.itl, s.mem_bandwidth),
    (s.itl / s.ttft, s.peak_flops),
    (Max(s.itl, s.ttft), s.peak_flops),
    (sympy.exp(-s.itl / s.ttft), s.mem_bandwidth),
    (sympy.log(s.ttft / s.itl), s.mem_bandwidth),
    (sympy.Piecewise((s.itl, s.itl > s.ttft), (2 * s.ttft, True)), s.peak_flops),
    (s.decode_time, s.mem_bandwidth),
    (s.decode_throughput, s.mem_bandwidth),
    (s.itl, s.mbu),
)


@pytest.mark.sample(5)
@pytest.mark.parametrize(("expression", "by"), RATES, ids=str)
def test_a_derivative_in_any_expression_is_the_slope(expression, by):
    case = {**CASE, "mbu": Fraction(3, 5)} if by == s.mbu else CASE
    assert assert_slope(expression, by, case) != 0


@pytest.mark.parametrize(
    "expression", [s.itl * s.batch, s.itl, 2 * s.itl, s.memory_bytes, s.decode_time], ids=str
)
def test_in_a_count_it_is_the_step_from_one_to_the_next(expression):
    """A memory-bound step is a line in the batch, and a product with it a parabola, whose middle slope is that between its neighbours."""
    below, above = (sr.Study(**{**CASE, "batch": batch}).value(expression) for batch in (7, 9))
    assert STUDY.value(diff(expression, s.batch)) == pytest.approx((above - below) / 2)
    assert STUDY.value(diff(expression, s.batch)) == STUDY.value(expression.diff(s.batch))


def test_what_does_not_move_is_zero():
    assert STUDY.value(diff(s.weight_bytes, s.prompt)) == 0
    # it moves the compute arm, which does not bind
    assert STUDY.value(diff(s.itl, s.peak_flops)) == 0
    assert STUDY.value(diff(s.itl, s.itl)) == 1


def test_one_way_through_a_definition_and_not_where_a_value_stands_for_it():
    """The context follows the prompt unless it is given."""
    assert STUDY.value(diff(s.context, s.prompt)) == 1
    assert STUDY.value(diff(s.itl, s.prompt)) == STUDY.value(diff(s.itl, s.context)) != 0
    given = sr.Study(**CASE, context=2048)
    assert given.value(diff(s.itl, s.prompt)) == 0 and given.value(
        diff(s.itl, s.context)
    ) == STUDY.value(diff(s.itl, s.context))
    measured = sr.Study(**CASE, itl="14 ms")
    assert measured.value(diff(s.itl * s.batch, s.batch)) == measured.value("itl")
    twice = sr.Study(**CASE, ttft=2 * s.itl)
    assert twice.value(diff(s.ttft, s.batch)) == 2 * twice.value(diff(s.itl, s.batch)) != 0


def test_by_another_quantity_it_is_held_beside_its_inputs():
    assert STUDY.value(diff(s.response_time, s.ttft)) == 1
    # of 64 tokens, the prefill gives the first
    assert STUDY.value(diff(s.decode_time, s.itl)) == 63


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", ["steady_batch", "utilization", "queue_wait"])
def test_what_is_searched_moves_with_what_it_is_searched_for(name):
    assert assert_slope(getattr(s, name), s.arrival_rate, LOADED, rel=1e-5) > 0
    assert_slope(getattr(s, name), s.mem_bandwidth, LOADED, rel=1e-5)


def test_second_derivatives():
    """A line in the batch bends nowhere, and B*(a + bB) by 2b; 1/x**2 is what a bandwidth bends by."""
    assert STUDY.value(diff(s.itl, s.batch, 2)) == 0
    found = [
        diff(s.itl * s.batch, s.batch, s.batch) / diff(s.itl, s.batch),
        diff(s.decode_memory_time, s.mem_bandwidth, 2) * s.mem_bandwidth**2 / s.decode_memory_time,
        diff(s.itl, s.batch, s.context) / diff(s.itl, s.context),
    ]
    assert [*map(STUDY.value, found)] == pytest.approx([2, 2, 1 / 8], rel=1e-12)


def test_a_slope_at_another_place_is_that_of_the_case_there():
    """In the batch a step is a line, so what it costs more bends by twice the slope."""
    there = diff(s.itl * s.batch, s.batch).subs(s.batch, 5)
    at_five = sr.Study(**{**CASE, "batch": 5}).value(diff(s.itl * s.batch, s.batch))
    assert STUDY.value(there) == pytest.approx(at_five, rel=1e-12)
    assert float(there.xreplace(STUDY.values())) == pytest.approx(at_five, rel=1e-12)
    around = s.itl.series(s.batch, 2, 2).removeO()
    assert STUDY.value(around) == pytest.approx(STUDY.value("itl"), rel=1e-12)


SERVED = case_of(
    "model=llama-3-8b hardware=h100-sxm engine=ideal prompt=1024 output=5 batch=4 "
    "cached_prefix=128 tp=2 arrival_rate=1 price=0.001 itl_target=0.05 ttft_target=0.5 "
    "draft_tokens=3 acceptance=0.7 draft_cost=0.1 chunk=256 mfu=0.5 mbu=0.6"
)
SETTINGS = {
    "served": SERVED,
    "experts": {**MIXTURE, "arrival_rate": 1, "mfu": 0.5},
    "parameters alone": case_of(
        "params=8e9 hardware=h100-sxm engine=ideal prompt=1024 output=5 batch=3 detail=weights"
    ),
}
BY = words(
    "batch prompt context mem_bandwidth peak_flops kv_bytes_per_element kv_bytes_per_token "
    "params weight_bytes itl"
)


@pytest.mark.parametrize("setting", SETTINGS)
def test_every_quantity_moves_as_between_two_cases(setting):
    """Drawn at random, where the cases on both sides rise alike: no arm takes over and nothing is rounded between them."""
    case, draw, compared = sr.Study(**SETTINGS[setting]).first.case, random.Random(setting), 0
    names = [
        name
        for name in case.theory.definitions
        if "." not in name and case.has_value(name) and isinstance(case.value(name), float)
    ]
    pairs = [(name, by) for name in names for by in BY if case.has_value(by)]
    for name, by in draw.sample(pairs, 60):
        at, here = case.value(by), case.value(name)
        step = 1e-4 * at
        try:
            slope = case.slope(name, by)
            below, above = (case.changed({by: at + way * step}).value(name) for way in (-1, 1))
        except ArithmeticError:
            continue
        least = 1e-7 * abs(here / at)
        left, right = (here - below) / step, (above - here) / step
        if abs(left - right) <= 0.01 * abs(slope) + least:
            assert (left + right) / 2 == pytest.approx(slope, rel=1e-3, abs=least), (name, by)
            compared += 1
    assert compared > 40


def test_a_width_that_differs_between_layers_is_asked_for_by_its_kind():
    study = sr.Study(**{**CASE, "model": "gemma-3-27b"})
    with pytest.raises(
        sr.InputError,
        match=r"n_layers differs between parts of this model: take the derivative by n_layers\.global or n_layers\.local",
    ):
        study.value(diff(s.itl, s.n_layers))
    assert study.value(diff(s.params, s.symbol("n_layers.global"))) > 0


def test_the_number_of_terms_of_a_sum_has_no_slope_at_any_door():
    slope = diff(s.decode_time, s.output)
    doors = (
        STUDY.value,
        STUDY.sympy,
        lambda d: STUDY.derive(d).expanded,
        lambda d: sr.compile(d, ["batch"], study=STUDY),
    )
    for door in (
        *doors,
        lambda d: STUDY.solve(Eq(d, 1), for_=s.batch),
        lambda d: STUDY.sweep(batch=[1, 2], mine=d),
    ):
        with pytest.raises(sr.InputError, match="slope of a sum in the number of its terms"):
            door(slope)
    assert STUDY.value(diff(s.decode_time, s.prompt)) != 0


def test_conditions_and_labels_have_none():
    for thing in (s.fits, s.decode_bound):
        with pytest.raises(sr.InputError, match="has no slope"):
            STUDY.value(diff(thing, s.batch))


def test_a_symbol_of_ones_own_is_a_constant_and_the_error_says_so():
    for slope in (diff(Symbol("itl"), s.batch), diff(s.itl, Symbol("foo"))):
        with pytest.raises(
            sr.InputError, match=r"is 0 whatever the symbols are\n.*symroof\.symbols"
        ):
            STUDY.value(slope)


# ------------------------------------------------------------------------------------------------- where two arms meet


@pytest.mark.parametrize(
    ("expression", "slope"),
    [
        (Max(2 * s.batch, s.batch + 8), Rational(3, 2)),  # 1 below, 2 above
        (Min(2 * s.batch, s.batch + 8), Rational(3, 2)),
        (Max(3 * s.batch, 2 * s.batch + 8, s.batch), Rational(5, 2)),
        (Max(s.batch, 8) * Min(s.batch, 8), 8),  # the bends cancel: it is 8 times the batch
        (sympy.Abs(s.batch - 8), 0),
    ],
    ids=str,
)
def test_at_a_bend_it_is_the_mean_of_both_sides_as_in_sympy(expression, slope):
    derivative = diff(expression, s.batch)
    assert STUDY.value(derivative) == float(slope) == float(derivative.xreplace(STUDY.values()))
