"""Inputs and assumptions on a terminal; a star marks a default."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from symroof.cases.case_results import Answers
    from symroof.cases.quantity_result import Input


def starred(name: str, defaulted: bool) -> str:
    """A name with room for its star."""
    return ("* " if defaulted else "  ") + name


def inputs_table(inputs: dict[str, Input]) -> str:
    """Name, value and source of every input."""
    from symroof.drawing.table_formats import text_table

    return text_table([[starred(name, i.defaulted), i.result.text(), i.source] for name, i in inputs.items()])


def switches_line(answers: Answers) -> str:
    """Every switch with its value, in one line; a theory of one's own alone has none."""
    chosen = answers.binding.assumptions
    if answers.apart:
        return ""
    return "assumptions (* = defaulted): " + ", ".join(f"{switch}={value}{'*' if chosen.defaulted(switch) else ''}" for switch, value in chosen.values)
