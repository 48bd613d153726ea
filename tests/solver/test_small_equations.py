"""Equations of a few small numbers, drawn at random, against a grid of exact values: every place, every side, every condition.

Nothing of the solver is used to check it: a formula is its text in Python, with fractions. Zeros and jumps lie at small fractions, so most are on the grid.
"""

import math
import operator
import random
from fractions import Fraction
from functools import cache
from itertools import pairwise, product

import numpy as np
import pytest

from symroof.formula.evaluate import NoValue, evaluate
from symroof.formula.parse import parse
from symroof.formula.text import text
from symroof.formula.tree import mentions
from symroof.solver.crossing import crossing
from symroof.solver.roots import positive_roots

pytestmark = pytest.mark.full

HOLDS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
GRID = [Fraction(n, 12) for n in range(1, 12 * 12 + 1)]
NEAR = Fraction(1, 10**9)
PYTHON = {"max": max, "min": min, "ceil": math.ceil, "floor": math.floor}


class Numbers(dict):
    def value(self, name):
        return Fraction(self[name])


def term(draw, depth):
    """A formula in x: a line, a product, a quotient, a maximum, a rounding."""
    kind = (
        draw.choice(["line", "line", "line", "product", "quotient", "max", "min", "ceil", "floor"])
        if depth
        else "line"
    )
    a, b, c = (draw.randint(1, 6) for _ in range(3))
    match kind:
        case "line":
            return draw.choice(
                [
                    f"({a}*x + {b})",
                    f"({a}*x - {b})",
                    f"({b} - {a}*x)",
                    f"({a})",
                    f"(x/{a})",
                    f"({a}*x)",
                ]
            )
        case "product":
            return f"{term(draw, 0)}*{term(draw, depth - 1)}"
        case "quotient":
            return (
                f"{term(draw, 0)}/(x + {c})"
                if draw.random() < 0.6
                else f"{term(draw, 0)}/(x - {c})"
            )
        case "max" | "min":
            return f"{kind}({term(draw, depth - 1)}, {term(draw, 0)})"
    return f"{kind}(x/{a})"


@cache
def gap_at(source, x):
    """The difference of the sides; None where it has no value."""
    try:
        return eval(compiled(source), dict(PYTHON), {"x": x})  # the test's own text
    except ZeroDivisionError:
        return None


@cache
def compiled(source):
    return compile(source, "equation", "eval")


def side_at(source, x):
    value = gap_at(source, x)
    return None if value is None else (value > 0) - (value < 0)


def flies(source, low, high):
    """Whether the sides fly apart between two points: the difference grows without end towards one in between."""
    for _ in range(40):
        middle = (low + high) / 2
        if side_at(source, middle) is None:
            return True
        low, high = (
            (middle, high) if side_at(source, middle) == side_at(source, low) else (low, middle)
        )
    return abs(gap_at(source, low)) > 10**6


def draw_equation(seed):
    draw = random.Random(seed)
    while True:
        source = f"{term(draw, 2)} - {term(draw, 1)}"
        if "x" in source:
            return (
                source,
                draw.choice([None, None, None, Fraction(draw.randint(2, 9))]),
                draw.choice([Fraction(0), Fraction(0), Fraction(draw.randint(1, 3), 2)]),
            )


@pytest.mark.parametrize("block", range(12))
def test_small_equations_against_a_grid(block):
    """Twelve times twenty equations."""
    for seed in range(20 * block, 20 * block + 20):
        source, high, low = draw_equation(seed)
        if high is not None and low >= high:
            continue
        tree = parse(source)
        found = crossing(
            tree, "x", lambda node, at: evaluate(node, Numbers(at)), low=low, high=high
        )
        label = f"{source} for x in ({low}, {high}]: {found.verdict} {found.method} {[float(v) for v in found.values]}"
        inside = [x for x in GRID if x > low and (high is None or x <= high)]
        check_grid(source, found, inside, label)
        check_values(source, found, low, high, label)
        check_branches(source, found, label)


