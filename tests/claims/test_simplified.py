"""Textbook simplifications: a claim that is right at one is conditional and says which; a random error seldom is.

Llama-3-8B by hand: 8,030,261,248 parameters of 2 byte; a token's cache is 2 (K and V) * 32 layers * 8 heads * 128 wide * 2 byte.
"""

import random
from fractions import Fraction

import pytest

from symroof.claims.derive_claim import derived
from symroof.claims.judge import judge
from symroof.claims.slips.explain import explanations
from symroof.claims.slips.simplifications import SIMPLIFICATIONS
from symroof.specs.claims import ClaimSpec
from tests.claims import by_hand

WEIGHTS, CACHE, BANDWIDTH, PEAK = 2 * 8_030_261_248, 2 * 32 * 8 * 128 * 2 * 4096, 3.35e12, 989.4e12
CASE = {"model": "llama-3-8b", "hardware": "h100-sxm", "prompt": 4096}
PAIRS = 32 * 4 * 4096 * 4096 * 4096  # layers * 4 FLOP * width * the whole square


def judged(value, quantity="itl", **given):
    return judge(ClaimSpec(id="c", quantity=quantity, given={**CASE, **given}, value=value))


def test_the_plainest_comes_first():
    assert [" ".join(choices.values()) for choices in SIMPLIFICATIONS] == [
        "weights",
        "kv",
        "attention",
        "attention full",
    ]


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("quantity", "prompt", "value", "needs"),
    [
        ("itl", 65536, f"{WEIGHTS / BANDWIDTH * 1e3:.2f} ms", "detail weights"),
        ("itl", 4096, f"{(WEIGHTS + CACHE) / BANDWIDTH * 1e3:.3f} ms", "detail kv"),
        ("user_rate", 65536, f"{BANDWIDTH / WEIGHTS:.1f} token/s", "detail weights"),
        ("prefill_flops", 4096, f"{WEIGHTS * 4096 / 1e12:.2f} TFLOP", "detail weights"),
        (
            "ttft",
            4096,
            f"{(WEIGHTS * 4096 + PAIRS) / PEAK * 1e3:.2f} ms",
            "detail attention, attention full",
        ),
    ],
)
def test_what_is_right_at_a_simplification_names_it(quantity, prompt, value, needs):
    found = judged(value, quantity, prompt=prompt)
    assert (found.verdict, found.needs) == ("conditional", (needs,))
    assert found.reason == f"holds at {needs}; otherwise {found.derived}"


@pytest.mark.full
def test_a_threshold_and_a_ratio_are_counted_too():
    """The ridge batch of weights alone: b_w/2 times the ridge point, 295.3."""
    claim = ClaimSpec(
        id="c", threshold="batch_to_ridge", given={**CASE, "prompt": 100}, value="295.3"
    )
    assert judge(claim).needs == ("detail weights",)


@pytest.mark.full
def test_a_case_that_says_how_it_counts_is_held_to_it():
    textbook = f"{BANDWIDTH / WEIGHTS:.1f} token/s"
    for given in ({"assume": {"detail": "exact"}}, {"assume": {"parameters": "matmul"}}):
        found = judged(textbook, "user_rate", prompt=65536, **given)
        assert "detail weights" not in found.needs
    assert judged(textbook, "user_rate", prompt=65536).needs == ("detail weights",)


def test_a_rough_number_or_a_bound_says_too_little():
    assert judged("2e2 token/s", "user_rate", prompt=65536).verdict == "wrong"
    assert judged("> 208 token/s", "user_rate", prompt=65536).verdict == "wrong"


@pytest.mark.full
def test_random_errors_seldom_hold_at_one():
    """Of 50 true values off by a random factor, at most 1 is taken for a simplification."""
    rng, taken, count = random.Random(11), 0, 0
    while count < 50:
        if count % 5 == 0:  # a case is built once for five errors
            _, given = by_hand.case(rng)
            given = {name: value for name, value in given.items() if name != "assume"}
        quantity = rng.choice(
            ("prefill_flops", "itl", "ttft", "decode_throughput", "decode_intensity", "user_rate")
        )
        factor = Fraction(10 ** rng.uniform(-0.4, 0.4))
        claim = ClaimSpec(id="c", quantity=quantity, given=given, value="1")
        text, _ = by_hand.written(
            derived(claim).value * factor, by_hand.UNIT[quantity], rng.choice((2, 3, 4))
        )
        if abs(factor - 1) > Fraction(5, 100):
            count += 1
            taken += any(
                "detail" in need for need in judge(claim.model_copy(update={"value": text})).needs
            )
    assert taken <= 1


@pytest.mark.parametrize(
    ("value", "named", "where"),
    [
        (
            "21.06 ms",
            True,
            "detail weights",
        ),  # 70,553,706,496 parameters of one byte over 3.35 TB/s
        (
            "21.1 ms",
            False,
            "detail weights",
        ),  # three digits, and more than one random number in seventeen
        ("20.90 ms", True, "detail weights, params 7e10"),
    ],
)
def test_a_slip_beside_a_plainer_count_is_named_where_chance_seldom_does_as_well(
    value, named, where
):
    claim = ClaimSpec(
        id="x",
        quantity="itl",
        given={"model": "llama-3-70b", "hardware": "h100-sxm", "prompt": 65536},
        value=value,
    )
    first = explanations(claim)[0]
    assert (first.slip, first.named, first.chance <= 0.06) == (
        "bytes_per_param_forgotten",
        named,
        named,
    )
    assert first.text.startswith("weights at one byte each: ") and first.text.endswith(
        f", at {where}"
    )
