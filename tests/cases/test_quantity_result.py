"""How a value is written for people, and that programs get it as it is."""

from fractions import Fraction

import pytest

from symroof.analysis.study import Study
from symroof.cases.values import Result, as_written
from symroof.symbolic.expressions import number
from symroof.theory.symbols import INPUTS
from tests.tables import case_of

SERVED = case_of("model=llama-3.1-8b hardware=h100-sxm tp=4 prompt=2048 output=300 batch=64")


@pytest.mark.parametrize(
    ("name", "count", "text"),
    [
        ("dp", 13, "13 replicas"),
        ("dp", 1, "1 replica"),
        ("pp", 4, "4 stages"),
        ("attention_dp", 8, "8 groups"),
        ("tp", 4, "4 devices"),
        ("ep", 8, "8 devices"),
    ],
)
def test_degrees_are_counted_in_what_they_are_and_stay_devices_for_programs(name, count, text):
    result = Result(INPUTS[name], Fraction(count))
    assert (result.plain(), as_written(name, number(Fraction(count)))) == (text, text)
    assert result.as_json() == {"value": count, "unit": "device"}


def test_replicas_for_an_arrival_rate_are_not_devices():
    solution = Study(**SERVED, arrival_rate="1000/s").solve("min_copies_arrival")
    count = next(iter(solution.integer.values()))
    assert count > 1  # of 4 devices each
    assert solution.shown() == f"at least {count:,} replicas"
    assert solution.declared.unit == "device"


def test_the_wait_of_an_idle_server_is_none_in_tables_and_exact_beside():
    wait = Study(**SERVED, arrival_rate="0.001/s").result("admission_wait")
    assert 0 < wait.value < Fraction(1, 10**9)
    assert wait.text() == "0 s"
