"""Options of other tools, each with its equivalent here: for who types them, and for names in files and keywords."""

from collections.abc import Sequence

SPELLED = {
    "--tp": "--tensor-parallel-size --tensor-parallel --tp-size -tp",
    "--set pp=N": "--pipeline-parallel-size --pipeline-parallel --pp-size --pp -pp",
    "--set dp=N": "--data-parallel-size --data-parallel --dp-size --dp -dp",
    "--set ep=N": "--expert-parallel-size --enable-expert-parallel --ep-size --ep -ep",
    "--batch": "--batch-size --max-num-seqs --max-batch-size --max-concurrency --concurrency"
    " --ubatch-size",
    "--prompt": "--input-len --random-input-len --input-length --prompt-len --prompt-length"
    " --seq-len --n-prompt",
    "--output": "--output-len --random-output-len --output-length --gen-len --max-tokens"
    " --max-new-tokens --n-gen",
    "--prompt, --output, --context": "--max-model-len --context-length --ctx-size --max-seq-len",
    "--hardware": "--gpu --gpus --device --gpu-name --accelerator --gpu-type",
    "--model": "--model-name --model-path --model-id --hf-model",
    "--weights": "--quantization --quant --weight-dtype --w-bit -q",
    "--weights, --activations": "--dtype --precision --torch-dtype",
    "--kv": "--kv-cache-dtype --kv-dtype --cache-type-k --cache-type-v",
    "--set memory_share=0.9": "--gpu-memory-utilization --mem-fraction-static",
    "--set chunk=N": "--max-num-batched-tokens --chunked-prefill-size",
    "--set block_size=N": "--block-size",
    "--set arrival_rate=N/s": "--request-rate --qps",
    "--set draft_tokens=N": "--num-speculative-tokens --speculative-num-draft-tokens",
    "--draft": "--speculative-model --draft-model",
}
"""What is ours, and how vLLM, SGLang, TensorRT-LLM, llama.cpp and benchmarks spell it."""
OTHER_TOOLS_OPTIONS = {theirs: ours for ours, words in SPELLED.items() for theirs in words.split()}


def equivalent_of_option(option: str, arguments: Sequence[str]) -> str:
    """The equivalent of an option that symroof lacks; empty where no tool has it either.

    A short one of several letters, ``-tp``, is recognised from the arguments: click reads it as one letter after the other.
    """
    short = [word for word in arguments if len(option) == 2 and word.startswith(option)]
    names = (word.partition("=")[0].replace("_", "-") for word in (option, *short))
    return next((OTHER_TOOLS_OPTIONS[name] for name in names if name in OTHER_TOOLS_OPTIONS), "")


def equivalent_of_name(name: str) -> str:
    """The equivalent of a name that is written as other tools write an option; empty where none does.

    >>> equivalent_of_name("gpu_type"), equivalent_of_name("dtype"), equivalent_of_name("mfu")
    ('--hardware', '--weights, --activations', '')
    """
    return OTHER_TOOLS_OPTIONS.get(f"--{name.replace('_', '-')}", "")
