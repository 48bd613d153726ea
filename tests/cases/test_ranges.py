"""What is reported as the range of a quantity holds every value it takes in the box, and its ends are taken."""

import itertools
import random

import numpy as np
import pytest

from symroof.api import Study
from symroof.cases.ranges import Ranges
from symroof.cases.values import Result
from symroof.errors import InputError, NoValue
from symroof.theory.quantities import QUANTITIES
from tests.theory import DEVICE, case

from ..tables import fields, table

WORK = {**DEVICE, "prompt": 2000, "output": 50, "batch": 8, "price": 1e-3, "power": 700}

# model | switches | box | other values | random points
STUDIES = """
gemma-2-9b | | mfu: [0.1, 0.7], mbu: [0.2, 1] | batch: 200 | 1000
llama-3-8b | | link_latency: [0, 1.0e-3], step_overhead: [0, 2.0e-3], mbu: [0.6, 0.9] | tp: 4 | 1000
mixtral-8x7b | | prompt: [100, 3000], mfu: [0.5, 0.7] | batch: floor(100000/prompt), hit_rate: 1/4 | 60
llama-3-8b | roofline: per_operator | prompt: [500, 3000] | batch: concurrency | 500
"""


def build(row):
    model, switches, box, values, points = row
    box = {key: tuple(ends) for key, ends in fields(box).items()}
    middle = {key: (low + high) / 2 for key, (low, high) in box.items()}
    bound = case(model, fields(switches), **{**WORK, **fields(values), **middle})
    return bound, Ranges(bound, box), int(points)


def random_point(box, source):
    """A point of the box; a prompt counts tokens and stays whole."""
    found = {name: low + (high - low) * source.random() for name, (low, high) in box.items()}
    return {name: round(x) if name == "prompt" else x for name, x in found.items()}


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


def close(value, *ends):
    """A grid is this close to an end that is no corner."""
    return any(abs(value - end) <= abs(end) / 1000 for end in ends)


def floats(bound, points, names):
    """The values of quantities at many points, as NumPy works them out."""
    columns = {name: np.array([float(point[name]) for point in points]) for name in points[0]}
    along = bound.changed(columns)
    with np.errstate(all="ignore"):
        return {name: np.broadcast_to(along.value(name), len(points)) for name in names}


@pytest.mark.sample(1)
@pytest.mark.parametrize("study", table(STUDIES), ids=str)
def test_every_value_lies_in_its_range_and_the_ends_are_taken(study):
    bound, ranges, points = build(study)
    source = random.Random(str(study))
    names = numeric(bound)
    spans = {name: ranges.answer(name) for name in names}
    assert {"ttft", "itl", "kv_cache_bytes", "decode_throughput"} <= set(names)
    for point in [*corners(ranges.box), *(random_point(ranges.box, source) for _ in range(4))]:
        here = bound.changed(point)
        for name in names:
            low, high = spans[name]
            assert low <= here.value(name) <= high or close(here.value(name), low, high), (
                f"{name} is {float(here.value(name))} at {point}, not {low} to {high}"
            )
    many = [random_point(ranges.box, source) for _ in range(points)]
    for name, values in floats(bound, many, names).items():
        low, high = map(float, spans[name])
        i, j = int(values.argmin()), int(values.argmax())
        assert (
            values[i] >= low - abs(low) / 1000 - 1e-15
            and values[j] <= high + abs(high) / 1000 + 1e-15
        ), f"{name}: {values[i]} at {many[i]}, {values[j]} at {many[j]}, not {low} to {high}"


@pytest.mark.sample(5)
@pytest.mark.parametrize("study", table(STUDIES), ids=str)
def test_labels_and_truths_are_those_that_occur(study):
    bound, ranges, _ = build(study)
    source = random.Random(str(study))
    points = [*corners(ranges.box), *(random_point(ranges.box, source) for _ in range(150))]
    for name in ("prefill_bound", "decode_bound", "fits"):
        own = Result(bound.theory.symbol(name), bound.value(name))
        said = ranges.over(name, own).possible or (own.value,)
        assert set(said) == {bound.changed(point).value(name) for point in points}, name


