"""``symroof check --draft``: copies of notes with drafted annotations."""

import pytest

from . import RIGHT, everything_under, good, refused

TEXT = "Llama-3-70B in fp16: the weights take 141 GB.\n\nThe build takes 40 s.\n"
ANNOTATION = "<!-- symroof: weight_bytes model=llama-3-70b weights=fp16 -->"
DRAFT = TEXT.replace("141 GB", f"141 GB{ANNOTATION}")


def test_draft_writes_a_copy_beside_the_note_and_lists_what_it_took_each_number_for(note, tmp_path):
    path = note(TEXT)
    outcome = good("check", "--draft", path)
    assert outcome.out.splitlines() == [
        f"wrote {tmp_path / 'note.draft.md'}: 1 drafted, 1 left alone",
        "  line 1: 141 GB  weight_bytes",
        "  line 3: 40 s    left alone: no quantity of inference speaks from its words",
    ]
    assert path.read_text(encoding="utf-8") == TEXT
    assert (tmp_path / "note.draft.md").read_text(encoding="utf-8") == DRAFT
    assert good("check", tmp_path / "note.draft.md", "--json").json["summary"] == {"rounded": 1}


def test_line_ends_and_byte_order_mark_stay(note, tmp_path):
    note(("\ufeff" + TEXT).replace("\n", "\r\n"))
    good("check", "--draft", tmp_path / "note.md", "-o", tmp_path / "out.md")
    assert (tmp_path / "out.md").read_bytes() == ("\ufeff" + DRAFT).replace("\n", "\r\n").encode("utf-8")


def test_in_place_and_once_more(note, tmp_path):
    path = note(TEXT)
    good("check", "--draft", path, "--in-place")
    assert path.read_text(encoding="utf-8") == DRAFT
    assert "0 drafted, 1 left alone, 1 had one" in good("check", "--draft", path, "--in-place").out
    assert path.read_text(encoding="utf-8") == DRAFT
    assert everything_under(tmp_path) == ["note.md"]


def test_json_has_every_draft_with_its_case_and_its_doubts(note, tmp_path):
    files = good("check", "--draft", note("Each GPU holds 35 GB of the weights of Llama-3-70B.\n"), "--json").json
    assert files["schema"] == "symroof/draft/1"
    [file] = files["files"]
    assert file["copy"] == str(tmp_path / "note.draft.md")
    assert file["drafts"] == [
        {
            "line": 1, "column": 16, "number": "35 GB", "quantity": "weight_bytes_per_device", "given": {"model": "llama-3-70b"}, "doubtful": ["tp is not stated"],
        }
    ]  # fmt: skip


@pytest.mark.parametrize("more", [("--fix",), ("--strict",), ("--format", "github")])
def test_draft_judges_nothing(more, note):
    assert "--draft does not check claims" in refused("check", "--draft", note(TEXT), *more)


def test_only_notes_are_drafted(tmp_path):
    claims = tmp_path / "claims.yaml"
    claims.write_text("claims: []\n", encoding="utf-8")
    assert "is not a Markdown note" in refused("check", "--draft", claims)


def test_a_note_whose_annotations_cannot_be_read_is_not_copied(note, tmp_path):
    assert "note.md:1:" in refused("check", "--draft", note(RIGHT.replace("model=", "modl=")))
    assert everything_under(tmp_path) == ["note.md"]
