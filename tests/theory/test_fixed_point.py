"""Searches against lines that are solved by hand and against counting, each for several scenarios at once."""

import pytest

from symroof.api import Study

from ..tables import case_of, words

STEP = 1e-5
"""A relative step: smaller ones are lost in rounding, larger ones in curvature."""


@pytest.mark.full
@pytest.mark.parametrize("model", ["llama-3-8b", "gpt-oss-20b"])
def test_elasticities_together_are_those_of_small_steps(model):
    """Of windows, experts, steps with few and many prompts, and a batch that is searched. What counts nothing is worked out at once."""
    together = words(
        "mfu mbu price arrival_rate peak_flops kv_bytes_per_element step_overhead "
        "link_bandwidth output_spread"
    )
    work = case_of(
        "prompt=1500 output=100 batch=32 chunk=400 tp=2 arrival_rate='2 request/s' "
        "output_spread=0.5"
    )
    case = Study(
        model, "h100-sxm", **work, mfu="0.5", mbu="0.7", step_overhead="1 ms", price=1
    ).first.case
    for name in ("loaded_ttft", "sustained_itl"):
        found = case.elasticities(name, ("prompt", *together, "output"))
        assert found.keys() == {*together, "output", "prompt"} and found["price"] == 0
        check_small_steps(case, name, found)


def check_small_steps(case, name, found):
    for by, elasticity in found.items():
        low, high = (
            case.changed({by: case.value(by) * (1 + way * STEP)}).value(name) for way in (-1, 1)
        )
        moved = (high - low) / (2 * STEP * case.value(name))
        assert moved == pytest.approx(elasticity, abs=1e-7), by


def test_what_does_not_move_in_a_power_of_nothing_hinders_no_elasticity():
    """No step is without a prompt here: nothing to the power of groups, whose slope would divide by it."""
    work = case_of("prompt=32 output=32 arrival_rate='2 request/s'")
    case = Study("qwen3-32b", "gb10", **work).first.case
    found = case.elasticities("max_goodput", ("mfu", "mem_bandwidth", "batch"))
    assert len(found) == 3
    check_small_steps(case, "max_goodput", found)
