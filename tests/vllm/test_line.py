"""Reading the words of a line: flags in every spelling, every fault with its column, nothing run."""

import pytest

from symroof.errors import InputError
from symroof.vllm.command_line import NAME, read_line
from symroof.vllm.served_flags import resolve_model

from ..tables import fields, table

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
    assert {key: flags[key].value for key in flags} == fields(
        "model: org/m, tensor-parallel-size: 2, max-num-seqs: 16, max-model-len: 32000"
    )


def test_k_is_a_thousand_and_capital_k_1024():
    """As vLLM's own reader has it: 1k = 1,000, 1K = 1,024, 25.6k = 25,600."""
    for text, value in (("1k", 1000), ("1K", 1024), ("25.6k", 25600), ("2M", 2 * 1024**2)):
        flags = read_line(f"vllm serve m --max-model-len {text}").flags
        assert flags["max-model-len"].value == value


def test_switches_and_what_they_are_switched_off_by():
    flags = read_line("vllm serve m --enable-prefix-caching --no-enable-chunked-prefill").flags
    assert flags["enable-prefix-caching"].value is True
    assert flags["enable-chunked-prefill"].value is False


BAD = r"""
vllm serve --port 3 | 1 | names no model
rm -rf x | 1 | does not begin with vllm serve
vllm serve 'org/m | 12 | no closing quotation
vllm serve m --max-num-seqs many | 29 | 'many' is not a whole number
vllm serve m --max-num-seqs 0 | 29 | whole number, 1 or more
vllm serve m --max-num-seqs --port 3 | 14 | has no value
vllm serve m --gpu-memory-utilization 90 | 39 | not a share above 0 and up to 1
vllm serve m --gpu-memory-utilization nan | 39 | not a number
vllm serve m --kv-cache-dtype fp9 | 31 | there are: auto,
vllm serve m --max-num 4 | 14 | is the beginning of several flags
vllm serve m --max-model-len $LENGTH | 30 | no shell runs here
vllm serve m n | 14 | 'n' belongs to no flag
vllm serve m --speculative-config {x | 35 | not a JSON object
vllm serve m ; rm -rf x | 14 | no shell runs here
vllm serve $(cat model) | 12 | no shell runs here
bash -c 'vllm serve m && rm -rf x' | 9 | no shell runs here
"""
LONG = [
    ("", 1, "vllm serve"),
    ("vllm serve m --speculative-config " + "[" * 1500, 35, "not a JSON object"),
    ("vllm serve " + "m" * 10_000, None, "longer than"),
    ("vllm serve m " + "--port 3 " * 200, 14 + 126 * 9 + 7, "more than 256 words"),
]


@pytest.mark.sample(5)
@pytest.mark.parametrize(("text", "column", "word"), [*table(BAD), *LONG])
def test_a_fault_is_told_with_its_column(text, column, word):
    with pytest.raises(InputError) as caught:
        read_line(text)
    first = caught.value.problems[0]
    assert (first.file, first.column) == (NAME, column and int(column))
    assert word in str(caught.value)


PASTED = r"""
# a beginning of a flag, one letter short
vllm serve m --tensor_parallel 2 | tensor-parallel-size: 2
vllm serve m --max-num-batched-token 8192 | max-num-batched-tokens: 8192
# a comment of a line, a variable that does not matter
vllm serve m \\n  # the devices\n  -tp 2 | tensor-parallel-size: 2
vllm serve m --port $PORT --api-key ${KEY} -tp 2 | tensor-parallel-size: 2
vllm serve m --max-model-len auto | max-model-len: auto
vllm serve m --max-model-len -1 | max-model-len: auto
vllm serve m -sc '{"num_speculative_tokens": 3}' | speculative-config: {num_speculative_tokens: 3}
vllm serve m -sc {"num_speculative_tokens":3} | speculative-config: {num_speculative_tokens: 3}
# containers, their shells, the background, a file, variables before it
docker run --ipc=host --gpus all vllm/vllm-openai:latest --model m -tp 8 | tensor-parallel-size: 8
sudo docker run --rm rocm/vllm:latest vllm serve m -tp 8 | tensor-parallel-size: 8
docker run --entrypoint bash rocm/vllm bash -lc 'vllm serve m -tp 8' | tensor-parallel-size: 8
nohup vllm serve m -tp 2 > log.txt 2>&1 & | tensor-parallel-size: 2
vllm serve m -tp 2 &>>log.txt | tensor-parallel-size: 2
VLLM_USE_V1=1 CUDA_VISIBLE_DEVICES=0,1 vllm serve m -tp 2 | tensor-parallel-size: 2
"""


@pytest.mark.sample(5)
@pytest.mark.parametrize(("text", "expected"), table(PASTED))
def test_lines_as_people_paste_them(text, expected):
    line = read_line(text.replace("\\n", "\n"))
    assert {key: flag.value for key, flag in line.flags.items()} == {
        "model": "m",
        **fields(expected),
    }
    assert line.said == ()


def test_of_a_flag_that_is_given_twice_the_last_counts():
    line = read_line("vllm serve m -tp 2 --tensor-parallel-size 4")
    assert line.flags["tensor-parallel-size"].value == 4
    assert line.said == ("--tensor-parallel-size is given more than once: the last one counts, 4",)


def test_a_file_of_flags_below_those_of_the_line(tmp_path):
    """vLLM puts the flags of --config before those of the line, which are stronger."""
    path = tmp_path / "serve.yaml"
    path.write_text(
        "model: m\ntensor-parallel-size: 4\nmax_num_seqs: 64\nenable-expert-parallel: true\nport: 8000\n"
    )
    line = read_line(f"vllm serve --config {path} -tp 2")
    assert {key: flag.value for key, flag in line.flags.items() if key != "config"} == fields(
        "model: m, tensor-parallel-size: 2, max-num-seqs: 64, enable-expert-parallel: true"
    )
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
