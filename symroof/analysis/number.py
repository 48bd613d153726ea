"""A value for people and programs: a float that has its unit, range and flags with it."""

from __future__ import annotations

from typing import Any

from symroof.cases.quantity_result import Result


class Number(float):
    """A float in base units (byte, FLOP, s, token, USD) with its unit, range and flags; its text shows them all.

    Arithmetic treats it as the plain float it is: results have no unit and no range.

    >>> from symroof.analysis.study import Study
    >>> ttft = Study(model="llama-3-8b", hardware="h100-sxm", prompt=4096, mfu="0.4..0.6").value("ttft")
    >>> ttft
    124.5 ms (103.7 to 155.6 ms)
    >>> ttft.unit, round(ttft.low, 4), round(ttft.high, 4), ttft.flags
    ('s', 0.1037, 0.1556, ())
    >>> round(1000 * ttft, 1)
    124.5
    """

    result: Result

    def __new__(cls, result: Result) -> Number:
        number = super().__new__(cls, result.value)
        number.result = result
        return number

    def __reduce__(self) -> tuple[Any, ...]:
        return Number, (self.result,)

    @property
    def unit(self) -> str:
        """The base unit; empty for a plain number."""
        return self.result.symbol.unit

    @property
    def low(self) -> float:
        """The least value over the ranges of the inputs; the value itself without ranges."""
        return float(self.result.low) if self.result.low is not None else float(self)

    @property
    def high(self) -> float:
        """The largest value over the ranges of the inputs; the value itself without ranges."""
        return float(self.result.high) if self.result.high is not None else float(self)

    @property
    def flags(self) -> tuple[str, ...]:
        """``does_not_fit`` where a latency, rate or cost is of a configuration that memory does not hold."""
        return self.result.flags

    def __repr__(self) -> str:
        return self.result.text()

    __str__ = __repr__
