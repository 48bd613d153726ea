"""Closed forms of a server under load against one that is simulated step by step, with the same step times and no formula of theirs."""

import random
from fractions import Fraction

import pytest

import symroof as sr
from tools.simulation import KINDS, RARE, deployment, differences, over_simulated

from ..tables import case_of

EACH = 2
"""Deployments of each kind in the suite."""


def drawn(kind):
    draw = random.Random(f"suite {kind}")
    return [deployment(kind, draw) for _ in range(EACH)]


@pytest.mark.full
@pytest.mark.parametrize("kind", KINDS)
def test_rates_times_and_steps_of_a_simulated_server(kind):
    """The mean of few runs is itself uncertain, most of all with groups that each have a queue."""
    of_itl, of_ttft = 0.12, 0.65 if kind == "attention_dp" else 0.27
    for case in drawn(kind):
        off = differences(case, runs=2)
        assert max(abs(off["rate"]), abs(off["itl"])) <= 0.07, case
        # bursts do not fill a wide step, and queue where prompts are read apart
        assert off["worst"] >= -0.1 or "assume" in case, case
        for load in (0.3, 0.8):
            itl, ttft = over_simulated(case, load)
            assert abs(itl - 1) <= of_itl and abs(ttft - 1) <= of_ttft, (load, itl, ttft, case)


@pytest.mark.full
def test_short_prompts_wait_behind_rare_long_ones():
    itl, ttft = over_simulated(RARE, 0.4, seeds=4)
    assert abs(itl - 1) <= 0.05 and abs(ttft - 1) <= 0.15


WORK = {"model": "llama-3.1-8b", "hardware": "h100-sxm", "engine": "ideal", "mfu": 0.6, "mbu": 0.75}
MIX = "WORK prompt=500 output=200 chunk=2048 long_share=0.3 long_prompt=8000 long_output=400"


@pytest.mark.sample(1)
@pytest.mark.parametrize("more", ["batch=112", "batch=200 mem_capacity='1 TB'"])
def test_a_mix_beyond_what_compute_allows(more):
    case = case_of(f"{MIX} {more}", globals())
    off = differences(case, runs=3)
    assert abs(off["rate"]) <= 0.05 and abs(off["itl"]) <= 0.03
    assert float(sr.Study(**case).value("mix_sustained_requests")) < 12.39


def test_several_prompts_in_a_step_leave_no_tautology():
    """A step has room for more than one prompt: their time to first token is milliseconds, as simulated."""
    case = case_of(
        "model=gpt-oss-20b hardware=l40s engine=ideal prompt=300 output=40 batch=128 "
        "chunk=1024 arrival_rate=100"
    )
    study = sr.Study(**case)
    found = study.simulate(requests=4000, seed=2)
    assert float(study.value("loaded_ttft")) == pytest.approx(
        found.summary["ttft"]["mean"], rel=0.15
    )


CLOSED = """
prompt=1000 output=100 batch=144 chunk=1472
prompt=1000 output=100 batch=64 chunk=512
prompt=4000 output=200 batch=32 chunk=1024
prompt=500 output=200 batch=64 chunk=512 long_share=0.3 long_prompt=3000 long_output=300
"""


@pytest.mark.sample(1)
@pytest.mark.parametrize("case", CLOSED.split("\n")[1:-1])
def test_the_first_token_where_every_user_sends_again(case):
    """Responses of a mix differ as they are; the others differ about their mean, as those of users do."""
    study = sr.Study(**case_of(f"WORK mem_capacity='1 TB' {case}", globals()))
    lengths = {"output": f"lognormal:{float(study.value('output'))},0.4"}
    mixed = "long_share" in case
    more = {} if mixed else {"lengths": lengths}
    found = study.simulate(arrivals="closed-loop", requests=1500, **more)
    expected = study.value("mix_loaded_ttft" if mixed else "loaded_ttft")
    assert float(expected) == pytest.approx(found.summary["ttft"]["mean"], rel=0.15)


@pytest.mark.sample(2)
@pytest.mark.parametrize("kind", KINDS)
def test_no_rate_is_beyond_compute_or_bandwidth(kind):
    """A response takes its FLOPs and, in each step that it is in, its share of what the step reads at least."""
    draw = random.Random(f"bounds {kind}")
    for _ in range(6):
        case = deployment(kind, draw)
        study = sr.Study(**{**case, "assume": {"attention_arithmetic": "as_activations"}})
        names = ("mix_sustained_requests",) if kind == "mix" else ("sustained_requests",)
        rate = study.value(*names)
        flops = _flops(study.first.case, case)
        devices = study.value("instance_devices")
        assert rate * flops <= devices * study.value("mfu") * study.value("peak_flops") * (
            1 + Fraction(1, 10**6)
        ), case


def _flops(case, given):
    """FLOPs of a request, as if each token of its response saw its prompt alone: no step of any schedule does fewer."""

    def of(prompt, output):
        there = case.changed(
            {
                "prompt": Fraction(prompt),
                "output": Fraction(output),
                "prefill_batch": Fraction(1),
                "batch": Fraction(1),
                "context": Fraction(prompt),
            }
        )
        return there.value("prefill_flops") + (output - 1) * there.value("decode_flops")

    own = of(given["prompt"], given["output"])
    share = Fraction(str(given.get("long_share", 0)))
    return own + share * (of(given["long_prompt"], given["long_output"]) - own) if share else own
