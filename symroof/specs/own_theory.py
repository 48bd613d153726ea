"""Theory files: inputs, formulas over them and over the engine's names, thresholds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Annotated

from pydantic import Field, model_validator

from symroof.specs.declared_entries import AnySource, FormulaSpec, InputSpec, ThresholdSpec
from symroof.specs.fields import NAME, Faults, Spec
from symroof.theory.declarations import Declarations


class TheorySpec(Spec):
    """A theory of one's own: inputs, formulas over them and over the engine's names, thresholds."""

    name: Annotated[str, Field(pattern=NAME)]
    title: str
    source: AnySource = None
    inputs: dict[str, InputSpec]
    define: dict[str, FormulaSpec] = {}
    thresholds: tuple[ThresholdSpec, ...] = ()
    notes: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _consistent(self) -> TheorySpec:
        self.declarations()
        return self

    def declarations(self) -> Declarations:
        """What the file declares.

        Raises:
            Faults: everything wrong with its names and formulas.
        """
        from symroof.specs.declared_names import declared_formulas, declared_inputs, declared_thresholds

        own = _at("inputs", lambda: declared_inputs(self.inputs))
        own = _at("define", lambda: declared_formulas(self.define, own)).joined(own)
        solvable = _at("thresholds", lambda: declared_thresholds(dict(enumerate(self.thresholds)), own))
        return replace(solvable.joined(own), title=self.title)


def _at(place: str, read: Callable[[], Declarations]) -> Declarations:
    """Declarations of one field, faults at their place in the whole."""
    try:
        return read()
    except Faults as error:
        raise Faults([((place, *below), message) for below, message in error.items]) from None
