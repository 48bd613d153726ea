"""The rendered samples under ``reports/samples/`` are what their studies give today."""

import re

import pytest

from tools.samples import SAMPLES

from . import FORMATS, ROOT, made

pytestmark = pytest.mark.full

FOLDER = ROOT / "reports" / "samples"
STALE = "stale: python tools/samples.py, and read what changed"


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("stem", SAMPLES)
def test_a_sample_is_what_its_study_gives(stem, kind):
    sample, fresh = (folder / f"{stem}.{kind}" for folder in (FOLDER / stem, made(stem)))
    assert sample.read_bytes() == fresh.read_bytes(), STALE


@pytest.mark.parametrize("stem", SAMPLES)
def test_a_sample_has_the_same_files_but_the_pictures_of_its_pdf(stem):
    kept = {path.name for path in (FOLDER / stem).iterdir()}
    assert kept == {path.name for path in made(stem).iterdir() if path.suffix != ".pdf"}


@pytest.mark.parametrize("stem", SAMPLES)
def test_the_figures_of_a_sample_say_the_same(stem):
    """Their lines may differ between versions of the plotting library; their words may not."""
    figures = sorted(path.name for path in made(stem).glob("*.svg"))
    assert figures
    for name in figures:
        words = [
            re.findall(r"<desc>(.*?)</desc>", (folder / name).read_text(encoding="utf-8"), re.S)
            for folder in (FOLDER / stem, made(stem))
        ]
        assert words[0] == words[1]
        assert words[1]


def test_nothing_else_lies_there():
    assert {path.name for path in FOLDER.iterdir()} == set(SAMPLES)
