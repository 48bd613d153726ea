"""Pages of tables, each from a YAML file under ``tools/docs/pages``: every cell is the output of the command shown with it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from string import Template
from typing import Any

import yaml

from symroof.units import format_quantity
from tools.docs import DOCS, ROOT, answered, found
from tools.markdown import block, headed, table

PAGES = ROOT / "tools" / "docs" / "pages"
NEVER = {"lhs_below": "never", "lhs_above": "always", "identical": "everywhere"}


def is_solved(answered: dict[str, Any]) -> bool:
    return str(answered["schema"]).startswith("symroof/solve")


def answer(command: str) -> str:
    """What a command says, in a cell."""
    answered = found(command)
    return solved(answered) if is_solved(answered) else quantity(answered)


def solved(found: dict[str, Any]) -> str:
    if found["value"] is None:
        return NEVER[found["verdict"]]
    if found["integer"]:
        return f"{next(iter(found['integer'].values())):,}"
    return format_quantity(Fraction(found["value"]), found["unit"])


def quantity(found: dict[str, Any]) -> str:
    value, unit = found["value"], found["unit"]
    shown = format_quantity(Fraction(value), unit) if unit else f"{value:.2%}"
    return f"{shown} (does not fit)" if "does_not_fit" in found.get("flags", ()) else shown


def assumed(spec: dict[str, Any], common: str) -> list[str]:
    """One table: a row for each set of assumptions, a column for each command."""
    shared = f"{spec.get('common', '')} {common}".strip()
    commands = [f"{command} {shared}" for command in spec["commands"]]
    rows = [
        [words, *(answer(f"{command} {options}") for command in commands), f"`{options}`"]
        for words, options in spec["rows"]
    ]
    return [
        *headed(f"## {spec['title']}", spec["says"]),
        *table([*spec["columns"], "Assumptions on the line"], rows),
        *block("sh", *(f"symroof {command} …" for command in commands)),
    ]


def difference(spec: dict[str, Any], common: str) -> list[str]:
    """One number taken apart into another: what ``diff`` prints, under a title."""
    command = f"diff {spec['sides']} {common} -q {spec['quantity']}"
    return [
        *headed(f"## {spec['title']}", spec["says"]),
        *block("text", answered(command).strip()),
        *block("sh", f"symroof {command}"),
    ]


def counted(spec: dict[str, Any]) -> list[str]:
    """Who counts what: of each preset its version, its switches, the terms it adds and where its tool is wrong."""
    rows = []
    for name in spec["presets"]:
        shown = found(f"show {name}")
        facts = {key: value for key, value, *_ in shown["facts"]}
        switches = ", ".join(
            f"`{key.removeprefix('assume.')}={value}`"
            for key, value in facts.items()
            if key.startswith("assume.")
        )
        added = dict.fromkeys(key.partition(".plus.")[2] for key in facts if ".plus." in key)
        slips = {key.removeprefix("slips."): said for key, said in facts.items() if "slips." in key}
        adds, wrong = "; ".join(added), "; ".join(f"{key}: {said}" for key, said in slips.items())
        cells = [f"`{name}`", facts.get("version", ""), switches, adds, wrong]
        rows.append([cell.replace("|", "/") for cell in cells])
    header = ["Preset", "Version", "Switches", "Adds", "Where it is wrong"]
    return headed(f"## {spec['title']}", spec["says"]) + table(header, rows)


# ------------------------------------------------------------------------------------------------------- the sixty systems


@dataclass(frozen=True)
class Row:
    """One line of ``systems.yaml``: a command, the number worked out by hand, and where it is a ratio the command under it."""

    number: int
    name: str
    what: str
    command: str
    expected: str
    under: str | None

    @property
    def commands(self) -> tuple[str, ...]:
        return (self.command,) if self.under is None else (self.command, self.under)

    @cached_property
    def answers(self) -> tuple[dict[str, Any], ...]:
        return tuple(found(command) for command in self.commands)

    @property
    def value(self) -> Any:
        """The number, or the word."""
        values = [answered["value"] for answered in self.answers]
        if values[0] is None:
            return NEVER[self.answers[0]["verdict"]]
        return values[0] if self.under is None else Fraction(values[0]) / Fraction(values[1])

    @property
    def whole(self) -> dict[str, int]:
        """The whole number that a crossing allows, where it counts things."""
        return self.answers[0].get("integer") or {}

    @property
    def printed(self) -> str:
        if isinstance(self.value, (str, bool)):
            return str(self.value)
        unit = self.answers[0]["unit"] if self.under is None else ""
        shown = as_written(
            Fraction(self.value), unit, max(4, len(re.sub(r"\D", "", self.expected).lstrip("0")))
        )
        limits = (f": {side.replace('_', ' ')} {limit:,}" for side, limit in self.whole.items())
        return "".join([shown, *limits])


def as_written(value: Fraction, unit: str, digits: int) -> str:
    """A number as people write it: prices by the hour."""
    if unit == "USD/s":
        value, unit = value * 3600, "USD/hour"
    return format_quantity(value, unit, digits)


def rows(spec: dict[str, Any]) -> Iterator[Row]:
    """Every row of the systems, abbreviations written out."""
    for section in spec["sections"]:
        for system in section["systems"]:
            yield from _rows(system, spec["short"])


def _rows(system: dict[str, Any], short: dict[str, str]) -> Iterator[Row]:
    for what, command, expected, *under in system["rows"]:
        full = [Template(text).substitute(short) for text in (command, *under)]
        other = full[1] if under else None
        yield Row(int(system["number"]), system["name"], what, full[0], expected, other)


def systems(spec: dict[str, Any]) -> list[str]:
    """A table for each section: what is asked, the command, what it prints, the number by hand."""
    lines: list[str] = []
    for section in spec["sections"]:
        rows = []
        for system in section["systems"]:
            for index, row in enumerate(_rows(system, spec["short"])):
                named = f"**{row.number}. {row.name}**" if not index else ""
                commands = " over ".join(f"`symroof {command}`" for command in row.commands)
                rows.append([named, row.what, commands, row.printed, row.expected])
        lines += headed(f"## {section['title']}")
        lines += table(["", "", "Command", "Output", "Calculated by hand"], rows)
    return lines


# -------------------------------------------------------------------------------------------------------------- the pages


def page(path: Path) -> str:
    """A page of tables from its list of commands."""
    # numbers as they are written, every digit
    spec = yaml.load(path.read_text(encoding="utf-8"), yaml.BaseLoader)
    lines = headed(f"# {spec['title']}", spec["intro"])
    if path.parent.name == "validation":  # outside the navigation
        lines = ["---", "orphan: true", "---", "", *lines]
    if "sections" in spec:
        return "\n".join([*lines, *systems(spec)])
    for one in spec["tables"]:
        lines += assumed(one, spec["common"])
    if "counted" in spec:
        lines += counted(spec["counted"])
    for one in spec.get("diffs", []):
        lines += difference(one, spec["common"])
    return "\n".join(lines)


def sources() -> list[Path]:
    """The YAML file of every page of tables."""
    return sorted(PAGES.rglob("*.yaml"))


def target(source: Path) -> Path:
    """The page that a YAML file makes."""
    return DOCS / source.relative_to(PAGES).with_suffix(".md")
