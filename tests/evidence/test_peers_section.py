"""The stored numbers of the peers: each of a row of the catalogue, and the section of the page made from them."""

import json

import pytest

from symroof.specs.measured import Measurement
from tools.evidence.catalogue_rows import MeasuredRow, comparable, sources
from tools.evidence.peer_questions import KEY, STORED, key_of, question_of

DOCUMENT = json.loads(STORED.read_text(encoding="utf-8"))
WIDTH = len(KEY) + 1
ROW = {
    "engine": "Dynamo + TensorRT-LLM of 2026-01", "class": "compiled", "model": "deepseek-ai/DeepSeek-R1-0528", "spec": "deepseek-v3", "device": "gb200", "hardware": "gb200",
    "weights": "nvfp4", "kv": "fp8", "attention_dp": 8, "ep": 8, "batch": 20, "prompt": 900, "output": 100, "metric": "tpot", "value": "10 ms", "place": "here",
}  # fmt: skip


@pytest.mark.full
def test_each_stored_number_is_of_a_row_of_the_catalogue_that_the_peer_can_be_asked():
    rows = {
        key_of(spec.name, row.row): row.row
        for spec in sources()
        for row in comparable(spec)
        if isinstance(row, MeasuredRow)
    }
    kept = [tuple(row[:WIDTH]) for row in DOCUMENT["rows"]]
    assert len({*kept}) == len(kept) > 400
    assert {*kept} <= {key for key, row in rows.items() if not isinstance(question_of(row), str)}, (
        "stale: python -m tools.evidence peers PYTHON"
    )


@pytest.mark.parametrize(
    ("changed", "asked"),
    [
        (
            {},
            {
                "system_name": "gb200",
                "backend_name": "trtllm",
                "mode": "static_gen",
                "batch_size": 2,
                "attention_dp_size": 8,
                "moe_ep_size": 8,
                "moe_tp_size": 1,
            },
        ),
        ({"attention_dp": 1, "ep": None, "tp": 4}, {"tp_size": 4, "batch_size": 20, "moe_ep_size": 1, "moe_tp_size": 4, "gemm_quant_mode": "nvfp4"}),
        ({"metric": "ttft", "engine": "SGLang of 2026-01"}, {"backend_name": "sglang", "mode": "static_ctx", "answer": "ttft"}),
        (
            {"metric": "response_time", "weights": "fp8"},
            {
                "mode": "static",
                "answer": "request_latency",
                "isl": 900,
                "osl": 100,
                "model": "deepseek-ai/DeepSeek-R1",
            },
        ),
        ({"spec": "llama-2-7b", "weights": "fp8", "metric": "loop_tpot"}, {"mode": "agg", "answer": "tpot", "kvcache_quant_mode": "fp8"}),
    ],
)  # fmt: skip
def test_the_peer_is_asked_for_what_the_row_says(changed, asked):
    question = question_of(Measurement.model_validate(ROW | changed))
    assert {name: question[name] for name in asked} == asked
    assert ("gemm_quant_mode" in question) == (
        "weights" not in changed
    )  # of fp8 the checkpoint says which kind


def test_the_dimensions_given_are_those_of_the_published_config():
    """Qwen/Qwen2.5-7B and mistralai/Mixtral-8x7B-v0.1, config.json."""
    model = question_of(
        Measurement.model_validate(ROW | {"spec": "qwen2.5-7b", "weights": "bf16"})
    )["model"]
    assert model["architectures"] == ["Qwen2ForCausalLM"]
    names = (
        "hidden_size",
        "num_hidden_layers",
        "num_attention_heads",
        "num_key_value_heads",
        "intermediate_size",
        "vocab_size",
    )
    assert [model[name] for name in names] == [3584, 28, 28, 4, 18944, 152064]
    model = question_of(
        Measurement.model_validate(ROW | {"spec": "mixtral-8x7b", "weights": "fp16"})
    )["model"]
    assert [model[name] for name in (*names, "num_local_experts", "num_experts_per_tok")] == [
        4096,
        32,
        32,
        8,
        14336,
        32000,
        8,
        2,
    ]
