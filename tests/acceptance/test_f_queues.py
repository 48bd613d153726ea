"""Queues, targets and bursts (systems 42, 43, 60): closed forms against a queue that is simulated request by request."""

import random

import pytest

from symroof.api import Study
from symroof.errors import InputError, NoValue

from ..near import near
from . import check, rows

ROWS = rows(
    globals(),
    """
queue_wait    | = 0    | service_time='2 s' arrival_rate=0/s
goodput       | = 1.4  | sustained_requests='1 request/s' slo_share='70 %' dp=2
goodput       | = 0    | sustained_requests=1 sustained_itl='51 ms' output=2 itl_target='50 ms'
# half are in time without any wait; none where the prefill alone is too slow
share_in_time | = 1/2  | service_time='2 s' ttft='2 s' ttft_target='2 s' arrival_rate=0.25/s
share_in_time | = 0    | service_time='2 s' ttft='2 s' ttft_target='1.9 s' arrival_rate=0.25/s
burst_backlog | = 0    | service_time='125 ms' burst_rate=7/s burst_duration='10 s'
""",
)


@pytest.mark.parametrize("case", ROWS)
def test_row(case):
    check(case)


def test_a_target_below_the_prefill_is_met_at_no_rate():
    study = Study(service_time="133 ms", ttft="133 ms", ttft_target="100 ms")
    solution = study.solve("queue_wait + ttft = ttft_target", for_="arrival_rate")
    assert solution.verdict == "lhs_above"


# ---------------------------------------------------------------------------------------------------------- simulated queues

SERVICE = {
    "mm1": lambda draw: draw.expovariate(1),
    "md1": lambda draw: 1.0,
    "mg1": lambda draw: 0.5 if draw.random() < 0.75 else 2.5,
}
SPREAD = {"mm1": 1, "md1": 0, "mg1": 0.75}  # (0.75*0.25 + 0.25*6.25) - 1


def waits(load, service, requests=200_000):
    """Each request waits for what the one before it left to do; services of mean 1."""
    draw = random.Random(20_09)
    wait, result = 0.0, []
    for _ in range(requests):
        wait = max(0.0, wait + service(draw) - draw.expovariate(load))
        result.append(wait)
    return result


@pytest.mark.parametrize("queue", SERVICE)
@pytest.mark.parametrize("load", [0.3, 0.6])
def test_mean_wait_of_a_simulated_queue(queue, load):
    result = waits(load, SERVICE[queue])
    derived = Study(
        service_time="1 s",
        arrival_rate=f"{load}/s",
        service_spread=SPREAD[queue],
        assume={"queue": queue},
    ).value("queue_wait")
    assert sum(result) / len(result) == near(derived, 0.06)


@pytest.mark.parametrize("share", [0.5, 0.9, 0.99])
def test_quantiles_and_shares_of_a_simulated_queue(share):
    result = sorted(waits(0.6, SERVICE["mm1"]))
    study = Study(
        service_time="1 s", ttft="1 s", arrival_rate="0.6/s", percentile=share, ttft_target="4 s"
    )
    assert result[int(share * len(result))] == pytest.approx(
        float(study.value("queue_wait_quantile")), rel=0.08, abs=0.05
    )
    assert sum(wait <= 3 for wait in result) / len(result) == pytest.approx(
        float(study.value("share_in_time")), abs=0.01
    )


# --------------------------------------------------------------------------------------------------------- what has no value

QUEUE = {"service_time": "2 s", "ttft": "1 s", "ttft_target": "2 s"}


@pytest.mark.parametrize(
    "name", ["queue_wait", "queue_wait_quantile", "share_in_time", "burst_drain_time"]
)
@pytest.mark.parametrize("rate", ["0.5/s", "3/s"])
def test_without_a_steady_state_there_is_no_wait(name, rate):
    study = Study(**QUEUE, arrival_rate=rate, burst_rate="9/s", burst_duration="1 s")
    assert "no steady state" in study.first.why_unknown(name)
    with pytest.raises(NoValue, match="no steady state"):
        study.first.case.value(name)


@pytest.mark.parametrize("queue", ["md1", "mg1"])
@pytest.mark.parametrize("name", ["queue_wait_quantile", "share_in_time"])
def test_what_has_no_closed_form_says_so(name, queue):
    study = Study(**QUEUE, arrival_rate="0.1/s", assume={"queue": queue})
    assert study.first.why_unknown(name) == f"no closed form under queue={queue}"
    half = "0.5" if name == "share_in_time" else "0.5 s"
    with pytest.raises(InputError, match=f"no closed form under queue={queue}"):
        study.solve(f"{name} = {half}", for_="arrival_rate")
    given = Study(service_time="2 s", arrival_rate="0.1/s", assume={"queue": queue}, **{name: half})
    assert given.value(name) == 0.5, "a value that is given needs no formula"
