"""A formula set as a value must come to a value that could have been written as a number, wherever the ranges stand."""

import pytest

from symroof.analysis.case_warnings import case_warnings
from symroof.analysis.verdict import target_checks
from symroof.api import Study
from symroof.errors import InputError

CASE = {
    "engine": "ideal",
    "model": "llama-3-8b",
    "hardware": "h200",
    "prompt": 2048,
    "output": 256,
    "batch": 8,
}


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"batch": "prompt - 3000"}, "prompt - 3000 is -952 requests, but batch must be positive"),
        ({"output": "prompt - 2048"}, "is 0 tokens, but output must be positive"),
        (
            {"batch": "prompt/1000"},
            r"counts requests: write a whole number\n    hint: ceil\(prompt/1000\) or floor",
        ),
        ({"tp": "n_layers/5"}, "tp counts devices"),
        (
            {"pp": "floor(prefill_devices/2)"},
            "pp: its formula has no value here: needs prefill_devices",
        ),
        ({"tp": "3*pp"}, "tp 3 cannot share out 8 key and value heads"),
        ({"mfu": "2*mbu"}, "mfu must be between 0 and 1"),
        ({"hit_rate": "batch"}, "hit_rate must be between 0 and 1"),
        ({"memory_share": "batch/4"}, "memory_share must be between 0 and 1"),
        ({"mem_bandwidth": "0*weight_bytes/1 s"}, "must be positive"),
        (
            {"cached_prefix": "2*prompt"},
            "4,096 cached tokens are more than the 2,048 of the prompt",
        ),
        ({"chunk": "10 - batch*2"}, "is -6 tokens, but chunk must be positive"),
        (
            {"prompt": "1000..4000", "batch": "prompt - 1500"},
            "prompt - 1500 is -500 requests where prompt is 1,000 tokens",
        ),
        (
            {"prompt": "1000..4000", "cached_prefix": "4000 - prompt"},
            "3,000 cached tokens are more than the 1,000",
        ),
        ({"mbu": "0.4..0.6", "mfu": "mbu*2"}, "mfu must be between 0 and 1"),
    ],
)
def test_a_formula_that_comes_to_no_value_of_its_name(values, words):
    with pytest.raises(InputError, match=words):
        Study(**CASE | values).first.result("itl")


def test_a_range_of_parallel_degrees_is_refused():
    """Each degree has a layout of its own, and few between two are permitted: three devices share out no eight heads."""
    with pytest.raises(InputError, match=r"tp is a range.*\n.*one of 1, 2, 4, 8, or a list"):
        Study(**CASE, tp="1..8").first.result("itl")
    assert [case.case.value("tp") for case in Study(**CASE, tp=[1, 2, 4, 8]).cases] == [1, 2, 4, 8]


@pytest.mark.parametrize(
    ("values", "warning"),
    [
        ({"window": 10}, "window has no effect: no formula of this case uses it"),
        ({"ep": 4}, "ep 4 has no effect: the model has no experts"),
        (
            {"pp": 64, "batch": 64},
            "pp 64 is more than the 32 layers of the model: a stage needs at least one",
        ),
    ],
)
def test_values_without_effect_or_meaning_are_warned_of(values, warning):
    assert case_warnings(Study(**CASE | values).first) == [warning]
    elsewhere = {"model": "gpt-oss-20b"} if "pp" not in values else {"pp": 32}
    assert not case_warnings(Study(**CASE | values | elsewhere).first)


def test_a_sum_up_to_a_formula():
    assert Study(**CASE, chunk="512 + batch").first.case.value("chunk") == 520


def test_a_target_that_has_no_value_here():
    with pytest.raises(
        InputError,
        match="itl_target: its formula has no value here: needs long_output\n.*give long_output",
    ):
        target_checks(Study(**CASE, itl_target="mix_long_prefill_time").first)
