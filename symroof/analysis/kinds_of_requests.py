"""The kinds of requests of a mix against the targets that are held against its means."""

from fractions import Fraction

from symroof.cases.case_results import Answers
from symroof.cases.quantity_result import Result
from symroof.formula.tree import Name
from symroof.theory.quantities import OF_THE_MIX


def kinds_apart(answers: Answers) -> list[str]:
    """A remark for the kind of requests whose mean first token misses the target that the mean of all requests meets, throughout the ranges of both."""
    limit, decided = answers.targets.get("ttft"), answers.case.given.get("loaded_ttft")
    mean, *kinds = (answers.get(name) for name in ("mix_loaded_ttft", "mix_own_ttft", "mix_long_ttft"))
    if limit is None or decided != Name(OF_THE_MIX["loaded_ttft"]) or mean is None or _slowest(mean) > limit:
        return []
    return [
        f"{whose} requests miss the TTFT target that the mean of all requests meets, at {kind.text()}: {kind.name}"
        for whose, kind in zip(("the case's own", "long"), kinds, strict=True)
        if kind is not None and _slowest(kind) > limit
    ]


def _slowest(metric: Result) -> Fraction:
    return Fraction(metric.high if metric.high is not None else metric.value)
