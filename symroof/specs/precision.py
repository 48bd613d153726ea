"""Precisions by name: number formats, widths, and ways to store a whole checkpoint (``awq``, ``w8a8``, ``q4_k_m``). Each of those is a
quantization as a checkpoint's own file describes one, laid over a model: scales and zero points count, and what such a checkpoint leaves
wide stays wide."""

from __future__ import annotations

import re
from collections.abc import Iterator
from copy import deepcopy
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from symroof.errors import nearest
from symroof.specs.quantization import BITS, Width, described
from symroof.symbolic.expressions import Expr, number
from symroof.symbolic.reading import parse
from symroof.units import UnitError, parse_quantity, parse_unit, strict

if TYPE_CHECKING:
    from symroof.specs.model import ModelSpec
    from symroof.specs.quantization import Quantization

SPELLINGS = {
    "float16": "fp16",
    "half": "fp16",
    "f16": "fp16",
    "bfloat16": "bf16",
    "float32": "fp32",
    "float": "fp32",
    "f32": "fp32",
    "float8": "fp8",
    "fp8_e4m3": "fp8",
    "fp8_e5m2": "fp8",
    "e4m3": "fp8",
    "e5m2": "fp8",
    "fp8_dynamic": "fp8-dynamic",
}
"""Other ways to write a precision, never printed."""


SCALE_BITS = 16
GROUPED = re.compile(r"(int4|int8|fp4|fp8)-g(\d{1,5})")
STORED_IN_GROUPS = re.compile(r"(awq|gptq|w4a16)-g(\d{1,5})")
OF_MLX = re.compile(r"mlx-([234568])bit")
"""What names of MLX's repositories speak of: groups of 64, as mlx-lm makes them where nothing else is asked."""


def precision_width(name: str) -> Width:
    """The width of a precision by itself, whatever model it is laid over: of a name (``fp8``), a name with scale groups (``int4-g128``: a
    16-bit scale for 128 weights), a way to store a checkpoint, or a quantity (``4.84 bit``).

    Raises:
        ValueError: no such precision.

    >>> precision_width("int4").bytes, float(precision_width("q4_k_m").settings[0][1] * 8)
    (1/2, 4.5)
    """
    if name in BITS:  # most are, and need nothing of how models are stored
        return Width(name, _bits(BITS[name]), name)
    from symroof.specs.checkpoints.gguf_mixtures import MIXTURES, mixture

    if name in MIXTURES:
        return mixture(name).width()
    if _is_described(name):
        return _checkpoint(name).width()
    if match := GROUPED.fullmatch(name):
        settings = (
            ("weight_bits", _bits(BITS[match[1]])),
            ("scale_bits", _bits(SCALE_BITS)),
            ("scale_group", number(Fraction(int(match[2])))),
        )
        return Width(name, parse("quantized_bytes_per_param"), match[1], settings)
    try:
        read = parse_quantity(name)
    except UnitError:
        known = (*BITS, *described(), *MIXTURES)
        near = nearest(name.lower(), [*known, *SPELLINGS]) or f"there are: {', '.join(known)}"
        raise ValueError(f"unknown precision {name[:40]!r}; {near}") from None
    if strict(read.dimension) != parse_unit("byte").dimension or not 0 < read.value <= 8:
        raise ValueError(
            f"{name!r} is not a width; write a precision such as fp8, or a width such as '4.84 bit'"
        )
    # a bare width is unpacked to the integer format of at least that width
    formats = ("int4", "int8", "fp16", "fp32")
    closest = next((each for each in formats if Fraction(BITS[each], 8) >= read.value), "fp64")
    return Width(name, number(read.value), closest)


def _bits(bits: int) -> Expr:
    return number(Fraction(bits, 8))


def precision_name(name: str) -> str:
    """A precision as it is printed: ``BF16`` is bf16, ``Q4_K_M`` q4_k_m; a width such as ``4.84 bit`` is as it is written.

    >>> precision_name("bfloat16"), precision_name("Q4_K_M"), precision_name("4.84 bit")
    ('bf16', 'q4_k_m', '4.84 bit')
    """
    lower = name.strip().lower()
    spelled = SPELLINGS.get(lower, lower)
    if short := re.fullmatch(r"(\d+)-bit", spelled):  # 4-bit is 4bit
        return f"{short[1]}bit"
    return name if re.match(r"[\d.+-]", spelled) else spelled


# ------------------------------------------------------------------------------------------------ whole checkpoints


def listed_precisions() -> Iterator[tuple[str, Fraction, str]]:
    """Every precision of a whole checkpoint with the bits of a weight in most of its matrices, their share of the scales included, and what it means."""
    from symroof.specs.checkpoints.gguf_mixtures import MIXTURES, mixture

    for name, entry in described().items():
        stored = _checkpoint(name)
        share = stored.scale_bits.value / stored.scale_group if stored.scale_bits else Fraction(0)
        yield name, 8 * (stored.bits.value + share), entry["means"]
    for name, chosen in MIXTURES.items():
        others = ", some in more" if "ffn_down" in chosen else ""
        meaning = f"a file of llama.cpp: most matrices in {chosen['most']}{others}"
        yield name, 8 * mixture(name).bits.value, meaning


def is_checkpoint_precision(name: str) -> bool:
    """Whether a precision is one of a whole checkpoint."""
    return name not in BITS and (_is_described(name) or _is_mixture(name))


def _is_described(name: str) -> bool:
    """Whether there is a ``quantization_config`` for it."""
    return name in described() or bool(STORED_IN_GROUPS.fullmatch(name) or OF_MLX.fullmatch(name))


def _is_mixture(name: str) -> bool:
    from symroof.specs.checkpoints.gguf_mixtures import MIXTURES

    return name in MIXTURES


def quantization_at(name: str, model: ModelSpec) -> Quantization | None:
    """How a model is stored at a precision that is one of a whole checkpoint; None at a plain one.

    A model that is published that way is stored as its own file says: gpt-oss in ``mxfp4`` keeps its attention wide.
    """
    from symroof.specs.checkpoints.gguf_mixtures import mixture

    if not is_checkpoint_precision(name):
        return None
    if model.quantization is not None and model.quantization.method == name:
        return model.quantization
    return mixture(name, model) if _is_mixture(name) else _checkpoint(name)


def _checkpoint(name: str) -> Quantization:
    from symroof.specs.checkpoints.quantization_config import read_quantization

    if match := OF_MLX.fullmatch(name):
        fields: dict[str, Any] = {"bits": int(match[1]), "group_size": 64}
    elif not (match := STORED_IN_GROUPS.fullmatch(name)):
        fields = described()[name]["config"]
    elif match[1] == "w4a16":
        fields = deepcopy(described()["w4a16"]["config"])
        fields["config_groups"]["group_0"]["weights"]["group_size"] = int(match[2])
    else:
        fields = described()[match[1]]["config"] | {"group_size": int(match[2])}
    stored = read_quantization({"quantization_config": fields})
    assert stored is not None
    return stored.model_copy(update={"method": name})
