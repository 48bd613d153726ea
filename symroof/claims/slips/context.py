"""Where a slip may have happened: a claim, its true value, and every name that value depends on."""

import re
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from symroof.cases.bound_case import BoundCase
from symroof.claims.catalogue_figures import as_quantity
from symroof.claims.claim_settings import Settings, merged_settings, study_of, with_settings
from symroof.claims.denominators import claimed_quantity_formula
from symroof.claims.derive_claim import Derived, Steps, derive_expression, derived, resolve_names
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


@dataclass(frozen=True)
class Context:
    """A claim and its case.

    Attributes:
        value: the true value.
        prefix: of the unit of bytes it is written in (``G``); empty where there is none.
        steps: numbers that its arithmetic may name: the steps of a chain before it.
    """

    claim: ClaimSpec
    value: Fraction
    unit: str
    prefix: str = ""
    steps: Steps = field(default_factory=dict)

    @cached_property
    def answers(self) -> BoundCase:
        """The true case."""
        return study_of(self.claim.given).first

    def values_with(self, sets: Settings) -> tuple[Fraction, ...]:
        """The claim's value with something set in its case, and of a threshold the whole number that follows from it;
        none where it has none."""
        try:
            found: list[Any]
            if self.name:
                case = self.answers.case
                if all(isinstance(value, float | Fraction) for value in sets.values()):
                    case = case.changed(sets) if sets else case
                else:  # a switch, a precision, a definition
                    case = study_of(merged_settings(self.claim.given, _texts(sets))).first.case
                plain = self.formula == symbol(self.name)
                found = [case.value(self.name) if plain else case.evaluate(self.formula)]
            elif self.claim.expression:
                study = study_of(merged_settings(self.claim.given, _texts(sets)))
                found = [derive_expression(self.claim.expression, study, self.steps).value]
            else:
                result = derived(with_settings(self.claim, _texts(sets)))
                found = [result.value, *([result.alternative] if self.claim.threshold else [])]
        except FAILURES:
            return ()
        numbers = [settled(x) for x in found if isinstance(x, float | Fraction) and x > 0]
        return tuple(dict.fromkeys(numbers))

    @cached_property
    def name(self) -> str:
        """The quantity or input that is claimed; empty for a threshold or arithmetic."""
        return printed_name(self.claim.quantity or "")

    @cached_property
    def formula(self) -> Expr:
        """The quantity that is claimed, divided by what the number is of."""
        return claimed_quantity_formula(self.claim, self.name)

    @cached_property
    def dependencies(self) -> frozenset[str] | None:
        """Every name the value depends on; None where it depends on all that the case has (a threshold)."""
        claim, case = self.claim, self.answers.case
        if claim.threshold:
            return None
        if claim.form == "expression":
            tree = resolve_names(parse(claim.expression or ""), self.steps)
            return dependencies(case, substitute(tree, dict.fromkeys(self.steps, ONE)))
        if claim.relation:
            return dependencies(case, resolved(parse(claim.relation)))
        if self.name:
            return dependencies(case, self.formula)
        return dependencies(case, symbol(printed_name(claim.moves))) if claim.moves else frozenset()

    @property
    def known_names(self) -> frozenset[str]:
        """The names the value depends on, and the totals that the claim states, which describe its model."""
        stated = {*map(printed_name, self.claim.given)} & {"params", "active_params"}
        return (self.dependencies or frozenset()) | stated

    def depends_on(self, name: str) -> bool:
        """Whether the value may depend on a name."""
        return self.dependencies is None or name in self.dependencies


def context_of(
    claim: ClaimSpec, derived: Derived, written: str, steps: Steps | None = None
) -> Context:
    """The context of a claim; a figure of the catalogue is that quantity of its device or model."""
    prefix = match[1].upper() if (match := BYTES.search(written)) else ""
    value = derived.number or Fraction(0)
    made = Context(claim, value, derived.unit, prefix, steps or {})
    if claim.catalogue and (quantity := as_quantity(claim.catalogue)):
        name, case = quantity
        changes = {"catalogue": None, "quantity": name, "given": case}
        context = replace(made, claim=claim.model_copy(update=changes))
        return context if context.values_with({}) == (made.value,) else made
    return made


def _texts(sets: Settings) -> Settings:
    """Numbers as settings take them: times need their unit."""
    texts = dict(sets)
    for name, value in sets.items():
        named = INPUTS.get(name) or QUANTITIES.get(name)
        if isinstance(value, float | Fraction) and named and named.unit == "s":
            texts[name] = "{} s*1/{}".format(*settled(value).as_integer_ratio())
    return texts


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
