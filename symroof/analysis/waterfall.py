"""Why two cases give different numbers: single changes, applied one after another, from one value to the other.

Definitions come first, then counting choices, then inputs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from symroof.analysis.verdict import basis_of
from symroof.cases.bound_case import BoundCase
from symroof.cases.values import DOES_NOT_FIT, Input, Result, as_written, plain_value
from symroof.errors import InputError, NoValue, Problem
from symroof.specs.preset import Definition
from symroof.symbolic.expressions import Expr
from symroof.symbolic.kernels import nearly_equal
from symroof.symbolic.printing import text
from symroof.symbolic.reading import parse
from symroof.theory.declarations import default_of
from symroof.theory.operator_table import KEPT_WIDTH, WIDTH
from symroof.theory.quantities import QUANTITIES
from symroof.theory.spellings import known
from symroof.theory.switches import SWITCHES
from symroof.theory.symbols import INPUTS, Symbol, base_name
from symroof.theory.theory import UnknownName
from symroof.units import format_quantity, significant

NOT_SET, LEFT_OUT = "not set", "left out"
WEIGHT_WIDTHS = frozenset({WIDTH, KEPT_WIDTH, "weight_bits", "scale_bits", "scale_group"})
"""Inputs that a precision of the weights sets together."""
LONGEST = 60


@dataclass(frozen=True)
class Change:
    """One thing that differs: its kind (``definition``, ``switch``, ``input``, or what is left as ``rest``) and name, and what it is on both sides.

    ``slip`` names the mistake in a tool's choice.
    """

    kind: str
    name: str
    before: str
    after: str
    slip: str = ""

    @property
    def label(self) -> str:
        """In a few words: ``attention: causal -> full``, ``prefill_time = prefill_compute_time``; a term of a definition is its name alone."""
        if self.kind == "rest":
            return self.name
        name, mark, term = self.name.partition(": ")
        if mark:
            return f"{term}{' (left out)' if self.after == LEFT_OUT else ''}"
        if self.kind == "definition":
            return f"{name} = {self.after}"
        return f"{name}: {self.before} -> {self.after}"

    def as_json(self) -> dict[str, str]:
        return {"kind": self.kind, "name": self.name, "from": self.before, "to": self.after}


REST = Change("rest", "not explained", "", "")


@dataclass(frozen=True)
class WaterfallStep:
    """One difference and what it does, with the steps before it applied.

    Several changes are one step where the quantity has no value between them.
    """

    changes: tuple[Change, ...]
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
    without_effect: tuple[Change, ...]
    basis: tuple[str, ...] = ()

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
        return float(self.end.value - self.start.value)

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
        return [*slips, *[f"differs without effect here: {silent}"] * bool(silent)]

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


def signed_text(value: Any, unit: str, digits: int = 4) -> str:
    """An effect with its sign."""
    return f"{'+' if value >= 0 else ''}{format_quantity(value, unit, digits)}"


def factor_text(factor: float | None, digits: int = 4) -> str:
    """A factor; empty where there is none."""
    return f"× {significant(factor, digits)}" if factor is not None else ""


def waterfall(a: BoundCase, b: BoundCase, quantity: str) -> Waterfall:
    """What leads from one case's value of a quantity to another's: definitions first, then counting choices, then inputs.

    Each difference is applied to the case that the ones before it made, so a later one works on what they left. The last case is
    the second, and the effects add up to the difference exactly. From a preset to a case without one the way is the one there, gone backwards.

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
    # a tool's terms are part of its own formula, and in another they would count twice
    turned = bool(a.preset and not b.preset)
    case, last = (b, a) if turned else (a, b)
    value, goal = (end.value, start.value) if turned else (start.value, end.value)
    tried: tuple[Change, ...] = ()
    steps: list[WaterfallStep] = []
    silent: list[Change] = []
    for change, there in changes(case, last):
        if turned:
            change = replace(change, before=change.after, after=change.before)
        tried = (*tried, change)
        try:
            after = there.case.value(name)
        except (NoValue, InputError, UnknownName):
            continue  # without a value between them several changes are one step
        if nearly_equal(after, value):
            silent += [each for each in tried if each.before != each.after]
        else:
            steps.append(WaterfallStep(tried, value, after))
            value = after
        tried = ()
    if not nearly_equal(value, goal):  # names that the two studies define otherwise
        steps.append(WaterfallStep((REST,), value, goal))
    if turned:
        steps = [WaterfallStep(s.changes[::-1], s.after, s.before) for s in steps[::-1]]
    # on what a value rests, if on efficiencies; a waterfall has no ranges to speak of
    basis = (line.partition(";")[0] for side in (a, b) for line in basis_of(side, [name]))
    return Waterfall(start, end, tuple(steps), tuple(silent), tuple(basis))


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


