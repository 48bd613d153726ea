"""Lines of ``vllm serve``."""

from __future__ import annotations

from hypothesis import strategies as st

from ..attempt import Attempt
from ..vocabulary import NASTY, ODD, device, model, rarely
from .formulas import mutated
from .lines import TARGETS, option, words

COUNTS = ("1", "2", "4", "8", "64", "256", "4096", "8192", "16k", "16K", "0", "10000000000")
CHOICES = {
    "--tensor-parallel-size": COUNTS, "-tp": COUNTS, "--pipeline-parallel-size": COUNTS, "--data-parallel-size": COUNTS, "--max-num-seqs": COUNTS,
    "--max-num-batched-tokens": COUNTS, "--max-model-len": COUNTS, "--block-size": COUNTS, "--gpu-memory-utilization": ("0.9", "0.5", "1", "0", "1.5", "90%", "0.001"),
    "--kv-cache-dtype": ("auto", "fp8", "fp8_e5m2", "nvfp4", "x"), "--dtype": ("auto", "half", "bfloat16", "float32", "x"),
    "--quantization": ("fp8", "awq", "gptq_marlin", "bitsandbytes", "mxfp4", "gguf", "x"), "-q": ("awq",),
    "--speculative-config": ('\'{"num_speculative_tokens": 4}\'', '\'{"model": "gpt2", "num_speculative_tokens": 3}\'', "'{}'", "'['", '\'{"num_speculative_tokens": 0}\'', "'" + "[" * 500 + "'", '\'{"method": "ngram", "num_speculative_tokens": 1e400}\''),
    "--swap-space": ("4",), "--cpu-offload-gb": ("10",), "--port": ("8000",), "--served-model-name": ("x", "a b"), "--nosuch": ("1",), "--hf-overrides": ("'{}'",),
}  # fmt: skip
ALONE = (
    "--enable-expert-parallel",
    "-ep",
    "--enable-prefix-caching",
    "--no-enable-prefix-caching",
    "--enable-chunked-prefill",
    "--enforce-eager",
    "--trust-remote-code",
    "--no-enable-chunked-prefill",
)


def line() -> st.SearchStrategy[str]:
    """A line for a server."""
    flag = st.sampled_from(sorted(CHOICES)).flatmap(
        lambda name: rarely(
            st.sampled_from(CHOICES[name][: -2 if len(CHOICES[name]) > 4 else None]),
            st.sampled_from((*CHOICES[name], *ODD)),
            12,
        ).map(lambda value: f"{name} {value}")
    )
    equal = flag.map(lambda text: text.replace(" ", "=", 1))
    parts = st.lists(st.one_of(flag, flag, equal, st.sampled_from(ALONE)), max_size=5).map(" ".join)
    name = rarely(
        model(),
        st.sampled_from(
            (
                "meta-llama/Llama-3.1-8B-Instruct",
                "Qwen/Qwen2.5-7B",
                "no/such",
                "'a b'",
                "./x",
                "$(id)",
                "deepseek-ai/DeepSeek-V3",
            )
        ),
        8,
    )
    whole = st.tuples(
        rarely(
            st.just("vllm serve"),
            st.sampled_from(("python -m vllm.entrypoints.openai.api_server --model", "vllm", "")),
            12,
        ),
        name,
        parts,
    ).map(" ".join)
    stranger = st.tuples(whole, st.sampled_from(NASTY)).map(" ".join)
    return rarely(whole, st.one_of(whole.flatmap(mutated), stranger), 6)


def attempts() -> st.SearchStrategy[Attempt]:
    case = st.tuples(
        device().map(lambda name: ("--hardware", name)),
        st.sampled_from(
            (
                ("--prompt", "512"),
                ("--prompt", "2048", "--output", "256"),
                (),
                ("--prompt", "1", "--output", "1"),
                ("--prompt", "131072", "--output", "8"),
            )
        ),
        option("--target", st.sampled_from(TARGETS)),
        option("--mfu", st.sampled_from(("0.5", "0.4..0.6")), 4),
        st.sampled_from(((), ("--json",), ("--strict",))),
    ).map(lambda t: tuple(word for part in t for word in part))
    return st.tuples(line(), case).map(lambda t: words(("vllm", t[0], *t[1])))
