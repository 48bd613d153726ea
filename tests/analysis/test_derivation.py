"""What a derivation explains: limit forms and elasticities, against hand formulas, values far out and central differences."""

from fractions import Fraction
from functools import cache

import pytest

from symroof.api import Study
from symroof.symbolic.reading import parse
from symroof.theory.quantities import QUANTITIES
from symroof.theory.symbols import INPUTS
from tests.theory import as_symbols

from ..near import near

H100 = {"hardware": "h100-sxm", "prompt": 4096, "output": 512, "batch": 8, "efficiency": "peak"}
CASES = {
    "two devices": {"model": "llama-3-70b", "tp": 2, **H100},
    "windows": {"model": "gemma-2-9b", **H100, "prompt": 6000},
    "within the window": {"model": "gemma-2-9b", **H100, "prompt": 1000},
    "preset": {"model": "llama-3-8b", "preset": "tutorial-mlsysim", **H100},
    "per operator": {
        "model": "qwen2.5-7b",
        "assume": {"roofline": "per_operator", "kv_growth": "fixed"},
        **H100,
    },
    "first order": {
        "model": "llama-3-8b",
        "assume": {"detail": "weights", "logits": "all"},
        **H100,
        "batch": 400,
    },
    "overheads": {
        "model": "falcon-7b",
        "layer_overhead": "10 us",
        "step_overhead": "1 ms",
        "price": "2 USD/hour",
        "gemm_m": 64,
        "gemm_k": 4096,
        "gemm_n": 512,
        **H100,
    },
    "paged": {
        "model": "llama-3-8b",
        "assume": {"kv_reserve": "paged", "attention": "full"},
        **H100,
        "cached_prefix": 1000,
    },
}


FEW = ("ttft", "itl", "decode_time", "decode_throughput", "prefill_mfu")
"""Operator by operator there is a maximum to each, and these are enough of them."""


@pytest.fixture(scope="module", params=CASES)
def derivations(request):
    """Every fourth quantity derived in one of the cases or more, each once for all tests."""
    study, whole = (
        Study(**CASES[request.param]),
        [label for label in CASES if label not in ("per operator", "within the window")],
    )
    dealt = (
        []
        if request.param not in whole
        else list(QUANTITIES)[whole.index(request.param) :: 4 * len(whole)]
    )
    return [study.derive(quantity) for quantity in dict.fromkeys((*FEW, *dealt))]


@pytest.fixture(scope="module")
def numbers(derivations):
    """Those that have a number here."""
    return [
        derivation
        for derivation in derivations
        if derivation.result and isinstance(derivation.result.value, float)
    ]


def moved(case):
    """The case at other values of an input, each made once: what one quantity works out there serves the next."""
    return cache(lambda name, value: case.changed({name: value}))


def limits_of(study, quantity):
    return {(limit.symbol.name, limit.to): limit for limit in study.derive(quantity).limits}


# ------------------------------------------------------------------------------------------------- every quantity

SERVED = {
    "draft_tokens": 3,
    "acceptance": 0.7,
    "chunk": 256,
    "arrival_rate": "0.1/s",
    "kernels_per_layer": 10,
    "itl_target": "1 s",
    "ttft_target": "9 s",
}
"""What serving asks for beside a model, a device and a workload."""
FAR, CLOSE = Fraction(10) ** 36, Fraction(1, 10**36)
LONG = Fraction(10**11)
"""A response has whole tokens, and each is a step."""


