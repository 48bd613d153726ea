"""The page ``closed-forms.md``: every named threshold, its closed form or why it has none, and how often that was compared with numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import symroof as sr
from symroof.errors import InputError
from symroof.theory.thresholds import THRESHOLDS

OPENING = """# Closed forms: which answers are formulas, and how often that was checked

`solve` gives a threshold as a formula wherever there is one. In a case `solution.sympy` is the form that is valid there, so that
`solution.sympy.xreplace(study.values())` equals `solution.value`; without a case it is a `Piecewise` of all possible forms, and only given values are substituted.
Without a closed form it is `None`, and `solution.why_numeric` says why.

These answers are compared with numbers: {models} models ({kinds})
in {cases} cases drawn at random: device, lengths, batches, efficiencies, overheads, targets. Every
value has to satisfy its equation by the definitions, every formula has to equal that value to 25 digits, and the symbolic answer has to equal that of each case substituted
into it: {closed:,} formulas, {pieces:,} times pieces, {never:,} times no crossing, {numeric:,} bracketed. And {random:,} random equations, between
random quantities, for random unknowns: {random_closed:,} formulas, {random_pieces:,} times pieces.

*Without a case* is the answer of `sr.solve(name)`: one formula, several with the conditions that select one, or why there is none. *Formula*, *bracketed* and *never* count
the cases; *pieces* how often the symbolic answer (of the model's architecture; for the first, without a model) was compared with a case.

| threshold | for | without a case | formula | bracketed | never | pieces | bracketed because |
| --- | --- | --- | --- | --- | --- | --- | --- |
"""

CLOSING = """
The formulas depend on the degrees of parallelism; without a case they are those of one device, or of the number solved for.

```sh
python -m pytest tests/analysis/test_closed_answers.py
```
"""


def closed_forms_page(
    found: Mapping[str, Mapping[str, Any]],
    kinds: Mapping[str, str],
    cases: int,
    equations: Counter[str],
) -> str:
    """The page from what was counted: by model and threshold, and of random equations by what came out."""
    counted = {name: [tallies[name] for tallies in found.values()] for name in THRESHOLDS}
    every = [tally for tallies in counted.values() for tally in tallies]
    opening = OPENING.format(
        models=len(kinds),
        kinds="; ".join(kinds.values()),
        cases=cases,
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
    )
    return (
        opening
        + "\n".join(_row(name, tallies) for name, tallies in counted.items())
        + "\n"
        + CLOSING
    )


def _row(name: str, tallies: list[Any]) -> str:
    because = sum((tally.numeric for tally in tallies), Counter[str]())
    numbers = (
        sum(tally.closed for tally in tallies),
        because.total(),
        sum(tally.never for tally in tallies),
        sum(tally.pieces for tally in tallies),
    )
    cells = [
        f"`{name}`",
        f"`{THRESHOLDS[name].unknown}`",
        _without_a_case(name),
        *(f"{number:,}" if number else "" for number in numbers),
        "; ".join(sorted(because)),
    ]
    return f"| {' | '.join(cells)} |"


def _without_a_case(name: str) -> str:
    try:
        solution = sr.solve(name)
    except InputError as error:
        message = error.problems[0].message
        return f"none: {message.removeprefix('has no symbolic answer').split(', and ')[0].strip(' :()')}"
    if solution.sympy is None:
        return f"none: {solution.why_numeric}"
    return "one formula" if len(solution.branches) == 1 else f"{len(solution.branches)} formulas"
