"""The screening of many configurations at once, over servers whose times are straight lines: each answer against a walk over every batch and every number of copies.

Numbers are whole or halves, so that limits are met exactly as often as not.
"""

import math
import random
from types import SimpleNamespace

import numpy as np
import pytest

from symroof.api import Study
from symroof.select import screening
from symroof.select.screening import CLOSE, ConfigurationGroup
from symroof.select.selection import select

LIMITS = {"ttft": "loaded_ttft", "itl": "sustained_itl", "cost": "cost_per_mtok"}
AT_A_RATE = {**LIMITS, "itl": "loaded_itl"}
WAITS = ("loaded_ttft", "loaded_itl")
UNQUEUED = ("sustained_itl", "prompt_prefill_time", "queue_time")
COPIES = 40
COLUMNS = (
    "step", "more", "read", "queue", "wait", "price", "memory", "cache", "room", "rate", "slot",
)  # fmt: skip


class Server:
    """One configuration: times rise with the batch, a token gets cheaper, a queue shortens with every copy."""

    def __init__(self, draw):
        self.step, self.more = draw.randint(1, 9), draw.choice((0.5, 1, 2))
        self.read, self.queue = draw.choice((0.5, 1, 2)), draw.randint(0, 3)
        self.wait, self.price = draw.randint(0, 40), draw.randint(1, 90)
        self.memory, self.cache = draw.randint(1, 20), draw.choice((0.5, 1, 2))
        self.room = self.memory + draw.choice((0, 0.5, 3, 10, 40)) * self.cache
        self.rate, self.slot = draw.choice((0.5, 3, 12, 40)), draw.choice((0.25, 0.5, 1))
        self.batch = draw.randint(1, 20)
        self.busiest = draw.randint(1, 12)
        self.slots = draw.choice((0, 8, 40))
        self.limits = {
            "itl": float(draw.randint(2, 40)),
            "ttft": float(draw.randint(2, 40)),
            "cost": float(draw.choice((2, 5, 10, 100))),
        }
        self.case = SimpleNamespace(value=lambda name: {"batch": self.batch}[name])

    @property
    def capacity(self):
        return (self.room - self.memory) / self.cache

    def values(self, batch, copies, slow, rated):
        """Every quantity; without a steady state the wait has no value."""
        load = self.rate * slow * self.slot / (batch * copies)
        made = {
            "sustained_itl": (self.step + self.more * batch) * slow,
            "prompt_prefill_time": self.read * batch * slow,
            "queue_time": float(self.queue),
            "cost_per_mtok": self.price / batch * slow,
            "sustained_throughput": (batch - batch**2 / (2 * self.busiest)) / slow,
            "memory_bytes_per_device": self.memory + self.cache * batch,
            "loaded_ttft": self.read * batch * slow
            + self.queue
            + (
                0.0
                if not rated
                else (self.wait + self.slots / batch) / copies
                if load < 1
                else math.nan
            ),
        }
        busy = min(batch, batch * load)
        itl = (self.step + self.more * busy) * slow
        return {**made, "load": load, "loaded_itl": itl} if rated else made

    def misses(self, values, limits):
        metrics = AT_A_RATE if "load" in values else LIMITS
        missed = {
            name for name in limits if not values[metrics[name]] <= self.limits[name] * (1 + CLOSE)
        }
        return missed | ({"load"} if "load" in values and not values["load"] < 1 else set())


def group(servers, limits, *, rated, open_copies, chosen_batch, ranged):
    """A group as the engine makes it of cases, but for its functions."""
    made = ConfigurationGroup.__new__(ConfigurationGroup)
    made.cases, made.size = servers, len(servers)
    made.rate, made.open_copies, made.chosen_batch, made.ranged = (
        rated,
        open_copies,
        chosen_batch,
        ranged,
    )
    made.expected = [np.full(len(servers), 1.0)]
    made.slow, made.fast = (
        ([np.full(len(servers), 1.5)], [np.full(len(servers), 0.5)])
        if ranged
        else (made.expected, made.expected)
    )
    made.limits = {name: np.array([server.limits[name] for server in servers]) for name in limits}
    made.metrics = AT_A_RATE if rated else LIMITS
    made.usable = np.array([float(server.room) for server in servers])
    made.capacity = np.array([server.capacity for server in servers])
    every = (
        "sustained_itl",
        "prompt_prefill_time",
        "queue_time",
        "cost_per_mtok",
        "sustained_throughput",
        "memory_bytes_per_device",
        *(("load",) if rated else ("loaded_ttft",)),
    )

    def function(names):
        def called(batch, copies, numbers=None):
            times = len(batch) // len(servers)
            slow = np.repeat((numbers or made.slow)[0], times)
            asked = [server for server in servers for _ in range(times)]
            rows = [
                s.values(float(b), float(c), float(x), rated)
                for s, b, c, x in zip(asked, batch, copies, slow, strict=True)
            ]
            return {name: np.array([row[name] for row in rows]) for name in names}

        return called

    made.quick, made.rising = function(every), function(UNQUEUED)
    made.at_the_rate = function(WAITS)
    return made


