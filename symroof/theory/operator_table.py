"""The operator table: rows x steps x layer kinds. Totals, the per-operator roofline, the breakdown of a report and of time
are this table, grouped and summed late; the operators of a step have FLOPs, bytes and times."""

import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

import sympy

from symroof.symbolic.expressions import ONE, ZERO, Expr, names, rename, substitute, symbol
from symroof.symbolic.nodes import Max
from symroof.symbolic.reading import parse
from symroof.theory.architecture import (
    CORE,
    CORES,
    SCAN,
    Architecture,
    Layer,
    OperatorRow,
    layer_rows,
    outer_rows,
)
from symroof.theory.layout import SINGLE, Layout
from symroof.theory.steps import (
    REACHES,
    WORK_TIMES,
    AttentionReach,
    DriverScope,
    ExpertPool,
    work_time,
)
from symroof.theory.switches import Assumptions

STREAM_FILTERS = {
    "kv": "kv_traffic",
    "kv_again": "kv_traffic",
    "state": "kv_traffic",
    "activations": "activations",
}
"""Streams that a switch can remove from the traffic; resident bytes do not change."""

LINEAR = "linear"
GATHERED = ("layer_inputs", "positions")
"""Tables from which a token only gathers one row, besides the embedding unless the head shares it."""
EXPERT_DRIVERS = frozenset({"experts_read", "experts_held"})

WIDTH, KEPT_WIDTH = "weight_bytes_per_param", "unquantized_bytes_per_param"


@dataclass(frozen=True)
class PlacedRow:
    """A row of one kind of layer: how many layers, and which window, chunk or pool of experts limits its driver.

    ``own`` is one device's part of the amount; None if all ``tp`` devices share it evenly. ``pooled``,
    ``end`` and ``when`` are the row's.
    """

    operator: str
    layer: str
    stream: str
    amount: Expr
    per: str
    count: Expr
    scope: DriverScope
    phase: str | None = None
    width: str = WIDTH
    own: Expr | None = None
    pooled: bool = False
    end: str = ""
    when: tuple[tuple[str, str], ...] = ()


SPARSE_EXPERTS = PlacedRow(
    "experts",
    "",
    "weights",
    parse(f"(params - active_params)/(n_experts - experts_per_token)*{WIDTH}"),
    "experts_read",
    ONE,
    ExpertPool("n_experts", "experts_per_token"),
)
"""What a step reads of one expert, in all layers together, where only the totals are known: what a token leaves out is split evenly."""


@lru_cache(maxsize=32)
def placed_rows(
    architecture: Architecture, assumptions: Assumptions, layout: Layout = SINGLE
) -> tuple[PlacedRow, ...]:
    """All rows of an architecture that exist under the assumptions, before switches filter the traffic."""
    placed: list[PlacedRow] = []
    for layer in architecture.layers:
        for row in layer_rows(layer, architecture.norm):
            copies = row.copies if row.stream == "params" else ""
            count = symbol(layer.symbol(copies or "n_layers"))
            placed.append(_placed(row, layer, count, architecture, layout))
    around = Layer(label="")
    placed += [_placed(row, around, ONE, architecture, layout) for row in outer_rows(architecture)]
    if assumptions["parameters"] == "nominal":
        more = [SPARSE_EXPERTS] if architecture.sparse else []
        placed = [*_nominal([*placed, *more], architecture.kept is not None, layout)]
    return tuple(row for row in placed if assumptions.holds(row.when))


def _placed(
    row: OperatorRow, layer: Layer, count: Expr, architecture: Architecture, layout: Layout
) -> PlacedRow:
    kept = row.kept and architecture.kept is not None
    width = KEPT_WIDTH if kept else width_of(row.operator, architecture)
    scope: DriverScope = None  # pairs and spans end at a window, tokens and rows of logits do not
    reach = row.reach or (layer.reach if row.reaching else None)
    if row.per in EXPERT_DRIVERS:
        scope = ExpertPool(layer.symbol("n_experts"), layer.symbol("experts_per_token"))
    elif reach and row.per in ("pairs", "span"):
        scope = AttentionReach(reach, *map(layer.symbol, REACHES[reach]["symbols"]))
    own = {name: layer.symbol(name) for name in layer.own} | {WIDTH: width}
    written, held = parse(row.amount), _held(row, layer, layout)
    amount = rename(written, own)
    part = amount if held is written else rename(held, own) if held is not None else None
    return PlacedRow(
        row.operator,
        layer.label,
        row.stream,
        amount,
        row.per,
        count,
        scope,
        row.phase,
        width,
        part,
        row.pooled,
        row.end,
        row.when,
    )


