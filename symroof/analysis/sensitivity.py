"""Sensitivities of a quantity: its elasticity in every input that can be chosen, as a number and as a formula, on the arm that binds."""

import contextlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import sympy
from sympy.core.symbol import Str

from symroof.analysis.asymptotics import MOST_ARMS, FormulaView, acts_through_context
from symroof.analysis.implicit_quantities import searched_quantity
from symroof.analysis.inline import EFFICIENCIES, KEPT_NAMES, neutral, shortest
from symroof.cases.bound_case import BoundCase
from symroof.cases.quantity_result import plain_value
from symroof.symbolic.evaluation import NoValue, chosen_index
from symroof.symbolic.expressions import (
    ONE,
    ZERO,
    At,
    Expr,
    OfLargest,
    Total,
    changed_inputs,
    in_order,
    is_number,
    names,
    substitute,
    symbol,
)
from symroof.symbolic.polynomials import NoClosedForm, reason
from symroof.symbolic.printing import text
from symroof.symbolic.reading import parse
from symroof.theory.case import Case
from symroof.theory.declarations import default_of
from symroof.theory.symbols import ARCHITECTURE, PARALLEL, Symbol, base_name
from symroof.units import settled

LEVERS = (
    "peak_flops", "mem_bandwidth", "link_bandwidth", "weight_bytes_per_param", "kv_bytes_per_element",
    "prompt", "batch", "layer_overhead", "step_overhead",
)  # fmt: skip
"""Inputs that can be changed in practice: the review's columns, and those a symbolic elasticity is derived for."""

FIXED = frozenset(symbol.name for symbol in (*ARCHITECTURE, *PARALLEL))
"""Inputs that do not move by one per cent: the model's shape, and the number of devices."""

NOTICEABLE = 0.005

LONGEST = 160
"""Characters of a symbolic elasticity that can still be read at a glance."""

MOST_MOVING = 18
"""Quantities on the way that an input moves, beyond which no elasticity is short: of a server under load there are dozens."""

ElasticityRange = tuple[float, float, float]
"""A value at the middle of the ranges, and the least and the largest at their corners."""


@dataclass(frozen=True, repr=False)
class Elasticity(FormulaView):
    """Per cent that a quantity moves when one input moves one per cent.

    Attributes:
        symbol: the input.
        span: the value, with its extremes over the ranges; None without numbers.
        sympy, text: the formula on the arm that binds; None where it is long or has no closed form.
        arm: without numbers, the arm it is the formula of, where there is more than one.
    """

    symbol: Symbol
    span: ElasticityRange | None
    arm: str = ""

    @property
    def value(self) -> float | None:
        """The value at the middle of the ranges."""
        return self.span[0] if self.span else None

    def __repr__(self) -> str:
        shown = [span_text(*self.span)] if self.span else []
        return f"<{self.symbol.name}: {' = '.join([*([self.text] if self.text else []), *shown])}>"

    def as_json(self, spell: Any) -> dict[str, Any]:
        entry = {"symbol": self.symbol.name} | super().as_json(spell)
        entry["value"] = plain_value(self.value)
        if self.span and len(set(map(settled, self.span))) > 1:
            entry |= {"low": plain_value(self.span[1]), "high": plain_value(self.span[2])}
        return entry | ({"arm": self.arm} if self.arm else {})


def span_text(middle: Any, low: Any, high: Any) -> str:
    """An elasticity with its range.

    >>> span_text(-1, -1, -1), span_text(0.5, 0, 0.75)
    ('-1.00', '+0.50 (0 to +0.75)')
    """
    written = [f"{v:+.2f}" if abs(v) >= NOTICEABLE else "0" for v in (middle, low, high)]
    return (
        written[0] if written[1] == written[2] else f"{written[0]} ({written[1]} to {written[2]})"
    )


