"""A case by itself: which value a name takes, what stands for it, how it moves. Quantities have the formulas that a test needs."""

from fractions import Fraction

import pytest

from symroof.errors import NoValue
from symroof.symbolic.expressions import names
from symroof.symbolic.printing import text
from symroof.symbolic.reading import parse
from symroof.theory.architecture import Architecture, Layer
from symroof.theory.case import Case
from symroof.theory.declarations import MissingInput, NoClosedForm
from symroof.theory.theory import UnknownName

from ..tables import case_of, words
from . import made

TWO_KINDS = Architecture(
    (
        Layer(label="local", reach="window", own=frozenset({"n_layers"})),
        Layer(label="full", own=frozenset({"n_layers"})),
    ),
    order=("local", "full"),
)


# ------------------------------------------------------------------------------------------------------------------ values


def test_where_a_value_comes_from():
    formulas = {"mem_bandwidth": "2*link_bandwidth", "batch": "chunk + 1"}
    case = made(peak_flops=60, **formulas, numbers={"link_bandwidth": 10, "chunk": 4})
    values = case_of(
        "peak_flops=60 link_bandwidth=10 mem_bandwidth=20 ridge_point=3 batch=5 mfu=1 block_size=16"
    )
    assert {name: case.value(name) for name in values} == values
    assert [*map(case.has_value, ("ridge_point", "prompt", "ttft"))] == [True, False, False]
    with pytest.raises(MissingInput, match="needs prompt") as missing:
        case.value("prompt")
    assert missing.value.name == "prompt"
    of_unknown = made(batch="2*nothing", n_layers=2), "kv_cache_bytes"
    for asked, name in ((case, "nothing"), of_unknown, of_unknown):  # the second time as well
        with pytest.raises(UnknownName):
            asked.value(name)
    with pytest.raises(NoClosedForm, match="no closed form under queue=md1"):
        made(switches={"queue": "md1"}, utilization="1/2").value("queue_wait_quantile")


def test_a_name_that_leads_back_to_itself_has_no_value():
    with pytest.raises(NoValue, match="is defined by itself"):
        made(itl="2*decode_time", decode_time="itl + 1").value("itl")
    again = made(itl="2*decode_time", decode_time="itl + 1", prompt=3)
    assert (
        not again.has_value("itl")
        and not again.has_value("decode_time")
        and again.value("prompt") == 3
    )


@pytest.mark.parametrize("changes", [1, 11, 12, 13, 14])
def test_values_at_changed_inputs_lead_twelve_deep(changes):
    """``n0 = 2 n1(batch = 2)`` and so on to the last one; a circle would lead on for ever."""
    chain = words(
        "ttft itl tpot decode_time prefill_time response_time price power queue_time clock "
        "margin mfu mbu chunk prompt"
    )
    formulas = {chain[i]: f"2*{chain[i + 1]}(batch = 2)" for i in range(changes)}
    case = made(**formulas, **{chain[changes]: "batch + 1"}, batch=5)
    if changes <= 12:
        assert case.value("ttft") == 3 * 2**changes
    else:
        with pytest.raises(NoValue, match="is defined by itself"):
            case.value("ttft")


# --------------------------------------------------------------------------------------------------- formulas and stand-ins


def test_optional_inputs_stand_in_a_formula_where_they_have_a_value():
    bare = {"step_overhead": 3, "layer_overhead": 2, "n_layers": 5}
    case = made(**bare)
    assert case.value("decode_overhead") == 13
    assert "kernel_launch" not in text(case.formula("decode_overhead"))
    for formula in (
        case.formula("decode_overhead", {"kernel_launch"}),
        case.formula_or_name("decode_overhead", complete=False),
    ):
        assert "kernel_launch*kernels" in text(formula)
    launched = made(**bare, kernel_launch=7, kernels_per_layer=2)
    assert launched.value("decode_overhead") == 13 + 7 * 10
    assert "kernel_launch" in text(
        launched.formula("decode_overhead")
    ) and "elementwise_bytes" not in text(launched.formula("decode_overhead"))
    assert text(case.readable_formula("decode_overhead")) == text(case.formula("decode_overhead"))
    unknown = made(layer_overhead=2)
    assert "kernel_launch" in text(unknown.readable_formula("decode_overhead")), (
        "of a name without a value the whole formula is shown"
    )


