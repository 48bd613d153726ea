"""What the words over, behind and around a number speak of, how much each counts, and what the number then is: sums by hand."""

import time

import pytest

from symroof.claims.draft.guess_quantity import Guess, _strengths, as_written, guess, numbers, sentence_around
from symroof.claims.draft.note_blocks import blocks


def strengths(text, before="", digits="3"):
    """Of the number of the text that is so written."""
    ((block, figure),) = [(block, figure) for block in blocks(text) for figure in numbers(block) if figure.digits == digits]
    return _strengths(block, figure, before)


@pytest.mark.parametrize(
    ("text", "cue", "by_hand"),
    [
        ("# Cache\n\nIt is 3 GB", "cache", 0.4),
        ("# Cache\n\n## Other\n\nIt is 3 GB", "cache", 0.15),
        ("# Cache\n\n## Other\n\n### More\n\nIt is 3 GB", "cache", 0.15),
        ("| cache (GB) |\n|---|\n| 3 |", "cache", 1.1),
        ("| case | now |\n|---|---|\n| cache | 3 GB |", "cache", 1.0),
        ("Of a cache. Now 3 GB", "cache", 0.38),
        ("Of a cache. Now it has 3 GB", "cache", 0.52),
        ("Of a cache. It is so, now 3 GB", "cache", 0.38),  # of another clause
        ("Of a cache. So it is. Now 3 GB", "cache", None),  # two sentences before
        ("A cache: 3 GB", "cache", 1.0),
        ("- A cache of it: 3 GB", "cache", 1.0),
        ("It is so. Cache: 3 GB", "cache", 1.0),
        ("# Docker\n\nIt is 3 GB", "off_topic", 0.2),
        ("| docker (GB) |\n|---|\n| 3 |", "off_topic", 1.1),
        ("3 GB/GPU", "per_device", 1.0),
        ("3 ms/token", "between_tokens", 1.0),
        ("3 ms/token", "per_token", 1.0),
        ("3 J/request", "per_user", 1.0),
        ("3 GB are free", "free", 1.3),
        ("it has the H100 with 3 GB", "device", 1 / (1 + 6 / 90)),
        ("leaving 3 GB", "leaving", 1 / (1 + 1 / 90)),
        ("3 GB leaving x", "leaving", None),  # speaks of a number behind it alone
        ("# Leaving\n\nIt is 3 GB", "leaving", None),
        ("| leaving |\n|---|\n| 3 GB |", "leaving", 1.1),
        ("two GPUs and 3 GB each", "per_device", 1.2),
        ("two GPUs and 3 GB each", "per_request", 0.0),
        ("7 GB of the 3 GB are left", "free", 0.0),
        ("in total 3 tokens/s per user", "in_all", 0.0),
    ],
)
def test_how_much_the_words_around_a_number_count(text, cue, by_hand):
    found = strengths(text)
    assert (cue in found) is (by_hand is not None)
    assert by_hand is None or found[cue] == pytest.approx(by_hand, rel=1e-12)


def test_words_of_the_block_before_count_where_no_sentence_is_before():
    assert strengths("Now 3 GB", "Of a cache")["cache"] == 0.22
    assert "cache" not in strengths("So it is. Now 3 GB", "Of a cache")
    assert "cache" not in strengths("# Now 3 GB", "Of a cache")
    assert "cache" not in strengths("Now 3 GB", "cache " + "x" * 260)
    assert strengths("Now 3 GB", "cache" + " " * 255)["cache"] == 0.22


@pytest.mark.parametrize(("apart", "counts"), [(260, True), (261, False)])
def test_how_far_words_are_looked_at(apart, counts):
    """On either side, with the whole word."""
    before = f"cache {'x' * (apart - 7)} 3 GB"
    behind = f"3 GB {'x' * (apart - 7)} cache"
    assert (before.index("3"), len(behind) - 4) == (apart, apart)
    assert [("cache" in strengths(text)) for text in (before, behind)] == [counts, counts]


@pytest.mark.parametrize(("apart", "counts"), [(80, True), (81, False)])
def test_how_far_before_a_number_its_label_begins(apart, counts):
    """With what parts it from the words before it."""
    text = f"So | {'x' * (apart - 10)} cache: 3 GB"
    assert text.index("3") - text.index("|") == apart
    assert strengths(text)["cache"] == pytest.approx(1.0 if counts else 0.7 / (1 + 2 / 90))  # across a colon


