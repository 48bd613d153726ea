"""A block of attention and feed-forward whose weights several layers share (Zamba 2, arXiv 2411.15242): stored once, read and run by each of them."""

from collections.abc import Iterator
from dataclasses import replace

from symroof.theory.architecture import Layer
from symroof.theory.rows import MatrixShape, OperatorRow, gemm, stored
from symroof.theory.sparse_rows import CORE

SHARED_COPIES = "shared_blocks"
"""The symbol of how many such blocks there are, for layers to take in turn."""


def shared_block(layer: Layer) -> Iterator[OperatorRow]:
    """Its input is the residual beside the embedding; a matrix of each layer's own joins its result to the residual, and adapters of a low rank,
    each layer's own too, stand beside its first matrices."""
    for row in _shared():
        yield replace(row, copies=SHARED_COPIES) if row.stream == "params" else row
    cache = "2*n_kv_heads*head_dim*kv_bytes_per_element"
    yield OperatorRow(CORE, "flops", "4 FLOP*n_heads*head_dim", "pairs")
    yield OperatorRow(CORE, "activations", "2*n_heads*head_dim*act_bytes_per_element", "tokens")
    yield OperatorRow(
        CORE,
        "activations",
        "4*n_heads*act_bytes_per_element",
        "pairs",
        when=(("fusion", "unfused"),),
    )
    yield OperatorRow(CORE, "kv", cache, "span")
    yield from gemm("shared_out", "d_model", "d_model", cut="outer")
    if layer.has("adapters"):
        yield from _adapter("adapter", "d_model", "2*d_ff")
    if layer.has("attention_adapters"):
        yield from _adapter("attention_adapter", "2*d_model", "2*d_model", 3)


def _shared() -> Iterator[OperatorRow]:
    heads = "(n_heads + 2*n_kv_heads)*head_dim"
    parts = [
        MatrixShape("n_heads*head_dim", "2*d_model"),
        MatrixShape("n_kv_heads*head_dim", "2*d_model", "2"),
    ]
    yield from gemm("qkv", "2*d_model", heads, parts=parts)
    yield from gemm("attention_out", "n_heads*head_dim", "d_model")
    yield from gemm("gate_up", "d_model", "2*d_ff", parts=[MatrixShape("d_ff", "d_model", "2")])
    yield from gemm("down", "d_ff", "d_model")
    yield stored("norm", "3*d_model")


def _adapter(operator: str, inner: str, outer: str, times: int = 1) -> Iterator[OperatorRow]:
    """Two narrow products beside a wide one, or beside several."""
    yield from gemm(
        operator,
        inner,
        f"{times}*adapter_rank",
        parts=[MatrixShape("adapter_rank", inner, str(times))],
    )
    yield from gemm(
        f"{operator}_out",
        "adapter_rank",
        f"{times}*({outer})",
        parts=[MatrixShape(outer, "adapter_rank", str(times))],
    )
