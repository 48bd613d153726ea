"""The search for a fixed point against lines that are solved by hand, and the largest number that qualifies against counting."""

import random
from fractions import Fraction

import pytest

from symroof.api import Study
from symroof.formula.dual import Dual
from symroof.formula.evaluate import NoValue, UndefinedValue
from symroof.theory import case as case_module
from symroof.theory.quantity import ImplicitDefinition
from symroof.theory.search import (
    DIGITS,
    fixed_point,
    largest_whole_number,
    slope,
    slope_of_fixed_point,
)


@pytest.mark.parametrize(
    ("body", "high", "root"),
    [
        pytest.param(lambda x: 3 / (1 + x), 10, lambda x: x * x + x - 3, id="falls"),
        pytest.param(
            lambda x: 3 - 12 / (x + 6), 10, lambda x: x * x + 3 * x - 6, id="rises ever less"
        ),
        pytest.param(lambda x: x * x / 8 + 1, 4, lambda x: 8 * x - x * x - 8, id="rises ever more"),
        pytest.param(
            lambda x: 1 + x**3 / 30, 3, lambda x: 30 * x - x**3 - 30, id="rises as a cube"
        ),
        pytest.param(
            lambda x: 3 - 12 / (x + 6),
            10**12,
            lambda x: x * x + 3 * x - 6,
            id="far below the largest",
        ),
        pytest.param(
            lambda x: (3 - 12 / (x * 10**9 + 6)) / 10**9,
            Fraction(1, 10**8),
            lambda x: (x * 10**9) ** 2 + 3 * x * 10**9 - 6,
            id="tiny",
        ),
    ],
)
def test_an_irrational_fixed_point_is_close_and_soon_there(body, high, root):
    """It comes within the digits that are asked for, and the search ends then: a body may be a whole step of a server."""
    calls = []

    def counted(x):
        calls.append(x)
        return body(x)

    found = fixed_point(counted, Fraction(high))
    near = 20 * high * DIGITS
    assert root(found - near) < 0 < root(found + near)
    assert len(calls) <= 14


@pytest.mark.parametrize(
    ("body", "most_looks"),
    [
        pytest.param(
            lambda x: Fraction(13, 100) + Fraction(43, 50) * Fraction(int(5 * x), 5),
            8,
            id="stairs, over which secants alone creep",
        ),
        pytest.param(lambda x: Fraction(8, 25) + x**40 / 2, 5, id="all but level, then steep"),
    ],
)
def test_secants_and_halvings_take_turns(body, most_looks):
    asked = []
    found = fixed_point(lambda x: (asked.append(x), body(x))[1], Fraction(1))
    assert abs(body(found) - found) <= DIGITS and len(asked) <= most_looks


@pytest.mark.parametrize(
    ("body", "looks"),
    [
        (lambda x: 1 + x / 4, [0, 10, Fraction(4, 3)]),  # a secant of one line meets it exactly
        # secants of the last two looks: (0, 3) and (10, -4); (30/7, -8/7) and (0, 3); (90/29, -3/29) and (30/7, -8/7); and of the two beside 3, on one line
        (
            lambda x: max(Fraction(3), 1 + x / 2),
            [0, 10, Fraction(30, 7), Fraction(90, 29), Fraction(630, 211), 3],
        ),
        # (0, 1) and (10, -6) lead to (10/7, 17/7), which is further off: the middle of it and 10, (40/7, -12/7); (800/203, 12/203); the line 4 - x
        (
            lambda x: min(Fraction(4), 1 + 2 * x),
            [0, 10, Fraction(10, 7), Fraction(40, 7), Fraction(800, 203), 4],
        ),
    ],
)
def test_where_a_search_looks(body, looks):
    asked = []

    def counted(x):
        asked.append(x)
        return body(x)

    assert fixed_point(counted, Fraction(10)) == looks[-1]
    assert asked == looks


@pytest.mark.sample(5)
@pytest.mark.parametrize("seed", range(30))
def test_where_lines_meet_the_diagonal(seed):
    """The largest of rising lines ``b + c x`` meets ``x`` where the last of them does, the smallest where the first does: at ``b/(1 - c)``."""
    draw = random.Random(seed)
    lines = [
        (Fraction(draw.randint(1, 9)), Fraction(draw.randint(0, 7), 8))
        for _ in range(draw.randint(1, 3))
    ]
    meets = [b / (1 - c) for b, c in lines]
    for pick in (max, min):
        root, body = pick(meets), lambda x, pick=pick: pick(b + c * x for b, c in lines)
        assert fixed_point(body, 100 * root) == pytest.approx(root, rel=1e-20)
        assert fixed_point(body, root) == root
        assert fixed_point(body, root - Fraction(1, 10)) == root - Fraction(1, 10)
    assert (
        fixed_point(lambda x: lines[0][0] + lines[0][1] * x, 100 * meets[0]) == meets[0]
    )  # one line: exactly
    assert fixed_point(lambda x: Fraction(0), meets[0]) == 0


