"""The theory of one architecture under one set of assumptions: the checked definition of every quantity.

No numbers of models or devices occur here. :func:`theory` is cached, so a report, a solver and a sweep share one.
"""

from __future__ import annotations

from collections import UserDict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache, partial
from typing import Any

import sympy

from symroof.symbolic import dimensions
from symroof.symbolic.expressions import (
    ZERO,
    DerivativeName,
    Expr,
    changed_inputs,
    inline,
    names,
    substitute,
    symbol,
)
from symroof.symbolic.nodes import Max
from symroof.symbolic.printing import latex
from symroof.symbolic.reading import parse
from symroof.theory.architecture import CORE, GENERIC, Architecture
from symroof.theory.declarations import NONE, Declarations
from symroof.theory.devices import WHOLE, Devices, total_of
from symroof.theory.layout import SINGLE, Layout
from symroof.theory.operator_table import LINEAR, PARTS, Operator
from symroof.theory.quantities import QUANTITIES, Quantity
from symroof.theory.stages import NOT_CLOSED, Pipeline
from symroof.theory.steps import STEPS
from symroof.theory.switches import Assumptions, assume
from symroof.theory.symbols import (
    INPUTS,
    STEP_INDEX,
    ExpressionName,
    Symbol,
    base_name,
    default_latex,
    of_kind,
    slope_symbol,
)
from symroof.theory.theory_files import cited, table
from symroof.theory.totals import totals
from symroof.units import PLAIN, Dimension, describe

TIME_PARTS = (
    "compute_time",
    "memory_time",
    "roofline_time",
    "link_time",
    "exchange_time",
    "busy_time",
    "overhead",
)
"""What a step's time is made of."""
TIMES = frozenset(f"{step.name}_{part}" for step in STEPS for part in TIME_PARTS)
"""Parts of a step's time: a quantity that depends on one is a latency, a rate or a cost."""


CACHE_NAMES = (
    "kv_bytes_per_token",
    "kv_cache_bytes",
    "kv_cache_bytes_per_device",
    "peak_kv_cache_bytes",
)
VANISHING = ("state_bytes", "expert_layers")
"""Quantities that formulas leave out if an architecture has none of them."""


class UnknownName(LookupError):
    """A name that is neither an input nor a quantity."""


class Definitions(UserDict[str, Any]):
    """Formulas by name; that of a declaration is a function until it is first asked for, as a case asks for few."""

    @property
    def of_table(self) -> list[Expr]:
        """The formulas that need no reading."""
        return [tree for tree in self.data.values() if isinstance(tree, sympy.Basic)]

    def __getitem__(self, name: str) -> Expr:
        found = self.data[name]
        if not isinstance(found, sympy.Basic):
            found = self.data[name] = found()
        return found


