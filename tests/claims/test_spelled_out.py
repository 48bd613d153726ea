"""Arithmetic in prose and the fields of an annotation, piece by piece: what is one, what comes out, and which fault stands where."""

from fractions import Fraction

import pytest

from symroof.claims.read.annotations import annotation_fields
from symroof.claims.read.prose_numbers import figures
from symroof.claims.read.spelled_arithmetic import (
    dependent_equations,
    equations,
    equations_of_blocks,
    same_number,
)
from symroof.claims.read.tables import tables

RIGHT, WRONG, NONE = True, False, None
ARITHMETIC = [
    ("6 × 70.6B × 2,000 = 282", WRONG, "847"),
    ("141 GB + 43 GB = 184 GB", RIGHT, "184"),
    ("141 GB + 43 GB = 194 GB", WRONG, "184"),  # 5.2 % off
    ("141 GB + 43 GB = 193.2 GB", RIGHT, "184"),
    ("141 GB + 43 GB = 175.3 GB", RIGHT, "184"),
    ("141 GB + 43 GB = 175.2 GB", WRONG, "184"),
    ("8 = 2 × 3", WRONG, "6"),
    ("16 GB = 8B × 2 bytes", RIGHT, "16"),
    ("100 - 20 = 70", WRONG, "80"),
    ("100 - 20 = 80", RIGHT, "80"),
    ("50-100 ms × 2 = 200", NONE, ""),  # a range
    ("(2 + 3) × 4 = 20", RIGHT, "20"),
    ("(2 + 3) × 4 = 25", WRONG, "20"),
    ("2 × (3 + 4) = 13", WRONG, "14"),
    ("2 + 3) × 4 = 20", NONE, ""),
    ("141 GB / 80 GB = 2 GPUs", RIGHT, "1.8"),  # a whole number, up or down
    ("141 GB / 80 GB = 1 GPU", RIGHT, "1.8"),
    ("141 GB / 80 GB = 3 GPUs", WRONG, "1.8"),
    ("140 GB × 8 = 1,120 Gbit", RIGHT, "1,120"),
    ("140 GB × 8 = 1,300 Gbit", WRONG, "1,120"),
    ("4096 × 320 KiB = 1.25 GiB", RIGHT, "1.25"),
    ("4096 × 320 KiB = 1.6 GiB", WRONG, "1.3"),
    ("1 GB / 2 GB/s = 500 ms", RIGHT, "500"),
    ("1 GB / 2 GB/s = 600 ms", WRONG, "500"),
    ("2 × 3.0 ≈ 6.31", RIGHT, "6"),
    ("2.0 × 3 = 6.4", WRONG, "6"),
    ("2 × 3 = $7", WRONG, "6"),
    ("n × 80 × 2 = 320", NONE, ""),
    ("2 × 3 = 6 × n", NONE, ""),
    ("√2 × 3 = 7", NONE, ""),
    ("2^3 × 4 = 30", NONE, ""),
    ("a*2 × 3 = 7", NONE, ""),
    ("f(2 × 3 = 7", NONE, ""),
    ("2 × 3", NONE, ""),
    ("2 = 3", NONE, ""),
    ("1" + " × 1" * 13 + " = 2", NONE, ""),  # more than a dozen numbers
    ("1" + " × 1" * 10 + " = 2", WRONG, "1"),
    ("1" + " + 1" * 11 + " = 13", WRONG, "12"),  # a dozen numbers
    ("1" + " + 1" * 12 + " = 14", NONE, ""),
    # binary prefixes that were taken for decimal ones, or the other way, up to three times: 1.024^3 and 5 % either way
    ("100 × 1 KiB = 113 KiB", RIGHT, "100"),
    ("100 × 1 KiB = 114 KiB", WRONG, "100"),
    ("100 × 1 KiB = 89 KiB", RIGHT, "100"),
    ("100 × 1 KiB = 88 KiB", WRONG, "100"),
    ("100 × 1 KB = 106 KB", WRONG, "100"),
    ("100 × 1 = 106 GPUs", WRONG, "100"),
    ("100 × 1 bit = 106 bit", WRONG, "100"),
    # bits and bytes; not of a tenth more
    ("100 bytes × 1 = 840 bit", RIGHT, "800"),
    ("800 bit × 1 = 100 bytes", RIGHT, "100"),
    ("100 bytes × 1 = 500 bit", WRONG, "800"),
    # digits that may have been rounded, on either side; a whole number is exact
    ("1.0 × 2.0 = 2.13", RIGHT, "2"),  # 6.1 % off, where 5 and 2.5 and 0.2 % may have been rounded
    ("1.0 × 2.0 = 2.18", WRONG, "2"),
    ("1 × 2 = 2.13", WRONG, "2"),
    ("2 × 2 = 4.3", WRONG, "4"),
    ("20 × 2 = 42", RIGHT, "40"),
    ("20 × 2 = 43", WRONG, "40"),
    # whole results of a division, of what is counted
    ("9 GB / 4 GB = 3 requests", RIGHT, "2.2"),
    ("9 GB / 4 GB = 4 requests", WRONG, "2.2"),
    ("10 / 4 tokens = 3", RIGHT, "2.5"),
    ("10 ms / 4 = 3 ms", WRONG, "2.5"),
    ("3 / 2 = 2.4", WRONG, "1.5"),
    # powers of a thousand are no fault, whichever side has more
    ("6 × 70 = 420,000", RIGHT, "420,000"),
    ("6000 × 70 = 420", RIGHT, "420"),
    ("31 × 1 = 1000", WRONG, "31,000"),
    ("32 × 1 = 1000", WRONG, "32"),
    ("282 GB + 20 = 400", WRONG, "302"),
]  # fmt: skip


