"""Figures of the catalogue and the efficiencies that symroof ships, in cases and studies: by hand."""

import math

import pytest

import symroof as sr
from symroof.specs.efficiencies import shipped_efficiencies

from ..tables import case_of

# --------------------------------------------------------------------------------------------------- efficiency: measured


def test_a_measured_study_by_hand():
    """Llama 3 8B on an H100 at batch 1: the step is its bytes over mbu, 32 layers, and a vector of 4,096 elements in each, all with their own intervals."""
    peak = sr.Study("llama-3-8b", "h100-sxm", prompt=512, efficiency="peak")
    study = sr.Study("llama-3-8b", "h100-sxm", prompt=512)
    mbu, layer, between = (
        study.first.inputs()[name] for name in ("mbu", "layer_overhead", "elementwise_bytes")
    )
    itl = study.value("itl")
    ends = (
        (itl.low, mbu.high, layer.low, between.low),
        (itl.high, mbu.low, layer.high, between.high),
        (float(itl), mbu.value, layer.value, between.value),
    )
    for found, *amounts in ends:
        share, cost, traffic = map(float, amounts)
        by_hand = float(peak.value("itl")) / share + 32 * cost + traffic * 32 * 4096 / 3.35e12
        assert found == pytest.approx(by_hand, rel=1e-9)
    assert study.value("mbu").low < float(study.value("mbu")) < study.value("mbu").high


def test_given_numbers_win_one_by_one():
    case = case_of("model=llama-3-8b hardware=h100-sxm prompt=512")
    given = case_of("efficiency=measured mbu=0.9 layer_overhead=0 elementwise_bytes=0")
    study = sr.Study(**case, **given)
    assert study.value("mbu") == sr.Study(mbu=0.9).value("mbu")
    assert study.value("mfu").low < study.value("mfu").high
    peak = sr.Study(**case, efficiency="peak").value("itl")
    assert float(study.value("itl")) == pytest.approx(float(peak) / 0.9)


def test_links_count_where_there_are_several_devices():
    one, two = (
        sr.Study("llama-3-8b", "h100-sxm", prompt=512, tp=tp, efficiency="measured").first.given
        for tp in (1, 2)
    )
    assert "link_share" not in one
    assert two["link_share"].setting.low < two["link_share"].setting.expected <= 1


def test_the_latency_of_links_is_that_of_the_group_and_of_the_engine():
    """An all-reduce of a pair is quicker than one of eight, and a kernel of an engine's own quicker than the library's."""
    studies = [
        sr.Study("llama-3-8b", "h100-sxm", prompt=512, tp=tp, efficiency="measured", engine=name)
        for name in ("vllm", "vllm 0.6", "eager")
        for tp in (2, 8)
    ]
    times = [float(study.value("link_latency")) for study in studies]
    assert times == pytest.approx([4.98e-6, 7.22e-6, 4.98e-6, 7.22e-6, 10.8e-6, 26.8e-6])


@pytest.mark.parametrize(("weights", "activations"), [("bf16", "bf16"), ("fp8", "fp8")])
def test_a_device_that_multiplies_slowly_reads_weights_slowly(weights, activations):
    """An H20 at batch 1: 64 rows by each 16-bit weight are 128 FLOP for 2 bytes, and 148 TFLOP/s against 4 TB/s give 37 FLOP a byte; fp8 is twice as fast
    and half as wide."""
    case = case_of("model=qwen3-32b hardware=h20 prompt=512 efficiency=measured")
    study = sr.Study(**case, weights=weights, activations=activations)
    mfu = study.value("mfu")
    assert float(study.value("mbu")) == pytest.approx(float(mfu) * 37 / 64, rel=1e-9)
    assert study.value("mbu").low == pytest.approx(mfu.low * 37 / 64, rel=1e-9)
    assert float(study.value("decode_memory_time")) == pytest.approx(
        float(study.value("decode_bytes")) / (float(mfu) * 148e12 * 2 / 128), rel=1e-9
    )


