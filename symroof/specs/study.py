"""Study and preset specs: what a design review is about, and named sets of switches and values."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from symroof.errors import nearest
from symroof.formula import dimension
from symroof.formula.parse import FormulaError
from symroof.formula.tree import Num, Tree, names
from symroof.specs.engines import engine_class
from symroof.specs.fields import NAME, Faults, Source, Span, Spec, in_unit, parse_span
from symroof.specs.stored import precision_name, precision_width
from symroof.theory.quantities import QUANTITIES
from symroof.theory.spellings import read_formula, resolved
from symroof.theory.switches import expand_detail
from symroof.theory.symbols import ALIASES, GROUPS, INPUTS, SHARES, STEP_INDEX, TARGET_SYMBOLS, Symbol, base_name, canonical
from symroof.theory.sympy_input import is_sympy, read_expression
from symroof.units import strict

Setting = Tree | Span
"""A value for a name: a number or formula as a tree, or a range."""

MOST_VALUES = 64


def symbol_of(name: str) -> Symbol:
    """The declaration behind a name people write.

    Raises:
        ValueError: unknown, with the nearest name.
    """
    full = canonical(name)
    symbol = QUANTITIES.get(full) or INPUTS.get(full) or INPUTS.get(base_name(full)) or QUANTITIES.get(base_name(full))
    if symbol is None:
        hint = nearest(name, [*INPUTS, *ALIASES, *QUANTITIES])
        raise ValueError(f"unknown name {name[:40]!r}" + (f"; {hint}" if hint.startswith("did") else ""))
    return symbol


def is_width(symbol: Symbol) -> bool:
    """Whether a symbol is the bytes of a parameter or an element, which people give as a bare number: 2, 1, 0.5."""
    return symbol.unit == "byte/parameter" or symbol.name.endswith("_bytes_per_element")


def needs_unit(symbol: Symbol) -> bool:
    """Whether a bare number has no one unit: everything but counts, shares and widths."""
    return bool(strict(symbol.dimension)) and not is_width(symbol)


def setting(name: str, value: object, formulas: bool = True, bare: bool = False) -> Setting:
    """One value for a name: a number, a quantity with a unit, a range ``a..b``, or a formula over other names.

    A bare number is taken for counts, shares and widths; with ``bare`` a number that is no text is taken for anything, as Python's
    numbers are, in base units.

    Raises:
        ValueError: unknown name, wrong dimension, unreadable formula.
    """
    symbol = symbol_of(name)
    if isinstance(value, str) and ".." in value:
        span = parse_span(value, symbol.unit, symbol.written_in, not needs_unit(symbol))
        return Num(span.low, symbol.dimension) if span.low == span.high else _in_domain(symbol, span)
    if is_sympy(value):
        tree = read_expression(value, symbol.name)
        if not isinstance(tree, Num):
            return _checked(symbol, tree)
        value = tree.value
    try:
        read = in_unit(value, symbol.unit, symbol.written_in, not needs_unit(symbol) or (bare and not isinstance(value, str)))
    except ValueError as error:
        if not (formulas and isinstance(value, str)) or "is needed" in str(error) or PLAIN_QUANTITY.match(value):
            raise
        return _formula(symbol, value, error)
    return _in_domain(symbol, Num(read.value, symbol.dimension))


def _in_domain(symbol: Symbol, value: Setting) -> Setting:
    low, high = (value.low, value.high) if isinstance(value, Span) else (value.value, value.value)  # type: ignore[union-attr]
    if low < 0 or (low == 0 and symbol.name not in ZERO_ALLOWED):
        raise ValueError(f"must be {'0 or more' if symbol.name in ZERO_ALLOWED else 'positive'}")
    if symbol.name in SHARES and high > 1:
        raise ValueError("is a share: it lies between 0 and 1 (or write 62 %)")
    if symbol.counted and symbol.name in INPUTS and (low.denominator != 1 or high.denominator != 1):
        raise ValueError(f"counts {symbol.unit or 'thing'}s: write a whole number")
    return value


PLAIN_QUANTITY = re.compile(r"\s*[-+]?[\d.](?![^A-Za-z]*\w+\s+[A-Za-z])(?:[^*^()/\\{$]|/(?!\s*[\d.]))*$")
"""A text that begins with a number and multiplies nothing, neither by a sign nor by letters side by side: a quantity, never a formula."""

ZERO_ALLOWED = frozenset(s.name for s in INPUTS.values() if s.may_vanish) | frozenset(QUANTITIES)


def _formula(symbol: Symbol, text: str, reading: ValueError) -> Tree:
    """A formula for a quantity, of the quantity's dimension."""
    try:
        tree = resolved(read_formula(text))
    except FormulaError as error:
        raise (
            ValueError(f"{reading}")
            if " " in text.strip() and not re.search(r"[\\{$]", text)
            else ValueError(f"cannot be read as a quantity or a formula: {error}")
        ) from None
    return _checked(symbol, tree)


