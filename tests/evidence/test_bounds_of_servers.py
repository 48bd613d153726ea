"""Which layouts and batches bound a published rate, over plain numbers."""

from fractions import Fraction
from types import SimpleNamespace

import pytest

from symroof.specs.measured import ServedRate
from tools.evidence import serving_bounds

SERVED = {
    "engine": "vLLM 0.9", "device": "H100", "place": "table 1", "model": "Llama 3 8B", "weights": "fp16", "kv": "fp16", "devices": 64, "output": 100,
    "value": "20 token/s", "spec": "llama-3-8b", "hardware": "h100-sxm",
}  # fmt: skip


@pytest.mark.parametrize(
    ("more", "layouts"),
    [
        ({"tp": 4}, [(4, 1, 1)]),
        ({"pp": 2}, [(1, 2, 1)]),
        ({"tp": 2, "pp": 4}, [(2, 4, 1)]),
        ({"attention_dp": 4}, [(1, 1, 4)]),
    ],
)
def test_a_layout_that_the_source_names_is_the_only_one(more, layouts):
    row = ServedRate.model_validate({**SERVED, **more})
    assert list(serving_bounds._layouts(row, None)) == layouts


def test_pipelines_of_no_more_than_eight_stages(monkeypatch):
    row = ServedRate.model_validate(SERVED)
    monkeypatch.setattr(
        serving_bounds,
        "_case",
        lambda deployed, layout: SimpleNamespace(
            can_split_heads=lambda n: n in (1, 8), has=lambda name: name != "n_experts"
        ),
    )
    assert list(serving_bounds._layouts(row, None)) == [(1, pp, 1) for pp in (1, 2, 4, 8)] + [
        (8, pp, 1) for pp in (1, 2, 4, 8)
    ]


@pytest.mark.parametrize(
    ("concurrency", "room", "batch"),
    [
        (None, 90, 90),
        (400, 90, 90),
        (100, 90, 25),
        (4, 90, 1),
        (3, 90, None),
        (None, Fraction(1, 2), None),
        (None, 1, 1),
    ],
)
def test_the_batch_of_each_copy(concurrency, room, batch, monkeypatch):
    """Four copies share the requests that the source has at once; less than one request a copy is no layout. Each holds them at their mean length."""
    seen = []

    def case(values):
        def changed(inputs):
            seen.append(inputs)
            return case({**values, **inputs})

        return SimpleNamespace(
            changed=changed,
            value=lambda name: room if name == "concurrency" else 10 * values["batch"],
        )

    monkeypatch.setattr(serving_bounds, "_case", lambda deployed, layout: case({}))
    deployed = SimpleNamespace(
        devices=16, prompt=Fraction(50), output=Fraction(30), concurrency=concurrency
    )
    assert list(serving_bounds._sustained(deployed, (2, 2, 1))) == (
        [] if batch is None else [(10.0 * batch * 4, batch)]
    )
    assert seen[0] == {"prompt": 50, "output": 30, "peak_context": 65}