def check_grid(source, found, inside, label):
    """Where the sides change over there is a value, unless they have none in between; where they do not, none."""
    signs = [side_at(source, x) for x in inside]
    for (a, before), (b, after) in pairwise(zip(inside, signs, strict=True)):
        if (
            before is not None
            and after is not None
            and before * after < 0
            and not any(a - NEAR <= v <= b + NEAR for v in found.values)
        ):
            assert flies(source, a, b), f"{label}\nfrom {a} to {b}"
    scanned = found.method == "numeric"  # between the points of a scan the sides may touch
    known = {
        sign
        for x, sign in zip(inside, signs, strict=True)
        if sign is not None and (found.domain[1] is None or x < found.domain[1])
    }
    if found.verdict == "lhs_above":
        assert known - ({0} if scanned else set()) == {1}, label
    elif found.verdict == "lhs_below":
        assert known - ({0} if scanned else set()) == {-1}, label
    elif found.verdict == "identical":
        assert known == {0}, label
    else:
        assert found.verdict == "crosses" and found.values, label
    for x, before, here, after in (
        () if scanned else zip(inside[1:], signs, signs[1:], signs[2:], strict=False)
    ):
        if here == 0 and before != 0 and after != 0:
            assert any(abs(v - x) < NEAR for v in found.values), f"{label}\nzero at {x}"


def check_values(source, found, low, high, label):
    """Each value is inside, is a zero or a change of side; no two are one, and they are in order."""
    assert list(found.values) == sorted(set(found.values)), label
    for v in found.values:
        assert v > low or (found.method == "numeric" and v == low), label
        assert high is None or v <= high, label
        around = [side_at(source, x) for x in (v * (1 - NEAR), v, v * (1 + NEAR))]
        assert around[1] == 0 or around[0] != around[2], f"{label}\n{v} is no crossing"


def check_branches(source, found, label):
    """A closed form that holds is its value, meets all its conditions, and one that does not fails one of them or lies elsewhere."""
    for branch in found.branches:
        if branch.closed_form is None:
            continue
        assert not mentions(branch.closed_form, "x"), label
        try:
            value = evaluate(branch.closed_form, Numbers())
        except NoValue:
            assert not branch.holds, label
            continue
        if branch.holds:
            assert abs(value - branch.value) <= abs(value) * Fraction(1, 10**25), (
                f"{label}\n{text(branch.closed_form)}"
            )
            assert any(abs(value - v) <= abs(value) * Fraction(1, 10**25) for v in found.values), (
                label
            )
            assert all(condition.holds for condition in branch.conditions), label
        point = branch.value if branch.value is not None else value
        for condition in branch.conditions:
            tree, at = condition.tree, Numbers(x=point)
            if condition.holds is None or (
                point <= 0 and (mentions(tree.left, "x") or mentions(tree.right, "x"))
            ):
                continue
            left, right = evaluate(tree.left, at), evaluate(tree.right, at)
            if abs(left - right) > NEAR:
                assert HOLDS[tree.operator](left, right) is condition.holds, (
                    f"{label}\n{text(tree)}"
                )


def test_polynomials_of_small_coefficients_against_numpy():
    """All of degree one and two with coefficients from -3 to 3, and some of degree three and four; shifted by a power of the unknown as well."""
    every = [
        *product(range(-3, 4), repeat=3),
        *(tuple(random.Random(n).randint(-5, 5) for _ in range(5)) for n in range(60)),
    ]
    for coefficients in every:
        p = {power: Fraction(c) for power, c in enumerate(reversed(coefficients))}
        expected = (
            sorted(
                {
                    round(float(root.real), 4)
                    for root in np.roots(coefficients)
                    if abs(root.imag) < 1e-6 and root.real > 1e-6
                }
            )
            if any(coefficients)
            else []
        )
        found = positive_roots(p)
        assert [round(float(root), 4) for root in found] == expected, coefficients
        assert all(
            abs(sum(c * root**power for power, c in p.items())) < Fraction(1, 10**30)
            for root in found
        ), coefficients
        assert positive_roots({power + 2: c for power, c in p.items()}) == found, coefficients
        low, high = Fraction(1, 2), Fraction(2)
        assert positive_roots(p, low, high) == [root for root in found if low < root < high], (
            coefficients
        )
        assert positive_roots(p, low) == [root for root in found if root > low], coefficients
