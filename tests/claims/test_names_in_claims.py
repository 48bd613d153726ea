"""Names and settings of claims that nothing has: where each fault stands, its sentence and its hint, as a reader of the report sees them."""

import json

import pytest

from symroof.claims.check import check_text
from symroof.claims.judge import check_dimensions_used
from symroof.claims.read.claim_files import read_claims
from symroof.errors import InputError
from symroof.specs.claims import ClaimSpec

ITL = {"quantity": "itl", "value": "1 ms"}
NO_NAME, MEANT = "no such quantity or input", "did you mean '{}'?".format

FAULTY = [
    (
        {"moves": "itl", "with": "batchh", "value": "up"},
        ("with",),
        f"batchh: {NO_NAME}",
        MEANT("batch"),
    ),
    (
        {"expression": "1 +", "value": "1"},
        ("expression",),
        "expected a number, a name or '(' but found the end of the formula",
        "",
    ),
    ({"relation": "itll < 3", "value": True}, ("relation",), "unknown name 'itll'", MEANT("itl")),
    (
        {"steps": [{"name": "a", "expression": "2*bb", "value": "1"}]},
        ("steps", 0, "expression"),
        "unknown name 'bb'",
        "",
    ),
    (
        ITL | {"given": {"mem_bandwidth": 3}},
        ("given", "mem_bandwidth"),
        "write the unit of a bandwidth, such as '3.35 TB/s'",
        "write '3 TB/s'",
    ),
    (
        ITL | {"given": {"targets": {"itl": 5}}},
        ("given", "targets", "itl"),
        "write the unit of a time, such as '50 ms'",
        "write '5 ms'",
    ),
    (ITL | {"given": {"model": 5}}, ("given", "model"), "expected one name", ""),
    (
        {
            "quantity": "ridge_point",
            "value": "295",
            "given": {"hardware": "h100-sxm"},
            "needs": {"mfuu": 1},
        },
        ("needs", "mfuu"),
        "unknown name 'mfuu'",
        MEANT("mfu"),
    ),
    (
        {"compare": "itl", "between": [{"batch": 1}, {"batchh": 2}], "value": "1"},
        ("between", 1, "batchh"),
        "unknown name 'batchh'",
        MEANT("batch"),
    ),
    (
        ITL | {"conflicts_with": "y"},
        ("conflicts_with",),
        "y is the id of no claim in this file",
        "there are: x",
    ),
    (
        ITL | {"given": {"theory": "nothing-such"}},
        ("given", "theory"),
        "nothing-such: no such theory in the catalogue",
        "there are: training-step",
    ),
]


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("fields", "place", "message", "hint"), FAULTY, ids=[message for _, _, message, _ in FAULTY]
)
def test_a_fault_of_a_claim_with_its_place_and_its_hint(fields, place, message, hint):
    with pytest.raises(InputError) as caught:
        check_text(json.dumps({"claims": [{"id": "x", **fields}]}), "c.yaml")
    problem = caught.value.problems[0]
    assert (problem.location[2:], problem.message, problem.hint) == (place, message, hint)


# ----------------------------------------------------------------------------------------------------------- files of claims


@pytest.mark.parametrize("text", ["a: 1\n", "[1]", "x: [", "words"])
def test_a_file_of_another_kind_is_not_read_for_claims(text):
    with pytest.raises(InputError, match="a .pdf file cannot hold claims"):
        read_claims(text, "x.pdf")
    assert (
        len(
            read_claims(
                "claims:\n- {id: a, quantity: ridge_point, value: 3}\n", "x.txt"
            ).spec.claims
        )
        == 1
    )


# ----------------------------------------------------------------------------------------------- dimensions that are not used

LATENT = {"kv_lora_rank": 512, "n_layers": 61, "n_kv_heads": 1, "head_dim": 1}


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("fields", "shared", "fails"),
    [
        ({"quantity": "kv_bytes_per_token", "given": LATENT}, (), True),
        ({"quantity": "kv_bytes_per_token", "given": LATENT}, ("kv_lora_rank",), False),
        (
            {
                "quantity": "kv_bytes_per_token",
                "given": {"n_layers": 61, "n_kv_heads": 1, "head_dim": 1},
            },
            (),
            False,
        ),
        (
            {
                "quantity": "kv_bytes_per_token",
                "given": {"model": "deepseek-v2-lite", "kv_lora_rank": 256},
            },
            (),
            False,
        ),
        (
            {
                "quantity": "kv_bytes_per_token",
                "given": {"model": "llama-3-8b", "kv_lora_rank": 256},
            },
            (),
            True,
        ),
        ({"expression": "kv_lora_rank*2", "given": LATENT}, (), False),
        ({"expression": "n_layers*2", "given": LATENT}, (), True),
        ({"quantity": "kv_bytes_per_token", "formula": "kv_lora_rank", "given": LATENT}, (), False),
        ({"threshold": "batch_to_ridge", "given": LATENT}, (), False),
        (
            {"quantity": "weight_bytes", "given": {"active_params": "1e9", "params": "2e9"}},
            (),
            False,
        ),  # the totals describe a model
        ({"expression": "2*active_params", "given": {"active_params": "1e9"}}, (), False),
    ],
)
def test_a_dimension_that_changes_nothing(fields, shared, fails):
    claim = ClaimSpec(id="x", value=None if "formula" in fields else "1", **fields)
    if not fails:
        assert check_dimensions_used(claim, shared) is None
        return
    name = next(name for name in ("kv_lora_rank", "active_params") if name in fields["given"])
    with pytest.raises(InputError) as caught:
        check_dimensions_used(claim, shared)
    (problem,) = caught.value.problems
    assert (problem.file, problem.message) == (
        name,
        f"{name} cannot be used: no model or layers with such a part are given",
    )
    assert problem.hint.startswith(
        "name a model, or write layers: [{count: 61, attention: {kind: mla,"
    )
