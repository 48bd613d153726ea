"""The function of every case: compiled where numbers move, exact where only labels do."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from symroof.analysis.compile import compile_cases
from symroof.cases.bound_case import BoundCase
from symroof.cases.quantity_result import Value
from symroof.errors import InputError
from symroof.formula.evaluate import NoValue


class Function(Protocol):
    """The function of a case."""

    @property
    def outputs(self) -> tuple[str, ...]: ...
    @property
    def depends(self) -> Mapping[str, frozenset[str]]: ...
    @property
    def labels(self) -> Mapping[str, tuple[str, ...]]: ...
    def codes(self, *arrays: Any) -> tuple[np.ndarray[Any, Any], ...]:
        """Every output over the arrays: floats, truths, places in ``labels``."""
        ...


def functions(names: Sequence[Sequence[str]], inputs: Sequence[str], cases: Sequence[BoundCase]) -> list[tuple[Function, dict[str, str]]]:
    """One function a case, of the quantities it gives all inputs of; what has no value wherever the inputs stand is left out, with why."""
    if not inputs:
        return [_point(known, case) for known, case in zip(names, cases, strict=True)]
    compiled: dict[int, tuple[Function, dict[str, str]]] = {}
    for group in dict.fromkeys(map(tuple, names)):
        members = [i for i, known in enumerate(names) if tuple(known) == group]
        compiled |= zip(members, _compiled(group, inputs, [cases[i] for i in members]), strict=True)
    return [compiled[i] for i in range(len(cases))]


def _compiled(names: tuple[str, ...], inputs: Sequence[str], cases: Sequence[BoundCase]) -> list[tuple[Function, dict[str, str]]]:
    try:
        return [(function, {}) for function in compile_cases(names, inputs, cases)]
    except InputError:
        return [_what_works(names, inputs, case) for case in cases]


def _what_works(names: tuple[str, ...], inputs: Sequence[str], case: BoundCase) -> tuple[Function, dict[str, str]]:
    """The function of what has a value somewhere in a case."""
    without: dict[str, str] = {}
    for name in names:
        try:
            compile_cases([name], inputs, [case])
        except InputError as error:
            without[name] = error.problems[0].message
    return compile_cases([name for name in names if name not in without], inputs, [case])[0], without


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
        return tuple(np.array(0 if isinstance(v, str) else v if isinstance(v, bool) else float(v)) for v in self.values.values())
