"""A case: a theory with values. Any quantity may be set; the value replaces its definition in all dependent quantities."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import InitVar, dataclass, field, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
from sympy import Symbol

from symroof.symbolic.evaluation import NoValue, UndefinedValue, chosen_index, evaluate
from symroof.symbolic.expressions import (
    ONE,
    ZERO,
    DerivativeName,
    Expr,
    OfLargest,
    at,
    fraction,
    inline,
    inlined_size,
    is_condition_or_label,
    is_number,
    mentions,
    names,
    number,
    of_largest,
    substitute,
    symbol,
)
from symroof.symbolic.kernels import plain
from symroof.symbolic.reading import parse
from symroof.symbolic.searches import fixed_points, largest_whole
from symroof.symbolic.slopes import SLOPE_BY_TERM_COUNT, derivative
from symroof.symbolic.step_polynomials import NotPolynomial, Steps
from symroof.theory.declarations import DropsCaches, MissingInput, NoClosedForm, default_of
from symroof.theory.devices import total_of
from symroof.theory.layout import FREE, affects_layout, layout, shapes_layout
from symroof.theory.quantities import QUANTITIES
from symroof.theory.quantity import ImplicitDefinition, Quantity
from symroof.theory.symbols import ExpressionName, base_name
from symroof.theory.theory import Theory, UnknownName, theory

MOST_CHANGES = 12
"""The depth of values at changed inputs within values at changed inputs; declared quantities use three."""
MOST_CHILDREN = 64
"""Changed cases that a case caches: those of a curve, but not the thousands of a sum evaluated term by term."""


MOST_NODES = 20_000
"""The largest formula over inputs alone, in names, numbers and operations: longer ones fill books."""
SET_ELSEWHERE = frozenset(["long_step_share", "work_overlap"])
"""Optional inputs that formulas set for what they compare, or evidence sets: where nothing does, no formula speaks of what they bring."""
OPTIONAL = frozenset(
    name
    for quantity in QUANTITIES.values()
    for name in (*dict(quantity.absent), *(quantity.without or ())[:1])
)
"""Inputs that some formula leaves out if they are not set."""


class _Plan(NamedTuple):
    """How the value of a name is computed, independent of the numbers.

    Attributes:
        unmoved: whether the value is that of the case that this one changes.
        exists: conditions for a value, each with the message if it does not hold.
        search: how it is computed if it has no formula.
        formula: its formula; None if that depends on numbers, or is an error.
    """

    unmoved: bool
    exists: tuple[tuple[Expr, str], ...]
    search: ImplicitDefinition | None
    formula: Expr | None


@dataclass
class _Plans:
    """The plans shared by all cases that change the same names of one case, and those of their changed cases, which may take values from it."""

    by_name: dict[str, _Plan] = field(default_factory=dict)
    below: dict[tuple[frozenset[str], bool], _Plans] = field(default_factory=dict)


@dataclass
class Case(DropsCaches):
    """Values for a theory: ``given`` maps names to formulas, ``numbers`` to floats, or to arrays along scenarios; values are computed once, when needed.

    With ``same_layout`` degrees only take values with the layout of this case, so that its formulas hold for all of them.
    ``laid_out`` says that the theory already has the layout of the numbers; otherwise it is built for it.

    >>> from symroof.symbolic.reading import parse
    >>> from symroof.theory.theory import theory
    >>> case = Case(theory(), {"peak_flops": parse("989.4 TFLOP/s"), "mem_bandwidth": parse("3.35 TB/s")})
    >>> float(case.value("ridge_point"))
    295.34328358208955
    """

    theory: Theory
    given: Mapping[str, Expr]
    numbers: Mapping[str, Any] = field(default_factory=dict)
    free: frozenset[str] = frozenset()
    rounded: bool = False
    same_layout: bool = False
    laid_out: InitVar[bool] = False
    careful: bool = field(default=False, compare=False)
    axes: int = field(default=0, init=False, compare=False)
    _memo: dict[str, Any] = field(default_factory=dict, init=False, compare=False)
    _in_progress: set[str] = field(default_factory=set, init=False, compare=False)
    _failed: dict[str, NoValue] = field(default_factory=dict, init=False, compare=False)
    _children: dict[tuple[Any, ...], Case] = field(default_factory=dict, init=False, compare=False)
    _plans: _Plans = field(default_factory=_Plans, init=False, compare=False)
    _freed: dict[tuple[frozenset[str], bool], Case] = field(
        default_factory=dict, init=False, compare=False
    )
    _theories: dict[frozenset[str], Theory] = field(default_factory=dict, init=False, compare=False)
    _depth: int = field(default=0, init=False, compare=False)
    _unmoved: Case | None = field(default=None, init=False, compare=False)
    _changes: frozenset[str] = field(default=frozenset(), init=False, compare=False)

    def __post_init__(self, laid_out: bool) -> None:
        arrays = (x for x in self.numbers.values() if isinstance(x, np.ndarray))
        self.axes = max((x.ndim for x in arrays), default=0)
        if laid_out:
            return
        needed = layout(self.theory.architecture, self._plain, self.rounded)
        if needed != self.theory.layout or not self.theory.definitions:
            self.theory = theory(
                self.theory.architecture, self.theory.assumptions, needed, self.theory.own
            )

    def _plain(self, name: str) -> Fraction | str | None:
        """The number of a name for the layout of devices; FREE if it is not a number."""
        if name in self.free:
            return FREE
        value = self.numbers.get(name)
        if value is None:
            tree = self.given[name] if name in self.given else self.default(name)
            if tree is None:
                return None
            return fraction(tree) if is_number(tree) else FREE
        if not isinstance(value, float) or (shapes_layout(name) and value != int(value)):
            return FREE
        return Fraction(value)

    def can_split_heads(self, tp: Fraction | int) -> bool:
        """Whether this many devices can divide the key and value heads, or replicate them evenly."""
        heads = [
            fraction(tree)
            for name, tree in self.given.items()
            if base_name(name) == "n_kv_heads" and is_number(tree)
        ]
        return all(held % tp == 0 or tp % held == 0 for held in heads)

    def without_values(self, names: Collection[str], rounded: bool = False) -> Case:
        """The same case with some names left open: degrees among them shape its formulas, which with ``rounded`` divide whole heads
        only, for arrays with degrees that do not divide them."""
        shaping = self.free.union(filter(shapes_layout, names))
        whole = bool(shaping) and (rounded or self.rounded)
        if (shaping, whole) == (self.free, self.rounded):
            return self
        if (shaping, whole) not in self._freed:
            self._freed[shaping, whole] = replace(self, free=shaping, rounded=whole)
        return self._freed[shaping, whole]

    def value(self, name: str) -> Any:
        """The value of an input or quantity: a float, a truth or a label; of arrays an array, NaN where there is none.

        Raises:
            MissingInput: an input it needs was not given and has no default.
            NoClosedForm: it has no closed form under the assumptions.
            NoValue: it has no value here (a division by zero, a circular definition, an unstable queue).
            UnknownName: it is not declared.
        """
        if name in self.numbers:
            return self.numbers[name]
        if name in self._memo:
            return self._memo[name]
        if name in self._failed:
            raise self._failed[name]
        unmoved, exists, search, formula = self._plans.by_name.get(name) or self._plan(name)
        if unmoved:
            return self._memo.setdefault(name, self._unmoved.value(name))  # type: ignore[union-attr]
        if name in self._in_progress:
            raise NoValue(f"{name} is defined by itself")
        self._in_progress.add(name)
        try:
            result = self._evaluated(name, exists, search, formula)
        except NoValue as error:
            self._failed[name] = error
            raise
        finally:
            self._in_progress.discard(name)
        self._memo[name] = result
        return result

    def _evaluated(
        self,
        name: str,
        exists: tuple[tuple[Expr, str], ...],
        search: ImplicitDefinition | None,
        formula: Expr | None,
    ) -> Any:
        """The value of a name by its search or formula, where its conditions hold."""
        unmet: Any = False
        for condition, reason in exists:
            met = evaluate(condition, self)
            if met is False:
                raise NoValue(reason)
            unmet = unmet | np.not_equal(met, 1)
        if search:
            result = self._searched(search)
        else:
            result = plain(evaluate(self.formula(name) if formula is None else formula, self))
        return np.where(unmet, np.nan, result) if np.any(unmet) else result

    def _plan(self, name: str) -> _Plan:
        """How the value of a name is computed here, and in every case that changes the same names."""
        quantity = None if name in self.given else self.theory.own.quantity(name)
        search = self.search(name)
        formula = None
        if not search and not chooses(name):
            with suppress(
                UndefinedValue, UnknownName
            ):  # raised again when the value is computed, after the conditions
                formula = self.formula(name)
        exists = (
            tuple((parse(condition), reason) for condition, reason in quantity.exists)
            if quantity
            else ()
        )
        unmoved = self._unmoved is not None and not self._moves(name)
        plan = self._plans.by_name[name] = _Plan(unmoved, exists, search, formula)
        return plan

    def _moves(self, name: str) -> bool:
        """Whether a value, or a condition under which there is one, may depend on what this case changes."""
        reached, left = set[str](), {name}
        while left:
            found = frozenset().union(*map(self.dependencies, left))
            if not self._changes.isdisjoint(found):
                return True
            reached |= found
            left = {
                inner
                for guarded in found & _NAMES_OF_CONDITIONS.keys()
                for inner in _NAMES_OF_CONDITIONS[guarded]
            } - reached
        return False

    def search(self, name: str, changed: Collection[str] = ()) -> ImplicitDefinition | None:
        """How the value of a name is computed if it has no formula."""
        quantity = self.theory.own.quantity(name)
        if (
            quantity is None
            or quantity.search is None
            or name in self.given
            or self._without(quantity, changed)
        ):
            return None
        return quantity.search

    def _without(self, quantity: Quantity, changed: Collection[str]) -> str:
        """The formula of a quantity for an optional input without a value; empty if that has one."""
        if (
            quantity.without is None
            or quantity.without[0] in changed
            or self.is_set(quantity.without[0])
        ):
            return ""
        return quantity.without[1]

    def _searched(self, search: ImplicitDefinition) -> Any:
        """The value found by a search."""
        body, high = parse(search.body), evaluate(parse(search.high), self)
        if isinstance(high, Steps):
            raise NotPolynomial("a search that moves with the index of a sum")
        shapes = [np.shape(x) for x in self.numbers.values() if not isinstance(x, Steps)]
        high = np.broadcast_to(high, np.broadcast_shapes(np.shape(high), *shapes)).astype(float)
        largest = search.kind == "largest"

        def at(x: Any) -> Any:
            try:
                value = self._inside({search.unknown: x}, careful=True).evaluate(body)
            except UndefinedValue:
                raise
            except NoValue:
                if not largest:
                    raise
                return np.full(np.shape(x), np.nan)
            if isinstance(value, Steps):
                raise NotPolynomial("a search by what moves with the index of a sum")
            return value

        return plain((largest_whole if largest else fixed_points)(at, high))

    def has_value(self, name: str) -> bool:
        """Whether a name has a value here."""
        try:
            self.value(name)
        except NoValue:
            return False
        return True

    def formula(self, name: str, changed: Collection[str] = ()) -> Expr:
        """The formula of a name in this case: the given value, its definition, or its default.

        ``changed`` names get their values from elsewhere (an unknown, the inputs of an array function, a quantity at changed
        inputs), so nothing replaces them.
        """
        if name in self.given:
            return self.given[name]
        if isinstance(name, DerivativeName):
            return self._slope_formula(name.quantity, name.by, changed)
        definition = self._definition(name, changed)
        if definition is not None:
            whole = base_name(name) if "." in name else name
            if whole != name and (whole in self.given or whole in self.numbers or whole in changed):
                return self._part(whole, definition)
            return self._complete(name, definition, changed)
        quantity = self.theory.own.quantity(name)
        if (
            quantity is not None
            and quantity.search
            and (simpler := self._without(quantity, changed))
        ):
            return parse(simpler)
        default = self.default(name)
        if default is None:
            self.theory.symbol(name)
            if why := self.theory.not_closed(name):
                raise NoClosedForm(why)
            raise MissingInput(
                name, f"no part of this model gives {name}" if quantity is not None else ""
            )
        return default

    def _slope_formula(self, name: str, by: str, changed: Collection[str]) -> Expr:
        """The derivative of a name by another: that of its formula, in the derivatives of the names it mentions."""
        if (name, by) == (SLOPE_BY_TERM_COUNT.quantity, SLOPE_BY_TERM_COUNT.by):
            raise UndefinedValue("the slope of a sum in the number of its terms")
        if kinds := self.theory.kinds.get(by):
            raise UndefinedValue(
                f"{by} differs between parts of this model: take the derivative by {' or '.join(kinds)}"
            )
        if not (
            by in self.numbers or by in changed or self._is_independent(by)
        ):  # its definition does not apply when it varies
            return at(DerivativeName.of(name, by), ((by, symbol(by)),))
        shared = by in self.theory.split  # parts of it follow a total that varies

        def moves(inner: str) -> bool:
            return by in self.dependencies(inner) or (shared and not self.is_input(inner))

        if name == by:
            return ONE
        if name in self.numbers or name in changed or not moves(name):
            return ZERO
        search = self.search(name, changed)
        if search:
            return ZERO if search.kind == "largest" else _slope_of_search(name, search, by)
        return derivative(self.formula(name, changed), by, moves)

    def _is_independent(self, name: str) -> bool:
        """Whether a name is an independent number here, and no formula leaves it out as not set."""
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
            quantity = self.theory.own.quantity(name)
            inner = quantity is not None and not SET_ELSEWHERE.isdisjoint(
                (*dict(quantity.absent), *(quantity.without or ())[:1])
            )
            return (
                self.formula(name, changed)
                if complete or inner or definition is None or name in self.given
                else definition
            )
        except (UndefinedValue, UnknownName):
            return symbol(name)

    def readable_formula(self, name: str) -> Expr:
        """The formula of a name for readers: optional inputs are left out only if the name then has a value."""
        return self.formula_or_name(name, complete=self.has_value(name))

    def expanded(self, tree: Expr, complete: bool | None = None) -> Expr:
        """A formula over inputs: definitions and given formulas are inlined; a name that is given as a number stays a name.

        ``complete`` as in :meth:`formula_or_name`; by default of each name that has a value, so that an expansion is that of the definition.
        One that nobody can read is only replaced by its definition.
        """

        def formula(name: str, changed: frozenset[str]) -> Expr:
            if name in self.given:
                return symbol(name) if not names(self.given[name]) else self.given[name]
            if name in self.numbers or self.theory.definition(name) is None:
                return symbol(name)
            optional = complete is None and self.has_value(name)
            return self.formula_or_name(name, complete=whole or optional, changed=changed)

        whole = all(map(self.has_value, names(tree))) if complete is None else complete
        if inlined_size(tree, formula) <= MOST_NODES:
            return inline(tree, formula)
        return formula(tree.name, frozenset()) if isinstance(tree, Symbol) else tree

    def _definition(self, name: str, changed: Collection[str]) -> Expr | None:
        """The definition of a name; of a given total, whose parts are unknown, each device has an even share."""
        known = self._theory_for(frozenset(changed))
        definition, whole = known.definition(name), total_of(name)
        if whole is None or not (whole in self.given or whole in self.numbers or whole in changed):
            return definition
        return (
            definition
            if definition is None or mentions(definition, whole)
            else (symbol(whole) / known.layout.devices())
        )

    def _theory_for(self, changed: frozenset[str]) -> Theory:
        """The theory with some names left open: a degree among them is no longer assumed to be one."""
        if not changed or self.same_layout:
            return self.theory
        if changed not in self._theories:
            self._theories[changed] = self.without_values(changed).theory
        return self._theories[changed]

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

    def _complete(self, name: str, definition: Expr, changed: Collection[str]) -> Expr:
        """A definition with substitutes for optional inputs that have no value."""
        quantity = self.theory.own.quantity(name)
        if quantity is None:
            return definition
        definition = self._decided(quantity, definition, changed)
        if simpler := self._without(quantity, changed):
            return parse(simpler)
        if not quantity.absent:
            return definition
        return _with_defaults(
            definition,
            tuple(
                (key, text)
                for key, text in quantity.absent
                if key not in changed and not self.is_set(key)
            ),
        )

    def _decided(self, quantity: Quantity, definition: Expr, changed: Collection[str]) -> Expr:
        """The active arm of a declared choice, if the deciding names do not vary."""
        if not quantity.chooses or not isinstance(definition, OfLargest):
            return definition
        keys = definition.keys
        if any(
            name in self.dependencies(inner)
            for key in keys
            for inner in names(key)
            for name in changed
        ):
            return definition
        try:
            values = [evaluate(key, self) for key in keys]
        except NoValue:
            return definition
        if not all(isinstance(value, float) for value in values):  # of scenarios, or of steps
            return definition
        return definition.values[chosen_index(values)]

    def is_set(self, name: str) -> bool:
        """Whether a name is given or defined, rather than defaulted."""
        return (
            name in self.given or name in self.numbers or self.theory.definition(name) is not None
        )

    def has(self, name: str) -> bool:
        """Whether a name is given, defined or defaulted."""
        return self.is_set(name) or self.default(name) is not None

    def default(self, name: str) -> Expr | None:
        """The default of an input; None if it has none, or the name is not an input."""
        return default_of(name, self.theory.own)

    def at(self, name: str, changes: Mapping[str, Any]) -> Any:
        """A quantity at changed inputs; where one of these has no value it has none, whether or not that moves it.

        Raises:
            NoValue: its inputs lead back to it, at changed inputs again and again.
        """
        value = self._inside(changes, name).value(name)
        for x in changes.values():
            if isinstance(x, np.ndarray) and np.isnan(x).any():
                value = value + np.where(np.isnan(x), np.nan, 0.0)
        return value

    def _inside(
        self,
        changes: Mapping[str, Any],
        name: str = "a quantity at changed inputs",
        careful: bool = False,
    ) -> Case:
        """The changed case one level deeper; a circular definition ends here."""
        if self._depth >= MOST_CHANGES:
            raise NoValue(f"{name} is defined by itself")
        return self._child(changes, self._depth + 1, careful)

    def changed(self, changes: Mapping[str, Any]) -> Case:
        """The same case with some values replaced; names that do not depend on them are computed here, once for all changes."""
        return self._child(changes, self._depth)

    def with_care(self) -> Case:
        """The same case, where what is multiplied by zero needs no value in any scenario."""
        if self.careful:
            return self
        made = replace(self, careful=True)
        made._depth = self._depth
        return made

    def _child(self, changes: Mapping[str, Any], depth: int, careful: bool = False) -> Case:
        """The changed case, cached with the values that it has computed."""
        numbers = {name: _number(value) for name, value in changes.items()}
        if not all(isinstance(value, float) for value in numbers.values()):
            return self._made(numbers, depth, careful)
        key = (depth, careful, *numbers.items())
        child = self._children.get(key)
        if child is None:
            if len(self._children) >= MOST_CHILDREN:
                self._children.clear()
            child = self._children[key] = self._made(numbers, depth, careful)
        return child

    def _made(self, changes: Mapping[str, Any], depth: int, careful: bool) -> Case:
        laid_out = self.same_layout or not any(map(affects_layout, changes))
        child = Case(
            self.theory,
            self.given,
            {**self.numbers, **changes},
            self.free.difference(changes),
            self.rounded,
            self.same_layout,
            laid_out,
            careful or self.careful,
        )
        child._depth, child.axes = depth, max(child.axes, self.axes)
        if child.theory is self.theory:
            changed = frozenset(changes)
            same = child.careful == self.careful or not self.axes
            linked = same and self.theory.split.isdisjoint(changed)
            child._plans = self._plans.below.setdefault((changed, linked), _Plans())
            child._formulas, child._dependencies_of = self._formulas, self._dependencies_of
            if linked:
                child._unmoved, child._changes = self, changed
        return child

    def dependencies(self, name: str) -> frozenset[str]:
        """A name and every name that its value may depend on here, through definitions and given formulas.

        Names that follow a total may have another definition: a formula given for a total always counts.
        """
        if not self._formulas:
            return self.theory.dependencies(name)
        if name not in self._dependencies_of:
            reached, unused = self.theory.dependencies(name), {*self._formulas}
            while leading := unused & (reached | self.theory.split):
                reached, unused = (
                    reached.union(
                        *(self.theory.reachable_names(self._formulas[other]) for other in leading)
                    ),
                    unused - leading,
                )
            self._dependencies_of[name] = reached
        return self._dependencies_of[name]

    @cached_property
    def _formulas(self) -> Mapping[str, Expr]:
        """The given values that are formulas."""
        return {name: tree for name, tree in self.given.items() if not is_number(tree)}

    @cached_property
    def _dependencies_of(self) -> dict[str, frozenset[str]]:
        return {}

    def first_non_number(self, tree: Expr) -> str | None:
        """The first name of a formula that is a condition or a label, which formulas cannot calculate with."""
        return next(
            (
                name
                for name in sorted(names(tree))
                if is_condition_or_label(self.formula_or_name(name, complete=False))
            ),
            None,
        )

    def evaluate(self, tree: Expr, at: Mapping[str, Any] | None = None) -> Any:
        """The value of any formula over this case's names; ``at`` sets other values in this formula only."""
        return evaluate(tree, self, at)

    def slope(self, name: str, by: str) -> float:
        """The derivative of a quantity by an input, on the active arm.

        Raises:
            NoValue: it has none, as a sum by the number of its terms.
        """
        found: float = self.value(DerivativeName.of(name, by))
        return found

    def slopes(self, name: str, inputs: Collection[str]) -> dict[str, float]:
        """The partial derivatives of a quantity by some inputs; those without one are left out."""
        found = {}
        for by in inputs:
            with suppress(NoValue):
                found[by] = self.slope(name, by)
        return found

    def elasticities(self, name: str, inputs: Collection[str]) -> dict[str, float]:
        """Percent change of a quantity per percent change of an input; inputs without one, such as bounds of sums, are left out."""
        value = self.value(name)
        if not value:
            return {}
        slopes = self.slopes(name, inputs)
        return {by: slope * self.value(by) / value for by, slope in slopes.items()}

    def inputs_used(self, *quantities: str) -> tuple[str, ...]:
        """The inputs that values were computed from, in order of use."""
        return tuple(inner for inner in self.reachable_names(*quantities) if self.is_input(inner))

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

    def is_input(self, name: str) -> bool:
        """Whether a name has a plain value here, rather than a formula."""
        if name in self.given:
            return not isinstance(self.given[name], Symbol)
        return (
            self.theory.definition(name) is None
            and self.theory.own.input(base_name(name)) is not None
        )


