"""Every command's text in the width of the terminal, and its answer on the first screen."""

import pytest

from symroof.cli.terminal import clipped, coloured, fitted_table, folded_table, reflowed, warning_lines, wrapped
from symroof.drawing.table_formats import width

from . import call

CASE = ("--model", "llama-3-8b", "--hardware", "h100-sxm", "--prompt", "1024", "--output", "64", "--batch", "4")
LINES = {
    "eval": ("eval", *CASE),
    "eval of several": ("eval", *CASE, "--hardware", "l4"),
    "eval without a prompt": ("eval", *CASE[:4]),
    "select": ("select", *CASE[:-2], "--among", "hardware=all", "--target", "itl=20 ms"),
    "solve": ("solve", "max_batch_itl", *CASE, "--target", "itl=20 ms"),
    "solve without numbers": ("solve", "batch_to_ridge"),
    "derive": ("derive", "ttft", *CASE),
    "diff": ("diff", "genz", "symroof", *CASE),
    "simulate": ("simulate", *CASE, "--requests", "50"),
    "server": ("server", "llama-server -m llama-3.1-8b --parallel 4", "--hardware", "h100-sxm", "--prompt", "1024"),
    "list": ("list", "quantities"),
    "show": ("show", "h100-sxm"),
}


@pytest.mark.parametrize("columns", [80, 100, 140])
@pytest.mark.parametrize("name", LINES)
def test_no_line_is_wider_than_the_terminal(name, columns, monkeypatch):
    if name in ("eval of several", "select", "simulate", "show", "solve without numbers") and columns < 100:
        pytest.skip("its table has more columns than that, or its formula longer words")
    monkeypatch.setenv("COLUMNS", str(columns))
    outcome = call(*LINES[name])
    assert outcome.code in (0, 1), outcome.err
    lines = outcome.out.splitlines()
    command_line = 1 if name == "server" else 0  # the line to start is to be copied whole
    assert max(map(width, lines[command_line:])) <= columns, max(lines[command_line:], key=width)


def test_a_narrow_terminal_gets_at_least_sixty_columns(monkeypatch):
    monkeypatch.setenv("COLUMNS", "7")
    assert wrapped("a " * 60)[0] == " ".join("a" * 30)


def test_what_is_cut_says_so():
    assert [clipped("abcdef", 6), clipped("abcdef", 5), clipped("日本語", 5)] == ["abcdef", "abcd…", "日本…"]
    assert wrapped("word " * 100, "  ", "", 2)[-1].endswith("…")


def test_warnings_are_counted_beyond_the_first_and_said_once():
    assert warning_lines(["a", "a", "b"], 4) == ["! a", "! b"]
    assert warning_lines("abc", 2) == ["! a", "! b", "! and 1 more warning"]
    assert warning_lines("abcd", 2)[-1] == "! and 2 more warnings"


def test_a_table_gives_way_in_one_column_or_in_its_widest(monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    rows = [["name", "word " * 20], ["other", "short"]]
    assert max(map(len, fitted_table(rows).splitlines())) <= 60 and len(fitted_table(rows).splitlines()) == 2
    folded = folded_table(rows).splitlines()
    assert max(map(len, folded)) <= 60 and " ".join(" ".join(folded).split()).count("word") == 20
    assert fitted_table([]) == folded_table([]) == ""


def test_only_marks_and_warnings_are_coloured():
    assert coloured("~ h200  1 ~ 2") == "\x1b[33m~\x1b[0m h200  1 ~ 2"
    assert coloured("! low\nplain ✗") == "\x1b[33m! low\x1b[0m\nplain \x1b[31m✗\x1b[0m"


def test_a_line_goes_on_below_itself(monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    first, second = reflowed(["  " + "word " * 15, ""])[:2]
    assert first.startswith("  word") and second.startswith("      word")
