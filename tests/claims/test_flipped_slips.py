"""Wrong bounds, truths, labels and directions: one change that would make them true is suggested, several are none."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from symroof.claims.judge import judge
from symroof.claims.judgement import Judgement
from symroof.specs.claims import ClaimSpec
from tests.claims import by_hand

LLAMA = {"model": "llama-3-70b", "hardware": "h100-sxm", "prompt": 4096, "tp": 4}


def judged(**claim: object) -> Judgement:
    return judge(ClaimSpec(id="b", **{"given": LLAMA, **claim}))


@pytest.mark.parametrize(
    ("slip", "says", "claim"),
    [
        # without a cache a step reads the same bytes whatever it attends to
        ("kv_ignored", "then not", {"moves": "decode_memory_time", "with_": "context", "value": "not"}),
        # 64 query heads for 8: 80 * 2 * 64 * 128 * 2 = 2,621,440 byte
        ("gqa_forgotten", "then 2.621", {"quantity": "kv_bytes_per_token", "value": "> 2.6 MB", "given": {**LLAMA, "params": "1e9"}}),
        ("batch_factor", "then false", {"relation": "batch > 100", "value": False, "given": {**LLAMA, "batch": 200}}),
    ],
)  # fmt: skip
def test_the_only_change_that_makes_it_true_is_suggested(slip, says, claim):
    found = judged(**claim)
    assert found.verdict == "wrong"
    assert [(one.slip, one.named) for one in found.slips] == [(slip, False)]
    assert says in found.slips[0].text
    assert 0 < found.slips[0].chance <= 1


@pytest.mark.parametrize(
    "claim",
    [
        {"quantity": "itl", "value": "< 10 ms"},  # narrower weights, or another part, or no cache
        {"relation": "fits", "value": True, "given": {**LLAMA, "tp": 1}},
        {"quantity": "kv_cache_bytes", "value": "> 1 TB"},
        {"relation": "decode_bound", "value": "overhead"},
    ],
)
def test_where_several_changes_or_none_make_it_true_nothing_is_said(claim):
    found = judged(**claim)
    assert (found.verdict, found.slips) == ("wrong", ())


def test_what_holds_has_no_slips():
    assert judged(quantity="kv_cache_bytes", value="< 2 GB").slips == ()
    assert judged(relation="decode_bound", value="memory").slips == ()


@pytest.mark.full
def test_no_random_bound_is_named():
    rng = random.Random(31)
    for _ in range(60):
        numbers, given = by_hand.case(rng)
        quantity = rng.choice(
            ("kv_cache_bytes", "weight_bytes", "itl", "prefill_time", "user_rate")
        )
        sign, side = rng.choice((("<", -1), (">", 1)))
        text, _ = by_hand.written(
            numbers.value(quantity) * Fraction(10 ** (side * rng.uniform(0.1, 1))),
            by_hand.UNIT[quantity],
            3,
        )
        found = judged(quantity=quantity, given=given, value=f"{sign} {text}")
        assert found.verdict == "wrong"
        assert not any(slip.named for slip in found.slips)
