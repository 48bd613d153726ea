"""Equations at the edges of what is solved: the range of numbers, one at a time, missing inputs that cancel, and what has no answer without numbers."""

import pytest

import symroof as sr
from symroof.api import Study
from symroof.symbolic.printing import text

from ..near import near

ROOFS = {"assume": {"detail": "weights"}, "peak_flops": "1000 TFLOP/s", "mem_bandwidth": "2 TB/s"}
"""500 FLOPs for each byte."""


@pytest.fixture(scope="module")
def plain():
    return Study(prompt=100, output=20)


def test_one_equation_for_one_unknown(plain):
    """As SymPy's own ``solve`` takes them, lists of one."""
    assert plain.solve(["batch = 3"], ("batch",)) is plain.solve("batch = 3", "batch")
    for equation, unknown, count in (
        (["batch = 3", "batch = 4"], "batch", 2),
        ("batch = 3", [], 0),
        ("batch = 3", {"batch", "prompt"}, 2),
    ):
        with pytest.raises(sr.InputError) as error:
            plain.solve(equation, unknown)
        assert (
            str(error.value)
            == f"equation: {count} at once: one equation is solved for one unknown\n    hint: solve one, then substitute the answer"
        )


def test_a_threshold_for_another_unknown_is_its_equation():
    """The words of a threshold are about its own; what it is rounded to as well."""
    study = Study(**ROOFS, params=10**10, batch=200)
    named = study.solve("batch_to_ridge")
    assert (named.threshold.name, named.integer, named.reason) == (
        "batch_to_ridge",
        {"at_least": 500},
        "from this batch on a decode step is limited by compute",
    )
    other = study.solve("batch_to_ridge", "mfu")
    assert (other.threshold, other.value) == near((None, 0.4))  # 200 of 500
    assert (
        other.reason
        == "decode_compute_time is above decode_memory_time under this value and below it over it"
    )


def test_a_missing_input_that_cancels():
    """Weights alone: two FLOPs and two bytes of each parameter, however many there are."""
    solution = Study(**ROOFS, mfu=1, mbu=1).solve("batch_to_ridge")
    assert (solution.value, solution.integer, solution.missing, solution.verdict) == (
        500,
        {"at_least": 500},
        None,
        "crosses",
    )
    half = Study(**ROOFS, mfu=1, mbu="0.5").solve("batch_to_ridge")
    assert half.value == 1000
    assert Study(**ROOFS).solve("params*batch = 3*params", "batch").value == 3
    never = Study(**ROOFS).solve("params*batch = -3*params", "batch")
    assert (never.value, never.verdict) == (None, "lhs_above")
    turned = Study(**ROOFS, gemm_k=7, gemm_n=9).solve(
        "params*batch*(gemm_k - 5) = params*(gemm_n - 3)", "batch"
    )
    assert turned.value == 3  # both brackets are positive
    for k, n in ((4, 9), (7, 2)):  # one of two is not
        assert (
            Study(**ROOFS, gemm_k=k, gemm_n=n)
            .solve("params*batch*(gemm_k - 5) = params*(gemm_n - 3)", "batch")
            .value
            is None
        )


SYMBOLIC = {  # equation, unknown, what the study has -> candidates with conditions
    ("mbu*params = gemm_k", "mbu"): [("gemm_k/params", ["mbu <= 1"])],
    ("params/batch = gemm_k", "batch"): [("params/gemm_k", [])],
    ("params = cached_prefix*gemm_k", "cached_prefix"): [
        ("params/gemm_k", ["cached_prefix <= prompt"])
    ],
}


def test_the_ends_of_an_unknown_are_conditions_of_a_symbolic_answer():
    for (equation, unknown), expected in SYMBOLIC.items():
        branches = Study().solve(equation, unknown).candidates.every
        assert [
            (text(b.closed_form), [text(c.tree) for c in b.conditions]) for b in branches
        ] == expected, equation


NO_ANSWER = [  # model, equation, unknown, message
    (
        "mixtral-8x7b",
        "decode_bytes = 2*weight_bytes",
        "batch",
        "has no symbolic answer (batch is in an exponent), and prompt is missing for one with numbers\n    hint: give prompt for a number; `--assume experts=all`, every expert read, has a formula",
    ),
    (
        "llama-3-8b",
        "ceil(batch/7)*params = batch*1 parameter + prompt*1 parameter/(1 token)",
        "batch",
        "has no symbolic answer (batch is an argument of ceil()), and prompt is missing for one with numbers",
    ),
    (
        "llama-3-8b",
        "steady_batch = sustained_requests*gemm_k*1 s",
        "output",
        "is missing for one with numbers",
    ),
]


@pytest.mark.parametrize(("model", "equation", "unknown", "message"), NO_ANSWER)
def test_what_only_numbers_answer(model, equation, unknown, message):
    more = {"arrival_rate": "1 request/s"} if "steady" in equation else {}
    with pytest.raises(sr.InputError) as error:
        Study(model, **more).solve(equation, unknown)
    start = equation[:80]
    assert str(error.value).startswith(f"{start}: ") and str(error.value).endswith(message)
