"""Every point of a call lies in one block, whatever the shapes, and results come back in the shape NumPy gives."""

import random
import tracemalloc
from fractions import Fraction

import numpy as np
import pytest

from symroof.arrays import memory_layout as layout
from symroof.arrays.graph import Graph, frozen
from symroof.arrays.memory_layout import Layout, cut
from symroof.arrays.program import Output, Program
from symroof.formula.polynomial import constant, plus, power_of, scaled


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


@pytest.mark.parametrize("sizes", [(1, 1, 1), (3, 7, 5), (1, 90, 400), (40, 3, 2), (5, 1, 33), (2, 64, 16), (9, 2, 8)])
@pytest.mark.parametrize("most", [16, 128])
def test_blocks_are_as_large_as_they_may_be_and_no_larger(sizes, most, monkeypatch):
    """No block holds more points than allowed; no neighbours of one chunk could be one; what is prepared of a chunk stays below its own bound."""
    monkeypatch.setattr(layout, "BLOCK", most)
    monkeypatch.setattr(layout, "WIDE", 4 * most)
    made = Layout(sizes, 1, 1)
    outer, rows, columns = sizes
    chunks = list(made.chunks())
    lengths = [part.stop - part.start for part in chunks]
    assert [part.start for part in chunks] == [sum(lengths[:i]) for i in range(len(lengths))] and sum(lengths) == outer
    assert all(length * (rows + columns) <= 4 * most or length == 1 for length in lengths)
    assert all((length + 1) * (rows + columns) > 4 * most for length in lengths[:-1])
    for chunk in chunks:
        blocks = [tuple(part.stop - part.start for part in place) for place in made.blocks(chunk)]
        points = [o * r * c for o, r, c in blocks]
        assert max(points) <= most and sum(points) == (chunk.stop - chunk.start) * rows * columns
        whole_rows, whole_tables = columns <= most, rows * columns <= most
        least = (
            -(-(chunk.stop - chunk.start) // (most // (rows * columns)))
            if whole_tables
            else (chunk.stop - chunk.start) * (-(-rows // (most // columns)) if whole_rows else rows * -(-columns // most))
        )
        assert len(blocks) == least


@pytest.mark.parametrize(
    ("shape", "sizes"),
    [
        ((3, 100, 16), (1, 300, 16)),
        ((3, 100, 15), (1, 3, 1500)),
        ((2, 2048, 16), (1, 4096, 16)),
        ((2, 2049, 16), (2, 2049, 16)),
        ((2, 5000, 16), (2, 5000, 16)),
        ((5, 1, 3), (1, 1, 15)),
        ((), (1, 1, 1)),
    ],
)
def test_sixteen_columns_are_enough_and_4096_rows_are_taken_together(shape, sizes):
    assert Layout.of([np.broadcast_to(0.0, shape)]).sizes == sizes


def test_a_block_is_a_quarter_of_a_megabyte_and_a_chunk_prepares_a_quarter_of_a_million_values():
    """8 byte a point; rows and columns of a chunk together."""
    assert [c for _, _, c in Layout((32_769,), 0, 0).blocks(slice(0, 1))] == [slice(0, 2**18 // 8), slice(2**18 // 8, 32_769)]
    assert [part.stop - part.start for part in Layout((300, 512, 512), 1, 1).chunks()] == [2**18 // 1024, 300 - 2**18 // 1024]


def test_a_long_row_takes_little_more_memory_than_its_result():
    """Ten maxima inside each other over a quarter of a million points: block by block, where whole arrays of each would take fifteen times the result."""
    graph, p = Graph(("x",)), power_of("x")
    for k in range(2, 12):
        p = plus(graph.operation("max" if k % 2 else "min", graph.times(p, power_of("x")), constant(Fraction(k))), scaled(power_of("x"), Fraction(1, k)))
    x, program = np.linspace(0, 2, 1 << 18), Program(graph, (Output("f", (frozen(p),)), Output("t", (frozen(p),), "<=")))
    tracemalloc.start()
    try:
        program.run([x])
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < 2 * x.nbytes


def test_chunk_by_chunk_is_the_whole(monkeypatch):
    """Seven by three by twenty points, two of the seven prepared at once: (x + 2*y)*z less the larger of x*y*z and 9, by Python."""
    monkeypatch.setattr(layout, "WIDE", 46)
    monkeypatch.setattr(layout, "BLOCK", 25)
    monkeypatch.setattr(layout, "MOST_ROWS", 3)
    graph = Graph(("x", "y", "z"))
    x, y, z = (power_of(name) for name in graph.inputs)
    p = plus(
        graph.times(plus(x, scaled(y, Fraction(2))), z), scaled(graph.operation("max", graph.times(graph.times(x, y), z), constant(Fraction(9))), Fraction(-1))
    )
    a, b, c = np.arange(-3.0, 4)[:, None, None], np.arange(3.0)[:, None], np.arange(20.0)
    assert [part.stop - part.start for part in Layout.of([a, b, c]).chunks()] == [2, 2, 2, 1]
    (reached,) = Program(graph, (Output("f", (frozen(p),)),)).run([a, b, c])
    assert reached.tolist() == [[[(i + 2 * j) * k - max(i * j * k, 9) for k in range(20)] for j in range(3)] for i in range(-3, 4)]
