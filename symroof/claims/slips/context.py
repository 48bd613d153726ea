"""Where a slip may have happened: a claim, the cases it is about, its true value, and every name that value depends on."""

import re
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from symroof.cases.bound_case import BoundCase
from symroof.claims.catalogue_figures import as_quantity
from symroof.claims.claim_settings import Settings, merged_settings, study_of
from symroof.claims.denominators import claimed_quantity_formula
from symroof.claims.derive_claim import (
    Derived,
    Steps,
    Value,
    derive_expression,
    derived,
    resolve_names,
)
from symroof.claims.read.prose_numbers import figures
from symroof.claims.read.written_units import neighbouring_unit
from symroof.errors import InputError
from symroof.specs.claims import ClaimSpec
from symroof.symbolic.expressions import ONE, Expr, changed_inputs, names, substitute, symbol
from symroof.symbolic.reading import parse
from symroof.theory.case import Case
from symroof.theory.quantities import QUANTITIES
from symroof.theory.spellings import printed_name, resolved
from symroof.theory.symbols import INPUTS, base_name
from symroof.units import settled

FAILURES = (InputError, ArithmeticError, LookupError)
"""The errors of a slip that does not apply to a case: a name it lacks, a division by zero, half a token."""

BYTES = re.compile(r"([kKMGTP])i?(?:B|bytes?|bits?)\b")
PREFIXES = "KMGTP"
TOTALS = frozenset({"params", "active_params"})


@dataclass(frozen=True)
class Context:
    """A claim in the cases it is about: one, or the two that it compares.

    Attributes:
        cases: the settings of each.
        value: the true value.
        prefix: of the unit of bytes it is written in (``G``); empty where there is none.
        steps: numbers that its arithmetic may name: the steps of a chain before it.
        written: the unit it is written in (``ms``); empty for none.
    """

    claim: ClaimSpec
    cases: tuple[Settings, ...]
    value: Fraction
    unit: str
    prefix: str = ""
    steps: Steps = field(default_factory=dict)
    written: str = ""

    @property
    def answers(self) -> BoundCase:
        """The true case, the first where there are two."""
        return study_of(self.cases[0]).first

    @property
    def sides(self) -> tuple[tuple[int, ...], ...]:
        """The cases a slip may have happened in: the only one, or both, or either."""
        return ((0,),) if len(self.cases) == 1 else ((0, 1), (0,), (1,))

    def where(self, side: tuple[int, ...]) -> str:
        """In which of two cases, where it is not in both."""
        if len(side) == len(self.cases):
            return ""
        return f" in the {('first', 'second')[side[0]]} case only"

    def value_with(self, sets: tuple[Settings, ...]) -> Fraction | None:
        """The claim's value with something set in each of its cases; None where it has none."""
        value = self.outcome_with(sets)
        return settled(value) if isinstance(value, float | Fraction) and value > 0 else None

    def values_with(self, sets: tuple[Settings, ...]) -> tuple[Fraction, ...]:
        """The same, and of a threshold the whole number that follows from it."""
        if self.name or not self.claim.threshold:
            value = self.value_with(sets)
            return (value,) if value is not None else ()
        try:
            result = derived(
                self.claim.model_copy(
                    update={"given": merged_settings(self.cases[0], _texts(sets[0]))}
                )
            )
        except FAILURES:
            return ()
        return tuple(
            dict.fromkeys(
                value
                for value in (result.number, result.alternative)
                if value is not None and value > 0
            )
        )

    def outcome_with(self, sets: tuple[Settings, ...]) -> Value | None:
        """The same for any form of claim: a truth, a label, a direction, a number that may be negative."""
        try:
            value: Value | None = self._numbers(sets) if self.name else self._derived(sets)
        except FAILURES:
            return None
        return value

    def _numbers(self, sets: tuple[Settings, ...]) -> Any:
        """A quantity, or the ratio of it in two cases, from the theory with other values."""
        cases = [self._case(side, own) for side, own in enumerate(sets)]
        if self.formula == symbol(self.name):
            values: list[Any] = [case.value(self.name) for case in cases]
        else:
            values = [case.evaluate(self.formula) for case in cases]
        return values[0] / values[1] if len(values) > 1 else values[0]

    def _case(self, side: int, sets: Settings) -> Case:
        """One of the cases with something set: numbers in the case as it is, anything else (a switch, a precision, a definition) in a new one."""
        if all(isinstance(value, float | Fraction) for value in sets.values()):
            return self._unchanged(side).changed(sets) if sets else self._unchanged(side)
        return study_of(merged_settings(self.cases[side], _texts(sets))).first.case

    def _unchanged(self, side: int) -> Case:
        """A case as the claim states it, read once for all that is tried on it."""
        if side not in self._read:
            self._read[side] = study_of(self.cases[side]).first.case
        return self._read[side]

    @cached_property
    def _read(self) -> dict[int, Case]:
        return {}

    def _derived(self, sets: tuple[Settings, ...]) -> Any:
        settings = merged_settings(self.cases[0], _texts(sets[0]))
        if self.claim.expression:
            return derive_expression(self.claim.expression, study_of(settings), self.steps).value
        return derived(self.claim.model_copy(update={"given": settings})).value

    @cached_property
    def name(self) -> str:
        """The quantity or input that is claimed; empty for a threshold or arithmetic."""
        return printed_name(self.claim.quantity or self.claim.compare or "")

    @cached_property
    def formula(self) -> Expr:
        """The quantity that is claimed, divided by what the number is of."""
        return claimed_quantity_formula(self.claim, self.name)

    @cached_property
    def dependencies(self) -> frozenset[str] | None:
        """Every name the value depends on; None where it depends on all that the case has (a threshold)."""
        case = self.answers.case
        if self.claim.form == "expression":
            tree = resolve_names(parse(self.claim.expression or ""), self.steps)
            return dependencies(case, substitute(tree, dict.fromkeys(self.steps, ONE)))
        if self.claim.relation:
            return dependencies(case, resolved(parse(self.claim.relation)))
        if self.name:
            return dependencies(case, self.formula)
        moving = printed_name(self.claim.moves or "")
        return (
            dependencies(case, symbol(moving))
            if moving
            else None
            if self.claim.threshold
            else frozenset()
        )

    @property
    def known_names(self) -> frozenset[str]:
        """The names the value depends on, and the totals that the claim states, which describe its model."""
        return (self.dependencies or frozenset()) | ({*map(printed_name, self.cases[0])} & TOTALS)

    def depends_on(self, name: str) -> bool:
        """Whether the value may depend on a name."""
        return self.dependencies is None or name in self.dependencies

    @property
    def put(self) -> dict[str, Fraction]:
        """The names that formulas of results may use in addition to the case's."""
        power = {"prefix": Fraction(PREFIXES.index(self.prefix) + 1)} if self.prefix else {}
        return {"value": self.value, **power}

    @property
    def words(self) -> dict[str, str]:
        """The names that sentences of results may use: the unit of bytes with either prefix, and the unit that the claim's may be mistaken for."""
        smaller, larger = (neighbouring_unit(self.written, step) for step in (-1, 1))
        confused = {
            name: f", {self.written} for {other}" if other else ""
            for name, other in (("too_large", smaller), ("too_small", larger))
        }
        return {"decimal": f"{self.prefix}B", "binary": f"{self.prefix}iB", **confused}


