"""Lines of Markdown: headings, tables, blocks of code."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def cells(*values: object) -> str:
    """A row of a table."""
    return f"| {' | '.join(map(str, values))} |"


def table(header: Sequence[object], rows: Iterable[Iterable[object]]) -> list[str]:
    return [cells(*header), cells(*["---"] * len(header)), *(cells(*row) for row in rows), ""]


def headed(heading: str, *said: str) -> list[str]:
    """A heading and paragraphs under it."""
    return [line for text in (heading, *said) for line in (text, "")]


def block(kind: str, *lines: str) -> list[str]:
    return [f"```{kind}", *lines, "```", ""]
