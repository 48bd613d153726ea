"""Widths of letters against Adobe's own metrics, and texts cut to a width."""

from pathlib import Path

import matplotlib
import pytest
from hypothesis import given
from hypothesis import strategies as st

from symroof.drawing.text_metrics import shortened, text_width, wrapped

METRICS = Path(matplotlib.get_data_path()) / "fonts" / "afm"


def metrics(file):
    """Code of the standard encoding -> width, from an AFM file."""
    widths = {}
    for line in (METRICS / file).read_text(encoding="latin-1").splitlines():
        if line.startswith("C ") and not line.startswith("C -1"):
            code, width = line.split(";")[:2]
            widths[int(code.split()[1])] = int(float(width.split()[1]))
    return widths


@pytest.mark.parametrize(("file", "bold"), [("phvr8a.afm", False), ("phvb8a.afm", True)])
def test_every_ascii_letter_is_as_wide_as_adobe_says(file, bold):
    known, looked = metrics(file), 0
    for code in range(32, 127):
        if chr(code) not in "'`":  # the standard encoding has curly quotes there
            assert text_width(chr(code), 1000, bold) == known[code], chr(code)
            looked += 1
    assert looked == 93


def test_an_accent_takes_no_room_and_an_unknown_letter_takes_plenty():
    assert text_width("é", 10) == text_width("e", 10)
    assert text_width("模", 10) == 10


@given(st.text(max_size=60), st.floats(20, 200))
def test_what_is_cut_is_no_wider_than_asked(text, most):
    assert text_width(shortened(text, 9, most), 9) <= max(most, text_width("…", 9))
    lines = wrapped(text, 9, most)
    assert all(text_width(line, 9) <= max(most, text_width("…", 9)) for line in lines)
