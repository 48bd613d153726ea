"""Preset specs: what another tool counts, as switches, values and definitions of its own, each with its source."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any

import sympy
from pydantic import BeforeValidator, Field, ValidationInfo, WithJsonSchema, model_validator

from symroof.errors import nearest
from symroof.specs.fields import NAME, Spec, in_unit, read_at, read_each
from symroof.specs.input_values import Setting, formula_for
from symroof.specs.sources import Source
from symroof.specs.study_fields import Assume, Precision, Settings, any_names
from symroof.symbolic.expressions import Expr, substitute
from symroof.symbolic.reading import FormulaError, parse, written
from symroof.theory.quantities import QUANTITIES
from symroof.theory.quantity import Quantity
from symroof.theory.spellings import known_names
from symroof.theory.symbols import canonical

KINDS = {"latent": "kv_lora_rank", "experts": "n_experts"}
"""Kinds of model that a tool has a formula of its own for, each with an input that no other kind has; the first that fits counts."""
KEYS = ("formula", "plus", *KINDS)


@dataclass(frozen=True)
class Definition:
    """A tool's own definition of a quantity: a formula, and terms that it adds, each under a name of its own.

    Attributes:
        base: the formula without the terms; that of symroof where the tool only adds, or defines other kinds of model.
        terms: name -> what it adds, in the quantity's unit.
        own_base: whether ``base`` is the tool's.
        written: the formula as the preset writes it, over the names of its parts.
        kinds: the same for kinds of model that the tool has a formula of its own for.
    """

    base: Expr
    terms: tuple[tuple[str, Expr], ...] = ()
    own_base: bool = True
    written: str = ""
    kinds: tuple[tuple[str, Definition], ...] = ()

    @property
    def tree(self) -> Expr:
        return sympy.Add(self.base, *(term for _, term in self.terms)) if self.terms else self.base

    def for_model(self, inputs: Collection[str]) -> Definition | None:
        """The definition that holds for a model with these inputs; None where the tool counts that kind as symroof does."""
        made = next((own for kind, own in self.kinds if KINDS[kind] in inputs), self)
        return made if made.own_base or made.terms else None


def _definition(name: str, value: object, parts: _Parts) -> Definition:
    quantity = QUANTITIES.get(canonical(name))
    if quantity is None:
        raise ValueError(f"no such quantity {name[:40]!r}; {nearest(name, QUANTITIES)}")
    if isinstance(value, str):
        value = {"formula": value}
    if not isinstance(value, dict) or not value:
        raise ValueError(f"expected a formula, or keys and values: {', '.join(KEYS)}")
    if unknown := next((key for key in value if key not in KEYS), None):
        raise ValueError(f"unknown key {unknown!r}; {nearest(str(unknown), KEYS)}")
    if not isinstance(value.get("plus", {}), dict):
        raise ValueError("expected names and formulas under plus")
    if "plus" in value and "formula" not in value and quantity.definition is None:
        raise ValueError(
            f"{quantity.name} has no single definition to add to; give its formula as well"
        )
    kinds = [kind for kind in KINDS if kind in value or parts.differs(kind)]
    return replace(
        _of_kind(quantity, value, parts, ""),
        kinds=tuple((kind, _of_kind(quantity, value, parts, kind)) for kind in kinds),
    )


def _of_kind(quantity: Quantity, value: dict[str, Any], parts: _Parts, kind: str) -> Definition:
    """The definition for one kind of model."""
    own = "formula" in value or kind in value
    named = parts.of(kind), parts.of(kind, written)
    shown = _for_kind(value, kind) if own else ""
    plain = quantity.definition or quantity.name
    base = formula_for(quantity, shown, *named) if own else parse(plain)
    terms = tuple(
        (str(label), formula_for(quantity, str(text), *named))
        for label, text in value.get("plus", {}).items()
    )
    return Definition(base, terms, own, shown)


def _for_kind(texts: Mapping[str, Any], kind: str) -> str:
    """The text for a kind of model; models with a latent cache have experts, so their text holds where it has none of its own."""
    chosen = [*dict.fromkeys((kind, "experts"))] if kind == "latent" else [kind]
    return str(next((texts[name] for name in (*chosen, "formula") if name in texts), ""))


@dataclass(frozen=True)
class _Parts:
    """Formulas under names of their own, of which a preset's definitions are made; texts by kind of model."""

    texts: Mapping[str, Mapping[str, str]]

    def differs(self, kind: str) -> bool:
        return any(kind in texts for texts in self.texts.values())

    def of(self, kind: str, read: Callable[[str], Expr] = parse) -> dict[str, Expr]:
        """The formula of each part for a kind of model, with the parts before it substituted, to be computed or as it is ``written``."""
        made: dict[str, Expr] = {}
        for name, texts in self.texts.items():
            try:
                made[name] = substitute(read(_for_kind(texts, kind)), made)
            except FormulaError as error:
                raise ValueError(f"{name} cannot be read as a formula: {error}") from None
        return made


