"""Reading the words of a line: flags in every spelling, every fault with its column, nothing run."""

import pytest

from symroof.errors import InputError
from symroof.vllm.command_line import NAME, read_line
from symroof.vllm.served_flags import resolve_model

WRITTEN = {
    "serve": "vllm serve org/m --tensor-parallel-size 2 --max-num-seqs 16 --max-model-len 32000",
    "equals": "vllm serve org/m --tensor-parallel-size=2 --max-num-seqs=16 --max-model-len=32k",
    "short": "vllm serve org/m -tp 2 --max-num-seqs 16 --max-model-len 32k",
    "underscores": "vllm serve org/m --tensor_parallel_size 2 --max_num_seqs 16 --max_model_len 32000",
    "module": "python3 -m vllm.entrypoints.openai.api_server --model org/m -tp=2 --max-num-seqs 16 --max-model-len 32000",
    "variables": "CUDA_VISIBLE_DEVICES=0,1 vllm serve org/m -tp 2 --max-num-seqs 16 --max-model-len 32000",
    "continued": "vllm serve org/m \\\n  -tp 2 \\\n  --max-num-seqs 16 --max-model-len '32000'",
    "model last": "vllm serve -tp 2 --max-num-seqs 16 --max-model-len 32000 org/m",
    "strangers": "vllm serve org/m --port 8000 --host 0.0.0.0 --enable-auto-tool-choice -tp 2 --allowed-origins a b --max-num-seqs 16 --max-model-len 32000",
}


@pytest.mark.parametrize("name", WRITTEN)
def test_the_same_line_in_every_spelling(name):
    flags = read_line(WRITTEN[name]).flags
    assert {key: flags[key].value for key in flags} == {
        "model": "org/m",
        "tensor-parallel-size": 2,
        "max-num-seqs": 16,
        "max-model-len": 32000,
    }


def test_k_is_a_thousand_and_capital_k_1024():
    """As vLLM's own reader has it: 1k = 1,000, 1K = 1,024, 25.6k = 25,600."""
    for text, value in (("1k", 1000), ("1K", 1024), ("25.6k", 25600), ("2M", 2 * 1024**2)):
        assert (
            read_line(f"vllm serve m --max-model-len {text}").flags["max-model-len"].value == value
        )


def test_switches_and_what_they_are_switched_off_by():
    flags = read_line("vllm serve m --enable-prefix-caching --no-enable-chunked-prefill").flags
    assert flags["enable-prefix-caching"].value is True
    assert flags["enable-chunked-prefill"].value is False


BAD = {
    "empty": ("", 1, "vllm serve"),
    "another command": ("rm -rf x", 1, "does not begin with vllm serve"),
    "no model": ("vllm serve --port 3", 1, "names no model"),
    "open quote": ("vllm serve 'org/m", 12, "no closing quotation"),
    "not a number": ("vllm serve m --max-num-seqs many", 29, "'many' is not a whole number"),
    "zero": ("vllm serve m --max-num-seqs 0", 29, "whole number, 1 or more"),
    "no value": ("vllm serve m --max-num-seqs --port 3", 14, "has no value"),
    "share": ("vllm serve m --gpu-memory-utilization 90", 39, "not a share above 0 and up to 1"),
    "nan": ("vllm serve m --gpu-memory-utilization nan", 39, "not a number"),
    "a format nobody knows": ("vllm serve m --kv-cache-dtype fp9", 31, "there are: auto, "),
    "a beginning of several": ("vllm serve m --max-num 4", 14, "is the beginning of several flags"),
    "a variable that matters": ("vllm serve m --max-model-len $LENGTH", 30, "no shell runs here"),
    "two models": ("vllm serve m n", 14, "'n' belongs to no flag"),
    "no JSON": ("vllm serve m --speculative-config {x", 35, "not a JSON object"),
    "deep JSON": ("vllm serve m --speculative-config " + "[" * 1500, 35, "not a JSON object"),
    "a second command": ("vllm serve m ; rm -rf x", 14, "no shell runs here"),
    "a substitution": ("vllm serve $(cat model)", 12, "no shell runs here"),
    "a second command inside": ("bash -c 'vllm serve m && rm -rf x'", 9, "no shell runs here"),
    "too long": ("vllm serve " + "m" * 10_000, None, "longer than"),
    "too many words": (
        "vllm serve m " + "--port 3 " * 200,
        14 + 126 * 9 + 7,
        "more than 256 words",
    ),
}


@pytest.mark.sample(5)
@pytest.mark.parametrize("name", BAD)
def test_a_fault_is_told_with_its_column(name):
    text, column, word = BAD[name]
    with pytest.raises(InputError) as caught:
        read_line(text)
    first = caught.value.problems[0]
    assert (first.file, first.column) == (NAME, column)
    assert word in str(caught.value)


