"""The body of a search as one function: the formulas behind its names in order, those that the unknown does not move before it.

A search asks for hundreds of names at each place it looks at. Name by name that is a walk through formulas and through cases
at changed inputs; here the walk is printed once.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Mapping
from typing import Any

from symroof.symbolic.code import CodePrinter, GeneratedCode, uses
from symroof.symbolic.evaluation import UndefinedValue, function
from symroof.symbolic.expressions import At, Expr, Total, is_number, names
from symroof.symbolic.kernels import FUNCTIONS
from symroof.symbolic.reading import parse
from symroof.theory.case_formulas import CaseFormulas
from symroof.theory.layout import affects_layout
from symroof.theory.quantity import ImplicitDefinition

MOST_NESTED = 12


class NotPrinted(Exception):
    """Formulas that lead back to themselves, or that the changes replace by others: they are computed name by name."""


class Scope:
    """Where variables have their values: the case, changed inputs in it, or the body of a sum or a search.

    Attributes:
        lines: of the function that it is in; changed inputs have no function of their own.
        argument: the variable that the function is of; empty in the case.
        values: the variables of the names that are changed here.
        keys: these names and those of the scopes around.
    """

    def __init__(
        self,
        printer: Printer,
        values: Mapping[str, str],
        parent: Scope | None = None,
        argument: str = "",
    ) -> None:
        self.printer, self.values, self.parent, self.argument = printer, values, parent, argument
        own_lines = parent is None or argument
        self.lines: list[str] = [] if own_lines else parent.lines  # type: ignore[union-attr]
        self.set: dict[str, str] = {} if own_lines else parent.set  # type: ignore[union-attr]
        self.around: list[Scope] = [*parent.around, self] if parent else [self]
        self.keys = frozenset().union(*(scope.values for scope in self.around))
        self.known: dict[str, str] = {}
        self.below: dict[tuple[tuple[str, str], ...], Scope] = {}
        if len(self.around) > MOST_NESTED:
            raise NotPrinted

    def variable(self, name: str) -> str:
        """The variable of a name; what is not moved here has that of the scope around."""
        if name in self.values:
            return self.values[name]
        if name not in self.known:
            self.known[name] = ""
            if self.parent is None:
                self.known[name] = self.kept(f"o({self.printer.quoted(name)})")
            elif name in self.keys or not self.moves(name):
                self.known[name] = self.parent.variable(name)
            else:
                self.known[name] = self.kept(self.printer.formula(name, self))
        if not self.known[name]:
            raise NotPrinted  # it is on its way
        return self.known[name]

    def moves(self, name: str) -> bool:
        return self.printer.case.moved(name, frozenset(self.values))

    def kept(self, text: str) -> str:
        """A variable of a value; one that has the same already serves."""
        if text.isidentifier() or text.replace(".", "").isdigit():
            return text
        if text not in self.set:
            made = self.set[text] = self.printer.fresh()
            self.lines.append(f"{made} = {text}")
        return self.set[text]

    def at(self, node: At) -> str:
        """A quantity at changed inputs."""
        if self.parent is not None and not any(map(self.moves, names(node))):
            return self.parent.at(node)
        self.printer.check(dict(node.changes))
        values = {key: self.kept(self.printer.text(value, self)) for key, value in node.changes}
        key = tuple(sorted(values.items()))
        if key not in self.below:
            self.below[key] = Scope(self.printer, values, self)
        return self.below[key].variable(node.name)

    def function(self, unknown: str, body: Expr) -> str:
        """A function of one name, defined here."""
        made = self.printer.fresh()
        inner = Scope(self.printer, {unknown: f"x_{made}"}, self, f"x_{made}")
        inner.lines.append(f"return {self.printer.text(body, inner)}")
        self.lines += [f"def {made}(x_{made}):", *(f" {line}" for line in inner.lines)]
        return made

    def arguments(self) -> str:
        """What values here vary with: the shape of the case, and the arguments of the functions around."""
        return ",".join(["z", *(scope.argument for scope in self.around if scope.argument)])


class Printer(CodePrinter):
    """Prints the body of a search: of the values of a case, a function that gives the body as a function of the unknown."""

    def __init__(
        self, case: CaseFormulas, search: ImplicitDefinition, shaped: bool, careful: bool
    ) -> None:
        super().__init__((), careful)
        self.case, self.shaped = case, shaped
        self.search, self.undefined = search, False
        self.numbers = itertools.count()
        self.scope = Scope(self, {})

    def printed(self) -> GeneratedCode:
        self.check([self.search.unknown])
        made = self.scope.function(self.search.unknown, parse(self.search.body))
        lines = ["def formula(o, z):", *(f" {line}" for line in self.scope.lines)]
        return GeneratedCode("\n".join([*lines, f" return {made}"]), self.constants)

    def fresh(self) -> str:
        return f"v{next(self.numbers)}"

    def check(self, changes: Collection[str]) -> None:
        """Refuse changes under which names have other formulas."""
        shapes = self.shaped and any(map(affects_layout, changes))
        if shapes or not self.case.theory.split.isdisjoint(changes):
            raise NotPrinted

    def formula(self, name: str, scope: Scope) -> str:
        """The value of a name by its search or formula, where its conditions hold."""
        case = self.case
        if search := case.search(name, scope.keys):
            body = scope.function(search.unknown, parse(search.body))
            high = self.text(parse(search.high), scope)
            text = f"searched({search.kind!r},{body},{high},{scope.arguments()})"
        else:
            try:
                text = self.text(case.formula(name, scope.keys, decided=False), scope)
            except UndefinedValue:
                self.undefined, text = True, "nothing"
        quantity = None if name in case.given else case.theory.own.quantity(name)
        for condition, _ in quantity.exists if quantity else ():
            text = f"only_where({self.text(parse(condition), scope)},{text})"
        return text

    def text(self, expr: Expr, scope: Scope) -> str:
        """A formula over the variables of a scope."""
        outer = self.scope, self.uses
        self.scope, self.uses = scope, uses(expr)
        made = self.go(expr, 0)
        self.scope, self.uses = outer
        return made

    def name(self, name: str) -> str:
        return self.scope.variable(name)

    def part(self, node: Any) -> str:
        return self.scope.kept(self.rule(node, 1))

    def careful_product(self, factors: list[Any], go: Callable[[Any], str]) -> str:
        return f"times({','.join(map(go, factors))})"

    def at(self, node: At, go: Callable[[Any], str]) -> str:
        return self.scope.at(node)

    def sum(self, node: Total, first: str, last: str, depth: int) -> str:
        body = self.scope.function(node.index, node.body)
        return f"total(axes_of({self.scope.arguments()}),{body},{first},{last})"


def printed_body(
    case: CaseFormulas, search: ImplicitDefinition, shaped: bool, careful: bool
) -> tuple[Callable[..., Any], bool]:
    """The body of a search as a function, printed once for all cases that have the same formulas; and whether it lacks an input.

    Args:
        case: with the layout that it has, whatever is changed.
        search: what is searched for.
        shaped: whether changes may ask for another layout.
        careful: whether products are looked at for factors that are zero beside some without a value.

    Raises:
        NotPrinted: formulas on the way lead back to themselves, or changes replace them by others.
    """
    given = tuple((name, None if is_number(tree) else tree) for name, tree in case.given.items())
    key = (search, shaped, careful, given, tuple(case.numbers), case.free, case.rounded)
    known = case.theory.printed_bodies
    if key not in known:
        printer = Printer(case, search, shaped, careful)
        known[key] = function(printer.printed(), FUNCTIONS), printer.undefined
    return known[key]  # type: ignore[no-any-return]
