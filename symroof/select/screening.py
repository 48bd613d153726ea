"""All configurations at once: the largest batch and the copies that memory and the targets allow, by array functions.

Configurations that share a theory and differ in numbers of their devices share the functions. Latencies rise with the batch,
what a token costs falls with it, and a queue shortens with every copy: so each answer is a bisection, over all at once.
"""

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from symroof.analysis.verdict import LOAD, TARGET_METRICS, under_load
from symroof.cases.bound_case import BoundCase
from symroof.cases.measured_efficiencies import AT_PEAK, COSTS
from symroof.errors import InputError
from symroof.formula.tree import Num, Tree, names
from symroof.select.screened_group import PRICE, PRICED, ROOM, SHARED, UNQUEUED, VALUES, Group, Screened
from symroof.theory.theory import Theory

ARGUMENTS = SHARED | {"batch"}
"""Inputs whose numbers do not tell functions apart."""

EFFICIENCIES = frozenset({*AT_PEAK, *COSTS})
"""Ranges whose ends are screened beside what is expected; any other range is screened at its corners."""


def screened(cases: Sequence[BoundCase], own: bool = True) -> list[Screened | None]:
    """Each configuration screened, with ``own`` at its own batch where one is chosen; None where it is not: targets are held against isolated latencies, a size is not known.

    >>> from symroof.analysis.study import Study
    >>> study = Study("llama-3.1-8b", ["h100-sxm", "l40s"], prompt=2048, output=300, chunk=2048, targets={"itl": "20 ms"})
    >>> [result.most for result in screened(study.cases)]
    [104, 4]
    """
    results: list[Screened | None] = [None] * len(cases)
    for places, group in _groups(cases, own):
        for place, result in zip(places, group.results(), strict=True):
            results[place] = result
    return results


def _groups(cases: Sequence[BoundCase], own: bool = True) -> Iterator[tuple[list[int], Group]]:
    """Configurations under load without ranges but of efficiencies, by all that shapes their functions."""
    by_shape: dict[Any, list[int]] = {}
    relevant: dict[Any, frozenset[str]] = {}
    number = _Numbered()
    for place, bound_case in enumerate(cases):
        case = bound_case.case
        if under_load(case) and (bound_case.changed_case or bound_case.box.keys() <= EFFICIENCIES):
            formulas = frozenset().union(*(names(tree) for tree in case.given.values() if not isinstance(tree, Num)))
            if (id(case.theory), formulas) not in relevant:
                relevant[id(case.theory), formulas] = _relevant(case.theory, formulas)
            used = relevant[id(case.theory), formulas]
            fixed = tuple(
                (name, None if name in ARGUMENTS and isinstance(tree, Num) else number(tree))
                for name, tree in case.given.items()
                if name in used and name != PRICE
            )
            moved = tuple((name, None if name in ARGUMENTS else value) for name, value in case.numbers.items())
            unpriced = not case.has(PRICE) and bool(PRICED & bound_case.targets.keys())
            by_shape.setdefault((id(case.theory), fixed, moved, unpriced, used), []).append(place)
    for (*_, used), alike in by_shape.items():
        places = sorted(alike, key=lambda place: not cases[place].case.has(PRICE))  # the first one's formulas are those of all
        if not cases[places[0]].case.known("fits"):
            continue
        try:
            yield places, Group([cases[place] for place in places], own, used)
        except InputError:
            continue  # a quantity has no value there: each is judged on its own


class _Numbered:
    """Formulas by number, equal ones by the same: most are the same object in many cases, and comparing exact numbers takes long."""

    def __init__(self) -> None:
        self._by_object: dict[int, tuple[int, Tree]] = {}
        self._by_formula: dict[Tree, int] = {}

    def __call__(self, tree: Tree) -> int:
        if id(tree) not in self._by_object:
            self._by_object[id(tree)] = self._by_formula.setdefault(tree, len(self._by_formula)), tree
        return self._by_object[id(tree)][0]


def _relevant(held: Theory, formulas: Collection[str]) -> frozenset[str]:
    """The names that lead to the screened quantities, directly or through formulas that replace definitions."""
    return frozenset().union(*(held.ancestry(name) for name in (*VALUES, *UNQUEUED[0], *UNQUEUED[1], *TARGET_METRICS.values(), LOAD, *ROOM, *formulas)))
