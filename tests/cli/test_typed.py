"""What people type out of habit: other tools' options, hub names, bare numbers; and lengths a model was not made for."""

import shlex

import pytest

from ..tables import table
from . import good, refused

CASE = ("--model", "llama-3-8b", "--hardware", "h100-sxm")


@pytest.mark.parametrize(
    ("words", "ours"),
    [
        (["--tensor-parallel-size", "2"], ["--tp", "2"]),
        (["-tp", "2"], ["--tp", "2"]),
        (["--gpu-memory-utilization", "0.9"], ["--set", "memory_share=0.9"]),
        (["--qps", "4"], ["--set", "arrival_rate=4/s"]),
        (["--qps", "4 req/s"], ["--set", "arrival_rate=4/s"]),
        (["--concurrency=8"], ["--batch", "8"]),
        (["--quantize", "fp8"], ["--weights", "fp8"]),
        (["--batch", "1,8"], ["--batch", "1", "--batch", "8"]),
        (["--target", "itl<20 ms"], ["--target", "itl=20 ms"]),
    ],
)
def test_options_of_other_tools_are_understood_where_one_thing_is_meant(words, ours):
    line = ("eval", *CASE, "--prompt", "100", "--output", "8")
    assert good(*line, *words).out == good(*line, *ours).out


ASKED_BACK = """
eval --dtype bfloat16 | did you mean '--weights' or '--activations'?
eval --max-model-len 4096 | did you mean '--prompt' or '--output' or '--context'? Or `symroof vllm
derive latency | did you mean 'ttft' or 'itl' or 'response_time'?
eval llama-3.1-8b | give it as an option: --model llama-3.1-8b
report chat.pdf | symroof report STUDY.yaml --format pdf
solve batch | thresholds for batch: batch_to_ridge
vllm vllm serve x | quote the line: symroof vllm 'vllm serve x'
estimate | did you mean `symroof eval`?
check post.md --model x | a comment in the file sets it: <!-- symroof: given
check '70B in FP16 needs 140 GB.' | write the text to a file such as note.md
check '70B in FP16 needs 140' | write the text to a file such as note.md
derive interactivity | did you mean 'user_rate'?
eval --ttft '2 s' | write --target ttft=…
eval --tpot 40ms | write --target itl=…
eval --target 'ttft_p99=2 s' | write ttft: {p99: 2 s} in a file
eval --target 'ttft=2 s p99' | write ttft='p99 2 s'
eval --model gpt2 --hardware 8xH100 | write the name alone, and the number of GPUs as --tp 8
eval --set 'mem_bandwidth=3 TBps' | did you mean TB/s?
vllm | such as: symroof vllm 'vllm serve
eval --model gpt2 --hardware h1000 | did you mean 'h100'?
select --among prefill_devices=1,2 | --assume scheduling=disaggregated
eval --model gpt2 --prompt 100 --output 10 --qps 0 | leave it out for a server with every slot taken
diff gpt2 llama-3-8b | write a case in quotes: '--model gpt2 --hardware
"""


@pytest.mark.parametrize(("line", "said"), table(ASKED_BACK))
def test_what_may_mean_several_things_or_none_here_is_asked_back(line, said):
    message = refused(*shlex.split(line))
    assert f"hint: {said}" in message and message.count("hint") == 1


def test_a_comma_that_may_group_or_list_is_asked_back():
    assert "write 4128, or repeat the option" in refused("eval", *CASE, "--batch", "4,128")
    assert "write --prefill instances=11" in refused("select", *CASE, "--prefill", "11")


def test_a_kind_of_entry_has_other_words():
    assert good("list", "gpus").out == good("list", "hardware").out


def test_no_name_of_another_kind_of_thing_is_suggested():
    assert "did you mean" not in refused("eval", "--model", "gpt-4", *CASE[2:])


SLIPS = """
ttft | symroof: no such command 'ttft' | did you mean `symroof derive ttft`?
frobnicate | symroof: no such command 'frobnicate' | `symroof --help` lists the commands
show foo | foo: unknown name | `symroof list models`, hardware, quantities,
show | symroof show: missing argument NAME | such as: symroof show h100-sxm
eval CASE --set 'mem_bandwith=3 TB/s' | --set: mem_bandwith: unknown name 'mem_bandwith' | did you mean
eval CASE --efficiency max | --efficiency: no such efficiency 'max' | there are: measured, peak
list models zzz | list models: no entry contains 'zzz' | `symroof list models` shows all
eval CASE --qps 6/min | --qps: unknown unit 'min' | did you mean hour or s, as 120 s for 2 min and
eval CASE --set 'price=3 EUR/hour' | --set: price: unknown unit 'EUR' | did you mean USD, the only
"""


@pytest.mark.sample(5)
@pytest.mark.parametrize(("line", "message", "hint"), table(SLIPS))
def test_a_slip_on_the_line_gets_place_message_and_hint(line, message, hint):
    words = shlex.split(line.replace("CASE", shlex.join(CASE)))
    assert refused(*words).startswith(f"{message}\n    hint: {hint}")


def test_for_programs_the_place_of_a_problem_is_where_it_came_from():
    import json

    (error,) = json.loads(refused("eval", *CASE, "--mfu", "2", "--json"))["errors"]
    assert (error["file"], error["path"]) == ("command line", "mfu")


def test_a_usage_error_is_json_where_json_is_asked_for():
    import json

    (error,) = json.loads(refused("eval", *CASE, "--frobnicate", "--json"))["errors"]
    assert (error["file"], error["message"]) == ("symroof eval", "no such option '--frobnicate'")
