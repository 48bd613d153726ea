"""The largest batch that a selection chooses, against a walk over whole batches: of models with experts and latents, with windows, and of a mix of requests.

Every batch of a walk is bound afresh and worked out exactly; the models have few layers, so that exact numbers are short.
"""

from fractions import Fraction

import pytest

from symroof.api import Study
from symroof.select.selection import select
from symroof.specs.fields import build
from symroof.specs.model import ModelSpec
from symroof.strict_yaml import loads

from ..near import near
from ..tables import case_of

LATENT = "{kind: mla, n_heads: 8, q_lora_rank: 96, kv_lora_rank: 128, qk_nope_dim: 32, qk_rope_dim: 16, value_dim: 32}"
LAYERS = {
    "latents and experts": f"- {{count: 1, attention: {LATENT}, ffn: {{kind: gated, d_ff: 4096}}}}\n"
    f"- {{count: 2, attention: {LATENT}, ffn: {{kind: moe, n_experts: 32, experts_per_token: 4, n_shared_experts: 1, d_expert: 512}}}}",
    "windows": "- {count: 2, attention: {kind: gqa, n_heads: 16, n_kv_heads: 4, head_dim: 64, window: 700}, ffn: {kind: gated, d_ff: 4096}}\n"
    "- {count: 1, attention: {kind: gqa, n_heads: 16, n_kv_heads: 4, head_dim: 64}, ffn: {kind: gated, d_ff: 4096}}",
    "plain": "- {count: 2, attention: {kind: gqa, n_heads: 16, n_kv_heads: 4, head_dim: 64}, ffn: {kind: gated, d_ff: 4096}}",
}
MODELS = {
    name: build(loads(f"name: tiny\nd_model: 1024\nvocab_size: 8192\nlayers:\n{layers}"), ModelSpec)
    for name, layers in LAYERS.items()
}
CASE = case_of(
    "peak_flops='20 TFLOP/s' mem_bandwidth='100 GB/s' link_bandwidth='20 GB/s' price='1 USD/hour' "
    "network_bandwidth='20 GB/s' mem_capacity='4 GB' prompt=900 output=60 chunk=16000 "
    "efficiency=peak node_devices=8"
)
MIX = {"long_share": 0.2, "long_prompt": 2500, "long_output": 150}
LIMITS = {"itl": 0.06, "ttft": 0.06}
WALKS = [
    ("latents and experts", {"tp": 1, "attention_dp": 4, "ep": 4}, {"itl": 0.006}, "itl"),
    ("latents and experts", {"tp": 4}, {"ttft": 0.008}, "ttft"),
    ("latents and experts", {"tp": 1, "attention_dp": 4}, {"ttft": 60}, "memory"),
    ("windows", {"tp": 2}, {"ttft": 60}, "memory"),
    ("windows", {"tp": 2}, {"ttft": 0.008}, "ttft"),
    ("windows", {"assume": {"scheduling": "exclusive"}}, {"itl": 0.006}, "itl"),
    ("plain", MIX, {"itl": 0.006}, "itl"),
    ("plain", {**MIX, "tp": 2}, {"ttft": 0.008}, "ttft"),
    ("plain", {**MIX, "tp": 2}, {"ttft": 60}, "memory"),
]
"""A model, how it is served, the tighter limit, and what one request more breaks."""


def passes(case, batch, limits):
    """Whether a batch passes in a case bound afresh, by the exact quantities of the mix where it serves one: a slot then holds the mean cache of the mix."""
    kind = "mix_" if "long_share" in case else ""
    own = {"peak_context": Study(**case).value("mix_peak_context")} if kind else {}
    made = Study(**case, **own, memory_share=0.92, batch=batch)
    return bool(made.value("fits")) and all(
        made.value(kind + name) <= limits[target]
        for target, name in (("itl", "sustained_itl"), ("ttft", "loaded_ttft"))
    )


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("model", "served", "tighter", "stopped_by"),
    WALKS,
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_largest_batch_is_that_of_a_walk(model, served, tighter, stopped_by):
    case, limits = {"model": MODELS[model], **CASE, **served}, {**LIMITS, **tighter}
    (chosen,) = select(**case, targets=limits).configurations
    most = chosen.window.most
    tried = sorted({*range(1, most, most // 3), most, most + 1, most + 9})
    assert chosen.window.stopped_by == (stopped_by,)
    assert [batch for batch in tried if passes(case, batch, limits)] == [
        batch for batch in tried if batch <= most
    ]


@pytest.fixture(scope="module")
def bought():
    """A fleet for 1,000 requests of the mix a second."""
    return select(model=MODELS["plain"], **CASE, **MIX, targets=LIMITS, arrival_rate=1000)


@pytest.mark.full
def test_copies_bear_the_mix_and_one_less_does_not(bought):
    (c,) = bought.configurations
    states = []
    for copies in (c.copies, c.copies - 1):
        made = Study(
            model=MODELS["plain"], **CASE, **MIX, arrival_rate=1000, dp=copies, batch=c.batch
        )
        ttft, slot = made.first.get("mix_loaded_ttft"), made.first.get("mix_admission_wait")
        waited = ttft is not None and ttft.value + slot.value <= Fraction(6, 100)
        states.append(made.value("mix_load") < 1 and waited)
    assert states == [True, False]
    (alike,) = select(
        model=MODELS["plain"], **CASE, targets=LIMITS, arrival_rate=1000
    ).configurations
    assert c.copies > alike.copies, "long requests are not left out"


def test_what_a_million_tokens_of_a_mix_cost_by_hand(bought):
    """Copies at 1 USD an hour for 1,000 requests of 0.8*60 + 0.2*150 tokens each second."""
    run = bought.configurations[0]
    assert float(run.result("cost_per_mtok_at_rate").value) == pytest.approx(
        run.copies / 3600 * 10**6 / (1000 * (0.8 * 60 + 0.2 * 150)), rel=1e-3
    )
    assert run.result("fleet_price").value == near(run.copies / 3600)


def test_half_a_mix_is_no_mix_and_says_so():
    case = {"model": MODELS["plain"], **CASE, "batch": 4}
    (c,) = select(**case, long_share=0.2, targets=LIMITS).configurations
    said = "long_share without long_prompt and long_output: all requests are treated as equal"
    assert said in c.own.warnings
    assert c.result("sustained_itl").value == Study(**case).value("sustained_itl")


def test_long_requests_of_which_one_length_is_said_have_the_other_of_all():
    case = {"model": MODELS["plain"], **CASE, "batch": 4, "long_share": 0.2, "long_prompt": 2500}
    half, whole = Study(**case), Study(**case, long_output=CASE["output"])
    assert half.value("sustained_itl") == whole.value("sustained_itl")
    assert half.value("sustained_itl") != Study(**case | {"long_share": 0}).value("sustained_itl")
