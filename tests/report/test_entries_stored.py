"""What ``symroof show`` says of a quantized checkpoint."""

from symroof.report.catalogue_entries import model_entry
from symroof.specs import catalogue
from symroof.specs.checkpoints.quantization_config import read_quantization
from symroof.specs.fields import build
from symroof.specs.model import ModelSpec


def test_an_approximation_is_noted():
    spec = build(catalogue.find("models", "llama-3-8b"), ModelSpec)
    fields = {"quant_method": "gptq", "bits": 4, "group_size": 128}
    stored = read_quantization({"quantization_config": fields})
    entry = model_entry(spec.model_copy(update={"quantization": stored}))
    assert any("zero bias" in note for note in entry.notes)
