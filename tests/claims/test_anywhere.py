"""What is read of a passage is the same wherever it stands in its text: places move with it, and nothing that is far before it counts."""

import itertools
from dataclasses import replace

import pytest

from symroof.claims.draft.case_words import settings
from symroof.claims.draft.drafted_copy import draft
from symroof.claims.draft.named_parts import named
from symroof.claims.draft.note_blocks import blocks
from symroof.claims.draft.numbers_beside import cues_beside, many_of, of_several_devices, restated
from symroof.claims.draft.passing_words import in_its_clause, leads_its_clause, passing
from symroof.claims.read import latex_notes
from symroof.claims.read.markdown import blocks as paragraphs
from symroof.claims.read.markdown import passages
from symroof.claims.read.markdown_notes import read_note
from symroof.claims.read.numbers import figures
from symroof.claims.read.spelled_arithmetic import equations
from symroof.claims.read.tables import tables

LENGTHS = (0, 1, 2, 3, 5, 7, 8, 11, 13, 17, 18, 19, 28, 40, 41, 59, 61, 90, 121, 259, 261, 301)
BEFORE = ["z" * length + ". " for length in LENGTHS]

ARITHMETIC = [
    "6 × 70.6B × 2,000 = 282", "(2 + 3) × 4 = 20", "2 × (3 + 4) = 13", "141 GB / 80 GB = 2 GPUs", "16 GB = 8B × 2 bytes", "100 - 20 = 70", "n × 80 × 2 = 320", "√2 × 3 = 7", "((2 + 3) × 4) = 20",
    "2 × 3 = 6 and 3 × 4 = 13 ms",
]  # fmt: skip


@pytest.mark.parametrize("text", ARITHMETIC)
def test_calculations(text):
    plain = equations(text)
    for before in BEFORE:
        assert [(one.moved(0), one.text, one.source) for one in equations(before + text)] == [(one.moved(len(before)), one.text, one.source) for one in plain]


BESIDE = [
    "4 GB / 2 TB/s", "7B of its 671B parameters", "4k tokens = 1 GB", "5 GB of the 80 GB are left", "One H100 SXM has 80 GB", "two 4090s (48 GB)", "a 24 GB card", "4.3 GB for 32,000 tokens",
    "131,072 bytes, or 128 KiB", "12345 × 2 W = 24690 W", "2 × 350 W = 700 W", "400 tokens out",
]  # fmt: skip


@pytest.mark.parametrize("text", BESIDE)
def test_words_beside_numbers(text):
    def beside(whole):
        listed = figures(whole)
        each = [(list(cues_beside(whole, one)), of_several_devices(whole, one)) for one in listed]
        return each, [(restated(whole, one, two), many_of(whole, one, two)) for one, two in itertools.pairwise(listed)]

    assert all(beside(before + text) == beside(text) for before in BEFORE)


WORDS = [
    "Llama 3 8B and 70B on 4xH100", "1,024 H100s", "a 4090", "8 A100 80GB", "At batch 32 and a 4k context, FP8 weights and TP 4", "the KV cache in fp8, bf16 weights", "on 8 GPUs", "ISL 1024, OSL 128",
]  # fmt: skip


@pytest.mark.parametrize("text", WORDS)
def test_names_and_settings(text):
    for before in BEFORE:
        by = len(before)
        assert list(named(before + text)) == [replace(name, start=name.start + by, end=name.end + by) for name in named(text)]
        assert list(settings(before + text)) == [replace(word, start=word.start + by, end=word.end + by) for word in settings(text)]


@pytest.mark.parametrize("text", ["In fp8 it takes 12 ms", "it would be 12 ms in fp8", "Unlike fp8, and so 12 ms", "It is in fp8; 12 ms"])
def test_what_a_sentence_passes_by(text):
    place = text.index("fp8")
    figure = figures(text)[-1]
    for before in BEFORE:
        by = len(before)
        assert leads_its_clause(before + text, by + place) is leads_its_clause(text, place)
        assert passing(before + text, by + place) is passing(text, place)
        assert in_its_clause(before + text, by + place, figure.moved(by)) == in_its_clause(text, place, figure)


