"""What ``solve`` answers in SymPy: nothing that was not given, one expression that holds, closed by one ``xreplace``, and as good a value as any."""

import itertools
import pickle

import pytest
import sympy

import symroof as sr
from symroof import symbols as s
from symroof.errors import InputError
from symroof.symbolic.applied import Quantity
from symroof.theory.declarations import THRESHOLDS
from symroof.theory.symbols import INPUTS
from tests.tables import case_of

CHAT = case_of("model=llama-3-8b hardware=h100-sxm engine=ideal prompt=1024 output=256")


def number(expression, values):
    """What an expression comes to; SymPy keeps roots and logarithms exact."""
    use_defaults = expression.xreplace(values)
    assert not use_defaults.free_symbols
    return sympy.N(use_defaults, 40)


def agrees(expression, study, exact):
    return abs(number(expression, study.values()) - sympy.Rational(str(exact))) <= abs(
        exact
    ) * sympy.Float("1e-12")


def test_without_a_case_every_input_stays():
    """The cache is batch * context * bytes of a token; the memory holds it beside the weights and the reserve."""
    left = s.memory_share * s.mem_capacity - s.memory_reserve - s.weight_bytes
    cache = sr.solve(sympy.Eq(s.kv_cache_bytes, s.weight_bytes), for_=s.context)
    assert cache.sympy == s.weight_bytes / (s.batch * s.kv_bytes_per_token)
    context = sr.solve("max_context_memory")
    assert context.branches[0][0] == left / (s.batch * s.kv_bytes_per_token)
    assert {s.prefill_batch, s.cached_prefix, s.mfu, s.mbu} <= sr.solve(
        "prompt_to_ridge"
    ).expanded.free_symbols
    assert cache.assumed == context.assumed == {}
    ridge = sr.solve("batch_to_ridge")
    assert (ridge.symbol, sr.solve("kv_cache_bytes = 1 GB", "context").symbol) == (
        s.batch,
        s.context,
    )


@pytest.mark.parametrize(
    ("equation", "unknown"),
    [("max_batch_itl", None), ("min_bandwidth_itl", None), ("itl = 10 ms", "mem_bandwidth")],
)
def test_what_depends_on_conditions_has_them(equation, unknown):
    solution = sr.solve(equation, unknown)
    (either,) = solution.conditions
    assert solution.verdict == "conditional" and len(either.args) == len(solution.sympy.args) == 2


def test_what_nobody_gave_is_said():
    study = sr.Study(**CHAT, weights="fp8")
    solution = study.solve("max_context_memory")
    assert solution.assumed == {
        s.batch: 1,
        s.kv_bytes_per_element: 2,
        s.memory_reserve: 0,
        s.memory_share: 1,
    }
    assert "batch" not in str(sr.Study(**CHAT, batch=1).solve("max_context_memory").assumed)
    assert all(study.values()[name] == value for name, value in solution.assumed.items())


HOLDING = [  # equation, unknown, what the case has beside
    ("prompt_ttft_exceeds_decode", None, {"mfu": 0.5}),
    (sympy.Eq(s.itl, sympy.Rational(1, 100)), s.batch, {"prompt": 4096}),
    ("max_batch_memory", None, {}),
    ("min_devices_memory", None, {}),
    ("ttft = output*itl", "prompt", {}),
    ("kv_cache_bytes = weight_bytes", "context", {"model": "gemma-2-9b"}),
]


@pytest.mark.sample(3)
@pytest.mark.parametrize(("equation", "unknown", "more"), HOLDING, ids=str)
def test_the_form_that_holds_gives_the_value(equation, unknown, more):
    study = sr.Study(**{**CHAT, **more})
    solution = study.solve(equation, unknown)
    assert agrees(solution.sympy, study, solution.value)
    assert agrees(solution.expanded, study, solution.value)
    at_the_answer = {s.symbol(solution.unknown): solution.sympy}
    assert all(
        condition.xreplace(at_the_answer).xreplace(study.values()) == True  # noqa: E712
        for condition in solution.conditions
    )


@pytest.mark.sample(1)
@pytest.mark.parametrize("threshold", ["prompt_ttft_exceeds_decode", "max_batch_itl"])
@pytest.mark.parametrize(
    "setting", [{"batch": 1, "mfu": 0.4}, {"batch": 200, "mbu": 0.9, "layer_overhead": 1e-5}]
)
def test_without_a_case_the_pieces_are_those_of_any_case(threshold, setting):
    """One answer without numbers, and the numbers of three cases put in: short batches are limited by memory, long ones by compute."""
    alone = {"targets": {"itl": "20 ms"}, "assume": {"targets_under": "isolated"}}
    study = sr.Study(**{**CHAT, "mfu": 0.5, "mbu": 0.7, **setting}, **alone)
    whole, solution = sr.solve(threshold).sympy, study.solve(threshold)
    named = whole.replace(Quantity, lambda *values: sympy.Symbol("of_other_names"))
    assert isinstance(whole, sympy.Piecewise) and not named.has(s.symbol(solution.unknown))
    if solution.value is None:
        assert whole.xreplace(study.values()) is sympy.nan
    else:
        assert agrees(whole, study, solution.value)


