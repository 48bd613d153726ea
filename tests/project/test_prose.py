"""Numbers in prose: those that follow an output are in that output, and counts are those of the catalogue."""

import re

import pytest

from tools.docs import ROOT, examples, prose


@pytest.mark.parametrize("page", examples.pages(), ids=lambda page: page.stem)
def test_numbers_in_prose_are_those_of_the_outputs_before_it(page):
    """To keep a number that is worked out from them, name it in a comment: <!-- computed: 1.43 -->."""
    text = page.read_text(encoding="utf-8")
    assert prose.unfounded(text.partition("## Accuracy")[0]) == {}


def test_a_number_that_no_output_has_is_found():
    page = "```console\n$ symroof x\n9.06 ms, share 0.819\nof 10 ms, 13 % more\n```\nIt takes 9 ms, 9.1 ms, 9.06 s, 8.9 ms, three at 82 %, 10 % more. <!-- computed: 9.06 s -->"
    assert [*prose.unfounded(page).values()] == [["8.9 ms", "three", "10 %"]]


@pytest.mark.parametrize("says", prose.COUNTED)
def test_counts_are_those_of_the_catalogue(says):
    pages = [ROOT / name for name in ("README.md", "CHANGELOG.md", "docs/index.md")]
    told = [re.findall(says, page.read_text(encoding="utf-8")) for page in pages]
    assert {int(count.replace(",", "")) for counts in told for count in counts} == {
        prose.COUNTED[says]()
    }
