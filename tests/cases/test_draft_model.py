"""A draft model of its own, against times and bytes counted by hand for both models."""

import pytest

import symroof as sr
from tests.tables import case_of

BETA, M = 3.35e12, 81559 * 2**20
LARGE, SMALL = 8030261248, 1235814400
"""Parameters of Llama 3.1 8B and Llama 3.2 1B."""
CACHES = 2 * 2 * 32 * 8 * 128, 2 * 2 * 16 * 8 * 64
"""Bytes of one token's cache of each."""
CASE = case_of(
    "engine=ideal model=llama-3.1-8b draft=llama-3.2-1b hardware=h100-sxm prompt=2000 "
    "output=100 draft_tokens=4 acceptance=0.8"
)


def study(**chosen):
    return sr.Study(**(CASE | chosen))


@pytest.mark.parametrize(("batch", "tp", "mbu"), [(1, 1, 1.0), (16, 1, 0.8), (64, 2, 0.7)])
def test_a_drafted_token_costs_the_draft_models_own_step(batch, tp, mbu):
    """Its step is that of the small model alone, over the step of the large one."""
    load = {"batch": batch, "tp": tp, "mbu": mbu, "mfu": 0.5}
    alone = {name: CASE[name] for name in ("engine", "hardware", "prompt", "output")}
    small, large = (
        sr.Study(name, **alone, **load).value("itl") for name in ("llama-3.2-1b", "llama-3.1-8b")
    )
    assert study(**load).value("draft_cost") == pytest.approx(small / large, rel=1e-9)


def test_memory_counts_the_drafts_weights_and_caches():
    by_hand = 2 * (LARGE + SMALL) + 8 * 2099 * sum(CACHES)
    made = study(batch=8)
    assert float(made.value("memory_bytes")) == by_hand
    assert float(study(batch=8, memory_reserve="2 GB").value("memory_bytes")) == by_hand + 2e9
    source = made.first.inputs()["memory_reserve"].source
    assert "draft llama-3.2-1b: its weights and cache" in source


def test_the_largest_batch_shares_memory_with_the_draft():
    by_hand = int((M - 2 * (LARGE + SMALL)) // (2099 * sum(CACHES)))
    assert study().solve("max_batch_memory").integer == {"at_most": by_hand}
    assert int(study().value("concurrency")) == int(study(batch=7).value("concurrency")) == by_hand


def test_the_speed_up_by_hand():
    """Leviathan: (1 - a^5)/(1 - a) tokens a verification, over one verification and four drafted tokens."""
    made = study(batch=1)
    tokens = (1 - 0.8**5) / (1 - 0.8)
    spent = made.value("verify_time") + 4 * made.value("draft_cost") * made.value("itl")
    assert float(made.value("speculative_itl")) == pytest.approx(spent / tokens, rel=1e-9)


def test_a_threshold_over_the_batch_moves_the_draft_along():
    work = {"prompt": 64, "acceptance": 0.6}
    batch = study(**work).solve("max_batch_speculation").integer["at_most"]
    speed = [float(study(batch=n, **work).value("speculation_speedup")) for n in (batch, batch + 1)]
    assert speed[0] >= 1 > speed[1]


def test_a_cost_that_is_set_wins_with_a_warning_and_a_range_of_the_reserve_is_refused():
    made = study(draft_cost=0.5)
    assert float(made.value("draft_cost")) == 0.5
    assert any("draft_cost is given" in warning for warning in made.first.warnings)
    with pytest.raises(sr.InputError, match="memory_reserve"):
        study(memory_reserve="1 GB..2 GB").value("fits")


def test_a_head_of_the_model_is_one_more_layer_that_shares_the_vocabulary():
    """MTP and EAGLE: Llama 3.1 70B has layers of 855,654,400 parameters, so a head in fp16 adds 1.711 GB and a norm."""
    case = {"model": "llama-3.1-70b", "hardware": "h200", "tp": 4, "prompt": 1024, "output": 1}
    alone = sr.Study(**case, kv="fp16")
    drafted = sr.Study(**case, kv="fp16", draft="mtp", draft_tokens=3, acceptance=0.7)
    layer = 2 * 855_654_400 + 2 * 8192
    cache = 4096 * 1024  # one layer: keys and values of 8 heads of 128 in two bytes
    more = drafted.value("memory_bytes") - alone.value("memory_bytes")
    assert more == pytest.approx(layer + 2 * 8192 + cache, rel=1e-3)
    assert 1 / 81 < drafted.value("draft_cost") < 3 / 81


@pytest.mark.parametrize(
    ("given", "free", "exact"),
    [
        ({"acceptance": 0.7}, True, True),
        ({"acceptance": 0.7, "draft_cost": 0.1}, False, True),
        ({"acceptance": "0.6..0.8", "draft_cost": 0.1}, False, False),
    ],
)
def test_what_is_assumed_of_drafts_is_said(given, free, exact):
    load = {"prompt": 1024, "output": 8, "draft_tokens": 3}
    warnings = sr.Study("llama-3.1-8b", "h100-sxm", **load, **given).first.warnings
    assert any("as if drafting cost nothing" in word for word in warnings) is free
    assert any("is taken as exact" in word for word in warnings) is exact


def test_a_draft_without_a_count_drafts_nothing_and_says_so():
    study = sr.Study("llama-3.1-8b", "h100-sxm", prompt=1024, output=8, draft="eagle")
    assert any("nothing is drafted" in word for word in study.first.warnings)