NOTE = """# A head of 3 GB

Takes **1.34 GB** <!-- symroof: kv_cache_bytes model=llama-3-70b prompt=4096 --> of it. <!-- x --> `5 GB <!-- y -->` and
2 × 3 = 7 ms <!-- symroof: itl --> [6 GB](http://a.b/c).

> quoted 4 GB <!-- symroof: weight_bytes batch=1 -->

| batch | cache (GB) <!-- symroof: kv_cache_bytes prompt=1 --> |
|---|---|
| 1 | 1.34 | <!-- symroof: weight_bytes -->
| total | 4.02 |

- an item of 9 GB <!-- symroof: weight_bytes

~~~
3 GB <!-- symroof: weight_bytes -->
~~~
"""
TEX = r"""Takes $1.34$~GB. % symroof: kv_cache_bytes model=llama-3-70b prompt=4096
And \SI{5}{\giga\byte}. % other
\begin{tabular}{lr}
batch & cache (GB) \\ % symroof: kv_cache_bytes prompt=1
\hline
1 & 1.34 \\[2pt]
2 & 2.68 \\ % symroof: weight_bytes
\end{tabular}
\item Last 7 ms % symroof: itl
"""
PARAGRAPHS = ["", "z\n\n", "zzzz zzz.\n\nz\n\n", "z" * 1300 + "\n\n"]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("before", PARAGRAPHS)
def test_the_passages_of_a_note(before, end):
    text, before = NOTE.replace("\n", end), before.replace("\n", end)
    by, whole = len(before), before + text
    assert list(passages(whole)) == [replace(one, start=one.start + by, at=one.at + by, ends=one.ends + by if one.ends else 0) for one in passages(text)]
    assert [(low - by, prose) for low, prose in paragraphs(whole)][-len(list(paragraphs(text))) :] == list(paragraphs(text))
    assert [(one.head[0].start - by, one.end - by) for one in tables(whole)] == [(one.head[0].start, one.end) for one in tables(text)]
    own = len(blocks(text))
    assert [[(block.text, block.headings, block.place(n) - by) for n in (0, 1)] for block in blocks(whole)[-own:]] == [
        [(block.text, block.headings, block.place(n)) for n in (0, 1)] for block in blocks(text)
    ]


@pytest.mark.parametrize("before", PARAGRAPHS)
def test_the_passages_of_latex_source(before):
    by = len(before)

    def words(passage, moved):  # a paragraph begins with the line end behind the empty line before it
        return replace(
            passage,
            start=passage.start - moved + len(passage.prose) - len(passage.prose.lstrip()),
            prose=passage.prose.lstrip(),
            row=passage.row.lstrip(),
            at=passage.at - moved,
            ends=passage.ends - moved,
        )

    assert [words(one, by) for one in latex_notes.passages(before + TEX)] == [words(one, 0) for one in latex_notes.passages(TEX)]
    prose = [(low - by + len(prose) - len(prose.lstrip()), prose.strip()) for low, prose in latex_notes.blocks(before + TEX)]
    own = [(low + len(prose) - len(prose.lstrip()), prose.strip()) for low, prose in latex_notes.blocks(TEX)]
    assert prose[len(prose) - len(own) :] == own
    assert [(one.head[0].start - by, one.end - by) for one in latex_notes.tables(before + TEX)] == [
        (one.head[0].start, one.end) for one in latex_notes.tables(TEX)
    ]


@pytest.mark.parametrize(("text", "file"), [(NOTE, "n.md"), (TEX, "n.tex")])
def test_the_claims_of_a_note(text, file):
    """So many lines further down."""
    plain = read_note(text, file)
    for before in PARAGRAPHS[1:]:
        lines, moved = before.count("\n"), read_note(before + text, file)
        assert [(line - lines, column) for line, column in moved.places] == list(plain.places)
        assert [figure and figure.start - len(before) for figure in moved.figures] == [figure and figure.start for figure in plain.figures]
        assert [(problem.line - lines, problem.column, problem.message) for problem in moved.problems] == [
            (problem.line, problem.column, problem.message) for problem in plain.problems
        ]
        assert [value for key, value in moved.unsound.items()] == [value for key, value in plain.unsound.items()]


def test_the_drafts_of_a_note():
    text = "Llama-3-70B in fp8 on 4xH100 with TP=4. Its weights take 70.6 GB, so each GPU holds 17.6 GB of weights. A decode step takes 5.3 ms at batch 1.\n"
    plain = draft(text, "n.md").drafts
    assert [(one.text, one.quantity) for one in plain] == [("70.6 GB", "weight_bytes"), ("17.6 GB", "weight_bytes_per_device"), ("5.3 ms", "itl")]
    for before in PARAGRAPHS[1:3]:
        moved = draft(before + text, "n.md").drafts
        assert [(one.line - before.count("\n"), one.column, one.start - len(before), one.at - len(before), one.given, one.doubts) for one in moved] == [
            (one.line, one.column, one.start, one.at, one.given, one.doubts) for one in plain
        ]
