"""A formula set as a value must come to a value that could have been written as a number, wherever the ranges stand."""

import pytest
import yaml

from symroof.analysis.case_summary import case_warnings
from symroof.analysis.verdict import target_checks
from symroof.api import Study
from symroof.errors import InputError

CASE = {"engine": "ideal", "model": "llama-3-8b", "hardware": "h200", "prompt": 2048}
CASE |= {"output": 256, "batch": 8}

# what is set | what is said
REFUSED = """
batch: prompt - 3000 | prompt - 3000 is -952 requests, but batch must be positive
batch: prompt/1000 | counts requests: write a whole number
tp: n_layers/5 | tp counts devices
pp: floor(prefill_devices/2) | pp: its formula has no value here: needs prefill_devices
tp: 3*pp | tp 3 does not divide 8 key/value heads
mfu: 2*mbu | mfu must be between 0 and 1
cached_prefix: 2*prompt | 4,096 cached tokens are more than the 2,048 of the prompt
prompt: 1000..4000, batch: prompt - 1500 | prompt - 1500 is -500 requests where prompt is 1,000
prompt: 1000..4000, cached_prefix: 4000 - prompt | 3,000 cached tokens are more than the 1,000
mbu: 0.4..0.6, mfu: mbu*2 | mfu must be between 0 and 1
"""


@pytest.mark.sample(5)
@pytest.mark.parametrize("row", REFUSED.strip().splitlines())
def test_a_formula_that_comes_to_no_value_of_its_name(row):
    values, words = row.split(" | ")
    with pytest.raises(InputError) as error:
        Study(**CASE | yaml.safe_load(f"{{{values}}}")).first.result("itl")
    assert words in str(error.value)


def test_a_range_of_parallel_degrees_is_refused():
    """Each degree has a layout of its own, and few between two are permitted: three devices share out no eight heads."""
    with pytest.raises(InputError, match=r"tp is a range.*\n.*one of 1, 2, 4, 8, or a list"):
        Study(**CASE, tp="1..8").first.result("itl")
    assert [case.case.value("tp") for case in Study(**CASE, tp=[1, 2]).cases] == [1, 2]


def test_values_without_effect_or_meaning_are_warned_of():
    idle = Study(**CASE, window=10, ep=4).first
    assert sorted(case_warnings(idle)) == [
        "ep 4 has no effect: the model has no experts",
        "window has no effect: no formula of this case uses it",
    ]
    slow = Study(**CASE, itl_target="50 s", ttft_target="500 s").first
    assert "target ITL 50 s: was 50 ms meant?" in case_warnings(slow)
    assert not any("500" in each for each in case_warnings(slow))
    stages = "pp 64 is more than the 32 layers of the model: a stage needs at least one"
    assert case_warnings(Study(**CASE | {"pp": 64, "batch": 64}).first) == [stages]


def test_a_sum_up_to_a_formula_and_a_target_that_has_no_value_here():
    assert Study(**CASE, chunk="512 + batch").first.case.value("chunk") == 520
    with pytest.raises(InputError, match="itl_target: its formula has no value here: needs long_"):
        target_checks(Study(**CASE, itl_target="mix_long_prefill_time").first)
