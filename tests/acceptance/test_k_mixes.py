"""Mixes of requests (system 59): slots, steps and pieces weighted by requests times the steps they hold a slot for."""

from fractions import Fraction
from math import comb

import pytest

from symroof.api import Study

from ..near import near
from . import B8, H100_989, KV, WEIGHTS, case_of

P = 70_553_706_496
F, BETA = Fraction(989 * 10**12), Fraction(335 * 10**10)
D = Fraction(2 * P, BETA)
HAND = case_of(
    "model=llama-3.1-70b peak_flops=989e12 mem_bandwidth=3.35e12 mem_capacity='1 TB' prompt=2048 "
    "output=256 batch=64 price='2.5 USD/hour' network_bandwidth='50 GB/s' engine=ideal "
    "long_share=0.25 long_prompt=4096 long_output=512"
)
"""Of four requests three read 2,048 and write 256 tokens, one reads 4,096 and writes 512."""
STEPS, NEW, OUTPUT = (
    Fraction(3 * 255 + 511, 4),
    Fraction(3 * 2048 + 4096, 4),
    Fraction(3 * 256 + 512, 4),
)


def under(scheduling="chunked", **more):
    assumed = {"detail": "weights", "scheduling": scheduling}
    return Study(**{**HAND, "assume": assumed, **more})


def step(tokens):
    """A step of so many tokens: its work, or the weights read once."""
    return max(tokens * 2 * P / F, D)


def test_slots_are_held_by_requests_times_their_steps():
    study = under()
    assert study.value("mix_steps") == STEPS
    assert study.value("long_slots_share") == near(Fraction(511, 3 * 255 + 511))


def test_whole_prompts_of_a_mix_by_every_number_of_each_kind():
    """Each of 64 slots begins a prompt with a chance of one in STEPS + 1, a long one in a quarter of these; no budget bounds a step."""
    mean, chance = 0, 1 / (STEPS + 1)
    for n in range(65):
        here = comb(64, n) * chance**n * (1 - chance) ** (64 - n)
        kinds = [
            comb(n, k)
            * Fraction(1, 4) ** k
            * Fraction(3, 4) ** (n - k)
            * step(2048 * n + 2048 * k + 64 - n)
            for k in range(n + 1)
        ]
        mean += here * sum(kinds)
    rate = 64 * chance / mean
    study = under()
    assert study.value("mix_sustained_requests") == near(rate, 1e-6)
    assert study.value("mix_sustained_throughput") == near(OUTPUT * rate, 1e-6)
    assert study.value("mix_cost_per_mtok") == near(
        Fraction(5, 2 * 3600) * 10**6 / (OUTPUT * rate), 1e-6
    )


def test_every_step_of_a_mix_is_full_where_the_budget_is_small():
    """320 tokens a step for the 2,560 + 319 of a request; lengths that differ leave a step short of prompts now and then."""
    most = float(Fraction(320) / (NEW + STEPS) / step(320))
    assert 0.97 * most < float(under(chunk=256).value("mix_sustained_requests")) < most


def test_a_mix_whose_prefills_stop_the_decode_turn_by_turn():
    """Four slots' turns: their steps, and in each step's place of a response all the batch's prefills."""
    rate = 64 / (STEPS * D + 64 * (3 * step(2048) + step(4096)) / 4)
    study = under("exclusive", arrival_rate="3 request/s", dp=2)
    assert study.value("mix_sustained_requests") == near(rate)
    assert study.value("mix_load") == near(Fraction(3, 2) / rate)


@pytest.mark.parametrize("readers", [1, 8])
def test_a_mix_that_is_read_elsewhere(readers):
    """The slower side of the whole mix decides, not of each kind."""
    reading = (3 * step(2048) + step(4096)) / 4
    assert under("disaggregated", prefill_devices=readers).value("mix_sustained_requests") == near(
        min(64 / (STEPS * D), readers / reading)
    )


