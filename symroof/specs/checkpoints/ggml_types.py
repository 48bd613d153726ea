"""How ggml stores tensors: weights in a block, bytes of a block, by type. Read from ``specs/checkpoints/ggml.yaml``."""

from fractions import Fraction
from typing import Any, NamedTuple

from symroof.resources import data_folder
from symroof.strict_yaml import load


class GgmlType(NamedTuple):
    """A type's name, weights in a block, bytes of a block, and the number format it is nearest to."""

    name: str
    block: int
    bytes: int
    format: str

    @property
    def bits(self) -> Fraction:
        """Bits of a weight, its share of the block's scales included."""
        return Fraction(8 * self.bytes, self.block)


TABLE: Any = load(data_folder("specs") / "checkpoints" / "ggml.yaml").data
TYPES = {number: GgmlType(name, *rest) for name, (number, *rest) in TABLE["types"].items()}
"""Types by their id."""
FILE_TYPES: dict[int, str] = {i: name for i, name in enumerate(TABLE["file_types"]) if name}
"""``general.file_type``: what most of a file's matrices are."""
