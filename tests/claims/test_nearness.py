"""The nearest statement of a setting for the number 12 ms: its row, sentence, paragraph, headings, what comes before, what comes after."""

import pytest

from symroof.claims.draft.guess_quantity import numbers
from symroof.claims.draft.note_blocks import blocks
from symroof.claims.draft.note_words import NoteWords
from symroof.claims.draft.numbers_beside import cues_beside, many_of, of_each_device, of_each_user, of_several_devices, restated
from symroof.claims.draft.passing_words import in_its_clause, leads_its_clause, passing
from symroof.claims.read.numbers import figures

REACHES = ("row", "sentence", "paragraph", "heading", "elsewhere")


def nearest(text, name, whole=False, **defaults):
    """What is stated for the number, how far away, and ``?`` where it is only inferred."""
    read = blocks(text)
    words = NoteWords(read, defaults)
    ((index, figure),) = [(i, figure) for i, block in enumerate(read) for figure in numbers(block) if figure.digits == "12"]
    stated = words.nearest(name, index, figure, whole)
    return f"{stated.value} {REACHES[stated.reach]}{'?' * stated.soft}" if stated else ""


@pytest.mark.parametrize(
    ("text", "name", "stated"),
    [
        ("At batch 4 it takes 12 ms.", "batch", "4 sentence"),
        ("At batch 4. It takes 12 ms.", "batch", "4 paragraph"),
        ("At batch 4. Then at batch 8. It takes 12 ms.", "batch", "8 paragraph"),
        ("At batch 4 it takes 12 ms. At batch 8 it is slow.", "batch", "4 sentence"),
        ("At batch 4 and batch 8 it takes 12 ms at batch 16.", "batch", "16 sentence"),
        ("# At batch 4\n\nIt takes 12 ms.", "batch", "4 heading"),
        ("# At batch 4\n\n## Other\n\nIt takes 12 ms.", "batch", "4 heading"),
        ("# At batch 4\n\n## At batch 8\n\nIt takes 12 ms.", "batch", "8 heading"),
        ("# At batch 4\n\n# Other\n\nIt takes 12 ms.", "batch", ""),
        ("At batch 4 it is so.\n\nIt takes 12 ms.", "batch", ""),  # no farther than its paragraph
        ("At batch 4:\n\n- It takes 12 ms.", "batch", "4 paragraph"),
        ("At batch 4:\n\n- x\n- It takes 12 ms.", "batch", "4 paragraph"),
        ("A prompt of 400 tokens.\n\nIt takes 12 ms.", "prompt", "400 elsewhere"),
        ("It takes 12 ms.\n\nA prompt of 400 tokens.", "prompt", "400 elsewhere"),
        ("A prompt of 400 tokens.\n\nIt takes 12 ms.\n\nA prompt of 500 tokens.", "prompt", "400 elsewhere"),
        ("A prompt of 300 tokens.\n\nA prompt of 400 tokens.\n\nIt takes 12 ms.", "prompt", "400 elsewhere"),
        ("400 tokens.\n\nIt takes 12 ms.", "context", "400 elsewhere?"),
        ("It takes 12 ms.\n\n400 tokens.", "context", ""),  # what is only inferred says nothing of what stands before it
        ("A context of 500 tokens.\n\n400 tokens.\n\nIt takes 12 ms.", "context", "500 elsewhere"),
        ("| batch 4 | batch 8 |\n|---|---|\n| 11 ms | 12 ms |", "batch", "8 row"),
        ("| case | time |\n|---|---|\n| batch 4 | 12 ms |", "batch", "4 row"),
        ("| case | time | on |\n|---|---|---|\n| x | 12 ms | H100 |", "hardware", "h100-sxm row"),
        ("| time | on |\n|---|---|\n| 11 ms, batch 4 | L4 |\n| 12 ms | L4 |", "batch", "4 paragraph"),
        ("| time | on |\n|---|---|\n| 12 ms | L4 |\n| 11 ms, batch 4 | L4 |", "batch", "4 paragraph"),
        ("At batch 4:\n\n| case | time |\n|---|---|\n| x | 12 ms |", "batch", "4 paragraph"),
        ("At batch 4 so.\n\n| case | time |\n|---|---|\n| x | 12 ms |", "batch", "4 paragraph"),
        ("It takes 12 ms in fp8 weights and 20 ms in fp16 weights.", "weights", "fp8 sentence"),
        ("It takes 20 ms in fp8 weights and 12 ms in fp16 weights.", "weights", "fp16 sentence"),
        # what would be, and another case beside the first, says nothing of what comes after
        ("Weights are fp16. With fp8 weights it would be half. It takes 12 ms.", "weights", "fp16 paragraph"),
        ("Weights are fp16.\n\nIf it had fp8 weights it would be half.\n\nIt takes 12 ms.", "weights", "fp16 elsewhere"),
        ("Weights are fp16.\n\nIn fp8 weights it is half.\n\nIt takes 12 ms.", "weights", "fp16 elsewhere"),
        ("In fp8 the weights are half.\n\nIt takes 12 ms.", "weights", "fp8 elsewhere"),
        # what is passed by counts for the rest of its item, and for nothing before it
        ("- With fp8 weights it would be half. It takes 12 ms.", "weights", "fp8 paragraph"),
        ("- It takes 12 ms. With fp8 weights it would be half.", "weights", ""),
        ("Half. With fp8 weights it would be half. It takes 12 ms.", "weights", ""),
        ("It takes 12 ms. With fp8 weights it would be half.", "weights", ""),
        ("If it had fp8 weights:\n\n- It takes 12 ms.", "weights", ""),
        (f"{'z' * 120}. With fp8 weights it would be half. It takes 12 ms.", "weights", ""),
        ("# It would be fp8 weights\n\nIt takes 12 ms.", "weights", "fp8 heading"),
        # a section of another model says nothing of what stands before it; one's own section goes before others
        ("## Llama-3-70B\n\nIt takes 12 ms.\n\n## Llama-3-8B\n\nA prompt of 400 tokens.", "prompt", ""),
        ("## Llama-3-70B\n\nIt takes 12 ms.\n\n## More\n\nA prompt of 400 tokens.", "prompt", "400 elsewhere"),
        ("## Llama-3-8B\n\nA prompt of 400 tokens.\n\n## Llama-3-70B\n\nIt takes 12 ms.", "prompt", "400 elsewhere"),
        ("## A\n\nA prompt of 300 tokens.\n\n## B\n\nIt takes 12 ms.\n\nA prompt of 400 tokens.", "prompt", "400 elsewhere"),
        ("It takes 12 ms.\n\n## Llama-3-8B\n\nA prompt of 400 tokens.", "prompt", ""),
        # the nearest cell of a column, before it or else behind it
        ("| time | x |\n|---|---|\n| 11 ms, batch 4 | y |\n| 10 ms, batch 5 | y |\n| 12 ms | y |\n| 13 ms, batch 8 | y |", "batch", "5 paragraph"),
        ("| time | x |\n|---|---|\n| 12 ms | y |\n| 11 ms, batch 4 | y |\n| 10 ms, batch 5 | y |", "batch", "4 paragraph"),
        ("| time | x |\n|---|---|\n| 12 ms | y |\n| 11 ms | batch 4 |", "batch", ""),
        ("| time | x |\n|---|---|\n| 11 ms, batch 4 | y |\n\nOther\n\n| time | x |\n|---|---|\n| 12 ms | y |", "batch", ""),
        ("| case | time |\n|---|---|\n| on 4 GPUs | 12 ms |", "tp", "4 row?"),
        ("| case | time |\n|---|---|\n| on 4 GPUs | 12 ms |\n\nWith TP=2 it is so.", "tp", "2 elsewhere"),
        ("| case | time |\n|---|---|\n| TP=4 | 12 ms |\n\nWith TP=2 it is so.", "tp", "4 row"),
        # cards that are counted: in a heading, before a list, never of what stands before them
        ("# On 4 GPUs\n\nIt takes 12 ms.", "tp", "4 heading?"),
        ("# On 4 GPUs\n\nIt takes 12 ms with TP=2.", "tp", "2 sentence"),
        ("On 4 GPUs:\n\n- It takes 12 ms.", "tp", "4 paragraph?"),
        ("It takes 12 ms. On 4 GPUs it is so.", "tp", ""),
        ("On 4 GPUs it is so. It takes 12 ms.", "tp", "4 paragraph?"),
        ("It takes 12 ms.\n\nOn 4 GPUs it is so.", "tp", ""),
        # an introduction is no table, and that of all that follows it
        ("At batch 4:\n\nSo.\n\n- It takes 12 ms.", "batch", "4 paragraph"),
        ("At batch 4:\n\n| a |\n|---|\n| x |\n\nIt takes 12 ms.", "batch", "4 paragraph"),
        # an efficiency holds from where it is stated on
        ("It takes 12 ms at an MFU of 50 %.", "mfu", ""),
        # a group that is counted stands behind one that is stated anywhere
        ("On 4 GPUs. With TP=2 it is so.\n\nIt takes 12 ms.", "tp", "2 elsewhere"),
        ("On 4 GPUs it takes 12 ms.\n\nWith TP=2 it is so.", "tp", "2 elsewhere"),
        ("On 4 GPUs it takes 12 ms.", "tp", "4 sentence?"),
        ("On 4xH100 it takes 12 ms.", "tp", "4 sentence?"),
        # a precision that the note names for the cache alone is that of the cache
        ("fp8 KV cache here. Then fp8 for all: it takes 12 ms.", "kv", "fp8 sentence?"),
        ("fp8 KV cache here. Then fp8 for all: it takes 12 ms.", "weights", ""),
        ("fp8 KV cache and fp8 weights here. Then fp8 for all: it takes 12 ms.", "weights", "fp8 sentence?"),
    ],
)
def test_the_nearest_statement(text, name, stated):
    assert nearest(text, name) == stated


