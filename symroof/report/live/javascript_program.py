"""The formulas of a case as JavaScript functions of the inputs that a reader can change.

Quantities independent of these inputs become numbers. The formula of a quantity at changed inputs, as in ``itl(context = 1)``, may differ;
it is a separate function under the names of the changed inputs.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from sympy import Symbol

from symroof.symbolic.code import javascript
from symroof.symbolic.evaluation import NoValue
from symroof.symbolic.expressions import At, Expr, Total, names, parts
from symroof.symbolic.reading import parse
from symroof.theory.case import Case
from symroof.theory.dependence import Dependence
from symroof.theory.quantities import QUANTITIES

Keys = frozenset[str]
Asked = tuple[str, Keys]
"""A name, and the inputs changed where it is used."""
SEARCHES = {"fixed_point": "fixed", "largest": "most"}
"""JavaScript function of each kind of search."""


@dataclass
class Program:
    """The functions and numbers of a page, collected from the formulas that use them.

    Attributes:
        case: the case with symbolic inputs.
        moving: the inputs that can change.
        lacking: those that have no value in some settings.
    """

    case: Case
    moving: Keys
    lacking: Keys = frozenset()
    functions: dict[Asked, tuple[tuple[str, ...], str]] = field(default_factory=dict)
    numbers: dict[str, float | None] = field(default_factory=dict)
    dependence: Dependence = field(init=False)

    def __post_init__(self) -> None:
        self.dependence = Dependence(self.case)

    def add(self, *trees: Expr, changed: str = "") -> None:
        """Add everything that these formulas use, with one input changed."""
        waiting = [
            asked for tree in trees for asked in asked_by(tree, frozenset(filter(None, (changed,))))
        ]
        while waiting:
            name, there = waiting.pop()
            if name in self.moving | there or (name, there) in self.functions:
                continue
            if self.dependence.moves(name, self.moving | there):
                waiting += self._function(name, there)
            elif name not in self.numbers:
                self.numbers[name] = self._number(name)

    def text(self, tree: Expr) -> str:
        """A formula as JavaScript; factors that may be unknown are evaluated lazily."""
        return javascript(tree, [name for name in names(tree) if self._may_lack(name)])

    def _may_lack(self, name: str) -> bool:
        if self.dependence.moves(name, self.lacking):
            return True
        return (
            not self.dependence.moves(name, self.moving)
            and self.case.theory.knows(name)
            and self._number(name) is None
        )

    def _number(self, name: str) -> float | None:
        try:
            value = self.case.value(name)
        except NoValue:
            return None
        return None if isinstance(value, str) else float(value)

    def _function(self, name: str, changed: Keys) -> list[Asked]:
        """Add a quantity as a function; returns the names it uses."""
        if search := self.case.search(name, self.moving | changed):
            body, high = parse(search.body), parse(search.high)
            text = f"e.{SEARCHES[search.kind]}({json.dumps(search.unknown)},e=>{self.text(body)},{self.text(high)})"
            asked = [*asked_by(body, changed | {search.unknown}), *asked_by(high, changed)]
        else:
            tree = self.case.formula(name, self.moving | changed)
            text, asked = self.text(tree), list(asked_by(tree, changed))
        quantity = QUANTITIES.get(name)
        for condition, _ in quantity.exists if quantity and name not in self.case.given else ():
            demand = parse(condition)
            text = f"guard({self.text(demand)},()=>{text})"
            asked += asked_by(demand, changed)
        self.functions[name, changed] = tuple(dict.fromkeys(inner for inner, _ in asked)), text
        return asked

    def script(self, shared: dict[str, int]) -> str:
        """The program as a JavaScript object: numbers, and functions with the names they use, by their place among ``shared`` ones."""
        plain: dict[str, tuple[tuple[str, ...], str]] = {}
        for (name, _), function in sorted(self.functions.items(), key=lambda item: len(item[0][1])):
            if name not in self.numbers:  # unchanged inputs: already a number
                plain.setdefault(name, function)
        entries = [*_entries(plain, shared)]
        for (name, changed), function in self.functions.items():
            if function != plain.get(name):
                entries += _entries({f"{name}|{','.join(sorted(changed))}": function}, shared)
        numbers = json.dumps(self.numbers, separators=(",", ":"))
        return f"{{numbers:{numbers},\nfunctions:{{{','.join(entries)}}}}}"


def _entries(
    functions: dict[str, tuple[tuple[str, ...], str]], shared: dict[str, int]
) -> Iterator[str]:
    """The entries of functions, which programs share: each is printed once."""
    for key, (asked, text) in functions.items():
        place = shared.setdefault(
            f"\n[{json.dumps(asked, separators=(',', ':'))},e=>{text}]", len(shared)
        )
        yield f"\n{json.dumps(key)}:F[{place}]"


def asked_by(tree: Expr, changed: Keys = frozenset()) -> Iterator[Asked]:
    """The names that a formula uses, each with the inputs changed there; without sum indices.

    >>> [(name, sorted(changed)) for name, changed in asked_by(parse("sum(itl(context = prompt + step), step, 1, output)"))]
    [('itl', ['context']), ('prompt', []), ('output', [])]
    """
    indices = {node.index for node in parts(tree) if isinstance(node, Total)}
    for node in parts(tree):
        if isinstance(node, Symbol) and node.name not in indices:
            yield node.name, changed
        elif isinstance(node, At):
            yield node.name, changed | {key for key, _ in node.changes}


def javascript_list(formulas: Iterable[str]) -> str:
    """Expressions as a JavaScript array of functions."""
    return f"[{','.join(f'e=>{text}' for text in formulas)}]"