def context_of(
    claim: ClaimSpec, derived: Derived, written: str, steps: Steps | None = None
) -> Context:
    """The context of a claim; a figure of the catalogue is that quantity of its device or model."""
    prefix = match[1].upper() if (match := BYTES.search(written)) else ""
    number = next(iter(figures(written)), None)
    quantity = as_quantity(claim.catalogue) if claim.catalogue else None
    made = Context(
        claim,
        (claim.given,),
        derived.number or Fraction(0),
        derived.unit,
        prefix,
        steps or {},
        number.unit if number else "",
    )
    if claim.form == "compare":
        return replace(
            made, cases=tuple(merged_settings(claim.given, between) for between in claim.between)
        )
    if quantity:
        name, case = quantity
        context = replace(
            made,
            claim=claim.model_copy(update={"catalogue": None, "quantity": name, "given": case}),
            cases=(case,),
        )
        return context if context.value_with(({},)) == made.value else made
    return made


def _texts(sets: Settings) -> Settings:
    """Numbers as settings take them: times need their unit."""
    times = {
        name
        for name in sets
        if (symbol := INPUTS.get(name) or QUANTITIES.get(name)) and symbol.unit == "s"
    }
    return {
        name: "{} s*1/{}".format(*settled(value).as_integer_ratio())
        if isinstance(value, float | Fraction) and name in times
        else value
        for name, value in sets.items()
    }


def dependencies(case: Case, tree: Expr) -> frozenset[str]:
    """Every name that a formula's value depends on, through the case's formulas and definitions.

    >>> "n_heads" in dependencies(study_of({"model": "llama-3-8b"}).first.case, symbol("kv_bytes_per_token"))
    False
    """
    seen: set[str] = set()
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        for name in {*names(node), *changed_inputs(node)} - seen:
            seen.add(name)
            waiting.append(case.formula_or_name(name))
    return frozenset(seen | {base_name(name) for name in seen})
