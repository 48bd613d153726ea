"""The regime map: its lines by direct evaluation, its regions by scanning, its words by their boxes."""

import math
from fractions import Fraction
from itertools import combinations, pairwise

import pytest

from symroof.report.regime_labels import Labels, batch_at
from symroof.report.regime_map import drawn, regime_map, words
from symroof.report.regimes import regimes
from symroof.study import Study

from . import STEMS, made, text_of

CASES = {
    "dense": {"model": "llama-3-70b", "hardware": "h100-sxm", "tp": 2, "prompt": 4096, "output": 512, "batch": 32, "mfu": 0.6, "mbu": 0.8, "targets": {"itl": "50 ms"}},
    "windowed": {"model": "gemma-2-9b", "hardware": "h100-sxm", "prompt": 4096, "output": 512, "batch": 16, "mfu": 0.5, "mbu": 0.8, "targets": {"itl": "20 ms"}},
    "small": {"model": "qwen2.5-0.5b", "hardware": "h100-sxm", "prompt": 512, "output": 64, "batch": 256, "step_overhead": "200 us", "targets": {"itl": "4 ms"}},
    "many heads": {"model": "pythia-12b", "hardware": "h100-sxm", "prompt": 1024, "output": 64, "batch": 16},
    "one step": {"model": "llama-3-8b", "hardware": "a10", "context": 4096, "batch": 4, "targets": {"itl": "60 ms"}},
    "too slow": {"model": "llama-3-8b", "hardware": "t4", "prompt": 4096, "batch": 1, "targets": {"itl": "10 ms"}},
}  # fmt: skip


@pytest.fixture(scope="module", params=CASES)
def label(request):
    return request.param


def study(label, **changes):
    return Study(**(CASES[label] | changes))


@pytest.fixture(scope="module")
def found(label):
    return regimes(study(label).first)


def bound(label, context, batch):
    """The case bound anew as so many requests at a context, without prompt and output."""
    chosen = {name: value for name, value in CASES[label].items() if name not in ("prompt", "output")}
    return Study(**(chosen | {"context": 1, "batch": 1})).first.case.changed({"context": context, "batch": Fraction(batch)})  # a study takes whole numbers only


SIDES = {
    "ridge": ("decode_compute_time", "decode_memory_time"),
    "memory": ("memory_bytes", "usable_memory"),
    "target": ("itl", "itl_target"),
}


def test_both_sides_are_equal_on_every_line(label, found):
    assert set(found.lines) == {"ridge", "memory"} | ({"target"} if "targets" in CASES[label] else set())
    for name, line in found.lines.items():
        solved = [(c, b) for c, b in line if b and math.isfinite(b)][::7]
        assert solved or all(batch == 0 for _, batch in line), name
        for context, batch in solved:
            case = bound(label, context, batch)
            left, right = (float(case.value(side)) for side in SIDES[name])
            assert left == pytest.approx(right, rel=1e-12), (name, context)


def test_where_a_line_has_no_batch_the_sides_never_meet(label, found):
    """Zero: even a request alone is past the line. Infinity: no batch is, over nine magnitudes."""
    for name, line in found.lines.items():
        for context, batch in line[::6]:
            if batch == 0:
                assert past(label, name, context, 1)
            elif math.isinf(batch):
                assert not any(past(label, name, context, 10**power) for power in range(10))


def past(label, name, context, batch):
    case = bound(label, context, batch)
    left, right = SIDES[name]
    return case.value(left) > case.value(right)


def test_beyond_the_last_context_no_batch_reaches_the_ridge_and_below_it_one_does(label, found):
    assert found.beyond is not None
    assert not any(past(label, "ridge", found.beyond * Fraction(101, 100), 10**power) for power in range(12))
    assert past(label, "ridge", found.beyond * Fraction(99, 100), 10**9)


def test_the_ridge_is_followed_to_the_edge_of_the_map(found):
    """Between two contexts the ridge leaves the map; solved the other way round it reaches the right edge."""
    finite = [float(batch) for _, batch in found.lines["ridge"] if batch and math.isfinite(batch)]
    assert max(finite) >= found.batches[1] * 0.999


def test_the_reviewed_case_stands_where_memory_and_target_are_tested(label, found):
    case = study(label).first.case
    first, last = found.climb
    assert found.batch == case.value("batch")
    assert last == case.value("peak_context")
    if case.has("output"):
        assert bound(label, last, found.batch).value("itl") == case.value("itl_last")
        assert bound(label, first, found.batch).value("itl") == case.value("itl_first")
    assert bound(label, last, found.batch).value("memory_bytes") == case.value("memory_bytes")
    low, high = found.contexts
    assert low < first <= last < high
    assert 1 <= found.batch < found.batches[1]


def test_regions_are_what_the_sides_say(label, found):
    """On a grid of the map, between the contexts the lines were solved at."""
    looked = 0
    (low, high), widest = found.contexts, found.batches[1]
    for i in range(1, 8):
        context = Fraction(round(low * (high / low) ** (i / 8.3)))
        for j in range(1, 8):
            batch = Fraction(round(widest ** (j / 8.3)))
            for name, line in found.lines.items():
                edge = float(batch_at(line, float(context)))
                if not 0.97 < batch / edge < 1.03 if edge else True:
                    assert past(label, name, context, batch) is (batch > edge), (name, context, batch)
                    looked += 1
    assert looked > 80


