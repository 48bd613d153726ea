"""Number formats: bytes of an element, and which dense peak a pair of them computes at."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from symroof.resources import data_folder
from symroof.strict_yaml import load
from symroof.symbolic.expressions import Expr

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


@lru_cache(maxsize=1)
def described() -> dict[str, Any]:
    """Precisions of whole checkpoints: the ``quantization_config`` of those that each describes, and what it means."""
    found: dict[str, Any] = load(data_folder("specs") / "checkpoints" / "precisions.yaml").data
    return found


@dataclass(frozen=True)
class Width:
    """How wide an element is: formulas to set, its format, and what it computes in where that does not follow from it."""

    text: str
    bytes: Expr
    format: str
    settings: tuple[tuple[str, Expr], ...] = ()
    computes: str | None = None


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
