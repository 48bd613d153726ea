r"""Tables in LaTeX source: units and inputs of the head, comments behind a cell, a row or the whole head.

Llama-3-8B has 8,030,261,248 parameters: 16.06 GB in 16 bits, 8.03 GB in 8, 4.02 GB in 4. Over 2.039 TB/s they take 7.88 ms, 3.94 ms, 1.97 ms.
"""

import pytest

from symroof.claims.check import check_text
from symroof.claims.read import latex_notes
from symroof.errors import InputError

CASE = "% symroof: given model=llama-3-8b hardware=a100-80gb-sxm detail=weights prompt=1\n"
ROWS = "fp16 & 16.1 & 7.9 \\\\\nint8 & 8.0 & 3.9 \\\\[2pt]\nint4 & 2.0 & 2.0 \\\\\n\\bottomrule\n\\end{tabular}\n"


def judged(text):
    return [
        (claim.line, claim.claimed, claim.verdict)
        for claim in check_text(CASE + text, "paper.tex").claims
    ]


COLUMNS = [(3, "16.1 GB", "rounded"), (4, "8.0 GB", "rounded"), (5, "2.0 GB", "wrong")]


@pytest.mark.parametrize(
    "head",
    [
        r"\begin{tabular}{lrr} Precision & Weights (GB) & TPOT (ms) \\ \midrule % symroof: weight_bytes",
        r"\begin{tabular}[t]{@{}lr|r@{}} Precision & Weights (GB) & TPOT (ms) \\ \hline\hline % symroof: weight_bytes",
    ],
)
def test_a_comment_behind_the_head_is_of_the_column_whose_unit_fits(head):
    assert judged(f"{head}\n{ROWS}") == COLUMNS


def test_a_comment_behind_a_cell_of_the_head_is_of_its_column():
    text = "\\begin{longtable}{lrr}\nPrecision\n& Weights (GB) % symroof: weight_bytes\n& TPOT (ms) % symroof: itl batch=1\n\\\\ \\hline\n"
    claims = judged(text + ROWS.replace("tabular", "longtable"))
    assert [verdict for _, _, verdict in claims] == [
        "rounded",
        "rounded",
        "wrong",
        "rounded",
        "rounded",
        "rounded",
    ]
    assert [number for _, number, _ in claims] == [
        "16.1 GB",
        "8.0 GB",
        "2.0 GB",
        "7.9 ms",
        "3.9 ms",
        "2.0 ms",
    ]


@pytest.mark.parametrize(
    "row",
    [
        "fp16 & 7.9 \\\\ % symroof: itl weights=fp16",
        "fp16 & 7.9 % symroof: itl weights=fp16\n\\\\",
        "fp16 & 7.9\\\\% symroof: itl weights=fp16",
    ],
)
def test_a_comment_behind_a_row_takes_the_unit_of_the_head(row):
    assert judged(
        f"\\begin{{tabular}}{{lr}}\nPrecision & TPOT (ms) \\\\\n{row}\nint8 & 3.9 \\\\\n\\end{{tabular}}\n"
    ) == [(4, "7.9 ms", "rounded")]


def test_results_in_a_table_are_no_inputs_of_its_other_columns():
    """In Markdown too: neither the 7.9 ms nor the 16.1 GB set anything; the price is one, in dollars an hour."""
    note = (
        CASE.replace("% ", "<!-- ").rstrip()
        + " -->\n\n| Precision | Weights (GB) | TPOT (ms) | price (USD/hour) | cost (USD per million tokens) <!-- symroof: decode_cost_per_mtok batch=1 --> |\n|---|---|---|---|---|\n| fp16 | 16.1 | 7.9 | 2 | 4.38 |\n"
    )
    (claim,) = check_text(note, "note.md").claims
    assert (
        claim.claim.given["weights"],
        claim.claim.given["price"],
        {"itl", "tpot", "mem_capacity"} & claim.claim.given.keys(),
    ) == (
        "fp16",
        "2 USD/hour",
        set(),
    )
    assert claim.verdict == "rounded"  # 2 USD/3,600 s * 7.8767 ms * 1e6 = 4.376


def test_the_hint_names_a_number_of_the_quantity():
    for annotation, example in (
        ("itl batch=1", "25 ms"),
        ("weight_bytes", "1.34 GB"),
        ("mem_bandwidth", "3.35 TB/s"),
        ("decode_throughput batch=1", "48 token/s"),
    ):
        with pytest.raises(InputError) as caught:
            check_text(f"{CASE}It is fast. % symroof: {annotation}\n", "paper.tex")
        assert caught.value.problems[0].hint == f"name the one it is about: value='{example}'"


def table_of(rows):
    return (
        r"\begin{tabular}{lr}"
        + r" \\ ".join(["a & b", *(f"{n} & {n} ms" for n in range(rows))])
        + r"\end{tabular}"
    )


def test_a_table_is_no_longer_than_two_hundred_rows():
    assert [
        len(one.rows) for rows in (1, 200, 201) for one in latex_notes.tables(table_of(rows))
    ] == [1, 200, 200]
    assert latex_notes.tables(table_of(0)) == []  # a head alone
    assert latex_notes.tables(table_of(3).replace(r"\end{tabular}", "")) == []  # it does not end
    two = latex_notes.tables(table_of(1) + " and " + table_of(2))
    assert [len(one.rows) for one in two] == [1, 2]


def test_a_comment_in_a_listing_and_one_behind_a_sign_of_a_share_are_none():
    listing = "\\begin{verbatim}\n1 ms % symroof: itl\n\\end{verbatim}\n"
    assert list(latex_notes.passages(listing)) == []
    assert [one.comment for one in latex_notes.passages(listing + "2 ms % symroof: itl\n")] == [
        "symroof: itl"
    ]
    assert list(latex_notes.passages("50\\% symroof: itl\n")) == []
    (one,) = latex_notes.passages("a \\\\% symroof: itl\n")
    assert one.prose == "a \\\\"
    (one,) = latex_notes.passages("2 ms %symroof: itl % more\n3 ms")
    assert (one.comment, one.at, one.ends) == ("symroof: itl % more", 6, 25)
    assert list(latex_notes.passages("2 ms % other\n% more")) == []


def test_the_paragraph_that_a_comment_is_about():
    """Its own, or where that has nothing but itself the one before; a row's last cell, or behind the row's end all of it."""
    text = "First 1 ms.\n\nSecond 2 ms.\n\n% symroof: itl\n\n% symroof: ttft\n"
    assert [one.prose.strip() for one in latex_notes.passages(text)] == ["Second 2 ms.", ""]
    rows = r"a & 1 ms % symroof: itl" + "\n" + r"b & 2 ms \\ % symroof: ttft" + "\n"
    one, two = latex_notes.passages(rows)
    assert (one.prose, one.row, two.row.split("|")[-1].strip()) == (" 1 ms ", "a | 1 ms ", "2 ms")
