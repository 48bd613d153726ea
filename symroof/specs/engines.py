"""Engines that serve models, and the classes that their fixed costs fall into."""

from __future__ import annotations

from typing import Literal

from symroof.errors import nearest

EngineClass = Literal["compiled", "eager", "ggml"]
ENGINES: dict[str, EngineClass] = {
    "compiled": "compiled", "eager": "eager", "ggml": "ggml", "vllm": "compiled", "sglang": "compiled", "tensorrt": "compiled", "trtllm": "compiled",
    "fastertransformer": "compiled", "gpt-fast": "compiled", "exllama": "compiled", "tinychat": "compiled", "neuronx": "compiled", "lmdeploy": "compiled",
    "jetstream": "compiled", "mlc": "compiled", "llama.cpp": "ggml", "llama-cpp": "ggml", "ollama": "ggml", "mlx": "ggml", "transformers": "eager",
    "megatron": "eager", "pytorch": "eager",
}  # fmt: skip
"""Classes of engines, and the engines that lead to them; where several names are in a text, the first in this order counts.

``compiled`` runs captured graphs or fused kernels, ``eager`` launches operator by operator, ``ggml`` are llama.cpp and its like."""


DEFAULT_ENGINE: EngineClass = "compiled"


def engine_class(engine: str) -> EngineClass:
    """The class of an engine by its name.

    Raises:
        ValueError: no engine that symroof knows, with the nearest.

    >>> engine_class("vLLM 0.6.3"), engine_class("HF Transformers 4.46.0"), engine_class("Ollama / llama.cpp")
    ('compiled', 'eager', 'ggml')
    """
    lower = engine[:200].lower()
    for name, kind in ENGINES.items():
        if name in lower:
            return kind
    raise ValueError(f"no such engine {engine[:40]!r}; {nearest(lower, ENGINES) or OTHERWISE}")


OTHERWISE = "write a class: compiled, eager or ggml"
