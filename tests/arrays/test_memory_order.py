"""Grids as callers may have them: column by column, backwards, every second one, with gaps. By hand: Llama-3-8B caches 131,072 byte a token."""

import numpy as np
import pytest

import symroof as sr

KAPPA = 2 * 32 * 8 * 128 * 2


@pytest.fixture(scope="module")
def cache():
    return sr.compile(["kv_cache_bytes"], ["batch", "context"], sr.Study(model="llama-3-8b", prompt=1).first)


GRID = np.arange(1.0, 13).reshape(3, 4)


@pytest.mark.parametrize(
    ("name", "grid"),
    [
        ("by columns", np.asfortranarray(GRID)),
        ("transposed", GRID.T),
        ("backwards", GRID[::-1, ::-1]),
        ("every second", GRID[:, ::2]),
        ("whole numbers", GRID.astype(int)),
    ],
)
def test_a_grid_in_any_order_of_memory(cache, name, grid):
    assert np.array_equal(cache(grid, 1000.0)[0], KAPPA * 1000 * np.asarray(grid, float))


def test_two_grids_in_different_orders(cache):
    batch, context = np.asfortranarray(GRID), np.ascontiguousarray(GRID * 10)
    assert np.array_equal(cache(batch, context)[0], KAPPA * GRID * GRID * 10)
