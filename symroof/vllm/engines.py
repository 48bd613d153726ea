"""The servers whose command lines are read: how a line begins, what its flags are called, and which of vLLM's each one is.

A flag means what its engine means by it; :mod:`symroof.vllm.served_case` has what that is in symroof's inputs.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from symroof.vllm.flags import CHOICE, COUNT, FLAGS, SHARE, SWITCH, TEXT, Flag


@dataclass(frozen=True)
class Engine:
    """A server.

    Attributes:
        name: its profile.
        starts: how its line begins, each a regular expression over the first words.
        image: its container image, a regular expression over the name without its organisation.
        spellings: its names of flags, without dashes, each with the name here.
        printed: the name of a flag in a recommended line, where it is not the one here; empty where the engine has no such flag.
        flags: what it has of its own, by the name here.
        abbreviates: whether it takes a beginning of a flag that is no other's.
        program: the words of a recommended line.
        model_flag: the flag of the model in a recommended line; empty where the model comes first.
    """

    name: str
    title: str
    source: str
    starts: tuple[str, ...]
    image: str
    spellings: Mapping[str, str]
    printed: Mapping[str, str] = field(default_factory=dict)
    flags: Mapping[str, Flag] = field(default_factory=dict)
    abbreviates: bool = False
    program: tuple[str, ...] = ()
    model_flag: str = ""

    def flag(self, name: str) -> Flag:
        return self.flags.get(name) or FLAGS[name]

    def spelled(self, name: str) -> str:
        """A flag as the engine's own lines spell it, with dashes; empty where it has none."""
        written = self.printed.get(name, name)
        dashes = "-" if self.printed and len(written) <= 3 else "--"
        return written and f"{dashes}{written}"


PYTHON = r"(\S*/)?python3?(\.\d+)? -m "
SGLANG_CACHES = (
    ("auto", ""),
    ("fp8_e5m2", "fp8"),
    ("fp8_e4m3", "fp8"),
    ("bf16", "bf16"),
    ("bfloat16", "bf16"),
    ("fp4_e2m1", "fp4"),
)
GGML_CACHES = (
    ("f32", "fp32"),
    ("f16", "fp16"),
    ("bf16", "bf16"),
    ("q8_0", "8.5 bit"),
    ("q5_1", "6 bit"),
    ("q5_0", "5.5 bit"),
    ("q4_1", "5 bit"),
    ("q4_0", "4.5 bit"),
    ("iq4_nl", "4.5 bit"),
)

