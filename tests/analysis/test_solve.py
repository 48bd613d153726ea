"""Equations: what is refused and why, missing inputs that cancel, what has no answer without numbers, and thresholds at the corners of ranges."""

import pytest
import sympy
import yaml

import symroof as sr
from symroof.api import Study
from symroof.symbolic.printing import text
from symroof.symbols import batch, kv_cache_bytes, weight_bytes

from ..near import near
from ..tables import fields, table

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


def test_why_sides_never_meet_needs_no_number():
    never = sr.solve("context_cache_full")
    assert never.verdict == "lhs_above" and never.reason.endswith(": some layers keep every token")


def test_the_ends_of_an_unknown_are_conditions_of_a_symbolic_answer():
    for equation, unknown, form, conditions in (
        ("mbu*params = gemm_k", "mbu", "gemm_k/params", ["mbu <= 1"]),
        ("params/batch = gemm_k", "batch", "params/gemm_k", []),
    ):
        (branch,) = Study().solve(equation, unknown).candidates.every
        assert text(branch.closed_form) == form
        assert [*map(text, branch.trees)] == conditions


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


# equation | unknown | what is said of it | the hint
REFUSED = """
kv_cache_bytes | batch | no such threshold, and not of the form lhs = rhs |
batch_to_ridgee | | no such threshold, and not of the form | did you mean 'batch_to_ridge'?
kv_cache_bytes <= weight_bytes | batch | is a bound | solve it with =; the answer says on which side
kv_cache_bytes = weight_bytez | batch | unknown name 'weight_bytez' | did you mean 'weight_bytes'?
exp(batch) = 1^bacth | batch | unknown name 'bacth' | did you mean 'batch'?
kv_cache_bytes = ttft | batch | kv_cache_bytes is byte but ttft is s |
kv_cache_bytes = weight_bytes | | say what to solve for | --for batch, or for_='batch' in Python
kv_cache_bytes = weight_bytes | batchh | no such input or quantity | did you mean 'batch'?
kv_cache_bytes = weight_bytes | fits | is true/false or a category, not a number to solve for |
decode_bound = 1 | batch | decode_bound is true/false or a category, not a number |
kv_cache_bytes = weight_bytes | mfu | mfu does not occur in it | it can be solved for batch, d_ff
"""


@pytest.fixture(scope="module")
def gpt2():
    return Study("gpt2", "h100-sxm", prompt=100, output=20, efficiency="peak")


def test_what_is_refused_and_why(gpt2):
    for row in REFUSED.strip().splitlines():
        equation, unknown, said, hint = (cell.strip() for cell in row.split("|"))
        with pytest.raises(sr.InputError) as error:
            gpt2.solve(equation, unknown or None)
        (problem,) = error.value.problems
        assert said in problem.message and problem.hint.startswith(hint), row


def test_a_width_of_two_kinds_of_layers_is_not_solved_for_as_one():
    with pytest.raises(sr.InputError, match="differs between parts of this model") as error:
        Study("gemma-2-9b", prompt=100).solve("kv_cache_bytes = 1 GB", "n_layers")
    assert error.value.problems[0].hint == "solve for n_layers.global or n_layers.local"


def test_a_sympy_expression_is_zero_and_its_equation_is_what_it_says(gpt2):
    by_text = gpt2.solve("kv_cache_bytes = weight_bytes", "batch").value
    assert gpt2.solve(kv_cache_bytes - weight_bytes, "batch").value == by_text
    assert gpt2.solve(sympy.Eq(kv_cache_bytes, weight_bytes), batch).value == by_text
    with pytest.raises(sr.InputError, match="is a bound"):
        gpt2.solve(kv_cache_bytes < weight_bytes, "batch")


BY_HAND = """
gemm_n: 1..9 | (batch - 50*gemm_n)*(batch - 100) = 0 | batch | [[50, 100], [100, 450]]
# at half of the bandwidth a step takes 20 ms whatever the batch: it is missed from the first on
mbu: 0.5..0.8 | itl = 16 ms | batch | [[], [800]]
mbu: 0.5..0.8 | itl = 16 ms | peak_flops | [[], [1250000000000]]
# of four times n: the line at four from n = 4 on, before that the square
gemm_n: 1..9 | max(batch*gemm_n, batch**2) = 4*gemm_n | batch | [[2], [4]]
gemm_n: 1..9 | max(batch, gemm_n) = 5 | batch | [[5], []]
# without ranges
 | itl = 16 ms | batch | []
"""
"""Ranges, equation, unknown, and the crossings at each corner."""


@pytest.mark.sample(5)
@pytest.mark.parametrize("row", table(BY_HAND), ids=str)
def test_corners_by_hand(row):
    ranges, equation, unknown, expected = row
    """A step takes 10 ms for the weights, and 20 µs a request."""
    study = Study(**ROOFS, params=10**10, prompt=1000, **fields(ranges))
    solution = study.solve(equation, unknown)
    corners = [list(each.values) for each in solution.corners]
    assert corners == near(yaml.safe_load(expected), 1e-9)
    met = [min(values) for values in [*corners, solution.values] if values]
    if corners:
        assert solution.extent == (min(met), max(met), all(corners) and bool(solution.values))
