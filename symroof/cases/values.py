"""Values of a case: an input with its source (a number, a range or a formula), a result with its range, and the flags that are printed wherever it is."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import sympy

from symroof.errors import InputError, NoValue, Problem
from symroof.specs.fields import ValueRange
from symroof.specs.input_values import Setting, needs_unit
from symroof.specs.model import ModelSpec
from symroof.specs.preset import Definition
from symroof.symbolic.expressions import Expr, is_number, number
from symroof.symbolic.kernels import nearly_equal
from symroof.symbolic.printing import text
from symroof.theory.architecture import GENERIC, SPARSE, Architecture
from symroof.theory.declarations import MissingInput, default_of
from symroof.theory.operator_table import KEPT_WIDTH, WIDTH
from symroof.theory.quantities import QUANTITIES
from symroof.theory.symbols import INPUTS, Symbol, base_name
from symroof.theory.theory_files import column
from symroof.units import format_quantity, is_whole, parse_quantity, parse_unit, plural

Ends = tuple[float, float]

VARIANT = "variant"
"""The origin of values of a case that was made from another."""
HEADS = ("eagle", "mtp")
"""Drafts that are a head of the model itself: one more layer, and the model's own embedding and output matrix."""

ROLE_INPUT = {
    "weights": "weight_bytes_per_param",
    "kv": "kv_bytes_per_element",
    "activations": "act_bytes_per_element",
}
COUNTS_OF_TERMS = (
    "output",
    "draft_tokens",
    "response_steps",
    "chunk_steps",
    "prompt_chunks",
    "group_chunks",
)
"""Names that sums run up to: between whole numbers the sums have no value."""

AT_PEAK: dict[str, int] = column("moving", "at_peak")
"""Efficiencies, and the value of each at 100 % of peak."""
COSTS = frozenset(column("moving", "slows"))
"""Efficiencies that slow a server down as they grow; the others are shares of a peak."""
EFFICIENCIES = frozenset({*AT_PEAK, *COSTS})
PRICE = "price"


@dataclass(frozen=True)
class Input:
    """An input of a case with its source; a tool's own definition of a quantity comes with its terms.

    ``measured``: an efficiency from the catalogue's measurements. ``listed``: a price from the catalogue's list prices, at their median; the range
    from the lowest to the highest is of what the price moves alone.

    >>> prompt = Input(ValueRange(100, 301, "100..301"), "given")
    >>> prompt.low, prompt.value, prompt.high, prompt.number
    (100.0, 200.5, 301.0, None)
    """

    setting: Setting
    source: str
    defaulted: bool = False
    definition: Definition | None = None
    measured: bool = False
    listed: bool = False

    @property
    def ranged(self) -> bool:
        """Whether it is a range."""
        return isinstance(self.setting, ValueRange)

    @property
    def is_formula(self) -> bool:
        """Whether it is neither a number nor a range."""
        return not (self.ranged or is_number(self.setting))

    @property
    def number(self) -> float | None:
        """Its number; None of a range or a formula."""
        return float(self.setting) if is_number(self.setting) else None

    @property
    def low(self) -> float | None:
        """The low end of its range, or its number; None of a formula."""
        return float(self.setting.low) if self.ranged else self.number

    @property
    def value(self) -> float | None:
        """What evidence expects, the middle of a range, or its number; None of a formula."""
        return float(self.setting.middle) if self.ranged else self.number

    @property
    def high(self) -> float | None:
        """The high end of its range, or its number; None of a formula."""
        return float(self.setting.high) if self.ranged else self.number

    def without_value(self, name: str, error: NoValue) -> InputError:
        """The error of a formula set as a value that has none here, with what it needs."""
        hint = f"give {error.name}" if isinstance(error, MissingInput) else ""
        message = f"its formula has no value here: {error}"
        return InputError(Problem(self.source, message, path=name, hint=hint))

    def middle(self, name: str) -> Expr:
        """What a case is evaluated at: of a range its middle, a whole number where sums run up to it.

        >>> of_tokens = Input(ValueRange(100, 301, "100..301"), "given")
        >>> of_tokens.middle("output"), of_tokens.middle("batch")
        (200, 401/2)
        """
        if not isinstance(self.setting, ValueRange):
            return self.setting
        between = self.setting.middle
        whole = base_name(name) in COUNTS_OF_TERMS and float(self.setting.low).is_integer()
        return number(math.floor(between) if whole else between)


def slow_first(ends: Ends, name: str) -> Ends:
    """The ends of an efficiency's range, the slower first."""
    low, high = ends
    return (high, low) if name in COSTS else (low, high)


