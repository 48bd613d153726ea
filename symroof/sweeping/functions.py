"""The function of every case: compiled where numbers move, exact where only labels do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from symroof.compiling import compile_cases
from symroof.formula.evaluate import NoValue
from symroof.results import Answers
from symroof.specs.errors import InputError


class Function(Protocol):
    """What is asked of the function of a case."""

    @property
    def outputs(self) -> tuple[str, ...]: ...
    @property
    def depends(self) -> Mapping[str, frozenset[str]]: ...
    @property
    def labels(self) -> Mapping[str, tuple[str, ...]]: ...
    def codes(self, *arrays: Any) -> tuple[np.ndarray[Any, Any], ...]:
        """Every output over the arrays: floats, truths, places in ``labels``."""
        ...


def functions(names: Sequence[Sequence[str]], inputs: Sequence[str], cases: Sequence[Answers]) -> list[Function]:
    """One function a case, of the quantities it knows; one that has no value wherever the inputs stand is left out.

    Raises:
        InputError: a quantity needs what is not given.
    """
    if not inputs:
        return [_Point(tuple(known), case) for known, case in zip(names, cases, strict=True)]
    found: dict[int, Function] = {}
    for group in dict.fromkeys(map(tuple, names)):
        members = [i for i, known in enumerate(names) if tuple(known) == group]
        found |= zip(members, _compiled(group, inputs, [cases[i] for i in members]), strict=True)
    return [found[i] for i in range(len(cases))]


def _compiled(names: tuple[str, ...], inputs: Sequence[str], cases: Sequence[Answers]) -> list[Function]:
    try:
        return list(compile_cases(names, inputs, cases))
    except InputError:
        return [compile_cases([name for name in names if _works(name, inputs, case)], inputs, [case])[0] for case in cases]


def _works(name: str, inputs: Sequence[str], case: Answers) -> bool:
    """Whether a quantity has a value somewhere in a case."""
    try:
        compile_cases([name], inputs, [case])
    except InputError:
        return False
    return True


@dataclass(frozen=True)
class _Point:
    """The one point of a case that no number moves: exact values."""

    names: tuple[str, ...]
    case: Answers

    @cached_property
    def values(self) -> dict[str, Fraction | bool | str]:
        found = {}
        for name in self.names:
            try:
                found[name] = self.case.case.value(name)
            except NoValue:
                continue
        return found

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
