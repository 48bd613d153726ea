"""Serving, where a study asks for it: speculation, chunks, links, queues and prices, each with its formula and value."""

from __future__ import annotations

from typing import Any

from symroof.analysis.study import Study
from symroof.cases.case_results import Answers
from symroof.report.formulas import formula
from symroof.report.markup import Code
from symroof.theory.serving import SERVING

GROUPS: dict[str, tuple[str, tuple[str, ...]]] = {
    "speculation": ("Speculative decoding", ("draft_tokens",)),
    "chunks": ("Prompts read in chunks", ("chunk",)),
    "batching": ("Batching", ("arrival_rate",)),
    "caches": ("Caches that come and go", ("hit_rate", "preemption_rate", "prefill_devices")),
    "links": ("Links and groups of devices", ("pp", "attention_dp", "ep", "dp", "link_latency")),
    "overheads": ("Launches", ("kernel_launch",)),
    "load": ("Load", ("arrival_rate", "burst_rate")),
    "prices": ("Prices", ("cost_target",)),
}
"""Group of quantities -> heading, and the inputs of which a study gives one where it asks for the group."""


def serving(study: Study, subject: Answers) -> list[dict[str, Any]]:
    """One table for each group that the study's inputs ask for; a quantity without a value says what it lacks."""
    asked = [(group, heading) for group, (heading, inputs) in GROUPS.items() if any(subject.case.chosen(name) for name in inputs)]
    found = [{"heading": heading, "rows": rows(group, subject)} for group, heading in asked]
    return [entry for entry in found if entry["rows"]]


def rows(group: str, subject: Answers) -> list[list[Any]]:
    """Name, formula, value and meaning of every quantity of a group that has a value here."""
    found = []
    for quantity in SERVING:
        result = subject.get(quantity.name) if quantity.group == group else None
        if result is not None:
            definition = subject.case.stands_for(quantity.name)
            found.append([Code(quantity.name), formula(definition, subject.case.theory.latex), result.text(), quantity.meaning])
    return found
