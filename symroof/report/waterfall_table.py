"""A waterfall as a text or Markdown table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symroof.analysis.waterfall import HEADER
from symroof.drawing.table_formats import text_table
from symroof.report.markup import markdown_table
from symroof.units import format_quantity

if TYPE_CHECKING:
    from fractions import Fraction

    from symroof.analysis.number_origins import Origins
    from symroof.analysis.waterfall import Waterfall
    from symroof.claims.stated_number import NumberExplanation


def terminal(way: Waterfall, start: str, end: str) -> str:
    """The quantity and an aligned table.

    >>> from symroof.analysis.study import Study
    >>> from symroof.analysis.waterfall import waterfall
    >>> one, other = (Study("llama-3-8b", prompt=prompt).first for prompt in (1024, 2048))
    >>> print(terminal(waterfall(one, other, "kv_cache_bytes"), "short", "long"))
    kv_cache_bytes: KV cache of the whole batch at the current context
      from   short                                                 134.2 MB
      input  prompt: 1,024 tokens -> 2,048 tokens  +134.2 MB  × 2  268.4 MB
      to     long                                  +134.2 MB  × 2  268.4 MB
    """
    lines = [way.title, text_table(way.rows(start, end), indent="  ")]
    return "\n".join([*lines, *(f"  {note}" for note in way.notes())])


def markdown(way: Waterfall, start: str, end: str) -> str:
    """A section with a table."""
    lines = [
        f"## `{way.symbol.name}`{way.title.removeprefix(way.symbol.name)}",
        markdown_table(way.rows(start, end), HEADER),
    ]
    return "\n\n".join([*lines, *way.notes()])


def origins_text(
    made: Origins,
    name: str,
    claimed: str,
    share: float | None,
    read: NumberExplanation,
    left_out: int,
) -> str:
    """Explanations of a number: its share of the roof, mistakes, presets and choices, and how many random numbers these would explain.

    Args:
        share: share of random numbers that the presets and choices would explain.
        left_out: number of sets of choices that would explain most numbers, so explain nothing.
    """
    unit = made.symbol.unit
    head = f"{name} = {claimed}; the case gives {format_quantity(made.derived, unit)}"
    lines = [f"  {line}" for line in (read.roof, *(entry.text for entry in read.fitted)) if line]
    slips = [
        [
            f"slip {slip.slip}: {slip.text}",
            _number(slip.readable_formula, unit),
            _chance(slip.chance),
        ]
        for slip in read.slips
    ]
    choices = [
        [entry.text, format_quantity(entry.value, unit, 6), ""] for entry in made.explanations
    ]
    if slips or choices:
        lines.append(text_table([*slips, *choices], indent="  "))
    elif not lines:
        lines.append("  no preset, no slip and no set of up to three choices gives it")
    if left_out:
        lines.append(
            f"  {left_out} set{'s' * (left_out != 1)} of choices would give this number and most others: no explanation"
        )
    alone = "" if made.complete else ", not all there are"
    met = (
        f"; {share * 100:.2g} % of random numbers of this size and precision would be explained too"
        if share is not None
        else ""
    )
    return "\n".join(
        [head, *lines, f"{made.tried:,} presets and sets of choices tried{alone}{met}"]
    )


def _number(value: Fraction | str, unit: str) -> str:
    return value if isinstance(value, str) else format_quantity(value, unit, 6)


def _chance(share: float) -> str:
    """The share of random errors that would be explained too."""
    return f"{share * 100:.2g} % of random errors would match a slip too"
