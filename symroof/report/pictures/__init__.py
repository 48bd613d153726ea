"""Pictures of a study by kind; what computes a kind is only imported when drawn, and Matplotlib with it."""

from __future__ import annotations

import contextlib
import importlib
from typing import TYPE_CHECKING

from symroof.errors import InputError, Problem, nearest

if TYPE_CHECKING:
    from symroof.analysis.study import Study
    from symroof.cases.bound_case import BoundCase
    from symroof.report.pictures.chart import Chart
    from symroof.report.pictures.draw import Picture
    from symroof.report.recommendation import Reviewed

ENDINGS = ("svg", "pdf", "png")
"""Output formats."""
KINDS = {
    "roofline": "both phases and their operators under the roof of one device",
    "latency-throughput": "throughput against ITL as the batch grows, with what memory and the target allow",
    "regimes": "what limits a decode step, over batch and context",
    "pareto": "cost against ITL of the candidates as select ranks them, with the pick marked",
    "memory": "weights and cache of every case against usable memory",
    "tornado": "how far each input moves TTFT, ITL and cost, from its low to its high value",
    "parts": "the times that TTFT and ITL are the sum of",
    "ttft": "TTFT against the prompt, with the target and where the bound changes",
    "itl": "ITL against the context, with the target and where memory is full",
}
"""Kind -> what it shows."""
MODULES = {
    "limits": ("roofline", "regimes"),
    "batches": ("latency-throughput", "pareto"),
    "bars": ("memory", "tornado", "parts"),
    "over_input": ("ttft", "itl"),
}
"""Module -> the kinds that it has a function for."""
OF_BODY = ("latency-throughput", "pareto", "memory")
OF_APPENDIX = tuple(kind for kind in KINDS if kind != "parts")
"""The pictures of a review, and of one with its appendix."""
WATERFALL = "waterfall"
COMPARING = {WATERFALL: "each step from one case's number to another's, with a second side"}
"""Kinds that take a second case, which :func:`bars.waterfall` draws."""


def checked(kind: str) -> str:
    """The canonical name of a kind.

    Raises:
        InputError: an unknown kind, with the nearest known one.

    >>> checked("Latency_Throughput")
    'latency-throughput'
    """
    name = kind.strip().lower().replace("_", "-")
    if name not in KINDS and name not in COMPARING:
        near = nearest(name, [*KINDS, *COMPARING])
        hint = f"{near} A quantity is drawn over an input: --over batch"
        raise InputError(Problem(kind[:80], "no such kind of picture", hint=hint))
    return name


def chart_of(kind: str, study: Study, subject: BoundCase | None = None) -> Chart:
    """What a kind of picture shows of a study; kinds for a single case show the subject, by default the first case.

    Raises:
        InputError: an unknown kind, or a missing input.
    """
    name = checked(kind)
    if name in COMPARING:
        raise InputError(Problem(name, "needs a second side to lead to", hint="give one: against"))
    home = next(module for module, kinds in MODULES.items() if name in kinds)
    module = importlib.import_module(f"symroof.report.pictures.{home}")
    made: Chart = getattr(module, name.replace("-", "_"))(study, subject or study.first)
    return made


def of_review(review: Reviewed, full: bool) -> list[Picture]:
    """The pictures of a review that have data; those of its appendix only of a full one."""
    from symroof.report.pictures.batches import ranked
    from symroof.report.pictures.draw import draw

    pictures = []
    for kind in OF_APPENDIX if full else OF_BODY:
        with contextlib.suppress(InputError):
            pareto = kind == "pareto"
            made = ranked(review) if pareto else chart_of(kind, review.study, review.subject)
            pictures.append(draw(made))
    return pictures
