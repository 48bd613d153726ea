"""A waterfall as a table, for the terminal and as Markdown."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from symroof.report.text_table import markdown_table, table
from symroof.units import format_quantity, significant

if TYPE_CHECKING:
    from symroof.analysis.number_origins import Origins
    from symroof.analysis.waterfall import Waterfall

HEADER = ("", "", "effect", "factor", "value")


def terminal(way: Waterfall, start: str, end: str) -> str:
    """Lined-up text under a line that says which quantity it is.

    >>> from symroof.analysis.study import Study
    >>> from symroof.analysis.waterfall import waterfall
    >>> one, other = (Study("llama-3-8b", prompt=prompt).first for prompt in (1024, 2048))
    >>> print(terminal(waterfall(one, other, "kv_cache_bytes"), "short", "long"))
    kv_cache_bytes: cache of the whole batch at the context
      from   short                                                 134.2 MB
      input  prompt: 1,024 tokens -> 2,048 tokens  +134.2 MB  × 2  268.4 MB
      to     long                                  +134.2 MB  × 2  268.4 MB
    """
    lines = [f"{way.symbol.name}: {way.symbol.meaning}", table(rows(way, start, end), indent="  ")]
    return "\n".join([*lines, *(f"  {note}" for note in notes(way))])


def markdown(way: Waterfall, start: str, end: str) -> str:
    """A section with a table."""
    lines = [f"## `{way.symbol.name}`: {way.symbol.meaning}", markdown_table(rows(way, start, end), HEADER)]
    return "\n\n".join([*lines, *notes(way)])


def rows(way: Waterfall, start: str, end: str) -> list[list[str]]:
    """The first value, each step with its effect, factor and the value after it, the last value."""
    unit = way.symbol.unit
    made = [["from", start, "", "", way.start.text()]]
    for step in way.steps:
        made.append([step.changes[-1].kind, step.label, signed(step.effect, unit), times(step.factor), format_quantity(step.after, unit)])
    return [*made, ["to", end, signed(way.effect, unit), times(way.factor), way.end.text()]]


def notes(way: Waterfall) -> list[str]:
    """What is wrong with a tool's choice, and what differs without effect."""
    slips = [f"slip: {step.slip}" for step in way.steps if step.slip]
    silent = ", ".join(dict.fromkeys(change.name for change in way.without_effect))
    return [*dict.fromkeys(slips), *([f"differs without effect here: {silent}"] if silent else [])]


def signed(value: Fraction, unit: str) -> str:
    """An effect with its sign."""
    return f"{'+' if value >= 0 else ''}{format_quantity(value, unit)}"


def times(factor: Fraction | None) -> str:
    """A factor; empty where there is none."""
    return f"× {significant(factor, 4)}" if factor is not None else ""


def origins_text(made: Origins, name: str, claimed: str) -> str:
    """What gives a number, a line each; and how many presets and sets of choices were tried."""
    unit = made.symbol.unit
    head = f"{name} = {claimed}; the case gives {format_quantity(made.derived, unit)}"
    rows = [[entry.text, format_quantity(entry.value, unit, 6)] for entry in made.explanations]
    alone = "" if made.complete else ", not all there are"
    tried = f"{made.tried:,} presets and sets of choices tried{alone}; a number of few digits is met by chance"
    return "\n".join([head, table(rows, indent="  ") if rows else "  no preset and no set of up to three choices gives it", tried])
