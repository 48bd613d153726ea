"""Windows of batches, corners of ranges and how far an input may rise, over conditions that are straight lines: against a walk over every batch, copy and value.

Nothing of a model is worked out here: cases are numbers, so that thousands of them take no time and limits are met exactly as often as not.
"""

import itertools
import math
import random
from dataclasses import dataclass, replace
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

from symroof.formula.evaluate import NoValue
from symroof.select import batch_window, headroom, range_screening
from symroof.select.batch_window import window
from symroof.select.screening import Screening

MOST = 60


# ------------------------------------------------------------------------------------------------------------------ windows


@dataclass(frozen=True)
class Case:
    """A case as its corner and its batch."""

    corner: int
    batch: Fraction = Fraction(1)

    def changed(self, values):
        return replace(self, batch=values["batch"])

    def used(self, *sides):
        return {"batch"} if "moves" in sides else set()


class Bounds:
    """A condition that holds from one batch to another, each as the corner has it; without an end where there is none."""

    def __init__(self, name, lows, highs, value=True):
        self.name, self.sides, self.lows, self.highs, self.known = name, ("moves",), lows, highs, value

    def holds(self, case):
        if not self.known:
            raise NoValue("none")
        low, high = self.lows[case.corner], self.highs[case.corner]
        return (low is None or case.batch >= low) and (high is None or case.batch <= high)

    def share(self, case):
        high = self.highs[case.corner]
        return case.batch / high if high else Fraction(0)

    def at(self, corner):
        return [end for end in (self.lows[corner], self.highs[corner]) if end is not None]

    def solution(self, unknown, answers):
        return SimpleNamespace(values=self.at(0), condition=self)


def drawn(draw, corners, ends):
    """Ends between 1 and 50 in halves and thirds; those of the corners lie about those of the middle."""

    def spread(end):
        return [None if end is None else max(Fraction(1, 3), end + Fraction(draw.randint(-9, 9), 3)) if i else end for i in range(corners)]

    high = Fraction(draw.randint(2, 100), draw.choice((1, 2, 3))) if "high" in ends else None
    low = Fraction(draw.randint(1, 20), draw.choice((1, 2))) if "low" in ends else None
    return spread(low), spread(high)


def answers(corners, patch, conditions):
    patch.setattr(batch_window, "_screened", lambda answers: [])
    patch.setattr(batch_window, "constraints", lambda answers: conditions)
    patch.setattr(batch_window, "crossings_in", lambda solution, case: solution.condition.at(case.corner))
    return SimpleNamespace(case=Case(0), corners=tuple(Case(i) for i in range(1, corners)))


@pytest.mark.parametrize("corners", [1, 3, 5])
@pytest.mark.parametrize("ends", [("high",), ("low",), ("low", "high")], ids="-".join)
def test_a_window_is_that_of_a_walk_over_every_batch_and_corner(corners, ends, monkeypatch):
    draw = random.Random(f"{corners} {ends}")
    seen = set()
    for _ in range(60):
        conditions = [
            Bounds(name, *drawn(draw, corners, ends if name != "b" else ("high",) if "high" in ends else ends)) for name in "abc"[: draw.randint(1, 3)]
        ]
        found = window(answers(corners, monkeypatch, conditions))
        passing = [n for n in range(1, MOST + 60) if all(c.holds(Case(i, Fraction(n))) for c in conditions for i in range(corners))]
        if not passing:
            assert found is None
            seen.add("none")
            continue
        endless = passing[-1] == MOST + 59
        assert passing == list(range(passing[0], passing[-1] + 1))
        assert (found.least, found.most) == (passing[0], None if endless else passing[-1])
        beyond = () if endless else tuple(c.name for c in conditions if not all(c.holds(Case(i, Fraction(passing[-1] + 1))) for i in range(corners)))
        assert found.stopped_by == beyond
        seen.add(("endless", endless, passing[0] > 1, len(beyond)))
    assert ends != ("low", "high") or len(seen) > 2


