"""The regime map: its lines by direct evaluation, its regions by scanning, its words by their boxes."""

import math
from fractions import Fraction
from itertools import pairwise

import pytest

from symroof.api import Study
from symroof.errors import InputError
from symroof.report.pictures.regimes import before, drawn, picture, region_areas, says
from symroof.report.regime_map import at_a_context, regimes

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


@pytest.mark.sample(2)
def test_regions_are_what_the_sides_say(label, solved_map):
    """On a grid of the map, between the contexts the lines were solved at."""
    looked, frame = 0, drawn(solved_map, study(label).first)
    (low, high), widest = solved_map.contexts, solved_map.batches[1]
    for i in range(1, 8):
        context = Fraction(round(low * (high / low) ** (i / 8.3)))
        for j in range(1, 8):
            batch = Fraction(round(widest ** (j / 8.3)))
            for name in solved_map.lines:
                edge = frame.x.inverse(before(frame, solved_map, name)(frame.y(float(context)))[1])
                if not 0.97 < batch / edge < 1.03:
                    assert past(label, name, context, batch) is (batch > edge), (
                        name,
                        context,
                        batch,
                    )
                    looked += 1
    assert looked > 80


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


def written(label, solved_map):
    """The map, and the labels inside its frame."""
    frame = drawn(solved_map, study(label).first)
    left, bottom, right, top = frame.box
    return frame, [
        labels
        for labels in frame.canvas.labels
        if labels.box[0] >= left
        and labels.box[1] >= bottom
        and labels.box[2] <= right
        and labels.box[3] <= top
    ]


def test_what_has_to_be_named_is_named(label, solved_map):
    _, labels = written(label, solved_map)
    full = {"memory full"} if any(batch for _, batch in solved_map.lines["memory"]) else set()
    assert {"this case", "memory-bound", "does not fit", *full} <= {
        one.text.replace("\n", " ") for one in labels
    }


def test_a_region_is_named_inside_itself(label, solved_map):
    frame, labels = written(label, solved_map)
    places = {one.text.replace("-\n", "-").replace("\n", " "): one.box for one in labels}
    regions = {
        "compute-bound": ("ridge", True),
        "memory-bound": ("ridge", False),
        "memory-bound: no batch reaches the ridge": ("ridge", False),
        "does not fit": ("memory", True),
    }
    for name, (line, right) in regions.items():
        if name not in places:
            continue
        x0, y0, x1, y1 = places[name]
        for x in (x0, x1):
            for y in (y0, y1):
                batch, context = frame.x.inverse(x), frame.y.inverse(y)
                assert past(label, line, Fraction(context), Fraction(batch)) is right, (
                    name,
                    batch,
                    context,
                )


def test_no_word_hides_a_line(label, solved_map):
    frame, labels = written(label, solved_map)
    for name, line in solved_map.lines.items():
        spots = [
            frame.at(float(batch), float(context))
            for context, batch in line
            if batch and math.isfinite(batch)
        ]
        for (x0, y0), (x1, y1) in pairwise(spots):
            steps = max(2, int(max(abs(x1 - x0), abs(y1 - y0))))
            for i in range(steps + 1):
                x, y = x0 + (x1 - x0) * i / steps, y0 + (y1 - y0) * i / steps
                for one in labels:
                    left, bottom, right, top = one.box
                    assert not (left < x < right and bottom < y < top), (one.text, name)


def test_the_regions_cover_the_map_and_do_not_overlap(label, solved_map):
    frame, areas = drawn(solved_map, study(label).first), None
    areas = region_areas(frame, solved_map)
    _, bottom, _, top = frame.box
    for i in range(1, 20):
        y = bottom + (top - bottom) * i / 20
        widths = [
            max(0.0, high - low)
            for low, high in (areas[name](y) for name in ("memory-bound", "compute", "never"))
        ]
        if areas["never"](y)[1] > areas["never"](y)[0]:
            assert widths[0] == 0
        else:
            assert sum(widths) == pytest.approx(frame.box[2] - frame.box[0])


def test_the_text_alternative_says_the_numbers(solved_map, label):
    sentence = says(solved_map, study(label).first)
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
    made = Study(**case)
    return picture(made, made.first)


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


def test_the_same_case_gives_the_same_bytes():
    one, other = (of(**CASES["windowed"]) for _ in range(2))
    assert [one.form(ending) for ending in ("svg", "pdf")] == [
        other.form(ending) for ending in ("svg", "pdf")
    ]


@pytest.mark.full
def test_without_plots_nothing_of_it_is_loaded(tmp_path):
    """NumPy is, for the ranges of measured efficiencies."""
    import subprocess
    import sys

    code = (
        "import sys; from symroof.cli.main import main; "
        f"main(['report', '--model', 'llama-3-8b', '--hardware', 'h100-sxm', '--prompt', '512', '--no-plots', '-o', {str(tmp_path)!r}]); "
        "print(sorted(m for m in sys.modules if m.startswith(('matplotlib', 'symroof.report.regime_map', 'symroof.report.pictures', 'symroof.drawing.canvas', 'symroof.drawing.frame'))))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip().endswith("[]")


def test_extreme_cases_have_a_map_too():
    assert (
        "1,000,000 requests at a context of 575 tokens"
        in of(model="llama-3-8b", hardware="h100-sxm", prompt=512, output=64, batch=1_000_000).alt
    )
    assert (
        "1 request at a context of 1 token;"
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