def _parts(value: object) -> dict[str, dict[str, str]]:
    """The texts of every part, all faults at once."""
    if not isinstance(value, dict):
        raise ValueError("expected names and formulas")

    def read(name: str, item: object) -> dict[str, str]:
        texts = item if isinstance(item, dict) else {"formula": item}
        if not re.fullmatch(PART, str(name)) or name in known_names():
            raise ValueError(
                "cannot be the name of a part: small letters, digits and underscores, and no name of the theory"
            )
        right = "formula" in texts and {*texts} <= {"formula", *KINDS}
        if not right or not all(isinstance(text, (str, int, float)) for text in texts.values()):
            raise ValueError(f"expected a formula, or formula and {', '.join(KINDS)}")
        return {kind: str(text) for kind, text in texts.items()}

    return read_each(value.items(), read)


def _definitions(value: object, info: ValidationInfo) -> dict[str, Definition]:
    """Every definition by the name of its quantity, all faults at once."""
    if not isinstance(value, dict):
        raise ValueError("expected quantities and formulas")
    if "where" not in info.data:  # its faults are reported
        return {}
    parts = _Parts(info.data["where"])
    return read_each(
        value.items(),
        lambda name, item: _definition(str(name), item, parts),
        named=lambda name: canonical(str(name)),
    )


def _per_entry(value: object, info: ValidationInfo) -> dict[str, dict[str, tuple[Setting, ...]]]:
    """Names and values by entry of the catalogue."""
    if not isinstance(value, dict):
        raise ValueError("expected keys and values")
    return read_each(value.items(), lambda _, item: any_names(item, info))


PART = r"[a-z][a-z0-9_]{0,40}"
_TEXTS = {kind: {"type": "string"} for kind in ("formula", *KINDS)}
_PART = {"anyOf": [{"type": "string"}, {"type": "object", "properties": _TEXTS}]}
Where = Annotated[
    Any, BeforeValidator(_parts), WithJsonSchema({"type": "object", "additionalProperties": _PART})
]
_FORMULA = {
    "anyOf": [
        {"type": "string"},
        {"type": "object", "properties": {**_TEXTS, "plus": {"type": "object"}}},
    ]
}
Definitions = Annotated[
    Any,
    BeforeValidator(_definitions),
    WithJsonSchema({"type": "object", "additionalProperties": _FORMULA}),
]
PerEntry = Annotated[
    Any,
    BeforeValidator(lambda value, info: _per_entry(value, info)),
    WithJsonSchema({"type": "object", "additionalProperties": {"type": "object"}}),
]
Rate = Annotated[
    Any, BeforeValidator(lambda value: in_unit(value, "FLOP/s")), WithJsonSchema({"type": "string"})
]


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
    where: Where = {}
    definitions: Definitions = {}
    hardware: PerEntry = {}
    models: PerEntry = {}
    peaks: dict[str, dict[str, Rate]] = {}
    slips: dict[str, str] = {}
    notes: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _slips_are_of_something(self) -> PresetSpec:
        terms = [label for definition in self.definitions.values() for label, _ in definition.terms]
        special = (name for own in (*self.hardware.values(), *self.models.values()) for name in own)
        known = [*self.assume, *self.set, *self.definitions, *self.where, *terms, *special]

        def check(name: str, _: str) -> None:
            if name not in known:
                raise ValueError(f"is not set by the preset; {nearest(name, known)}")

        read_at("slips", lambda: read_each(self.slips.items(), check))
        return self
