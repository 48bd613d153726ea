"""The regime map: its lines by direct evaluation, its regions by scanning, its words by their boxes."""

import math
from fractions import Fraction

import numpy as np
import pytest
from matplotlib.path import Path

from symroof.api import Study
from symroof.errors import InputError
from symroof.report.pictures.picture_kinds import chart
from symroof.report.pictures.regime_map import at_a_context, regimes

from . import STEMS, made, text_of

CASES = {
    "dense": {"model": "llama-3-70b", "hardware": "h100-sxm", "tp": 2, "prompt": 4096, "output": 512, "batch": 32, "mfu": 0.6, "mbu": 0.8, "targets": {"itl": "50 ms"}},
    "windowed": {"model": "gemma-2-9b", "hardware": "h100-sxm", "prompt": 4096, "output": 512, "batch": 16, "mfu": 0.5, "mbu": 0.8, "targets": {"itl": "20 ms"}},
    "small": {"model": "qwen2.5-0.5b", "hardware": "h100-sxm", "prompt": 512, "output": 64, "batch": 256, "step_overhead": "200 us", "targets": {"itl": "4 ms"}},
    "many heads": {"model": "pythia-12b", "hardware": "h100-sxm", "prompt": 1024, "output": 64, "batch": 16},
    "one step": {"model": "llama-3-8b", "hardware": "a10", "context": 4096, "batch": 4, "targets": {"itl": "60 ms"}},
    "experts": {"model": "mixtral-8x7b", "hardware": "h100-sxm", "tp": 4, "prompt": 2048, "output": 256, "batch": 16, "targets": {"itl": "20 ms"}},
    "too slow": {"model": "llama-3-8b", "hardware": "t4", "prompt": 4096, "batch": 1, "targets": {"itl": "10 ms"}},
}  # fmt: skip


@pytest.fixture(scope="module", params=CASES)
def label(request):
    return request.param


def study(label, **changes):
    return Study(**(CASES[label] | changes))


@pytest.fixture(scope="module")
def solved_map(label):
    return regimes(study(label).first)


def bound(label, context, batch):
    """The case bound anew as so many requests at a context, without prompt and output."""
    chosen = {
        name: value for name, value in CASES[label].items() if name not in ("prompt", "output")
    }
    return Study(**(chosen | {"context": 1, "batch": 1})).first.case.changed(
        {"context": context, "batch": Fraction(batch)}
    )  # a study takes whole numbers only


SIDES = {
    "ridge": ("decode_compute_time", "decode_memory_time"),
    "memory": ("memory_bytes", "usable_memory"),
    "target": ("itl", "itl_target"),
}


@pytest.mark.sample(1)
def test_both_sides_are_equal_on_every_line(label, solved_map):
    assert set(solved_map.lines) == {"ridge", "memory"} | (
        {"target"} if "targets" in CASES[label] else set()
    )
    for name, line in solved_map.lines.items():
        solved = [(c, b) for c, b in line if b and math.isfinite(b)][::7]
        assert solved or all(batch == 0 for _, batch in line), name
        for context, batch in solved:
            case = bound(label, context, batch)
            left, right = (float(case.value(side)) for side in SIDES[name])
            assert left == pytest.approx(right, rel=1e-12), (name, context)


@pytest.mark.sample(3)
def test_where_a_line_has_no_batch_the_sides_never_meet(label, solved_map):
    """Zero: even a request alone is past the line. Infinity: no batch is, over nine magnitudes."""
    for name, line in solved_map.lines.items():
        for context, batch in line[::6]:
            if batch == 0:
                assert past(label, name, context, 1)
            elif math.isinf(batch):
                assert not any(past(label, name, context, 10**power) for power in range(10))


def past(label, name, context, batch):
    case = bound(label, context, batch)
    left, right = SIDES[name]
    return case.value(left) > case.value(right)


def test_beyond_the_last_context_no_batch_reaches_the_ridge_and_below_it_one_does(
    label, solved_map
):
    assert solved_map.beyond is not None
    assert not any(
        past(label, "ridge", solved_map.beyond * Fraction(101, 100), 10**power)
        for power in range(12)
    )
    assert past(label, "ridge", solved_map.beyond * Fraction(99, 100), 10**9)


def test_the_ridge_is_followed_to_the_edge_of_the_map(solved_map):
    """Between two contexts the ridge leaves the map; solved the other way round it reaches the right edge."""
    finite = [
        float(batch) for _, batch in solved_map.lines["ridge"] if batch and math.isfinite(batch)
    ]
    assert max(finite) >= solved_map.batches[1] * 0.999


