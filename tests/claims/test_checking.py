"""Files of claims checked: verdicts, places, conflicts, corrections, JSON.

By hand: the cache of Llama-3-70B is 327,680 byte a token; 989.4e12 / 3.35e12 = 295.34.
"""

import json

import pytest

from symroof.api import Study
from symroof.claims.check import check, check_text
from symroof.errors import InputError

from ..tables import words

KV = "quantity: kv_cache_bytes, given: {model: llama-3-70b, prompt: 4096}"
FIELDS = set(
    words(
        "id file line says verdict claimed derived ratio tolerance assumptions_needed slips flags "
        "reason"
    )
)


def yaml_claims(*entries):
    return check_text("claims:\n" + "".join(f"- {{{entry}}}\n" for entry in entries), "claims.yaml")


# ---------------------------------------------------------------------------------------------------------- claim files


def test_a_claim_file_is_checked_in_its_order():
    report = yaml_claims(
        f"id: a, {KV}, value: 1.34 GB", f"id: b, {KV}, value: 2.68 GB", "id: c, unchecked: taste"
    )
    assert [(c.id, c.verdict, c.line) for c in report.claims] == [
        ("a", "rounded", 2),
        ("b", "wrong", 3),
        ("c", "unchecked", 4),
    ]
    assert report.summary == {"rounded": 1, "wrong": 1, "unchecked": 1}


@pytest.mark.parametrize(
    ("verdict", "values"), [("rounded", "1.20 1.2 1.201 1.2e0 1 '1.20'"), ("approximate", "1.200")]
)
def test_a_bare_number_is_held_to_the_digits_it_was_written_with(verdict, values):
    for value in values.split():
        claim = yaml_claims(f"id: a, expression: 1.2014*1, value: {value}").claims[0]
        assert (claim.verdict, claim.claimed) == (verdict, value.strip("'"))


def test_the_numbers_of_a_row_and_of_a_chain_keep_their_digits():
    row = "id: a, quantity: kv_bytes_per_token, given: {model: llama-3-70b}, values: {kv: [fp16, fp8], value: [327.68 kB, 163.84 kB]}"
    intensity = "id: b, quantity: decode_intensity, given: {params: 70e9, assume: {detail: weights}, prompt: 9}, values: {batch: [1, 8], value: [1.00, 8.0]}"
    chain = "id: c, steps: [{name: w, expression: 1.25*2, value: 2.50}, {name: t, expression: w/2, value: 1.3}]"
    report = yaml_claims(row, intensity, chain)
    assert [c.verdict for c in report.claims] == ["exact", "exact", "rounded"]
    assert report.claims[1].claimed == "1.00, 8.0"
    assert report.claims[2].claimed == "w 2.50, t 1.3"
    shown = report.as_json()["claims"]
    assert shown[0]["claimed"] == [327680, 163840]
    assert shown[1]["derived"] == [1, 8]


def test_a_claim_that_lacks_an_input_is_unchecked_with_the_reason():
    claim = yaml_claims(
        "id: a, quantity: itl, given: {model: llama-3-8b, prompt: 64}, value: 5.0 ms"
    ).claims[0]
    assert (claim.verdict, claim.claimed) == ("unchecked", "5.0 ms")
    assert "peak_flops" in claim.reason
    assert not claim.finding()
    assert claim.finding(strict=True)
    assert not yaml_claims("id: a, unchecked: taste").claims[0].finding(strict=True)


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    "text",
    [
        "",
        "a: 1",
        "- 1",
        "claims: 3",
        "claims: [3]",
        "claims: [{id: a}]",
        "claims: [{id: a, unchecked: x}, {id: a, unchecked: y}]",
        "claims: {",
        "\0",
        "claims: [" * 30,
    ],
)
def test_what_is_no_claim_file_is_refused_with_a_place(text):
    with pytest.raises(InputError) as caught:
        check_text(text, "claims.yaml")
    assert all(problem.line for problem in caught.value.problems)


# ------------------------------------------------------------------------------------------------------------ conflicts


def test_two_labels_conflict_and_so_do_claims_nobody_can_derive():
    labels = [
        f"id: {i}, relation: decode_bound, given: {{model: llama-3-8b}}, value: {v}, conflicts_with: {o}"
        for i, v, o in [("a", "memory", "b"), ("b", "compute", "a")]
    ]
    assert [c.verdict for c in yaml_claims(*labels).claims] == ["inconsistent", "inconsistent"]
    bare = [
        "id: a, quantity: itl, value: 20 ms, conflicts_with: b",
        "id: b, quantity: itl, value: 30 ms",
    ]
    assert [c.verdict for c in yaml_claims(*bare).claims] == ["inconsistent", "unchecked"]


def test_conflicts_in_a_note():
    annotation = "<!-- symroof: kv_cache_bytes model=llama-3-70b prompt=4096 "
    text = f"1.34 GB {annotation}id=one -->\n\nLater 1.5 GB {annotation}id=two conflicts_with=one -->\n"
    assert [c.verdict for c in check_text(text, "n.md").claims] == ["rounded", "inconsistent"]


