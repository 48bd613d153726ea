"""What is known of names: those a study declares beside the engine's, parts of kinds of layer and operators, what each leads to and whether it is a time of serving."""

from fractions import Fraction

import pytest
import sympy

from symroof.errors import InputError
from symroof.symbolic.expressions import ONE
from symroof.symbolic.printing import text
from symroof.symbolic.reading import parse
from symroof.theory.architecture import Architecture, Layer
from symroof.theory.declarations import NONE, OWN, Declarations
from symroof.theory.quantity import Quantity
from symroof.theory.switches import SWITCHES, assume
from symroof.theory.symbols import INPUTS, SHARES, STEP_INDEX, ExpressionName, Symbol, base_name
from symroof.theory.sympy_input import (
    known,
    name_or_expression,
    read_expression,
    symbol_name,
)
from symroof.theory.theory import UnknownName, theory
from symroof.theory.thresholds import THRESHOLDS, Threshold

TWO_KINDS = Architecture(
    (
        Layer(label="local", reach="window", own=frozenset({"n_layers", "n_heads"})),
        Layer(label="full_wide", feed_forward="moe", own=frozenset({"n_layers"})),
    ),
    order=("local", "full_wide"),
)
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


# ----------------------------------------------------------------------------------------------------------- declarations


def test_a_declaration_of_any_sort_is_one():
    assert [
        bool(own)
        for own in (
            NONE,
            Declarations((SEATS,)),
            Declarations(quantities=(WAIT,)),
            Declarations(thresholds=(SEATED,)),
        )
    ] == [
        False,
        True,
        True,
        True,
    ]
    assert [*STUDY] == ["seats", "room", "wait", "served", "loaded"]
    assert "wait" in STUDY and "itl" not in STUDY and "wait" not in NONE
    assert {"wait", "itl", "batch"} <= {*STUDY.known} and "wait" not in NONE.known
    assert STUDY.definitions == dict(FORMULAS)


def test_where_a_name_is_declared():
    assert (
        STUDY.symbol("seats") is SEATS
        and STUDY.symbol("wait") is WAIT
        and NONE.symbol("seats") is None
    )
    assert [
        NONE.symbol(name).name
        for name in ("batch", "itl", "n_heads.local", "kv_bytes_per_token.local", "step")
    ] == [
        "batch",
        "itl",
        "n_heads",
        "kv_bytes_per_token",
        "step",
    ]
    assert NONE.symbol("step") is STEP_INDEX and NONE.symbol("nothing.local") is None
    assert [
        STUDY.quantity(name) and STUDY.quantity(name).name
        for name in ("wait", "itl", "seats", "batch")
    ] == ["wait", "itl", None, None]
    assert [
        STUDY.input(name) and STUDY.input(name).name for name in ("wait", "itl", "seats", "batch")
    ] == [None, None, "seats", "batch"]
    assert STUDY.threshold("full_house") is SEATED and NONE.threshold("full_house") is None
    assert STUDY.threshold("max_batch_memory") is THRESHOLDS["max_batch_memory"]


def test_the_first_of_two_declarations_hides_the_other():
    other = Declarations(
        (Symbol("seats", "s", "", "other seats", "9"), Symbol("door", "d", "", "a door")),
        (),
        (SEATED,),
        (("wait", parse("room")), ("more", ONE)),
        "Another",
    )
    both = STUDY.joined(other)
    assert both.symbol("seats") is SEATS and {*both} == {
        "seats",
        "room",
        "door",
        "wait",
        "served",
        "loaded",
    }
    assert both.definitions == {**dict(FORMULAS), "more": ONE}
    assert (
        both.thresholds,
        both.title,
        NONE.joined(other).title,
        other.joined(STUDY).symbol("seats").default,
    ) == ((SEATED,), "A house", "Another", "9")


# ------------------------------------------------------------------------------------------------------------------ inputs


def test_which_inputs_may_vanish():
    """Those that are 0 where nothing is set, and what is declared so."""
    zero = {name for name, symbol in INPUTS.items() if symbol.default == "0"}
    assert {"cached_prefix", "queue_time", "kernel_launch", "output_spread", "chunk_past"} <= zero
    declared_so = {
        "acceptance",
        "arrival_rate",
        "service_spread",
        "hit_rate",
        "slo_share",
        "percentile",
        "long_step_share",
        "burst_rate",
        "burst_duration",
        "long_share",
        "preemption_rate",
        "exchange_overlap",
        "work_overlap",
    }
    assert {name for name, symbol in INPUTS.items() if symbol.may_vanish} == zero | declared_so
    assert "link_latency" in zero and "batch" not in zero


def test_which_inputs_are_shares_of_one():
    assert {
        "acceptance",
        "hit_rate",
        "slo_share",
        "percentile",
        "long_share",
        "long_step_share",
        "mfu",
        "mbu",
        "link_share",
        "exchange_overlap",
        "work_overlap",
        "memory_share",
        "margin",
        "expert_share",
    } == SHARES