def elasticities_over_ranges(
    bound_case: BoundCase, name: str, inputs: Collection[str]
) -> dict[str, ElasticityRange]:
    """The elasticities in some inputs at the middle of the ranges, and their least and largest values at the corners of these.

    An input that has none is left out: one that bounds a sum, and any of a quantity that is nothing.
    """
    try:
        with np.errstate(all="ignore"):
            columns = bound_case.everywhere.elasticities(name, inputs)
    except NoValue:
        return {}
    spans = {}
    for by, column in columns.items():
        # equal but for rounding is equal: inputs of one share keep the order of their use
        values = [float(settled(own)) for own in np.ravel(column) if np.isfinite(own)]
        if values:
            spans[by] = (values[0], min(values), max(values))
    return spans


def elasticities(name: str, bound_case: BoundCase) -> tuple[Elasticity, ...]:
    """With numbers, every noticeable elasticity, the largest first; without, the formula for each lever on each arm.

    >>> from symroof.analysis.study import Study
    >>> for entry in elasticities("decode_memory_time", Study(assume={"detail": "kv"}).first):
    ...     print(entry.symbol.name, entry.text)
    mem_bandwidth -1
    weight_bytes_per_param weight_bytes_read/decode_bytes
    kv_bytes_per_element kv_bytes_per_token*decode_span/decode_bytes
    batch kv_bytes_per_token*decode_span/decode_bytes
    context kv_bytes_per_token*decode_span/decode_bytes
    """
    result = bound_case.get(name)
    if result is None:
        return tuple(_symbolic(name, bound_case))
    if not isinstance(result.value, float):
        return ()
    inputs = [
        x for x in bound_case.case.inputs_used(name) if base_name(x) not in FIXED and x != name
    ]
    spans = {
        x: span
        for x, span in elasticities_over_ranges(bound_case, name, inputs).items()
        if max(map(abs, span)) >= NOTICEABLE
    }
    theory = bound_case.case.theory
    return tuple(
        Elasticity(_form(name, x, bound_case), None, theory.own, theory.symbol(x), spans[x])
        for x in sorted(spans, key=lambda x: -abs(spans[x][0]))
    )


def _form(name: str, x: str, bound_case: BoundCase) -> Expr | None:
    """The formula of an elasticity on the arm that binds here, where it can be read at a glance; none of what is searched at each value of the input."""
    case = bound_case.case
    moving = sum(x in case.dependencies(inner) for inner in case.dependencies(name))
    if moving > MOST_MOVING or searched_quantity(symbol(name), x, bound_case):
        return None
    try:
        ((form, _),) = LogSlopes(name, x, bound_case).ways()
    except (NoClosedForm, ArithmeticError):
        return None
    return form if len(text(form)) <= LONGEST else None


def _symbolic(name: str, bound_case: BoundCase) -> Iterator[Elasticity]:
    """The formula for each lever, an arm each; an arm that it does not move needs no word."""
    theory = bound_case.case.theory
    for x in (*LEVERS, "context"):
        default = default_of(x)
        idle = default is not None and default == 0 and x not in bound_case.case.given
        if x == name or idle or searched_quantity(symbol(name), x, bound_case):
            continue
        with contextlib.suppress(NoClosedForm):
            if acts_through_context(x, name, bound_case):
                continue
            ways = LogSlopes(name, x, bound_case, each_arm=True).ways()
            for form, arms in ways if len(ways) <= MOST_ARMS else ():
                if form != ZERO and len(text(form)) <= LONGEST:
                    said = ", ".join(arm.name for arm in arms.values())
                    yield Elasticity(form, None, theory.own, theory.symbol(x), None, said)


Way = tuple[Expr, dict[Expr, Expr]]
"""An elasticity, and the arm that it was taken on of each maximum."""
STILL: list[Way] = [(ZERO, {})]


