"""Acceptance rows: a case, a quantity, and the number that must come out.

A number written as text is held to half a unit of its last digit shown (``"66.51 ms"`` means 66.505 to 66.515 ms); an int
or a Fraction is held exactly; a label or a truth must be equal. Expected numbers come from the five sources or from a formula
written out by hand beside them, never from the engine.
"""

import math
import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pytest

from symroof.api import Study

from ..near import near

UNITS = {
    "": 1,
    "x": 1,
    "%": Fraction(1, 100),
    "s": 1,
    "ms": Fraction(1, 10**3),
    "us": Fraction(1, 10**6),
    "B": 1,
    "MB": 10**6,
    "GB": 10**9,
    "TB": 10**12,
    "MiB": 2**20,
    "GiB": 2**30,
    "GFLOP": 10**9,
    "TFLOP": 10**12,
    "PFLOP": 10**15,
    "TFLOP/s": 10**12,
    "TB/s": 10**12,
    "tok/s": 1,
    "FLOP/byte": 1,
    "µs": Fraction(1, 10**6),
    "byte": 1,
    "kB": 10**3,
    "GB/s": 10**9,
    "request/s": 1,
    "J/token": 1,
    "USD": 1,
    "USD/hour": Fraction(1, 3600),
}
WEIGHTS, KV, ATTENTION = ({"detail": level} for level in ("weights", "kv", "attention"))
H100 = {"hardware": "h100-sxm", "mem_capacity": "80 GB", "engine": "ideal"}
"""The H100 of the sources: the label's 80 GB, not the total that the driver reports, and no engine that keeps a part of it."""
H100_989 = {**H100, "peak_flops": "989 TFLOP/s"}
"""The H100 with its dense 16-bit peak rounded to 989 TFLOP/s, as three of the sources have it (989.4 in the white paper)."""
B70 = {"model": "llama-3-70b", "params": 70 * 10**9}
"""The sources' "70B": the dimensions of Llama-3-70B with 70e9 parameters."""
B8 = {"model": "llama-3-8b", "params": 8_030_000_000}
TUTORIAL = {"preset": "tutorial-mlsysim", "model": "llama-3-8b"}


@dataclass(frozen=True)
class Row:
    what: str
    quantity: Any
    expected: Any
    case: dict
    over: dict | None = None


def row(what, quantity, expected, over=None, **case):
    """One row; with ``over`` the value is divided by that of the case so changed."""
    return pytest.param(Row(what, quantity, expected, case, over), id=what)


def got(quantity, case):
    study = Study(**{"engine": "ideal"} | case)
    return quantity(study) if callable(quantity) else study.value(quantity)


def held(text):
    """The number a text shows, and half a unit of its last digit.

    >>> held("66.51 ms")
    (Fraction(6651, 100000), Fraction(1, 200000))
    """
    digits, decimals, power, unit = re.fullmatch(
        r"(-?[\d,]+(?:\.(\d+))?)(?:e(-?\d+))?\s*(\S*)", text
    ).groups()
    size = Fraction(UNITS[unit]) * Fraction(10) ** int(power or 0)
    return Fraction(digits.replace(",", "")) * size, size / 10 ** len(decimals or "") / 2


def agree(result, expected, what=""):
    if isinstance(expected, str) and re.search(r"\d", expected):
        value, half = held(expected)
        assert abs(Fraction(result) - value) <= half, (
            f"{what}: got {float(result):.8g}, expected {expected} ({float(value):.8g} within {float(half):.2g})"
        )
    elif isinstance(expected, Fraction) and expected.denominator > 1:
        assert math.isclose(result, expected, rel_tol=1e-12), (
            f"{what}: got {result}, expected {expected}"
        )
    else:
        assert result == near(expected), f"{what}: got {result}, expected {expected}"


def check(row):
    result = got(row.quantity, row.case)
    if row.over is not None:
        result = Fraction(result) / Fraction(got(row.quantity, {**row.case, **row.over}))
    agree(result, row.expected, row.what)


def slope(quantity, by):
    return lambda study: study.first.case.slope(quantity, by)


def elasticity(quantity, by):
    return lambda study: study.first.case.elasticities(quantity, (by,))[by]
