"""The claims that a note makes, as a claim file would hold them: their numbers, settings, names and places; and annotations that are none."""

import pytest

from symroof.claims.read.markdown_notes import numbers_of, read_note

ITL = "<!-- symroof: itl -->"


def note(text, file="note.md"):
    return read_note(text, file)


def data(text):
    """Each claim without its place and its words."""
    return [
        {key: value for key, value in claim.items() if key not in ("id", "says", "line")}
        for claim in note(text).document.data["claims"]
    ]


def marked(text):
    return f"<!-- symroof: {text} -->"


def test_claims_are_named_after_their_lines():
    text = f"1 ms {ITL} 2 ms {ITL} and 3 ms {ITL}\n\n4 ms {ITL}"
    claims = note(text).document.data["claims"]
    assert [(claim["id"], claim["says"], claim["line"], claim["value"]) for claim in claims] == [
        ("L1", "1 ms", 1, "1 ms"), ("L1-2", "2 ms", 1, "2 ms"), ("L1-3", "and 3 ms", 1, "3 ms"), ("L3", "4 ms", 3, "4 ms"),
    ]  # fmt: skip
    assert note(text).places == tuple(
        (1 if n < 4 else 3, text.split("\n\n")[n == 4].index(f"{n} ms") + 1) for n in (1, 2, 3, 4)
    )


def test_arithmetic_that_does_not_come_out_is_a_claim_of_its_own():
    """Behind the others, at its result; what comes out is none, and what an annotation is about is said beside that."""
    text = f"We have 2 × 3 = 7 and 2 × 4 = 8.\n\nAlso 5 ms {ITL}"
    read = note(text)
    assert [(claim["id"], claim["says"], claim.get("steps")) for claim in read.document.data["claims"]] == [
        ("L3", "Also 5 ms", None), ("L1", "2 × 3 = 7", [{"name": "2 × 3 =", "expression": "(2*3)*1", "value": "7"}]),
    ]  # fmt: skip
    assert read.places == ((3, 6), (1, text.index("7") + 1))
    assert [figure.text for figure in read.figures] == ["5 ms", "7"]
    assert read.wrong_arithmetic == {}
    assert note(f"At first 1 ms {ITL}. Then 2 × 3 ms = 7 ms. {ITL}").wrong_arithmetic == {
        1: "2 × 3 ms is 6, not 7"
    }
    assert (
        len(data("2 × 3 = 7\n\n| a | b (GB) |\n|---|---|\n| x | 1 |\n| y | 2 |\n| total | 4 |\n"))
        == 2
    )


# ------------------------------------------------------------------------------------------------------------- defaults


def test_what_holds_for_all_that_follow():
    text = f"1 ms {ITL}\n\n{marked('given batch=2 detail=kv')}\n\n2 ms {ITL}\n\n{marked('given batch=3')}\n\n3 ms {ITL}\n\n{marked('given')}\n\n4 ms {ITL}"
    assert [claim["given"] for claim in data(text)] == [
        {},
        {"batch": 2, "assume": {"detail": "kv"}},
        {"batch": 3, "assume": {"detail": "kv"}},
        {},
    ]
    assert [set(names) for names in note(text).shared] == [
        set(),
        {"batch", "assume"},
        {"batch", "assume"},
        set(),
    ]
    places = note(text).document.places
    assert (places["claims", 1, "given", "batch"], places["claims", 2, "given", "batch"]) == (
        (3, 21),
        (7, 21),
    )


@pytest.mark.parametrize(
    ("default", "message", "column"),
    [("given batch=2 value=3", "value belongs to one claim, not to all that follow", 29), ("given batch=x=2", "'batch=x=2' is not NAME=VALUE", 21), ("given batchh=2", "unknown name 'batchh'", 21)],
)  # fmt: skip
def test_a_default_that_cannot_be_read_sets_aside_what_may_rest_on_it(default, message, column):
    """Up to one that clears them all."""
    read = note(f"{marked(default)}\n\n5 ms {ITL}\n\n{marked('given')}\n\n6 ms {ITL}")
    assert [(problem.line, problem.column, problem.message) for problem in read.problems] == [
        (1, column, message)
    ]
    first, second = read.document.data["claims"]
    assert (first["unchecked"], second.get("quantity")) == (
        "the given in line 1 cannot be read, and this may rest on it",
        "itl",
    )
    assert read.skipped == {0}
    assert [read.document.places["claims", i] for i in (0, 1)] == [(3, 11), (7, 11)]


