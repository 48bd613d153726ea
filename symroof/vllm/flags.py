"""The flags of ``vllm serve`` that affect performance, and their meaning in symroof."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

SOURCE = (
    "vLLM: engine arguments, excerpts of the documentation (docs.vllm.ai, 2026); vllm/config/cache.py, vllm/config/scheduler.py and "
    "EngineArgs.get_batch_defaults of the source (github.com/vllm-project/vllm), consulted 2026-11-22"
)
"""Source of the flags. Defaults change between versions, so a command should state them."""

COUNT, SHARE, CHOICE, SWITCH, TEXT, JSON = "count", "share", "choice", "switch", "text", "json"


@dataclass(frozen=True)
class Flag:
    """One flag.

    Attributes:
        kind: the type of its value.
        says: its meaning in vLLM.
        short: other spellings.
        choices: allowed values, each with its name in symroof; empty if it sets nothing.
        input: the input that its value is of, where it is of one; ``so``: what follows from that.
        default: what vLLM sets where a line does not.
        on, off: what a switch sets.
    """

    name: str
    kind: str
    says: str
    short: tuple[str, ...] = ()
    choices: tuple[tuple[str, str], ...] = ()
    input: str = ""
    so: str = ""
    default: Any = None
    on: str = ""
    off: str = ""


@dataclass(frozen=True)
class FlagNote:
    """A flag, the inputs it sets, and its meaning.

    Attributes:
        defaulted: whether the value is vLLM's default.
    """

    flag: str
    value: str
    sets: str
    says: str
    defaulted: bool = False


DTYPES = (
    ("auto", ""),
    ("half", "fp16"),
    ("float16", "fp16"),
    ("bfloat16", "bf16"),
    ("float", "fp32"),
    ("float32", "fp32"),
)
CACHES = (
    ("auto", ""),
    ("float16", "fp16"),
    ("bfloat16", "bf16"),
    ("fp8", "fp8"),
    ("fp8_e4m3", "fp8"),
    ("fp8_e5m2", "fp8"),
    ("fp8_inc", "fp8"),
    ("fp8_per_token_head", "fp8"),
    ("int8_per_token_head", "int8"),
    ("int4_per_token_head", "int4"),
    ("nvfp4", "fp4"),
)
QUANTIZATIONS = (
    ("fp8", "fp8"),
    ("fbgemm_fp8", "fp8"),
    ("ptpc_fp8", "fp8"),
    ("awq", "awq"),
    ("awq_marlin", "awq"),
    ("gptq", "gptq"),
    ("gptq_marlin", "gptq"),
    ("bitsandbytes", "nf4"),
    ("compressed-tensors", ""),
    ("modelopt", ""),
    ("modelopt_fp4", ""),
    ("mxfp4", ""),
    ("gguf", ""),
)
"""Method -> precision of the weights; empty: defined by the checkpoint."""

FLAGS: dict[str, Flag] = {
    flag.name: flag
    for flag in (
        Flag("model", TEXT, "the model: a name on the hub, or a folder"),
        Flag("tensor-parallel-size", COUNT, "tensor-parallel degree", ("tp",)),
        Flag("pipeline-parallel-size", COUNT, "pipeline-parallel degree (stages)", ("pp",)),
        Flag(
            "data-parallel-size",
            COUNT,
            "data-parallel ranks with their own requests: replicas of a dense model, DP attention groups of a model with experts",
            ("dp",),
        ),
        Flag(
            "enable-expert-parallel",
            SWITCH,
            "expert parallelism: whole experts are spread over tp times dp devices",
            ("ep",),
        ),
        Flag("max-num-seqs", COUNT, "maximum requests per step"),
        Flag(
            "max-num-batched-tokens",
            COUNT,
            "token budget of one step: decode tokens first, a chunk of a prompt with the rest",
        ),
        Flag("max-model-len", COUNT, "maximum length of a request, prompt and output together"),
        Flag("kv-cache-dtype", CHOICE, "data type of the KV cache", choices=CACHES),
        Flag("dtype", CHOICE, "data type of weights and activations", choices=DTYPES),
        Flag("quantization", CHOICE, "quantization of the weights", ("q",), QUANTIZATIONS),
        Flag(
            "gpu-memory-utilization",
            SHARE,
            "share of a device's memory that vLLM takes",
            input="memory_share",
            default=Fraction(92, 100),
        ),
        Flag("block-size", COUNT, "tokens per KV-cache block", input="block_size", default=16),
        Flag(
            "enable-prefix-caching",
            SWITCH,
            "prefix caching: prompts with a common prefix share its cache",
            default="on",
            on="cached_prefix stays what you give: --set cached_prefix=1024",
        ),
        Flag(
            "enable-chunked-prefill",
            SWITCH,
            "chunked prefill: prompts are prefilled in chunks during decode steps",
            default="on",
            on="chunked_ttft and mixed_time apply",
            off="a prompt is prefilled whole: ttft applies, chunked_ttft does not",
        ),
        Flag(
            "speculative-config", JSON, "speculative decoding: drafted tokens are verified", ("sc",)
        ),
        Flag(
            "disable-hybrid-kv-cache-manager",
            SWITCH,
            "one kind of cache block: layers with a window keep the whole context",
            on="window_cache = full",
        ),
        Flag("config", TEXT, "a file with more flags; those of the line are stronger"),
    )
}

CONTEXT_DEGREES = (
    "decode-context-parallel-size",
    "dcp",
    "prefill-context-parallel-size",
    "pcp",
    "attn-cp-size",
    "cp-size",
)
NOT_MODELLED = {
    "swap-space": "memory of the host for preempted requests: `swap_time` has what a swap costs",
    "cpu-offload-gb": "weights on the host are read over the host link at every step",
    "kv-cache-memory-bytes": "a cache of a fixed size, independent of gpu-memory-utilization",
    "max-num-scheduled-tokens": "it limits the tokens of a step as max-num-batched-tokens does",
    "num-gpu-blocks-override": "a cache of a fixed number of blocks",
    "enforce-eager": "no CUDA graphs: launches are exposed (`kernel_launch`, `kernels_per_layer`)",
    "max-num-partial-prefills": "prompts that are prefilled at once",
    **dict.fromkeys(("n-cpu-moe", "ncmoe", "cpu-moe", "cmoe"), "experts of layers on the host"),
    **dict.fromkeys(("override-tensor", "ot"), "tensors on other devices"),
    "enable-hierarchical-cache": "a cache on the host behind that of the device",
    "max-total-tokens": "a cache of a fixed size",
    "max-beam-width": "several beams for a request",
    "mxfp4-layers": "more layers in 4 bits than the checkpoint has: steps can be faster than said here",
    "moe-dense-tp-size": "another degree for the dense layers",
    **dict.fromkeys(("enable-lora", "lora-paths"), "adapters take memory and slow each step"),
    "limit-mm-per-prompt": "images: the memory of their encoder; count their tokens as part of --prompt",
    **dict.fromkeys(CONTEXT_DEGREES, "context parallelism: caches are split, so more requests fit"),
}
"""Flags of any server that affect performance but are not modelled, and their effect."""
VALUELESS = frozenset(
    {
        "enforce-eager",
        "trust-remote-code",
        "enable-auto-tool-choice",
        "disable-log-stats",
        "disable-log-requests",
        "async-scheduling",
        "enable-lora",
        "skip-tokenizer-init",
        "disable-custom-all-reduce",
        "disable-sliding-window",
        "enable-reasoning",
        "disable-cascade-attn",
    }
)
"""Flags without a value."""
