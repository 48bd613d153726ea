"""The command that starts one instance of what is recommended."""

from __future__ import annotations

import math
import shlex
from typing import TYPE_CHECKING, Any

from symroof.vllm.engines import VLLM

if TYPE_CHECKING:
    from symroof.select.recommend import Purchase, Recommendation

FLAGS = {
    "tp": "tensor-parallel-size",
    "pp": "pipeline-parallel-size",
    "attention_dp": "data-parallel-size",
}
"""What says each degree of an instance."""


def serve_command(one: Purchase | None) -> str | None:
    """``vllm serve …`` of an instance that decodes; None of other engines, and without a model.

    >>> from symroof.analysis.study import Study
    >>> from symroof.select.recommend import recommend
    >>> serve_command(recommend(Study("llama-3.1-8b", "h100-sxm", prompt=2048, output=300, batch=64, chunk=2048)).pick)
    'vllm serve llama-3.1-8b --max-num-seqs 64 --max-num-batched-tokens 2112'
    """
    if one is None or one.case.model is None or one.case.engine is None:
        return None
    if one.case.engine.spec.name != VLLM.name:
        return None
    degrees = one.parallel
    asked = one.run.own.request.models
    named = asked[0] if asked and isinstance(asked[0], str) else one.case.model.name
    words = ["vllm", "serve", named]
    narrowed = one.case.model.quantization is None
    if one.case.precisions.get("weights") == "fp8" and narrowed:
        words += ["--quantization", "fp8"]
    if one.case.precisions.get("kv") == "fp8":
        words += ["--kv-cache-dtype", "fp8"]
    for name, flag in FLAGS.items():
        words += [f"--{flag}", str(degrees[name])] if degrees[name] > 1 else []
    ranks = degrees["attention_dp"]
    words += ["--enable-expert-parallel"] if ranks > 1 or degrees["ep"] > 1 else []
    words += ["--max-num-seqs", str(math.ceil(one.batch / ranks))]
    if one.chunk is not None:
        decoded = float(one.case.case.value("decoded_tokens")) * one.batch
        words += ["--max-num-batched-tokens", str(math.ceil((one.chunk + decoded) / ranks))]
    return shlex.join(words)


def recommendation_json(found: Recommendation) -> dict[str, Any]:
    """``recommendation`` and ``reason`` as every command gives them, with what starts the pick."""
    data = found.as_json()
    if found.pick:
        data["recommendation"]["command"] = serve_command(found.pick)
    return data
