"""What each quantization method stores for a weight, a group, a row, a column and a matrix.

A scheme reads the fields of one ``quant_method`` and gives those of a :class:`~symroof.specs.quantization.Quantization`. All
widths are bits as the files hold them; the source of each layout is cited in its docstring.
"""

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from symroof.errors import nearest
from symroof.specs.checkpoints.module_names import OPERATOR_MODULES, operators_named

Fields = Mapping[str, Any]
Group = tuple[dict[str, Any], list[str]]
"""What is stored, and the modules that are stored so."""
MOST_GROUP = 10**6


class SchemeError(ValueError):
    """A field of a quantization that is missing or not what it should be."""

    def __init__(self, message: str, place: tuple[str | int, ...] = (), hint: str = "") -> None:
        self.place, self.hint = place, hint
        super().__init__(message)


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
        raise SchemeError(
            f"expected {' or '.join(map(str, known))}" if known else "is out of range", (name,)
        )
    return value


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


# ----------------------------------------------------------------------------------------------------------- the methods


def fp8(fields: Fields) -> dict[str, Any]:
    """8-bit floats: a 32-bit scale for a block (DeepSeek-V3, arXiv 2412.19437, ``weight_scale_inv``), or for a matrix; a fixed
    activation scale takes 32 bits more."""
    stored: dict[str, Any] = {"method": "fp8", "bits": bits(8), "format": "fp8", "compute": "fp8"}
    fixed = 32 if fields.get("activation_scheme") == "static" else 0
    block = fields.get("weight_block_size")
    if block is None:
        return {**stored, "matrix_bits": bits(32 + fixed)}
    if (
        not isinstance(block, list)
        or len(block) != 2
        or not all(isinstance(n, int) and not isinstance(n, bool) and 0 < n <= 65536 for n in block)
    ):
        raise SchemeError("expected two whole numbers", ("weight_block_size",))
    stored |= {"matrix_bits": bits(fixed)} if fixed else {}
    return {
        **stored,
        "scale_bits": bits(32),
        "scale_group": block[0] * block[1],
        "scale_rows": block[0],
    }


def fbgemm_fp8(fields: Fields) -> dict[str, Any]:
    """8-bit floats with a 32-bit scale for each output row, and one bound on activations for a matrix (transformers, FbgemmFp8Linear)."""
    return {
        "method": "fbgemm_fp8",
        "bits": bits(8),
        "format": "fp8",
        "compute": "fp8",
        "row_bits": bits(32),
        "matrix_bits": bits(32),
    }


def awq(fields: Fields) -> dict[str, Any]:
    """Integers with a 16-bit scale and a packed zero point for a group (AutoAWQ, WQLinear_GEMM: ``qweight``, ``qzeros``, ``scales``)."""
    width = whole(fields, "bits" if "bits" in fields else "w_bit", 4, known=(4, 8))
    group = whole(fields, "group_size" if "group_size" in fields else "q_group_size", 128, least=-1)
    return {
        "method": "awq",
        "bits": bits(width),
        "format": integer_format(width),
        **along_row(group, 16 + width),
    }


def gptq(fields: Fields) -> dict[str, Any]:
    """Integers with a 16-bit scale and a packed zero point for a group, symmetric or not, and a 32-bit group index for each
    input (AutoGPTQ, QuantLinear: ``qweight``, ``qzeros``, ``scales``, ``g_idx``). The marlin layout has neither."""
    width = whole(fields, "bits", known=(2, 3, 4, 8))
    marlin = fields.get("checkpoint_format") == "marlin"
    stored = {"method": "gptq", "bits": bits(width), "format": integer_format(width)}
    stored |= along_row(whole(fields, "group_size", 128, least=-1), 16 if marlin else 16 + width)
    notes = ["AutoGPTQ may also store a zero bias for every output row; they are not counted"]
    if fields.get("dynamic"):
        notes.append("rules for single modules (dynamic) are not read: all have the same width")
    return {
        **stored,
        **({} if marlin else {"column_bits": bits(32)}),
        "kept": () if fields.get("lm_head") is True else ("lm_head",),
        "notes": tuple(notes),
    }


