"""Values that are searched, for every scenario at once: a fixed point, the largest whole number that meets a condition, a quantile."""

from collections.abc import Callable
from typing import Any

import mpmath  # type: ignore[import-untyped]  # of SymPy, which computes with it
import numpy as np

from symroof.symbolic.step_polynomials import Steps, refuse_polynomials

MOST_PARTS = 15
"""Points of an interval that are looked at at once: a search for a batch takes a dozen halvings."""
TOGETHER = 1024
"""Numbers that NumPy computes in little more than the time of one call."""
TURNS = 64
NARROW = 2.0**-44
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
        slow = ~halved & ~(2 * np.abs(gap) < np.abs(gap_before))
        halved = ~((low < secant) & (secant < end)) | slow
        new = np.where(done, at, np.where(halved, (low + end) / 2, secant))
        at, gap, before, gap_before = new, body(new) - new, at, gap
        low, end = np.where(gap > 0, at, low), np.where(gap > 0, end, at)
        none = none | np.isnan(gap)
    return np.where(none, np.nan, np.where(beyond, high, at))


def largest_whole(meets: Callable[[Any], Any], high: Any) -> Any:
    """The largest whole number up to ``high`` at which ``meets`` is 1; where it has no value a larger one may have.

    An interval is parted, over a few scenarios at many points at once: NumPy takes as long for one number as for some hundreds.
    """
    passes, fails, met = np.zeros_like(high), np.floor(high) + 1, np.zeros_like(high)
    parts = max(1, min(MOST_PARTS, TOGETHER // max(1, np.size(high))))
    shares = np.arange(1, parts + 1).reshape(-1, *(1,) * np.ndim(high)) / (parts + 1)
    while np.any(np.isfinite(fails) & (fails - passes > 1)):
        # never 0, which only settled intervals have in their middle: 0 times a missing input is 0
        points = np.maximum(np.floor(passes + (fails - passes) * shares), 1.0)
        values = np.where((passes < points) & (points < fails), meets(points), np.nan)
        fails = np.min(np.where(values == 0, points, fails), axis=0)
        inside = (values != 0) & (passes < points) & (points < fails)
        passes = np.max(np.where(inside, points, passes), axis=0)
        met = np.max(np.where(inside & (values == 1), points, met), axis=0)
    return np.where(np.isnan(high), np.nan, np.where(met == passes, met, 0.0))


def t_quantile(level: float, freedom: int) -> float:
    """The two-sided quantile of Student's t."""

    def beyond(t: Any) -> Any:
        share = freedom / (freedom + t * t)
        return mpmath.betainc(freedom / 2, 0.5, 0, share, regularized=True) - (1 - level)

    return float(mpmath.findroot(beyond, (0, 1e4), solver="bisect"))
