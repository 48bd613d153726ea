"""Preset specs: what another tool counts, as switches, values and definitions of its own, each with its source."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Annotated, Any

import sympy
from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from symroof.errors import nearest
from symroof.specs.fields import NAME, Spec, read_at, read_each
from symroof.specs.hardware import FlopsPerSecond
from symroof.specs.input_values import formula_for
from symroof.specs.sources import Source, Text
from symroof.specs.study_fields import Assume, Precision, Settings, any_names
from symroof.symbolic.expressions import Expr, substitute
from symroof.symbolic.reading import FormulaError, parse, written
from symroof.theory.quantities import QUANTITIES
from symroof.theory.spellings import known_names
from symroof.theory.symbols import canonical

KINDS = {"latent": "kv_lora_rank", "experts": "n_experts"}
"""Kinds of model that a tool has a formula of its own for, each with an input that only they have; the first that a formula has a text for counts."""


def _formula(value: object) -> object:
    """A formula alone, as the mapping that it is short for."""
    return value if isinstance(value, dict) else {"formula": value}


def _part_name(name: str) -> str:
    if not re.fullmatch(r"[a-z][a-z0-9_]{0,40}", name) or name in known_names():
        allowed = "small letters, digits and underscores, and no name of the theory"
        raise ValueError(f"cannot be the name of a part: {allowed}")
    return name


class ByKind(Spec):
    """A formula, and those that hold for kinds of model."""

    formula: Text | None = None
    latent: Text | None = None
    experts: Text | None = None

    def of(self, kinds: Iterable[str]) -> str:
        """The text for a model of some kinds; the formula of none of them where they have none of their own."""
        return next(filter(None, (getattr(self, kind) for kind in (*kinds, "formula"))), "")


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
    """

    base: Expr
    terms: tuple[tuple[str, Expr], ...] = ()
    own_base: bool = True

    @property
    def tree(self) -> Expr:
        return sympy.Add(self.base, *(term for _, term in self.terms)) if self.terms else self.base


PerEntry = Annotated[
    dict[str, Any],
    AfterValidator(lambda value, info: read_each(value.items(), lambda _, x: any_names(x, info))),
]
"""Names and values by entry of the catalogue."""


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
    def defined(self) -> dict[tuple[str, ...], dict[str, Definition]]:
        """Its definitions by quantity, for the kinds that a model can be of.

        Raises:
            Faults: no such quantity, a formula that cannot be read or has another unit.
        """
        made: dict[tuple[str, ...], dict[str, Definition]] = {}
        for kinds in ((), ("latent",), ("experts",), ("latent", "experts")):
            read, items = partial(self._definition, kinds), self.definitions.items()
            made[kinds] = read_at("definitions", partial(read_each, items, read, named=canonical))
        return made

    def defined_for(self, inputs: Collection[str]) -> dict[str, Definition]:
        """The definitions that hold for a model with these inputs, but for quantities of it that the tool counts as symroof does."""
        kinds = tuple(kind for kind, name in KINDS.items() if name in inputs)
        made = self.defined[kinds].items()
        return {name: own for name, own in made if own.own_base or own.terms}

    def _definition(self, kinds: tuple[str, ...], name: str, own: OwnFormula) -> Definition:
        quantity = QUANTITIES.get(canonical(name))
        if quantity is None:
            raise ValueError(f"no such quantity {name[:40]!r}; {nearest(name, QUANTITIES)}")
        if not own.model_fields_set:
            expected = "a formula, or keys and values: formula, plus, latent, experts"
            raise ValueError(f"expected {expected}")
        if own.plus and own.formula is None and quantity.definition is None:
            message = "has no single definition to add to; give its formula as well"
            raise ValueError(f"{quantity.name} {message}")
        parts = self._parts(kinds, parse), self._parts(kinds, written)
        text, plain = own.of(kinds), quantity.definition or quantity.name
        base = formula_for(quantity, text, *parts) if text else parse(plain)
        terms = ((label, formula_for(quantity, each, *parts)) for label, each in own.plus.items())
        return Definition(base, tuple(terms), bool(text))

    def _parts(self, kinds: tuple[str, ...], read: Callable[[str], Expr]) -> dict[str, Expr]:
        """The formula of each part for a model of some kinds, with the parts before it substituted, to be computed or as it is ``written``."""
        made: dict[str, Expr] = {}
        for name, part in self.where.items():
            try:
                made[name] = substitute(read(part.of(kinds)), made)
            except FormulaError as error:
                raise ValueError(f"{name} cannot be read as a formula: {error}") from None
        return made

    @model_validator(mode="after")
    def _consistent(self) -> PresetSpec:
        terms = [label for own in self.definitions.values() for label in own.plus]
        special = (name for own in (*self.hardware.values(), *self.models.values()) for name in own)
        known = [*self.assume, *self.set, *self.defined[()], *self.where, *terms, *special]

        def check(name: str, _: str) -> None:
            if name not in known:
                raise ValueError(f"is not set by the preset; {nearest(name, known)}")

        read_at("slips", lambda: read_each(self.slips.items(), check))
        return self
