"""From names to cases: combinations in written order, the strongest voice for each value, its source, variants."""

from fractions import Fraction

import pytest

from symroof.api import Study
from symroof.cases.bind_cases import bound_cases, variant
from symroof.cases.request import request_of
from symroof.errors import InputError, NoValueHere
from symroof.specs.fields import ValueRange

from ..near import near

PRESET = "tutorial-mlsysim"


def bound(**chosen):
    """The one case of a request."""
    (result,) = bound_cases(request_of(**chosen))
    return result


def value(bound_case, name):
    return bound_case.result(name).value


def test_a_stronger_selection_is_laid_over_a_weaker_one_name_by_name():
    switches = {"attention": "full", "logits": "all"}
    work = {"weights": "fp16", "kv": "fp16", "batch": 1, "prompt": 10}
    weak = request_of("llama-3-8b", "h100-sxm", assume=switches, **work, origin="study")
    strong = request_of(
        hardware="h200", assume={"attention": "causal"}, kv="fp8", batch=4, origin="command line"
    )
    (result,) = bound_cases(strong.over(weak))
    assert (result.model.name, result.hardware.name) == ("llama-3-8b", "h200")
    assert (result.precisions["weights"], result.precisions["kv"]) == ("fp16", "fp8")
    assert (result.assumptions["attention"], result.assumptions["logits"]) == ("causal", "all")
    assert (value(result, "batch"), value(result, "prompt")) == (4, 10)
    assert (result.given["batch"].source, result.given["prompt"].source) == (
        "command line",
        "study",
    )


def test_every_value_has_its_source():
    result = bound(model="llama-3-8b", hardware="h100-sxm", prompt=128, weights="fp8")
    sources = {name: own.source for name, own in result.given.items()}
    assert (sources["prompt"], sources["n_layers"]) == ("given", "model llama-3-8b")
    assert sources["weight_bytes_per_param"] == "given: weights fp8"
    assert "NVIDIA H100" in sources["mem_bandwidth"] and " dense" in sources["peak_flops"]


def test_a_preset_is_stronger_than_the_specs_and_weaker_than_the_request():
    case = {"model": "llama-3-8b", "hardware": "h100-sxm", "prompt": 128, "preset": PRESET}
    plain, own = bound(**case), bound(**case, mem_capacity="80 GB", mfu=0.7)
    assert value(plain, "mem_capacity") == 80 * 2**30
    assert value(plain, "params") == 8_030_000_000
    assert (value(own, "mem_capacity"), value(own, "mfu")) == near((80 * 10**9, Fraction(7, 10)))


def test_arithmetic_is_as_wide_as_its_widest_operand():
    """Weight-only quantization computes in the activations' precision: narrow weights do not raise the peak."""
    case = {"model": "llama-3-8b", "hardware": "h100-sxm", "prompt": 128}
    narrow = bound(**case, weights="int4", activations="fp16")
    assert value(narrow, "peak_flops") == 989_400_000_000_000
    both = bound(**case, weights="fp8", activations="fp8")
    assert value(both, "peak_flops") > 1.9 * value(narrow, "peak_flops")


def test_a_range_stands_at_its_middle_and_keeps_its_ends():
    result = bound(model="llama-3-8b", hardware="h100-sxm", prompt=128, mfu="0.5..0.7")
    assert value(result, "mfu") == near(Fraction(6, 10))
    assert result.box == near({"mfu": (0.5, 0.7)})
    assert isinstance(result.given["mfu"].setting, ValueRange)


def test_a_prompt_beyond_the_models_context_is_a_warning():
    assert any(
        "8,192" in warning for warning in bound(model="llama-3-8b", prompt=8192, output=1).warnings
    )
    assert not bound(model="llama-3-8b", prompt=8191, output=1).warnings


@pytest.fixture
def base():
    work = {"prompt": 4096, "batch": 4, "mfu": "0.4..0.6", "assume": {"logits": "all"}}
    return Study("llama-3-8b", "h100-sxm", preset=PRESET, **work).first


def test_a_variant_changes_one_thing_and_keeps_the_rest(base):
    other = variant(base, {"batch": 8})
    assert (value(other, "batch"), value(base, "batch")) == (8, 4)
    unchanged = set(base.given) - {"batch"}
    assert {name: other.given[name].setting for name in unchanged} == {
        name: base.given[name].setting for name in unchanged
    }
    assert other.assumptions == base.assumptions
    assert other.box == base.box


@pytest.mark.parametrize("cached", [17, "8..17"])
def test_a_cached_part_is_not_longer_than_its_prompt(cached):
    with pytest.raises(
        InputError, match="cached_prefix: 17 cached tokens are more than the 16 of the prompt"
    ) as error:
        Study("llama-3-8b", "h100-sxm", prompt=16, cached_prefix=cached).value("prefill_tokens")
    assert error.value.problems[0].hint == "at most 16"
    assert Study("llama-3-8b", "h100-sxm", prompt=16, cached_prefix=16).value("prefill_tokens") == 0


def test_a_circle_through_changed_inputs_is_an_error():
    with pytest.raises(InputError, match="is defined by itself"):
        Study("llama-3-8b", "h100-sxm", prompt="sqrt((prefill_tokens(n_layers = 1))^2)").value(
            "prompt"
        )


def test_the_totals_of_a_model_with_experts_by_hand():
    """671 and 37 billion parameters of a byte. Of one token the active ones are read, of a prompt of 4,096 all. With 8 of 256 experts a batch of 8 reads
    256*(1 - (31/32)^8) = 57.42 of (671 - 37)/248 billion each and the rest: 37 - 8*2.5565 = 16.548 billion."""
    sizes = {"params": 671 * 10**9, "active_params": 37 * 10**9, "weights": "fp8"}
    totals = {**sizes, "prompt": 4096, "assume": {"detail": "weights"}}
    one = Study(**totals, batch=1)
    assert (one.value("decode_flops"), one.value("decode_bytes")) == near((74e9, 37e9))
    assert one.value("prefill_bytes") == pytest.approx(671e9, rel=1e-9)
    expert = 634e9 / 248
    eight = Study(**totals, batch=8, n_experts=256, experts_per_token=8)
    read = 37e9 - 8 * expert + 256 * (1 - (31 / 32) ** 8) * expert
    assert eight.value("decode_bytes") == near(read)
    with pytest.raises(NoValueHere, match="needs n_experts"):
        Study(**totals, batch=8).value("decode_bytes")
