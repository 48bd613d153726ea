"""The tutorial's exercises 1 and 2, at four levels of detail."""

import pytest

from symroof.api import Study

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


ONE = [
    row(
        f"exercise 1, {level}: {quantity} of the {model}",
        quantity,
        expected,
        **case(model, level),
        prompt=2048,
    )
    for level, ttft_8, ttft_70, itl_8, itl_70 in (
        ("first order", "66.51 ms", "584.79 ms", "4.794 ms", "42.15 ms"),
        ("cache", "66.51 ms", "584.79 ms", "4.874 ms", "42.35 ms"),
        ("exact", "60.04 ms", "578.11 ms", "4.561 ms", "41.69 ms"),
        ("tool", "66.52 ms", "584.80 ms", "8.352 ms", "51.83 ms"),
    )
    for quantity, model, expected in (
        ("ttft", "8B", ttft_8),
        ("ttft", "70B", ttft_70),
        ("itl", "8B", itl_8),
        ("itl", "70B", itl_70),
    )
]
RATIOS = [
    row(
        f"exercise 1, {level}: ratio of {quantity}",
        quantity,
        expected,
        case("8B", level),
        **case("70B", level),
        prompt=2048,
    )
    for level, ttft, itl in (
        ("first order", "8.79", "8.79"),
        ("cache", "8.79", "8.69"),
        ("exact", "9.63", "9.14"),
        ("tool", "8.79", "6.21"),
    )
    for quantity, expected in (("ttft", ttft), ("itl", itl))
]
TWO = [
    row(
        f"exercise 2, {prompt} in, {output} out, {level}: {quantity}",
        quantity,
        expected,
        **case("8B", level),
        prompt=prompt,
        output=output,
    )
    for prompt, output, level, *numbers in (
        (50, 500, "first order", "4.79 ms", "2,397 ms", "0.20 %"),
        (50, 500, "exact", "4.48 ms", "2,246 ms", "0.20 %"),
        (50, 500, "tool", "1.63 ms", "4,003 ms", "0.04 %"),
        (4000, 100, "first order", "129.9 ms", "604.5 ms", "21.5 %"),
        (4000, 100, "exact", "121.4 ms", "580.6 ms", "20.9 %"),
        (4000, 100, "tool", "129.9 ms", "999.2 ms", "13.0 %"),
    )
    for quantity, expected in zip(("ttft", "response_time", "ttft_share"), numbers, strict=True)
]


@pytest.mark.parametrize("case", [*ONE, *RATIOS, *TWO])
def test_row(case):
    check(case)


def test_the_prescribed_device_cannot_hold_the_70b():
    """Exercise 1 asks for the 70B on one H100: 141.2 GB in 80."""
    study = Study(**case("70B", "exact"), prompt=2048)
    assert study.value("weight_bytes") == 141_200_000_000
    assert study.value("fits") is False