@pytest.mark.parametrize("scheduling", ["chunked", "exclusive", "disaggregated"])
@pytest.mark.parametrize(("share", "lengths"), [(0, {}), (1, {"prompt": 4096, "output": 512})])
def test_a_mix_of_one_kind_is_that_kind(scheduling, share, lengths):
    """With caches and windows counted: every layer of Mistral-7B sees 3,000 keys."""
    case = {
        "model": "mistral-7b-v0.1",
        "hardware": "h100-sxm",
        "batch": 32,
        "window": 3000,
        "prefill_devices": 1,
        "assume": {"scheduling": scheduling},
    }
    mix = Study(
        **case, prompt=2048, output=256, long_share=share, long_prompt=4096, long_output=512
    )
    alone = Study(**{**case, "prompt": 2048, "output": 256, **lengths})
    assert mix.value("mix_sustained_requests") == near(alone.value("sustained_requests"))
    assert mix.value("mix_sustained_itl") == pytest.approx(alone.value("sustained_itl"), rel=1e-6)


def test_first_tokens_of_either_kind_wait_alike_and_are_prefilled_apart():
    """Pollaczek and Khinchine: the rate times the mean square of the service over twice the idle share; besides, the rest of a decode step if one runs."""
    rate, mean = Fraction(1), (3 * step(2048) + step(4096)) / 4
    square = (3 * step(2048) ** 2 + step(4096) ** 2) / 4
    study = under(
        assume={"detail": "weights", "scheduling": "exclusive"}, arrival_rate="1 request/s"
    )
    wait = rate * square / (2 * (1 - rate * mean)) + D / 2
    assert study.value("mix_own_ttft") == near(wait + step(2048), 1e-3)
    assert study.value("mix_long_ttft") - study.value("mix_own_ttft") == near(
        step(4096) - step(2048)
    )
    assert study.value("mix_loaded_ttft") == near(
        (3 * study.value("mix_own_ttft") + study.value("mix_long_ttft")) / 4
    )


def test_the_memory_of_a_slot_of_a_mix():
    """A slot holds a long request for 511 of 3*255 + 511 steps; by its last step it has 4,096 + 512 - 1 tokens."""
    share = Fraction(511, 3 * 255 + 511)
    assert under().value("mix_peak_context") == near(
        (1 - share) * (2048 + 255) + share * (4096 + 511)
    )


def test_the_worst_step_of_a_mix_is_full():
    """The budget and what one request leaves of it where a prompt fills the step; exclusive, the longer prefill."""
    assert under(chunk=2048).value("mix_worst_itl") == near(step(2048 + 64), 1e-6)
    assert under(chunk=8192).value("mix_worst_itl") == near(step(8192 + 64), 1e-6)
    assert under("exclusive").value("mix_worst_itl") == near(D + step(4096))


# -------------------------------------------------------------------------------------------- one request of a mix at a time

HALF = {**B8, **H100_989, "mfu": 0.5, "assume": WEIGHTS}
MIX = {"prompt": 500, "output": 100, "long_share": 0.1, "long_prompt": 8000, "long_output": 1000}


def seconds(prompt, output):
    return max(
        Fraction(2 * 8_030_000_000 * prompt, 494_500 * 10**9), Fraction(16_060, 3_350_000)
    ) + (output - 1) * Fraction(16_060, 3_350_000)


def test_mean_over_a_mix_request_by_request():
    """Of ten requests nine are short and one is long."""
    ten = [seconds(500, 100)] * 9 + [seconds(8000, 1000)]
    study = Study(**HALF, **MIX, price="3.6 USD/hour")
    assert study.value("mix_response_time") == near(sum(ten) / 10)
    assert study.value("long_time_share") == near(ten[-1] / sum(ten))
    # each kind on an instance of its own, one request at a time; the spread of a step's tokens,
    # zero here, is the root of a difference of floats that are alike
    assert study.value("mix_cost_per_request") == near(sum(ten) / 10_000, 1e-9)


def test_bytes_of_a_mix_step_by_step():
    def moved(prompt, output):
        # the prefill writes its prompt: step 0
        return sum(16_060_000_000 + 131_072 * (prompt + step) for step in range(output))

    nine, one = 9 * moved(500, 100), moved(8000, 1000)
    study = Study(**B8, **H100_989, **MIX, assume=KV)
    assert study.value("response_bytes") == moved(500, 100)
    assert study.value("long_bytes_share") == near(Fraction(one, nine + one))


@pytest.mark.parametrize(("share", "like"), [(0, (500, 100)), (1, (8000, 1000))])
def test_a_mix_of_one_sort_is_that_sort(share, like):
    study = Study(**HALF, **{**MIX, "long_share": share})
    assert study.value("mix_response_time") == near(seconds(*like))
