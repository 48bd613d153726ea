"""Names of a case over arrays, where formulas turn on what is given, where factors vanish and where searches have no value: against the case at each point."""

import math
from fractions import Fraction

import numpy as np
import pytest

import symroof as sr
from symroof.formula.evaluate import NoValue

SERVED = {
    "hardware": "h200", "batch": 8, "arrival_rate": 1, "long_prompt": 8192, "long_output": 64, "long_share": 0.1, "itl_target": "20 ms",
    "ttft_target": "1 s", "price": "3 USD/hour", "prompt": 4096,
}  # fmt: skip


def agree(study, quantities, **columns):
    """Whether a compiled function gives at each point what the case gives there; NaN where it has no value."""
    names = list(columns)
    function = sr.compile(quantities, names, study=study)
    for place, row in enumerate(zip(*columns.values(), strict=True)):
        case = study.first.case.changed(
            {name: Fraction(value) for name, value in zip(names, row, strict=True)}
        )
        for name, column in zip(
            quantities, function(*map(np.array, columns.values())), strict=True
        ):
            try:
                expected = float(case.value(name))
            except NoValue:
                expected = math.nan
            assert column[place] == pytest.approx(expected, rel=1e-9, nan_ok=True), (name, row)


def test_a_chunk_that_only_the_array_gives_is_there_at_changed_inputs_too():
    """The cost of long requests beside others: at their own prompt and output the batch follows the chunk."""
    agree(
        sr.Study("gemma-2b", output=48, **SERVED),
        ["mix_cost_per_request", "sustained_requests"],
        prompt=[7935.0, 490.0],
        chunk=[965.0, 269.0],
    )


@pytest.mark.full
def test_nothing_times_what_has_no_value_is_nothing():
    """The goodput of a server that misses its ITL target is 0, also where the wait for a first token has no end."""
    agree(
        sr.Study("bloom", output=48, tp=4, **SERVED),
        ["goodput", "meets_itl"],
        mem_bandwidth=[9e12, 8e12, 3e12],
        batch=[185.0, 47.0, 1.0],
    )


def test_a_quantity_at_an_input_without_a_value_has_none():
    """Beyond what a server sustains there is no number of busy requests, nor a wait at it, though the wait does not move with that number."""
    study = sr.Study("olmo-3-7b", assume={"scheduling": "exclusive"}, output=300, **SERVED)
    agree(
        study,
        ["loaded_ttft", "steady_batch", "best_batch"],
        arrival_rate=[2.19, 2.82, 0.1],
        prompt=[12992.0, 9869.0, 500.0],
    )


def test_a_batch_is_searched_for_where_no_batch_has_a_value():
    """A response of one token has no decode steps: no batch meets a target on them, whatever the prompt."""
    study = sr.Study("yi-6b", output=1, **SERVED)
    agree(study, ["best_batch"], arrival_rate=[1.0, 0.5], prompt=[1000.0, 3000.0])


def test_no_points_have_no_values():
    function = sr.compile(
        ["fits", "itl", "decode_bound", "best_batch"],
        ["batch"],
        study=sr.Study("llama-3-8b", output=48, **SERVED),
    )
    assert [column.shape for column in function(np.array([]))] == [(0,)] * 4