def by_walk(server, limits, *, rated, open_copies, chosen_batch, ranged, others_pass=True):
    """The same by trying every batch and every number of copies."""
    slow = 1.5 if ranged else 1.0

    def rising_met(batch):
        values = server.values(batch, 1, slow, rated)
        own = {
            "itl": values["sustained_itl"],
            "ttft": values["prompt_prefill_time"] + values["queue_time"],
        }
        return {
            name: own[name] <= server.limits[name] * (1 + CLOSE) for name in limits if name in own
        }

    most = max(
        (n for n in range(1, math.floor(server.capacity) + 1) if all(rising_met(n).values())),
        default=0,
    )
    judged = server.batch if chosen_batch else max(most, 1)
    copies = 1
    if open_copies:
        enough = [
            c
            for c in range(1, COPIES + 1)
            if not server.misses(
                server.values(judged, c, slow, rated),
                ({"ttft", "itl"} if chosen_batch else {"ttft"}) & set(limits),
            )
        ]
        kept_up = [
            c for c in range(1, COPIES + 1) if server.values(judged, c, slow, rated)["load"] < 1
        ]
        copies = enough[0] if enough else kept_up[0] if kept_up else None
    at = copies or 1
    there = server.values(judged, at, slow, rated)
    waits = {name: there[name] for name in WAITS} if rated else {}

    def met(batch, waits=None):
        values = server.values(batch, at, slow, rated)
        if rated:
            values |= dict.fromkeys(WAITS, 0.0) if waits is None else waits
        return not server.misses(values, limits)

    if rated and chosen_batch and judged <= math.floor(server.capacity) and met(judged, waits):
        most = max(most, judged)  # more slots than the rate keeps busy
    if not (most and copies and met(max(most, 1), waits)):
        most = 0
    least = most
    while least > 1 and met(least - 1):
        least -= 1
    beyond = (["memory"] if most + 1 > server.capacity else []) + [
        name for name, holds in rising_met(most + 1).items() if not holds
    ]
    return SimpleNamespace(
        most=most,
        least=least,
        copies=copies if open_copies else None,
        judged=judged,
        at=at,
        beyond=beyond,
    )


MODES = [
    {"rated": False, "open_copies": False, "chosen_batch": False, "ranged": False},
    {"rated": False, "open_copies": False, "chosen_batch": True, "ranged": True},
    {"rated": True, "open_copies": False, "chosen_batch": False, "ranged": False},
    {"rated": True, "open_copies": True, "chosen_batch": False, "ranged": False},
    {"rated": True, "open_copies": True, "chosen_batch": True, "ranged": True},
]


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    "mode", MODES, ids=["plain", "chosen-ranged", "rate", "copies", "copies-chosen-ranged"]
)
@pytest.mark.parametrize(
    "limits",
    [("itl",), ("ttft", "itl"), ("itl", "cost"), ("ttft", "itl", "cost"), ()],
    ids="-".join,
)
def test_every_answer_is_that_of_a_walk(mode, limits, monkeypatch):
    monkeypatch.setattr(screening, "MOST_COPIES", COPIES)
    draw, seen = random.Random(f"{mode} {limits}"), set()
    for size in (1, 2, 7, 40):
        servers = [Server(draw) for _ in range(size)]
        results = group(servers, limits, **mode).results()
        assert len(results) == size
        for server, result in zip(servers, results, strict=True):
            walk = by_walk(server, limits, **mode)
            assert (result.most, result.copies, result.batch) == (
                walk.most,
                walk.copies,
                walk.judged,
            ), vars(server)
            assert list(result.stopped_by) == walk.beyond, vars(server)
            if walk.most:
                assert result.least == walk.least, vars(server)
                assert result.busiest == min(max(server.busiest, walk.least), walk.most), vars(
                    server
                )
            assert result.passes is (walk.most > 0 and walk.least <= walk.judged <= walk.most)
            seen.add((result.most > 1, result.least > 1 and result.most > 0, result.stopped_by))
            held_to_shares(server, result, walk, limits, mode)
    assert {most for most, _, _ in seen} == {True, False} and (
        "cost" not in limits or any(above for _, above, _ in seen)
    )


