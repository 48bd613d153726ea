"""A point with a made-up value for every name, so that a formula can be looked at by itself."""

import math
import random
from fractions import Fraction

from symroof.theory.quantities import QUANTITIES
from symroof.theory.symbols import INPUTS

from ..tables import words

NAMES = sorted({*QUANTITIES, *INPUTS})
PRIMES = [n for n in range(11, 6000) if all(n % k for k in range(2, math.isqrt(n) + 1))][
    : len(NAMES)
]
SHARES = words(
    "utilization prefill_slot_utilization hit_rate acceptance margin long_share percentile "
    "mix_load idle_share decode_only_share slots_taken turn_share no_prompt_share "
    "long_step_share long_token_share full_share many_share few_share not_full_share load "
    "mfu mbu link_share memory_share long_slots_share"
)
COUNTS = words(
    "output long_output response_steps prompt_chunks chunk_steps draft_tokens decode_tokens "
    "experts_per_token group_requests attention_dp open_prompts slot_steps peaked_slots "
    "prefill_slots prompts_per_step"
)
"""Ends of sums, and what has to be small."""


class Made:
    """A point: a made-up value for every name, ``fixed`` ones apart: a float in formulas, exact by hand."""

    axes = 0

    def __init__(self, seed, **fixed):
        self.fixed = frozenset(fixed)
        draw = random.Random(seed)
        self.known = dict(zip(NAMES, map(Fraction, draw.sample(PRIMES, len(NAMES))), strict=True))
        self.known |= {name: Fraction(draw.randint(1, 96), 97) for name in SHARES} | {
            name: Fraction(draw.randint(1, 9)) for name in COUNTS
        }
        self.known |= {
            "ln2": Fraction(math.log(2)),
            **{name: Fraction(value) for name, value in fixed.items()},
        }

    def value(self, name):
        return float(self.known[name])

    def at(self, name, changes):
        return moved(self.value(name), changes)

    def __getattr__(self, name):
        if name not in NAMES:
            raise AttributeError(name)
        return self.known[name]

    def __call__(self, name, **changes):
        return moved(self.known[name], changes)


def moved(result, changes):
    """Not a quantity at changed inputs, but another number for every other change of it."""
    for key, value in changes.items():
        result = value / PRIMES[NAMES.index(key)] + result
    return result
