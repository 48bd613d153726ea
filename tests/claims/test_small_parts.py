"""Small parts of reading claims: the unit in a column's head, and whether two written values can be one."""

import pytest

from symroof.claims.read.tables import NoteCell, NoteTable, tables
from symroof.claims.read.written_number import read_written
from symroof.claims.related_claims import compatible

HEADS = {
    "KV cache (GB)": "GB", "time, ms": "ms", "rate (token/s)": "token/s", "ITL (ms per layer)": "ms", "batch (requests)": "request", "(%)": "%", "GB": "GB",
    "speedup (x)": "", "x (x of it)": "", "words": "", "size (GB today)": "", "latency (ms, p50)": "",
}  # fmt: skip


@pytest.mark.sample(5)
@pytest.mark.parametrize("head", HEADS)
def test_the_unit_of_a_column(head):
    """A unit alone, or one of something; a factor is none, and neither is a unit among other words."""
    assert NoteTable((NoteCell(0, head),), (), 0).unit(0) == HEADS[head]


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("one", "two", "same"),
    [
        ("20-30", "25", True), ("20-30", "22", True), ("20-30", "28", True), ("20-30", "31", False), ("20-30", "30.4", True), ("20-30", "19", False), ("20-30", "18.9", False), ("24", "23.5", True),
        ("24", "23.4", False), ("24", "24.6", False), ("< 5", "4", True), ("< 5", "6", False), ("> 5", "6", True), ("> 5", "4", False), ("> 5", "< 4", False),
        ("> 5", "< 6", True), ("< 5", "< 2", True), ("about 5", "5.4", True), ("5", "compute", False), ("compute", "compute", True), ("compute", "memory", False),
    ],
)  # fmt: skip
def test_two_values_are_one_as_far_as_their_digits_go(one, two, same):
    """24 stands for 23.5 to 24.5; a bound for everything on its side."""
    written = (read_written(one, ""), read_written(two, ""))
    assert compatible(*written) is compatible(*reversed(written)) is same


def test_a_value_is_no_longer_than_it_may_be():
    assert read_written("compute" + "x" * 113, "").word
    with pytest.raises(ValueError, match="at most 120 characters"):
        read_written("compute" + "x" * 114, "")


WIDE = "| BS | cache (GB) | of a user (GB per request) | |\n|---|---|---|---|\n| 4 | 3 | 5 GB per GPU | 7 GB | 9 ms |\n| 2 cards | 3 to 4 | 6 | | |\n"


def test_a_column_behind_the_head_has_no_unit_and_no_name():
    (table,) = tables(WIDE)
    assert [(table.unit(column), table.input(column)) for column in (4, 5)] == [("", "")] * 2
    assert (table.number(0, 4).text, table.number(0, 5), table.number(1, 3)) == ("9 ms", None, None)
    assert table.input(0) == "batch"


def test_what_the_head_says_of_a_number_that_does_not_say_it_itself():
    """A range has a unit of its own or none."""
    (table,) = tables(WIDE)
    assert [
        (table.number(0, i).unit, [str(one) for one in table.number(0, i).denominators])
        for i in range(4)
    ] == [
        ("", []),
        ("GB", []),
        ("GB/device", ["device"]),
        ("GB", []),
    ]
    assert (table.number(1, 2).unit, [str(one) for one in table.number(1, 2).denominators]) == (
        "GB/request",
        ["request"],
    )
    assert (table.number(1, 1).text, table.number(1, 1).unit) == ("3 to 4", "")


def test_the_column_and_the_row_of_a_place():
    """From the first character of a cell, or of a row, on; before the first it is the head's."""
    (table,) = tables(WIDE)
    for row in (None, 0, 1):
        cells = table.head if row is None else table.rows[row]
        assert [table.column_at(cell.start, row) for cell in cells] == list(range(len(cells)))
        assert [table.column_at(cell.start - 1, row) for cell in cells[1:]] == list(
            range(len(cells) - 1)
        )
        assert table.column_at(cells[0].start - 1, row) == 0
        assert table.row_at(cells[0].start) == row
    assert [table.row_at(row[0].start - 1) for row in table.rows] == [None, 0]