def test_no_window_where_a_condition_is_open_or_missed_whatever_the_batch(monkeypatch):
    good = Bounds("a", [None], [Fraction(9)])
    assert window(answers(1, monkeypatch, [good])) == batch_window.Window(1, 9, ("a",))
    still = Bounds("still", [None], [Fraction(0)])
    still.sides = ("stands",)
    assert window(answers(1, monkeypatch, [good, still])) is None
    still.highs = [Fraction(1)]
    assert window(answers(1, monkeypatch, [good, still])) == batch_window.Window(1, 9, ("a",))
    unsolved = Bounds("open", [None], [Fraction(9)])
    unsolved.solution = lambda *_: None
    assert window(answers(1, monkeypatch, [good, unsolved])) is None
    assert window(answers(1, monkeypatch, [good, Bounds("no value", [None], [Fraction(9)], value=False)])) is None


def test_no_batch_below_one_is_looked_at(monkeypatch):
    """Nothing is crossed, so that any two batches tell the same; none at all would have no value."""
    endless = Bounds("always", [None], [None])
    looked = []
    endless.holds = lambda case: looked.append(case.batch) is None and case.batch >= 1
    assert window(answers(1, monkeypatch, [endless])) == batch_window.Window(1, None)
    assert min(looked) >= 1


def test_of_batches_in_two_pieces_the_upper_piece_is_the_window(monkeypatch):
    """A condition that fails from 10 to 19 beside one that ends at 30: down from 30 as far as every batch passes."""
    gap = Bounds("gap", [None], [None])
    gap.holds = lambda case: not 10 <= case.batch < 20
    gap.at = lambda corner: [Fraction(10), Fraction(20)]
    assert window(answers(1, monkeypatch, [gap, Bounds("end", [None], [Fraction(30)])])) == batch_window.Window(20, 30, ("end",))


@pytest.mark.parametrize("hair", [0, Fraction(1, 10**40), -Fraction(1, 10**40)])
def test_a_crossing_on_a_whole_number_is_known_to_forty_digits(hair, monkeypatch):
    """More than 10 and less than 30: from 11 to 29, on whichever side of them the roots lie."""
    limit = Bounds("a", [None], [None])
    limit.holds = lambda case: 10 < case.batch < 30
    limit.at = lambda corner: [10 - hair, 30 + hair]
    assert window(answers(1, monkeypatch, [limit])) == batch_window.Window(11, 29, ("a",))


@pytest.mark.parametrize(
    ("window", "low", "high", "reaches"),
    [((3, 9), 3, 9, False), ((3, 9), 2, 9, True), ((3, 9), 3, 10, True), ((1, 9), 1, 9, False), ((3, None), 3, None, False), ((3, None), 2, None, True), ((1, None), None, None, False)],
)  # fmt: skip
def test_whether_a_batch_beside_a_window_passes_too(window, low, high, reaches):
    """Right below it and right above it, where it has an end; no batch is less than one."""
    limits = [Bounds("a", [low and Fraction(low)], [high and Fraction(high)])]
    assert batch_window._reaches(batch_window.Window(*window), limits, [Case(0)]) is reaches


@pytest.mark.parametrize("screenings", [[(9, 1), (5, 2), (7, 3)], [(9, 1), (0, 1)], [(9, 8), (5, 1)], [(4, 4)], [(5, 1), (5, 3)]])
def test_the_window_of_screened_corners(screenings, monkeypatch):
    """From the largest of the least to the least of the largest, and what stops that corner."""
    made = [Screening(most, least, None, 1, (f"c{i}",)) for i, (most, least) in enumerate(screenings)]
    monkeypatch.setattr(batch_window, "_screened", lambda answers: made)
    most, least = min(most for most, _ in screenings), max(least for _, least in screenings)
    found = window(None)
    if most < least:
        assert found is None
    else:
        first = next(i for i, row in enumerate(screenings) if row[0] == most)
        assert found == batch_window.Window(least, most, (f"c{first}",))


# ----------------------------------------------------------------------------------------------------------- ranges, screened


