"""The values a claim would have after a slip: the claim derived again with the slip in it, never by a formula of its own."""

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

from symroof.cases.bound_case import BoundCase
from symroof.cases.input import ROLE_INPUT
from symroof.claims.catalogue_figures import as_quantity, confusable_figures
from symroof.claims.claim_settings import Settings, merged_settings, study_of, with_settings
from symroof.claims.denominators import claimed_quantity_formula
from symroof.claims.derive_claim import Derived, Steps, derive_expression, derived, resolve_names
from symroof.claims.slips.slip_catalogue import (
    CaseChange,
    MisreadResult,
    OtherFigure,
    RoundedFigure,
    Slip,
)
from symroof.errors import InputError
from symroof.specs.claims import ClaimSpec
from symroof.symbolic.evaluation import evaluate
from symroof.symbolic.expressions import (
    ONE,
    Expr,
    changed_inputs,
    mentions,
    names,
    substitute,
    symbol,
)
from symroof.symbolic.reading import parse
from symroof.theory.case import Case
from symroof.theory.declarations import MissingInput
from symroof.theory.quantities import QUANTITIES
from symroof.theory.spellings import printed_name, resolved
from symroof.theory.symbols import INPUTS, base_name
from symroof.units import is_whole, settled

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


MOST_ROUNDED = Fraction(1, 10)
"""How much a figure that is rounded on the way may move a result: beyond that people look again."""
FINE_DIGITS = 3
"""Digits from which on a number tells a change that hardly matters from chance."""
LEAST_DIGITS = {"siblings": 2, "parts": 2, "generations": FINE_DIGITS}
"""Digits from which on a number tells which other part's figure it is: there are many."""
CaseVariant = CaseChange | RoundedFigure | OtherFigure
"""Ways of slipping that change a case; a result is changed afterwards."""


@dataclass(frozen=True)
class SlipPrediction:
    """A value that slips lead to.

    Attributes:
        slips: their names.
        texts: their explanations.
        changes: what is set in the case; None for a result.
        misreading: how the result is read otherwise; None where the case is changed.
        paired: whether it may be one of two.
        digits: from how many digits of a number on it explains one.
        common: whether people slip so all the time.
    """

    slips: tuple[str, ...]
    texts: tuple[str, ...]
    value: Fraction
    changes: Settings | None = None
    misreading: MisreadResult | None = None
    paired: bool = True
    digits: int = 1
    common: bool = False


def predictions(context: Context, slip: Slip) -> Iterator[SlipPrediction]:
    """Every value a slip leads to."""
    made = SlipPrediction((slip.name,), (), Fraction(0), paired=slip.paired, common=slip.common)
    for variant in slip.variants:
        if not isinstance(variant, MisreadResult):
            yield from _of_cases(context, made, variant)
        elif can_happen(variant, context.unit, context.known_names):
            text = variant.text.format(decimal=f"{context.prefix}B", binary=f"{context.prefix}iB")
            if (value := _misread_value(context, variant)) is not None:
                yield replace(made, texts=(text,), value=value, misreading=variant)


def _of_cases(
    context: Context, made: SlipPrediction, variant: CaseVariant
) -> Iterator[SlipPrediction]:
    kind = variant.kind if isinstance(variant, OtherFigure) else ""
    if kind == "generations" and context.name != variant.symbol:  # type: ignore[union-attr]
        return  # there are too many to tell by what follows from one of them
    digits = LEAST_DIGITS.get(kind, 1)
    if isinstance(variant, CaseChange) and any(map(context.depends_on, variant.precise_for)):
        digits = FINE_DIGITS
    made = replace(made, digits=digits, common=made.common or kind == "siblings")
    found: dict[str, Settings] = {}
    with suppress(*FAILURES):
        found |= _set(context, variant, context.answers)
    for text, sets in found.items():
        for value in context.values_with(sets):
            far = abs(value / context.value - 1) > MOST_ROUNDED
            if not (far and isinstance(variant, RoundedFigure)):
                yield replace(made, texts=(text,), value=value, changes=sets)