def _checked(symbol: Symbol, tree: Tree) -> Tree:
    """A formula over known names, of the quantity's dimension."""
    for name in names(tree):
        symbol_of(name)
    try:
        dimension.check(tree, symbol.dimension, lambda name: () if name == STEP_INDEX.name else symbol_of(name).dimension, symbol.name)
    except dimension.DimensionError as error:
        raise ValueError(str(error)) from None
    return tree


def settings(name: str, value: object, formulas: bool = True, bare: bool = False) -> tuple[Setting, ...]:
    """One value or a list of values."""
    values = value if isinstance(value, (list, tuple)) else [value]
    if not values or len(values) > MOST_VALUES:
        raise ValueError(f"a list has 1 to {MOST_VALUES} values")
    read: list[Setting] = []
    faults: list[tuple[tuple[str | int, ...], str]] = []
    for i, item in enumerate(values):
        try:
            read.append(setting(name, item, formulas, bare))
        except ValueError as error:
            faults.append(((i,) if isinstance(value, (list, tuple)) else (), str(error)))
    if faults:
        raise Faults(faults)
    return tuple(read)


def _mapped(value: object, known: list[str] | None, formulas: bool) -> dict[str, tuple[Setting, ...]]:
    """Names to values, all faults at once; ``known`` limits the names."""
    if not isinstance(value, dict):
        raise ValueError("expected keys and values")
    mapped: dict[str, tuple[Setting, ...]] = {}
    faults: list[tuple[tuple[str | int, ...], str]] = []
    for key, item in value.items():
        name = canonical(key)
        if known is not None and name not in known:
            faults.append(((key,), f"unknown key; {nearest(key, known)}"))
            continue
        try:
            mapped[name] = settings(key, item, formulas)
        except Faults as error:
            faults += [((key, *place), message) for place, message in error.items]
        except ValueError as error:
            faults.append(((key,), str(error)))
    if faults:
        raise Faults(faults)
    return mapped


def _group(*groups: str, extra: tuple[str, ...] = ()) -> Any:
    """A field that maps names of some groups of inputs to values."""
    known = [symbol.name for group in groups for symbol in GROUPS[group]] + list(extra)

    def check(value: object) -> dict[str, tuple[Setting, ...]]:
        return _mapped(value, known, formulas=False)

    properties = {name: {"description": INPUTS[name].meaning if name in INPUTS else QUANTITIES[name].meaning} for name in known}
    return Annotated[Any, BeforeValidator(check), WithJsonSchema({"type": "object", "properties": properties, "additionalProperties": False})]


def _any_names(value: object) -> dict[str, tuple[Setting, ...]]:
    return _mapped(value, None, formulas=True)


def read_assumptions(value: object) -> dict[str, str]:
    """Switches and values as written, ``detail`` expanded.

    Raises:
        ValueError: an unknown switch or value, each with its hint.
    """
    if not isinstance(value, dict):
        raise ValueError("expected switches and values")
    choices = {str(key): str(item).lower() if isinstance(item, bool) else str(item) for key, item in value.items()}
    faults: list[tuple[tuple[str | int, ...], str]] = []
    for key, item in choices.items():
        try:
            expand_detail({key: item})
        except KeyError as error:
            what, unknown, known = error.args
            faults.append(((key,), f"unknown {what} {unknown!r}; {nearest(unknown, known)}"))
    if faults:
        raise Faults(faults)
    return expand_detail(choices)  # here, so that a level's detail beats single switches of the levels below


def precision_names(value: object) -> tuple[str, ...]:
    """One precision or a list of them; ``weights`` means the same as the weights.

    Raises:
        ValueError: no such precision.
    """
    values = value if isinstance(value, (list, tuple)) else [value]
    texts = tuple(precision_name(str(item)) for item in values)
    for text in texts:
        if text != "weights":
            precision_width(text)
    return texts


def _strings(value: object) -> tuple[str, ...]:
    values = value if isinstance(value, (list, tuple)) else [value]
    if not values or len(values) > MOST_VALUES or not all(isinstance(item, str) and item for item in values):
        raise ValueError("expected a name, a path, or a list of them")
    return tuple(values)


BASES = ("peak", "measured")
"""Where efficiencies that are not given come from: the peak (all shares 1, no overhead), or the measurements of others."""


class EfficiencyBlock(dict[str, tuple[Setting, ...]]):
    """Efficiencies by name, and where the others come from: ``basis`` and the class of ``engine``, empty where the study says nothing."""

    basis: str = ""
    engine: str = ""


def efficiency_basis(value: object) -> str:
    """``peak`` or ``measured``.

    Raises:
        ValueError: neither.
    """
    if value not in BASES:
        raise ValueError(f"must be one of {', '.join(BASES)}; {nearest(str(value)[:40], BASES)}")
    return str(value)