def test_the_reviewed_case_stands_where_memory_and_target_are_tested(label, solved_map):
    case = study(label).first.case
    first, last = solved_map.climb
    assert solved_map.batch == case.value("batch")
    assert last == case.value("peak_context")
    if case.has("output"):
        assert bound(label, last, solved_map.batch).value("itl") == case.value("itl_last")
        assert bound(label, first, solved_map.batch).value("itl") == case.value("itl_first")
    assert bound(label, last, solved_map.batch).value("memory_bytes") == case.value("memory_bytes")
    low, high = solved_map.contexts
    assert low < first <= last < high
    assert 1 <= solved_map.batch < solved_map.batches[1]


def test_the_line_of_one_context_is_solved_there(label, solved_map):
    last = solved_map.climb[1]
    for name in solved_map.lines:
        edge = solved_map.at(name, last)
        if edge and math.isfinite(edge):
            assert not past(label, name, last, edge * Fraction(999, 1000))
            assert past(label, name, last, edge * Fraction(1001, 1000))
        else:
            assert past(label, name, last, 1) is (edge == 0)


# ---------------------------------------------------------------------------------------------------------- words


@pytest.mark.sample(2)
def test_regions_are_what_the_sides_say(label):
    """Their corners, a little inside: past the ridge compute limits, past the line of memory it does not fit."""
    shown = chart("regimes", study(label))
    looked = 0
    for mark in shown.marks:
        name = mark.labels[0] if mark.kind == "area" else ""
        line, beyond = {
            "compute-bound": ("ridge", True),
            "memory-bound": ("ridge", False),
            "does not fit": ("memory", True),
        }.get(name, (None, None))
        if line is None:
            continue
        path, low, high = Path(np.log(mark.points)), *np.log([shown.x.low, shown.x.high])
        for x in np.linspace(low, high, 9)[1:-1]:
            for y in np.linspace(*np.log([shown.y.low, shown.y.high]), 9)[1:-1]:
                if path.contains_point((x, y), radius=-0.05):
                    batch, context = (Fraction(float(v)) for v in np.exp([x, y]))
                    near = [past(label, line, context, batch * k / 100) for k in (95, 105)]
                    assert beyond in near, (name, batch, context)
                    looked += 1
    assert looked > 10


def test_the_text_alternative_says_the_numbers(solved_map, label):
    sentence = chart("regimes", study(label)).says
    batch = CASES[label]["batch"]
    assert (
        f"{batch} request{'' if batch == 1 else 's'} at a context of {int(solved_map.climb[1]):,} tokens"
        in sentence
    )
    assert (
        f"beyond a context of {math.floor(solved_map.beyond):,} tokens no batch reaches the ridge"
        in sentence
    )
    concurrency = study(label).first.case.value("concurrency")
    assert (
        "memory holds none" if concurrency < 1 else f"memory holds a batch of {int(concurrency):,}"
    ) in sentence
    assert ("does not fit" in sentence) is (not study(label).first.case.value("fits"))


# --------------------------------------------------------------------------------------------------------- review


def of(**case):
    return chart("regimes", Study(**case))


def test_without_decode_times_there_is_no_map():
    with pytest.raises(InputError, match="peak_flops"):
        of(model="llama-3-8b", prompt=1024, batch=4)
    with pytest.raises(InputError, match="nothing to draw"):
        of(hardware="h100-sxm")


@pytest.mark.sample(1)
@pytest.mark.parametrize("stem", STEMS)
def test_every_review_shows_its_map_beside_the_thresholds(stem):
    for kind, mark in (
        ("md", "## Appendix: thresholds"),
        ("tex", r"\section{Appendix: thresholds}"),
    ):
        assert f"{stem}-regimes" in text_of(stem, kind).partition(mark)[2]
    assert (
        "What limits a decode step"
        in text_of(stem, "html").partition(">Appendix: thresholds</h2>")[2]
    )  # a page has its pictures inside
    assert "<desc>" in (made(stem) / f"{stem}-regimes.svg").read_text(encoding="utf-8")


def test_extreme_cases_have_a_map_too():
    assert (
        "1,000,000 requests at a context of 575 tokens"
        in of(model="llama-3-8b", hardware="h100-sxm", prompt=512, output=64, batch=1_000_000).alt
    )
    assert (
        "1 request at a context of 1 token is"
        in of(model="smollm2-135m", hardware="h200", prompt=1, output=1, batch=1).alt
    )


def test_a_batch_that_is_a_formula_of_the_prompt_stands_still_where_the_context_moves():
    """A map leaves the prompt out, and took the batch with it; a formula of the context moves with the context."""
    case = {"model": "llama-3-8b", "hardware": "h100-sxm", "prompt": 4096, "output": 10}
    for context in (Fraction(5), Fraction(4105), Fraction(20_000)):
        of_prompt, same = (
            at_a_context(Study(**case, batch=batch).first, context)
            for batch in ("prompt - 3000", 1096)
        )
        assert of_prompt.case.value("itl") == same.case.value("itl")
        assert (
            at_a_context(Study(**case, batch="2*context").first, context).case.value("batch")
            == 2 * context
        )
