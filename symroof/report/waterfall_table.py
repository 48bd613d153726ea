"""A waterfall as a table, for the terminal and as Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symroof.analysis.waterfall import HEADER
from symroof.report.text_table import markdown_table, table
from symroof.units import format_quantity

if TYPE_CHECKING:
    from fractions import Fraction

    from symroof.analysis.number_origins import Origins
    from symroof.analysis.waterfall import Waterfall
    from symroof.claims.stated_number import Reading


def terminal(way: Waterfall, start: str, end: str) -> str:
    """Lined-up text under a line that says which quantity it is.

    >>> from symroof.analysis.study import Study
    >>> from symroof.analysis.waterfall import waterfall
    >>> one, other = (Study("llama-3-8b", prompt=prompt).first for prompt in (1024, 2048))
    >>> print(terminal(waterfall(one, other, "kv_cache_bytes"), "short", "long"))
    kv_cache_bytes: KV cache of the whole batch at the current context
      from   short                                                 134.2 MB
      input  prompt: 1,024 tokens -> 2,048 tokens  +134.2 MB  × 2  268.4 MB
      to     long                                  +134.2 MB  × 2  268.4 MB
    """
    lines = [f"{way.symbol.name}: {way.symbol.meaning}", table(way.rows(start, end), indent="  ")]
    return "\n".join([*lines, *(f"  {note}" for note in way.notes())])


def markdown(way: Waterfall, start: str, end: str) -> str:
    """A section with a table."""
    lines = [f"## `{way.symbol.name}`: {way.symbol.meaning}", markdown_table(way.rows(start, end), HEADER)]
    return "\n\n".join([*lines, *way.notes()])


def origins_text(made: Origins, name: str, claimed: str, share: float | None, read: Reading, left_out: int) -> str:
    """What gives a number, a line each: its share of the roof, slips, presets and choices; then how many random numbers these would meet.

    Args:
        share: of random numbers that the presets and choices would meet.
        left_out: sets of choices that are no explanation, since most numbers would be met.
    """
    unit = made.symbol.unit
    head = f"{name} = {claimed}; the case gives {format_quantity(made.derived, unit)}"
    lines = [f"  {line}" for line in (read.roof, *(entry.text for entry in read.fitted)) if line]
    slips = [[f"slip {slip.slip}: {slip.text}", _number(slip.explains, unit), _chance(slip.chance)] for slip in read.slips]
    choices = [[entry.text, format_quantity(entry.value, unit, 6), ""] for entry in made.explanations]
    if slips or choices:
        lines.append(table([*slips, *choices], indent="  "))
    elif not lines:
        lines.append("  no preset, no slip and no set of up to three choices gives it")
    if left_out:
        lines.append(f"  {left_out} set{'s' * (left_out != 1)} of choices would come to it, as to most numbers: no explanation")
    alone = "" if made.complete else ", not all there are"
    met = f"; {share * 100:.2g} % of random numbers of this size and precision would be explained too" if share is not None else ""
    return "\n".join([head, *lines, f"{made.tried:,} presets and sets of choices tried{alone}{met}"])


def _number(value: Fraction | str, unit: str) -> str:
    return value if isinstance(value, str) else format_quantity(value, unit, 6)


def _chance(share: float) -> str:
    """How many random errors would have been explained as well."""
    return f"{share * 100:.2g} % of random errors would match a slip too"
