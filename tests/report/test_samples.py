"""The rendered samples under ``reports/`` are what the studies give today."""

import re

import pytest

from . import FORMATS, ROOT, STEMS, made

SAMPLES = ROOT / "reports"


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("stem", STEMS)
def test_a_sample_is_what_its_study_gives(stem, kind):
    sample = SAMPLES / stem / f"{stem}.{kind}"
    assert sample.is_file(), (
        f"missing: symroof report specs/studies/{stem}.yaml -o reports/{stem} --format {','.join(FORMATS)} --full"
    )
    fresh = (made(stem) / f"{stem}.{kind}").read_bytes()
    assert sample.read_bytes() == fresh, (
        f"stale: symroof report specs/studies/{stem}.yaml -o reports/{stem} --format {','.join(FORMATS)} --full"
    )


@pytest.mark.parametrize("stem", STEMS)
def test_a_sample_has_the_same_files(stem):
    assert sorted(path.name for path in (SAMPLES / stem).glob("*")) == sorted(
        path.name for path in made(stem).iterdir()
    )


@pytest.mark.parametrize("stem", STEMS)
def test_the_figures_of_a_sample_say_the_same(stem):
    """Their lines may differ between versions of the plotting library; their words may not."""
    figures = sorted(path.name for path in made(stem).glob("*.svg"))
    assert figures
    for name in figures:
        words = [
            re.findall(r"<desc>(.*?)</desc>", (folder / name).read_text(encoding="utf-8"), re.S)
            for folder in (SAMPLES / stem, made(stem))
        ]
        assert words[0] == words[1]
        assert words[1]


def test_every_sample_belongs_to_a_study():
    folders = (
        {path.name for path in SAMPLES.iterdir() if path.is_dir()} if SAMPLES.is_dir() else set()
    )
    assert folders <= set(STEMS)
