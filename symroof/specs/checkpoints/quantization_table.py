"""What each quantization method stores for a weight, a group, a row, a column and a matrix.

Entries of ``specs/checkpoints/quantization.yaml``: values and small expressions over the fields of one
``quantization_config``. An entry gives the fields of a :class:`~symroof.specs.quantization.Quantization`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any

from symroof.resources import data_folder
from symroof.specs.checkpoints.family_expressions import Expressions, Term
from symroof.strict_yaml import load

Fields = Mapping[str, Any]
MOST_GROUP, LARGEST_BLOCK = 10**6, 65536


@lru_cache(maxsize=1)
def table() -> dict[str, Any]:
    """The file as it stands."""
    data: dict[str, Any] = load(data_folder("specs") / "checkpoints" / "quantization.yaml").data
    return data


class SchemeError(ValueError):
    """A field of a quantization that is missing or not what it should be."""

    def __init__(self, message: str, place: tuple[str | int, ...] = (), hint: str = "") -> None:
        self.place, self.hint = place, hint
        super().__init__(message)


def bits(number: int) -> str:
    return f"{number} bit"


def along_row(group: int, shared: int) -> dict[str, Any]:
    """What weights share: by groups along an output row, or by the whole row where the group is -1."""
    if group == -1:
        return {"row_bits": bits(shared)}
    if group < 1:
        raise SchemeError("expected -1, or 1 or more", ("group_size",))
    return {"scale_bits": bits(shared), "scale_group": group, "scale_rows": 1}


def integer_format(width: int) -> str:
    """The number format that holds an integer of so many bits."""
    return "int4" if width <= 4 else "int8"


# ------------------------------------------------------------------------------------------------ entries of the table


@dataclass
class Scheme:
    """The fields of a quantization, and the values of an entry that were read before."""

    data: Fields
    values: dict[str, Any] = field(default_factory=dict)

    def whole(self, name: str) -> Any:
        if name not in self.values:
            raise SchemeError("is missing", (name,))
        return self.values[name]


def whole(
    fields: Fields,
    name: str,
    default: int | None = None,
    least: int = 1,
    known: tuple[int, ...] = (),
) -> int:
    """A whole number, or the default of the method's own class."""
    value = fields.get(name)
    value = default if value is None else value
    if value is None:
        raise SchemeError("is missing", (name,))
    if isinstance(value, bool) or not isinstance(value, int):
        raise SchemeError("expected a whole number", (name,))
    if not least <= value <= MOST_GROUP or (known and value not in known):
        said = f"expected {' or '.join(map(str, known))}" if known else "is out of range"
        raise SchemeError(said, (name,))
    return value


def _number(
    s: Scheme,
    i: int,
    name: Term,
    default: Term,
    known: Term | None = None,
    other: Term | None = None,
) -> int:
    spelled = other.text if other and name.text not in s.data else name.text
    choice = tuple(known.read(s, i)) if known else ()  # type: ignore[arg-type]
    return whole(s.data, spelled, default.read(s, i), known=choice)  # type: ignore[arg-type]


def _row_or_group(s: Scheme, i: int, name: Term, default: Term, other: Term | None = None) -> int:
    """The length of a group; -1 is a whole row."""
    spelled = other.text if other and name.text not in s.data else name.text
    return whole(s.data, spelled, default.read(s, i), least=-1)  # type: ignore[arg-type]


def _pair(s: Scheme, i: int, name: Term) -> Any:
    """Two whole numbers, or nothing."""
    return pair(s.data, name.text) if s.data.get(name.text) is not None else None


def pair(fields: Fields, name: str) -> list[int]:
    """Two whole numbers: the rows and columns of a block."""
    block = fields.get(name)
    right = isinstance(block, list) and len(block) == 2
    if not right or not all(type(n) is int and 0 < n <= LARGEST_BLOCK for n in block):  # type: ignore[union-attr]
        raise SchemeError("expected two whole numbers", (name,))
    return list(block)  # type: ignore[arg-type]


def _one_of(s: Scheme, i: int, name: Term, default: Term, known: Term) -> Any:
    value, choice = s.data.get(name.text, default.read(s, i)), known.read(s, i)  # type: ignore[arg-type]
    if value not in choice:
        raise SchemeError(f"expected {' or '.join(choice)}", (name.text,))
    return value


@lru_cache(maxsize=1)
def _expressions() -> Expressions:
    """The functions of the table: fields are read from a :class:`Scheme`."""
    functions: dict[str, Callable[..., Any]] = {
        "number": _number,
        "row_or_group": _row_or_group,
        "pair": _pair,
        "one_of": _one_of,
        "said": lambda s, i, name: s.data.get(name.text),
        "share": lambda s, i, one, of: Fraction(one.read(s, i), of.read(s, i)),
    }
    return Expressions(functions, {})


def stored_by(entry: Any, fields: Fields) -> dict[str, Any]:
    """What an entry of the table stores, by the fields of a file."""
    for each in entry if isinstance(entry, list) else [entry]:
        if "otherwise" in each:
            raise SchemeError(each["otherwise"], (each["at"],) if "at" in each else ())
        inside: Any = fields
        for name in each.get("inside", ()):
            inside = inside.get(name) if isinstance(inside, Mapping) else None
        if not isinstance(inside, Mapping):
            raise SchemeError("is missing", tuple(each["inside"]))
        scheme = Scheme(inside)
        if _values(each, scheme):
            return _stored(scheme.values)
    raise AssertionError("an entry with conditions says what is otherwise")


def _values(entry: Mapping[str, Any], scheme: Scheme) -> bool:
    """The values of an entry in their order, and whether its condition holds."""
    for name, written in entry.items():
        if name in ("method", "format", "compute", "inside") and "(" not in written:
            scheme.values[name] = written
        elif name == "notes":
            held = (note["text"] for note in written if _holds(note.get("when"), scheme))
            scheme.values[name] = tuple(held)
        elif name == "when":
            if not _holds(written, scheme):
                return False
        else:
            text = isinstance(written, str)
            read = _expressions()(written).read(scheme, 0) if text else written  # type: ignore[arg-type]
            scheme.values[name] = read
    return True


def _holds(condition: str | None, scheme: Scheme) -> bool:
    return condition is None or bool(_expressions()(condition).read(scheme, 0))  # type: ignore[arg-type]


def _stored(values: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a quantization for the values of an entry."""
    width, scale, block = values["bits"], values.get("scale"), values.get("block")
    kept = ("format", "method", "compute", "notes", "narrow")
    stored = {name: values[name] for name in kept if values.get(name)}
    stored |= {"bits": width if isinstance(width, Fraction) else bits(width)}
    stored.setdefault("format", integer_format(width))
    if block:
        rows, columns = block
        stored |= {
            "scale_bits": bits(scale or 0),
            "scale_group": rows * columns,
            "scale_rows": rows,
        }
    elif scale is not None and values.get("flat"):
        stored |= {"scale_bits": bits(scale), "scale_group": values["group"]}
    elif scale is not None:
        stored |= along_row(values["group"], scale)
    beside = {f"{name}_bits": values.get(name) for name in ("row", "column", "matrix")}
    stored |= {name: bits(number) for name, number in beside.items() if number}
    return stored | ({"kept": tuple(values["kept"])} if "kept" in values else {})
