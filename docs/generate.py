"""Write the tables of this folder: each cell is the output of the command shown with it. ``python docs/generate.py``"""

from __future__ import annotations

import contextlib
import io
import json
import shlex
from fractions import Fraction
from pathlib import Path
from typing import Any

import yaml

from symroof.cli.main import main
from symroof.units import format_quantity

HERE = Path(__file__).resolve().parent
NEVER = {"lhs_below": "never", "lhs_above": "always", "identical": "everywhere"}


def answer(command: str) -> str:
    """What a command says, in a cell."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        code = main([*shlex.split(command), "--json"])
    if code:
        raise SystemExit(f"exit {code}: symroof {command}")
    found = json.loads(out.getvalue())
    return solved(found) if found["schema"].startswith("symroof/solve") else quantity(found)


def solved(found: dict[str, Any]) -> str:
    if found["value"] is None:
        return NEVER[found["verdict"]]
    whole = next(iter(found["integer"].values())) if found["integer"] else None
    return f"{whole:,}" if whole is not None else format_quantity(Fraction(found["value"]), found["unit"])


def quantity(found: dict[str, Any]) -> str:
    shown = format_quantity(Fraction(found["value"]), found["unit"]) if found["unit"] else f"{found['value']:.2%}"
    return f"{shown} (does not fit)" if "does_not_fit" in found.get("flags", ()) else shown


def table(spec: dict[str, Any], common: str) -> list[str]:
    """One table: a row for each set of assumptions, a column for each command."""
    lines = [f"## {spec['title']}", "", spec["says"], "", f"| {' | '.join(spec['columns'])} | Assumptions on the line |"]
    lines.append("|" + " --- |" * (len(spec["columns"]) + 1))
    shared = f"{spec.get('common', '')} {common}".strip()
    for words, options in spec["rows"]:
        cells = [answer(f"{command} {shared} {options}") for command in spec["commands"]]
        lines.append(f"| {words} | {' | '.join(cells)} | `{options}` |")
    commands = [f"symroof {command} {shared} …" for command in spec["commands"]]
    return [*lines, "", "```sh", *commands, "```", ""]


def page(path: Path) -> str:
    """A page of tables from its list of commands."""
    spec = yaml.safe_load(path.read_text(encoding="utf-8"))
    lines = [f"# {spec['title']}", "", spec["intro"], ""]
    for one in spec["tables"]:
        lines += table(one, spec["common"])
    return "\n".join(lines)


def pages() -> dict[Path, str]:
    """Every page of this folder by its file."""
    return {path.with_suffix(".md"): page(path) for path in sorted(HERE.glob("*.yaml"))}


if __name__ == "__main__":
    for goal, content in pages().items():
        goal.write_text(content, encoding="utf-8")
