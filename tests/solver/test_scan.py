"""The scan of an axis, against loops over whole numbers and functions whose zeros are chosen."""

import math
from fractions import Fraction
from itertools import pairwise, product

import pytest

from symroof.formula.evaluate import NoValue
from symroof.formula.parse import parse
from symroof.solver.bracket import DIGITS, FEWER_DIGITS, ROUGHLY, halve, narrow, narrow_roughly
from symroof.solver.joint_search import Gap, run_search, search_together
from symroof.solver.scan import EVERY, LEAST, PER_DECADE, ScanAxis, crossings, dips, grid, scan

pytestmark = pytest.mark.full

COUNTED, REAL = parse("sum(step, step, 1, x)"), parse("sqrt(x) + 2^x")


def scanned(f, tree=COUNTED, low=0, high=None, rough=None):
    return scan(
        tree,
        "x",
        lambda _, at: Fraction(f(at["x"])),
        Fraction(low),
        high if high is None else Fraction(high),
        rough,
    )


def by_loop(f, high):
    """The whole numbers at which a function is zero, or the first after it has changed sides."""
    at = [f(n) for n in range(1, high + 1)]
    return [
        n for n in range(1, high + 1) if at[n - 1] == 0 or (n > 1 and at[n - 1] * at[n - 2] < 0)
    ]


