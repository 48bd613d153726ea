"""What a decision assumes where nothing else is set: the memory and the token budget of an engine, and the quantities of a mix of two kinds of requests."""

from collections.abc import Mapping
from fractions import Fraction

from symroof.cases.spec_values import SourcedValue, dimension
from symroof.formula.tree import Name, Num
from symroof.theory.mixes import OF_THE_MIX
from symroof.theory.switches import Assumptions
from symroof.units import significant

ENGINE_SHARE = Fraction(92, 100)
"""The share of a device's memory that an engine takes: vLLM's default of gpu-memory-utilization, by the version read."""

ENGINE_CHUNK = Fraction(2048)
"""Prompt tokens that a step processes in addition to the batch: vLLM's default of max-num-batched-tokens, by the version read."""

DECIDING_SHARE = SourcedValue(Num(ENGINE_SHARE), "default of decisions: what vLLM takes of a device's memory (gpu-memory-utilization)", defaulted=True)
DECIDING_CHUNK = SourcedValue(Num(ENGINE_CHUNK, dimension("chunk")), "default of decisions: vLLM's token budget of a step beside the batch", defaulted=True)


def add_decision_defaults(assumptions: Assumptions, given: dict[str, SourcedValue], warnings: list[str]) -> None:
    """Complete the inputs of a case that something is decided by, and say what was done about a mix; what is given stays."""
    given.setdefault("memory_share", DECIDING_SHARE)
    if "output" in given and assumptions["scheduling"] == "chunked":
        given.setdefault("chunk", DECIDING_CHUNK)
    if assumptions["targets_under"] == "load":
        add_mix(given, warnings)


LENGTHS = ("prompt", "output", "long_prompt", "long_output")
"""The lengths of both kinds: a mix is known with all of them."""

SHARE, NO_LONG_REQUESTS = "long_share", Num(Fraction(0))


def has_mix(given: Mapping[str, SourcedValue]) -> bool:
    """Whether some requests are long ones, of a length that is known."""
    share = given.get(SHARE)
    return share is not None and share.setting != NO_LONG_REQUESTS and all(name in given for name in LENGTHS)


def add_mix(given: dict[str, SourcedValue], warnings: list[str]) -> None:
    """Let what decides be that of the mix, and say so; a quantity that is given stays."""
    if has_mix(given):
        given |= {name: SourcedValue(Name(own), "of the mix of requests", defaulted=True) for name, own in OF_THE_MIX.items() if name not in given}
        warnings.append(
            f"a mix of requests: {_kinds(given)}; rates, latencies under load, costs and memory (a slot's mean) are of the mix and targets apply to its means, latencies alone are of the first kind"
        )
    elif SHARE in given and given[SHARE].setting != NO_LONG_REQUESTS:
        missing = " and ".join(name for name in LENGTHS if name not in given)
        warnings.append(f"{SHARE} without {missing}: all requests are treated as equal")


def _kinds(given: Mapping[str, SourcedValue]) -> str:
    """``70 % of 500 + 200 tokens and 30 % of 8,000 + 400``; names where one is no plain number."""
    settings = [given[name].setting for name in (SHARE, *LENGTHS)]
    numbers = [setting.value for setting in settings if isinstance(setting, Num)]
    if len(numbers) < len(settings):
        return f"{SHARE} of {LENGTHS[2]} + {LENGTHS[3]} tokens, the others of {LENGTHS[0]} + {LENGTHS[1]}"
    share, *lengths = numbers
    prompt, output, long_prompt, long_output = (f"{float(length):,.10g}" for length in lengths)
    return f"{significant(100 - 100 * share, 3)} % of {prompt} + {output} tokens and {significant(100 * share, 3)} % of {long_prompt} + {long_output}"