def test_the_tile_limits_what_it_should_and_nothing_else():
    """Not weights narrower than what is multiplied, not kernels of single rows, not a share that is given, not a device with compute to spare."""
    own = shipped_efficiencies().chosen("mbu", ["hbm"], "compiled")[0].value.value
    for hardware, options in (
        ("h20", {"weights": "awq"}),
        ("h20", {"engine": "ggml"}),
        ("h100-sxm", {}),
        ("m3-max", {}),
    ):
        study = sr.Study("qwen3-8b", hardware, prompt=512, efficiency="measured", **options)
        assert study.value("mbu") == float(own), (hardware, options)
    given = sr.Study("qwen3-8b", "h20", prompt=512, efficiency="measured", mbu=0.9)
    assert given.value("mbu") == sr.Study(mbu=0.9).value("mbu")


@pytest.mark.parametrize(
    ("engine", "more"), [("eager", True), ("HF Transformers", True), ("vllm", False)]
)
def test_the_engine_chooses_among_the_measured(engine, more):
    case = case_of("model=llama-3-8b hardware=h100-sxm prompt=512 efficiency=measured")
    itl = [float(sr.Study(**case, engine=name).value("itl")) for name in (engine, "compiled")]
    assert (itl[0] > itl[1]) == more
    assert math.isclose(*itl) != more


def test_a_device_that_was_never_measured_says_so():
    study = sr.Study("llama-3-8b", "m3-max", prompt=512, efficiency="measured", engine="compiled")
    assert any("vLLM does not run on Apple GPUs: add --engine" in w for w in study.first.warnings)
    entries = shipped_efficiencies().efficiencies
    (general,) = (e for e in entries if (e.input, e.family, e.engine) == ("mfu", "all", "all"))
    found, word = shipped_efficiencies().chosen("mfu", ["optical"], "eager")
    assert found == general and "of all devices" in word


STUDY = "model: llama-3-8b\nhardware: h100-sxm\nworkload: {prompt: 512}\nefficiency: "


@pytest.mark.parametrize(
    ("text", "mbu"),
    [
        ("measured", None),
        ("{from: measured, mbu: 0.8, engine: eager}", 0.8),
        ("{mbu: 0.8}", 0.8),
        ("peak", 1.0),
        ("{from: peak}", 1.0),
    ],
)
def test_a_study_file_says_where_efficiencies_come_from(text, mbu, tmp_path):
    path = tmp_path / "study.yaml"
    path.write_text(STUDY + text + "\n", encoding="utf-8")
    study = sr.Study.load(path)
    shipped = shipped_efficiencies().chosen("mbu", ["hbm"], "compiled")[0].value.value
    assert float(study.value("mbu")) == pytest.approx(mbu or float(shipped))
    assert (study.value("mfu").low < 1) == ("measured" in text)


def test_a_class_of_engines_is_predicted_from_its_measurements():
    """Qwen3-14B-AWQ in eager mode, one request of 16,000 tokens on an A100: TPOT 20.6 ms (vllm-project/vllm issue 20469)."""
    case = {"weights": "awq", "prompt": 16000, "output": 200, "engine": "eager"}
    found = sr.Study("qwen3-14b", "a100-80gb-sxm", **case).result("itl")
    assert found.low < 0.0206 < found.high


def test_what_efficiencies_in_part_leave_out_is_said():
    whole = {"mfu": 0.5, "mbu": 0.8, "layer_overhead": "80 us"}
    silent = [
        whole,
        *({"mbu": 0.8} | each for each in ({"engine": "ideal"}, {"efficiency": "peak"})),
    ]
    for given in ({"mfu": 0.5, "mbu": 0.8}, {"mbu": 0.8}, *silent):
        warnings = "".join(sr.Study("llama-3-8b", "h100-sxm", prompt=512, **given).first.warnings)
        assert ("--efficiency measured takes it" in warnings) == (given not in silent)


def test_the_speed_up_of_drafts_has_an_interval():
    """DeepSeek-R1 on 8 MI355X, 4 requests of 1,024/1,024: 9.17 ms a token, 6.12 with the model's own head (InferenceX, 2026-06)."""
    drafts = {"draft": "mtp", "draft_tokens": 3, "acceptance": 0.7, "batch": 4}
    case = {"weights": "fp8", "tp": 8, "prompt": 1024, "output": 1024, "engine": "sglang", **drafts}
    found = sr.Study("deepseek-r1", "mi355x", **case).result("speculation_speedup")
    assert found.low < 9.17 / 6.12 < found.high
