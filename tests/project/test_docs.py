"""The pages of tables under ``docs/`` are what their commands say today."""

from pathlib import Path

import pytest

from tools.docs import notebook, tables

pytestmark = pytest.mark.full

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.mark.parametrize("source", tables.sources(), ids=lambda path: path.stem)
def test_a_page_is_what_its_commands_say(source):
    page = source.with_suffix(".md")
    assert page.read_text(encoding="utf-8") == tables.page(source), "stale: python -m tools.docs"


def test_the_exercises_have_the_answers_worked_out_by_hand():
    """First order: N b_w/2 R eta_c = 256 * 989/3.35 * 0.5 = 37,788.7; with the 131,072-byte cache of a token the slope falls by
    256 * 131,072 B over 3.35 TB/s against 2 * 8.03e9 FLOP over 494.5 TFLOP/s: 54,640.2."""
    text = (DOCS / "validation" / "exercises.md").read_text(encoding="utf-8")
    first = 256 * 989 / 3.35 * 0.5
    compute, cache, weights = (
        2 * 8.03e9 / 494.5e12,
        256 * 131_072 / 3.35e12,
        256 * 16.06e9 / 3.35e12,
    )
    for crossing in (first, weights / (compute - cache)):
        assert f"| {int(crossing) + 1:,} |" in text
    assert compute < 256 * 585_332 / 3.35e12  # the tool's cache of a token: never
    assert "| as the tutorial's tool counts | never |" in text


def test_the_notebook_runs_and_is_what_its_text_says():
    """Batch where the cache weighs as much as the weights: 8,030,261,248 * 2 / (4,096 * 131,072) = 29.9; the slope falls with the square of the prompt."""
    text = (DOCS / "notebook.ipynb").read_text(encoding="utf-8")
    space = {}
    assert text == notebook.run_again(text, space), "stale: python -m tools.docs"
    assert float(space["here"].value) == pytest.approx(8_030_261_248 * 2 / (4096 * 131_072))
    assert space["slope"].xreplace(space["study"].values(quantities=True)) == pytest.approx(
        -8_030_261_248 * 2 / (4096**2 * 131_072)
    )
    assert space["grid"].step_share.sel(batch=8, prompt=4096) == pytest.approx(
        space["study"].value("itl") / 8
    )
    assert "<svg" in space["picture"]._repr_svg_()
