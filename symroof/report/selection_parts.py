"""Parts of a selection's tables: cells that several tables share, warnings, and the tables of inputs and assumptions."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from symroof.analysis.verdict import LOAD, MEMORY, TargetCheck, case_warnings, unused_inputs
from symroof.cases.quantity_result import Result
from symroof.select.configuration import PRICE, Configuration, Run, prices_move
from symroof.select.selection import Selection
from symroof.select.selection_json import QUANTITIES
from symroof.table_formats import UNKNOWN
from symroof.theory.switches import SWITCHES
from symroof.theory.symbols import TARGET_SYMBOLS
from symroof.units import significant

NO_PRICE = "no price found"
MISSES = {MEMORY: "does not fit", LOAD: "does not keep up"}


@dataclass(frozen=True)
class SelectionTable:
    """A table with its heading, an introduction (``says``) and notes on its columns."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    says: str = ""
    notes: tuple[str, ...] = ()


def verdict(c: Configuration) -> str:
    """The state in words, with missed targets and the batches that would pass."""
    run = c.run
    names = dict.fromkeys((*run.missed_as_expected, *run.missed))
    missed = ", ".join(
        MISSES.get(name, f"misses {name}") for name in names if name != "ttft" or LOAD not in names
    )  # an unstable queue has no finite wait
    words = {
        "passes": "passes",
        "in part": "passes over part of its ranges",
        "unknown": f"not known: {', '.join(run.unknown)}",
        "fails": missed,
    }
    return words[run.state] + (
        f"; passes with a batch of {c.window}"
        if c.window and run.state in ("fails", "in part")
        else ""
    )


def slack(check: TargetCheck) -> str:
    """The slack in percent of the limit, negative if it is exceeded.

    >>> from symroof.analysis.study import Study
    >>> from symroof.analysis.verdict import target_checks
    >>> study = Study(model="llama-3-8b", hardware="h100-sxm", prompt=4096, targets={"ttft": 0.1})
    >>> slack(target_checks(study.first)[0])
    '-12 %'
    """
    where = (
        ", met in part" if check.met is None else ", at the median price" if check.straddles else ""
    )
    return f"{'-' if check.slack < 0 else '+'}{significant(100 * abs(check.slack) / check.limit, 2)} %{where}"


def shown(run: Run, name: str) -> str:
    """A quantity of a run with its flags."""
    result = run.result(name)
    return result.text() if result else no_value(run, name)


def no_value(run: Run, name: str) -> str:
    """What stands for a quantity without a value."""
    return NO_PRICE if not run.own.case.has(PRICE) and prices_move(name) else UNKNOWN


TABLE_QUANTITIES = (
    "memory_bytes", "fits", "sustained_itl", "loaded_itl", "loaded_ttft", "sustained_throughput_per_device", "load",
    "ttft", "itl_last", "itl", "decode_throughput_per_device", "cost_per_mtok", "fleet_price", *TARGET_SYMBOLS.values(),
)  # fmt: skip
"""The quantities of the tables: the ledger lists their inputs."""


def starred(name: str, defaulted: bool) -> str:
    """A name, marked with a star if its value is a default."""
    return f"* {name}" if defaulted else name


MOST_SHOWN = 3
"""Maximum configurations named in a warning."""


def inputs(
    configurations: Sequence[Configuration],
) -> tuple[dict[str, Result], dict[str, list[Result]]]:
    """Inputs with one common value, and the distinct values of all others."""
    by_name: dict[str, list[Result]] = {}
    for c in configurations:
        answers = c.run.bound_case
        for name, value in answers.inputs(
            tuple(name for name in TABLE_QUANTITIES if answers.get(name)), everything=False
        ).items():
            by_name.setdefault(name, []).append(value)
    shared, differing = {}, {}
    for name, values in by_name.items():
        if len({(v.value, v.source) for v in values}) == 1:
            shared[name] = values[0]
        else:
            differing[name] = list({(v.value, v.source): v for v in values}.values())
    return shared, differing


def ledger(choice: Selection, most: int) -> tuple[SelectionTable, ...]:
    """Inputs of the first configurations and switches as tables; a star marks defaults."""
    shared, differing = inputs(choice.configurations[:most])
    shown = f"; of the first {most:,} configurations" if len(choice.configurations) > most else ""
    rows = [(starred(name, i.defaulted), i.text(), i.source) for name, i in shared.items()]
    rows += [
        (starred(name, False), _spread(values), "differs between the configurations")
        for name, values in differing.items()
    ]
    first = choice.configurations[0].run.bound_case.assumptions
    switches = [
        (starred(s, first.defaulted(s)), first[s], switch.values[first[s]])
        for s, switch in SWITCHES.items()
    ]
    return (
        SelectionTable(
            "Inputs", ("input", "value", "source"), tuple(rows), "* = defaulted" + shown
        ),
        SelectionTable(
            "Assumptions", ("switch", "value", "meaning"), tuple(switches), "* = defaulted"
        ),
    )


def _spread(values: list[Result]) -> str:
    """The values of an input over the configurations: a few are listed, more become a range."""
    ordered = sorted(values, key=lambda i: Fraction(i.value))
    texts = list(dict.fromkeys(i.plain() for i in ordered))
    return ", ".join(texts) if len(texts) <= MOST_SHOWN else f"{texts[0]} to {texts[-1]}"


def warnings(choice: Selection, most: int) -> list[str]:
    """Warnings of the first configurations, each once with the configurations it applies to; memory is in the table."""
    labels_of: dict[str, list[str]] = {}
    shown = choice.configurations[:most]
    for c in shown:
        for text in case_warnings(c.run.bound_case):
            if not text.startswith("does not fit"):
                labels_of.setdefault(text, []).append(c.label)
    unused = [
        f"{name} has no effect here: nothing that a selection shows depends on it"
        for name in _unused(shown)
    ]
    return [
        *unused,
        *(
            text if len(labels) == len(shown) else f"{_of(labels)}: {text}"
            for text, labels in labels_of.items()
        ),
    ]


def _unused(shown: Sequence[Configuration]) -> list[str]:
    """Inputs on which no verdict and no number of a selection depends."""
    first = shown[0].run.bound_case if shown else None
    return (
        unused_inputs(first, [name for name in QUANTITIES if first.case.has_value(name)])
        if first
        else []
    )


def _of(labels: list[str]) -> str:
    names = list(Counter(labels))
    return "; ".join(names[:MOST_SHOWN]) + (
        f" and {len(names) - MOST_SHOWN:,} more" if len(names) > MOST_SHOWN else ""
    )