@pytest.mark.sample(20)
@pytest.mark.parametrize(("text", "follows", "right"), ARITHMETIC)
def test_whether_it_comes_out(text, follows, right):
    assert [(one.follows, one.right) for one in equations(text)] == (
        [(follows, right)] if follows is not NONE else []
    )


def test_equations_in_a_row():
    """Each arithmetic side with the number behind it; its operands and result are those of the text."""
    first, second = equations("At first 2 × 30 = 60, then 7 × 30 ms = 210 ms.")
    assert ([figure.text for figure in first.operands], first.result.text, first.text) == (
        ["2", "30"],
        "60",
        "2 × 30",
    )
    assert ([figure.text for figure in second.operands], second.result.text) == (
        ["7", "30 ms"],
        "210 ms",
    )
    (both,) = equations("2 × 3 = 6 = 2 + 5")
    assert both.result.text == "6"


def test_what_rests_on_a_number():
    text = "282 ms × 2 = 564 ms; 6 × 70 = 282 GB; 282 GB + 20 GB = 302 GB; 302 GB / 2 = 151 GB; 7 × 3 = 21; 282 ms × 3 = 846 ms; 282 × 4 = 1128"
    wrong = equations(text)[1].result
    assert [one.result.text for one in dependent_equations(wrong, equations(text))] == [
        "302 GB",
        "151 GB",
        "1128",
    ]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [("282 GB", "282 GB", True), ("282 GB", "282", True), ("282", "282 GB", True), ("282 GB", "282 ms", False), ("5 GB", "5 GB", False), ("1,000 GB", "1000 GB", True), ("10", "10", True),
     ("282 GB", "283 GB", False)],
)  # fmt: skip
def test_numbers_that_are_one(one, other, same):
    """Two digits tell enough."""
    assert same_number(figures(one)[0], figures(other)[0]) is same


def test_the_length_of_what_is_looked_through():
    text = "2 × 3 = 7 "
    assert len(equations_of_blocks([(5, text)])) == 1
    assert equations_of_blocks([(5, text)])[0].result.start == 5 + text.index("7")
    assert len(equations_of_blocks([(0, text.ljust(20_000))])) == 1
    assert equations_of_blocks([(0, text.ljust(20_001))]) == []
    assert (
        len(equations_of_blocks([(0, text.ljust(20_000))] * 21)) == 20
    )  # 400,000 characters of a file


def sums(head, *rows):
    (table,) = tables("\n".join([f"| {head} |", "|---|---|---|", *(f"| {row} |" for row in rows)]))
    return [(one.text, one.result.text, one.follows) for one in table.sums()]


