"""Values that are searched, for every scenario at once: a fixed point, the largest whole number that meets a condition, a quantile."""

from collections.abc import Callable
from typing import Any

import mpmath  # type: ignore[import-untyped]  # of SymPy, which computes with it
import numpy as np

from symroof.symbolic.step_polynomials import Steps, refuse_polynomials

MOST_LEVELS = 4
"""Halvings that are looked at at once: a search for a batch takes a dozen."""
TOGETHER = 1024
"""Numbers that NumPy computes in little more than the time of one call."""
TURNS = 64
NARROW = 2.0**-49
"""The share of its value that a fixed point in floats may be off its body."""


def searched(kind: str, body: Callable[[Any], Any], high: Any, *others: Any) -> Any:
    """What a search finds, in the shape of its upper end and of the other values that the body depends on."""

    def at(x: Any) -> Any:
        value = body(x)
        refuse_polynomials(value)
        return value

    refuse_polynomials(high)
    shapes = [np.shape(x) for x in (high, *others) if not isinstance(x, Steps)]
    high = np.broadcast_to(high, np.broadcast_shapes(*shapes)).astype(float)
    found = (largest_whole if kind == "largest" else fixed_points)(at, high)
    return found if found.ndim else float(found)


def fixed_points(body: Callable[[Any], Any], high: Any) -> Any:
    """The least ``x`` up to ``high`` with ``x = body(x)``, or ``high`` where ``body`` stays above; no value where a look has none."""
    low, end, halved = np.zeros_like(high), high, np.ones_like(high, dtype=bool)
    at, gap, before, gap_before = low, body(low), high, body(high) - high
    beyond, none = gap_before >= 0, np.isnan(gap) | np.isnan(gap_before)
    for _ in range(TURNS):
        # a body that jumps over its point, or rounds more coarsely, leaves an interval
        done = beyond | none | (np.abs(gap) <= NARROW * at) | (end - low <= NARROW * at)
        if np.all(done):
            break
        with np.errstate(all="ignore"):
            secant = at - gap * (at - before) / (gap - gap_before)
        halved = ~((low < secant) & (secant < end)) | ~(
            halved | (2 * np.abs(gap) < np.abs(gap_before))
        )
        new = np.where(done, at, np.where(halved, (low + end) / 2, secant))
        at, gap, before, gap_before = new, body(new) - new, at, gap
        low, end, none = (
            np.where(gap > 0, at, low),
            np.where(gap > 0, end, at),
            none | np.isnan(gap),
        )
    return np.where(none, np.nan, np.where(beyond, high, at))


def largest_whole(meets: Callable[[Any], Any], high: Any) -> Any:
    """The largest whole number up to ``high`` at which ``meets`` is 1; where it has no value a larger one may have.

    An interval is halved, over a few points several times at once: NumPy takes as long for one number as for some hundreds.
    """
    passes, fails, met = np.zeros_like(high), np.floor(high) + 1, np.zeros_like(high)
    levels = max(1, min(MOST_LEVELS, (TOGETHER // max(1, np.size(high))).bit_length()))
    while np.any(fails - passes > 1):
        middles, node = (
            np.stack(_middles(passes, fails, levels)),
            np.zeros(np.shape(high), dtype=int),
        )
        values = np.broadcast_to(meets(middles), middles.shape)
        for _ in range(levels):
            middle, value = (
                np.take_along_axis(column, node[None], 0)[0] for column in (middles, values)
            )
            open_ = fails - passes > 1
            met = np.where(open_ & (value == 1), middle, met)
            passes, fails = (
                np.where(open_ & (value != 0), middle, passes),
                np.where(open_ & (value == 0), middle, fails),
            )
            node = 2 * node + np.where(value == 0, 1, 2)
    return np.where(np.isnan(high), np.nan, np.where(met == passes, met, 0.0))


def _middles(low: Any, high: Any, levels: int) -> list[Any]:
    """The middles of an interval, of both its halves, of their halves, and so on, in the order of levels."""
    spans, middles = [(low, high)], []
    for start in range(2**levels - 1):
        low, high = spans[start]
        # never 0, which only settled intervals have in their middle: 0 times a missing input is 0
        middle = np.maximum(np.floor((low + high) / 2), 1.0)
        middles.append(middle)
        spans += [(low, middle), (middle, high)]
    return middles


def t_quantile(level: float, freedom: int) -> float:
    """The two-sided quantile of Student's t."""

    def beyond(t: Any) -> Any:
        share = freedom / (freedom + t * t)
        return mpmath.betainc(freedom / 2, 0.5, 0, share, regularized=True) - (1 - level)

    return float(mpmath.findroot(beyond, (0, 1e4), solver="bisect"))
