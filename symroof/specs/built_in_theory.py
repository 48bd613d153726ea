"""The file form of symroof's built-in theory (``specs/theories/inference``), for ``symroof validate``.

It extends the form of theory files by what only symroof itself can use: counting choices, quantities of every step,
quantities that the operator table supplies, aliases, and the literature.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from symroof.specs.definition_entries import (
    ConditionSpec,
    Formula,
    FormulaSpec,
    InputSpec,
    ThresholdSpec,
)
from symroof.specs.fields import NAME, Faults, Spec
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
    """A threshold: ``needs`` are additional inputs, ``when`` those that a case must set for a review to report it, ``holds`` the verdict that makes it true."""

    subject: str
    needs: tuple[str, ...] = ()
    when: tuple[str, ...] = ()
    holds: Literal["lhs_above", "lhs_below"] | None = None
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
    notes: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _readable(self) -> TheoryPartSpec:
        """Check that every formula can be read; names and units are checked when the theory is built from all parts."""
        faults = []
        for place, formula in self._formulas():
            try:
                parse(str(formula))
            except FormulaError as error:
                faults.append((place, f"{error.message} (column {error.column})"))
        if faults:
            raise Faults(faults)
        return self

    def _formulas(self) -> list[tuple[tuple[str | int, ...], Any]]:
        found: list[tuple[tuple[str | int, ...], Any]] = []
        for section, entries in (("define", self.define), ("each_step", self.each_step)):
            for name, entry in entries.items():
                found.append(((section, name, "formula"), entry.formula))
                found += [
                    ((section, name, "choose", key, value), f)
                    for key, values in entry.choose.items()
                    for value, f in values.items()
                ]
        found += [
            (("conditions", name, "holds"), condition.holds)
            for name, condition in self.conditions.items()
        ]
        found += [
            (("thresholds", place, "equation"), threshold.equation)
            for place, threshold in enumerate(self.thresholds)
        ]
        return [(place, formula) for place, formula in found if isinstance(formula, str)]