def bitsandbytes(fields: Fields) -> dict[str, Any]:
    """8 bits with a 32-bit scale for each row (``SCB``, LLM.int8, arXiv 2208.07339); or 4 bits in blocks of 64 with a 32-bit
    scale, or with an 8-bit one whose own 32-bit scale serves 256 (QLoRA, arXiv 2305.14314); and the tables of both."""
    if fields.get("load_in_8bit") or fields.get("_load_in_8bit"):
        return {
            "method": "int8",
            "bits": bits(8),
            "format": "int8",
            "compute": "int8",
            "row_bits": bits(32),
        }
    if not (fields.get("load_in_4bit") or fields.get("_load_in_4bit")):
        raise SchemeError("is neither load_in_8bit nor load_in_4bit")
    kind = fields.get("bnb_4bit_quant_type", "fp4")
    if kind not in ("nf4", "fp4"):
        raise SchemeError("expected nf4 or fp4", ("bnb_4bit_quant_type",))
    block, blocks, table = 64, 256, 16 * 32
    stored = {
        "method": kind,
        "bits": bits(4),
        "format": "fp4",
        "notes": (
            "the text beside each matrix that tells its layout, about 100 byte, is not counted",
        ),
    }
    if fields.get("bnb_4bit_use_double_quant"):
        return {
            **stored,
            "scale_bits": bits(8 * blocks + 32),
            "scale_group": block * blocks,
            "matrix_bits": bits(table + 256 * 32),
        }
    return {**stored, "scale_bits": bits(32), "scale_group": block, "matrix_bits": bits(table)}


def mxfp4(fields: Fields) -> dict[str, Any]:
    """4-bit floats in groups of 32 with an 8-bit exponent (OCP Microscaling Formats 1.0); of gpt-oss's layers only the experts."""
    attention = ("qkv", "attention_out", "lm_head")
    return {
        "method": "mxfp4",
        "bits": bits(4),
        "format": "fp4",
        "scale_bits": bits(8),
        "scale_group": 32,
        "scale_rows": 1,
        "kept": attention,
    }


def modelopt(fields: Fields) -> dict[str, Any]:
    """An algorithm of TensorRT Model Optimizer (modelopt/torch/export/quant_utils.py), or of several by module (``MIXED_PRECISION``, ``quantized_layers``)."""
    inside = fields.get("quantization")
    source: Fields = inside if isinstance(inside, Mapping) else fields
    name = str(
        source.get("quant_algo")
        or ("NVFP4" if "nvfp4" in str(fields.get("quant_method")) else "missing")
    ).upper()
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
    """What one algorithm stores: 8-bit floats with scales of a matrix and its input; 4-bit ones in groups of 16 with an 8-bit scale and the same two
    (NVFP4: ``weight_scale``, ``weight_scale_2``, ``input_scale``); both in groups of 32 with an 8-bit exponent (MX); integers with 16-bit scales."""
    float8 = {"method": "fp8", "bits": bits(8), "format": "fp8"}
    float4 = {"bits": bits(4), "format": "fp4"}
    nvfp4 = {"method": "nvfp4", **float4}
    integer = {"bits": bits(4), "format": "int4"}
    group = whole(
        source, "group_size", {"N": 16, "M": 32}.get(name.removeprefix("W4A16_")[:1], 128)
    )
    known: dict[str, dict[str, Any]] = {
        "FP8": {**float8, "compute": "fp8", "matrix_bits": bits(64)},
        "FP8_PER_CHANNEL_PER_TOKEN": {**float8, "compute": "fp8", "row_bits": bits(32)},
        "FP8_PB_WO": {
            **float8,
            "scale_bits": bits(32),
            "scale_group": 128 * 128,
            "scale_rows": 128,
        },
        "MXFP8": {**float8, "method": "mxfp8", "compute": "fp8", **along_row(32, 8)},
        "MXFP4": {**float4, "method": "mxfp4", "compute": "fp4", **along_row(32, 8)},
        "W4A8_MXFP4_FP8": {**float4, "method": "mxfp4", "compute": "fp8", **along_row(32, 8)},
        "W4A16_MXFP4": {**float4, "method": "mxfp4", **along_row(32, 8)},
        "NVFP4": {**nvfp4, "compute": "fp4", **along_row(group, 8), "matrix_bits": bits(64)},
        "W4A8_NVFP4_FP8": {
            **nvfp4,
            "compute": "fp8",
            **along_row(group, 8),
            "matrix_bits": bits(64),
        },
        "W4A16_NVFP4": {**nvfp4, **along_row(group, 8), "matrix_bits": bits(32)},
        "W4A16_AWQ": {**integer, "method": "awq", **along_row(group, 16)},
        "W4A8_AWQ": {**integer, "method": "awq", "compute": "fp8", **along_row(group, 16)},
        "W8A8_SQ_PER_CHANNEL": {
            "method": "int8",
            "bits": bits(8),
            "format": "int8",
            "compute": "int8",
            "row_bits": bits(32),
        },
        "W8A16": {"method": "int8", "bits": bits(8), "format": "int8", "row_bits": bits(16)},
    }
    name = {
        "NVFP4_AWQ": "NVFP4",
        "NVFP4_SVD": "NVFP4",
        "INT4_AWQ": "W4A16_AWQ",
        "INT8_SQ": "W8A8_SQ_PER_CHANNEL",
        "INT8_WO": "W8A16",
    }.get(name, name)
    if name not in known:
        raise SchemeError(
            f"no algorithm {name[:40]!r} is known",
            ("quant_algo",),
            nearest(name, (*known, "MIXED_PRECISION")),
        )
    return known[name]


