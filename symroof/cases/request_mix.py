"""A mix of two kinds of requests: what decides is then that of the mix, for every command."""

from collections.abc import Mapping
from fractions import Fraction

from symroof.cases.spec_values import SourcedValue
from symroof.symbolic.expressions import fraction, is_number, number, symbol
from symroof.theory.quantities import OF_THE_MIX
from symroof.units import significant

LENGTHS = ("prompt", "output", "long_prompt", "long_output")
"""The lengths of both kinds: a mix is known with all of them."""

SHARE, NO_LONG_REQUESTS = "long_share", number(Fraction(0))


def has_mix(given: Mapping[str, SourcedValue]) -> bool:
    """Whether some requests are long ones, of a length that is known."""
    share = given.get(SHARE)
    return (
        share is not None
        and share.setting != NO_LONG_REQUESTS
        and all(name in given for name in LENGTHS)
    )


def add_mix(given: dict[str, SourcedValue], warnings: list[str]) -> None:
    """Let what decides be that of the mix, and say so; a quantity that is given stays."""
    if has_mix(given):
        given |= {
            name: SourcedValue(symbol(own), "of the mix of requests", defaulted=True)
            for name, own in OF_THE_MIX.items()
            if name not in given
        }
        warnings.append(
            f"a mix of requests: {_kinds(given)}; rates, latencies under load, costs and memory (a slot's mean) are of the mix and targets apply to its means, latencies alone are of the first kind"
        )
    elif SHARE in given and given[SHARE].setting != NO_LONG_REQUESTS:
        missing = " and ".join(name for name in LENGTHS if name not in given)
        warnings.append(f"{SHARE} without {missing}: all requests are treated as equal")


def _kinds(given: Mapping[str, SourcedValue]) -> str:
    """``70 % of 500 + 200 tokens and 30 % of 8,000 + 400``; names where one is no plain number."""
    settings = [given[name].setting for name in (SHARE, *LENGTHS)]
    numbers = [fraction(setting) for setting in settings if is_number(setting)]
    if len(numbers) < len(settings):
        return f"{SHARE} of {LENGTHS[2]} + {LENGTHS[3]} tokens, the others of {LENGTHS[0]} + {LENGTHS[1]}"
    share, *lengths = numbers
    prompt, output, long_prompt, long_output = (f"{float(length):,.10g}" for length in lengths)
    return f"{significant(100 - 100 * share, 3)} % of {prompt} + {output} tokens and {significant(100 * share, 3)} % of {long_prompt} + {long_output}"
