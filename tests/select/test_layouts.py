"""The ways to lay devices out, counted by hand."""

from fractions import Fraction

import pytest

from symroof.api import Study
from symroof.errors import InputError
from symroof.select.candidates import RATIOS, candidates_of
from symroof.select.selection import select

from ..tables import case_of

CASE = case_of(
    "model=llama-3.1-8b hardware=h100-sxm prompt=2048 output=300 chunk=2048 price='4.29 USD/hour'"
)
AIMS = {"ttft": "2 s", "itl": "50 ms", "fleet_price": "65 USD/hour"}


@pytest.mark.full
def test_a_million_of_a_device_without_a_price_is_not_known_and_its_fleet_is():
    """Not judged at one request and one copy."""
    case = {name: value for name, value in CASE.items() if name != "price"}
    case |= {"hardware": "h200-nvl", "arrival_rate": 100}
    (c,) = select(**case, targets=AIMS).configurations
    assert (c.state, list(c.unknown)) == ("unknown", ["fleet_price"])
    latencies = {name: AIMS[name] for name in ("ttft", "itl")}
    (free,) = select(**case, targets=latencies).configurations
    assert (c.batch, c.copies) == (free.batch, free.copies) and c.copies > 1


def test_the_peak_bounds_no_latency_that_it_lengthens():
    """Prompts that are read five times as fast keep more requests decoding beside each other."""
    given = case_of(
        "batch=200 prefill_devices=1 mfu=0.2 mbu=1 scheduling=disaggregated efficiency=measured"
    )
    apart = Study(**CASE, **given).first
    assert apart.at_peak.case.value("sustained_itl") > apart.case.value("sustained_itl")
    assert apart.peak_bound("sustained_itl") is None
    assert apart.peak_bound("prefill_time") is not None


def numbers(found):
    """Width, attention groups, copies and prefill devices of each candidate."""
    made = set()
    for candidate in found:
        case, prefill = candidate.own.case, 0
        if case.has("prefill_devices"):
            prefill = candidate.changes.get("prefill_devices") or case.value("prefill_devices")
        degrees = (int(case.value(name)) for name in ("tp", "attention_dp", "dp"))
        made.add((*degrees, Fraction(prefill)))
    return made


def test_groups_within_a_node_by_hand():
    """Eight key and value heads and a node of eight: 1, 2, 4 or 8 devices, and for each every ratio of prefill devices, which take the same layout or one device
    each; a batch and a chunk that are given stay."""
    case = Study(**CASE).first
    assert numbers(candidates_of(case)) == {(tp, 1, 1, 0) for tp in (1, 2, 4, 8)}
    open_chunk = {name: value for name, value in CASE.items() if name != "chunk"}
    every = candidates_of(Study(**open_chunk, arrival_rate=10).first)
    found = numbers(every)
    apart = {(tp, 1, 1, tp * ratio) for tp in (1, 2, 4, 8) for ratio in RATIOS}
    assert found == {(tp, 1, 1, 0) for tp in (1, 2, 4, 8)} | apart
    cases = {id(one.own): one.own for one in every if one.own.prefills}
    sizes = [case.prefill_case.case.value("instance_devices") for case in cases.values()]
    assert sizes == [1, 1, 1]  # beside groups of 2, 4 and 8 that decode


def test_experts_also_get_groups_of_attention_and_stand_whole_without():
    case = Study("qwen3-30b-a3b", "h100-sxm", prompt=2048, output=300, chunk=2048).first
    found = candidates_of(case)
    groups = {(tp, n) for tp, n, *_ in numbers(found)}
    assert groups == {(2**i, 2**j) for i in range(4) for j in range(4 - i)}
    alone = [c.own.case for c in found if c.own.case.value("attention_dp") == 1]
    whole = {(n, e) for n in (1, 2, 4, 8) for e in (1, n)}
    assert {(c.value("tp"), c.value("ep")) for c in alone} == whole


def test_how_many_devices_prefill_is_asked_for_without_a_rate_and_searched_at_one():
    apart = CASE | {"chunk": None, "assume": {"scheduling": "disaggregated"}}
    with pytest.raises(InputError) as error:
        select(**apart)
    assert "at a rate (`--qps 20`)" in error.value.problems[0].hint
    assert select(**apart, arrival_rate=20).configurations[0].layout["prefill_devices"] >= 1
