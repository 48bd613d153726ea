"""Grids as callers may have them: column by column, backwards, every second one, with gaps. By hand: Llama-3-8B caches 131,072 byte a token."""

import numpy as np
import pytest

import symroof as sr

KAPPA = 2 * 32 * 8 * 128 * 2


@pytest.fixture(scope="module")
def cache():
    return sr.compile(
        ["kv_cache_bytes"], ["batch", "context"], sr.Study(model="llama-3-8b", prompt=1).first
    )


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


def test_the_last_byte_is_exact_beside_a_point_without_a_number():
    """What exactly fills the memory fits, and one byte less does not, whatever stands next to it in the grid."""
    study = sr.Study(
        model="llama-3-8b",
        hardware="h100-sxm",
        prompt=1000,
        memory_reserve="0 B",
        memory_share=1,
        assume={"detail": "kv"},
        params=8_030_000_000,
    )
    function = sr.compile(["fits", "free_memory"], ["batch", "mem_capacity"], study.first)
    needed = 2 * 8_030_000_000 + 7 * 1000 * KAPPA
    fits, free = function(
        np.array([7.0, np.nan, 7.0, 7.0, 7.0]),
        np.array([needed, needed, needed - 1.0, np.nan, needed + 1.0]),
    )
    assert [bool(fits[i]) for i in (0, 2, 4)] == [True, False, True]
    assert free[[0, 2, 4]].tolist() == [0, -1, 1]
    assert np.isnan(free[[1, 3]]).all()


def test_free_memory_from_ample_to_far_below_nothing():
    """Columns of a token and of a million beside each other, requests of one and of thousands: 80 GB less 16.06 GB less the caches."""
    study = sr.Study(
        model="llama-3-8b",
        hardware="h100-sxm",
        memory_reserve="0 B",
        memory_share=1,
        mem_capacity="80 GB",
        assume={"detail": "kv"},
        params=8_030_000_000,
    )
    function = sr.compile(["free_memory", "fits"], ["batch", "prompt"], study.first)
    batch, prompt = [1, 2, 63, 64, 65, 4096], [1, 7, 1000, 131_072, 10**6]
    free, fits = function(np.array(batch, float)[:, None], np.array(prompt, float))
    exact = [[80 * 10**9 - 2 * 8_030_000_000 - b * p * KAPPA for p in prompt] for b in batch]
    assert free.tolist() == exact
    assert fits.tolist() == [[left >= 0 for left in row] for row in exact]
