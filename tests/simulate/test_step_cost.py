"""A step's time is that of the theory, at any requests."""

import random

import pytest

import symroof as sr
from symroof.simulate.step_cost import StepCost, request_share

from ..near import near
from ..tables import case_of

CASES = [
    {"model": "llama-3-8b"},
    {"model": "llama-3.1-70b", "tp": 4, "assume": {"roofline": "per_operator"}},
    {"model": "mixtral-8x7b", "tp": 2, "assume": {"roofline": "no_overlap", "logits": "all"}},
    {"model": "deepseek-v2-lite", "assume": {"attention": "full", "activations": "off"}},
    {"model": "deepseek-v3", "tp": 8, "assume": {"roofline": "per_operator", "mla": "reexpanded"}},
    {"model": "gemma-2-9b", "tp": 2},
    {"model": "llama-4-scout", "tp": 8},
    {"model": "jamba-1.5-mini", "tp": 2},
    {"model": "gpt-oss-20b", "assume": {"fusion": "unfused", "attention": "full"}},
    {"model": "deepseek-v3", "attention_dp": 8},
    {"model": "llama-3-70b", "tp": 2, "pp": 4},
    {"model": "qwen3-30b-a3b", "tp": 2, "attention_dp": 2, "pp": 2},
]


@pytest.mark.sample(5)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case["model"])
def test_steps_take_what_the_theory_says(case):
    draw = random.Random(str(case))
    for _ in range(3):
        groups, stages = case.get("attention_dp", 1), case.get("pp", 1)
        each, prompt = draw.randint(1, 8) * stages, draw.randint(2, 20_000)
        chunk, past = draw.randint(1, prompt), draw.randint(0, prompt)
        context, cached = draw.randint(1, 20_000), draw.randint(0, prompt - 1)
        work = {"prompt": prompt, "batch": each * groups, "chunk": chunk, "chunk_past": past}
        work |= {"context": context, "cached_prefix": cached}
        costs = case_of("step_overhead='1 ms' mfu=0.6 mbu=0.7 link_latency='3 us'")
        study = sr.Study(hardware="h200", **work, **costs, **case)
        cost, prefill = StepCost(study.first.case), StepCost(study.first.case, "prefill")
        tokens = [[each * x for x in cost.of_token(context)]] * groups
        assert cost.slowest([cost.nothing] * groups, tokens, [each] * groups) == near(
            study.value("itl"), 1e-9
        )
        prompts = [prefill.of_piece(prompt - cached, cached, 1.0)] * groups
        alone = float(study.value("prefill_time") + study.value("prefill_overhead"))
        assert prefill.slowest(
            prompts, [prefill.nothing] * groups, [0] * groups, [1] * groups
        ) == pytest.approx(alone, rel=1e-9)
        # a chunk of one prompt goes through all stages, or an even part of it through each
        if stages == 1:
            pieces = [cost.of_piece(chunk, past, 1.0)] + [cost.nothing] * (groups - 1)
            assert cost.slowest(pieces, tokens, [each] * groups) == near(
                study.value("mixed_time"), 1e-9
            )


@pytest.mark.parametrize("model", ["gemma-2-9b", "llama-4-scout", "gpt-oss-20b", "llama-3-8b"])
@pytest.mark.parametrize("attention", ["causal", "full"])
def test_what_a_request_adds_moves_evenly_as_far_as_is_said(model, attention):
    cost = StepCost(sr.Study(model, "h200", prompt=100, assume={"attention": attention}).first.case)
    draw = random.Random(model)
    edges = [n + d for n in (128, 4096, 8192) for d in (-1, 0, 1)]
    for context in [1, *edges, *(draw.randint(1, 30_000) for _ in range(30))]:
        last, start, slope = cost.until(context), cost.of_token(context), cost.slope(context)
        left = int(min(last, 1e9)) - context
        for further in {0, 1, 2, min(left, 50), left if last < 1e9 else 9}:
            if context + further <= last:
                assert cost.of_token(context + further) == pytest.approx(
                    [a + further * b for a, b in zip(start, slope, strict=True)]
                )


def test_with_a_fixed_cache_every_step_is_at_the_context():
    case = case_of("model=llama-3-8b hardware=h200 prompt=100 context=500 kv_growth=fixed")
    cost = StepCost(sr.Study(**case).first.case)
    assert cost.of_token(101) == cost.of_token(9000)
    assert cost.slope(101) == cost.nothing


@pytest.mark.parametrize("layout", [{}, {"tp": 2}, {"pp": 2, "tp": 2}, {"attention_dp": 4}])
def test_memory_holds_as_many_as_the_theory_says(layout):
    for model in ("llama-3-8b", "gemma-2-9b", "deepseek-v2-lite"):
        study = sr.Study(model, "h100-sxm", prompt=3000, output=700, **layout)
        share = request_share(study.first.case)(3699)
        assert layout.get("attention_dp", 1) * int(1 / share + 1e-9) == study.value("concurrency")


def test_a_case_without_hardware_has_no_step_times():
    with pytest.raises(sr.InputError, match="no step times"):
        StepCost(sr.Study("llama-3-8b", prompt=100).first.case)
