"""The derivation of a number: definition, expansion to inputs, substituted line, value, the same for every step on the way, and its elasticity in every input."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from symroof.analysis.in_sympy import in_sympy
from symroof.cases.bound_case import BoundCase
from symroof.cases.values import Result, plain_value
from symroof.errors import NoValue
from symroof.symbolic.expressions import Expr, names, parts, sums, symbol
from symroof.symbolic.nodes import At
from symroof.symbolic.printing import latex, text
from symroof.theory.declarations import DropsCaches
from symroof.theory.quantities import ImplicitDefinition
from symroof.theory.symbols import (
    ARCHITECTURE,
    PARALLEL,
    STEP_INDEX,
    UNDECLARED_NAMES,
    Symbol,
    base_name,
)
from symroof.theory.theory import Theory
from symroof.units import is_whole, readable, scaled, settled, significant, strict

FIXED = frozenset(symbol.name for symbol in (*ARCHITECTURE, *PARALLEL))
"""Inputs that do not move by one per cent: the model's shape, and the number of devices."""

NOTICEABLE = 0.005


class RenderedValue(NamedTuple):
    """A name, its value, or a formula of values, as text and as LaTeX."""

    text: str
    latex: str


@dataclass(frozen=True, repr=False)
class DerivationStep(DropsCaches):
    """One line of a derivation: a quantity, its formula, the formula with numbers, the value, or why there is none."""

    name: str
    bound_case: BoundCase

    @property
    def _theory(self) -> Theory:
        return self.bound_case.case.theory

    @property
    def symbol(self) -> Symbol:
        """The quantity with its unit and meaning."""
        return self._theory.symbol(self.name)

    @cached_property
    def formula(self) -> Expr:
        """The formula set in the case, or the declared one; the name alone of an input, and where no formula gives the value."""
        return self.bound_case.case.readable_formula(self.name)

    @property
    def search(self) -> ImplicitDefinition | None:
        """How the value is computed where no formula gives it."""
        return self.bound_case.case.search(self.name)

    @property
    def text(self) -> str:
        """The formula in the grammar of formulas."""
        return text(self.formula)

    @cached_property
    def substituted(self) -> RenderedValue:
        """The formula with numbers, quantities at changed inputs among them; under a sum those depend on its index and stay."""
        put, made, case = dict[str, RenderedValue](), dict[Any, Any](), self.bound_case.case
        indices = {node.index for node in sums(self.formula)}
        for part in parts(self.formula):
            if isinstance(part, At) and indices.isdisjoint(names(part)):
                with suppress(NoValue):
                    name, declared = f"at{len(put)}", case.theory.symbol(part.name)
                    put[name], made[part] = _rendered(case.evaluate(part), declared), symbol(name)
        settled = self.formula.xreplace(made) if made else self.formula
        for node in parts(settled):
            if node.is_Symbol and node.name not in put and node.name != self.name:
                put[node.name] = _rendered_name(node.name, self.bound_case)

        def shown(each: str) -> RenderedValue:
            return put.get(each) or RenderedValue(each, self._theory.latex(each))

        return RenderedValue(
            text(settled, lambda each: shown(each).text),
            latex(settled, lambda each: shown(each).latex, dots=True),
        )

    @cached_property
    def result(self) -> Result | None:
        """The value with range and flags, or None where an input is missing."""
        return self.bound_case.get(self.name)

    @cached_property
    def why_unknown(self) -> str:
        """Why there is no value; empty where there is one."""
        return self.bound_case.why_unknown(self.name)

    def __repr__(self) -> str:
        value = f" = {self.result.text()}" if self.result else ""
        return f"<{self.name} = {self.search or self.substituted.text}{value}>"

    def as_json(self) -> dict[str, Any]:
        unknown = {"value": None, "unit": self.symbol.unit, "reason": self.why_unknown}
        definition = self._both(self.formula)
        if self.search:
            escaped = str(self.search).replace("_", r"\_").replace("^", r"\^{}")
            definition = {"text": str(self.search), "latex": rf"\text{{{escaped}}}"}
        shown = {"definition": definition, "substituted": self.substituted._asdict()}
        return {
            "quantity": self.name,
            **shown,
            **(self.result.as_json() if self.result else unknown),
        }

    def _both(self, tree: Expr) -> dict[str, str]:
        return {"text": text(tree), "latex": latex(tree, self._theory.latex)}


def _rendered_name(name: str, bound_case: BoundCase) -> RenderedValue:
    """A name's value as written in a substituted line; the name itself where it is not known."""
    theory = bound_case.case.theory
    if name == STEP_INDEX.name:
        return RenderedValue(name, STEP_INDEX.latex)
    try:
        value = bound_case.case.value(name)
    except (NoValue, LookupError):
        return RenderedValue(name, theory.latex(name))
    return _rendered(value, theory.symbol(name))


def _rendered(value: Any, symbol: Symbol) -> RenderedValue:
    """A value as written in a formula."""
    if not isinstance(value, float):
        return RenderedValue(str(value), rf"\text{{{value}}}")
    if symbol.unit in ("", "token", "request", "device") or symbol.counted:
        plain = significant(value, 12 if is_whole(value) else 6).replace(",", "")
        return RenderedValue(plain, plain)
    number, unit = scaled(value, symbol.unit)
    digits = significant(number).replace(",", "")
    spelled = unit.replace("%", r"\%").replace(" ", r"\ ").replace("µ", r"\mu ")
    return RenderedValue(readable(value, symbol.unit), rf"{digits}\,\mathrm{{{spelled}}}")


