"""Prefix hits and drafts in what a server does under load, each by hand from its parts."""

from fractions import Fraction

import pytest

from symroof.api import Study
from symroof.select.selection import select

from ..near import near
from . import case_of

CASE = case_of("model=llama-3.1-8b hardware=h100-sxm engine=ideal prompt=8192 output=201 batch=16")
HIT = Fraction(3, 5)
SCHEDULES = ("chunked", "exclusive", "disaggregated")


def case(scheduling, **chosen):
    more = {"prefill_devices": 1} if scheduling == "disaggregated" else {}
    return Study(**{**CASE, **more, "assume": {"scheduling": scheduling}, **chosen}).first.case


@pytest.mark.parametrize(
    "name", ["sustained_requests", "sustained_itl", "loaded_ttft", "cost_per_mtok", "load"]
)
@pytest.mark.parametrize("scheduling", SCHEDULES)
def test_all_hits_are_a_cached_prefix_and_no_hits_are_none(scheduling, name):
    work = {"arrival_rate": 1, "chunk": 2048} if scheduling == "chunked" else {"arrival_rate": 1}
    every, none, plain, whole, some = (
        float(case(scheduling, **work, **more).value(name))
        for more in (
            {"cached_prefix": 8000, "hit_rate": 1},
            {"cached_prefix": 8000, "hit_rate": 0},
            {"cached_prefix": 8000},
            {},
            {"cached_prefix": 8000, "hit_rate": "0.6"},
        )
    )
    assert every == pytest.approx(plain, rel=1e-9) and none == pytest.approx(whole, rel=1e-9)
    # there the decode may limit
    assert min(every, none) <= some <= max(every, none) and (
        some not in (every, none) or scheduling == "disaggregated"
    )


def test_the_mean_prefill_of_hits_and_misses_where_prefills_stop_the_decode():
    """A batch of 16 takes 200 steps and 16 prefills, of which six in ten are of 192 tokens behind 8,000."""
    found = case("exclusive", cached_prefix=8000, hit_rate="0.6")
    hit, miss = (
        case("exclusive", cached_prefix=cached).value("prefill_time") for cached in (8000, 0)
    )
    read = HIT * hit + (1 - HIT) * miss
    assert found.value("sustained_requests") == Fraction(16) / (
        200 * found.value("loaded_decode_time") + 16 * read
    )
    assert found.value("service_time") == read == pytest.approx(found.value("loaded_ttft"))
    assert found.value("service_time_met") == (HIT * hit**2 + (1 - HIT) * miss**2) / read


def test_the_work_of_chunks_is_that_of_hits_and_misses():
    """Tokens and pairs of a mean prompt, counted one by one."""
    found = case("chunked", cached_prefix=8000, hit_rate="0.6", chunk=2048)
    new, start, chunk = (
        found.value(name) for name in ("uncached_prompt", "chunk_start", "prefill_chunk")
    )
    assert new == HIT * 192 + (1 - HIT) * 8192
    pairs = HIT * sum(range(8001, 8193)) + (1 - HIT) * sum(range(1, 8193))
    assert new / chunk * (chunk * start + chunk * (chunk + 1) / 2) == near(pairs)


def test_a_selection_buys_for_the_misses():
    """The misses are most of the work: as many devices as for the same mean work, four times those of hits alone."""
    line = case_of(
        "model=llama-3.1-8b hardware=l40s prompt=8192 output=200 arrival_rate=60 efficiency=peak"
    ) | {"targets": {"itl": "60 ms"}}
    some, every, alike = (
        select(**line, **more).configurations[0].copies
        for more in (
            {"cached_prefix": 8000, "hit_rate": "0.6"},
            {"cached_prefix": 8000},
            {"cached_prefix": 4800},
        )
    )
    assert some > every and abs(some - alike) <= 0.1 * alike


DRAFTS = {"draft": "llama-3.2-1b", "draft_tokens": 4, "acceptance": "0.7"}


def test_a_token_under_load_is_a_share_of_a_verification():
    """Where every step is at one context and prompts are read elsewhere, a step under load is a verification and its drafts."""
    fixed = {"assume": {"scheduling": "disaggregated", "kv_growth": "fixed"}, "prefill_devices": 64}
    found, plain = (Study(**{**CASE, **fixed, **more}).first.case for more in (DRAFTS, {}))
    accepted = sum(Fraction(7, 10) ** n for n in range(5))
    spent = found.value("verify_time") + 4 * found.value("draft_cost") * found.value("itl")
    assert found.value("sustained_itl") == spent / accepted == found.value("speculative_itl")
    assert found.value("sustained_requests") == Fraction(16) / (200 / accepted * spent)
    assert found.value("sustained_itl") < plain.value("sustained_itl") == plain.value("itl")
    given = Study(**{**CASE, **fixed, "draft_tokens": 4, "tokens_per_verify": 3}).first.case
    assert given.value("sustained_itl") == given.value("verify_time") / 3


@pytest.mark.parametrize("scheduling", SCHEDULES)
def test_drafts_that_are_never_accepted_cost_and_those_that_always_are_gain(scheduling):
    drafted = {"draft_tokens": 4, "draft_cost": "0.1"}
    none, every, plain = (
        case(scheduling, **more).value("sustained_itl")
        for more in ({**drafted, "acceptance": 0}, {**drafted, "acceptance": 1}, {})
    )
    assert every < plain < none