def test_a_setting_of_all_that_follows_stands_between_what_is_before_and_what_is_after():
    assert nearest("It takes 12 ms.", "prompt", prompt="77") == "77 heading"
    assert nearest("A prompt of 400 tokens.\n\nIt takes 12 ms.", "prompt", prompt="77") == "400 elsewhere"
    assert nearest("It takes 12 ms.\n\nA prompt of 400 tokens.", "prompt", prompt="77") == "77 heading"


def test_a_narrow_setting_is_looked_for_in_the_whole_note_where_that_is_asked_for():
    assert nearest("At batch 4 it is so.\n\nIt takes 12 ms.", "batch", whole=True) == "4 elsewhere"
    assert nearest("It takes 12 ms.\n\nAt batch 4 it is so.", "batch", whole=True) == "4 elsewhere"


@pytest.mark.parametrize(
    ("text", "name", "several"),
    [
        ("A prompt of 400 tokens.", "prompt", False),
        ("A prompt of 400 tokens. A prompt of 400 tokens.", "prompt", False),
        ("A prompt of 400 tokens. A prompt of 500 tokens.", "prompt", True),
        ("A context of 400 tokens. Also 500 tokens.", "context", False),  # one is only inferred
        ("bf16 weights and fp16 weights", "weights", False),  # as wide
        ("bf16 weights and fp8 weights", "weights", True),
        ("bf16 and fp8", "weights", True),
        ("A prompt of 400 tokens.\n\n| prompt 500 tokens |\n|---|\n| prompt of 600 tokens |", "prompt", False),  # what prose says goes before tables
        ("", "prompt", False),
    ],
)
def test_whether_a_note_states_several(text, name, several):
    every = blocks(f"{text}\n\n## Later\n\nIt takes 5 ms.")
    stated = NoteWords(every, {}).nearest(name, len(every) - 1, numbers(every[-1])[0])
    assert bool(stated and stated.several) is several


