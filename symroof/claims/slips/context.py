"""Where a slip may have happened: a claim, the cases it speaks of, its true value, and every name that value hangs on."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

from symroof.cases.case_results import Answers
from symroof.claims.catalogue_claims import as_quantity
from symroof.claims.claim_study import changed, study_of
from symroof.claims.derive_claim import Known, Value, derived, resolved_but, worked_out
from symroof.errors import InputError
from symroof.formula.parse import parse
from symroof.formula.rewrite import substitute
from symroof.formula.tree import ONE, At, Name, Tree, names, walk
from symroof.specs.claims import ClaimSpec
from symroof.theory.case import Case
from symroof.theory.quantities import QUANTITIES
from symroof.theory.spellings import printed_name, resolved
from symroof.theory.symbols import INPUTS, base_name

Given = Mapping[str, Any]
FAILURES = (InputError, ArithmeticError, LookupError)
"""What a slip runs into that does not apply to a case: a name it lacks, a division by zero, half a token."""

BYTES = re.compile(r"([kKMGTP])i?(?:B|bytes?|bits?)\b")
PREFIXES = "KMGTP"


@dataclass(frozen=True)
class Scene:
    """A claim in the cases it speaks of: one, or the two that it compares.

    Attributes:
        prefix: of the unit of bytes it is written in (``G``); empty where there is none.
        steps: numbers that its arithmetic may name: the steps of a chain before it.
    """

    claim: ClaimSpec
    cases: tuple[Given, ...]
    value: Fraction
    unit: str
    prefix: str = ""
    steps: Known = field(default_factory=dict)

    @property
    def answers(self) -> Answers:
        """The true case, the first where there are two."""
        return study_of(self.cases[0]).first

    @property
    def sides(self) -> tuple[tuple[int, ...], ...]:
        """Which of the cases a slip may have happened in: the only one, or both, or either."""
        return ((0,),) if len(self.cases) == 1 else ((0, 1), (0,), (1,))

    def where(self, side: tuple[int, ...]) -> str:
        """In which of two cases, where it is not in both."""
        return "" if len(side) == len(self.cases) else f" in the {('first', 'second')[side[0]]} case only"

    def again(self, sets: tuple[Given, ...]) -> Fraction | None:
        """The claim's value with something set in each of its cases; None where it has none."""
        value = self.outcome(sets)
        return value if isinstance(value, Fraction) and value > 0 else None

    def outcome(self, sets: tuple[Given, ...]) -> Value | None:
        """The same for whatever is claimed: a truth, a label, a direction, a number that may be negative."""
        try:
            value: Value | None = self._numbers(sets) if self.name else self._derived(sets)
        except FAILURES:
            return None
        return value

    def _numbers(self, sets: tuple[Given, ...]) -> Any:
        """A quantity, or the ratio of it in two cases, from the theory with other values."""
        values = [_case(given, own).value(self.name) for given, own in zip(self.cases, sets, strict=True)]
        return values[0] / values[1] if len(values) > 1 else values[0]

    def _derived(self, sets: tuple[Given, ...]) -> Any:
        given = changed(self.cases[0], _texts(sets[0]))
        return (worked_out(self.claim.expression, study_of(given), self.steps) if self.claim.expression else derived(self.claim, given)).value

    @cached_property
    def name(self) -> str:
        """The quantity or input that is claimed; empty for a threshold or arithmetic."""
        return printed_name(self.claim.quantity or self.claim.compare or "")

    @cached_property
    def spoken(self) -> frozenset[str] | None:
        """Every name the value hangs on; None where it hangs on whatever the case has (a threshold)."""
        if self.claim.form == "expression":
            tree = resolved_but(parse(self.claim.expression or ""), self.steps)
            return spoken(self.answers.case, substitute(tree, dict.fromkeys(self.steps, ONE)))
        if self.claim.relation:
            return spoken(self.answers.case, resolved(parse(self.claim.relation)))
        asked = self.name or printed_name(self.claim.moves or "")
        return spoken(self.answers.case, Name(asked)) if asked else None if self.claim.threshold else frozenset()

    def matters(self, name: str) -> bool:
        """Whether the value may hang on a name."""
        return self.spoken is None or name in self.spoken

    @property
    def put(self) -> dict[str, Fraction]:
        """What formulas of results may name beside the case's names."""
        power = {"prefix": Fraction(PREFIXES.index(self.prefix) + 1)} if self.prefix else {}
        return {"value": self.value, **power}

    @property
    def words(self) -> dict[str, str]:
        """What sentences of results may name: the unit of bytes with either prefix."""
        return {"decimal": f"{self.prefix}B", "binary": f"{self.prefix}iB"}


def scene_of(claim: ClaimSpec, given: Given, value: Fraction, unit: str, written: str, steps: Known | None = None) -> Scene:
    """The scene of a claim; a figure of the catalogue is that quantity of its device or model."""
    prefix = match[1].upper() if (match := BYTES.search(written)) else ""
    if claim.form == "compare":
        return Scene(claim, tuple(changed(given, between) for between in claim.between), value, unit, prefix)
    if claim.form == "catalogue" and (found := as_quantity(claim.catalogue or "")):
        name, case = found
        as_claim = claim.model_copy(update={"catalogue": None, "quantity": name, "given": case})
        scene = Scene(as_claim, (case,), value, unit, prefix)
        return scene if scene.again(({},)) == value else Scene(claim, (given,), value, unit, prefix)
    return Scene(claim, (given,), value, unit, prefix, steps or {})


def _case(given: Given, sets: Given) -> Case:
    """A case with something set: numbers in the case as it is, anything else (a switch, a precision, a definition) in a new one."""
    if all(isinstance(value, Fraction) for value in sets.values()):
        case = study_of(given).first.case
        return case.changed(sets) if sets else case
    return study_of(changed(given, _texts(sets))).first.case


def _texts(sets: Given) -> Given:
    """Numbers as a ``given`` takes them: times want their unit."""
    return {name: f"{value.numerator} s*1/{value.denominator}" if isinstance(value, Fraction) and _is_time(name) else value for name, value in sets.items()}


def _is_time(name: str) -> bool:
    symbol = INPUTS.get(name) or QUANTITIES.get(name)
    return symbol is not None and symbol.unit == "s"


def spoken(case: Case, tree: Tree) -> frozenset[str]:
    """Every name that a formula's value hangs on, through given formulas and definitions.

    >>> "n_heads" in spoken(study_of({"model": "llama-3-8b"}).first.case, Name("kv_bytes_per_token"))
    False
    """
    seen: set[str] = set()
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        moved = {key for inner in walk(node) if isinstance(inner, At) for key, _ in inner.changes}
        for name in {*names(node), *moved} - seen:
            seen.add(name)
            waiting.append(case.stands_for(name))
    return frozenset(seen | {base_name(name) for name in seen})
