"""The catalogue of slips, ``specs/check/slips.yaml``, and the values a claim would have after one:
the claim derived again with the slip in it, never by a formula of its own.

Slips of digits are in :mod:`symroof.claims.explain_slips`, and so are slips with a free parameter.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

from symroof.cases.bound_case import BoundCase
from symroof.cases.values import ROLE_INPUT
from symroof.claims.catalogue_figures import as_quantity, confusable_figures
from symroof.claims.claim_settings import Settings, merged_settings, study_of, with_settings
from symroof.claims.denominators import claimed_quantity_formula
from symroof.claims.derive_claim import Derived, Steps, derived, resolve_names
from symroof.errors import InputError
from symroof.resources import data_folder
from symroof.specs.claims import ClaimSpec
from symroof.strict_yaml import load
from symroof.symbolic.evaluation import evaluate
from symroof.symbolic.expressions import Expr, changed_inputs, names
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
class Way:
    """One way in which a slip happens; the file says what each field means.

    Attributes:
        slip: its name.
        sets: names set to formulas over the true case, precisions and switches to values.
        result: the derived value, misread or counted differently; then nothing is set.
        symbol: an input in whose place another figure stands (``kind``), or one with few ``digits``.
        paired: whether it may be one of two slips.
        common: whether people slip so all the time.
        least_digits: from how many digits of a number on it explains one: there are many other parts.
        numbers_only: whether it happens to figures as they are read and written only, and never to a formula over names.
    """

    slip: str
    text: str = ""
    sets: Mapping[str, Any] = field(default_factory=dict)
    result: str = ""
    units: tuple[str, ...] = ()
    depends_on: tuple[str, ...] = ()
    symbol: str = ""
    kind: str = ""
    digits: int = 0
    paired: bool = True
    common: bool = False
    least_digits: int = 1
    numbers_only: bool = False


ENTRIES = load(data_folder("specs") / "check" / "slips.yaml").data["slips"]
CATALOGUE = tuple(
    Way(**way, **{name: said for name, said in slip.items() if name != "ways"})
    for slip in ENTRIES
    for way in slip["ways"]
)
"""Every slip that changes a formula, a figure or a unit, in each of its ways, the most specific first."""
OTHER_COUNTS = frozenset({"kv_ignored", "attention_ignored", "causal_factor"})
"""Slips that are another way of counting rather than an error: a claim that one of them explains is
right under what it leaves out."""


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
        found: list[Any]
        try:
            numbers_alone = not any(isinstance(value, (str, dict)) for value in sets.values())
            if self.formula is not None and numbers_alone:
                steps = {name: number for name, (number, _) in self.steps.items()}
                found = [evaluate(self.formula, self.answers.case.changed(sets), steps)]
            else:  # a switch, a precision, a definition
                result = derived(with_settings(self.claim, sets), self.steps)
                found = [result.value, result.alternative if self.claim.threshold else None]
        except FAILURES:
            return ()
        numbers = [settled(x) for x in found if isinstance(x, float | Fraction) and x > 0]
        return tuple(dict.fromkeys(numbers))

    @cached_property
    def formula(self) -> Expr | None:
        """What is claimed, as a formula over the case: a quantity, divided by what the number is of,
        or arithmetic; None for what is solved or compared."""
        claim = self.claim
        if claim.quantity:
            return claimed_quantity_formula(claim, printed_name(claim.quantity))
        source = claim.expression or claim.relation
        return resolve_names(parse(source), self.steps) if source else None

    @cached_property
    def dependencies(self) -> frozenset[str] | None:
        """Every name the value depends on; None where it depends on all that the case has (a threshold)."""
        if self.claim.threshold:
            return None
        if self.formula is None:
            return frozenset()
        used = {*names(self.formula), *changed_inputs(self.formula)} - self.steps.keys()
        reached = self.answers.case.reachable_names(*sorted(used))
        return frozenset({*reached, *map(base_name, reached)})

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


MOST_ROUNDED = Fraction(1, 10)
"""How much a figure that is rounded on the way may move a result: beyond that people look again."""


@dataclass(frozen=True)
class SlipPrediction:
    """A value that slips lead to.

    Attributes:
        slips: their names.
        texts: their explanations.
        sets: what is set in the case; nothing for a result that is misread.
        way: the last of their ways.
    """

    slips: tuple[str, ...]
    texts: tuple[str, ...]
    value: Fraction
    sets: Settings
    way: Way


def predictions(context: Context, way: Way) -> Iterator[SlipPrediction]:
    """Every value that a slip leads to in one of its ways."""
    found: list[tuple[str, Settings]] = []
    if not can_happen(way, context.unit, context.known_names):
        return
    with suppress(*FAILURES):  # where the case lacks a name
        found += [("", {})] if way.result else _set(context, way)
    for figure, sets in found:
        decimal, binary = f"{context.prefix}B", f"{context.prefix}iB"
        text = way.text.format(figure=figure, decimal=decimal, binary=binary)
        for value in _misread(context, way) if way.result else context.values_with(sets):
            far = abs(value / context.value - 1) > MOST_ROUNDED
            if not (way.digits and far):
                yield SlipPrediction((way.slip,), (text,), value, sets, way)


def can_happen(way: Way, unit: str, names: frozenset[str]) -> bool:
    """Whether a slip can happen in this way to a result of a unit, that depends on some names."""
    has_unit = not way.units or not set(way.units).isdisjoint(unit.replace("*", "/").split("/"))
    return has_unit and (not way.depends_on or not names.isdisjoint(way.depends_on))


def _misread(context: Context, way: Way) -> list[Fraction]:
    """The result read or counted otherwise; none where this one cannot be."""
    put = {"value": context.value}
    if context.prefix:
        put["prefix"] = Fraction(PREFIXES.index(context.prefix) + 1)
    with suppress(*FAILURES):
        value = evaluate(formula_of(way.result), context.answers.case, put)
        return [settled(value)] if isinstance(value, float) and value > 0 else []
    return []


@lru_cache(maxsize=512)
def formula_of(text: str) -> Expr:
    """A formula of the catalogue over symroof's names."""
    return resolved(parse(text))