@pytest.mark.full
def test_every_limit_is_where_the_quantity_goes(numbers):
    """The quantity itself at an input far out or close to nothing is the limit; what grows, grows like the reported term."""
    seen, case = 0, numbers[0].bound_case.case
    at = moved(case)
    for derivation in numbers:
        quantity = derivation.name
        assert derivation.bound_case.case is case
        for limit in derivation.limits:
            x = LONG if limit.symbol.name == "output" else CLOSE if limit.to == 0 else FAR
            there, close = at(limit.symbol.name, x), Fraction(1, 10**4 if x == LONG else 10**9)
            where = (quantity, limit.says, limit.text)
            if limit.grows:
                assert abs(there.value(quantity) / there.evaluate(parse(limit.text)) - 1) < close, (
                    where
                )
                assert limit.result is None, where
            elif limit.text == "0":
                assert abs(there.value(quantity)) < close * max(abs(case.value(quantity)), 1), where
            else:
                assert abs(there.value(quantity) / limit.result.value - 1) < close, where
                assert limit.result.value != case.value(quantity), where
            seen += 1
    assert seen >= 2 * len(FEW)


@pytest.mark.full
def test_every_elasticity_is_a_central_difference(numbers):
    """Value and formula, each against the quantity a little above and a little below; at a jump, on the side it belongs to."""
    seen, formulas, case = 0, 0, numbers[0].bound_case.case
    at = moved(case)
    for derivation in numbers:
        quantity = derivation.name
        assert derivation.bound_case.case is case
        for result in derivation.elasticities:
            name, h = result.symbol.name, Fraction(1, 10**5)
            above, below = (
                at(name, case.value(name) * (1 + s * h)).value(quantity) for s in (1, -1)
            )
            here, width = case.value(quantity), 2 * h
            if (
                abs(above - below) > abs(here) / 1000
            ):  # a rounding jumps here: the slope is that of the side the value belongs to
                above, below, width = (
                    (above, here, h) if abs(above - here) < abs(below - here) else (here, below, h)
                )
            expected = (above - below) / (width * here)
            assert abs(result.value - expected) < Fraction(1, 10**5), (quantity, name)
            if result.text is not None:
                assert abs(case.evaluate(parse(result.text)) - expected) < Fraction(1, 10**5), (
                    quantity,
                    name,
                    result.text,
                )
                formulas += 1
            seen += 1
    assert seen > 4 * len(FEW)
    assert formulas > len(FEW)


@pytest.mark.full
def test_elasticities_are_noticeable_sorted_and_of_what_can_be_chosen(numbers):
    shape = {
        "n_layers",
        "d_model",
        "n_heads",
        "n_kv_heads",
        "head_dim",
        "d_ff",
        "vocab_size",
        "window",
        "ffn_matrices",
        "tp",
    }
    for derivation in numbers:
        sizes = [abs(result.value) for result in derivation.elasticities]
        assert sizes == sorted(sizes, reverse=True)
        assert all(size >= Fraction(5, 1000) for size in sizes)
        assert (
            not {result.symbol.name.partition(".")[0] for result in derivation.elasticities} & shape
        )


@pytest.mark.full
def test_every_text_parses_and_every_latex_balances(derivations):
    for derivation in derivations:
        result = derivation.as_json()
        for part in [
            *result["limits"],
            *result["elasticities"],
            *([result["first_order"]] if result["first_order"] else []),
        ]:
            if part["text"] is not None:
                parse(part["text"])
                assert part["latex"].count("{") == part["latex"].count("}")
        for limit in result["limits"]:
            assert set(limit) == {"symbol", "to", "text", "latex", "says", "value"}
            assert limit["to"] in (0, "infinity")
        for elasticity in result["elasticities"]:
            assert {"symbol", "value", "text", "latex"} <= set(elasticity)


# ------------------------------------------------------------------------------------------------- without a case


WITHOUT = (
    {},
    {"model": "llama-3-8b"},
    {"hardware": "h100-sxm", "batch": 4, "assume": {"detail": "attention"}},
)
NAMES = (*QUANTITIES, *INPUTS)
ASKED = [(chosen, NAMES[part :: 8 * len(WITHOUT)]) for part, chosen in enumerate(WITHOUT)]
"""Cases that lack inputs, and names to ask of each: of layers of two kinds, formulas are long, and fewer names are enough."""