@dataclass
class LogSlopes:
    """The elasticity of a quantity in one input as a formula: logarithmic derivatives, definition by definition, in the names of the definitions.

    A product moves as its factors do together, a sum as its terms do, each by its share: in the context a step moves by the share of the cache
    in its bytes. Of a maximum the arm counts that wins here; with ``each_arm``, one after another those that have names.

    >>> from symroof.analysis.study import Study
    >>> for form, arms in LogSlopes("itl", "context", Study().first, each_arm=True).ways():
    ...     print(*arms.values(), text(form))
    decode_compute_time attention_flops_per_pair*decode_pairs/decode_flops
    decode_memory_time kv_bytes_per_token*decode_span/decode_bytes
    >>> case = Study(model="llama-3-8b", hardware="h100-sxm", prompt=2048).first
    >>> text(LogSlopes("decode_intensity", "batch", case).ways()[0][0])
    'weight_bytes_read/decode_bytes'
    """

    name: str
    x: str
    bound_case: BoundCase
    each_arm: bool = False
    held: frozenset[str] = frozenset()
    _known: dict[str, list[Way]] = field(default_factory=dict)
    _moving: dict[str, bool] = field(default_factory=dict)

    def ways(self) -> list[Way]:
        """The elasticity here, or on each arm.

        Raises:
            NoClosedForm: it has none: the input is rounded, in an exponent, or moves the terms of a sum over steps.
            NoValue: an arm has no value.
        """
        return [
            (self._shortest(form.xreplace(arms)), arms) for form, arms in self._of_name(self.name)
        ]

    def _formula(self, name: str) -> Expr:
        return self.bound_case.case.formula_or_name(name, changed=frozenset((self.x,)))

    def _moves(self, tree: Expr) -> bool:
        """Whether the input moves a formula, by the formulas of its names."""
        for name in (*names(tree), *changed_inputs(tree)):
            if name not in self._moving:
                self._moving[name] = name == self.x  # to a circular definition it stays still
                inner = self._formula(name)
                if name != self.x and name not in self.held and inner != symbol(name):
                    self._moving[name] = self._moves(inner)
            if self._moving[name]:
                return True
        return False

    def _of_name(self, name: str) -> list[Way]:
        if name == self.x or name in self.held:
            return [(ONE, {})] if name == self.x else STILL
        if name not in self._known:
            tree = self._formula(name)
            if tree == symbol(name):
                return STILL
            self._known[name] = STILL  # to a circular definition it stays still
            still = [inner for inner in names(tree) if not self._moves(symbol(inner))]
            kept = KEPT_NAMES | (EFFICIENCIES if self.each_arm else frozenset())
            idle = {inner: neutral(symbol(inner), self.bound_case) for inner in still}
            tree = substitute(tree, {key: idle[key] for key in idle.keys() - kept})
            called = symbol(name) if name != self.name else None
            self._known[name] = self._of(tree, called)
        return self._known[name]

    def _of(self, node: Expr, called: Expr | None = None) -> list[Way]:
        """Of a formula, which may be ``called`` by the name that it defines."""
        if not self._moves(node):
            return STILL
        if node.is_Symbol:
            return self._of_name(node.name)
        if isinstance(node, At):
            return self._changed(node)
        if node.is_Mul:
            return [(sympy.Add(*forms), arms) for forms, arms in self._together(node.args)]
        if node.is_Pow and node.exp.is_Rational:
            return [(node.exp * form, arms) for form, arms in self._of(node.base)]
        if node.is_Add:
            whole = node if called is None else called
            return [
                (self._by_share(node.args, forms, whole), arms)
                for forms, arms in self._together(node.args)
            ]
        if isinstance(node, (sympy.Max, sympy.Min)) and self.each_arm:
            arms = named_arms(node)
            if not arms:
                raise NoClosedForm("an arm without a name cannot be reported")
            return [
                (form, {node: arm} | taken)
                for arm in arms
                for form, taken in self._of(arm)
                if taken.get(node, arm) == arm
            ]
        if isinstance(node, (sympy.Max, sympy.Min, OfLargest)) and not self.each_arm:
            keys = node.keys if isinstance(node, OfLargest) else node.args
            sign = -1 if isinstance(node, sympy.Min) else 1
            place = chosen_index([sign * self.bound_case.case.evaluate(key) for key in keys])
            arm = node.values[place] if isinstance(node, OfLargest) else keys[place]
            return [(form, taken | {node: arm}) for form, taken in self._of(arm)]
        raise NoClosedForm(reason(node, symbol(self.x)))

    def _changed(self, node: Expr) -> list[Way]:
        """Of a quantity at changed inputs: where it moves with each as one power, whatever the place."""
        keys = frozenset(dict(node.changes))
        powers: dict[str, Any] = {}
        for by in (self.x, *keys):
            own = LogSlopes(node.name, by, self.bound_case, self.each_arm, self.held | keys - {by})
            forms = {form for form, _ in own.ways()}
            powers[by] = forms.pop() if len(forms) == 1 else None
        moved = [(key, value) for key, value in node.changes if self._moves(value)]
        direct = ZERO if self.x in keys else powers[self.x]
        if not all(map(is_number, (direct, *(powers[key] for key, _ in moved)))):
            raise NoClosedForm(reason(node, symbol(self.x)))
        return [
            (
                sympy.Add(
                    direct,
                    *(powers[key] * own for (key, _), own in zip(moved, forms, strict=True)),
                ),
                arms,
            )
            for forms, arms in self._together([value for _, value in moved])
        ]

    def _together(self, parts: Iterable[Expr]) -> list[tuple[list[Expr], dict[Expr, Expr]]]:
        """The elasticities of several parts, on arms that agree with each other."""
        made: list[tuple[list[Expr], dict[Expr, Expr]]] = [([], {})]
        for part in parts:
            made = [
                ([*forms, own], arms | taken)
                for forms, arms in made
                for own, taken in self._of(part)
                if all(arms.get(node, arm) == arm for node, arm in taken.items())
            ]
        return made

    @staticmethod
    def _by_share(terms: Sequence[Expr], forms: Sequence[Expr], whole: Expr) -> Expr:
        """Of a sum: that of its terms where all have the same, else each by its share of the whole."""
        if len(set(forms)) == 1:
            return forms[0]
        return sympy.Add(*(term / whole * own for term, own in zip(terms, forms, strict=True)))

    def _shortest(self, form: Expr) -> Expr:
        """The formula over one denominator where that is shorter, sums among its names written out: the weights, rather than all bytes less the cache."""
        one = sympy.together(form)
        over, under = sympy.fraction(one)
        case, forms = self.bound_case.case, [one, form]
        for name in names(over) if over.is_Add else ():
            if (tree := case.formula_or_name(name)).is_Add:
                forms.append(sympy.expand(substitute(over, {name: tree})) / under)
        return shortest(min(forms, key=lambda each: len(text(each))), self.bound_case)


