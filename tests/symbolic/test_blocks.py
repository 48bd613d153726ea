"""Calls cut into blocks: every point once, blocks as large as they may be."""

import itertools

import numpy as np
import pytest

from symroof.symbolic.blocks import blocks, cut


@pytest.mark.sample(5)
@pytest.mark.parametrize("shape", [(), (1,), (7,), (3, 4), (5, 1, 6), (2, 3, 4), (0, 3)])
@pytest.mark.parametrize("most", [1, 4, 5, 1000])
def test_every_point_lies_in_one_block(shape, most):
    seen = np.zeros(shape, dtype=int)
    for place in blocks(shape, most):
        assert seen[place].size <= most
        seen[place] += 1
    assert (seen == 1).all()


def test_inputs_keep_their_thin_shapes():
    grid = np.arange(12.0).reshape(3, 4)
    row, column = np.arange(4.0)[None, :], np.arange(3.0)[:, None]
    whole = grid + row * 100 + column * 10_000
    found = np.empty((3, 4))
    for place in blocks((3, 4), 2):
        parts = [cut(x, place) for x in (grid, row, column)]
        assert parts[1].shape[0] == 1 and parts[2].shape[1] == 1
        found[place] = parts[0] + parts[1] * 100 + parts[2] * 10_000
    assert (found == whole).all()


def test_a_number_is_in_every_block():
    assert all(cut(np.array(3.0), place) == 3 for place in itertools.islice(blocks((4, 4), 4), 4))
