"""The operators of a step: FLOPs, bytes and times of each, and the sums over operators."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import sympy

from symroof.symbolic.expressions import ONE, ZERO, Expr
from symroof.symbolic.nodes import Max
from symroof.theory.operator_table import PlacedRow
from symroof.theory.quantity import work_time
from symroof.theory.rows import CORE
from symroof.theory.switches import Assumptions


@dataclass(frozen=True)
class Operator:
    """One operator of one layer kind in one step: its work and its traffic, per layer, and how many layers.

    ``flops``, ``bytes`` and ``streams`` are of the whole model; ``device_flops`` and ``device_bytes`` of one device.
    """

    name: str
    layer: str
    count: Expr
    flops: Expr
    bytes: Expr
    streams: tuple[tuple[str, Expr], ...]
    device_flops: Expr
    device_bytes: Expr
    assumptions: Assumptions

    @property
    def attention_flops(self) -> Expr:
        """Those of its FLOPs on one device that run at attention's own peak, where it has one."""
        return self.device_flops if self.name == CORE else ZERO

    @property
    def compute_time(self) -> Expr:
        """The time of one layer's FLOPs alone."""
        return work_time("compute_time", self.device_flops, self.assumptions, self.attention_flops)

    @property
    def memory_time(self) -> Expr:
        """The time of one layer's bytes alone."""
        return work_time("memory_time", self.device_bytes, self.assumptions)

    @property
    def roofline_time(self) -> Expr:
        """The larger of the two, over all its layers."""
        return self.count * Max(self.compute_time, self.memory_time)


def _of_streams(operators: Iterable[Operator], belongs: Callable[[str], bool]) -> Expr:
    """The FLOPs or bytes of some operators, stream by stream, with common factors taken out."""
    by_stream: dict[str, dict[Expr, list[Expr]]] = {}
    for operator in operators:
        for stream, amount in operator.streams:
            if belongs(stream):
                by_stream.setdefault(stream, {}).setdefault(operator.count, []).append(amount)
    sums = (n * sympy.Add(*parts) for each in by_stream.values() for n, parts in each.items())
    return sympy.Add(*sums)


def _over_layers(operators: Iterable[Operator], amount: Callable[[Operator], Expr]) -> Expr:
    return sympy.Add(*((operator.count * amount(operator)) for operator in operators))


def _device_flops(some: list[Operator]) -> tuple[Expr, Assumptions, Expr]:
    """The FLOPs of one device over all layers, and those of them that are attention's."""
    flops = _over_layers(some, lambda operator: operator.device_flops)
    attention = _over_layers(some, lambda operator: operator.attention_flops)
    return flops, some[0].assumptions, attention


PARTS: dict[str, Callable[[list[Operator]], Expr]] = {
    "flops": lambda some: _of_streams(some, lambda stream: stream == "flops"),
    "bytes": lambda some: _of_streams(some, lambda stream: stream != "flops"),
    "compute_time": lambda some: work_time("compute_time", *_device_flops(some)),
    "memory_time": lambda some: work_time(
        "memory_time",
        _over_layers(some, lambda operator: operator.device_bytes),
        some[0].assumptions,
    ),
    "roofline_time": lambda some: sympy.Add(*(operator.roofline_time for operator in some)),
}
"""The quantities of a step that are sums over its operators: the name after the step's, and the sum over some operators."""

Amount = Callable[[PlacedRow], Expr]


def operators(
    counted: Iterable[PlacedRow], whole: Amount, device: Amount, assumptions: Assumptions
) -> Iterator[Operator]:
    """The operators of a step from the cells that count in it; ``whole`` gives a cell's FLOPs or bytes in one layer, ``device``
    one device's part of them."""
    by_operator: dict[tuple[str, str], list[PlacedRow]] = {}
    for row in counted:
        by_operator.setdefault((row.operator, row.layer), []).append(row)
    for (name, layer), rows in by_operator.items():
        count = rows[0].count if len({row.count for row in rows}) == 1 else ONE

        by_stream: dict[str, list[PlacedRow]] = {}
        for row in rows:
            by_stream.setdefault(row.stream, []).append(row)
        streams, parts = (
            {
                stream: sympy.Add(
                    *((1 if row.count == count else row.count) * amount(row) for row in own)
                )
                for stream, own in by_stream.items()
            }
            for amount in (whole, device)
        )
        flops, device_flops = (each.get("flops", ZERO) for each in (streams, parts))
        moved, device_moved = (
            sympy.Add(*(bytes for stream, bytes in each.items() if stream != "flops"))
            for each in (streams, parts)
        )
        yield Operator(
            name,
            layer,
            count,
            flops,
            moved,
            tuple(streams.items()),
            device_flops,
            device_moved,
            assumptions,
        )
