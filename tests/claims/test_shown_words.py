"""What a claim of a note is shown with: by examples, each written out."""

import pytest

from symroof.claims.read.markdown_notes import row_text, sentence
from symroof.claims.read.prose_numbers import without_marks

PROSE = "It fits. A step takes 24 ms, a token 3 GB! Is it so? **Yes**, it is 5 ms (or 6 ms)."


@pytest.mark.parametrize(
    ("at", "shown"),
    [
        ("fits", "It fits."), ("24 ms", "A step takes 24 ms, a token 3 GB!"), ("3 GB", "A step takes 24 ms, a token 3 GB!"), ("Is", "Is it so?"),
        ("Yes", "Yes, it is 5 ms (or 6 ms)."), ("6 ms", "Yes, it is 5 ms (or 6 ms)."),
    ],
)  # fmt: skip
def test_the_sentence_around_a_place(at, shown):
    assert sentence(PROSE, PROSE.index(at)) == shown


@pytest.mark.parametrize(
    ("place", "shown"), [(0, "One."), (3, "One."), (5, "Two."), (8, "Two."), (10, "Three"), (14, "Three")]
)  # fmt: skip
def test_a_sentence_begins_behind_the_blank_after_the_one_before(place, shown):
    assert sentence("One. Two. Three", place) == shown


def test_a_sentence_begins_anew_behind_the_annotation_before():
    """Unless that stood in another sentence, or nothing but marks follows it."""
    prose = "One. A cache of 3 GB , so 5 ms. Then 6 ms."
    behind = prose.index(" ,")
    assert sentence(prose, prose.index("5 ms"), behind) == "so 5 ms."
    assert sentence(prose, prose.index("3 GB"), behind) == "A cache of 3 GB, so 5 ms."
    assert sentence(prose, prose.index("6 ms"), behind) == "Then 6 ms."
    assert (
        sentence(prose, prose.index("5 ms"), prose.index("A cache")) == "A cache of 3 GB, so 5 ms."
    )
    assert sentence(prose, prose.index("5 ms"), prose.index("5 ms")) == "5 ms."
    assert sentence("A cache of 3 GB . ", 16, 15) == "A cache of 3 GB."


@pytest.mark.sample(8)
@pytest.mark.parametrize(
    ("prose", "shown"),
    [
        ("| a | 3 GB |", "a | 3 GB"), ("# A head of 3 GB", "A head of 3 GB"), ("> - 3 GB of `it` and _that_", "- 3 GB of it and that"), ("see [3 GB](x), ", "see 3 GB (x)"),
        ("a*b = 3*4 and *c*", "a*b = 3*4 and c"), ("x_y_z is __3 GB__", "x_y_z is 3 GB"), ("3&nbsp;GB", "3 GB"), (": 3 GB, ", "3 GB"), ("; so 3 GB; ", "so 3 GB"),
        (r"50\% of 3 GB", "50% of 3 GB"), ("( 3 GB )", "(3 GB)"), ("50 % .", "50%."),
    ],
)  # fmt: skip
def test_a_sentence_without_marks(prose, shown):
    assert sentence(prose, 0) == shown


def test_words_are_cut_where_they_are_too_long():
    whole, longer = "x" * 300, "x" * 301
    assert (sentence(whole, 0), sentence(longer, 0)) == (whole, whole + " …")
    assert (row_text(whole), row_text(longer)) == (whole, whole + " …")
    assert row_text("|  | *a* | `3 GB` |") == "a | 3 GB"


@pytest.mark.sample(8)
@pytest.mark.parametrize(
    ("text", "shown"),
    [("**1.4** GB", "1.4 GB"), ("3  ×4", "3 × 4"), ("3×4", "3×4"), ("3 -- 4 ms", "3–4 ms"), ("token / s", "token/s"), ("3 / 4", "3 / 4"), ("$3 an hour", "$3 an hour"), ("$x", "x"),
     ("10^{11}", "10^11"), ("3&nbsp;GB", "3 GB"), ("3\n GB", "3 GB")],
)  # fmt: skip
def test_a_number_as_a_person_would_write_it(text, shown):
    assert without_marks(text) == shown
