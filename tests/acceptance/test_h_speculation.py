"""Speculation: drafts, heads that predict ahead, trees, and what batching leaves of it (systems 47-49)."""

import itertools
from fractions import Fraction

import pytest

from symroof.api import Study

from ..near import near
from . import B8, B70, H100, KV, WEIGHTS, agree, check, row

ON = {**B70, **H100, "assume": WEIGHTS}
DRAFT = {"draft_tokens": 4, "acceptance": 0.8, "draft_cost": 0.05}


def expected_tokens(drafted, acceptance):
    """Over every outcome of the drafted tokens: those before the first that is refused, and one of the model's own."""
    total = Fraction(0)
    for outcome in itertools.product((True, False), repeat=drafted):
        chance = Fraction(1)
        for accepted in outcome:
            chance *= acceptance if accepted else 1 - acceptance
        prefix = outcome.index(False) if False in outcome else drafted
        total += chance * (prefix + 1)
    return total


ROWS = [
    row("tokens of a verification", "tokens_per_verify", "3.362", **DRAFT),
    row("speed-up", "speculation_speedup", "2.80", **ON, **DRAFT),
    row("best length", "speculation_speedup", "3.09", **ON, **{**DRAFT, "draft_tokens": 8}),
    row(
        "all accepted, no cost",
        "speculation_speedup",
        5,
        **ON,
        draft_tokens=4,
        acceptance=1,
        draft_cost=0,
    ),
    row(
        "nothing accepted: only the draft is lost",
        "speculation_speedup",
        1 / Fraction(12, 10),
        **ON,
        draft_tokens=4,
        acceptance=0,
        draft_cost=0.05,
    ),
    row(
        "verification on the memory roof takes a step",
        "verify_time",
        Fraction(140, 3350),
        **ON,
        **DRAFT,
    ),
    row(
        "60 requests of 5 tokens are beyond it",
        "verify_time",
        Fraction(2 * 70 * 60 * 5, 989_400),
        **ON,
        **DRAFT,
        batch=60,
    ),
    row(
        "a tree of 64 at batch 8",
        "verify_time",
        Fraction(2 * 70 * 8 * 64, 989_400),
        **ON,
        batch=8,
        verified_tokens=64,
    ),
    row(
        "a tree of 64 at batch 4: memory",
        "verify_time",
        Fraction(140, 3350),
        **ON,
        batch=4,
        verified_tokens=64,
    ),
    row("time to draft", "draft_time", 4 * Fraction(5, 100) * Fraction(140, 3350), **ON, **DRAFT),
    row(
        "mean time a token",
        "speculative_itl",
        Fraction(140, 3350) * Fraction(12, 10) / expected_tokens(4, Fraction(8, 10)),
        **ON,
        **DRAFT,
    ),
]


@pytest.mark.parametrize("case", ROWS)
def test_row(case):
    check(case)


@pytest.mark.parametrize("drafted", [1, 2, 4, 7])
@pytest.mark.parametrize("tenths", [0, 3, 8, 10])
def test_tokens_of_a_verification_over_every_outcome(drafted, tenths):
    acceptance = Fraction(tenths, 10)
    assert Study(draft_tokens=drafted, acceptance=tenths / 10).value("tokens_per_verify") == near(
        expected_tokens(drafted, acceptance)
    )


@pytest.mark.parametrize(
    ("target", "cost", "acceptance"),
    [(2, 0, "0.519"), (3, 0, "0.741"), (2, 0.05, "0.622"), (3, 0.05, "0.835"), (1, 0.05, "0.167")],
)
def test_acceptance_for_a_speed_up(target, cost, acceptance):
    """1 + a + a^2 + a^3 + a^4 = target (1 + 4 c), put back in."""
    result = (
        Study(**ON, draft_tokens=4, draft_cost=cost, speedup_target=target)
        .solve("min_acceptance_speculation")
        .value
    )
    agree(result, acceptance)
    assert abs(
        sum(Fraction(result) ** k for k in range(5)) - target * (1 + 4 * Fraction(str(cost)))
    ) < Fraction(1, 10**9)


@pytest.mark.sample(1)
@pytest.mark.parametrize(("tenths", "hundredths"), [(8, 5), (6, 5), (9, 5), (7, 2)])
def test_best_length_of_a_draft_by_trying_them_all(tenths, hundredths):
    acceptance, cost = Fraction(tenths, 10), Fraction(hundredths, 100)

    def gain(drafted):
        return expected_tokens(drafted, acceptance) / (1 + drafted * cost)

    best = max(range(1, 15), key=gain)
    assert best < 14, "the best of those tried lies among them"
    assert Study(**ON, acceptance=tenths / 10, draft_cost=hundredths / 100).solve(
        "best_draft_tokens"
    ).integer == {"at_least": best}


@pytest.mark.parametrize(("drafted", "batch"), [(4, 59), (1, 147), (7, 36)])
def test_batch_that_leaves_room_to_verify(drafted, batch):
    """B(g + 1) <= b_w R/2 = 295.3: batching and speculation spend the same spare compute."""
    assert batch * (drafted + 1) <= Fraction(989_400, 3350) < (batch + 1) * (drafted + 1)
    assert Study(**ON, draft_tokens=drafted).solve("batch_verify_ridge").integer == {
        "at_most": batch
    }


def test_speculation_stops_paying_in_a_full_batch():
    """Where a step is on the compute roof, checking 5 tokens costs 5 and yields 3.362: slower than not drafting."""
    speedup = Study(**ON, **DRAFT, batch=1000).value("speculation_speedup")
    assert speedup == near(expected_tokens(4, Fraction(8, 10)) / (5 + Fraction(4 * 5, 100)))
    last = Study(**ON, **DRAFT).solve("max_batch_speculation").integer["at_most"]
    assert (
        Study(**ON, **DRAFT, batch=last).value("speculation_speedup")
        >= 1
        > Study(**ON, **DRAFT, batch=last + 1).value("speculation_speedup")
    )


@pytest.mark.parametrize("drafted", [1, 4, 6])
def test_work_and_traffic_of_a_verification_token_by_token(drafted):
    """Each of the drafted tokens and the last meets the keys before it and its own; every logit row is needed."""
    context, batch, layers, heads, width, residual = 1000, 3, 32, 32, 128, 4096
    pairs = sum(context - 1 + position for position in range(1, drafted + 2))
    matrices, head = 6_979_321_856, residual * 128_256
    work = batch * (2 * (matrices + head) * (drafted + 1) + 4 * layers * heads * width * pairs)
    study = Study(
        model="llama-3-8b",
        **H100,
        context=context,
        batch=batch,
        draft_tokens=drafted,
        assume={"activations": "off"},
    )
    assert study.value("verify_flops") == work
    assert study.value("verify_bytes") == 2 * (matrices + head) + batch * 131_072 * (
        context + drafted
    )


def test_nothing_drafted_is_a_decode_step():
    study = Study(**B8, **H100, context=500, batch=5, verified_tokens=1, assume=KV)
    assert study.value("verify_flops") == study.value("decode_flops")
    assert study.value("verify_bytes") == study.value("decode_bytes")
