"""Thresholds that limit the batch and the token budget of a server."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from symroof.analysis.solution import Solution
from symroof.analysis.study import Study
from symroof.cases.request import RECOMMENDED, request_of
from symroof.errors import InputError
from symroof.formula.evaluate import NoValue
from symroof.theory.thresholds import THRESHOLDS

PACE, PACE_OF_RANKS = (f"mixed_time(chunk = {chunk}) = itl_target" for chunk in ("even_chunk", "even_chunk/attention_dp"))
"""In steady state a step prefills as many prompts (minus their cached prefix) as it finishes responses, divided over the ranks."""


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
        return THRESHOLDS[self.name].equation if self.name in THRESHOLDS else self.name


def solved(study: Study, name: str, unknown: str, means: str = "") -> BatchLimit | None:
    """A threshold as a limit; None if a required input has no value."""
    try:
        solution = study.first.memo.solved.get((name, unknown)) or study.solve(name, unknown)
    except (InputError, NoValue):
        return None
    if solution.missing:
        return None
    value = solution.whole if name in THRESHOLDS else solution.value
    whole = None if value is None else math.floor(value)
    if whole is None and solution.kind == "limit" and solution.verdict == "lhs_above":
        whole = 0  # exceeded from the start
    reason = (THRESHOLDS[name].never(solution.verdict) if name in THRESHOLDS and whole is None else "") or solution.reason
    return BatchLimit(name, whole, solution, means or reason)


def batch_limits(study: Study) -> list[BatchLimit]:
    """Limits of the batch: memory, the ITL target with and without prefills, the ridge."""
    limits = [solved(study, "max_batch_memory", "batch"), solved(study, "batch_to_ridge", "batch")]
    inputs = study.first.given
    if "itl_target" in inputs:
        limits.append(solved(study, "max_batch_itl", "batch"))
        if "output" in inputs and "prompt" in inputs:
            late = _late(study)
            pace = PACE if late.first.case.value("attention_dp") == 1 else PACE_OF_RANKS
            limits.append(solved(late, pace, "batch", "the largest batch that meets the ITL target while as many prompts are prefilled as responses finish"))
    return [limit for limit in limits if limit]


def chunk_limits(study: Study) -> list[BatchLimit]:
    """Limits of the chunk beside a full batch at its last step."""
    late = _late(study)
    limits = [solved(late, "max_chunk_itl", "chunk") if "itl_target" in study.first.given else None, solved(late, "free_chunk", "chunk")]
    return [limit for limit in limits if limit]


def _late(study: Study) -> Study:
    """The slowest step: every request at its last token, the chunk at the end of its prompt."""
    case = study.first.case
    values = {"context": case.value("peak_context")} if study.first.get("peak_context") else {}
    if "prompt" in study.first.given:
        values["chunk_past"] = Fraction(math.floor(case.value("prompt")))  # a range counts with the whole number below its middle
    return with_values(study, **values)


def with_values(study: Study, **values: Any) -> Study:
    """The same case with some values changed."""
    made = Study()
    made.select(request_of(origin=RECOMMENDED, **values).over(study.request))
    return made


def requests_per_rank(study: Study, batch: int) -> int:
    """Requests of one rank: vLLM counts max-num-seqs and max-num-batched-tokens per rank."""
    return -(-batch // int(study.first.case.value("attention_dp")))