@dataclass(frozen=True)
class Theory:
    """Definitions of every quantity for an architecture and a set of assumptions."""

    architecture: Architecture
    assumptions: Assumptions
    layout: Layout = SINGLE
    definitions: Definitions = field(default_factory=Definitions)
    operators: dict[str, tuple[Operator, ...]] = field(default_factory=dict)
    without_formula: frozenset[str] = frozenset()
    own: Declarations = NONE

    def __reduce__(self) -> tuple[Any, ...]:
        return theory, (self.architecture, self.assumptions, self.layout, self.own)

    def symbol(self, name: str) -> Symbol:
        """The declaration of an input or quantity; the LaTeX of a dotted name includes its kind of layer.

        Raises:
            UnknownName: it is not declared.
        """
        if name not in self._symbols:
            if isinstance(name, ExpressionName):
                return self._unnamed(name)
            if isinstance(name, DerivativeName):
                return slope_symbol(name, self.symbol(name.quantity), self.symbol(name.by))
            base, _, kind = name.partition(".")
            symbol = self.own.symbol(base)
            if not symbol:
                raise UnknownName(name)
            self._symbols[name] = of_kind(symbol, kind) if kind else symbol
        return self._symbols[name]

    def reference(self, name: str) -> str:
        """Where the formula of a name can be looked up: that of a cache where its kinds of attention are defined."""
        declared = self.own.quantity(name)
        if base_name(name) in CACHE_NAMES:
            kinds = dict.fromkeys(
                source
                for layer in self.architecture.layers
                for part, source in table("blocks")["cache_sources"].items()
                if part in {*layer.mixers, *layer.traits}
            )
            return "; ".join(map(cited, kinds)) or (declared.reference if declared else "")
        return declared.reference if declared else ""

    def _unnamed(self, formula: ExpressionName) -> Symbol:
        unit = dimensions.dimension(formula.tree, self.dimension, bare=True)
        return Symbol(
            formula,
            latex(formula.tree, self.latex),
            describe(unit) if unit else "",
            "an expression",
        )

    def knows(self, name: str) -> bool:
        """Whether a name is an input or a quantity here; a dotted one must have an existing layer kind or operator."""
        if isinstance(name, ExpressionName):
            return all(map(self.knows, names(name.tree)))
        if isinstance(name, DerivativeName):
            return self.knows(name.quantity) and self.knows(name.by)
        if "." not in name:
            return self.own.symbol(name) is not None
        return name in self.mentioned_names or self.definition(name) is not None

    @cached_property
    def mentioned_names(self) -> frozenset[str]:
        """Every name that has a definition, and those in the formulas of the operator table: declarations mention no dotted ones."""
        return frozenset(self.definitions).union(*map(names, self.definitions.of_table))

    @cached_property
    def kinds(self) -> dict[str, list[str]]:
        """The names by kind of layer of inputs in which the kinds differ: ``n_layers.local`` and ``n_layers.global`` for ``n_layers``."""
        found: dict[str, list[str]] = {}
        for name in sorted(self.mentioned_names):
            if base_name(name) != name and base_name(name) in INPUTS:
                found.setdefault(base_name(name), []).append(name)
        return found

    @cached_property
    def _symbols(self) -> dict[str, Symbol]:
        return {}

    def latex(self, name: str) -> str:
        """The LaTeX of a name; an undeclared name, such as the index of a sum, gets a default."""
        try:
            return self.symbol(name).latex
        except UnknownName:
            return default_latex(name)

    def dimension(self, name: str) -> Dimension:
        return PLAIN if name == STEP_INDEX.name else self.symbol(name).dimension

    def is_share(self, name: str) -> bool:
        """Whether a name is a plain ratio: a number without unit that is not a count."""
        return (
            name != STEP_INDEX.name
            and not isinstance(name, DerivativeName)
            and not self.symbol(name).unit
            and not self.symbol(name).counted
        )

    def definition(self, name: str) -> Expr | None:
        """The formula of a quantity, or of one operator's part of it; None if the name is an input. That of a derivative is its name: cases have it."""
        if isinstance(name, ExpressionName):
            return name.tree
        if isinstance(name, DerivativeName):
            return None if self.definition(name.quantity) is None else symbol(name)
        definition = self.definitions.get(name)
        if definition is not None or "." not in name:
            return definition
        base, label = name.split(".", 1)
        step, _, kind = base.partition("_")
        selected = self._labelled.get((step, label))
        return PARTS[kind](selected) if selected and kind in PARTS else None

    def parts(self, step: str) -> tuple[str, ...]:
        """The operators by which the work, the traffic and the times of a step can be split.

        >>> theory().parts("decode")
        ('linear', 'qkv', 'attention', 'attention_out', 'gate_up', 'down', 'lm_head')
        """
        operators = self.operators.get(step, ())
        labels = (
            label for operator in operators for label in (operator.name, self.label(step, operator))
        )
        return tuple(dict.fromkeys((*((LINEAR,) if operators else ()), *labels)))

    def label(self, step: str, operator: Operator) -> str:
        """The label of an operator of a step: its name, with the kind of layer if several kinds have it."""
        kinds = sum(other.name == operator.name for other in self.operators[step])
        return f"{operator.name}.{operator.layer}" if kinds > 1 else operator.name

    @cached_property
    def _labelled(self) -> dict[tuple[str, str], list[Operator]]:
        """The operators of a step by each label that selects them; ``linear`` is all but attention."""
        labelled: dict[tuple[str, str], list[Operator]] = {}
        for step, operators in self.operators.items():
            for operator in operators:
                for label in {
                    operator.name,
                    f"{operator.name}.{operator.layer}",
                    *((LINEAR,) if operator.name != CORE else ()),
                }:
                    labelled.setdefault((step, label), []).append(operator)
        return labelled

    def not_closed(self, name: str) -> str:
        """Why a quantity has no formula under these assumptions; empty if it has one, or is an input."""
        if name in self.without_formula:
            return NOT_CLOSED
        quantity = self.own.quantity(name)
        switch = quantity.switch if quantity and name not in self.definitions else None
        return f"no closed form under {switch}={self.assumptions[switch]}" if switch else ""

    def depends(self, name: str, on: str) -> bool:
        """Whether a quantity depends on a name, directly or indirectly."""
        return on in self.dependencies(name)

    def dependencies(self, name: str) -> frozenset[str]:
        """A name and all names that its value depends on: by its definition or search, and by the conditions under which it has one."""
        if name in self._dependencies:
            return self._dependencies[name]
        if isinstance(name, DerivativeName):  # its definition is only made when needed
            found = self.dependencies(name.quantity) | {name.by}
        else:
            quantity, definition = self.own.quantity(name), self.definition(name)
            formulas = [*map(parse, quantity.written)] if quantity else []
            formulas += [] if definition is None else [definition]
            found = frozenset().union(*map(self.reachable_names, formulas))
        self._dependencies[name] = found | {name}
        return self._dependencies[name]

    @cached_property
    def _dependencies(self) -> dict[str, frozenset[str]]:
        return {}

    def reachable_names(self, tree: Expr) -> frozenset[str]:
        """All names that a formula depends on."""
        return frozenset(changed_inputs(tree)).union(*map(self.dependencies, names(tree)))

    def timed(self, name: str) -> bool:
        """Whether a quantity is a latency, rate or cost of serving, which is meaningless if the case does not fit."""
        declared = self.own.quantity(base_name(name))
        serves = (
            declared is not None
            and declared.group != "device"
            and any(unit == "s" for unit, _ in declared.dimension)
        )
        if name in self.own:  # a user-defined time is one of serving if it uses built-in names
            serves = serves and any(inner not in self.own for inner in self.dependencies(name))
        return serves or any(base_name(inner) in TIMES for inner in self.dependencies(name))

    def expand(
        self, tree: Expr, given: Mapping[str, Expr] | None = None, stops: Collection[str] = ()
    ) -> Expr:
        """The formula over inputs: definitions are inlined, unless ``given`` has another formula or the name is a stop. At changed
        inputs that it depends on, such as a step at its own context, a stop differs from its name and is inlined too."""

        def formula(name: str, changed: frozenset[str]) -> Expr | None:
            if name in stops and changed.isdisjoint(self.dependencies(name)):
                return symbol(name)
            return given[name] if given and name in given else self.definition(name)

        return inline(tree, formula)

    @cached_property
    def split(self) -> frozenset[str]:
        """Totals whose parts (of kinds of layer, of devices) have definitions; if a case sets the total, the parts follow it."""
        wholes = (base_name(name) if "." in name else total_of(name) for name in self.definitions)
        return frozenset(filter(None, wholes))


