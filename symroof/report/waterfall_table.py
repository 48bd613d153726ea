"""A waterfall as a text table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symroof.table_formats import text_table

if TYPE_CHECKING:
    from symroof.analysis.waterfall import Waterfall


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