def _held(row: OperatorRow, layer: Layer, layout: Layout) -> Expr | None:
    """One device's part of a row; None for an even share of ``tp`` devices, such as that of experts without other sharing."""
    amount = parse(row.amount)
    if row.pooled:
        return amount / parse(layout.group) if layout.attention_dp else None
    if not layout.tp:
        return amount
    if row.copied:
        return amount if layout.copies else None
    if row.own:
        own = parse(row.own)
        return None if own == amount / symbol("tp") else own
    shares = layout.shares(layer)
    uneven = any(layer.symbol(name) in layout.uneven for name in shares if name in names(amount))
    even = _degree(amount, frozenset(shares)) == 1 and not uneven
    if even or not (layout.copies or row.stream not in ("params", "weights", "flops")):
        return None
    return substitute(amount, shares)


def _degree(tree: Expr, split: frozenset[str]) -> int | None:
    """The number of split widths in every term of an amount; None if terms differ."""
    if tree.is_Symbol:
        return int(tree.name in split)
    degrees = {_degree(part, split) for part in tree.args}
    if tree.is_Mul:
        return None if None in degrees else sum(_degree(part, split) or 0 for part in tree.args)
    if tree.is_Pow and tree.exp.is_Integer:
        base = _degree(tree.base, split)
        return None if base is None else base * int(tree.exp)
    if tree.is_Add:
        return degrees.pop() if len(degrees) == 1 else None
    return 0 if degrees <= {0} else None


def width_of(operator: str, architecture: Architecture) -> str:
    """The symbol for the width of an operator's matrices."""
    if operator in (architecture.kept or ()):
        return KEPT_WIDTH
    return f"{WIDTH}.{operator}" if operator in architecture.widths else WIDTH


def _nominal(placed: list[PlacedRow], quantized: bool, layout: Layout) -> Iterator[PlacedRow]:
    """``parameters: nominal``: all matrix products are one operator that multiplies every active parameter and reads all
    but the idle experts; recurrences run in it. Attention and the experts read are unchanged."""
    for row in placed:
        activations = row.stream == "activations" and row.per == "tokens"
        if row.stream == "params" or row.operator in CORES:
            yield row
        elif (
            activations
            or row.per == "experts_read"
            or row.stream == "state"
            or row.operator == SCAN
        ):
            # the head's are among them: it is in P, and logits change nothing
            yield replace(row, operator=LINEAR, layer="")
    routed = [row for row in placed if row.pooled and row.stream == "flops"]
    drawn = [row for row in placed if row.per == "experts_read"]
    multiplied = parse("2 FLOP") * symbol("active_params" if drawn else "params")
    if layout.attention_dp:  # the experts' work is that of the tokens of all groups
        yield from (replace(row, operator=LINEAR, layer="") for row in routed)
        multiplied = multiplied - total(routed)
    if layout.staged and layout.copies:
        yield from _nominal_by_layer(placed, bool(drawn), layout)
        return
    read = parse("weight_bytes" if quantized else f"params*{WIDTH}") - parameters(drawn)
    for stream, amount, per in (("flops", multiplied, "tokens"), ("weights", read, "once")):
        own = None if layout.tp else amount
        yield PlacedRow(LINEAR, "", stream, amount, per, ONE, None, own=own)


def _nominal_by_layer(placed: list[PlacedRow], active: bool, layout: Layout) -> Iterator[PlacedRow]:
    """The same with pipeline stages: each multiplies and reads its own parameters."""
    if not layout.attention_dp:
        routed = (row for row in placed if row.pooled and row.stream == "flops")
        yield from (replace(row, operator=LINEAR, layer="") for row in routed)
    for row in placed:
        if row.stream != "params" or row.pooled or row.end == "tied":
            continue
        held = replace(row, operator=LINEAR, layer="", scope=None)
        ways = [("weights", symbol(row.width), "once")]
        if not (active and row.operator in ("embedding", *GATHERED)):
            ways.append(("flops", parse("2 FLOP"), "tokens"))
        for stream, each, per in ways:
            own = row.own and row.own * each
            yield replace(held, stream=stream, amount=row.amount * each, own=own, per=per)