# ---------------------------------------------------------------------------------------------- words beside, and in passing


@pytest.mark.parametrize(
    ("text", "cues"),
    [
        ("24 tok/s/user", ["per_user"]),
        ("62 GB are left", ["free"]),
        ("62 GB free", ["free"]),
        ("a 24 GB card", ["labelled"]),
        ("80 GB of HBM", ["labelled"]),
        ("One H100 SXM has 80 GB", ["labelled"]),
        ("H100 (80 GB)", ["labelled"]),
        ("H100 takes 80 GB", []),
        ("32k tokens = 4.3 GB", ["of_tokens"]),
        ("4.3 GB for 32,000 tokens", ["of_tokens"]),
        ("400 tokens out", ["output_word"]),
        ("8,000 tokens in, and", ["prefill"]),
        ("8,000 tokens in between", []),
    ],
)
def test_words_beside_a_number(text, cues):
    assert [cue for figure in figures(text) for cue, _ in cues_beside(text, figure)] == cues


@pytest.mark.parametrize(
    ("text", "several", "each"),
    [
        ("two 4090s (48 GB)", True, False),
        ("two 4090s (24 GB each)", False, True),
        ("a 4090 (24 GB)", False, False),
        ("1x 4090 (24 GB)", False, False),
        ("two GPUs for three requests: 4 GB each", False, False),
        ("three requests on two GPUs: 4 GB each", False, True),
        ("two GPUs: 4 GB each request", False, False),
    ],
)
def test_memory_of_several_devices_and_of_each(text, several, each):
    figure = figures(text)[-1]
    assert (of_several_devices(text, figure), of_each_device(text[: figure.start], text, figure)) == (several, each)


