"""The theory of one architecture under one set of assumptions: every quantity's definition, checked and ready.

Nothing here knows a number of any model or device. :func:`theory` is cached, so a report, a solver and a sweep share one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache

from symroof.formula import build, dimension
from symroof.formula.parse import parse
from symroof.formula.tree import ZERO, At, Name, Tree, inline, names, walk
from symroof.theory.architecture import GENERIC, Architecture
from symroof.theory.quantities import COMPUTE_RATE, MEMORY_RATE, QUANTITIES, Quantity
from symroof.theory.steps import DRIVERS, STEPS, Step, driver
from symroof.theory.switches import Assumptions, assume
from symroof.theory.symbols import INPUTS, STEP_INDEX, Symbol, base_name
from symroof.theory.table import LINEAR, Cell, cells, counted_traffic, total
from symroof.units import PLAIN, Dimension

COEFFICIENTS = {
    ("flops", "tokens"): "linear_flops_per_token",
    ("flops", "pairs"): "attention_flops_per_pair",
    ("flops", "logit_rows"): "head_flops_per_row",
    ("weights", "once"): "weight_bytes_read",
    ("kv", "span"): "kv_bytes_per_token",
    ("activations", "tokens"): "activation_bytes_per_token",
    ("activations", "pairs"): "score_bytes_per_pair",
    ("activations", "logit_rows"): "head_activation_bytes_per_row",
}
"""The readable coefficient in which each (stream, driver) is spoken."""

TIMES = frozenset(f"{step.name}_{part}" for step in STEPS for part in ("compute_time", "memory_time", "roofline_time", "link_time", "overhead"))
"""The parts of a step's time: what depends on one is a latency, a rate or a cost."""


class UnknownName(LookupError):
    """A name that is neither an input nor a quantity."""


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


ATTENTION = "attention"


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


@dataclass(frozen=True)
class Theory:
    """Definitions of every quantity for an architecture and a set of assumptions."""

    architecture: Architecture
    assumptions: Assumptions
    definitions: dict[str, Tree] = field(default_factory=dict)
    operators: dict[str, tuple[Operator, ...]] = field(default_factory=dict)

    def symbol(self, name: str) -> Symbol:
        """Name, LaTeX, unit and meaning of an input or quantity; a dotted name is spelled with its kind of layer.

        Raises:
            UnknownName: nobody declared it.
        """
        if name not in self._symbols:
            base, _, kind = name.partition(".")
            found = STEP_INDEX if name == STEP_INDEX.name else QUANTITIES.get(base) or INPUTS.get(base)
            if not found:
                raise UnknownName(name)
            self._symbols[name] = _of_kind(found, kind) if kind else found
        return self._symbols[name]

    def knows(self, name: str) -> bool:
        """Whether a name is an input or a quantity here; a dotted one has to be of a layer kind or an operator there is."""
        if "." not in name:
            return name in QUANTITIES or name in INPUTS or name == STEP_INDEX.name
        return name in self.spoken or self.definition(name) is not None

    @cached_property
    def spoken(self) -> frozenset[str]:
        """Every name that occurs in a definition, dotted ones included."""
        return frozenset(self.definitions).union(*(names(tree) for tree in self.definitions.values()))

    @cached_property
    def _symbols(self) -> dict[str, Symbol]:
        return {}

    def latex(self, name: str) -> str:
        """How formulas spell a name."""
        return self.symbol(name).latex

    def dimension(self, name: str) -> Dimension:
        return PLAIN if name == STEP_INDEX.name else self.symbol(name).dimension

    def definition(self, name: str) -> Tree | None:
        """The formula of a quantity, or of the part of it that one operator makes, or None where the name is an input."""
        found = self.definitions.get(name)
        return found if found is not None or "." not in name else self._part(*name.split(".", 1))

    def parts(self, step: str) -> tuple[str, ...]:
        """The operators by which the work, the traffic and the times of a step can be told apart.

        >>> theory().parts("decode")
        ('linear', 'qkv', 'attention', 'attention_out', 'gate_up', 'down', 'lm_head')
        """
        operators = self.operators.get(step, ())
        labels = (label for operator in operators for label in (operator.name, self.label(step, operator)))
        return tuple(dict.fromkeys((*((LINEAR,) if operators else ()), *labels)))

    def label(self, step: str, operator: Operator) -> str:
        """What tells one operator from the others of its step: its name, and its kind of layer where several kinds have it."""
        several = sum(other.name == operator.name for other in self.operators[step]) > 1
        return f"{operator.name}.{operator.layer}" if several else operator.name

    def _part(self, base: str, label: str) -> Tree | None:
        """The share of some operators in a total: ``decode_flops.gate_up``; ``linear`` is everything but attention."""
        step, _, kind = base.partition("_")
        found = [o for o in self.operators.get(step, ()) if label in (o.name, f"{o.name}.{o.layer}") or (label == LINEAR and o.name != ATTENTION)]
        return PARTS[kind](found) if found and kind in PARTS else None

    def depends(self, name: str, on: str) -> bool:
        """Whether a quantity moves with a name, through any number of definitions."""
        return on in self.ancestry(name)

    def ancestry(self, name: str) -> frozenset[str]:
        """A name and every name its definition leads to."""
        if name not in self._ancestry:
            self._ancestry[name] = self._collect(name)
        return self._ancestry[name]

    @cached_property
    def _ancestry(self) -> dict[str, frozenset[str]]:
        return {}

    def _collect(self, name: str) -> frozenset[str]:
        found = {name}
        definition = self.definition(name)
        if definition is not None:
            for inner in names(definition):
                found |= self.ancestry(inner)
            for node in walk(definition):
                if isinstance(node, At):
                    found |= {key for key, _ in node.changes}
        return frozenset(found)

    def timed(self, name: str) -> bool:
        """Whether a quantity is a latency, rate or cost of a step: it means nothing where the case does not fit."""
        return any(base_name(inner) in TIMES for inner in self.ancestry(name))

    def expand(self, tree: Tree, given: dict[str, Tree] | None = None) -> Tree:
        """The formula over inputs: definitions put in for names; ``given`` wins over them."""
        stands = given or {}
        return inline(tree, lambda name, _: stands.get(name) or self.definition(name))