@pytest.mark.parametrize(
    "high", [Fraction(0), Fraction(1), Fraction(4), Fraction(9, 2), Fraction(7)]
)
def test_the_largest_that_qualifies_is_that_of_counting(high):
    """Numbers up to ``last`` qualify; below ``first`` there is no value."""
    for first in range(9):
        for last in range(9):

            def meets(n, first=first, last=last):
                assert n.denominator == 1
                if n < first:
                    raise NoValue("a server that does not keep up")
                return int(n <= last)

            expected = max((n for n in range(max(first, 1), int(high) + 1) if n <= last), default=0)
            assert largest_whole_number(meets, high) == expected, (first, last)


def test_an_input_that_is_missing_is_missing():
    def meets(n):
        raise UndefinedValue("batch")

    with pytest.raises(UndefinedValue):
        largest_whole_number(meets, Fraction(4))


def test_the_slope_of_a_fixed_point():
    """``x = 3 + x/4 + 5 y`` is ``x = (3 + 5 y)/(3/4)``: at y = 3 it is 24 and grows by 20/3 for one of y; ``x = x`` has none."""

    def body(x, y):
        return 3 + x * Fraction(1, 4) + y * 5

    own, by = (
        slope(body(Dual(Fraction(24), Fraction(1)), 3)),
        slope(body(Fraction(24), Dual(Fraction(3), Fraction(1)))),
    )
    fixed = slope_of_fixed_point(Fraction(24), own, by)
    assert (fixed.value, fixed.slope) == (24, Fraction(20, 3))
    assert (
        slope_of_fixed_point(Fraction(24), slope(Fraction(24)), slope(24)).slope == 0
    )  # nothing moves a number
    with pytest.raises(NoValue, match="no slope"):
        slope_of_fixed_point(Fraction(1), slope(Dual(Fraction(1), Fraction(1))), Fraction(0))


def test_a_search_is_said_with_its_largest_value():
    own, other = (
        ImplicitDefinition("fixed_point", "batch", "load*batch", "batch"),
        ImplicitDefinition("fixed_point", "batch", "load*batch", "concurrency"),
    )
    assert str(own) == "the batch at which batch = load*batch, at most the case's batch"
    assert str(other) == "the batch at which batch = load*batch, at most concurrency"
    assert (own.required_names, other.required_names) == (("load",), ("load", "concurrency"))


def test_a_fixed_point_is_searched_once_for_all_slopes(monkeypatch):
    """Inputs that are set, those at a default and those with a formula: each slope is that of a small step, and no search is made anew for it."""
    study = Study(
        "llama-3-8b",
        "h100-sxm",
        prompt=500,
        output=100,
        batch=32,
        mfu="0.5",
        mbu="0.7",
        arrival_rate="5 request/s",
    )
    case = study.first.case
    busy, searches, search = case.value("steady_batch"), [], case_module.fixed_point
    monkeypatch.setattr(
        case_module, "fixed_point", lambda *args: (searches.append(args), search(*args))[1]
    )
    slopes = {
        by: case.slope("steady_batch", by)
        for by in ("arrival_rate", "mbu", "weight_bytes_per_param", "output_spread")
    }
    assert not searches
    for by, slope_here in slopes.items():
        step = max(abs(case.value(by)), Fraction(1)) / 10**9
        moved = case.changed({by: case.value(by) + step}).value("steady_batch")
        assert abs((moved - busy) / step - slope_here) <= abs(slope_here) / 10**6


STEP = Fraction(1, 10**8)


@pytest.mark.full
@pytest.mark.parametrize("model", ["llama-3-8b", "gpt-oss-20b"])
def test_elasticities_together_are_those_of_small_steps(model):
    """Of windows, experts, steps with few and many prompts, and a batch that is searched. What counts nothing is worked out at once."""
    together = (
        "mfu",
        "mbu",
        "price",
        "arrival_rate",
        "peak_flops",
        "kv_bytes_per_element",
        "step_overhead",
        "link_bandwidth",
        "output_spread",
    )
    work = {
        "prompt": 1500,
        "output": 100,
        "batch": 32,
        "chunk": 400,
        "tp": 2,
        "arrival_rate": "2 request/s",
        "output_spread": "0.5",
    }
    case = Study(
        model, "h100-sxm", **work, mfu="0.5", mbu="0.7", step_overhead="1 ms", price=1
    ).first.case
    for name in ("loaded_ttft", "sustained_itl"):
        found = case.elasticities(name, ("prompt", *together, "output"))
        assert found.keys() == {*together, "output", "prompt"} and found["price"] == 0
        for by, elasticity in found.items():
            low, high = (
                case.changed({by: case.value(by) * (1 + way * STEP)}).value(name) for way in (-1, 1)
            )
            assert float((high - low) / (2 * STEP * case.value(name))) == pytest.approx(
                float(elasticity), abs=1e-9
            ), by
