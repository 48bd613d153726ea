"""What has to be worked out point by point, in which order, and what can be prepared along one axis.

A name is *full* where it varies over the points of a block in a way that no row or column alone tells. A polynomial of
names that are not full is a product of two thin matrices (``sum_ij k_ij r_i(s) c_j(b)``): its rows and columns are
prepared once, and NumPy multiplies them block by block.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

from symroof.arrays.graph import EXTREMES, Form, Graph, Operation, frozen
from symroof.formula.polynomial import Monomial, merged

ROWS, COLUMNS = 1, 2


@dataclass(frozen=True)
class Nest:
    """Full powers by Horner's rule: ``inner`` times a full name (``under``: divided by it), and ``rest`` added.

    Both are nests in turn, or thin polynomials.
    """

    inner: Nest | Form
    name: str
    under: bool
    rest: Nest | Form | None


@dataclass(frozen=True)
class Terms:
    """A polynomial taken apart: pairs of thin polynomials, one along the rows and one along the columns, whose products add
    up, and what speaks of full names."""

    pairs: tuple[tuple[Form, Form], ...]
    nest: Nest | Form | None


@dataclass
class Plan:
    """For one graph, and one way the inputs lie along the axes.

    Attributes:
        varies: the axes (0 outer, 1 rows, 2 columns) along which each input varies.
        positive: the inputs that are above zero everywhere.
        rows: whether there is more than one row.
    """

    graph: Graph
    varies: Mapping[str, frozenset[int]]
    positive: frozenset[str]
    rows: bool
    outputs: tuple[Form, ...]
    _best: dict[Form, Form] = field(default_factory=dict)
    _axes: dict[str, frozenset[int]] = field(default_factory=dict)
    _full: dict[Form, bool] = field(default_factory=dict)
    _terms: dict[Form, Terms] = field(default_factory=dict)
    _above: dict[str, bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.graph = self.graph.copy()  # rewritten for this layout alone

    def best(self, form: Form) -> Form:
        """A polynomial as it is worked out here: on a grid a term added to a maximum of thin arms is added to the arms first."""
        if not self.rows:
            return form
        if form not in self._best:
            named = {tuple((self._alias(name), exponent) for name, exponent in monomial): coefficient for monomial, coefficient in form}
            self._best[form] = frozen(self.graph.absorbed(named))
        return self._best[form]

    def _alias(self, name: str) -> str:
        """The name of what a polynomial that has one comes to here."""
        operation = self.graph.operations.get(name)
        return bare(self.best(operation.args[0])) or name if operation and operation.kind == "form" else name

    def args(self, name: str) -> tuple[Form, ...]:
        """What an operation is worked out from here."""
        return tuple(map(self.best, self.graph.operations[name].args))

    @cached_property
    def requested(self) -> tuple[Form, ...]:
        """The polynomials of the outputs."""
        return tuple(map(self.best, self.outputs))

    def axes(self, name: str) -> frozenset[int]:
        """The axes along which a name varies."""
        if name not in self._axes:
            self._axes[name] = frozenset().union(*(self.varies.get(inner, frozenset()) for inner in self.graph.reach(name)))
        return self._axes[name]

    def full(self, name: str) -> bool:
        return self._spans(self.axes(name))

    def is_full(self, form: Form) -> bool:
        """Whether a polynomial has to be worked out point by point."""
        if form not in self._full:
            self._full[form] = self._spans(frozenset().union(*(self.axes(name) for monomial, _ in form for name, _ in monomial)))
        return self._full[form]

    def _spans(self, axes: frozenset[int]) -> bool:
        return COLUMNS in axes and (ROWS in axes or not self.rows)

    @cached_property
    def order(self) -> tuple[str, ...]:
        """The full operations that the outputs need, each after its arguments."""
        ordered: dict[str, None] = {}

        def visit(forms: Iterable[Form]) -> None:
            for form in forms:
                for monomial, _ in form:
                    for name, _ in monomial:
                        if name in self.graph.operations and self.full(name) and name not in ordered:
                            if planned(self.graph.operations[name]):
                                visit(self.args(name))
                            ordered[name] = None

        visit(self.requested)
        return tuple(ordered)

    @cached_property
    def ended(self) -> tuple[tuple[str, ...], ...]:
        """After each step the full operations that no later step uses."""
        last = {name: i for i, name in enumerate(self.order)}
        for i, name in enumerate(self.order):
            if planned(self.graph.operations[name]):
                last |= {inner: i for form in self.args(name) for monomial, _ in form for inner, _ in monomial if inner in last}
        results = {name for form in self.requested for monomial, _ in form for name, _ in monomial}
        return tuple(tuple(name for name, end in last.items() if end == i and name not in results) for i in range(len(self.order)))

    def terms(self, form: Form) -> Terms:
        """A full polynomial taken apart."""
        if form not in self._terms:
            self._terms[form] = self._apart(form)
        return self._terms[form]

    def _apart(self, form: Form) -> Terms:
        thin: dict[Monomial, Fraction] = {}
        full: dict[Monomial, dict[Monomial, Fraction]] = {}
        for monomial, coefficient in form:
            whole = tuple((name, exponent) for name, exponent in monomial if self.full(name))
            rest = merged(monomial, whole, -1)
            if whole:
                columns = self._along_columns(rest)
                mixed = columns and any(ROWS in self.axes(name) for name, _ in rest)
                key, left = (merged(whole, columns), merged(rest, columns, -1)) if mixed else (whole, rest)
                full.setdefault(key, {})[left] = coefficient
            else:
                thin[monomial] = coefficient
        if not self.is_full(frozen(thin)):  # no product of rows and columns: a number, or something along one of them
            full, thin = ({**full, (): thin} if thin else full), {}
        return Terms(self._pairs(thin), nested({key: frozen(factor) for key, factor in full.items()}) if full else None)

    def _along_columns(self, monomial: Monomial) -> Monomial:
        return tuple((name, exponent) for name, exponent in monomial if COLUMNS in self.axes(name))

    def _pairs(self, thin: dict[Monomial, Fraction]) -> tuple[tuple[Form, Form], ...]:
        """Terms ``row * column`` gathered by whichever there are fewer of."""
        by_row: dict[Monomial, dict[Monomial, Fraction]] = {}
        by_column: dict[Monomial, dict[Monomial, Fraction]] = {}
        for monomial, coefficient in thin.items():
            column = self._along_columns(monomial)
            row = merged(monomial, column, -1)
            by_row.setdefault(row, {})[column] = by_column.setdefault(column, {})[row] = coefficient
        one = Fraction(1)
        if len(by_row) <= len(by_column):
            return tuple((frozen({row: one}), frozen(columns)) for row, columns in sorted(by_row.items()))
        return tuple((frozen(rows), frozen({column: one})) for column, rows in sorted(by_column.items()))

    def above_zero(self, name: str) -> bool:
        """Whether a name is above zero wherever one looks, as far as its shape tells."""
        if name not in self.graph.operations:
            return name in self.positive
        if name not in self._above:
            self._above[name] = self._is_above(self.graph.operations[name])
        return self._above[name]

    def _is_above(self, operation: Operation) -> bool:
        signs = [bool(arg) and all(c > 0 and all(self.above_zero(name) for name, _ in monomial) for monomial, c in arg) for arg in operation.args]
        match operation.kind:
            case "max":
                return any(signs)
            case "min" | "form" | "ceil":
                return all(signs)
            case "guard" | "power":
                return signs[0]
        return False


def nested(terms: Mapping[Monomial, Form]) -> Nest | Form:
    """Powers of names, each with what it is multiplied by, by Horner's rule: what most terms share is multiplied in once."""
    if set(terms) == {()}:
        return terms[()]
    shared = Counter((name, exponent < 0) for monomial in terms for name, exponent in monomial)
    (name, under), _ = max(shared.items(), key=lambda item: (item[1], item[0]))
    power = ((name, -1 if under else 1),)
    inner: dict[Monomial, Form] = {}
    rest: dict[Monomial, Form] = {}
    for monomial, factor in terms.items():
        speaks = any(other == name and (exponent < 0) == under for other, exponent in monomial)
        (inner if speaks else rest)[merged(monomial, power, -1) if speaks else monomial] = factor
    return Nest(nested(inner), name, under, nested(rest) if rest else None)


def bare(form: Form) -> str | None:
    """The name that a polynomial consists of, where it is nothing else."""
    if len(form) != 1 or form[0][1] != 1:
        return None
    monomial = form[0][0]
    return monomial[0][0] if len(monomial) == 1 and monomial[0][1] == 1 else None


def planned(operation: Operation) -> bool:
    """Whether an operation is worked out from its arguments in place; all others are left to the plain walk."""
    return operation.kind in EXTREMES or operation.kind == "form"
