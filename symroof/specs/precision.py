"""Precisions by name: bytes of an element, and which dense peak a pair of precisions computes at."""

import re
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

from symroof.errors import nearest
from symroof.resources import data_folder
from symroof.strict_yaml import load
from symroof.symbolic.expressions import Expr, number
from symroof.symbolic.reading import parse
from symroof.units import UnitError, parse_quantity, parse_unit, strict

BITS = {
    "fp64": 64,
    "fp32": 32,
    "tf32": 32,
    "fp16": 16,
    "bf16": 16,
    "fp8": 8,
    "int8": 8,
    "fp6": 6,
    "fp4": 4,
    "int4": 4,
}
"""Stored width. tf32 is a compute format; its operands are stored as 32-bit words."""

FALLBACK = {
    "bf16": ("fp16",),
    "fp16": ("bf16",),
    "fp8": ("bf16", "fp16"),
    "fp6": ("fp8", "bf16", "fp16"),
    "fp4": ("fp8", "bf16", "fp16"),
    "int8": ("fp16", "bf16"),
    "int4": ("fp16", "bf16"),
    "tf32": ("fp32",),
    "fp32": (),
    "fp64": (),
}
"""Where a device has no peak for a precision, operands are widened to the first of these it has."""

SCALE_BITS = 16


@lru_cache(maxsize=1)
def described() -> dict[str, Any]:
    """Precisions of whole checkpoints: the ``quantization_config`` of those that each describes, and what it means."""
    found: dict[str, Any] = load(data_folder("specs") / "checkpoints" / "precisions.yaml").data
    return found


GROUPED = re.compile(r"(int4|int8|fp4|fp8)-g(\d{1,5})")


@dataclass(frozen=True)
class Width:
    """How wide an element is: formulas to set, its format, and what it computes in where that does not follow from it."""

    text: str
    bytes: Expr
    format: str
    settings: tuple[tuple[str, Expr], ...] = ()
    computes: str | None = None


def width(name: str) -> Width:
    """A precision: a name (``fp8``), a name with scale groups (``int4-g128``: a 16-bit scale for 128 weights), or a
    quantity (``4.84 bit``).

    Raises:
        ValueError: no such precision.

    >>> width("int4").bytes
    1/2
    """
    if name in BITS:
        return Width(name, _bits(BITS[name]), name)
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
        raise ValueError(
            f"unknown precision {name[:40]!r}; {nearest(name, BITS)}".rstrip("; ")
        ) from None
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


def compute_precision(weights: Width, activations: Width) -> str:
    """Operands meet in the wider format, W8A16 multiplies at 16 bits, W8A8 at 8; a checkpoint may say otherwise."""
    if weights.computes:
        return weights.computes
    return weights.format if BITS[weights.format] > BITS[activations.format] else activations.format


def peak_precision(precision: str, available: list[str]) -> str | None:
    """The precision whose dense peak applies, after falling back to a wider one; None where there is none.

    >>> peak_precision("int4", ["fp16", "int8"])
    'fp16'
    """
    return next((name for name in (precision, *FALLBACK[precision]) if name in available), None)
