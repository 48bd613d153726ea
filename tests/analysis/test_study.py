"""The façade in Python: values with unit, range and flags, exact numbers, derivations, errors."""

from pathlib import Path

import pytest

import symroof as sr

STUDIES = Path(__file__).resolve().parents[2] / "specs" / "studies"
H100 = {"model": "llama-3-8b", "hardware": "h100-sxm", "prompt": 1024, "output": 16, "batch": 2}


@pytest.fixture(scope="module")
def study():
    return sr.Study(**H100, efficiency="peak")


def refused(make):
    """The message of the InputError that a call must raise."""
    with pytest.raises(sr.InputError) as caught:
        make()
    return str(caught.value)


# -------------------------------------------------------------------------------------------------------- values


def test_a_value_is_a_float_in_base_units_that_knows_its_unit(study):
    value = study.value("kv_cache_bytes")
    assert isinstance(value, float)
    assert value == 2 * 1024 * 2 * 32 * 8 * 128 * 2
    assert (value.unit, value.low, value.high, value.flags) == ("byte", value, value, ())
    assert str(value) == repr(value) == "268.4 MB"
    assert value / 2 == 2 * 1024 * 32 * 8 * 128 * 2


def test_a_formula_in_text_has_the_value_of_the_same_in_sympy(study):
    from symroof.symbols import itl, ttft

    assert study.value("itl + ttft") == study.value(itl + ttft)
    with pytest.raises(sr.InputError, match="expected a number"):
        study.value("itl +")
    with pytest.raises(sr.InputError, match="fits is true/false or a category"):
        study.derive("fits - 1")


def test_a_quantity_that_no_operator_has_is_not_defined_by_itself():
    with pytest.raises(sr.InputError, match="is not known of one operator") as found:
        sr.Study().derive("decode_intensity.nonsense")
    assert "the whole is decode_intensity" in found.value.problems[0].hint


def test_a_value_agrees_with_a_hand_count(study):
    """The cache read and the weights streamed by one step, over the bandwidth: that is the step, memory binds it."""
    weights = 32 * (4096 * (32 + 2 * 8) * 128 + 32 * 128 * 4096 + 3 * 4096 * 14336) + 128256 * 4096
    activations = 2 * (32 * (4 * 4096 + (32 + 16) * 128 + 3 * 32 * 128 + 3 * 14336) + 4096 + 128256)
    moved = 2 * weights + 2 * activations + 2 * 1024 * 131072
    assert study.value("itl") == pytest.approx(moved / 3.35e12, rel=1e-12)


# --------------------------------------------------------------------------------------------------- does not fit


def test_a_case_that_does_not_fit_warns_at_the_caller():
    large = sr.Study("llama-3-70b", "h100-sxm", prompt=1024, efficiency="peak")
    with pytest.warns(sr.DoesNotFit, match=r"^itl = 41\.\d+ ms is of a configuration") as caught:
        value = large.value("itl")
    assert caught[0].filename == __file__
    assert value.flags == ("does_not_fit",)
    assert str(value).endswith("ms (does not fit)")


# ---------------------------------------------------------------------------------------------------- derivations


def test_every_step_of_a_derivation_comes_after_what_it_needs(study):
    from symroof.symbolic.expressions import names
    from symroof.symbolic.reading import parse

    seen = set()
    steps = study.derive("response_time").steps
    own = {step.symbol.name for step in steps}
    for step in steps:
        assert set(names(parse(step.text))) & own <= seen, step.symbol.name
        seen.add(step.symbol.name)
