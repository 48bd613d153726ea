"""Options of other tools: what each is here, by hand, and that whatever they lead to is there."""

from symroof.specs.other_tools import OTHER_TOOLS_OPTIONS, equivalent_of_name, equivalent_of_option

BY_HAND = {
    "--tp": "--tensor-parallel-size --tensor-parallel --tp-size -tp", "--set pp=N": "--pipeline-parallel-size --pipeline-parallel --pp-size --pp -pp",
    "--set dp=N": "--data-parallel-size --data-parallel --dp-size --dp -dp", "--set ep=N": "--expert-parallel-size --enable-expert-parallel --ep-size --ep -ep",
    "--batch": "--batch-size --max-num-seqs --max-batch-size --max-concurrency --concurrency --ubatch-size",
    "--prompt": "--input-len --random-input-len --input-length --prompt-len --prompt-length --seq-len --n-prompt",
    "--output": "--output-len --random-output-len --output-length --gen-len --max-tokens --max-new-tokens --n-gen",
    "--prompt, --output, --context": "--max-model-len --context-length --ctx-size --max-seq-len",
    "--hardware": "--gpu --gpus --device --gpu-name --accelerator --gpu-type", "--model": "--model-name --model-path --model-id --hf-model",
    "--weights": "--quantization --quant --weight-dtype --w-bit -q", "--weights, --activations": "--dtype --precision --torch-dtype",
    "--kv": "--kv-cache-dtype --kv-dtype --cache-type-k --cache-type-v", "--set memory_share=0.9": "--gpu-memory-utilization --mem-fraction-static",
    "--set chunk=N": "--max-num-batched-tokens --chunked-prefill-size", "--set block_size=N": "--block-size",
    "--set arrival_rate=N/s": "--request-rate --qps", "--set draft_tokens=N": "--num-speculative-tokens --speculative-num-draft-tokens",
    "--draft": "--speculative-model --draft-model",
}  # fmt: skip
"""What is ours -> how vLLM, SGLang, TensorRT-LLM, llama.cpp and benchmarks spell it."""


def test_every_option_leads_to_what_it_is_here():
    written = {option: ours for ours, options in BY_HAND.items() for option in options.split()}
    assert written == OTHER_TOOLS_OPTIONS
    assert {option: equivalent_of_option(option, ()) for option in written} == written
    assert (
        equivalent_of_name("max_new_tokens") == "--output"
        and equivalent_of_name("dp_size") == "--set dp=N"
        and equivalent_of_name("batch") == ""
    )
    assert (
        equivalent_of_option("-t", ["eval", "-tp=4"]) == "--tp"
        and equivalent_of_option("--unheard-of", ()) == ""
    )
    assert [
        equivalent_of_option(option, ["eval", "--gpu", "--tp-size=4"])
        for option in ("-t", "--t", "--gp", "--tp")
    ] == ["", "", "", ""], "words that others begin with"
