"""What a selection rests on: inputs and switches that its configurations share, and those in which they differ."""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

from symroof.analysis.verdict import case_warnings
from symroof.cases.quantity_result import Input
from symroof.report.selection_cells import Part
from symroof.select.configuration import Configuration
from symroof.select.selection import Selection
from symroof.theory.switches import SWITCHES
from symroof.theory.symbols import TARGET_SYMBOLS

RESTS_ON = (
    "memory_bytes", "fits", "sustained_itl", "loaded_ttft", "sustained_throughput_per_device", "load",
    "ttft", "itl_last", "itl", "decode_throughput_per_device", "cost_per_mtok", "fleet_price", *TARGET_SYMBOLS.values(),
)  # fmt: skip
"""The quantities of the tables: the ledger lists their inputs."""


def starred(name: str, defaulted: bool) -> str:
    """A name, with a star where it is a default."""
    return f"* {name}" if defaulted else name


MOST_SHOWN = 3
"""Configurations that a warning names; more are counted."""


def inputs(configurations: Sequence[Configuration]) -> tuple[dict[str, Input], dict[str, list[Input]]]:
    """Inputs that all of these share by name, and every distinct value of those in which they differ."""
    by_name: dict[str, list[Input]] = {}
    for c in configurations:
        answers = c.run.bound_case
        for name, value in answers.inputs(tuple(name for name in RESTS_ON if answers.get(name)), everything=False).items():
            by_name.setdefault(name, []).append(value)
    shared, differing = {}, {}
    for name, values in by_name.items():
        if len({(v.result.value, v.source) for v in values}) == 1:
            shared[name] = values[0]
        else:
            differing[name] = list({(v.result.value, v.source): v for v in values}.values())
    return shared, differing


def ledger(choice: Selection, most: int) -> tuple[Part, ...]:
    """Inputs of the first configurations and switches as tables; a star marks defaults."""
    shared, differing = inputs(choice.configurations[:most])
    shown = f"; of the first {most:,} configurations" if len(choice.configurations) > most else ""
    rows = [(starred(name, i.defaulted), i.result.text(), i.source) for name, i in shared.items()]
    rows += [(starred(name, False), _spread(values), "differs between the configurations") for name, values in differing.items()]
    first = choice.configurations[0].run.bound_case.assumptions
    switches = [(starred(s, first.defaulted(s)), first[s], switch.values[first[s]]) for s, switch in SWITCHES.items()]
    return (
        Part("Inputs", ("input", "value", "source"), tuple(rows), "* = defaulted" + shown),
        Part("Assumptions", ("switch", "value", "meaning"), tuple(switches), "* = defaulted"),
    )


def _spread(values: list[Input]) -> str:
    """What an input takes over the configurations: a few values one by one, more as a span."""
    ordered = sorted(values, key=lambda i: Fraction(i.result.value))
    texts = list(dict.fromkeys(i.result.plain() for i in ordered))
    return ", ".join(texts) if len(texts) <= MOST_SHOWN else f"{texts[0]} to {texts[-1]}"


def warnings(choice: Selection, most: int) -> list[str]:
    """Warnings beside the verdicts of the first configurations, each once, with those it is of; memory is in the table."""
    labels_of: dict[str, list[str]] = {}
    shown = choice.configurations[:most]
    for c in shown:
        for text in case_warnings(c.run.bound_case):
            if not text.startswith("does not fit"):
                labels_of.setdefault(text, []).append(c.label)
    return [text if len(labels) == len(shown) else f"{_of(labels)}: {text}" for text, labels in labels_of.items()]


def _of(labels: list[str]) -> str:
    names = list(Counter(labels))
    return "; ".join(names[:MOST_SHOWN]) + (f" and {len(names) - MOST_SHOWN:,} more" if len(names) > MOST_SHOWN else "")
