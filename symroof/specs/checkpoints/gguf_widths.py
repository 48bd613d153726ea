"""Resident bytes of a GGUF file: each operator at the exact average width of its tensors, scales included."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from symroof.specs.checkpoints.ggml_types import FILE_TYPES
from symroof.specs.checkpoints.gguf_header import Header, Tensor

OPERATORS = {
    "token_embd": "embedding", "output": "lm_head", "attn_q": "qkv", "attn_k": "qkv", "attn_v": "qkv", "attn_qkv": "qkv", "attn_output": "attention_out",
    "attn_q_a": "qkv_down", "attn_kv_a_mqa": "qkv_down", "attn_q_b": "q_up", "attn_kv_b": "kv_up", "attn_k_b": "kv_up", "attn_v_b": "kv_up",
    "ffn_gate": "gate_up", "ffn_up": "gate_up", "ffn_down": "down", "ffn_gate_inp": "router", "ffn_gate_inp_shexp": "shared_gate",
    "ffn_gate_exps": "experts", "ffn_up_exps": "experts", "ffn_down_exps": "experts", "ffn_gate_up_exps": "experts",
    "ffn_gate_shexp": "shared_experts", "ffn_up_shexp": "shared_experts", "ffn_down_shexp": "shared_experts",
    "ssm_in": "ssm_in", "ssm_conv1d": "conv", "ssm_x": "ssm_x", "ssm_dt": "ssm_dt", "ssm_out": "ssm_out",
}  # fmt: skip
"""Which operator of the theory a matrix belongs to."""

CONSTANTS = ("rope_freqs", "rope_factors_long", "rope_factors_short", "attn_rot_embd")
"""Tables worked out from the metadata: no parameters."""

SMALL = re.compile(r"(norm|bias)(_\d)?$|^(attn_sinks|ssm_a|ssm_d|position_embd|exp_probs_b)$")
"""What stays wide and is multiplied by nothing as a matrix: norms, biases, scalars, tables of positions."""

OLD_EXPERT = re.compile(r"ffn_(gate|up|down)\.\d{1,4}$")


@dataclass
class Share:
    """Parameters and bytes of some tensors."""

    elements: int = 0
    bytes: int = 0

    def add(self, tensor: Tensor) -> None:
        self.elements += tensor.elements
        self.bytes += tensor.bytes

    @property
    def bits(self) -> Fraction:
        return Fraction(8 * self.bytes, self.elements)


@dataclass
class Shares:
    """All tensors of a file: by operator, the small wide ones, the constants, and what no layer list has."""

    operators: dict[str, Share] = field(default_factory=dict)
    small: Share = field(default_factory=Share)
    unknown: dict[str, Tensor] = field(default_factory=dict)

    @property
    def elements(self) -> int:
        return self.small.elements + sum(share.elements for share in self.operators.values())


def shares(tensors: Iterable[tuple[str, Tensor]], plain: bool, q_lora: bool) -> Shares:
    """Tensors, by their names without ``blk.N.``, shared out; ``plain`` feed-forward layers have no gate."""
    held = Shares()
    for name, tensor in tensors:
        base, _, kind = name.rpartition(".")
        operator = "experts" if OLD_EXPERT.match(base) else OPERATORS.get(base)
        operator = {"attn_kv_a_mqa": operator if q_lora else "qkv", "ffn_up": "up" if plain else operator}.get(base, operator)
        if base in CONSTANTS:
            continue
        if operator and kind == "weight":
            held.operators.setdefault(operator, Share()).add(tensor)
        elif operator and kind in ("scale", "input_scale"):
            held.operators.setdefault(operator, Share()).bytes += tensor.bytes
        elif kind == "bias" or SMALL.search(base if kind == "weight" else name):
            held.small.add(tensor)
        else:
            held.unknown[tensor.name] = tensor
    return held


def quantization(header: Header, held: Shares, tied: bool) -> dict[str, Any]:
    """The fields of a quantization that gives back the file's bytes: the width that most parameters have, and each operator's own."""
    operators = {operator: share for operator, share in held.operators.items() if share.elements}
    widths = {operator: share.bits for operator, share in operators.items()}
    if tied and "embedding" in widths:
        widths["lm_head"] = widths["embedding"]
    common = _most(widths, {operator: share.elements for operator, share in operators.items()})
    kind = _most({name: tensor.type for name, tensor in header.tensors.items()}, {name: tensor.elements for name, tensor in header.tensors.items()})
    stated = header.metadata.get("general.file_type")
    method = FILE_TYPES.get(stated) if isinstance(stated, int) and not isinstance(stated, bool) else None
    return {
        "method": method or kind.name.lower(),
        "bits": common,
        "format": kind.format,
        "kept": (),
        "kept_bits": held.small.bits if held.small.elements else Fraction(32),
        "widths": {operator: bits for operator, bits in sorted(widths.items()) if bits != common},
    }


def _most(values: Mapping[str, Any], weights: Mapping[str, int]) -> Any:
    """The value that most weights have."""
    totals: dict[Any, int] = {}
    for name, value in values.items():
        totals[value] = totals.get(value, 0) + weights.get(name, 0)
    return max(totals, key=lambda value: totals[value])
