"""The derivation of a number: definition, expansion to inputs, substituted line, value, and the same for every step on the way."""

from functools import cached_property
from typing import Any

from symroof.analysis.asymptotics import LimitForm, limit_forms
from symroof.analysis.derivation_steps import DerivationStep, is_number, step_of
from symroof.analysis.implicit_quantities import implicit
from symroof.analysis.in_sympy import in_sympy
from symroof.analysis.sensitivity import Elasticity, binding_arms, elasticities
from symroof.cases.bound_case import BoundCase
from symroof.cases.quantity_result import Result
from symroof.symbolic.expressions import Expr, names, symbol
from symroof.symbolic.printing import latex, text
from symroof.theory.quantity import ImplicitDefinition
from symroof.theory.symbols import UNDECLARED_NAMES


class Derivation:
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
        name, symbol: the quantity derived.
        bound_case: the case it is derived in.
        steps: one step for every quantity on the way, deepest first, the quantity itself last.
        limits: its form as an input vanishes or grows.
        elasticities, binding_arms: its sensitivity to each input, and the arms of maxima that the sensitivities hold on.
    """

    def __init__(self, name: str, bound_case: BoundCase) -> None:
        self.name, self.bound_case = name, bound_case
        self._theory = bound_case.case.theory
        self.symbol = self._theory.symbol(name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Derivation) and (self.name, self.bound_case) == (
            other.name,
            other.bound_case,
        )

    def __hash__(self) -> int:
        return hash((self.name, self.bound_case))

    def __reduce__(self) -> tuple[Any, ...]:
        return Derivation, (self.name, self.bound_case)

    @property
    def _formula(self) -> Expr:
        """The formula set in the case, or the declared one; an input is itself."""
        return self.bound_case.case.readable_formula(self.name)

    @property
    def search(self) -> ImplicitDefinition | None:
        """How the value is computed where no formula gives it.

        >>> from symroof.analysis.study import Study
        >>> str(Study(prompt=2048, output=300, arrival_rate=2).derive("steady_batch").search)[:60]
        'the decoding_requests at which decoding_requests = arrival_r'
        """
        return self.bound_case.case.search(self.name)

    @cached_property
    def _expansion(self) -> Expr:
        """The formula over inputs alone."""
        if is_number(self._formula):
            return self._formula
        return self.bound_case.case.expanded(symbol(self.name))

    @property
    def definition(self) -> Any:
        """The definition as a SymPy expression."""
        return in_sympy(self._formula, self.bound_case)

    @property
    def expanded(self) -> Any:
        """The expansion to inputs as a SymPy expression."""
        return in_sympy(self._expansion, self.bound_case)

    @property
    def implicit(self) -> Any:
        """The relation that a searched quantity solves, in SymPy: the fixed point that it is, or what the largest whole number meets; else None.

        >>> from symroof.analysis.study import Study
        >>> import sympy
        >>> study = Study("llama-3-8b", "h100-sxm", prompt=1024, output=128, batch=32, prefill_devices=1)
        >>> relation = study.derive("disaggregated_batch").implicit
        >>> bool(abs((relation.lhs - relation.rhs).xreplace(study.values(quantities=True)).doit()) < sympy.Rational(1, 10**12))
        True
        """
        relation = implicit(self.name, self.bound_case)
        return None if relation is None else in_sympy(relation, self.bound_case)

    @property
    def implicit_text(self) -> str:
        """The same in the grammar of formulas; empty where a formula gives the quantity."""
        relation = implicit(self.name, self.bound_case)
        return "" if relation is None else text(relation)

    @property
    def text(self) -> str:
        """The definition in the grammar of formulas."""
        return text(self._formula)

    @property
    def expanded_text(self) -> str:
        """The expansion to inputs in the grammar of formulas."""
        return text(self._expansion)

    def latex(self) -> str:
        """The definition as LaTeX; an expression without a name is itself."""
        formula = latex(self._formula, self._theory.latex)
        unnamed = isinstance(self.name, UNDECLARED_NAMES)
        return formula if unnamed else f"{self._theory.latex(self.name)} = {formula}"

    def __repr__(self) -> str:
        formula = f": {self.search}" if self.search else f" = {self.text}"
        if isinstance(self.name, UNDECLARED_NAMES):
            formula = ""
        value = ""
        if self.result:
            named = self.name in self._theory.definitions
            value = f" = {self.bound_case.both_text(self.name) if named else self.result.text()}"
        return f"<{self.name}{formula}{value}>"

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.latex()}$"

    @cached_property
    def result(self) -> Result | None:
        """The value with range and flags, or None where an input is missing."""
        return self.bound_case.get(self.name)

    @cached_property
    def why_unknown(self) -> str:
        """Why there is no value; empty where there is one."""
        return self.bound_case.why_unknown(self.name)

    @cached_property
    def steps(self) -> tuple[DerivationStep, ...]:
        """One line for every quantity on the way, deepest first, this one last."""
        order: dict[str, None] = {}
        self._visit(self.name, order, set())
        return tuple(step_of(name, self.bound_case) for name in order)

    def _visit(self, name: str, order: dict[str, None], seen: set[str]) -> None:
        if name in seen:  # also while its own formula is gone through, which may lead back to it
            return
        seen.add(name)
        formula = self.bound_case.case.readable_formula(name)
        if self.bound_case.case.search(name):
            order[name] = None
        if formula == symbol(name) or is_number(formula):
            return
        for inner in names(formula):
            self._visit(inner, order, seen)
        order[name] = None

    @cached_property
    def limits(self) -> tuple[LimitForm, ...]:
        """The form of the quantity as one input vanishes or grows; see :func:`symroof.analysis.asymptotics.limit_forms`.

        >>> from symroof.analysis.study import Study
        >>> limit = Study(assume={"detail": "attention"}).derive("decode_intensity").limits[-1]
        >>> limit.says, limit.text
        ('as the batch grows', '(2*params + attention_flops_per_pair*context)/(kv_bytes_per_token*context)')
        """
        return limit_forms(self.name, self.bound_case)

    @cached_property
    def elasticities(self) -> tuple[Elasticity, ...]:
        """Per cent that the quantity moves when one input moves one per cent; see :func:`symroof.analysis.sensitivity.elasticities`.

        >>> from symroof.analysis.study import Study
        >>> elasticities = Study(hardware="h100-sxm").derive("ridge_point").elasticities
        >>> [(e.symbol.name, e.value) for e in elasticities]
        [('peak_flops', 1.0), ('mem_bandwidth', -1.0)]
        """
        return elasticities(self.name, self.bound_case)

    @cached_property
    def binding_arms(self) -> tuple[str, ...]:
        """The arms of maxima that determine the value: the compute or the memory time of a step."""
        return binding_arms(self.name, self.bound_case) if self.result else ()

    def as_json(self) -> dict[str, Any]:
        """The form of the contract, ``symroof/derive/1``."""
        own = step_of(self.name, self.bound_case)
        value = (
            self.bound_case.json_with_bound(self.name)
            if self.result
            else {"value": None, "reason": self.why_unknown}
        )
        implied = implicit(self.name, self.bound_case)
        return {
            "schema": "symroof/derive/1",
            "quantity": self.name,
            "unit": self.symbol.unit,
            "meaning": self.symbol.meaning,
            "definition": self._defined(own),
            "expanded": self._both(self._expansion),
            "substituted": own.substituted._asdict(),
            **value,
            "steps": [self._step_json(step) for step in self.steps],
            **({} if implied is None else {"implicit": self._both(implied)}),
            "limits": [limit.as_json(self._theory.latex) for limit in self.limits],
            "elasticities": [elasticity.as_json() for elasticity in self.elasticities],
            "binding_arms": list(self.binding_arms),
            **self.bound_case.ledger((self.name,), everything=False),
        }

    def _step_json(self, step: DerivationStep) -> dict[str, Any]:
        unknown = {"value": None, "unit": step.symbol.unit, "reason": step.why_unknown}
        return {
            "quantity": step.symbol.name,
            "definition": self._defined(step),
            "substituted": step.substituted._asdict(),
            **(step.result.as_json() if step.result else unknown),
        }

    def _defined(self, step: DerivationStep) -> dict[str, str]:
        """The definition of a step: its formula, or how it is searched."""
        if not step.search:
            return self._both(step.formula)
        escaped = str(step.search).replace("_", r"\_").replace("^", r"\^{}")
        return {"text": str(step.search), "latex": rf"\text{{{escaped}}}"}

    def _both(self, tree: Expr) -> dict[str, str]:
        return {"text": text(tree), "latex": latex(tree, self._theory.latex)}
