"""Every command's text in the width of the terminal, and its answer on the first screen."""

import pytest

from symroof.table_formats import width

from ..tables import words
from . import ROOT, STUDIES, call

CASE = words("--model llama-3-8b --hardware h100-sxm --prompt 1024 --output 64 --batch 4")
GOAL = ("--target", "itl=20 ms")
THREE = ("--hardware", "l4", "--hardware", "mi300x")
LINES = {
    "help": ("--help",),
    "eval": ("eval", *CASE),
    "eval of several": ("eval", *CASE, *THREE),
    "eval without a prompt": ("eval", *CASE[:4]),
    "eval of a study": ("eval", STUDIES / "llama-3-70b-chat.yaml"),
    "select": ("select", *CASE[:-2], *words("--among hardware=h100-sxm,l4,l40s,h200"), *GOAL),
    "solve": ("solve", "max_batch_itl", *CASE, *GOAL),
    "derive": ("derive", "ttft", *CASE),
    "derive without numbers": ("derive", "itl"),
    "diff": ("diff", "genz", "symroof", *CASE),
    "simulate": ("simulate", *CASE, "--requests", "50"),
    "vllm": ("vllm", "vllm serve meta-llama/Llama-3.1-8B-Instruct", *CASE[2:6], *GOAL),
    "calibrate": ("calibrate", ROOT / "docs" / "measured.csv", *CASE[:4]),
    "list hardware": ("list", "hardware"),
    "list measured": ("list", "measured"),
    **{
        f"show {name}": ("show", name)
        for name in words(
            "llama-3-8b deepseek-v3 h100-sxm genz argonne-llm-inference-bench itl batch_to_ridge"
        )
    },
}
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
    command_line = 2 if name in ("server", "vllm") else 0  # the line to start is to be copied whole
    lines = [line for line in lines if not line.startswith(("Review it: ", "Run it"))]
    formulas = {
        line for line in lines if len(line.split()) == 1 and "(" in line
    }  # a product that has no place to break
    assert max(map(width, set(lines[command_line:]) - formulas)) <= columns, max(
        lines[command_line:], key=width
    )
    if columns >= 100 and not name.startswith(("list ", "help")):
        assert len(lines) <= FIRST_SCREEN, "\n".join(lines)
