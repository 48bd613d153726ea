"""A mix of two kinds of requests where something is decided: rates, latencies at work, costs and memory are those of the mix."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING

from symroof.cases.quantity_result import Result
from symroof.cases.spec_values import Given
from symroof.formula.tree import Name, Num
from symroof.theory.mixes import OF_THE_MIX
from symroof.units import significant

if TYPE_CHECKING:
    from symroof.cases.case_results import Answers

LENGTHS = ("prompt", "output", "long_prompt", "long_output")
"""The lengths of both kinds: a mix is known with all of them."""

SHARE = "long_share"


def mixed(given: Mapping[str, Given]) -> bool:
    """Whether some requests are long ones, of a length that is known."""
    share = given.get(SHARE)
    return share is not None and share.setting != NONE and all(name in given for name in LENGTHS)


def add_mix(given: dict[str, Given], warnings: list[str]) -> None:
    """Let what decides be that of the mix, and say so; a quantity that is given stays."""
    if mixed(given):
        given |= {name: Given(Name(own), "of the mix of requests", defaulted=True) for name, own in OF_THE_MIX.items() if name not in given}
        warnings.append(
            f"a mix of requests: {_kinds(given)}; rates, latencies at work, costs and memory (a slot's mean) are of the mix and targets are held against its means, latencies alone are of the first kind"
        )
    elif SHARE in given and given[SHARE].setting != NONE:
        missing = " and ".join(name for name in LENGTHS if name not in given)
        warnings.append(f"{SHARE} without {missing}: all requests are taken to be alike")


NONE = Num(Fraction(0))


def kinds_apart(answers: Answers) -> list[str]:
    """A remark for the kind of requests whose mean first token misses the target that the mean of all requests meets, throughout the ranges of both."""
    limit, decided = answers.targets.get("ttft"), answers.case.given.get("loaded_ttft")
    mean, *kinds = (answers.get(name) for name in ("mix_loaded_ttft", "mix_own_ttft", "mix_long_ttft"))
    if limit is None or decided != Name(OF_THE_MIX["loaded_ttft"]) or mean is None or _slowest(mean) > limit:
        return []
    return [
        f"{whose} requests miss the TTFT target that the mean of all requests meets: {kind.name}"
        for whose, kind in zip(("the case's own", "long"), kinds, strict=True)
        if kind is not None and _slowest(kind) > limit
    ]


def _slowest(metric: Result) -> Fraction:
    return Fraction(metric.high if metric.high is not None else metric.value)


def _kinds(given: Mapping[str, Given]) -> str:
    """``70 % of 500 + 200 tokens and 30 % of 8,000 + 400``; names where one is no plain number."""
    settings = [given[name].setting for name in (SHARE, *LENGTHS)]
    numbers = [setting.value for setting in settings if isinstance(setting, Num)]
    if len(numbers) < len(settings):
        return f"{SHARE} of {LENGTHS[2]} + {LENGTHS[3]} tokens, the others of {LENGTHS[0]} + {LENGTHS[1]}"
    share, *lengths = numbers
    prompt, output, long_prompt, long_output = (f"{float(length):,.10g}" for length in lengths)
    return f"{significant(100 - 100 * share, 3)} % of {prompt} + {output} tokens and {significant(100 * share, 3)} % of {long_prompt} + {long_output}"