def test_a_comment_behind_the_whole_head_is_about_the_only_column_that_fits():
    """From the end of its last word on; one within the head is about its own column."""
    text = "| batch | cache (GB) | time (ms)\n|---|---|---|\n| 1 | 1.34 | 5 |\n"
    (table,) = tables(text)
    end = text.index(")\n") + 1
    assert [table.fitting(place, "byte") for place in (end - 1, end, end + 1)] == [2, 1, 1]
    assert (table.fitting(end, ""), table.fitting(end, "any"), table.fitting(end, "s")) == (2, 2, 2)
    (table,) = tables(text.replace("batch", "weights (GB)"))
    assert table.fitting(text.index(")\n") + 30, "byte") == 2  # two fit


def test_a_row_of_one_input_and_many_results():
    """The values of the input stand in the head: none for a cell without a number, nor for a head without a value; the first cell is their name."""
    text = "| batch | 1 | 8 | | 3 |\n|---|---|---|---|---|\n| cache of 2 cards | 3 GB | 4 GB | 5 GB | soon |\n"
    (table,) = tables(text)
    assert [(figure.text, own) for figure, own in table.under(text.index("cache"))] == [
        ("3 GB", {"batch": 1}),
        ("4 GB", {"batch": 8}),
    ]
    (table,) = tables(text.replace("batch", "words"))
    assert table.under(text.index("cache")) == []


def sums(*rows):
    (table,) = tables(
        "\n".join(
            [
                f"| {rows[0]} |",
                f"|{'---|' * (rows[0].count('|') + 1)}",
                *(f"| {row} |" for row in rows[1:]),
            ]
        )
    )
    return [(one.text, one.result.text) for one in table.sums()]


def test_what_is_no_sum():
    """A label, a total without a number or a unit, one that is a range, a part that is missing, of another unit or a range."""
    head = "part | now (GB)"
    assert sums(head, "a | 1", "b | 2", "total | 3") == [("1 + 2", "3 GB")]
    assert sums("part | x", "1 GB | a", "3 GB | b", "total (5 GB) | c") == []
    for last in ("3 to 4", "so", "", "3 ms to 4 ms"):
        assert sums(head, "a | 1", "b | 2", f"total | {last}") == []
    for part in ("", "2 ms", "1 to 2", "> 2"):
        assert sums(head, "a | 1", f"b | {part}", "total | 3") == []
    assert sums(head, "a | about 1", "b | ~2", "total | 3") == [("1 + 2", "3 GB")]
    assert sums(f"{head} | later (GB) | all (GB)", "a | 1 | 2 | 3", "b | 4 | 5 |") == [
        ("1 + 2", "3 GB")
    ]


def test_a_count_in_a_cell_is_no_longer_than_fifteen_digits():
    (table,) = tables(f"| prompt | batch |\n|---|---|\n| {'1' * 15} | {'1' * 16} |")
    assert [table.value(0, column) for column in (0, 1)] == [int("1" * 15), "1" * 16]


def test_the_lines_of_a_table_are_bounded():
    def width(head, rule):
        return len(tables(f"| {'x' * (head - 4)} |\n|{'-' * (rule - 2)}|\n| 1 |"))

    assert [width(10, 10), width(3999, 10), width(4000, 10), width(10, 3999), width(10, 4000)] == [
        1,
        1,
        0,
        1,
        0,
    ]
    (table,) = tables("| a |\n|---|\n" + "| 1 |\n" * 201)
    assert len(table.rows) == 200


@pytest.mark.parametrize(
    "text",
    ["|a|b|\n|-|-|\n|1|2|", "a|b\n-|-\n1|2", "| a | b\n|-|-|\n1 |2 |", "> |a|b|\n> |-|-|\n> |1|2|"],
)
def test_cells_with_blanks_and_outer_bars_or_without(text):
    (table,) = tables(text)
    assert [[cell.text for cell in row] for row in (table.head, *table.rows)] == [
        ["a", "b"],
        ["1", "2"],
    ]
    assert all(
        text[cell.start :].startswith(cell.text)
        for row in (table.head, *table.rows)
        for cell in row
    )


@pytest.mark.sample(5)
@pytest.mark.parametrize("before", range(4))
@pytest.mark.parametrize("between", range(1, 4))
def test_tables_wherever_they_stand(before, between):
    one = "| a |\n|---|\n| 1 |\n"
    listed = tables("words\n" * before + one + "words\n" * between + one.replace("1", "2"))
    assert [table.rows[0][0].text for table in listed] == ["1", "2"]
