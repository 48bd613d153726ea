"""The picture of a waterfall: words apart, a bar for each step, numbers at the bars' ends, the same bytes every time."""

import re
from itertools import combinations
from xml.etree import ElementTree

import pytest

from symroof.analysis.waterfall import waterfall
from symroof.api import Study
from symroof.report.pictures.waterfall_bars import MOST, says, waterfall_picture
from tests.cli import good, refused

CASE = {"model": "llama-3-8b", "hardware": "h100-sxm", "prompt": 2048}
PAIRS = {
    "tools": ({**CASE, "preset": "genz"}, {**CASE, "preset": "aiconfigurator"}, "ttft"),
    "models": (CASE, {"model": "llama-3.1-405b", "hardware": "h200", "tp": 8, "prompt": 9999, "batch": 8, "weights": "fp8", "mfu": 0.3, "mbu": 0.4, "preset": "llm-viewer", "step_overhead": "2 ms"}, "itl"),
    "nothing": (CASE, CASE, "itl"),
    "memory": (CASE, {**CASE, "batch": 512}, "free_memory"),
}  # fmt: skip


def drawn(label):
    one, other, quantity = PAIRS[label]
    way = waterfall(Study(**one).first, Study(**other).first, quantity)
    return way, waterfall_picture(
        way, "one side with a name that is far too long to stand before a bar", "other"
    )


@pytest.mark.parametrize("label", PAIRS)
def test_no_word_touches_another_or_leaves_the_page(label):
    way, made = drawn(label)
    for a, b in combinations(made.canvas.labels, 2):
        assert (
            a.box[0] >= b.box[2]
            or b.box[0] >= a.box[2]
            or a.box[1] >= b.box[3]
            or b.box[1] >= a.box[3]
        ), (a.text, b.text)
    for words in made.canvas.labels:
        assert words.box[0] >= 0, words.text
        assert words.box[2] <= made.canvas.width, words.text
        assert -made.canvas.below <= words.box[1] < words.box[3] <= made.canvas.height, words.text
    texts = [words.text for words in made.canvas.labels]
    least = max(abs(way.start.value), abs(way.end.value)) / 1000
    noticeable = [step for step in way.steps if abs(step.effect) >= least]
    assert len([text for text in texts if "  × " in text]) == min(len(noticeable), MOST)
    assert way.end.plain(3) in " ".join(texts)


@pytest.mark.parametrize("label", PAIRS)
def test_it_is_well_formed_and_says_both_ends(label):
    way, made = drawn(label)
    assert ElementTree.fromstring(made.form("svg")).get("role") == "img"
    assert made.form("svg") == drawn(label)[1].form("svg")
    assert way.start.text() in says(way)
    assert way.end.text() in says(way)


def test_steps_without_a_bar_are_named_and_bars_still_end_at_the_second_value():
    way, made = drawn("tools")
    small = [
        step for step in way.steps if abs(step.effect) < max(way.start.value, way.end.value) / 1000
    ]
    notes = " ".join(words.text for words in made.canvas.labels)
    assert small and "Without a bar, less than 0.1 % together: " in notes
    ends = [value for name, _, value in made.canvas.drawn if name == "after"]
    assert ends[0] == pytest.approx(float(way.start.value)) and ends[-1] == pytest.approx(
        float(way.end.value)
    )
    assert ends[-2] == pytest.approx(ends[-1], rel=1e-3)


def test_the_axis_starts_where_it_matters_and_says_so():
    close = waterfall(Study(**CASE).first, Study(**CASE, layer_overhead="85 us").first, "ttft")
    texts = " ".join(words.text for words in waterfall_picture(close, "one", "other").canvas.labels)
    start = re.search(r"The axis starts at ([\d.]+) ms, not at zero", texts)
    assert start and 0 < float(start[1]) < float(min(close.start.value, close.end.value)) * 1000
    far = waterfall(Study(**CASE).first, Study(**{**CASE, "prompt": 20480}).first, "ttft")
    assert "not at zero" not in " ".join(
        words.text for words in waterfall_picture(far, "one", "other").canvas.labels
    )


def test_the_command_writes_it(tmp_path):
    sides = (
        "diff", "genz", "aiconfigurator", "--model", "llama-3-8b", "--hardware", "h100-sxm",
        "--prompt", "2048", "-q", "ttft", "-o",
    )  # fmt: skip
    from tests.cli import call

    outcome = call(*sides, tmp_path / "way.svg")
    assert (outcome.code, outcome.out[:10]) == (0, "ttft goes ")
    assert (tmp_path / "way.svg").read_bytes().startswith((b"<?xml", b"<svg"))
    assert "no picture ends in '.gif'" in refused(*sides, tmp_path / "way.gif")
    assert "there is no folder" in refused(*sides, tmp_path / "none" / "way.svg")
    assert good(*sides[:-1], "--json").json["schema"] == "symroof/diff/2"
