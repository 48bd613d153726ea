"""The inter-token latency at an arrival rate, against a server that serves requests step by step: seven deployments, at four loads."""

import pytest

import symroof as sr
from symroof.analysis.verdict import target_checks
from symroof.select.selection import select

FEW = {
    "model": "llama-3.1-8b", "hardware": "h100-sxm", "engine": "ideal", "batch": 16, "prompt": 512, "output": 200, "mfu": 0.6, "mbu": 0.8, "step_overhead": "1 ms",
}  # fmt: skip
MANY = {**FEW, "batch": 64, "prompt": 1024, "output": 65, "network_bandwidth": "50 GB/s"}
EXCLUSIVE = {"assume": {"scheduling": "exclusive"}}
SERVED = {
    "dense, chunks of 512": {**MANY, "chunk": 512},
    "dense, chunks of 2,048": {**MANY, "chunk": 2048},
    "dense, few slots": {**FEW, "chunk": 256},
    "experts": {**MANY, "model": "qwen3-30b-a3b", "chunk": 1024},
    "exclusive": {**MANY, **EXCLUSIVE},
    "exclusive, few slots": {**FEW, **EXCLUSIVE},
    "disaggregated": {**MANY, "prefill_devices": 1, "assume": {"scheduling": "disaggregated"}},
}
LOADS = (0.3, 0.5, 0.7, 0.8)


@pytest.mark.sample(2)
@pytest.mark.parametrize("named", SERVED)
def test_the_latency_at_a_rate_is_that_of_a_simulated_server(named):
    """Within 5 % in the mean, within 10 % at every load; with every slot taken it is up to 4 times as long."""
    case = SERVED[named]
    rate = float(sr.Study(**case).value("sustained_requests"))
    off = []
    for load in LOADS:
        there = sr.Study(**case, arrival_rate=load * rate)
        run = there.simulate("poisson", requests=1500, seed=3)
        off.append(float(there.value("loaded_itl")) / run.summary["itl"]["mean"].value - 1)
    assert max(map(abs, off)) < 0.1
    assert sum(map(abs, off)) / len(off) < 0.05


def test_the_latency_rises_with_the_rate_up_to_that_of_full_slots():
    """A B200 at 1, 2.5, 4.4 and 6 requests a second: simulated 19.3, 21.4, 24.3 and 26.8 ms. At full slots 29.1, and so where the queue grows."""
    case = {
        "model": "llama-3.3-70b", "hardware": "b200", "weights": "fp8", "prompt": 1500, "output": 300, "batch": 121, "chunk": 256,
        "mfu": 0.707, "mbu": 0.811, "layer_overhead": "83.9 us", "elementwise_bytes": "135 byte",
    }  # fmt: skip
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
    (chosen,) = select(
        **case, arrival_rate=rate, dp=1, targets={"itl": f"{limit} s"}
    ).configurations
    assert (chosen.state == "passes") is met
    assert float(chosen.run.result("sustained_itl").value) == pytest.approx(itl)
