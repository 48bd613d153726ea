"""Options of other tools, each with its equivalent here: for who types them, and for names in files and keywords."""

from collections.abc import Sequence

OTHER_TOOLS_OPTIONS = {
    **dict.fromkeys(("--tensor-parallel-size", "--tensor-parallel", "--tp-size", "-tp"), "--tp"),
    **dict.fromkeys(
        ("--pipeline-parallel-size", "--pipeline-parallel", "--pp-size", "--pp", "-pp"),
        "--set pp=N",
    ),
    **dict.fromkeys(
        ("--data-parallel-size", "--data-parallel", "--dp-size", "--dp", "-dp"), "--set dp=N"
    ),
    **dict.fromkeys(
        ("--expert-parallel-size", "--enable-expert-parallel", "--ep-size", "--ep", "-ep"),
        "--set ep=N",
    ),
    **dict.fromkeys(
        (
            "--batch-size",
            "--max-num-seqs",
            "--max-batch-size",
            "--max-concurrency",
            "--concurrency",
            "--ubatch-size",
        ),
        "--batch",
    ),
    **dict.fromkeys(
        (
            "--input-len",
            "--random-input-len",
            "--input-length",
            "--prompt-len",
            "--prompt-length",
            "--seq-len",
            "--n-prompt",
        ),
        "--prompt",
    ),
    **dict.fromkeys(
        (
            "--output-len",
            "--random-output-len",
            "--output-length",
            "--gen-len",
            "--max-tokens",
            "--max-new-tokens",
            "--n-gen",
        ),
        "--output",
    ),
    **dict.fromkeys(
        ("--max-model-len", "--context-length", "--ctx-size", "--max-seq-len"),
        "--prompt, --output, --context",
    ),
    **dict.fromkeys(
        ("--gpu", "--gpus", "--device", "--gpu-name", "--accelerator", "--gpu-type"), "--hardware"
    ),
    **dict.fromkeys(("--model-name", "--model-path", "--model-id", "--hf-model"), "--model"),
    **dict.fromkeys(("--quantization", "--quant", "--weight-dtype", "--w-bit", "-q"), "--weights"),
    **dict.fromkeys(("--dtype", "--precision", "--torch-dtype"), "--weights, --activations"),
    **dict.fromkeys(("--kv-cache-dtype", "--kv-dtype", "--cache-type-k", "--cache-type-v"), "--kv"),
    **dict.fromkeys(
        ("--gpu-memory-utilization", "--mem-fraction-static"), "--set memory_share=0.9"
    ),
    **dict.fromkeys(("--max-num-batched-tokens", "--chunked-prefill-size"), "--set chunk=N"),
    "--block-size": "--set block_size=N",
    **dict.fromkeys(("--request-rate", "--qps"), "--set arrival_rate=N/s"),
    **dict.fromkeys(
        ("--num-speculative-tokens", "--speculative-num-draft-tokens"), "--set draft_tokens=N"
    ),
    **dict.fromkeys(("--speculative-model", "--draft-model"), "--draft"),
}
"""Options of vLLM, SGLang, TensorRT-LLM, llama.cpp and benchmarks, each with its equivalent here."""


def equivalent_of_option(option: str, arguments: Sequence[str]) -> str:
    """The equivalent of an option that symroof lacks; empty where no tool has it either.

    A short one of several letters, ``-tp``, is recognised from the arguments: click reads it as one letter after the other.
    """
    written = [
        option,
        *(word for word in arguments if len(option) == 2 and word.startswith(option)),
    ]
    return next(
        (
            OTHER_TOOLS_OPTIONS[name]
            for name in (word.partition("=")[0].replace("_", "-") for word in written)
            if name in OTHER_TOOLS_OPTIONS
        ),
        "",
    )


def equivalent_of_name(name: str) -> str:
    """The equivalent of a name that is written as other tools write an option; empty where none does.

    >>> equivalent_of_name("gpu_type"), equivalent_of_name("dtype"), equivalent_of_name("mfu")
    ('--hardware', '--weights, --activations', '')
    """
    return OTHER_TOOLS_OPTIONS.get(f"--{name.replace('_', '-')}", "")
