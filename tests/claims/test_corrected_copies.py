"""Corrected copies of notes: where they go, which numbers are corrected and which are left to their author."""

import codecs
from pathlib import Path

import pytest

from symroof.claims.check import check
from symroof.claims.corrected_copies import copies, copy_paths
from symroof.errors import InputError


def goals(files, out=None, in_place=False):
    return {Path(file).name: str(goal) for file, goal in copy_paths(files, out, in_place).items()}


def test_where_a_copy_goes(tmp_path):
    assert goals(["d/a.md"]) == {"a.md": "d/a.fixed.md"}
    assert goals(["a.md", "b.MD", "c.yaml", "a.md"]) == {"a.md": "a.fixed.md", "b.MD": "b.fixed.MD"}
    assert goals(["d/a.md"], "x.md") == {"a.md": "x.md"}
    assert goals(["d/a.md", "b.MD"], "new/") == {"a.md": "new/a.md", "b.MD": "new/b.MD"}
    assert goals(["d/a.md"], str(tmp_path)) == {"a.md": f"{tmp_path}/a.md"}
    assert goals(["d/a.md"], in_place=True) == {"a.md": str(Path("d/a.md").resolve())}


@pytest.mark.parametrize(
    ("files", "out", "message", "hint"),
    [
        (["c.yaml", "d.yaml"], None, "is not a Markdown note; only numbers in notes are corrected", ""), (["a.md"], "./a.md", "is an original; a copy never replaces one", "--in-place replaces it"),
        (["a.md", "c.yaml"], "c.yaml", "is an original; a copy never replaces one", "--in-place replaces it"), (["a.md", "b.md"], "x.md", "is one file for several notes", "give a folder: -o DIR/"),
        (["d/a.md", "e/a.md"], "new/", "would hold two corrected notes", "take them one at a time"),
    ],
)  # fmt: skip
def test_where_no_copy_can_go(files, out, message, hint):
    with pytest.raises(InputError) as caught:
        goals(files, out)
    (problem,) = caught.value.problems
    assert (problem.message, problem.hint) == (message, hint)
    if message.startswith("is no"):
        assert problem.file == "c.yaml, d.yaml"


def test_a_number_whose_annotation_is_doubtful_is_never_changed(tmp_path):
    """Both numbers are half of what the annotations derive; only the one that its author is sure of is changed."""
    note = tmp_path / "note.md"
    sentence = (
        "The weights take 8 GB. <!-- symroof: weight_bytes model=llama-3.1-8b weights=fp16{} -->\n"
    )
    note.write_text(
        sentence.format(" note='doubtful: weights fp16'")
        + "\n"
        + sentence.format(" note='from the model card'")
    )
    (made,) = copies(check(str(note)))
    assert [line[:22] for line in made.content.decode().splitlines()[::2]] == [
        "The weights take 8 GB.",
        "The weights take 16 GB",
    ]
    assert [
        (one.line, why.partition(":")[0], "not changed" in why) for one, why in made.uncorrected
    ] == [(1, "doubtful", True)]


WRONG = "A prompt takes 10.7 GB of cache. <!-- symroof: kv_cache_bytes model=llama-3-70b prompt=4096 kv=fp16 -->"
"""1.34 GB."""


def test_line_ends_and_the_mark_of_the_file_stay(tmp_path):
    note = tmp_path / "note.md"
    text = codecs.BOM_UTF8 + f"One.\r\n\r\n{WRONG}\r\nTwo.\r\n".encode()
    note.write_bytes(text)
    (made,) = copies(check(str(note)))
    assert made.content == text.replace(b"10.7", b"1.34")
