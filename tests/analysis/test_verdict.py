"""Verdicts just at a limit, just beside it and across it, of cases whose numbers are known by hand."""

from fractions import Fraction

import pytest
import yaml

from symroof.analysis.case_summary import target_warnings
from symroof.analysis.verdict import (
    LOAD,
    findings,
    missed,
    target_checks,
    unjudged,
    unknown_targets,
    waits_without_end,
)
from symroof.api import Study

from ..near import near, passes

GPT2 = {"model": "gpt2", "hardware": "h100-sxm", "engine": "ideal", "prompt": 100, "output": 20}

# price of one of two devices | target | met | slack | what is said
PRICES = """
3 | 6 | true | 0 |
3 | 5.999 | false | -0.001 | target missed: price 6 USD/hour, target 5.999 USD/hour
2..3 | 6 | true | 1 |
2..3 | 5.99 | null | 0.99 | price 5 USD/hour (4–6), target 5.99 USD/hour (met in part of the range)
2..3 | 4 | null | -1 | price 5 USD/hour (4–6), target 4 USD/hour (met in part of the range)
2..3 | 3.99 | false | -1.01 | target missed: price 5 USD/hour (4–6), target 3.99 USD/hour
"""


@pytest.mark.parametrize("row", PRICES.strip().splitlines())
def test_a_target_at_its_limit(row):
    """Met exactly is met; over a range it is missed only where even the least is above."""
    price, target, met, slack, words = (cell.strip() for cell in row.split("|"))
    limit = {"price": f"{target} USD/hour"}
    answers = Study(**GPT2, tp=2, price=f"{price} USD/hour", targets=limit).first
    (check,) = target_checks(answers)
    assert (check.name, check.met) == ("price", yaml.safe_load(met))
    assert check.slack * 3600 == pytest.approx(float(slack), rel=1e-10)  # of nearly equal numbers
    assert findings(answers) == ([] if check.met else ["price_missed"])
    assert [line.startswith(words) for line in target_warnings(answers)] == [True] * bool(words)


@pytest.mark.parametrize(
    ("rate", "load"),
    [("1.99", True), ("2", False), ("1..1.99", True), ("1..2", None), ("2..3", False)],
)
def test_a_load_of_one_is_too_much(rate, load):
    """A server that sustains two requests a second: at two the queue grows without end, and no wait meets a target of an hour."""
    served = {"sustained_requests": "2 request/s", "targets": {"ttft": "3600 s"}}
    answers = Study(**GPT2, arrival_rate=f"{rate} request/s", **served).first
    first, *others = target_checks(answers)
    assert (first.name, first.met) == (LOAD, load)
    ends = [Fraction(end) for end in rate.split("..")]
    middle = sum(ends) / len(ends)
    assert first.slack == near(1 - middle / 2)
    over = middle >= 2
    assert waits_without_end("ttft", answers.case) == over
    assert [check.name for check in others] == ([] if over else ["ttft"])
    assert missed(answers, answers.case) == ([LOAD, "ttft"] if over else [])
    words = {False: "target missed: load", None: "load"}
    said = [line.startswith(words.get(load, "")) for line in target_warnings(answers)[:1]]
    assert said == [True] * (load is not True)


@pytest.mark.parametrize(
    ("more", "targets", "missing"),
    [
        ({"price": "3 USD/hour"}, {"price": "6 USD/hour", "itl": "1 s"}, {}),
        ({"price": "3 USD/hour", "output": 1}, {"ttft": "1 s"}, {}),
        # overloaded: the load tells
        ({"price": "3 USD/hour", "arrival_rate": 10**6, "chunk": 64}, {"ttft": "1 s"}, {}),
        ({"mem_bandwidth": "1 TB/s"}, {"ttft": "1 s"}, {"ttft": "needs peak_flops"}),
        ({"mem_bandwidth": "1 TB/s"}, {"price": "6 USD/hour"}, {"price": "needs price"}),
    ],
)
def test_targets_that_cannot_be_judged(more, targets, missing):
    hardware = {"hardware": "h100-sxm", "engine": "ideal"} if "price" in more else {}
    case = Study("gpt2", prompt=100, **{"output": 20, **hardware, **more}, targets=targets).first
    assert unknown_targets(case) == missing
    assert unjudged(case) == [
        f"whether it meets its {name} target is not known: {why}" for name, why in missing.items()
    ]
    assert not missing or passes(case) is False