# ----------------------------------------------------------------------------------------------------- Python and JSON


def test_every_bad_file_is_told(tmp_path):
    bad = tmp_path / "bad.md"
    bad.write_text("1 GB <!-- symroof: kv_cache_byts -->", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        check([bad, tmp_path / "none.yaml", tmp_path])
    assert [problem.file for problem in caught.value.problems] == sorted(
        [str(bad), str(tmp_path / "none.yaml"), str(tmp_path)]
    )


def test_json_has_the_form_of_the_contract_and_numbers_in_base_units():
    report = yaml_claims(
        f"id: a, says: words, line: 12, {KV}, value: 2.68 GB",
        "id: b, relation: decode_bound, given: {model: llama-3-8b, hardware: h100-sxm, prompt: 64}, value: memory",
        f"id: c, {KV}, value: 1..2 GB",
        "id: d, relation: fits, given: {model: llama-3-8b, hardware: h100-sxm, prompt: 64}, value: true",
        "id: e, unchecked: taste",
    )
    shown = report.as_json()
    assert (shown["schema"], shown["summary"]) == (
        "symroof/check/1",
        {"exact": 3, "wrong": 1, "unchecked": 1},
    )
    assert all(set(entry) >= FIELDS for entry in shown["claims"])
    first = shown["claims"][0]
    assert (first["claimed"], first["derived"], first["line"], first["file"]) == (
        2_680_000_000,
        1_342_177_280,
        2,
        "claims.yaml",
    )
    assert first["ratio"] == pytest.approx(2.68e9 / 1342177280)
    assert first["tolerance"] == pytest.approx(0.005 / 2.68)
    assert [(entry["claimed"], entry["derived"]) for entry in shown["claims"][1:4]] == [
        ("memory", "memory"),
        ("1..2 GB", 1_342_177_280),
        (True, True),
    ]
    assert json.loads(json.dumps(shown)) == shown


def test_the_example_of_a_claim_file_reads_and_is_judged(tmp_path):
    """What texts leave out: a prompt that hardly matters, parameters that drop out of a ratio, and where a claim throughout a range fails."""
    (tmp_path / "claims.yaml").write_text(
        "claims:\n"
        "- {id: small-batch, relation: decode_bound, given: {batch: 256, model: llama-3-70b, hardware: h100-sxm}, value: memory}\n"
        "- {id: b-star, threshold: batch_to_ridge, given: {hardware: h100-sxm, weights: fp16, assume: {detail: weights}}, value: 295}\n"
        "- {id: faster, compare: itl, given: {model: llama-3-8b, batch: 1}, between: [{hardware: h100-sxm}, {hardware: h200}], value: 1.43x}\n"
        "- {id: always, relation: prefill_bound, given: {model: llama-3-70b, hardware: h100-sxm}, for_all: {prompt: 1..131072}, value: compute}\n"
        "- {id: one-gpu, quantity: itl, given: {model: llama-3-8b, hardware: h100-sxm, batch: 1}, value: 4.5 ms}\n",
        encoding="utf-8",
    )
    found = {claim.id: claim for claim in check(tmp_path / "claims.yaml").claims}
    assert [claim.verdict for claim in found.values()] == words(
        "exact rounded rounded conditional conditional"
    )
    assert found["b-star"].derived.startswith(
        "295.34"
    )  # 2 * 989.4/(2 * 3.35): the parameters drop out
    last = int(found["always"].reason.rpartition("to ")[2])
    bound = {
        prompt: Study(
            model="llama-3-70b", hardware="h100-sxm", prompt=prompt, efficiency="peak"
        ).value("prefill_bound")
        for prompt in (last, last + 1)
    }
    assert bound == {last: "memory", last + 1: "compute"}
    assert "prompt so short" in found["one-gpu"].assumptions_needed[0]


def test_a_model_may_be_given_by_its_layers(tmp_path):
    """Two layers of width 8 with one head: 2*(8*(1 + 2)*4 + 4*8 + 3*8*16) in the layers, 10 tokens in and out, three norms of 8."""
    layers = "[{count: 2, attention: {kind: gqa, n_heads: 1, n_kv_heads: 1, head_dim: 4}, ffn: {kind: gated, d_ff: 16}}]"
    counted = 2 * (8 * 3 * 4 + 4 * 8 + 3 * 8 * 16 + 2 * 8) + 2 * 10 * 8 + 8
    text = f"claims:\n- {{id: own, quantity: params, given: {{d_model: 8, vocab_size: 10, layers: {layers}}}, value: {counted}}}\n"
    assert [claim.verdict for claim in check_text(text, "claims.yaml").claims] == ["exact"]
    with pytest.raises(InputError, match=r"layers\[0\].ffn: is missing"):
        check_text(
            "claims:\n- {id: own, quantity: params, given: {d_model: 8, vocab_size: 10, layers: [{count: 2}]}, value: 1}\n",
            "claims.yaml",
        )
