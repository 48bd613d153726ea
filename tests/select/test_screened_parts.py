"""Parts of a selection that need no case: windows, labels, fronts, verdicts."""

from types import SimpleNamespace

import pytest
from symroof.select.pareto_front import front
from symroof.select.screened_group import Screened

from symroof.api import Study
from symroof.report.selection_cells import verdict
from symroof.select.batch_window import Window
from symroof.select.candidates import widened
from symroof.select.configuration import Run, at_batch


@pytest.mark.parametrize(
    ("most", "least", "batch", "passes"),
    [(0, 1, 1, False), (9, 1, 1, True), (9, 1, 9, True), (9, 1, 5, True), (9, 3, 5, True), (9, 3, 3, True), (9, 3, 2, False), (9, 3, 10, False), (1, 1, 1, True), (1, 1, 2, False), (3, 0, 2, True), (0, 0, 0, False)],
)  # fmt: skip
def test_a_batch_passes_between_the_ends_of_its_window(most, least, batch, passes):
    assert Screened(most, least, None, batch).passes is passes


@pytest.mark.parametrize(
    ("window", "text"),
    [
        (Window(3, None), "3 or more"),
        (Window(1000, None), "1,000 or more"),
        (Window(5, 5), "5"),
        (Window(1, 1234), "1 to 1,234"),
        (Window(1000, 1000), "1,000"),
    ],
)
def test_a_window_in_words(window, text):
    assert str(window) == text


# ---------------------------------------------------------------------------------------------------------- worked out


def test_the_most_candidates_of_one_selection():
    assert widened(Study(model="llama-3-8b", hardware="h100-sxm", prompt=100), {}).most_cases == 20_000


# ------------------------------------------------------------------------------------------------------------ at a batch


def test_a_configuration_at_another_batch_keeps_its_copies():
    """With its quantities there, where the screening has them: then it is inside its limits, and fails none."""
    run = Run("one", SimpleNamespace(targets={}), (("batch", 5), ("dp", 3)), {"itl": 0.1}, {"itl": 0.7, "memory": 0.5})
    moved = at_batch(run, 9, {"itl": 0.2})
    assert (moved.changes, moved.quick, moved.shares) == ((("batch", 9), ("dp", 3)), {"itl": 0.2}, {"itl": 0.0, "memory": 0.0})
    assert (at_batch(run, 9).quick, at_batch(run, 9).shares) == ({}, {})


@pytest.mark.parametrize(
    ("points", "places"), [([], ()), ([(1,)], (0,)), ([(1, 2), (2, 1)], (0, 1)), ([(1, 1), (1, 2)], (1,)), ([(1, 2), (1, 1)], (0,)), ([(2, 2)] * 2, (0, 1))]
)
def test_a_front_of_few_points(points, places):
    assert front(points, (True,) * (len(points[0]) if points else 0)) == places


# --------------------------------------------------------------------------------------------------------------- labels


@pytest.mark.parametrize(
    ("expected", "fast", "words"),
    [
        (("fleet_price",), ("fleet_price",), "misses fleet_price"),
        (("load", "ttft", "fleet_price"), ("fleet_price",), "does not keep up, misses fleet_price"),
        (("memory", "ttft"), ("memory",), "does not fit, misses ttft"),
        (("load",), ("itl",), "does not keep up, misses itl"),
    ],
)
def test_a_verdict_names_what_is_missed_as_expected_first(expected, fast, words):
    """Of a queue that grows the wait without end is not named as well."""
    run = SimpleNamespace(state="fails", missed=fast, missed_as_expected=expected, unknown={})
    assert verdict(SimpleNamespace(run=run, window=None)) == words
