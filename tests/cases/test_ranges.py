"""What is reported as the range of a quantity holds every value it takes in the box, and its ends are taken."""

import itertools
import pickle
import random
from fractions import Fraction

import numpy as np
import pytest

from symroof.api import Study
from symroof.cases.ranges import Ranges
from symroof.resources import data_folder
from symroof.symbolic.evaluation import NoValue
from symroof.symbolic.expressions import is_relation
from symroof.symbolic.reading import parse
from symroof.theory.quantities import QUANTITIES
from symroof.theory.symbols import ExpressionName
from tests.theory import DEVICE, case

WORK = {
    **DEVICE,
    "prompt": 2000,
    "output": 50,
    "batch": 8,
    "price": Fraction(1, 1000),
    "power": 700,
}
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
    "a reserve that is a formula": (
        "llama-3-8b",
        {},
        {"prompt": (100, 3000), "mbu": MBU},
        {"memory_reserve": "weight_bytes/10 + prompt*1000000"},
        500,
    ),
    "a total that kinds of layer follow": ("gemma-2-9b", {}, {"kv_bytes_per_token": (10**4, 3 * 10**5)}, {"tp": 4}, 500),
    "a total that devices follow": ("llama-3-8b", {}, {"decode_bytes": (10**10, 3 * 10**10), "mbu": MBU}, {"tp": 4}, 500),
    "a batch that follows the prompt": (
        "mixtral-8x7b",
        {},
        {"prompt": (100, 3000), "mfu": MFU},
        {"batch": "floor(100000/prompt)", "hit_rate": "1/4"},
        60,
    ),
    "a batch that memory decides": ("llama-3-8b", {}, {"prompt": (500, 3000)}, {"batch": "concurrency"}, 500),
}  # fmt: skip
"""Model, switches, box, other values, random points; a text is a formula."""


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
        found[name] = (
            Fraction(round(low + (high - low) * share))
            if name == "prompt"
            else low + (high - low) * share
        )
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


def close(value, *ends):
    """A search stops this close to an end that is no corner."""
    return any(abs(value - end) <= abs(end) / 10**7 for end in ends)


def floats(bound, points, names):
    """The values of quantities at many points, as NumPy works them out."""
    columns = {name: np.array([float(point[name]) for point in points]) for name in points[0]}
    along = bound.changed(columns).with_care()
    with np.errstate(all="ignore"):
        return {name: np.broadcast_to(along.value(name), len(points)) for name in names}


def span(ranges, name):
    """The ends of a quantity, or of a formula."""
    found = ranges.bounds(name)
    return found.low, found.high


def of(text):
    """A formula where a name is taken."""
    return ExpressionName.of(parse(text))


@pytest.mark.sample(1)
@pytest.mark.parametrize("study", STUDIES)
def test_every_value_lies_in_its_range_and_the_ends_are_taken(study):
    bound, ranges, points = build(study)
    source = random.Random(study)
    names = numeric(bound)
    ranges.prepare(names)
    spans = {name: span(ranges, name) for name in names}
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
            values[i] >= low - 1e-9 * abs(low) - 1e-15
            and values[j] <= high + 1e-9 * abs(high) + 1e-15
        ), f"{name}: {values[i]} at {many[i]}, {values[j]} at {many[j]}, not {low} to {high}"
    for name in names:
        found = ranges.bounds(name)
        for point, end in zip((found.lowest, found.highest), spans[name], strict=True):
            assert all(
                low <= point.get(key, low) <= high for key, (low, high) in ranges.box.items()
            )
            assert "prompt" not in point or point["prompt"].denominator == 1
            assert value_at(bound, point, name) == end


@pytest.mark.sample(5)
@pytest.mark.parametrize("study", STUDIES)
def test_labels_and_truths_are_those_that_occur(study):
    bound, ranges, _ = build(study)
    source = random.Random(study)
    points = [*corners(ranges.box), *(random_point(ranges.box, source) for _ in range(150))]
    for name in ("prefill_bound", "decode_bound", "fits"):
        formula = bound.formula(name)
        said = ranges.truths(formula) if is_relation(formula) else ranges.labels(name)
        assert set(said) == {value_at(bound, point, name) for point in points}, name


