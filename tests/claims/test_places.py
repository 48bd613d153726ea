"""Whatever is read out of a note stands where it says: each character of a block, each number, each cell, each annotation."""

from pathlib import Path

import pytest

from symroof.claims.read.markdown import blocks, line_starts, passages, scanned
from symroof.claims.read.markdown_notes import read_note

ODD = """\
---
title: 3 GB
---
# Memory of `x` <!-- one --> and more

> Quoted: 1.34 GB <!-- symroof: kv_cache_bytes model=llama-3-70b prompt=4096 --> of **cache**,
> and <!-- two --> 2.68 GB <!-- symroof: kv_cache_bytes model=llama-3-70b prompt=8192 -->.

1. An item with 141 GB <!-- symroof: weight_bytes model=llama-3-70b -->
   that goes on: 6 × 70.6B × 2,000 = 847 <!-- three

   over a blank --> end.
2. `code 5 GB` and ~~~ no fence.

| batch | cache (GB) <!-- symroof: kv_cache_bytes model=llama-3-70b prompt=4096 --> | note |
|---|---:|---|
| 1 | 1.34 | a\\|b |
| 2 | **2.68** | |
| total | 4.02 |

~~~
100 GB <!-- symroof: nothing -->
~~~
Title
=====
Last, é ü 中 3.35 TB/s. <!-- symroof: mem_bandwidth hardware=h100-sxm -->"""
NOTES = {"odd": ODD, "odd, CRLF": ODD.replace("\n", "\r\n"), "odd, CR": ODD.replace("\n", "\r")}
NOTES["post"] = (Path(__file__).resolve().parents[2] / "docs" / "blog-post.md").read_text(
    encoding="utf-8"
)


@pytest.mark.parametrize("name", NOTES)
def test_prose_is_as_long_as_the_file(name):
    text = NOTES[name]
    prose = scanned(text).prose
    assert len(prose) == len(text)
    assert all(one in (" ", other) for one, other in zip(prose, text, strict=True))
    for start, paragraph in blocks(text):
        assert prose[start : start + len(paragraph)] == paragraph


@pytest.mark.parametrize("name", NOTES)
def test_passages_and_comments_stand_where_they_say(name):
    text = NOTES[name]
    for passage in passages(text):
        assert text[passage.at :].startswith(passage.comment)
        assert text[passage.ends - 3 : passage.ends] == "-->"
        assert all(
            one in (" ", other)
            for one, other in zip(passage.prose, text[passage.start :], strict=False)
        )


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_paragraph_goes_on_over_the_end_of_a_line_of_any_kind(end):
    """A span of code does too; both end at an empty line."""
    (passage,) = passages(f"One 1 GB{end}two. <!-- symroof: kv_cache_bytes -->{end}")
    assert passage.prose == f"One 1 GB{end}two. "
    (passage,) = passages(f"One 1 GB{end} {end}two. <!-- symroof: kv_cache_bytes -->{end}")
    assert passage.prose.strip() == "two."
    assert not list(passages(f"`1 GB{end}<!-- symroof: kv_cache_bytes -->`"))
    assert len(list(passages(f"`1 GB{end} {end}<!-- symroof: kv_cache_bytes -->`"))) == 1


CLAIM = "1 GB <!-- symroof: kv_cache_bytes -->"


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("text", "read"),
    [
        (f"x\n\n    {CLAIM}", False),  # indented code
        (f"x\n\n\t{CLAIM}", False),
        (f"x\n    {CLAIM}", True),  # the same paragraph
        (f"x\n\n    y\n    {CLAIM}", False),
        (f"x\n\n    y\n\n    {CLAIM}", False),
        (f"x\n\n    y\n{CLAIM}", True),
        (f"- a\n\n    {CLAIM}", True),  # a paragraph of the item
        (f"- a\nb\n\n    {CLAIM}", True),  # which went on in a line that is not indented
        (f"- a\n\nb\n\n    {CLAIM}", False),  # and ended with a paragraph that is not
        (f"- a\n\n  b\n\n    {CLAIM}", True),
        (f"~~~\nx\n~~~~\n{CLAIM}", True),
        (f"~~~~\nx\n~~~\n{CLAIM}", False),
        (f"~~~\nx\n```\n{CLAIM}", False),
        (f"~~~\nx\n~~~ y\n{CLAIM}", False),
        (f"``` `x\n{CLAIM}", True),  # no fence: backticks behind it
    ],
)
def test_claims_in_code_are_not_read(text, read):
    assert len(list(passages(text))) == read


def test_lines_begin_behind_each_kind_of_end():
    assert line_starts("a\nb\r\nc\rd") == [0, 2, 5, 7]
    assert line_starts("a\n\n\r\n") == [0, 2, 3]
    assert line_starts("") == [0]


def test_claims_stand_at_their_numbers_and_are_named_after_their_lines():
    for name, end in (("odd", "\n"), ("odd, CRLF", "\r\n"), ("odd, CR", "\r")):
        note, lines = read_note(NOTES[name], "note.md"), NOTES[name].split(end)
        shown = [
            (line, lines[line - 1][column - 1 :][: len(figure.digits)], figure.digits)
            for (line, column), figure in zip(note.places, note.figures, strict=True)
        ]
        expected = [
            (6, "1.34"),
            (7, "2.68"),
            (9, "141"),
            (17, "1.34"),
            (18, "2.68"),
            (19, "4.02"),
            (26, "3.35"),
        ]
        assert shown == [(line, digits, digits) for line, digits in expected]
        assert [claim["id"] for claim in note.document.data["claims"]] == [
            f"L{line}" for line, *_ in shown
        ]
        assert not note.problems


def test_a_passage_of_markdown_is_no_longer_than_it_may_be():
    (long,) = passages("x" * 1300 + "<!-- symroof: kv_cache_bytes -->")
    assert (len(long.prose), long.start) == (1200, 100)
    (open_,) = passages("1 GB <!-- symroof: kv_cache_bytes " + "x" * 3000)
    assert (open_.closed, len(open_.comment)) == (False, 1196 - 1)
    (lost,) = passages("<!-- old <!-- symroof: kv_cache_bytes --> 3")
    assert (lost.swallowed, lost.at) == (True, 9)
    (row,) = passages("| a | b |\n|---|---|\n| 1 GB | 2 GB <!-- symroof: kv_cache_bytes --> |")
    assert (row.prose, row.row) == (" 2 GB ", "| 1 GB | 2 GB ")
    (whole,) = passages("| a | b |\n|---|---|\n| 1 GB | <!-- symroof: kv_cache_bytes --> |")
    assert (whole.prose, whole.row) == ("| 1 GB | ", "| 1 GB | ")
