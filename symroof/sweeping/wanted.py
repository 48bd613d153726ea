"""Which quantities a sweep works out: those asked for, or the ones people look at first, and always whether the point fits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from symroof.formula.evaluate import NotGiven, NoValue
from symroof.results import Answers
from symroof.specs.errors import InputError, Problem, nearest
from symroof.theory.quantities import QUANTITIES
from symroof.theory.spellings import printed_name
from symroof.theory.symbols import INPUTS, base_name
from symroof.theory.theory import UnknownName
from symroof.theory.thresholds import THRESHOLDS

FIRST = (
    "ttft", "itl", "user_rate", "decode_throughput", "response_time", "memory_bytes", "memory_utilization", "fits", "cost_per_mtok", "prefill_bound",
    "decode_bound",
)  # fmt: skip
"""What is worked out where nobody asks for anything in particular."""
FITS = "fits"


def asked(names: Iterable[str]) -> list[str]:
    """Quantities by their printed names, each once; commas separate names.

    >>> asked(["ttft,itl", "isl"])
    ['ttft', 'itl', 'prompt']

    Raises:
        InputError: unknown ones, with the nearest name.
    """
    found: dict[str, None] = {}
    problems = []
    for written in (part.strip() for name in names for part in name.split(",")):
        name = printed_name(written)
        if base_name(name) in QUANTITIES or base_name(name) in INPUTS:
            found[name] = None
        elif base_name(name) in THRESHOLDS:
            problems.append(Problem("--quantity", "is a threshold, not a quantity", path=written[:60], hint=f"`symroof solve {written[:60]}`"))
        else:
            hint = nearest(name, [*QUANTITIES, *INPUTS]) or "`symroof list quantities` shows them"
            problems.append(Problem("--quantity", "no such quantity or input", path=written[:60], hint=hint))
    if problems:
        raise InputError(problems)
    return list(found)


def known_in(cases: Sequence[Answers], names: Sequence[str] | None, axes: frozenset[str]) -> tuple[list[str], list[list[str]], list[str]]:
    """The quantities that have a value in some case, those of each case, and what is to be said of the others.

    Raises:
        InputError: a quantity that was asked for has no value in any case, with what it needs.
    """
    wanted = [name for name in (FIRST if names is None else names) if name not in axes]
    if not wanted:
        raise InputError(Problem("sweep", "every quantity that is asked for is an axis", hint="ask for one that is worked out, such as -q itl"))
    if any(cases[0].case.theory.timed(name) for name in wanted) and FITS not in [*wanted, *axes]:
        wanted.append(FITS)
    lacking = [{name: why for name in wanted if (why := lacks(case, name))} for case in cases]
    nowhere = {name: why for name, why in lacking[0].items() if all(name in missing for missing in lacking)}
    if names is not None and (faults := [Problem("sweep", why, path=name) for name, why in nowhere.items() if name in names]):
        raise InputError(faults)
    found = [name for name in wanted if name not in nowhere]
    if not found:
        raise InputError(Problem("sweep", "none of the usual quantities has a value", path=wanted[0], hint="; ".join(dict.fromkeys(nowhere.values()))))
    said = [f"whether a point fits in memory is not known: {nowhere[FITS]}"] if FITS in nowhere else []
    return found, [[name for name in found if name not in missing] for missing in lacking], said


def lacks(case: Answers, name: str) -> str:
    """What a quantity needs that the case does not give; nothing where a value can be worked out, here or elsewhere on the grid."""
    try:
        case.case.value(name)
    except NotGiven as error:
        return str(error)
    except UnknownName:
        return "no such part of this model"
    except NoValue:
        pass
    return ""
