"""What a reader must know before a number: shares above the roof, counts that are not the published ones."""

from pathlib import Path

import pytest

from symroof.analysis.case_summary import case_warnings
from symroof.api import Study

SPECS = Path(__file__).resolve().parents[2] / "specs"


@pytest.mark.parametrize(("share", "impossible"), [(1, False), (1.01, True)])
def test_more_than_the_roof_is_impossible(share, impossible):
    """20 GB at 2 TB/s take 10 ms; a step that is given as shorter reads more than there is bandwidth for."""
    case = {"params": 10**10, "peak_flops": "1000 TFLOP/s", "mem_bandwidth": "2 TB/s"}
    assume = {"detail": "weights"}
    lines = case_warnings(Study(**case, prompt=1000, assume=assume, itl=f"{0.01 / share} s").first)
    assert any("impossible: decode_mbu" in line for line in lines) is impossible


COUNTED = 124_439_808
"""Parameters of GPT-2."""


@pytest.mark.parametrize(
    ("published", "said"),
    [
        (124_315_493, None),  # a thousandth of it below what is counted, and one parameter more
        (124_315_492, "counted 124.4 million parameters, published 124.3 million parameters"),
    ],
)
def test_a_published_count_that_is_a_thousandth_off(tmp_path, published, said):
    source = (SPECS / "models" / "gpt2.yaml").read_text(encoding="utf-8")
    source = source.replace(f"published_params: {COUNTED}", f"published_params: {published}")
    path = tmp_path / "mine.yaml"
    path.write_text(source.replace("name: gpt2", "name: mine"), encoding="utf-8")
    lines = [text for text in case_warnings(Study(str(path), prompt=100).first) if "publ" in text]
    assert lines == ([f"mine: {said}"] if said else [])
    given = case_warnings(Study(str(path), prompt=100, params=10**8).first)
    assert not [line for line in given if "published" in line]  # given: it is nobody's count


def test_what_has_one_cause_is_one_warning():
    """Two inputs that nobody measured on a family, and a draft model that drafts nothing."""
    case = {"model": "qwen3-4b", "hardware": "tpu-v5e", "prompt": 100, "draft": "llama-3.2-1b"}
    lines = case_warnings(Study(**case).first)
    assert sum("nobody measured mfu and layer_overhead on this" in line for line in lines) == 1
    assert ["nothing is drafted" in line for line in lines if "draft" in line] == [True]


def test_what_memory_cannot_be_compared_with_is_said():
    """A device without a capacity, and a model without a size."""
    words = "whether this fits in memory is not known: needs prompt"
    for case in (Study("gpt2", prompt=100), Study(hardware="h100-sxm", engine="ideal", prompt=9)):
        assert words not in case_warnings(case.first)
    assert words in case_warnings(Study("gpt2", "h100-sxm", engine="ideal").first)
