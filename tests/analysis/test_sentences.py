"""What is said of a solved equation: the words of the answer, the sentence, the whole number, all by hand from equations that a reader solves at a glance."""

from fractions import Fraction

import pytest

from symroof.analysis.equation import to_whole
from symroof.analysis.solution import remarks
from symroof.api import Study


@pytest.fixture(scope="module")
def gpt2():
    return Study("gpt2", "h100-sxm", engine="ideal", prompt=100, output=20, mem_capacity="80 GB")


# 248,879,616 bytes of weights over 100 tokens of 36,864 bytes: 67.5
# (80 GB - weights)/(119 tokens at the end): 18,179.6
# equation | unknown | answer | sentence | fits
SAID = """
kv_cache_bytes = weight_bytes | batch | at least 68 requests | | True
max_batch_memory | | at most 18,179 requests | the largest batch that fits in memory | True
kv_cache_bytes = 100 GB | batch | at least 27,127 requests | | False
kv_cache_bytes = 1 GB | kv_bytes_per_element | 542.5 bytes | | None
"""


@pytest.mark.parametrize("row", SAID.strip().splitlines())
def test_what_is_said_of_a_model(row, gpt2):
    equation, unknown, answer, sentence, fits = (cell.strip() for cell in row.split("|"))
    solution = gpt2.solve(equation, unknown or None)
    left, _, right = equation.partition(" = ")
    sides = f"{left} is below {right} before this value and above it after"
    assert (solution.shown(), solution.reason) == (answer, sentence or sides)
    assert str(solution.within_memory) == fits
    written = remarks(solution)
    assert ("fits in memory at this value" in written) is (fits == "True")
    assert ("does not fit in memory at this value" in written) is (fits == "False")


def test_beyond_the_context_of_the_model(gpt2):
    reason = gpt2.solve("kv_cache_bytes = weight_bytes", "context").reason
    assert reason.endswith("; beyond GPT-2 124M's maximum context of 1,024 tokens")
    with pytest.raises(Exception, match="does not occur|depend"):
        gpt2.solve("kv_cache_bytes = 1 byte", "mem_bandwidth")


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("value", "last", "first"),
    [
        (Fraction(7, 2), 3, 4),
        (4 + Fraction(1, 10**10), 4, 5),
        (4 - Fraction(1, 10**13), 4, 4),
        (4 + Fraction(1, 10**13), 4, 4),
    ],
)
def test_a_crossing_as_a_whole_number(value, last, first):
    """Down for a limit, up for what is to be reached; what floats cannot tell from a whole number is that number."""
    assert (to_whole(value, "limit"), to_whole(value, "reach")) == (last, first)


def test_sides_that_only_whole_numbers_have():
    """1 + 2 + … + 10 = 55."""
    plain, total = Study(prompt=100, output=20), "sum(step, step, 1, output)"
    reason = f"{total} is below 55 before this value and above it after"
    assert plain.solve(f"{total} = 55", "output").reason == reason
    assert plain.solve(f"{total} = 54", "output").integer == {"at_least": 10}
    assert plain.solve(f"{total} = 56", "output").integer == {"at_least": 11}
    never = plain.solve("cached_prefix = 2*prompt", "cached_prefix").reason
    assert never.startswith("cached_prefix stays below 2*prompt for every cached_prefix")


@pytest.mark.parametrize(("prompt", "devices"), [(4096, 2), (500_000, 4), (1_000_000, 8)])
def test_numbers_of_devices_share_out_heads(prompt, devices):
    """Of eight heads of the cache: 1, 2, 4 and the multiples of eight."""
    study = Study("llama-3-70b", "h100-sxm", engine="ideal", prompt=prompt)
    assert study.solve("min_devices_memory").integer == {"at_least": devices}