def changes(a: BoundCase, b: BoundCase) -> Iterator[tuple[Change, BoundCase]]:
    """Every change that leads from one case to the other, with the case after it: the tools' definitions, then counting choices, then inputs.

    >>> from symroof.analysis.study import Study
    >>> a = Study("llama-3-8b", "h100-sxm", prompt=2048).first
    >>> b = Study("llama-3-8b", "h100-sxm", prompt=4096, assume={"attention": "full"}).first
    >>> [change.label for change, _ in changes(a, b)]
    ['attention: causal -> full', 'prompt: 2,048 tokens -> 4,096 tokens']
    """
    every, case = dict.fromkeys((*a.given, *b.given)), a
    names = [name for name in every if _comparable(name, a) != _comparable(name, b)]
    defining = [name for name in names if _defines(name, a) or _defines(name, b)]
    for name in defining:
        parts = _definition(name, a, b)
        for said, before, after, now in parts:
            last = now is None or now is parts[-1][-1]
            between = Input(now.tree, "between the two cases", definition=now) if now else None
            case = case.with_given({name: b.given.get(name) if last else between})
            yield Change("definition", said, before, after, _slip(said, a, b)), case
    # how operators' times add up comes first: under a maximum of sums, what one operator counts may not show
    for switch in sorted(SWITCHES, key=lambda name: name != "roofline"):
        before, after = a.assumptions[switch], b.assumptions[switch]
        if before != after:
            case = case.with_switches(**{switch: after})
            yield Change("switch", switch, before, after, _slip(switch, a, b)), case
    for said, (before, after), some in _inputs([n for n in names if n not in defining], a, b):
        case = case.with_given({name: b.given.get(name) for name in some})
        if said in ("model", "weights"):
            case = replace(case, model=b.model)
        yield Change("input", said, before, after, _slip(said, a, b)), case


def _comparable(name: str, side: BoundCase) -> object:
    """What a name is set to on a side; None where it is not."""
    given = side.given.get(name)
    if given is None:
        return None
    return (given.low, given.high) if given.ranged else (given.setting, given.definition)


def _defines(name: str, side: BoundCase) -> bool:
    """Whether a side sets a formula, or a quantity that is otherwise derived; numbers of a model or a device and a context are inputs."""
    given, quantity = side.given.get(name), QUANTITIES.get(name)
    if given is None or base_name(name) in WEIGHT_WIDTHS:
        return False
    if given.is_formula:
        return True
    return quantity is not None and quantity.group not in ("model", "device") and name != "context"


def _slip(said: str, *sides: BoundCase) -> str:
    """What the presets of the sides say is wrong with something they set, or with a term of it."""
    name = said.partition(": ")[2] or said
    presets = [side.preset for side in sides if side.preset and name in side.preset.slips]
    return "; ".join(dict.fromkeys(f"{each.name}: {each.slips[name]}" for each in presets))


def _definition(
    name: str, a: BoundCase, b: BoundCase
) -> list[tuple[str, str, str, Definition | None]]:
    """The change of a formula, before and after: the tools' terms one by one where they share one formula, with what it then is, else all at once."""
    one, other = _parts(name, a), _parts(name, b)
    if one is None or other is None or not (one.terms or other.terms):
        return [(name, _shown(name, a), _shown(name, b), None)]
    made, now = list[tuple[str, str, str, Definition | None]](), one
    if one.base != other.base:
        now = Definition(other.base, one.terms, other.own_base)
        made.append((name, _formula(one.base), _formula(other.base), now))
    for label, term in one.terms:
        if (label, term) not in other.terms:
            now = replace(now, terms=tuple(part for part in now.terms if part[0] != label))
            made.append((f"{name}: {label}", _formula(term), LEFT_OUT, now))
    for label, term in other.terms:
        if (label, term) not in one.terms:
            now = replace(now, terms=(*now.terms, (label, term)))
            made.append((f"{name}: {label}", LEFT_OUT, _formula(term), now))
    return made


def _parts(name: str, side: BoundCase) -> Definition | None:
    """A side's definition in parts: a tool's, or symroof's own; None where the side sets a plain value or has no single formula."""
    given, quantity = side.given.get(name), QUANTITIES.get(name)
    if given is not None:
        return given.definition
    if quantity is None or not quantity.definition:
        return None
    return Definition(parse(quantity.definition), (), own_base=False)


def _inputs(
    names: list[str], a: BoundCase, b: BoundCase
) -> Iterator[tuple[str, Iterable[str], list[str]]]:
    """Changes of inputs, each with what it is on both sides and all names that change with it: the model first, then a precision of the weights, then the
    others in declared order."""
    sources = {n: [side.given[n].source for side in (a, b) if n in side.given] for n in names}
    model = [n for n in names if any(source.startswith("model ") for source in sources[n])]
    widths = [name for name in names if base_name(name) in WEIGHT_WIDTHS and name not in model]
    formats = [side.precisions.get("weights", NOT_SET) for side in (a, b)]
    if a.model != b.model or model:
        titles = [side.asked_model or "none" for side in (a, b)]
        if titles[0] != titles[1]:
            yield "model", titles, model
        else:
            yield "weights", formats, [*model, *widths]
            widths = []
        names = [name for name in names if name not in model]
    if widths:
        if formats[0] == formats[1]:
            formats = [_shown(widths[0], side) for side in (a, b)]
        yield "weights", formats, widths
    order = {name: index for index, name in enumerate(INPUTS)}
    rest = [name for name in names if base_name(name) not in WEIGHT_WIDTHS]
    for name in sorted(rest, key=lambda name: (order.get(base_name(name), len(order)), name)):
        yield name, (_shown(name, side) for side in (a, b)), [name]


def _shown(name: str, side: BoundCase) -> str:
    """What a name is on a side: its value as people write it, its formula, or its default."""
    given = side.given.get(name)
    if given is not None:
        written = given.setting
        return _formula(written) if given.is_formula else as_written(name, written)
    default, definition = default_of(name), side.case.theory.definition(name)
    if default is not None:
        return as_written(name, default)
    return _formula(definition) if definition is not None else NOT_SET


def _formula(tree: Expr) -> str:
    """A formula in a line; a long one is named, not written."""
    written = text(tree)
    return written if len(written) <= LONGEST else "by a formula of its own"