def test_the_default_of_a_switch_is_said_to_be_one():
    chosen = assume(queue="md1", kv_growth="growing")
    assert {name for name in SWITCHES if not chosen.defaulted(name)} == {"queue", "kv_growth"}
    assert {name for name in SWITCHES if not chosen.replaced(detail="kv").defaulted(name)} == {
        "queue",
        "kv_growth",
        "parameters",
        "attention_flops",
        "kv_traffic",
        "activations",
    }
    assert (
        chosen.holds(())
        and chosen.holds((("queue", "md1"), ("logits", "last")))
        and not chosen.holds((("queue", "md1"), ("logits", "all")))
    )


@pytest.mark.parametrize(
    ("choices", "what"),
    [
        ({"detail": "some"}, ("value of detail", "some", ("exact", "attention", "kv", "weights"))),
        ({"queue": "xx"}, ("value of queue", "xx", ("mm1", "md1", "mg1"))),
    ],
)
def test_an_unknown_choice_is_refused_with_those_there_are(choices, what):
    with pytest.raises(KeyError) as error:
        assume(**choices)
    assert error.value.args == what
    with pytest.raises(KeyError) as error:
        assume(**{**{name: value for name, value in choices.items() if False}, "queues": "mm1"})
    assert error.value.args == ("assumption", "queues", (*SWITCHES, "detail"))


# ------------------------------------------------------------------------------------------------------ names of a theory


def test_names_that_a_theory_knows():
    built = theory(TWO_KINDS)
    asked = [
        "batch",
        "itl",
        "nothing",
        "n_heads.local",
        "n_heads.other",
        "decode_flops.gate_up",
        "decode_flops.nothing",
        "kv_bytes_per_token.local",
        "nothing.local",
    ]
    assert [built.knows(name) for name in asked] == [
        True,
        True,
        False,
        True,
        False,
        True,
        False,
        True,
        False,
    ]
    assert [
        built.knows(ExpressionName.of(parse(formula)))
        for formula in ("ttft/itl", "ttft/nothing", "nothing + unknown")
    ] == [True, False, False]
    own = theory(own=STUDY)
    assert own.knows("wait") and own.knows("seats") and not theory().knows("wait")
    with pytest.raises(UnknownName, match="nothing"):
        built.symbol("nothing")


SPELLED = {
    "n_layers.local": r"L_{\mathrm{local}}",
    "head_dim.local": r"d_{h, \mathrm{local}}",
    "n_kv_heads.local": r"H_{kv, \mathrm{local}}",
    "n_kv_heads.full_wide": r"H_{kv, \mathrm{full\_wide}}",
    "kv_cache_bytes.local": r"\mathrm{KV}_{\mathrm{local}}",
    "mem_bandwidth.local": r"\beta_{\mathrm{local}}",
    "link_bandwidth.local": r"\beta_{l, \mathrm{local}}",
    "ttft_target.local": r"T_{\mathrm{TTFT}, \mathrm{local}}",
}


@pytest.mark.parametrize("name", SPELLED)
def test_how_a_name_of_one_kind_of_layer_is_spelled(name):
    symbol, whole = theory(TWO_KINDS).symbol(name), theory().symbol(base_name(name))
    assert (symbol.name, symbol.latex, symbol.unit) == (name, SPELLED[name], whole.unit)
    assert symbol.meaning == f"{whole.meaning}, {name.partition('.')[2]}"


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


def test_shares_and_numbers_of_a_step():
    assert [
        name
        for name in ("mfu", "batch", "itl", "step", "decode_mfu", "memory_utilization")
        if theory().is_share(name)
    ] == [
        "mfu",
        "decode_mfu",
        "memory_utilization",
    ]
    assert theory().dimension("step") == () and theory().dimension("itl") == (("s", Fraction(1)),)


def test_operators_of_a_step_and_their_parts():
    built = theory(TWO_KINDS)
    parts = [
        "linear",
        "qkv",
        "qkv.local",
        "attention",
        "attention.local",
        "attention_out",
        "attention_out.local",
        "gate_up",
        "down",
    ]
    assert list(built.parts("decode")) == [
        *parts,
        "qkv.full_wide",
        "attention.full_wide",
        "attention_out.full_wide",
        "router",
        "experts",
        "lm_head",
    ]
    assert built.parts("nothing") == ()
    linear, gate = built.definition("decode_flops.linear"), built.definition("decode_flops.gate_up")
    assert (
        linear is not None
        and gate is not None
        and built.definition("decode_nothing.gate_up") is None
        and built.definition("decode_flops.nothing") is None
    )
    spoken = {*map(str, text(linear).replace("*", " ").replace("(", " ").replace(")", " ").split())}
    assert "decode_pairs" not in text(linear) and {"n_layers.local", "d_ff", "d_expert"} <= spoken
    assert built.definition("decode_flops.attention.local") != built.definition(
        "decode_flops.attention"
    )


