"""What aiconfigurator is asked about a measured row: its words for the device, the engine, the model and the precisions; or why it cannot be asked."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from symroof.specs.catalogue import find
from symroof.specs.fields import build
from symroof.specs.layers import Experts, FeedForward, GroupedAttention
from symroof.specs.measured import Measurement
from symroof.specs.model import ModelSpec

STORED = Path(__file__).resolve().parent / "peer_predictions.json"
SYSTEMS = {
    "a100-80gb-sxm": "a100_sxm",
    "h100-sxm": "h100_sxm",
    "h200": "h200_sxm",
    "b200": "b200_sxm",
    "b300": "b300_sxm",
    "gb200": "gb200",
    "gb300": "gb300",
    "l40s": "l40s",
    "a100-80gb-pcie": "a100_pcie",
    "h100-pcie": "h100_pcie",
    "rtx-pro-6000-blackwell-server": "rtx_pro_6000_server",
    "l4": "l4",
}
"""Its systems by the names of the catalogue."""

BACKENDS = {
    "vLLM": "vllm",
    "TensorRT-LLM": "trtllm",
    "SGLang": "sglang",
    "Dynamo + TensorRT-LLM": "trtllm",
    "Dynamo + SGLang": "sglang",
    "Dynamo + vLLM": "vllm",
}
"""Its backends by the first words of an engine's name."""

WEIGHTS = {
    "fp16": "bfloat16",
    "bf16": "bfloat16",
    "fp8": "as its checkpoint says",
    "nvfp4": "nvfp4",
    "awq": "int4_wo",
    "gptq": "int4_wo",
}
CACHES = {"fp16": "bfloat16", "bf16": "bfloat16", "fp8": "fp8", "int8": "int8"}
ASKED = {
    "ttft": ("static_ctx", "ttft"),
    "prefill_rate": ("static_ctx", "ttft"),
    "tpot": ("static_gen", "tpot"),
    "decode_rate": ("static_gen", "tpot"),
    "itl": ("static_gen", "tpot"),
    "loop_tpot": ("agg", "tpot"),
    "response_time": ("static", "request_latency"),
    "response_rate": ("static", "request_latency"),
}
"""For each metric the mode that is estimated and the number of its answer, in milliseconds. A closed loop is its aggregated server."""

KEY = (
    "engine",
    "spec",
    "hardware",
    "weights",
    "kv",
    "tp",
    "pp",
    "attention_dp",
    "ep",
    "batch",
    "prompt",
    "output",
    "metric",
    "place",
)
"""With the source: what names a row. Rows that agree in all of these have one prediction."""

Key = tuple[Any, ...]


def key_of(source: str, row: Measurement) -> Key:
    return (source, *(getattr(row, name) for name in KEY))


def question_of(row: Measurement) -> dict[str, Any] | str:
    """The arguments of its estimate and the number to take of the answer; a sentence where it has no words for the row."""
    system, backend = SYSTEMS.get(row.hardware or ""), _backend(row.engine)
    if system is None:
        return "a device that is not among its systems"
    if backend is None:
        return "an engine that is not among its backends"
    if row.weights not in WEIGHTS or row.kv not in CACHES:
        return "a precision that is not among its modes"
    if row.metric not in ASKED:
        return "a rate of responses"
    model = _model(row.spec or "", row.weights == "fp8")
    if model is None:
        return "a model of no class of its own"
    mode, answer = ASKED[row.metric]
    return {
        "answer": answer,
        "model": model,
        "system_name": system,
        "backend_name": backend,
        "mode": mode,
        "isl": row.prompt,
        "osl": row.output or 2,
        "batch_size": max(round(row.batch / row.attention_dp), 1),
        "tp_size": row.tp,
        "pp_size": row.pp,
        "attention_dp_size": row.attention_dp,
        "moe_ep_size": row.ep or 1,
        "moe_tp_size": row.tp * row.attention_dp // (row.ep or 1),
        "kvcache_quant_mode": CACHES[row.kv],
    } | (
        {}
        if row.weights == "fp8"
        else dict.fromkeys(("gemm_quant_mode", "moe_quant_mode"), WEIGHTS[row.weights])
    )


def stored() -> dict[str, Any]:
    """What the peer answered when it was last run, with its rows by key."""
    document: dict[str, Any] = json.loads(STORED.read_text(encoding="utf-8"))
    width = len(KEY) + 1
    document["rows"] = {
        tuple(row[:width]): dict(zip(document["columns"][width:], row[width:], strict=True))
        for row in document["rows"]
    }
    return document


def _backend(engine: str) -> str | None:
    return next(
        (
            backend
            for name, backend in BACKENDS.items()
            if engine == name or engine.startswith(f"{name} ")
        ),
        None,
    )


@cache
def _model(name: str, narrow: bool) -> str | dict[str, Any] | None:
    """The peer's own DeepSeek-R1, whose weights are fp8 in blocks, or the dimensions as a ``config.json`` where the model is a Llama, Mistral, Qwen 2.5, Qwen 3 or
    Mixtral in shape; ``narrow``: in fp8 with one scale a matrix, as TensorRT-LLM stores it."""
    if name == "deepseek-v3":
        return "deepseek-ai/DeepSeek-R1"
    spec = build(find("models", name), ModelSpec)
    kind = spec.layers[0]
    attention, ffn = kind.attention, kind.ffn
    if (
        len(spec.layers) > 1
        or not isinstance(attention, GroupedAttention)
        or spec.norm.kind != "rms"
        or attention.n_heads is None
    ):
        return None
    made = {
        "hidden_size": spec.d_model,
        "num_hidden_layers": kind.count,
        "num_attention_heads": attention.n_heads,
        "num_key_value_heads": attention.n_kv_heads,
        "head_dim": attention.head_dim,
        "vocab_size": spec.vocab_size,
        "max_position_embeddings": spec.max_context,
        "hidden_act": "silu",
        "tie_word_embeddings": spec.tied_embeddings,
    }
    if narrow:
        made["quantization_config"] = {"quant_method": "fp8", "activation_scheme": "static"}
    match ffn:
        case FeedForward(kind="gated"):
            family = (
                "Qwen3ForCausalLM"
                if attention.qk_norm != "none"
                else "Qwen2ForCausalLM"
                if attention.qkv_bias
                else "LlamaForCausalLM"
            )
            return made | {"architectures": [family], "intermediate_size": ffn.d_ff}
        case Experts(n_shared_experts=None):
            sizes = {
                "num_local_experts": ffn.n_experts,
                "num_experts_per_tok": ffn.experts_per_token,
                "intermediate_size": ffn.d_expert,
            }
            return made | {"architectures": ["MixtralForCausalLM"], **sizes}
    return None
