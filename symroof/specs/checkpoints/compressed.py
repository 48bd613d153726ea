"""Methods that describe themselves: compressed-tensors says how weights are stored group by group, torchao by a name."""

from collections.abc import Mapping
from typing import Any

from symroof.errors import nearest
from symroof.specs.checkpoints.modules import SPELLINGS, operators_named
from symroof.specs.checkpoints.schemes import Fields, SchemeError, along_row, bits, integer_format, whole

STRATEGIES = ("tensor", "channel", "group", "block", "tensor_group")
SHAPE = 2 * 64
"""``weight_shape``: two 64-bit numbers beside every packed matrix."""


def compressed_tensors(fields: Fields) -> dict[str, Any]:
    """Weights by ``config_groups``: integers or floats with 16-bit scales for a matrix, a row, a group or a block, or with 8-bit
    ones in small groups of 4-bit floats (compressed-tensors, ``weight_packed``, ``weight_scale``, ``weight_shape``)."""
    groups = fields.get("config_groups")
    if not isinstance(groups, Mapping) or not groups:
        raise SchemeError("is missing", ("config_groups",))
    name, group = next(iter(groups.items()))
    weights = group.get("weights") if isinstance(group, Mapping) else None
    if not isinstance(weights, Mapping):
        raise SchemeError("is missing", ("config_groups", str(name), "weights"))
    try:
        stored = _stored(weights, str(group.get("format") or fields.get("format") or ""))
    except SchemeError as error:
        raise SchemeError(str(error), ("config_groups", str(name), "weights", *error.place), error.hint) from None
    notes = []
    if any(other.get("weights") != weights for other in groups.values() if isinstance(other, Mapping)):
        notes.append(f"the groups differ in how weights are stored; all count as {name}")
    if fields.get("sparsity_config"):
        notes.append("sparsity of the stored weights is not counted")
    return {**stored, **_computes(group, stored), "kept": _untargeted(group), "notes": tuple(notes)}


def _stored(weights: Fields, layout: str) -> dict[str, Any]:
    width = whole(weights, "num_bits", known=(2, 3, 4, 8))
    floats = weights.get("type", "int") == "float"
    strategy = weights.get("strategy") or ("group" if weights.get("group_size") else "tensor")
    if strategy not in STRATEGIES:
        raise SchemeError(f"no strategy {str(strategy)[:40]!r} is known", ("strategy",), nearest(str(strategy), STRATEGIES))
    stored: dict[str, Any] = {"method": _name(width, floats, layout), "bits": bits(width), "format": f"fp{width}" if floats else integer_format(width)}
    zero = 0 if weights.get("symmetric", True) else width
    packed = SHAPE if layout == "pack-quantized" else 0
    if strategy in ("group", "tensor_group"):
        small = floats and width == 4
        stored |= along_row(whole(weights, "group_size"), (8 if small else 16) + zero)
        return _beside(stored, packed + (64 if strategy == "tensor_group" else 0))
    if strategy == "channel":
        return _beside({**stored, "row_bits": bits(16 + zero)}, packed)
    if strategy == "tensor":
        return _beside(stored, packed + 16 + zero)
    block = weights.get("block_structure")
    if not isinstance(block, list) or len(block) != 2 or not all(type(n) is int and 0 < n <= 65536 for n in block):
        raise SchemeError("expected two whole numbers", ("block_structure",))
    return _beside({**stored, "scale_bits": bits(16 + zero), "scale_group": block[0] * block[1], "scale_rows": block[0]}, packed)


def _beside(stored: dict[str, Any], matrix: int) -> dict[str, Any]:
    return {**stored, "matrix_bits": bits(matrix)} if matrix else stored


def _name(width: int, floats: bool, layout: str) -> str:
    if layout.startswith(("nvfp4", "mxfp4")):
        return layout.split("-")[0]
    return f"{'fp' if floats else 'int'}{width}"


def _computes(group: Fields, stored: dict[str, Any]) -> dict[str, Any]:
    """Operands meet in the weights' format where activations are narrowed as far."""
    activations = group.get("input_activations")
    if isinstance(activations, Mapping) and f"{activations.get('num_bits')} bit" == stored["bits"]:
        return {"compute": stored["format"]}
    return {}


def _untargeted(group: Fields) -> tuple[str, ...]:
    """Operators that no target of the group means; ``Linear`` means all that is not ignored, the head too."""
    targets = group.get("targets")
    if not isinstance(targets, list) or "Linear" in targets:
        return ()
    named = operators_named(text for text in targets if isinstance(text, str))
    return tuple(operator for operator in SPELLINGS if operator not in named.wholly and operator not in named.partly)


BY_NAME: dict[str, dict[str, Any]] = {
    "int8_weight_only": {"method": "int8", "bits": bits(8), "format": "int8", "row_bits": bits(16)},
    "int8_dynamic_activation_int8_weight": {"method": "int8", "bits": bits(8), "format": "int8", "compute": "int8", "row_bits": bits(16)},
    "float8_weight_only": {"method": "fp8", "bits": bits(8), "format": "fp8", "row_bits": bits(32)},
    "float8_dynamic_activation_float8_weight": {"method": "fp8", "bits": bits(8), "format": "fp8", "compute": "fp8", "row_bits": bits(32)},
}
GROUPED = {"int4_weight_only": 128}
"""Default groups; each has a 16-bit scale and a 16-bit zero point."""


def torchao(fields: Fields) -> dict[str, Any]:
    """The configurations of torchao by name, with their default scales: a 16- or 32-bit one for a row, 16 and 16 for a group."""
    kind = fields.get("quant_type")
    arguments = fields.get("quant_type_kwargs")
    if isinstance(kind, Mapping):  # {"default": {"_type": "Int4WeightOnlyConfig", "_data": {...}}}
        inside = kind.get("default")
        described = inside if isinstance(inside, Mapping) else {}
        kind, arguments = _snake(str(described.get("_type", ""))), described.get("_data")
    if not isinstance(kind, str):
        raise SchemeError("is missing" if kind is None else "expected a text", ("quant_type",))
    if kind in BY_NAME:
        return dict(BY_NAME[kind])
    if kind in GROUPED:
        group = whole(arguments if isinstance(arguments, Mapping) else {}, "group_size", GROUPED[kind])
        return {"method": "int4", "bits": bits(4), "format": "int4", "scale_bits": bits(32), "scale_group": group, "scale_rows": 1}
    raise SchemeError(f"no type {str(kind)[:40]!r} is known", ("quant_type",), nearest(str(kind), (*BY_NAME, *GROUPED)))


def _snake(name: str) -> str:
    """``Int4WeightOnlyConfig`` as ``int4_weight_only``."""
    text = name.removesuffix("Config")
    return "".join(f"_{c.lower()}" if c.isupper() and i else c.lower() for i, c in enumerate(text))
