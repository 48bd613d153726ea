"""The table "What to buy": layout, replicas, settings and price for an arrival rate, and its headroom."""

from collections.abc import Collection, Iterator, Sequence
from fractions import Fraction
from typing import Any

from symroof.analysis.verdict import LOAD, MEMORY
from symroof.cases.quantity_result import Result
from symroof.drawing.table_formats import UNKNOWN
from symroof.report.selection_parts import SelectionTable, shown, verdict
from symroof.select.configuration import Configuration, Run
from symroof.select.headroom import Headroom, expected_batch, expected_copies, headrooms
from symroof.select.screening import PRICED
from symroof.select.selection import Selection

MOST_BOUGHT = 3
"""Configurations in the table."""

OVER = {
    MEMORY: "memory",
    LOAD: "the queue",
    "ttft": "TTFT",
    "itl": "ITL",
    "cost": "cost",
    "price": "price",
    "fleet_price": "the budget",
}
HEADROOM_INPUTS = {
    "arrival_rate": "largest rate",
    "prompt": "longest prompt",
    "output": "longest output",
}
"""Inputs that may grow in operation, with the heading of their last passing value."""
ORDERED = {
    "fleet": "cheapest first, those without a price last",
    "rate": "by throughput per device, as no price of those that pass is known",
}


def purchase_table(choice: Selection, most: int) -> SelectionTable:
    """The table of configurations that serve the arrival rate as expected, at any price."""
    serving = [
        c
        for c in choice.configurations
        if {*c.run.missed_as_expected, *c.run.unjudged} <= PRICED and LOAD in _checked(c)
    ]
    if choice.order == "fleet":
        serving.sort(key=_price_after_passing)
    shown_ones = serving[: min(most, MOST_BOUGHT)]
    ranged = any(c.run.slow for c in shown_ones)
    solved = any("dp" in dict(c.run.changes) for c in shown_ones)
    rate = shown_ones[0].run.bound_case.result("arrival_rate").plain() if shown_ones else ""
    says = [
        f"for {rate}, {ORDERED.get(choice.order, f'by {choice.order}')}",
        *(
            [f"the first {len(shown_ones):,} of {len(serving):,} that serve it"]
            if len(shown_ones) < len(serving)
            else []
        ),
    ]
    columns = [_buy(c, ranged and solved) for c in shown_ones]
    rows = (
        tuple((what, *(column[what] for column in columns)) for what in columns[0])
        if columns
        else ()
    )
    notes = tuple(_notes(shown_ones, ranged, solved)) if shown_ones else ()
    return SelectionTable(
        "What to buy", ("", *(c.label for c in shown_ones)), rows, "; ".join(says), notes
    )


def _notes(shown_ones: Sequence[Configuration], ranged: bool, solved: bool) -> Iterator[str]:
    """Explanations of the rows; ``solved``: whether the number of replicas was."""
    grouped = any(c.run.bound_case.case.value("attention_dp") > 1 for c in shown_ones)
    if solved:
        yield "replicas: enough for the arrival rate" + (
            " at the slow end of what was measured; replicas (expected): enough at the expected values"
            if ranged
            else ""
        )
    yield (
        "batch and chunk: per replica; vLLM's max-num-seqs, and its max-num-batched-tokens less the batch"
        + ("; of all DP attention groups together, where vLLM counts per rank" if grouped else "")
    )
    yield "price: of all replicas; per million tokens: of output, at this arrival rate, idle time included"
    yield "load: arriving requests over what all replicas sustain; the queue is unstable from 1 on"
    yield "ttft and itl: means of a server under load; the wait in ttft is an estimate"
    yield "wait for a slot: also an estimate, part of ttft, and long near a load of 1"
    yield "largest rate, longest prompt and output: the last value that passes, and what fails beyond it; devices and chunk unchanged, a smaller batch where needed; a prompt just longer than the chunk takes one more step"


def _price_after_passing(c: Configuration) -> tuple[bool, bool, Any]:
    """Sort key: passing configurations in their order, then the others by price, those without a price last."""
    price = None if c.state == "passes" else c.run.rank("fleet_price")
    return c.state != "passes", price is None, price or 0


def _checked(c: Configuration) -> Collection[str]:
    """The conditions that were checked."""
    return c.run.shares or [check.name for check in c.run.checks]


def _expected(run: Run) -> str:
    """The replicas needed at the expected values, and their batch if it differs."""
    copies, batch = f"{expected_copies(run):,}", expected_batch(run)
    return copies if batch == run.batch else f"{copies}, batch {batch:,}"


def _buy(c: Configuration, expected: bool) -> dict[str, str]:
    """The column of a configuration by row heading; ``expected``: include the replicas at the expected values."""
    run, case = c.run, c.run.bound_case.case
    chunk = (
        f"{int(case.value('chunk')):,}"
        if run.bound_case.assumptions["scheduling"] == "chunked" and case.is_set("chunk")
        else "whole prompts"
    )
    return {
        "verdict": verdict(c),
        "replicas": f"{run.copies:,}",
        **({"replicas (expected)": _expected(run)} if expected else {}),
        "devices": f"{int(case.value('served_devices') * case.value('dp')):,}",
        "batch": f"{run.batch:,}",
        "chunk": chunk,
        "price": shown(run, "fleet_price"),
        "per million tokens": shown(run, "cost_per_mtok_at_rate"),
        "load": shown(run, LOAD),
        "ttft": shown(run, "loaded_ttft"),
        "wait for a slot": shown(run, "admission_wait"),
        "itl": shown(run, "sustained_itl"),
        **dict(zip(HEADROOM_INPUTS.values(), _headroom_cells(run), strict=True)),
    }


def _headroom_cells(run: Run) -> list[str]:
    """The last passing value of each input that may grow, and what fails beyond it."""
    late = not PRICED.issuperset(run.missed_when_slow)
    none = f"less than now{' at the slow end' if run.slow else ''}" if late else UNKNOWN
    return [
        none if last is None else _last(run, last)
        for last in headrooms(run, tuple(HEADROOM_INPUTS))
    ]


def _last(run: Run, last: Headroom) -> str:
    value = Result(
        run.bound_case.case.theory.symbol(last.name), Fraction(last.value).limit_denominator(10**6)
    ).plain()
    return (
        f"{value} ({', '.join(OVER[broken] for broken in last.breaks)})" if last.breaks else "any"
    )
