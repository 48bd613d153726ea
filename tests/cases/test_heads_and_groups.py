"""Layouts that an engine refuses, and what its numbers of devices mean."""

import pytest

from symroof.api import Study
from symroof.errors import InputError

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
