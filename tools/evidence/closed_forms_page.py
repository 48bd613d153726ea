"""The page ``closed-forms.md``: every named threshold, its closed form or why it has none, and how often that was compared with numbers."""

from __future__ import annotations

from collections import Counter
from typing import Any

import symroof as sr
from symroof.errors import InputError
from symroof.theory.thresholds import THRESHOLDS
from tools.closed_answers import EQUATIONS, KINDS, drawn, random_answers, tallies
from tools.evidence import filled
from tools.markdown import cells


def closed_forms_page() -> str:
    """The page from what is counted by model and threshold, and of random equations by what comes out; it takes a minute."""
    found = {model: tallies(model) for model in KINDS}
    equations = random_answers(EQUATIONS)
    counted = {name: [tallies[name] for tallies in found.values()] for name in THRESHOLDS}
    every = [tally for tallies in counted.values() for tally in tallies]
    return filled(
        "closed-forms",
        models=len(KINDS),
        kinds="; ".join(KINDS.values()),
        cases=sum(len(drawn(model)) for model in KINDS),
        closed=sum(tally.closed for tally in every),
        pieces=sum(tally.pieces for tally in every),
        never=sum(tally.never for tally in every),
        numeric=sum(tally.numeric.total() for tally in every),
        random=sum(
            count
            for came, count in equations.items()
            if came.partition(" ")[0] in ("closed", "never", "numeric")
        ),
        random_closed=sum(count for came, count in equations.items() if came.startswith("closed")),
        random_pieces=sum(
            count for came, count in equations.items() if came.endswith("in symbols")
        ),
        rows="\n".join(_row(name, tallies) for name, tallies in counted.items()),
    )


def _row(name: str, tallies: list[Any]) -> str:
    because = sum((tally.numeric for tally in tallies), Counter[str]())
    numbers = (
        sum(tally.closed for tally in tallies),
        because.total(),
        sum(tally.never for tally in tallies),
        sum(tally.pieces for tally in tallies),
    )
    shown = [
        f"`{name}`",
        f"`{THRESHOLDS[name].unknown}`",
        _without_a_case(name),
        *(f"{number:,}" if number else "" for number in numbers),
        "; ".join(sorted(because)),
    ]
    return cells(*shown)


def _without_a_case(name: str) -> str:
    try:
        solution = sr.solve(name)
    except InputError as error:
        message = error.problems[0].message
        return f"none: {message.removeprefix('has no symbolic answer').split(', and ')[0].strip(' :()')}"
    if solution.sympy is None:
        return f"none: {solution.why_numeric}"
    return "one formula" if len(solution.branches) == 1 else f"{len(solution.branches)} formulas"
