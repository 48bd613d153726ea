"""From the formulas of a case to a graph: definitions put in as far as the inputs reach, all else folded to numbers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

from symroof.arrays.graph import EXTREMES, MISSING, VOID, Graph, added, number_of
from symroof.arrays.sums import total
from symroof.formula.evaluate import FUNCTIONS, NoValue
from symroof.formula.parse import parse
from symroof.formula.polynomial import MINUS, Polynomial, constant, plus, power_of, scaled
from symroof.formula.tree import Add, At, Call, Compare, Div, Largest, Mul, Name, Neg, Num, Pow, Total, Tree
from symroof.theory.case import MOST_CHANGES, Case
from symroof.theory.defaults import Missing
from symroof.theory.dependence import Dependence
from symroof.theory.quantities import QUANTITIES
from symroof.theory.quantity import Search

Changes = Mapping[str, Polynomial]
"""What stands for some names: the running index of a sum, an input at which a quantity is asked elsewhere."""
Result = Polynomial | tuple[str, Polynomial] | tuple[tuple[str, ...], list[Polynomial]] | bool | str


@dataclass
class Builder:
    """Builds the polynomials of a case's quantities over some of its inputs.

    The inputs may be quantities too: they then stand for themselves, and what depends on them follows.
    """

    case: Case
    inputs: tuple[str, ...]
    _memo: dict[tuple[str, tuple[tuple[str, object], ...]], Polynomial] = field(default_factory=dict)
    _open: set[tuple[str, tuple[tuple[str, object], ...]]] = field(default_factory=set)
    _indices: int = 0
    _depth: int = 0

    @cached_property
    def graph(self) -> Graph:
        return Graph(self.inputs)

    @cached_property
    def dependence(self) -> Dependence:
        return Dependence(self.case)

    def result(self, name: str) -> Result:
        """A quantity: a number as a polynomial; a truth as a relation and what it holds against zero; a label as the names
        of its arms and the arms. A truth or label that no input moves is itself.

        Raises:
            NoValue: it has none anywhere (Missing: an input it needs is not given).
        """
        changes = {key: power_of(key) for key in self.inputs}
        if name in changes:
            return changes[name]
        tree = Name(name) if self.case.search(name, changes) else self.case.formula(name, changes)
        if not isinstance(tree, Compare | Largest):
            return self._complete(self._name(name, changes))
        if not self.dependence.moves(name, frozenset(changes)):
            fixed: bool | str = self.case.value(name)
            return fixed
        if isinstance(tree, Compare):
            return tree.operator, self._complete(self._difference(tree, changes))
        return tuple(label for label, _ in tree.arms), [self._complete(self._tree(arm, changes)) for _, arm in tree.arms]

    def value(self, tree: Tree) -> Polynomial:
        """Any formula of numbers over the case's names.

        Raises:
            NoValue: it has none anywhere.
        """
        return self._complete(self._tree(tree, {key: power_of(key) for key in self.inputs}))

    # ---------------------------------------------------------------------------------------------------- names

    def _name(self, name: str, changes: Changes) -> Polynomial:
        if name in changes:
            return changes[name]
        keys = frozenset(changes)
        if not self.dependence.moves(name, keys):
            return self._still(name)
        mine = tuple((key, tuple(sorted(changes[key].items()))) for key in sorted(keys) if self.dependence.moves(name, frozenset((key,))))
        if (name, mine) not in self._memo:
            if (name, mine) in self._open:
                raise NoValue(f"{name} is defined by itself")
            self._open.add((name, mine))
            try:
                search = self.case.search(name, keys)
                result = self._searched(search, changes) if search else self._tree(self.case.formula(name, keys), changes)
                self._memo[name, mine] = self._guarded(name, result, changes)
            finally:
                self._open.discard((name, mine))
        return self._memo[name, mine]

    def _searched(self, search: Search, changes: Changes) -> Polynomial:
        self._indices += 1
        running = f"~{search.unknown}{self._indices}"
        body = self._tree(parse(search.body), {**changes, search.unknown: power_of(running)})
        return self.graph.operation(search.kind, body, self._tree(parse(search.high), changes), words=(running,))

    def _still(self, name: str) -> Polynomial:
        """A name that no input moves, as a number; an input without a value may yet not matter: links do not while there is one device."""
        try:
            return constant(Fraction(self.case.value(name)))
        except Missing as missing:
            return self.graph.operation(MISSING, words=(missing.name,))

    def _complete(self, p: Polynomial) -> Polynomial:
        """The same polynomial, where nothing is missing in it wherever one looks."""
        for name in self.graph.lacking(p):
            raise Missing(name)
        return p

    def _guarded(self, name: str, value: Polynomial, changes: Changes) -> Polynomial:
        """What a declaration demands of its inputs: where it does not hold there is no value."""
        quantity = QUANTITIES.get(name)
        for condition, _ in quantity.exists if quantity and name not in self.case.given else ():
            tree = parse(condition)
            assert isinstance(tree, Compare)
            value = self.graph.operation("guard", value, self.graph.operation(tree.operator, self._difference(tree, changes)))
        return value

    def _elsewhere(self, name: str, changes: Changes) -> Polynomial:
        """A quantity at changed inputs; a circle of given formulas through them ends here, as it does in a case."""
        if self._depth >= MOST_CHANGES:
            raise NoValue(f"{name} is defined by itself")
        self._depth += 1
        try:
            return self._name(name, changes)
        finally:
            self._depth -= 1

    # ---------------------------------------------------------------------------------------------------- trees

    def _tree(self, tree: Tree, changes: Changes) -> Polynomial:
        graph = self.graph
        match tree:
            case Num(value):
                return constant(value)
            case Name(name):
                return self._name(name, changes)
            case Neg(arg):
                return scaled(self._tree(arg, changes), MINUS)
            case Add(terms):
                return added(self._tree(term, changes) for term in terms)
            case Mul(factors):
                return self._product(factors, changes)
            case Div(over, under):
                return graph.over(self._tree(over, changes), self._tree(under, changes))
            case Pow(base, exponent):
                return graph.raised(self._tree(base, changes), self._tree(exponent, changes))
            case Call(function, ()):
                return constant(FUNCTIONS[function]([]))
            case Call(function, args):
                lowered = [self._tree(arg, changes) for arg in args]
                return self._extreme(function, lowered) if function in EXTREMES else graph.operation(function, *lowered)
            case Total(body, index, first, last):
                return self._total(body, index, self._tree(first, changes), self._tree(last, changes), changes)
            case At(name, pairs):
                return self._elsewhere(name, {**changes, **{key: self._tree(value, changes) for key, value in pairs}})
        raise NoValue("a relation or a label in place of a number")

    def _product(self, factors: tuple[Tree, ...], changes: Changes) -> Polynomial:
        product = self._tree(factors[0], changes)
        for factor in factors[1:]:
            if not product:
                return product  # no links means no time on them, whatever their bandwidth would be
            other = self._tree(factor, changes)
            voided = number_of(product) is None and any(self.graph.lacking(other))
            product = self.graph.operation(VOID, product) if voided else self.graph.times(product, other)
        return product

    def _extreme(self, function: str, args: list[Polynomial]) -> Polynomial:
        """A maximum or minimum: numbers among its arms are one, and equal arms are one."""
        numbers = [arg for arg in args if not any(arg)]
        moving = [arg for i, arg in enumerate(args) if any(arg) and arg not in args[:i]]
        folded = [self.graph.operation(function, *numbers)] if numbers else []
        arms = [*moving, *folded]
        return arms[0] if len(arms) == 1 else self.graph.operation(function, *arms)

    def _total(self, body: Tree, index: str, first: Polynomial, last: Polynomial, changes: Changes) -> Polynomial:
        self._indices += 1
        running = f"~{index}{self._indices}"
        inner = self._tree(body, {**changes, index: power_of(running)})
        return total(self.graph, inner, running, first, last)

    def _difference(self, tree: Compare, changes: Changes) -> Polynomial:
        return plus(self._tree(tree.left, changes), scaled(self._tree(tree.right, changes), MINUS))
