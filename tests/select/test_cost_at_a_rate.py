"""With an arrival rate the cost of a token is that of the whole fleet, idle time included: targets, the best and the order go by it."""

from fractions import Fraction

import pytest

from symroof.analysis.verdict import target_checks
from symroof.api import Study
from symroof.select.selection import select
from tests.cli import good

from ..near import near

CASE = {
    "model": "llama-3.1-8b",
    "hardware": "h100-sxm",
    "prompt": 2048,
    "output": 300,
    "efficiency": "peak",
    "price": "3 USD/hour",
}


def by_hand(copies, rate):
    """USD a million tokens: an hour's price of all copies over the tokens of an hour."""
    return Fraction(3 * copies * 10**6, 3600 * rate * 300)


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("rate", "limit", "passes"),
    [(2, "1.4 USD", True), (2, "1.38 USD", False), (4, "0.7 USD", True), (4, "0.69 USD", False)],
)
def test_a_cost_target_is_judged_at_the_rate(rate, limit, passes):
    (c,) = select(**CASE, arrival_rate=rate, targets={"cost": limit}).configurations
    (check,) = [check for check in c.run.checks if check.name == "cost"]
    assert (c.run.passes, check.metric.name) == (passes, "cost_per_mtok_at_rate")
    assert check.metric.value == near(by_hand(1, rate)) and float(
        c.run.shares["cost"]
    ) == pytest.approx(float(check.metric.value / check.limit))
    study = Study(**CASE, batch=64, arrival_rate=rate, targets={"cost": limit})
    assert [check.met for check in target_checks(study.first) if check.name == "cost"] == [passes]


def test_the_best_cost_is_that_of_the_cheapest_fleet():
    choice = select(**{**CASE, "hardware": ["h100-sxm", "l40s"]}, arrival_rate=20, by="cost")
    best = choice.best("cost")
    assert best.label == near(choice.configurations[0].label) and best.value(
        "cost_per_mtok"
    ) == near(by_hand(best.copies, 20))
    assert best.value("fleet_price") == min(c.run.value("fleet_price") for c in choice.passing)


def test_without_a_rate_devices_work_all_the_time():
    (c,) = select(**CASE, targets={"cost": "1 USD"}).configurations
    assert [check.metric.name for check in c.run.checks] == [
        "memory_bytes_per_device",
        "cost_per_mtok",
    ]


def test_a_fleet_that_does_not_keep_up_costs_what_it_costs_when_full():
    case = Study(**CASE, batch=8, arrival_rate=900).first.case
    assert case.value("load") > 1 and case.value("cost_per_mtok_at_rate") == case.value(
        "cost_per_mtok"
    )


@pytest.mark.full
@pytest.mark.parametrize(
    "target", ["cost=4 USD", "fleet_price=9 USD/hour", "price=9 USD/hour", "itl=50 ms", "ttft=1 s"]
)
@pytest.mark.parametrize("command", ["select", "eval"])
def test_a_target_that_decides_is_not_said_to_have_no_effect(command, target):
    line = [
        "--model", "llama-3.1-8b", "--hardware", "h100-sxm", "--prompt", "2048", "--output", "300",
        "--batch", "8", "--set", "arrival_rate=2/s", "--target",
    ]  # fmt: skip
    assert "has no effect" not in good(command, *line, target).out
