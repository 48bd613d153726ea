"""How ggml stores tensors: weights in a block, bytes of a block, by type.

Source: the block structures of ``ggml/src/ggml-common.h`` and the ids of ``enum ggml_type`` in ``ggml/include/ggml.h``
(github.com/ggml-org/llama.cpp), which ``GGML_QUANT_SIZES`` of ``gguf-py/gguf/constants.py`` repeats.
"""

from fractions import Fraction
from typing import NamedTuple

SUPER = 256
"""Weights in a super-block, ``QK_K``."""


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


TYPES: dict[int, GgmlType] = {
    0: GgmlType("F32", 1, 4, "fp32"),
    1: GgmlType("F16", 1, 2, "fp16"),
    2: GgmlType("Q4_0", 32, 2 + 16, "int4"),
    3: GgmlType("Q4_1", 32, 2 + 2 + 16, "int4"),
    6: GgmlType("Q5_0", 32, 2 + 4 + 16, "int8"),
    7: GgmlType("Q5_1", 32, 2 + 2 + 4 + 16, "int8"),
    8: GgmlType("Q8_0", 32, 2 + 32, "int8"),
    9: GgmlType("Q8_1", 32, 2 + 2 + 32, "int8"),
    10: GgmlType("Q2_K", SUPER, 2 + 2 + SUPER // 16 + SUPER // 4, "int4"),
    11: GgmlType("Q3_K", SUPER, 2 + SUPER // 4 + SUPER // 8 + 12, "int4"),
    12: GgmlType("Q4_K", SUPER, 2 + 2 + 12 + SUPER // 2, "int4"),
    13: GgmlType("Q5_K", SUPER, 2 + 2 + 12 + SUPER // 2 + SUPER // 8, "int8"),
    14: GgmlType("Q6_K", SUPER, 2 + SUPER // 16 + SUPER // 2 + SUPER // 4, "int8"),
    15: GgmlType("Q8_K", SUPER, 4 + SUPER + SUPER // 8, "int8"),
    16: GgmlType("IQ2_XXS", SUPER, 2 + SUPER // 4, "int4"),
    17: GgmlType("IQ2_XS", SUPER, 2 + SUPER // 4 + SUPER // 32, "int4"),
    18: GgmlType("IQ3_XXS", SUPER, 2 + SUPER // 4 + SUPER // 8, "int4"),
    19: GgmlType("IQ1_S", SUPER, 2 + SUPER // 8 + SUPER // 16, "int4"),
    20: GgmlType("IQ4_NL", 32, 2 + 16, "int4"),
    21: GgmlType("IQ3_S", SUPER, 2 + SUPER // 4 + SUPER // 8 + SUPER // 32 + SUPER // 64, "int4"),
    22: GgmlType("IQ2_S", SUPER, 2 + SUPER // 4 + SUPER // 16, "int4"),
    23: GgmlType("IQ4_XS", SUPER, 2 + 2 + SUPER // 2 + SUPER // 64, "int4"),
    24: GgmlType("I8", 1, 1, "int8"),
    25: GgmlType("I16", 1, 2, "fp16"),
    26: GgmlType("I32", 1, 4, "fp32"),
    27: GgmlType("I64", 1, 8, "fp64"),
    28: GgmlType("F64", 1, 8, "fp64"),
    29: GgmlType("IQ1_M", SUPER, SUPER // 8 + SUPER // 16 + SUPER // 32, "int4"),
    30: GgmlType("BF16", 1, 2, "bf16"),
    34: GgmlType("TQ1_0", SUPER, 2 + SUPER // 64 + (SUPER - 4 * SUPER // 64) // 5, "int4"),
    35: GgmlType("TQ2_0", SUPER, 2 + SUPER // 4, "int4"),
    39: GgmlType("MXFP4", 32, 1 + 16, "fp4"),
    40: GgmlType("NVFP4", 64, 4 + 32, "fp4"),
    41: GgmlType("Q1_0", 128, 2 + 16, "int4"),
}
"""Types by their id. Ids 4, 5, 31 to 33 and 36 to 38 were taken back and occur in no current file."""

FILE_TYPES = {
    0: "f32",
    1: "f16",
    2: "q4_0",
    3: "q4_1",
    7: "q8_0",
    8: "q5_0",
    9: "q5_1",
    10: "q2_k",
    11: "q3_k_s",
    12: "q3_k_m",
    13: "q3_k_l",
    14: "q4_k_s",
    15: "q4_k_m",
    16: "q5_k_s",
    17: "q5_k_m",
    18: "q6_k",
    19: "iq2_xxs",
    20: "iq2_xs",
    21: "q2_k_s",
    22: "iq3_xs",
    23: "iq3_xxs",
    24: "iq1_s",
    25: "iq4_nl",
    26: "iq3_s",
    27: "iq3_m",
    28: "iq2_s",
    29: "iq2_m",
    30: "iq4_xs",
    31: "iq1_m",
    32: "bf16",
    36: "tq1_0",
    37: "tq2_0",
    38: "mxfp4",
    39: "nvfp4",
    40: "q1_0",
}
"""``general.file_type``: what most of a file's matrices are (``enum llama_ftype`` of ``include/llama.h``)."""
