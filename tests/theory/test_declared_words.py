"""Words and units that stand beside formulas: which side of a threshold says what, and units that people write."""

import pytest

from symroof.theory.architecture import Layer
from symroof.theory.block_rows import MIXERS
from symroof.theory.quantities import QUANTITIES
from symroof.theory.symbols import INPUTS
from symroof.theory.thresholds import THRESHOLDS

NEVER = [
    (
        "max_batch_memory",
        "lhs_above",
        "not even the weights and the reserve fit",
    ),  # what is held is more than there is
    ("max_batch_memory", "lhs_below", "it fits at every batch"),
    (
        "batch_to_ridge",
        "lhs_below",
        "every request brings its own cache traffic",
    ),  # computing stays the shorter time
    ("batch_to_ridge", "lhs_above", "limited by compute at every batch"),
    ("batch_kv_equals_weights", "lhs_below", "the cache stays smaller"),
    ("batch_kv_equals_weights", "lhs_above", "larger than the weights at every batch"),
]


@pytest.mark.parametrize(("name", "verdict", "words"), NEVER)
def test_why_a_threshold_is_nowhere(name, verdict, words):
    assert words in THRESHOLDS[name].never(verdict)
    assert THRESHOLDS[name].never("crosses") == THRESHOLDS[name].never("identical") == ""


@pytest.mark.parametrize(
    ("name", "step"),
    [
        ("batch_to_ridge", "decode"),
        ("prompt_to_ridge", "prefill"),
        ("context_beyond_ridge", "decode"),
        ("max_batch_memory", ""),
    ],
)
def test_the_step_whose_times_a_threshold_compares(name, step):
    assert THRESHOLDS[name].step == step


def test_what_costs_money_for_its_time_is_written_by_the_hour():
    written = {
        name: symbol.written_in
        for name, symbol in {**INPUTS, **QUANTITIES}.items()
        if symbol.unit == "USD/s"
    }
    assert set(written) >= {
        "price",
        "price_target",
        "fleet_price_target",
        "rival_price",
        "instance_price",
        "fleet_price",
    }
    assert set(written.values()) == {"USD/hour"}
    assert {INPUTS[name].written_in for name in ("weight_bits", "scale_bits")} == {"bit"}


def test_equal_heads_of_a_fused_product_are_written_together():
    """As textbooks write it; where heads differ in width the parts stand one by one."""
    amounts = {
        traits: next(
            row.amount
            for row in MIXERS["gqa"](Layer(traits=frozenset(traits)))
            if row.operator == "qkv"
        )
        for traits in ((), ("value_dim",))
    }
    assert amounts[()] == "(d_model)*((n_heads + 2*n_kv_heads)*head_dim)"
    assert "n_heads*head_dim + n_kv_heads*(head_dim + value_dim)" in amounts["value_dim",]