@lru_cache(maxsize=256)
def theory(
    architecture: Architecture = GENERIC,
    assumptions: Assumptions | None = None,
    layout: Layout = SINGLE,
    own: Declarations = NONE,
) -> Theory:
    """The theory, built and checked once; defaulted and chosen switches are equivalent. ``own`` are user-defined names.

    >>> from symroof.symbolic.printing import text
    >>> text(theory().definition("kv_bytes_per_token"))
    '2*n_layers*n_kv_heads*head_dim*kv_bytes_per_element'
    """
    built = _theory(architecture, Assumptions((assumptions or assume()).values), layout)
    if not own:
        return built
    chosen = {
        quantity.name: partial(_declared, quantity, built)
        for quantity in own.quantities
        if _is_declared(quantity, built.assumptions)
    }
    return replace(built, definitions=built.definitions | own.definitions | chosen, own=own)


@lru_cache(maxsize=256)
def _theory(architecture: Architecture, chosen: Assumptions, layout: Layout) -> Theory:
    # how prompts are scheduled, and that there are replicas, is nothing that the work of a step depends on
    alone = chosen.replaced(scheduling=assume()["scheduling"])
    work = _work(architecture, Assumptions(alone.values), replace(layout, dp=False))
    built, made = replace(work, assumptions=chosen, layout=layout), work.definitions
    absent = {name: ZERO for name in VANISHING if made[name] == ZERO} | layout.absent()
    if layout.single:
        absent |= WHOLE
    if not layout.staged:  # one pass is the whole step
        absent |= {f"{step.name}_busy_time": made[f"{step.name}_busy_time"] for step in STEPS}
    declared = {
        quantity.name: partial(_declared, quantity, built, absent)
        for quantity in QUANTITIES.values()
        if quantity.name not in made
        and quantity.name not in built.without_formula
        and _is_declared(quantity, chosen)
    }
    return replace(built, definitions=built.definitions | declared)


@lru_cache(maxsize=256)
def _work(architecture: Architecture, chosen: Assumptions, layout: Layout) -> Theory:
    """What the operators of the steps do, of which all else is declared."""
    table = totals(architecture, chosen, layout)
    on = Pipeline(table, layout) if layout.staged else Devices(table, layout)
    made = Definitions(dict(table.definitions()) | dict(on.definitions()))
    operators = {step.name: tuple(on.operators(step)) for step in STEPS}
    return Theory(architecture, chosen, layout, made, operators, on.without_formula)


def _is_declared(quantity: Quantity, assumptions: Assumptions) -> bool:
    """Whether a declaration has a formula under the assumptions."""
    if quantity.switch:
        return assumptions[quantity.switch] in dict(quantity.variants)
    return bool(quantity.definition)


def _declared(quantity: Quantity, built: Theory, absent: Mapping[str, Expr] = {}) -> Expr:
    """The formula of a declaration, in which names that the layout leaves out are ``absent``; the per-operator roofline comes from the table."""
    written = quantity.definition or ""
    if quantity.switch:
        written = dict(quantity.variants)[built.assumptions[quantity.switch]]
    read = parse(written) if written else _per_operator(quantity.name.partition("_")[0], built)
    return substitute(read, {name: tree for name, tree in absent.items() if name != quantity.name})


def _per_operator(step: str, built: Theory) -> Expr:
    """The per-operator roofline: the sum of each operator's larger time."""
    labels = [built.label(step, operator) for operator in built.operators[step]]
    return sympy.Add(
        *(
            Max(*(symbol(f"{step}_{kind}.{label}") for kind in ("compute_time", "memory_time")))
            for label in labels
        )
    )
