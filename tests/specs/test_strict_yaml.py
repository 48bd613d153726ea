"""Hostile YAML: read or refused, never anything else, and every refusal has its place."""

import ast
import os
import random
import re
import time
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symroof.errors import InputError
from symroof.strict_yaml import load, loads

from ..tables import words
from . import problems

PIECES = r"""
"a" "b: " "- " ": " "\n" "\n  " "\n- " "&x " "*x" "!!python/object:os.system " "!t " "\n---\n"
"%YAML 1.1\n" "? " "<<: " "\t" "\0" "\a" "é" "\u2028" "\x85" "\ufeff" "\ud800" "😀" "1:30" "2024-01-01"
"""
PIECES = [ast.literal_eval(piece) for piece in re.findall(r'"[^"]*"', PIECES)]
PIECES += words(
    "{ } [ ] , | > ... ' \" # yes no on null ~ 1 01 0x1 1e999 3.35e12 .inf = @ ` \\ 1_000 0.1"
)


def check_problems(text):
    """Whatever is refused has a message and a place; an empty text has a test of its own."""
    for problem in problems(text):
        assert problem.message
        if problem.message == "is empty":
            continue
        assert problem.line is not None, problem
        assert problem.line >= 1
        assert problem.column >= 1
        assert str(problem).startswith(f"<text>:{problem.line}:{problem.column}: ")


@given(st.text(max_size=120))
def test_any_text_is_read_or_refused(text):
    check_problems(text)


def test_any_pile_of_yaml_is_read_or_refused():
    draw = random.Random("piles of YAML")
    for _ in range(2000):
        check_problems("".join(draw.choices(PIECES, k=draw.randint(1, 30))))


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(tmp_path_factory, raw):
    path = tmp_path_factory.getbasetemp() / "bytes.yaml"
    path.write_bytes(raw)
    try:
        load(path)
    except InputError as error:
        assert str(path) in str(error)


# -------------------------------------------------------------------------------------------------------- each refusal

REFUSED = [
    ("a: 1\na: 2", 2, 1, "duplicate key"),
    ("a: {b: 1, b: 2}", 1, 11, "duplicate key"),
    ("a: 1\n'a': 2", 2, 1, "duplicate key"),
    ("a: &x 1\nb: 2", 1, 4, "anchors"),
    ("a: [1]\nb: *x", 2, 4, "alias"),
    ("a: !!python/object/apply:os.system ['ls']", 1, 4, "tags"),
    ("a: !!str 1", 1, 4, "tags"),
    ("a: yes", 1, 4, "ambiguous"),
    ("a: No", 1, 4, "ambiguous"),
    ("a:\n  - y", 2, 5, "ambiguous"),
    ("a: 007", 1, 4, "leading zero"),
    ("a: 1e999", 1, 4, "out of range"),
    ("a: 1\n---\nb: 2", 2, 1, "more than one document"),
    ("a:\n\t- 1", 2, 1, "YAML"),
    ("a: [1, 2", None, None, "YAML"),
    ("a: 'open", None, None, "YAML"),
    ("? [1, 2]\n: 3", 1, 3, "single word"),
    ("a: \0", 1, 4, "U+0000"),
    ("a: 1\nb: [\n  x\x85, y\x01]", 4, 4, "U+0001"),
    ("a: b: c", 1, 5, "YAML"),
    ("a:b\nc: 1", 1, 3, "a blank is missing after a:"),
    ("a:\nb\nc: 1", 3, 1, "YAML"),
    ("a: @b", 1, 4, "YAML"),
    ("[" * 50 + "]" * 50, 1, 41, "deep"),
    ("a: " + "{b: " * 60 + "1" + "}" * 60, 1, None, "deep"),
]


@pytest.mark.sample(5)
@pytest.mark.parametrize(("text", "line", "column", "message"), REFUSED)
def test_refused_with_its_place(text, line, column, message):
    found = problems(text)
    assert found
    assert message in found[0].message
    assert found[0].line == line if line else found[0].line >= 1
    assert found[0].column == column if column else found[0].column >= 1


def test_every_problem_of_a_file_in_one_run():
    found = problems("a: yes\nb: 007\nc: {d: 1, d: 2}\ne: 1e999\n")
    assert [(p.line, p.path) for p in found] == [(1, "a"), (2, "b"), (3, "c.d"), (4, "e")]


def test_an_error_shows_the_line_and_a_caret():
    with pytest.raises(InputError) as error:
        loads("title: x\nfits: yes\n", "study.yaml")
    place, line, caret, hint = str(error.value).splitlines()
    assert place == "study.yaml:2:7: fits: 'yes' is ambiguous"
    assert line.strip() == "fits: yes"
    assert caret.index("^") == line.index("yes")
    assert hint.strip() == "hint: write true or false, or quote the text: 'yes'"


# -------------------------------------------------------------------------------------------------------------- numbers


SCALARS = {"0.1": Fraction(1, 10), "3.35e12": 3350 * 10**9, "1e-3": Fraction(1, 1000), "-5": -5}
SCALARS |= {".5": Fraction(1, 2), "1.": 1, "0": 0, "+7": 7, "70_000": 70_000, "1e5": 100_000}
SCALARS |= {"true": True, "null": None, "~": None, "'1'": "1", "'yes'": "yes"}
SCALARS |= {text: text for text in ("on", "0x1F", "1:30", ".inf", ".nan", "2024-06-27", "1,024")}


def test_scalars():
    for text, value in SCALARS.items():
        found = loads(f"a: {text}").data["a"]
        assert found == value, text
        assert type(found) is type(value) or isinstance(found, Fraction), text


# ---------------------------------------------------------------------------------------------------------------- files


def refused(path, message):
    with pytest.raises(InputError, match=message):
        load(path)


LARGE = {
    "10 MB": "a: " + "x" * 10_000_000,
    "many values": "- 1\n" * 240_000,
    "brackets": "[" * 900_000,
    "a long key": "a" * 999_000 + ": 1",
    "nested lists": "- [" * 300_000,
    "blank lines": "'" + "\n" * 900_000,
    "question marks": "? " * 400_000,
    "a long block": "a: |\n" + " x\n" * 300_000,
}


@pytest.mark.parametrize("text", LARGE.values(), ids=LARGE)
def test_large_files_cost_little(tmp_path, text):
    path = tmp_path / "large.yaml"
    path.write_text(text)
    start = time.process_time()
    try:
        load(path)
    except InputError as error:
        assert len(str(error)) < 2000
    assert time.process_time() - start < 5


def test_files_that_cannot_be_read(tmp_path):
    refused(tmp_path, "directory")
    refused(tmp_path / "missing.yaml", "cannot be read")
    refused(tmp_path / ("x" * 300), "cannot be read")
    refused(tmp_path / "a\0b", "not a file name")
    (tmp_path / "latin.yaml").write_bytes(b"title: caf\xe9\n")
    refused(tmp_path / "latin.yaml", "UTF-8")
    (tmp_path / "wide.yaml").write_bytes("a: 1".encode("utf-16"))
    refused(tmp_path / "wide.yaml", "UTF-8|YAML")
    (tmp_path / "zeros.yaml").write_bytes(b"a: 1\0\0\0")
    refused(tmp_path / "zeros.yaml", "YAML")
    os.mkfifo(tmp_path / "pipe.yaml")
    refused(tmp_path / "pipe.yaml", "is a pipe")
    (tmp_path / "loop.yaml").symlink_to("loop.yaml")
    refused(tmp_path / "loop.yaml", "cannot be read")
