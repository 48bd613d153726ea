"""The steps of a derivation: each quantity on the way with its formula, the formula with numbers, and its value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import sympy

from symroof.cases.bound_case import BoundCase
from symroof.cases.quantity_result import Result
from symroof.symbolic.evaluation import NoValue
from symroof.symbolic.expressions import (
    At,
    Expr,
    Total,
    mentions,
    names,
    parts,
    rebuild,
    symbol,
)
from symroof.symbolic.printing import latex, text
from symroof.theory.quantity import ImplicitDefinition
from symroof.theory.symbols import STEP_INDEX, Symbol
from symroof.units import is_whole, readable, scaled, significant


class RenderedValue(NamedTuple):
    """A name or its value as text and as LaTeX."""

    text: str
    latex: str


@dataclass(frozen=True)
class Substituted:
    """A formula with numbers in place of its names; a name without a value stays."""

    _tree: Expr
    substituted_values: Mapping[str, RenderedValue] = field(hash=False)
    spell: Callable[[str], str] = field(compare=False)

    @property
    def text(self) -> str:
        return text(self._tree, lambda name: self._shown(name).text)

    @property
    def latex(self) -> str:
        return latex(self._tree, lambda name: self._shown(name).latex, dots=True)

    def _shown(self, name: str) -> RenderedValue:
        return (
            self.substituted_values[name]
            if name in self.substituted_values
            else RenderedValue(name, self.spell(name))
        )


@dataclass(frozen=True, repr=False)
class DerivationStep:
    """One line of a derivation: a quantity, its formula, the formula with numbers, the value, or why there is none.

    ``search`` says how the value is computed where no formula gives it; the formula is then the name alone.
    """

    symbol: Symbol
    _formula: Expr
    substituted: Substituted
    result: Result | None
    why_unknown: str = ""
    search: ImplicitDefinition | None = None

    @property
    def text(self) -> str:
        """The formula in the grammar of formulas."""
        return text(self._formula)

    def __repr__(self) -> str:
        value = f" = {self.result.text()}" if self.result else ""
        return f"<{self.symbol.name} = {self.search or self.substituted.text}{value}>"


def formula_of(step: DerivationStep) -> Expr:
    """The formula tree of a step, for the rooms of this package."""
    return step._formula


def step_of(name: str, bound_case: BoundCase, with_ranges: bool = False) -> DerivationStep:
    """One line: formula, substituted formula, value. ``with_ranges``, as reviews have it, shows the range of each number, and a unit that all
    numbers share at the value alone."""
    formula = bound_case.case.readable_formula(name)
    theory = bound_case.case.theory
    put: dict[str, RenderedValue] = {}
    settled = _with_values(formula, bound_case, put)
    put |= {
        node.name: _rendered_name(node.name, bound_case, with_ranges)
        for node in parts(settled)
        if node.is_Symbol and node.name not in put and node.name != name
    }
    result = bound_case.get(name)
    if with_ranges and result is not None:
        put |= _in_one_unit(settled, result, bound_case)
    reason = bound_case.why_unknown(name) if result is None else ""
    return DerivationStep(
        theory.symbol(name),
        formula,
        Substituted(settled, put, theory.latex),
        result,
        reason,
        bound_case.case.search(name),
    )


def _with_values(
    tree: Expr,
    bound_case: BoundCase,
    put: dict[str, RenderedValue],
    moving: frozenset[str] = frozenset(),
) -> Expr:
    """The formula with quantities at changed inputs substituted by value; under a sum they depend on its index and stay."""
    if isinstance(tree, Total):
        moving |= {tree.index}
    if isinstance(tree, At) and not any(
        mentions(value, index) for _, value in tree.changes for index in moving
    ):
        try:
            value = bound_case.case.evaluate(tree)
        except NoValue:
            return tree
        placeholder = f"at{len(put)}"
        put[placeholder] = _rendered(value, bound_case.case.theory.symbol(tree.name))
        return symbol(placeholder)
    return rebuild(tree, lambda child: _with_values(child, bound_case, put, moving))


def is_number(tree: Expr) -> bool:
    """Whether a formula contains no name."""
    return not names(tree) and not any(isinstance(node, At) for node in parts(tree))


def _rendered_name(name: str, bound_case: BoundCase, with_ranges: bool = False) -> RenderedValue:
    """A name's value as written in a substituted line; the name itself where it is not known."""
    theory = bound_case.case.theory
    if name == STEP_INDEX.name:
        return RenderedValue(name, STEP_INDEX.latex)
    try:
        value = bound_case.case.value(name)
    except (NoValue, LookupError):
        return RenderedValue(name, theory.latex(name))
    written = _rendered(value, theory.symbol(name))
    result = bound_case.get(name) if with_ranges else None
    if result is not None and result.ranged:
        span = f"({result.span()})"
        return RenderedValue(f"{written.text} {span}", rf"{written.latex}\,\text{{{span}}}")
    return written


def _in_one_unit(tree: Expr, result: Result, bound_case: BoundCase) -> dict[str, RenderedValue]:
    """The numbers of a sum, or of the largest of several, in the unit that their result is printed in; nothing where they have other units."""
    own, theory = result.symbol, bound_case.case.theory
    shown = list(dict.fromkeys(node.name for node in parts(tree) if node.is_Symbol))
    is_sum = all(
        node.is_Symbol
        or node.is_Add
        or isinstance(node, (sympy.Max, sympy.Min))
        or (node.is_Mul and node.args[0] == -1 and len(node.args) == 2)
        or node == -1
        for node in parts(tree)
    )
    if (
        not is_sum
        or len(shown) < 2
        or not isinstance(result.value, float)
        or not result.value
        or own.counted
        or own.written_in
    ):
        return {}
    values = {
        name: bound_case.get(name)
        for name in shown
        if theory.knows(name) and theory.symbol(name).unit == own.unit
    }
    number, _ = scaled(result.value, own.unit)
    if len(values) < len(shown) or not own.unit:
        return {}
    return {
        name: _rendered_in(value, float(result.value / number))
        for name, value in values.items()
        if value is not None and isinstance(value.value, float)
    }


def _rendered_in(result: Result, size: float) -> RenderedValue:
    """A value as a number of units of a size, with its range."""
    digits = significant(result.value / size).replace(",", "")
    if not result.ranged or result.low is None or result.high is None:
        return RenderedValue(digits, digits)
    span = f"({significant(result.low / size)} to {significant(result.high / size)})"
    return RenderedValue(f"{digits} {span}", rf"{digits}\,\text{{{span}}}")


def _rendered(value: Any, symbol: Symbol) -> RenderedValue:
    """A value as written in a formula."""
    if not isinstance(value, float):
        return RenderedValue(str(value), rf"\text{{{value}}}")
    if symbol.unit in ("", "token", "request", "device") or symbol.counted:
        plain = significant(value, 12 if is_whole(value) else 6).replace(",", "")
        return RenderedValue(plain, plain)
    number, unit = scaled(value, symbol.unit)
    digits, spelled = (
        significant(number).replace(",", ""),
        unit.replace("%", r"\%").replace(" ", r"\ ").replace("µ", r"\mu "),
    )
    return RenderedValue(readable(value, symbol.unit), rf"{digits}\,\mathrm{{{spelled}}}")