def test_the_line_of_one_context_is_solved_there(label, found):
    last = found.climb[1]
    for name in found.lines:
        edge = found.at(name, last)
        if edge and math.isfinite(edge):
            assert not past(label, name, last, edge * Fraction(999, 1000))
            assert past(label, name, last, edge * Fraction(1001, 1000))
        else:
            assert past(label, name, last, 1) is (edge == 0)


# ---------------------------------------------------------------------------------------------------------- words


def written(label, found):
    figure = drawn(found, study(label).first)
    figure.draw_without_rendering()
    (axes,) = figure.axes
    return figure, axes, [text for text in axes.texts if text.get_text()]


def test_no_word_touches_another_or_leaves_the_map(label, found):
    _, axes, texts = written(label, found)
    full = {"memory full"} if any(batch for _, batch in found.lines["memory"]) else set()
    assert {"reviewed case", "memory-bound", "does not fit", *full} <= {text.get_text().replace("\n", " ") for text in texts}
    boxes = [(text.get_text(), text.get_window_extent()) for text in texts]
    for (one, a), (other, b) in combinations(boxes, 2):
        assert not a.overlaps(b), (one, other)
    for name, box in boxes:
        assert axes.bbox.x0 <= box.x0, name
        assert box.x1 <= axes.bbox.x1, name
        assert axes.bbox.y0 <= box.y0, name
        assert box.y1 <= axes.bbox.y1, name
    ticks = [t.get_window_extent() for axis in (axes.xaxis, axes.yaxis) for t in axis.get_ticklabels()]
    assert not [1 for a, b in combinations(ticks, 2) if a.overlaps(b)]


def test_a_region_is_named_inside_itself(label, found):
    figure, axes, texts = written(label, found)
    places = {text.get_text().replace("-\n", "-").replace("\n", " "): text.get_window_extent() for text in texts}
    labels = Labels(figure, axes, found)
    regions = {
        "compute-bound": ("ridge", True),
        "memory-bound": ("ridge", False),
        "memory-bound: no batch reaches the ridge": ("ridge", False),
        "does not fit": ("memory", True),
    }
    for name, (line, right) in regions.items():
        if name not in places:
            continue
        box = places[name]
        for x in (box.x0, box.x1):
            for y in (box.y0, box.y1):
                batch, context = labels._data(x, y)
                assert past(label, line, Fraction(context), Fraction(batch)) is right, (name, batch, context)


def test_no_word_hides_a_line(label, found):
    _, axes, texts = written(label, found)
    curves = [axes.transData.transform(line.get_xydata()) for line in axes.lines if len(line.get_xydata()) > 2]
    for text in texts:
        box = text.get_window_extent()
        for curve in curves:
            for (x0, y0), (x1, y1) in pairwise(curve):
                steps = max(2, int(max(abs(x1 - x0), abs(y1 - y0)))) if max(abs(x0), abs(x1)) < 1e5 else 2
                assert not any(box.contains(x0 + (x1 - x0) * i / steps, y0 + (y1 - y0) * i / steps) for i in range(steps + 1)), text.get_text()


def test_the_text_alternative_says_the_numbers(found, label):
    said = words(found, study(label).first)
    assert f"batch {CASES[label]['batch']} at a context of {int(found.climb[1]):,} tokens" in said
    assert f"beyond a context of {math.floor(found.beyond):,} tokens no batch reaches the ridge" in said
    concurrency = study(label).first.case.value("concurrency")
    assert ("memory holds none" if concurrency < 1 else f"memory holds a batch of {int(concurrency):,}") in said
    assert ("does not fit" in said) is (not study(label).first.case.value("fits"))


# --------------------------------------------------------------------------------------------------------- review


def test_without_decode_times_there_is_no_map():
    assert regime_map(Study("llama-3-8b", prompt=1024, batch=4).first) is None
    assert regime_map(Study(hardware="h100-sxm").first) is None


@pytest.mark.parametrize("stem", STEMS)
def test_every_review_shows_its_map_beside_the_thresholds(stem):
    for kind, mark in (("md", "## Thresholds"), ("tex", r"\section{Thresholds}"), ("html", "<h2>Thresholds</h2>")):
        assert f"{stem}-regimes" in text_of(stem, kind).partition(mark)[2]
    assert "<desc>" in (made(stem) / f"{stem}-regimes.svg").read_text(encoding="utf-8")


def test_the_same_case_gives_the_same_bytes():
    one, other = (regime_map(study("windowed").first) for _ in range(2))
    assert (one.svg, one.pdf) == (other.svg, other.pdf)


def test_without_plots_nothing_of_it_is_loaded(tmp_path):
    import subprocess
    import sys

    code = (
        "import sys; from symroof.cli.main import main; "
        f"main(['report', '--model', 'llama-3-8b', '--hardware', 'h100-sxm', '--prompt', '512', '--no-plots', '-o', {str(tmp_path)!r}]); "
        "print(sorted(m for m in sys.modules if m.startswith(('matplotlib', 'numpy', 'symroof.report.regime', 'symroof.report.plots'))))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip().endswith("[]")


def test_extreme_cases_have_a_map_too():
    huge = Study("llama-3-8b", "h100-sxm", prompt=512, output=64, batch=1_000_000).first
    tiny = Study("smollm2-135m", "h200", prompt=1, output=1, batch=1).first
    assert "batch 1,000,000 at a context of 575 tokens" in regime_map(huge).alt
    assert "batch 1 at a context of 1 token;" in regime_map(tiny).alt
