"""Engines that serve models, and the classes that their fixed costs fall into."""

import re
from typing import Literal

from symroof.errors import nearest

EngineClass = Literal["compiled", "earlier", "eager", "ggml"]
ENGINES: dict[str, EngineClass] = {
    "compiled": "compiled", "earlier": "earlier", "eager": "eager", "ggml": "ggml", "vllm": "compiled", "sglang": "compiled", "tensorrt": "compiled",
    "trtllm": "compiled", "fastertransformer": "earlier", "gpt-fast": "compiled", "exllama": "earlier", "tinychat": "earlier", "neuronx": "earlier",
    "lmdeploy": "compiled", "jetstream": "compiled", "mlc": "compiled", "llama.cpp": "ggml", "llama-cpp": "ggml", "ollama": "ggml", "mlx": "ggml",
    "transformers": "eager", "megatron": "eager", "pytorch": "eager",
}  # fmt: skip
"""Classes of engines, and the engines that lead to them; where several names are in a text, the first in this order counts.

``compiled`` replays a captured graph for each decode step, prepares the next step while the device works, and sums across devices with kernels of its own;
``earlier`` are compiled engines as they stood until 2024: fused kernels that the host launches one by one, or graphs that wait for it between steps, and a
library's collectives; ``eager`` launches operator by operator; ``ggml`` are llama.cpp and its like."""

SINCE: dict[str, tuple[int, int]] = {"vllm": (0, 7), "sglang": (0, 4), "tensorrt": (1, 0), "trtllm": (1, 0)}
"""The first version of an engine that is of its class; those before it are ``earlier``."""

DEFAULT_ENGINE: EngineClass = "compiled"


def engine_class(engine: str) -> EngineClass:
    """The class of an engine by its name, and by its version where one follows the name.

    Raises:
        ValueError: no engine that symroof knows, with the nearest.

    >>> engine_class("vLLM 0.9.1"), engine_class("HF Transformers 4.46.0"), engine_class("Ollama / llama.cpp")
    ('compiled', 'eager', 'ggml')
    >>> engine_class("vLLM 0.6.3"), engine_class("TensorRT-LLM 0.5"), engine_class("SGLang v0.4.6.post1"), engine_class("vllm")
    ('earlier', 'earlier', 'compiled', 'compiled')
    """
    lower = engine[:200].lower()
    for name, kind in ENGINES.items():
        if name in lower:
            return "earlier" if name in SINCE and _before(SINCE[name], name, lower) else kind
    raise ValueError(f"no such engine {engine[:40]!r}; {nearest(lower, ENGINES) or OTHERWISE}")


def _before(first: tuple[int, int], name: str, text: str) -> bool:
    """Whether the version that follows an engine's name, after letters and hyphens alone, is older than a version."""
    version = re.search(rf"{name}[-a-z]{{0,8}} ?v?(\d{{1,4}})\.(\d{{1,4}})", text)
    return version is not None and (int(version[1]), int(version[2])) < first


OTHERWISE = "write a class: compiled, earlier, eager or ggml"