def _set(context: Context, way: Way) -> Iterator[tuple[str, Settings]]:
    """What a way of slipping sets in the case, and the name of the figure that is taken."""
    case = context.answers.case
    if not way.symbol:
        made: dict[str, Any] = {}  # of the names that the value depends on and that the case has
        for name, value in way.sets.items():
            known = name in INPUTS or name in QUANTITIES
            if context.depends_on(name) or not known:
                with suppress(MissingInput):
                    made[name] = _worked_out(case, name, value)
        if any(can_change(context, name, value) for name, value in way.sets.items()) and made:
            yield "", made
    elif not context.depends_on(way.symbol):
        return
    elif way.digits:
        yield "", {way.symbol: Fraction(f"{case.value(way.symbol):.{way.digits - 1}e}")}
    elif way.kind != "generations" or printed_name(context.claim.quantity or "") == way.symbol:
        for figure, value in confusable_figures(context.answers, way.symbol, way.kind):
            yield figure, {way.symbol: value}


def can_change(context: Context, name: str, value: Any) -> bool:
    """Whether setting a name can change the claim's value; a precision or a switch that is so already changes nothing."""
    if name == "assume":
        chosen = context.answers.assumptions
        return any(chosen[switch] != choice for switch, choice in value.items())
    if name in ROLE_INPUT:
        moves = context.depends_on(ROLE_INPUT[name]) or context.depends_on("peak_flops")
        return moves and context.answers.precisions.get(name) != value
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
    return number if name in INPUTS or name in names(tree) else value


def two_slips(
    context: Context, first: SlipPrediction, second: SlipPrediction
) -> SlipPrediction | None:
    """Two slips at once; None where they change the same thing."""
    values: Sequence[Fraction] = ()
    if second.way.result:
        values = _misread(replace(context, value=first.value), second.way)
    elif not {*first.sets} & {*second.sets} - {"assume"}:
        values = context.values_with(merged_settings(first.sets, second.sets))
    slips, texts = first.slips + second.slips, first.texts + second.texts
    return SlipPrediction(slips, texts, values[0], {}, second.way) if values else None
