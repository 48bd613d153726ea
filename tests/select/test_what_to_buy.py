"""What a buyer is told for an arrival rate: the same numbers as a case bound on its own, and equal prices by what a token costs."""

from fractions import Fraction

import pytest
import yaml

from symroof.api import Study
from symroof.report.selection_tables import parts
from symroof.select.selection import select
from symroof.specs import catalogue

CASE = {
    "model": "llama-3.1-8b",
    "hardware": "h200",
    "prompt": 2048,
    "output": 300,
    "arrival_rate": 100,
}


@pytest.fixture(scope="module")
def choice():
    among = {"instance_devices": "1,2", "weights": "fp16,fp8"}
    return select(
        **CASE, price="3 USD/hour", among=among, targets={"ttft": "500 ms", "itl": "50 ms"}
    )


@pytest.mark.full
def test_floats_that_rank_are_the_exact_values_of_what_is_bought(choice):
    """Copies are counted after the screening: nothing else may change with them, a link to the devices that prefill neither."""
    apart = [
        c
        for c in choice.configurations
        if c.run.bound_case.assumptions["scheduling"] == "disaggregated"
    ]
    assert apart and all(c.run.copies > 1 for c in apart)
    for c in choice.configurations:
        for name in ("loaded_ttft", "sustained_itl", "load", "fleet_price", "cost_per_mtok"):
            assert c.run.rank(name) == pytest.approx(float(c.run.value(name)), rel=1e-9), (
                c.label,
                name,
            )


@pytest.mark.full
def test_of_equal_prices_the_cheaper_token_stands_first(choice):
    said = [
        (c.run.value("fleet_price"), float(c.run.value("cost_per_mtok"))) for c in choice.passing
    ]
    assert said == sorted(said) and len({price for price, _ in said}) < len(said)


@pytest.mark.parametrize("place", [0, 1])
def test_one_copy_less_does_not_bear_the_rate_where_all_is_slow(choice, place):
    """Bound anew with every efficiency at its slow end."""
    run = [
        c.run for c in choice.passing if c.run.bound_case.assumptions["scheduling"] == "chunked"
    ][place]
    slow = {
        name: ends[
            name in ("layer_overhead", "elementwise_bytes", "link_latency", "server_latency")
        ]
        for name, ends in run.own.box.items()
    }
    layout = {
        "batch": run.batch,
        "tp": run.bound_case.case.value("tp"),
        "weights": run.own.precisions["weights"],
    }
    enough, less = (
        Study(**CASE, **layout, **slow, dp=copies) for copies in (run.copies, run.copies - 1)
    )
    assert (
        enough.value("load") < 1
        and enough.value("loaded_ttft") <= Fraction(1, 2)
        and enough.value("sustained_itl") <= Fraction(1, 20)
    )
    assert less.value("load") >= 1 or less.value("loaded_ttft") > Fraction(1, 2)


def test_equally_good_runs_are_one_row_of_a_front():
    """Reserves that both leave room enough change neither latency nor rate."""
    reserves = select(
        **{**CASE, "arrival_rate": None},
        batch=8,
        efficiency="peak",
        among={"memory_reserve": "1 GB,2 GB"},
    )
    (rows,) = (part.rows for part in parts(reserves, 20) if part.title == "Pareto fronts")
    assert rows[0][2] == "h200, memory_reserve 1 GB, and 1 more as good"
    assert len(rows) < sum(
        len(front.runs) for front in (*reserves.fronts, *reserves.fitting_fronts)
    )


WITHIN = {"ttft": "2 s", "itl": "80 ms", "fleet_price": "1 USD/hour"}


@pytest.fixture(scope="module")
def pairs(tmp_path_factory):
    """Pairs of three devices; an MI300X without its prices is one of them."""
    spec = yaml.safe_load(catalogue.find("hardware", "mi300x").text)
    path = tmp_path_factory.mktemp("specs") / "unpriced.yaml"
    path.write_text(
        yaml.safe_dump({name: value for name, value in spec.items() if name != "prices"}),
        encoding="utf-8",
    )
    return {**CASE, "hardware": ["l40s", "h100-sxm", str(path)], "dp": 1, "tp": 2}


def to_buy(choice):
    (bought,) = (part for part in parts(choice, 20) if part.title == "What to buy")
    return {row[0]: row[1:] for row in (bought.header, *bought.rows)}


def keeps_up(study):
    return (
        study.value("load") < 1
        and study.value("loaded_ttft") <= 2
        and study.value("sustained_itl") <= Fraction(8, 100)
    )


@pytest.mark.full
@pytest.mark.parametrize(("rate", "count"), [(12, 2), (60, 1)])
def test_of_what_is_over_budget_or_without_a_price_that_is_to_buy_which_keeps_up(
    pairs, rate, count
):
    """Nothing passes a budget of 1 USD an hour; what no price is known of is nearer than what is too dear."""
    case = pairs | {"arrival_rate": rate, "efficiency": "peak"}
    choice = select(**case, targets=WITHIN)
    alone = {
        c.label: Study(**{**case, "hardware": c.label.split()[-1], "batch": c.run.batch})
        for c in choice.configurations
    }
    bought = to_buy(choice)
    assert (
        set(bought[""]) == {label for label, study in alone.items() if keeps_up(study)}
        and len(bought[""]) == count
    )
    assert [cell == "no price found" for cell in bought["price"]] == [False, True][
        -count:
    ]  # the one with a price first, though too dear
    states = [c.state for c in choice.configurations]
    assert states == sorted(states, reverse=True) and set(states) == {"fails", "unknown"}


@pytest.mark.full
def test_what_does_not_keep_up_where_all_is_slow_bears_less_than_now(pairs):
    """Of the two that serve 14 requests a second as expected one is overloaded at the slow end of what was measured."""
    cells = to_buy(select(**pairs | {"arrival_rate": 14}, targets=WITHIN))
    overloaded = [float(load.split(" to ")[1][:-1]) >= 1 for load in cells["load"]]
    assert (
        overloaded
        == [cell == "less than now at the slow end" for cell in cells["largest rate"]]
        == [False, True]
    )


def test_smaller_steps_are_pointed_to_where_an_itl_is_to_be_met():
    """They serve more within it, and no selection tries them unasked; nothing is said once a budget is given, without an ITL, or of ``ideal``, which has none."""
    case = {"model": "llama-3.1-8b", "hardware": "h100-sxm", "prompt": 2000, "output": 300}

    def said(itl=True, **more):
        return any(
            "token budget" in hint
            for hint in select(
                **case, targets={"itl": "30 ms"} if itl else {"ttft": "1 s"}, **more
            ).hints
        )

    assert (
        said()
        and not said(itl=False)
        and not said(chunk=512)
        and not said(engine="ideal")
        and not said(engine="sglang")
    )
