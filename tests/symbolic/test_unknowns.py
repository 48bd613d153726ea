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

from ..near import near
from ..tables import case_of, table

pytestmark = pytest.mark.usefixtures("bounded")

B8 = {"model": "llama-3-8b", "hardware": "h200", "engine": "ideal", "mem_capacity": "141 GB"}
WEIGHTS, TOKEN = 2 * 8_030_261_248, 2 * 32 * 8 * 128 * 2
"""Resident bytes of Llama 3 8B in 16 bits, and the cache of one token: 32 layers, 8 heads of 128."""


@pytest.mark.parametrize("more", [{}, {"context": 15}, {"prompt": 4}, {"prompt": 10**7}])
def test_the_longest_prompt_heeds_the_output_and_nothing_that_is_said_of_prompts(more):
    found = sr.Study(**B8, output=517, **more).solve("max_prompt_memory")
    # the last of 517 tokens is never cached
    longest = floor(Fraction(141 * 10**9 - WEIGHTS, TOKEN)) - 516
    assert longest == 952_696
    assert (found.integer, found.within_memory) == ({"at_most": longest}, True)


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
    study = sr.Study(output=2)
    rates = "decode_throughput = {}*request_throughput"
    assert study.solve(rates.format("slo_share/3"), for_="slo_share").value is None
    assert study.solve(rates.format("4*slo_share"), for_="slo_share").value == Fraction(1, 2)


def test_what_is_given_of_the_parts_of_a_total_follows_the_total():
    """Gemma's local layers see a window: their pairs go with the pairs of the others as their formulas do, 1024 to 2048."""
    study = sr.Study(model="gemma-3-4b", context=2048, decode_pairs=2)
    assert study.first.case.value("decode_pairs.window") == 1


def test_a_crossing_below_one_request():
    """A prompt of two million tokens caches 262 GB, the weights leave 125 GB: 0.48 of a request."""
    found = sr.Study(**B8, prompt=2_000_000).solve("max_batch_memory")
    by_hand = Fraction(141 * 10**9 - WEIGHTS, 2_000_000 * TOKEN)
    assert found.value == near(by_hand, 1e-12)
    assert (found.verdict, found.integer) == ("crosses", {"at_most": 0})
    assert "below one" in found.reason


def test_a_crossing_within_the_first_token():
    """The batch of 7600 makes the first decode step longer than the prefill of 10 tokens: the sides change over before one token is out."""
    case = case_of("model=llama-3-8b hardware=h100-sxm engine=ideal batch=7600")
    study = sr.Study(**case, prompt=10, assume={"decode_steps": "output"})
    found = study.solve("output_decode_exceeds_ttft")
    first_step = sr.Study(**case, context=11).value("itl")
    assert (found.verdict, found.integer) == ("crosses", {"at_least": 1})
    assert abs(found.value - study.value("ttft") / first_step) < 1e-12
    assert 0 < found.value < 1
    assert "below one" in found.reason


def test_a_response_of_millions_of_tokens():
    """Once the window of 4096 is full every step takes equally long, so the rest of the answer is a division."""
    given = {"model": "mistral-7b-v0.1", "hardware": "h100-sxm", "engine": "ideal", "prompt": 100}
    found = sr.Study(**given).solve("response_time = 10000 s", for_="output")
    # the last of its 4096 steps is at context 4196
    full = sr.Study(**given, output=4097).value("response_time")
    step = sr.Study(**given, context=4196).value("itl")
    assert found.integer == {"at_least": 4097 + floor((10_000 - full) / step) + 1}
    assert 2_200_000 < found.value < 2_300_000


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


MIXED = """
step_tokens = decode_mbu | batch = mfu | prompt = 1 - acceptance | devices = 2*memory_share
batch + mbu = 3
"""


@pytest.mark.parametrize("equation", [cell for row in table(MIXED) for cell in row])
def test_what_is_counted_meets_no_share(equation):
    with pytest.raises(InputError, match="plain share"):
        sr.solve(equation, for_="batch")


COUNTED = """
batch = prompt | batch | 100
prompt = 3*batch | batch | 100/3
batch*mbu = 4 | batch | 8
prompt/batch = 4 | batch | 25
batch = n_layers | batch | 4
mbu = n_layers/80 | mbu | 1/20
prompt/step_tokens = mbu | chunk | 199
batch = weight_bytes/kv_cache_bytes(batch = 1) | weight_bytes | 12
"""


@pytest.mark.parametrize(("equation", "unknown", "value"), table(COUNTED))
def test_counts_meet_each_other_and_numbers(equation, unknown, value):
    study = sr.Study(prompt=100, mbu=0.5, n_layers=4, kv_cache_bytes="12 byte")
    assert study.solve(equation, for_=unknown).value == near(Fraction(value), 1e-12)
