"""What a buyer is told for an arrival rate: the same numbers as a case bound on its own."""

from fractions import Fraction

import pytest

from symroof.api import Study
from symroof.select.recommend import recommend
from symroof.select.selection import select

from ..near import near

CASE = {"model": "llama-3.1-8b", "hardware": "h200", "prompt": 2048, "output": 300}
CASE |= {"arrival_rate": 100}


@pytest.fixture(scope="module")
def choice():
    among = {"tp": "1,2", "weights": "fp16,fp8"}
    return select(
        **CASE, price="3 USD/hour", among=among, targets={"ttft": "500 ms", "itl": "50 ms"}
    )


@pytest.mark.full
def test_floats_that_rank_are_the_exact_values_of_what_is_bought(choice):
    """Copies are counted after the screening: nothing else may change with them, a link to the devices that prefill neither."""
    kinds = {c: c.case.assumptions["scheduling"] for c in choice.configurations}
    apart = [c for c, scheduling in kinds.items() if scheduling == "disaggregated"]
    assert all(c.copies > 1 for c in apart)
    for c in choice.configurations:
        for name in ("loaded_ttft", "sustained_itl", "load", "fleet_price", "cost_per_mtok"):
            assert c.rank(name) == near(c.result(name).value, 1e-9), name


@pytest.mark.parametrize("place", [0, 1])
def test_one_copy_less_does_not_bear_the_rate_where_all_is_slow(choice, place):
    """Bound anew with every efficiency at its slow end."""
    run = [c for c in choice.passing if c.case.assumptions["scheduling"] == "chunked"][place]
    costs = ("layer_overhead", "elementwise_bytes", "link_latency", "server_latency")
    slow = {name: ends[name in costs] for name, ends in run.own.box.items()}
    layout = {"batch": run.batch, "tp": run.case.case.value("tp")}
    layout |= {"weights": run.own.precisions["weights"], "chunk": dict(run.changes)["chunk"]}
    enough, less = (
        Study(**CASE, **layout, **slow, dp=copies) for copies in (run.copies, run.copies - 1)
    )
    assert enough.value("load") < 1 and enough.value("loaded_ttft") <= Fraction(1, 2)
    assert enough.value("sustained_itl") <= Fraction(1, 20)
    assert less.value("load") >= 1 or less.value("loaded_ttft") > Fraction(1, 2)


def test_a_layout_whose_slots_are_waited_for_does_not_hide_one_that_passes():
    """Instances that prefill apart hand over to slots that are taken: the wait is in the ITL at the rate, which a batch within the ITL of full slots may miss."""
    case = {"model": "llama-3.3-70b", "weights": "fp8", "prompt": 1500, "output": 300}
    pick = select(
        **case, hardware="h100-sxm", arrival_rate=40, targets={"ttft": "1 s", "itl": "40 ms"}
    ).configurations[0]
    assert pick.state == "passes" and pick.case.slow_end.number("dp") == pick.copies
    assert float(pick.case.slow_end.result("loaded_itl").value) <= 0.04


def test_what_would_do_if_the_prediction_holds_meets_the_targets_there_and_less_does_not():
    """Bound anew at the predicted values with so many replicas, and with one fewer."""
    targets = {"ttft": "1 s", "itl": "50 ms"}
    case = {"model": "llama-3.1-8b", "hardware": "h100-sxm", "prompt": 2048, "output": 300}
    case |= {"arrival_rate": 40}
    found = recommend(Study(**case, targets=targets))
    one = found.as_predicted(found.pick)
    enough = one.devices
    assert enough < found.pick.devices and one.group == {"decode": 1}
    layout = {"batch": one.batch, "chunk": one.chunk}
    at, less = (Study(**case, **layout, dp=n) for n in (enough, enough - 1))

    def holds(study):
        if study.value("load") >= 1:
            return False
        return study.value("loaded_ttft") <= 1 and study.value("loaded_itl") <= 0.05

    assert holds(at) and not holds(less)


def test_a_batch_whose_full_slots_miss_the_itl_is_bought_where_the_rate_meets_it_for_less():
    """11 with the batch that full slots bear, 10 with a larger one: at the rate not all slots are taken."""
    case = {"model": "llama-3.1-8b", "hardware": "b200", "prompt": 1500, "output": 300}
    case |= {"long_prompt": 6000, "long_output": 300, "long_share": 0.1, "arrival_rate": 120}
    targets = {"itl": "12 ms", "ttft": "0.6 s"}
    pick = recommend(Study(**case, targets=targets)).pick
    assert pick.devices == 10
    slow = Study(**case, batch=pick.batch, chunk=pick.chunk, dp=10).first.slow_end
    assert (
        float(slow.result("loaded_itl").value) <= 0.012 < float(slow.result("sustained_itl").value)
    )
    assert float(slow.result("mix_loaded_ttft").value) <= 0.6