def _efficiencies(value: object) -> EfficiencyBlock:
    """``measured``, or ``{from: measured, engine: eager, mbu: 0.8}``, or numbers alone."""
    rest: Any = {"from": value} if isinstance(value, str) else dict(value) if isinstance(value, dict) else value
    basis, engine = "", ""
    faults: list[tuple[tuple[str | int, ...], str]] = []
    if isinstance(rest, dict):
        for key, read in (("from", efficiency_basis), ("engine", lambda name: engine_class(str(name)))):
            if key in rest:
                try:
                    text = read(rest.pop(key))
                    basis, engine = (text, engine) if key == "from" else (basis, text)
                except ValueError as error:
                    faults.append((() if isinstance(value, str) else (key,), str(error)))
    if faults:
        raise Faults(faults)
    block = EfficiencyBlock(_mapped(rest, [symbol.name for symbol in GROUPS["efficiency"]], formulas=False))
    block.basis, block.engine = basis, engine
    return block


Efficiencies = Annotated[
    Any,
    BeforeValidator(_efficiencies),
    WithJsonSchema({
        "anyOf": [
            {"enum": list(BASES)},
            {
                "type": "object",
                "properties": {
                    "from": {"enum": list(BASES), "description": "where efficiencies that are not given come from"},
                    "engine": {"type": "string", "description": "an engine or its class: compiled, eager, ggml"},
                    **{symbol.name: {"description": symbol.meaning} for symbol in GROUPS["efficiency"]},
                },
                "additionalProperties": False,
            },
        ]
    }),
]  # fmt: skip
NameList = Annotated[Any, BeforeValidator(_strings), WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]})]
Precisions = Annotated[Any, BeforeValidator(precision_names), WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]})]
Settings = Annotated[Any, BeforeValidator(_any_names), WithJsonSchema({"type": "object"})]
Assume = Annotated[Any, BeforeValidator(read_assumptions), WithJsonSchema({"type": "object", "additionalProperties": {"type": "string"}})]
if TYPE_CHECKING:
    Workload: TypeAlias = dict[str, tuple[Setting, ...]]
    Efficiency: TypeAlias = EfficiencyBlock
    Parallel: TypeAlias = dict[str, tuple[Setting, ...]]
else:
    Workload, Efficiency, Parallel = _group("workload", extra=("context",)), Efficiencies, _group("parallel")


class Precision(Spec):
    """Three independent precisions; ``weights`` in the other two means: the same as the weights."""

    weights: Precisions | None = None
    kv: Precisions | None = None
    activations: Precisions | None = None


def _limit(target: str, example: str) -> Any:
    """A field that holds the limit of one target."""
    symbol = INPUTS[TARGET_SYMBOLS[target]]

    def check(value: object) -> Num:
        return Num(in_unit(value, symbol.unit, symbol.written_in).value, symbol.dimension)

    return Annotated[Any, BeforeValidator(check), WithJsonSchema({"type": "string", "description": symbol.meaning, "examples": [example]})]


class Targets(Spec):
    """Limits on what is served, each on one metric.

    ``ttft`` and ``itl`` are times, ``itl`` of the last step; ``cost`` is the price of a million output tokens, ``price`` that
    of the devices that hold one copy of the model. Memory is always a limit.
    """

    ttft: _limit("ttft", "200 ms") | None = None  # type: ignore[valid-type]
    itl: _limit("itl", "50 ms") | None = None  # type: ignore[valid-type]
    cost: _limit("cost", "2 USD") | None = None  # type: ignore[valid-type]
    price: _limit("price", "20 USD/hour") | None = None  # type: ignore[valid-type]


class StudySpec(Spec):
    """One design review: a model, hardware (the first is the baseline), a workload, targets."""

    title: str | None = None
    model: NameList
    draft: str | None = None
    assume_family: str | None = None
    hardware: NameList
    parallel: Parallel = {}
    precision: Precision = Precision.model_construct()
    workload: Workload
    efficiency: Efficiency = EfficiencyBlock()
    assume: Assume = {}
    preset: str | None = None
    targets: Targets = Targets.model_construct()
    set: Settings = {}
    thresholds: Literal["all"] | tuple[str, ...] = ()
    claims: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _prompt(self) -> StudySpec:
        if "prompt" not in self.workload and "context" not in self.workload:
            raise Faults([(("workload",), "needs prompt (and output for a whole response)")])
        return self


class PresetSpec(Spec):
    """A named set of switches and values with a source; ``hardware`` and ``models`` hold what applies to one entry only."""

    name: Annotated[str, Field(pattern=NAME)]
    title: str
    source: Source
    assume: Assume = {}
    precision: Precision = Precision.model_construct()
    set: Settings = {}
    hardware: dict[str, Settings] = {}
    models: dict[str, Settings] = {}
    peaks: dict[str, dict[str, Annotated[Any, BeforeValidator(lambda v: in_unit(v, "FLOP/s")), WithJsonSchema({"type": "string"})]]] = {}
    notes: tuple[str, ...] = ()
