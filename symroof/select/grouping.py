"""Candidates by all that shapes their functions, and the best of each case."""

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from symroof.analysis.verdict import AT_A_RATE, LOAD, TARGET_METRICS
from symroof.errors import InputError
from symroof.select.configuration import ISOLATED, PRICE, Configuration, Run
from symroof.select.screening import ROOM, SHARED, VALUES, WITHOUT_QUEUE, Group, Rank
from symroof.select.search_space import Candidate
from symroof.symbolic.expressions import is_number, names
from symroof.theory.theory import Theory

ARGUMENTS = SHARED | {"batch"}
"""Inputs whose numbers do not tell functions apart."""


def screen(cases: Sequence[Sequence[Candidate]], listed: bool = False) -> list[Configuration]:
    """The best of the candidates of each case, at its own batch where one is chosen; where a size is not known the case as it is.

    ``listed``: the study lists batches, so that no window of them is said.

    >>> from symroof.analysis.study import Study
    >>> study = Study("llama-3.1-8b", ["h100-sxm", "l40s"], prompt=2048, output=300, chunk=2048, targets={"itl": "20 ms"})
    >>> [str(configuration.window) for configuration in screen([[Candidate(case)] for case in study.cases])]
    ['1 to 16', 'None']
    """
    every = [(candidate, i) for i, candidates in enumerate(cases) for candidate in candidates]
    best: dict[int, tuple[Rank, Configuration]] = {}
    for group in _groups(every):
        for i, result in group.results(listed).items():
            if i not in best or result[0] < best[i][0]:
                best[i] = result
    found = []
    for i, (candidate, *_) in enumerate(cases):
        own = candidate.bound_case
        found.append(
            best[i][1] if i in best else Configuration(Run(own), None, "batch" in own.given)
        )
    return found


def _groups(every: Sequence[tuple[Candidate, int]]) -> Iterator[Group]:
    """Candidates whose functions are the same, each with the case that it is of."""
    by_shape: dict[Any, list[int]] = {}
    shapes: dict[int, Any] = {}
    shape_of = _Shapes()
    for place, (candidate, _) in enumerate(every):
        key = id(candidate.bound_case)  # with the same columns: one combination in one layout
        if key not in shapes:
            shapes[key] = shape_of(candidate)
        by_shape.setdefault(shapes[key], []).append(place)
    for (*_, used), members in by_shape.items():
        places = sorted(members, key=lambda place: not every[place][0].bound_case.case.has(PRICE))
        first = every[places[0]][0]  # whose formulas are those of all
        if not first.bound_case.case.changed(first.columns).has_value("fits"):
            continue
        candidates, owners = zip(*(every[place] for place in places), strict=True)
        try:
            yield Group(candidates, owners, used)
        except InputError:
            continue  # a quantity has no value there: each is judged on its own


class _Shapes:
    """What shapes the functions of a candidate: its theory, its formulas, the numbers that are no columns."""

    def __init__(self) -> None:
        self._relevant: dict[Any, frozenset[str]] = {}

    def __call__(self, candidate: Candidate) -> tuple[Any, ...]:
        bound_case, columns = candidate.bound_case, candidate.columns.keys()
        case = bound_case.case
        box = frozenset() if bound_case.changed_case else frozenset(bound_case.box)
        moving = ARGUMENTS | box
        free = {name for name, tree in case.given.items() if is_number(tree) and name in moving}
        free |= columns
        formulas = frozenset().union(
            *(names(tree) for name, tree in case.given.items() if name not in columns)
        )
        key = id(case.theory), formulas
        if key not in self._relevant:
            self._relevant[key] = _relevant(case.theory, formulas)
        used = self._relevant[key]
        given = ((name, tree) for name, tree in sorted(case.given.items()) if name != PRICE)
        fixed = tuple((n, None if n in free else tree) for n, tree in given if n in used)
        moved = tuple((n, None if n in moving else value) for n, value in case.numbers.items())
        unpriced = not case.has(PRICE)
        return id(case.theory), fixed, moved, box, tuple(columns), unpriced, used


def _relevant(theory: Theory, formulas: Collection[str]) -> frozenset[str]:
    """The names that lead to the screened quantities, directly or through formulas that replace definitions."""
    isolated = [name for names in ISOLATED.values() for name in names]
    queued = (*WITHOUT_QUEUE[0], *WITHOUT_QUEUE[1], *AT_A_RATE.values(), LOAD, ROOM)
    asked = (*VALUES, *isolated, *queued, *TARGET_METRICS.values(), *formulas)
    return frozenset().union(*(theory.dependencies(name) for name in asked))
