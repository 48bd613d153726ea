"""The memory that engines reserve, where it depends on the weights beside it: at every layout, and of every stage its own."""

import pytest

import symroof as sr
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
