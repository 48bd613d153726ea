"""Formulas over awkward grids, each point against Python's own fractions: wide and mixed scales, differences, multiples of a block, NaN, Fortran order."""

import math
from fractions import Fraction

import numpy as np
import pytest
from sympy import Max, Min, ceiling, floor

import symroof as sr
from symroof.symbols import batch, prompt

pytestmark = pytest.mark.full

FORMULAS = {
    batch - prompt: lambda b, p: b - p,
    7 - Min(batch, prompt): lambda b, p: 7 - min(b, p),
    Max(batch - prompt, 0): lambda b, p: max(b - p, 0),
    Min(batch - 2 * prompt, prompt - batch, 3): lambda b, p: min(b - 2 * p, p - b, 3),
    ceiling(prompt / 16): lambda b, p: math.ceil(p / 16),
    ceiling(prompt / batch) - floor(prompt / batch): lambda b, p: (
        math.ceil(p / b) - math.floor(p / b)
    ),
    floor((prompt + batch) / 7) * 7 - batch: lambda b, p: math.floor((p + b) / 7) * 7 - b,
    batch**3 - 3 * batch * prompt: lambda b, p: b**3 - 3 * b * p,
    (batch - prompt) / (batch + prompt): lambda b, p: (b - p) / (b + p),
    Max(prompt, 100) / Min(batch, 9) + prompt / batch: lambda b, p: (
        max(p, 100) / min(b, Fraction(9)) + p / b
    ),
}
BATCHES = [1, 2, 3, 7, 16, 49, 1000, 2**20 + 1, 10**11]
PROMPTS = [1, 15, 16, 17, 48, 49, 98, 4096, 10**6 + 1, 10**11]


@pytest.fixture(scope="module")
def compiled():
    functions = [sr.compile(formula, inputs=[batch, prompt]) for formula in FORMULAS]
    return lambda *columns: [function(*columns) for function in functions]


def exact(batches, prompts):
    """One table a formula, worked out point by point."""
    return [
        np.array([[float(f(Fraction(b), Fraction(p))) for p in prompts] for b in batches])
        for f in FORMULAS.values()
    ]


def agree(found, expected):
    for written, one, other in zip(FORMULAS, found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=0, err_msg=str(written))


def test_a_wide_grid(compiled):
    """Eleven decades by eleven; every multiple of a block is one, and a difference of neighbours keeps its sign."""
    agree(
        compiled(np.array(BATCHES, float)[:, None], np.array(PROMPTS, float)[None, :]),
        exact(BATCHES, PROMPTS),
    )


@pytest.mark.parametrize("order", ["C", "F"])
def test_full_tables_in_either_order_of_memory(compiled, order):
    batches, prompts = np.meshgrid(
        np.array(BATCHES, float), np.array(PROMPTS, float), indexing="ij"
    )
    agree(
        compiled(np.asarray(batches, order=order), np.asarray(prompts, order=order)),
        exact(BATCHES, PROMPTS),
    )
    agree(
        compiled(np.asarray(batches, order=order)[::-1], np.asarray(prompts, order=order)[::-1]),
        [table[::-1] for table in exact(BATCHES, PROMPTS)],
    )


def test_a_point_without_a_number_leaves_its_neighbours_alone(compiled):
    """NaN in any column is NaN in what depends on it, at that point, and the last digits beside it stay."""
    expected = exact(BATCHES, PROMPTS)
    for hole in range(len(PROMPTS)):
        prompts = np.array(PROMPTS, float)
        prompts[hole] = np.nan
        found = compiled(np.array(BATCHES, float)[:, None], prompts[None, :])
        rest = [i for i in range(len(PROMPTS)) if i != hole]
        agree([one[:, rest] for one in found], [table[:, rest] for table in expected])
        assert all(np.isnan(one[:, hole]).all() for one in found)


def test_single_points_and_columns_of_one(compiled):
    for b, p in ((3, 17), (10**11, 1), (16, 16)):
        expected = exact([b], [p])
        agree([np.reshape(one, (1, 1)) for one in compiled(float(b), float(p))], expected)
        agree(
            [
                np.reshape(one, (1, 1))
                for one in compiled(np.array([float(b)]), np.array([float(p)]))
            ],
            expected,
        )


@pytest.mark.parametrize("size", [1, 2, 1023, 1024, 1025, 40_001])
def test_long_columns_are_their_parts(compiled, size):
    """Whatever is worked out block by block: a column in one call is its first and last points in calls of their own."""
    batches, prompts = 1.0 + np.arange(size) % 97, 1.0 + (np.arange(size) * 7919) % 5003
    whole = compiled(batches, prompts)
    for part in (
        slice(0, 5),
        slice(max(size // 2 - 2, 0), size // 2 + 3),
        slice(max(size - 5, 0), size),
    ):
        for one, other in zip(
            whole, compiled(batches[part].copy(), prompts[part].copy()), strict=True
        ):
            np.testing.assert_array_equal(np.broadcast_to(one, (size,))[part], other)
