"""A price of each device: what a token costs, who is cheapest, and which setting is the stronger."""

from fractions import Fraction

import pytest

from symroof.analysis.study import Study
from symroof.cases.request import request_of
from symroof.errors import InputError
from symroof.select.selection import select

CASE = {"model": "llama-3.1-8b", "prompt": 2048, "output": 300, "batch": 16, "efficiency": "peak"}
H100, H200 = ("h100-sxm.price", "h200.price")


def cost(hourly, answers):
    """USD a million tokens of one device."""
    return Fraction(hourly, 3600) * 10**6 / Fraction(answers.case.value("sustained_throughput"))


@pytest.mark.parametrize(("prices", "cheapest"), [((1, 3), "h100-sxm"), ((3, 1), "h200")])
def test_each_device_costs_its_own_price(prices, cheapest):
    choice = select(**CASE, hardware=["h100-sxm", "h200"], **{H100: f"{prices[0]} USD/hour", H200: f"{prices[1]} USD/hour"})
    assert choice.order == "cost" and choice.passing[0].label == cheapest
    by_label = {c.label: c.run for c in choice.configurations}
    for label, hourly in zip(("h100-sxm", "h200"), prices, strict=True):
        assert by_label[label].value("cost_per_mtok") == cost(hourly, by_label[label].bound_case)


def test_of_a_device_over_its_catalogue_price_and_not_over_the_price_of_a_stronger_line():
    study = Study(**CASE, hardware=["h100-sxm", "h200"], **{H200: "2 USD/hour"})
    spec, own = (case.given["price"] for case in study.cases)
    assert spec.source.startswith("h100-sxm: ") and own.source == "given: h200.price"
    study.select(request_of(price="7 USD/hour"))
    assert {case.case.value("price") for case in study.cases} == {Fraction(7, 3600)}


def test_a_study_file_has_them_where_it_sets_values(tmp_path):
    path = tmp_path / "study.yaml"
    text = "model: llama-3.1-8b\nhardware: [H100 SXM, h200]\nworkload: {prompt: 2048}\nset: {H100 SXM.price: 1 USD/hour, h200.mem_bandwidth: 4 TB/s}\n"
    path.write_text(text, encoding="utf-8")
    first, second = Study.load(path).cases
    assert first.case.value("price") == Fraction(1, 3600) and second.case.value("mem_bandwidth") == 4 * 10**12
    assert first.case.value("mem_bandwidth") == 335 * 10**10


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("h20o0.price", "2 USD/hour", "did you mean 'h200'?"),
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
    assert Study(**CASE, hardware="gaudi3", **{H100: "1 USD/hour"}).first.get("price") is None  # the catalogue has none of a Gaudi 3
