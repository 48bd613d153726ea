"""Parameters, FLOPs and cache bytes of real models, to the last digit of what was measured on their implementations."""

import json
from pathlib import Path

import pytest

from . import case, shipped

TRUTH = json.loads((Path(__file__).parent.parent / "data" / "hf_truth.json").read_text())["models"]
MODELS = sorted(TRUTH)
WINDOWED = {
    "mistral-7b-v0.1": (4096, 32, 8, 128),
    "phi-3-mini-4k": (2047, 32, 32, 96),
    "gemma-2-9b": (4096, 21, 8, 256),
}
"""Window, windowed layers, KV heads, head width."""
FULL = {"attention": "full"}


def measured(key):
    """Every measured point of a table: model, what it was measured at, the number."""
    return [
        pytest.param(model, at, value, id=f"{model}-{at}")
        for model in MODELS
        for at, value in TRUTH[model][key].items()
    ]


def sizes(at):
    """``B4_S128_all`` as ``[4, 128, 'all']``."""
    batch, length, *logits = at.split("_")
    return [int(batch[1:]), int(length[1:]), *logits]


@pytest.mark.parametrize("model", MODELS)
def test_parameters(model):
    truth, theory = TRUTH[model], case(model)
    assert (
        theory.value("params")
        == truth["params"]
        == truth["published"]
        == shipped(model).published_params
    )
    assert theory.value("active_params") == truth["active_matmul"]
    assert theory.value("kv_bytes_per_token") == truth["kv_bytes_per_token"]


@pytest.mark.sample(12)
@pytest.mark.parametrize(("model", "at", "cached"), measured("kv_cache_bytes"))
def test_kv_cache_bytes(model, at, cached):
    """A windowed layer keeps ``window`` tokens here, ``window - 1`` in the measured cache: one token a layer and request more."""
    batch, context = sizes(at)
    window, layers, kv_heads, head_dim = WINDOWED.get(model, (context + 1, 0, 0, 0))
    one_token = layers * 2 * kv_heads * head_dim * 2
    more = batch * one_token if context >= window else 0
    assert case(model, context=context, batch=batch).value("kv_cache_bytes") == cached + more
