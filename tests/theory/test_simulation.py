"""Quantities under load against a server that is simulated step by step, with the same step times and no formula of theirs."""

import itertools
import random

import pytest
from serving_page import wait_line

import symroof as sr
from symroof.resources import data_folder
from tools.simulation import LOADS, SERVERS, SLOT_LOADS, deployment, differences, slot_waits, waits

SUITE = 12
"""Deployments in the suite; ``python -m tools.simulation`` runs a hundred."""


def drawn(count, seed):
    draw = random.Random(seed)
    return [deployment(draw) for _ in range(count)]


@pytest.mark.parametrize("case", drawn(SUITE, 20_11), ids=lambda case: f"{case['model']}-{case['assume']['scheduling']}-{case['batch']}")
def test_throughput_itl_and_reading_of_a_simulated_server(case):
    assert max(map(abs, differences(case))) <= 0.01


WORK = {"model": "llama-3.1-8b", "hardware": "h100-sxm", "prompt": 1500, "output": 120, "step_overhead": "1 ms", "mfu": 0.7}
CONFIGURATIONS = [
    *({**WORK, "batch": batch, "chunk": chunk, "assume": {"scheduling": "chunked"}} for batch in (8, 32, 96) for chunk in (256, 2048)),
    *({**WORK, "batch": batch, "assume": {"scheduling": "exclusive"}} for batch in (8, 32, 96)),
    *({**WORK, "batch": batch, "prefill_devices": 1, "assume": {"scheduling": "disaggregated"}} for batch in (8, 32, 96)),
]


@pytest.mark.parametrize("what", ["sustained_throughput", "sustained_itl"])
def test_the_same_order_of_configurations(what):
    """Two that are nearer to each other than one per cent may change places."""
    closed = [float(sr.Study(**case).exact(what)) for case in CONFIGURATIONS]
    tallies = [SERVERS[case["assume"]["scheduling"]](sr.Study(**case)).run() for case in CONFIGURATIONS]
    counted = [tally.throughput if what == "sustained_throughput" else tally.mean("itls") for tally in tallies]
    order = sorted(range(len(closed)), key=closed.__getitem__)
    assert all(counted[a] < counted[b] * 1.01 for i, a in enumerate(order) for b in order[i + 1 :])
    assert max(counted) > 1.5 * min(counted)


def test_how_far_the_estimated_wait_is_off_is_listed():
    page = (data_folder("specs").parent / "docs" / "serving.md").read_text(encoding="utf-8").splitlines()
    assert wait_line("disaggregated", 0.9, *waits("disaggregated", 0.9)) in page, "stale: python docs/generate.py"
    assert all(any(line.startswith(f"| {scheduling} | {load} |") for line in page) for scheduling in SERVERS for load in LOADS)


@pytest.mark.parametrize(("scheduling", "load"), [("chunked", 0.9), ("exclusive", 0.95)])
def test_the_wait_for_a_slot_is_that_of_a_simulated_server(scheduling, load):
    """Responses of one length: within 35 % of M/D/1, and M/M/1 is longer; without the wait for a slot the estimate is a hundredth of what is simulated."""
    page = (data_folder("specs").parent / "docs" / "serving.md").read_text(encoding="utf-8").splitlines()
    simulated, estimates = slot_waits(scheduling, load)
    assert wait_line(scheduling, load, simulated, estimates) in page, "stale: python docs/generate.py"
    assert all(any(line.startswith(f"| {kind} | {share} |") for line in page) for kind in ("chunked", "exclusive") for share in SLOT_LOADS)
    assert simulated == pytest.approx(estimates["md1"], rel=0.35) and simulated < estimates["mm1"] < 3 * simulated


MIXED = {**WORK, "batch": 16, "chunk": 1024, "long_share": 0.25, "long_prompt": 3000, "long_output": 60}


@pytest.mark.parametrize(("scheduling", "within"), [("exclusive", 0.005), ("disaggregated", 0.005), ("chunked", 0.06)])
def test_a_simulated_mix(scheduling, within):
    """Of four requests one is long. In pieces, prompts of other lengths share steps by chance, which takes up to 6 % of the bound."""
    study = sr.Study(**MIXED, **({"prefill_devices": 1} if scheduling == "disaggregated" else {}), assume={"scheduling": scheduling})
    kinds = itertools.cycle([(1500, 120), (3000, 60), (1500, 120), (1500, 120)])
    tally = SERVERS[scheduling](study, sizes=lambda _: next(kinds), grain=16).run(turns=16, warm=8)
    assert float(study.exact("mix_sustained_throughput")) == pytest.approx(tally.throughput, rel=within)
    assert float(study.exact("mix_sustained_itl")) == pytest.approx(tally.mean("itls"), rel=max(within, 0.01))
    assert float(study.exact("mix_prefill_slot_time")) == pytest.approx(tally.mean("readings"), rel=1e-3)
