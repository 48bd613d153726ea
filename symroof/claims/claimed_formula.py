"""Both sides of a claim that states a formula: the claimed one and the derived one, over the same names."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

from symroof.analysis.solution import Solution
from symroof.cases.bound_case import BoundCase
from symroof.cases.input import ROLE_INPUT
from symroof.claims.claim_settings import study_of
from symroof.claims.derive_claim import check_numbers, formula_errors, quantity_name
from symroof.errors import InputError, NoValueHere, Problem, nearest
from symroof.specs.claims import ClaimSpec
from symroof.symbolic.comparison import Comparison, compare, lower_order, same
from symroof.symbolic.evaluation import NoValue
from symroof.symbolic.expressions import (
    WRITTEN_OUT,
    Expr,
    is_label,
    is_relation,
    names,
    parts,
    size,
    substitute,
    symbol,
    unrounded_argument,
    without_rounding,
)
from symroof.symbolic.printing import number_text, text
from symroof.symbolic.reading import parse, written
from symroof.theory.declarations import MissingInput, neutral_default
from symroof.theory.layout import DEGREES
from symroof.theory.spellings import printed_name, resolved

LONGEST_FORMULA = 200
"""Characters of a derived formula that fit next to a claim."""


TRIAL_CASE = {
    "model": "llama-3-8b", "hardware": "h100-sxm", "prompt": 1000, "output": 300, "batch": 8, "price": "2 USD/hour", "power": "700 W", "chunk": 512, "arrival_rate": "1 request/s",
}  # fmt: skip
"""A case with numbers for everything, to find out whether two formulas differ of which the claim's own case has none."""
TRIAL_VALUES, MOST_TRIAL_VALUES = (Fraction(1, 1000), Fraction(1), Fraction(1000)), 4
"""Values for inputs that a case lacks, to find out whether two formulas differ, and how many such inputs it may lack."""
Identity = tuple[str, str]
"""A name and the formula it equals."""
IDENTITIES: tuple[Identity, ...] = (("d_model", "n_heads*head_dim"), ("n_kv_heads", "n_heads"))
"""What holds of many models and not of all; the first is what people take for granted."""
ALL_ACTIVE: Identity = ("params", "active_params")
"""What texts about dense models treat as one number: an embedding table that is only looked up multiplies nothing."""


def identity_text(identities: Iterable[Identity]) -> str:
    """Identities as a text states them."""
    return " and ".join(f"{name} = {formula}" for name, formula in identities)


