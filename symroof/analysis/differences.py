"""What differs between two cases, as single changes in the order in which they are explained: definitions, counting choices, inputs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

from symroof.cases.binding import Binding
from symroof.cases.quantity_result import as_written
from symroof.cases.spec_values import Given
from symroof.formula.parse import parse
from symroof.formula.text import text
from symroof.formula.tree import Num, Tree
from symroof.specs.fields import Span
from symroof.specs.preset import Definition
from symroof.theory.declarations import Declarations, default_of
from symroof.theory.operator_table import KEPT_WIDTH, WIDTH
from symroof.theory.quantities import QUANTITIES
from symroof.theory.switches import SWITCHES
from symroof.theory.symbols import INPUTS, base_name

Kind = Literal["definition", "switch", "input", "rest"]
NOT_SET, LEFT_OUT = "not set", "left out"
STORED = frozenset({WIDTH, KEPT_WIDTH, "weight_bits", "scale_bits", "scale_group"})
"""Inputs that a precision of the weights sets together."""
LONGEST = 60


@dataclass(frozen=True)
class Change:
    """One thing that differs: its kind and name, what it is on both sides, and what the case becomes with it.

    ``given`` maps names to their new value, None where the name has none; ``slip`` names the mistake in a tool's choice.
    """

    kind: Kind
    name: str
    before: str
    after: str
    given: tuple[tuple[str, Given | None], ...] = ()
    switch: bool = False
    model: Binding | None = None
    slip: str = ""
    declared: Declarations | None = None

    def turned(self) -> Change:
        """The change the other way, to be read; it is not one that a case can be given."""
        return replace(self, before=self.after, after=self.before, given=())

    def applied(self, binding: Binding) -> Binding:
        """The case with this change."""
        if self.switch:
            return replace(binding, assumptions=binding.assumptions.replaced(**{self.name: self.after}))
        if self.declared is not None:
            return replace(binding, selection=replace(binding.selection, own=self.declared))
        values = {name: value for name, value in binding.given.items() if name not in dict(self.given)}
        values |= {name: value for name, value in self.given if value is not None}
        binding = replace(binding, given=values)
        return replace(binding, chosen_model=self.model.chosen_model) if self.model else binding


def differences(a: Binding, b: Binding) -> tuple[Change, ...]:
    """Every change that leads from one case to the other: the tools' definitions, then counting choices, then inputs.

    >>> from symroof.analysis.study import Study
    >>> a = Study("llama-3-8b", "h100-sxm", prompt=2048).bound
    >>> b = Study("llama-3-8b", "h100-sxm", prompt=4096, assume={"attention": "full"}).bound
    >>> [(change.kind, change.name, change.before, change.after) for change in differences(a, b)]
    [('switch', 'attention', 'causal', 'full'), ('input', 'prompt', '2,048 tokens', '4,096 tokens')]
    """
    names = [name for name in dict.fromkeys((*a.given, *b.given)) if _comparable(name, a) != _comparable(name, b)]
    defining = [name for name in names if _defines(name, a) or _defines(name, b)]
    values = [name for name in names if name not in defining]
    own = b.selection.own
    declared = (Change("definition", "names of its own", ", ".join(a.selection.own) or "none", ", ".join(own) or "none", declared=own),)
    return (
        *(declared if own != a.selection.own else ()),
        *(change for name in defining for change in _definition(name, a, b)),
        *_switches(a, b),
        *_inputs(values, a, b),
    )


def _comparable(name: str, side: Binding) -> object:
    """What a name is set to on a side; None where it is not."""
    given = side.given.get(name)
    if given is None:
        return None
    setting = given.setting
    return (setting.low, setting.high) if isinstance(setting, Span) else (setting, given.definition) if given.definition else setting


def _defines(name: str, side: Binding) -> bool:
    """Whether a side sets a formula, or a quantity that is otherwise derived; numbers of a model or a device and a context are inputs."""
    given, quantity = side.given.get(name), QUANTITIES.get(name)
    if given is None or base_name(name) in STORED:
        return False
    derived = quantity is not None and quantity.group not in ("model", "device") and name != "context"
    return derived or not isinstance(given.setting, (Num, Span))


def _switches(a: Binding, b: Binding) -> Iterator[Change]:
    """How operators' times add up comes first: under a maximum of sums, what one operator counts may not show."""
    for switch in sorted(SWITCHES, key=lambda name: name != "roofline"):
        if a.assumptions[switch] != b.assumptions[switch]:
            yield Change("switch", switch, a.assumptions[switch], b.assumptions[switch], switch=True, slip=_slip(switch, a, b))


def _slip(name: str, *sides: Binding) -> str:
    """What the presets of the sides say is wrong with something they set."""
    texts = (f"{side.preset.name}: {side.preset.slips[name]}" for side in sides if side.preset and name in side.preset.slips)
    return "; ".join(dict.fromkeys(texts))


