"""What ``symroof show`` says of a quantized checkpoint: its resident bytes by part, adding up to the whole."""

import pytest

from symroof.report.catalogue_entries import model_entry
from symroof.specs import catalogue
from symroof.specs.checkpoints.quantization_config import read_quantization
from symroof.specs.fields import build
from symroof.specs.model import ModelSpec

D, KV, FF, VOCAB = 4096, 1024, 14336, 128256


def stored(model="llama-3-8b", **fields):
    spec = build(catalogue.find("models", model), ModelSpec)
    entry = model_entry(
        spec.model_copy(
            update={
                "quantization": read_quantization({"quantization_config": fields})
                if fields
                else None
            }
        )
    )
    return [table for table in entry.tables if table[0].startswith("resident")], entry.notes


def test_parts_of_an_awq_checkpoint():
    """4 bits, and 20 bits for 128 weights: 4.15625 bits; tables, head and norms at 16."""
    ((heading, _, rows),), _ = stored(quant_method="awq", bits=4, group_size=128)
    assert heading == "resident as stored: awq"
    attention, forward = 32 * (2 * D * D + 2 * KV * D), 32 * 3 * D * FF
    total = (attention + forward) * 133 // 256 + 2 * (2 * VOCAB * D + 65 * D)
    assert rows[:2] == [
        [
            "attention",
            f"{attention:,}",
            "4.1562",
            f"{attention * 133 // 256:,}",
            f"{attention * 133 / 256 / total:.2%}",
        ],
        [
            "feed-forward",
            f"{forward:,}",
            "4.1562",
            f"{forward * 133 // 256:,}",
            f"{forward * 133 / 256 / total:.2%}",
        ],
    ]
    assert {row[0]: row[2] for row in rows[2:5]} == {"norms": "16", "embedding": "16", "head": "16"}
    assert rows[-1] == [
        "total",
        f"{8030261248:,}",
        f"{8 * total / 8030261248:.5g}",
        f"{total:,}",
        "",
    ]


def test_a_tied_head_is_the_table_of_the_embedding():
    """Qwen 2.5 0.5B: 494,032,768 parameters, published; the head is no second table."""
    ((_, _, rows),), _ = stored("qwen2.5-0.5b", quant_method="awq", bits=4, group_size=128)
    assert rows[-1][:2] == ["total", "494,032,768"]
    assert "head" not in {row[0] for row in rows}
    assert sum(float(row[4].rstrip("%")) for row in rows[:-1]) == pytest.approx(100, abs=0.05)


def test_an_approximation_is_noted():
    _, notes = stored(quant_method="gptq", bits=4, group_size=128)
    assert any("zero bias" in note for note in notes)


def test_a_model_that_is_not_quantized_has_no_such_table():
    assert stored() == ([], stored()[1])
