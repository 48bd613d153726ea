"""The tutorial's exercises 1 and 2, at four levels of detail."""

import pytest

from symroof.api import Study

from ..tables import table
from . import H100_989, KV, WEIGHTS, check, row

EXACT = {"activations": "off"}
MODELS = {
    "8B": {"model": "llama-3-8b", "params": 8_030_000_000},
    "70B": {"model": "llama-3-70b", "params": 70_600_000_000},
}


def case(model, level):
    """The exercise's case: first order, with the true cache, exact, or by the tutorial's own counting."""
    if level == "tool":
        own = {"model": MODELS[model]["model"], "hardware": "h100-sxm"}
        return {"preset": "tutorial-mlsysim", **own}
    counted = {"first order": WEIGHTS, "cache": KV, "exact": EXACT}[level]
    return {**MODELS[model], **H100_989, "mfu": 0.5, "assume": counted}


def one():
    """TTFT and ITL of both models, and how many times those of the smaller one the larger one's are."""
    for level, *cells in table("""
# TTFT of 8B, of 70B, their ratio; ITL
first order | 66.51 ms | 584.79 ms | 8.79 | 4.794 ms | 42.15 ms | 8.79
cache       | 66.51 ms | 584.79 ms | 8.79 | 4.874 ms | 42.35 ms | 8.69
exact       | 60.04 ms | 578.11 ms | 9.63 | 4.561 ms | 41.69 ms | 9.14
tool        | 66.52 ms | 584.80 ms | 8.79 | 8.352 ms | 51.83 ms | 6.21
"""):
        for quantity, (small, large, ratio) in (("ttft", cells[:3]), ("itl", cells[3:])):
            few, many = ({**case(model, level), "prompt": 2048} for model in MODELS)
            named = f"exercise 1, {level}: {quantity}"
            yield row(f"{named} of the 8B", quantity, small, **few)
            yield row(f"{named} of the 70B", quantity, large, **many)
            yield row(f"{named}, ratio", quantity, ratio, few, **many)


def two():
    for prompt, output, level, *cells in table("""
50 | 500 | first order | 4.79 ms | 2,397 ms | 0.20 %
50 | 500 | exact | 4.48 ms | 2,246 ms | 0.20 %
50 | 500 | tool | 1.63 ms | 4,003 ms | 0.04 %
4000 | 100 | first order | 129.9 ms | 604.5 ms | 21.5 %
4000 | 100 | exact | 121.4 ms | 580.6 ms | 20.9 %
4000 | 100 | tool | 129.9 ms | 999.2 ms | 13.0 %
"""):
        work = {**case("8B", level), "prompt": int(prompt), "output": int(output)}
        for quantity, printed in zip(("ttft", "response_time", "ttft_share"), cells, strict=True):
            yield row(f"exercise 2, {prompt} in, {level}: {quantity}", quantity, printed, **work)


@pytest.mark.parametrize("case", [*one(), *two()])
def test_row(case):
    check(case)


def test_the_prescribed_device_cannot_hold_the_70b():
    """Exercise 1 asks for the 70B on one H100: 141.2 GB in 80."""
    study = Study(**case("70B", "exact"), prompt=2048)
    assert study.value("weight_bytes") == 141_200_000_000
    assert study.value("fits") is False