# ------------------------------------------------------------------------------------------------- annotations that are none


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        (
            "1 <!-- symroof kv_cache_bytes batch=3 -->",
            "the annotation needs a colon",
            "write <!-- symroof: kv_cache_bytes model=llama-3-70b prompt=4096 -->",
        ),
        ("1 <!-- symroof: itl", "the annotation does not end", "end it with -->"),
        ("1 <!-- symroof: itl <!-- x -->", "an annotation holds the beginning of another comment", "end it with -->"),
        ("1 <!-- symroof: -->", "the annotation is empty", "write <!-- symroof: kv_cache_bytes model=llama-3-70b prompt=4096 -->"),
        ("1 <!-- old <!-- symroof: itl -->", "an annotation inside another comment is not read", "end the comment before it with -->"),
        (f"1 ms <!-- symroof: itl{' ' * 1980} batch=x -->", None, None),
        (f"1 ms <!-- symroof: itl{' ' * 1981} batch=x -->", "an annotation has at most 2,000 characters", ""),
    ],
)  # fmt: skip
def test_an_annotation_that_cannot_be_read(text, message, hint):
    problems = [(problem.message, problem.hint) for problem in note(text).problems]
    assert problems == ([(message, hint)] if message else [])


def test_an_ordinary_comment_that_begins_with_the_name():
    assert note("5 ms <!-- symroof is a tool -->").problems == ()
    assert data("5 ms <!-- symroof is a tool -->") == []


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("count", "problems"), [(500, []), (501, ["more than 500 annotations in one file"])]
)
def test_five_hundred_annotations_are_read(count, problems):
    read = note(f"{marked('unchecked=x')}\n" * count)
    assert [problem.message for problem in read.problems] == problems
    assert len(read.document.data["claims"]) == 500


# --------------------------------------------------------------------------------------------------- what a number is of


def test_the_cells_under_an_annotation_in_the_head():
    """One claim each, with the inputs of its row; the annotation's own win."""
    table = "| batch | itl (ms) {} |\n|---|---|\n| 1 | 5 |\n| 2 | 6 |\n"
    text = table.format(marked("itl prompt=5"))
    read = note(text)
    assert [(claim["id"], claim["says"], claim["given"], claim["value"]) for claim in read.document.data["claims"]] == [
        ("L3", "batch 1: 5 ms", {"batch": 1, "prompt": 5}, "5 ms"), ("L4", "batch 2: 6 ms", {"batch": 2, "prompt": 5}, "6 ms"),
    ]  # fmt: skip
    assert read.places == ((3, 7), (4, 7))
    assert [claim["given"]["batch"] for claim in data(table.format(marked("itl batch=7")))] == [
        7,
        7,
    ]


def test_a_number_of_a_table_has_the_unit_of_its_column():
    (claim,) = data("| batch | itl (ms) |\n|---|---|\n| 1 | 5 <!-- symroof: itl batch=1 --> |\n")
    assert claim["value"] == "5 ms"


def test_every_number_of_a_note_in_its_place():
    """But for those of a paragraph that is none: more than 20,000 characters."""
    text = "One 5 ms.\n\n`6 ms` and 7 ms"
    assert [(figure.start, figure.text) for figure in numbers_of(text, "n.md")] == [
        (4, "5 ms"),
        (12, "6 ms"),
        (22, "7 ms"),
    ]
    long = "5 ms ".ljust(20_000, "x")
    assert (len(numbers_of(long, "n.md")), len(numbers_of(long + "x", "n.md"))) == (1, 0)
