"""The pages of tables under ``docs/`` are what their commands say today."""

from pathlib import Path

import pytest

from tools.docs import notebook, tables

pytestmark = pytest.mark.full

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.mark.parametrize("source", tables.sources(), ids=lambda path: path.stem)
def test_a_page_is_what_its_commands_say(source):
    page = tables.target(source)
    assert page.read_text(encoding="utf-8") == tables.page(source), "stale: python -m tools.docs"


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
