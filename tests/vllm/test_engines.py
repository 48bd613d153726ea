"""Lines of other servers: a flag means what its engine means by it."""

import shlex

import pytest

from symroof.cases.request import request_of
from symroof.errors import InputError
from symroof.vllm.advice import review
from symroof.vllm.command_line import read_line
from symroof.vllm.engines import ENGINES
from symroof.vllm.served_case import served_case
from tests.cli import good, refused
from tests.tables import case_of, table

WORK = {"hardware": "h200", "prompt": 4096, "output": 512, "efficiency": "peak"}
LENGTHS = ("prompt", "output")


def served(line, **chosen):
    return served_case(read_line(line, ENGINES), request_of(origin="test", **(WORK | chosen)))


SGLANG = "python3 -m sglang.launch_server --model-path deepseek-ai/DeepSeek-V3"


OSS = "openai/gpt-oss-20b"
V3 = "trtllm-serve deepseek-ai/DeepSeek-V3 --tp_size 8"
CPP = "llama-server -hf x/Qwen3-32B-GGUF"
DEVICES = f"""
{SGLANG} --tp 8 | instance_devices=8 tp=8 attention_dp=1
{SGLANG} --tp-size 8 --dp-size 8 --enable-dp-attention | instance_devices=8 tp=1 attention_dp=8 ep=1
{SGLANG} --tp 16 --dp 4 --enable-dp-attention --ep 16 | tp=4 attention_dp=4 ep=16
sglang serve --model-path Qwen/Qwen3-32B --tp 2 --dp 4 | instance_devices=2 tp=2 dp=4
{V3} --ep_size 8 | instance_devices=8 tp=8 ep=8
{V3} --enable_attention_dp | instance_devices=8 tp=1 attention_dp=8
{CPP} -ts 1,1 | instance_devices=2 tp=1 pp=2
{CPP} -ts 3,1 -sm row | instance_devices=2 tp=2 pp=1
vllm serve {OSS} -dp 8 --enable-expert-parallel | instance_devices=8 tp=1 attention_dp=8 ep=8
"""


@pytest.mark.parametrize(("line", "expected"), table(DEVICES))
def test_the_devices_of_a_line(line, expected):
    case, degrees = served(line).study.first.case, case_of(expected)
    assert {name: int(case.value(name)) for name in degrees} == degrees


def test_groups_that_do_not_share_out_the_devices():
    with pytest.raises(InputError, match="3 groups of attention do not share out 8 devices"):
        served(f"{SGLANG} --tp 8 --dp 3 --enable-dp-attention")


def test_memory_as_each_engine_means_it():
    """SGLang's share holds weights and cache alone; TensorRT-LLM's is of what weights and activations leave."""

    def case(line):
        return served(line).study.first.case

    sglang = "sglang serve --model-path Qwen/Qwen3-32B"
    capacity = case(sglang).value("mem_capacity")
    made = case(f"{sglang} --mem-fraction-static 0.8")
    assert made.value("usable_memory") == capacity * 8 / 10
    assert made.value("memory_reserve") == 0
    made = case("trtllm-serve Qwen/Qwen3-32B --kv_cache_free_gpu_memory_fraction 0.8")
    weights = made.value("weight_bytes")
    room = made.value("usable_memory") - made.value("memory_reserve")
    assert room == weights + (capacity * 96 / 100 - weights) * 8 / 10


def test_slots_of_llama_cpp_share_out_the_cache():
    made = served(
        "llama-server -hf x/Qwen3-8B-GGUF:Q8_0 -c 32768 -np 4 -ctk q8_0 -ctv q4_0",
        hardware="rtx-4090",
        prompt=None,
        output=None,
    )
    case = made.study.first.case
    assert (made.batch, made.longest, case.value("prompt")) == (4, 8192, 8192)
    assert case.value("kv_bytes_per_element") == (8.5 + 4.5) / 2 / 8
    assert made.study.first.precisions["weights"] == "q8_0"


def test_a_file_of_trtllm(tmp_path):
    path = tmp_path / "options.yaml"
    path.write_text(
        "enable_attention_dp: true\nkv_cache_config:\n  dtype: fp8\n  free_gpu_memory_fraction: 0.8\n  enable_block_reuse: false\n"
    )
    made = served(
        f"trtllm-serve deepseek-ai/DeepSeek-V3 --tp_size 8 --extra_llm_api_options {path}"
    )
    assert made.study.first.case.value("attention_dp") == 8
    assert made.study.first.case.value("kv_bytes_per_element") == 1
    assert "--kv_cache_config.enable_block_reuse" in made.line.others


LINES = [
    f"{SGLANG} --tp 8 --dp 8 --enable-dp-attention --port 80 --port 81",
    "docker run --gpus all lmsysorg/sglang:latest python3 -m sglang.launch_server --model-path Qwen/Qwen3-32B --tp 2",
    "trtllm-serve meta-llama/Llama-3.3-70B-Instruct --tp_size 4 --max_batch_size 128",
    "llama-server -hf ggml-org/Qwen3-8B-GGUF:Q8_0 -c 32768 -np 4",
    "vllm serve Qwen/Qwen3-30B-A3B --tensor_parallel 2 --tensor_parallel_size 4 --max_model_len 32768 -sc '{\"num_speculative_tokens\": 3}'",
    "docker run vllm/vllm-openai --model Qwen/Qwen3-32B -tp 2",
    "VLLM_USE_V1=1 CUDA_VISIBLE_DEVICES=0,1 vllm serve Qwen/Qwen3-32B -tp 2",
    "HF_HOME=~/x nohup python3 -m sglang.launch_server --model-path Qwen/Qwen3-32B --tp 2 > log.txt 2>&1 &",
    "uv run vllm serve moonshotai/Kimi-K2-Thinking --tensor_parallel_size=8",
]


