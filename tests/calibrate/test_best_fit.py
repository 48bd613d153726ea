"""The fit of least squares against an enumeration in exact fractions: every regime, every set of parameters at their bounds, on small problems of every shape."""

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
        ends = [
            draw.choice(((1, 1), (1, 1), (1, 1), (1, 1), (1, 1), (1, 0), (0, 1)))
            for _ in range(draw.randint(1, arms))
        ]
        pairs = [(number(1, 6) * compute, number(1, 6) * memory) for compute, memory in ends]
        rates = [number(0, 3) for _ in range(overheads)]
        true = (
            sum(max(c * Fraction(7, 4), m * Fraction(5, 4)) for c, m in pairs)
            + sum(r * Fraction(1, 2) for r in rates)
            + 1
        )
        table.append(
            (
                true * (1 if whole else Fraction(draw.randint(60, 150), 100)),
                pairs,
                rates,
                Fraction(1, 2),
            )
        )
    least = [
        Fraction(9, 4) if 0 in held else Fraction(1),
        Fraction(3, 2) if 1 in held else Fraction(1),
        *[Fraction(0)] * overheads,
    ]
    return table, least, [i in held for i in range(2 + overheads)]


def as_problem(table, least, held):
    pairs = [(i, float(c), float(m)) for i, (_, arms, _, _) in enumerate(table) for c, m in arms]
    return LeastSquares(
        measured=np.array([float(row[0]) for row in table]), row=np.array([i for i, _, _ in pairs], dtype=np.intp), compute=np.array([c for _, c, _ in pairs]),
        memory=np.array([m for _, _, m in pairs]), rates=np.array([[float(r) for r in row[2]] for row in table]).reshape(len(table), len(least) - 2),
        fixed=np.array([float(row[3]) for row in table]), least=np.array([float(x) for x in least]), held=np.array(held),
    )  # fmt: skip


def loss(table, point):
    return sum(((sum(max(c * point[0], m * point[1]) for c, m in arms) + sum(r * z for r, z in zip(rates, point[2:], strict=True)) + fixed) / measured - 1) ** 2 for measured, arms, rates, fixed in table)  # fmt: skip


def best(table, least, held):
    """The least loss, and a point of it: in each regime and on each cut between two, with every set of free parameters, the normal equations in fractions."""
    cuts = sorted({c / m for _, arms, _, _ in table for c, m in arms if c and m})
    inner = (
        [Fraction(1)]
        if not cuts
        else [cuts[0] / 2, *((a + b) / 2 for a, b in itertools.pairwise(cuts)), cuts[-1] * 2]
    )
    found = []
    bounds = least
    for ratio, on_cut in [*((r, False) for r in inner), *((c, True) for c in cuts)]:
        rows = [
            [
                sum(c for c, m in arms if c > ratio * m),
                sum(m for c, m in arms if c <= ratio * m),
                *rates,
            ]
            for _, arms, rates, _ in table
        ]
        rows = [
            [x / measured for x in row] for row, (measured, *_) in zip(rows, table, strict=True)
        ]
        goal = [1 - fixed / measured for measured, _, _, fixed in table]
        for free in itertools.product(*((False,) if stays else (True, False) for stays in held)):
            least = bounds
            if on_cut and free[0] and free[1]:  # y = ratio*x: one unknown for both
                columns = [
                    [row[0] + ratio * row[1] for row in rows],
                    *([row[k] for row in rows] for k in range(2, len(least)) if free[k]),
                ]
                rest = [
                    g - sum(row[k] * least[k] for k in range(2, len(least)) if not free[k])
                    for g, row in zip(goal, rows, strict=True)
                ]
                answer = solved(columns, rest)
                point = (
                    None
                    if answer is None
                    else filled(least, free, [answer[0], ratio * answer[0], *answer[1:]])
                )
            elif on_cut and free[0] != free[1]:
                continue
            else:
                if on_cut:  # both stand where the larger of their bounds puts them
                    x = (
                        least[0]
                        if held[0]
                        else least[1] / ratio
                        if held[1]
                        else max(least[0], least[1] / ratio)
                    )
                    least = [x, ratio * x, *least[2:]]
                columns = [[row[k] for row in rows] for k in range(len(least)) if free[k]]
                rest = [
                    g - sum(row[k] * least[k] for k in range(len(least)) if not free[k])
                    for g, row in zip(goal, rows, strict=True)
                ]
                answer = solved(columns, rest)
                point = None if answer is None else filled(least, free, answer)
            if (
                point
                and all(x >= low for x, low in zip(point, bounds, strict=True))
                and all(
                    x == low for x, low, stays in zip(point, bounds, held, strict=True) if stays
                )
            ):
                found.append(
                    (loss(table, point), point)
                )  # the true loss there, whatever the regime: never below the least
    return min(found)


def filled(least, free, answer):
    values = iter(answer)
    return [next(values) if moves else low for low, moves in zip(least, free, strict=True)]


