"""The fit of least squares against an enumeration in exact fractions, and Student's t against published tables."""

import itertools
import random
from fractions import Fraction

import numpy as np
import pytest

from symroof.calibrate.least_squares import LeastSquares, solve, squares, times
from symroof.symbolic.students_t import t_probability, t_quantile


def drawn(seed, rows, overheads, *, arms=2, held=(), whole=False):
    """A random problem in fractions: rows of (measured, arms, rates, fixed), the bounds, and which parameters stay there."""
    draw = random.Random(seed)

    def number(low, high):
        return Fraction(draw.randint(low * 8, high * 8), 8)

    table = []
    for _ in range(rows):
        ends = [draw.choice(((1, 1),) * 5 + ((1, 0), (0, 1))) for _ in range(draw.randint(1, arms))]
        pairs = [(number(1, 6) * compute, number(1, 6) * memory) for compute, memory in ends]
        rates = [number(0, 3) for _ in range(overheads)]
        true = sum(max(c * Fraction(7, 4), m * Fraction(5, 4)) for c, m in pairs) + sum(rates) / 2
        off = 1 if whole else Fraction(draw.randint(60, 150), 100)
        table.append(((true + Fraction(1, 2)) * off, pairs, rates, Fraction(1, 2)))
    least = [Fraction(9, 4) if 0 in held else 1, Fraction(3, 2) if 1 in held else 1]
    return table, [*map(Fraction, least), *[Fraction(0)] * overheads], held


def as_problem(table, least, held):
    pairs = [(i, float(c), float(m)) for i, (_, arms, _, _) in enumerate(table) for c, m in arms]
    row, compute, memory = map(np.array, zip(*pairs, strict=True))
    rates = np.array([list(map(float, row[2])) for row in table]).reshape(len(table), -1)
    measured, fixed = (np.array([float(row[k]) for row in table]) for k in (0, 3))
    stays = np.array([i in held for i in range(len(least))])
    bounds = np.array(list(map(float, least)))
    return LeastSquares(measured, row.astype(int), compute, memory, rates, fixed, bounds, stays)


def loss(table, point):
    """The true sum of squares at a point, in fractions."""
    x, y, *overheads = point
    return sum(
        (
            (
                sum(max(c * x, m * y) for c, m in arms)
                + sum(r * z for r, z in zip(rates, overheads, strict=True))
                + fixed
            )
            / measured
            - 1
        )
        ** 2
        for measured, arms, rates, fixed in table
    )


def best(table, least, held):
    """The least loss: in each regime and on each cut, with every set of free parameters, the normal equations in fractions."""
    cuts = sorted({c / m for _, arms, _, _ in table for c, m in arms if c and m})
    inner = [*((a + b) / 2 for a, b in itertools.pairwise(cuts)), cuts[0] / 2, cuts[-1] * 2]
    goal = [1 - fixed / measured for measured, _, _, fixed in table]
    found = []
    for ratio, on_cut in [*((r, False) for r in inner), *((c, True) for c in cuts)]:
        rows = [
            [
                sum(c for c, m in arms if c > ratio * m) / measured,
                sum(m for c, m in arms if c <= ratio * m) / measured,
                *(rate / measured for rate in rates),
            ]
            for measured, arms, rates, _ in table
        ]
        for free in itertools.product((True, False), repeat=len(least)):
            if any(free[i] for i in held) or (on_cut and free[0] != free[1]):
                continue
            point, moves = list(least), [k for k in range(len(least)) if free[k]]
            if on_cut and not free[0]:
                x = max(least[0], least[1] / ratio)
                x = least[0] if 0 in held else least[1] / ratio if 1 in held else x
                point[:2] = x, ratio * x
            columns = [[row[k] for row in rows] for k in moves]
            if on_cut and free[0]:  # y = ratio*x: one unknown for both
                columns[:2] = [[row[0] + ratio * row[1] for row in rows]]
            rest = [
                g - sum(row[k] * point[k] for k in range(len(least)) if not free[k])
                for g, row in zip(goal, rows, strict=True)
            ]
            answer = solved(columns, rest)
            if answer is None:
                continue
            if on_cut and free[0]:
                answer[:1] = answer[0], ratio * answer[0]
            for k, value in zip(moves, answer, strict=True):
                point[k] = value
            stays = all(point[i] == least[i] for i in held)
            if stays and all(x >= low for x, low in zip(point, least, strict=True)):
                found.append(loss(table, point))
    return min(found)


