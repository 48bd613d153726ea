"""What each quantization method stores for a weight, a group, a row, a column and a matrix.

Entries of ``specs/checkpoints/quantization.yaml``: values and small expressions over the fields of one
``quantization_config``. An entry gives the fields of a :class:`~symroof.specs.quantization.Quantization`.
"""

from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any

from symroof.resources import data_folder
from symroof.specs.checkpoints.family_fields import value_of
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


def pair(fields: Fields, name: str) -> list[int]:
    """Two whole numbers: the rows and columns of a block."""
    block = fields.get(name)
    right = isinstance(block, list) and len(block) == 2
    if not right or not all(type(n) is int and 0 < n <= LARGEST_BLOCK for n in block):  # type: ignore[union-attr]
        raise SchemeError("expected two whole numbers", (name,))
    return list(block)  # type: ignore[arg-type]


class SchemeNames(dict[str, Any]):
    """What a name of an entry means: a function over the fields of a quantization, or a value of the entry that was read before."""

    def __init__(self, fields: Fields) -> None:
        super().__init__(
            said=fields.get,
            number=self.number,
            one_of=self.one_of,
            pair=self.pair,
            share=Fraction,
            text=lambda *parts: "".join(map(str, parts)),
        )
        self.fields = fields

    def __missing__(self, name: str) -> Any:
        raise SchemeError("is missing", (name,))

    def number(
        self,
        name: str,
        default: int | None = None,
        known: tuple[int, ...] = (),
        other: str = "",
        least: int = 1,
    ) -> int:
        """A whole number under one of two names; a group of -1 is a whole row."""
        spelled = other if other and name not in self.fields else name
        return whole(self.fields, spelled, default, least, known)

    def pair(self, name: str, needed: bool = False) -> list[int] | None:
        absent = self.fields.get(name) is None and not needed
        return None if absent else pair(self.fields, name)

    def one_of(self, name: str, default: str, known: tuple[str, ...]) -> str:
        if (value := self.fields.get(name, default)) not in known:
            raise SchemeError(f"expected {' or '.join(known)}", (name,))
        return str(value)


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
        names = SchemeNames(inside)
        if _read_values(each, names):
            return _stored(names)
    raise AssertionError("an entry with conditions says what is otherwise")


def _read_values(entry: Mapping[str, Any], names: SchemeNames) -> bool:
    """The values of an entry in their order, and whether its condition holds."""
    for name, written in entry.items():
        if name == "notes":
            names[name] = tuple(
                note["text"]
                for note in written
                if "when" not in note or value_of(note["when"], names)
            )
        elif name == "when":
            if not value_of(written, names):
                return False
        elif isinstance(written, str) and (name not in WORDS or "(" in written):
            names[name] = value_of(written, names)
        else:
            names[name] = written
    return True


WORDS = ("method", "format", "compute", "inside")
"""Keys whose values are words, unless they call a function."""


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