@pytest.mark.full
@pytest.mark.parametrize(
    ("chosen", "asked"),
    [*ASKED, ({"model": "gemma-2-9b"}, (*FEW, *NAMES[::30]))],
    ids=["symbols", "model", "hardware", "windows"],
)
def test_missing_inputs_leave_the_answer_symbolic(chosen, asked, monkeypatch):
    """Whatever is missing, nothing raises; a reported form at a made-up case is the value of the quantity there. Every eighth name, each in one of the cases."""
    full = {"model": "llama-3-8b", **H100, "prompt": 6000, **SERVED, **chosen}
    if "hardware" not in chosen:  # of a network nothing is known
        full["node_devices"] = 10 * FAR
    if "model" not in chosen:
        as_symbols(monkeypatch, known=("network_bandwidth",))
    study, full = Study(**chosen), Study(**full).first.case
    at = moved(full)
    for quantity in asked:
        derivation = study.derive(quantity)
        derivation.as_json()
        if "peak_context" in full.theory.dependencies(
            quantity
        ):  # what is missing counts as one token there
            continue
        if "chunk" not in chosen and "step_budget" in full.theory.dependencies(
            quantity
        ):  # paced where no budget is known; the made-up case has one
            continue
        if (
            quantity == "itl_last" and "output" not in chosen
        ):  # the step at the context where no output is known; the made-up case has one
            continue
        for limit in derivation.limits:
            held = all(full.evaluate(parse(condition)) for condition in limit.conditions_text)
            if (
                derivation.result is None
                and held
                and full.has(quantity)
                and limit.symbol.name not in ("output", "intensity")
                and not quantity.startswith("gemm")
            ):
                there = at(limit.symbol.name, CLOSE if limit.to == 0 else FAR)
                _agrees(limit, there, quantity)


def _agrees(limit, there, quantity):
    try:
        value, expected = there.value(quantity), there.evaluate(parse(limit.text))
    except ArithmeticError:  # an input that this case lacks too
        return
    if expected:
        assert abs(value / expected - 1) < Fraction(1, 10**6), (quantity, limit.says, limit.text)
    else:
        assert abs(value) < Fraction(1, 10**6), (quantity, limit.says)


def test_without_numbers_each_arm_has_elasticities_of_its_own():
    result = {(e.symbol.name, e.arm): e.text for e in Study().derive("itl").elasticities}
    assert result["peak_flops", "decode_compute_time"] == "-1"
    assert result["mem_bandwidth", "decode_memory_time"] == "-1"
    assert ("peak_flops", "decode_memory_time") not in result
    assert result["context", "decode_memory_time"] == "kv_bytes_per_token*decode_span/decode_bytes"
    limits = [
        limit
        for limit in Study().derive("itl").limits
        if limit.symbol.name == "context" and limit.to == "infinity"
    ]
    assert [len(limit.conditions_text) for limit in limits] == [1, 1]
    assert all("while" in limit.says and "without bound" in limit.says for limit in limits)


# --------------------------------------------------------------------------------------------------- hand formulas


def test_a_matrix_product_without_activations_and_with_many_rows():
    """Theory, row 3: 2S/b_w, and d/b of a square matrix."""
    limits = limits_of(Study(), "gemm_intensity")
    assert limits["act_bytes_per_element", 0].text == "2*gemm_m/weight_bytes_per_param"
    d, b = Fraction(4096), Fraction(2)
    square = limits_of(Study(gemm_m=1000, gemm_k=4096, gemm_n=4096), "gemm_intensity")
    assert square["gemm_m", "infinity"].result.value == d / b
    assert square["act_bytes_per_element", 0].result.value == 2 * 1000 / b
    assert square["gemm_m", "infinity"].result.text() == "2,048 FLOP/byte"


