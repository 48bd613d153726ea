"""How a value is written for people, and that programs get it as it is."""

from fractions import Fraction

import pytest

from symroof.analysis.study import Study
from symroof.cases.quantity_result import Result, as_written
from symroof.symbolic.expressions import number
from symroof.theory.quantities import QUANTITIES
from symroof.theory.symbols import INPUTS

SERVED = {
    "model": "llama-3.1-8b",
    "hardware": "h100-sxm",
    "tp": 4,
    "prompt": 2048,
    "output": 300,
    "batch": 64,
}


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
    assert solution.symbol.unit == "device"


WAITS = (
    "queue_wait",
    "queue_wait_quantile",
    "prefill_queue_wait",
    "wait_for_slot",
    "admission_wait",
    "mix_admission_wait",
    "slot_queue_wait",
    "wait_to_decode",
)


@pytest.mark.sample(5)
@pytest.mark.parametrize("name", WAITS)
@pytest.mark.parametrize(
    ("seconds", "text"),
    [("1e-9", "1 ns"), ("9.99e-10", "0 s"), ("2.834e-14", "0 s"), ("0", "0 s"), ("0.25", "250 ms")],
)
def test_an_estimated_wait_below_a_nanosecond_is_none_for_people_and_exact_for_programs(
    name, seconds, text
):
    result = Result(QUANTITIES[name], Fraction(seconds))
    assert result.text() == text
    assert result.as_json()["value"] == float(seconds)


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        ("1e-15", "2e-12", "0 s"),
        ("1e-15", "2e-9", "0 s (0 s to 2 ns)"),
        ("1e-15", "1e-9", "0 s (0 s to 1 ns)"),
    ],
)
def test_a_range_of_waits_is_written_where_its_end_is_one(low, high, text):
    result = Result(QUANTITIES["admission_wait"], Fraction("5e-13"), Fraction(low), Fraction(high))
    assert result.plain() == text
    assert result.as_json()["high"] == float(high)


def test_other_times_are_written_however_short():
    assert {name for name, quantity in QUANTITIES.items() if quantity.negligible} == set(WAITS)
    assert Result(QUANTITIES["stage_send_time"], Fraction("2.5e-11")).text() == "0.025 ns"


def test_the_wait_of_an_idle_server_is_none_in_tables_and_exact_beside():
    wait = Study(**SERVED, arrival_rate="0.001/s").result("admission_wait")
    assert 0 < wait.value < Fraction(1, 10**9)
    assert wait.text() == "0 s"
