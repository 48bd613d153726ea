"""What latencies rest on stands in the first lines: all that measurements know of is expected, and bound where asked."""

import pytest

from ..tables import words
from . import good

CASE = words("--model llama-3-8b --hardware h100-sxm --prompt 2048 --output 64 --batch 8")


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
