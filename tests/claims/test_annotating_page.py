"""The guide to annotations is its own fixture: every example on the page is checked and gives the verdict that is printed under it."""

import re
from pathlib import Path

import pytest

from symroof.claims.check import check, check_text
from symroof.theory.quantities import QUANTITIES
from symroof.theory.symbols import INPUTS

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "annotating-notes.md").read_text(
    encoding="utf-8"
)
EXAMPLE = re.compile(
    r"^```(markdown|latex)\n(.*?)^```\n\n(Verdicts|Refused): ([^\n]+)$", re.DOTALL | re.MULTILINE
)
EXAMPLES = [match.groups() for match in EXAMPLE.finditer(PAGE)]
SAYS = {
    "right": r"right is `([^`]+)`",
    "slip": r"slip `([^`]+)`",
    "needs": r"needs `([^`]+)`",
    "flag": r"flag `([^`]+)`",
}
"""What the page may say behind a verdict, each held against the claim where it does."""


def test_no_example_is_left_out():
    assert (
        len(EXAMPLES)
        == len(re.findall(r"^```(?:markdown|latex)$", PAGE, re.MULTILINE))
        == len(re.findall(r"^(?:Verdicts|Refused): ", PAGE, re.MULTILINE))
    )
    assert (
        sum(len(printed.split("; ")) for *_, kind, printed in EXAMPLES if kind == "Verdicts") >= 36
    )


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("form", "text", "kind", "printed"),
    EXAMPLES,
    ids=[text.split("<!--")[0][:40] or text[:40] for _, text, *_ in EXAMPLES],
)
def test_an_example_gives_what_is_printed_under_it(form, text, kind, printed, tmp_path):
    note = tmp_path / ("note.md" if form == "markdown" else "note.tex")
    note.write_text(text, encoding="utf-8")
    report = check(str(note), read_past_errors=True)
    parts = printed.split("; ")
    if kind == "Refused":
        assert all(
            said.strip("`") in problem.message
            for said, problem in zip(parts, report.problems, strict=True)
        )
        return
    assert not report.problems
    assert [claim.verdict for claim in report.claims] == [part.split("`")[1] for part in parts]
    for claim, part in zip(report.claims, parts, strict=True):
        said = {
            name: match[1] for name, pattern in SAYS.items() if (match := re.search(pattern, part))
        }
        slips = [slip.slip for slip in claim.slips[:1] if slip.named]
        found = {
            "right": claim.derived,
            "slip": slips[0] if slips else "",
            "needs": claim.assumptions_needed,
            "flag": claim.flags,
        }
        for name, value in said.items():
            assert value == found[name] or value in found[name]


def test_the_names_on_the_page_exist_and_have_its_units():
    table = PAGE.partition("## Quantities to use most")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (`[^|]*) \|([^|]*)\|", table, re.MULTILINE)
    assert len(rows) > 15
    for names, units in rows:
        listed = re.findall(r"`(\w+)`", names)
        every = units.strip().split(", ") if ", " in units else [units.strip()] * len(listed)
        for name, unit in zip(listed, every, strict=True):
            assert (QUANTITIES.get(name) or INPUTS[name]).unit == unit


def test_the_page_itself_has_no_findings():
    """Its examples stand in blocks of code, and nothing else on it is a claim."""
    assert check_text(PAGE, "annotating-notes.md").claims == ()