@dataclass(frozen=True)
class ClaimedFormula:
    """A claimed formula and the derived one under the claim's settings.

    Attributes:
        assumed_identities: identities substituted into both, each a name and the formula it equals: ``d_model`` and ``n_heads*head_dim``.

    Raises, when a side is read:
        InputError: what cannot be read, an unknown name, a threshold without a closed form.
    """

    claim: ClaimSpec
    assumed_identities: tuple[Identity, ...] = ()

    @cached_property
    def identities(self) -> tuple[Identity, ...]:
        """The identities that hold in the numbers of the claim's case."""
        case = self.answers.case

        def holds(name: str, formula: str) -> bool:
            try:
                return bool(case.evaluate(symbol(name)) == case.evaluate(parse(formula)))
            except (NoValue, TypeError, LookupError, ArithmeticError):
                return False

        return tuple((name, formula) for name, formula in IDENTITIES if holds(name, formula))

    @cached_property
    def unstated_widths(self) -> dict[str, str]:
        """Bytes per number that the derived formula has and the claim neither names nor states, each as the case has it:
        ``2*params`` says nothing of ``weight_bytes_per_param``."""
        derived = names(self.substituted(self.derived, self.expansion_stops[-1]))
        unstated = [
            name
            for name in ROLE_INPUT.values()
            if name in derived
            and name not in names(self.claimed)
            and name not in self.stated_widths
        ]
        return {
            name: f"{number_text(Fraction(self.answers.case.evaluate(symbol(name))))} byte"
            for name in unstated
        }

    @cached_property
    def stated_widths(self) -> set[str]:
        """Bytes per number that the claim's settings say. A formula may have them as a plain number, so that it differs in dimension."""
        return {ROLE_INPUT.get(name, printed_name(name)) for name in self.claim.given} & {
            *ROLE_INPUT.values()
        }

    @cached_property
    def answers(self) -> BoundCase:
        """The claim's case; a degree of parallelism that the formula names may be any there, unless the claim sets it to several devices."""
        case = self._set.case
        return self._set.without_values(
            [
                name
                for name in names(self.claimed)
                if name in DEGREES and (name not in case.given or case.value(name) == 1)
            ]
        )

    @cached_property
    def _set(self) -> BoundCase:
        return study_of(self.claim.given).first

    @cached_property
    def claimed(self) -> Expr:
        """The claim's formula over symroof's names; ``where`` defines letters of its own."""
        source = self.claim.formula or ""
        tree = self._read(parse)
        unknown = [name for name in names(tree) if not self._set.case.theory.knows(name)]
        if unknown:
            hint = nearest(unknown[0], self._set.case.theory.own.known)
            raise InputError(
                Problem(
                    "formula",
                    f"unknown name {unknown[0]!r}",
                    hint=hint or "define it in where",
                    source=source[:200],
                )
            )
        check_numbers("formula", tree, self._set.case)
        return tree

    def _read(self, reader: Callable[[str], Expr]) -> Expr:
        """The claim's formula in symroof's names, and its own letters as they are defined."""
        source = self.claim.formula or ""
        with formula_errors("formula", source):
            own = {
                str(name): resolved(reader(str(value))) for name, value in self.claim.where.items()
            }
            tree = reader(source)
        return substitute(
            tree, {name: own.get(name, symbol(printed_name(name))) for name in names(tree)}
        )

    @cached_property
    def _solution(self) -> Solution:
        from symroof.analysis.solve import solve

        return solve(self.claim.threshold or "", self.answers, self.claim.solve_for)

    @cached_property
    def derived(self) -> Expr:
        """The definition of the quantity, or the closed form of the threshold."""
        if self.claim.threshold:
            branch = self._solution.branch
            form = branch.closed_form if branch else None
            if form is None:
                raise NoValueHere(
                    Problem(self.claim.threshold, "has no closed form to compare with")
                )
            return form
        if self.name in dict(self.assumed_identities):
            return symbol(self.name)
        definition = self.answers.case.formula_or_name(self.name, complete=False)
        if is_relation(definition) or is_label(definition):
            raise InputError(
                Problem("quantity", f"{self.name} is true/false or a category, not a formula")
            )
        return definition

    @cached_property
    def name(self) -> str:
        """The claimed quantity, or what a threshold is solved for."""
        if self.claim.threshold:
            return self._solution.unknown
        return quantity_name(self.claim.quantity, self.claim.given)

    @property
    def asked(self) -> Expr:
        """The quantity by its name, or the closed form of the threshold."""
        if self.claim.threshold:
            return self.derived
        return symbol(printed_name(self.claim.quantity or ""))

    @property
    def unit(self) -> str:
        """The base unit of the claimed quantity; empty for a threshold, whose unknown is counted."""
        return "" if self.claim.threshold else self.answers.case.theory.symbol(self.name).unit

    @cached_property
    def expansion_stops(self) -> tuple[frozenset[str], ...]:
        """The names at which expansion stops: those of the claim's formula, and where that differs the inputs among them, but for what
        would be too long."""
        return (
            tuple(stops for stops in self.own_stops if not self._too_long(stops)) or self.own_stops
        )

    @cached_property
    def own_stops(self) -> tuple[frozenset[str], ...]:
        """The names of the claim's formula, and where that differs the inputs among them. An input in the formula stays a name whatever its
        default is: a formula over ``tp`` is about any number of devices."""
        own = frozenset(names(self.claimed))
        inputs = frozenset(
            name for name in own if self.answers.case.theory.definition(name) is None
        )
        return (own, inputs) if inputs != own else (own,)

    @property
    def is_too_long(self) -> bool:
        """Whether the derived formula is one of the few that are too long to write out, and so to compare by more than numbers."""
        return all(self._too_long(stops) for stops in self.own_stops)

    def _too_long(self, stops: frozenset[str]) -> bool:
        return size(self.expanded(self.derived, stops)) > WRITTEN_OUT

    def comparison(self) -> Comparison:
        """The comparison in the names of the claim, and where that differs, over inputs."""
        of, sides = self.answers.case.theory.dimension, (self.claimed, self.derived)
        measured = (self._read(written), symbol(self.name))
        comparisons = []
        for stops in self.expansion_stops:
            claimed, derived = (self.substituted(side, stops) for side in sides)
            comparisons.append(compare(claimed, derived, of, measured))
            if comparisons[-1].verdict == "equal":
                return comparisons[-1]
        return comparisons[0]

    def omitted_bends(self) -> tuple[Expr, ...]:
        """Floors and roundings of the derived formula, ``max(x, 0)`` and ``ceil(x)``, if the claim is right but for having ``x`` in their place."""
        for stops in self.expansion_stops:
            claimed, derived = (
                self.substituted(self.claimed, stops),
                self.substituted(self.derived, stops),
            )
            bent = self.bends(claimed, derived)
            if bent and same(claimed, without_rounding(derived, bent)):
                others = {part: [other for other in bent if other != part] for part in bent}
                return tuple(
                    part
                    for part in bent
                    if compare(claimed, without_rounding(derived, others[part])).verdict != "equal"
                )
        return ()

    @staticmethod
    def bends(claimed: Expr, derived: Expr) -> list[Expr]:
        """Floors and roundings that only the derived formula has."""
        return [
            part
            for part in parts(derived)
            if unrounded_argument(part) is not None and part not in parts(claimed)
        ]

    def substituted(self, tree: Expr, stops: frozenset[str]) -> Expr:
        """A formula over inputs and the names where expansion stops; any other name that the claim sets is replaced by its number, and
        one that is unset and does not matter as its default."""
        case = self.answers.case
        kept = stops.union(
            *({name, *names(parse(formula))} for name, formula in self.assumed_identities)
        )
        explicit = {ROLE_INPUT.get(name, printed_name(name)) for name in self.claim.given}
        whole = self.expanded(
            tree,
            kept | {name for name in explicit if name in case.given and case.given[name].is_Number},
        )
        put: dict[str, Expr] = {}
        for name in names(whole):
            stands = (
                case.given.get(name)
                if name in explicit
                else neutral_default(name)
                if name not in case.given
                else None
            )
            if stands is not None and name not in kept:
                put[name] = stands
        opened = substitute(whole, put)
        for name, formula in self.assumed_identities:
            opened = substitute(opened, {name: parse(formula)})
        return opened

    def expanded(self, tree: Expr, stops: frozenset[str]) -> Expr:
        """A formula over inputs and the names where expansion stops, no number substituted."""
        case = self.answers.case
        formulas = {name: value for name, value in case.given.items() if not value.is_Number}
        return case.theory.expand(tree, formulas, stops)

    def bend_is_inactive(self, floor: Expr) -> bool | None:
        """Whether ``max(x, 0)`` is ``x`` in the claim's case; None where it has no value, or one degree among others."""
        case, held = self.answers.case, unrounded_argument(floor)
        if held is None or case.free.intersection(names(held)):
            return None
        try:
            return bool(case.evaluate(held) == case.evaluate(floor))
        except (NoValue, TypeError, LookupError):
            return None

    def numeric_ratio(self) -> Fraction | None:
        """Claimed over derived in the claim's case, where it has numbers."""
        try:
            over = self.answers.case.evaluate(self.claimed)
            below = self.answers.case.evaluate(self.derived)
            return Fraction(over) / Fraction(below) if below else None
        except (NoValue, TypeError, LookupError):
            return None

    def trial_difference(self) -> tuple[Fraction, dict[str, Fraction]] | None:
        """Claimed over derived where the two differ once inputs that the case lacks have a value, and those; None where no value tried shows it."""
        for value in TRIAL_VALUES:
            put: dict[str, Fraction] = {}
            while len(put) < MOST_TRIAL_VALUES:
                case = self.answers.case.changed(put)
                try:
                    over, below = (
                        Fraction(case.evaluate(side)) for side in (self.claimed, self.derived)
                    )
                except MissingInput as error:
                    put[error.name] = value
                    continue
                except (NoValue, TypeError, LookupError):
                    break
                if over != below and below:
                    return over / below, put
                break
        return self._difference_elsewhere()

    def _difference_elsewhere(self) -> tuple[Fraction, dict[str, Fraction]] | None:
        """The same in a case of its own, where the claim's names neither a model nor a device; the values it was tried at are then not named."""
        if {"model", "hardware", "layers"} & self.claim.given.keys():
            return None
        there = replace(
            self, claim=self.claim.model_copy(update={"given": {**TRIAL_CASE, **self.claim.given}})
        )
        try:
            ratio = there.numeric_ratio()
        except InputError:
            return None
        return (ratio, {}) if ratio is not None and ratio != 1 else None

    def derived_text(self) -> str:
        """The derived formula in the names of the claim, where it is short enough."""
        opened = text(self.substituted(self.derived, self.expansion_stops[0]))
        return opened if len(opened) <= LONGEST_FORMULA else text(self.derived)[:LONGEST_FORMULA]


@dataclass(frozen=True)
class DetailLevel:
    """A claim at one level of detail: its label, and both sides."""

    label: str
    sides: ClaimedFormula

    @cached_property
    def own(self) -> Comparison:
        """How the two sides compare."""
        return self.sides.comparison()

    @property
    def equal(self) -> bool:
        """Whether the sides are equal: sooner known than how they differ."""
        sides = self.sides
        return (
            any(
                same(
                    sides.substituted(sides.claimed, stops), sides.substituted(sides.derived, stops)
                )
                for stops in sides.expansion_stops
            )
            and self.own.verdict == "equal"
        )

    @property
    def for_long_prompts(self) -> bool:
        """Whether the sides are equal but for a token more or less in a prompt of many: ``S^2`` for ``S*(S + 1)``."""
        sides = self.sides
        return any(
            lower_order(
                sides.substituted(sides.claimed, stops),
                sides.substituted(sides.derived, stops),
                "prompt",
            )
            for stops in sides.expansion_stops
        )