def test_decode_intensity_at_first_order_is_two_b_over_the_weight_bytes():
    for detail in ("exact", "attention", "kv"):
        derivation = Study(assume={"detail": detail}).derive("decode_intensity")
        assert derivation.first_order.text == "2*batch/weight_bytes_per_param"
    assert Study(assume={"detail": "weights"}).derive("decode_intensity").first_order is None
    assert Study().derive("prefill_intensity").first_order.text == "2*prompt/weight_bytes_per_param"
    assert (
        Study(model="llama-3-70b", params=70e9, **H100)
        .derive("decode_intensity")
        .as_json()["first_order"]["value"]
        == 8
    )


def test_intensity_of_an_endless_batch():
    """Theory, row 37: (2P + aS)/(kappa S) is 112.3 for the 70B at 4,096 tokens."""
    study = Study(
        model="llama-3-70b",
        params=70e9,
        hardware="h100-sxm",
        prompt=4096,
        assume={"detail": "attention"},
    )
    limit = limits_of(study, "decode_intensity")["batch", "infinity"]
    p, a, kappa, s = 70 * 10**9, 4 * 80 * 64 * 128, 2 * 80 * 8 * 128 * 2, 4096
    assert limit.result.value == near(Fraction(2 * p + a * s, kappa * s))
    assert f"{float(limit.result.value):.1f}" == "112.3"
    assert (
        limit.text == "(2*params + attention_flops_per_pair*context)/(kv_bytes_per_token*context)"
    )
    assert (
        limits_of(study, "decode_intensity")["context", "infinity"].result.value
        == Fraction(a, kappa)
        == 8
    )


def test_throughput_of_an_endless_batch_is_what_the_cache_lets_through():
    """Theory, row 38: BW/(kappa S) on the memory arm, F/(2P + aS) on the compute arm: the smaller of the two."""
    study = Study(
        model="llama-3-8b",
        params=8.03e9,
        hardware="h100-sxm",
        prompt=2048,
        assume={"detail": "attention"},
        efficiency="peak",
    )
    bandwidth, kappa = 3.35e12, 131072
    assert limits_of(study, "decode_throughput")["batch", "infinity"].result.value == near(
        bandwidth / (kappa * 2048)
    )
    short = Study(
        model="llama-3-8b",
        params=8.03e9,
        hardware="h100-sxm",
        prompt=100,
        assume={"detail": "attention"},
        efficiency="peak",
    )
    compute = 989.4e12 / (2 * 8.03e9 + 4 * 32 * 32 * 128 * 100)
    assert compute < bandwidth / (kappa * 100)
    assert limits_of(short, "decode_throughput")["batch", "infinity"].result.value == near(compute)


def test_the_elasticity_in_the_context_is_the_caches_share():
    study = Study(
        model="llama-3-70b",
        params=70e9,
        hardware="h100-sxm",
        prompt=4608,
        assume={"detail": "attention"},
        efficiency="peak",
    )
    result = {e.symbol.name: e for e in study.derive("itl").elasticities}
    assert result["prompt"].value == near(Fraction(327680 * 4608, 140 * 10**9 + 327680 * 4608))
    assert f"{float(result['prompt'].value):.2%}" == "1.07%"  # theory, row 16
    assert result["prompt"].text == "kv_bytes_per_token*decode_span/decode_bytes"
    assert study.derive("itl").binding_arms == ("decode_memory_time",)


def test_ideal_devices_leave_the_other_roof():
    study = Study(**CASES["two devices"])
    limits, case = limits_of(study, "itl"), study.first.case
    assert limits["mem_bandwidth", "infinity"].result.value == case.value(
        "decode_compute_time"
    ) + case.value("decode_link_time")
    assert ("peak_flops", "infinity") not in limits  # memory binds: more compute changes nothing


# -------------------------------------------------------------------------------------------------- nothing to tell


@pytest.mark.sample(5)
@pytest.mark.parametrize("quantity", ["fits", "decode_bound", "prefill_bound"])
@pytest.mark.parametrize(
    "chosen",
    [{}, CASES["two devices"], CASES["windows"], {**CASES["windows"], "mbu": "0.5..1"}],
    ids=str,
)
def test_labels_and_truths_have_neither(quantity, chosen):
    derivation = Study(**chosen).derive(quantity)
    assert (derivation.limits, derivation.elasticities, derivation.first_order) == ((), (), None)


