"""What a reader must know before a number: shares of heads, arithmetic wider than the weights, counts that are not the published ones."""

from pathlib import Path

import pytest

from symroof.analysis.case_warnings import case_warnings, splits_evenly
from symroof.api import Study

SPECS = Path(__file__).resolve().parents[2] / "specs"
EVEN = {
    "llama-3-8b": {1, 2, 4, 8, 16, 32},
    "qwen2.5-7b": {1, 2, 4, 28},
    "gpt2": {1, 2, 3, 4, 6, 12},
}
"""Of 32 heads with 8 for the cache, 28 with 4, and 12 of each: degrees that give every device as many heads, and as many of the cache's or one copy."""


@pytest.mark.parametrize("model", EVEN)
def test_degrees_that_share_out_the_heads(model):
    degrees = [n for n in range(1, 33) if splits_evenly(Study(model=model).first, n)]
    assert set(degrees) == EVEN[model]


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("hardware", "chosen", "warned"),
    [
        ("h100-sxm", {"weights": "fp8"}, True),
        ("h100-sxm", {"weights": "int8"}, True),
        ("h100-sxm", {"weights": "fp8", "activations": "fp8"}, False),
        ("h100-sxm", {"weights": "fp8", "activations": "fp16"}, False),  # somebody said so
        ("h100-sxm", {"weights": "int4"}, False),  # not 8 bits
        ("a100-80gb-sxm", {"weights": "fp8"}, False),  # there is no such arithmetic
        ("a100-80gb-sxm", {"weights": "int8"}, True),
        (None, {"weights": "fp8"}, False),
    ],
)
def test_eight_bits_of_weights_beside_sixteen_of_activations(hardware, chosen, warned):
    device = {"hardware": hardware, "engine": "ideal"} if hardware else {}
    warnings = [
        line
        for line in case_warnings(Study(model="llama-3-8b", **device, **chosen, prompt=1000).first)
        if "compute at the" in line
    ]
    assert bool(warnings) is warned
    if warned:
        assert warnings == [
            f"{chosen['weights']} weights with fp16 activations compute at the fp16 peak; --activations {chosen['weights']} uses the {chosen['weights']} peak"
        ]


@pytest.mark.parametrize(("share", "impossible"), [(1, False), (1.01, True)])
def test_more_than_the_roof_is_impossible(share, impossible):
    """20 GB at 2 TB/s take 10 ms; a step that is given as shorter reads more than there is bandwidth for."""
    case = {
        "params": 10**10,
        "peak_flops": "1000 TFLOP/s",
        "mem_bandwidth": "2 TB/s",
        "prompt": 1000,
        "assume": {"detail": "weights"},
    }
    warnings = case_warnings(Study(**case, itl=f"{0.01 / share} s").first)
    assert any("impossible: decode_mbu" in line for line in warnings) is impossible


COUNTED = 124_439_808
"""Parameters of GPT-2."""


@pytest.mark.parametrize(
    ("published", "warned"),
    [
        (COUNTED, False),
        (124_315_493, False),  # a thousandth of it below what is counted, and one parameter more
        (124_315_492, True),
        (110_000_000, True),
        (None, False),
    ],
)
def test_a_published_count_that_is_a_thousandth_off(tmp_path, published, warned):
    source = (SPECS / "models" / "gpt2.yaml").read_text(encoding="utf-8")
    line = f"published_params: {published}\n" if published else ""
    (tmp_path / "mine.yaml").write_text(
        source.replace(f"published_params: {COUNTED}\n", line).replace("name: gpt2", "name: mine"),
        encoding="utf-8",
    )
    lines = [
        line
        for line in case_warnings(Study(str(tmp_path / "mine.yaml"), prompt=100).first)
        if "published" in line
    ]
    figures = {
        124_315_492: "124.3 million",
        110_000_000: "110 million",
    }
    assert lines == (
        [f"mine: counted 124.4 million parameters, published {figures[published]} parameters"]
        if warned
        else []
    )
    given = case_warnings(Study(str(tmp_path / "mine.yaml"), prompt=100, params=10**8).first)
    assert not [
        line for line in given if "published" in line
    ]  # a number that was given is nobody's count


def test_what_memory_cannot_be_compared_with_is_said():
    """A device without a capacity, and a model without a size."""
    words = "whether this fits in memory is not known: needs prompt"
    assert words not in case_warnings(Study("gpt2", prompt=100).first)
    assert words not in case_warnings(Study(hardware="h100-sxm", engine="ideal", prompt=100).first)
    assert words not in case_warnings(Study("gpt2", "h100-sxm", engine="ideal", prompt=100).first)
    assert words in case_warnings(Study("gpt2", "h100-sxm", engine="ideal").first)
