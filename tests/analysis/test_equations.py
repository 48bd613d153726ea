"""Equations that are refused, each with the sentence and the hint that a reader gets."""

import pytest
import sympy

import symroof as sr
from symroof.api import Study
from symroof.symbols import batch, kv_cache_bytes, weight_bytes

# equation | unknown | what is said of it | the hint
REFUSED = """
kv_cache_bytes | batch | no such threshold, and not of the form lhs = rhs |
batch_to_ridgee | | no such threshold, and not of the form | did you mean 'batch_to_ridge'?
kv_cache_bytes <= weight_bytes | batch | is a bound | solve it with =; the answer says on which side
kv_cache_bytes = weight_bytez | batch | unknown name 'weight_bytez' | did you mean 'weight_bytes'?
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
