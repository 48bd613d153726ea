"""Speculation: drafts, heads that predict ahead, trees, and what batching leaves of it (systems 47-49)."""

import itertools
from fractions import Fraction

import pytest

from symroof.api import Study

from ..near import near
from . import B8, B70, H100, KV, WEIGHTS, check, rows

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


ROWS = rows(
    globals(),
    """
speculation_speedup | = 1/1.2 | ON draft_tokens=4 acceptance=0 draft_cost=0.05
verify_time     | = 140/3350 | ON DRAFT
verify_time     | = 2*70*60*5/989_400 | ON DRAFT batch=60
draft_time      | = 4*0.05*140/3350 | ON DRAFT
speculative_itl | = 140/3350*1.2/expected_tokens(4, Fraction(8, 10)) | ON DRAFT
""",
)


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
    step = {"context": context, "batch": batch, "draft_tokens": drafted}
    study = Study(model="llama-3-8b", **H100, **step, assume={"activations": "off"})
    assert study.value("verify_flops") == work
    assert study.value("verify_bytes") == 2 * (matrices + head) + batch * 131_072 * (
        context + drafted
    )


def test_nothing_drafted_is_a_decode_step():
    study = Study(**B8, **H100, context=500, batch=5, verified_tokens=1, assume=KV)
    assert study.value("verify_flops") == study.value("decode_flops")
    assert study.value("verify_bytes") == study.value("decode_bytes")
