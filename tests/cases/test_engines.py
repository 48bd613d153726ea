"""What engines decide of a case: the memory that they reserve at every layout, layouts that they refuse, and caches as they lay them out (vLLM pull request 47716, FlashMLA)."""

import pytest

import symroof as sr
from symroof.api import Study
from symroof.errors import InputError
from symroof.resources import data_folder
from symroof.symbolic.evaluation import evaluate
from symroof.symbolic.reading import parse

ENGINES = sorted(path.stem for path in data_folder("specs").glob("engines/*.yaml"))
LAYOUTS = [
    {"pp": 2},
    {"tp": 2},
    {"tp": 2, "pp": 4},
    {"attention_dp": 2},
    {"attention_dp": 2, "pp": 2},
]


def served(engine, model="llama-3.1-8b", **more):
    return sr.Study(model, "h100-sxm", engine=engine, prompt=1000, output=200, batch=8, **more)


@pytest.mark.sample(5)
@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_has_memory_and_times_at_every_layout(engine, layout):
    model = "qwen3-30b-a3b" if "attention_dp" in layout else "llama-3.1-8b"
    case = served(engine, model, **layout).first.case
    for name in ("memory_bytes_per_device", "concurrency", "sustained_itl"):
        assert case.value(name) > 0
    assert case.value("memory_reserve") >= 0
    assert case.value("fits") is True


def test_a_stage_reserves_by_its_own_weights():
    """TensorRT-LLM: 4 % of the device, and a tenth of what these and the weights leave. The last of three stages has ten layers, the others eleven."""
    case = served("tensorrt-llm", pp=3).first.case
    of = {
        stage: {
            name: case.value(f"{name}_per_device.{stage}")
            for name in ("weight_bytes", "memory_bytes", "request_bytes")
        }
        | {"cache": evaluate(parse(f"kv_cache_bytes_per_device.{stage}(context = 1199)"), case)}
        for stage in ("first", "last")
    }
    room = []
    for held in of.values():
        device = case.value("mem_capacity")
        reserve = device / 25 + (device * 24 / 25 - held["weight_bytes"]) / 10
        assert held["memory_bytes"] == held["weight_bytes"] + held["cache"] + reserve
        usable = case.value("usable_memory_per_device")
        room.append((usable - reserve - held["weight_bytes"]) // held["request_bytes"])
    assert case.value("concurrency") == min(room)
    assert of["first"]["weight_bytes"] != of["last"]["weight_bytes"]


LLAMA = {"model": "llama-3.1-8b", "hardware": "h100-sxm", "prompt": 2048}


@pytest.mark.parametrize("engine", ["vllm", "sglang", "tensorrt-llm"])
def test_an_engine_keeps_each_query_head_on_one_device(engine):
    """Of 32 query heads and 8 of the cache: 64 devices could copy the cache's heads evenly, and leave half of the devices without a query head."""
    with pytest.raises(InputError, match="tp 64 does not divide 32 query heads, which .* refuses"):
        Study(**LLAMA, engine=engine, tp=64).first  # noqa: B018
    assert Study(**LLAMA, engine=engine, tp=32).first.case.value("instance_devices") == 32


def test_physics_alone_may_leave_devices_without_a_query_head():
    assert Study(**LLAMA, engine="ideal", tp=64).first.case.value("instance_devices") == 64


@pytest.mark.parametrize(
    ("engine", "tp", "said"), [("sglang", 8, True), ("sglang", 1, False), ("vllm", 8, False)]
)
def test_groups_inside_a_tensor_parallel_one_are_told_apart(engine, tp, said):
    """SGLang's --tp-size 8 --dp-size 8 --enable-dp-attention is eight devices; tp 8 in each of eight groups is 64."""
    case = Study("deepseek-v3", "h200", engine=engine, prompt=2048, tp=tp, attention_dp=8).first
    assert case.case.value("instance_devices") == 8 * tp
    lines = [
        line
        for line in case.warnings
        if line.startswith(
            "tp is of one attention group here, so tp 8 and attention_dp 8 are 64 devices"
        )
    ]
    assert len(lines) == said and all(
        line.endswith("its tp 8 is tp 1, attention_dp 8") for line in lines
    )


MILLION = 1_048_576


def cache(model, hardware=None, quantity="kv_bytes_per_token", **given):
    return sr.Study(model, hardware, **{"prompt": MILLION, **given}).value(quantity)


def test_v32_has_scales_and_a_wide_rotary_part_in_fp8():
    assert cache("deepseek-v3.2", "h200", kv="fp8") == 61 * (512 + 4 * 4 + 64 * 2 + 132)
    assert cache("deepseek-v3.2", "h200") == 61 * (576 * 2 + 132)  # auto is 16 bits in vLLM
    assert cache("deepseek-v3.2", "h200", engine="sglang") == 61 * (576 * 2 + 132)
    assert cache("deepseek-v3.2", "b200", engine="sglang") == 61 * 788  # and fp8 on SM100
    assert cache("deepseek-v3", "h200", kv="fp8") == 61 * 576  # no indexer: plain fp8


@pytest.mark.parametrize(("model", "gib"), [("deepseek-v4-pro", 8.71), ("deepseek-v4-flash", 6.09)])
def test_v4_without_an_engine_is_as_published(model, gib):
    """Published for fp16: 8.71 and 6.08 GiB at a million tokens, 1,024 bytes an entry and 132 an entry of the index."""
    assert cache(model, quantity="kv_cache_bytes") / 2**30 == pytest.approx(gib, rel=2e-3)


def test_v4_of_flashmla_takes_584_bytes_an_entry():
    got = cache("deepseek-v4-pro", "h200", "kv_cache_bytes", tp=8)
    window, kept = 61 * 584 * (128 + 8191), 30 * (MILLION // 4) * (584 + 132)
    assert got == pytest.approx(window + kept + 31 * (MILLION // 128) * 584, rel=1e-12)
    plain = cache("deepseek-v4-pro", "b200", "kv_bytes_per_element", tp=8)
    assert plain == 2  # plain rows on SM100: auto is 16 bits
