r"""What a claim of a note is shown with, and LaTeX around numbers: by examples, each written out."""

import pytest

from symroof.claims.read.latex_text import without_latex, without_marks
from symroof.claims.read.markdown_notes import row_text, sentence

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


@pytest.mark.parametrize(
    ("prose", "shown"),
    [
        ("| a | 3 GB |", "a | 3 GB"), ("# A head of 3 GB", "A head of 3 GB"), ("> - 3 GB of `it` and _that_", "- 3 GB of it and that"), ("see [3 GB](x), ", "see 3 GB (x)"),
        ("a*b = 3*4 and *c*", "a*b = 3*4 and c"), ("x_y_z is __3 GB__", "x_y_z is 3 GB"), ("3&nbsp;GB", "3 GB"), (": 3 GB, ", "3 GB"), ("; so 3 GB; ", "so 3 GB"),
        ("327{,}680 bytes", "327,680 bytes"), ("( 3 GB )", "(3 GB)"), ("50 % .", "50%."),
    ],
)  # fmt: skip
def test_a_sentence_without_marks(prose, shown):
    assert sentence(prose, 0) == shown


def test_words_are_cut_where_they_are_too_long():
    whole, longer = "x" * 300, "x" * 301
    assert (sentence(whole, 0), sentence(longer, 0)) == (whole, whole + " …")
    assert (row_text(whole), row_text(longer)) == (whole, whole + " …")
    assert row_text("|  | *a* | `3 GB` |") == "a | 3 GB"


# ---------------------------------------------------------------------------------------------------------------- LaTeX

READ = {
    r"$3\,\mathrm{GB}$": "3 GB",
    r"\(3\,\text{GB}\)": "3 GB",
    r"\mathbf{\text{\textrm{3 GB}}}": "3 GB",  # three deep
    r"\mathbf{\text{\textrm{\textit{3}}}} GB": r"\mathbf{ 3 } GB",
    r"\SI{3}{\giga\byte}": "3 GB",
    r"\qty{3}{\giga\byte\per\second}": "3 GB / s",
    r"\SI{3}{\kibi\byte}": "3 KiB",
    r"$\frac{\text{GB}}{\text{s}}$": "GB / s",
    r"$\frac{6}{2}$": r"\frac{6}{2}",  # arithmetic
    r"$\dfrac{\text{token}}{\text{s}}$ and $\tfrac{a}{b}$": "token / s and a/ b",
    r"a $ 3 b": "a $ 3 b",
    r"costs $3 and $4 an hour": "costs $3 and $4 an hour",
    r"$$3 + 4$$": "3 + 4",
    r"$a$3": "$a$3",  # a digit behind it: no formula
    r"$\leq 3$": "≤ 3",
    r"$\leqq 3$": r"\leqq 3",  # another command
    r"$x \cdot y$": "x · y",
    r"50\%, \$3": "50 %, $3",
    r"5~ms and 5 ~\text{ms}": "5 ms and 5 ms",
    r"1\,000 and 1\,a": r"1\,000 and 1 a",  # a thousand is one number
    "no markup * of LaTeX": "no markup * of LaTeX",
}


@pytest.mark.parametrize("text", READ)
def test_latex_as_it_is_read(text):
    """As long as it was, so that a number stands where it does in the file; only what is known goes."""
    assert len(without_latex(text)) == len(text)
    assert " ".join(without_latex(text).split()) == READ[text]


@pytest.mark.parametrize(
    "text",
    [
        r"\mathbf{\text{21}}",
        r"\num{21}~ms",
        r"\boxed{x = 21}",
        r"\SI{21}{ms}",
        r"$\frac{\text{FLOP}}{\text{byte}} 21$",
    ],
)
def test_what_stands_in_braces_stays_where_it_is(text):
    for word in ("21", "FLOP", "byte", "x = 21", "ms"):
        assert without_latex(text).find(word) == text.find(word)


@pytest.mark.parametrize(
    ("text", "shown"),
    [("**1.4** GB", "1.4 GB"), ("3  ×4", "3 × 4"), ("3×4", "3×4"), ("3 -- 4 ms", "3–4 ms"), ("token / s", "token/s"), ("3 / 4", "3 / 4"), ("$3 an hour", "$3 an hour"), ("$x", "x"),
     ("10^{11}", "10^11"), ("3&nbsp;GB", "3 GB"), ("3\n GB", "3 GB")],
)  # fmt: skip
def test_a_number_as_a_person_would_write_it(text, shown):
    assert without_marks(text) == shown
