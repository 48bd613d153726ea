"""What differs between two cases, as single changes in the order in which they are explained: definitions, counting choices, inputs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from sympy import Number

from symroof.cases.bound_case import BoundCase
from symroof.cases.input import Input
from symroof.cases.quantity_result import as_written
from symroof.specs.fields import ValueRange
from symroof.specs.preset import Definition
from symroof.symbolic.expressions import Expr
from symroof.symbolic.printing import text
from symroof.symbolic.reading import parse
from symroof.theory.declarations import Declarations, default_of
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
    switch: bool = False
    model: BoundCase | None = None
    slip: str = ""
    declared: Declarations | None = None

    def reversed(self) -> CaseDifference:
        """The change the other way, to be read; it is not one that a case can be given."""
        return replace(self, before=self.after, after=self.before, given=())

    def applied(self, bound_case: BoundCase) -> BoundCase:
        """The case with this change."""
        if self.switch:
            return bound_case.with_changes(
                assumptions=bound_case.assumptions.replaced(**{self.name: self.after})
            )
        if self.declared is not None:
            return bound_case.with_changes(request=replace(bound_case.request, own=self.declared))
        values = {
            name: value for name, value in bound_case.given.items() if name not in dict(self.given)
        }
        values |= {name: value for name, value in self.given if value is not None}
        bound_case = bound_case.with_changes(given=values)
        return (
            replace(bound_case, chosen_model=self.model.chosen_model) if self.model else bound_case
        )


def differences(a: BoundCase, b: BoundCase) -> tuple[CaseDifference, ...]:
    """Every change that leads from one case to the other: the tools' definitions, then counting choices, then inputs.

    >>> from symroof.analysis.study import Study
    >>> a = Study("llama-3-8b", "h100-sxm", prompt=2048).first
    >>> b = Study("llama-3-8b", "h100-sxm", prompt=4096, assume={"attention": "full"}).first
    >>> [(change.kind, change.name, change.before, change.after) for change in differences(a, b)]
    [('switch', 'attention', 'causal', 'full'), ('input', 'prompt', '2,048 tokens', '4,096 tokens')]
    """
    names = [
        name
        for name in dict.fromkeys((*a.given, *b.given))
        if _comparable(name, a) != _comparable(name, b)
    ]
    defining = [name for name in names if _defines(name, a) or _defines(name, b)]
    values = [name for name in names if name not in defining]
    own = b.request.own
    declared = (
        CaseDifference(
            "definition",
            "names of its own",
            ", ".join(a.request.own) or "none",
            ", ".join(own) or "none",
            declared=own,
        ),
    )
    return (
        *(declared if own != a.request.own else ()),
        *(change for name in defining for change in _definition(name, a, b)),
        *_switches(a, b),
        *_inputs(values, a, b),
    )


def _comparable(name: str, side: BoundCase) -> object:
    """What a name is set to on a side; None where it is not."""
    given = side.given.get(name)
    if given is None:
        return None
    setting = given.setting
    return (
        (setting.low, setting.high)
        if isinstance(setting, ValueRange)
        else (setting, given.definition)
        if given.definition
        else setting
    )


def _defines(name: str, side: BoundCase) -> bool:
    """Whether a side sets a formula, or a quantity that is otherwise derived; numbers of a model or a device and a context are inputs."""
    given, quantity = side.given.get(name), QUANTITIES.get(name)
    if given is None or base_name(name) in WEIGHT_WIDTHS:
        return False
    derived = (
        quantity is not None and quantity.group not in ("model", "device") and name != "context"
    )
    return derived or not isinstance(given.setting, (Number, ValueRange))


def _switches(a: BoundCase, b: BoundCase) -> Iterator[CaseDifference]:
    """How operators' times add up comes first: under a maximum of sums, what one operator counts may not show."""
    for switch in sorted(SWITCHES, key=lambda name: name != "roofline"):
        if a.assumptions[switch] != b.assumptions[switch]:
            yield CaseDifference(
                "switch",
                switch,
                a.assumptions[switch],
                b.assumptions[switch],
                switch=True,
                slip=_slip(switch, a, b),
            )


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
    one, other = _parts(name, a), _parts(name, b)
    if one is None or other is None or not (one.terms or other.terms):
        yield CaseDifference(
            "definition",
            name,
            _shown(name, a),
            _shown(name, b),
            ((name, b.given.get(name)),),
            slip=_slip(name, a, b),
        )
        return
    now, made = one, []
    if one.base != other.base:
        now = Definition(other.base, one.terms, other.own_base)
        made.append(
            CaseDifference(
                "definition",
                name,
                _formula(one.base),
                _formula(other.base),
                ((name, _given(now)),),
                slip=_slip(name, a, b),
            )
        )
    for label, term in one.terms:
        if (label, term) not in other.terms:
            now = replace(now, terms=tuple(part for part in now.terms if part[0] != label))
            made.append(
                CaseDifference(
                    "definition",
                    f"{name}: {label}",
                    _formula(term),
                    LEFT_OUT,
                    ((name, _given(now)),),
                    slip=_slip(label, a),
                )
            )
    for label, term in other.terms:
        if (label, term) not in one.terms:
            now = replace(now, terms=(*now.terms, (label, term)))
            made.append(
                CaseDifference(
                    "definition",
                    f"{name}: {label}",
                    LEFT_OUT,
                    _formula(term),
                    ((name, _given(now)),),
                    slip=_slip(label, b),
                )
            )
    yield from made[:-1]
    yield from (replace(last, given=((name, b.given.get(name)),)) for last in made[-1:])


