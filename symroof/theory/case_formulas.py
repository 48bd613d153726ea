"""What the formula of each name is in a case: the given one, the definition as the case has it, or the default."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any, Self

from sympy import Symbol

from symroof.errors import NoValue, UndefinedValue
from symroof.symbolic.expressions import (
    EACH,
    ONE,
    ZERO,
    DerivativeName,
    Expr,
    at,
    changed_inputs,
    is_condition_or_label,
    is_number,
    names,
    number,
    of_largest,
    substitute,
    symbol,
)
from symroof.symbolic.kernels import chosen_index
from symroof.symbolic.nodes import OfLargest
from symroof.symbolic.reading import parse
from symroof.symbolic.slopes import SLOPE_BY_TERM_COUNT, derivative
from symroof.theory.declarations import DropsCaches, MissingInput, NoClosedForm, default_of
from symroof.theory.devices import total_of
from symroof.theory.layout import FREE, shapes_layout
from symroof.theory.quantities import QUANTITIES, ImplicitDefinition, Quantity
from symroof.theory.symbols import base_name, named
from symroof.theory.theory import Theory, UnknownName

SET_ELSEWHERE = frozenset(["long_step_share", "work_overlap"])
"""Optional inputs that formulas set for what they compare, or evidence sets: where nothing does, no formula speaks of what they bring."""
OPTIONAL = frozenset(
    name
    for quantity in QUANTITIES.values()
    for name in (*dict(quantity.absent), *(quantity.without or ())[:1])
)
"""Inputs that some formula leaves out if they are not set."""


@dataclass
class CaseFormulas(DropsCaches, ABC):
    """Values for a theory, as formulas: ``given`` maps names to formulas, ``numbers`` to floats, or to arrays along scenarios.

    With ``same_layout`` degrees only take values with the layout of this case, so that its formulas hold for all of them.
    """

    theory: Theory
    given: Mapping[str, Expr]
    numbers: Mapping[str, Any] = field(default_factory=dict)
    free: frozenset[str] = frozenset()
    rounded: bool = False
    same_layout: bool = False
    _freed: dict[Any, Self] = field(default_factory=dict, init=False, compare=False, repr=False)

    @abstractmethod
    def evaluate(self, tree: Expr, at: Mapping[str, Any] | None = None) -> Any:
        """The value of any formula over this case's names; ``at`` sets other values in this formula only."""

    # ------------------------------------------------------------------------------------------- layouts

    def layout_number(self, name: str) -> float | str | None:
        """The number of a name for the layout of devices; FREE if it is not a number."""
        if name in self.free:
            return FREE
        value = self.numbers.get(name)
        if value is None:
            tree = self.given[name] if name in self.given else self.default(name)
            if tree is None:
                return None
            return float(tree) if is_number(tree) else FREE
        if not isinstance(value, float) or (shapes_layout(name) and value != int(value)):
            return FREE
        return value

    def can_split_heads(self, tp: float) -> bool:
        """Whether this many devices can divide the key and value heads, or replicate them evenly."""
        heads = [
            float(tree)
            for name, tree in self.given.items()
            if base_name(name) == "n_kv_heads" and is_number(tree)
        ]
        return all(held % tp == 0 or tp % held == 0 for held in heads)

    def without_values(self, names: Collection[str], rounded: bool = False) -> Self:
        """The same case with some names left open: degrees among them shape its formulas, which with ``rounded`` divide whole heads
        only, for arrays with degrees that do not divide them."""
        shaping = self.free.union(filter(shapes_layout, names))
        whole = bool(shaping) and (rounded or self.rounded)
        if (shaping, whole) == (self.free, self.rounded):
            return self
        if (shaping, whole) not in self._freed:
            self._freed[shaping, whole] = replace(self, free=shaping, rounded=whole)
        return self._freed[shaping, whole]

    # ------------------------------------------------------------------------------------------- formulas

    def formula(self, name: str, changed: Collection[str] = (), decided: bool = True) -> Expr:
        """The formula of a name in this case: the given value, its definition, or its default; with ``decided`` off every arm of a declared choice.

        ``changed`` names get their values from elsewhere (an unknown, the inputs of an array function, a quantity at changed
        inputs), so nothing replaces them.
        """
        if name in self.given:
            return self.given[name]
        if isinstance(name, DerivativeName):
            return self._slope_formula(name.quantity, name.by, changed, decided)
        definition, quantity = self._definition(name, changed), self.theory.own.quantity(name)
        if definition is not None:
            whole = base_name(name)
            if whole != name and self._is_replaced(whole, changed):
                return self._part(whole, definition)
            if not quantity:
                return definition
            return self._complete(quantity, definition, changed, decided)
        if quantity and quantity.search and (simpler := self._without(quantity, changed)):
            return parse(simpler)
        default = self.default(name)
        if default is not None:
            return default
        self.theory.symbol(name)
        if why := self.theory.not_closed(name):
            raise NoClosedForm(why)
        raise MissingInput(name, f"no part of this model gives {name}" if quantity else "")

    def _is_replaced(self, name: str, changed: Collection[str]) -> bool:
        """Whether something stands in the place of a name's definition."""
        return name in self.given or name in self.numbers or name in changed

    def _definition(self, name: str, changed: Collection[str]) -> Expr | None:
        """The definition of a name, where a degree that is left open is no longer assumed to be one; of a given total, whose parts are unknown, each
        device has an even share."""
        known = self.theory
        if changed and not self.same_layout:
            known = self.without_values(changed).theory
        definition, whole = known.definition(name), total_of(name)
        if definition is None or whole is None or not self._is_replaced(whole, changed):
            return definition
        even = symbol(whole) / known.layout.devices()
        return definition if whole in names(definition) else even

    def _part(self, whole: str, definition: Expr) -> Expr:
        """The part of one kind of layer in a given total: split like the definitions; in a single pass, all of it."""
        derived = self.theory.definitions.get(whole)
        if derived is None:
            return symbol(whole)
        parts = {
            part: self.theory.definitions[part]
            for part in names(derived)
            if base_name(part) == whole and part in self.theory.definitions
        }
        return symbol(whole) * (definition / substitute(derived, parts))

    def _complete(
        self, quantity: Quantity, definition: Expr, changed: Collection[str], decided: bool
    ) -> Expr:
        """A definition with substitutes for optional inputs that have no value, and of a declared choice the arm that holds."""
        if decided:
            definition = self._decided(quantity, definition, changed)
        if simpler := self._without(quantity, changed):
            return parse(simpler)
        absent = tuple(
            (key, text)
            for key, text in quantity.absent
            if key not in changed and not self.is_set(key)
        )
        return _with_defaults(definition, absent) if quantity.absent else definition

    def _without(self, quantity: Quantity, changed: Collection[str]) -> str:
        """The formula of a quantity for an optional input without a value; empty if that has one."""
        if quantity.without is None:
            return ""
        name, simpler = quantity.without
        return "" if name in changed or self.is_set(name) else simpler

    def _decided(self, quantity: Quantity, definition: Expr, changed: Collection[str]) -> Expr:
        """The active arm of a declared choice, if the deciding names do not vary."""
        if not quantity.chooses or not isinstance(definition, OfLargest):
            return definition
        deciding = (self.dependencies(inner) for key in definition.keys for inner in names(key))
        if changed and any(not led_to.isdisjoint(changed) for led_to in deciding):
            return definition
        try:
            values = [self.evaluate(key) for key in definition.keys]
        except NoValue:
            return definition
        if not all(isinstance(value, float) for value in values):  # of scenarios, or of steps
            return definition
        return definition.values[chosen_index(values)]

    def search(self, name: str, changed: Collection[str] = ()) -> ImplicitDefinition | None:
        """How the value of a name is computed if it has no formula."""
        quantity = self.theory.own.quantity(name)
        if quantity is None or quantity.search is None or name in self.given:
            return None
        return None if self._without(quantity, changed) else quantity.search

    def _slope_formula(self, name: str, by: str, changed: Collection[str], decided: bool) -> Expr:
        """The derivative of a name by another: that of its formula, in the derivatives of the names it mentions.

        By :data:`EACH` it is how far it moves where names move as their own derivatives, which are numbers here, say.
        """
        if (name, by) == (SLOPE_BY_TERM_COUNT.quantity, SLOPE_BY_TERM_COUNT.by):
            raise UndefinedValue("the slope of a sum in the number of its terms")
        varied = frozenset([by])
        if by == EACH:
            varied = frozenset(x.quantity for x in self.numbers if isinstance(x, DerivativeName))
        elif kinds := self.theory.kinds.get(by):
            raise UndefinedValue(
                f"{by} differs between parts of this model: take the derivative by {' or '.join(kinds)}"
            )
        elif not (by in changed or self.varies_alone(by)):
            # its definition does not apply when it varies
            return at(DerivativeName.of(name, by), ((by, symbol(by)),))
        shared = not varied.isdisjoint(self.theory.split)  # parts of it follow a total that varies

        def moves(inner: str) -> bool:
            depends = not varied.isdisjoint(self.dependencies(inner))
            return depends or (shared and not self.is_input(inner))

        if name == by:
            return ONE
        if name in self.numbers or name in changed or not moves(name):
            return ZERO
        search = self.search(name, changed)
        if search is None:
            return derivative(self.formula(name, changed, decided), by, moves)
        return ZERO if search.kind == "largest" else _slope_of_search(name, search, by)

    def varies_alone(self, name: str) -> bool:
        """Whether a name may vary as the case stands: its own formula does not apply then, and no formula may leave it out as not set."""
        if name in self.numbers:
            return True
        if name in self.given or name in OPTIONAL:
            return is_number(self.given.get(name))
        return self.theory.definition(name) is None and self.search(name) is None

    def formula_or_name(
        self, name: str, complete: bool = True, changed: Collection[str] = ()
    ) -> Expr:
        """The formula of a name in this case, or the name itself if it has none.

        With ``complete`` off, a definition is unchanged: optional inputs stay names.
        """
        try:
            definition = self._definition(name, changed)
            slope = isinstance(name, DerivativeName)
            if complete or slope or definition is None or name in self.given:
                return self.formula(name, changed)
            quantity = self.theory.own.quantity(name)
            optional = quantity and {*dict(quantity.absent), *(quantity.without or ())[:1]}
            inner = optional and not SET_ELSEWHERE.isdisjoint(optional)
            return self.formula(name, changed) if inner else definition
        except (UndefinedValue, UnknownName):
            return symbol(name)

    # ------------------------------------------------------------------------------------------- names

    def is_set(self, name: str) -> bool:
        """Whether a name is given or defined, rather than defaulted."""
        return self._is_replaced(name, ()) or self.theory.definition(name) is not None

    def has(self, name: str) -> bool:
        """Whether a name is given, defined or defaulted."""
        return self.is_set(name) or self.default(name) is not None

    def default(self, name: str) -> Expr | None:
        """The default of an input; None if it has none, or the name is not an input."""
        return default_of(name, self.theory.own)

    def is_input(self, name: str) -> bool:
        """Whether a name has a plain value here, rather than a formula."""
        if name in self.given:
            return not isinstance(self.given[name], Symbol)
        declared = self.theory.own.input(base_name(name)) is not None
        return declared and self.theory.definition(name) is None

    def dependencies(self, name: str) -> frozenset[str]:
        """A name and every name that its value may depend on here, through definitions and given formulas.

        Names that follow a total may have another definition: a formula given for a total always counts.
        """
        if not self._formulas:
            return self.theory.dependencies(name)
        if name not in self._dependencies_of:
            reached, unused = self.theory.dependencies(name), {*self._formulas}
            while leading := unused & (reached | self.theory.split):
                further = (self.theory.reachable_names(self._formulas[each]) for each in leading)
                reached, unused = reached.union(*further), unused - leading
            self._dependencies_of[name] = reached
        return self._dependencies_of[name]

    def moves(self, name: str, keys: frozenset[str]) -> bool:
        """Whether a name depends on one of the changed ones, which have values from elsewhere, by the formulas of this case."""
        if (name, keys) not in self._moved:
            reached, left = {name}, [name]
            while left and keys.isdisjoint(reached):
                new = set(self._mentioned(left.pop(), keys)) - reached
                reached.update(new)
                left += new
            self._moved[name, keys] = not keys.isdisjoint(reached)
        return self._moved[name, keys]

    def _mentioned(self, name: str, given: frozenset[str]) -> tuple[str, ...]:
        """The names that the value of a name directly depends on, where some have values from elsewhere."""
        if (name, given) not in self._direct:
            quantity, search = self.theory.own.quantity(name), self.search(name, given)
            found: tuple[str, ...] = quantity.required_names if quantity else ()
            if search:
                found += search.required_names
            else:
                with suppress(NoValue):
                    formula = self.formula(name, given)
                    found += (
                        *names(formula),
                        *(key for key in changed_inputs(formula) if key in given),
                    )
            self._direct[name, given] = found
        return self._direct[name, given]

    @cached_property
    def _moved(self) -> dict[tuple[str, frozenset[str]], bool]:
        return {}

    @cached_property
    def _direct(self) -> dict[tuple[str, frozenset[str]], tuple[str, ...]]:
        return {}

    @cached_property
    def _formulas(self) -> Mapping[str, Expr]:
        """The given values that are formulas."""
        return {name: tree for name, tree in self.given.items() if not is_number(tree)}

    @cached_property
    def _dependencies_of(self) -> dict[str, frozenset[str]]:
        return {}

    def first_non_number(self, tree: Expr) -> str | None:
        """The first name of a formula that is a condition or a label, which formulas cannot calculate with."""
        kinds = ((name, self.formula_or_name(name, complete=False)) for name in sorted(names(tree)))
        return next((name for name, formula in kinds if is_condition_or_label(formula)), None)

    def reachable_names(self, *quantities: str) -> tuple[str, ...]:
        """The names and all names that their formulas lead to, in order of use."""
        seen: dict[str, None] = {}

        def visit(current: str) -> None:
            if current in seen:
                return
            seen[current] = None
            search = self.search(current)
            for inner in search.required_names if search else names(self.formula_or_name(current)):
                visit(inner)

        for name in quantities:
            visit(name)
        return tuple(seen)

    def inputs_used(self, *quantities: str) -> tuple[str, ...]:
        """The inputs that values were computed from, in order of use."""
        return tuple(inner for inner in self.reachable_names(*quantities) if self.is_input(inner))


def _slope_of_search(name: str, search: ImplicitDefinition, by: str) -> Expr:
    """The derivative of a fixed point ``x = body(x, by)``: body's by ``by`` over 1 minus body's by ``x``; at the upper end, that of the end."""
    body, high = named(parse(search.body)), named(parse(search.high))
    there, within = ((search.unknown, symbol(name)),), ZERO
    if by != search.unknown:
        moved, own = (DerivativeName.of(body, each) for each in (by, search.unknown))
        still = ((DerivativeName.of(search.unknown, EACH), ZERO),) if by == EACH else ()
        within = at(moved, there + still) / (ONE - at(own, there))
    return of_largest(symbol(name), symbol(DerivativeName.of(high, by)), symbol(high), within)


@lru_cache(maxsize=4096)
def _with_defaults(definition: Expr, stand_ins: tuple[tuple[str, str], ...]) -> Expr:
    """A definition with numbers substituted for some names."""
    return substitute(definition, {key: number(text) for key, text in stand_ins})
