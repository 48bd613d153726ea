"""One input of a case: its value, a range or a formula, and who says so."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass

from symroof.errors import InputError, Problem
from symroof.specs.fields import ValueRange
from symroof.specs.input_values import Setting
from symroof.specs.model import ModelSpec
from symroof.specs.preset import Definition
from symroof.symbolic.evaluation import NoValue
from symroof.symbolic.expressions import Expr, is_number, number
from symroof.theory.architecture import GENERIC, SPARSE, Architecture
from symroof.theory.declarations import NONE, Declarations, MissingInput, default_of
from symroof.theory.operator_table import KEPT_WIDTH, WIDTH
from symroof.theory.symbols import base_name
from symroof.theory.theory_files import column

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

    def middle(self, name: str, own: Declarations = NONE) -> Expr:
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
    active, every = (
        given[name].setting if name in given else None for name in ("active_params", "params")
    )
    return GENERIC if active is None or active == every else SPARSE