PASTED = {
    "a beginning of a flag": ("vllm serve m --tensor_parallel 2", {"tensor-parallel-size": 2}, ""),
    "one letter short": (
        "vllm serve m --max-num-batched-token 8192",
        {"max-num-batched-tokens": 8192},
        "",
    ),
    "a comment of a line": (
        "vllm serve m \\\n  # the devices\n  -tp 2",
        {"tensor-parallel-size": 2},
        "",
    ),
    "a variable that does not matter": (
        "vllm serve m --port $PORT --api-key ${KEY} -tp 2",
        {"tensor-parallel-size": 2},
        "",
    ),
    "twice": (
        "vllm serve m -tp 2 --tensor-parallel-size 4",
        {"tensor-parallel-size": 4},
        "--tensor-parallel-size is given more than once: the last one counts, 4",
    ),
    "auto": ("vllm serve m --max-model-len auto", {"max-model-len": "auto"}, ""),
    "minus one": ("vllm serve m --max-model-len -1", {"max-model-len": "auto"}, ""),
    "short for speculation": (
        "vllm serve m -sc '{\"num_speculative_tokens\": 3}'",
        {"speculative-config": {"num_speculative_tokens": 3}},
        "",
    ),
    "JSON without quotes": (
        'vllm serve m -sc {"num_speculative_tokens":3}',
        {"speculative-config": {"num_speculative_tokens": 3}},
        "",
    ),
    "a container": (
        "docker run --gpus all -v ~/.cache:/root -p 8000:8000 --ipc=host vllm/vllm-openai:latest --model m -tp 8",
        {"tensor-parallel-size": 8},
        "",
    ),
    "a container with a command": (
        "sudo docker run --rm rocm/vllm:latest vllm serve m -tp 8",
        {"tensor-parallel-size": 8},
        "",
    ),
    "a shell in a container": (
        "docker run --entrypoint bash vllm/vllm-openai bash -lc 'vllm serve m -tp 8'",
        {"tensor-parallel-size": 8},
        "",
    ),
    "in the background": (
        "nohup vllm serve m -tp 2 > log.txt 2>&1 &",
        {"tensor-parallel-size": 2},
        "",
    ),
    "into a file": ("vllm serve m -tp 2 &>>log.txt", {"tensor-parallel-size": 2}, ""),
    "with variables before it": (
        "VLLM_USE_V1=1 CUDA_VISIBLE_DEVICES=0,1 vllm serve m -tp 2",
        {"tensor-parallel-size": 2},
        "",
    ),
}


@pytest.mark.sample(5)
@pytest.mark.parametrize("name", PASTED)
def test_lines_as_people_paste_them(name):
    text, expected, said = PASTED[name]
    line = read_line(text)
    assert {key: flag.value for key, flag in line.flags.items() if key != "model"} == expected
    assert line.flags["model"].value == "m"
    assert line.said == ((said,) if said else ())


def test_a_file_of_flags_below_those_of_the_line(tmp_path):
    """vLLM puts the flags of --config before those of the line, which are stronger."""
    path = tmp_path / "serve.yaml"
    path.write_text(
        "model: m\ntensor-parallel-size: 4\nmax_num_seqs: 64\nenable-expert-parallel: true\nport: 8000\n"
    )
    line = read_line(f"vllm serve --config {path} -tp 2")
    assert {key: flag.value for key, flag in line.flags.items() if key != "config"} == {
        "model": "m",
        "tensor-parallel-size": 2,
        "max-num-seqs": 64,
        "enable-expert-parallel": True,
    }
    assert line.others == ("--port", "8000")
    with pytest.raises(InputError, match="leave the flag out") as caught:
        read_line("vllm serve m --config nothing.yaml")
    assert "nothing.yaml" in str(caught.value)


def test_every_fault_comes_in_one_run():
    with pytest.raises(InputError) as caught:
        read_line("vllm serve m --max-num-seqs x --block-size y --kv-cache-dtype z")
    assert [p.column for p in caught.value.problems] == [29, 44, 63]


def test_a_name_that_says_how_it_is_stored_is_taken_so():
    assert "its name says AWQ" in resolve_model("Qwen/Qwen2.5-72B-Instruct-AWQ")[1]
    assert resolve_model("qwen3-32b")[1] == "the catalogue's qwen3-32b"


@pytest.mark.parametrize(
    "name",
    ["meta-llama/Llama-9-9T", "org/Llama-3.1-8B-Nemotron-Tuned", "", "../../etc/none", "a" * 500],
)
def test_names_nobody_knows(name):
    with pytest.raises(ValueError, match="config.json"):
        resolve_model(name)
