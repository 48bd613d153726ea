"""Which tool, or which smallest set of choices, gives a number: every preset, then the choices of all of them one by one and together."""

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from symroof.analysis.differences import CaseDifference, added_term, base_definition
from symroof.analysis.study import Study
from symroof.analysis.waterfall import (
    Waterfall,
    WaterfallStep,
    basis_in_a_word,
    change_json,
    change_label,
    fraction_of,
    number_of,
)
from symroof.cases.bound_case import BoundCase
from symroof.cases.quantity_result import Result, plain_value
from symroof.cases.request import Request
from symroof.errors import InputError
from symroof.formula.evaluate import NoValue
from symroof.specs.catalogue import entries
from symroof.theory.switches import SWITCHES
from symroof.theory.symbols import Symbol
from symroof.theory.sympy_input import known
from symroof.theory.theory import UnknownName

MOST_TOGETHER = 3
MOST_TRIED = 2000
"""Sets of choices that are tried, so that an answer comes within seconds."""
MOST_SHOWN = 8


@dataclass(frozen=True)
class Candidate:
    """One choice that a number may rest on: what it changes in a case, and the tools that make it; None where it is made already."""

    change: Callable[[BoundCase], CaseDifference | None]
    tool: str = ""


@dataclass(frozen=True)
class Origin:
    """What gives the number: a preset as a whole, or choices; neither where the case gives it unchanged."""

    value: Fraction
    preset: str = ""
    changes: tuple[CaseDifference, ...] = ()
    tools: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        if self.preset:
            return f"preset {self.preset}"
        named = (
            f"{change_label(change)}{f' ({tool})' if tool else ''}"
            for change, tool in zip(self.changes, self.tools, strict=True)
        )
        return " and ".join(named) or "the case as it is"

    def as_json(self) -> dict[str, Any]:
        choices = [
            {**change_json(change), "tool": tool or None}
            for change, tool in zip(self.changes, self.tools, strict=True)
        ]
        return {"preset": self.preset or None, "choices": choices, "value": plain_value(self.value)}


@dataclass(frozen=True)
class Origins:
    """All explanations of one number.

    Attributes:
        derived: the quantity as the case is.
        explanations: the presets that give the number, then the smallest sets of choices that do.
        tried: how many presets and sets were tried; a number with few digits is met by chance.
        values: what they give, each value once.
        complete: whether all sets up to the size of those listed were tried.
    """

    symbol: Symbol
    derived: Fraction
    explanations: tuple[Origin, ...]
    tried: int
    complete: bool
    values: tuple[Fraction, ...] = ()


def origins(study: Study, quantity: str, agrees: Callable[[Fraction], bool]) -> Origins:
    """Which presets and which smallest sets of choices give a number in the first case of a study.

    Args:
        agrees: whether a value is the number, to the digits that were written.

    Raises:
        InputError: no such quantity, it has no value here, it is no number.

    >>> case = Study("llama-3-8b", "h100-sxm", prompt=2048)
    >>> [origin.text for origin in origins(case, "ttft", lambda value: abs(value - Fraction("0.0311172")) < Fraction("5e-8")).explanations]
    ['attention: causal -> full', 'the whole square of queries and keys (genz, llm-analysis, llm-viewer)']
    """
    name = known(quantity, study.declared)
    bound_case = study.first
    derived = number_of(study.first, name, "the case's")
    counted: dict[str, int] = {"tried": 0}
    values: dict[Fraction, None] = {}

    def value(case: BoundCase) -> Fraction | None:
        counted["tried"] += 1
        try:
            result = case.case.value(name)
        except (NoValue, InputError, UnknownName):
            return None
        if not isinstance(result, Fraction):
            return None
        values[result] = None
        return result

    if agrees(number := fraction_of(derived)):
        return Origins(derived.symbol, number, (Origin(number),), 1, True)
    whole = {preset: _under(study, preset) for preset in entries("presets")}
    presets = [
        Origin(v, preset)
        for preset, case in whole.items()
        if case and (v := value(case)) is not None and agrees(v)
    ]
    moving = [
        (choice, change)
        for choice, change in _choices(bound_case, whole)
        if value(change.applied(bound_case)) not in (None, number)
    ]
    sets, complete = _sets(bound_case, [choice for choice, _ in moving], value, agrees, counted)
    return Origins(
        derived.symbol,
        number,
        (*presets, *sets[:MOST_SHOWN]),
        counted["tried"],
        complete,
        tuple(values),
    )


def _under(study: Study, preset: str) -> BoundCase | None:
    """The case as a preset counts it; None where it has no answer there."""
    other = Study()
    other.select(study.request)
    other.select(Request(preset=preset))
    try:
        return other.first
    except InputError:
        return None