def held_to_shares(server, result, walk, limits, mode):
    """Shares of the limits as evidence expects, and over ranges at either end; quantities where it is judged and at both ends of what passes, none without a value."""
    for shares, speed in ((result.shares, 1.0), (result.slow, 1.5), (result.fast, 0.5)):
        if speed != 1.0 and not mode["ranged"]:
            assert shares == {}
            continue
        values = server.values(walk.judged, walk.at, speed, mode["rated"])
        by_hand = {
            "memory": values["memory_bytes_per_device"] / server.room if server.room else math.inf
        }
        if mode["rated"]:
            by_hand["load"] = values["load"]
        for name in limits:
            value = values[(AT_A_RATE if mode["rated"] else LIMITS)[name]]
            by_hand[name] = (math.inf if math.isnan(value) else value) / server.limits[name]
        assert shares == pytest.approx(by_hand)
    judged = server.values(walk.judged, walk.at, 1.0, mode["rated"])
    for batch in {walk.judged, *((walk.least, walk.most) if walk.most else ())}:
        own = server.values(batch, walk.at, 1.0, mode["rated"]) | (
            {name: judged[name] for name in WAITS} if mode["rated"] else {}
        )
        own = {name: value for name, value in own.items() if not math.isnan(value)}
        assert result.values[batch] == pytest.approx(own)


def test_a_capacity_without_a_value_holds_nothing():
    servers = [Server(random.Random(seed)) for seed in range(3)]
    made = group(servers, ("itl",), **MODES[0])
    made.capacity = np.array([math.nan, 0.5, 1e300])
    made.limits = {"itl": np.full(3, 1e12)}
    results = made.results()
    assert [result.most for result in results] == [0, 0, 1_073_741_824]


CASE = {
    "model": "llama-3-8b",
    "hardware": "h100-sxm",
    "prompt": 2048,
    "output": 256,
    "chunk": 2048,
    "efficiency": "peak",
}


def first_token(batch):
    return Study(**CASE, batch=batch).value("loaded_ttft")


def test_without_an_arrival_rate_every_batch_has_its_own_first_token():
    """Each run of a configuration, from the smallest batch to the largest, is compared by the time of its own batch."""
    (configuration,) = select(**CASE, targets={"itl": 0.03}).configurations
    batches = [run.batch for run in configuration.runs]
    assert batches == sorted(batches) and len(batches) in (2, 3)
    assert [run.rank("loaded_ttft") for run in configuration.runs] == pytest.approx(
        [float(first_token(batch)) for batch in batches], rel=1e-12
    )


def test_a_batch_whose_first_token_is_late_is_shown_the_batches_whose_is_not():
    """Limits of batch 90 exactly: 150 misses, 1 to 90 pass."""
    (configuration,) = select(
        **CASE, targets={"ttft": float(first_token(90)), "itl": 1.0}, batch=150
    ).configurations
    window = configuration.window
    assert (configuration.state, configuration.run.missed) == ("fails", ("ttft",))
    assert (window.least, window.most, window.stopped_by) == (1, 90, ("ttft",))


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize(
    ("load", "copies"), [(40_000.5, 40_001), (65_535.5, 65_536), (65_536.5, None), (10.0**12, None)]
)
def test_no_more_than_65_536_copies_are_laid_out(load, copies, late):
    """As many as the load asks for, though more than there may be would still wait too long."""
    server = Server(random.Random(1))
    server.step, server.more, server.room, server.memory, server.cache, server.batch = (
        1, 1, 100, 1, 1, 1,
    )  # fmt: skip
    server.rate, server.slot, server.wait = load, 1, 1e9 if late else 0
    server.limits = {"ttft": 5.0, "itl": 99.0}
    server.read, server.queue = 1, 0
    (result,) = group(
        [server],
        ("ttft",) if late else ("itl",),
        rated=True,
        open_copies=True,
        chosen_batch=True,
        ranged=False,
    ).results()
    assert result.copies == copies
    assert (result.most > 0) is (copies is not None and not late)