def corner_points(box: Mapping[str, Ends], measured: Mapping[str, Ends]) -> list[dict[str, float]]:
    """The corners of ranges: all ends of those that were given, combined with those of the measured ones.

    The interval of these is one common widening: all slow ends go together, and all fast ones; those
    of compute vary independently of the others.
    """
    axes = [[{name: end} for end in ends] for name, ends in box.items() if name not in measured]
    both = {name: slow_first(ends, name) for name, ends in measured.items()}
    if compute := both.pop("mfu", None):
        axes.append([{"mfu": end} for end in sorted(compute)])
    if both:
        axes.append([{name: ends[fast] for name, ends in both.items()} for fast in (0, 1)])
    corners = itertools.product(*axes) if axes else ()
    return [{name: end for part in corner for name, end in part.items()} for corner in corners]


def number_of(given: Mapping[str, Input], name: str, defaults: bool = False) -> float | None:
    """The number of a name, or with ``defaults`` its default; None where its value is a range or a formula, or it has none."""
    if name in given:
        return given[name].number
    default = default_of(name) if defaults else None
    return None if default is None else float(default)


def architecture_of(model: ModelSpec | None, given: Mapping[str, Input]) -> Architecture:
    """That of a model at the widths given; without one, of a model with experts where a token does not multiply all parameters."""
    if model is not None:
        widths = (name for name in given if name.startswith(f"{WIDTH}."))
        own = frozenset(name.removeprefix(f"{WIDTH}.") for name in widths)
        return model.architecture(KEPT_WIDTH in given, own)
    active, every = given.get("active_params"), given.get("params")
    dense = active is None or (every is not None and active.setting == every.setting)
    return GENERIC if dense else SPARSE


DOES_NOT_FIT = "does_not_fit"
NOT_EVERYWHERE = "no_value_in_part_of_the_range"
"""Flag of a value at the middle of ranges over which it has no known extremes."""
BEYOND_FLOATS = "beyond_floats"
"""Flag of a value in JSON that no float holds, and that is null there."""

Value: TypeAlias = Any
"""A float, a truth or a label; a number that is given and not computed may be a fraction."""


@dataclass(frozen=True)
class Result:
    """A quantity's value in one case.

    >>> from symroof.analysis.study import Study
    >>> result = Study("llama-3-8b", "h100-sxm", prompt=4096, batch="1..8").result("kv_cache_bytes")
    >>> int(result.low), int(result.high), result.symbol.unit, result.ranged
    (536870912, 4294967296, 'byte', True)
    >>> result.text()
    '2.416 GB (536.9 MB to 4.295 GB)'

    Attributes:
        symbol: the quantity, with its unit and meaning.
        value: in base units; a truth; or a label (``compute``, ``memory``). With ranges: at their middles.
        low, high: the extremes over the ranges; None where nothing is ranged or the value is no number.
        possible: every label or truth that occurs over the ranges.
        flags: ``does_not_fit`` where a latency, rate or cost is of a configuration that memory does not hold;
            ``no_value_in_part_of_the_range`` where low and high are not known, as a queue only grows in part of the ranges.
        basis: what a time, rate or cost rests on: ``expected`` by measurements, ``bound`` at 100 % of peak, ``given`` efficiencies or values;
            empty of what depends on no efficiency.
        at_median: the extremes over the other ranges at the median of the list prices, where those are ranged; the price is judged there.
        source, defaulted: of an input, where its value is from, and whether that is a default.
    """

    symbol: Symbol
    value: Value
    low: Any = None
    high: Any = None
    possible: tuple[Value, ...] = ()
    flags: tuple[str, ...] = ()
    at_median: tuple[Any, Any] | None = None
    source: str = ""
    defaulted: bool = False
    basis: str = ""

    @property
    def name(self) -> str:
        """The name of the quantity."""
        return self.symbol.name

    @property
    def ranged(self) -> bool:
        """Whether the value differs over the ranges of the inputs, by more than roundings."""
        return self.low is not None and not nearly_equal(self.low, self.high)

    @property
    def without_range(self) -> bool:
        """Whether it has no known extremes over the ranges, because it has no value in part of them."""
        return NOT_EVERYWHERE in self.flags

    def text(self, digits: int = 4) -> str:
        """For people: value and unit, the range, the flags; a flagged number is never printed without its flag."""
        written = self.plain(digits)
        return f"{written} (does not fit)" if DOES_NOT_FIT in self.flags else written

    def plain(self, digits: int = 4) -> str:
        """Value and range without the flags, for places that show the flag separately."""
        value, span = self.in_two(digits)
        return f"{value} ({span})" if span else value

    def in_two(self, digits: int = 4) -> tuple[str, str]:
        """The value, and its range as ``low to high``, the unit once where both have the same, or why that is not known.

        The range is empty where there is none, or all of it is negligible. A truth or a label is all that it can be.
        """
        if isinstance(self.value, bool | str):
            said = {True: "yes", False: "no"}
            value = " or ".join(said.get(v, str(v)) for v in self.possible or (self.value,))
        else:
            value = self._format(self.value, digits)
        if self.without_range:
            if self.symbol.unit == "s":
                return value, "unbounded in the worst case"
            return value, "no value in part of the range"
        if not self.ranged or self._negligible(self.high):
            return value, ""
        low, high = self._format(self.low, digits), self._format(self.high, digits)
        number, _, unit = low.partition(" ")
        return value, f"{number if unit and high.endswith(f' {unit}') else low} to {high}"

    def _negligible(self, value: Any) -> bool:
        least = self.symbol.negligible
        return least is not None and abs(value) < parse_quantity(least).value

    def _format(self, value: float | Fraction, digits: int) -> str:
        symbol, digits = self.symbol, min(digits, self.symbol.digits or digits)
        if self._negligible(value):
            value = 0.0
        if unit := symbol.written_in:
            return format_quantity(float(value) / float(parse_unit(unit).size), unit, digits)
        if symbol.counted and is_whole(value):
            unit = f" {plural(symbol.display_unit, value)}" if symbol.unit else ""
            return f"{int(value):,}{unit}"
        return format_quantity(value, symbol.unit, digits)

    def as_json(self) -> dict[str, Any]:
        """The value in base units, with the keys of the JSON output."""
        entry: dict[str, Any] = {"value": plain_value(self.value), "unit": self.symbol.unit}
        if self.low is not None and self.high is not None:
            entry |= {"low": plain_value(self.low), "high": plain_value(self.high)}
        if self.possible:
            entry["value"] = [plain_value(v) for v in self.possible]
        if self.basis:
            entry["basis"] = self.basis
        flags = self.flags if entry["value"] is not None else (*self.flags, BEYOND_FLOATS)
        if flags:
            entry["flags"] = list(flags)
        if self.source:
            entry |= {"source": self.source, "defaulted": self.defaulted}
        return entry


