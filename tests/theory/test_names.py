"""What is known of names: those a study declares beside the engine's, parts of kinds of layer and operators, what each leads to and whether it is a time of serving."""

import pytest

from symroof.symbolic.reading import parse
from symroof.theory.declarations import OWN, Declarations
from symroof.theory.quantity import Quantity
from symroof.theory.symbols import ExpressionName, Symbol, base_name
from symroof.theory.theory import theory
from symroof.theory.thresholds import Threshold

SEATS, ROOM = Symbol("seats", "s", "", "seats", "2"), Symbol("room", "r", "s", "time of a room")
WAIT = Quantity("wait", "w", "s", "a wait", group=OWN)
SERVED = Quantity("served", "v", "s", "a wait beside serving", group=OWN)
LOADED = Quantity("loaded", "z", "s", "a wait beside a load", group=OWN)
SEATED = Threshold(
    "memory", "full_house", "seats = batch", "batch", "limit", "it is full", "never", "always"
)
FORMULAS = (
    ("wait", parse("2*room")),
    ("served", parse("room + itl")),
    ("loaded", parse("room + load_time")),
)
STUDY = Declarations((SEATS, ROOM), (WAIT, SERVED, LOADED), (SEATED,), FORMULAS, "A house")


def test_a_formula_in_the_place_of_a_name():
    formula = ExpressionName.of(parse("weight_bytes/mem_bandwidth"))
    symbol = theory().symbol(formula)
    assert (symbol.unit, symbol.meaning, theory().definition(formula)) == (
        "s",
        "an expression",
        parse("weight_bytes/mem_bandwidth"),
    )
    assert (
        theory().symbol(ExpressionName.of(parse("mfu/mbu"))).unit == ""
        and base_name(formula) == formula
    )


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("name", "on", "leads"),
    [
        ("itl", "itl", True),
        ("itl", "mem_bandwidth", True),
        ("itl", "price", False),
        ("steady_batch", "arrival_rate", True),
        ("steady_batch", "prompt", True),
        ("best_batch", "mem_capacity", True),
        ("best_batch", "itl_target", True),
        ("mix_sustained_itl", "long_prompt", True),
        ("mix_sustained_itl", "chunk", True),
        ("recompute_time", "cached_prefix", True),
        ("ridge_point", "batch", False),
        ("batch", "batch", True),
    ],
)
def test_what_a_name_leads_to(name, on, leads):
    """By its formula, by what stands for it without an input, by what is searched for, and by inputs that a formula changes."""
    assert theory().depends(name, on) is leads


TIMED = {
    "itl": True,
    "decode_throughput": True,
    "cost_per_mtok": True,
    "fleet_price": True,
    "load_time": True,
    "decode_bound": True,
    "decode_compute_time": True,
    "meets_itl": True,
    "ridge_point": False,
    "attainable_flops": False,
    "instance_price": False,
    "params": False,
    "fits": False,
    "batch": False,
    "link_ridge": False,
    "price": False,
    "max_goodput": True,
}


def test_which_quantities_are_times_rates_and_costs_of_serving():
    assert {name: theory().timed(name) for name in TIMED} == TIMED
    own = theory(own=STUDY)
    assert [own.timed(name) for name in ("wait", "served", "loaded", "seats", "itl")] == [
        False,
        True,
        True,
        False,
        True,
    ]
