"""Axes of a sweep: a numeric one moves an input; labels (models, devices, precisions, switches) make a case each, and so do
parallel degrees, which shape the formulas themselves.

Numbers are written ``1:512``, ``128:32768:x2``, ``0.1:0.9:+0.1``, ``1,2,4``, or as mixtures of these.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice
from typing import Any

import numpy as np

from symroof.cases.bind_cases import MOST_CASES
from symroof.cases.request import Request, request_of
from symroof.errors import InputError, Problem, nearest, on_line
from symroof.specs.fields import ValueRange
from symroof.specs.input_values import needs_unit, setting, symbol_of
from symroof.specs.model import ModelSpec
from symroof.symbolic.evaluation import Array
from symroof.symbolic.expressions import fraction, is_condition_or_label, is_number
from symroof.symbolic.printing import text as text_of
from symroof.symbolic.reading import parse
from symroof.theory.declarations import NONE, Declarations
from symroof.theory.layout import SHAPING
from symroof.theory.quantities import Quantity
from symroof.theory.switches import SWITCHES
from symroof.theory.symbols import ALIASES, Symbol, canonical
from symroof.units import NUMBER, parse_number

LABELLED = ("model", "hardware", "weights", "kv", "activations", "detail", *SWITCHES)
"""Axes of labels."""
MOST_ON_AXIS, MOST_POINTS = 1_000_000, 10**10
"""Values of one axis: more of them than this is a slip of the pen, or belongs on two axes. And points, which a file may have."""
FORMS = "a:b, a:b:x2, a:b:+128, or a list such as 1,2,4"
GROUPED = re.compile(r"0\d+(\.\d*)?$")
"""What a comma that was to group thousands leaves behind: ``1,024`` is 1 and 024."""


@dataclass(frozen=True, eq=False)
class Axis:
    """One axis: a name and its values, in order.

    Attributes:
        values: labels as they were written, whole numbers where all are, else floats, in base units.
        choices: the same where each makes a case of its own; empty where an input moves.
        symbol: what a number is of.
    """

    name: str
    values: Array
    choices: tuple[Any, ...] = ()
    symbol: Symbol | None = None

    @property
    def labelled(self) -> bool:
        """Whether each value makes a case."""
        return bool(self.choices)

    def __len__(self) -> int:
        return len(self.values)

    @property
    def attributes(self) -> dict[str, str]:
        """Unit and meaning of numbers."""
        symbol = self.symbol
        return {"units": symbol.unit or "1", "long_name": symbol.meaning} if symbol else {}


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
        except InputError as error:  # of a label
            problems += [replace(each, file=origin, path=written) for each in error.problems]
        except ValueError as error:
            message, _, hint = str(error).partition("; ")
            problems.append(Problem(origin, message, path=written, hint=on_line(written, hint)))
    if problems:
        raise InputError(problems)
    return list(axes.values())


def axis(name: str, values: Any, own: Declarations = NONE) -> Axis:
    """One axis by its printed name; an error says what cannot be read."""
    if name in LABELLED:
        choices = _split(values) if isinstance(values, str) else _items(values)
        for choice in choices:
            chosen({name: choice}, own)
        return Axis(name, np.array(list(map(_label, choices))), tuple(choices))
    try:
        symbol = symbol_of(name, own)
    except ValueError:
        hint = nearest(name, [*own.known, *ALIASES, *LABELLED])
        usual = "an axis is batch, prompt, tp, mfu, mem_bandwidth, model, hardware or the like"
        raise ValueError(f"no input, quantity or counting choice; {hint or usual}") from None
    definition = getattr(symbol, "definition", None)
    if definition and is_condition_or_label(parse(definition)):
        raise ValueError("is not a number; an axis is an input, or a quantity that can be measured")
    return numeric(symbol, _numbers(symbol, values, own))


def numeric(symbol: Symbol, values: Iterable[float]) -> Axis:
    """An axis of numbers, each once; degrees that shape formulas make a case each."""
    numbers = np.array(list(dict.fromkeys(values)))
    if (numbers % 1 == 0).all() and np.abs(numbers).max() < 2**53:
        numbers = numbers.astype(int)
    shaping = tuple(numbers.tolist()) if symbol.name in SHAPING else ()
    return Axis(symbol.name, numbers, shaping, symbol)


def chosen(choices: Mapping[str, Any], own: Declarations) -> Request:
    """What labels and numbers in base units choose together; ``activations`` is a precision, or on or off.

    Raises:
        InputError: an unknown precision or counting choice.
    """
    switches, rest = dict[str, Any](), dict[str, Any]()
    for name, x in choices.items():
        label = x if name not in LABELLED or name == "model" else _label(x)
        switch = name in (*SWITCHES, "detail") and (name != "activations" or label in ("on", "off"))
        (switches if switch else rest)[name] = label
    return request_of(assume=switches, origin="axis", own=own, **rest)


def _label(item: Any) -> str:
    if isinstance(item, bool):
        return "on" if item else "off"
    return item.name if isinstance(item, ModelSpec) else str(item)


def axes_of_lists(request: Request, named: set[str]) -> list[Axis]:
    """The lists of a study that no axis names, as axes; where a range or a formula is among numbers, each is a label."""
    lists = {"model": request.models, "hardware": request.hardware, **request.precision}
    axes = [axis(name, members) for name, members in lists.items() if len(members) > 1]
    for name, settings in request.values.items():
        symbol = symbol_of(name, request.own)
        if len(settings) > 1 and all(map(is_number, settings)):
            axes.append(numeric(symbol, map(float, map(fraction, settings))))
        elif len(settings) > 1:
            words = tuple(x.text if isinstance(x, ValueRange) else text_of(x) for x in settings)
            axes.append(Axis(name, np.array(words), words, symbol))
    return [each for each in axes if each.name not in named]


def within_limits(axes: Sequence[Axis]) -> None:
    """Points that can be computed, and cases that can be bound.

    Raises:
        InputError: there are more, or none.
    """
    if not axes:
        hint = "--over batch=1:512, or a list in the study"
        raise InputError(Problem("sweep", "nothing to sweep over", hint=hint))
    labelled = [axis for axis in axes if axis.labelled]
    for what, those, most in (("cases", labelled, MOST_CASES), ("points", axes, MOST_POINTS)):
        if (count := math.prod(map(len, those))) > most:
            sizes = " x ".join(f"{len(axis):,} {axis.name}" for axis in those)
            message = f"{sizes} are {count:,} {what}; at most {most:,} are computed"
            hint = "give fewer values, or take larger steps, such as :x2"
            raise InputError(Problem("sweep", message, hint=hint))


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
    if not (items := list(islice(values, MOST_ON_AXIS + 1))):
        raise ValueError("has no values; an axis has at least one")
    return items


def _numbers(symbol: Symbol, values: Any, own: Declarations) -> list[float]:
    """The values in base units, in written order."""
    if isinstance(values, range) and values and values.step > 0 and not needs_unit(symbol):
        values = f"{values[0]}:{values[-1]}:{values.step}"  # much faster than one by one
    read: list[float] = []
    for item in _items(values):
        for each in _split(item) if isinstance(item, str) else [item]:
            if isinstance(each, str) and GROUPED.match(each):
                plain = item.replace(",", "").strip()[:40]
                raise ValueError(f"commas stand between values; write {plain} without them")
            if isinstance(each, str) and ":" in each:
                read += _progression(symbol, each, own)
            else:
                read.append(float(_single(symbol, each, own)))
            _limit(len(read))
    return read


def _limit(count: int) -> None:
    if count > MOST_ON_AXIS:
        most = f"has {count:,} values, an axis at most {MOST_ON_AXIS:,}"
        raise ValueError(f"{most}; take larger steps, such as :x2")


def _single(symbol: Symbol, value: object, own: Declarations) -> int | Fraction:
    """One value of an axis, in base units: exact, so that three steps of 0.1 are 0.3."""
    if isinstance(value, str) and re.fullmatch(r"\d{1,15}-\d{1,15}", value):
        steps = value.replace("-", ":")
        raise ValueError(f"{value!r} is not a range; write {symbol.name}='{steps}'")
    read = setting(symbol.name, value, formulas=False, bare=True, own=own)
    if isinstance(read, ValueRange):
        steps = read.text.replace("..", ":")
        raise ValueError(f"an axis takes single values; write {steps}:+STEP for steps between them")
    assert is_number(read)
    number = fraction(read)
    return int(number) if number.denominator == 1 else number


PROGRESSION = re.compile(
    rf"(?P<first>[^:]+):\s*(?P<last>(?:{NUMBER})?(?P<unit>[^:]*))(?::\s*(?P<kind>[x×*+]?)(?P<step>[^:]+))?"
)
"""``a:b`` with its step; the unit of the last number is that of all."""


def _progression(symbol: Symbol, text: str, own: Declarations) -> list[float]:
    """The numbers from one to another in steps that are added or multiplied."""
    found = PROGRESSION.fullmatch(text)
    if not found or not found["last"].strip():
        raise ValueError(f"{text[:60]!r} is not a range; write {FORMS}")
    written, unit, step = found["first"].strip(), found["unit"].strip(), found["step"]
    first = _single(symbol, _with_unit(written, unit), own)
    last = _single(symbol, found["last"].strip(), own)
    if first > last:
        turned = ":".join((found["last"].strip(), written, *text.split(":")[2:]))
        raise ValueError(f"{text[:60]!r} runs backwards; write {turned}")
    if step is None and not symbol.counted:
        raise ValueError(f"{text!r} needs a step: {text}:x2 times two, or {text}:+1 plus one")
    if found["kind"] in ("x", "×", "*"):
        factor = float(parse_number(step))
        if factor <= 1 or first <= 0:
            raise ValueError(f"{text[:60]!r} leads nowhere; write 1:{last}:x2, or a list")
        count = int(math.log(last / first) / math.log1p(factor - 1) + 1e-9) + 1
        _limit(count)
        read = [float(f"{first * factor**i:.15g}") for i in range(count)]
    else:
        amount = _single(symbol, _with_unit((step or "1").strip(), unit), own)
        if amount <= 0:
            raise ValueError(f"{text[:60]!r} leads nowhere; its step is more than 0")
        count = int((last - first) // amount) + 1
        _limit(count)
        read = [float(first + i * amount) for i in range(count)]
    counted = symbol.counted and not isinstance(symbol, Quantity)
    if counted and any(value % 1 for value in read):
        raise ValueError(f"counts whole {symbol.display_unit or 'thing'}s: take whole steps")
    return read


def _with_unit(text: str, unit: str) -> str:
    """``2`` of ``2:8 TB/s`` is in TB/s."""
    return f"{text} {unit}" if unit and re.fullmatch(NUMBER, text) else text
