"""Why two cases give different numbers: what each difference does, one after another, from one value to the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from symroof.analysis.differences import CaseDifference, differences
from symroof.analysis.verdict import basis_of
from symroof.cases.bound_case import BoundCase
from symroof.cases.values import DOES_NOT_FIT, Result, plain_value
from symroof.errors import InputError, Problem
from symroof.symbolic.evaluation import NoValue
from symroof.symbolic.kernels import nearly_equal
from symroof.theory.spellings import known
from symroof.theory.symbols import Symbol
from symroof.theory.theory import UnknownName
from symroof.units import format_quantity, significant

REST = CaseDifference("rest", "not explained", "", "")


@dataclass(frozen=True)
class WaterfallStep:
    """One difference and what it does, with the steps before it applied.

    Several changes are one step where the quantity has no value between them.
    """

    changes: tuple[CaseDifference, ...]
    before: float
    after: float

    @property
    def effect(self) -> float:
        """In the quantity's unit."""
        return self.after - self.before

    @property
    def factor(self) -> float | None:
        """How many times the value before; None where that is 0."""
        return self.after / self.before if self.before else None

    @property
    def label(self) -> str:
        return ", ".join(change.label for change in self.changes)

    @property
    def slip(self) -> str:
        """The mistake in a tool's choice, where a preset says so."""
        return "; ".join(dict.fromkeys(change.slip for change in self.changes if change.slip))

    def as_json(self) -> dict[str, Any]:
        return {
            "changes": [change.as_json() for change in self.changes],
            "effect": plain_value(self.effect),
            "factor": plain_value(self.factor),
            "value": plain_value(self.after),
            "slip": self.slip or None,
        }


@dataclass(frozen=True, repr=False)
class Waterfall:
    """The steps from one value of a quantity to another.

    Attributes:
        start, end: the quantity on both sides, with unit and flags.
        steps: the differences, in order; their effects add up to the whole difference.
        without_effect: differences that change nothing after the steps before them.
        basis: what the two values rest on where they depend on efficiencies: ``bound at 100 % of peak``, the first side's before the second's.

    >>> from symroof.analysis.study import Study
    >>> waterfall(*(Study("llama-3-8b", prompt=prompt).first for prompt in (1024, 2048)), "kv_cache_bytes")
    Waterfall(kv_cache_bytes: 134.2 MB to 268.4 MB; prompt: 1,024 tokens -> 2,048 tokens: +134.2 MB)
    """

    start: Result
    end: Result
    steps: tuple[WaterfallStep, ...]
    without_effect: tuple[CaseDifference, ...]
    basis: tuple[str, ...] = ()

    def reversed(self) -> Waterfall:
        """The way back: the same steps in the other order."""
        back = (
            WaterfallStep(_backwards(step.changes[::-1]), step.after, step.before)
            for step in self.steps[::-1]
        )
        silent = _backwards(self.without_effect)
        return Waterfall(self.end, self.start, tuple(back), silent, self.basis[::-1])

    @property
    def title(self) -> str:
        """The quantity, its meaning, and what its values rest on."""
        first, *others = dict.fromkeys(self.basis) or [""]
        rests = f"first {first}, second {others[0]}" if others else first
        return f"{self.symbol.name}: {self.symbol.meaning}{f' ({rests})' if rests else ''}"

    @property
    def symbol(self) -> Symbol:
        return self.end.symbol

    @property
    def effect(self) -> float:
        """The whole difference."""
        return sum(step.effect for step in self.steps)

    @property
    def factor(self) -> float | None:
        """How many times the first value the second is; None where the first is 0."""
        start = self.start.value
        return self.end.value / start if start else None

    def rows(self, start: str = "first", end: str = "second") -> list[list[str]]:
        """The first value, each step with its effect, factor and the value after it, the last value, as people write them."""
        unit = self.symbol.unit
        moved = signed_text(self.effect, unit), factor_text(self.factor)
        rows = [["from", start, "", "", self.start.text()]]
        for step in self.steps:
            cells = signed_text(step.effect, unit), factor_text(step.factor)
            after = format_quantity(step.after, unit)
            rows.append([step.changes[-1].kind, step.label, *cells, after])
        return [*rows, ["to", end, *moved, self.end.text()]]

    def notes(self) -> list[str]:
        """The mistakes in a tool's choice, and what differs without effect."""
        slips = dict.fromkeys(f"slip: {step.slip}" for step in self.steps if step.slip)
        silent = ", ".join(dict.fromkeys(change.name for change in self.without_effect))
        differs = [f"differs without effect here: {silent}"] if silent else []
        return [*slips, *differs]

    def __repr__(self) -> str:
        name, unit = self.symbol.name, self.symbol.unit
        steps = (f"; {step.label}: {signed_text(step.effect, unit)}" for step in self.steps)
        return f"Waterfall({name}: {self.start.text()} to {self.end.text()}{''.join(steps)})"

    def as_json(self) -> dict[str, Any]:
        """The entry of one quantity in the JSON output."""
        return {
            "quantity": self.symbol.name,
            "from": self.start.as_json(),
            "to": self.end.as_json(),
            "effect": plain_value(self.effect),
            "factor": plain_value(self.factor),
            "steps": [step.as_json() for step in self.steps],
            "without_effect": [change.as_json() for change in self.without_effect],
        }


