"""Axes of a sweep: a numeric one moves an input; labels (models, devices, precisions, switches) make a case each, and so do
parallel degrees, which shape the formulas themselves.

Numbers are written ``1:512``, ``128:32768:x2``, ``0.1:0.9:+0.1``, ``1,2,4``, or as mixtures of these.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from symroof.cases.bind_cases import MOST_CASES
from symroof.cases.request import Request, exact
from symroof.cases.values import ROLE_INPUT
from symroof.errors import InputError, Problem, nearest, on_line
from symroof.specs.fields import ValueRange, in_unit
from symroof.specs.input_values import needs_unit, setting, symbol_of
from symroof.specs.model import ModelSpec
from symroof.specs.study_fields import check_choice, precision_names
from symroof.symbolic.evaluation import Array
from symroof.symbolic.expressions import fraction, is_condition_or_label, is_number, number
from symroof.symbolic.printing import text as text_of
from symroof.symbolic.reading import parse
from symroof.theory.declarations import NONE, Declarations
from symroof.theory.layout import SHAPING
from symroof.theory.quantities import Quantity
from symroof.theory.switches import SWITCHES
from symroof.theory.symbols import ALIASES, Symbol, canonical
from symroof.units import NUMBER, UnitError, parse_number

LABELLED = {
    "model": "model",
    "hardware": "device",
    "weights": "precision of the weights",
    "kv": "precision of the cache",
    "activations": "precision of the activations",
    "detail": "what is counted",
}
"""Axes of labels that are no switch, with their long names."""
MOST_ON_AXIS = 1_000_000
"""Values of one axis: more of them than this is a slip of the pen, or belongs on two axes."""
FORMS = "a:b, a:b:x2, a:b:+128, or a list such as 1,2,4"
GROUPED = re.compile(r"0\d+(\.\d*)?$")
"""What a comma that was to group thousands leaves behind: ``1,024`` is 1 and 024."""
Numbers = Sequence[int | Fraction]
"""Values of a numeric axis in base units while it is read: exact, so that steps of 0.1 meet 0.3."""


@dataclass(frozen=True, eq=False)
class Axis:
    """One axis: a name and its values, in order.

    Attributes:
        values: labels as they were written, whole numbers where all are, else floats, in base units.
        choices: what each value that makes a case of its own chooses; empty where an input moves.
        symbol: what a number is of.
    """

    name: str
    values: Array
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
        items = _split(values) if isinstance(values, str) else _items(values)
        return labels(name, {_label(item): _choice(name, item) for item in items})
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


def labels(name: str, choices: dict[str, Request]) -> Axis:
    """An axis of labels, with what each chooses."""
    return Axis(name, np.array(list(choices)), tuple(choices.values()))


def numeric(symbol: Symbol, values: Numbers) -> Axis:
    """An axis of numbers, each once; degrees that shape formulas make a case each.

    Raises:
        ValueError: more degrees than cases that can be bound.
    """
    distinct = list(dict.fromkeys(values))
    shaping: Numbers = distinct if symbol.name in SHAPING else ()
    _limit("the axis", len(shaping), MOST_CASES)
    whole = all(x.denominator == 1 and -(2**53) < x < 2**53 for x in distinct)
    return Axis(
        symbol.name,
        np.array(list(map(int if whole else float, distinct))),
        tuple(Request(values={symbol.name: (number(Fraction(degree)),)}) for degree in shaping),
        symbol,
    )


def _limit(text: str, count: int, most: int = MOST_ON_AXIS) -> None:
    if count > most:
        raise ValueError(
            f"{text[:40]} has {count:,} values, an axis at most {most:,}; take larger "
            "steps, such as :x2, and a file, such as -o FILE.parquet, for a large grid"
        )


def axes_of_lists(request: Request, named: set[str]) -> list[Axis]:
    """The lists of a study that no axis names, as axes; where a range or a formula is among numbers, each is a label."""
    lists = {"model": request.models, "hardware": request.hardware, **request.precision}
    axes = [axis(name, members) for name, members in lists.items() if len(members) > 1]
    for name, settings in request.values.items():
        if len(settings) > 1 and all(map(is_number, settings)):
            axes.append(numeric(symbol_of(name, request.own), list(map(fraction, settings))))
        elif len(settings) > 1:
            words = [x.text if isinstance(x, ValueRange) else text_of(x) for x in settings]
            requests = (Request(values={name: (each,)}) for each in settings)
            axes.append(labels(name, dict(zip(words, requests, strict=True))))
    return [each for each in axes if each.name not in named]


def within_limits(axes: Sequence[Axis]) -> None:
    """Points that can be computed, and cases that can be bound.

    Raises:
        InputError: there are more, or none.
    """
    points = math.prod(map(len, axes))
    cases = math.prod(len(axis) for axis in axes if axis.labelled)
    message = hint = ""
    if not axes:
        message, hint = "nothing to sweep over", "--over batch=1:512, or a list in the study"
    elif points > 10**10:
        sizes = " x ".join(f"{len(axis):,} {axis.name}" for axis in axes)
        message = f"{sizes} are {points:,} points; at most {10**10:,} are computed"
        hint = "take larger steps, such as :x2"
    elif cases > MOST_CASES:
        message = f"labels multiply to {cases:,} cases; at most {MOST_CASES:,} are computed"
        hint = "give fewer values"
    if message:
        raise InputError(Problem("sweep", message, hint=hint))


# ------------------------------------------------------------------------------------------------ labels


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
    check_choice(name, label)
    return Request(assume={name: label})


# ------------------------------------------------------------------------------------------------ numbers


def _split(text: str) -> list[str]:
    """What stands between commas."""
    items = [item.strip() for item in text.split(",")]
    if not all(items):
        fault = f"{text.strip()[:60]!r} has an empty place" if any(items) else "has no values"
        raise ValueError(f"{fault}; write {FORMS}")
    return items


def _items(values: Any) -> list[Any]:
    """One value or an iterable of them as a list; arrays give plain numbers."""
    values = values.tolist() if hasattr(values, "tolist") else values
    if isinstance(values, str | ModelSpec) or not isinstance(values, Iterable):
        return [values]
    if isinstance(values, range):
        _limit("the axis", len(values))
    if not (items := list(values)):
        raise ValueError("has no values; an axis has at least one")
    return items


def _numbers(symbol: Symbol, values: Any, own: Declarations) -> Numbers:
    """The values in base units, in written order."""
    if isinstance(values, range) and values and values.step > 0 and not needs_unit(symbol):
        values = f"{values[0]}:{values[-1]}:{values.step}"  # much faster than one by one
    read: list[int | Fraction] = []
    for item in _items(values):
        if isinstance(item, str):
            read += _listed(symbol, item, own)
        else:
            read.append(_single(symbol, exact(item), own))
    _limit("the axis", len(read))
    return read


def _listed(symbol: Symbol, text: str, own: Declarations) -> Numbers:
    """The values of a text: ranges and single numbers between commas."""
    if ":" in text and "," not in text:
        return _progression(symbol, text.strip(), own)
    read: list[int | Fraction] = []
    for item in _split(text):
        if GROUPED.match(item):
            plain = text.replace(",", "").strip()[:40]
            raise ValueError(f"commas stand between values; write {plain} without them")
        if re.fullmatch(r"\d{1,15}-\d{1,15}", item):
            steps = item.replace("-", ":")
            raise ValueError(f"{item!r} is not a range; write {symbol.name}='{steps}'")
        read += _progression(symbol, item, own) if ":" in item else [_single(symbol, item, own)]
        _limit(text, len(read))
    return read


def _single(symbol: Symbol, value: object, own: Declarations) -> Fraction:
    """One value of an axis, in base units."""
    read = setting(symbol.name, value, formulas=False, bare=True, own=own)
    if isinstance(read, ValueRange):
        steps = read.text.replace("..", ":")
        raise ValueError(f"an axis takes single values; write {steps}:+STEP for steps between them")
    assert is_number(read)
    return fraction(read)


def _progression(symbol: Symbol, text: str, own: Declarations) -> Numbers:
    """``a:b`` with its step; the unit of the last number is that of all."""
    parts = [part.strip() for part in text.split(":")]
    if not 2 <= len(parts) <= 3 or not all(parts):
        raise ValueError(f"{text[:60]!r} is not a range; write {FORMS}")
    written = re.match(rf"{NUMBER}\s*", parts[1])
    unit = parts[1][written.end() :] if written else ""
    first, last = _single(symbol, _with_unit(parts[0], unit), own), _single(symbol, parts[1], own)
    if first > last:
        turned = ":".join((parts[1], parts[0], *parts[2:]))
        raise ValueError(f"{text[:60]!r} runs backwards; write {turned}")
    if len(parts) == 2 and not symbol.counted:
        raise ValueError(f"{text!r} needs a step: {text}:x2 times two, or {text}:+1 plus one")
    step = parts[2] if len(parts) == 3 else "1"
    if factor := re.fullmatch(r"[x×*]\s*(.*)", step):
        values = _times(first, last, factor[1])
    else:
        amount = _amount(symbol, step.removeprefix("+").strip(), unit)
        count = int((last - first) // amount) + 1
        _limit(text, count)
        if first.denominator == amount.denominator == 1:
            return range(first.numerator, int(last) + 1, amount.numerator)
        values = [first + i * amount for i in range(count)]
    counted = symbol.counted and not isinstance(symbol, Quantity)
    if counted and any(value.denominator != 1 for value in values):
        raise ValueError(f"counts whole {symbol.display_unit or 'thing'}s: take whole steps")
    return values


def _with_unit(text: str, unit: str) -> str:
    """``2`` of ``2:8 TB/s`` is in TB/s."""
    return f"{text} {unit}" if unit and re.fullmatch(NUMBER, text) else text


def _amount(symbol: Symbol, text: str, unit: str) -> Fraction:
    """What is added at each step."""
    try:
        amount = in_unit(_with_unit(text, unit), symbol.unit, symbol.written_in).value
    except ValueError as error:
        raise ValueError(f"the step {text[:40]!r}: {error}") from None
    if amount <= 0:
        raise ValueError(f"the step {text[:40]!r} is not more than 0")
    return amount


def _times(first: Fraction, last: Fraction, written: str) -> list[Fraction]:
    """What is multiplied at each step, to 15 digits: exact powers of 1.0001 have thousands."""
    try:
        factor = parse_number(written)
    except UnitError:
        raise ValueError(f"the factor {written[:40]!r} is not a number; write x2") from None
    if factor <= 1:
        raise ValueError(f"times {written} leads nowhere; the factor is more than 1, such as x2")
    if first == 0:
        raise ValueError(f"0 times {written} stays 0; start above it, or write 0,1:{last}:x2")
    count = int(math.log(last / first) / math.log1p(factor - 1) + 1e-9) + 1
    if count > MOST_ON_AXIS:
        raise ValueError(f"x{written} makes too small steps; take a larger factor, such as x2")
    return [Fraction(f"{float(first) * float(factor) ** i:.15g}") for i in range(count)]