def _parts(name: str, side: BoundCase) -> Definition | None:
    """A side's definition in parts: a tool's, or symroof's own; None where the side sets a plain value or has no single formula."""
    given = side.given.get(name)
    if given is not None:
        return given.definition
    quantity = QUANTITIES.get(name)
    return (
        Definition(parse(quantity.definition), (), own_base=False)
        if quantity is not None and quantity.definition
        else None
    )


def _given(definition: Definition) -> Input:
    return Input(definition.tree, "between the two cases", definition=definition)


def _inputs(names: list[str], a: BoundCase, b: BoundCase) -> Iterator[CaseDifference]:
    """Changes of inputs: the model first, with all that it supplies, then a precision of the weights, then the others in declared order."""
    model = _of_model(names, a, b)
    if a.model != b.model or model:
        both = tuple((name, b.given.get(name)) for name in model)
        named = a.chosen_model.name != b.chosen_model.name
        labels = (
            ("model", a.chosen_model.name or "none", b.chosen_model.name or "none")
            if named
            else ("weights", *_precisions(a, b))
        )
        stored = (
            ()
            if named
            else tuple(
                (name, b.given.get(name))
                for name in names
                if base_name(name) in WEIGHT_WIDTHS and name not in model
            )
        )
        yield CaseDifference("input", *labels, (*both, *stored), model=b)
        model = [name for name, _ in (*both, *stored)]
    rest = [name for name in names if name not in model]
    stored_names = [name for name in rest if base_name(name) in WEIGHT_WIDTHS]
    if stored_names:
        before, after = _precisions(a, b)
        if before == after:
            before, after = _shown(stored_names[0], a), _shown(stored_names[0], b)
        yield CaseDifference(
            "input",
            "weights",
            before,
            after,
            tuple((name, b.given.get(name)) for name in stored_names),
        )
    order = {name: index for index, name in enumerate(INPUTS)}
    for name in sorted(
        (name for name in rest if name not in stored_names),
        key=lambda name: (order.get(base_name(name), len(order)), name),
    ):
        yield CaseDifference(
            "input",
            name,
            _shown(name, a),
            _shown(name, b),
            ((name, b.given.get(name)),),
            slip=_slip(name, a, b),
        )


def _of_model(names: list[str], a: BoundCase, b: BoundCase) -> list[str]:
    """The inputs among these that a model supplies on either side."""
    sides = ((side.given.get(name), name) for name in names for side in (a, b))
    return list(
        dict.fromkeys(
            name for given, name in sides if given is not None and given.source.startswith("model ")
        )
    )


def _precisions(a: BoundCase, b: BoundCase) -> tuple[str, str]:
    return a.precisions.get("weights", NOT_SET), b.precisions.get("weights", NOT_SET)


def _shown(name: str, side: BoundCase) -> str:
    """What a name is on a side: its value as people write it, its formula, or its default."""
    given = side.given.get(name)
    if given is None:
        default = default_of(name)
        definition = side.case.theory.definition(name)
        return (
            as_written(name, default)
            if default is not None
            else _formula(definition)
            if definition is not None
            else NOT_SET
        )
    return (
        as_written(name, given.setting)
        if isinstance(given.setting, (Number, ValueRange))
        else _formula(given.setting)
    )


def _formula(tree: Expr) -> str:
    """A formula in a line; a long one is named, not written."""
    written = text(tree)
    return written if len(written) <= LONGEST else "by a formula of its own"
