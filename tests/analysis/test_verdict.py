"""Verdicts just at a limit, just beside it and across it; titles and warnings of cases whose numbers are known by hand."""

from fractions import Fraction

import pytest

from symroof.analysis.verdict import (
    LOAD,
    all_met,
    constraints,
    findings,
    overloaded,
    passes,
    target_checks,
    target_warnings,
    unknown_targets,
    waits_without_end,
)
from symroof.api import Study

from ..near import near

GPT2 = {"model": "gpt2", "hardware": "h100-sxm", "engine": "ideal", "prompt": 100, "output": 20}


@pytest.mark.parametrize(
    ("price", "target", "met", "slack", "words"),
    [  # of two devices
        ("3", "6", True, 0, None),
        (
            "3",
            "5.999",
            False,
            "-0.001",
            "misses its price target: 6 USD/hour against 5.999 USD/hour",
        ),
        ("2..3", "6", True, 1, None),
        (
            "2..3",
            "5.99",
            None,
            "0.99",
            "meets its price target in part of the range only: 5 USD/hour (4 to 6 USD/hour) against 5.99 USD/hour",
        ),
        (
            "2..3",
            "4",
            None,
            -1,
            "meets its price target in part of the range only: 5 USD/hour (4 to 6 USD/hour) against 4 USD/hour",
        ),
        (
            "2..3",
            "3.99",
            False,
            "-1.01",
            "misses its price target: 5 USD/hour (4 to 6 USD/hour) against 3.99 USD/hour",
        ),
    ],
)
def test_a_target_at_its_limit(price, target, met, slack, words):
    """Met exactly is met; over a range it is missed only where even the least is above."""
    answers = Study(
        **GPT2, tp=2, price=f"{price} USD/hour", targets={"price": f"{target} USD/hour"}
    ).first
    (check,) = target_checks(answers)
    assert (check.name, check.met) == ("price", met)
    assert check.slack * 3600 == pytest.approx(float(slack), rel=1e-10)  # of nearly equal numbers
    assert check.bound.value * 3600 == near(float(target))
    assert all_met([check]) is met
    assert findings(answers) == ([] if met else ["price_missed"])
    assert target_warnings(answers) == ([words] if words else [])
    assert passes(answers) is (True if met else None if Fraction(slack) >= 0 else False)


@pytest.mark.parametrize(
    ("rate", "load"),
    [
        ("1.99", True),
        ("2", False),
        ("2.01", False),
        ("1..1.99", True),
        ("1..2", None),
        ("2..3", False),
    ],
)
def test_a_load_of_one_is_too_much(rate, load):
    """A server that sustains two requests a second: at two the queue grows without end, and no wait meets a target of an hour."""
    answers = Study(
        **GPT2,
        arrival_rate=f"{rate} request/s",
        sustained_requests="2 request/s",
        targets={"ttft": "3600 s"},
    ).first
    first, *others = target_checks(answers)
    assert (first.name, first.met) == (LOAD, load)
    middle = {"1..1.99": Fraction("1.495"), "1..2": Fraction(3, 2), "2..3": Fraction(5, 2)}.get(
        rate
    ) or Fraction(rate)
    assert first.slack == near(1 - middle / 2)
    over = middle >= 2
    assert (overloaded(answers), waits_without_end("ttft", answers.case)) == (over, over)
    assert [check.name for check in others] == ([] if over else ["ttft"])
    stated = {each.name: each.holds(answers.case) for each in constraints(answers)}
    assert stated == {"memory": True, LOAD: not over, "ttft": not over}
    words = {
        False: "does not keep up with the arriving requests: ",
        None: "keeps up with the arriving requests in part of the range only: ",
    }
    assert [line.startswith(words[load]) for line in target_warnings(answers)[:1]] == (
        [True] if load is not True else []
    )


@pytest.mark.parametrize(
    ("more", "targets", "missing"),
    [
        ({"price": "3 USD/hour"}, {"price": "6 USD/hour", "itl": "1 s"}, {}),
        ({"price": "3 USD/hour", "output": 1}, {"ttft": "1 s"}, {}),
        (
            {"price": "3 USD/hour", "arrival_rate": "1000000 request/s", "chunk": 64},
            {"ttft": "1 s"},
            {},
        ),  # overloaded: the load tells
        (
            {"mem_bandwidth": "1 TB/s", "peak_flops": "1 TFLOP/s"},
            {"cost": "6 USD", "ttft": "1 s"},
            {"cost": "needs price"},
        ),
        (
            {"mem_bandwidth": "1 TB/s"},
            {"price": "6 USD/hour", "ttft": "1 s"},
            {"price": "needs price", "ttft": "needs peak_flops"},
        ),
    ],
)
def test_targets_that_cannot_be_judged(more, targets, missing):
    hardware = {"hardware": "h100-sxm", "engine": "ideal"} if "price" in more else {}
    case = Study("gpt2", prompt=100, **{"output": 20, **hardware, **more}, targets=targets).first
    assert unknown_targets(case) == missing
    assert sorted(line for line in target_warnings(case) if "is not known" in line) == [
        f"whether it meets its {name} target is not known: {why}"
        for name, why in sorted(missing.items())
    ]
    assert not missing or passes(case) is False
