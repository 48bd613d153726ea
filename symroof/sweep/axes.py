"""Axes of a sweep: a numeric one moves an input; labels (models, devices, precisions, switches) make a case each, and so do
parallel degrees, which shape the formulas themselves."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from symroof.cases.bind_cases import MOST_CASES
from symroof.cases.input import ROLE_INPUT
from symroof.cases.request import Request, exact
from symroof.errors import InputError, Problem, nearest, on_line
from symroof.specs.input_values import needs_unit, symbol_of
from symroof.specs.model import ModelSpec
from symroof.specs.study_fields import precision_names
from symroof.sweep.axis_values import MOST_ON_AXIS, TooManyValues, Values, numbers, single, split
from symroof.symbolic.blocks import Array
from symroof.symbolic.expressions import is_condition_or_label, number
from symroof.symbolic.reading import parse
from symroof.theory.declarations import NONE, Declarations
from symroof.theory.layout import SHAPING
from symroof.theory.switches import SWITCHES, expand_detail
from symroof.theory.symbols import ALIASES, Symbol, canonical

LABELLED = {
    "model": "model",
    "hardware": "device",
    "weights": "precision of the weights",
    "kv": "precision of the cache",
    "activations": "precision of the activations",
    "detail": "what is counted",
}
"""Axes of labels that are no switch, with their long names."""


@dataclass(frozen=True)
class Axis:
    """One axis: a name and its values, in order.

    Attributes:
        values: exact numbers in base units, or labels as they were written.
        choices: what each value that makes a case of its own chooses; empty where an input moves.
        symbol: what a number is of.
    """

    name: str
    values: Values | tuple[str, ...]
    choices: tuple[Request, ...] = ()
    symbol: Symbol | None = None

    @property
    def labelled(self) -> bool:
        """Whether each value makes a case."""
        return bool(self.choices)

    def __len__(self) -> int:
        return len(self.values)

    @property
    def attributes(self) -> dict[str, str]:
        """Unit and meaning."""
        if self.symbol:
            return {"units": self.symbol.unit or "1", "long_name": self.symbol.meaning}
        return {"long_name": LABELLED.get(self.name, f"counting choice: {self.name}")}

    @cached_property
    def array(self) -> Array:
        """The values as labels, whole numbers where all are, else floats."""
        if self.symbol is None or isinstance(self.values, range):
            return np.array(self.values, dtype=None if self.symbol is None else np.int64)
        each = [Fraction(value) for value in self.values]
        whole = all(value.denominator == 1 and abs(value) < 2**53 for value in each)
        return np.array(list(map(int if whole else float, each)))


def read_over(texts: Iterable[str], own: Declarations = NONE) -> list[Axis]:
    """``batch=1:512`` and the like as axes; ``own`` are the declarations of the study that is swept.

    Raises:
        InputError: everything wrong with them, with hints.

    >>> [axis.name for axis in read_over(["bs=1:4", "hardware=h100-sxm,h200", "attention=causal,full"])]
    ['batch', 'hardware', 'attention']
    """
    pairs = []
    for text in texts:
        name, mark, values = text.partition("=")
        if not mark or not name.strip():
            hint = "write batch=1:512, prompt=128:32768:x2 or hardware=h100-sxm,h200"
            raise InputError(Problem("--over", f"{text[:60]!r} is not NAME=VALUES", hint=hint))
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
        try:
            if name in axes:
                also = f" ({written} is {name})" if written != name else ""
                raise ValueError(f"is an axis twice{also}; put all its values into one list: 1:8,9")
            axes[name] = axis(name, values, own)
        except ValueError as error:
            message, _, hint = str(error).partition("; ")
            problems.append(Problem(origin, message, path=written, hint=on_line(written, hint)))
    if problems:
        raise InputError(problems)
    return list(axes.values())


def axis(name: str, values: Any, own: Declarations = NONE) -> Axis:
    """One axis by its printed name; a ValueError says what cannot be read."""
    if name in LABELLED or name in SWITCHES:
        items = split(values) if isinstance(values, str) else _items(values)
        choices = {_label(item): _choice(name, item) for item in items}
        return Axis(name, tuple(choices), tuple(choices.values()))
    try:
        symbol = symbol_of(name, own)
    except ValueError:
        hint = nearest(name, [*own.known, *ALIASES, *LABELLED, *SWITCHES])
        usual = "an axis is batch, prompt, tp, mfu, mem_bandwidth, model, hardware or the like"
        raise ValueError(f"no input, quantity or counting choice; {hint or usual}") from None
    definition = getattr(symbol, "definition", None)
    if definition and is_condition_or_label(parse(definition)):
        raise ValueError("is not a number; an axis is an input, or a quantity that can be measured")
    return numeric(symbol, _numbers(symbol, values, own))


def numeric(symbol: Symbol, values: Values) -> Axis:
    """An axis of numbers; degrees that shape formulas make a case each.

    Raises:
        ValueError: more degrees than cases that can be bound.
    """
    shaping = values if symbol.name in SHAPING else ()
    if len(shaping) > MOST_CASES:
        raise TooManyValues("the axis", len(shaping))
    choices = (Request(values={symbol.name: (number(Fraction(degree)),)}) for degree in shaping)
    return Axis(symbol.name, values, tuple(choices), symbol)


def _label(item: Any) -> str:
    if isinstance(item, bool):
        return "on" if item else "off"
    return item.name if isinstance(item, ModelSpec) else str(item)


def _choice(name: str, item: Any) -> Request:
    """What a label chooses; ``activations`` is a precision, or on or off."""
    label = _label(item)
    if name == "model":
        return Request(models=(item,))
    if name == "hardware":
        return Request(hardware=(label,))
    if name in ROLE_INPUT and label not in ("on", "off"):
        return Request(precision={name: precision_names(label)})
    try:
        expand_detail({name: label})
    except KeyError as error:
        kind, unknown, known = error.args
        raise ValueError(f"unknown {kind} {unknown[:40]!r}; {nearest(unknown, known)}") from None
    return Request(assume={name: label})


def _items(values: Any) -> list[Any]:
    """One value or an iterable of them as a list; arrays give plain numbers."""
    values = values.tolist() if hasattr(values, "tolist") else values
    if isinstance(values, str | ModelSpec) or not isinstance(values, Iterable):
        return [values]
    if isinstance(values, range) and len(values) > MOST_ON_AXIS:
        raise TooManyValues("the axis", len(values))
    if not (items := list(values)):
        raise ValueError("has no values; an axis has at least one")
    return items


def _numbers(symbol: Symbol, values: Any, own: Declarations) -> Values:
    if isinstance(values, range) and values and values.step > 0 and not needs_unit(symbol):
        values = f"{values[0]}:{values[-1]}:{values.step}"
    if isinstance(values, str):
        return numbers(symbol, values, own)
    read: list[Fraction] = []
    for item in _items(values):
        text = isinstance(item, str)
        read += map(
            Fraction, numbers(symbol, item, own) if text else [single(symbol, exact(item), own)]
        )
    if len(read) > MOST_ON_AXIS:
        raise TooManyValues("the axis", len(read))
    return tuple(dict.fromkeys(read))
