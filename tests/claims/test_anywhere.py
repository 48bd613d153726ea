"""What is read of a passage is the same wherever it stands in its text: places move with it, and nothing that is far before it counts."""

from dataclasses import replace

import pytest

from symroof.claims.read.markdown import blocks, passages
from symroof.claims.read.markdown_notes import read_note
from symroof.claims.read.spelled_arithmetic import equations
from symroof.claims.read.tables import tables

LENGTHS = (0, 1, 2, 3, 5, 7, 8, 11, 13, 17, 18, 19, 28, 40, 41, 59, 61, 90, 121, 259, 261, 301)
BEFORE = ["z" * length + ". " for length in LENGTHS]

ARITHMETIC = [
    "6 × 70.6B × 2,000 = 282", "(2 + 3) × 4 = 20", "2 × (3 + 4) = 13", "141 GB / 80 GB = 2 GPUs", "16 GB = 8B × 2 bytes", "100 - 20 = 70", "n × 80 × 2 = 320", "√2 × 3 = 7", "((2 + 3) × 4) = 20",
    "2 × 3 = 6 and 3 × 4 = 13 ms",
]  # fmt: skip


@pytest.mark.sample(5)
@pytest.mark.parametrize("text", ARITHMETIC)
def test_calculations(text):
    plain = equations(text)
    for before in BEFORE:
        assert [(one.shifted(0), one.text, one.source) for one in equations(before + text)] == [
            (one.shifted(len(before)), one.text, one.source) for one in plain
        ]


NOTE = """# A head of 3 GB

Takes **1.34 GB** <!-- symroof: kv_cache_bytes model=llama-3-70b prompt=4096 --> of it. <!-- x --> `5 GB <!-- y -->` and
2 × 3 = 7 ms <!-- symroof: itl --> [6 GB](http://a.b/c).

> quoted 4 GB <!-- symroof: weight_bytes batch=1 -->

| batch | cache (GB) <!-- symroof: kv_cache_bytes prompt=1 --> |
|---|---|
| 1 | 1.34 | <!-- symroof: weight_bytes -->
| total | 4.02 |

- an item of 9 GB <!-- symroof: weight_bytes

~~~
3 GB <!-- symroof: weight_bytes -->
~~~
"""
PARAGRAPHS = ["", "z\n\n", "zzzz zzz.\n\nz\n\n", "z" * 1300 + "\n\n"]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("before", PARAGRAPHS)
def test_the_passages_of_a_note(before, end):
    text, before = NOTE.replace("\n", end), before.replace("\n", end)
    by, whole = len(before), before + text
    assert list(passages(whole)) == [
        replace(one, start=one.start + by, at=one.at + by, ends=one.ends + by if one.ends else 0)
        for one in passages(text)
    ]
    assert [(low - by, prose) for low, prose in blocks(whole)][-len(list(blocks(text))) :] == list(
        blocks(text)
    )
    assert [(one.head[0].start - by, one.end - by) for one in tables(whole)] == [
        (one.head[0].start, one.end) for one in tables(text)
    ]


def test_the_claims_of_a_note():
    """So many lines further down."""
    plain = read_note(NOTE, "n.md")
    for before in PARAGRAPHS[1:]:
        lines, moved = before.count("\n"), read_note(before + NOTE, "n.md")
        assert [(line - lines, column) for line, column in moved.places] == list(plain.places)
        assert [figure and figure.start - len(before) for figure in moved.figures] == [
            figure and figure.start for figure in plain.figures
        ]
        assert [
            (problem.line - lines, problem.column, problem.message) for problem in moved.problems
        ] == [(problem.line, problem.column, problem.message) for problem in plain.problems]
        assert [value for key, value in moved.wrong_arithmetic.items()] == [
            value for key, value in plain.wrong_arithmetic.items()
        ]
