"""Why two cases give different numbers: what each difference does, one after another, from one value to the other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from symroof.analysis.differences import LEFT_OUT, Change, differences
from symroof.cases.binding import Binding
from symroof.cases.case_results import Answers
from symroof.cases.quantity_result import DOES_NOT_FIT, Result, bare
from symroof.errors import InputError, Problem
from symroof.formula.evaluate import NoValue
from symroof.specs.preset import PresetSpec
from symroof.theory.symbols import Symbol
from symroof.theory.sympy_input import known
from symroof.theory.theory import UnknownName
from symroof.units import format_quantity, significant

HEADER = ("", "", "effect", "factor", "value")
"""What stands above the rows of a waterfall."""


@dataclass(frozen=True)
class Step:
    """One difference and what it does, with the steps before it applied.

    Several changes are one step where the quantity has no value between them.
    """

    changes: tuple[Change, ...]
    before: Fraction
    after: Fraction

    @property
    def effect(self) -> Fraction:
        """In the quantity's unit."""
        return self.after - self.before

    @property
    def factor(self) -> Fraction | None:
        """How many times the value before; None where that is 0."""
        return self.after / self.before if self.before else None

    @property
    def label(self) -> str:
        """``attention: causal -> full``, ``prefill_time = prefill_compute_time``; a term of a definition is its name alone."""
        return ", ".join(change_label(change) for change in self.changes)

    def turned(self) -> Step:
        """The same step the other way."""
        return Step(tuple(change.turned() for change in reversed(self.changes)), self.after, self.before)

    @property
    def slip(self) -> str:
        """The mistake in a tool's choice, where a preset says so."""
        return "; ".join(dict.fromkeys(change.slip for change in self.changes if change.slip))


def change_label(change: Change) -> str:
    """A change in a few words."""
    if change.kind == "rest":
        return change.name
    name, mark, term = change.name.partition(": ")
    if mark:
        return f"{term}{' (left out)' if change.after == LEFT_OUT else ''}"
    if change.kind == "definition":
        return f"{name} = {change.after}"
    return f"{name}: {change.before} -> {change.after}"


@dataclass(frozen=True, repr=False)
class Waterfall:
    """The way from one value of a quantity to another.

    Attributes:
        start, end: the quantity on both sides, with unit and flags.
        steps: what moves it, in order; their effects add up to the difference exactly.
        without_effect: what differs and moves nothing at its place.
        presets: what each preset of the two sides sets, where nothing moves.

    >>> from symroof.analysis.study import Study
    >>> waterfall(*(Study("llama-3-8b", prompt=prompt).first for prompt in (1024, 2048)), "kv_cache_bytes")
    Waterfall(kv_cache_bytes: 134.2 MB to 268.4 MB; prompt: 1,024 tokens -> 2,048 tokens: +134.2 MB)
    """

    start: Result
    end: Result
    steps: tuple[Step, ...]
    without_effect: tuple[Change, ...]
    presets: tuple[str, ...] = ()

    def turned(self) -> Waterfall:
        """The way back: the same steps in the other order."""
        steps = tuple(step.turned() for step in reversed(self.steps))
        return replace(self, start=self.end, end=self.start, steps=steps, without_effect=tuple(change.turned() for change in self.without_effect))

    @property
    def symbol(self) -> Symbol:
        return self.end.symbol

    @property
    def effect(self) -> Fraction:
        """The whole difference."""
        return sum((step.effect for step in self.steps), Fraction(0))

    @property
    def factor(self) -> Fraction | None:
        """How many times the first value the second is; None where the first is 0."""
        start = plain(self.start)
        return plain(self.end) / start if start else None

    def rows(self, start: str = "first", end: str = "second") -> list[list[str]]:
        """The first value, each step with its effect, factor and the value after it, the last value, as people write them."""
        unit = self.symbol.unit
        made = [["from", start, "", "", self.start.text()]]
        for step in self.steps:
            made.append([step.changes[-1].kind, step.label, signed(step.effect, unit), times(step.factor), format_quantity(step.after, unit)])
        return [*made, ["to", end, signed(self.effect, unit), times(self.factor), self.end.text()]]

    def notes(self) -> list[str]:
        """The mistakes in a tool's choice, what presets set where nothing moves, and what differs without effect."""
        slips = [f"slip: {step.slip}" for step in self.steps if step.slip]
        silent = ", ".join(dict.fromkeys(change.name for change in self.without_effect))
        return [*dict.fromkeys(slips), *self.presets, *([f"differs without effect here: {silent}"] if silent else [])]

    def __repr__(self) -> str:
        steps = "; ".join(f"{step.label}: {signed(step.effect, self.symbol.unit)}" for step in self.steps)
        return f"Waterfall({self.symbol.name}: {self.start.text()} to {self.end.text()}{f'; {steps}' if steps else ''})"

    def _repr_html_(self) -> str:
        from symroof.drawing.table_formats import html_table

        return html_table(HEADER, self.rows(), f"{self.symbol.name}: {self.symbol.meaning}")

    def as_json(self) -> dict[str, Any]:
        """The entry of one quantity in the JSON output."""
        return {
            "quantity": self.symbol.name,
            "from": self.start.as_json(),
            "to": self.end.as_json(),
            "effect": bare(self.effect),
            "factor": bare(self.factor),
            "steps": [step_json(step) for step in self.steps],
            "without_effect": [change_json(change) for change in self.without_effect],
        }