def solved(columns, rest):
    """Normal equations by Gauss; None where they have no single answer."""
    n = len(columns)
    table = [
        [sum(a * b for a, b in zip(p, q, strict=True)) for q in (*columns, rest)] for p in columns
    ]
    for i in range(n):
        pivot = next((k for k in range(i, n) if table[k][i]), None)
        if pivot is None:
            return None
        table[i], table[pivot] = table[pivot], table[i]
        table[i] = [x / table[i][i] for x in table[i]]
        for k in range(n):
            if k != i:
                table[k] = [x - table[k][i] * y for x, y in zip(table[k], table[i], strict=True)]
    return [row[n] for row in table]


SHAPES = [(4, 0, ()), (5, 1, ()), (4, 2, ()), (5, 1, (0,)), (5, 1, (1,)), (3, 1, (2,)), (7, 0, ())]


@pytest.mark.parametrize(("rows", "overheads", "held"), SHAPES, ids=str)
def test_the_fit_is_the_best_there_is(rows, overheads, held):
    for seed in range(6):
        table, least, _ = drawn(seed, rows, overheads, held=held)
        problem = as_problem(table, least, held)
        point, lowest = solve(problem), best(table, least, held)
        assert squares(problem, point) == pytest.approx(float(lowest), rel=1e-9, abs=1e-12)
        exact = loss(table, [Fraction(float(x)) for x in point])
        assert squares(problem, point) == pytest.approx(float(exact), rel=1e-9, abs=1e-12)
        assert (point >= problem.least).all()
        assert (point[problem.held] == problem.least[problem.held]).all()


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("scale", [1.0, 1e-9])
def test_times_without_noise_are_met_to_the_last_digits(seed, scale):
    """x = 7/4, y = 5/4 and overheads of 1/2, in seconds or nanoseconds."""
    table, least, held = drawn(seed, 9, 2, arms=3, whole=True)
    table = [
        (t * Fraction(scale), [(c * Fraction(scale), m * Fraction(scale)) for c, m in arms], r, f * Fraction(scale))
        for t, arms, r, f in table
    ]  # fmt: skip
    x, y, *overheads = solve(as_problem(table, least, held))
    assert [x, y] == pytest.approx([1.75, 1.25], rel=1e-10)
    assert overheads == pytest.approx([0.5 * scale, 0.5 * scale], rel=1e-10)


def test_rows_of_one_arm_leave_the_other_at_its_bound():
    """No row has memory: no cut at all."""
    table = [(Fraction(2 * k), [(Fraction(k), Fraction(0))], [], Fraction(0)) for k in (1, 2, 3)]
    assert solve(as_problem(table, [Fraction(1), Fraction(1)], ())) == pytest.approx([2, 1])


def test_the_times_of_a_point_by_hand():
    first = (Fraction(1), [(Fraction(2), Fraction(3)), (Fraction(1), Fraction(4))], [Fraction(5)], Fraction(1, 2))  # fmt: skip
    second = (Fraction(4), [(Fraction(6), Fraction(1))], [Fraction(0)], Fraction(2))
    problem = as_problem([first, second], [Fraction(1), Fraction(1), Fraction(0)], ())
    point = np.array([2.0, 1.5, 0.1])
    assert times(problem, point).tolist() == [max(4, 4.5) + max(2, 6) + 0.5 + 0.5, 12 + 2]
    assert squares(problem, point) == pytest.approx(10.5**2 + 2.5**2)


PRINTED = [(0.95, 1, 12.706), (0.95, 5, 2.571), (0.95, 30, 2.042), (0.99, 4, 4.604), (0.8, 7, 1.415), (0.999, 1, 636.62)]  # fmt: skip


@pytest.mark.parametrize(("level", "freedom", "t"), PRINTED)
def test_quantiles_are_those_of_the_printed_table(level, freedom, t):
    """Fisher and Yates, Statistical Tables, table III."""
    assert t_quantile(level, freedom) == pytest.approx(t, rel=3e-4)
    assert t_probability(t_quantile(level, freedom), freedom) == pytest.approx(level, rel=1e-12)
