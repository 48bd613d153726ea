"""The formulas of a case as JavaScript: every quantity that some names lead to, as functions of the inputs that move.

Whatever no moving input reaches is a number. Where a quantity is asked at changed inputs its formula may be another; the page has
that one beside it, under the names that are changed there.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from symroof.formula.codegen import javascript
from symroof.formula.evaluate import NoValue
from symroof.formula.parse import parse
from symroof.formula.tree import At, Name, Total, Tree, names, walk
from symroof.theory.case import Case
from symroof.theory.dependence import Dependence
from symroof.theory.quantities import QUANTITIES

Keys = frozenset[str]
Asked = tuple[str, Keys]
"""A name, and the names that are changed where it is asked for."""
SEARCHES = {"fixed": "fixed", "most": "most"}
"""How the page calls each kind of search; tests/report/test_live.py has every kind."""


@dataclass
class Program:
    """Functions and numbers, collected as they are asked for.

    Attributes:
        case: with the moving inputs free, as for functions over arrays.
        moving: the inputs that move.
        lacking: those among them that have no value for some settings.
    """

    case: Case
    moving: Keys
    lacking: Keys = frozenset()
    functions: dict[Asked, tuple[tuple[str, ...], str]] = field(default_factory=dict)
    numbers: dict[str, float | None] = field(default_factory=dict)
    dependence: Dependence = field(init=False)

    def __post_init__(self) -> None:
        self.dependence = Dependence(self.case)

    def add(self, *trees: Tree, changed: str = "") -> None:
        """Everything that these formulas lead to, where one name is changed."""
        waiting = [asked for tree in trees for asked in asked_by(tree, frozenset(filter(None, (changed,))))]
        while waiting:
            name, there = waiting.pop()
            if name in self.moving | there or (name, there) in self.functions:
                continue
            if self.dependence.moves(name, self.moving | there):
                waiting += self._function(name, there)
            elif name not in self.numbers:
                self.numbers[name] = self._number(name)

    def text(self, tree: Tree) -> str:
        """A formula as JavaScript; a factor that may have no value is asked for only where it matters."""
        return javascript(tree, [name for name in names(tree) if self._may_lack(name)])

    def _may_lack(self, name: str) -> bool:
        if self.dependence.moves(name, self.lacking):
            return True
        return not self.dependence.moves(name, self.moving) and self.case.theory.knows(name) and self._number(name) is None

    def _number(self, name: str) -> float | None:
        try:
            value = self.case.value(name)
        except NoValue:
            return None
        return None if isinstance(value, str) else float(value)

    def _function(self, name: str, changed: Keys) -> list[Asked]:
        """One quantity as a function; what it asks for in turn."""
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

    def script(self) -> str:
        """The program as a JavaScript object: numbers, and functions each with the names it asks for."""
        plain: dict[str, tuple[tuple[str, ...], str]] = {}
        for (name, _), function in sorted(self.functions.items(), key=lambda item: len(item[0][1])):
            if name not in self.numbers:  # a number where nothing is changed stays one there
                plain.setdefault(name, function)
        entries = [*_entries(plain)]
        for (name, changed), function in self.functions.items():
            if function != plain.get(name):
                entries += _entries({f"{name}|{','.join(sorted(changed))}": function})
        numbers = json.dumps(self.numbers, separators=(",", ":"))
        return f"{{numbers:{numbers},\nfunctions:{{{','.join(entries)}}}}}"


def _entries(functions: dict[str, tuple[tuple[str, ...], str]]) -> Iterator[str]:
    return (f"\n{json.dumps(key)}:[{json.dumps(asked, separators=(',', ':'))},e=>{text}]" for key, (asked, text) in functions.items())


def asked_by(tree: Tree, changed: Keys = frozenset()) -> Iterator[Asked]:
    """The names that a formula asks for, each with the names changed there; the index of a sum is its own.

    >>> [(name, sorted(changed)) for name, changed in asked_by(parse("sum(itl(context = prompt + step), step, 1, output)"))]
    [('itl', ['context']), ('prompt', []), ('output', [])]
    """
    indices = {node.index for node in walk(tree) if isinstance(node, Total)}
    for node in walk(tree):
        if isinstance(node, Name) and node.name not in indices:
            yield node.name, changed
        elif isinstance(node, At):
            yield node.name, changed | {key for key, _ in node.changes}


def together(formulas: Iterable[str]) -> str:
    """Several expressions as a list of functions."""
    return f"[{','.join(f'e=>{text}' for text in formulas)}]"