def test_a_rate_that_keeps_less_than_a_request_busy():
    """At such a batch other arms win than from one request on, where nothing moves with the bandwidth; prompts of others take a third of a step."""
    case = {
        "prompt": 30000,
        "output": 2,
        "batch": 100,
        "tp": 8,
        "arrival_rate": "0.2/s",
        "chunk": 2000,
    }
    answers = Study("mistral-7b-v0.1", "h200", **case, mbu="0.3..0.9").first
    result = answers.result("steady_batch")
    ends = [
        Study("mistral-7b-v0.1", "h200", **case, mbu=mbu).value("steady_batch")
        for mbu in ("0.3", "0.9")
    ]
    assert (float(result.high), float(result.low)) == pytest.approx(ends) and 2.2 < ends[0] / ends[
        1
    ] < 3


def test_a_share_keeps_the_range_it_can_take():
    """a/(a + b): interval arithmetic would give a wider range. TTFT 1..2 s of a response with 8 s of decoding: 1/9 to 2/10."""
    bound = case(None, ttft=Fraction(3, 2), decode_time=8)
    ranges = Ranges(bound, {"ttft": (Fraction(1), Fraction(2))})
    assert span(ranges, "ttft_share") == pytest.approx((1 / 9, 2 / 10), rel=1e-12)


def test_a_share_of_fractions_has_its_ends_at_corners():
    """(t/p)/(t/p + d/b), whose t alone moves: with t = 1..2 s, p = 2, d = 8 s, b = 4 it is 0.5/2.5 to 1/3, and no search is needed."""
    bound = case(None, prefill_time=Fraction(3, 2), prefill_batch=2, decode_time=8, batch=4)
    ranges = Ranges(bound, {"prefill_time": (Fraction(1), Fraction(2))})
    assert span(ranges, "prefill_device_share") == pytest.approx((1 / 5, 1 / 3), rel=1e-12)
    falling = Ranges(bound, {"decode_time": (Fraction(4), Fraction(8))}).bounds(
        "prefill_device_share"
    )
    assert falling.found == "corners" and falling.highest == {"decode_time": 4}


@pytest.mark.parametrize(
    ("batch", "bounds"),
    [("1..19", "memory"), ("1..20", ("compute", "memory")), ("20..40", "compute"), (20, "compute")],
)
def test_a_tie_at_the_end_of_a_range_counts(batch, bounds):
    """70B in 4 bits on 80 TFLOP/s and 1 TB/s: 2 B/0.5 = 80 at a batch of 20 exactly, and a tie is compute."""
    study = Study(
        params=70e9,
        weights="int4",
        peak_flops="80 TFLOP/s",
        mem_bandwidth="1 TB/s",
        prompt=1,
        assume={"detail": "weights"},
        batch=batch,
    )
    found = study.value("decode_bound")
    assert (tuple(sorted(found)) if isinstance(found, tuple) else found) == bounds


@pytest.mark.parametrize("model", ["mixtral-8x7b", "gpt-oss-20b"])
def test_sums_over_a_response_have_their_ends_at_corners(model):
    """The weights that experts read and the tokens in a window move one way with the prompt, so ends of the ranges are the extremes."""
    bound = case(model, **{**WORK, "output": 20, "mfu": Fraction(1, 2), "mbu": Fraction(3, 4)})
    ranges = Ranges(bound, {"mfu": MFU, "mbu": MBU})
    ends = [bound.changed(corner).value("uncached_time") for corner in corners(ranges.box)]
    assert (
        span(ranges, "uncached_time") == (min(ends), max(ends))
        and ranges.bounds("uncached_time").found == "corners"
    )


