"""Equality of numbers that are computed in floats."""

from numbers import Real

import pytest

from symroof.analysis.verdict import findings, missed, unknown_targets


def near(expected, rel=1e-12):
    """What differs from the expected by rounding alone, or by ``rel`` of it, is equal to it; labels and truths as they are; in collections each.

    >>> 0.1 + 0.2 == near(0.3), (1.0, "memory") == near((1, "memory"))
    (True, True)
    """
    if isinstance(expected, dict):
        return {key: near(value, rel) for key, value in expected.items()}
    if isinstance(expected, list | tuple):
        return type(expected)(near(value, rel) for value in expected)
    if isinstance(expected, bool) or not isinstance(expected, Real):
        return expected
    return pytest.approx(float(expected), rel=rel, abs=0)


def passes(case):
    """Whether a case fits and is known to meet every target over all of its ranges; None where it does with ranges at their middle, and not throughout."""
    if case.fits is None or not case.fits.value or unknown_targets(case):
        return False
    if not findings(case):
        return True
    return False if missed(case, case.case) else None