@dataclass
class Server:
    """A corner: what an ITL grows by, its least batch, what a copy bears a second, and whether it is screened at all."""

    slope: float
    least: int
    bears: float
    screened: bool = True
    price: float = 0.0


@dataclass
class Ranged:
    """A configuration with its corners; ``case`` is the corner in its middle."""

    corners: tuple
    case: Server
    given: dict
    batch: int | None = None
    dp: int | None = None
    moved: object = None

    def at(self, server):
        return replace(self, moved=server)


LIMIT, RATE, MOST_COPIES = 12.0, 10.0, 8


def screening_of(one):
    server = one.moved
    if not server.screened:
        return None
    most = math.floor(LIMIT / server.slope)
    most = most if most >= server.least else 0
    batch = one.batch or one.given.get("batch") or max(most, 1)
    needed = math.floor(RATE / (server.bears * batch)) + 1
    copies = one.dp or needed
    borne = needed <= MOST_COPIES
    load = RATE / (server.bears * batch * (copies if borne else 1))
    most = most if borne and load < 1 else 0
    shares = {"itl": server.slope * batch / LIMIT, "load": load}
    return Screening(
        most, server.least, copies if borne else None, batch, ("itl",) if server.slope < 2 else ("memory",), shares, {batch: {"itl": server.slope * batch}}
    )


@pytest.fixture
def screen(monkeypatch):
    monkeypatch.setattr(range_screening, "screen", lambda cases: [screening_of(one) for one in cases])
    return lambda cases: range_screening.screen_ranges(cases, lambda one, **changes: replace(one, **changes))


@pytest.mark.parametrize("seed", range(40))
def test_what_holds_at_every_corner(seed, screen):
    """A batch that passes everywhere, the copies of the corner that takes most of them, shares of the worse end, values of the middle."""
    draw = random.Random(seed)
    cases = []
    for _ in range(12):
        servers = [
            Server(
                draw.choice((0.5, 1.0, 1.5, 2.0, 3.0, 13.0) if draw.random() < 0.3 else (0.5, 0.75, 1.0, 1.5)),
                draw.choice((1, 1, 2, 9)),
                draw.choice((0.25, 0.5, 1.0, 2.0)),
                draw.random() > 0.03,
            )
            for _ in range(draw.choice((2, 3, 4)))
        ]
        given = {"batch": draw.choice((1, 4, 20))} if draw.random() < 0.4 else {}
        cases.append(Ranged(tuple(servers), servers[0], given))
    for one, found in zip(cases, screen(cases), strict=True):
        each = (*one.corners, one.case)
        if not all(server.screened for server in each):
            assert found is None
            continue
        first = [screening_of(replace(one, moved=server)) for server in each]
        batch = one.given.get("batch") or min(s.batch for s in first[:-1])
        there = [screening_of(replace(one, moved=server, batch=batch)) for server in each]
        counts = [s.copies for s in there[:-1]]
        copies = None if None in counts else max(counts)
        last = [screening_of(replace(one, moved=server, batch=batch, dp=copies if copies and copies > 1 else None)) for server in each]
        corners = last[:-1]
        assert (found.batch, found.copies) == (batch, copies)
        passes = all(s.most > 0 and s.least <= batch <= s.most for s in corners)
        low, high = ({name: of(s.shares[name] for s in corners) for name in ("itl", "load")} for of in (min, max))
        assert found.shares == high and found.fast == ({} if passes else low)
        assert found.values[batch] == last[-1].values[batch]
        if passes:
            smallest = min(first[:-1], key=lambda s: s.most)
            assert (found.most, found.least, found.stopped_by) == (smallest.most or batch, max(s.least for s in corners), smallest.stopped_by)
        else:
            assert (found.most, found.least, found.stopped_by) == (0, 1, ())


