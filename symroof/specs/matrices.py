"""The matrices of a layer as checkpoints store them: how many rows out and columns in each has.

The theory fuses what runs as one product (``qkv``, ``gate_up``); a checkpoint stores, and scales, its parts one by one.
Shapes are needed where a quantization keeps something by row, by column or by matrix, or where blocks do not come out even.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from symroof.specs.layers import Experts, FeedForward, GroupedAttention, LatentAttention, LayerKind, LinearAttention, Mamba, Mamba2, ShortConvolution


class Matrix(NamedTuple):
    """``times`` equal matrices of ``rows`` outputs and ``columns`` inputs that belong to an operator of the theory."""

    operator: str
    rows: int
    columns: int
    times: int = 1


def matrices(kind: LayerKind, d_model: int) -> Iterator[Matrix]:
    """Every matrix of one layer of a kind."""
    for block in kind.blocks:
        match block:
            case GroupedAttention():
                yield from _grouped(block, d_model)
            case LatentAttention():
                yield from _latent(block, d_model)
            case Mamba():
                yield from _recurrent(2 * block.d_inner, block.d_inner, block.d_inner, block.d_conv, d_model)
                yield Matrix("ssm_x", block.dt_rank + 2 * block.d_state, block.d_inner)
                yield Matrix("ssm_dt", block.d_inner, block.dt_rank)
            case Mamba2():
                conv = block.d_inner + 2 * block.ssm_groups * block.d_state
                yield from _recurrent(block.d_inner + conv + block.ssm_heads, block.d_inner, conv, block.d_conv, d_model)
            case LinearAttention():
                yield from _linear(block, d_model)
            case ShortConvolution():
                yield from _recurrent(3 * d_model, d_model, d_model, block.d_conv, d_model)
            case FeedForward() if block.d_ff:
                yield Matrix("gate_up", block.d_ff, d_model, 2) if block.kind == "gated" else Matrix("up", block.d_ff, d_model)
                yield Matrix("down", d_model, block.d_ff)
            case Experts():
                yield from _experts(block, d_model)


def _grouped(a: GroupedAttention, d_model: int) -> Iterator[Matrix]:
    values = a.value_dim or a.head_dim
    yield Matrix("qkv", a.n_heads * a.head_dim * (2 if a.out_gate else 1), d_model)
    if not a.shares_kv:
        yield Matrix("qkv", a.n_kv_heads * a.head_dim, d_model)
    if not a.shares_kv and not a.value_is_key:
        yield Matrix("qkv", a.n_kv_heads * values, d_model)
    if a.head_gate:
        yield Matrix("head_gate", a.n_heads, d_model)
    yield Matrix("attention_out", d_model, a.n_heads * values)


def _latent(a: LatentAttention, d_model: int) -> Iterator[Matrix]:
    queries = a.n_heads * (a.qk_nope_dim + a.qk_rope_dim)
    narrow = "qkv_down" if a.q_lora_rank else "qkv"
    yield Matrix(narrow, a.q_lora_rank or queries, d_model)
    yield Matrix(narrow, a.kv_lora_rank + a.qk_rope_dim, d_model)
    if a.q_lora_rank:
        yield Matrix("q_up", queries, a.q_lora_rank)
    yield Matrix("kv_up", a.n_heads * (a.qk_nope_dim + a.value_dim), a.kv_lora_rank)
    yield Matrix("attention_out", d_model, a.n_heads * a.value_dim)


def _linear(m: LinearAttention, d_model: int) -> Iterator[Matrix]:
    keys, values = m.linear_key_heads * m.linear_key_dim, m.linear_value_heads * m.linear_value_dim
    if m.d_conv is None:
        yield from _recurrent(2 * keys + 2 * values, values, 0, 0, d_model)
    else:
        yield from _recurrent(2 * keys + 2 * values, values, 2 * keys + values, m.d_conv, d_model)
        yield Matrix("ssm_in", 2 * m.linear_value_heads, d_model)


def _recurrent(inputs: int, outputs: int, conv: int, taps: int, d_model: int) -> Iterator[Matrix]:
    yield Matrix("ssm_in", inputs, d_model)
    if conv:
        yield Matrix("conv", conv, taps)
    yield Matrix("ssm_out", d_model, outputs)


def _experts(e: Experts, d_model: int) -> Iterator[Matrix]:
    wide, width = 1 if e.expert == "plain" else 2, e.d_latent or d_model
    yield Matrix("router", e.n_experts, d_model)
    yield Matrix("experts", e.d_expert, width, wide * e.n_experts)
    yield Matrix("experts", width, e.d_expert, e.n_experts)
    if e.d_latent:
        yield Matrix("latent_down", e.d_latent, d_model)
        yield Matrix("latent_up", d_model, e.d_latent)
    if e.n_shared_experts:
        shared = e.n_shared_experts * (e.d_shared or e.d_expert)
        yield Matrix("shared_experts", shared, d_model, wide)
        yield Matrix("shared_experts", d_model, shared)
    if e.shared_gate:
        yield Matrix("shared_gate", 1, d_model)