@pytest.mark.sample(1)
@pytest.mark.parametrize("study", [sr.Study(), sr.Study(**CHAT)], ids=["no case", "case"])
@pytest.mark.parametrize("equation", ["max_batch_memory", "batch_to_ridge", "min_devices_itl"])
def test_one_replacement_closes(study, equation):
    """Down to inputs, in the answer, its candidates, its conditions and its limits."""
    solution = study.solve(equation)
    inputs = {s.symbol(name) for name in INPUTS}
    formulas = [
        *(form for form, _ in solution.branches),
        *(each for _, held in solution.branches for each in held),
        *solution.conditions,
        *solution.limits,
    ]
    for formula in formulas if solution.sympy is None else [solution.sympy, *formulas]:
        closed = formula.xreplace(solution.where)
        assert closed.free_symbols <= inputs and not closed.atoms(Quantity)
    assert solution.expanded is None or solution.expanded == solution.sympy.xreplace(solution.where)


def test_values_find_derived_quantities_when_asked(tmp_path):
    """The items are the inputs; a quantity is worked out where an expression names it."""
    values = sr.Study(**CHAT, batch=2).values()
    assert s.kv_cache_bytes not in list(values) and values[s.kv_cache_bytes] == 2 * 1024 * 131_072
    assert (s.kv_cache_bytes / s.batch).xreplace(values) == 1024 * 131_072
    assert (
        s.queue_wait not in values
        and sympy.Symbol("no_such_name") not in values
        and 3 not in values
    )
    with pytest.raises(KeyError):
        values[s.queue_wait]
    assert pickle.loads(pickle.dumps(values)) == dict(values)


@pytest.mark.parametrize(("k", "f"), [(10, 5), (100, 5), (3, 9), (25, 5)])
def test_of_two_pieces_that_hold_the_first_crossing_is_the_answer(k, f):
    """A falling and a rising arm: they meet the width at k/f and at f, where f is the longer of both."""
    equation = "max(gemm_m, gemm_k*gemm_n/gemm_m) = d_ff"
    study = sr.Study(gemm_k=k, gemm_n=1, d_ff=f)
    use_defaults = sr.solve(equation, "gemm_m").sympy.xreplace(study.values())
    exact = study.solve(equation, "gemm_m").value
    assert (
        use_defaults is sympy.nan
        if exact is None
        else abs(use_defaults - sympy.Rational(str(exact))) < 1e-12
    )


def test_an_input_that_is_nothing_leaves_no_answer_that_divides_by_it():
    whole = sr.solve("launches_dominate").sympy
    assert whole.xreplace({s.kernel_launch: sympy.S.Zero}) is sympy.nan
    (_, exists), *_ = sr.solve("prefill_devices_pace").sympy.args
    assert exists == (s.response_steps > 0)
    assert (1 - s.expert_share > 0) in sr.solve("batch_reads_experts").sympy.args[0][1].args


HEAP, TAKEN, PER_ROW, WIDE = sympy.symbols("heap taken per_row wide", positive=True)
OWN = sr.Theory(
    inputs=dict.fromkeys((HEAP, TAKEN, PER_ROW, WIDE), ""),
    define={
        "left": HEAP - TAKEN,
        "spare": PER_ROW - 3,
        "wave": sympy.sin(HEAP),
        "held": sympy.Max(HEAP - TAKEN, 0),
    },
)


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    "equation",
    [
        "3*wide*left = 5",
        "wide*log(heap/2) = 1",
        "max(wide*left, 2) = 3",
        "wide^2*left + wide - 1 = 0",
        "wide^2*left + spare*wide + 2 = 0",
        "wide*left = spare",
    ],
)
def test_what_may_be_negative_is_a_condition(equation):
    """The pieces are the answer of each case, whichever way round what is left is, and nothing where it has none."""
    whole, met = OWN.solve(equation, "wide"), 0
    assert WIDE not in whole.sympy.free_symbols and whole.verdict == "conditional"
    for heap, taken, per_row in itertools.product((1, 3, 4), (1, 2, 7), (1, 2, 3, 5)):
        study = OWN.study(heap=heap, taken=taken, per_row=per_row)
        exact = study.solve(equation, "wide").value
        if exact is None:
            assert whole.sympy.xreplace(study.values()) is sympy.nan, (heap, taken, per_row)
        else:
            assert agrees(whole.sympy, study, exact), (heap, taken, per_row)
        met += exact is not None
    assert met > 0


CASE = case_of(
    "hardware=h200 engine=ideal prompt=1000 output=50 batch=4 mfu=0.5 mbu=0.8 "
    "step_overhead='1 ms' itl_target='20 ms' ttft_target='1 s' arrival_rate=0.5 "
    "price='3 USD/hour' chunk=256 gemm_k=4096 gemm_n=4096 network_bandwidth='50 GB/s' "
    "cost_target='0.5 USD' rival_price='4 USD/hour' rival_throughput=1000"
)
DRAFT = {"draft_tokens": 3, "acceptance": 0.7, "draft_cost": 0.1}


@pytest.mark.full
@pytest.mark.parametrize("model", ["llama-3-8b", "deepseek-v2-lite"])
def test_named_thresholds(model):
    closed = 0
    for name, threshold in THRESHOLDS.items():
        study = sr.Study(model, **CASE, **(DRAFT if threshold.group == "speculation" else {}))
        try:
            solution = study.solve(name)
        except InputError:  # the model has no such thing: experts, chunks of a state
            continue
        if solution.sympy is None or solution.value is None:
            assert solution.missing or solution.why_numeric, name
            continue
        there = float(sympy.N(solution.sympy.xreplace(study.values()).doit(), 30))
        assert there == pytest.approx(solution.value, rel=1e-10), name
        closed += 1
    assert closed > 15
