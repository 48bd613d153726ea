"""Claims in Markdown cells of notebooks: every number in its own line of the file."""

import json

import pytest

from symroof.claims.check import check_text
from symroof.claims.markdown import read_note
from symroof.errors import InputError

GIVEN = "<!-- symroof: given model=llama-3-70b kv=fp16 -->"
WRONG = "A prompt of 4,096 tokens takes 10.7 GB, <!-- symroof: kv_cache_bytes prompt=4096 -->"  # 4,096 times 327,680 byte is 1.34 GB
RIGHT = "and 🚀 a \"token\" 328\u202fkB \\\\(or $0.328\\,\\text{MB}$). <!-- symroof: kv_bytes_per_token value='328 kB' -->"
TABLE = [
    "| prompt | KV cache |",
    "|---|---|",
    "| 2,048 | 0.67 GB <!-- symroof: kv_cache_bytes prompt=2048 --> |",
    "| 8,192 | 2.9 GB <!-- symroof: kv_cache_bytes prompt=8192 --> |",
]


def cell(*lines, kind="markdown", whole=False):
    source = "\n".join(lines)
    return {
        "cell_type": kind,
        "metadata": {},
        "source": source if whole else source.splitlines(keepends=True),
    }


def book(whole=False):
    cells = [
        cell("# Sizing", "", GIVEN, whole=whole),
        {
            **cell("print(10.7)  # <!-- symroof: itl -->", kind="code", whole=whole),
            "outputs": [{"text": ["9.9 GB"], "data": [10**400, None, "y"]}],
        },
        cell(WRONG, RIGHT, "", *TABLE, whole=whole),
    ]
    return {"nbformat": 4, "cells": cells, "metadata": {"source": "10.7 GB"}}


@pytest.mark.sample(5)
@pytest.mark.parametrize("ascii_only", [True, False])
@pytest.mark.parametrize("indent", [1, 4, None])
@pytest.mark.parametrize("whole", [True, False])
def test_a_notebook_is_read_cell_by_cell(indent, whole, ascii_only):
    text = json.dumps(book(whole), indent=indent, ensure_ascii=ascii_only)
    claims = check_text(text, "a.ipynb").claims
    assert [(claim.verdict, claim.claimed) for claim in claims] == [
        ("wrong", "10.7 GB"),
        ("rounded", "328 kB"),
        ("rounded", "0.67 GB"),
        ("wrong", "2.9 GB"),
    ]
    lines = text.splitlines()
    for claim, digits in zip(claims, ("10.7", "328", "0.67", "2.9"), strict=True):
        assert digits in lines[claim.line - 1]


def test_the_note_of_a_notebook_is_its_markdown_cells():
    text = json.dumps(book(), indent=1)
    note = read_note(text, "a.ipynb").prose
    assert "print" not in note and "9.9" not in note and "Sizing" in note


@pytest.mark.parametrize(
    ("text", "file", "message"),
    [
        ("{", "a.ipynb", "cannot be read as a notebook"),
        ("[" * 5000, "a.ipynb", "cannot be read as a notebook"),
        ("[]", "a.ipynb", "it has no cells"),
        ('{"cells": [{"cell": 3}]}', "a.ipynb", "it has no cells"),
        ('"""1 GB <!-- symroof: params -->"""', "a.py", "a .py file cannot hold claims"),
    ],
)
def test_a_file_that_is_none_says_so(text, file, message):
    with pytest.raises(InputError, match=message):
        check_text(text, file)
