"""The names of a case over arrays: each computed once when a formula asks for it, like :class:`symroof.theory.case.Case` over exact numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from symroof.arrays.functions import ARRAYS
from symroof.arrays.searches import SEARCHES
from symroof.arrays.step_polynomials import Steps
from symroof.formula.codegen import python
from symroof.formula.evaluate import NoValue, UndefinedValue, exact_decimal, function
from symroof.formula.parse import parse
from symroof.formula.piecewise import NotPolynomial
from symroof.formula.tree import Expr, names
from symroof.theory.case import MOST_CHANGES, Case
from symroof.theory.dependence import Dependence
from symroof.theory.quantities import QUANTITIES

Formula = Callable[..., Any]


@lru_cache(maxsize=8192)
def array_function_of(tree: Expr, moving: frozenset[str]) -> Formula:
    """A formula as a function of arrays, of which the ``moving`` names are some; printed once for all cases."""
    return function(python(tree, (), moving), ARRAYS)


@dataclass
class Formulas:
    """The formulas of a case as functions of arrays, each printed once, and the numbers that no array moves."""

    case: Case
    dependence: Dependence = field(init=False)
    numbers: dict[frozenset[str], dict[str, Any]] = field(default_factory=dict)
    """What no array moves, by the names that are arrays."""
    _made: dict[tuple[Expr, frozenset[str]], Formula] = field(default_factory=dict)
    _named: dict[tuple[str, frozenset[str]], Callable[[Arrays], Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.dependence = Dependence(self.case)

    def of(self, tree: Expr, keys: frozenset[str]) -> Formula:
        """A formula as a function of arrays; ``keys`` are the names that have values from elsewhere."""
        made = self._made.get((tree, keys))
        if made is None:
            moving = frozenset(name for name in names(tree) if self.dependence.moves(name, keys))
            made = self._made[tree, keys] = array_function_of(tree, moving)
        return made

    def named(self, name: str, keys: frozenset[str]) -> Callable[[Arrays], Any]:
        """How the value of a moving name is computed."""
        made = self._named.get((name, keys))
        if made is None:
            made = self._named[name, keys] = self._plan(name, keys)
        return made

    def _plan(self, name: str, keys: frozenset[str]) -> Callable[[Arrays], Any]:
        quantity = None if name in self.case.given else QUANTITIES.get(name)
        exists = (
            [(self.of(parse(condition), keys)) for condition, _ in quantity.exists]
            if quantity
            else []
        )
        search = self.case.search(name, keys)
        if search:
            body, high = (
                self.of(parse(search.body), keys | {search.unknown}),
                self.of(parse(search.high), keys),
            )
            kind, unknown = search.kind, search.unknown

            def worked_out(values: Arrays) -> Any:
                top = _plain(high(values))
                shape = np.broadcast_shapes(np.shape(top), *map(np.shape, values.inputs.values()))
                zero_products = values.with_zero_products()

                def at(x: Any) -> Any:
                    try:
                        return _plain(body(zero_products.changed({unknown: x})))
                    except UndefinedValue:
                        raise
                    except NoValue:
                        if kind != "largest":
                            raise
                        return np.full(np.shape(x), np.nan)

                return SEARCHES[kind](at, np.array(np.broadcast_to(top, shape), dtype=float))

        else:
            worked_out = self.of(self.case.formula(name, keys), keys)
        if not exists:
            return worked_out

        def guarded(values: Arrays) -> Any:
            met: Any = 1.0
            for condition in exists:
                met = met * condition(values)
            if np.all(met == 1):
                return worked_out(values)
            value = worked_out(values)
            return value + np.where(met == 1, 0.0, np.nan)

        return guarded

    def constant(self, name: str) -> Any:
        """The number of a name that no array moves."""
        value = self.case.value(name)
        return float(value) if isinstance(value, Fraction) else value


def _plain(value: Any) -> Any:
    if isinstance(value, Steps):
        raise NotPolynomial("a search that moves with the index of a sum")
    return value


@dataclass
class Arrays:
    """Values of names where some inputs are arrays that broadcast against each other."""

    formulas: Formulas
    inputs: Mapping[str, Any]
    parent: Arrays | None = None
    changed_keys: frozenset[str] = frozenset()
    depth: int = 0
    zero_products: bool = False
    _memo: dict[str, Any] = field(default_factory=dict)
    _open: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.keys = frozenset(self.inputs)
        self._still = self.formulas.numbers.setdefault(self.keys, {})
        self.axes = max(
            (np.ndim(x) for x in self.inputs.values() if not isinstance(x, Steps)), default=0
        )
        if self.parent is not None:
            self.axes = max(self.axes, self.parent.axes)

    def value(self, name: str) -> Any:
        """The value of a name; NaN in places without one.

        Raises:
            NoValue: it has none anywhere.
        """
        if name in self.inputs:
            return self.inputs[name]
        memo = self._memo
        if name in memo:
            return memo[name]
        if name in self._still:
            return self._still[name]
        moves = self.formulas.dependence.moves
        if self.parent is not None and not moves(name, self.changed_keys, self.keys):
            value = self.parent.value(name)
        elif not moves(name, self.keys):
            value = self._still[name] = self.formulas.constant(name)
        else:
            if name in self._open:
                raise NoValue(f"{name} is defined by itself")
            self._open.add(name)
            try:
                value = self.formulas.named(name, self.keys)(self)
            finally:
                self._open.discard(name)
        memo[name] = value
        return value

    def evaluate(self, tree: Expr) -> Any:
        """The value of any formula over the names."""
        return self.formulas.of(tree, self.keys)(self)

    def at(self, name: str, changes: Mapping[str, Any]) -> Any:
        """A quantity at changed inputs; where one of these has no value it has none, whether or not that moves it."""
        value = self.changed(changes).value(name)
        for x in changes.values():
            if isinstance(x, np.ndarray) and np.isnan(x).any():
                value = value + np.where(np.isnan(x), np.nan, 0.0)
        return value

    def changed(self, changes: Mapping[str, Any]) -> Arrays:
        """The same values with some inputs replaced."""
        if self.depth >= MOST_CHANGES:
            raise NoValue("a quantity at changed inputs is defined by itself")
        return Arrays(
            self.formulas,
            {**self.inputs, **changes},
            self,
            frozenset(changes),
            self.depth + 1,
            self.zero_products,
        )

    def with_zero_products(self) -> Arrays:
        """The same inputs, where nothing times what has no value is nothing: a look at every product, worth it where a value is missing."""
        return (
            self
            if self.zero_products
            else Arrays(self.formulas, self.inputs, depth=self.depth, zero_products=True)
        )

    def exact_where(
        self,
        result: Any,
        doubt: Any,
        node: Expr,
        index: Mapping[str, Any],
        code: Callable[[Any], float] = float,
    ) -> Any:
        """The result with the exact value of a node in every doubtful place; each different point of what moves it is computed once."""
        if not np.any(doubt):
            return result
        inputs = {
            name: x
            for name, x in self.inputs.items()
            if any(
                self.formulas.dependence.moves(inner, frozenset((name,)), self.keys)
                for inner in names(node)
                if inner not in index
            )
        }
        columns = {**inputs, **index}
        if any(isinstance(x, Steps) for x in columns.values()):
            raise NotPolynomial("a comparison that moves with the index of a sum")
        if not columns:
            return np.where(doubt, self._exact(node, {}, index, code), result)
        full = np.broadcast_arrays(result, doubt, *columns.values())
        settled, places = np.array(full[0], dtype=float), np.asarray(full[1])
        points = np.array([column[places] for column in full[2:]], dtype=float).reshape(
            len(columns), -1
        )
        rows, back = np.unique(points, axis=1, return_inverse=True)
        values = np.array(
            [self._exact(node, dict(zip(columns, row, strict=True)), index, code) for row in rows.T]
        )
        settled[places] = values[back.reshape(-1)]
        return settled

    def _exact(
        self,
        node: Expr,
        point: Mapping[str, float],
        index: Mapping[str, Any],
        code: Callable[[Any], float],
    ) -> float:
        try:
            exact = {name: exact_decimal(float(x)) for name, x in point.items()}
            case = self.formulas.case.changed(
                {name: x for name, x in exact.items() if name not in index}
            )
            return code(case.evaluate(node, {name: exact[name] for name in index}))
        except (
            NoValue,
            ValueError,
            OverflowError,
        ):  # a point that is no number has no value either
            return float("nan")
