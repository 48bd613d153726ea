"""Rows of the operator table, and the one every matrix product makes.

A row says: this operator, in this stream, costs this much per driver. Drivers are what a step supplies: ``tokens``,
``pairs`` (query, key), ``span`` (cached tokens read or written), ``logit_rows``, ``experts_read``, ``state_moves``, or
``once``. FLOPs are facts; bytes are a model, and a row that only some assumption makes names it in ``when``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One entry of the operator table; ``amount`` is a formula over symbols, per unit of ``per``.

    Attributes:
        operator, stream: which operator, and of ``params``, ``flops``, ``weights``, ``kv``, ``kv_again`` (read without
            being kept here), ``state``, ``activations``.
        reaching: whether a window or a chunk of the layer limits what it counts.
        phase: ``prompt`` or ``token`` where it is so only of segments that read a prompt, or that write tokens.
        when: switch values under which it stands.
        kept: whether its parameters are never quantized: norms, biases, tables of scalars.
        split: into how many parts devices can split a cache.
    """

    operator: str
    stream: str
    amount: str
    per: str
    reaching: bool = False
    phase: str | None = None
    when: tuple[tuple[str, str], ...] = ()
    kept: bool = False
    split: str = "1"


def stored(operator: str, elements: str, per: str = "once") -> Row:
    """Parameters that are resident but neither multiplied as a matrix nor streamed: norms, biases, tables."""
    return Row(operator, "params", elements, per, kept=True)


def gemm(operator: str, inner: str, outer: str, per: str = "tokens", bias: str = "", phase: str | None = None) -> Iterator[Row]:
    """``per`` rows times an ``inner`` by ``outer`` matrix: a multiply and an add are 2 FLOP; read the matrix once,
    read each input row and write each output row once."""
    yield from matrix(operator, f"({inner})*({outer})", bias)
    yield from product(operator, f"({inner})*({outer})", f"({inner}) + ({outer})", per, phase)


def matrix(operator: str, elements: str, bias: str = "") -> Iterator[Row]:
    """A matrix that is held and streamed by every step."""
    yield Row(operator, "params", elements, "once")
    if bias:
        yield stored(operator, bias)
    yield Row(operator, "weights", f"{elements}*weight_bytes_per_param", "once")


def product(operator: str, elements: str, moved: str, per: str = "tokens", phase: str | None = None, when: tuple[tuple[str, str], ...] = ()) -> Iterator[Row]:
    """``per`` rows through a matrix of so many ``elements``, with so many input and output elements ``moved`` by each."""
    yield Row(operator, "flops", f"2 FLOP*{elements}", per, phase=phase, when=when)
    yield Row(operator, "activations", f"({moved})*act_bytes_per_element", per, phase=phase, when=when)
