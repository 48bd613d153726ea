"""Names and settings of claims that nothing has: where each fault stands, its sentence and its hint, as a reader of the report sees them."""

import pytest
import yaml

from symroof.claims.claim_files import read_claims
from symroof.claims.judge import check_dimensions_used
from symroof.errors import InputError
from symroof.specs.claims import ClaimSpec

# ----------------------------------------------------------------------------------------------------------- files of claims


@pytest.mark.parametrize("file", ["x.pdf", "x.txt"])
def test_a_file_of_another_kind_is_not_read_for_claims(file):
    with pytest.raises(InputError, match=f"a .{file[2:]} file cannot hold claims"):
        read_claims("claims: []", file)


# ----------------------------------------------------------------------------------------------- dimensions that are not used

LATENT = "{kv_lora_rank: 512, n_layers: 61, n_kv_heads: 1, head_dim: 1}"


UNUSED = """
error | - | quantity: kv_bytes_per_token | LATENT
used | kv_lora_rank | quantity: kv_bytes_per_token | LATENT
used | - | quantity: kv_bytes_per_token | {n_layers: 61, n_kv_heads: 1, head_dim: 1}
used | - | quantity: kv_bytes_per_token | {model: deepseek-v2-lite, kv_lora_rank: 256}
error | - | quantity: kv_bytes_per_token | {model: llama-3-8b, kv_lora_rank: 256}
used | - | expression: 'kv_lora_rank*2' | LATENT
error | - | expression: 'n_layers*2' | LATENT
used | - | quantity: kv_bytes_per_token, formula: kv_lora_rank | LATENT
used | - | threshold: batch_to_ridge | LATENT
used | - | quantity: weight_bytes | {active_params: 1e9, params: 2e9}
used | - | expression: '2*active_params' | {active_params: 1e9}
"""
"""Whether a dimension that changes nothing is an error, defaults of the file, the claim, its case."""


@pytest.mark.sample(5)
@pytest.mark.parametrize("row", UNUSED.strip().splitlines())
def test_a_dimension_that_changes_nothing(row):
    fails, shared, fields, given = row.replace("LATENT", LATENT).split(" | ")
    data = yaml.safe_load(f"{{{fields}, given: {given}}}")
    claim = ClaimSpec(id="x", value=None if "formula" in data else "1", **data)
    if fails != "error":
        assert check_dimensions_used(claim, [shared]) is None
        return
    with pytest.raises(InputError) as caught:
        check_dimensions_used(claim, [shared])
    (problem,) = caught.value.problems
    message = "kv_lora_rank cannot be used: no model or layers with such a part are given"
    assert (problem.file, problem.message) == ("kv_lora_rank", message)
    assert problem.hint.startswith("name a model, or write layers: [{count: 61, attention:")
