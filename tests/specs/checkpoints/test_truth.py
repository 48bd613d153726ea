"""The config files of real models give what was measured on their implementations, to the last digit."""

import json

import pytest

from symroof.specs.catalogue import find
from symroof.specs.fields import build
from symroof.specs.model import ModelSpec

from . import DATA, FULL, case, from_file

TRUTH = json.loads((DATA / "hf_truth.json").read_text())["models"]


def points(key):
    """Every measured point of a table: model, what it was measured at, the number."""
    return [
        pytest.param(model, at.split("_"), value, id=f"{model}-{at}")
        for model, table in TRUTH.items()
        for at, value in table.get(key, {}).items()
    ]


def test_there_is_a_config_for_every_measured_model():
    assert {
        path.name.removesuffix(".config.json") for path in (DATA / "configs").glob("*.config.json")
    } >= set(TRUTH)


@pytest.mark.parametrize("model", TRUTH)
def test_parameters_and_cache(model):
    truth, found = TRUTH[model], case(from_file(model))
    assert found.value("params") == truth["params"]
    assert found.value("active_params") == truth["active_matmul"]
    assert found.value("kv_bytes_per_token") == truth["kv_bytes_per_token"]


@pytest.mark.sample(12)
@pytest.mark.parametrize(("model", "at", "flops"), points("prefill_flops"))
def test_prefill_flops(model, at, flops):
    batch, prompt, logits = at
    assert (
        case(
            from_file(model),
            {**FULL, "logits": logits},
            prompt=int(prompt[1:]),
            prefill_batch=int(batch[1:]),
        ).value("prefill_flops")
        == flops
    )


@pytest.mark.sample(12)
@pytest.mark.parametrize(("model", "at", "flops"), points("decode_flops"))
def test_decode_flops(model, at, flops):
    batch, cached = at
    assert (
        case(from_file(model), FULL, context=int(cached[1:]) + 1, batch=int(batch[1:])).value(
            "decode_flops"
        )
        == flops
    )


WINDOWED = {
    "mistral-7b-v0.1": (4096, 32, 8, 128),
    "phi-3-mini-4k": (2047, 32, 32, 96),
    "gemma-2-9b": (4096, 21, 8, 256),
}
"""Window, windowed layers, KV heads, head width."""


@pytest.mark.sample(12)
@pytest.mark.parametrize(("model", "at", "cached"), points("kv_cache_bytes"))
def test_kv_cache_bytes(model, at, cached):
    """A windowed layer keeps ``window`` tokens here, ``window - 1`` in the measured cache: one token a layer and request more."""
    batch, context = (int(size[1:]) for size in at)
    window, layers, kv_heads, head_dim = WINDOWED.get(model, (context + 1, 0, 0, 0))
    more = batch * layers * 2 * kv_heads * head_dim * 2 if context >= window else 0
    for spec in (from_file(model), build(find("models", model), ModelSpec)):
        found = case(spec, context=context, batch=batch).value("kv_cache_bytes")
        assert found == cached + more
