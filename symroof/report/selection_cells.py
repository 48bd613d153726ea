"""What the tables of a selection share: a table, a verdict in words, a quantity of a run, the slack to a limit."""

from dataclasses import dataclass

from symroof.analysis.verdict import LOAD, MEMORY, TargetCheck
from symroof.drawing.table_formats import UNKNOWN
from symroof.select.configuration import Configuration, Run
from symroof.units import significant

MISSES = {MEMORY: "does not fit", LOAD: "does not keep up"}


@dataclass(frozen=True)
class Part:
    """One table with its heading; ``says`` stands before it, ``notes`` on its columns behind it."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    says: str = ""
    notes: tuple[str, ...] = ()


def verdict(c: Configuration) -> str:
    """The state in words, with the targets it misses, as expected or whatever the ranges, and the batches that would pass."""
    run = c.run
    names = dict.fromkeys((*run.missed_as_expected, *run.missed))
    missed = ", ".join(MISSES.get(name, f"misses {name}") for name in names if name != "ttft" or LOAD not in names)  # where a queue grows, a wait has no end
    words = {"passes": "passes", "in part": "passes over part of its ranges", "unknown": f"not known: {', '.join(run.unknown)}", "fails": missed}
    return words[run.state] + (f"; passes with a batch of {c.window}" if c.window and run.state in ("fails", "in part") else "")


def slack(check: TargetCheck) -> str:
    """The slack to the limit in per cent of it, negative where it is exceeded.

    >>> from symroof.analysis.study import Study
    >>> from symroof.analysis.verdict import target_checks
    >>> study = Study(model="llama-3-8b", hardware="h100-sxm", prompt=4096, targets={"ttft": 0.1})
    >>> slack(target_checks(study.first)[0])
    '+38 %'
    """
    where = ", met in part" if check.met is None else ""
    return f"{'-' if check.slack < 0 else '+'}{significant(100 * abs(check.slack) / check.limit, 2)} %{where}"


def shown(run: Run, name: str) -> str:
    """A quantity of a run, flags included."""
    result = run.result(name)
    return result.text() if result else UNKNOWN
