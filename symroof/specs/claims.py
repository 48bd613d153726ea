"""Claim files: sentences with the numbers, formulas and verdicts they state, to be derived anew.

A claim has exactly one form; the field that names it tells which (see :data:`FORMS`).
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, WithJsonSchema, model_validator

from symroof.specs.fields import Fault, Read, Spec, raise_faults
from symroof.specs.sources import AnySource

FORMS = {
    "quantity": "a value, a row of values, or a formula of a quantity",
    "expression": "arithmetic with units",
    "threshold": "a named threshold, or an equation for a symbol",
    "relation": "true/false, a category, or a comparison; with for_all throughout a range",
    "compare": "a ratio of two cases",
    "catalogue": "a figure of a device or a model",
    "moves": "which way a quantity moves with an input",
    "steps": "a chain of named steps",
    "unchecked": "what no formula decides, with the reason",
}
"""The field that tells a claim's form, and what it claims."""


def _one_value(value: object) -> object:
    if isinstance(value, (dict, list)):
        one = "must be one value: text, a number, true or false"
        raise ValueError(f"{one}; use values for a row of a table")
    return value


Anything = Annotated[Any, Read(_one_value, "string number boolean")]
Names = Annotated[dict[str, Any], WithJsonSchema({"type": "object"})]


class StepSpec(Spec):
    """One step of a chain: arithmetic over the steps before it, or a quantity."""

    name: str
    expression: str | None = None
    quantity: str | None = None
    given: Names = {}
    value: Anything


class ClaimSpec(Spec):
    """One claim in one form."""

    id: str
    says: str = ""
    line: int | None = None
    quantity: str | None = None
    expression: str | None = None
    threshold: str | None = None
    relation: str | None = None
    compare: str | None = None
    catalogue: str | None = None
    moves: str | None = None
    steps: tuple[StepSpec, ...] = ()
    unchecked: str | None = None
    given: Names = {}
    needs: Names = {}
    between: tuple[Names, ...] = ()
    for_all: Names = {}
    formula: str | None = None
    where: Names = {}
    solve_for: Annotated[str | None, Field(alias="for")] = None
    with_: Annotated[str | None, Field(alias="with")] = None
    value: Anything | None = None
    per: str | None = None
    values: Names = {}
    tolerance: Anything | None = None
    conflicts_with: str | None = None
    note: str | None = None

    @property
    def form(self) -> str:
        """The field that names the claim's form."""
        return next(name for name in FORMS if getattr(self, name))

    @model_validator(mode="after")
    def _one_form(self) -> ClaimSpec:
        forms = [name for name in FORMS if getattr(self, name)]
        stated = self.value is not None or self.values or self.formula
        fault: Fault | None = None
        if not forms:
            fault = (), f"needs one of {', '.join(FORMS)}"
        elif len(forms) > 1:
            fault = (), f"has {' and '.join(forms)}: a claim has one form"
        elif not stated and forms[0] not in ("steps", "unchecked"):
            fault = (), "states no value: give value, values or formula"
        elif forms[0] == "compare" and len(self.between) != 2:
            fault = ("between",), "needs the two cases that are compared"
        elif forms[0] == "moves" and not self.with_:
            fault = (), "needs with: the input that moves it"
        raise_faults([fault] if fault else [])
        return self


class ClaimsSpec(Spec):
    """A file of claims about one source."""

    source: AnySource = None
    title: str | None = None
    claims: tuple[ClaimSpec, ...]
    notes: tuple[str, ...] = ()
