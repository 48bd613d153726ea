"""A note as a draft reads it: headings over each block, cells with their row and column, and where no comment may stand."""

import pytest

from symroof.claims.draft.note_blocks import _merged, blocks, read_blocks


def read(text):
    """The blocks that are no titles: their words, and the headings over them."""
    return [(" ".join(block.text.split()), block.headings) for block in blocks(text) if not block.is_title]


@pytest.mark.parametrize(
    ("text", "listed"),
    [
        ("# A\n\n## B\n\nx\n\n# C\n\ny", [("x", ("A", "B")), ("y", ("C",))]),
        ("## A\n\n# B\n\nx\n\n## C\n\ny", [("x", ("B",)), ("y", ("B", "C"))]),
        ("###### A\n\nx\n\n####### B\n\ny", [("x", ("A",)), ("####### B", ("A",)), ("y", ("A",))]),
        ("A\n=\n\nB\n-\n\nx\n\nC\n=\n\ny", [("x", ("A", "B")), ("y", ("C",))]),
        ("# A\n\nB\n-\n\nx", [("x", ("A", "B"))]),
        ("## A\n\n---\n\nx", [("---", ("A",)), ("x", ("A",))]),  # a rule underlines nothing
        ("**Bold**\n\nx\n\n## H\n\ny", [("x", ("Bold",)), ("y", ("H",))]),  # a bold line is below every heading
        ("## H\n\n**Bold**:\n\nx\n\n__Bold 2__\n\ny", [("x", ("H", "Bold :")), ("y", ("H", "Bold 2"))]),
        ("**Bold** and more\n\nx", [("**Bold** and more", ()), ("x", ())]),
        ("*a*\n\nx", [("*a*", ()), ("x", ())]),
        ("### A ###\n\nx", [("x", ("A",))]),
        (f"# {'a' * 300}\n\nx", [("x", ("a" * 200,))]),
        ("> q\n> r", [("q r", ())]),
        ("---\nt: 3 GB\n---\nx", [("x", ())]),
        ("a\n\n```\n3 GB\n```\n\nb", [("a", ()), ("b", ())]),
        ("a <b>c</b> <pre>3 GB</pre> d", [("a c d", ())]),
        ("a <pre>3 GB", [("a 3 GB", ())]),  # nothing ends it
        ("a <PRE>3 GB</Pre> d <pre>4", [("a d 4", ())]),
        ("[a](http://x.y/3) and ![i](3) b www.x.y/3 c", [("[a] and b c", ())]),
        ("a <!-- 3 GB --> b <!-- 4 --> c", [("a b c", ())]),
        ("x" * 20_001, [("x" * 20_000, ())]),
    ],
)  # fmt: skip
def test_blocks_and_their_headings(text, listed):
    assert read(text) == listed


def test_items():
    assert [(block.text.split()[0], block.is_item) for block in blocks("- a b\n- c d\n\n2. e f\n\ng h") if len(block.text.split()) > 1 or block.is_item] == [
        ("a", True), ("c", True), ("e", True), ("g", False),
    ]  # fmt: skip


def test_cells_have_their_row_and_their_column():
    first, second, third, fourth, *_ = (
        block for block in blocks("intro\n| a | **b** |\n|---|---|\n| 1 | 2 |\n|  | 3 |\n\nmid\n\n| c |\n|---|\n| 4 | 5 |\n") if block.table
    )
    assert [(block.text.strip(), block.column, block.row, block.siblings, block.table) for block in (first, second, third, fourth)] == [
        ("1", "a", "", ("b 2", ""), 1), ("2", "b", "1", ("a 1", ""), 1), ("3", "b", "", ("a ", ""), 1), ("4", "c", "", ("5", ""), 2),
    ]  # fmt: skip
    assert [block.text.strip() for block in blocks("| a | b |\n|---|---|\n| 1 | 2 |\n")] == ["1", "2"]


NOTE = r"a \(x 3\) b $y 4$ c [l](u) d $$z$$ e `q 5 GB` f `6 GB` g \begin{equation}7\end{equation} h \[8 $9 and $10"


@pytest.mark.parametrize("stretch", [r"\(x 3\)", "$y 4$", "[l](u)", "$$z$$", "`q 5 GB`", "`6 GB`", r"\begin{equation}7\end{equation}"])
def test_no_comment_stands_inside_what_hangs_together(stretch):
    """It may stand where that begins, and where it ends."""
    _, whole = read_blocks(NOTE)
    start = NOTE.index(stretch)
    end = start + len(stretch)
    assert [whole.after(place) for place in (start, start + 1, end - 1, end)] == [start, end, end, end]


def test_numbers_in_code_are_left_alone_unless_they_are_all_of_it():
    _, whole = read_blocks(NOTE)
    code = NOTE.index("`q 5 GB`")
    assert [place for place in range(len(NOTE)) if whole.closes(place)] == list(range(code, code + 8))
    for span in ("`~6 GB`", "``$6``", "`6,000 GB/s`", "`6`"):
        assert not read_blocks(span)[1].closes(1)
    for span in ("`x6`", "`6 GB of it is more than this`", "`6 + 7`"):
        assert read_blocks(span)[1].closes(1)


def test_what_is_open_and_what_is_money_hangs_together_with_nothing():
    _, whole = read_blocks(NOTE)
    for text in (r"\[8", "$9 and"):
        place = NOTE.index(text) + 2
        assert whole.after(place) == place


def test_spans_that_overlap_are_one():
    assert _merged([(0, 3), (3, 5), (4, 9), (10, 12), (1, 2)]) == ((0, 3), (3, 9), (10, 12))
    assert _merged([]) == ()
