"""A case: a theory with values. Any quantity may be set; the value replaces its definition in all dependent quantities."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import InitVar, dataclass, field
from math import prod
from typing import Any, NamedTuple

import numpy as np
from sympy import Symbol

from symroof.errors import NoValue, UndefinedValue
from symroof.symbolic.evaluation import compiled, evaluate
from symroof.symbolic.expressions import EACH, DerivativeName, Expr, TooLong, inline, names, symbol
from symroof.symbolic.kernels import plain
from symroof.symbolic.reading import parse
from symroof.symbolic.searches import searched
from symroof.symbolic.step_polynomials import Steps
from symroof.theory.case_formulas import CaseFormulas
from symroof.theory.layout import affects_layout, layout
from symroof.theory.quantities import QUANTITIES, ImplicitDefinition
from symroof.theory.theory import UnknownName, theory

MOST_CHANGES = 12
"""The depth of values at changed inputs within values at changed inputs; declared quantities use three."""
MOST_CHILDREN, FEWEST_CHILDREN, MOST_POINTS = 64, 4, 2**16
"""Changed cases that a case caches, and the scenarios of all of them together: those of a curve, but not the thousands of a sum evaluated
term by term, and none that are so large that a few would fill the memory."""
MOST_NODES = 20_000
"""The largest formula over inputs alone, in names, numbers and operations: longer ones fill books."""


class _Plan(NamedTuple):
    """How the value of a name is computed, independent of the numbers: where nothing that changed moves it, as in the case before; else, if the
    conditions hold, by a search or a formula as a function, which is None if it depends on numbers or is an error."""

    unmoved: bool
    exists: tuple[tuple[Expr, str], ...]
    search: ImplicitDefinition | None
    formula: Callable[[Any], Any] | None


@dataclass
class _Plans:
    """The plans shared by all cases that change the same names of one case, and those of their changed cases, which may take values from it."""

    by_name: dict[str, _Plan] = field(default_factory=dict)
    below: dict[tuple[frozenset[str], bool], _Plans] = field(default_factory=dict)


@dataclass
class Case(CaseFormulas):
    """Values for a theory: ``given`` maps names to formulas, ``numbers`` to floats, or to arrays along scenarios; values are computed once, when needed.

    ``laid_out`` says that the theory already has the layout of the numbers; otherwise it is built for it.

    >>> from symroof.symbolic.reading import parse
    >>> from symroof.theory.theory import theory
    >>> case = Case(theory(), {"peak_flops": parse("989.4 TFLOP/s"), "mem_bandwidth": parse("3.35 TB/s")})
    >>> float(case.value("ridge_point"))
    295.34328358208955
    """

    laid_out: InitVar[bool] = False
    axes: int = field(default=0, init=False, compare=False)
    _shape: tuple[int, ...] = field(default=(), init=False, compare=False)
    _known: dict[str, Any] = field(default_factory=dict, init=False, compare=False)
    _missing: dict[str, NoValue] = field(default_factory=dict, init=False, compare=False)
    _children: dict[tuple[Any, ...], Case] = field(default_factory=dict, init=False, compare=False)
    _plans: _Plans = field(default_factory=_Plans, init=False, compare=False)
    _depth: int = field(default=0, init=False, compare=False)
    _unmoved: Case | None = field(default=None, init=False, compare=False)
    _changes: frozenset[str] = field(default=frozenset(), init=False, compare=False)

    def __post_init__(self, laid_out: bool) -> None:
        arrays = (x for x in self.numbers.values() if isinstance(x, np.ndarray))
        self._shape = _common_shape({x.shape for x in arrays})
        self._known.update(self.numbers)
        self.axes = len(self._shape)
        if laid_out:
            return
        known = self.theory
        needed = layout(known.architecture, self.layout_number, self.rounded)
        if needed != known.layout or not known.definitions:
            self.theory = theory(known.architecture, known.assumptions, needed, known.own)

    def value(self, name: str) -> Any:
        """The value of an input or quantity: a float, a truth or a label; of arrays an array, NaN where there is none.

        Raises:
            MissingInput: an input it needs was not given and has no default.
            NoClosedForm: it has no closed form under the assumptions.
            NoValue: it has no value here (a division by zero, a circular definition, an unstable queue).
            UnknownName: it is not declared.
        """
        found = self._known.get(name)
        if found is not None:
            return found
        if name in self._missing:
            raise self._missing[name]
        plan = self._plans.by_name.get(name) or self._plan(name)
        self._missing[name] = NoValue(f"{name} is defined by itself")  # what asks for it meanwhile
        try:
            found = self._unmoved.value(name) if plan.unmoved else self._evaluated(name, plan)  # type: ignore[union-attr]
        except NoValue as error:
            self._missing[name] = error
            raise
        except BaseException:  # says nothing about the value
            del self._missing[name]
            raise
        del self._missing[name]
        self._known[name] = found
        return found

    def _evaluated(self, name: str, plan: _Plan) -> Any:
        """The value of a name by its search or formula, where its conditions hold."""
        unmet: Any = False
        for condition, reason in plan.exists:
            met = evaluate(condition, self)
            if met is False:
                raise NoValue(reason)
            unmet = unmet | np.not_equal(met, 1)
        if plan.search:
            result = self._searched(plan.search)
        else:
            result = plain((plan.formula or compiled(self.formula(name)))(self))
        return np.where(unmet, np.nan, result) if plan.exists and np.any(unmet) else result

    def _plan(self, name: str) -> _Plan:
        """How the value of a name is computed here, and in every case that changes the same names."""
        quantity = None if name in self.given else self.theory.own.quantity(name)
        search, formula = self.search(name), None
        if not search and not chooses(name):
            with suppress(UndefinedValue, UnknownName):
                # errors are raised again after the conditions
                formula = compiled(self.formula(name))
        written = quantity.exists if quantity else ()
        exists = tuple((parse(condition), reason) for condition, reason in written)
        moved = self._unmoved is None or not self._changes.isdisjoint(self.dependencies(name))
        plan = self._plans.by_name[name] = _Plan(not moved, exists, search, formula)
        return plan

    def _searched(self, search: ImplicitDefinition) -> Any:
        """The value found by a search."""
        body, high = parse(search.body), evaluate(parse(search.high), self)
        others = [x for x in self.numbers.values() if isinstance(x, np.ndarray)]

        def at(x: Any) -> Any:
            inside = self._inside({search.unknown: x}, keep=False)
            try:
                return inside.evaluate(body)
            except NoValue as error:
                if search.kind != "largest" or isinstance(error, UndefinedValue):
                    raise
                return np.full(np.shape(x), np.nan)
            finally:
                inside.forget()

        return searched(search.kind, at, high, *others)

    def has_value(self, name: str) -> bool:
        """Whether a name has a value here."""
        with suppress(NoValue):
            self.value(name)
            return True
        return False

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

    def elasticities(self, name: str, inputs: Collection[str]) -> dict[str, float]:
        """Percent change of a quantity per percent change of an input; inputs without one, such as bounds of sums, are left out."""
        value = self.value(name)
        by = [x for x in inputs if x not in self.theory.kinds]
        if not value or not by:
            return {}
        together = [x for x in by if self.varies_alone(x)]
        found = self._moved_by_each(name, together)
        for x in by:
            if x not in together and self.has_value(x):
                found |= self.changed({x: self.value(x)})._moved_by_each(name, [x])
        return {x: found[x] / value for x in by if not np.isnan(found.get(x, np.nan))}

    def _moved_by_each(self, name: str, inputs: list[str]) -> dict[str, float]:
        """The derivatives of a quantity by the logarithms of inputs, in one walk; halves of them where one has none."""
        moves = np.diag([self.value(x) for x in inputs])
        seeds: dict[str, Any] = {
            DerivativeName.of(x, EACH): row for x, row in zip(inputs, moves, strict=True)
        }
        try:
            slopes = self.changed({EACH: 0.0, **seeds}).value(DerivativeName.of(name, EACH))
            return dict(zip(inputs, np.broadcast_to(slopes, len(inputs)).tolist(), strict=True))
        except NoValue:
            middle = len(inputs) // 2
            if not middle:
                return {}
            left, right = inputs[:middle], inputs[middle:]
            return self._moved_by_each(name, left) | self._moved_by_each(name, right)

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
                return self.given[name] if names(self.given[name]) else symbol(name)
            if name in self.numbers or self.theory.definition(name) is None:
                return symbol(name)
            optional = complete is None and self.has_value(name)
            return self.formula_or_name(name, complete=whole or optional, changed=changed)

        whole = all(map(self.has_value, names(tree))) if complete is None else complete
        try:
            return inline(tree, formula, MOST_NODES)
        except TooLong:
            return formula(tree.name, frozenset()) if isinstance(tree, Symbol) else tree

    def changed(self, changes: Mapping[str, Any], keep: bool = True) -> Case:
        """The same case with some values replaced; names that do not depend on them are computed here, once for all changes. ``keep``: it may be asked for again."""
        return self._child(changes, self._depth, keep)

    def forget(self) -> None:
        """Let the changed cases go, which hold this one: their arrays would wait for the garbage collector."""
        for child in self._children.values():
            child.forget()
        self._children.clear()

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

    def _inside(self, changes: Mapping[str, Any], name: str = "it", keep: bool = True) -> Case:
        """The changed case one level deeper; a circular definition ends here."""
        if self._depth >= MOST_CHANGES:
            raise NoValue(f"{name} is defined by itself")
        return self._child(changes, self._depth + 1, keep)

    def _child(self, changes: Mapping[str, Any], depth: int, keep: bool) -> Case:
        """The changed case, cached with the values that it has computed."""
        numbers = {  # floats, arrays, and polynomials in the index of a sum
            name: x if isinstance(x, Steps) or bool(getattr(x, "ndim", 0)) else float(x)
            for name, x in changes.items()
        }
        arrays = [x for x in numbers.values() if not isinstance(x, float)]
        if not keep or any(isinstance(x, Steps) for x in arrays):
            return self._made(numbers, depth)
        points = prod(_common_shape({self._shape, *(x.shape for x in arrays)}))
        most = min(MOST_CHILDREN, MOST_POINTS // max(points, 1))
        if most < FEWEST_CHILDREN:
            return self._made(numbers, depth)
        key = (
            depth,
            *numbers,
            *(x if isinstance(x, float) else (x.shape, x.tobytes()) for x in numbers.values()),
        )
        if key not in self._children:
            if len(self._children) >= most:
                self.forget()
            self._children[key] = self._made(numbers, depth)
        return self._children[key]

    def _made(self, changes: Mapping[str, Any], depth: int) -> Case:
        child = Case(
            self.theory,
            self.given,
            {**self.numbers, **changes},
            self.free.difference(changes),
            self.rounded,
            self.same_layout,
            laid_out=self.same_layout or not any(map(affects_layout, changes)),
        )
        child._depth, child.axes = depth, max(child.axes, self.axes)
        if child.theory is self.theory:
            changed = frozenset(changes)
            linked = self.theory.split.isdisjoint(changed)
            child._plans = self._plans.below.setdefault((changed, linked), _Plans())
            child._formulas, child._dependencies_of = self._formulas, self._dependencies_of
            if linked:
                child._unmoved, child._changes = self, changed
        return child


def _common_shape(shapes: Collection[tuple[int, ...]]) -> tuple[int, ...]:
    """The shape that arrays broadcast to; NumPy takes long for what mostly is one."""
    different = [shape for shape in shapes if shape]
    return different[0] if len(different) == 1 else np.broadcast_shapes(*different)


def chooses(name: str) -> bool:
    """Whether the choice of the formula of a quantity, or of what it is the derivative of, depends on numbers."""
    while isinstance(name, DerivativeName):
        name = name.quantity
    return name in QUANTITIES and bool(QUANTITIES[name].chooses)
