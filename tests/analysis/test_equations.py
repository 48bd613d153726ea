"""Equations that are refused, each with the sentence and the hint that a reader gets."""

import pytest

import symroof as sr
from symroof.api import Study

REFUSED = [  # equation, unknown, the message as it is printed
    ("kv_cache_bytes", "batch", "kv_cache_bytes: no such threshold, and not of the form lhs = rhs"),
    (
        "batch_to_ridgee",
        None,
        "batch_to_ridgee: no such threshold, and not of the form lhs = rhs\n    hint: did you mean 'batch_to_ridge'?",
    ),
    (
        "kv_cache_bytes <= weight_bytes",
        "batch",
        "equation: is a bound, not of the form lhs = rhs\n    hint: solve it with =; the answer says on which side of the crossing it holds",
    ),
    (
        "kv_cache_bytes = weight_bytez",
        "batch",
        "kv_cache_bytes = weight_bytez: unknown name 'weight_bytez'\n    hint: did you mean 'weight_bytes'?",
    ),
    (
        "kv_cache_bytes(batchh = 2) = weight_bytes",
        "batch",
        "kv_cache_bytes(batchh = 2) = weight_bytes: unknown name 'batchh'\n    hint: did you mean 'batch'?",
    ),
    (
        "kv_cache_bytes = ttft",
        "batch",
        "kv_cache_bytes = ttft: kv_cache_bytes is byte but ttft is s",
    ),
    (
        "kv_cache_bytes = weight_bytes",
        None,
        "kv_cache_bytes = weight_bytes: say what to solve for\n    hint: --for batch, or for_='batch' in Python",
    ),
    (
        "kv_cache_bytes = weight_bytes",
        "batchh",
        "batchh: no such input or quantity to solve for\n    hint: did you mean 'batch'?",
    ),
    (
        "kv_cache_bytes = weight_bytes",
        "fits",
        "fits: is true/false or a category, not a number to solve for",
    ),
    ("fits = 1", "batch", "fits = 1: fits is true/false or a category, not a number"),
    (
        "decode_bound = 1",
        "batch",
        "decode_bound = 1: decode_bound is true/false or a category, not a number",
    ),
    (
        "kv_cache_bytes = weight_bytes",
        "mem_bandwidth",
        "kv_cache_bytes = weight_bytes: mem_bandwidth does not occur in it\n    hint: it can be solved for batch, d_ff, d_model, ffn_matrices, head_dim, kv_bytes_per_element, learned_positions, n_heads, n_kv_heads, n_layers, prompt, vocab_size",
    ),
    (
        "batch_to_ridge.gate_upp",
        None,
        "batch_to_ridge.gate_upp: no operator 'gate_upp'\n    hint: there are: attention, attention_out, down, linear, lm_head, qkv, up",
    ),
    ("max_batch_memory.qkv", None, "max_batch_memory.qkv: max_batch_memory is of the whole case"),
    (
        "kv_cache_bytes = ",
        "batch",
        "equation:1:18: expected a number, a name or '(' but found the end of the formula\n    kv_cache_bytes =\n                     ^",
    ),
]


@pytest.fixture(scope="module")
def gpt2():
    return Study("gpt2", "h100-sxm", prompt=100, output=20, efficiency="peak")


def test_what_is_refused_and_why(gpt2):
    for equation, unknown, message in REFUSED:
        with pytest.raises(sr.InputError) as error:
            gpt2.solve(equation, unknown) if unknown else gpt2.solve(equation)
        assert str(error.value) == message


def test_a_width_of_two_kinds_of_layers_is_not_solved_for_as_one():
    with pytest.raises(sr.InputError) as error:
        Study("gemma-2-9b", prompt=100).solve("kv_cache_bytes = 1 GB", "n_layers")
    assert (
        str(error.value)
        == "n_layers: differs between parts of this model\n    hint: solve for n_layers.global or n_layers.local"
    )


def test_a_threshold_of_one_operator(gpt2):
    """qkv of GPT-2 multiplies 768 by 2,304 weights: 2*768*2304*b FLOPs over its weights and b rows in and out, against the ridge of the H100."""
    solution = gpt2.solve("batch_to_ridge.qkv")
    ridge = 989.4e12 / 3.35e12
    rows = 768 * 2304 * 2 * ridge / (2 * 768 * 2304 - 2 * (768 + 2304) * ridge)
    assert float(solution.value) == pytest.approx(rows, rel=1e-9)
    assert solution.integer == {"at_least": 607} and 606 < rows < 607
    assert solution.reason == "of qkv alone: from this batch on a decode step is limited by compute"


def test_a_sympy_expression_is_zero_and_its_equation_is_what_it_says(gpt2):
    import sympy

    from symroof.symbols import batch, kv_cache_bytes, weight_bytes

    by_difference = gpt2.solve(kv_cache_bytes - weight_bytes, "batch")
    by_equation = gpt2.solve(sympy.Eq(kv_cache_bytes, weight_bytes), batch)
    assert (
        by_difference.value
        == by_equation.value
        == gpt2.solve("kv_cache_bytes = weight_bytes", "batch").value
    )
    with pytest.raises(sr.InputError, match="is a bound"):
        gpt2.solve(kv_cache_bytes < weight_bytes, "batch")
