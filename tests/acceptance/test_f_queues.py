"""Queues, targets and bursts (systems 42, 43, 60): closed forms against a queue that is simulated request by request."""

import random
from fractions import Fraction

import pytest

from symroof.api import Study
from symroof.errors import InputError
from symroof.symbolic.evaluation import NoValue

from ..near import near
from . import B8, B70, H100, H100_989, KV, TUTORIAL, WEIGHTS, agree, check, row

HELD = {"service_time": "133 ms", "ttft": "133 ms"}
ROWS = [
    row(
        "M/M/1 at half load: one service",
        "queue_wait",
        2,
        service_time="2 s",
        arrival_rate="0.25/s",
    ),
    row(
        "M/D/1: half of it",
        "queue_wait",
        1,
        service_time="2 s",
        arrival_rate="0.25/s",
        assume={"queue": "md1"},
    ),
    row(
        "M/G/1 of no spread is M/D/1",
        "queue_wait",
        1,
        service_time="2 s",
        arrival_rate="0.25/s",
        service_spread=0,
        assume={"queue": "mg1"},
    ),
    row(
        "M/G/1 of spread 3",
        "queue_wait",
        4,
        service_time="2 s",
        arrival_rate="0.25/s",
        service_spread=3,
        assume={"queue": "mg1"},
    ),
    row("without arrivals no wait", "queue_wait", 0, service_time="2 s", arrival_rate="0/s"),
    row(
        "seven of ten in time",
        "goodput",
        Fraction(7, 10),
        sustained_requests="1 request/s",
        slo_share="70 %",
    ),
    row(
        "two copies",
        "goodput",
        Fraction(14, 10),
        sustained_requests="1 request/s",
        slo_share="70 %",
        dp=2,
    ),
    row(
        "a target that is missed",
        "goodput",
        0,
        sustained_requests="1 request/s",
        sustained_itl="51 ms",
        output=2,
        itl_target="50 ms",
    ),
    row(
        "half are in time without any wait",
        "share_in_time",
        Fraction(1, 2),
        service_time="2 s",
        ttft="2 s",
        ttft_target="2 s",
        arrival_rate="0.25/s",
    ),
    row(
        "none where the prefill alone is too slow",
        "share_in_time",
        0,
        service_time="2 s",
        ttft="2 s",
        ttft_target="1.9 s",
        arrival_rate="0.25/s",
    ),
    row(
        "a burst of 20 a second where 8 are served",
        "burst_backlog",
        120,
        service_time="125 ms",
        burst_rate="20/s",
        burst_duration="10 s",
    ),
    row(
        "no burst",
        "burst_backlog",
        0,
        service_time="125 ms",
        burst_rate="7/s",
        burst_duration="10 s",
    ),
    row(
        "gone at 8 - 2 a second",
        "burst_drain_time",
        20,
        service_time="125 ms",
        burst_rate="20/s",
        burst_duration="10 s",
        arrival_rate="2/s",
    ),
]

SLA = [
    row("T4", "fits", False, **TUTORIAL, hardware="t4", prompt=4096),
    row(
        "A100",
        lambda s: s.value("ttft") > Fraction(1, 5),
        True,
        **TUTORIAL,
        hardware="a100-80gb-sxm",
        prompt=4096,
    ),
    row(
        "A100 at MFU 1",
        "prefill_time",
        "210.8 ms",
        **B8,
        hardware="a100-80gb-sxm",
        prompt=4096,
        assume=WEIGHTS,
    ),
    *(
        row(
            device,
            lambda s: s.value("ttft") < Fraction(1, 5),
            True,
            **TUTORIAL,
            hardware=device,
            prompt=4096,
        )
        for device in ("h100-sxm", "h200")
    ),
    row(
        "least MFU",
        lambda s: s.solve("min_mfu_ttft").value,
        "0.333",
        **B8,
        **H100_989,
        prompt=4096,
        ttft_target="200 ms",
        assume=WEIGHTS,
    ),
    row(
        "tokens of cache that 50 ms allow, 70B",
        lambda s: s.solve("max_context_itl").whole,
        83_923,
        **B70,
        **H100,
        prompt=1,
        itl_target="50 ms",
        assume=KV,
    ),
    row(
        "8B",
        lambda s: s.solve("max_context_itl").whole,
        1_155_395,
        **B8,
        **H100,
        prompt=1,
        itl_target="50 ms",
        assume=KV,
    ),
]


@pytest.mark.parametrize("case", [*ROWS, *SLA])
def test_row(case):
    check(case)


@pytest.mark.parametrize(("queue", "rate"), [("mm1", "2.52"), ("md1", "3.77")])
def test_highest_rate_for_a_wait(queue, rate):
    """w = 67 ms beside s = 133: rho = w/(s + w), 2w/(s + 2w)."""
    result = Study(**HELD, ttft_target="200 ms", assume={"queue": queue}).solve(
        "queue_wait + ttft = ttft_target", for_="arrival_rate"
    )
    wait, served = Fraction(67, 1000), Fraction(133, 1000)
    load = wait / (served + wait) if queue == "mm1" else 2 * wait / (served + 2 * wait)
    assert result.values == near((load / served,))
    agree(result.value, rate)


def test_a_target_below_the_prefill_is_met_at_no_rate():
    assert (
        Study(**HELD, ttft_target="100 ms")
        .solve("queue_wait + ttft = ttft_target", for_="arrival_rate")
        .verdict
        == "lhs_above"
    )


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
    assert sum(result) / len(result) == pytest.approx(float(derived), rel=0.06)


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


def test_a_burst_second_by_second():
    """Twenty come and eight go in each of ten seconds, then two come and eight go."""
    waiting, seconds = 10 * (20 - 8), 0
    while waiting > 0:
        waiting, seconds = waiting + 2 - 8, seconds + 1
    study = Study(
        service_time="125 ms", burst_rate="20/s", burst_duration="10 s", arrival_rate="2/s"
    )
    assert study.value("burst_drain_time") == seconds


# --------------------------------------------------------------------------------------------------------- what has no value


@pytest.mark.parametrize(
    "name", ["queue_wait", "queue_wait_quantile", "share_in_time", "burst_drain_time"]
)
@pytest.mark.parametrize("rate", ["0.5/s", "3/s"])
def test_without_a_steady_state_there_is_no_wait(name, rate):
    study = Study(
        service_time="2 s",
        ttft="1 s",
        ttft_target="2 s",
        arrival_rate=rate,
        burst_rate="9/s",
        burst_duration="1 s",
    )
    assert "no steady state" in study.first.why_unknown(name)
    with pytest.raises(NoValue, match="no steady state"):
        study.first.case.value(name)


@pytest.mark.parametrize("queue", ["md1", "mg1"])
@pytest.mark.parametrize("name", ["queue_wait_quantile", "share_in_time"])
def test_what_has_no_closed_form_says_so(name, queue):
    study = Study(
        service_time="2 s",
        ttft="1 s",
        ttft_target="2 s",
        arrival_rate="0.1/s",
        assume={"queue": queue},
    )
    assert study.first.why_unknown(name) == f"no closed form under queue={queue}"
    with pytest.raises(InputError, match=f"no closed form under queue={queue}"):
        study.solve(
            f"{name} = 0.5", for_="arrival_rate"
        ) if name == "share_in_time" else study.solve(f"{name} = 1 s", for_="arrival_rate")
    given = Study(
        service_time="2 s",
        arrival_rate="0.1/s",
        assume={"queue": queue},
        **{name: "0.5" if name == "share_in_time" else "0.5 s"},
    )
    assert given.value(name) == Fraction(1, 2), "a value that is given needs no formula"
