"""Axes of a sweep: a numeric one moves an input; one of labels (models, devices, precisions, switches) makes cases, and so does
one of parallel degrees, which shape the formulas themselves."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

from symroof.cases.bind_cases import MOST_CASES
from symroof.cases.input import ROLE_INPUT
from symroof.cases.request import Request
from symroof.errors import InputError, Problem, nearest, on_line
from symroof.specs.input_values import needs_unit, symbol_of
from symroof.specs.model import ModelSpec
from symroof.specs.study_fields import precision_names
from symroof.sweep.axis_values import MOST_ON_AXIS, TooManyValues, Values, numbers, single
from symroof.symbolic.expressions import is_condition_or_label, number
from symroof.symbolic.reading import parse
from symroof.theory.declarations import NONE, Declarations
from symroof.theory.layout import SHAPING
from symroof.theory.switches import SWITCHES, expand_detail
from symroof.theory.symbols import ALIASES, Symbol, canonical

if TYPE_CHECKING:
    import numpy as np

LABELLED = {
    "model": "model",
    "hardware": "device",
    **{
        role: f"precision of the {what}"
        for role, what in (("weights", "weights"), ("kv", "cache"), ("activations", "activations"))
    },
    "detail": "what is counted",
}
"""Axes of labels that are no switch, with their long names."""
ON_OFF = frozenset(("on", "off"))


@dataclass(frozen=True)
class Axis:
    """One axis: a name and its values, in order.

    Attributes:
        values: exact numbers in base units, or labels as they were written.
        choices: what each label, or each number that makes a case of its own, chooses; empty where an input moves.
    """

    name: str
    values: Values | tuple[str, ...]
    choices: tuple[Request, ...] = ()
    meaning: str = ""
    own: Declarations = NONE

    @property
    def labelled(self) -> bool:
        """Whether each value makes a case."""
        return bool(self.choices)

    @property
    def named(self) -> bool:
        """Whether its values are labels, not numbers."""
        return bool(self.values) and isinstance(self.values[0], str)

    def __len__(self) -> int:
        return len(self.values)

    @cached_property
    def symbol(self) -> Symbol | None:
        return None if self.named else symbol_of(self.name, self.own)

    @property
    def unit(self) -> str:
        return self.symbol.unit if self.symbol else ""

    @property
    def long_name(self) -> str:
        return self.symbol.meaning if self.symbol else self.meaning

    @cached_property
    def array(self) -> np.ndarray[Any, Any]:
        """The values as labels, whole numbers where all are, else floats."""
        import numpy as np

        if self.named:
            return np.array(self.values, dtype=np.str_)
        if isinstance(self.values, range):
            return np.arange(self.values.start, self.values.stop, self.values.step, dtype=np.int64)
        whole = all(
            isinstance(v, Fraction) and v.denominator == 1 and abs(v) < 2**53 for v in self.values
        )
        return np.array([int(v) for v in self.values], dtype=np.int64) if whole else self.floats

    @cached_property
    def floats(self) -> np.ndarray[Any, Any]:
        """The numbers as the compiled functions take them."""
        import numpy as np

        return (
            self.array.astype(np.float64)
            if isinstance(self.values, range)
            else np.array([float(v) for v in self.values], dtype=np.float64)
        )


def read_over(texts: Iterable[str], own: Declarations = NONE) -> list[Axis]:
    """``batch=1:512`` and the like as axes; ``own`` are the declarations of the study that is swept.

    Raises:
        InputError: everything wrong with them, with hints.
        TooMany: an axis of more values than are computed.

    >>> [axis.name for axis in read_over(["bs=1:4", "hardware=h100-sxm,h200", "attention=causal,full"])]
    ['batch', 'hardware', 'attention']
    """
    pairs = []
    for text in texts:
        name, mark, values = text.partition("=")
        if not mark or not name.strip():
            raise InputError(
                Problem(
                    "--over",
                    f"{text[:60]!r} is not NAME=VALUES",
                    hint="write batch=1:512, prompt=128:32768:x2 or hardware=h100-sxm,h200",
                )
            )
        pairs.append((name.strip(), values))
    return axes_of(pairs, "--over", own)


def axes_of(
    pairs: Iterable[tuple[str, Any]], origin: str = "sweep", own: Declarations = NONE
) -> list[Axis]:
    """Names and values (a text, one value, or any iterable of them) as axes.

    Raises:
        InputError: everything wrong with them, with hints.
    """
    axes: dict[str, Axis] = {}
    problems: list[Problem] = []
    for written, values in pairs:
        name = canonical(written)
        if name in axes:
            also = f" ({written} is {name})" if written != name else ""
            problems.append(
                Problem(
                    origin,
                    f"is an axis twice{also}",
                    path=written,
                    hint="put all its values into one list: 1:8,16,32",
                )
            )
            continue
        try:
            axes[name] = axis(name, values, own)
        except TooManyValues as error:
            problems.append(Problem(origin, str(error), path=written))
        except ValueError as error:
            message, _, hint = str(error).partition("; ")
            problems.append(Problem(origin, message, path=written, hint=on_line(written, hint)))
    if problems:
        raise InputError(problems)
    return list(axes.values())


def axis(name: str, values: Any, own: Declarations = NONE) -> Axis:
    """One axis by its printed name.

    Raises:
        ValueError: an unknown name, a value that cannot be read.
    """
    if name not in LABELLED and name not in SWITCHES:
        return numeric(name, _numbers(name, values, own), own)
    listed = _labels(values) if isinstance(values, str) else _items(values)
    if name == "activations" and set(listed) <= ON_OFF:
        return _switched(name, listed)
    if name in ROLE_INPUT:
        return choosing(
            name, {str(item): Request(precision={name: precision_names(item)}) for item in listed}
        )
    if name == "model":
        return choosing(
            name,
            {
                item.name if isinstance(item, ModelSpec) else str(item): Request(models=(item,))
                for item in listed
            },
        )
    if name == "hardware":
        return choosing(name, {str(item): Request(hardware=(str(item),)) for item in listed})
    return _switched(name, listed)


def choosing(name: str, choices: Mapping[str, Request], meaning: str = "") -> Axis:
    """An axis of labels, each with its choice."""
    return Axis(name, tuple(choices), tuple(choices.values()), meaning or LABELLED.get(name, name))


def numeric(name: str, values: Values, own: Declarations = NONE) -> Axis:
    """An axis of numbers; degrees that shape formulas make a case each.

    Raises:
        TooMany: more degrees than cases that can be bound.
    """
    if name not in SHAPING:
        return Axis(name, values, own=own)
    if len(values) > MOST_CASES:
        raise TooManyValues("the axis", len(values))
    degrees = tuple(map(Fraction, values))
    return Axis(
        name, degrees, tuple(Request(values={name: (number(degree),)}) for degree in degrees)
    )


def _labels(text: str) -> list[str]:
    labels = [item.strip() for item in text.split(",")]
    if not all(labels):
        raise ValueError(
            "has no values; give names, comma-separated"
            if not any(labels)
            else f"{text[:60]!r} has an empty place between its commas"
        )
    return labels


def _items(values: Any) -> list[Any]:
    """One value or an iterable of them as a list; arrays give plain numbers."""
    if hasattr(values, "tolist"):
        values = values.tolist()
    if isinstance(values, (range, list, tuple)) and len(values) > MOST_ON_AXIS:
        raise TooManyValues("the axis", len(values))
    items = (
        list(values)
        if isinstance(values, Iterable) and not isinstance(values, (str, ModelSpec))
        else [values]
    )
    if not items:
        raise ValueError("has no values; an axis has at least one")
    return items


def _switched(name: str, items: list[Any]) -> Axis:
    """A counting choice; ``detail`` chooses four at once."""
    texts = [
        {True: "on", False: "off"}.get(item, str(item)) if isinstance(item, bool) else str(item)
        for item in items
    ]
    for text in texts:
        try:
            expand_detail({name: text})
        except KeyError as error:
            kind, label, known = error.args
            raise ValueError(f"unknown {kind} {label[:40]!r}; {nearest(label, known)}") from None
    return choosing(
        name,
        {text: Request(assume={name: text}) for text in texts},
        LABELLED.get(name, f"counting choice: {name}"),
    )


def _numbers(name: str, values: Any, own: Declarations) -> Values:
    symbol = _numeric(name, own)
    if isinstance(values, str):
        return numbers(name, values, own)
    if isinstance(values, range) and values and values.step > 0 and not needs_unit(symbol):
        return numbers(name, f"{values[0]}:{values[-1]}:{values.step}", own)
    distinct: dict[Fraction, None] = {}
    for item in _items(values):
        distinct.update(
            dict.fromkeys(
                map(Fraction, numbers(name, item, own))
                if isinstance(item, str)
                else (single(name, _exact(item), own),)
            )
        )
    return tuple(distinct)


def _exact(value: Any) -> Any:
    """A Python number exactly: the float 0.1 means the decimal 0.1."""
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, bool):
        raise ValueError(f"{value} is not a number")
    if isinstance(value, (float, Decimal)):
        if not math.isfinite(value):
            raise ValueError(f"{value} is not a number; leave it out")
        value = Fraction(Decimal(repr(value)) if isinstance(value, float) else value)
    return value


def _numeric(name: str, own: Declarations) -> Symbol:
    """The declaration behind a numeric axis.

    Raises:
        ValueError: it is not declared, or is no number.
    """
    try:
        symbol = symbol_of(name, own)
    except ValueError:
        known = [*own.known, *ALIASES, *LABELLED, *SWITCHES]
        hint = (
            nearest(name, known)
            or "an axis is batch, prompt, tp, mfu, mem_bandwidth, model, hardware, weights, attention or the like"
        )
        raise ValueError(f"no input, quantity or counting choice; {hint}") from None
    definition = getattr(symbol, "definition", None)
    if definition and is_condition_or_label(parse(definition)):
        raise ValueError("is not a number; an axis is an input, or a quantity that can be measured")
    return symbol