def test_sums_of_rows_and_columns():
    down = (
        "part | now (GB) | later (GB)",
        "weights | 141 | 70",
        "cache | 43 | 20",
        "total | 184 | 110",
    )
    assert sums(*down) == [("141 + 43", "184 GB", True), ("70 + 20", "110 GB", False)]
    assert (
        sums("part | a (GB) | total (GB)", "x | 1.5 | 1.5", "y | 2 | 2") == []
    )  # one part is no sum
    (table,) = tables(
        "| part | a (GB) | b (GB) | total (GB) |\n|---|---|---|---|\n| x | 1.5 | 20 | 21.5 |\n| y | 2 | 30 | 35 |\n| z | 2 | 30 ms | 35 |"
    )
    assert [(one.text, one.follows) for one in table.sums()] == [
        ("1.5 + 20", True),
        ("2 + 30", False),
    ]
    assert (
        sums("part | now (GB) | b", "weights | 141 | x", "total | 184 | x") == []
    )  # a single row above
    assert (
        sums("part | now | b", "weights | 141 | x", "cache | 43 | x", "total | 100 | x") == []
    )  # no unit
    assert (
        sums("part | now (GB) | b", "weights | < 141 | x", "cache | 43 | x", "total | 100 | x")
        == []
    )
    assert sums("part | now (GB) | b", "weights | 141 | x", "cache |  | x", "total | 100 | x") == []


def inputs(*heads):
    (table,) = tables(
        f"| {' | '.join(heads)} |\n{'|---' * len(heads)}|\n| {' | '.join('7' for _ in heads)} |"
    )
    return [table.input(column) for column in range(len(heads))]


def test_the_input_that_a_column_names():
    assert inputs(
        "Batch size",
        "users",
        "prompt",
        "*Sequence length*",
        "GPUs",
        "accelerator",
        "GPU",
        "Device",
        "GPU (GB)",
    ) == [
        "batch",
        "batch",
        "prompt",
        "prompt",
        "tp",
        *["hardware"] * 3,
        "",
    ]
    assert inputs(
        "context", "TPOT (ms)", "Weights (GB)", "weights", "KV", "price (USD/hour)", "price (GB)"
    ) == [
        "context",
        "",
        "",
        "weights",
        "kv",
        "price",
        "",
    ]
    assert inputs("words", "batch (requests)", "", "output tokens", "mem bandwidth") == [
        "",
        "batch",
        "",
        "output",
        "mem_bandwidth",
    ]


def test_the_values_under_a_column():
    (table,) = tables(
        "| batch | price (USD/hour) | weights | prompt (tokens) | kv |\n|---|---|---|---|---|\n| 1,024 | 2.5 | fp8 | 4,096 | 43 |\n| **8** | free | 4-bit | 4k | 8 bit |\n| 3 |"
    )
    assert [table.value(0, column) for column in range(5)] == [
        1024,
        "2.5 USD/hour",
        "fp8",
        4096,
        "",
    ]
    assert [table.value(1, column) for column in range(5)] == [8, "free", "4-bit", "4k", "8 bit"]
    assert [table.value(2, column) for column in range(3)] == [3, "", ""]


def test_the_cells_that_a_comment_in_a_head_or_a_first_cell_is_about():
    text = "| batch | cache (GB) | time (ms) |\n|---|---|---|\n| 1 | 1.34 | 5 |\n| 2 | 2.68 | 6 |\n"
    (table,) = tables(text)
    behind = text.index("\n")
    assert [(figure.text, own) for figure, own in table.under(text.index("(GB)"))] == [
        ("1.34 GB", {"batch": 1}),
        ("2.68 GB", {"batch": 2}),
    ]
    assert [figure.text for figure, _ in table.under(behind, "s")] == ["5 ms", "6 ms"]
    assert [figure.text for figure, _ in table.under(behind, "byte")] == ["1.34 GB", "2.68 GB"]
    assert [figure.text for figure, _ in table.under(behind, "FLOP")] == [
        "5 ms",
        "6 ms",
    ]  # none fits: its own column
    across = "| batch | 1 | 8 | x |\n|---|---|---|---|\n| cache | 3 GB | 4 GB | 5 GB |\n"
    (table,) = tables(across)
    assert [(figure.text, own) for figure, own in table.under(across.index("cache") + 2)] == [
        ("3 GB", {"batch": 1}),
        ("4 GB", {"batch": 8}),
        ("5 GB", {"batch": "x"}),
    ]
    assert table.under(across.index("4 GB")) == []