@pytest.mark.parametrize(
    ("text", "apart"),
    [
        ("fp8: 12 ms", 1), ("fp8 takes 12 ms", 0), ("fp8, and 12 ms", 2), ("fp8. And 12 ms", 5), ("fp8; 12 ms", 4), ("fp8 — 12 ms", 4), ("fp8 (12 ms", 1),
        ("12 ms and then fp8", 1), ("12 ms. Or fp8", 5), ("fp8,000 12 ms", 0), ("fp8 or 3.5 or 12 ms", 2),
    ],
)  # fmt: skip
def test_the_boundaries_between_a_word_and_a_number(text, apart):
    """One for each part of a sentence, four where a sentence ends."""
    figure = next(figure for figure in figures(text) if figure.digits == "12")
    place = text.index("fp8")
    assert in_its_clause(text, place, figure) == (apart, abs(place - figure.start))


def test_words_of_a_sentence_about_another_case():
    """Within 90 characters of it."""
    assert passing("it would be in fp8", 15)
    assert not passing("it is in fp8", 9)
    assert passing(f"would {84 * 'x'} fp8", 91) is False
    assert passing(f"would {83 * 'x'} fp8", 90)
    assert passing(f"fp8 {80 * 'x'} would", 0)
    assert not passing(f"fp8 {81 * 'x'} would", 0)


@pytest.mark.parametrize(
    ("text", "leads"),
    [("In fp8 it", True), ("It is. With the fp8 it", True), ("- at fp8", True), ("It is in fp8", False), ("Using an fp8", True), ("In many fp8", False)],
)
def test_what_a_sentence_begins_with(text, leads):
    assert leads_its_clause(text, text.index("fp8")) is leads


@pytest.mark.parametrize(
    ("text", "cues"),
    [
        ("4 GB / 2 TB/s", ["divided", "divisor"]), ("4 GB and 2 TB/s", []), ("4 GB divided by about 2 TB/s", ["divided", "divisor"]),
        ("7B of its 671B parameters", ["part", "whole"]), ("5 GB of the total 80 GB", ["part", "whole"]), ("5 GB of 80 GB", []), ("5 GB of the 80 GB are left", ["part", "free", "whole"]),
        ("4k tokens = 1 GB", ["of_tokens"]), ("4k tokens and 1 GB", []), ("1 GB for a 4k-token request", ["of_tokens"]),
        ("48 tok/s for each user", ["per_user"]), ("48 tok/s for a chip", ["per_device"]), ("9 GB of the 80 GB are free", ["part", "free", "whole"]),
    ],
)  # fmt: skip
def test_words_beside_a_number_from_the_first_character_of_a_text_on(text, cues):
    assert [cue for figure in figures(text) for cue, _ in cues_beside(text, figure)] == cues


@pytest.mark.parametrize(
    ("first", "last", "cue", "reach"), [("4 GB", "/ 2 TB/s", "divisor", 40), ("5 GB of the", "80 GB", "whole", 40), ("4k tokens", "= 1 GB", "of_tokens", 60)]
)
def test_how_far_before_a_number_such_words_are_looked_for(first, last, cue, reach):
    for apart, looked in ((reach, cue != "whole"), (reach + 1, False)):
        blanks = apart - len(first) - len(last) + len(last.lstrip("/= "))
        text = f"{first}{' ' * blanks}{last}"
        figure = figures(text)[-1]
        assert figure.start == apart
        assert (cue in [name for name, _ in cues_beside(text, figure)]) is looked


