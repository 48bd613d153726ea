"""How a checkpoint's matrices are stored narrower than they were trained, and what it keeps wide."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, TypeAlias

from pydantic import Field, model_validator

from symroof.formula.parse import parse
from symroof.formula.tree import Num
from symroof.specs.errors import nearest
from symroof.specs.fields import Spec, amount, whole
from symroof.specs.precision import BITS, Width
from symroof.theory.blocks import PARAMETER_GROUPS
from symroof.units import Quantity, parse_unit

if TYPE_CHECKING:
    Bits: TypeAlias = Quantity
    Whole: TypeAlias = int
else:
    Bits, Whole = amount("byte", "bit"), whole()


class Quantization(Spec):
    """A model's own quantization: the width of a weight, and of the scales (and zero points) that a group of weights shares.

    Attributes:
        method: what it is called: ``fp8``, ``mxfp4``, ``awq``, ``gptq``, ``nf4`` ...
        bits: width of one weight.
        scale_bits: width of everything a group shares.
        scale_group: weights in a group; a block of 128 by 128 has 16,384.
        format: the number format of a weight, one of the precisions.
        compute: the precision operands meet in, where activations are quantized too.
        kept: operators whose matrices stay at ``kept_bits``; norms and biases always do.
    """

    method: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._-]{0,31}$")]
    bits: Bits
    scale_bits: Bits | None = None
    scale_group: Whole = 1
    format: str
    compute: str | None = None
    kept: tuple[str, ...] = ("embedding", "lm_head")
    kept_bits: Bits = Quantity(Fraction(2), parse_unit("byte").dimension, "16 bit")

    @model_validator(mode="after")
    def _known(self) -> Quantization:
        asked = [*((name, tuple(BITS)) for name in (self.format, self.compute or self.format)), *((name, tuple(PARAMETER_GROUPS)) for name in self.kept)]
        for name, known in asked:
            if name not in known:
                raise ValueError(f"unknown name {name[:40]!r}; {nearest(name, known)}".rstrip("; "))
        return self

    def width(self) -> Width:
        """The width of a weight, with the formulas it sets."""
        bit = parse_unit("bit").dimension
        settings = {"weight_bits": self.bits.value, "scale_bits": self.scale_bits.value if self.scale_bits else Fraction(0)}
        found = [(name, Num(value, bit)) for name, value in settings.items()] + [("scale_group", Num(Fraction(self.scale_group)))]
        kept = ("kept_bytes_per_param", Num(self.kept_bits.value, parse_unit("byte/parameter").dimension))
        return Width(self.method, parse("quantized_bytes_per_param"), self.format, (*found, kept), self.compute)