def _backwards(changes: tuple[CaseDifference, ...]) -> tuple[CaseDifference, ...]:
    return tuple(change.reversed() for change in changes)


def signed_text(value: Any, unit: str, digits: int = 4) -> str:
    """An effect with its sign."""
    return f"{'+' if value >= 0 else ''}{format_quantity(value, unit, digits)}"


def factor_text(factor: float | None, digits: int = 4) -> str:
    """A factor; empty where there is none."""
    return f"× {significant(factor, digits)}" if factor is not None else ""


def waterfall(a: BoundCase, b: BoundCase, quantity: str) -> Waterfall:
    """What leads from one case's value of a quantity to another's: definitions first, then counting choices, then inputs.

    Each difference is applied to the case that the ones before it made, so a later one works on what they left. The last case is
    the second, and the effects add up to the difference exactly. From a preset to a case without one the way is the one there, gone
    backwards: a tool's terms are part of its own formula, and in another they would count twice.

    Raises:
        InputError: no such quantity, one side has no value of it, it is no number.

    >>> from symroof.analysis.study import Study
    >>> one, other = (Study("llama-3-8b", "h100-sxm", batch=batch, prompt=prompt).first for batch, prompt in ((1, 2048), (8, 4096)))
    >>> way = waterfall(one, other, "kv_cache_bytes")
    >>> [(step.label, int(step.factor)) for step in way.steps], int(way.factor)
    ([('prompt: 2,048 tokens -> 4,096 tokens', 2), ('batch: 1 request -> 8 requests', 8)], 16)
    """
    name = known(quantity, b.request.own)
    start, end = _number_of(a, name, "the first"), _number_of(b, name, "the second")
    if a.preset and not b.preset:
        return waterfall(b, a, name).reversed()
    value, case = start.value, a
    tried: tuple[CaseDifference, ...] = ()
    steps: list[WaterfallStep] = []
    silent: list[CaseDifference] = []
    for change in differences(a, b):
        case, tried = change.applied(case), (*tried, change)
        try:
            after = case.case.value(name)
        except (NoValue, InputError, UnknownName):
            continue  # without a value between them several changes are one step
        if nearly_equal(after, value):
            silent += [each for each in tried if each.before != each.after]
        else:
            steps.append(WaterfallStep(tried, value, after))
            value = after
        tried = ()
    if not nearly_equal(value, end.value):  # names that the two studies define otherwise
        steps.append(WaterfallStep((REST,), value, end.value))
    basis = (*_basis(a, name), *_basis(b, name))
    return Waterfall(start, end, tuple(steps), tuple(silent), basis)


def _basis(bound_case: BoundCase, name: str) -> tuple[str, ...]:
    """What a value rests on, if on efficiencies; a waterfall has no ranges to speak of."""
    return tuple(line.partition(";")[0] for line in basis_of(bound_case, [name]))


def _number_of(bound_case: BoundCase, name: str, which: str) -> Result:
    """The value of a quantity on one side.

    Raises:
        InputError: none, or no number.
    """
    try:
        result = bound_case.result(name)
    except (NoValue, UnknownName) as error:
        message = f"has no value on {which} side: {error}"
        hint = f"`symroof derive {name}` shows what it needs"
        raise InputError(Problem(name, message, hint=hint)) from None
    if not isinstance(result.value, float):
        message = "is not a number, so it cannot be decomposed"
        hint = "name a time, bytes, FLOPs, a rate or a price"
        raise InputError(Problem(name, message, hint=hint))
    flags = tuple(flag for flag in result.flags if flag == DOES_NOT_FIT)
    return Result(result.symbol, result.value, flags=flags)
