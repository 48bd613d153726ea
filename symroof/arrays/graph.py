"""Exact polynomials over inputs and operations: each operation once, under a name of its own.

>>> graph = Graph(("batch", "prompt"))
>>> batch, prompt = (power_of(name) for name in graph.inputs)
>>> peak = graph.operation("max", graph.times(batch, prompt), constant(Fraction(8)))
>>> graph.operation("max", graph.times(prompt, batch), constant(Fraction(8))) == peak      # the same operation, one name
True
>>> sorted(graph.inputs_of(peak))
['batch', 'prompt']
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import count
from typing import Any

from symroof.formula.evaluate import FUNCTIONS, RELATIONS, NoValue, power
from symroof.formula.polynomial import Monomial, Polynomial, add_term, constant, merged, plus, power_of, scaled


class Form(tuple[tuple[Monomial, Fraction], ...]):
    """A polynomial that can be a key: its terms in order. It is looked up in every block, so its hash is worked out once, and of the names alone:
    few forms differ in numbers only, and a fraction takes long to hash."""

    def __hash__(self) -> int:
        try:
            return self._hash
        except AttributeError:
            self._hash: int = hash(tuple([monomial for monomial, _ in self]))
            return self._hash

    @property
    def floats(self) -> tuple[tuple[Monomial, float], ...]:
        """The terms with floats for their numbers, made once: a scan works the same forms out in every turn."""
        try:
            return self._floats
        except AttributeError:
            self._floats: tuple[tuple[Monomial, float], ...] = tuple((monomial, float(coefficient)) for monomial, coefficient in self)
            return self._floats

    def __reduce__(self) -> tuple[type, tuple[Any]]:  # a hash of another process means nothing here
        return Form, (tuple(self),)


EXTREMES = {"max": "min", "min": "max"}
MISSING, VOID = "missing", "void"
"""An input without a value, and a product with one: zero where its other factor is zero, else without a value."""
MOST_EXPANDED = 48
"""Terms beyond which a product of sums stays a product."""


@dataclass(frozen=True)
class Operation:
    """A function of polynomials that is none itself.

    Kinds: ``max min ceil floor sqrt log2 exp power``; ``form``, a polynomial that others divide by or multiply as a whole;
    ``guard``, the first argument where the relation of the second holds; relations (``<=`` ...: their one argument against
    zero); ``missing`` and ``void``; the sums of :mod:`symroof.arrays.sums`.
    """

    kind: str
    args: tuple[Form, ...]
    words: tuple[str, ...] = ()


def added(parts: Iterable[Polynomial]) -> Polynomial:
    """The sum of several polynomials."""
    total: Polynomial = {}
    for part in parts:
        for monomial, coefficient in part.items():
            add_term(total, monomial, coefficient)
    return total


def frozen(p: Polynomial) -> Form:
    return Form(sorted(p.items()))


def number_of(p: Polynomial) -> Fraction | None:
    """The value of a polynomial that is a number; None where it has names."""
    return p.get((), Fraction(0)) if not p or (len(p) == 1 and () in p) else None


@dataclass
class Graph:
    """Operations by name, in an order in which each comes after what it speaks of."""

    inputs: tuple[str, ...]
    operations: dict[str, Operation] = field(default_factory=dict)
    _names: dict[Operation, str] = field(default_factory=dict)
    _missing: bool = False
    _reach: dict[str, frozenset[str]] = field(default_factory=dict)
    _spoken: dict[str, frozenset[str]] = field(default_factory=dict)
    _put: dict[tuple[tuple[str, Form], ...], tuple[dict[str, Polynomial], dict[str, bool]]] = field(default_factory=dict)

    # -------------------------------------------------------------------------------------------------- asking

    def reach(self, name: str) -> frozenset[str]:
        """The inputs (and running indices of sums) that a name depends on."""
        if name not in self.operations:
            return frozenset((name,))
        if name not in self._reach:
            inputs = frozenset().union(*map(self.inputs_of, self.operations[name].args))
            self._reach[name] = inputs - frozenset(self.operations[name].words)
        return self._reach[name]

    def inputs_of(self, p: Polynomial | Form) -> frozenset[str]:
        """The inputs that a polynomial depends on."""
        return frozenset().union(*(self.reach(name) for monomial in dict(p) for name, _ in monomial))

    def within(self, *forms: Polynomial | Form) -> Iterator[str]:
        """The operations that some polynomials are worked out from, each once."""
        seen: set[str] = set()
        left: list[Collection[str]] = [{name for form in forms for monomial in dict(form) for name, _ in monomial}]
        while left:
            for name in sorted(name for name in left.pop() if name in self.operations and name not in seen):
                seen.add(name)
                yield name
                left.append(self._direct(name))

    def lacking(self, p: Polynomial | Form) -> Iterator[str]:
        """The inputs without a value that a polynomial cannot do without."""
        if not self._missing:
            return
        seen: set[str] = set()
        left = [dict(p)]
        while left:
            for name in sorted({name for monomial in left.pop() for name, _ in monomial} - seen):
                seen.add(name)
                operation = self.operations.get(name)
                if operation and operation.kind == MISSING:
                    yield from operation.words
                elif operation and operation.kind != VOID:
                    left += map(dict, operation.args)

    def _direct(self, name: str) -> frozenset[str]:
        """The names that an operation speaks of itself; none of an input."""
        if name not in self._spoken:
            operation = self.operations.get(name)
            self._spoken[name] = frozenset(inner for arg in operation.args for monomial, _ in arg for inner, _ in monomial) if operation else frozenset()
        return self._spoken[name]

    def light(self, p: Polynomial) -> bool:
        """Whether every name is an input or moves with one input alone: such a polynomial is cheap on a grid."""
        return all(len(self.reach(name)) <= 1 for monomial in p for name, _ in monomial)

    # ------------------------------------------------------------------------------------------------- building

    def operation(self, kind: str, *args: Polynomial, words: tuple[str, ...] = ()) -> Polynomial:
        """An operation as a polynomial of one name; over numbers alone, its exact value."""
        if kind in FOLDED and all(number_of(arg) is not None for arg in args):
            return constant(FOLDED[kind](*(arg.get((), Fraction(0)) for arg in args)))
        return power_of(self.named(Operation(kind, tuple(frozen(arg) for arg in args), words)))

    def named(self, operation: Operation) -> str:
        if operation not in self._names:
            name = next(name for i in count(len(self.operations)) if (name := f"~{i}") not in self.operations)  # no input is called so
            self._names[operation] = name
            self.operations[name] = operation
            self._missing = self._missing or operation.kind == MISSING
        return self._names[operation]

    def times(self, p: Polynomial, q: Polynomial) -> Polynomial:
        """A product: written out where that stays small, of named factors where it would not."""
        if len(p) > 1 and len(q) > 1 and len(p) * len(q) > MOST_EXPANDED:
            p, q = self.whole(p), self.whole(q)
        p, q = (self.whole(a) if len(a) > 1 and number_of(b) is None and not self.light(a) else a for a, b in ((p, q), (q, p)))
        return added(scaled(q, a, m) for m, a in p.items())

    def over(self, p: Polynomial, q: Polynomial) -> Polynomial:
        """A quotient.

        Raises:
            NoValue: the divisor is zero wherever one looks.
        """
        if not q:
            raise NoValue("division by zero")
        ((monomial, coefficient),) = self.whole(q).items()
        inverse: Monomial = tuple((name, -exponent) for name, exponent in monomial)
        p = p if not monomial or self.light(p) else self.whole(p)
        return {merged(m, inverse): c / coefficient for m, c in p.items()}

    def whole(self, p: Polynomial) -> Polynomial:
        """A polynomial as one name, to be worked out once and used as it is."""
        return p if len(p) <= 1 else self.operation("form", p)

    def raised(self, base: Polynomial, exponent: Polynomial) -> Polynomial:
        """A power: small whole ones of a term are terms, all others operations."""
        fixed = number_of(exponent)
        if fixed is not None and number_of(base) is None and fixed.denominator == 1 and abs(fixed) <= 8:
            product = constant(Fraction(1))
            for _ in range(abs(int(fixed))):
                product = self.times(product, base)
            return product if fixed >= 0 else self.over(constant(Fraction(1)), product)
        return self.operation("power", base, exponent)

    def copy(self) -> Graph:
        """A graph that can be added to without the first one knowing."""
        return Graph(self.inputs, dict(self.operations), dict(self._names), self._missing)

    def absorbed(self, p: Polynomial) -> Polynomial:
        """``k*max(a, b) + r`` as ``max(k*a + r, k*b + r)`` where a, b and r are cheap: on a grid a sum of large arrays less."""
        extremes = [(monomial, self.operations[monomial[0][0]]) for monomial in p if self._is_extreme(monomial)]
        if len(extremes) != 1:
            return p
        ((monomial, operation),) = extremes
        rest, factor = {m: c for m, c in p.items() if m != monomial}, p[monomial]
        if not self.light(rest) or not all(self.light(dict(arg)) for arg in operation.args):
            return p
        kind = operation.kind if factor > 0 else EXTREMES[operation.kind]
        return self.operation(kind, *(plus(scaled(dict(arg), factor), rest) for arg in operation.args))

    def _is_extreme(self, monomial: Monomial) -> bool:
        return len(monomial) == 1 and monomial[0][1] == 1 and monomial[0][0] in self.operations and self.operations[monomial[0][0]].kind in EXTREMES

    def replaced(self, p: Polynomial, values: Mapping[str, Polynomial]) -> Polynomial:
        """The polynomial with others put for some of its names, however deep they lie in operations."""
        key = tuple((name, frozen(value)) for name, value in values.items())
        memo, changed = self._put.setdefault(key, (dict(values), dict.fromkeys(values, True)))

        def changes(name: str) -> bool:
            if name not in changed:
                changed[name] = any(map(changes, self._direct(name)))
            return changed[name]

        def put(name: str) -> Polynomial:
            if name not in memo:
                memo[name] = self._rebuilt(name, go) if changes(name) else power_of(name)
            return memo[name]

        def go(q: Polynomial) -> Polynomial:
            total: Polynomial = {}
            for monomial, coefficient in q.items():
                moved = [(power, base) for power in monomial if (base := put(power[0])) != power_of(power[0])]
                term: Polynomial = {tuple(power for power in monomial if all(power != other for other, _ in moved)): coefficient}
                for (_, exponent), base in moved:
                    term = self.times(term, self.raised(base, constant(Fraction(exponent))))
                total = plus(total, term)
            return total

        return go(p)

    def _rebuilt(self, name: str, go: Callable[[Polynomial], Polynomial]) -> Polynomial:
        operation = self.operations[name]
        args = [go(dict(arg)) for arg in operation.args]
        return self.whole(args[0]) if operation.kind == "form" else self.operation(operation.kind, *args, words=operation.words)


FOLDED: dict[str, Callable[..., Fraction]] = {
    **{name: (lambda *args, _of=function: _of(list(args))) for name, function in FUNCTIONS.items()},
    "power": power,
    **{relation: (lambda difference, _holds=holds: Fraction(_holds(difference, 0))) for relation, holds in RELATIONS.items()},
}
"""Operations over numbers alone are numbers, taken exactly."""