@pytest.mark.sample(2)
@pytest.mark.parametrize("line", LINES)
def test_a_recommended_line_reads_again_and_has_no_flag_twice(line):
    made = review(served(line))
    words = [word.partition("=")[0] for word in shlex.split(made.line) if word.startswith("-")]
    assert len(words) == len(set(words))
    again = served(made.line)
    assert again.line.engine is made.served.line.engine
    assert not again.study.first.does_not_fit
    assert again.line.flags["model"].value == made.served.line.flags["model"].value


def test_a_recommended_line_leaves_variables_and_the_home_to_the_shell():
    line = 'docker run -e HF_TOKEN=$HF_TOKEN -v ~/.cache:/root/.cache vllm/vllm-openai --model Qwen/Qwen3-8B --api-key "$KEY" --served-model-name "a b"'
    made = review(served(line)).line
    assert made.startswith(
        'docker run -e "HF_TOKEN=$HF_TOKEN" -v ~/.cache:/root/.cache vllm/vllm-openai --model Qwen/Qwen3-8B '
    )
    assert made.endswith("--api-key \"$KEY\" --served-model-name 'a b'")


def test_what_one_request_needs_is_said_where_none_fits():
    """Llama 3.1 70B: 141.1 GB of weights, 8,192 tokens of 327,680 byte, and 0.04*143,771 MiB."""
    line = "vllm serve meta-llama/Llama-3.1-70B-Instruct --max-model-len 8192"
    made = served(line, prompt=None, output=None)
    said = "not even one request of 8,192 tokens fits: it needs 143.8 GB"
    assert any(said in warning for warning in made.warnings)
    assert made.batch == 1


def test_auto_is_the_longest_that_fits():
    def longest(hardware):
        line, open_ = "vllm serve Qwen/Qwen3-32B --max-model-len auto", dict.fromkeys(LENGTHS)
        return served(line, **open_, hardware=hardware, tp=2).longest

    assert longest("h200") == 40_960
    case = served("vllm serve Qwen/Qwen3-32B", hardware="rtx-a6000").study.first.case
    room = 2 * (0.92 * case.value("mem_capacity") - case.value("memory_reserve"))
    held = (room - 2 * 32_762_123_264) // (2 * 64 * 8 * 128 * 2)
    assert longest("rtx-a6000") == min(40_960, held)


def test_an_unknown_quantization_is_named_and_the_rest_judged():
    made = served("vllm serve Qwen/Qwen3-32B --quantization qwertz -tp 2")
    assert any("--quantization qwertz is not known here" in warning for warning in made.warnings)
    assert made.study.first.case.value("tp") == 2


@pytest.mark.full
def test_the_command():
    case = ["--hardware", "h200", "--prompt", "4096", "--output", "512"]
    found = good("server", f"{SGLANG} --tp 8", *case, "--json").json
    assert (found["schema"], found["engine"]) == ("symroof/server/1", "sglang")
    assert "sglang serve" in found["recommended"]["line"]
    assert "`symroof server` reads this one" in refused(
        "vllm", f"{SGLANG} --tp 8", "--hardware", "h200"
    )
    assert "does not begin with" in refused("server", "rm -rf x")


def test_windows_hold_the_chunk_that_is_being_prefilled():
    """gemma-4-31b-it on an H200 (redhat-performance/configiq issue 112): 64.68 GiB of cache are 2.39 requests of 262,144 tokens, two whole ones."""
    line = "vllm serve google/gemma-4-31b-it --gpu-memory-utilization 0.9 --max-model-len 262144"
    case = served(line, prompt=None, output=None, memory_reserve="4.9 GB").study.first.case
    a_request = 81_920 * 262_144 + 819_200 * (1_023 + 8_192)
    assert case.value("request_bytes_per_device") == a_request
    assert case.value("concurrency") == 2
    assert 64.68 * 2**30 / a_request == pytest.approx(2.39, abs=0.005)
    whole = served(
        f"{line} --disable-hybrid-kv-cache-manager", prompt=None, output=None
    ).study.first.case
    assert whole.value("request_bytes_per_device") == (81_920 + 819_200) * 262_144


def test_windows_of_llama_cpp_hold_a_micro_batch():
    line = "llama-server -hf x/gpt-oss-20b-GGUF -c 8192"
    for more, kept in (("", 128 + 512), (" -ub 1024", 128 + 1024), (" --swa-full", 8192)):
        case = served(line + more, prompt=None, output=None, hardware="rtx-4090").study.first.case
        assert case.value("request_bytes_per_device") == 2 * 8 * 64 * 2 * 12 * (8192 + kept)


def test_prompts_that_are_not_cut():
    made = served("sglang serve --model-path Qwen/Qwen3-8B --chunked-prefill-size -1")
    assert (
        next(note.sets for note in made.flags if note.flag == "--chunked-prefill-size")
        == "whole prompts in a step of their own"
    )
