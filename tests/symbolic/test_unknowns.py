"""The unknown, and inputs that are changed inside an equation, count as chosen: no default and no stand-in takes their place."""

from fractions import Fraction
from math import floor

import numpy as np
import pytest

import symroof as sr
from symroof import symbols as s
from symroof.errors import InputError
from symroof.symbolic.printing import text
from symroof.symbolic.reading import parse
from symroof.theory.quantities import QUANTITIES
from symroof.theory.thresholds import THRESHOLDS

from ..near import near

pytestmark = pytest.mark.usefixtures("bounded")

B8 = {"model": "llama-3-8b", "hardware": "h200", "engine": "ideal", "mem_capacity": "141 GB"}
WEIGHTS, TOKEN = 2 * 8_030_261_248, 2 * 32 * 8 * 128 * 2
"""Resident bytes of Llama 3 8B in 16 bits, and the cache of one token: 32 layers, 8 heads of 128."""


@pytest.mark.parametrize("more", [{}, {"context": 15}, {"prompt": 4}, {"prompt": 10**7}])
def test_the_longest_prompt_heeds_the_output_and_nothing_that_is_said_of_prompts(more):
    found = sr.Study(**B8, output=517, **more).solve("max_prompt_memory")
    longest = (
        floor(Fraction(141 * 10**9 - WEIGHTS, TOKEN)) - 516
    )  # the last of 517 tokens is never cached
    assert longest == 952_696
    assert (found.integer, found.within_memory) == ({"at_most": longest}, True)


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("equation", "unknown", "given", "value"),
    [
        ("devices = 8", "dp", {}, 8),
        ("devices = 8", "dp", {"tp": 2, "dp": 5}, 4),
        ("devices = 8", "pp", {"dp": 2}, 4),
        ("devices(pp = 4) = 8", "dp", {}, 2),
        ("devices(dp = 3, pp = 2) = 12", "tp", {"pp": 7}, 2),
        ("peak_context = 1000", "output", {"prompt": 100}, 901),
        ("peak_context = 1000", "prompt", {"output": 100}, 901),
        ("peak_context = 1000", "prompt", {"output": 100, "context": 15}, 901),
        ("peak_context(output = 517) = 1000", "prompt", {}, 484),
        ("context = 77", "prompt", {}, 77),
        (
            "decode_overhead = 1 s",
            "kernel_launch",
            {"n_layers": 4, "kernels_per_layer": 5},
            0.05,
        ),
    ],
)
def test_what_stands_in_for_an_input_never_replaces_it(equation, unknown, given, value):
    found = sr.Study(**given).solve(equation, for_=unknown)
    assert (found.verdict, found.value) == near(("crosses", value))


def test_a_changed_input_counts_in_values_and_expansions_and_arrays_alike():
    case = sr.Study(prompt=100).first.case
    for written, value in (("devices(pp = 4, dp = 3)", 12), ("peak_context(output = 517)", 616)):
        tree = parse(written)
        assert case.evaluate(tree) == case.evaluate(case.expanded(tree)) == value
    compiled = sr.compile(
        ["devices", "peak_context"], inputs=["pp", "output"], study=sr.Study(prompt=100)
    )
    found = compiled(np.array([1.0, 4.0]), np.array([1.0, 517.0]))
    assert [list(values) for values in found] == [[1, 4], [100, 616]]
    ranged = sr.Study(prompt=100, output="10..517")
    assert ranged.derive("peak_context").result.high == 616


def test_a_share_above_one_is_no_answer_where_inputs_cancel():
    """A rate of batch/itl and of a share of batch/itl/output: 6 times would be needed, whatever the device."""
    found = sr.Study(output=2).solve(
        "decode_throughput = slo_share*request_throughput/3", for_="slo_share"
    )
    assert found.value is None
    assert sr.Study(output=2).solve(
        "decode_throughput = 4*slo_share*request_throughput", for_="slo_share"
    ).value == Fraction(1, 2)


def test_an_unknown_in_a_given_formula():
    assert sr.Study(context="2*batch").solve("context = 100", for_="batch").value == 50


def test_a_definition_is_derived_as_it_is_declared():
    derivation = sr.Study().derive("peak_context")
    assert (
        derivation.text
        == QUANTITIES["peak_context"].definition
        == "max(context, prompt + output - 1)"
    )
    assert derivation.expanded_text == "max(prompt, prompt + output - 1)"
    assert (
        sr.Study(prompt=100).derive("peak_context").text == "max(context, prompt)"
    )  # no output: as after one token