def test_a_formula_over_inputs():
    case = made(peak_flops=60, mem_bandwidth="2*link_bandwidth", numbers={"link_bandwidth": 10})
    assert {*names(case.expanded(parse("ridge_point + 1")))} == {"peak_flops", "link_bandwidth"}
    assert case.evaluate(case.expanded(parse("ridge_point + 1"))) == 4
    assert case.expanded(parse("effective_ridge")) == case.expanded(parse("ridge_point*mfu/mbu"))
    held = made(peak_flops=60, mem_bandwidth=20, numbers={"ridge_point": 8})
    assert held.expanded(parse("effective_ridge")) == parse("ridge_point*mfu/mbu"), (
        "a number in the place of a definition stays a name"
    )
    assert "kernel_launch" not in {
        *names(
            made(step_overhead=3, layer_overhead=2, n_layers=5).expanded(parse("decode_overhead"))
        )
    }


# ---------------------------------------------------------------------------------------------- totals that have parts


PARTS = {"n_layers__local": 3, "n_layers__full": 5, **case_of("n_kv_heads=2 head_dim=4 window=10")}
PARTS |= {"kv_bytes_per_element": 1, "batch": 1}


@pytest.mark.parametrize("by", ["given", "numbers", "changed"])
def test_a_given_total_is_split_as_its_definition_splits_it(by):
    """16 bytes a token and layer: 48 and 80 of 128. Of 1,000 the kinds have three eighths and five."""
    case = made(
        TWO_KINDS,
        **PARTS,
        **({"kv_bytes_per_token": 1000} if by == "given" else {}),
        numbers={"kv_bytes_per_token": 1000} if by == "numbers" else {},
    )
    there = case.changed({"kv_bytes_per_token": Fraction(1000)}) if by == "changed" else case
    local, full = "kv_bytes_per_token.local", "kv_bytes_per_token.full"
    assert [there.value(name) for name in (local, full)] == [375, 625]
    assert there.changed({"context": Fraction(40)}).value("kv_cache_bytes") == 375 * 10 + 625 * 40
    plain = made(TWO_KINDS, **PARTS)
    assert plain.value(local) == 48
    assert [
        "kv_bytes_per_token" in names(plain.formula(local, changed))
        for changed in ((), {"kv_bytes_per_token"})
    ] == [False, True]


@pytest.mark.parametrize("by", ["given", "numbers", "changed"])
def test_a_device_has_an_even_share_of_a_given_total(by):
    degrees = {"tp": 2, "pp": 3}
    total = {"decode_flops": 600}
    case = made(
        **degrees, **(total if by == "given" else {}), numbers=total if by == "numbers" else {}
    )
    case = case.changed({"decode_flops": Fraction(600)}) if by == "changed" else case
    assert case.value("decode_flops_per_device") == 100
    assert text(case.formula("decode_flops_per_device")) == "decode_flops/(tp*pp)"
    assert made(decode_flops=600).value("decode_flops_per_device") == 600
    asked = made(**degrees).formula("decode_flops_per_device", {"decode_flops"})
    assert text(asked) == "decode_flops/(tp*pp)"
    assert text(made(**degrees).formula("decode_flops_per_device")) != "decode_flops/(tp*pp)"


# ---------------------------------------------------------------------------------------------------------------- layouts


def test_a_degree_that_moves_is_no_longer_known_to_be_above_one():
    """One device would send nothing: unless degrees move only among those of the same layout."""
    case = made(tp=4, n_layers=2)
    fixed, free = "2*n_layers", "2*n_layers*min(tp - 1, 1)"
    found = [text(case.formula("all_reduces", moved)) for moved in ((), {"batch"}, {"tp"})]
    assert found == [fixed, fixed, free]
    there = Case(case.theory, case.given, same_layout=True)
    assert text(there.formula("all_reduces", {"tp"})) == fixed
    alone = made(n_layers=2)
    assert [alone.at("all_reduces", {"tp": Fraction(n)}) for n in (2, 1, 4)] == [4, 0, 4]


# ------------------------------------------------------------------------------------------------------- changes and slopes


def test_slopes_and_elasticities():
    """``free = 9 - 2 x``, at x = 2: -2, and -4/5 of a per cent for a per cent."""
    case = made(price="9 - 2*chunk", chunk=2, mem_bandwidth=4, peak_flops=12)
    for name, by, slope, elasticity in (
        ("instance_price", "chunk", -2, pytest.approx(-4 / 5)),
        ("ridge_point", "mem_bandwidth", Fraction(-12, 16), -1),
        ("ridge_point", "chunk", 0, 0),
        ("chunk", "chunk", 1, 1),
    ):
        assert case.slope(name, by) == slope
        assert case.elasticities(name, (by,))[by] == elasticity


