"""Rows of the operator table, and those that every matrix product makes.

A row is the cost of an operator in one stream, per unit of a driver. A step supplies the drivers: ``tokens``,
``pairs`` (query, key), ``span`` (cached tokens read or written), ``logit_rows``, ``experts_read``, ``state_moves``, or
``once``. FLOPs are exact; bytes are a model. A row that exists only under an assumption names it in ``when``.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple


class MatrixShape(NamedTuple):
    """``times`` equal matrices of ``rows`` outputs and ``columns`` inputs, each a formula over widths."""

    rows: str
    columns: str
    times: str = "1"


@dataclass(frozen=True)
class OperatorRow:
    """One entry of the operator table; ``amount`` is a formula over symbols, per unit of ``per``.

    Attributes:
        operator, stream: the operator, and one of ``params``, ``flops``, ``weights``, ``kv``, ``kv_again`` (read without
            being stored here), ``state``, ``activations``.
        reaching: whether the layer's own reach (a window, a chunk, a choice of keys) limits its count.
        reach: the reach that limits it, where that is not the layer's.
        phase: ``prompt`` or ``token`` if the row exists only for segments that prefill a prompt, or that generate tokens.
        when: switch values under which the row counts.
        kept: whether its parameters are never quantized: norms, biases, tables of scalars.
        own: the part of one of ``tp`` devices, if that does not follow from the widths it names.
        pooled: whether all devices of an instance share it evenly, whichever group the tokens belong to: routed experts.
        copies: the symbol of how many there are of what a row of parameters holds, if layers share it.
        shapes: the matrices of a row of parameters, as checkpoints store them: the parts of a fused product separately.
        end: ``last`` for a row after the layers; ``tied`` for a table that is stored once, but at both ends of a pipeline.
    """

    operator: str
    stream: str
    amount: str
    per: str
    reaching: bool = False
    reach: str | None = None
    phase: str | None = None
    when: tuple[tuple[str, str], ...] = ()
    kept: bool = False
    own: str = ""
    pooled: bool = False
    end: str = ""
    copies: str = ""
    shapes: tuple[MatrixShape, ...] = ()

    @property
    def copied(self) -> bool:
        """Whether every device holds a full copy, whatever widths it names: the norms."""
        return self.operator.endswith("norm")


def stacked(outputs: Iterable[str]) -> list[MatrixShape]:
    """Matrices over the residual that are computed as one product."""
    return [MatrixShape(rows, "d_model") for rows in outputs]


def stored(operator: str, elements: str, per: str = "once") -> OperatorRow:
    """Parameters that are resident but neither multiplied as a matrix nor streamed: norms, biases, tables."""
    return OperatorRow(operator, "params", elements, per, kept=True)


def gemm(
    operator: str,
    inner: str,
    outer: str,
    per: str = "tokens",
    bias: str = "",
    cut: str = "",
    parts: Iterable[MatrixShape] = (),
) -> Iterator[OperatorRow]:
    """``per`` rows times an ``inner`` by ``outer`` matrix: a multiply and an add are 2 FLOP; read the matrix once,
    read each input row and write each output row once.

    Devices split a matrix along the width they divide (heads, columns of a feed-forward layer); ``cut`` names the side, ``inner``
    or ``outer``, if neither width is one of those; ``parts`` are the matrices of a fused product.
    """
    part = {"inner": (f"({inner})/tp", outer), "outer": (inner, f"({outer})/tp")}.get(cut)
    elements, moved = f"({inner})*({outer})", f"({inner}) + ({outer})"
    own = (f"({part[0]})*({part[1]})", f"({part[0]}) + ({part[1]})") if part else ("", "")
    yield from matrix(
        operator, elements, tuple(parts) or (MatrixShape(outer, inner),), bias, own[0]
    )
    yield from product(operator, elements, moved, per, own=own)


def matrix(
    operator: str, elements: str, shapes: tuple[MatrixShape, ...], bias: str = "", own: str = ""
) -> Iterator[OperatorRow]:
    """A matrix that is resident and read by every step."""
    yield OperatorRow(operator, "params", elements, "once", own=own, shapes=shapes)
    if bias:
        yield stored(operator, bias)
    yield OperatorRow(
        operator,
        "weights",
        f"{elements}*weight_bytes_per_param",
        "once",
        own=_scaled(own, "weight_bytes_per_param"),
    )


def product(
    operator: str,
    elements: str,
    moved: str,
    per: str = "tokens",
    phase: str | None = None,
    when: tuple[tuple[str, str], ...] = (),
    own: tuple[str, str] = ("", ""),
) -> Iterator[OperatorRow]:
    """``per`` rows through a matrix of so many ``elements``, with so many input and output elements ``moved`` by each."""
    yield OperatorRow(
        operator,
        "flops",
        f"2 FLOP*{elements}",
        per,
        phase=phase,
        when=when,
        own=f"2 FLOP*{own[0]}" if own[0] else "",
    )
    yield OperatorRow(
        operator,
        "activations",
        f"({moved})*act_bytes_per_element",
        per,
        phase=phase,
        when=when,
        own=_scaled(own[1], "act_bytes_per_element"),
    )


def _scaled(elements: str, width: str) -> str:
    return f"({elements})*{width}" if elements else ""
