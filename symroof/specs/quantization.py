"""Number formats, and how a checkpoint's matrices are stored narrower than they were trained, and what it keeps wide."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from pydantic import Field, model_validator

from symroof.resources import data_folder
from symroof.specs.fields import Spec, Whole, amount, one_of
from symroof.strict_yaml import load
from symroof.symbolic.expressions import Expr, names, number
from symroof.symbolic.reading import parse
from symroof.theory.architecture import PARAMETER_GROUPS, layer_rows
from symroof.units import Quantity, parse_unit

if TYPE_CHECKING:
    from symroof.specs.layers import LayerKind

FORMATS: dict[str, Any] = load(data_folder("specs") / "checkpoints" / "formats.yaml").data
BITS: dict[str, int] = {name: entry["bits"] for name, entry in FORMATS.items()}
"""Stored width."""


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
    options = (precision, *FORMATS[precision].get("widened", ()))
    return next((name for name in options if name in available), None)


Bits = Annotated[Quantity, amount("byte", "bit", bare=True)]

Format = Annotated[str, one_of(BITS.keys)]
Operator = Annotated[str, one_of(PARAMETER_GROUPS.keys)]
"""A number format, and an operator of the theory that has parameters, by their names."""


class Matrix(NamedTuple):
    """``times`` equal matrices of ``rows`` outputs and ``columns`` inputs that belong to an operator of the theory."""

    operator: str
    rows: int
    columns: int
    times: int = 1


def matrices(kind: LayerKind, d_model: int) -> Iterator[Matrix]:
    """Every matrix of one layer as checkpoints store it: what runs as one product (``qkv``, ``gate_up``) is stored and scaled in parts."""
    from symroof.symbolic.evaluation import evaluate  # with NumPy, which most lists do without

    widths = kind.widths() | {"d_model": d_model}
    for row in layer_rows(kind.structure("all", 0, frozenset()), "none"):
        for shape in row.shapes:
            trees = [parse(extent) for extent in shape]
            at = {name: float(widths[name]) for tree in trees for name in names(tree)}
            yield Matrix(row.operator, *(int(evaluate(tree, None, at)) for tree in trees))


class Storage(Spec):
    """How a matrix is stored: the width of a weight, and of the scales (and zero points) that a group of weights shares.

    Attributes:
        bits: width of one weight.
        scale_bits: width of everything a group shares.
        scale_group: weights in a group; a block of 128 by 128 has 16,384.
        scale_rows: output rows a group spans: 1 of a group along a row, 128 of such a block. Groups at an edge are then
            counted whole. Without it groups follow each other through the whole matrix.
        row_bits, column_bits, matrix_bits: stored beside the weights for each output row, each input column, each matrix.
    """

    bits: Bits
    scale_bits: Bits | None = None
    scale_group: Whole = 1
    scale_rows: Whole | None = None
    row_bits: Bits | None = None
    column_bits: Bits | None = None
    matrix_bits: Bits | None = None

    def bytes_of(self, matrix: Matrix) -> Fraction:
        """One matrix with all that is stored beside it."""
        rows, columns = matrix.rows, matrix.columns
        groups = -(-rows * columns // self.scale_group)
        if across := self.scale_rows:
            groups = -(-rows // across) * -(-columns * across // self.scale_group)
        beside = rows * _value(self.row_bits) + columns * _value(self.column_bits)
        beside += groups * _value(self.scale_bits) + _value(self.matrix_bits)
        return rows * columns * self.bits.value + beside

    def plain(self) -> Fraction:
        """Bytes of a weight with its share of a scale, what rows and matrices have of their own left out."""
        return self.bits.value + _value(self.scale_bits) / self.scale_group


class StoredPart(Storage):
    """Operators that are stored otherwise than the rest: in ``layers`` of the ``of`` layers that have them, or in all."""

    operators: tuple[Operator, ...]
    layers: Whole | None = None
    of: Whole | None = None

    @property
    def share(self) -> Fraction:
        """The share of the operators' layers."""
        return Fraction(self.layers, self.of) if self.layers and self.of else Fraction(1)


class Quantization(Storage):
    """A model's own quantization: how most of its matrices are stored, what is stored otherwise, what stays wide.

    Attributes:
        method: what it is called: ``fp8``, ``mxfp4``, ``awq``, ``gptq``, ``nf4`` ...
        format: the number format of a weight, one of the precisions.
        compute: the precision operands meet in, where activations are quantized too.
        kv: the precision of the cache that the checkpoint asks for.
        kept: operators whose matrices stay at ``kept_bits``; norms and biases always do.
        parts: operators that are stored otherwise, wholly or in some of their layers.
        widths: operators whose width in the file is known and differs, whatever they keep beside included.
        notes: what was approximated when it was read.
        unread: what of the file's own words was not understood.
    """

    method: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._-]{0,31}$")]
    format: Format
    compute: Format | None = None
    kv: Format | None = None
    kept: tuple[Operator, ...] = ("embedding", "lm_head")
    kept_bits: Bits = Quantity(Fraction(2), parse_unit("byte").dimension, "16 bit")
    parts: tuple[StoredPart, ...] = ()
    widths: dict[Operator, Bits] = Field(default_factory=dict)
    notes: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _once(self) -> Quantization:
        for operator in {name for part in self.parts for name in part.operators}:
            if self._others(operator) > 1:
                raise ValueError(f"{operator} is stored otherwise in more layers than there are")
        if both := set(self.kept) & set(self.widths):
            raise ValueError(f"{min(both)} is kept and has a width of its own; say one of them")
        return self

    def operator_widths(self, stored: Iterable[Matrix]) -> dict[str, Fraction]:
        """Bytes of a parameter, in exact numbers, of every operator for which it is not bits and its share of a scale."""
        weights, stored_bytes = Counter[str](), defaultdict[str, Fraction](Fraction)
        for matrix in stored:
            if matrix.operator not in self.kept:
                weights[matrix.operator] += matrix.rows * matrix.columns * matrix.times
                stored_bytes[matrix.operator] += matrix.times * self.bytes_of(matrix)
        own = {name: total / weights[name] for name, total in stored_bytes.items()}
        own = {name: width for name, width in own.items() if width != self.plain()}
        return own | {name: width.value for name, width in self.widths.items()}

    def bytes_of(self, matrix: Matrix) -> Fraction:
        """One matrix with all that is stored beside it, as the mean over the layers where it is not stored alike in all."""
        own = (part for part in self.parts if matrix.operator in part.operators)
        others = sum((part.share * part.bytes_of(matrix) for part in own), Fraction(0))
        return others + (1 - self._others(matrix.operator)) * super().bytes_of(matrix)

    def _others(self, operator: str) -> Fraction:
        """The share of an operator's layers in which it is stored otherwise."""
        shares = (part.share for part in self.parts if operator in part.operators)
        return sum(shares, Fraction(0))

    def width(self, own: Mapping[str, Fraction] | None = None) -> Width:
        """The width of a weight, with the formulas it sets; ``own`` are operators with widths of their own."""
        from symroof.theory.operator_table import WIDTH

        values = {"weight_bits": self.bits.value, "scale_bits": _value(self.scale_bits)}
        values |= {"scale_group": Fraction(self.scale_group)}
        values |= {"unquantized_bytes_per_param": self.kept_bits.value}
        values |= {f"{WIDTH}.{operator}": value for operator, value in (own or {}).items()}
        settings = tuple((name, number(value)) for name, value in values.items())
        size = parse("quantized_bytes_per_param")
        return Width(self.method, size, self.format, settings, self.compute)


def _value(amount: Bits | None) -> Fraction:
    return amount.value if amount else Fraction(0)