# --------------------------------------------------------------------------------------------------------------- searches

SERVED = {
    "response_steps": 10,
    "loaded_decode_time": "1 + batch/4",
    "prefill_request_rate": Fraction(1, 5),
    "batch": 64,
    "instance_devices": 1,
}


def test_a_search_for_a_batch():
    """``B = 1/5*10*(1 + B/4)`` is 4; the batch itself where that is less. It moves with what its formula has: ``2 dr/(1 - 1/2)`` more for a rate of 1/5 + dr."""
    case = made(**SERVED)
    assert case.value("disaggregated_batch") == 4
    by = ("batch", "prefill_request_rate")
    assert [case.slope("disaggregated_batch", name) for name in by] == [0, 40]
    rest = {name: value for name, value in SERVED.items() if name != "batch"}
    beside = made(**rest, numbers={"batch": 64})
    assert beside.slope("disaggregated_batch", "prefill_request_rate") == 40
    few = made(**{**SERVED, "batch": 3})
    assert few.value("disaggregated_batch") == 3
    assert [few.slope("disaggregated_batch", name) for name in by] == [1, 0]
    assert case.search("disaggregated_batch").kind == "fixed_point" and case.search("itl") is None
    assert made(**SERVED, disaggregated_batch=7).search("disaggregated_batch") is None
    assert made(**SERVED, disaggregated_batch=7).value("disaggregated_batch") == 7


def test_a_search_that_needs_an_input_takes_the_batch_without_it():
    rate = {"open_step_time": 1, "slot_steps": 2, "load": Fraction(1, 2), "most_decoding": 9}
    case = made(**rate)
    assert case.search("steady_batch") is None and case.value("steady_batch") == 9
    assert (
        text(case.formula("steady_batch")) == "most_decoding"
        and case.search("steady_batch", {"arrival_rate"}) is not None
    )
    assert made(**rate, arrival_rate=3).value("steady_batch") == 6
    with pytest.raises(NoValue, match="no steady state"):
        made(**{**rate, "load": 1}, arrival_rate=3).value("steady_batch")


def test_what_is_chosen_by_what_decides_it():
    """A prompt that is longer than a step has room for leaves a rest. What decides stays a choice where it moves."""
    values = case_of("uncached_prompt=30 rest_tokens=5 fresh_tokens=40 fresh_skew=3 batch=2")
    values |= {"fresh_spread": 13, "prefill_room": "batch*10", "packed_tokens": "batch*10"}
    long = made(**values)
    assert long.value("few_tokens") == 5 and text(long.formula("few_tokens")) == "rest_tokens"
    short = made(**{**values, "batch": 4})  # 40 + 3 - 13 of 40
    assert short.value("few_tokens") == 30 and "of_largest" not in text(short.formula("few_tokens"))
    assert [long.at("few_tokens", {"batch": Fraction(n)}) for n in (4, 2)] == [30, 5], (
        "each by its own numbers"
    )
    for moved in ("batch", "uncached_prompt"):
        assert "of_largest" in text(short.formula("few_tokens", {moved}))
    assert "of_largest" not in text(short.formula("few_tokens", {"price"}))


# ------------------------------------------------------------------------------------------------------------ dependences


def test_a_default_that_a_formula_leaves_out_moves_it_all_the_same():
    """Pairs of a prompt of 4, of which 1 is cached if it hits: (h*3^2 + (1 - h)*4^2)/(4 - h), 3 at h = 1, with a slope of (-7*3 + 9)/3^2."""
    here = made(prompt=4, cached_prefix=1)
    assert here.value("uncached_prompt_of_token") == 3
    assert here.slope("uncached_prompt_of_token", "hit_rate") == pytest.approx(-12 / 9, rel=1e-12)


def test_the_inputs_that_a_value_is_worked_out_from():
    case = made(peak_flops=60, mem_bandwidth="2*link_bandwidth", link_bandwidth=10)
    used = ("peak_flops", "mem_bandwidth", "link_bandwidth")
    assert case.reachable_names("ridge_point") == ("ridge_point", *used)
    assert case.inputs_used("ridge_point", "price") == (*used, "price")


def test_groups_that_each_hold_a_given_total_hold_all_of_it():
    assert made(attention_dp=2, weight_bytes=100).value("weight_bytes_per_device") == 100
    assert made(attention_dp=2, tp=5, weight_bytes=100).value("weight_bytes_per_device") == 20