@pytest.mark.parametrize("lost", ["dp", "batch"])
def test_a_corner_that_is_not_screened_at_the_batch_or_the_copies_of_all_leaves_it_open(lost, screen, monkeypatch):
    """Of two configurations the one that takes more copies, or another batch than a corner's own."""
    monkeypatch.setattr(range_screening, "screen", lambda cases: [None if getattr(one, lost) else screening_of(one) for one in cases])
    slow, fast = Server(1.0, 1, 0.5), Server(0.5, 1, 4.0)
    moved, still = (Ranged((server, server), server, {"batch": 4}) for server in (slow, fast))
    chosen = [found is None for found in screen([moved, still])]
    assert chosen == ([True, False] if lost == "dp" else [False, False])
    free = Ranged((fast, slow), fast, {})
    assert screen([free]) == [None]  # at twelve, the least of its corners, the slow one takes two copies


# ------------------------------------------------------------------------------------------------------------- how far it rises


def bearing(monkeypatch, limits, metrics, *, start, counted, batch=1, solved=False, capacity=lambda x: 1e9, step=None, missed=()):
    """A run over metrics of an input and a batch; ``limits`` by metric: the condition and its limit."""

    def compile(names, inputs, answers):
        of = {**metrics, "concurrency": capacity, **({headroom.ITL: step} if step else {})}
        return SimpleNamespace(codes=lambda *arrays: tuple(np.vectorize(of[name], otypes=[float])(*arrays) for name in names))

    monkeypatch.setattr(headroom, "compile", compile)
    monkeypatch.setattr(headroom, "_limits", lambda answers: limits)
    monkeypatch.setattr(headroom, "under_load", lambda case: True)
    theory = SimpleNamespace(symbol=lambda name: SimpleNamespace(counted=counted))
    case = SimpleNamespace(given={"x": 1}, value=lambda name: start, theory=theory)
    return SimpleNamespace(
        bound_case=SimpleNamespace(slow_end=SimpleNamespace(case=case)), missed=missed, batch=batch, changes=(("batch", batch),) if solved else ()
    )


@pytest.mark.parametrize("counted", [True, False])
@pytest.mark.parametrize("start", [1, 7, 100])
def test_the_last_value_that_passes_and_what_breaks_behind_it(counted, start, monkeypatch):
    """Two lines, limits from just met at the start to hundreds of times beyond: whole numbers exactly, others to a millionth."""
    for first, second in itertools.product((start, start + 1, 3.5 * start, 4 * start, 40 * start, 900.25 * start), repeat=2):
        limits, metrics = {"m": ("a", 2.0 * first + 3), "n": ("b", 5.0 * second)}, {"m": lambda x, b: 2 * x + 3, "n": lambda x, b: 5 * x}
        last = headroom.headrooms(bearing(monkeypatch, limits, metrics, start=start, counted=counted), ["x"])[0]
        reached = min(first, second)
        if counted:
            whole = math.floor(reached)
            assert last.value == whole
            assert last.breaks == tuple(name for name, end in (("a", first), ("b", second)) if end < whole + 1)
        else:
            assert reached * (1 - 2e-6) <= last.value <= reached * (1 + 1e-11)
            assert last.breaks[0] == ("a" if first < second or first == second else "b")


def test_a_small_value_is_followed_to_as_many_digits_as_a_large_one(monkeypatch):
    for start in (Fraction(1, 1000), 10**9):
        last = headroom.headrooms(bearing(monkeypatch, {"m": ("a", float(37 * start))}, {"m": lambda x, b: x}, start=float(start), counted=False), ["x"])[0]
        assert 37 * start * (1 - Fraction(2, 10**6)) <= last.value <= 37 * start * (1 + Fraction(1, 10**9))


def test_what_misses_at_the_start_bears_nothing(monkeypatch):
    run = bearing(monkeypatch, {"m": ("a", 4.9)}, {"m": lambda x, b: x}, start=5, counted=False)
    assert headroom.headrooms(run, ["x"])[0] is None
    assert headroom.headrooms(bearing(monkeypatch, {"m": ("a", 5.0)}, {"m": lambda x, b: x}, start=5, counted=False), ["x"])[0].value == pytest.approx(
        5, rel=2e-6
    )
    assert headroom.headrooms(bearing(monkeypatch, {"m": ("a", 9.0)}, {"m": lambda x, b: x}, start=5, counted=False, missed=("itl",)), ["x"])[0] is None
    unknown = bearing(monkeypatch, {"m": ("a", 9.0)}, {"m": lambda x, b: x}, start=5, counted=False)
    assert headroom.headrooms(unknown, ["y"])[0] is None


