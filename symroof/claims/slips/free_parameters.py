"""Slips with a free parameter: an efficiency or an overhead that would make the claim true. They are only ever suggested.

A parameter can be fitted to almost any number, so these explain next to nothing; ``chance`` is how little.
"""

import math
from collections.abc import Callable, Iterator
from fractions import Fraction

from symroof.claims.slips.context import Context
from symroof.claims.slips.explanation import SlipExplanation, chance
from symroof.units import format_quantity, significant

LEAST, MOST = Fraction(1, 20), Fraction(1)
"""Efficiencies worth a suggestion."""
EFFICIENCIES = (("mfu", "of the peak"), ("mbu", "of the bandwidth"))
"""Shares of a device's limits, each with the limit it is a share of."""
OVERHEAD = "step_overhead"
LONGEST = Fraction(1)
"""Seconds a step may wait at most for something that is not derived."""
HALVINGS = 30
CLOSE = Fraction(1, 1000)
"""How close the claim has to be met: a value that jumps, as whole numbers do, may pass it by."""


def fitted_parameters(context: Context, claimed: Fraction) -> Iterator[SlipExplanation]:
    """The parameters that make the claim true; in two cases that are compared, in both or in either."""

    def explanation(slip: str, chance: float, text: str) -> SlipExplanation:
        return SlipExplanation(slip, False, claimed, chance, text)

    for name, meaning in EFFICIENCIES:
        for side, value, share in _values(context, name, (MOST, LEAST), claimed):
            text = f"holds at {name} {significant(value, 3)}{context.where(side)}: that share {meaning} is reached"
            yield explanation("hidden_efficiency", share, text)
    if context.unit == "s" and context.claim.form == "quantity":
        if claimed > context.value and context.dependencies is not None:
            left = format_quantity(claimed - context.value, "s", 3)
            yield explanation(
                "hidden_overhead",
                _share(context, claimed, context.value, None),
                f"{left} more than derived: a fixed overhead of that length",
            )
        return
    for side, value, share in _values(context, OVERHEAD, (Fraction(0), LONGEST), claimed):
        yield explanation(
            "hidden_overhead",
            share,
            f"holds with a fixed overhead of {format_quantity(value, 's', 3)} per step{context.where(side)}",
        )


def _values(
    context: Context, name: str, span: tuple[Fraction, Fraction], claimed: Fraction
) -> Iterator[tuple[tuple[int, ...], Fraction, float]]:
    """The cases in which a parameter makes the claim true, its value there, and the share of random errors that any value explains."""
    for side in context.sides if context.depends_on(name) else ():
        if fit := _fit(context, name, side, span, claimed):
            yield side, *fit


def _fit(
    context: Context,
    name: str,
    side: tuple[int, ...],
    span: tuple[Fraction, Fraction],
    claimed: Fraction,
) -> tuple[Fraction, float] | None:
    """The value of a parameter at which the claim holds, by bisection, and the share of random errors that any value explains."""

    def at(value: Fraction) -> Fraction | None:
        return context.value_with(
            tuple({name: value} if i in side else {} for i in range(len(context.cases)))
        )

    start, end = at(span[0]), at(span[1])
    if (
        start is None
        or start == claimed
        or (end is not None and not min(start, end) <= claimed <= max(start, end))
    ):
        return None
    rising = claimed > start
    value = _crossing(at, claimed, span, rising)
    met = at(value)
    if met is None or abs(met / claimed - 1) > CLOSE:
        return None
    reached = (start, end) if rising else (end or Fraction(0), start)
    return value, _share(context, claimed, *reached)


def _crossing(
    at: Callable[[Fraction], Fraction | None],
    claimed: Fraction,
    span: tuple[Fraction, Fraction],
    rising: bool,
) -> Fraction:
    """Where a value that only rises or only falls on the way from one end to the other meets the claim; where it ends it is past it.

    >>> float(_crossing(lambda share: 1/share, Fraction(2), (MOST, LEAST), rising=True))
    0.5
    """
    low, high = span
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        value = at(middle)
        below = value is not None and (value > claimed) is not rising
        low, high = (middle, high) if below else (low, middle)
    return Fraction(f"{float(low):.6g}")


def _share(context: Context, claimed: Fraction, low: Fraction, high: Fraction | None) -> float:
    """The share of the claim's neighbourhood between two values; no end is any number however large."""
    return chance(
        float(claimed),
        float(context.value),
        [(float(low), math.inf if high is None else float(high))],
    )
