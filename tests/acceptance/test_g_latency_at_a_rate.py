"""The inter-token latency at an arrival rate, against a server that serves requests step by step: seven deployments, at four loads."""

import pytest

import symroof as sr
from symroof.analysis.verdict import target_checks
from symroof.select.selection import select
from symroof.symbolic.reading import parse

from ..tables import fields
from . import case_of

FEW = case_of(
    "model=llama-3.1-8b hardware=h100-sxm engine=ideal batch=16 prompt=512 output=200 mfu=0.6 "
    "mbu=0.8 step_overhead='1 ms'"
)
MANY = {**FEW, "batch": 64, "prompt": 1024, "output": 65, "network_bandwidth": "50 GB/s"}


def test_the_latency_rises_with_the_rate_up_to_that_of_full_slots():
    """A B200 at 1, 2.5, 4.4 and 6 requests a second: simulated 19.3, 21.4, 24.3 and 26.8 ms. At full slots 29.1, and so where the queue grows."""
    case = case_of(
        "model=llama-3.3-70b hardware=b200 weights=fp8 prompt=1500 output=300 batch=121 "
        "chunk=256 mfu=0.707 mbu=0.811 layer_overhead='83.9 us' elementwise_bytes='135 byte'"
    )
    assert sr.Study(**case).value("loaded_itl") == sr.Study(**case).value("sustained_itl")
    at = {
        rate: sr.Study(**case, arrival_rate=f"{rate}/s").first.case
        for rate in ("1", "2.5", "4.44", "6", "20")
    }
    found = [float(there.value("loaded_itl")) for there in at.values()]
    assert found[:4] == pytest.approx([0.0193, 0.0214, 0.0243, 0.0268], rel=0.02)
    assert at["20"].value("load") > 1
    assert at["20"].value("loaded_itl") == at["20"].value("sustained_itl")
    assert found[4] == pytest.approx(0.0291, rel=0.01)


def test_with_drafts_a_token_takes_its_part_of_a_step():
    case = {**MANY, "chunk": 512, "draft_tokens": 3, "acceptance": 0.7, "draft_cost": 0.05}
    rate = float(sr.Study(**case).value("sustained_requests"))
    there = sr.Study(**case, arrival_rate=0.98 * rate).first.case
    assert 0.9 < there.value("loaded_itl") / there.value("sustained_itl") <= 1


@pytest.mark.parametrize("met", [True, False])
def test_targets_are_held_against_the_latency_at_the_rate(met):
    """As many as 64 slots would take 36 ms a token; at a third of that load it is shorter."""
    case = {**MANY, "chunk": 2048}
    rate = float(sr.Study(**case).value("sustained_requests")) * 0.3
    there = sr.Study(**case, arrival_rate=rate)
    itl, full = (float(there.value(name)) for name in ("loaded_itl", "sustained_itl"))
    assert full > 3 * itl
    limit = itl * (1.01 if met else 0.99)
    judged = sr.Study(**case, arrival_rate=rate, targets={"itl": f"{limit} s"})
    (check,) = [check for check in target_checks(judged.first) if check.name == "itl"]
    assert (check.metric.name, check.met) == ("loaded_itl", met)
    case |= {"tp": 1, "assume": {"scheduling": "chunked"}, "targets": {"itl": f"{limit} s"}}
    (chosen,) = select(**case, arrival_rate=rate, dp=1).configurations
    assert (chosen.state == "passes") is met
    assert float(chosen.result("sustained_itl").value) == pytest.approx(itl)


def at_hand(name, **known):
    """A quantity with what it depends on set to numbers that are easy to work with."""
    changes = ", ".join(f"{other} = {value}" for other, value in known.items())
    case = sr.Study(**FEW, chunk=256, arrival_rate=1).first.case
    return float(case.evaluate(parse(f"{name}({changes})")))


def test_how_many_slots_are_taken_by_hand():
    """M/M/4 at 0.8, so 3.2 in the mean: terms 1, 3.2, 5.12, 5.461 and 4.369/0.2 = 21.85, so Erlang's C is 21.85/36.63 = 0.5964.

    One that decodes sees 3.2 + 1 - 0.596 = 3.604 of 4: the mean square over the mean of those numbers.
    """
    taken = at_hand("taken_share", slots_taken="4/5", batch=4)
    assert taken == pytest.approx(0.5964, rel=0.04)
    seen = at_hand(
        "joined_batch", decoding_requests="16/5", joining_requests=1, slots_taken="4/5", batch=4
    )
    assert seen == pytest.approx(3.604, rel=0.01)


def test_two_numbers_stand_for_a_poisson_distribution_by_hand():
    """Two others in the mean: 1 with 2/3 and 4 with 1/3 have mean 2, variance 2 and third moment 2, too."""
    few, many = (at_hand(f"{name}_joined", joined_batch=3) for name in ("few", "many"))
    assert (few, many) == (pytest.approx(2), pytest.approx(5))
    assert pytest.approx(2) == 2 / 3 * (1 - 2) ** 2 + 1 / 3 * (4 - 2) ** 2
    assert pytest.approx(2) == 2 / 3 * (1 - 2) ** 3 + 1 / 3 * (4 - 2) ** 3
    time = at_hand("joined_decode_time", joined_batch=3)
    ends = at_hand("loaded_decode_time", batch=2), at_hand("loaded_decode_time", batch=5)
    assert time == pytest.approx(2 / 3 * ends[0] + 1 / 3 * ends[1])


def test_the_wait_behind_rare_long_prompts_by_hand():
    """95 % of 300 tokens and 5 % of 10,000: 785 in the mean, 5,085,500 squared, so 6,478 where one meets them.

    Steps of 0.2 s take 2,000 at once, 1,500 where one looks, and half of the time: 0.5/(2·0.5)·0.2·(6,478 - 1,500)/2,000 = 0.2489 s.
    """
    wait = at_hand(
        "prefill_queue_wait",
        **fields(
            "prefill_slot_utilization: 1/2, open_full_time: 1/5, open_room: 2000, "
            "uncached_prompt: 785, uncached_prompt_of_token: 5085500/785, clustered_prompts: 0, "
            "step_square: 1500"
        ),
    )
    assert wait == pytest.approx(0.24892, rel=1e-4)


def test_few_requests_that_slow_all_make_bursts_by_hand():
    """2 a second add 0.1 s each to the steps of all, give or take 0.5 s: (1 + 1)/(1 - 0.2) = 2.5 times the variance of chance."""
    spread = at_hand(
        "peakedness",
        **fields(
            "arrival_rate: 2, dp: 1, added_time_deviation: 1/2, prompt_added_time: 1/10, "
            "open_step_time: 1, served_step_time: 1"
        ),
    )
    assert spread == pytest.approx(2.5)


def test_a_first_token_under_load_is_never_sooner_than_alone():
    """Attention groups of 72: alone each prefills a prompt, under load one of them does."""
    groups = case_of(
        "model=deepseek-v3 hardware=gb200 attention_dp=72 ep=72 weights=fp8 prompt=4000 "
        "output=1000 batch=64"
    )
    for case in (groups, {**groups, "arrival_rate": 1}):
        study = sr.Study(**case)
        assert study.value("loaded_ttft") >= study.value("ttft")
