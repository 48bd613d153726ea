"""Files of claims read: counting choices beside the names, paths beside the file, and what one bad claim costs the others."""

import pytest

from symroof.claims.check import check, check_text
from symroof.claims.claim_settings import is_switch
from symroof.errors import InputError

from ..tables import words

KV = "kv_cache_bytes model=llama-3-70b prompt=4096"
CASE = "given: {model: llama-3-8b, hardware: h100-sxm, prompt: 4096"


def note(*annotations, said="It takes 1.34 GB."):
    return "\n\n".join(f"{said} <!-- symroof: {text} -->" for text in annotations) + "\n"


def claims(*entries):
    return "claims:\n" + "".join(f"- {{{entry}}}\n" for entry in entries)


@pytest.fixture
def checked(tmp_path):
    def run(text, name="note.md"):
        (tmp_path / name).write_text(text, encoding="utf-8")
        return check(tmp_path / name, read_past_errors=True)

    return run


# ------------------------------------------------------------------------------------------------------ counting choices


def test_the_precision_of_the_activations_is_no_choice_and_their_traffic_is():
    """``activations`` is both: ``on`` and ``off`` are the switch's, anything else is a precision."""
    given = [
        check_text(note(f"{KV} activations={value}"), "n.md").claims[0].claim.given
        for value in ("off", "fp8")
    ]
    assert [one.get("assume") for one in given] == [{"activations": "off"}, None]
    assert given[1]["activations"] == "fp8"
    assert [is_switch("activations", value) for value in ("on", True, "fp16", "bf16")] == [
        True,
        True,
        False,
        False,
    ]


def test_a_choice_said_twice_is_refused():
    for text, file in (
        (note(f"{KV} detail=weights assume.detail=kv"), "n.md"),
        (
            claims(
                f"id: a, quantity: ttft, {CASE}, detail: kv, assume: {{detail: kv}}}}, value: 1 ms"
            ),
            "c.yaml",
        ),
    ):
        with pytest.raises(InputError, match="is set twice"):
            check_text(text, file)


# ----------------------------------------------------------------------------------------------------- one bad, others good


def test_a_bad_annotation_is_set_aside_and_the_others_are_judged(checked):
    report = checked(
        note(KV, f"{KV} promt=3", "kv_cache_byts", f"{KV} hardware=h101", f"{KV} value='7 GB'", KV)
    )
    assert [(claim.verdict, claim.faulty, claim.line) for claim in report.claims] == [
        ("rounded", False, 1),
        ("unchecked", True, 3),
        ("unchecked", True, 5),
        ("unchecked", True, 7),
        ("unchecked", True, 9),
        ("rounded", False, 11),
    ]
    assert report.claims[1].reason == "unknown name 'promt'; did you mean 'prompt'?"
    assert report.claims[1].says == "It takes 1.34 GB."
    places = [(problem.line, problem.column) for problem in report.problems]
    assert places == [(3, 78), (5, 33), (7, 78), (9, 78)]


def test_a_bad_claim_of_a_file_is_set_aside_and_the_others_are_judged(checked):
    good = "quantity: kv_cache_bytes, given: {model: llama-3-70b, prompt: 4096}, value: 1.34 GB"
    report = checked(
        claims(
            f"id: a, {good}",
            f"id: b, {good}, valu: 3",
            "id: c, quantity: itl, value: yes",
            f"id: a, {good}",
            "id: d, quantity: itll, value: 3 ms",
            "id: e, quantity: itl, given: t, value: 3 ms",
        ),
        "c.yaml",
    )
    assert [claim.verdict for claim in report.claims] == ["rounded", *["unchecked"] * 5]
    assert [claim.id for claim in report.claims[1:3]] == ["b", "c"]
    assert [problem.line for problem in report.problems] == [3, 4, 5, 6, 7]


def test_what_may_rest_on_a_bad_default_is_not_judged(checked):
    """A default before it would give another number: nothing is guessed until a new one begins."""
    text = (
        "<!-- symroof: given model=llama-3-8b prompt=4096 -->\n\n"
        + note("kv_cache_bytes")
        + "\n<!-- symroof: given modle=llama-3-70b -->\n\n"
        + note("kv_cache_bytes")
        + "\n<!-- symroof: given prompt=4096 -->\n\n"
        + note("kv_cache_bytes")
        + "\n<!-- symroof: given -->\n\n"
        + note(KV)
    )
    report = checked(text)
    assert [claim.verdict for claim in report.claims] == words("wrong unchecked unchecked rounded")
    assert report.claims[1].reason == "unknown name 'modle'; did you mean 'model'?"
    assert len(report.problems) == 1


def test_a_file_that_is_none_costs_the_others_nothing(tmp_path):
    files = {
        "a.md": note(KV).encode(),
        "b.md": b"\xff\xfe",
        "c.yaml": b"claims: [",
        "d.yaml": b"claims: 3",
        "e.yaml": b"title: x\nclaim: []\n",
    }
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    report = check([tmp_path / name for name in files], read_past_errors=True)
    assert [claim.verdict for claim in report.claims] == ["rounded"]
    assert {problem.file.rpartition("/")[2] for problem in report.problems} == set(
        words("b.md c.yaml d.yaml e.yaml")
    )


# --------------------------------------------------------------------------------------------------------- paths beside it


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a model of its own, and a working directory with another of that name."""
    model = """name: my-model
title: Mine
d_model: 512
vocab_size: 1000
tied_embeddings: true
layers:
- {{count: {}, attention: {{kind: gqa, n_heads: 8, n_kv_heads: 2, head_dim: 64}}, ffn: {{kind: gated, d_ff: 1024}}}}
"""
    for name, layers in (("desk", 4), ("post", 6)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "model.yaml").write_text(model.format(layers), encoding="utf-8")
    monkeypatch.chdir(tmp_path / "desk")
    return tmp_path / "post"


@pytest.mark.full
def test_a_path_leads_from_the_folder_of_the_file_that_names_it(folder):
    """2 (K and V) * layers * 2 heads * 64 wide * 2 byte: 3,072 byte a token with the 6 layers of the file beside it, 2,048 with 4."""
    text = "A token takes 3,072 bytes. <!-- symroof: kv_bytes_per_token model={} kv=fp16 -->\n"
    for written in ("model.yaml", "./model.yaml", folder / "model.yaml", "../post/model.yaml"):
        (folder / "n.md").write_text(text.format(written), encoding="utf-8")
        assert check(folder / "n.md").claims[0].verdict == "exact", written
        (folder / "c.yaml").write_text(
            claims(
                f"id: a, quantity: kv_bytes_per_token, given: {{model: {written}, kv: fp16}}, value: 3072 byte"
            ),
            encoding="utf-8",
        )
        assert check(folder / "c.yaml").claims[0].verdict == "exact", written
    (folder / "model.yaml").unlink()
    (folder / "n.md").write_text(text.format("model.yaml"), encoding="utf-8")
    assert check(folder / "n.md").claims[0].derived == "2.048 kB/token", (
        "else it leads from the working directory"
    )


def test_a_path_in_a_default_and_in_a_comparison_leads_from_there_too(folder):
    text = "<!-- symroof: given model=model.yaml kv=fp16 -->\n\n3,072 bytes <!-- symroof: kv_bytes_per_token -->\n\n"
    text += "1.5x <!-- symroof: compare=kv_bytes_per_token between='model=../desk/model.yaml | model=model.yaml' -->"
    (folder / "n.md").write_text(text, encoding="utf-8")
    found = check(folder / "n.md").claims
    assert (found[0].verdict, float(found[1].value)) == ("exact", pytest.approx(2 / 3))
