"""Presets against what their tools computed: dense models, experts, grouped and latent heads, widths, batches, several devices.

`tests/data/peers.json` holds what each tool of that version returned for these inputs; none of it was computed here. Every number is held to
twelve digits, so that each printed digit agrees; null is what a preset says that it does not reproduce.
"""

import json
from pathlib import Path

import pytest

import symroof as sr

PEERS = {
    peer["preset"]: peer
    for peer in json.loads((Path(__file__).parents[1] / "data" / "peers.json").read_text())["peers"]
}
ROWS = [(name, row) for name, peer in PEERS.items() for row in peer["rows"]]


def case(name, row):
    """The tool's deployment here; it has one batch for prefill and decode."""
    inputs = dict(zip(PEERS[name]["inputs"], row, strict=False))
    batch = {"prefill_batch": inputs["batch"]} if "batch" in inputs and "prompt" in inputs else {}
    return sr.Study(
        inputs.pop("model"), inputs.pop("hardware", None), preset=name, **batch, **inputs
    )


@pytest.mark.parametrize(
    ("name", "row"), ROWS, ids=[f"{name}-{row[0]}-{i}" for i, (name, row) in enumerate(ROWS)]
)
def test_a_preset_gives_what_its_tool_computed(name, row):
    study, outputs = case(name, row), PEERS[name]["outputs"]
    computed = {
        quantity: value
        for quantity, value in zip(outputs, row[-len(outputs) :], strict=True)
        if value is not None
    }
    assert {quantity: float(study.value(quantity)) for quantity in computed} == pytest.approx(
        computed, rel=1e-12
    )