def signed(value: Fraction, unit: str) -> str:
    """An effect with its sign."""
    return f"{'+' if value >= 0 else ''}{format_quantity(value, unit)}"


def times(factor: Fraction | None) -> str:
    """A factor; empty where there is none."""
    return f"× {significant(factor, 4)}" if factor is not None else ""


def step_json(step: Step) -> dict[str, Any]:
    """A step for programs."""
    return {
        "changes": [change_json(change) for change in step.changes],
        "effect": bare(step.effect),
        "factor": bare(step.factor),
        "value": bare(step.after),
        "slip": step.slip or None,
    }


def change_json(change: Change) -> dict[str, str]:
    """A change for programs."""
    return {"kind": change.kind, "name": change.name, "from": change.before, "to": change.after}


def waterfall(a: Answers, b: Answers, quantity: str) -> Waterfall:
    """What leads from one case's value of a quantity to another's: definitions first, then counting choices, then inputs.

    Each difference is applied to the case that the ones before it made, so a later one works on what they left. The last case is
    the second, and the effects add up to the difference exactly. From a preset to a case without one the way is the one there, gone
    backwards: a tool's terms are of its own formula, and beside another they would count twice.

    Raises:
        InputError: no such quantity, one side has no value of it, it is no number.

    >>> from symroof.analysis.study import Study
    >>> one, other = (Study("llama-3-8b", "h100-sxm", batch=batch, prompt=prompt).first for batch, prompt in ((1, 2048), (8, 4096)))
    >>> way = waterfall(one, other, "kv_cache_bytes")
    >>> [(step.label, int(step.factor)) for step in way.steps], int(way.factor)
    ([('prompt: 2,048 tokens -> 4,096 tokens', 2), ('batch: 1 request -> 8 requests', 8)], 16)
    """
    name = known(quantity, b.binding.selection.own)
    start, end = number_of(a, name, "the first"), number_of(b, name, "the second")
    if a.binding.preset and not b.binding.preset:
        return _way(b.binding, a.binding, end, start).turned()
    return _way(a.binding, b.binding, start, end)


def _way(a: Binding, b: Binding, start: Result, end: Result) -> Waterfall:
    """The way between the values of a quantity in two cases."""
    steps, silent = _steps(a, b, start.name, plain(start))
    presets = () if steps else tuple(dict.fromkeys(_scope(side.preset, start.name) for side in (a, b) if side.preset))
    return Waterfall(start, end, steps, silent, presets)


def _scope(preset: PresetSpec, name: str) -> str:
    """What a preset sets, for a quantity that it does not move."""
    sets = ", ".join(dict.fromkeys((*preset.assume, *preset.set, *preset.definitions)))
    return f"the preset {preset.name} ({preset.title}) does not move {name} here: it sets {sets}"


def number_of(answers: Answers, name: str, which: str) -> Result:
    """The value of a quantity on one side.

    Raises:
        InputError: none, or no number.
    """
    try:
        result = answers.result(name)
    except (NoValue, UnknownName) as error:
        raise InputError(Problem(name, f"has no value on {which} side: {error}", hint=f"`symroof derive {name}` shows what it needs")) from None
    if not isinstance(result.value, Fraction):
        raise InputError(Problem(name, "is not a number, so it cannot be decomposed", hint="name a time, bytes, FLOPs, a rate or a price"))
    return Result(result.symbol, result.value, flags=tuple(flag for flag in result.flags if flag == DOES_NOT_FIT))


def _steps(a: Binding, b: Binding, name: str, value: Fraction) -> tuple[tuple[Step, ...], tuple[Change, ...]]:
    """The steps that move the quantity, and the changes that do not."""
    steps: list[Step] = []
    silent: list[Change] = []
    for changes, after in _values(a, b, name):
        if after == value:
            silent += [change for change in changes if change.before != change.after]
        else:
            steps.append(Step(changes, value, after))
        value = after
    return tuple(steps), tuple(silent)


def _values(a: Binding, b: Binding, name: str) -> Iterator[tuple[tuple[Change, ...], Fraction]]:
    """The value after each change; a change without a value is joined with the next."""
    case = a
    open_changes: tuple[Change, ...] = ()
    for change in differences(a, b):
        case, open_changes = change.applied(case), (*open_changes, change)
        try:
            after = case.case().value(name)
        except (NoValue, InputError, UnknownName):
            continue
        if isinstance(after, Fraction):
            yield open_changes, after
            open_changes = ()


def plain(result: Result) -> Fraction:
    """The value of a result that is a number."""
    assert isinstance(result.value, Fraction)
    return result.value


__all__ = ["HEADER", "Step", "Waterfall", "change_json", "change_label", "number_of", "plain", "signed", "step_json", "times", "waterfall"]