_NAMES_OF_CONDITIONS = {
    name: quantity.required_names for name, quantity in QUANTITIES.items() if quantity.exists
}
"""The names in the conditions of each quantity that does not always have a value."""


def chooses(name: str) -> bool:
    """Whether the choice of the formula of a quantity, or of what it is the derivative of, depends on numbers."""
    while isinstance(name, DerivativeName):
        name = name.quantity
    quantity = QUANTITIES.get(name)
    return quantity is not None and bool(quantity.chooses)


def _slope_of_search(name: str, search: ImplicitDefinition, by: str) -> Expr:
    """The derivative of a fixed point ``x = body(x, by)``: body's by ``by`` over 1 minus body's by ``x``; at the upper end, that of the end."""
    body, high = ExpressionName.of(parse(search.body)), ExpressionName.of(parse(search.high))
    there = ((search.unknown, symbol(name)),)
    within = (
        ZERO
        if by == search.unknown
        else (
            at(DerivativeName.of(body, by), there)
            / (ONE - at(DerivativeName.of(body, search.unknown), there))
        )
    )
    return of_largest(symbol(name), symbol(DerivativeName.of(high, by)), symbol(high), within)


def _number(value: Any) -> Any:
    """A value of an input as it is computed with: a float, an array, or a polynomial in the index of a sum."""
    has_axes = isinstance(value, Steps) or (isinstance(value, np.ndarray) and value.ndim)
    return value if has_axes else float(value)


@lru_cache(maxsize=4096)
def _with_defaults(definition: Expr, stand_ins: tuple[tuple[str, str], ...]) -> Expr:
    """A definition with numbers substituted for some names."""
    return substitute(definition, {key: number(Fraction(text)) for key, text in stand_ins})
