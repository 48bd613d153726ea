"""Preset specs: what another tool counts, as switches, values and definitions of its own, each with its source."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from symroof.errors import nearest
from symroof.formula import build
from symroof.formula.parse import parse
from symroof.formula.tree import Tree
from symroof.specs.fields import NAME, Faults, Source, Spec, in_unit
from symroof.specs.input_values import formula_for
from symroof.specs.study import Assume, Precision, Settings
from symroof.theory.quantities import QUANTITIES
from symroof.theory.symbols import canonical

KEYS = ("formula", "plus")


@dataclass(frozen=True)
class Definition:
    """A tool's own definition of a quantity: a formula, and terms that it adds, each under a name of its own.

    Attributes:
        base: the formula without the terms; that of symroof where the tool only adds.
        terms: name -> what it adds, in the quantity's unit.
        own_base: whether ``base`` is the tool's.
    """

    base: Tree
    terms: tuple[tuple[str, Tree], ...] = ()
    own_base: bool = True

    @property
    def tree(self) -> Tree:
        return build.add(self.base, *(term for _, term in self.terms)) if self.terms else self.base


def _definition(name: str, value: object) -> Definition:
    quantity = QUANTITIES.get(canonical(name))
    if quantity is None:
        raise ValueError(f"no such quantity {name[:40]!r}; {nearest(name, QUANTITIES)}")
    if isinstance(value, str):
        return Definition(formula_for(quantity, value))
    if not isinstance(value, dict) or not value:
        raise ValueError("expected a formula, or keys and values: formula, plus")
    if unknown := next((key for key in value if key not in KEYS), None):
        raise ValueError(f"unknown key {unknown!r}; {nearest(str(unknown), KEYS)}")
    terms = value.get("plus", {})
    if not isinstance(terms, dict):
        raise ValueError("expected names and formulas under plus")
    if "formula" not in value and quantity.definition is None:
        raise ValueError(f"{quantity.name} has no single definition to add to; give its formula as well")
    own = "formula" in value
    base = formula_for(quantity, str(value["formula"])) if own else parse(quantity.definition or "")
    return Definition(base, tuple((str(label), formula_for(quantity, str(text))) for label, text in terms.items()), own)


def _definitions(value: object) -> dict[str, Definition]:
    """Every definition by the name of its quantity, all faults at once."""
    if not isinstance(value, dict):
        raise ValueError("expected quantities and formulas")
    made: dict[str, Definition] = {}
    faults: list[tuple[tuple[str | int, ...], str]] = []
    for name, item in value.items():
        try:
            made[canonical(str(name))] = _definition(str(name), item)
        except ValueError as error:
            faults.append(((name,), str(error)))
    if faults:
        raise Faults(faults)
    return made


_FORMULA = {"anyOf": [{"type": "string"}, {"type": "object", "properties": {"formula": {"type": "string"}, "plus": {"type": "object"}}}]}
Definitions = Annotated[Any, BeforeValidator(_definitions), WithJsonSchema({"type": "object", "additionalProperties": _FORMULA})]
Rate = Annotated[Any, BeforeValidator(lambda value: in_unit(value, "FLOP/s")), WithJsonSchema({"type": "string"})]


class PresetSpec(Spec):
    """A named set of switches, values and definitions with a source; ``hardware`` and ``models`` hold what applies to one entry only.

    ``slips`` says where the tool is wrong: a name, a switch or a term of a definition, and what is wrong with it.
    """

    name: Annotated[str, Field(pattern=NAME)]
    title: str
    source: Source
    version: str | None = None
    assume: Assume = {}
    precision: Precision = Precision.model_construct()
    set: Settings = {}
    definitions: Definitions = {}
    hardware: dict[str, Settings] = {}
    models: dict[str, Settings] = {}
    peaks: dict[str, dict[str, Rate]] = {}
    slips: dict[str, str] = {}
    notes: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _slips_are_of_something(self) -> PresetSpec:
        terms = [label for definition in self.definitions.values() for label, _ in definition.terms]
        known = [*self.assume, *self.set, *self.definitions, *terms, *(name for own in self.hardware.values() for name in own)]
        faults: list[tuple[tuple[str | int, ...], str]] = [
            (("slips", name), f"is nothing that the preset sets; {nearest(name, known)}") for name in self.slips if name not in known
        ]
        if faults:
            raise Faults(faults)
        return self
