"""A sweep before it is computed: its axes, one case for each combination of labels, its functions, and the axes each quantity depends on."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from symroof.analysis.compile import ENDS, Function, WithEnds, compile_cases
from symroof.cases.bound_case import BoundCase
from symroof.cases.quantity_result import Value
from symroof.errors import InputError
from symroof.sweep.axes import Axis
from symroof.symbolic.evaluation import NoValue
from symroof.symbolic.expressions import Expr, is_relation, names, symbol
from symroof.theory.quantities import QUANTITIES


def functions(
    names: Sequence[Sequence[str]], inputs: Sequence[str], cases: Sequence[BoundCase]
) -> list[tuple[Function, dict[str, str]]]:
    """One function a case, of the quantities it gives all inputs of; what has no value whatever the inputs are is left out, with why."""
    if not inputs:
        return [_point(known, case) for known, case in zip(names, cases, strict=True)]
    compiled: dict[int, tuple[Function, dict[str, str]]] = {}
    for group in dict.fromkeys(map(tuple, names)):
        members = [i for i, known in enumerate(names) if tuple(known) == group]
        compiled |= zip(members, _compiled(group, inputs, [cases[i] for i in members]), strict=True)
    return [compiled[i] for i in range(len(cases))]


def _compiled(
    names: tuple[str, ...], inputs: Sequence[str], cases: Sequence[BoundCase]
) -> list[tuple[Function, dict[str, str]]]:
    try:
        return [(function, {}) for function in compile_cases(names, inputs, cases)]
    except InputError:
        return [_what_works(names, inputs, case) for case in cases]


def _what_works(
    names: tuple[str, ...], inputs: Sequence[str], case: BoundCase
) -> tuple[Function, dict[str, str]]:
    """The function of what has a value somewhere in a case."""
    without: dict[str, str] = {}
    for name in names:
        try:
            compile_cases([name], inputs, [case])
        except InputError as error:
            without[name] = error.problems[0].message
    return compile_cases([name for name in names if name not in without], inputs, [case])[
        0
    ], without


def _point(names: Sequence[str], case: BoundCase) -> tuple[Function, dict[str, str]]:
    values: dict[str, Value] = {}
    without: dict[str, str] = {}
    for name in names:
        try:
            values[name] = case.case.value(name)
        except NoValue as error:
            without[name] = f"has no value here: {error}"
    return _Point(values), without


@dataclass(frozen=True)
class _Point:
    """The one point of a case that no number moves: exact values."""

    values: Mapping[str, Value]

    @property
    def outputs(self) -> tuple[str, ...]:
        return tuple(self.values)

    @property
    def depends(self) -> Mapping[str, frozenset[str]]:
        return dict.fromkeys(self.values, frozenset())

    @property
    def labels(self) -> Mapping[str, tuple[str, ...]]:
        return {name: (value,) for name, value in self.values.items() if isinstance(value, str)}

    def codes(self, *arrays: Any) -> tuple[np.ndarray[Any, Any], ...]:
        return tuple(
            np.array(0 if isinstance(v, str) else v if isinstance(v, bool) else float(v))
            for v in self.values.values()
        )


NUMBER, TRUTH, LABEL = "number", "truth", "label"


@dataclass(frozen=True)
class Variable:
    """A quantity on the grid.

    Attributes:
        kind: a number, a truth, or a label that is one of ``labels``.
        dims: the axes it depends on, in the order of the grid.
        everywhere: whether every case has a value for it.
    """

    name: str
    kind: str
    dims: tuple[str, ...]
    unit: str
    long_name: str
    labels: tuple[str, ...] = ()
    everywhere: bool = True


@dataclass(frozen=True)
class Plan:
    """Quantities over axes, those of labels first.

    Attributes:
        missing: what each case has not all inputs of, and what it needs; ``missing_in_part`` where that holds for a part of the grid.
        notes: warnings about the whole.
    """

    axes: tuple[Axis, ...]
    quantities: tuple[str, ...]
    cases: tuple[BoundCase, ...]
    missing: tuple[dict[str, str], ...]
    missing_in_part: tuple[dict[str, str], ...]
    title: str
    notes: tuple[str, ...] = ()
    _steps: dict[int, dict[str, tuple[Expr, tuple[str, ...]]]] = field(
        default_factory=dict, compare=False
    )

    @cached_property
    def labelled(self) -> tuple[Axis, ...]:
        return tuple(axis for axis in self.axes if axis.labelled)

    @cached_property
    def numeric(self) -> tuple[Axis, ...]:
        return tuple(axis for axis in self.axes if not axis.labelled)

    @property
    def dims(self) -> tuple[str, ...]:
        return tuple(axis.name for axis in self.axes)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(map(len, self.axes))

    @property
    def points(self) -> int:
        return math.prod(self.shape)

    @cached_property
    def _made(self) -> list[tuple[Function, dict[str, str]]]:
        names = [
            [name for name in self.quantities if name not in lacking] for lacking in self.missing
        ]
        inputs = [axis.name for axis in self.numeric]
        made = functions(names, inputs, self.cases)
        if not self.ranged:
            return made
        ranged = [[name for name in known if name in self.ranged] for known in names]
        corners = [case.at_measured_corners or [case] for case in self.cases]
        made_at = [
            functions(ranged, inputs, [there[k % len(there)] for there in corners])
            for k in range(max(map(len, corners)))
        ]
        return [
            (WithEnds(own, [function for function, _ in there]), without)
            for (own, without), *there in zip(made, *made_at, strict=True)
        ]

    @cached_property
    def ranged(self) -> tuple[str, ...]:
        """The times, rates and costs that have the ends of what is expected beside them."""
        measured = [case for case in self.cases if case.measured_box]
        return tuple(
            name
            for name in self.quantities
            if any(case.case.theory.timed(name) for case in measured)
        )

    @cached_property
    def functions(self) -> list[Function]:
        """A function of the numeric axes for every case."""
        return [function for function, _ in self._made]

    @property
    def missing_anywhere(self) -> list[dict[str, str]]:
        """What has no value in a case, or in a part of it, and why."""
        return [
            {**partly, **lacking, **without}
            for partly, lacking, (_, without) in zip(
                self.missing_in_part, self.missing, self._made, strict=True
            )
        ]

    @cached_property
    def variables(self) -> tuple[Variable, ...]:
        """The quantities in order, each with only the axes it depends on; what is expected has its ends behind it."""
        made: list[Variable] = []
        for name in self.quantities:
            own = self._variable(name)
            made.append(own)
            if name in self.ranged and own.kind == NUMBER:
                made += [
                    replace(
                        own, name=f"{name}_{end}", long_name=f"{own.long_name}, {end} end of 80 %"
                    )
                    for end in ENDS
                ]
        return tuple(made)

    def _variable(self, name: str) -> Variable:
        having = [i for i, function in enumerate(self.functions) if name in function.outputs]
        symbol = self.cases[0].case.theory.symbol(name)
        if not having:  # it is known and has no value anywhere, such as a queue that only grows
            return Variable(name, NUMBER, (), symbol.unit, symbol.meaning, everywhere=False)
        moved = frozenset().union(*(self.functions[i].depends[name] for i in having))
        differing = self.axes_that_differ(
            [self.reached(i, name) if i in having else {} for i in range(len(self.cases))]
        )
        labels = tuple(
            dict.fromkeys(label for i in having for label in self.functions[i].labels.get(name, ()))
        )
        kind = (
            LABEL
            if labels
            else TRUTH
            if is_relation(self.cases[having[0]].case.formula_or_name(name))
            else NUMBER
        )
        dims = tuple(
            axis.name for axis in self.axes if axis.name in (differing if axis.labelled else moved)
        )
        return Variable(
            name, kind, dims, symbol.unit, symbol.meaning, labels, len(having) == len(self.cases)
        )

    def axes_that_differ(self, values: Sequence[Any]) -> frozenset[str]:
        """The axes of labels along which values differ, one value a case, in the order of the cases."""
        sizes = [len(axis) for axis in self.labelled]
        axes = set()
        for k, axis in enumerate(self.labelled):
            stride = math.prod(sizes[k + 1 :])
            if any(
                values[i] != values[i - stride]
                for i in range(len(values))
                if (i // stride) % sizes[k]
            ):
                axes.add(axis.name)
        return frozenset(axes)

    def reached(self, case: int, name: str) -> dict[str, Expr]:
        """Every formula that a quantity leads to in a case: two cases with the same ones give the same value."""
        formulas: dict[str, Expr] = {}
        todo = [name]
        while todo:
            current = todo.pop()
            if current not in formulas:
                formulas[current], further = self._step(case, current)
                todo += further
        return formulas

    def _step(self, case: int, name: str) -> tuple[Expr, tuple[str, ...]]:
        """The formula of a name in a case, and the names in it and in its conditions."""
        known = self._steps.setdefault(case, {})
        if name not in known:
            own, quantity = self.cases[case].case, QUANTITIES.get(name)
            tree = (
                symbol(name)
                if name in self._moved
                else own.formula_or_name(name, changed=self._moved)
            )
            search = None if name in self._moved else own.search(name, self._moved)
            known[name] = (
                tree,
                (
                    *names(tree),
                    *(search.required_names if search else ()),
                    *(quantity.required_names if quantity else ()),
                ),
            )
        return known[name]

    @cached_property
    def _moved(self) -> frozenset[str]:
        return frozenset(axis.name for axis in self.numeric)
