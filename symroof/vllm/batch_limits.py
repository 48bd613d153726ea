"""How far a server goes: the thresholds that bound its batch and its token budget, each met exactly."""

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
"""In a steady state a step reads as many prompts as it ends responses, what is not in the prefix cache of each; shared out over the ranks."""


@dataclass(frozen=True)
class Limit:
    """A number that bounds a flag.

    Attributes:
        value: the whole number it allows; None where nothing bounds it there.
    """

    name: str
    value: int | None
    solution: Solution
    means: str

    @property
    def equation(self) -> str:
        return THRESHOLDS[self.name].equation if self.name in THRESHOLDS else self.name


def solved(study: Study, name: str, unknown: str, means: str = "") -> Limit | None:
    """A threshold as a limit; None where an input that it needs has no value."""
    try:
        solution = study.first.memo.solved.get((name, unknown)) or study.solve(name, unknown)
    except (InputError, NoValue):
        return None
    if solution.missing:
        return None
    value = solution.whole if name in THRESHOLDS else solution.value
    whole = None if value is None else math.floor(value)
    if whole is None and solution.kind == "limit" and solution.verdict == "lhs_above":
        whole = 0  # above the limit from the first on
    reason = (THRESHOLDS[name].never(solution.verdict) if name in THRESHOLDS and whole is None else "") or solution.reason
    return Limit(name, whole, solution, means or reason)


def batch_limits(study: Study) -> list[Limit]:
    """What bounds the batch: memory, the ITL target with and without the prompts it has to read, the ridge."""
    limits = [solved(study, "max_batch_memory", "batch"), solved(study, "batch_to_ridge", "batch")]
    inputs = study.first.given
    if "itl_target" in inputs:
        limits.append(solved(study, "max_batch_itl", "batch"))
        if "output" in inputs and "prompt" in inputs:
            late = _late(study)
            pace = PACE if late.first.case.value("attention_dp") == 1 else PACE_OF_RANKS
            limits.append(solved(late, pace, "batch", "the largest batch that meets the ITL target while as many prompts are prefilled as responses finish"))
    return [limit for limit in limits if limit]


def chunk_limits(study: Study) -> list[Limit]:
    """What bounds the chunk beside a full batch at its last step, the prompt nearly read."""
    late = _late(study)
    limits = [solved(late, "max_chunk_itl", "chunk") if "itl_target" in study.first.given else None, solved(late, "free_chunk", "chunk")]
    return [limit for limit in limits if limit]


def _late(study: Study) -> Study:
    """The dearest step: every request at its last token, the chunk behind the whole prompt."""
    case = study.first.case
    values = {"context": case.value("peak_context")} if study.first.get("peak_context") else {}
    if "prompt" in study.first.given:
        values["chunk_past"] = Fraction(math.floor(case.value("prompt")))  # of a range the whole number below its middle
    return with_values(study, **values)


def with_values(study: Study, **values: Any) -> Study:
    """The same case with some values chosen otherwise."""
    made = Study()
    made.select(request_of(origin=RECOMMENDED, **values).over(study.request))
    return made


# -------------------------------------------------------------------------------------------------------- limits


# --------------------------------------------------------------------------------------------------- recommended
