"""How far an input of a passing configuration may rise, against the case itself at that value and at the next."""

import pytest

from symroof.api import Study
from symroof.select.headroom import FURTHEST, headrooms
from symroof.select.selection import select

CASE = {
    "model": "llama-3-8b",
    "hardware": "h100-sxm",
    "output": 64,
    "chunk": 2048,
    "memory_share": 0.92,
    "efficiency": "peak",
}


def run(targets, **more):
    return select(**CASE, **more, targets=targets).configurations[0].run


@pytest.mark.parametrize(
    ("targets", "batch", "breaks"),
    [
        ({"itl": 0.03}, 24, ("itl",)),
        ({"ttft": 0.5, "itl": 9.0}, 4, ("ttft",)),
        ({"itl": 0.1}, 24, ("itl",)),
    ],
)
def test_the_longest_prompt_passes_and_one_token_more_does_not(targets, batch, breaks):
    """At long prompts fewer requests decode than the batch: as many as fit."""
    last = headrooms(run(targets, prompt=2048, batch=batch), ["prompt"])[0]
    assert last.breaks == breaks and last.value == int(last.value)

    def met(prompt):
        fitting = int(Study(**CASE, prompt=prompt).value("concurrency"))
        made = Study(**CASE, prompt=prompt, batch=max(min(batch, fitting), 1))
        return all(
            made.value({"itl": "sustained_itl", "ttft": "loaded_ttft"}[name]) <= limit
            for name, limit in targets.items()
        ) and made.value("fits")

    assert met(int(last.value)) and not met(int(last.value) + 1)


def test_what_nothing_breaks_is_followed_to_the_end():
    """Half a million times the time that any of it takes: the prompt is followed 4,096 times its value, and fewer requests decode where fewer fit."""
    last = headrooms(run({"itl": 1000.0, "ttft": 100_000.0}, prompt=8, batch=2), ["prompt"])[0]
    assert (last.value, last.breaks) == (8 * FURTHEST, ())


def test_what_does_not_pass_or_has_no_value_bears_nothing():
    passing = run({"itl": 0.03}, prompt=2048, batch=24)
    assert headrooms(passing, ["arrival_rate"])[0] is None
    assert headrooms(run({"itl": 0.001}, prompt=2048, batch=24), ["prompt"])[0] is None