@pytest.mark.parametrize(
    ("text", "last", "earlier", "by_hand"),
    [
        # rows of READINGS: a rate of one user starts at 1.0, of all at 0.9
        ("3 token/s", ("", 0), (), Guess("user_rate", 1.0, "decode_throughput")),
        ("3 token/s", ("decode_throughput", 0), (), Guess("decode_throughput", 1.25, "user_rate")),
        ("So. 3 token/s", ("decode_throughput", 0), (), Guess("decode_throughput", 1.05, "user_rate")),
        ("So. 3 token/s", ("decode_throughput", 4), (), Guess("decode_throughput", 1.25, "user_rate")),
        ("half of that is 3 token/s", ("decode_throughput", 0), (), Guess("decode_throughput", 2.45)),
        ("half of that is 3 token/s", ("itl", 0), (), Guess("user_rate", 1.0, "decode_throughput")),
        # what is worked out from the numbers before
        ("3 ms", ("", 0), ("prefill_flops",), Guess("prefill_time", 1.0)),
        ("3 ms", ("", 0), ("prefill_flops", "prefill_flops"), Guess("prefill_time", 1.0)),
        ("3 ms", ("", 0), ("weight_bytes",), Guess()),
        ("3 ms", ("", 0), ("weight_bytes", "decode_bytes"), Guess("itl", 1.1)),
        ("3 ms", ("", 0), (), Guess()),
        ("3 apples", ("", 0), (), Guess()),
        ("3 W", ("", 0), (), Guess()),
        ("3 J/request", ("", 0), (), Guess("energy_per_request", 1.6)),
        ("3 FLOP/s", ("", 0), (), Guess("peak_flops", 1.2)),
        ("3 KB/token", ("", 0), (), Guess("kv_bytes_per_token", 1.2)),
        ("docker 3 token/s", ("", 0), (), Guess()),  # of something that is not inference
    ],
)
def test_what_a_number_is(text, last, earlier, by_hand):
    (block,) = blocks(text)
    listed = numbers(block)
    if not listed:
        assert not by_hand.quantity
        return
    made = guess(block, listed[0], "", last, earlier)
    assert (made.quantity, made.rival) == (by_hand.quantity, by_hand.rival)
    assert made.score == pytest.approx(by_hand.score)


def test_the_least_evidence_and_the_lead_that_make_a_guess():
    """A batch starts at 0.3: a word at once beside it counts 90/91 of its weight, 0.5 a step, 0.8 a decode."""

    def of(text):
        (block,) = blocks(text)
        return guess(block, numbers(block)[0], "")

    assert of("3 requests step").quantity == "batch"
    assert of("3 requests step").score == pytest.approx(0.3 + 0.5 * 90 / 91)
    assert of("3 requests xxxxxxxxxxx step").quantity == ""  # 0.3 + 0.5/(1 + 13/90) is 0.737
    assert of("3 requests xxxxxxxx step").quantity == "batch"  # 0.755


@pytest.mark.parametrize(("place", "around"), [(0, (0, 5)), (4, (0, 5)), (5, (5, 10)), (9, (5, 10)), (10, (10, 15)), (14, (10, 15))])
def test_the_ends_of_the_sentence_around_a_place(place, around):
    (block,) = blocks("One. Two. Three")
    assert sentence_around(block, place) == around


def test_a_number_is_as_it_is_written_where_no_column_gives_it_a_unit():
    cells = [block for block in blocks("| case | cache (GB) |\n|---|---|\n| a | 3 |\n| b | 3 GB |\n") if block.column == "cache (GB)" and block.row]
    assert [as_written(block, numbers(block)[0]) for block in cells] == [False, True]


def test_a_long_word_before_a_number_takes_no_time():
    """It could be cut into the five words of a label in some million ways."""
    (block,) = blocks("x" * 200 + " 3 GB. " + "ab-cd " * 40 + "3 GB: 5 GB")
    assert len(numbers(block)) == 3
    started = time.process_time()
    for figure in numbers(block):
        _strengths(block, figure, "")
    assert time.process_time() - started < 20