CHAT = {
    "model": "llama-3-8b",
    "hardware": "h100-sxm",
    "engine": "ideal",
    "prompt": 512,
    "output": 200,
    "batch": 8,
    "itl_target": "30 ms",
    "ttft_target": "400 ms",
}


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    "name",
    [
        name
        for name, t in THRESHOLDS.items()
        if t.unknown in ("prompt", "output", "batch", "context", "tp", "mem_bandwidth")
    ],
)
def test_an_answer_does_not_depend_on_what_the_case_says_of_the_unknown(name):
    unknown = THRESHOLDS[name].unknown
    values = ["1 TB/s", "9 TB/s"] if unknown == "mem_bandwidth" else [2, 5000]
    if unknown == "prompt":
        CHAT.pop("context", None)
    answers = []
    for value in values:
        try:
            found = sr.Study(**{**CHAT, unknown: value}).solve(name)
        except InputError as error:
            answers.append(str(error))
        else:
            answers.append((found.verdict, found.values, found.integer, found.within_memory))
    assert answers[0] == answers[1]


def test_what_is_given_of_the_parts_of_a_total_follows_the_total():
    """Gemma's local layers see a window: their pairs go with the pairs of the others as their formulas do, 1024 to 2048."""
    study = sr.Study(model="gemma-3-4b", context=2048, decode_pairs=2)
    assert study.first.case.value("decode_pairs.window") == 1


@pytest.mark.parametrize(
    ("given", "side", "words"),
    [
        (
            {"model": "mistral-7b-v0.1"},
            "lhs_below",
            "it fits at every context",
        ),  # 4096 tokens are kept: half a GB beside 14.5 GB
        ({"model": "llama-3-70b"}, "lhs_above", "do not fit"),  # 141.1 GB of weights
    ],
)
def test_never_says_which_way(given, side, words):
    found = sr.Study(**{**B8, **given}).solve("max_context_memory")
    assert found.verdict == side
    assert words in found.reason
    assert ("not fit" in found.reason) == (side == "lhs_above")


def test_a_crossing_below_one_request():
    """A prompt of two million tokens caches 262 GB, the weights leave 125 GB: 0.48 of a request."""
    found = sr.Study(**B8, prompt=2_000_000).solve("max_batch_memory")
    by_hand = Fraction(141 * 10**9 - WEIGHTS, 2_000_000 * TOKEN)
    assert float(found.value) == pytest.approx(float(by_hand), rel=1e-12)
    assert (found.verdict, found.integer) == ("crosses", {"at_most": 0})
    assert "below one" in found.reason


def test_a_crossing_within_the_first_token():
    """The batch of 7600 makes the first decode step longer than the prefill of 10 tokens: the sides change over before one token is out."""
    study = sr.Study(
        model="llama-3-8b",
        hardware="h100-sxm",
        engine="ideal",
        prompt=10,
        batch=7600,
        assume={"decode_steps": "output"},
    )
    found = study.solve("output_decode_exceeds_ttft")
    first_step = sr.Study(
        model="llama-3-8b", hardware="h100-sxm", engine="ideal", context=11, batch=7600
    ).value("itl")
    assert (found.verdict, found.integer) == ("crosses", {"at_least": 1})
    assert abs(found.value - study.value("ttft") / first_step) < 1e-12
    assert 0 < found.value < 1
    assert "below one" in found.reason


def test_a_response_of_millions_of_tokens():
    """Once the window of 4096 is full every step takes equally long, so the rest of the answer is a division."""
    given = {"model": "mistral-7b-v0.1", "hardware": "h100-sxm", "engine": "ideal", "prompt": 100}
    found = sr.Study(**given).solve("response_time = 10000 s", for_="output")
    full = sr.Study(**given, output=4097).value(
        "response_time"
    )  # the last of its 4096 steps is at context 4196
    step = sr.Study(**given, context=4196).value("itl")
    assert found.integer == {"at_least": 4097 + floor((10_000 - full) / step) + 1}
    assert 2_200_000 < found.value < 2_300_000


