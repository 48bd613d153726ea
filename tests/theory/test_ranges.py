"""What is reported as the range of a quantity holds every value it takes in the box, and its ends are taken."""

import itertools
import random
from fractions import Fraction

import pytest

from symroof.api import Study
from symroof.formula.evaluate import EFFORT, NoValue
from symroof.formula.parse import parse
from symroof.formula.tree import Compare, Largest, Name
from symroof.theory.box_search import Budget, NotWorkedOut
from symroof.theory.quantities import QUANTITIES
from symroof.theory.ranges import Ranges

from . import DEVICE, case

WORK = {**DEVICE, "prompt": 2000, "output": 50, "batch": 8, "price": Fraction(1, 1000), "power": 700}
MFU, MBU = (Fraction(1, 2), Fraction(7, 10)), (Fraction(3, 5), Fraction(9, 10))
MILLI = Fraction(1, 1000)

STUDIES = {
    "one efficiency": ("llama-3-8b", {}, {"mfu": (Fraction(1, 100), 1)}, {}, 500),
    "two efficiencies": ("llama-3-8b", {}, {"mfu": MFU, "mbu": MBU}, {}, 3500),
    "windows near the ridge": ("gemma-2-9b", {}, {"mfu": (Fraction(1, 10), MFU[1]), "mbu": (Fraction(1, 5), 1)}, {"batch": 200}, 1000),
    "reserve across the edge": ("llama-3-8b", {}, {"memory_reserve": (0, 10**11), "mbu": MBU}, {"batch": 40}, 2500),
    "a group with three": ("llama-3-8b", {}, {"link_latency": (MILLI / 1000, MILLI), "step_overhead": (0, 2 * MILLI), "mbu": MBU}, {"tp": 4}, 1000),
    "compute and memory added": ("llama-3-8b", {"roofline": "no_overlap"}, {"mbu": MBU}, {}, 500),
    "operator by operator": ("llama-3-8b", {"roofline": "per_operator"}, {"mfu": (Fraction(1, 5), 1), "step_overhead": (0, MILLI)}, {}, 500),
    "experts that a pass reads": ("mixtral-8x7b", {}, {"mfu": MFU, "mbu": MBU}, {"output": 20}, 60),
    "windows and experts": ("gpt-oss-20b", {}, {"mfu": MFU, "mbu": MBU}, {"output": 20}, 60),
    "a ranged prompt": ("llama-3-8b", {}, {"prompt": (100, 3000)}, {}, 500),
}
"""Model, switches, box, other values, random points."""


def build(name):
    model, switches, box, values, points = STUDIES[name]
    box = {key: (Fraction(low), Fraction(high)) for key, (low, high) in box.items()}
    middle = {key: (low + high) / 2 for key, (low, high) in box.items()}
    bound = case(model, switches, **{**WORK, **values, **middle})
    return bound, Ranges(bound, box), points


def value_at(bound, point, name):
    return bound.changed(point).value(name)


def random_point(box, source):
    """A point of the box; a prompt counts tokens and stays whole."""
    found = {}
    for name, (low, high) in box.items():
        share = Fraction(source.randrange(10**6 + 1), 10**6)
        found[name] = Fraction(round(low + (high - low) * share)) if name == "prompt" else low + (high - low) * share
    return found


def corners(box):
    return [dict(zip(box, ends, strict=True)) for ends in itertools.product(*box.values())]


def numeric(bound):
    """Quantities that have a number in the middle of the box."""
    found = []
    for name in QUANTITIES:
        try:
            value = bound.value(name)
        except NoValue:
            continue
        if not isinstance(value, (bool, str)):
            found.append(name)
    return found


def close(value, end):
    return abs(float(value) - float(end)) <= 1e-6 * abs(float(end))


