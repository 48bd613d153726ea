"""What each quantization method stores for a weight, a group, a row, a column and a matrix.

Most are entries of ``specs/checkpoints/quantization.yaml``: values and small expressions over the fields of one ``quantization_config``. Methods that name
modules for what they store are functions, in :data:`METHODS`. Both give the fields of a :class:`~symroof.specs.quantization.Quantization`.
"""

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from symroof.errors import nearest
from symroof.specs.checkpoints.family_fields import value_of
from symroof.specs.checkpoints.module_names import operator_modules, operators_named, table

Fields = Mapping[str, Any]
MOST_GROUP, LARGEST_BLOCK = 10**6, 65536


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


Group = tuple[dict[str, Any], list[str]]
"""What is stored, and the modules that are stored so."""


def modelopt(fields: Fields) -> dict[str, Any]:
    """An algorithm of TensorRT Model Optimizer, or of several by module (``MIXED_PRECISION``, ``quantized_layers``)."""
    inside = fields.get("quantization")
    source: Fields = inside if isinstance(inside, Mapping) else fields
    unsaid = "NVFP4" if "nvfp4" in str(fields.get("quant_method")) else "missing"
    name = str(source.get("quant_algo") or unsaid).upper()
    if name == "MIXED_PRECISION":
        return {"groups": mixed_precision(source)}
    return {**algorithm(name, source), "kept": ()}


def mixed_precision(source: Fields) -> list[Group]:
    """What each algorithm of ``quantized_layers`` stores, and the modules that it is for."""
    listed = source.get("quantized_layers")
    if not isinstance(listed, Mapping) or not listed:
        raise SchemeError("is missing", ("quantized_layers",))
    modules: dict[tuple[str, int], list[str]] = {}
    for module, how in listed.items():
        if not isinstance(how, Mapping):
            raise SchemeError("expected an object with fields", ("quantized_layers", str(module)))
        modules.setdefault(
            (str(how.get("quant_algo") or "missing").upper(), whole(how, "group_size", 16)), []
        ).append(str(module))
    return [
        (algorithm(name, {"group_size": group}), named) for (name, group), named in modules.items()
    ]


def algorithm(name: str, source: Fields) -> dict[str, Any]:
    """What one algorithm stores."""
    known = table()["modelopt"]
    entry = known.get(table()["modelopt_same_as"].get(name, name))
    if entry is None:
        hint = nearest(name, (*known, "MIXED_PRECISION"))
        raise SchemeError(f"no algorithm {name[:40]!r} is known", ("quant_algo",), hint)
    return stored_by(entry, source)


def compressed_tensors(fields: Fields) -> dict[str, Any]:
    """Weights by ``config_groups``: integers or floats with 16-bit scales for a matrix, a row, a group or a block, or with 8-bit
    ones in small groups of 4-bit floats (compressed-tensors, ``weight_packed``, ``weight_scale``, ``weight_shape``)."""
    groups = fields.get("config_groups")
    if not isinstance(groups, Mapping) or not groups:
        raise SchemeError("is missing", ("config_groups",))
    notes = (
        ("sparsity of the stored weights is not counted",) if fields.get("sparsity_config") else ()
    )
    made = [
        _config_group(str(name), group, str(fields.get("format") or ""))
        for name, group in groups.items()
    ]
    stored, _ = made[0]
    if all(other == stored for other, _ in made):
        targets = [text for _, each in made for text in _targets(each)]
        named = operators_named(targets)
        meant = {*named.wholly, *named.partly}
        # a wildcard means all that is not ignored, the head too
        kept = (
            ()
            if "*" in targets
            else tuple(each for each in operator_modules() if each not in meant)
        )
        return {**stored, "kept": kept, "notes": notes}
    return {"groups": [(how, _targets(each)) for how, each in made], "notes": notes}


def _config_group(name: str, group: Any, layout: str) -> tuple[dict[str, Any], Fields]:
    """What one group stores, and the group."""
    weights = group.get("weights") if isinstance(group, Mapping) else None
    if not isinstance(weights, Mapping):
        raise SchemeError("is missing", ("config_groups", name, "weights"))
    try:
        layout = str(group.get("format") or layout).partition("-")[0]
        stored = stored_by(table()["compressed_tensors"], {**weights, "layout": layout})
    except SchemeError as error:
        raise SchemeError(
            str(error), ("config_groups", name, "weights", *error.place), error.hint
        ) from None
    activations = group.get("input_activations")
    if isinstance(activations, Mapping) and f"{activations.get('num_bits')} bit" == stored["bits"]:
        stored = {**stored, "compute": stored["format"]}  # operands meet in the weights' format
    return stored, group


def _targets(group: Fields) -> list[str]:
    """The modules that a group is for; ``Linear`` is every one."""
    targets = group.get("targets")
    listed = targets if isinstance(targets, list) else ["Linear"]
    named = [text for text in listed if isinstance(text, str)]
    return ["*" if text == "Linear" else text for text in named]


def torchao(fields: Fields) -> dict[str, Any]:
    """A configuration of torchao, by its name or as its class is written."""
    kind, arguments = fields.get("quant_type"), fields.get("quant_type_kwargs")
    if isinstance(kind, Mapping):  # {"default": {"_type": "Int4WeightOnlyConfig", "_data": {...}}}
        inside = kind.get("default")
        described = inside if isinstance(inside, Mapping) else {}
        name = str(described.get("_type", "")).removesuffix("Config")
        kind = re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
        arguments = described.get("_data")
    if not isinstance(kind, str):
        raise SchemeError("is missing" if kind is None else "expected a text", ("quant_type",))
    known = table()["torchao"]
    if kind not in known:
        hint = nearest(kind, known)
        raise SchemeError(f"no type {kind[:40]!r} is known", ("quant_type",), hint)
    return stored_by(known[kind], arguments if isinstance(arguments, Mapping) else {})


def mlx(fields: Fields) -> dict[str, Any]:
    """A model of MLX: one entry for all matrices, others by the names of modules, and those that stay wide (``false``)."""
    groups: dict[str, Group] = {}
    for module, how in fields.items():
        if isinstance(how, Mapping):
            stored = stored_by(table()["methods"]["mlx"], {"mode": fields.get("mode"), **how})
            groups.setdefault(repr(stored), (stored, []))[1].append(str(module))
    stored = stored_by(table()["methods"]["mlx"], fields)
    others = [(how, named) for how, named in groups.values() if how != stored]
    wide = [str(module) for module, how in fields.items() if how is False]
    return {**stored, "others": others, "wide": wide}


METHODS = {
    "compressed-tensors": compressed_tensors,
    "modelopt": modelopt,
    "modelopt_fp4": modelopt,
    "nvfp4": modelopt,
    "torchao": torchao,
    "mlx": mlx,
}
"""Methods that are more than an entry of the table."""


def known_methods() -> list[str]:
    """Every ``quant_method`` that is known."""
    return [*dict.fromkeys([*table()["methods"], *table()["same_as"], *METHODS])]


def scheme_of(method: str, fields: Fields) -> dict[str, Any] | None:
    """What a method stores; None where it is not known."""
    if method in METHODS:
        return METHODS[method](fields)
    entry = table()["methods"].get(table()["same_as"].get(method, method))
    return None if entry is None else stored_by(entry, fields)
