"""What differs between two cases, as single changes in the order in which they are explained: definitions, counting choices, inputs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

from symroof.cases.bound_case import BoundCase
from symroof.cases.values import Input, as_written
from symroof.specs.preset import Definition
from symroof.symbolic.expressions import Expr
from symroof.symbolic.printing import text
from symroof.symbolic.reading import parse
from symroof.theory.declarations import default_of
from symroof.theory.operator_table import KEPT_WIDTH, WIDTH
from symroof.theory.quantities import QUANTITIES
from symroof.theory.switches import SWITCHES
from symroof.theory.symbols import INPUTS, base_name

Kind = Literal["definition", "switch", "input", "rest"]
NOT_SET, LEFT_OUT = "not set", "left out"
WEIGHT_WIDTHS = frozenset({WIDTH, KEPT_WIDTH, "weight_bits", "scale_bits", "scale_group"})
"""Inputs that a precision of the weights sets together."""
LONGEST = 60


@dataclass(frozen=True)
class CaseDifference:
    """One thing that differs: its kind and name, what it is on both sides, and what the case becomes with it.

    ``given`` maps names to their new value, None where the name has none; ``slip`` names the mistake in a tool's choice.
    """

    kind: Kind
    name: str
    before: str
    after: str
    given: tuple[tuple[str, Input | None], ...] = ()
    model: BoundCase | None = None
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

    def reversed(self) -> CaseDifference:
        """The change the other way, to be read; it is not one that a case can be given."""
        return replace(self, before=self.after, after=self.before, given=())

    def applied(self, bound_case: BoundCase) -> BoundCase:
        """The case with this change."""
        if self.kind == "switch":
            return bound_case.with_switches(**{self.name: self.after})
        made = bound_case.with_given(dict(self.given))
        return replace(made, model=self.model.model) if self.model else made


def differences(a: BoundCase, b: BoundCase) -> tuple[CaseDifference, ...]:
    """Every change that leads from one case to the other: the tools' definitions, then counting choices, then inputs.

    >>> from symroof.analysis.study import Study
    >>> a = Study("llama-3-8b", "h100-sxm", prompt=2048).first
    >>> b = Study("llama-3-8b", "h100-sxm", prompt=4096, assume={"attention": "full"}).first
    >>> [(change.kind, change.name, change.before, change.after) for change in differences(a, b)]
    [('switch', 'attention', 'causal', 'full'), ('input', 'prompt', '2,048 tokens', '4,096 tokens')]
    """
    every = dict.fromkeys((*a.given, *b.given))
    names = [name for name in every if _comparable(name, a) != _comparable(name, b)]
    defining = [name for name in names if _defines(name, a) or _defines(name, b)]
    found: list[CaseDifference] = []
    for name in defining:
        found += _definition(name, a, b)
    # how operators' times add up comes first: under a maximum of sums, what one operator counts may not show
    for switch in sorted(SWITCHES, key=lambda name: name != "roofline"):
        before, after = a.assumptions[switch], b.assumptions[switch]
        if before != after:
            slip = _slip(switch, a, b)
            found.append(CaseDifference("switch", switch, before, after, slip=slip))
    return (*found, *_inputs([name for name in names if name not in defining], a, b))


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


def _slip(name: str, *sides: BoundCase) -> str:
    """What the presets of the sides say is wrong with something they set."""
    texts = (
        f"{side.preset.name}: {side.preset.slips[name]}"
        for side in sides
        if side.preset and name in side.preset.slips
    )
    return "; ".join(dict.fromkeys(texts))


def _definition(name: str, a: BoundCase, b: BoundCase) -> Iterator[CaseDifference]:
    """The change of a formula: the tools' terms one by one where they share one formula, else all at once."""
    one, other, last = _parts(name, a), _parts(name, b), ((name, b.given.get(name)),)
    if one is None or other is None or not (one.terms or other.terms):
        slip = _slip(name, a, b)
        yield CaseDifference("definition", name, _shown(name, a), _shown(name, b), last, slip=slip)
        return
    now, made = one, []

    def change(said: str, before: str, after: str, slip: str) -> CaseDifference:
        between = Input(now.tree, "between the two cases", definition=now)
        return CaseDifference("definition", said, before, after, ((name, between),), slip=slip)

    if one.base != other.base:
        now = Definition(other.base, one.terms, other.own_base)
        made.append(change(name, _formula(one.base), _formula(other.base), _slip(name, a, b)))
    for label, term in one.terms:
        if (label, term) not in other.terms:
            now = replace(now, terms=tuple(part for part in now.terms if part[0] != label))
            made.append(change(f"{name}: {label}", _formula(term), LEFT_OUT, _slip(label, a)))
    for label, term in other.terms:
        if (label, term) not in one.terms:
            now = replace(now, terms=(*now.terms, (label, term)))
            made.append(change(f"{name}: {label}", LEFT_OUT, _formula(term), _slip(label, b)))
    yield from made[:-1]
    yield from (replace(each, given=last) for each in made[-1:])


def _parts(name: str, side: BoundCase) -> Definition | None:
    """A side's definition in parts: a tool's, or symroof's own; None where the side sets a plain value or has no single formula."""
    given, quantity = side.given.get(name), QUANTITIES.get(name)
    if given is not None:
        return given.definition
    if quantity is None or not quantity.definition:
        return None
    return Definition(parse(quantity.definition), (), own_base=False)


def _inputs(names: list[str], a: BoundCase, b: BoundCase) -> Iterator[CaseDifference]:
    """Changes of inputs: the model first, with all that it supplies, then a precision of the weights, then the others in declared order."""

    def change(
        said: str, shown: Iterable[str], some: Iterable[str], model: BoundCase | None = None
    ) -> CaseDifference:
        before, after = shown
        given = tuple((name, b.given.get(name)) for name in some)
        return CaseDifference("input", said, before, after, given, model, _slip(said, a, b))

    sources = {
        name: [each.source for side in (a, b) if (each := side.given.get(name))] for name in names
    }
    model = [n for n in names if any(source.startswith("model ") for source in sources[n])]
    widths = [name for name in names if base_name(name) in WEIGHT_WIDTHS and name not in model]
    formats = [side.precisions.get("weights", NOT_SET) for side in (a, b)]
    if a.model != b.model or model:
        titles = [side.asked_model or "none" for side in (a, b)]
        if titles[0] != titles[1]:
            yield change("model", titles, model, b)
        else:
            yield change("weights", formats, [*model, *widths], b)
            widths = []
        names = [name for name in names if name not in model]
    if widths:
        if formats[0] == formats[1]:
            formats = [_shown(widths[0], side) for side in (a, b)]
        yield change("weights", formats, widths)
    order = {name: index for index, name in enumerate(INPUTS)}
    rest = [name for name in names if base_name(name) not in WEIGHT_WIDTHS]
    for name in sorted(rest, key=lambda name: (order.get(base_name(name), len(order)), name)):
        yield change(name, (_shown(name, side) for side in (a, b)), [name])


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