def test_the_best_batch_and_the_last_piece_of_a_prompt_have_their_ends_at_corners():
    """Only the MFU is a range in the study: all that it moves is fastest at one end, also where prompts are cut into pieces as long as the batch allows."""
    for answers in Study.load(data_folder("specs") / "studies" / "llama-3-70b-chat.yaml").cases:
        ends = [answers.case.changed({"mfu": mfu}) for mfu in (Fraction(1, 2), Fraction(7, 10))]
        for name in ("best_batch", "max_goodput", "prompt_prefill_time", "sustained_requests"):
            values = [end.value(name) for end in ends]
            assert span(answers.ranges, name) == (min(values), max(values)), name


@pytest.mark.parametrize("asked", [("best_batch", "max_goodput"), ("max_goodput", "best_batch")])
def test_batches_without_a_steady_state_leave_the_best_one_its_range(asked):
    """A batch of 1 does not keep up with five requests a second, so its TTFT has no value; the best batch has one at every MFU, whoever asks first."""
    study = Study(
        model="llama-3-8b", hardware="h100-sxm", prompt=2048, mfu="0.4..0.7", output=300, batch=16, arrival_rate="5 request/s", assume={"scheduling": "exclusive"},
        ttft_target="500 ms", itl_target="30 ms",
    )  # fmt: skip
    (answers,) = study.cases
    ends = [answers.case.changed({"mfu": mfu}) for mfu in (Fraction(2, 5), Fraction(7, 10))]
    assert not ends[0].changed({"batch": Fraction(1)}).has_value("judged_ttft")
    for name in asked:
        assert span(answers.ranges, name) == tuple(end.value(name) for end in ends), name


def test_a_range_that_is_not_worked_out_is_reported(monkeypatch):
    """Six ranges have 64 corners; where those are too many, what fewer of them move still has its range."""
    monkeypatch.setattr("symroof.cases.ranges.MOST_CORNERS", 32)
    spans = {
        "mfu": "0.4..0.6",
        "mbu": "0.6..0.9",
        "step_overhead": "0 s..1 ms",
        "prompt": "512..4096",
        "output": "16..32",
        "batch": "8..64",
    }
    answers = Study("llama-3-8b", "h100-sxm", **spans).first
    result = answers.result("response_time")
    assert result.low is None and result.flags == ("range_not_worked_out",)
    assert result.value == answers.case.value("response_time")
    assert result.text().endswith(" (range not computed)")
    assert answers.result("kv_cache_bytes").ranged


def test_a_study_whose_ranges_are_known_can_be_pickled():
    study = Study("llama-3-8b", "h100-sxm", prompt="512..4096", mfu="0.4..0.6")
    result = study.first.result("itl")
    assert pickle.loads(pickle.dumps(study)).first.result("itl") == result


def test_an_answer_says_where_its_ends_were_found():
    """Of prompts in chunks of 512 the last has 1 to 512 tokens, whatever the prompts at the ends of the range leave."""
    answers = Study(
        "llama-3-8b", "h100-sxm", prompt="600..6000", output=32, batch=8, chunk=512
    ).first
    last, cache = answers.result("last_chunk"), answers.result("kv_cache_bytes")
    assert (last.low, last.high, last.found, last.as_json()["found"]) == (1, 512, "grid", "grid")
    assert (cache.found, cache.as_json()["found"]) == ("corners", "corners")
    assert (
        "found" not in answers.result("params").as_json()
        and Study("llama-3-8b").first.result("params").found == ""
    )


def test_a_value_that_exists_in_part_of_a_range_only():
    """A prefill of 0.1 s keeps up with 9 requests a second and not with 11; at 6, the middle, the mean wait of M/M/1 is 0.6*0.1/0.4 s."""
    answers = Study(prefill_time="100 ms", arrival_rate="1 request/s..11 request/s").first
    assert answers.result("utilization").span() == "0.1 to 1.1"
    assert answers.result("queue_wait").text() == "150 ms (no value in part of the range)"
    assert answers.quantities()["queue_wait"].flags == ("no_value_in_part_of_the_range",)


