"""The README and the pages of the site: their commands run and print what is shown, and the site has every command, key and public name."""

import re

import pytest

import symroof as sr
from symroof.cli.main import COMMANDS
from symroof.specs.study import StudySpec
from tools.docs import ROOT, examples, reference_pages

README = ROOT / "README.md"
TEXTS = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in examples.pages()}
STALE = "stale: python -m tools.docs, and read what changed"


@pytest.mark.full
@pytest.mark.parametrize(
    "page", [page for page, text in TEXTS.items() if any(examples.parts(text))]
)
def test_commands_print_what_the_page_shows(page):
    for example, code, output in examples.outcomes(TEXTS[page]):
        assert code == example.code, f"{example.command}\n{output}"
        assert example.shown is None or examples.cut(output, example.shown) == example.shown, STALE


def test_the_readme_opens_with_two_commands_and_is_short():
    head = README.read_text(encoding="utf-8").split("\n\n", 2)[1]
    first, second = re.findall(r"^```sh\n(.*?)^```$", head, flags=re.DOTALL | re.MULTILINE)
    assert "symroof report specs/studies/" in first
    assert second.strip().endswith("-m pytest")
    assert len(TEXTS["README.md"].split()) <= 600


@pytest.mark.sample(1)
@pytest.mark.parametrize("page", TEXTS)
def test_links_between_pages_lead_somewhere(page):
    """Sphinx checks them as well, but not the README's, nor that a page is written by hand or listed as generated."""
    for target in re.findall(
        r"\]\(([^)#\s:]+)(?:#[^)]*)?\)",
        re.sub(r"^```.*?^```$", "", TEXTS[page], flags=re.DOTALL | re.MULTILINE),
    ):
        path = (ROOT / page).parent / target
        assert path.exists() or (
            path.parent.name == "generated" and path.stem in reference_pages.pages()
        ), target


def test_every_figure_of_the_readme_on_accuracy_is_on_the_page_it_links_to():
    told = TEXTS["README.md"].partition("## Accuracy")[2].partition("\n## ")[0]
    rows = re.findall(r"^\|(.+\d%.+)\|$", told, flags=re.MULTILINE)
    page = (ROOT / "docs" / "measured.md").read_text(encoding="utf-8")
    assert len(rows) == 3
    assert [row for row in rows if row not in page] == []
    served = re.search(r"None of ([\d,]+) published", told)[1]
    assert f"with {served} published" in (ROOT / "docs" / "serving.md").read_text(encoding="utf-8")


def test_the_tables_of_the_readme_name_commands_that_exist():
    named = set(re.findall(r"`symroof (\w+)", TEXTS["README.md"]))
    assert named <= set(COMMANDS)
    assert len(named) >= 12


# ---------------------------------------------------------------------------------------------------- pages of the reference


def test_the_reference_has_every_command():
    page = "\n".join(reference_pages.cli())
    assert [name for name in COMMANDS if f"## symroof {name}\n" not in page] == []


def test_the_study_page_explains_every_key():
    page = TEXTS["docs/reference/study-file.md"]
    assert [key for key in StudySpec.model_fields if f"| `{key}` |" not in page] == []


def test_the_python_page_has_every_public_name():
    page = TEXTS["docs/reference/python.md"]
    assert [name for name in sr.__all__ if name not in page and name != "__version__"] == []