def rows_of_int8(fields: Fields) -> dict[str, Any]:
    """8-bit integers with a 16-bit scale for each output row (EETQ)."""
    return {"method": "eetq", "bits": bits(8), "format": "int8", "row_bits": bits(16)}


def hqq(fields: Fields) -> dict[str, Any]:
    """Integers with a 16-bit scale and a 16-bit zero point for a group (Half-Quadratic Quantization)."""
    inside = fields.get("quant_config")
    parameters = inside.get("weight_quant_params") if isinstance(inside, Mapping) else None
    if not isinstance(parameters, Mapping):
        raise SchemeError("is missing", ("quant_config", "weight_quant_params"))
    width = whole(parameters, "nbits", known=(1, 2, 3, 4, 8))
    group = whole(parameters, "group_size", 64)
    return {
        "method": "hqq",
        "bits": bits(width),
        "format": integer_format(width),
        "scale_bits": bits(32),
        "scale_group": group,
    }


def quanto(fields: Fields) -> dict[str, Any]:
    """Integers or floats of 8 bits with a 16-bit scale for each row, or of 2 and 4 bits with scale and shift for a group of 128 (optimum-quanto)."""
    widths = {"int8": 8, "float8": 8, "int4": 4, "int2": 2}
    width = widths.get(str(fields.get("weights")))
    if width is None:
        raise SchemeError(f"expected one of {', '.join(widths)}", ("weights",))
    if width == 8:
        return {
            "method": "quanto",
            "bits": bits(8),
            "format": "fp8" if fields["weights"] == "float8" else "int8",
            "row_bits": bits(16),
        }
    return {
        "method": "quanto",
        "bits": bits(width),
        "format": "int4",
        "scale_bits": bits(32),
        "scale_group": 128,
    }


def aqlm(fields: Fields) -> dict[str, Any]:
    """Sums of codewords: an index into each codebook for a group of inputs, a 16-bit scale for each row, the codebooks beside
    (arXiv 2401.06118)."""
    group, index, books = (
        whole(fields, "in_group_size", 8),
        whole(fields, "nbits_per_codebook", 16),
        whole(fields, "num_codebooks", 1),
    )
    if index > 16 or books > 16 or whole(fields, "out_group_size", 1) != 1:
        raise SchemeError(
            "codebooks of more than 16 bits, or over several rows, are not known",
            ("nbits_per_codebook",),
        )
    return {
        "method": "aqlm",
        "bits": Fraction(index * books, group),
        "format": "int4",
        "row_bits": bits(16),
        "matrix_bits": bits(books * group * 16 << index),
    }


STRATEGIES = ("tensor", "channel", "group", "block", "tensor_group")
SHAPE = 2 * 64
"""``weight_shape``: two 64-bit numbers beside every packed matrix."""


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
        return {**stored, "kept": _untargeted(targets), "notes": notes}
    return {"groups": [(how, _targets(each)) for how, each in made], "notes": notes}


def _config_group(name: str, group: Any, layout: str) -> tuple[dict[str, Any], Fields]:
    """What one group stores, and the group."""
    weights = group.get("weights") if isinstance(group, Mapping) else None
    if not isinstance(weights, Mapping):
        raise SchemeError("is missing", ("config_groups", name, "weights"))
    try:
        stored = _weight_fields(weights, str(group.get("format") or layout))
    except SchemeError as error:
        raise SchemeError(
            str(error), ("config_groups", name, "weights", *error.place), error.hint
        ) from None
    return {**stored, **_computes(group, stored)}, group