def test_a_missed_price_is_no_condition(monkeypatch):
    limits, metrics = {"m": ("cost", 1.0), "n": ("itl", 30.0)}, {"m": lambda x, b: x, "n": lambda x, b: x}
    assert headroom.headrooms(bearing(monkeypatch, limits, metrics, start=5, counted=True, missed=("cost",)), ["x"])[0] == headroom.Headroom("x", 30, ("itl",))


def test_a_load_that_breaks_is_what_is_named(monkeypatch):
    limits = {"m": ("itl", 20.0), "load": ("load", 40.0), "n": ("cost", 20.0)}
    metrics = {"m": lambda x, b: x, "load": lambda x, b: 2 * x, "n": lambda x, b: 2 * x - 20}
    assert headroom.headrooms(bearing(monkeypatch, limits, metrics, start=5, counted=True), ["x"])[0] == headroom.Headroom("x", 20, ("load",))
    limits["load"] = ("load", 50.0)
    limits["n"] = ("cost", 20.5)
    assert headroom.headrooms(bearing(monkeypatch, limits, metrics, start=5, counted=True), ["x"])[0] == headroom.Headroom("x", 20, ("itl", "cost"))


@pytest.mark.parametrize(("end", "value", "breaks"), [(4095, 4095 * 3, ("a",)), (4096, 4096 * 3, ()), (5000, 4096 * 3, ())])
def test_an_input_is_followed_to_four_thousand_times_its_value(end, value, breaks, monkeypatch):
    run = bearing(monkeypatch, {"m": ("a", 3.0 * end)}, {"m": lambda x, b: x}, start=3, counted=True)
    assert headroom.headrooms(run, ["x"])[0] == headroom.Headroom("x", value, breaks)


def test_a_value_that_is_none_breaks_its_condition(monkeypatch):
    run = bearing(monkeypatch, {"m": ("a", 9.0)}, {"m": lambda x, b: math.nan if x > 17 else 1.0}, start=5, counted=True)
    assert headroom.headrooms(run, ["x"])[0] == headroom.Headroom("x", 17, ("a",))


@pytest.mark.parametrize("solved", [True, False])
def test_fewer_requests_decode_where_fewer_fit_or_meet_their_target(solved, monkeypatch):
    """120/x of them fit, and a step takes x + 2b: of a batch that was solved for as many as are within 30; never less than one, never more than now."""

    def step(x, b):
        return x + 2 * b

    limits = {headroom.ITL: ("itl", 30.0), "work": ("cost", 130.0)}
    metrics = {headroom.ITL: step, "work": lambda x, b: x * b}
    run = bearing(monkeypatch, limits, metrics, start=2, counted=True, batch=9, solved=solved, capacity=lambda x: 120 / x, step=step)

    def passes(x):
        batch = max(1, min(9, math.floor(120 / x)))
        if solved:
            batch = max([b for b in range(1, batch + 1) if step(x, b) <= 30], default=1)
        return step(x, batch) <= 30 and x * batch <= 130

    by_walk = next(x for x in range(2, 500) if not passes(x + 1))
    assert headroom.headrooms(run, ["x"])[0].value == by_walk == (28 if solved else 12)


def test_at_least_one_request_decodes_whether_it_fits_or_not(monkeypatch):
    """120/x of them fit, none beyond 120: the work of one is what ends it at 130."""
    run = bearing(monkeypatch, {"work": ("cost", 130.0)}, {"work": lambda x, b: x * b}, start=2, counted=True, batch=9, capacity=lambda x: 120 / x)
    assert headroom.headrooms(run, ["x"])[0] == headroom.Headroom("x", 130, ("cost",))