def solved(columns, rest):
    """Normal equations by Gauss; None where they have no single answer."""
    n = len(columns)
    table = [
        [sum(a * b for a, b in zip(p, q, strict=True)) for q in columns]
        + [sum(a * b for a, b in zip(p, rest, strict=True))]
        for p in columns
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


SHAPES = [
    (4, 0, ()),
    (5, 1, ()),
    (4, 2, ()),
    (5, 1, (0,)),
    (5, 1, (1,)),
    (5, 1, (0, 1)),
    (4, 0, (0,)),
    (3, 1, (2,)),
    (7, 0, ()),
]


@pytest.mark.parametrize(("rows", "overheads", "held"), SHAPES, ids=str)
def test_the_fit_is_the_best_there_is(rows, overheads, held):
    """Four problems of each shape; where a parameter stands at its bound, it stands there."""
    for seed in range(4):
        table, least, stays = drawn(seed, rows, overheads, held=held)
        problem = as_problem(table, least, stays)
        point, (lowest, exact) = solve(problem), best(table, least, stays)
        assert squares(problem, point) == pytest.approx(float(lowest), rel=1e-9, abs=1e-12)
        assert squares(problem, point) == pytest.approx(
            float(loss(table, [Fraction(float(x)) for x in point])), rel=1e-9, abs=1e-12
        )
        assert (point >= problem.least).all() and (
            point[problem.held] == problem.least[problem.held]
        ).all()
        if lowest:
            assert point == pytest.approx(
                [float(x) for x in exact], rel=1e-5, abs=1e-6
            ) or np.linalg.matrix_rank(problem.columns(point[1] / point[0])) < len(least)


@pytest.mark.parametrize("held", [(), (0,), (1,)], ids=str)
def test_the_best_point_may_lie_between_two_regimes(held):
    """Compute alone asks for one share, memory alone for another: among many problems some have their best where both arms of a row are equal, and some at a bound."""
    cuts = bounds = 0
    for seed in range(30 if not held else 40):
        table, least, stays = drawn(seed, 5 if not held else 3, 0, held=held)
        point = solve(as_problem(table, least, stays))
        cuts += any(
            c and m and abs(float(c / m) - point[1] / point[0]) < 1e-9
            for _, arms, _, _ in table
            for c, m in arms
        )
        bounds += any(
            x == low and not stays for x, low, stays in zip(point, least, stays, strict=True)
        )
        lowest, _ = best(table, least, stays)
        assert squares(as_problem(table, least, stays), point) == pytest.approx(
            float(lowest), rel=1e-9, abs=1e-12
        )
    assert cuts > 2 and bounds > 2


@pytest.mark.parametrize("seed", range(4))
def test_times_without_noise_are_met_to_the_last_digits(seed):
    """x = 7/4, y = 5/4 and overheads of 1/2, and half a second that is fixed and not the whole of the rest."""
    table, least, stays = drawn(seed, 9, 2, arms=3, whole=True)
    table = [
        (measured - Fraction(1, 2), arms, rates, fixed) for measured, arms, rates, fixed in table
    ]
    point = solve(as_problem(table, least, stays))
    assert point == pytest.approx([1.75, 1.25, 0.5, 0.5], rel=1e-11)


@pytest.mark.parametrize("scale", [1e-9, 1e6])
def test_the_unit_of_time_does_not_matter(scale):
    """Everything in nanoseconds or in days: the same shares, the overheads in the same unit."""
    table, least, stays = drawn(3, 6, 1)
    small = as_problem(table, least, stays)
    large = LeastSquares(
        small.measured * scale,
        small.row,
        small.compute * scale,
        small.memory * scale,
        small.rates,
        small.fixed * scale,
        small.least,
        small.held,
    )
    x, y, z = solve(small)
    assert solve(large) == pytest.approx([x, y, z * scale], rel=1e-7, abs=1e-9 * scale)


def test_rows_of_one_arm_leave_the_other_at_its_bound():
    """No row has memory, or none has compute: no cut at all."""
    table = [(Fraction(2 * k), [(Fraction(k), Fraction(0))], [], Fraction(0)) for k in (1, 2, 3)]
    assert solve(as_problem(table, [Fraction(1), Fraction(1)], [False, True])) == pytest.approx(
        [2, 1]
    )
    other = [(Fraction(3 * k), [(Fraction(0), Fraction(k))], [], Fraction(0)) for k in (1, 2, 3)]
    assert solve(as_problem(other, [Fraction(1), Fraction(1)], [True, False])) == pytest.approx(
        [1, 3]
    )


def test_the_times_of_a_point_by_hand():
    table = [
        (
            Fraction(1),
            [(Fraction(2), Fraction(3)), (Fraction(1), Fraction(4))],
            [Fraction(5)],
            Fraction(1, 2),
        ),
        (Fraction(4), [(Fraction(6), Fraction(1))], [Fraction(0)], Fraction(2)),
    ]
    problem = as_problem(table, [Fraction(1), Fraction(1), Fraction(0)], [False, False, False])
    assert times(problem, np.array([2.0, 1.5, 0.1])).tolist() == pytest.approx(
        [max(4, 4.5) + max(2, 6) + 0.5 + 0.5, 12 + 2]
    )
    assert squares(problem, np.array([2.0, 1.5, 0.1])) == pytest.approx(10.5**2 + 2.5**2)


@pytest.mark.parametrize(
    ("level", "freedom", "t"),
    [
        (0.5, 1, 1.0),
        (0.9, 2, 2.91999),
        (0.99, 3, 5.84091),
        (0.99, 4, 4.60409),
        (0.8, 7, 1.41492),
        (0.999, 1, 636.619),
        (0.95, 1000, 1.96234),
    ],
)
def test_quantiles_of_other_levels(level, freedom, t):
    """Fisher and Yates, Statistical Tables, table III."""
    assert t_quantile(level, freedom) == pytest.approx(t, rel=5e-6)
    assert t_probability(t_quantile(level, freedom), freedom) == pytest.approx(level, rel=1e-12)