def climb(bound, box, name, start, sign, source, tries=5):
    """The best value near a point by a search of our own: random steps that shrink."""
    best, point, width = sign * value_at(bound, start, name), start, Fraction(1, 4)
    for _ in range(24):
        for _ in range(tries):
            tried = {}
            for key, (low, high) in box.items():
                step = (high - low) * width * Fraction(source.randrange(-1000, 1001), 1000)
                tried[key] = min(high, max(low, point[key] + step)).limit_denominator(10**12)
            value = sign * value_at(bound, tried, name)
            if value > best:
                best, point = value, tried
        width /= 2
    return sign * best


def worked_out(ranges, name):
    """The range of a quantity; None where it is said that it takes too long to work out."""
    try:
        return ranges.bounds(Name(name))
    except NotWorkedOut:
        return None


@pytest.mark.parametrize("study", STUDIES)
def test_every_value_lies_in_its_range_and_the_ends_are_taken(study):
    bound, ranges, points = build(study)
    source = random.Random(study)
    spans = {name: span for name in numeric(bound) if (span := worked_out(ranges, name))}
    names = list(spans)
    assert {"ttft", "itl", "kv_cache_bytes", "decode_throughput"} <= set(names)
    lowest, highest = dict.fromkeys(names), dict.fromkeys(names)
    moving = [name for name in names if spans[name][0] != spans[name][1]]
    for i, point in enumerate([*corners(ranges.box), *(random_point(ranges.box, source) for _ in range(points))]):
        here = bound.changed(point)
        for name in names if i < 25 else moving:  # a range of one value is soon refuted if it is wrong
            value = here.value(name)
            low, high = spans[name]
            slack = Fraction(1, 10**12) * max(abs(low), abs(high))
            assert low - slack <= value <= high + slack, f"{name} is {float(value)} at {point}, outside {float(low)} to {float(high)}"
            if lowest[name] is None or value < lowest[name][0]:
                lowest[name] = value, point
            if highest[name] is None or value > highest[name][0]:
                highest[name] = value, point
    for name in names:
        for end, (value, point), sign in ((spans[name][0], lowest[name], -1), (spans[name][1], highest[name], 1)):
            taken = close(value, end) or any(close(climb(bound, ranges.box, name, point, sign, source, tries), end) for tries in (5, 60))
            assert taken, f"{name} is said to reach {float(end)}; the nearest found is {float(value)}"


@pytest.mark.parametrize("study", STUDIES)
def test_labels_and_truths_are_those_that_occur(study):
    bound, ranges, _ = build(study)
    source = random.Random(study)
    points = [*corners(ranges.box), *(random_point(ranges.box, source) for _ in range(150))]
    for name in ("prefill_bound", "decode_bound", "fits"):
        formula = bound.formula(name)
        said = ranges.truths(formula) if isinstance(formula, Compare) else ranges.labels(formula)
        assert set(said) == {value_at(bound, point, name) for point in points}, name
        assert isinstance(formula, (Compare, Largest))


def test_some_studies_move_labels_and_truths():
    """The check above would be empty if every label and truth stood still."""
    edge, near = build("reserve across the edge"), build("windows near the ridge")
    assert set(edge[1].truths(edge[0].formula("fits"))) == {True, False}
    assert set(near[1].labels(near[0].formula("decode_bound"))) == {"compute", "memory"}


def test_a_share_keeps_the_range_it_can_take():
    """a/(a + b): interval arithmetic would give a wider range. TTFT 1..2 s of a response with 8 s of decoding: 1/9 to 2/10."""
    bound = case(None, ttft=Fraction(3, 2), decode_time=8)
    ranges = Ranges(bound, {"ttft": (Fraction(1), Fraction(2))})
    assert ranges.bounds(Name("ttft_share")) == (Fraction(1, 9), Fraction(2, 10))


def test_a_share_of_fractions_is_read_off_its_formula():
    """(t/p)/(t/p + d/b), whose t alone moves: with t = 1..2 s, p = 2, d = 8 s, b = 4 it is 0.5/2.5 to 1/3, and no search is needed."""
    bound = case(None, prefill_time=Fraction(3, 2), prefill_batch=2, decode_time=8, batch=4)
    ranges = Ranges(bound, {"prefill_time": (Fraction(1), Fraction(2))})
    assert ranges.direction(Name("prefill_device_share"), "prefill_time") == 1
    assert ranges.bounds(Name("prefill_device_share")) == (Fraction(1, 5), Fraction(1, 3))
    falling = Ranges(bound, {"decode_time": (Fraction(4), Fraction(8))})
    assert falling.direction(Name("prefill_device_share"), "decode_time") == -1