# ----------------------------------------------------------------------------------------------------------- annotations


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("text", "data"),
    [
        ("kv_cache_bytes prompt=4096", {"quantity": "kv_cache_bytes", "given": {"prompt": 4096}}),
        ("  itl   prompt = 4  ", {"quantity": "itl", "given": {"prompt": 4}}),
        ("itl target.itl='50 ms' detail=weights", {"quantity": "itl", "given": {"targets": {"itl": "50 ms"}, "detail": "weights"}}),
        ("itl needs.mfu=0.5 needs.assume.detail=kv", {"quantity": "itl", "needs": {"mfu": Fraction(1, 2), "assume": {"detail": "kv"}}}),
        ("itl where.b=3 for=batch", {"quantity": "itl", "where": {"b": "3"}, "for": "batch"}),
        ("compare=itl between='batch=3 | batch=4'", {"compare": "itl", "between": [{"batch": 3}, {"batch": 4}]}),
        (
            "itl batch=1e3 mfu=.5 prompt=0x10 hit_rate='0.5'",
            {
                "quantity": "itl",
                "given": {
                    "batch": 1000,
                    "mfu": Fraction(1, 2),
                    "prompt": "0x10",
                    "hit_rate": "0.5",
                },
            },
        ),
        ("itl value=“3  GB”", {"quantity": "itl", "value": "3 GB"}),
        ("itl theory=own my_name=3", {"quantity": "itl", "given": {"theory": "own", "my_name": 3}}),
        ("itl n_heads.full=3", {"quantity": "itl", "given": {"n_heads.full": 3}}),
    ],
)  # fmt: skip
def test_the_fields_of_an_annotation(text, data):
    read = annotation_fields(text)
    assert (read.data, read.faults) == (data, [])
    place = read.near(("given", "prompt", "deeper"))
    assert text[place:].startswith("prompt") or ("given", "prompt") not in read.places


SPACES = "a value with spaces needs quotes: target.itl='50 ms'"


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("itl prompt=4096 prompt=5", (16, "prompt is set twice", "")),
        ("itl foo", (4, "'foo' is not NAME=VALUE", SPACES)),
        ("itl foo=3", (4, "unknown name 'foo'", "did you mean 'for'?")),
        ("itl prompt=", (4, "prompt has no value", "write NAME=VALUE")),
        ("itl targets=3", (4, "targets needs a name after a point", "write targets.NAME=VALUE")),
        ("itl needs=3", (4, "needs needs a name after a point", "write needs.NAME=VALUE")),
        ("itl values=3", (4, "a row of values belongs in a claim file", "`symroof init claims` writes a starter")),
        ("itl between='batch=3 | foo=4'", (23, "unknown name 'foo'", "did you mean 'for'?")),
        ("itl between='itl | batch=4'", (13, "quantity does not belong in a case of between", "write between='hardware=h100-sxm | hardware=h200'")),
        ("itl value='a b", (10, "an unterminated quote, or one followed directly by text", "write NAME='a value with spaces'")),
        ("itl value=“3 GB” x", (17, "'x' is not NAME=VALUE", SPACES)),
        ("a=b=c", (0, "'a=b=c' is not NAME=VALUE", "quote a value with spaces or an equals sign")),
        ("itl my_name=3", (4, "unknown name 'my_name'", "did you mean 'm_params'?")),
    ],
)  # fmt: skip
def test_a_fault_of_an_annotation_stands_at_its_word(text, fault):
    place, message, hint = annotation_fields(text).faults[0]
    assert (place, message) == fault[:2]
    assert hint == fault[2] or "my_name" in text
    assert len(annotation_fields(text).faults) == 1
