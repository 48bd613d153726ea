"""The first lines say what a command did with what it was given, and what it was not."""

import pytest

from tests.cli import call, refused

LLAMA = ("--model", "llama-3.1-8b", "--hardware", "h100-sxm")


def test_a_command_for_one_case_says_which_of_several_it_takes():
    assert (
        "several cases given; deriving for the first of 2"
        in call("derive", "itl", *LLAMA, "--prompt", "2048", "--tp", "8", "--tp", "1").err
    )


@pytest.mark.parametrize(
    "line",
    [
        ("--over", "prompt=1,2000", "--set", "cached_prefix=999"),
        ("--over", "cached_prefix=0,999", "--prompt", "1"),
        ("--over", "prompt=1:9", "--over", "cached_prefix=1:9"),
    ],
)
def test_no_point_of_a_grid_has_more_of_a_prompt_cached_than_it_is_long(line):
    assert "of the prompt they are a part of" in refused("sweep", *LLAMA, *line)
