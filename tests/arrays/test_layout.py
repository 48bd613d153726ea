"""Every point of a call lies in one block, whatever the shapes, and results come back in the shape NumPy gives."""

import random

import numpy as np
import pytest

from symroof.arrays import memory_layout as layout
from symroof.arrays.memory_layout import Layout, cut


@pytest.mark.parametrize("seed", range(60))
def test_three_axes_hold_what_broadcasting_holds(seed, monkeypatch):
    draw = random.Random(seed)
    monkeypatch.setattr(layout, "BLOCK", draw.choice((4, 16, 1000)))
    monkeypatch.setattr(layout, "FEWEST_COLUMNS", draw.choice((2, 6)))
    monkeypatch.setattr(layout, "MOST_ROWS", draw.choice((3, 40)))
    monkeypatch.setattr(layout, "WIDE", draw.choice((8, 1000)))
    shape = [draw.choice((1, 2, 3, 5)) for _ in range(draw.randint(0, 5))]
    inputs = []
    for _ in range(draw.randint(1, 4)):
        own = [length if draw.random() < 0.6 else 1 for length in shape][draw.randint(0, len(shape)) :]
        inputs.append(np.random.default_rng(seed).random(own))
    plain = sum(inputs[1:], inputs[0] * 1.0)
    made = Layout.of(inputs)
    seen = [made.three(x) for x in inputs]
    result = np.empty(made.sizes)
    result[...] = np.nan
    for part in made.chunks():
        for place in made.blocks(part):
            assert np.isnan(result[place]).all(), "a point in two blocks"
            result[place] = sum(cut(x, place) for x in seen)
    assert result.reshape(made.shape).shape == plain.shape
    np.testing.assert_allclose(result.reshape(made.shape), plain)
