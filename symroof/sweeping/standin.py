"""A slow stand-in of the compiled function: exact values, point by point. For as long as there is no fast one."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from symroof.formula.evaluate import NoValue
from symroof.formula.tree import Compare, Largest
from symroof.results import Answers

LABELS = ("compute", "memory", "link", "overhead")


class Compiled:
    def __init__(self, outputs: Sequence[str], inputs: Sequence[str], answers: Answers) -> None:
        self.outputs, self.inputs, self.answers = tuple(outputs), tuple(inputs), answers
        theory = answers.case.theory
        self.kinds = {name: _kind(answers, name) for name in outputs}
        self.depends = {name: frozenset(i for i in inputs if _reaches(answers, name, i)) for name in outputs}
        self.labels = {name: LABELS for name, kind in self.kinds.items() if kind is Largest}
        del theory

    def codes(self, *arrays: np.ndarray[Any, Any], out: Any = None) -> tuple[np.ndarray[Any, Any], ...]:
        grids = np.broadcast_arrays(*arrays) if arrays else []
        shape = grids[0].shape if arrays else ()
        kinds = {Largest: np.int8, Compare: np.bool_}
        found: tuple[np.ndarray[Any, Any], ...] = tuple(np.empty(shape, dtype=kinds.get(self.kinds[name], np.float64)) for name in self.outputs)
        for at in np.ndindex(shape):
            case = self.answers.case.changed({name: Fraction(float(grid[at])) for name, grid in zip(self.inputs, grids, strict=True)})
            for name, array in zip(self.outputs, found, strict=True):
                try:
                    value = case.value(name)
                except NoValue:
                    value = np.nan if self.kinds[name] not in kinds else -1
                array[at] = LABELS.index(value) if isinstance(value, str) else value
        return found


def _kind(answers: Answers, name: str) -> Any:
    found = type(answers.case.formula(name))
    return found if found in (Largest, Compare) else None


def _reaches(answers: Answers, name: str, wanted: str) -> bool:
    return wanted in answers.case.used(name) or wanted == name


def compile_cases(quantities: Sequence[Sequence[str]], inputs: Sequence[str], cases: Sequence[Answers]) -> list[Compiled]:
    return [Compiled(names, inputs, case) for names, case in zip(quantities, cases, strict=True)]