def test_the_same_number_again_and_so_many_times_a_number():
    for text, again in (
        ("131,072 bytes, or 128 KiB", True), ("327,000 bytes, about 320 KiB", True), ("100 MB, or 94 MB", True), ("100 MB, or 93.9 MB", False), ("94 MB, or 100 MB", True),
        ("93.9 MB, or 100 MB", False), ("100 MB of 100 MB", False), ("100 or 100", False), ("100 ms, or 100 MB", False), ("100 MB (i.e. 0.1 GB)", True),
    ):  # fmt: skip
        assert restated(text, *figures(text)) is again, text
    for text, many in (
        ("2 × 350 W = 700 W", True), ("12345 × 2 W = 24690 W", True), ("a 2×350 W = 700 W", True), ("2 × 350 W = 701 W", False), ("2 × 350 W and 700 W", False), ("v2 × 350 W = 700 W", False),
        ("2 × 350 W = 700 ms", False), ("of 350 W = 700 W", False), ("2 × 350 = 700", False), ("3 * 1 kW ≈ 3000 W", True),
    ):  # fmt: skip
        assert many_of(text, *figures(text)[-2:]) is many, text


@pytest.mark.parametrize(
    ("text", "each"),
    [("6,000 tokens/s in total, 90 tokens/s per user", True), ("90 tok/s/user", True), ("90 tokens/s per GPU", False), ("90 tokens/s", False), ("90 tokens/s for each stream", True)],
)  # fmt: skip
def test_a_number_of_each_user(text, each):
    assert of_each_user(text, figures(text)[-1]) is each


def test_the_values_that_a_note_states_each_once():
    words = NoteWords(blocks("A prompt of 400 tokens. A prompt of 500 tokens.\n\n| a prompt of 400 tokens |\n|---|\n| a prompt of 600 tokens |"), {})
    assert words.values("prompt") == ["400", "500", "600"]
    assert words.values("batch") == []


def test_no_more_than_a_thousand_places_of_a_setting_are_remembered():
    words = NoteWords(blocks("\n\n".join(f"A prompt of {n} tokens." for n in range(1000, 2001))), {})
    assert len(words.values("prompt")) == 1000


def test_a_number_of_the_note_that_is_an_input():
    """What comes behind it rests on it, and no count of tokens that is only inferred there is a context."""
    read = blocks("Some 400 tokens are read.\n\nIt takes 12 ms.")
    words = NoteWords(read, {})
    four, twelve = numbers(read[0])[0], numbers(read[1])[0]
    assert words.nearest("context", 1, twelve).value == "400"
    words.state(0, "output", four)
    assert words.nearest("context", 1, twelve) is None
    assert (words.nearest("output", 1, twelve).value, words.nearest("output", 1, twelve).soft) == ("400", False)
    words = NoteWords(read, {})
    words.state(0, "prompt", four)
    assert words.nearest("context", 1, twelve).value == "400"


@pytest.mark.parametrize(
    ("text", "weights", "cache"),
    [
        ("fp8, 3 GB", "", "fp8"), ("3 GB in fp8", "", "fp8"), (f"fp8 {40 * 'x'} 3 GB", "", "fp8"), (f"fp8 {42 * 'x'} 3 GB", "", "fp8"), (f"fp8 {43 * 'x'} 3 GB", "fp8", ""),
        ("fp8 of the weights, 3 GB", "fp8", ""), ("fp8 and a checkpoint of 3 GB", "fp8", ""),
    ],
)  # fmt: skip
def test_a_precision_beside_a_size_of_the_cache(text, weights, cache):
    """It is that of the cache, unless words of the weights stand between them, or 48 characters."""
    read = blocks(text)
    words = NoteWords(read, {})
    words.of_cache(0, next(figure for figure in numbers(read[0]) if figure.digits == "3"))
    assert (words.values("weights"), words.values("kv")) == ([weights] if weights else [], [cache] if cache else [])