@pytest.mark.parametrize(("batch", "bounds"), [("1..19", "memory"), ("1..20", ("compute", "memory")), ("20..40", "compute"), (20, "compute")])
def test_a_tie_at_the_end_of_a_range_counts(batch, bounds):
    """70B in 4 bits on 80 TFLOP/s and 1 TB/s: 2 B/0.5 = 80 at a batch of 20 exactly, and a tie is compute."""
    study = Study(params=70e9, weights="int4", peak_flops="80 TFLOP/s", mem_bandwidth="1 TB/s", prompt=1, assume={"detail": "weights"}, batch=batch)
    found = study.value("decode_bound")
    assert (tuple(sorted(found)) if isinstance(found, tuple) else found) == bounds


@pytest.mark.parametrize("model", ["mixtral-8x7b", "gpt-oss-20b"])
def test_sums_over_a_response_are_decided_by_their_shape(model, monkeypatch):
    """The weights that experts read and the tokens in a window move one way with the prompt, so ends of the ranges are the extremes."""
    monkeypatch.setattr("symroof.theory.ranges.largest", lambda *_: pytest.fail("searched"))
    bound = case(model, **{**WORK, "output": 20, "mfu": Fraction(1, 2), "mbu": Fraction(3, 4)})
    ranges = Ranges(bound, {"mfu": MFU, "mbu": MBU})
    ends = [bound.changed(corner).value("uncached_time") for corner in corners(ranges.box)]
    assert ranges.bounds(Name("uncached_time")) == (min(ends), max(ends))


def test_a_search_ends_after_the_same_work_on_every_machine():
    bound = case("llama-3-8b", **WORK)
    box = {"prompt": (Fraction(500), Fraction(4000)), "batch": (Fraction(8), Fraction(64))}
    assert Ranges(bound, box, Budget()).bounds(Name("phase_ratio"))
    before = EFFORT.nodes
    with pytest.raises(NotWorkedOut, match="range not worked out"):
        Ranges(bound, box, Budget(search=1000)).bounds(Name("phase_ratio"))
    assert EFFORT.nodes - before < 2000
    spent = Budget(left=1000)
    with pytest.raises(NotWorkedOut):
        Ranges(bound, box, spent).bounds(Name("phase_ratio"))
    assert spent.left <= 0


def test_a_range_that_is_not_worked_out_is_reported():
    answers = Study("llama-3-8b", "h100-sxm", prompt="512..4096", output=32, batch="8..64").first
    answers.ranges.budget.left = 0
    result = answers.result("phase_ratio")
    assert result.low is None and result.flags == ("range_not_worked_out",)
    assert result.value == answers.case.value("phase_ratio")
    assert result.text().endswith(" (range not worked out)")
    assert answers.result("kv_cache_bytes").ranged


@pytest.mark.parametrize(("low", "high"), [(Fraction(1, 2), Fraction(3, 4)), (Fraction(5, 4), Fraction(2))])
def test_powers_with_a_moving_exponent(low, high):
    """A power of a number below one falls with its exponent, of one above it grows."""
    bound = case("llama-3-8b", prompt=3)
    ranges = Ranges(bound, {"prompt": (Fraction(2), Fraction(5)), "mfu": (Fraction(low), Fraction(high))})
    least, most = ranges.bounds(parse("mfu^prompt"))
    values = [Fraction(base) ** exponent for base in (low, high) for exponent in (2, 3, 4, 5)]
    assert (least, most) == (min(values), max(values))
    assert ranges.direction(parse("mfu^prompt"), "prompt") == (-1 if high < 1 else 1)
