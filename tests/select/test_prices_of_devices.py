"""A price of each device: what a token costs, who is cheapest, and which setting is the stronger."""

from fractions import Fraction

import pytest

from symroof.analysis.case_summary import target_warnings
from symroof.analysis.study import Study
from symroof.cases.request import request_of
from symroof.errors import InputError
from symroof.report.purchase_text import purchase_rows
from symroof.select.recommend import recommended_of
from symroof.select.selection import check_json, select

from ..near import near

CASE = {"model": "llama-3.1-8b", "prompt": 2048, "output": 300, "batch": 16, "efficiency": "peak"}
H100, H200 = ("h100-sxm.price", "h200.price")


def cost(hourly, answers):
    """USD a million tokens of one device."""
    rate = float(answers.case.value("sustained_throughput"))
    return float(Fraction(hourly) / 3600) * 10**6 / rate


@pytest.mark.parametrize(("prices", "cheapest"), [((1, 3), "h100-sxm"), ((3, 1), "h200")])
def test_each_device_costs_its_own_price(prices, cheapest):
    own = dict(zip((H100, H200), (f"{price} USD/hour" for price in prices), strict=True))
    choice = select(**CASE, hardware=["h100-sxm", "h200"], **own)
    assert choice.order == "cost" and choice.passing[0].label == cheapest
    by_label = {c.label: c for c in choice.configurations}
    for label, hourly in zip(("h100-sxm", "h200"), prices, strict=True):
        run = by_label[label]
        assert run.result("cost_per_mtok").value == near(cost(hourly, run.case))


def test_of_a_device_over_its_catalogue_price_and_not_over_the_price_of_a_stronger_line():
    study = Study(**CASE, hardware=["h100-sxm", "h200"], **{H200: "2 USD/hour"})
    spec, own = (case.given["price"] for case in study.cases)
    assert spec.source.startswith("h100-sxm: ") and own.source == "given: h200.price"
    study.select(request_of(price="7 USD/hour"))
    assert {case.case.value("price") for case in study.cases} == {7 / 3600}


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("h10o-sxm.price", "2 USD/hour", "no such hardware"),
        ("h200.price", "2", "write the unit of a price"),
        ("h200.price", ["2 USD/hour", "3 USD/hour"], "has 2 values"),
        ("h200.prize", "2 USD/hour", "unknown name 'h200.prize'"),
    ],
)
def test_what_cannot_be_a_price_of_a_device(name, value, message):
    with pytest.raises(InputError) as error:
        _ = Study(**CASE, hardware="h200", **{name: value}).cases
    assert message in str(error.value)


def test_a_device_that_is_not_chosen_costs_nothing_here():
    assert (
        Study(**CASE, hardware="gaudi3", **{H100: "1 USD/hour"}).first.get("price") is None
    )  # the catalogue has none of a Gaudi 3


# --------------------------------------------------------------------------------------------------------- list prices

PARTS = ("h100-sxm", "h200", "gaudi3")


def listed_cost(choice, name):
    """Lowest, median and highest cost of a million tokens of one device, from its list prices and the rate it gives."""
    (run,) = (c for c in choice.configurations if c.label == name)
    price = run.own.hardware.price
    return [cost(3600 * hourly, run.case) for hourly in (price.low, price.middle, price.high)]


def test_a_cost_has_the_range_of_the_list_prices_and_nothing_else_has():
    case = Study(**CASE, hardware="h200").first
    found = case.result("cost_per_mtok")
    rate = case.case.value("sustained_throughput")
    assert [end * rate * 3600 / 10**6 for end in (found.low, found.value, found.high)] == near(
        [3.99, 4.5, 10]
    )
    assert case.result("sustained_throughput").low is None and case.box == {}
    entry = case.inputs()["price"]
    assert entry.plain() == "4.5 USD/hour (3.99 to 10 USD/hour)"
    assert entry.source == "h200: median of 10 list prices on demand, 2026-02 to 2026-11"


def test_the_range_of_the_efficiencies_and_that_of_the_prices_go_together():
    ranged, slow, fast = (
        Study(**{**CASE, "efficiency": None}, hardware="h200", mfu=1, mbu=mbu).first
        for mbu in ("0.5..0.8", 0.5, 0.8)
    )
    found = ranged.result("cost_per_mtok")
    assert (found.low, found.high) == (
        fast.result("cost_per_mtok").low,
        slow.result("cost_per_mtok").high,
    )
    assert found.at_median == tuple(case.case.value("cost_per_mtok") for case in (fast, slow))


def test_who_is_first_by_cost_is_not_decided_where_the_list_prices_overlap():
    choice = select(**CASE, hardware=list(PARTS))
    spans = {name: listed_cost(choice, name) for name in PARTS[:2]}
    first, second = sorted(spans, key=lambda name: spans[name][1])
    assert spans[second][0] <= spans[first][2]
    found = recommended_of(choice)
    assert found.pick and found.pick.hardware == first
    assert [one.hardware for one in found.undecided_by_price] == [second]


def test_prices_that_are_far_apart_decide():
    """An H100 at a tenth of the lowest price of an H200, which serves less than ten times as much."""
    choice = select(**CASE, hardware=list(PARTS[:2]), **{H100: "0.399 USD/hour"})
    assert choice.passing[0].label == "h100-sxm" and recommended_of(choice).undecided_by_price == ()


def test_what_no_price_was_found_of_is_last_and_says_so():
    choice = select(**CASE, hardware=["gaudi3", "h200"])
    found = [(c.label, c.state) for c in choice.configurations]
    assert found == [("h200", "passes"), ("gaudi3", "passes")]
    said = "no price of gaudi3 was found, so it is ranked last"
    assert any(hint.startswith(said) for hint in choice.hints)
    _, rows = purchase_rows(choice.configurations)
    assert ["no price found" in row for row in rows] == [False, True]


@pytest.mark.parametrize(
    ("hourly", "met", "straddles"),
    [(3, False, False), (4, False, True), (5, True, True), (11, True, False)],
)
def test_a_cost_target_is_judged_at_the_median_and_the_verdict_says_where_the_prices_straddle_it(
    hourly, met, straddles
):
    """List prices of 3.99, 4.50 and 10 USD an hour against what a million tokens cost at 3, 4, 5 and 11."""
    (free,) = select(**CASE, hardware="h200").configurations
    rate = Fraction(free.result("sustained_throughput").value)
    target = f"{float(Fraction(hourly * 10**6, 3600) / rate)} USD"
    choice = select(**CASE, hardware="h200", targets={"cost": target})
    (configuration,) = choice.configurations
    (check,) = (check for check in configuration.checks if check.name == "cost")
    assert (check.met, check.straddles) == (met, straddles)
    assert configuration.state == ("passes" if met else "fails")
    assert check_json(check)["straddles"] is straddles
    said = [text for text in target_warnings(configuration.case) if "cost" in text]
    assert bool(said) is (straddles or not met)
    words = f"at the median of the list prices, not at the {'highest' if met else 'lowest'}"
    assert any(words in text for text in said) is straddles