def test_a_rounding_has_no_limit_in_what_it_rounds():
    assert Study(**CASES["two devices"]).derive("concurrency").limits == ()
    assert Study(**CASES["two devices"]).derive("concurrency").elasticities == ()


def test_a_quantity_of_zero_has_no_elasticities():
    derivation = Study(model="llama-3-8b", **H100).derive("decode_link_time")
    assert derivation.result.value == 0
    assert derivation.elasticities == ()


def test_a_length_of_response_bounds_a_sum_and_is_left_out():
    result = Study(model="llama-3-8b", **H100).derive("decode_time").elasticities
    assert "output" not in {e.symbol.name for e in result}
    assert "mem_bandwidth" in {e.symbol.name for e in result}


def test_a_range_shows_how_far_an_elasticity_moves():
    study = Study(model="llama-3-8b", **H100, step_overhead="1 ms", mbu="0.5..1")
    actual = next(e for e in study.derive("itl").elasticities if e.symbol.name == "mem_bandwidth")
    low, middle, high = actual.span[1], actual.value, actual.span[2]
    assert low < middle < high < 0
    for corner, expected in ((Fraction(1, 2), low), (Fraction(1), high)):
        exact = Study(model="llama-3-8b", **H100, step_overhead="1 ms", mbu=corner).first
        share = exact.case.value("decode_memory_time") / exact.case.value("itl")
        assert -share == near(expected)
    limit = limits_of(study, "itl")["kv_bytes_per_element", 0]
    assert limit.result.ranged


def test_a_limit_of_what_does_not_fit_carries_the_flag():
    limits = limits_of(Study(model="llama-3-70b", **H100), "itl")
    assert all(limit.result.flags == ("does_not_fit",) for limit in limits.values() if limit.result)
    assert any(limit.result for limit in limits.values())


@pytest.mark.full
def test_a_searched_quantity_says_how_it_is_searched():
    """Little's law has no closed form where the step time depends on the batch: the derivation has the equation, and its value puts it right."""
    study = Study(
        "llama-3.1-8b",
        "h100-sxm",
        prompt=2048,
        output=300,
        batch=64,
        chunk=2048,
        arrival_rate="5 request/s",
    )
    derivation = study.derive("loaded_ttft")
    (step,) = [step for step in derivation.steps if step.symbol.name == "steady_batch"]
    assert (
        str(step.search)
        == "the decoding_requests at which decoding_requests = arrival_rate/dp*slot_steps*open_step_time, at most most_decoding"
    )
    there = study.first.case.changed({"decoding_requests": step.result.value})
    assert float(5 * 299 * there.value("open_step_time")) == pytest.approx(
        float(step.result.value), rel=1e-15
    )
    texts = [each["definition"]["text"] for each in derivation.as_json()["steps"]]
    assert str(step.search) in texts
    assert (
        Study("llama-3.1-8b", "h100-sxm", prompt=2048, output=300, batch=64)
        .derive("steady_batch")
        .search
        is None
    )


def test_the_catalogue_lists_how_searched_quantities_are_defined():
    from symroof.report.catalogue_tables import quantities

    listed = {row["name"]: row["search"] for row in quantities() if row["search"]}
    assert (
        listed["best_batch"]
        == "the largest whole batch up to concurrency at which meets_itl*meets_ttft(wait_for_slot = 0) = 1, 0 where there is none"
    )
    assert all(
        listed[name].startswith("the decoding_requests at which decoding_requests = ")
        for name in ("steady_batch", "mix_steady_batch")
    )
    assert listed["disaggregated_batch"].startswith("the batch at which batch = ")
    assert listed.keys() == {
        "best_batch",
        "steady_batch",
        "mix_steady_batch",
        "disaggregated_batch",
        "chunked_target_batch",
        "disaggregated_target_batch",
    }
