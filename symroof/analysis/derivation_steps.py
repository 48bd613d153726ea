"""The steps of a derivation: each quantity on the way with its formula, the formula with numbers, and its value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

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
    """A name, its value, or a formula of values, as text and as LaTeX."""

    text: str
    latex: str


@dataclass(frozen=True, repr=False)
class DerivationStep:
    """One line of a derivation: a quantity, its formula, the formula with numbers, the value, or why there is none.

    ``search`` says how the value is computed where no formula gives it; the formula is then the name alone.
    """

    symbol: Symbol
    formula: Expr
    substituted: RenderedValue
    result: Result | None
    why_unknown: str = ""
    search: ImplicitDefinition | None = None

    @property
    def text(self) -> str:
        """The formula in the grammar of formulas."""
        return text(self.formula)

    def __repr__(self) -> str:
        value = f" = {self.result.text()}" if self.result else ""
        return f"<{self.symbol.name} = {self.search or self.substituted.text}{value}>"


def step_of(name: str, bound_case: BoundCase, with_ranges: bool = False) -> DerivationStep:
    """One line: formula, substituted formula, value. ``with_ranges``, as reviews have it, shows the range of each number."""
    case, theory = bound_case.case, bound_case.case.theory
    formula, put = case.readable_formula(name), dict[str, RenderedValue]()
    settled = _with_values(formula, bound_case, put)
    for node in parts(settled):
        if node.is_Symbol and node.name not in put and node.name != name:
            put[node.name] = _rendered_name(node.name, bound_case, with_ranges)

    def shown(each: str) -> RenderedValue:
        return put.get(each) or RenderedValue(each, theory.latex(each))

    return DerivationStep(
        theory.symbol(name),
        formula,
        RenderedValue(
            text(settled, lambda each: shown(each).text),
            latex(settled, lambda each: shown(each).latex, dots=True),
        ),
        bound_case.get(name),
        bound_case.why_unknown(name),
        case.search(name),
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
