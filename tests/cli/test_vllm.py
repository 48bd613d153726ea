"""``symroof vllm``: the review, JSON, refusals, exit codes."""

import pytest

from ..tables import table
from . import good, refused

LINE = "vllm serve meta-llama/Llama-3.1-8B-Instruct --tensor-parallel-size 2 --max-num-seqs 128 --max-num-batched-tokens 4096 --port 8000"
CASE = ("--hardware", "h100-sxm", "--prompt", "2048", "--output", "256", "--target", "itl=30 ms")


REFUSED = """
vllm serve meta-llama/Llama-9-9T | vllm line:1:12: model; config.json
vllm serve llama-3.1-8b --max-num-seqs 300 --max-num-batched-tokens 200 | :1:69; no room for 300
vllm serve llama-3.1-8b --speculative-config '{"num_speculative_tokens": -1}' | num_speculative_tok
vllm serve ./nothing.json | nothing.json
"""


@pytest.mark.parametrize(("line", "words"), table(REFUSED))
def test_refused_lines(line, words):
    message = refused("vllm", line, *CASE)
    assert message.startswith("vllm line:1:")
    for word in words.split("; "):
        assert word in message


def test_unknown_hardware():
    assert "did you mean 'h100-sxm'" in refused("vllm", LINE, "--hardware", "h100-smx")


def test_a_mistyped_flag_is_pointed_out_and_a_flag_without_effect_is_not():
    line = (
        "vllm serve meta-llama/Llama-3.1-8B --max-num-sequences 3 --port 80 --mamba-block-size 16"
    )
    text = good("vllm", line, "--hardware", "h100-sxm", "--prompt", "100", "--output", "10").out
    first, said = text.splitlines()[1], " ".join(text.split())
    assert (
        "! --max-num-sequences is unknown: it was ignored, and the recommended line leaves it out; did you mean --max-num-seqs?"
        in said
    )
    assert text.count("was ignored") == 1
    assert "--port 80 --mamba-block-size 16" in first and "sequences" not in first


@pytest.mark.parametrize(("users", "queue"), [(8, False), (40, True)])
def test_more_users_than_run_at_a_time_queue(users, queue):
    """Without an arrival rate the users are as many as a person says, whatever the line lets run."""
    line = "vllm serve meta-llama/Llama-3.1-8B --max-num-seqs 32"
    case = ("--hardware=h100-sxm", "--prompt=500", "--output=100", f"--batch={users}")
    said = " ".join(good("vllm", line, *case).out.split())
    assert ("40 users are more than the 32 requests that max-num-seqs lets run" in said) == queue


def test_what_limits_the_recommended_line_is_said_in_words():
    """The assumed length above it; below it how many requests fit."""
    line = "vllm serve Qwen/Qwen3-32B --tensor-parallel-size 2 --max-num-seqs 512"
    case = ("--hardware=h100", "--prompt=2000", "--output=300")
    first, rest = good("vllm", line, case[0]).out.split("Recommended:")
    assert "every request is taken to have the maximum length, 40,960 tokens" in first
    assert "40,960 tokens" not in rest and "no target is set, so only memory decides" in rest
    text = good("vllm", line, *case).out
    assert text.startswith("Recommended:") and "only 141 of 512 requests fit in memory" in text


def test_a_line_of_another_engine_is_no_line_of_vllm():
    line = ("llama-server -m x.gguf", "--hardware", "h100-sxm")
    assert refused("server", *line).startswith("server line:1:17: model: 'x.gguf' is neither")
    assert "`symroof server` reads this one" in refused("vllm", *line)