@pytest.mark.parametrize(
    ("switches", "name", "why"),
    [({"queue": "md1"}, "queue_wait_quantile", "no closed form under queue=md1"), ({"queue": "mg1"}, "share_in_time", "no closed form under queue=mg1"), ({}, "queue_wait_quantile", ""),
     ({"queue": "md1"}, "queue_wait", ""), ({}, "batch", ""), ({}, "itl", ""), ({}, "nothing", "")],
)  # fmt: skip
def test_why_a_quantity_has_no_formula(switches, name, why):
    assert theory(assumptions=assume(**switches)).not_closed(name) == why


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("name", "on", "leads"),
    [("itl", "itl", True), ("itl", "mem_bandwidth", True), ("itl", "price", False), ("steady_batch", "arrival_rate", True), ("steady_batch", "prompt", True), ("best_batch", "mem_capacity", True),
     ("best_batch", "itl_target", True), ("mix_sustained_itl", "long_prompt", True), ("mix_sustained_itl", "chunk", True), ("recompute_time", "cached_prefix", True), ("ridge_point", "batch", False), ("batch", "batch", True)],
)  # fmt: skip
def test_what_a_name_leads_to(name, on, leads):
    """By its formula, by what stands for it without an input, by what is searched for, and by inputs that a formula changes."""
    assert theory().depends(name, on) is leads


TIMED = {
    "itl": True, "decode_throughput": True, "cost_per_mtok": True, "fleet_price": True, "load_time": True, "decode_bound": True, "decode_compute_time": True, "meets_itl": True,
    "ridge_point": False, "attainable_flops": False, "instance_price": False, "params": False, "fits": False, "batch": False, "link_ridge": False, "price": False, "max_goodput": True,
}  # fmt: skip


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


def test_a_formula_down_to_inputs():
    assert text(theory().expand(parse("ridge_point"))) == "peak_flops/mem_bandwidth"
    assert text(theory().expand(parse("ridge_point*2"), {"ridge_point": parse("intensity")})) in (
        "intensity*2",
        "2*intensity",
    )


def test_who_chose_a_switch_makes_no_other_theory():
    assert theory(assumptions=assume(queue="mm1")).definitions == theory().definitions
    assert theory(assumptions=assume(queue="mm1")).assumptions.defaulted("queue")
    assert (
        theory(assumptions=assume(queue="md1")).definitions["queue_wait"]
        != theory().definitions["queue_wait"]
    )
    assert (
        theory(own=STUDY).definitions["wait"] == parse("2*room")
        and "wait" not in theory().definitions
    )


# -------------------------------------------------------------------------------------------------------------- from SymPy

x, itl, batch, prompt, params = sympy.symbols("x itl batch prompt params")
LONG = sum(sympy.Symbol(f"unknown_name_{i}") for i in range(40))


def refused(read, thing):
    with pytest.raises(InputError) as error:
        read(thing)
    (problem,) = error.value.problems
    return problem


def test_names_and_expressions_of_sympy():
    assert (symbol_name(batch), symbol_name("batch"), symbol_name(3), symbol_name(batch + 1)) == (
        "batch",
        "batch",
        3,
        batch + 1,
    )
    assert (name_or_expression("itl"), name_or_expression(itl), name_or_expression("bs")) == (
        "itl",
        "itl",
        "bs",
    )
    assert "'bs'" in refused(name_or_expression, sympy.Symbol("bs")).message
    assert (known("isl"), known(itl), known("n_heads.local"), known("wait", STUDY)) == (
        "prompt",
        "itl",
        "n_heads.local",
        "wait",
    )
    assert str(known(2 * itl)) == "2*itl"


def test_expressions_that_are_no_quantity():
    assert (
        "has evaluated it to True" in refused(read_expression, sympy.Eq(x, x)).message
        and "it to False" in refused(read_expression, False).message
    )
    assert "is 0 whatever" in refused(name_or_expression, sympy.Mul(0, itl, evaluate=False)).message
    unknown = refused(name_or_expression, itl + sympy.Symbol("ttftt"))
    assert unknown.message == "unknown name 'ttftt'" and "ttft" in unknown.hint
    assert "byte" in refused(name_or_expression, sympy.Symbol("kv_cache_bytes") + itl).message
    every = sum(map(sympy.Symbol, [*INPUTS][:60]))
    assert [
        refused(name_or_expression, thing).source
        for thing in (LONG, every, batch + sympy.Symbol("mfu"))
    ] == [
        str(LONG)[:200],
        str(every)[:200],
        "batch + mfu",
    ]
    assert (
        str(name_or_expression(batch + prompt)) == "prompt + batch"
        and str(name_or_expression(sympy.Symbol("seats") + batch, STUDY)) == "batch + seats"
    )
    derivative = refused(read_expression, sympy.Derivative(sympy.Function("f")(x), x))
    assert (
        "a f has no meaning here" in derivative.message
        and not refused(read_expression, sympy.Integral(x, x)).hint
    )
    wide = sympy.Integral(LONG, x)
    assert refused(read_expression, wide).source == str(wide)[:200] and len(str(wide)) > 300


def test_what_is_no_name_is_refused_with_what_is_near():
    assert "symroof solve max_batch_memory" in refused(known, "max_batch_memory").hint
    near = refused(known, "ttftt")
    assert near.message == "no such quantity or input" and "ttft" in near.hint