@pytest.mark.parametrize(("needed", "slots"), [*((needed, 1) for needed in range(1, 9)), (3, 5), (1, 8)])
def test_the_copies_that_would_do_if_all_went_as_expected(needed, slots, monkeypatch):
    """The least number at which every condition holds but those that are missed anyway, and no wait for a slot makes the first token late; of copies that
    were not solved for those there are."""
    monkeypatch.setattr(headroom, "with_inputs", lambda own, **changes: SimpleNamespace(case=changes))
    conditions = [SimpleNamespace(name="load", holds=lambda case: case["dp"] >= needed), SimpleNamespace(name="cost", holds=lambda case: False)]
    monkeypatch.setattr(headroom, "constraints", lambda answers: conditions)
    monkeypatch.setattr(headroom, "late_from_arrival", lambda answers: answers.case["dp"] < slots)
    run = SimpleNamespace(changes=(("dp", 8),), slow={"load": 0.5}, copies=8, batch=5, own=None, missed=("cost",))
    assert headroom.expected_copies(run) == max(needed, slots)
    assert headroom.expected_copies(SimpleNamespace(changes=(), slow={"load": 0.5}, copies=8)) == 8
    assert headroom.expected_copies(SimpleNamespace(changes=(("dp", 8),), slow={}, copies=8)) == 8


@pytest.mark.parametrize("rate", [True, False])
@pytest.mark.parametrize("fits", [True, False])
def test_the_limit_of_each_metric(rate, fits, monkeypatch):
    """Memory and load where they are known, the first metric of each target, at a rate the TTFT from its arrival; a load of one is too much, anything below it is not; what has no value is left out."""
    monkeypatch.setattr(headroom, "metrics_of", lambda target, case: (f"{target}_metric", f"{target}_other"))
    unknown = {"b_metric"} | (set() if fits else {"fits"})
    case = SimpleNamespace(
        known=lambda name: name not in unknown, value=lambda name: {"usable_memory_per_device": Fraction(80)}[name], given={"arrival_rate": 1} if rate else {}
    )
    limits = headroom._limits(SimpleNamespace(case=case, targets={"a": Fraction(1, 4), "b": Fraction(1, 2), "ttft": Fraction(3, 4)}))
    load = limits.pop("load", None)
    queued = limits.pop("queued_ttft", None)
    assert queued == (("ttft", 0.75) if rate else None) and limits.pop("ttft_metric", None) == (None if rate else ("ttft", 0.75))
    assert limits == {**({"memory_bytes_per_device": ("memory", 80.0)} if fits else {}), "a_metric": ("a", 0.25)}
    assert (load is not None) is rate
    if rate:
        assert load[0] == "load" and 1 - 1e-9 < load[1] * (1 + 1e-12) < 1


@pytest.mark.parametrize("limit", [None, 1.0, 9.0, 10.0, 25.0, 200.0])
def test_the_batch_at_the_values_expected(limit, monkeypatch):
    """40 requests fit in 40 1/2; a step takes 4 + b: as many as are within the limit, at least one; of a batch that was chosen that one."""
    limits = {headroom.ITL: ("itl", limit)} if limit else {}
    bearing(monkeypatch, limits, {}, start=1, counted=True, capacity=lambda copies: 40.5 / copies, step=lambda copies, batch: 4 + batch)
    by_walk = max([b for b in range(1, 41) if not limit or 4 + b <= limit], default=1)
    run = SimpleNamespace(changes=(("batch", 7),), own=None, batch=7)
    assert headroom.expected_batch(run) == by_walk
    assert headroom.expected_batch(SimpleNamespace(changes=(("dp", 2),), own=None, batch=7)) == 7


@pytest.mark.parametrize(
    ("share", "within"), [(1.0, True), (1 + 2**-52, True), (1 + 5e-13, True), (1 + 2e-12, False), (0.5, True), (math.nan, False), (math.inf, False)]
)
def test_a_metric_is_within_its_limit_up_to_the_last_digits_of_a_float(share, within):
    assert headroom._within(np.array([5 * share]), 5.0).tolist() == [within]
