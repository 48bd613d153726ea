"""Sensitivities of a quantity: its elasticity in every input that can be chosen, as a number and as a formula, on the arm that binds."""

import contextlib
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sympy.core.symbol import Str

from symroof.analysis.asymptotics import MOST_ARMS, acts_through_context
from symroof.analysis.elasticity_formulas import ElasticityFormula, named_arms
from symroof.analysis.implicit_quantities import searched_quantity
from symroof.cases.bound_case import BoundCase
from symroof.cases.quantity_result import plain_value
from symroof.symbolic.evaluation import NoValue
from symroof.symbolic.expressions import ZERO, At, Expr, Total, in_order, symbol
from symroof.symbolic.polynomials import NoClosedForm
from symroof.symbolic.printing import latex, text
from symroof.symbolic.reading import parse
from symroof.theory.case import Case
from symroof.theory.declarations import NONE, Declarations, default_of
from symroof.theory.symbols import ARCHITECTURE, PARALLEL, Symbol, base_name
from symroof.units import settled

LEVERS = (
    "peak_flops", "mem_bandwidth", "link_bandwidth", "weight_bytes_per_param", "kv_bytes_per_element",
    "prompt", "batch", "layer_overhead", "step_overhead",
)  # fmt: skip
"""Inputs that can be changed in practice: the review's columns, and those a symbolic elasticity is derived for."""

FIXED = frozenset(symbol.name for symbol in (*ARCHITECTURE, *PARALLEL))
"""Inputs that do not move by one per cent: the model's shape, and the number of devices."""

NOTICEABLE = Fraction(5, 1000)

LONGEST = 160
"""Characters of a symbolic elasticity that can still be read at a glance."""

MOST_MOVING = 18
"""Quantities on the way that an input moves, beyond which no elasticity is short: of a server under load there are dozens."""

ElasticityRange = tuple[Fraction, Fraction, Fraction]
"""A value at the middle of the ranges, and the least and the largest at their corners."""


@dataclass(frozen=True, repr=False)
class Elasticity:
    """Per cent that a quantity moves when one input moves one per cent.

    Attributes:
        symbol: the input.
        span: the value, with its extremes over the ranges; None without numbers.
        sympy, text: the formula on the arm that binds; None where it is long or has no closed form.
        arm: without numbers, the arm it is the formula of, where there is more than one.
    """

    symbol: Symbol
    span: ElasticityRange | None
    _form: Expr | None
    arm: str = ""
    _own: Declarations = NONE

    @property
    def value(self) -> Fraction | None:
        """The value at the middle of the ranges."""
        return self.span[0] if self.span else None

    def __repr__(self) -> str:
        shown = [span_text(*self.span)] if self.span else []
        return f"<{self.symbol.name}: {' = '.join([*([self.text] if self.text else []), *shown])}>"

    @property
    def text(self) -> str | None:
        """The same in the grammar of formulas."""
        return None if self._form is None else text(self._form)

    @property
    def sympy(self) -> Any:
        """The formula on the arm that binds as a SymPy expression; None where there is none."""
        from symroof.symbols import expression

        return None if self._form is None else expression(self._form, self._own)

    def as_json(self, spell: Any) -> dict[str, Any]:
        written = {
            "text": self.text,
            "latex": None if self._form is None else latex(self._form, spell),
        }
        entry: dict[str, Any] = {
            "symbol": self.symbol.name,
            "value": plain_value(self.value),
            **written,
        }
        if self.span and len(set(map(settled, self.span))) > 1:
            entry |= {"low": plain_value(self.span[1]), "high": plain_value(self.span[2])}
        return entry | ({"arm": self.arm} if self.arm else {})


def span_text(middle: Fraction, low: Fraction, high: Fraction) -> str:
    """An elasticity with its range.

    >>> span_text(Fraction(-1), Fraction(-1), Fraction(-1)), span_text(Fraction(1, 2), Fraction(0), Fraction(3, 4))
    ('-1.00', '+0.50 (0 to +0.75)')
    """
    written = [f"{float(v):+.2f}" if abs(v) >= NOTICEABLE else "0" for v in (middle, low, high)]
    return (
        written[0] if written[1] == written[2] else f"{written[0]} ({written[1]} to {written[2]})"
    )


def elasticities_over_ranges(
    bound_case: BoundCase, name: str, inputs: Collection[str]
) -> dict[str, ElasticityRange]:
    """The elasticities in some inputs at the middle of the ranges, and their least and largest values at the corners of these.

    An input that has none is left out: one that bounds a sum, and any of a quantity that is nothing.
    """
    found = [
        own
        for case in (bound_case.case, *bound_case.corners)
        if (own := _elasticities(case, name, inputs))
    ]
    values = {by: [own[by] for own in found if by in own] for by in inputs}
    return {by: (each[0], min(each), max(each)) for by, each in values.items() if each}


def _elasticities(case: Case, name: str, inputs: Collection[str]) -> dict[str, Any]:
    try:  # equal but for rounding is equal: inputs of one share keep the order of their use
        return {by: float(settled(own)) for by, own in case.elasticities(name, inputs).items()}
    except NoValue:
        return {}


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
    if not isinstance(result.value, float | Fraction):
        return ()
    inputs = [
        x for x in bound_case.case.inputs_used(name) if base_name(x) not in FIXED and x != name
    ]
    spans = {
        x: span
        for x, span in elasticities_over_ranges(bound_case, name, inputs).items()
        if max(map(abs, span)) >= NOTICEABLE
    }
    order = sorted(spans, key=lambda x: -abs(spans[x][0]))
    return tuple(
        Elasticity(
            bound_case.case.theory.symbol(x),
            spans[x],
            _form(name, x, bound_case),
            _own=bound_case.case.theory.own,
        )
        for x in order
    )


def _form(name: str, x: str, bound_case: BoundCase) -> Expr | None:
    """The formula of an elasticity on the arm that binds here, where it can be read at a glance; none of what is searched at each value of the input."""
    case = bound_case.case
    moving = sum(x in case.dependencies(inner) for inner in case.dependencies(name))
    if moving > MOST_MOVING or searched_quantity(symbol(name), x, bound_case):
        return None
    try:
        form = ElasticityFormula(name, x, bound_case).on_binding_arm()
    except (NoClosedForm, ArithmeticError):
        return None
    return form if len(text(form)) <= LONGEST else None


def _symbolic(name: str, bound_case: BoundCase) -> Iterator[Elasticity]:
    """The formula for each lever, an arm each; an arm that it does not move needs no word."""
    for x in (*LEVERS, "context"):
        default = default_of(x)
        idle = default is not None and default == 0 and x not in bound_case.case.given
        if x == name or idle or searched_quantity(symbol(name), x, bound_case):
            continue
        shares = ElasticityFormula(name, x, bound_case)
        with contextlib.suppress(NoClosedForm):
            if acts_through_context(x, name, bound_case):
                continue
            forms = list(shares.by_arm(MOST_ARMS)) if shares.moves else []
            short = [
                (form, arm) for form, arm in forms if form != ZERO and len(text(form)) <= LONGEST
            ]
            yield from (
                Elasticity(
                    bound_case.case.theory.symbol(x), None, form, arm, bound_case.case.theory.own
                )
                for form, arm in short
            )


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
