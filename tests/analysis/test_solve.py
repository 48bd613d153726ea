"""Equations at the edges of what is solved: missing inputs that cancel, and what has no answer without numbers."""

import pytest

import symroof as sr
from symroof.api import Study
from symroof.symbolic.printing import text

from ..near import near

ROOFS = {"assume": {"detail": "weights"}, "peak_flops": "1000 TFLOP/s", "mem_bandwidth": "2 TB/s"}
"""500 FLOPs for each byte."""


def test_a_threshold_for_another_unknown_is_its_equation():
    """The words of a threshold are about its own; what it is rounded to as well."""
    study = Study(**ROOFS, params=10**10, batch=200)
    named = study.solve("batch_to_ridge")
    assert (named.threshold.name, named.integer) == ("batch_to_ridge", {"at_least": 500})
    assert named.reason == "from this batch on a decode step is limited by compute"
    other = study.solve("batch_to_ridge", "mfu")
    assert (other.threshold, other.value) == near((None, 0.4))  # 200 of 500
    above = "decode_compute_time is above decode_memory_time before this value and below it after"
    assert other.reason == above


def test_a_missing_input_that_cancels():
    """Weights alone: two FLOPs and two bytes of each parameter, however many there are."""
    solution = Study(**ROOFS, mfu=1, mbu=1).solve("batch_to_ridge")
    assert (solution.value, solution.integer, solution.missing) == (500, {"at_least": 500}, None)
    assert Study(**ROOFS, mfu=1, mbu="0.5").solve("batch_to_ridge").value == 1000
    assert Study(**ROOFS).solve("params*batch = 3*params", "batch").value == 3
    never = Study(**ROOFS).solve("params*batch = -3*params", "batch")
    assert (never.value, never.verdict) == (None, "lhs_above")
    for k, n, value in ((7, 9, 3), (4, 9, None), (7, 2, None)):  # where both brackets are positive
        turned = "params*batch*(gemm_k - 5) = params*(gemm_n - 3)"
        assert Study(**ROOFS, gemm_k=k, gemm_n=n).solve(turned, "batch").value == value


def test_the_ends_of_an_unknown_are_conditions_of_a_symbolic_answer():
    for equation, unknown, form, conditions in (
        ("mbu*params = gemm_k", "mbu", "gemm_k/params", ["mbu <= 1"]),
        ("params/batch = gemm_k", "batch", "params/gemm_k", []),
    ):
        (branch,) = Study().solve(equation, unknown).candidates.every
        assert text(branch.closed_form) == form
        assert [text(condition.tree) for condition in branch.conditions] == conditions


NO_ANSWER = [  # model, equation, unknown, message
    ("mixtral-8x7b", "decode_bytes = 2*weight_bytes", "batch", "(batch is in an exponent)"),
    ("llama-3-8b", "ceil(batch/7)*prompt = batch*1 token", "batch", "has no symbolic answer"),
    ("llama-3-8b", "steady_batch = sustained_requests*gemm_k*1 s", "output", "is missing for one"),
]


@pytest.mark.parametrize(("model", "equation", "unknown", "message"), NO_ANSWER)
def test_what_only_numbers_answer(model, equation, unknown, message):
    more = {"arrival_rate": "1 request/s"} if "steady" in equation else {}
    with pytest.raises(sr.InputError) as error:
        Study(model, **more).solve(equation, unknown)
    assert message in str(error.value)


NESTED = "sum(j*sum(k_2*j, k_2, 1, 3), j, 1, n_heads)"


def test_a_sum_over_an_index_of_ones_own_is_solved_for_and_spelled():
    for total, value in (("sum(j*n_heads, j, 0, n_heads - 1)", 32 * 496), (NESTED, 6 * 11_440)):
        solution = Study(n_heads=32).solve(f"n_layers = {total}", "n_layers")
        assert solution.value == value
        assert r"\sum_{j=" in solution._repr_latex_()
        assert (r"\mathrm{k\_2}" in solution._repr_latex_()) is ("k_2" in total)


def test_a_quantity_of_ones_own_may_be_such_a_sum():
    study = Study(n_heads=32, n_layers=3)
    study.define("staircase", "sum(j*n_heads, j, 0, n_layers - 1)", means="a staircase")
    assert study.value("staircase") == 32 * (0 + 1 + 2)
    assert r"\sum_{j=0}^{L - 1} H j" in study.derive("staircase").latex()
