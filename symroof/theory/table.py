"""The operator table: rows x steps x layer kinds. Totals, the per-operator roofline, a report's breakdown and "where does
the time go" are this one table, grouped and summed late."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from symroof.formula import build
from symroof.formula.parse import parse, rename
from symroof.formula.tree import ONE, Name, Tree
from symroof.theory.architecture import Architecture, Layer
from symroof.theory.blocks import layer_rows, outer_rows
from symroof.theory.mixers import CORE, SCAN
from symroof.theory.rows import Row
from symroof.theory.steps import Pool, Reach, Scope
from symroof.theory.switches import Assumptions

STREAM_FILTERS = {"kv": "kv_traffic", "kv_again": "kv_traffic", "state": "kv_traffic", "activations": "activations"}
"""Streams a switch takes out of the traffic. What is resident does not change."""

LINEAR = "linear"
EXPERT_DRIVERS = frozenset({"experts_read", "experts_held"})

REACH_SYMBOL = {"window": "window", "chunk": "chunk_size"}
WIDTH, KEPT_WIDTH = "weight_bytes_per_param", "kept_bytes_per_param"


@dataclass(frozen=True)
class Cell:
    """A row in its place: which kind of layer, how many of them, within which window, chunk or pool of experts."""

    operator: str
    layer: str
    stream: str
    amount: Tree
    per: str
    count: Tree
    scope: Scope
    phase: str | None = None
    width: str = WIDTH
    split: Tree = ONE


@dataclass(frozen=True)
class _Placed(Cell):
    when: tuple[tuple[str, str], ...] = ()


def cells(architecture: Architecture, assumptions: Assumptions) -> tuple[Cell, ...]:
    """All rows of an architecture that the assumptions let stand, before any switch filters the traffic."""
    found = [*_cells(architecture)]
    if assumptions["parameters"] == "nominal":
        found = [*_nominal(found, architecture.kept is not None)]
    return tuple(cell for cell in found if assumptions.holds(cell.when))


def _cells(architecture: Architecture) -> Iterator[_Placed]:
    for layer in architecture.layers:
        for row in layer_rows(layer, architecture.norm):
            yield _placed(row, layer, Name(layer.symbol("n_layers")), architecture)
    for row in outer_rows(architecture):
        yield _placed(row, Layer(label=""), ONE, architecture)


def _placed(row: Row, layer: Layer, count: Tree, architecture: Architecture) -> _Placed:
    width = KEPT_WIDTH if row.kept and architecture.kept is not None else width_of(row.operator, architecture)
    own = {name: layer.symbol(name) for name in layer.own} | {WIDTH: width}
    amount, split = (rename(parse(text), own) for text in (row.amount, row.split))
    return _Placed(row.operator, layer.label, row.stream, amount, row.per, count, _scope(row, layer), row.phase, width, split, row.when)


def width_of(operator: str, architecture: Architecture) -> str:
    """The symbol for the width of an operator's matrices."""
    if operator in (architecture.kept or ()):
        return KEPT_WIDTH
    return f"{WIDTH}.{operator}" if operator in architecture.widths else WIDTH


def _scope(row: Row, layer: Layer) -> Scope:
    """What limits a row's driver: tokens and logit rows are what they are, pairs and spans end at a window."""
    if row.per in EXPERT_DRIVERS:
        return Pool(layer.symbol("n_experts"), layer.symbol("experts_per_token"))
    if row.reaching and layer.reach and row.per in ("pairs", "span"):
        return Reach(layer.reach, layer.symbol(REACH_SYMBOL[layer.reach]))
    return None


def _nominal(found: list[_Placed], quantized: bool) -> Iterator[_Placed]:
    """``parameters: nominal``: all matrix products are one operator that multiplies every active parameter and reads all
    but the idle experts. Attention, recurrent states and the experts read stay what they are."""
    for cell in found:
        if cell.stream == "params" or cell.operator in (CORE, SCAN):
            yield cell
        elif (cell.stream == "activations" and cell.per == "tokens") or cell.per == "experts_read":  # the head is in P: logits change nothing
            yield replace(cell, operator=LINEAR)
    drawn = [cell for cell in found if cell.per == "experts_read"]
    idle = parameters(drawn)
    multiplied = "active_params" if drawn else "params"
    read = "weight_bytes" if quantized else f"params*{WIDTH}"
    yield _Placed(LINEAR, "", "flops", parse(f"2 FLOP*{multiplied}"), "tokens", ONE, None)
    yield _Placed(LINEAR, "", "weights", build.sub(parse(read), idle), "once", ONE, None)


def counted_traffic(cell: Cell, assumptions: Assumptions) -> bool:
    """Whether a cell's FLOPs or bytes count in a step under the switches."""
    if cell.stream == "params":
        return False
    if cell.stream == "flops" and cell.per == "pairs" and assumptions["attention_flops"] == "off":
        return False
    switch = STREAM_FILTERS.get(cell.stream)
    return switch is None or assumptions[switch] == "on"


def total(found: Iterable[Cell]) -> Tree:
    """The sum of cells' amounts, each times its count, what they share written once: ``2*n_layers*d_model*(...)``."""
    by_count: dict[Tree, list[Tree]] = {}
    for cell in found:
        by_count.setdefault(cell.count, []).append(cell.amount)
    return build.factored(*(build.mul(count, build.factored(*amounts)) for count, amounts in by_count.items()))


def parameters(found: Iterable[Cell]) -> Tree:
    """Parameters held, those of an expert as often as there are experts."""
    return total(_of_pool(cell, Name(cell.scope.experts)) if isinstance(cell.scope, Pool) else cell for cell in found)


def idle_parameters(found: Iterable[Cell]) -> Tree:
    """Parameters of the experts that one token is not sent to."""
    idle = [_of_pool(cell, build.sub(Name(cell.scope.experts), Name(cell.scope.taken))) for cell in found if isinstance(cell.scope, Pool)]
    return total(idle)


def _of_pool(cell: Cell, how_many: Tree) -> Cell:
    return replace(cell, amount=build.mul(how_many, cell.amount))
