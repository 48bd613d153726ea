"""One pass over a Markdown text: where blocks, rows, comments and code begin and end, counted by hand."""

import pytest

from symroof.claims.read.markdown import MarkdownScan, line_starts


def walk(text):
    one = MarkdownScan(text)
    return one.breaks[1:], sorted(one.rows)


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("text", "breaks", "rows"),
    [
        ("a\nb", [], []), ("a\n\nb", [3], []), ("a\n \t\nb", [5], []), ("# H\nx", [0, 4], []), ("a\n## H\nx", [2, 7], []), ("#H\nx", [], []), ("####### H", [], []),
        ("- a\n- b", [2, 6], []), ("1. a\n12) b", [3, 9], []), ("a - b", [], []), ("T\n===\nx", [6], []), ("T\n---\nx", [6], []), ("***\nx", [4], []),
        ("| a |\n|---|\n| 1 |\n| 2 |\n\nx", [12, 12, 18, 25], [12, 18]), ("a | b\n---|---\n1 | 2\nx", [14, 14, 20], [14, 20]), ("|\n| 1 |", [2], []), ("| a |\n|---|\n\n| 1 |", [12, 13], []),
        ("> a\n>\n> b", [6], []),
    ],
)  # fmt: skip
def test_where_blocks_begin(text, breaks, rows):
    """Behind an empty line, an item's marker, a heading and a rule; every row of a table, up to the next empty line."""
    assert walk(text) == (breaks, rows)


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("~~~\nx\n~~~\ny", [(0, 4), (4, 6), (6, 10)]), ("```\nx\n", [(0, 4), (4, 6)]), ("~~~\n~~\n~~~~\ny", [(0, 4), (4, 7), (7, 12)]), ("```\n``` x\n```\n", [(0, 4), (4, 10), (10, 14)]),
        ("~~~\n```\n~~~\ny", [(0, 4), (4, 8), (8, 12)]), ("~~ x", []), ("- ```\n  x\n  ```\ny", [(0, 6), (6, 10), (10, 16)]), ("``` a`b\nx", []),
        ("x\n\n    y\n    z\n\n    w\nv", [(3, 9), (9, 15), (16, 22)]), ("x\n    y", []), ("    y", [(0, 5)]), ("\ty", [(0, 2)]), ("   y", []), ("x\n\n\ty", [(3, 5)]),
        ("- a\n\n    y", []), ("- a\n\ny\n\n    z", [(8, 13)]), ("- a\ny\n\n    z", []), ("- a\n\n y\n\n    z", []), ("- a\n\n    y\n\nz\n\n    w", [(15, 20)]),
    ],
)  # fmt: skip
def test_where_code_lies(text, code):
    """Between fences, the second as long as the first at least, or set in behind an empty line and in no item."""
    assert MarkdownScan(text).code == code


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("text", "comments", "unclosed"),
    [
        ("a <!-- b --> c", [(2, 12)], None), ("<!-- a --><!-- b -->", [(0, 10), (10, 20)], None), ("a <!-- b", [(2, 8)], 2), ("<!-- a --> <!-- b", [(0, 10), (11, 17)], 11),
        ("<!-->x-->", [(0, 5)], None), ("a <!-- b\nc --> d\ne", [(2, 14)], None), ("a <!-- b\n\nc --> d", [(2, 15)], None), ("<!--\n```\n-->\nx", [(0, 12)], None),
        ("`<!-- a -->` b", [], None), ("a `b` c", [], None), ("a ``b` c`` d", [], None), ("`a\n\nb`", [], None), ("`a\nb`", [], None),
        ("a \\` b `", [], None), ("\\<!-- a -->", [], None), ("` a <!-- b -->", [(4, 14)], None), ("<!-- ` --> a `b`", [(0, 10)], None), ("`a` `b`", [], None),
        ("~~~\n<!-- a -->\n~~~\n<!-- b -->", [(19, 29)], None), ("x\n\n    <!-- a -->", [], None),
    ],
)  # fmt: skip
def test_where_comments_lie(text, comments, unclosed):
    """One in a span of code is none."""
    one = MarkdownScan(text)
    assert (one.comments, one.unclosed) == (comments, unclosed)


def test_what_stands_behind_a_comment_of_several_lines_goes_on_in_its_paragraph():
    """Neither a heading nor an item begins there; the next line may be either."""
    assert walk("<!-- a\n--> # H\n# I") == ([15, 18], [])
    assert walk("<!-- a\n--> - b\n- c") == ([17], [])


@pytest.mark.parametrize(
    ("text", "starts"),
    [
        ("", [0]),
        ("a", [0]),
        ("a\n", [0]),
        ("a\nb", [0, 2]),
        ("a\r\nb\rc\n\nd", [0, 3, 5, 7, 8]),
        ("\n\n", [0, 1]),
    ],
)
def test_where_lines_begin(text, starts):
    assert line_starts(text) == starts
