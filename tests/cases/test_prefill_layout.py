"""Instances that only prefill, with a layout of their own: their passes are those of a case with that layout, the rest that of the decode's."""

import pytest

from symroof.api import Study
from symroof.cases.other_cases import PARTS
from symroof.errors import InputError

from ..near import near
from ..tables import case_of, fields, table, words

R1 = case_of("model=deepseek-r1 hardware=h200 weights=fp8 prompt=4096 output=512 batch=64")
APART = {"assume": {"scheduling": "disaggregated"}}
LAYOUTS = [{"attention_dp": 8}, {"tp": 4, "pp": 2}, {"tp": 8, "ep": 8}]


@pytest.mark.sample(3)
@pytest.mark.parametrize("efficiency", ["peak", "measured"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_pass_is_that_of_a_case_with_the_layout(layout, efficiency):
    """And the steps are those of a case with the layout of the decode: one number of each, at two prompts."""
    case = R1 | {"efficiency": efficiency}
    both, of_prefill, of_decode = (
        Study(**case, attention_dp=8, prefill=layout),
        Study(**case, **layout),
        Study(**case, attention_dp=8),
    )
    for prompt in (4096, 777):
        own, alone, decoding = (
            study.first.case.changed({"prompt": prompt}) for study in (both, of_prefill, of_decode)
        )
        for name in (*(f"prefill_{part}" for part in PARTS), "prefill_time", "ttft"):
            if alone.has_value(name):
                assert own.value(name) == near(alone.value(name)), name
        for name in words("decode_link_time decode_bytes_per_device itl memory_bytes_per_device"):
            assert own.value(name) == decoding.value(name), name


def test_the_same_layout_is_no_other():
    """Two instances like those that decode, said in three ways."""
    named, unnamed, counted = (
        Study(**R1, tp=8, prefill={"tp": 8, "instances": 2}),
        Study(**R1, tp=8, prefill={"instances": 2}),
        Study(**R1, tp=8, prefill_devices=16, **APART),
    )
    for name in words(
        "prefill_request_rate sustained_requests loaded_ttft worst_itl cost_per_mtok"
    ):
        assert named.value(name) == unnamed.value(name) == counted.value(name)


def test_what_a_prefill_achieves_is_of_the_devices_that_prefill():
    case = {"model": "llama-3.3-70b", "hardware": "h100-sxm", "weights": "fp8", "prompt": 2048}
    split = Study(**case, output=300, tp=2, prefill={"tp": 4, "instances": 1})
    same = Study(**case, output=300, tp=4)
    for name in ("prefill_mfu", "prefill_mbu"):
        assert split.value(name) == pytest.approx(float(same.value(name)), rel=0.02)


def test_a_threshold_moves_with_the_prefill():
    """The prompt whose first token takes a second, of the layout that prefills."""
    prompts = [
        Study(**R1 | {"prompt": None}, **layout).solve("ttft = 1 s", "prompt").value
        for layout in ({"attention_dp": 8, "prefill": {"tp": 8}}, {"tp": 8})
    ]
    assert prompts[0] == prompts[1]


NO_LAYOUT = """
prefill: {tp: 2} | an instance does not hold the model and a prompt
prefill: {tp: 8, devices: 12} | 12 devices are no whole number of instances of 8
prefill: {tp: 8, devices: 8, instances: 1} | instances say how many devices there are
prefill: {tpp: 8} | hint: did you mean 'tp'
prefill: {tp: 0} | is a whole number from 1 on
prefill: {tp: 8}, assume: {scheduling: chunked} | and scheduling is chunked
prefill: 3 | expected keys and values
"""


@pytest.mark.parametrize("row", table(NO_LAYOUT), ids=str)
def test_what_is_no_layout(row):
    with pytest.raises(InputError, match=row[1]):
        Study(**R1, attention_dp=8, **fields(row[0])).first.result("itl")
