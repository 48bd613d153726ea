"""A solved equation in other cases: by the same closed form while its conditions hold there, else solved anew."""

from fractions import Fraction

from symroof.analysis.numeric_equation import NumericEquation
from symroof.analysis.solution import ABOVE, BELOW, Extent, Solution, formula_trees
from symroof.cases.bound_case import BoundCase
from symroof.errors import InputError
from symroof.formula import build
from symroof.formula.evaluate import NoValue, evaluate
from symroof.formula.text import text
from symroof.formula.tree import Compare
from symroof.solver.roots import sign
from symroof.specs.input_values import in_range
from symroof.theory.case import Case


def crossings_in(solution: Solution, case: Case) -> tuple[Fraction, ...]:
    """The crossings of a solved equation in another case of the same theory."""
    by_form = by_closed_form(solution, case)
    return (by_form,) if by_form is not None else _solved_in(solution, case)


def _solved_in(solution: Solution, case: Case) -> tuple[Fraction, ...]:
    """The crossings of the equation solved anew in another case; none where it has no value there."""
    moved = _answers_in(case, solution.bound_case)
    equation = (
        solution.threshold.name
        if solution.threshold
        else f"{' = '.join(map(text, formula_trees(solution).sides))}"
    )
    try:
        return solution.solve_again(equation, moved, solution.unknown).values
    except (InputError, NoValue):
        return ()


def _answers_in(case: Case, bound_case: BoundCase) -> BoundCase:
    """The results in another case, shared by all equations that are solved there."""
    if id(case) not in bound_case.memo.at_cases:
        there = bound_case.memo.at_cases[id(case)] = bound_case.at(case)
        if any(case is each for each in bound_case.corners):
            there.memo.corner_of = bound_case
    return bound_case.memo.at_cases[id(case)]


def by_closed_form(solution: Solution, case: Case) -> Fraction | None:
    """The formula of the only crossing, where all it takes to hold still holds."""
    branch = next(
        (
            b
            for b in formula_trees(solution).crossing.branches
            if b.holds and b.value == solution.value and b.closed_form
        ),
        None,
    )
    if branch is None or branch.closed_form is None or len(solution.values) > 1:
        return None
    try:
        value = evaluate(branch.closed_form, case)
        at_value = {solution.unknown: value}
        holds = value > 0 and all(
            c.holds and evaluate(c.tree, case, at_value) for c in branch.conditions
        )
    except NoValue:
        return None
    return Fraction(value) if holds else None


def at_corners(solution: Solution) -> tuple[tuple[Fraction, ...], ...]:
    """The crossings at each corner of the case's ranges; none where nothing is ranged, or the unknown itself is."""
    bound_case = solution.bound_case
    if solution.unknown in bound_case.box:
        return ()
    asked = (*formula_trees(solution).sides, solution.unknown)
    if asked not in bound_case.memo.crossings:
        bound_case.memo.crossings[asked] = _at_each(solution, bound_case.corners)
    return bound_case.memo.crossings[asked]


def _at_each(solution: Solution, corners: tuple[Case, ...]) -> tuple[tuple[Fraction, ...], ...]:
    """The crossings at each corner; those corners where only a scan finds them are scanned together."""
    solved = formula_trees(solution)
    numeric = NumericEquation(Compare("=", *solved.sides), solution.unknown, solution.bound_case)
    values = [
        None if solved.crossing.searched else _without_scan(solution, numeric, case)
        for case in corners
    ]
    left = [i for i, known in enumerate(values) if known is None]
    scanned = (
        numeric.crossings_by_scan([corners[i] for i in left])
        if left and numeric.shares_arrays
        else [_solved_in(solution, corners[i]) for i in left]
    )
    for i, crossings in zip(left, scanned, strict=True):
        values[i] = crossings
    return tuple(each for each in values if each is not None)


def _without_scan(
    solution: Solution, numeric: NumericEquation, case: Case
) -> tuple[Fraction, ...] | None:
    """The crossings in another case, where it takes no scan to find them; else None."""
    by_form = by_closed_form(solution, case)
    if by_form is not None:
        return (by_form,)
    at_corner = (
        numeric
        if numeric.shares_formulas
        else NumericEquation(
            numeric.relation, numeric.unknown, _answers_in(case, solution.bound_case)
        )
    )
    try:
        crossings = at_corner.crossings_by_formula(case)
    except NoValue:  # solving it anew shows what is missing, and whether it matters
        return _solved_in(solution, case)
    return crossings if crossings is None or all(map(in_range, crossings)) else ()


def crossing_spread(solution: Solution) -> tuple[Fraction | None, Fraction | None, bool]:
    """Least and largest first crossing over the corners of the ranges, and whether each corner has one."""
    corners = at_corners(solution)
    values = [crossings[0] for crossings in corners if crossings]
    if not values:
        return None, None, True
    return min(values), max(values), len(values) == len(corners)


def extent_over_ranges(solution: Solution) -> Extent:
    """How far the first crossing moves over the ranges of its case."""
    if not at_corners(solution):
        return Extent(None, None, solution.value is not None)
    low, high, everywhere = crossing_spread(solution)
    met = [each for each in (low, high, solution.value) if each is not None]
    if not met:
        return Extent(None, None, False)
    everywhere = everywhere and low is not None and solution.value is not None
    beyond = (
        side_beyond(solution, solution.value)
        if solution.value is not None and not everywhere
        else frozenset()
    )
    return Extent(min(met), max(met), everywhere, beyond)


def side_beyond(solution: Solution, crossing: Fraction) -> frozenset[str]:
    """Where a crossing has beyond at the corners that have none: above every value of the unknown, below every one, or both; nothing where that is not known.

    Where the sides never meet, one is the larger throughout. If it is the one that is larger before the crossing, there the crossing
    would come later than any value; else it would have come before.

    >>> from symroof.analysis.study import Study
    >>> solution = Study("llama-3-8b", "h100-sxm", prompt=512, mfu="0.2..0.9", mbu=0.8).solve("batch_to_ridge")
    >>> [len(crossings) for crossings in at_corners(solution)], sorted(side_beyond(solution, solution.value))
    ([1, 0], ['above'])
    """
    before, ends = solution.before(crossing), set()
    point = max(crossing, Fraction(1)).__ceil__() if solution.symbol.counted else crossing
    difference = build.sub(*formula_trees(solution).sides)
    for case, crossings in zip(solution.bound_case.corners, at_corners(solution), strict=False):
        if crossings:
            continue
        try:
            side = sign(case.changed({solution.unknown: Fraction(point)}).evaluate(difference))
        except NoValue:
            return frozenset()
        if not before or not side:
            return frozenset()
        ends.add(ABOVE if side == before else BELOW)
    return frozenset(ends)
