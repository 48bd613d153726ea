"""Every command's text in the width of the terminal, and its answer on the first screen."""

import pytest

from symroof.cli.terminal import (
    clipped,
    coloured,
    fitted_table,
    reflowed,
    warning_lines,
    wrapped,
)
from symroof.table_formats import width

from . import ROOT, STUDIES, call

CASE = (
    "--model", "llama-3-8b", "--hardware", "h100-sxm", "--prompt", "1024", "--output", "64",
    "--batch", "4",
)  # fmt: skip
R1 = (
    "--model", "deepseek-r1", "--hardware", "h200", "--tp", "8", "--prompt", "4096", "--output",
    "512", "--batch", "32",
)  # fmt: skip
THREE = ("--hardware", "l4", "--hardware", "mi300x")
LINES = {
    "help": ("--help",),
    "eval": ("eval", *CASE),
    "eval of several": ("eval", *CASE, *THREE),
    "eval without a prompt": ("eval", *CASE[:4]),
    "eval of a study": ("eval", STUDIES / "llama-3-70b-chat.yaml"),
    "select": ("select", *CASE[:-2], "--among", "hardware=h100-sxm,l4,l40s,h200", "--target", "itl=20 ms"),
    "solve": ("solve", "max_batch_itl", *CASE, "--target", "itl=20 ms"),
    "derive": ("derive", "ttft", *CASE),
    "derive without numbers": ("derive", "itl"),
    "diff": ("diff", "genz", "symroof", *CASE),
    "simulate": ("simulate", *CASE, "--requests", "50"),
    "vllm": ("vllm", "vllm serve meta-llama/Llama-3.1-8B-Instruct", *CASE[2:6], "--target", "itl=30 ms"),
    "calibrate": ("calibrate", ROOT / "docs" / "measured.csv", "--model", "llama-3.1-8b", "--hardware", "h100-sxm"),
    "list hardware": ("list", "hardware"),
    "list measured": ("list", "measured"),
    **{
        f"show {name}": ("show", name)
        for name in (
            "llama-3-8b",
            "deepseek-v3",
            "h100-sxm",
            "genz",
            "argonne-llm-inference-bench",
            "itl",
            "batch_to_ridge",
        )
    },
}  # fmt: skip
FIRST_SCREEN = 30
"""Lines after which a first screen ends: the answer and what it rests on."""


@pytest.mark.sample(3)
@pytest.mark.parametrize("columns", [80, 100])
@pytest.mark.parametrize("name", LINES)
def test_a_first_screen_fits_the_terminal(name, columns, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(columns))
    outcome = call(*LINES[name])
    assert outcome.code in (0, 1), outcome.err
    lines = outcome.out.splitlines()
    command_line = 1 if name in ("server", "vllm") else 0  # the line to start is to be copied whole
    lines = [line for line in lines if not line.startswith(("Review it: ", "Run it"))]
    formulas = {
        line for line in lines if len(line.split()) == 1 and "(" in line
    }  # a product that has no place to break
    assert max(map(width, set(lines[command_line:]) - formulas)) <= columns, max(
        lines[command_line:], key=width
    )
    if columns >= 100 and not name.startswith(("list ", "help")):
        assert len(lines) <= FIRST_SCREEN, "\n".join(lines)


def test_a_narrow_terminal_gets_at_least_sixty_columns(monkeypatch):
    monkeypatch.setenv("COLUMNS", "7")
    assert wrapped("a " * 60)[0] == " ".join("a" * 30)


def test_what_is_cut_says_so():
    assert [clipped("abcdef", 6), clipped("abcdef", 5), clipped("日本語", 5)] == [
        "abcdef",
        "abcd…",
        "日本…",
    ]
    assert wrapped("word " * 100, "  ", "", 2)[-1].endswith("…")


def test_warnings_are_counted_beyond_the_first_and_said_once():
    assert warning_lines(["a", "a", "b"], 4) == ["! a", "! b"]
    assert warning_lines("abc", 2) == ["! a", "! b", "! and 1 more warning"]
    assert warning_lines("abcd", 2)[-1] == "! and 2 more warnings"


def test_a_table_gives_way_in_one_column_or_in_its_widest(monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    rows = [["name", "word " * 20], ["other", "short"]]
    cut = fitted_table(rows, flexible=-1, clip=True).splitlines()
    assert max(map(len, cut)) <= 60 and len(cut) == 2
    folded = fitted_table(rows).splitlines()
    assert max(map(len, folded)) <= 60 and " ".join(" ".join(folded).split()).count("word") == 20
    assert fitted_table([]) == ""


def test_only_marks_and_warnings_are_coloured():
    assert coloured("~ h200  1 ~ 2") == "\x1b[33m~\x1b[0m h200  1 ~ 2"
    assert coloured("! low\nplain ✗") == "\x1b[33m! low\x1b[0m\nplain \x1b[31m✗\x1b[0m"


def test_a_line_goes_on_below_itself(monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    first, second = reflowed(["  " + "word " * 15, ""])[:2]
    assert first.startswith("  word") and second.startswith("      word")