@pytest.mark.parametrize("high", [2, 3, 7, 40, 1000])
@pytest.mark.parametrize("side", [1, -1])
def test_a_crossing_of_whole_numbers_is_where_a_loop_has_it_up_to_the_last_one(high, side):
    places = {
        Fraction(n) + shift
        for n in {1, 2, high // 2, high - 1, high, high + 1}
        if n > 0
        for shift in (0, Fraction(1, 2), Fraction(-1, 3))
    }
    for place in places:

        def f(n, place=place):
            return side * (n - place)

        found = scanned(f, low=1, high=high)
        assert list(found.values) == by_loop(f, high), place
        if not found.values:
            assert found.verdict == ("lhs_above" if f(1) > 0 else "lhs_below"), place


@pytest.mark.parametrize(
    "roots", [(3, 900), (1, 2), (17, 31), (998, 1000), (750, 752), (5, 250, 800)]
)
def test_several_crossings_of_whole_numbers_are_all_there(roots):
    """Neighbours on the grid have signs of their own; halves between whole numbers are passed, not met."""

    def f(n):
        return math.prod(n - root for root in roots)

    def passed(n):
        return math.prod(n - root + Fraction(1, 2) for root in roots)

    assert set(roots) <= set(by_loop(f, 1000))
    assert scanned(f, low=1, high=1000).values == tuple(by_loop(f, 1000))
    if all(b - a > 200 for a, b in pairwise(roots)):
        assert scanned(passed, low=1, high=1000).values == tuple(by_loop(passed, 1000))


@pytest.mark.parametrize("low", [0, 700])
def test_every_whole_number_up_to_a_thousand_is_looked_at_where_that_is_cheap(low):
    """Two changes of side beside each other, anywhere: between two points of the grid they hide without rough values."""
    for high in (None, 701, 1000, EVERY, 10**6):
        ends = Fraction(low), None if high is None else Fraction(high)
        axis = ScanAxis.of(*ends, whole=True, between=True)
        assert [point for point in axis.points if low <= point <= EVERY] == [
            *range(max(low, 1), min(high or EVERY, EVERY) + 1)
        ]
        assert tuple(axis.points[i] for i in axis.grid) == grid(
            *ends, True
        ) and axis.floats == tuple(map(float, axis.points))
    for place in (701, 754, 997, 1021):

        def f(n, place=place):
            return (n - place + Fraction(1, 2)) * (n - place - Fraction(1, 2))

        assert scanned(
            f, low=low, rough=lambda points, f=f: [float(f(point)) for point in points]
        ).values == (place, place + 1)


@pytest.mark.parametrize(
    ("low", "high"),
    [
        (0, None),
        (Fraction(1, 3), None),
        (Fraction(2, 7), Fraction(5, 7)),
        (3, 4),
        (Fraction(1, 10**6), 1),
        (5, 10**9),
    ],
)
def test_the_grid_goes_from_end_to_end_in_even_steps(low, high):
    points = grid(Fraction(low), high and Fraction(high), False)
    assert (points[0], points[-1]) == (low or Fraction(1, 10**15), high or 10**24)
    assert all(a < b for a, b in pairwise(points))
    steps = [float(b / a) for a, b in pairwise(points)]
    assert max(steps) / min(steps) < 1.0001
    assert (
        len(steps) == 2
        if points[-1] < 10 * points[0]
        else abs(PER_DECADE * math.log10(points[-1] / points[0]) - len(steps)) <= PER_DECADE
    )
    assert scanned(lambda x: 1, REAL, low=low, high=high).searched == (points[0], points[-1])


def test_a_crossing_near_the_least_of_an_axis_is_found():
    """At 1.5 of the least number that is looked at, 1e-15; below that nothing is looked at."""
    assert scanned(lambda x: x - Fraction(3, 2 * 10**15), REAL).values == (
        pytest.approx(Fraction(3, 2 * 10**15), rel=1e-12),
    )
    assert scanned(lambda x: x - Fraction(1, 2 * 10**15), REAL).verdict == "lhs_above"
    assert scanned(lambda x: 1, REAL).searched == (LEAST, 10**24)


def test_below_one_the_share_of_the_first_step_is_the_answer():
    """From -3 at none to 1 at one: three quarters of the first step. An axis that begins at one has no such answer."""
    assert scanned(lambda n: 4 * n - 3, high=50).values == (Fraction(3, 4),)
    assert scanned(lambda n: 4 * n - 3, low=1, high=50).values == ()
    assert scanned(lambda n: 4 * n - 4, high=50).values == (1,)
    assert scanned(lambda n: 3 - 4 * n, high=50).values == (Fraction(3, 4),)
    assert scanned(lambda n: 4 * n, high=50).verdict == "lhs_above"


def test_sides_that_are_the_same_everywhere_and_on_a_stretch():
    assert scanned(lambda n: 0, low=1, high=9).verdict == "identical"
    assert scanned(lambda x: max(0, x - 8), REAL, high=1000).values == (
        8,
    )  # from the beginning of the axis: that is no crossing
    assert scanned(lambda x: min(0, x - Fraction(22, 7)), REAL).values == (Fraction(22, 7),)
    assert scanned(lambda x: max(0, x - 50) + min(0, x - 3), REAL).values == (3, 50)
    assert scanned(lambda x: 0 if 3 <= x < 50 else 1, REAL).values == (3, 50)
    assert scanned(lambda n: max(0, n - 8), high=1000).values == (
        1,
        8,
    )  # whole numbers are those at which they are the same
    assert scanned(lambda n: 0 if 30 < n < 900 else 1, high=1000).values == (31, 899)
    assert scanned(lambda n: min(0, n - 300), high=1000).values == (300, 1000)


@pytest.mark.parametrize("with_rough", [False, True])
@pytest.mark.parametrize(
    ("f", "values"),
    [
        (lambda x: x - Fraction(7, 3), [Fraction(7, 3)]),
        (lambda x: x * x * x - 2, [2 ** Fraction(1, 3)]),
        (lambda x: (x - 1000) * (x - 1001), [1000, 1001]),
        (lambda x: math.floor(x / 7) - Fraction(5, 2), [21]),
        (lambda x: 10**20 - x, [10**20]),
        (lambda x: Fraction(1, 10**9) - x, [Fraction(1, 10**9)]),
        (lambda x: 1 / (x - 5) if x != 5 else math.inf, []),
        (lambda x: (x - 3) / (x - 5) if x != 5 else 1, [3]),
        (lambda x: x**3 + 1, []),
    ],
)
def test_zeros_jumps_and_poles(f, values, with_rough):
    """Where the sides jump past each other they meet at the jump; where they fly apart at a pole they do not."""
    rough = (
        (lambda points: [float(f(point)) if i % 3 else math.nan for i, point in enumerate(points)])
        if with_rough
        else None
    )
    found = scanned(f, REAL, rough=rough)
    assert len(found.values) == len(values)
    assert all(
        abs(value - Fraction(root))
        <= (1e-15 if isinstance(root, float) else 2 * DIGITS) * abs(root)
        for value, root in zip(found.values, values, strict=True)
    )
    assert found.verdict == (
        "crosses"
        if values
        else "lhs_above"
        if f(Fraction(10**6)) > 0 and f(Fraction(1)) > 0
        else "lhs_below"
    )


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("side", [1, -1])
def test_sides_that_fly_apart_on_one_side_alone_jump(turned, side):
    """At 5 a difference of -1, or none, jumps beyond every limit: it has changed over. Where there is no value on the other side it flies."""

    def jumps(x):
        x = 10 - x if turned and x < 10 else x
        return side * (-1 if x <= 5 else 1 / (x - 5))

    (value,) = scanned(jumps, REAL, high=9).values
    assert abs(value - 5) < 1e-15

    def begins(x):
        if x < 5 if turned else x > 5:
            raise NoValue("no steady state")
        return side * (1 / (x - 5) if x != 5 else -1)

    assert scanned(begins, REAL, high=9).values == ()


def test_a_jump_from_next_to_nothing_is_no_pole():
    """The difference vanishes but for a trillionth at a point of the grid, falls, and stands at one behind the jump: it is not large beside that one."""
    a, b = grid(Fraction(0), None, False)[124:126]
    jump = (a + b) / 2
    (value,) = scanned(
        lambda x: 1 if x > jump else a - x - Fraction(1, 10**12) if x >= a else -1, REAL
    ).values
    assert abs(value - jump) <= 2 * DIGITS * jump


@pytest.mark.parametrize(
    "f",
    [lambda x: x * x * x - 2, lambda x: x * x - x - 10**7, lambda x: 1 - 100 / x - 10 / (x * x)],
)
def test_a_smooth_crossing_takes_a_handful_of_exact_values(f):
    """Rough values bring both ends within a share of 1e-11; the ends, two secants with a point just beyond each, and one for a pole."""
    points = []
    made = scanned(
        lambda x: points.append(x) or f(x),
        REAL,
        rough=lambda asked: [float(f(float(point))) for point in asked],
    )
    assert len(made.values) == 1 and len(points) <= 7


@pytest.mark.parametrize(("low", "high"), [(0, 10), (Fraction(1, 3), 10), (2, 3)])
def test_the_ends_of_an_axis_are_looked_at(low, high):
    for end in (Fraction(low), Fraction(high)):
        if end:
            assert scanned(lambda x, end=end: x - end, REAL, low=low, high=high).values == (end,)
    inside, outside = (
        Fraction(high) * Fraction(999_999, 10**6),
        Fraction(high) * Fraction(1_000_001, 10**6),
    )
    assert scanned(lambda x: x - inside, REAL, low=low, high=high).values == (inside,)
    assert scanned(lambda x: x - outside, REAL, low=low, high=high).verdict == "lhs_below"
    assert scanned(lambda x: outside - x, REAL, low=low, high=high).verdict == "lhs_above"


def test_where_there_is_no_value_the_search_goes_on_beside_it():
    """A queue has a wait below its limit only: the crossing before it is one, and the search ends there."""

    def wait(x):
        if x >= 100:
            raise NoValue("no steady state")
        return x / (100 - x) - 4

    found = scanned(wait, REAL)
    assert found.values == (80,)
    assert 99 < found.searched[1] < 100

    def never(x):
        raise NoValue("none")

    with pytest.raises(NoValue, match="nowhere|anywhere"):
        scanned(never, REAL)


@pytest.mark.parametrize(
    ("place", "step", "whole"), [*product([1, 12, 977], [1, 7, 64], [True, False])]
)
def test_a_step_of_any_height_is_met_where_it_stands(place, step, whole):
    """Blocks: the sides change over between one multiple and the next number."""
    found = scanned(
        lambda x: math.ceil(x / step) - place - Fraction(1, 2),
        COUNTED if whole else REAL,
        low=1 if whole else 0,
        high=10**6,
    )
    (value,) = found.values
    assert value == place * step + 1 if whole else abs(value - place * step) <= 2 * DIGITS * value


@pytest.mark.parametrize("middle", [Fraction(5, 2), Fraction(9, 4), Fraction(2), Fraction(11, 4)])
@pytest.mark.parametrize("side", [1, -1])
def test_a_dip_between_points_of_one_sign_is_looked_into(middle, side):
    """Below zero for a tenth to both sides of the middle, which may lie halfway between two points of the same height."""

    def gap(x):
        return side * ((x - middle) ** 2 - Fraction(1, 100))

    points = [(Fraction(n), gap(Fraction(n))) for n in (1, 2, 3, 4) if Fraction(n) != middle]
    inside = run_search(dips(Gap(gap), points), None)
    assert inside and all(
        abs(point - middle) < Fraction(1, 10) and value == gap(point) for point, value in inside
    )


@pytest.mark.parametrize(
    "values",
    [
        (1, 2, 3, 4),
        (1, 3, 3, 1),
        (2, 2, 2, 2),
        (-2, -1, 1, 2),
        (2, 1, -1, -2),
        (3, 0, 3),
        (1, 2, 0, 0, 2, 1),
    ],
)
def test_where_nothing_comes_nearer_to_zero_than_beside_it_nothing_is_looked_into(values):
    """Slopes, humps, a level stretch, and where the sides have met or changed over anyway."""
    for listed in {values, values[::-1], tuple(-value for value in values)}:
        gap, calls = looked_at(lambda x: 1)
        assert (
            run_search(
                dips(gap, [(Fraction(n), Fraction(value)) for n, value in enumerate(listed)]), None
            )
            == calls
            == []
        )


@pytest.mark.parametrize("side", [1, -1])
@pytest.mark.parametrize("turned", [False, True])
def test_a_notch_beside_the_end_of_a_dip_is_looked_into(side, turned):
    """Flat but for a notch from 1.7 to 1.9, the last eighth of the stretch looked into, or the first; it passes zero at its bottom."""

    def gap(x):
        x = 2 - x if turned else x
        return side * min(
            Fraction(1, 2) + abs(x - 1) / 10, 6 * abs(x - Fraction(9, 5)) - Fraction(1, 20)
        )

    points = [(Fraction(n), gap(Fraction(n))) for n in (0, 1, 2)]
    inside = run_search(dips(Gap(gap), points), None)
    bottom = Fraction(1, 5) if turned else Fraction(9, 5)
    assert inside and all(
        abs(point - bottom) < Fraction(1, 120) and value == gap(point) for point, value in inside
    )


@pytest.mark.parametrize(
    "middle",
    [Fraction(9, 8), Fraction(9, 8) + Fraction(1, 1000), Fraction(9, 8) - Fraction(1, 1000)],
)
def test_a_dip_halfway_between_two_of_the_points_is_not_given_up(middle):
    """A quarter apart: at 1 and at 5/4 the difference is nearly the same, and it is below zero for 0.03 to both sides of the middle."""

    def gap(x):
        return (x - middle) ** 2 - Fraction(1, 1000)

    ((point, value),) = run_search(
        dips(Gap(gap), [(Fraction(n), gap(Fraction(n))) for n in (0, 1, 2)]), None
    )
    assert abs(point - middle) < Fraction(4, 100) and value == gap(point) < 0


@pytest.mark.parametrize(
    ("height", "looks"), [(1, 7), (Fraction(1, 5), 14), (Fraction(1, 10**30), 56)]
)
def test_a_dip_that_stays_far_from_zero_is_given_up(height, looks):
    """Seven points in the first turn: where it would have to fall ten times as far again, there is no second. What nearly touches is looked at
    until numbers of six digits do not tell the points apart: stretches of 2, 1/2, ... down to 2/4^7, whose eighths are 1.5e-5 long."""
    counted = []

    def gap(x):
        counted.append(x)
        return height + (x - 1) ** 2

    points = [(Fraction(n), height + (Fraction(n) - 1) ** 2) for n in (0, 1, 2)]
    assert run_search(dips(Gap(gap), points), None) == [] and len(counted) == looks


# ------------------------------------------------------------------------------------------------ brackets narrowed down

PLACE = Fraction(123_456_789, 1000)
"""Where the functions below pass zero, between 1 and a million."""
CURVES = {
    "a line": lambda x: x - PLACE,
    "ever steeper": lambda x: (x / PLACE) ** 9 - 1,
    "ever flatter": lambda x: 1 - (PLACE / x) ** 3,
    "nearly a step": lambda x: (x - PLACE) / (abs(x - PLACE) + Fraction(1, 1000)),
    "bends": lambda x: x - PLACE + max(x - 2 * PLACE, 0) * 10**6 + min(x - PLACE / 2, 0) * 10**3,
    "a step": lambda x: 1 if x > PLACE else -1,
}


def looked_at(f):
    """A gap that counts how often its exact value is asked for."""
    calls = []

    def exact(x):
        calls.append(x)
        return Fraction(f(x))

    return Gap(exact), calls


def narrowed_exactly(gap, low, high, before, whole):
    return narrow(gap, low, high, (low, high), before, whole)


def bracketed(rough, before, whole):
    """A bracket from 1 to a million as rough values narrow it; an exact value is none of its business."""

    def exact(x):
        raise AssertionError(f"looked at {x}")

    return run_search(
        narrow_roughly(Gap(exact, floats=True), Fraction(1), Fraction(10**6), before, whole),
        lambda points: [rough(Fraction(point)) for point in points],
    )


@pytest.mark.parametrize("name", CURVES)
@pytest.mark.parametrize("turned", [1, -1])
def test_a_bracket_is_narrowed_to_the_last_digit_in_few_looks(name, turned):
    """Bisection alone takes 115, and has to where there is no slope; a line takes its ends and the place. No point is looked at twice."""
    gap, calls = looked_at(lambda x: turned * CURVES[name](x))
    found = narrowed_exactly(gap, Fraction(1), Fraction(10**6), -turned, False)
    assert abs(found - PLACE) <= 2 * DIGITS * PLACE
    assert (
        len({*calls})
        == len(calls)
        <= {"a line": 3, "bends": 12, "nearly a step": 50, "a step": 115}.get(name, 25)
    )
    gap, calls = looked_at(lambda x: turned * CURVES[name](x))
    assert narrowed_exactly(gap, Fraction(1), Fraction(10**6), -turned, True) == 123_457
    assert len({*calls}) == len(calls) <= 34


@pytest.mark.parametrize(
    ("name", "digits", "looks"),
    [
        ("a line", DIGITS, 3),
        ("bends", DIGITS, 14),
        ("nearly a step", FEWER_DIGITS, 25),
        ("a step", FEWER_DIGITS, 25),
    ],
)
def test_a_crossing_that_only_shows_a_range_is_looked_at_less_often(name, digits, looks):
    """From a bracket as narrow as floats make it: a smooth one is met as well as ever, a step to twelve digits; whole numbers and plain ones just so."""
    for place, whole in ((PLACE, False), (PLACE, True), (Fraction(4096), False)):
        gap, calls = looked_at(lambda x, by=PLACE - place: CURVES[name](x + by))
        gap.thorough = False
        low, high = (
            (Fraction(math.floor(place)), Fraction(math.floor(place) + 1))
            if whole
            else (place * (1 - ROUGHLY), place * (1 + ROUGHLY / 3))
        )
        found = narrow(gap, Fraction(1), Fraction(10**6), (low, high), -1, whole)
        assert len(calls) <= looks
        assert (
            found == math.floor(place) + 1
            if whole
            else abs(found - place) <= 2 * (DIGITS if place == 4096 else digits) * place
        )


@pytest.mark.parametrize("end", [5, 10])
@pytest.mark.parametrize("bracket", [(4, 5), (5, 6), (1, 4), (6, 9)])
@pytest.mark.parametrize("whole", [False, True])
def test_a_bracket_that_ends_at_the_crossing_or_misses_it(bracket, end, whole):
    """Floats may put the end of a bracket right on the crossing, or mislead: the stretch it was made from has it all the same."""
    found = narrow(
        Gap(lambda x: x - 5), Fraction(1), Fraction(end), tuple(map(Fraction, bracket)), -1, whole
    )
    assert abs(found - 5) <= (0 if whole else 5 * DIGITS)


@pytest.mark.parametrize("last", [Fraction(1000), Fraction(2001, 2), Fraction(1, 3)])
@pytest.mark.parametrize("between", [0, None])
def test_a_stretch_between_the_sides_is_entered_where_it_begins(last, between):
    """Below up to a point, then equal or without a value as far as 900,000: of whole numbers the first beyond it; of any, one that is equal."""

    def exact(x):
        if last < x < 900_000 and between is None:
            raise NoValue("no steady state")
        return Fraction(-1 if x <= last else between if x < 900_000 else 1)

    found = [
        narrow(
            Gap(exact),
            Fraction(start),
            Fraction(10**6),
            (Fraction(start), Fraction(10**6)),
            -1,
            whole,
        )
        for start, whole in ((0, True), (0, False))
    ]
    assert found[0] == math.floor(last) + 1
    assert 0 < found[1] - last <= 2 * DIGITS * last if between is None else exact(found[1]) == 0


@pytest.mark.parametrize("name", CURVES)
@pytest.mark.parametrize("turned", [1, -1])
def test_rough_values_narrow_a_bracket_as_far_as_floats_go(name, turned):
    """Whole numbers down to neighbours, others to eleven digits, without one exact value; where floats do not show the sign they end."""

    def rough(x):
        return turned * float(CURVES[name](x))

    assert bracketed(rough, -turned, True) == (123_456, 123_457)
    low, high = bracketed(rough, -turned, False)
    assert low <= PLACE <= high and high - low < PLACE / 10**11
    low, high = bracketed(lambda x: math.nan if abs(x - PLACE) < 1 else rough(x), -turned, False)
    assert low < PLACE < high and high - low < 40
    assert low <= PLACE - 1 and high >= PLACE + 1


@pytest.mark.parametrize("place", [1.2345678e-9, 0.6789012345, 1.2345678901e12])
@pytest.mark.parametrize(
    ("below", "above"), [(0.001, 100), (0.001, 1000), (0.001, 1.0001), (0.9999, 1000)]
)
def test_rough_values_narrow_a_bracket_of_any_size(place, below, above):
    """From a share of the place to many times it: eleven digits of it, in 128 parts a turn; also where it lies in the first part or the last."""
    turns = []

    def rough(points):
        turns.append(len(points))
        return [float(point) - place for point in points]

    search = narrow_roughly(
        Gap(lambda x: x - Fraction(place), floats=True),
        Fraction(place * below),
        Fraction(place * above),
        -1,
        False,
    )
    low, high = run_search(search, rough)
    assert low < place < high and high - low <= Fraction(place) / 10**11
    assert len(turns) == math.ceil(math.log((above - below) * 10**11, 128))


@pytest.mark.parametrize("place", [Fraction(750), Fraction(2, 3), Fraction(123_456)])
@pytest.mark.parametrize("held", [True, False])
def test_a_jump_at_a_plain_number_takes_few_looks(place, held):
    """Where floats end, it is guessed, and what lies right beside it: the jump may be at the number or just behind it."""
    gap, calls = looked_at(lambda x: 1 if x > place or (x == place and held) else -1)
    found = narrowed_exactly(
        gap, place * (1 - Fraction(1, 10**13)), place * (1 + Fraction(3, 10**14)), -1, False
    )
    assert abs(found - place) <= DIGITS * place
    assert len(calls) <= 12


@pytest.mark.parametrize("place", [Fraction(1, 3), Fraction(7), Fraction(999_999, 2)])
def test_halving_meets_where_values_end(place):
    """Beyond the place there is no value: it is where the last one is, of whole numbers the first without one."""
    calls = []

    def exact(x):
        calls.append(x)
        if x > place:
            raise NoValue("no steady state")
        return Fraction(-1)

    found = halve(Gap(exact), Fraction(0), Fraction(10**6), -1, False)
    assert 0 <= found - place <= 2 * DIGITS * found
    assert len(calls) <= 140
    assert halve(Gap(exact), Fraction(0), Fraction(10**6), -1, True) == math.floor(place) + 1


def test_floats_that_mislead_make_no_crossing():
    """Far out, where terms cancel, floats may have the wrong sign at a point; exact values have the last word."""
    wrong = scanned(
        lambda x: x + 1,
        REAL,
        rough=lambda points: [
            -1.0 if 1e19 < point < 1e20 else float(point) + 1 for point in points
        ],
    )
    assert (wrong.verdict, wrong.values) == ("lhs_above", ())
    wrong = scanned(
        lambda n: n + 1,
        low=1,
        rough=lambda points: [-1.0 if point == 500 else float(point) + 1 for point in points],
    )
    assert (wrong.verdict, wrong.values) == ("lhs_above", ())


def test_where_floats_show_nothing_one_point_in_many_leads_to_the_crossing():
    """Between 1,000 and a billion floats are silent; the sides change over at 70,000, between two of the points looked at first."""
    looked_at = []

    def exact(point):
        looked_at.append(point)
        return point - 70_000

    def rough(points):
        return [math.nan if 1e3 < point < 1e9 else float(point) - 70_000 for point in points]

    for thorough in (True, False):
        looked_at.clear()
        answer = run_search(crossings(Gap(exact, True, thorough), Fraction(0), None, False), rough)
        assert answer.values == (70_000,)
        assert (len(looked_at) > 48) == thorough


def test_where_floats_show_nothing_few_points_show_that_there_is_no_value():
    """From 20,000 on a sum has too many terms: of 160 points there, one in eight is asked, and all beside the last with a value."""
    asked = []

    def exact(point):
        asked.append(point)
        if point > 20_000:
            raise NoValue("too many terms")
        return point - 5

    rough = [
        lambda points: [math.nan if point > 20_000 else float(point) - 5 for point in points],
        lambda points: [math.nan] * len(points),
    ]
    for floats, most in zip(rough, (60, 120), strict=True):
        asked.clear()
        assert run_search(crossings(Gap(exact, True), Fraction(1), None, False), floats).values == (
            5,
        )
        assert len([point for point in asked if point > 20_000]) < most


def test_a_side_that_a_pole_turns_is_the_larger_one_up_to_the_pole():
    """24/(x - 6) is below x + 1 before 6 and above it just behind: no crossing up to 6, where the verdict ends."""

    def gap(x, place):
        if x == place:
            raise NoValue("division by zero")
        return 24 / (x - place) - x - 1

    found = scanned(lambda x: gap(x, 6), REAL, high=8)
    assert (found.verdict, found.values) == ("lhs_below", ())
    assert 6 / 10 ** (2 / PER_DECADE) < found.searched[1] < found.domain[1] and abs(
        found.domain[1] - 6
    ) < Fraction(1, 10**20)
    two = scanned(lambda x: gap(x, Fraction(7, 2)) * gap(x, Fraction(13, 2)), REAL, high=7)
    assert two.verdict == "lhs_above" and abs(two.domain[1] - Fraction(7, 2)) < Fraction(1, 10**20)


def test_searches_together_ask_at_once_and_find_what_each_finds_alone():
    turns = []

    def rough(points):
        turns.append(len(points))
        return [float(point) for point in points]

    def search(places):
        total = 0
        for place in places:
            values = yield [place] * 3
            total += sum(values)
        return total

    searches = [[1], [2, 3, 4], [], [5, 6]]
    assert run_search(search_together(search(places) for places in searches), rough) == [
        3 * sum(places) for places in searches
    ]
    assert turns == [9, 6, 3]
