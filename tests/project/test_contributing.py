"""What CONTRIBUTING names is there: every file of an addition, and every name that its entry writes."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
PATH = re.compile(
    r"`(?:((?:symroof|specs|templates|tests|tools|docs|reports|schema)/[\w./-]*|pyproject\.toml)"
    r"|([a-z]\w*\.(?:py|j2|js|md)))`"
)
ENTRIES = dict(re.findall(r"^- \*\*(.+?)\*\*(.*?)(?=\n- |\n\n|\Z)", CONTRIBUTING, re.S | re.M))
"""The additions of the page by name."""


def paths(text):
    """Every path in a text, in backquotes: of a file or folder of the repository, or a file beside the one named before it."""
    found, folder = [], ""
    for path, name in PATH.findall(text):
        found.append(path or f"{folder}/{name}")
        folder = found[-1].rpartition("/")[0]
    return found


def files(path):
    """The files that a path stands for: ``NAME`` for any name, a folder for the files in it."""
    return [*ROOT.glob(path.replace("NAME", "*") + "*" * path.endswith("/"))]


def test_every_addition_is_an_entry():
    assert CONTRIBUTING.count("\n- **") == len(ENTRIES) > 20


@pytest.mark.parametrize(
    "path", sorted({path for text in CONTRIBUTING.split("\n- ") for path in paths(text)})
)
def test_every_file_that_the_page_names_is_there(path):
    assert files(path)


@pytest.mark.parametrize("entry", ENTRIES)
def test_every_name_that_an_entry_writes_stands_in_a_file_it_names(entry):
    named = [file for path in paths(ENTRIES[entry]) for file in files(path) if file.is_file()]
    text = "\n".join(file.read_text(encoding="utf-8") for file in named)
    for name in re.findall(r"`([A-Z_]{4,})`", ENTRIES[entry]):
        assert re.search(rf"\b{name}\b", text), f"{name} is in none of {named}"
