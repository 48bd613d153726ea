"""What latencies rest on stands in the first lines: all that measurements know of is expected, and bound where asked."""

import re

import pytest

from . import call, good

CASE = (
    "--model", "llama-3-8b", "--hardware", "h100-sxm", "--prompt", "2048", "--output", "64",
    "--batch", "8",
)  # fmt: skip
EXPECTED = "predicted from measurements of vLLM-class engines; ranges are 80 % intervals"
PEAK = "theoretical minimum (100 % of peak)"


@pytest.fixture
def lines(tmp_path):
    return {
        "eval": ("eval", *CASE, "--all"),
        "derive": ("derive", "itl", "--all", *CASE),
        "solve": ("solve", "max_batch_itl", "--all", *CASE, "--target", "itl=20 ms"),
        "select": ("select", *CASE, "--details"),
        "vllm": ("vllm", "vllm serve llama-3-8b --max-num-seqs 8", *CASE[2:], "--details"),
        "plot": ("plot", "itl", *CASE, "-o", str(tmp_path / "x.svg")),
    }


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", ["eval", "derive", "solve", "select", "vllm", "plot"])
def test_all_expect_and_show_the_bound(lines, name):
    text = call(*lines[name]).out
    said = " ".join(text.split())
    assert EXPECTED in said and re.search("theoretical minimum|100 % of peak|bound", said)


@pytest.mark.full
def test_programs_find_the_bound_beside_what_is_expected():
    case = (*CASE, "--set", "chunk=512", "--json")  # select chooses one that is left open
    at_peak = good("eval", *case, "--efficiency", "peak").json["cases"][0]["quantities"]
    (configuration,) = good("select", *case).json["configurations"]
    for name in ("itl", "ttft", "sustained_itl", "sustained_throughput", "cost_per_mtok"):
        entry = configuration["quantities"][name]
        assert entry["bound"] == pytest.approx(at_peak[name]["value"])
        assert entry["low"] < entry["value"] < entry["high"]
    assert "bound" not in configuration["quantities"]["memory_bytes"]