def test_a_share_keeps_the_range_it_can_take():
    """a/(a + b): interval arithmetic would give a wider range. TTFT 1..2 s of a response with 8 s of decoding: 1/9 to 2/10."""
    bound = case(None, ttft=1.5, decode_time=8)
    ranges = Ranges(bound, {"ttft": (1, 2)})
    assert ranges.answer("ttft_share") == pytest.approx((1 / 9, 2 / 10), rel=1e-12)


def test_more_ranges_than_corners_are_looked_at_of_are_refused():
    spans = {"mfu": "0.4..0.6", "mbu": "0.6..0.9", "step_overhead": "0 s..1 ms", "batch": "8..64"}
    spans |= {"prompt": "512..4096", "output": "16..32", "layer_overhead": "0 s..1 us"}
    spans |= {"mem_bandwidth": "2 TB/s..3 TB/s", "price": "2 USD/hour..3 USD/hour"}
    assert Study("llama-3-8b", "h100-sxm", **dict(list(spans.items())[:8])).result("ttft").ranged
    with pytest.raises(InputError, match=r"9 inputs are ranges; a case has at most 8"):
        Study("llama-3-8b", "h100-sxm", **spans).result("ttft")


def test_ends_inside_a_range_are_found():
    """Of prompts in chunks of 512 the last has 1 to 512 tokens, whatever the prompts at the ends of the range leave."""
    answers = Study(
        "llama-3-8b", "h100-sxm", prompt="600..6000", output=32, batch=8, chunk=512
    ).first
    last = answers.result("last_chunk")
    assert (last.low, last.high) == (1, 512)


def test_a_value_that_exists_in_part_of_a_range_only():
    """A prefill of 0.1 s keeps up with 9 requests a second and not with 11; at 6, the middle, the mean wait of M/M/1 is 0.6*0.1/0.4 s."""
    answers = Study(prefill_time="100 ms", arrival_rate="1 request/s..11 request/s").first
    assert answers.result("utilization").in_two()[1] == "0.1 to 1.1"
    assert answers.result("queue_wait").text() == "150 ms (unbounded in the worst case)"
    assert answers.result("queue_wait").flags == ("no_value_in_part_of_the_range",)


@pytest.mark.parametrize("pole", [True, False])
def test_a_denominator_of_ones_own_that_changes_its_sign(pole):
    """What lay between the ends of the box was taken to lie between the values there."""
    study = Study("llama-3-8b", "h100-sxm", prompt=2048, batch="1..50", mbu="0.3..0.8", mfu=0.5)
    study.define("mine", "(1 s)/(0.02 s - itl)" if pole else "1/(1 - batch/(10.5 request))")
    result = study.result("mine")
    if pole:
        assert result.flags == ("no_value_in_part_of_the_range",) and result.low is None
    else:  # a step leads over the pole
        values = [study.first.case.changed({"batch": n}).value("mine") for n in range(1, 51)]
        assert (result.low, result.high) == (min(values), max(values))


def test_the_ends_of_what_was_measured_are_the_same_in_every_command():
    """One common widening: slow ends together and fast ones together, in a value as in a sweep."""
    study = Study("llama-3-8b", "h100-sxm", prompt=1024, output=128, batch=[8])
    swept = study.sweep(["itl", "ttft", "ttft_share", "mean_step_rest"], batch=[8])
    for name in ("itl", "ttft", "ttft_share", "mean_step_rest"):
        value = study.result(name)
        ends = [float(swept[f"{name}_{end}"].squeeze()) for end in ("low", "high")]
        assert (value.low, value.high) == pytest.approx(ends, rel=1e-12), name
