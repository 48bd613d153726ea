"""Formulas of one's own at the command line: studies that define quantities and thresholds, theories with no LLM in them."""

import pytest

from ..near import near
from . import call, good

STUDY = """title: own
model: llama-3-8b
hardware: h100-sxm
workload: {prompt: 4096, output: 128, batch: 4}
set: {hit_rate: 0.25}
efficiency: peak
define:
  wasted_prefill: {formula: prefill_flops*(1 - hit_rate), unit: FLOP, means: work that a perfect prefix cache would save}
  wasted_time: {formula: wasted_prefill/(mfu*peak_flops), unit: s, means: its time}
thresholds: [max_batch_memory, {name: wasted_tenth, equation: wasted_time = 100 ms, unknown: prompt, means: from here on a tenth of a second is wasted}]
claims: [claims.yaml]
"""
CLAIMS = """source: a note
claims:
- {id: right, says: 46.7 ms, quantity: wasted_time, given: {model: llama-3-8b, hardware: h100-sxm, prompt: 4096, hit_rate: 0.25}, value: 46.7 ms}
- {id: wrong, says: 93 ms, quantity: wasted_time, given: {model: llama-3-8b, hardware: h100-sxm, prompt: 4096, hit_rate: 0.25}, value: 93 ms}
"""
PREFILL = (
    2 * 32 * 4096 * ((32 + 16) * 128 + 32 * 128 + 3 * 14336) * 4096
    + 4 * 32 * 32 * 128 * (4096 * 4097 // 2)
    + 2 * 4096 * 128256
)
"""FLOPs of a prefill of Llama-3-8B at 4,096 tokens: the matrices, the causal pairs, one row of logits."""
WASTED = PREFILL * 3 / 4


@pytest.fixture
def study(tmp_path):
    (tmp_path / "claims.yaml").write_text(CLAIMS)
    path = tmp_path / "own.yaml"
    path.write_text(STUDY)
    return path


def test_derive_solve_and_sweep_take_it(study):
    derived = good("derive", "wasted_time", study, "--json").json
    assert derived["value"] == pytest.approx(WASTED / 989.4e12)
    assert r"\mathrm{wasted\_prefill}" in derived["definition"]["latex"]
    solved = good("solve", "wasted_tenth", study, "--json").json
    least = solved["integer"]["at_least"]
    swept = good(
        *("sweep", study, "--over", f"prompt={least - 1}:{least}"),
        *("--output", "1", "-q", "wasted_time", "--json"),
    ).json
    before, after = swept["data"]["wasted_time"]
    assert before < 0.1 <= after


def test_a_value_for_it_replaces_the_formula(study):
    (case,) = good("eval", study, "--set", "wasted_prefill=9.894 TFLOP", "--json").json["cases"]
    assert case["quantities"]["wasted_time"]["value"] == pytest.approx(0.01)


def test_a_theory_without_an_llm_answers_for_itself(tmp_path):
    run = ("training-step", "--set", "model_parameters=70e9", "--set", "training_tokens=1.4e12")
    (case,) = good("eval", *run, "--json").json["cases"]
    assert case["quantities"]["training_flops"] == near({"value": 588 * 10**21, "unit": "FLOP"})
    assert (
        set(case["inputs"]) >= {"model_parameters", "training_tokens"} and case["assumptions"] == {}
    )
    assert (
        "ttft" not in case["unknown"]
        and "needs accelerator_flops" in case["unknown"]["training_time"]
    )
    assert "ttft" not in good("eval", *run).out
    swept = good(
        "sweep", *run, "--over", "accelerators=1:4:x2", "-q", "weights_sharded_bytes", "--json"
    ).json
    assert swept["data"]["weights_sharded_bytes"] == [1.12e12, 0.56e12, 0.28e12]
    assert swept["assumptions"] == {}
    assert call("report", *run, "-o", "-", "--format", "md").code == 2


def test_a_study_of_a_theory_and_a_model_joins_both(tmp_path):
    path = tmp_path / "joined.yaml"
    path.write_text(
        "title: t\ntheory: training-step\nmodel: llama-3-8b\nhardware: h100-sxm\nworkload: {prompt: 128}\n"
        "set: {model_parameters: params, accelerator_flops: peak_flops, training_tokens: 15e12}\n"
        "define: {runs_paid: {formula: training_time*price, unit: USD, means: m}}\n"
    )
    (case,) = good("eval", path, "--set", "price=36 USD/hour", "--json").json["cases"]
    flops = 6 * 8_030_261_248 * 15 * 10**12
    assert case["quantities"]["training_flops"]["value"] == near(flops)
    assert case["quantities"]["runs_paid"]["value"] == pytest.approx(flops / 989.4e12 * 0.01)
    assert "itl" in case["quantities"]