@pytest.mark.parametrize(
    ("low", "high"), [(Fraction(1, 2), Fraction(3, 4)), (Fraction(5, 4), Fraction(2))]
)
def test_powers_with_a_moving_exponent(low, high):
    """A power of a number below one falls with its exponent, of one above it grows."""
    bound = case("llama-3-8b", prompt=3, mfu=(low + high) / 2)
    ranges = Ranges(
        bound, {"prompt": (Fraction(2), Fraction(5)), "mfu": (Fraction(low), Fraction(high))}
    )
    found = ranges.bounds(of("mfu^prompt"))
    values = [Fraction(base) ** exponent for base in (low, high) for exponent in (2, 3, 4, 5)]
    assert (found.low, found.high, found.found) == (min(values), max(values), "corners")


def test_a_rounding_that_only_the_index_of_a_sum_moves():
    """``ceil(step/3)`` over steps 1..3 is 1 each: floats are in doubt at 3/3, and there is no array there, but one number."""
    bound = case(None, mfu=Fraction(1, 2))
    box = {"mfu": (Fraction(0), Fraction(1))}
    low, high = span(Ranges(bound, box), of("sum(ceil(step*(1/3))*mfu*(1 - mfu)^step, step, 1, 3)"))
    values = [
        sum(x * (1 - x) ** step for step in (1, 2, 3)) for x in (i / 1000 for i in range(1001))
    ]
    assert low == 0
    assert abs(float(high) - max(values)) < 1e-5


SERVED = {"prompt": "2040..2056", "output": 64, "batch": "5..8", "chunk": 1024}
LIKE = {
    "at the peak": ({}, {}),
    "its cache in fp8": ({"kv": "fp8"}, {"efficiency": "measured"}),
    "its weights in four bits": ({"weights": "int4-g128"}, {"efficiency": "measured"}),
    "on two devices": ({"tp": 2}, {"efficiency": "measured"}),
    "with a prefix": ({"cached_prefix": 1000}, {"efficiency": "measured"}),
}


@pytest.mark.sample(1)
@pytest.mark.parametrize("label", LIKE)
def test_ranges_of_a_case_like_another(label):
    """Its bounds are those of brute force over each prompt, batch and corner."""
    changed, efficiency = LIKE[label]
    answers = Study("llama-3-8b", "h100-sxm", **SERVED | changed, **efficiency).first
    corners = answers.measured_corners or [{}]
    places = [
        answers.case.changed({**corner, "prompt": Fraction(p), "batch": Fraction(b)})
        for corner in corners
        for p in range(2040, 2057)
        for b in range(5, 9)
    ]
    for name in ("loaded_ttft", "sustained_itl", "memory_bytes_per_device"):
        result, values = answers.result(name), [Fraction(place.value(name)) for place in places]
        assert (result.low, result.high) == (min(values), max(values)), name


POLES = {
    "1/(1 - batch/(10.5 request))": "steps",  # a step leads over the pole
    "2/(3 request - batch) + 1/(1 request)": "pole",  # and this one has it at a whole number
    "(1 s)/(0.02 s - itl)": "pole",
    "1/(mbu - 2)": "none",
    "1/(mbu + batch/(1 request))": "none",
}


@pytest.mark.parametrize("formula", POLES)
def test_a_denominator_of_ones_own_that_changes_its_sign(formula):
    """What lay between the ends of the box was taken to lie between the values there."""
    study = Study("llama-3-8b", "h100-sxm", prompt=2048, batch="1..50", mbu="0.3..0.8", mfu=0.5)
    study.define("mine", formula, unit="1/request" if "2/(" in formula else "", means="one's own")
    result = study.result("mine")
    if POLES[formula] == "pole":
        assert result.flags == ("no_value_in_part_of_the_range",) and result.low is None
        return
    case = study.first.case
    values = [
        Fraction(case.changed({"batch": Fraction(b), "mbu": mbu}).value("mine"))
        for b in range(1, 51)
        for mbu in (Fraction(3, 10), Fraction(4, 5))
    ]
    assert (result.low, result.high) == (min(values), max(values))
