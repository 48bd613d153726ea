"""Formulas of a case as SymPy expressions, and the exact numbers to put into them."""

from collections.abc import Mapping
from contextlib import suppress
from fractions import Fraction
from typing import Any

from symroof.cases.case_results import Answers
from symroof.formula.evaluate import NoValue
from symroof.formula.rewrite import inline, substitute
from symroof.formula.to_sympy import label
from symroof.formula.tree import At, Name, Tree, names, walk
from symroof.symbols import expressions, symbol
from symroof.theory.quantities import QUANTITIES
from symroof.theory.symbols import INPUTS
from symroof.theory.theory import UnknownName


def in_sympy(tree: Tree, answers: Answers) -> Any:
    """A formula in the symbols of :mod:`symroof.symbols`, quantities at changed inputs written out as far as the change reaches.

    >>> from symroof.analysis.study import Study
    >>> from symroof.formula.parse import parse
    >>> in_sympy(parse("weight_bytes + kv_cache_bytes(context = prompt + output)"), Study("llama-3-8b").first)
    batch*kv_bytes_per_token*(output + prompt) + weight_bytes
    """
    if answers.in_sympy is None:
        answers.in_sympy = expressions()
    return answers.in_sympy(changes_put_in(tree, answers))


def changes_put_in(tree: Tree, answers: Answers) -> Tree:
    """A formula whose quantities at changed inputs are replaced by their definitions, down to where the change stands."""
    if not any(isinstance(node, At) for node in walk(tree)):
        return tree
    case = answers.case

    def formula(name: str, changed: frozenset[str]) -> Tree | None:
        moved = any(case.theory.depends(name, key) for key in changed)
        return case.stands_for(name, changed=changed) if moved else None

    return inline(tree, formula)


def defined(name: str, answers: Answers, depth: int | None = None) -> Any:
    """The expression of a quantity: over inputs, or its definitions put in so many times."""
    if depth is None:
        return in_sympy(answers.case.expanded(Name(name)), answers)
    tree: Tree = Name(name)
    for _ in range(depth):
        tree = _opened_once(changes_put_in(tree, answers), answers)
    return in_sympy(tree, answers)


def _opened_once(tree: Tree, answers: Answers) -> Tree:
    """A formula with the definition of each of its names; a name that stands for a number remains."""

    def formula(name: str) -> Tree:
        stands = answers.case.explains(name)
        return stands if names(stands) else Name(name)

    return substitute(tree, {name: formula(name) for name in names(tree)})


class Values(dict[Any, Any]):
    """Symbol -> exact number, of the inputs of a case. A derived quantity is found as well, and worked out when it is: ``xreplace`` puts it in."""

    def __init__(self, numbers: Mapping[Any, Any], answers: Answers) -> None:
        super().__init__(numbers)
        self._answers = answers

    def __contains__(self, key: object) -> bool:
        import sympy

        if super().__contains__(key):
            return True
        with suppress(UnknownName):
            return isinstance(key, sympy.Symbol) and key == symbol(key.name) and self._answers.case.known(key.name)
        return False

    def __missing__(self, key: Any) -> Any:
        if key not in self:
            raise KeyError(key)
        return number(self._answers.case.value(key.name))

    def get(self, key: Any, default: Any = None) -> Any:
        return self[key] if key in self else default  # noqa: SIM401 (it is that method)

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (dict(self),)


def values(answers: Answers, quantities: bool = False) -> dict[Any, Any]:
    """Symbol -> exact number: every input that has a value, defaults included, and what has a value but no formula; with ``quantities`` all."""
    case = answers.case
    declared = (symbol.name for symbol in case.theory.own.inputs)
    inputs = (name for name in dict.fromkeys((*case.given, *INPUTS, *declared)) if name in case.given or case.default(name) is not None)
    derived = answers.quantities() if quantities else (name for name in QUANTITIES if case.theory.definition(name) is None)
    numbers: dict[Any, Any] = {}
    for name in dict.fromkeys((*inputs, *derived)):
        try:
            numbers[symbol(name)] = number(case.value(name))
        except (NoValue, UnknownName):
            continue
    return numbers if quantities else Values(numbers, answers)


def number(value: Any) -> Any:
    """A value as SymPy has it: a rational, a truth, or the symbol of a label."""
    import sympy

    if isinstance(value, Fraction):
        return sympy.Rational(value.numerator, value.denominator)
    return sympy.true if value is True else sympy.false if value is False else label(str(value))