def _of_kind(symbol: Symbol, kind: str) -> Symbol:
    """A symbol of one kind of layer: ``H_{kv}`` of the local layers is ``H_{kv, local}``."""
    escaped = kind.replace("_", r"\_")
    spelled, written = symbol.latex, rf"\mathrm{{{escaped}}}"
    indexed = spelled.endswith("}") and "_{" in spelled
    latex = f"{spelled[:-1]}, {written}}}" if indexed else f"{spelled.replace('_', '_{', 1)}, {written}}}" if "_" in spelled else f"{spelled}_{{{written}}}"
    return replace(symbol, name=f"{symbol.name}.{kind}", latex=latex, meaning=f"{symbol.meaning}, {kind}")


@lru_cache(maxsize=256)
def theory(architecture: Architecture = GENERIC, assumptions: Assumptions | None = None) -> Theory:
    """Build, check and cache the theory.

    >>> from symroof.formula.text import text
    >>> text(theory().definition("kv_bytes_per_token"))
    '2*n_layers*n_kv_heads*head_dim*kv_bytes_per_element'

    Raises:
        DimensionError: a declaration whose formula does not have the declared unit.
    """
    chosen = assumptions or assume()
    built = Theory(architecture, chosen)
    placed = cells(architecture, chosen)
    for name, tree in _from_table(built, placed):
        built.definitions[name] = tree
    for quantity in QUANTITIES.values():
        declared = _declared(quantity, built)
        if declared is not None:
            built.definitions[quantity.name] = declared
    for name, tree in built.definitions.items():
        dimension.check(tree, built.dimension(name), built.dimension, name)
    return built


def _declared(quantity: Quantity, built: Theory) -> Tree | None:
    """The formula a declaration gives under the assumptions; the per-operator roofline comes from the table."""
    if quantity.switch:
        written = dict(quantity.variants)[built.assumptions[quantity.switch]]
        return parse(written) if written else _per_operator(quantity.name.partition("_")[0], built)
    return parse(quantity.definition) if quantity.definition else None


def _from_table(built: Theory, placed: tuple[Cell, ...]) -> Iterator[tuple[str, Tree]]:
    """Coefficients, parameters and the totals of each step, from the operator table."""
    yield from _layer_totals(built.architecture)
    yield "params", total(cell for cell in placed if cell.stream == "params")
    yield "active_params", _active(built.architecture, placed)
    groups = _coefficient_groups(placed)
    spoken: dict[tuple[str, str, str | None], str] = {}
    for (stream, per), by_window in groups.items():
        name = COEFFICIENTS[stream, per]
        for window, found in by_window.items():
            spoken[stream, per, window] = own = name if len(by_window) == 1 else f"{name}.{_window_label(found)}"
            yield own, total(found)
        if len(by_window) > 1:
            yield name, build.add(*(Name(spoken[stream, per, window]) for window in by_window))
    for missing in {"score_bytes_per_pair", "attention_flops_per_pair"} - {COEFFICIENTS[key] for key in groups}:
        yield missing, ZERO
    windows = sorted({cell.window for cell in placed if cell.window})
    for step in STEPS:
        yield from _step(step, built, placed, groups, spoken, windows)
    yield "kv_cache_bytes", _resident_cache(groups["kv", "span"], spoken)
    yield "prefill_linear_flops", _linear_flops(spoken)