def named_arms(node: Expr) -> tuple[Expr, ...]:
    """The arms of a maximum that all have names: the compute and the memory time of a step.

    >>> named_arms(parse("max(compute_time, memory_time)")), named_arms(parse("max(context, prompt + output)"))
    ((compute_time, memory_time), ())
    """
    is_named = isinstance(node, sympy.Max) and all(arm.is_Symbol for arm in node.args)
    return tuple(node.args) if is_named else ()


def binding_arms(name: str, bound_case: BoundCase) -> tuple[str, ...]:
    """The named arms that win on the way to a quantity's value, at both ends where a sum holds them.

    >>> from symroof.analysis.study import Study
    >>> binding_arms("response_time", Study(model="llama-3-8b", hardware="h100-sxm", prompt=2048, output=100).first)
    ('prefill_compute_time', 'decode_memory_time')
    """
    winners: dict[str, None] = {}

    def visit(tree: Expr, case: Case) -> None:
        named = named_arms(tree)
        if named:
            winner = max(named, key=case.evaluate)
            winners.setdefault(winner.name)
        elif isinstance(tree, Total):
            for end in (tree.first, tree.last):
                visit(tree.body, case.changed({tree.index: case.evaluate(end)}))
        elif isinstance(tree, At):
            visit(
                symbol(tree.name),
                case.changed({key: case.evaluate(value) for key, value in tree.changes}),
            )
        elif tree.is_Symbol:
            if search := case.search(tree.name):
                visit(parse(search.body), case.changed({search.unknown: case.value(tree.name)}))
            elif tree.name not in case.given and case.theory.timed(tree.name):
                visit(case.formula_or_name(tree.name), case)
        else:
            for child in (part for part in tree.args if not isinstance(part, Str)):
                visit(child, case)

    try:
        visit(symbol(name), bound_case.case)
    except NoValue:
        return ()
    return in_order(winners)
