"""Types of spec fields: quantities with a checked dimension, ranges, names, and the bridge from pydantic to places in files."""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError
from pydantic_core import core_schema

from symroof.errors import InputError, Problem, nearest, split_hint
from symroof.strict_yaml import Document, Location
from symroof.units import (
    USUAL,
    Quantity,
    describe,
    example,
    parse_quantity,
    parse_unit,
    significant,
    strict,
    with_usual_unit,
)

NAME = r"^[a-z0-9][a-z0-9._-]{0,63}$"


class Spec(BaseModel):
    """Base of every spec: immutable, and an unknown key is an error."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, arbitrary_types_allowed=True, defer_build=True
    )

    @classmethod
    def elsewhere(cls, key: str) -> str:
        """The hint for a key that belongs into a block; empty where it does not."""
        return ""


R = TypeVar("R")
S = TypeVar("S", bound=BaseModel)
Fault = tuple[Location, str]
"""A place below a field, and what is wrong there."""


class Faults(ValueError):
    """Several things wrong inside one field."""

    def __init__(self, items: Sequence[Fault]) -> None:
        self.items = items
        told = ((".".join(map(str, place)), message) for place, message in items)
        super().__init__("; ".join(": ".join(filter(None, each)) for each in told))


def raise_faults(faults: Sequence[Fault]) -> None:
    """Raise all faults of a field at once; nothing without any."""
    if faults:
        raise Faults(faults)


MOST_FAULTS = 50
"""Faults of one mapping that are told; the nearest known name is searched for each."""


def read_at(place: Any, read: Callable[[], R]) -> R:
    """Read one field, with its faults below its place.

    Raises:
        Faults: everything that ``read`` refuses.
    """
    try:
        return read()
    except ValueError as error:
        items = error.items if isinstance(error, Faults) else [((), str(error))]
        raise Faults([((place, *below), message) for below, message in items]) from None


def read_each(
    entries: Iterable[tuple[Any, Any]],
    read: Callable[[Any, Any], R],
    named: Callable[[Any], Any] = lambda key: key,
) -> dict[Any, R]:
    """What is made of each entry under its key, as it is ``named``; the faults of all come at once.

    Raises:
        Faults: everything that ``read`` refuses, each below its key.
    """
    made: dict[Any, R] = {}
    faults: list[Fault] = []
    for key, value in entries:
        try:
            made[named(key)] = read_at(key, partial(read, key, value))
        except Faults as error:
            faults += error.items
        if len(faults) >= MOST_FAULTS:
            break
    raise_faults(faults)
    return made


def first_error(error: ValidationError) -> tuple[str, str]:
    """The first field that pydantic refuses, as a dotted path, and why."""
    first = error.errors(include_url=False)[0]
    return ".".join(map(str, first["loc"])), first["msg"]


def spec_name(title: str) -> str:
    """A title as the name of a spec: lower case, and nothing but letters, digits, dots, underscores and dashes.

    >>> spec_name("Llama 3 (8B)")
    'llama-3-8b'
    """
    return re.sub(r"[^a-z0-9._-]+", "-", title.lower()).strip("-._")[:64] or "model"


@dataclass(frozen=True)
class ValueRange:
    """A range ``low..high`` as written, in base units; ``expected`` is where in it evidence expects the value, the middle where nothing says."""

    low: Fraction
    high: Fraction
    text: str
    expected: Fraction | None = None

    @property
    def middle(self) -> Fraction:
        """The expected value by evidence, or the midpoint."""
        return (self.low + self.high) / 2 if self.expected is None else self.expected


def exact(value: Any) -> Any:
    """A Python number as an exact one: the float 0.1 means the decimal 0.1."""
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{value} is not a number")
    return Fraction(str(float(value))) if isinstance(value, float) else value


def _quantity(value: object, unit: str = "s") -> Quantity:
    """A text or a number as a quantity."""
    value = Fraction(value) if isinstance(value, Decimal) else exact(value)
    if isinstance(value, bool) or not isinstance(value, (int, Fraction, str)):
        message = f"expected a quantity in {unit or 'a plain number'}, such as {example(unit)}"
        raise ValueError(message)
    if not isinstance(value, str):
        return Quantity(Fraction(value), (), str(value))
    return parse_quantity(value)


def in_unit(
    value: object, unit: str, written_in: str | None = None, bare: bool = False
) -> Quantity:
    """A value in a field of one unit.

    A bare number is taken where the unit is a count or none, and for 0; with ``bare`` everywhere, in ``written_in`` or else the
    base unit.

    Raises:
        ValueError: not a quantity, one of another dimension, or one without its unit.
    """
    read, dimension = _quantity(value, unit), parse_unit(unit).dimension
    if not read.dimension and strict(dimension):
        if read.value and not bare:
            kind = f" of {USUAL[unit][0]}" if unit in USUAL else ""
            text = with_usual_unit(read.value, unit, written_in)
            probable = repr(text)
            if unit == "s" and not written_in and 1 <= read.value < 5:  # seconds as well as ms
                probable += f" or {significant(read.value, 6) + ' s'!r}"
            such = example(unit, written_in)
            raise ValueError(f"write the unit{kind}, such as {such}; write {probable}")
        value, of = read.value * parse_unit(written_in or unit).size, written_in or unit
        return Quantity(value, dimension, f"{read.text} {of}")
    if strict(read.dimension) != strict(dimension):
        needed = f"{describe(dimension)} is needed, such as {example(unit)}"
        raise ValueError(f"is in {describe(read.dimension)}, but {needed}")
    return read


@dataclass(frozen=True, eq=False)
class Read:
    """Marks a field as what a function makes of a file's value, ``Annotated[Any, Read(function, "string number")]``: with the kinds of JSON that stand there,
    and ``more`` of the JSON Schema."""

    read: Callable[[Any], Any]
    kinds: str = "string"
    more: Mapping[str, Any] = field(default_factory=dict)

    def __get_pydantic_core_schema__(self, *_: object) -> core_schema.CoreSchema:
        return core_schema.no_info_plain_validator_function(self.read)

    def __get_pydantic_json_schema__(self, *_: object) -> dict[str, Any]:
        kinds = self.kinds.split()
        return {"type": kinds if len(kinds) > 1 else self.kinds, **self.more}


def _positive(quantity: Quantity) -> Quantity:
    if quantity.value <= 0:
        raise ValueError("must be positive")
    return quantity


def amount(unit: str, written_in: str | None = None, bare: bool = False) -> Read:
    """Marks a field as a positive quantity of one unit, ``Annotated[Quantity, amount("byte/s")]``; ``bare`` where a plain number can mean one thing only."""

    def read(value: object) -> Quantity:
        return _positive(in_unit(value, unit, written_in, bare))

    usual = USUAL[unit][1] if unit in USUAL else unit
    told = {"description": f"a quantity in {unit or 'a plain number'}", "examples": [usual]}
    plain = bare or not strict(parse_unit(unit).dimension)
    return Read(read, "string number" if plain else "string", told)


AnyAmount = Annotated[Quantity, Read(lambda value: _positive(_quantity(value)), "string number")]
"""A positive quantity of any unit; a share has none."""


def one_of(known: Callable[[], Iterable[str]]) -> AfterValidator:
    """Marks a text field as one of some names, which are asked for when one is read."""

    def check(name: str) -> str:
        names = list(known())
        if name not in names:
            raise ValueError(f"unknown name {name[:40]!r}; {nearest(name, names)}".rstrip("; "))
        return name

    return AfterValidator(check)


def parse_range(
    text: str, unit: str, written_in: str | None = None, bare: bool = False
) -> ValueRange:
    """``0.5..0.7`` or ``1 ms..2 ms``: both ends in the field's unit, which may be given once, ``1..2 ms``.

    Raises:
        ValueError: an end that is not a quantity, or ends in the wrong order.
    """
    first, _, second = text.partition("..")
    unit_text = re.sub(r"^[\s\d.,_eE+-]*", "", second)
    plain = not re.search(r"[A-Za-z%]", first.replace("e", "").replace("E", ""))
    ends = (f"{first} {unit_text}" if plain and unit_text else first), second
    low, high = (in_unit(end, unit, written_in, bare) for end in ends)
    if low.value > high.value:
        turned = "..".join(end.strip() for end in reversed(ends))
        raise ValueError(f"the range {text!r} runs backwards; write {turned}")
    return ValueRange(low.value, high.value, text)


def _whole(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError("expected a whole number, 1 or more")
    if value >= 10**13:
        raise ValueError("is far too large")
    return value


Whole = Annotated[int, Read(_whole, "integer", {"minimum": 1})]
"""A pydantic field type: a positive whole number."""


def build(document: Document, kind: type[S], context: object = None) -> S:
    """Validate a document against a spec, all problems at once, each at its place in the file; validators see the ``context``.

    Raises:
        InputError: everything that is wrong.
    """
    if not isinstance(document.data, dict):
        raise InputError(document.problem((), "expected keys and values", "begin with 'name: ...'"))
    try:
        return kind.model_validate(document.data, context=context)
    except ValidationError as error:
        problems: dict[tuple[object, ...], Problem] = {}
        for item in error.errors(include_url=False, include_context=True):
            location = _keys(item["loc"], document.data)
            fault = item.get("ctx", {}).get("error")
            for below, message in fault.items if isinstance(fault, Faults) else [((), "")]:
                explained = split_hint(message) if message else _explain(item, kind, location)
                problem = document.problem((*location, *below), *explained)
                problems.setdefault((problem.line, problem.path, problem.message), problem)
        every = problems.values()
        hints = " ".join(each.hint for each in every)  # a key of another word is not missing, too
        told = [p for p in every if p.message != "is missing" or repr(p.path) not in hints]
        raise InputError(sorted(told, key=lambda p: (p.line or 0, p.column or 0))) from None
    except RecursionError:
        raise InputError(document.problem((), "is nested too deep")) from None


def _keys(location: tuple[str | int, ...], data: Any) -> tuple[str | int, ...]:
    """pydantic's location without the names of the branches it tried: only keys of the data, and a last part in any case."""
    keys: list[str | int] = []
    for i, part in enumerate(location):
        inside = (isinstance(data, dict) and part in data) or (
            isinstance(data, list) and isinstance(part, int) and part < len(data)
        )
        if inside:
            data = data[part]
        if isinstance(part, int) or inside or (i + 1 == len(location) and not BRANCH.search(part)):
            keys.append(part)
    return tuple(keys)


