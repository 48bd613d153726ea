"""Precisions by name: number formats, widths, and ways to store a whole checkpoint (``awq``, ``w8a8``, ``q4_k_m``). Each of those is a
quantization as a checkpoint's own file describes one, laid over a model: scales and zero points count, and what such a checkpoint leaves
wide stays wide."""

from __future__ import annotations

import re
from collections.abc import Iterator
from copy import deepcopy
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from symroof.errors import nearest
from symroof.specs.quantization import BITS, FORMATS, Width, described
from symroof.symbolic.expressions import number
from symroof.symbolic.reading import parse
from symroof.units import UnitError, parse_quantity, parse_unit, strict

if TYPE_CHECKING:
    from symroof.specs.model import ModelSpec
    from symroof.specs.quantization import Quantization

SPELLINGS = {word: name for name, entry in FORMATS.items() for word in entry.get("written", ())}
SPELLINGS["fp8_dynamic"] = "fp8-dynamic"
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
    if name in BITS:
        return Width(name, number(Fraction(BITS[name], 8)), name)
    if stored := whole_checkpoint(name):
        return stored.width()
    if match := GROUPED.fullmatch(name):
        sizes = {"weight_bits": Fraction(BITS[match[1]], 8), "scale_bits": Fraction(SCALE_BITS, 8)}
        sizes["scale_group"] = Fraction(match[2])
        settings = tuple((each, number(size)) for each, size in sizes.items())
        return Width(name, parse("quantized_bytes_per_param"), match[1], settings)
    try:
        read = parse_quantity(name)
    except UnitError:
        from symroof.specs.checkpoints.gguf_mixtures import MIXTURES

        known = (*BITS, *described(), *MIXTURES)
        near = nearest(name.lower(), [*known, *SPELLINGS]) or f"there are: {', '.join(known)}"
        raise ValueError(f"unknown precision {name[:40]!r}; {near}") from None
    if strict(read.dimension) != parse_unit("byte").dimension or not 0 < read.value <= 8:
        such = "a precision such as fp8, or a width such as '4.84 bit'"
        raise ValueError(f"{name!r} is not a width; write {such}")
    # a bare width is unpacked to the integer format of at least that width
    formats = ("int4", "int8", "fp16", "fp32")
    closest = next((each for each in formats if Fraction(BITS[each], 8) >= read.value), "fp64")
    return Width(name, number(read.value), closest)


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


@lru_cache(maxsize=64)
def whole_checkpoint(name: str) -> Quantization | None:
    """How a checkpoint of a precision is stored, whatever the model; None of a plain precision, and of what is none."""
    if name in BITS:  # most are, and need nothing of how models are stored
        return None
    from symroof.specs.checkpoints.gguf_mixtures import MIXTURES, mixture
    from symroof.specs.checkpoints.quantization_config import read_quantization

    if name in MIXTURES:
        return mixture(name)
    if match := OF_MLX.fullmatch(name):
        fields: dict[str, Any] = {"bits": int(match[1]), "group_size": 64}
    elif not (match := STORED_IN_GROUPS.fullmatch(name)):
        if name not in described():
            return None
        fields = described()[name]["config"]
    elif match[1] == "w4a16":
        fields = deepcopy(described()["w4a16"]["config"])
        fields["config_groups"]["group_0"]["weights"]["group_size"] = int(match[2])
    else:
        fields = described()[match[1]]["config"] | {"group_size": int(match[2])}
    stored = read_quantization({"quantization_config": fields})
    return stored and stored.model_copy(update={"method": name})


def quantization_at(name: str, model: ModelSpec) -> Quantization | None:
    """How a model is stored at a precision that is one of a whole checkpoint; None at a plain one.

    A model that is published that way is stored as its own file says: gpt-oss in ``mxfp4`` keeps its attention wide.
    """
    from symroof.specs.checkpoints.gguf_mixtures import MIXTURES, mixture

    stored, own = whole_checkpoint(name), model.quantization
    if stored and own and own.method == name:
        return own
    return mixture(name, model) if name in MIXTURES else stored


def listed_precisions() -> Iterator[tuple[str, Fraction, str]]:
    """Every precision of a whole checkpoint with the bits of a weight in most of its matrices, their share of the scales included, and what it means."""
    from symroof.specs.checkpoints.gguf_mixtures import MIXTURES

    meanings = {name: entry["means"] for name, entry in described().items()}
    for name, chosen in MIXTURES.items():
        others = ", some in more" if "ffn_down" in chosen else ""
        meanings[name] = f"a file of llama.cpp: most matrices in {chosen['most']}{others}"
    for name, meaning in meanings.items():
        if stored := whole_checkpoint(name):
            yield name, 8 * stored.plain(), meaning
