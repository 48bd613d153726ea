"""Corrected copies of notes: where they go, which numbers are corrected and which are left to their author."""

from symroof.claims.check import check
from symroof.claims.corrected_copies import copies


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
