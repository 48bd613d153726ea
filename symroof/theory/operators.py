"""Operators of a step: what each does, moves and takes, and what of a step is the sum of its operators'."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from symroof.formula import build
from symroof.formula.parse import parse
from symroof.formula.tree import ONE, ZERO, Tree
from symroof.theory.quantity import COMPUTE_RATE, MEMORY_RATE
from symroof.theory.table import Cell


@dataclass(frozen=True)
class Operator:
    """One operator of one layer kind in one step: its work and its traffic, per layer, and how many layers."""

    name: str
    layer: str
    count: Tree
    flops: Tree
    bytes: Tree
    streams: tuple[tuple[str, Tree], ...]

    @property
    def compute_time(self) -> Tree:
        """The time of one layer's FLOPs alone."""
        return build.div(self.flops, parse(COMPUTE_RATE))

    @property
    def memory_time(self) -> Tree:
        """The time of one layer's bytes alone."""
        return build.div(self.bytes, parse(MEMORY_RATE))

    @property
    def roofline_time(self) -> Tree:
        """The larger of the two, over all its layers."""
        return build.mul(self.count, build.call("max", self.compute_time, self.memory_time))


def _of_streams(operators: Iterable[Operator], wanted: Callable[[str], bool]) -> Tree:
    """What some operators do or move, stream by stream, what layers share written once."""
    by_stream: dict[str, dict[Tree, list[Tree]]] = {}
    for operator in operators:
        for stream, amount in operator.streams:
            if wanted(stream):
                by_stream.setdefault(stream, {}).setdefault(operator.count, []).append(amount)
    return build.add(ZERO, *(build.factored(*(build.mul(n, build.factored(*found)) for n, found in counted.items())) for counted in by_stream.values()))


def _flops(operators: list[Operator]) -> Tree:
    return _of_streams(operators, lambda stream: stream == "flops")


def _bytes(operators: list[Operator]) -> Tree:
    return _of_streams(operators, lambda stream: stream != "flops")


PARTS: dict[str, Callable[[list[Operator]], Tree]] = {
    "flops": _flops,
    "bytes": _bytes,
    "compute_time": lambda found: build.div(_flops(found), parse(COMPUTE_RATE)),
    "memory_time": lambda found: build.div(_bytes(found), parse(MEMORY_RATE)),
    "roofline_time": lambda found: build.add(ZERO, *(operator.roofline_time for operator in found)),
}
"""What of a step is the sum of its operators': the quantity's name after the step's, and an operator's share of it."""


def operators(counted: Iterable[Cell], amount_of: Callable[[Cell], Tree]) -> Iterator[Operator]:
    """The operators of a step from the cells that count in it; ``amount_of`` gives a cell's FLOPs or bytes in one layer."""
    by_operator: dict[tuple[str, str], list[Cell]] = {}
    for cell in counted:
        by_operator.setdefault((cell.operator, cell.layer), []).append(cell)
    for (name, layer), found in by_operator.items():
        shared = found[0].count if len({cell.count for cell in found}) == 1 else None
        streams: dict[str, Tree] = {}
        for cell in found:
            amount = amount_of(cell) if shared is not None else build.mul(cell.count, amount_of(cell))
            streams[cell.stream] = build.add(streams.get(cell.stream, ZERO), amount)
        moved = build.add(ZERO, *(tree for stream, tree in streams.items() if stream != "flops"))
        yield Operator(name, layer, shared or ONE, streams.get("flops", ZERO), moved, tuple(streams.items()))
