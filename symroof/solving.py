"""Thresholds and equations of a case: names opened as far as the unknown reaches, then the solver, then words."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from symroof.crossings.crossing import Crossing, Walk
from symroof.crossings.rational import NotRational
from symroof.crossings.symbolic import symbolic
from symroof.formula import build, dimension
from symroof.formula.evaluate import NoValue, evaluate
from symroof.formula.parse import FormulaError, parse
from symroof.formula.text import text
from symroof.formula.tree import Compare, Name, Num, Tree, mentions, names
from symroof.opening import KEPT, opened
from symroof.results import DOES_NOT_FIT, Answers, plural
from symroof.specs.errors import InputError, Problem, nearest
from symroof.theory.case import Missing
from symroof.theory.spellings import printed_name, resolved
from symroof.theory.symbols import INPUTS, SHARES, Symbol
from symroof.theory.theory import UnknownName
from symroof.theory.thresholds import THRESHOLDS, Threshold
from symroof.units import format_quantity


@dataclass(repr=False)
class Solution:
    """A solved equation of one case.

    Attributes:
        verdict: ``crosses``, ``lhs_above``, ``lhs_below``, ``identical``.
        value: the first crossing, exact or to 40 digits; None where the sides never meet.
        integer: ``{"at_least": n}`` or ``{"at_most": n}`` where the unknown counts things.
        within_memory: whether the case still fits at that value; None where memory is not known or not concerned.
        reason: a plain sentence.
    """

    lhs: Tree
    rhs: Tree
    unknown: str
    kind: str
    answers: Answers
    crossing: Crossing
    threshold: Threshold | None = None
    missing: str | None = None

    @property
    def verdict(self) -> str:
        return self.crossing.verdict

    @property
    def method(self) -> str:
        return self.crossing.method

    @property
    def values(self) -> tuple[Fraction, ...]:
        return self.crossing.values

    @property
    def value(self) -> Fraction | None:
        return self.crossing.value

    @property
    def symbol(self) -> Symbol:
        return self.answers.case.theory.symbol(self.unknown)

    @property
    def closed_form(self) -> Tree | None:
        """The formula of the crossing, or the formula it would have if its conditions held."""
        branches = self.crossing.branches
        chosen = next((b for b in branches if b.holds and b.value == self.value), branches[0] if branches else None)
        return chosen.closed_form if chosen else None

    @cached_property
    def integer(self) -> dict[str, int] | None:
        """The whole-number answer."""
        if not self.symbol.counted or self.value is None:
            return None
        return {"at_most" if self.kind == "limit" else "at_least": self.rounded(self.value)}

    def rounded(self, value: Fraction) -> int:
        """A crossing as the whole number it allows: down to the last that keeps a limit, up to the first that reaches."""
        return math.floor(value) if self.kind == "limit" else math.ceil(value)

    @cached_property
    def whole(self) -> Fraction | None:
        """The value to act on: the whole number where things are counted, else the crossing."""
        return Fraction(next(iter(self.integer.values()))) if self.integer else self.value

    @cached_property
    def within_memory(self) -> bool | None:
        if self.whole is None or self.whole < 1 or self.unknown not in ("batch", "context", "prompt", "output"):
            return None
        try:
            return bool(self.answers.case.changed({self.unknown: self.whole}).value("fits"))
        except NoValue:
            return None

    @property
    def flags(self) -> tuple[str, ...]:
        return (DOES_NOT_FIT,) if self.within_memory is False else ()

    def shown(self) -> str:
        """The answer in a few words: the whole number or value with its unit, or "never"."""
        if self.verdict == "identical":
            return "everywhere"
        if self.verdict == "conditional":
            return "depends on the conditions"
        if self.verdict == "crosses" and self.value is None:
            return "always one, by the formula"
        if self.value is None:
            return "never"
        if self.integer:
            (word, number), unit = next(iter(self.integer.items())), self.symbol.unit
            return f"{word.replace('_', ' ')} {number:,}" + (f" {plural(unit, Fraction(number))}" if unit else "")
        return format_quantity(self.value, self.symbol.unit)

    def __repr__(self) -> str:
        return f"<{text(self.lhs)} = {text(self.rhs)} for {self.unknown}: {self.shown()}>"

    @property
    def reason(self) -> str:
        """A plain sentence: what the number means, or why there is none."""
        return f"{self._reason}; for a number, {self.missing} is missing" if self.missing else self._reason

    @property
    def _reason(self) -> str:
        if self.verdict == "identical":
            return "both sides are the same formula"
        means = f"{self.threshold.means}; " if self.threshold else ""
        if self.verdict == "conditional":
            return f"{means}whether there is one depends on the conditions of each branch"
        if self.verdict == "crosses" and self.value is None:
            return self.threshold.means if self.threshold else "the two sides meet, whatever the symbols"
        if self.value is None:
            side = "above" if self.verdict == "lhs_above" else "below"
            why = f": {self.threshold.never}" if self.threshold else ""
            return f"{text(self.lhs)} stays {side} {text(self.rhs)} for every {self.unknown}{why}"
        if self.integer and self.value < 1:
            return f"{means}the crossing itself lies below one, at {format_quantity(self.value, '')}"
        return self.threshold.means if self.threshold else self._sides()

    def _sides(self) -> str:
        """Which side is the larger before and after the crossing, in whole numbers where things are counted."""
        lhs, rhs, value = text(self.lhs), text(self.rhs), self.value
        if isinstance(self.lhs, Name) and isinstance(self.rhs, Num):
            rhs = format_quantity(self.rhs.value, self.answers.case.theory.symbol(self.lhs.name).unit)
        if value is None or len(self.values) > 1 or not self.integer:
            return f"{lhs} and {rhs} meet here"
        down, up = math.floor(value), math.ceil(value)
        try:
            after = evaluate(build.sub(self.lhs, self.rhs), self.answers.case.changed({self.unknown: Fraction(up + 1)}))
        except NoValue:
            return f"{lhs} and {rhs} meet here"
        before, beyond = ("below", "above") if after > 0 else ("above", "below")
        return f"{lhs} stays {before} {rhs} up to {down:,} and is {beyond} it from {up + (up == down):,} on"


def solve(equation: str, answers: Answers, for_: str | None = None) -> Solution:
    """Solve a named threshold, or ``lhs = rhs`` for an input.

    Raises:
        InputError: an unknown name, mismatched dimensions, an unknown that does not occur, a missing input.
    """
    if (equation, for_) not in answers.solved:
        answers.solved[equation, for_] = _solve(equation, answers, for_)
    found: Solution = answers.solved[equation, for_]
    return found


def _solve(equation: str, answers: Answers, for_: str | None) -> Solution:
    named = THRESHOLDS.get(equation.strip())
    relation = parse_equation(named.equation if named else equation)
    unknown = printed_name(for_) if for_ else named.unknown if named else None
    if unknown is None:
        raise InputError(Problem(equation, "say what to solve for", hint="for_='batch'"))
    if unknown not in INPUTS and unknown != "context":
        raise InputError(Problem(unknown, "no such input to solve for", hint=nearest(unknown, INPUTS)))
    _check(relation, answers, equation)
    missing = None
    try:
        crossing = _with_numbers(relation, unknown, answers)
    except Missing as error:
        missing = error.name
        crossing = _without_numbers(relation, unknown, answers, equation, missing)
    return Solution(relation.left, relation.right, unknown, named.kind if named else "reach", answers, crossing, named, missing)


def _with_numbers(relation: Compare, unknown: str, answers: Answers) -> Crossing:
    lhs, rhs = (opened(side, unknown, answers) for side in (relation.left, relation.right))
    on_axis = Walk(unknown, lambda tree, values: evaluate(tree, answers.case, values), high=Fraction(1) if unknown in SHARES else None)
    return on_axis.solve(build.sub(lhs, rhs))


def _without_numbers(relation: Compare, unknown: str, answers: Answers, equation: str, missing: str) -> Crossing:
    """The symbolic answer, where an input it would need for a number is not given."""
    lhs, rhs = (opened(side, unknown, answers, kept=KEPT) for side in (relation.left, relation.right))
    if not (mentions(lhs, unknown) or mentions(rhs, unknown)):
        raise InputError(Problem(equation, f"{unknown} does not occur in it"))
    try:
        return symbolic(build.sub(lhs, rhs), unknown)
    except NotRational as error:
        raise InputError(Problem(equation, f"has no symbolic answer ({error}), and {missing} is missing for one with numbers")) from None


def parse_equation(equation: str) -> Compare:
    """``lhs = rhs`` as a tree.

    Raises:
        InputError: not an equation.
    """
    try:
        tree = resolved(parse(equation))
    except FormulaError as error:
        raise InputError(Problem("equation", error.message, 1, error.column, source=equation[:200])) from None
    if not isinstance(tree, Compare) or tree.operator != "=":
        raise InputError(Problem("equation", "is not of the form lhs = rhs", hint=nearest(equation, THRESHOLDS)))
    return tree


def _check(relation: Compare, answers: Answers, equation: str) -> None:
    """Every name known, both sides of one dimension."""
    theory = answers.case.theory
    for name in names(relation):
        try:
            theory.symbol(name)
        except UnknownName:
            raise InputError(Problem(equation[:80], f"unknown name {name!r}", hint=nearest(name, [*theory.definitions, *INPUTS]))) from None
    try:
        dimension.dimension(relation, theory.dimension)
    except dimension.DimensionError as error:
        raise InputError(Problem(equation[:80], str(error))) from None


def applicable(answers: Answers) -> dict[str, Any]:
    """Every named threshold that this case has the inputs for: its solution, or why there is none."""
    found: dict[str, Any] = {}
    for name, threshold in THRESHOLDS.items():
        if any(not answers.case.has(need) for need in threshold.needs):
            continue
        try:
            found[name] = solve(name, answers)
        except (InputError, NoValue) as error:
            found[name] = str(error)
    return found