VLLM = Engine(
    "vllm",
    "vLLM",
    "",
    (
        "vllm serve",
        PYTHON + r"vllm\.entrypoints\.openai\.api_server",
        PYTHON + r"vllm\.entrypoints\.cli\.main serve",
    ),
    r"vllm[\w-]*",
    {
        **{name: name for name in FLAGS},
        **{short: flag.name for flag in FLAGS.values() for short in flag.short},
    },
    abbreviates=True,
    program=("vllm", "serve"),
)
SGLANG = Engine(
    "sglang",
    "SGLang",
    "SGLang 0.5.23 source, python/sglang/srt/server_args.py (github.com/sgl-project/sglang), consulted 2026-11-27",
    ("sglang serve", PYTHON + r"sglang\.launch_server", PYTHON + r"sglang serve"),
    r"sglang[\w-]*",
    {
        "model-path": "model",
        "model": "model",
        "tp-size": "tensor-parallel-size",
        "tensor-parallel-size": "tensor-parallel-size",
        "tp": "tensor-parallel-size",
        "pp-size": "pipeline-parallel-size",
        "pipeline-parallel-size": "pipeline-parallel-size",
        "pp": "pipeline-parallel-size",
        "dp-size": "data-parallel-size",
        "data-parallel-size": "data-parallel-size",
        "dp": "data-parallel-size",
        "enable-dp-attention": "attention-dp",
        "ep-size": "expert-parallel-size",
        "expert-parallel-size": "expert-parallel-size",
        "ep": "expert-parallel-size",
        "mem-fraction-static": "gpu-memory-utilization",
        "max-running-requests": "max-num-seqs",
        "chunked-prefill-size": "max-num-batched-tokens",
        "context-length": "max-model-len",
        "kv-cache-dtype": "kv-cache-dtype",
        "dtype": "dtype",
        "quantization": "quantization",
        "page-size": "block-size",
        "disable-radix-cache": "no-prefix-caching",
        "enable-mixed-chunk": "mixed-chunk",
        "speculative-num-draft-tokens": "draft-tokens",
        "speculative-draft-model-path": "draft-model",
        "config": "config",
    },
    {
        "tensor-parallel-size": "tp-size",
        "max-num-seqs": "max-running-requests",
        "max-num-batched-tokens": "chunked-prefill-size",
        "pipeline-parallel-size": "pp-size",
        "data-parallel-size": "dp-size",
        "expert-parallel-size": "ep-size",
        "attention-dp": "enable-dp-attention",
        "gpu-memory-utilization": "mem-fraction-static",
        "max-model-len": "context-length",
        "block-size": "page-size",
        "no-prefix-caching": "disable-radix-cache",
        "mixed-chunk": "enable-mixed-chunk",
        "draft-tokens": "speculative-num-draft-tokens",
        "draft-model": "speculative-draft-model-path",
        "model": "model-path",
    },
    {
        flag.name: flag
        for flag in (
            Flag(
                "tensor-parallel-size",
                COUNT,
                "devices of one copy; with --enable-dp-attention attention has as many groups of them as --dp-size",
            ),
            Flag(
                "data-parallel-size",
                COUNT,
                "copies of the model, or groups of attention inside one copy with --enable-dp-attention",
            ),
            Flag(
                "attention-dp",
                SWITCH,
                "attention in data-parallel groups inside the tensor-parallel devices",
            ),
            Flag(
                "expert-parallel-size",
                COUNT,
                "devices that whole experts are spread over",
                input="ep",
            ),
            Flag(
                "gpu-memory-utilization",
                SHARE,
                "share of a device's memory for weights and cache",
                input="memory_share",
                so=", memory_reserve = 0: activations have the rest",
            ),
            Flag("max-num-seqs", COUNT, "maximum requests that run together, of all groups"),
            Flag(
                "max-num-batched-tokens", COUNT, "tokens of a prompt that are prefilled in one step"
            ),
            Flag("kv-cache-dtype", CHOICE, "data type of the KV cache", choices=SGLANG_CACHES),
            Flag(
                "no-prefix-caching",
                SWITCH,
                "no prompts share the cache of a common prefix",
                on="cached_prefix = 0",
            ),
            Flag(
                "mixed-chunk",
                SWITCH,
                "prefill chunks and decodes share a step",
                on="scheduling = chunked",
            ),
            Flag(
                "draft-tokens",
                COUNT,
                "drafted tokens that are verified in one step, the root included",
            ),
            Flag("draft-model", TEXT, "the draft model"),
        )
    },
    True,
    ("sglang", "serve"),
    "--model-path",
)
TRTLLM = Engine(
    "tensorrt-llm",
    "TensorRT-LLM",
    "TensorRT-LLM source, tensorrt_llm/commands/serve.py (github.com/NVIDIA/TensorRT-LLM, commit 0004396), consulted 2026-11-27",
    (r"(\S*/)?trtllm-serve serve", r"(\S*/)?trtllm-serve"),
    r"release|tensorrt-llm[\w-]*",
    {
        "model": "model",
        "tp-size": "tensor-parallel-size",
        "tensor-parallel-size": "tensor-parallel-size",
        "pp-size": "pipeline-parallel-size",
        "pipeline-parallel-size": "pipeline-parallel-size",
        "ep-size": "expert-parallel-size",
        "moe-expert-parallel-size": "expert-parallel-size",
        "max-batch-size": "max-num-seqs",
        "max-num-tokens": "max-num-batched-tokens",
        "max-seq-len": "max-model-len",
        "kv-cache-free-gpu-memory-fraction": "free-memory-share",
        "free-gpu-memory-fraction": "free-memory-share",
        "kv-cache-dtype": "kv-cache-dtype",
        "enable-attention-dp": "attention-dp",
        "extra-llm-api-options": "config",
        "config": "config",
        "enable-chunked-prefill": "enable-chunked-prefill",
    },
    {
        "tensor-parallel-size": "tp_size",
        "pipeline-parallel-size": "pp_size",
        "expert-parallel-size": "ep_size",
        "max-num-seqs": "max_batch_size",
        "max-num-batched-tokens": "max_num_tokens",
        "max-model-len": "max_seq_len",
        "free-memory-share": "kv_cache_free_gpu_memory_fraction",
        "kv-cache-dtype": "kv_cache_dtype",
        "config": "config",
        "attention-dp": "enable_attention_dp",
    },
    {
        flag.name: flag
        for flag in (
            Flag("tensor-parallel-size", COUNT, "devices of one copy"),
            Flag(
                "expert-parallel-size",
                COUNT,
                "devices that whole experts are spread over",
                input="ep",
            ),
            Flag("attention-dp", SWITCH, "every device has its own requests in attention"),
            Flag(
                "free-memory-share",
                SHARE,
                "share for the cache of the memory that weights and activations leave",
            ),
            Flag("max-num-batched-tokens", COUNT, "tokens of one step"),
            Flag(
                "kv-cache-dtype",
                CHOICE,
                "data type of the KV cache",
                choices=(("auto", ""), ("fp8", "fp8"), ("nvfp4", "fp4")),
            ),
        )
    },
    False,
    ("trtllm-serve",),
)
LLAMA = Engine(
    "llama.cpp",
    "llama.cpp",
    "llama.cpp source, common/arg.cpp and tools/server/README.md (github.com/ggml-org/llama.cpp, commit 0c1e57098), consulted 2026-11-27",
    (r"(\S*/)?llama-server(\.exe)?", r"(\S*/)?llama serve"),
    r"llama\.cpp[\w-]*|llama-cpp[\w-]*",
    {
        "m": "model",
        "model": "model",
        "hf": "model",
        "hfr": "model",
        "hf-repo": "model",
        "c": "max-model-len",
        "ctx-size": "max-model-len",
        "np": "max-num-seqs",
        "parallel": "max-num-seqs",
        "b": "max-num-batched-tokens",
        "batch-size": "max-num-batched-tokens",
        "ub": "micro-batch",
        "ubatch-size": "micro-batch",
        "ctk": "kv-cache-dtype",
        "cache-type-k": "kv-cache-dtype",
        "ctv": "value-cache-dtype",
        "cache-type-v": "value-cache-dtype",
        "ts": "tensor-split",
        "tensor-split": "tensor-split",
        "sm": "split-mode",
        "split-mode": "split-mode",
        "md": "draft-model",
        "model-draft": "draft-model",
        "draft": "draft-tokens",
        "draft-n": "draft-tokens",
        "draft-max": "draft-tokens",
        "swa-full": "swa-full",
    },
    {
        "max-model-len": "ctx-size",
        "max-num-seqs": "parallel",
        "max-num-batched-tokens": "batch-size",
        "micro-batch": "ubatch-size",
        "kv-cache-dtype": "cache-type-k",
        "value-cache-dtype": "cache-type-v",
        "tensor-parallel-size": "",
        "draft-model": "model-draft",
        "draft-tokens": "draft-max",
        "model": "model",
    },
    {
        flag.name: flag
        for flag in (
            Flag("max-model-len", COUNT, "tokens of the cache, which the slots share out"),
            Flag("max-num-seqs", COUNT, "slots: requests that run together"),
            Flag("max-num-batched-tokens", COUNT, "tokens of one step"),
            Flag("micro-batch", COUNT, "tokens that are computed at once", input="window_chunk"),
            Flag("kv-cache-dtype", CHOICE, "data type of the cached keys", choices=GGML_CACHES),
            Flag(
                "value-cache-dtype", CHOICE, "data type of the cached values", choices=GGML_CACHES
            ),
            Flag("tensor-split", TEXT, "shares of the devices: one number each"),
            Flag(
                "split-mode",
                CHOICE,
                "how devices share the model: by layers, or by rows",
                choices=(("none", "none"), ("layer", "layer"), ("row", "row"), ("tensor", "row")),
            ),
            Flag("draft-model", TEXT, "the draft model"),
            Flag("draft-tokens", COUNT, "drafted tokens that are verified in one step"),
            Flag(
                "swa-full",
                SWITCH,
                "layers with a window keep the whole context",
                on="window_cache = full",
            ),
        )
    },
    False,
    ("llama-server",),
    "--model",
)
ENGINES = (VLLM, SGLANG, TRTLLM, LLAMA)


def engine_of_image(word: str) -> Engine | None:
    """The engine of a container image, by its name."""
    last = word.rpartition("/")[2].partition(":")[0].partition("@")[0]
    engines = (engine for engine in ENGINES if re.fullmatch(engine.image, last))
    return next(engines, None) if "/" in word else None