def counted_traffic(row: PlacedRow, assumptions: Assumptions) -> bool:
    """Whether a row's FLOPs or bytes count in a step under the switches."""
    if row.stream == "params":
        return False
    if row.stream == "flops" and row.per == "pairs" and assumptions["attention_flops"] == "off":
        return False
    switch = STREAM_FILTERS.get(row.stream)
    return switch is None or assumptions[switch] == "on"


def total(summed: Iterable[PlacedRow]) -> Expr:
    """The sum of rows' amounts, each times its count, with shared factors written once: ``2*n_layers*d_model*(...)``."""
    by_count: dict[Expr, list[Expr]] = {}
    for row in summed:
        by_count.setdefault(row.count, []).append(row.amount)
    return _with_shared_factors(
        [count * _with_shared_factors(amounts) for count, amounts in by_count.items()]
    )


def _with_shared_factors(terms: list[Expr]) -> Expr:
    """A sum with the factors of all its terms before it; SymPy's ``factor_terms`` takes ten times as long."""
    if len(terms) < 2:
        return sympy.Add(*terms)
    numbers, products = zip(*(term.as_coeff_Mul() for term in terms), strict=True)
    powers = [product.as_powers_dict() for product in products]
    common = {base: min(each.get(base, 0) for each in powers) for base in powers[0]}
    shared = sympy.Mul(*(base**power for base, power in common.items() if power > 0))
    number = sympy.gcd_list(list(numbers)) * (-1 if max(numbers) < 0 else 1)
    rest = sympy.Add(
        *(own / number * each / shared for own, each in zip(numbers, products, strict=True))
    )
    return sympy.Mul(number, shared, rest, evaluate=shared != 1 or number == 1)


def parameters(summed: Iterable[PlacedRow]) -> Expr:
    """Resident parameters, those of an expert times the number of experts."""
    return total(
        replace(row, amount=symbol(row.scope.experts) * row.amount)
        if isinstance(row.scope, ExpertPool)
        else row
        for row in summed
    )


def idle_parameters(summed: Iterable[PlacedRow]) -> Expr:
    """Parameters of the experts that a token does not use."""
    idle = [
        replace(row, amount=(symbol(row.scope.experts) - symbol(row.scope.taken)) * row.amount)
        for row in summed
        if isinstance(row.scope, ExpertPool)
    ]
    return total(idle)


@dataclass(frozen=True)
class Operator:
    """One operator of one layer kind in one step: its work and its traffic, per layer, and how many layers.

    Attributes:
        flops, bytes: those of the whole model.
        device_flops, device_bytes: those of one device.
    """

    name: str
    layer: str
    count: Expr
    flops: Expr
    bytes: Expr
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


def _over_layers(some: list[Operator], field: str) -> Expr:
    """One amount of some operators over all layers."""
    return sympy.Add(*(operator.count * getattr(operator, field) for operator in some))


def _time(some: list[Operator], kind: str) -> Expr:
    """The time of one device's FLOPs or bytes over all layers."""
    work = _over_layers(some, f"device_{WORK_TIMES[kind]}")
    return work_time(kind, work, some[0].assumptions, _over_layers(some, "attention_flops"))


PARTS: dict[str, Callable[[list[Operator]], Expr]] = {
    "flops": lambda some: _over_layers(some, "flops"),
    "bytes": lambda some: _over_layers(some, "bytes"),
    "compute_time": lambda some: _time(some, "compute_time"),
    "memory_time": lambda some: _time(some, "memory_time"),
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
        work = [row for row in rows if row.stream == "flops"]
        traffic = [row for row in rows if row.stream != "flops"]
        flops, moved, own_flops, own_moved = (
            sympy.Add(*(row.count / count * amount(row) for row in some))
            for amount, some in itertools.product((whole, device), (work, traffic))
        )
        yield Operator(name, layer, count, flops, moved, own_flops, own_moved, assumptions)