def _targets(group: Fields) -> list[str]:
    """The modules that a group is for; ``Linear`` is every one."""
    targets = group.get("targets")
    named = (
        [text for text in targets if isinstance(text, str)]
        if isinstance(targets, list)
        else ["Linear"]
    )
    return ["*" if text == "Linear" else text for text in named]


def _weight_fields(weights: Fields, layout: str) -> dict[str, Any]:
    width = whole(weights, "num_bits", known=(2, 3, 4, 8))
    floats = weights.get("type", "int") == "float"
    strategy = weights.get("strategy") or ("group" if weights.get("group_size") else "tensor")
    if strategy not in STRATEGIES:
        raise SchemeError(
            f"no strategy {str(strategy)[:40]!r} is known",
            ("strategy",),
            nearest(str(strategy), STRATEGIES),
        )
    stored: dict[str, Any] = {
        "method": _name(width, floats, layout),
        "bits": bits(width),
        "format": f"fp{width}" if floats else integer_format(width),
    }
    zero = 0 if weights.get("symmetric", True) else width
    packed = SHAPE if layout == "pack-quantized" else 0
    if strategy in ("group", "tensor_group"):
        small = floats and width == 4
        stored |= along_row(whole(weights, "group_size"), (8 if small else 16) + zero)
        return _with_matrix_bits(stored, packed + (64 if strategy == "tensor_group" else 0))
    if strategy == "channel":
        return _with_matrix_bits({**stored, "row_bits": bits(16 + zero)}, packed)
    if strategy == "tensor":
        return _with_matrix_bits(stored, packed + 16 + zero)
    block = weights.get("block_structure")
    if (
        not isinstance(block, list)
        or len(block) != 2
        or not all(type(n) is int and 0 < n <= 65536 for n in block)
    ):
        raise SchemeError("expected two whole numbers", ("block_structure",))
    return _with_matrix_bits(
        {
            **stored,
            "scale_bits": bits(16 + zero),
            "scale_group": block[0] * block[1],
            "scale_rows": block[0],
        },
        packed,
    )


def _with_matrix_bits(stored: dict[str, Any], matrix: int) -> dict[str, Any]:
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


def _untargeted(targets: list[str]) -> tuple[str, ...]:
    """Operators that no target means; a wildcard means all that is not ignored, the head too."""
    if "*" in targets:
        return ()
    named = operators_named(targets)
    return tuple(
        operator
        for operator in OPERATOR_MODULES
        if operator not in named.wholly and operator not in named.partly
    )


BY_NAME: dict[str, dict[str, Any]] = {
    "int8_weight_only": {"method": "int8", "bits": bits(8), "format": "int8", "row_bits": bits(16)},
    "int8_dynamic_activation_int8_weight": {
        "method": "int8",
        "bits": bits(8),
        "format": "int8",
        "compute": "int8",
        "row_bits": bits(16),
    },
    "float8_weight_only": {"method": "fp8", "bits": bits(8), "format": "fp8", "row_bits": bits(32)},
    "float8_dynamic_activation_float8_weight": {
        "method": "fp8",
        "bits": bits(8),
        "format": "fp8",
        "compute": "fp8",
        "row_bits": bits(32),
    },
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
        group = whole(
            arguments if isinstance(arguments, Mapping) else {}, "group_size", GROUPED[kind]
        )
        return {
            "method": "int4",
            "bits": bits(4),
            "format": "int4",
            "scale_bits": bits(32),
            "scale_group": group,
            "scale_rows": 1,
        }
    raise SchemeError(
        f"no type {str(kind)[:40]!r} is known",
        ("quant_type",),
        nearest(str(kind), (*BY_NAME, *GROUPED)),
    )


def _snake(name: str) -> str:
    """``Int4WeightOnlyConfig`` as ``int4_weight_only``."""
    text = name.removesuffix("Config")
    return "".join(f"_{c.lower()}" if c.isupper() and i else c.lower() for i, c in enumerate(text))


METHODS: dict[str, Callable[[Fields], dict[str, Any]]] = {
    "fp8": fp8, "fbgemm_fp8": fbgemm_fp8, "awq": awq, "gptq": gptq, "gptqmodel": gptq, "bitsandbytes": bitsandbytes, "mxfp4": mxfp4,
    "compressed-tensors": compressed_tensors, "modelopt": modelopt, "modelopt_fp4": modelopt, "nvfp4": modelopt, "torchao": torchao,
    "quanto": quanto, "hqq": hqq, "eetq": rows_of_int8, "aqlm": aqlm,
}  # fmt: skip
"""Every ``quant_method`` that is known, and what it stores."""