def _layer_totals(architecture: Architecture) -> Iterator[tuple[str, Tree]]:
    if len(architecture.layers) > 1:
        yield "n_layers", build.add(*(Name(layer.symbol("n_layers")) for layer in architecture.layers))


def _active(architecture: Architecture, placed: tuple[Cell, ...]) -> Tree:
    gathered = [] if architecture.tied_embeddings else [cell for cell in placed if cell.operator == "embedding"]
    return build.sub(Name("params"), total(gathered)) if gathered else Name("params")


def _coefficient_groups(placed: tuple[Cell, ...]) -> dict[tuple[str, str], dict[str | None, list[Cell]]]:
    """Cells by (stream, driver) and then by window: layers with different windows see different pairs and spans."""
    groups: dict[tuple[str, str], dict[str | None, list[Cell]]] = {}
    for cell in placed:
        if cell.stream != "params":
            groups.setdefault((cell.stream, cell.per), {}).setdefault(cell.window, []).append(cell)
    return groups


def _window_label(found: list[Cell]) -> str:
    return found[0].layer or "all"


def _driver_name(step: Step, per: str, window: str | None, windows: list[str]) -> str:
    if window is None:
        return f"{step.name}_{per}"
    kind = window.partition(".")[2]
    return f"{step.name}_{per}.{kind or 'window'}"


def _step(step: Step, built: Theory, placed: tuple[Cell, ...], groups: dict, spoken: dict, windows: list[str]) -> Iterator[tuple[str, Tree]]:  # type: ignore[type-arg]
    """Drivers, FLOPs and bytes of one step, and its operators."""
    used = {(per, window) for (stream, per), by_window in groups.items() for window in by_window if per != "once"} | {("tokens", None), ("logit_rows", None)}
    for per in DRIVERS:
        for window in (None, *windows):
            if (per, window) in used:
                name = _driver_name(step, per, window, windows)
                yield name, driver(step, per, window, built.assumptions)
    terms: dict[str, list[Tree]] = {"flops": [], "bytes": []}
    for (stream, per), by_window in groups.items():
        for window, found in by_window.items():
            if not counted_traffic(found[0], built.assumptions):
                continue
            coefficient: Tree = Name(spoken[stream, per, window])
            term = coefficient if per == "once" else build.mul(coefficient, Name(_driver_name(step, per, window, windows)))
            terms["flops" if stream == "flops" else "bytes"].append(term)
    for total_of, found_terms in terms.items():
        yield f"{step.name}_{total_of}", build.add(ZERO, *found_terms)
    built.operators[step.name] = tuple(_operators(step, built, placed, windows))


def _operators(step: Step, built: Theory, placed: tuple[Cell, ...], windows: list[str]) -> Iterator[Operator]:
    by_operator: dict[tuple[str, str], list[Cell]] = {}
    for cell in placed:
        if counted_traffic(cell, built.assumptions):
            by_operator.setdefault((cell.operator, cell.layer), []).append(cell)
    for (name, layer), found in by_operator.items():
        shared = found[0].count if len({cell.count for cell in found}) == 1 else None
        streams: dict[str, Tree] = {}
        for cell in found:
            amount = cell.amount if cell.per == "once" else build.mul(cell.amount, Name(_driver_name(step, cell.per, cell.window, windows)))
            amount = amount if shared is not None else build.mul(cell.count, amount)
            streams[cell.stream] = build.add(streams.get(cell.stream, ZERO), amount)
        moved = build.add(ZERO, *(tree for stream, tree in streams.items() if stream != "flops"))
        yield Operator(name, layer, shared or build.number(1), streams.get("flops", ZERO), moved, tuple(streams.items()))


def _per_operator(step: str, built: Theory) -> Tree:
    """The roofline taken operator by operator: the sum of each one's larger time."""
    labels = [built.label(step, operator) for operator in built.operators[step]]
    return build.add(ZERO, *(build.call("max", *(Name(f"{step}_{kind}.{label}") for kind in ("compute_time", "memory_time"))) for label in labels))


def _resident_cache(by_window: dict[str | None, list[Cell]], spoken: dict) -> Tree:  # type: ignore[type-arg]
    parts = []
    for window in by_window:
        kept: Tree = Name("context") if window is None else build.call("min", Name("context"), Name(window))
        parts.append(build.mul(Name(spoken["kv", "span", window]), Name("batch"), kept))
    return build.add(*parts)


def _linear_flops(spoken: dict) -> Tree:  # type: ignore[type-arg]
    terms = [build.mul(Name(spoken[key]), Name(f"prefill_{key[1]}")) for key in spoken if key[0] == "flops" and key[1] != "pairs"]
    return build.add(ZERO, *terms)