def _sets(
    bound_case: BoundCase,
    choices: list[Candidate],
    value: Callable[[BoundCase], Fraction | None],
    agrees: Callable[[Fraction], bool],
    counted: dict[str, int],
) -> tuple[list[Origin], bool]:
    """The smallest sets of choices that give the number, and whether all of that size were tried."""
    for size in range(1, MOST_TOGETHER + 1):
        matches: list[Origin] = []
        for chosen in itertools.combinations(choices, size):
            if counted["tried"] >= MOST_TRIED:
                return matches, False
            made = _together(bound_case, chosen)
            if made and (v := value(made[0])) is not None and agrees(v):
                matches.append(
                    Origin(v, changes=made[1], tools=tuple(choice.tool for choice in chosen))
                )
        if matches:
            return matches, True
    return [], True


def _together(
    bound_case: BoundCase, chosen: tuple[Candidate, ...]
) -> tuple[BoundCase, tuple[CaseDifference, ...]] | None:
    """The case with all of the choices; None where two of them are of one thing."""
    changes: list[CaseDifference] = []
    for choice in chosen:
        change = choice.change(bound_case)
        if change is None or any(change.name == earlier.name for earlier in changes):
            return None
        bound_case = change.applied(bound_case)
        changes.append(change)
    return bound_case, tuple(changes)


def _choices(
    bound_case: BoundCase, presets: dict[str, BoundCase | None]
) -> Iterator[tuple[Candidate, CaseDifference]]:
    """Every choice that is open in a case: another value of a switch, and what each preset sets or adds; each once, with its tools."""
    open_ones: dict[tuple[str, str], tuple[Candidate, CaseDifference]] = {}
    for choice in (
        *_switch_choices(),
        *(choice for case in presets.values() if case for choice in _own_choices(case)),
    ):
        change = choice.change(bound_case)
        if change is None:
            continue
        earlier = open_ones.get((change.name, change.after))
        if earlier and choice.tool:
            choice = replace(choice, tool=", ".join(filter(None, (earlier[0].tool, choice.tool))))
        open_ones[change.name, change.after] = (choice, change)
    return iter(open_ones.values())


def _switch_choices() -> Iterator[Candidate]:
    for switch in SWITCHES.values():
        for setting in switch.values:
            yield Candidate(_switched(switch.name, setting))


def _switched(name: str, setting: str) -> Callable[[BoundCase], CaseDifference | None]:
    def change(case: BoundCase) -> CaseDifference | None:
        now = case.assumptions[name]
        return None if now == setting else CaseDifference("switch", name, now, setting, switch=True)

    return change


def _own_choices(case: BoundCase) -> Iterator[Candidate]:
    """What a preset sets for this model on this device, one by one, and the terms that it adds."""
    preset = case.preset
    assert preset is not None
    special = {
        **preset.hardware.get(case.chosen_device.name, {}),
        **preset.models.get(case.chosen_model.name, {}),
    }
    rates = ("peak_flops",) if case.chosen_device.name in preset.peaks else ()
    for name in dict.fromkeys((*preset.set, *special, *rates)):
        if name in case.given:
            yield Candidate(base_definition(name, case), preset.name)
    for name in preset.definitions:
        definition = case.given[name].definition if name in case.given else None
        if definition is None:  # the line sets it, or the tool has none for this kind of model
            continue
        if definition.own_base:
            yield Candidate(base_definition(name, case), preset.name)
        for label, term in definition.terms:
            slip = f"{preset.name}: {preset.slips[label]}" if label in preset.slips else ""
            yield Candidate(added_term(name, label, term, slip), preset.name)


def to_number(
    study: Study, quantity: str, target: Fraction, explanation: Origin | None
) -> Waterfall:
    """The way from a case to a number: the explanation's choices one after another, then what they leave.

    >>> way = to_number(Study("llama-3-8b", prompt=1000), "kv_cache_bytes", Fraction(140 * 10**6), None)
    >>> [(step.label, int(step.effect)) for step in way.steps], int(way.end.value)
    ([('not explained', 8928000)], 140000000)
    """
    start = number_of(study.first, known(quantity, study.declared), "the case's")
    bound_case, value, steps = study.first, fraction_of(start), []
    for change in explanation.changes if explanation else ():
        bound_case = change.applied(bound_case)
        after = bound_case.case.value(start.name)
        steps.append(WaterfallStep((change,), value, after))
        value = after
    if value != target:
        steps.append(
            WaterfallStep((CaseDifference("rest", "not explained", "", ""),), value, target)
        )
    return Waterfall(
        start,
        Result(start.symbol, target),
        tuple(steps),
        (),
        basis=tuple(basis_in_a_word(study.first, start.name)),
    )


__all__ = ["Origin", "Origins", "origins", "to_number"]
