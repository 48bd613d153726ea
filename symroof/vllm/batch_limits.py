"""Thresholds that limit the batch and the token budget of a server."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from symroof.analysis.solution import Solution
from symroof.analysis.study import Study
from symroof.cases.request import RECOMMENDED, request_of
from symroof.errors import InputError
from symroof.symbolic.evaluation import NoValue
from symroof.theory.thresholds import THRESHOLDS


@dataclass(frozen=True)
class BatchLimit:
    """A number that limits a flag.

    Attributes:
        value: the largest whole number it allows; None if unlimited.
    """

    name: str
    value: int | None
    solution: Solution
    means: str

    @property
    def equation(self) -> str:
        return THRESHOLDS[self.name].equation


def solved(study: Study, name: str, unknown: str) -> BatchLimit | None:
    """A threshold as a limit; None if a required input has no value."""
    try:
        solution = study.solve(name, unknown)
    except (InputError, NoValue):
        return None
    if solution.missing:
        return None
    value = solution.whole
    whole = None if value is None else math.floor(value)
    if whole is None and solution.kind == "limit" and solution.verdict == "lhs_above":
        whole = 0  # exceeded from the start
    reason = (THRESHOLDS[name].never(solution.verdict) if whole is None else "") or solution.reason
    return BatchLimit(name, whole, solution, reason)


def batch_limits(study: Study) -> list[BatchLimit]:
    """Limits of the batch: memory, the ITL target with and without prefills, the ridge."""
    limits = [solved(study, "max_batch_memory", "batch"), solved(study, "batch_to_ridge", "batch")]
    if "itl_target" in study.first.given:
        limits += [
            solved(study, "max_batch_itl", "batch"),
            solved(study, "max_batch_sustained_itl", "batch"),
        ]
    return [limit for limit in limits if limit]


def chunk_limits(study: Study) -> list[BatchLimit]:
    """Limits of the chunk beside a full batch at its slowest step: every request at its last token, the chunk at the end of its prompt."""
    case, values = study.first.case, {}
    if study.first.get("peak_context"):
        values["context"] = case.value("peak_context")
    if "prompt" in study.first.given:  # a range counts with the whole number below its middle
        values["chunk_past"] = Fraction(math.floor(case.value("prompt")))
    late = with_values(study, **values)
    limits = [
        solved(late, "max_chunk_itl", "chunk") if "itl_target" in study.first.given else None,
        solved(late, "free_chunk", "chunk"),
    ]
    return [limit for limit in limits if limit]


def with_values(study: Study, **values: Any) -> Study:
    """The same case with some values changed."""
    made = Study()
    made.select(request_of(origin=RECOMMENDED, **values).over(study.request))
    return made


def requests_per_rank(study: Study, batch: int) -> int:
    """Requests of one rank: vLLM counts max-num-seqs and max-num-batched-tokens per rank."""
    return -(-batch // int(study.first.case.value("attention_dp")))
