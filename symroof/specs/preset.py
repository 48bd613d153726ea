"""Preset specs: what another tool counts, as switches, values and definitions of its own, each with its source."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Annotated, Any

import sympy
from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo, model_validator

from symroof.errors import nearest
from symroof.specs.fields import NAME, Spec, read_at, read_each
from symroof.specs.hardware import FlopsPerSecond
from symroof.specs.input_values import formula_for
from symroof.specs.sources import Source, Text
from symroof.specs.study_fields import Assume, Precision, Settings, any_names
from symroof.symbolic.expressions import Expr, substitute
from symroof.symbolic.reading import FormulaError, parse, written
from symroof.theory.quantities import QUANTITIES, Quantity
from symroof.theory.spellings import known_names
from symroof.theory.symbols import canonical

KINDS = {"latent": "kv_lora_rank", "experts": "n_experts"}
"""Kinds of model that a tool has a formula of its own for, each with an input that no other kind has; the first that fits counts."""


def _formula(value: object) -> object:
    """A formula alone, as the mapping that it is short for."""
    return value if isinstance(value, dict) else {"formula": value}


def _part_name(name: str) -> str:
    if not re.fullmatch(r"[a-z][a-z0-9_]{0,40}", name) or name in known_names():
        raise ValueError(
            "cannot be the name of a part: small letters, digits and underscores, and no name of the theory"
        )
    return name


class ByKind(Spec):
    """A formula, and those that hold for kinds of model."""

    formula: Text | None = None
    latent: Text | None = None
    experts: Text | None = None

    def of(self, kind: str) -> str:
        """The text for a kind of model; models with a latent cache have experts, so that one's holds where it has none of its own."""
        texts = {"latent": (self.latent, self.experts), "experts": (self.experts,)}.get(kind, ())
        return next(filter(None, (*texts, self.formula)), "")


class Part(ByKind):
    """A named formula that definitions are made of."""

    formula: Text


class OwnFormula(ByKind):
    """A tool's own definition of a quantity, and terms that it adds, each under a name."""

    plus: dict[str, Text] = {}


@dataclass(frozen=True)
class Definition:
    """A tool's own definition of a quantity: a formula, and terms that it adds, each under a name of its own.

    Attributes:
        base: the formula without the terms; that of symroof where the tool only adds, or defines other kinds of model.
        terms: name -> what it adds, in the quantity's unit.
        own_base: whether ``base`` is the tool's.
        kinds: the same for kinds of model that the tool has a formula of its own for.
    """

    base: Expr
    terms: tuple[tuple[str, Expr], ...] = ()
    own_base: bool = True
    kinds: tuple[tuple[str, Definition], ...] = ()

    @property
    def tree(self) -> Expr:
        return sympy.Add(self.base, *(term for _, term in self.terms)) if self.terms else self.base

    def for_model(self, inputs: Collection[str]) -> Definition | None:
        """The definition that holds for a model with these inputs; None where the tool counts that kind as symroof does."""
        made = next((own for kind, own in self.kinds if KINDS[kind] in inputs), self)
        return made if made.own_base or made.terms else None


def _per_entry(value: dict[str, Any], info: ValidationInfo) -> dict[str, Any]:
    """Names and values by entry of the catalogue."""
    return read_each(value.items(), lambda _, item: any_names(item, info))


PerEntry = Annotated[dict[str, Any], AfterValidator(_per_entry)]


class PresetSpec(Spec):
    """A named set of switches, values and definitions with a source; ``hardware`` and ``models`` hold what applies to one entry only.

    ``where`` names formulas that its definitions are made of, so that a long one reads in parts; ``formula``, ``experts`` and ``latent`` under
    one are for a model without experts, with experts, and with a latent cache. ``slips`` says where the tool is wrong: a name, a switch or a term of a definition, and what is wrong with it.
    """

    name: Annotated[str, Field(pattern=NAME)]
    title: str
    source: Source
    version: str | None = None
    assume: Assume = {}
    precision: Precision = Precision.model_construct()
    set: Settings = {}
    where: dict[
        Annotated[str, AfterValidator(_part_name)], Annotated[Part, BeforeValidator(_formula)]
    ] = {}
    definitions: dict[str, Annotated[OwnFormula, BeforeValidator(_formula)]] = {}
    hardware: PerEntry = {}
    models: PerEntry = {}
    peaks: dict[str, dict[str, FlopsPerSecond]] = {}
    slips: dict[str, str] = {}
    notes: tuple[str, ...] = ()

    @cached_property
    def defined(self) -> dict[str, Definition]:
        """Its definitions by quantity.

        Raises:
            Faults: no such quantity, a formula that cannot be read or has another unit.
        """
        read = partial(read_each, self.definitions.items(), self._definition, named=canonical)
        return read_at("definitions", read)

    def _definition(self, name: str, own: OwnFormula) -> Definition:
        quantity = QUANTITIES.get(canonical(name))
        if quantity is None:
            raise ValueError(f"no such quantity {name[:40]!r}; {nearest(name, QUANTITIES)}")
        if not own.model_fields_set:
            raise ValueError(
                "expected a formula, or keys and values: formula, plus, latent, experts"
            )
        if own.plus and own.formula is None and quantity.definition is None:
            message = "has no single definition to add to; give its formula as well"
            raise ValueError(f"{quantity.name} {message}")
        texts = (own, *self.where.values())
        kinds = [kind for kind in KINDS if any(getattr(each, kind) for each in texts)]
        made = tuple((kind, self._of_kind(quantity, own, kind)) for kind in kinds)
        return replace(self._of_kind(quantity, own, "formula"), kinds=made)

    def _of_kind(self, quantity: Quantity, own: OwnFormula, kind: str) -> Definition:
        """The definition for one kind of model."""
        named = self._parts(kind, parse), self._parts(kind, written)
        has_own = own.formula is not None or getattr(own, kind) is not None
        plain = quantity.definition or quantity.name
        base = formula_for(quantity, own.of(kind), *named) if has_own else parse(plain)
        terms = ((label, formula_for(quantity, each, *named)) for label, each in own.plus.items())
        return Definition(base, tuple(terms), has_own)

    def _parts(self, kind: str, read: Callable[[str], Expr]) -> dict[str, Expr]:
        """The formula of each part for a kind of model, with the parts before it substituted, to be computed or as it is ``written``."""
        made: dict[str, Expr] = {}
        for name, part in self.where.items():
            try:
                made[name] = substitute(read(part.of(kind)), made)
            except FormulaError as error:
                raise ValueError(f"{name} cannot be read as a formula: {error}") from None
        return made

    @model_validator(mode="after")
    def _consistent(self) -> PresetSpec:
        terms = [label for definition in self.defined.values() for label, _ in definition.terms]
        special = (name for own in (*self.hardware.values(), *self.models.values()) for name in own)
        known = [*self.assume, *self.set, *self.defined, *self.where, *terms, *special]

        def check(name: str, _: str) -> None:
            if name not in known:
                raise ValueError(f"is not set by the preset; {nearest(name, known)}")

        read_at("slips", lambda: read_each(self.slips.items(), check))
        return self
