"""A mix of two kinds of requests: what decides is then that of the mix, for every command."""

from collections.abc import Mapping

from symroof.cases.case_inputs import CaseInputs
from symroof.cases.input import Input
from symroof.symbolic.expressions import symbol
from symroof.theory.quantities import OF_THE_MIX
from symroof.units import significant

LENGTHS = ("prompt", "output", "long_prompt", "long_output")
"""The lengths of both kinds: a mix is known with all of them."""

SHARE = "long_share"


def _has_long_requests(given: Mapping[str, Input]) -> bool:
    return SHARE in given and given[SHARE].number != 0


def has_mix(given: Mapping[str, Input]) -> bool:
    """Whether some requests are long ones, of a length that is known."""
    return _has_long_requests(given) and all(name in given for name in LENGTHS)


def add_mix(case: CaseInputs) -> None:
    """Let what decides be that of the mix, and say so; a quantity that is given stays."""
    if has_mix(case.given):
        case.add(
            {
                name: Input(symbol(own), "of the mix of requests", defaulted=True)
                for name, own in OF_THE_MIX.items()
            }
        )
        numbers = [
            own for name in (SHARE, *LENGTHS) if (own := case.given[name].number) is not None
        ]
        kinds = f"{SHARE} of {LENGTHS[2]} + {LENGTHS[3]} tokens, the others of {LENGTHS[0]} + {LENGTHS[1]}"
        if len(numbers) > len(LENGTHS):
            share, *lengths = numbers
            prompt, output, long_prompt, long_output = (f"{float(x):,.10g}" for x in lengths)
            kinds = f"{significant(100 - 100 * share, 3)} % of {prompt} + {output} tokens and {significant(100 * share, 3)} % of {long_prompt} + {long_output}"
        case.warn(
            f"a mix of requests: {kinds}; rates, latencies under load, costs and memory (a slot's mean) are of the mix and targets apply to its means, latencies alone are of the first kind"
        )
    elif _has_long_requests(case.given):
        missing = " and ".join(name for name in LENGTHS if name not in case.given)
        case.warn(f"{SHARE} without {missing}: all requests are treated as equal")