def as_written(name: str, value: Setting, bare: bool = False) -> str:
    """A value of a name as people write it: a range or a formula as its text, a number with its unit; ``bare`` counts and shares without.

    >>> from symroof.symbolic.expressions import number
    >>> as_written("price", number(Fraction(1, 1200))), as_written("tp", number(Fraction(2)), bare=True)
    ('3 USD/hour', '2')
    >>> as_written("prompt", number(Fraction(2048))), as_written("prompt", number(Fraction(2048)), bare=True)
    ('2,048 tokens', '2048')
    >>> as_written("weight_bytes", number(Fraction(16 * 10**9)), bare=True)
    '16 GB'
    """
    if not isinstance(value, sympy.Number):
        return value.text if isinstance(value, ValueRange) else text(value)
    symbol = INPUTS.get(base_name(name)) or QUANTITIES.get(base_name(name))
    if symbol is None or (bare and not needs_unit(symbol)):
        return text(value)
    return Result(symbol, float(value)).plain(6)


def plain_value(value: Value | None) -> Any:
    """A value for programs: an int where a number is whole, None for one beyond the largest float, anything else unchanged.

    >>> plain_value(4.0), plain_value(0.25), plain_value("memory"), plain_value(float("inf"))
    (4, 0.25, 'memory', None)
    """
    if not isinstance(value, float | Fraction):
        return value
    if not math.isfinite(value):
        return None
    return int(value) if is_whole(value) else float(value)


class Number(float):
    """A float in base units (byte, FLOP, s, token, USD) with its unit, range and flags; its text shows them all.

    Arithmetic treats it as the plain float it is: results have no unit and no range.

    Attributes:
        unit: the base unit; empty for a plain number.
        basis: of a time, rate or cost: ``expected`` by measurements, ``bound`` at 100 % of peak, or ``given``; else empty.
        low, high: the extremes over the ranges of the inputs; the value itself without ranges.
        flags: ``does_not_fit`` where a latency, rate or cost is of a configuration that memory does not hold.

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
    unit: str
    basis: str
    low: float
    high: float
    flags: tuple[str, ...]

    def __new__(cls, result: Result) -> Number:
        number = super().__new__(cls, result.value)
        number.result, number.unit = result, result.symbol.unit
        number.basis, number.flags = result.basis, result.flags
        low, high = (number if end is None else end for end in (result.low, result.high))
        number.low, number.high = float(low), float(high)
        return number

    def __reduce__(self) -> tuple[Any, ...]:
        return Number, (self.result,)

    def __repr__(self) -> str:
        return self.result.text()

    __str__ = __repr__