def _definition(name: str, a: Binding, b: Binding) -> Iterator[Change]:
    """The change of a formula: the tools' terms one by one where they stand on one formula, else all at once."""
    one, other = _parts(name, a), _parts(name, b)
    if one is None or other is None or not (one.terms or other.terms):
        yield Change("definition", name, _shown(name, a), _shown(name, b), ((name, b.given.get(name)),), slip=_slip(name, a, b))
        return
    now, made = one, []
    if one.base != other.base:
        now = Definition(other.base, one.terms, other.own_base)
        made.append(Change("definition", name, _formula(one.base), _formula(other.base), ((name, _given(now)),), slip=_slip(name, a, b)))
    for label, term in one.terms:
        if (label, term) not in other.terms:
            now = replace(now, terms=tuple(part for part in now.terms if part[0] != label))
            made.append(Change("definition", f"{name}: {label}", _formula(term), LEFT_OUT, ((name, _given(now)),), slip=_slip(label, a)))
    for label, term in other.terms:
        if (label, term) not in one.terms:
            now = replace(now, terms=(*now.terms, (label, term)))
            made.append(Change("definition", f"{name}: {label}", LEFT_OUT, _formula(term), ((name, _given(now)),), slip=_slip(label, b)))
    yield from made[:-1]
    yield from (replace(last, given=((name, b.given.get(name)),)) for last in made[-1:])


def own_base(name: str, tool: Binding) -> Callable[[Binding], Change | None]:
    """What another case sets a name to, as a change of any case: a value, or a definition without the terms that a tool adds."""

    def change(case: Binding) -> Change | None:
        if _comparable(name, case) == _comparable(name, tool):
            return None
        given = tool.given[name]
        if given.definition:
            given = _given(replace(given.definition, terms=()))
        kind: Kind = "definition" if _defines(name, tool) else "input"
        after = _formula(given.definition.tree) if given.definition else _shown(name, tool)
        return Change(kind, name, _shown(name, case), after, ((name, given),), slip=_slip(name, tool))

    return change


def added_term(name: str, label: str, term: Tree, slip: str = "") -> Callable[[Binding], Change | None]:
    """A term that a tool adds to a definition, as a change of any case; none where the case sets a plain value, or has the term."""

    def change(case: Binding) -> Change | None:
        parts = _parts(name, case)
        if parts is None or (label, term) in parts.terms:
            return None
        return Change(
            "definition", f"{name}: {label}", LEFT_OUT, _formula(term), ((name, _given(replace(parts, terms=(*parts.terms, (label, term))))),), slip=slip
        )

    return change


def _parts(name: str, side: Binding) -> Definition | None:
    """A side's definition in parts: a tool's, or symroof's own; None where the side sets a plain value or has no single formula."""
    given = side.given.get(name)
    if given is not None:
        return given.definition
    quantity = QUANTITIES.get(name)
    return Definition(parse(quantity.definition), (), own_base=False) if quantity is not None and quantity.definition else None


def _given(definition: Definition) -> Given:
    return Given(definition.tree, "between the two cases", definition=definition)


def _inputs(names: list[str], a: Binding, b: Binding) -> Iterator[Change]:
    """Changes of inputs: the model first, with all that it supplies, then a precision of the weights, then the others in declared order."""
    model = _of_model(names, a, b)
    if a.model != b.model or model:
        both = tuple((name, b.given.get(name)) for name in model)
        named = a.chosen_model.name != b.chosen_model.name
        labels = ("model", a.chosen_model.name or "none", b.chosen_model.name or "none") if named else ("weights", *_precisions(a, b))
        stored = () if named else tuple((name, b.given.get(name)) for name in names if base_name(name) in STORED and name not in model)
        yield Change("input", *labels, (*both, *stored), model=b)
        model = [name for name, _ in (*both, *stored)]
    rest = [name for name in names if name not in model]
    stored_names = [name for name in rest if base_name(name) in STORED]
    if stored_names:
        before, after = _precisions(a, b)
        if before == after:
            before, after = _shown(stored_names[0], a), _shown(stored_names[0], b)
        yield Change("input", "weights", before, after, tuple((name, b.given.get(name)) for name in stored_names))
    order = {name: index for index, name in enumerate(INPUTS)}
    for name in sorted((name for name in rest if name not in stored_names), key=lambda name: (order.get(base_name(name), len(order)), name)):
        yield Change("input", name, _shown(name, a), _shown(name, b), ((name, b.given.get(name)),), slip=_slip(name, a, b))


def _of_model(names: list[str], a: Binding, b: Binding) -> list[str]:
    """The inputs among these that a model supplies on either side."""
    sides = ((side.given.get(name), name) for name in names for side in (a, b))
    return list(dict.fromkeys(name for given, name in sides if given is not None and given.source.startswith("model ")))


def _precisions(a: Binding, b: Binding) -> tuple[str, str]:
    return a.precisions.get("weights", NOT_SET), b.precisions.get("weights", NOT_SET)


def _shown(name: str, side: Binding) -> str:
    """What a name is on a side: its value as people write it, its formula, or its default."""
    given = side.given.get(name)
    if given is None:
        default = default_of(name)
        definition = side.case().theory.definition(name)
        return as_written(name, default) if default is not None else _formula(definition) if definition is not None else NOT_SET
    return as_written(name, given.setting) if isinstance(given.setting, (Num, Span)) else _formula(given.setting)


def _formula(tree: Tree) -> str:
    """A formula in a line; a long one is named, not written."""
    written = text(tree)
    return written if len(written) <= LONGEST else "by a formula of its own"