class Derivation(DerivationStep):
    """The derivation of one quantity in one case, symbolic where inputs are missing.

    >>> from symroof.analysis.study import Study
    >>> derivation = Study(model="llama-3-8b").derive("kv_bytes_per_token")
    >>> derivation.definition
    2*head_dim*kv_bytes_per_element*n_kv_heads*n_layers
    >>> derivation
    <kv_bytes_per_token = 2*n_layers*n_kv_heads*head_dim*kv_bytes_per_element = 131.1 kB/token>
    >>> print(derivation.latex())
    \\kappa = 2 L H_{kv} d_h b_{kv}
    >>> derivation.steps[-1].substituted.text, derivation.result.text()
    ('2*32*8*128*2 byte', '131.1 kB/token')

    Attributes:
        name: the quantity derived.
        bound_case: the case it is derived in.
        steps: one step for every quantity on the way, deepest first, the quantity itself last.
    """

    @cached_property
    def _expansion(self) -> Expr:
        """The formula over inputs alone."""
        named = names(self.formula)
        return self.bound_case.case.expanded(symbol(self.name)) if named else self.formula

    @property
    def definition(self) -> Any:
        """The definition as a SymPy expression."""
        return in_sympy(self.formula, self.bound_case)

    @property
    def expanded(self) -> Any:
        """The expansion to inputs as a SymPy expression."""
        return in_sympy(self._expansion, self.bound_case)

    @property
    def text(self) -> str:
        """The definition in the grammar of formulas; that of a number has its unit."""
        shown, unit = text(self.formula), self.symbol.unit
        if names(self.formula) or not strict(self.symbol.dimension):
            return shown
        return f"{shown} {unit}" if self.formula.is_Integer else f"{shown}*(1 {unit})"

    @property
    def expanded_text(self) -> str:
        """The expansion to inputs in the grammar of formulas."""
        return text(self._expansion) if names(self._expansion) else self.text

    def latex(self) -> str:
        """The definition as LaTeX; an expression without a name is itself."""
        formula = latex(self.formula, self._theory.latex)
        unnamed = isinstance(self.name, UNDECLARED_NAMES)
        return formula if unnamed else f"{self._theory.latex(self.name)} = {formula}"

    def __repr__(self) -> str:
        formula = f": {self.search}" if self.search else f" = {self.text}"
        if isinstance(self.name, UNDECLARED_NAMES):
            formula = ""
        value = f" = {self.result.text()}" if self.result else ""
        derived = self.result and self.name in self._theory.definitions
        bound = self.bound_case.peak_bound(self.name) if derived else None
        return f"<{self.name}{formula}{value}{f', bound {bound.plain()}' if bound else ''}>"

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.latex()}$"

    @cached_property
    def steps(self) -> tuple[DerivationStep, ...]:
        """One line for every quantity on the way, deepest first, this one last."""
        order: dict[str, None] = {}
        self._visit(self.name, order, set())
        return tuple(DerivationStep(name, self.bound_case) for name in order)

    def _visit(self, name: str, order: dict[str, None], seen: set[str]) -> None:
        if name in seen:  # also while its own formula is gone through, which may lead back to it
            return
        seen.add(name)
        formula = self.bound_case.case.readable_formula(name)
        if self.bound_case.case.search(name):
            order[name] = None
        if formula == symbol(name) or not names(formula):
            return
        for inner in names(formula):
            self._visit(inner, order, seen)
        order[name] = None

    @cached_property
    def elasticities(self) -> dict[str, float]:
        """Per cent that a number moves when an input moves one per cent: every noticeable one, the largest first; empty where it has no value.

        An input that has none is left out: one that bounds a sum, and any of a quantity that is nothing.

        >>> from symroof.analysis.study import Study
        >>> Study(hardware="h100-sxm").derive("ridge_point").elasticities
        {'peak_flops': 1.0, 'mem_bandwidth': -1.0}
        """
        case, found = self.bound_case.case, dict[str, float]()
        if self.result is not None and isinstance(self.result.value, float):
            used = case.inputs_used(self.name)
            inputs = [x for x in used if base_name(x) not in FIXED and x != self.name]
            # equal but for rounding is equal: inputs of one share keep the order of their use
            every = case.elasticities(self.name, inputs).items()
            found = {by: float(settled(x)) for by, x in every if math.isfinite(x)}
        noticed = [by for by, x in found.items() if abs(x) >= NOTICEABLE]
        return {by: found[by] for by in sorted(noticed, key=lambda by: -abs(found[by]))}

    def as_json(self) -> dict[str, Any]:
        """The form of the contract, ``symroof/derive/1``."""
        return {
            "schema": "symroof/derive/1",
            "quantity": self.name,
            "unit": self.symbol.unit,
            "meaning": self.symbol.meaning,
            "expanded": self._both(self._expansion),
            **super().as_json(),
            **(self.bound_case.json_with_bound(self.name) if self.result else {}),
            "steps": [step.as_json() for step in self.steps],
            "elasticities": [
                {"symbol": name, "value": plain_value(x)} for name, x in self.elasticities.items()
            ],
            **self.bound_case.ledger((self.name,), everything=False),
        }