def can_happen(variant: MisreadResult, unit: str, names: frozenset[str]) -> bool:
    """Whether a result of a unit, that depends on some names, can be read otherwise in this way."""
    units, needed = set(variant.units), set(variant.depends_on)
    has_unit = not units or bool(units & set(unit.replace("*", "/").split("/")))
    return has_unit and (not needed or bool(names & needed))


def _misread_value(context: Context, variant: MisreadResult) -> Fraction | None:
    """The result read or counted otherwise; None where this one cannot be."""
    if "prefix" in variant.formula and not context.prefix:
        return None
    put = {"value": context.value}
    if context.prefix:
        put["prefix"] = Fraction(PREFIXES.index(context.prefix) + 1)
    with suppress(*FAILURES):
        value = evaluate(formula_of(variant.formula), context.answers.case, put)
        return settled(value) if isinstance(value, float) and value > 0 else None
    return None


@lru_cache(maxsize=512)
def formula_of(text: str) -> Expr:
    """A formula of the catalogue over symroof's names."""
    return resolved(parse(text))


def _set(
    context: Context, variant: CaseVariant, answers: BoundCase
) -> Iterator[tuple[str, Settings]]:
    """The values a way of slipping sets in one case, by its words."""
    if isinstance(variant, CaseChange):
        sets = variant.sets.items()
        if not any(can_change(context, answers, name, value) for name, value in sets):
            return
        made: dict[str, Any] = {}  # of the names that the value depends on and that the case has
        for name, value in sets:
            known = name in INPUTS or name in QUANTITIES
            if context.depends_on(name) or not known:
                with suppress(MissingInput):
                    made[name] = _worked_out(answers.case, name, value)
        if made:
            yield variant.text, made
    elif not context.depends_on(variant.symbol):
        return
    elif isinstance(variant, RoundedFigure):
        few = rounded(answers.case.value(variant.rate or variant.symbol), variant.digits)
        yield variant.text, {variant.symbol: 1 / few if variant.rate else few}
    else:
        for name, figure in confusable_figures(answers, variant.symbol, variant.kind):
            yield variant.text.format(figure=name), {variant.symbol: figure}


def can_change(context: Context, answers: BoundCase, name: str, value: Any) -> bool:
    """Whether setting a name can change the claim's value; a precision or a switch that is so already changes nothing."""
    if name == "assume":
        return any(answers.assumptions[switch] != choice for switch, choice in value.items())
    if name in ROLE_INPUT:
        moves = context.depends_on(ROLE_INPUT[name]) or context.depends_on("peak_flops")
        return moves and answers.precisions.get(name) != value
    return context.depends_on(name)


def _worked_out(case: Case, name: str, value: Any) -> Any:
    """The value a name is set to: a switch, a precision, a definition, or a number worked out in the true case.

    Raises:
        InputError, ArithmeticError, LookupError: the case has no such thing.
    """
    if name == "assume" or name in ROLE_INPUT:
        return value
    tree = formula_of(value)
    number: Fraction = case.evaluate(tree)  # also raises where a case lacks one of the names
    if name in INPUTS and (number <= 0 or (INPUTS[name].counted and not is_whole(number))):
        raise ArithmeticError(f"{name} cannot be {number}")
    return number if name in INPUTS or mentions(tree, name) else value


def rounded(value: Fraction, digits: int) -> Fraction:
    """A number to so many significant digits.

    >>> rounded(Fraction("23.93"), 2), rounded(Fraction(327680), 2)
    (Fraction(24, 1), Fraction(330000, 1))
    """
    return Fraction(f"{float(value):.{digits - 1}e}")


def two_slips(
    context: Context, first: SlipPrediction, second: SlipPrediction
) -> SlipPrediction | None:
    """Two slips at once; None where they change the same thing."""
    values: list[Fraction] = []
    if second.misreading:
        value = _misread_value(replace(context, value=first.value), second.misreading)
        values = [value] if value is not None else []
    elif not {*(first.changes or {})} & {*(second.changes or {})} - {"assume"}:
        both = merged_settings(first.changes or {}, second.changes or {})
        values = list(context.values_with(both))
    slips, texts = first.slips + second.slips, first.texts + second.texts
    return SlipPrediction(slips, texts, values[0]) if values else None
