"""Whatever a person gives moves the answer of a command that decides, or is named by it."""

import pytest

from tests.cli import call, good
from tests.tables import words

DEPLOYED = "--model llama-3.1-8b --hardware h100-sxm"
WORK = words("--prompt 2048 --output 300 --set arrival_rate=5/s --target itl=40ms --target ttft=2s")
CASE = (*DEPLOYED.split(), *WORK)
SERVE = "vllm serve meta-llama/Llama-3.1-8B-Instruct --max-num-seqs 64"
COMMANDS = {
    "select": ("select", *CASE, "--efficiency", "peak"),
    "vllm": ("vllm", SERVE, "--hardware", "h100-sxm", *WORK),
    "replicas": ("solve", "min_copies_arrival", *CASE, "--batch", "32"),
}
FEW = ("acceptance=0.7", "output_spread=0.5", "cost_target=0.5 USD")
"""Asked of every command: a selection and a review of a line take seconds each."""
MANY = (
    *("cached_prefix=1024", "draft_tokens=4", "long_share=0.3", "output_spread=0.5"),
    *("slo_share=0.5", "queue_time=5 ms", "fleet_price_target=1 USD/hour", "margin=0.2"),
    *("memory_reserve=2 GB", "chunk=1024", "power=600 W"),
)
ASKED = [(name, given) for name in COMMANDS for given in (MANY if name == "replicas" else FEW)]


@pytest.fixture(scope="module")
def plain():
    return {name: numbers(call(*line, "--json").json) for name, line in COMMANDS.items()}


def numbers(answer):
    """An answer without what it says of its inputs."""
    return {
        key: value
        for key, value in answer.items()
        if key not in ("warnings", "inputs", "assumptions", "assumed")
    }


@pytest.mark.full
@pytest.mark.parametrize(("command", "given"), ASKED)
def test_what_is_given_moves_the_answer_or_is_named(command, given, plain):
    line, name = (*COMMANDS[command], "--set", given), given.partition("=")[0]
    if numbers(call(*line, "--json").json) != plain[command]:
        return
    first = [text.strip() for text in call(*line).out.splitlines()[:30]]
    assert any(text.startswith("! ") and name in text for text in first), first


@pytest.mark.full
def test_hits_without_a_cached_prefix_are_hits_of_nothing():
    line = COMMANDS["select"]
    both, alone = (
        good(*line, *(x for given in more for x in ("--set", given)), "--json").json
        for more in (("hit_rate=0.5", "cached_prefix=1024"), ("cached_prefix=1024",))
    )
    assert both["configurations"][0]["quantities"] != alone["configurations"][0]["quantities"]


def test_what_an_overloaded_server_is_held_to_is_all_said():
    """Its wait has no end, which misses a target on the first token; its cost is that of the rate it is given."""
    loaded = f"{DEPLOYED} --prompt 2000 --output 300 --batch 32 --set arrival_rate=60/s"
    found = call("eval", *loaded.split(), *["--target", "ttft=1s", "--target", "itl=30ms"]).out
    assert "✗ TTFT unbounded, target 1 s: the queue grows" in found and "✗ load" in found
    assert found.count("cost per million tokens") == 1


def test_every_chunk_meets_at_the_peak_what_only_small_ones_are_expected_to():
    """Chunks of 64 to 8,189 tokens keep a mean step of 60 ms at the peak."""
    case = "--model deepseek-v3 --hardware h200 --tp 8 --prompt 131072 --output 1000 --batch 3"
    line = (*case.split(), "--target", "itl=60 ms", "--json")
    expected = call("solve", "max_chunk_sustained_itl", *line).json
    assert 64 < expected["integer"]["at_most"] < 512
    peak = (*line, "--efficiency", "peak")
    found = call("solve", "max_chunk_sustained_itl", *peak).json
    assert found["verdict"] == "lhs_below" and found["integer"] is None
    for chunk in (64, 8189):
        evaluated = call("eval", *peak, "--set", f"chunk={chunk}", "-q", "sustained_itl").json
        assert evaluated["cases"][0]["quantities"]["sustained_itl"]["value"] < 0.06