def test_a_search_says_where_it_ended():
    found = sr.Study(
        model="llama-3-8b",
        hardware="h100-sxm",
        engine="ideal",
        prompt=512,
        arrival_rate="1 request/s",
    ).solve("queue_wait + ttft = itl", for_="mem_bandwidth")
    assert (found.verdict, found.value) == ("lhs_above", None)
    assert "for mem_bandwidth from 17.63 GB/s" in found.reason
    for bandwidth in ("20 GB/s", "100 GB/s", "1 TB/s", "100 TB/s", "1e6 TB/s"):
        there = sr.Study(
            model="llama-3-8b",
            hardware="h100-sxm",
            engine="ideal",
            prompt=512,
            arrival_rate="1 request/s",
            mem_bandwidth=bandwidth,
        )
        assert there.value("queue_wait") + there.value("ttft") > there.value("itl")


@pytest.mark.full
def test_the_bandwidth_at_which_a_burst_drains_in_the_time_of_a_swap():
    """With m = 1/service time: (100 - m)*10 = swap*(m - 1), and the prefill is limited by memory there."""
    load = {
        "burst_rate": "100 request/s",
        "burst_duration": "10 s",
        "arrival_rate": "1 request/s",
        "host_bandwidth": "50 GB/s",
    }
    study = sr.Study(model="llama-3-8b", hardware="h100-sxm", engine="ideal", prompt=512, **load)
    swap = Fraction(512 * TOKEN, 50 * 10**9)
    served = (1000 + swap) / (10 + swap)
    found = study.solve("swap_time = burst_drain_time", for_="mem_bandwidth").value
    assert float(found) == pytest.approx(float(served * study.value("prefill_bytes")), rel=1e-12)
    assert sr.solve("swap_time = burst_drain_time", for_="mem_bandwidth").verdict == "conditional"


def test_no_branch_divides_by_zero():
    found = sr.Study(assume={"launches": "hidden"}).solve(
        "prefill_throughput = 100*decode_throughput", for_="mfu"
    )
    assert found.verdict == "conditional"
    assert found.candidates.every
    assert not any("/0" in text(branch.closed_form) for branch in found.candidates.every)


def test_every_choice_of_arms_has_its_branch():
    """Prefill and decode are each limited by compute or memory. Where both are by compute, the bandwidth still carries the element-wise work."""
    found = sr.Study(assume={"kv_growth": "fixed"}).solve(
        "response_time = 3 s", for_="mem_bandwidth"
    )
    assert len(found.branches) == 4
    both_compute = found.branches[0][0]
    assert both_compute.has(s.elementwise_bytes) and both_compute.subs(s.elementwise_bytes, 0) == 0


@pytest.mark.parametrize(
    "equation",
    [
        "step_tokens = decode_mbu",
        "batch = mfu",
        "prompt = 1 - acceptance",
        "devices = 2*memory_share",
        "batch + mbu = 3",
    ],
)
def test_what_is_counted_meets_no_share(equation):
    with pytest.raises(InputError, match="plain share"):
        sr.solve(equation, for_="batch")


@pytest.mark.parametrize(
    ("equation", "unknown", "value"),
    [
        ("batch = prompt", "batch", 100),
        ("prompt = 3*batch", "batch", Fraction(100, 3)),
        ("batch*mbu = 4", "batch", 8),
        ("prompt/batch = 4", "batch", 25),
        ("batch = n_layers", "batch", 4),
        ("mbu = n_layers/80", "mbu", Fraction(1, 20)),
        ("prompt/step_tokens = mbu", "chunk", 199),
        ("batch = weight_bytes/kv_cache_bytes(batch = 1)", "weight_bytes", 12),
    ],
)
def test_counts_meet_each_other_and_numbers(equation, unknown, value):
    study = sr.Study(prompt=100, mbu=0.5, n_layers=4, kv_cache_bytes="12 byte")
    assert float(study.solve(equation, for_=unknown).value) == pytest.approx(
        float(value), rel=1e-12
    )


@pytest.mark.parametrize("wait", [1, 60, 3600])
def test_the_rate_at_which_a_queue_waits_for_long_is_next_to_its_last(wait):
    """A queue of M/M/1 waits load*s/(1 - load): at wait/(s*(s + wait)) requests a second, however near that is to 1/s, beyond which there is no wait at all."""
    study = sr.Study(
        model="llama-3-8b", hardware="h100-sxm", engine="ideal", prompt=2048, output=256, batch=32
    )
    service = study.value("prefill_time")
    assert (
        abs(
            study.solve(f"queue_wait = {wait} s", for_="arrival_rate").value
            * service
            * (service + wait)
            / wait
            - 1
        )
        < 1e-9
    )