BRANCH = re.compile(r"\[|^(?:str|int|bool|list|dict|Source|any)$|(?:-validator|Attention|Block)$")
"""What in pydantic's location names a branch of a union rather than a key."""


def _explain(item: Any, kind: type[BaseModel], location: tuple[str | int, ...]) -> tuple[str, str]:
    """pydantic's error in plain words, with a hint."""
    key = str(location[-1]) if location else ""
    match item["type"]:
        case "extra_forbidden":
            elsewhere = kind.elsewhere(key) if issubclass(kind, Spec) else ""
            near = nearest(key, _fields(kind, location[:-1]))
            first = elsewhere if len(location) == 1 or not near.startswith("did you") else ""
            return "unknown key", first or near
        case "literal_error":
            known = re.findall(r"'([^']+)'", item["ctx"]["expected"])
            hint = nearest(item["input"], known) if isinstance(item["input"], str) else ""
            return f"must be one of {', '.join(known)}", hint
        case "union_tag_invalid":
            known = re.findall(r"'([^']+)'", item["ctx"]["expected_tags"])
            hint = nearest(str(item["ctx"]["tag"]), known)
            return f"kind must be one of {', '.join(known)}", hint
        case "too_long":
            return f"has more than {item['ctx']['max_length']} entries", ""
        case "value_error":
            return split_hint(str(item["ctx"]["error"]))
    hint = "write precision: {weights: fp8}" if key == "precision" else ""
    if item["type"] in BLOCKS and {"value", "source"}.issubset(_fields(kind, location)):
        hint = f"write {{value: {str(item['input'])[:40]}, source: NAME}}, with NAME among sources"
    return IN_WORDS.get(item["type"], item["msg"][:200]), hint


BLOCKS = ("dict_type", "model_type", "model_attributes_type")
IN_WORDS = {
    "missing": "is missing",
    "string_type": "expected text",
    **dict.fromkeys(("bool_type", "bool_parsing"), "expected true or false"),
    **dict.fromkeys(("list_type", "tuple_type"), "expected a list"),
    **dict.fromkeys(BLOCKS, "expected keys and values"),
    "string_pattern_mismatch": "must be lower-case letters, digits, '.', '_' and '-'",
}
"""pydantic's kinds of error that need no word of their own place."""


def _fields(kind: type[BaseModel], location: tuple[str | int, ...]) -> list[str]:
    """The keys allowed at a place, for the hint; where several kinds of block are allowed, those of all."""
    current: list[type[BaseModel]] = [kind]
    for part in location:
        if not isinstance(part, int):
            fields = [model.model_fields[part] for model in current if part in model.model_fields]
            if fields:  # a user-defined name has the fields of its kind
                current = [model for field in fields for model in _models_in(field.annotation)]
    keys = {key: field.alias for model in current for key, field in model.model_fields.items()}
    return [alias or key for key, alias in keys.items()]


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for inner in getattr(annotation, "__args__", ()) for model in _models_in(inner)]
