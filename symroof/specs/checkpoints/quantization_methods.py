"""Quantization methods that are more than an entry of the table: those that name modules for what they store, or a configuration."""

import re
from collections.abc import Mapping
from typing import Any

from symroof.errors import nearest
from symroof.specs.checkpoints.module_names import operator_modules, operators_named
from symroof.specs.checkpoints.quantization_table import (
    Fields,
    SchemeError,
    stored_by,
    table,
    whole,
)

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
