"""What is said of a solved equation: the words of the answer, the sentence, the whole number, all by hand from equations that a reader solves at a glance."""

from fractions import Fraction

import pytest

from symroof.analysis.solution import to_whole
from symroof.analysis.solution_text import remarks
from symroof.api import Study


@pytest.fixture(scope="module")
def plain():
    """No model and no device."""
    return Study(prompt=100, output=20)


@pytest.fixture(scope="module")
def gpt2():
    return Study("gpt2", "h100-sxm", engine="ideal", prompt=100, output=20, mem_capacity="80 GB")


@pytest.mark.parametrize(
    ("equation", "unknown", "answer", "sentence", "fits"),
    [
        # 248,879,616 bytes of weights over 100 tokens of 36,864 bytes: 67.5
        (
            "kv_cache_bytes = weight_bytes",
            "batch",
            "at least 68 requests",
            "kv_cache_bytes stays below weight_bytes up to 67 and is above it from 68 on",
            True,
        ),
        (
            "kv_cache_bytes = weight_bytes",
            "context",
            "at least 6,752 tokens",
            "kv_cache_bytes stays below weight_bytes up to 6,751 and is above it from 6,752 on; beyond GPT-2 124M's maximum context of 1,024 tokens",
            True,
        ),
        # (80 GB - weights)/(119 tokens at the end): 18,179.6
        (
            "max_batch_memory",
            None,
            "at most 18,179 requests",
            "the largest batch that fits in memory",
            True,
        ),
        (
            "kv_cache_bytes = 100 GB",
            "batch",
            "at least 27,127 requests",
            "kv_cache_bytes stays below 100 GB up to 27,126 and is above it from 27,127 on",
            False,
        ),
        # 4 of 12 layers' worth: a width that takes no memory is not asked whether it fits
        (
            "kv_cache_bytes = 1 GB",
            "kv_bytes_per_element",
            "542.5 bytes",
            "kv_cache_bytes is below 1 GB under this value and above it over it",
            None,
        ),
        ("kv_cache_bytes = 1 byte", "mem_bandwidth", None, None, None),
        ("weight_bytes = 1 byte", "batch", None, None, None),
    ],
)
def test_what_is_said_of_a_model(equation, unknown, answer, sentence, fits, gpt2):
    if answer is None:
        with pytest.raises(Exception, match="does not occur|depend"):
            gpt2.solve(equation, unknown)
        return
    solution = gpt2.solve(equation, unknown) if unknown else gpt2.solve(equation)
    assert (solution.shown(), solution.reason, solution.within_memory) == (answer, sentence, fits)
    written = remarks(solution)
    assert (
        "fits in memory at this value" in written,
        "does not fit in memory at this value" in written,
    ) == (fits is True, fits is False)
    assert solution.flags == (("does_not_fit",) if fits is False else ())


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("value", "last", "first"),
    [
        (Fraction(7, 2), 3, 4),
        (Fraction(4), 4, 4),
        (4 + Fraction(1, 10**10), 4, 5),
        (4 - Fraction(1, 10**10), 3, 4),
        (4 - Fraction(1, 10**13), 4, 4),
        (4 + Fraction(1, 10**13), 4, 4),
    ],
)
def test_a_crossing_as_a_whole_number(value, last, first):
    """Down for a limit, up for what is to be reached; what floats cannot tell from a whole number is that number."""
    assert (to_whole(value, "limit"), to_whole(value, "reach")) == (last, first)


def test_sides_that_only_whole_numbers_have(plain):
    """1 + 2 + … + 10 = 55."""
    solution = plain.solve("sum(step, step, 1, output) = 55", "output")
    assert (solution.shown(), solution.reason) == (
        "at least 10 tokens",
        "sum(step, step, 1, output) stays below 55 up to 10 and is above it from 11 on",
    )
    assert plain.solve("cached_prefix = 2*prompt", "cached_prefix").reason.startswith(
        "cached_prefix stays below 2*prompt for every cached_prefix"
    )
    assert plain.solve("sum(step, step, 1, output) = 54", "output").integer == {"at_least": 10}
    assert plain.solve("sum(step, step, 1, output) = 56", "output").integer == {"at_least": 11}


def test_numbers_of_devices_that_share_out_heads():
    """Of eight heads of the cache: 1, 2, 4 and the multiples of eight, looked for among the next 1,024; upwards or downwards."""
    solution = Study("llama-3-70b", "h100-sxm", engine="ideal", prompt=4096).solve(
        "min_devices_memory"
    )
    assert solution.integer == {"at_least": 2}
    assert [list(solution.degrees(first))[:3] for first in (1, 3, 8, 9)] == [
        [1, 2, 4],
        [4, 8, 16],
        [8, 16, 24],
        [16, 24, 32],
    ]
    assert [len(list(solution.degrees(first))) for first in (1, 8, 9)] == [131, 128, 128]
    assert [list(solution.degrees(first, up=False)) for first in (9, 7, 1)] == [
        [8, 4, 2, 1],
        [4, 2, 1],
        [1],
    ]
