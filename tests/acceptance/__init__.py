"""Acceptance rows: a case, a quantity, and the number that must come out.

A number written as text is held to half a unit of its last digit shown (``"66.51 ms"`` means 66.505 to 66.515 ms); an int
or a Fraction is held exactly; a label or a truth must be equal. Expected numbers come from the five sources or from a formula
written out by hand beside them, never from the engine. What a row of ``tools/docs/pages/validation/systems.yaml`` holds
(`test_systems.py` runs each) has no row here.
"""

import math
import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pytest

from symroof.api import Study
from symroof.symbolic.reading import parse

from .. import tables
from ..near import near
from ..tables import table

PREFIXES = {prefix: 10 ** (3 * i) for i, prefix in enumerate(("", "k", "M", "G", "T", "P"))}
PREFIXES |= {"m": Fraction(1, 10**3), "u": Fraction(1, 10**6), "Mi": 2**20, "Gi": 2**30}
PLAIN = ("s", "B", "byte", "FLOP", "FLOP/s", "B/s", "tok/s", "FLOP/byte", "request/s", "J/token")
UNITS = {prefix + unit: size for prefix, size in PREFIXES.items() for unit in PLAIN}
UNITS |= {"": 1, "x": 1, "%": Fraction(1, 100), "USD": 1, "USD/hour": Fraction(1, 3600)}
UNITS["µs"] = UNITS["us"]
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
    quantity: str
    expected: Any
    case: dict
    over: dict


def row(what, quantity, expected, over=None, **case):
    """One row; with ``over`` the value is divided by that of the case so changed."""
    return pytest.param(Row(what, quantity, expected, case, over or {}), id=what)


def rows(names, text):
    """Rows of a table: a quantity, what it must be, a case, and what the row is about where that is not plain.

    After ``=`` stands an expression of Python, with the names of the module, that is held exactly.
    """
    found = []
    for quantity, expected, words, *what in table(text):
        changed = " ".join(word[5:] for word in words.split() if word[:5] == "over:")
        own = " ".join(word for word in words.split(" ") if word[:5] != "over:")
        value = eval(expected[1:], names) if expected[0] == "=" else expected
        named = what[0] if what else f"{quantity} {words}"
        found.append(row(named, quantity, value, case_of(changed, names), **case_of(own, names)))
    return found


def case_of(words, names=None):
    """A case by its words; the names are those above, and of the module."""
    return tables.case_of(words, {**globals(), **(names or {})})


def got(quantity, case):
    """A quantity or a formula of some; the slope or the elasticity of one by another; the answer of an equation."""
    study = Study(**{"engine": "ideal"} | case)
    verb, *names = quantity.split()
    if verb == "solve":
        return study.solve(*names).value
    if verb == "slope":
        return study.first.case.slope(*names)
    if verb == "elasticity":
        return study.first.case.elasticities(names[0], names[1:])[names[1]]
    return study.first.case.evaluate(parse(quantity)) if names else study.value(quantity)


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
    if row.over:
        result = Fraction(result) / Fraction(got(row.quantity, {**row.case, **row.over}))
    agree(result, row.expected, row.what)
