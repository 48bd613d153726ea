"""The file form of symroof's built-in theory (``specs/theories/inference``), for ``symroof validate``.

It extends the form of theory files by what only symroof itself can use: counting choices, quantities of every step,
quantities that the operator table supplies, aliases, and the literature.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from symroof.specs.definition_entries import (
    ConditionSpec,
    Formula,
    FormulaSpec,
    InputSpec,
    Place,
    ThresholdSpec,
)
from symroof.specs.fields import NAME, Spec, raise_faults
from symroof.symbolic.reading import FormulaError, parse


class BuiltInInput(InputSpec):
    """An input: ``least`` and ``most`` are formulas of its bounds, ``noun`` the word for what it counts if that is not its unit."""

    aliases: tuple[str, ...] = ()
    least: Formula | None = None
    most: Formula | None = None
    noun: str | None = None


class BuiltInFormula(FormulaSpec):
    """A quantity; without a formula the operator table supplies it, as it does for a choice without one.

    ``of_mix`` names the quantity that this one replaces where the server serves a mix, ``negligible`` what texts write as 0,
    ``digits`` the most significant digits that they write.
    """

    choose: dict[str, dict[str, Formula | None]] = Field(default={}, max_length=1)
    aliases: tuple[str, ...] = ()
    negligible: str | None = None
    digits: int | None = None
    of_mix: str | None = None

    @model_validator(mode="after")
    def _one_way(self) -> BuiltInFormula:
        return self


class BuiltInThreshold(ThresholdSpec):
    """A threshold; its fields are those of :class:`symroof.theory.thresholds.Threshold`."""

    subject: str
    needs: tuple[str, ...] = ()
    when: tuple[str, ...] = ()
    holds: Literal["lhs_above", "lhs_below"] | None = None
    under_load: str = ""
    source: str | None = None  # type: ignore[assignment]


class SubjectSpec(Spec):
    """A subject of thresholds: the heading, and the source of those that name none."""

    title: str
    source: str


class TheoryPartSpec(Spec):
    """One part of the built-in theory, or the list of its parts."""

    name: Annotated[str, Field(pattern=NAME)]
    part_of: Literal["inference"] | None = None
    title: str
    source: str | None = None
    parts: tuple[str, ...] = ()
    references: dict[str, str] = {}
    switches: dict[str, dict[str, str]] = {}
    detail: dict[str, dict[str, str]] = {}
    subjects: dict[str, SubjectSpec] = {}
    inputs: dict[str, BuiltInInput] = {}
    conditions: dict[str, ConditionSpec] = {}
    each_step: dict[str, BuiltInFormula] = {}
    define: dict[str, BuiltInFormula] = {}
    thresholds: tuple[BuiltInThreshold, ...] = ()
    targets: dict[str, dict[str, Any]] = {}
    shown: dict[str, dict[str, Any]] = {}
    moving: dict[str, dict[str, Any]] = {}
    notes: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _readable(self) -> TheoryPartSpec:
        """Check that every formula can be read; names and units are checked when the theory is built from all parts."""
        faults = []
        for place, formula in self._formulas():
            try:
                parse(formula)
            except FormulaError as error:
                faults.append((place, f"{error.message} (column {error.column})"))
        raise_faults(faults)
        return self

    def _formulas(self) -> Iterator[tuple[Place, str]]:
        found: list[tuple[Place, Any]] = [
            ((section, name, *place), formula)
            for section, entries in (("define", self.define), ("each_step", self.each_step))
            for name, entry in entries.items()
            for place, formula in entry.formulas()
        ]
        found += [(("conditions", name, "holds"), it.holds) for name, it in self.conditions.items()]
        found += [
            (("thresholds", i, "equation"), it.equation) for i, it in enumerate(self.thresholds)
        ]
        yield from ((place, formula) for place, formula in found if isinstance(formula, str))
