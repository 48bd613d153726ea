"""What ``symroof solve`` is not to be asked: exit code 2, one clear line with a place or a hint, quickly, and nothing else.

Every question is asked twice, about a case and about none. What is odd but legitimate gets an answer that says so.
"""

import pytest

from tests.symbolic.conftest import bounded  # noqa: F401

from ..tables import words
from . import call, processor_seconds

CASE = words("--model llama-3-70b --hardware h100-sxm --tp 2 --prompt 4096 --output 512")
SOON = 2.0
"""Seconds of processor time within which every question is answered or refused, the start of Python included."""

REFUSED = {
    # name: (arguments, what the message must hold)
    "unknown name": (["ttft = itll", "--for", "prompt"], ["itll", "did you mean 'itl'"]),
    "dimensions": (["ttft = batch", "--for", "prompt"], ["ttft is s", "batch"]),
    "a power tower": (["9**9**9 = batch", "--for", "batch"], ["equation:1:", "exponents"]),
    "no equation": (["itl", "--for", "batch"], ["not of the form"]),
    "no unknown": (["itl = 50 ms"], ["--for"]),
    "an unknown that is a formula": (["itl = 50 ms", "--for", "batch*2"], ["batch*2"]),
    "Python": (['__import__("os") = 3', "--for", "batch"], ["equation:1:1:"]),
    "control characters": (["itl\x07 = \x1b[31m3 s", "--for", "batch"], ["equation:1:4:"]),
}


@pytest.mark.usefixtures("bounded")
@pytest.mark.sample(8)
@pytest.mark.parametrize("case", [CASE, ()], ids=["with numbers", "without"])
@pytest.mark.parametrize("name", REFUSED)
def test_a_question_that_cannot_be_asked(name, case):
    arguments, words = REFUSED[name]
    started = processor_seconds()
    outcome = call("solve", *arguments, *case)
    took, message = processor_seconds() - started, outcome.err
    assert (outcome.code, outcome.out) == (2, ""), (outcome.code, outcome.out[:300], message[:300])
    assert took < SOON
    assert "Traceback" not in message
    for word in words:
        assert word in message, message
    assert message.count("\n") <= 5, f"one message, a line, a caret, a hint:\n{message}"
    assert max(map(len, message.splitlines())) <= 300, (
        "a message is not as long as what somebody pasted"
    )
    assert not {c for c in message if ord(c) < 32 and c != "\n"} and "\x7f" not in message, (
        "what was pasted does not reach the terminal raw"
    )


TRUE_EVERYWHERE = [
    "itl = itl",
    "2*itl = itl + itl",
    "ttft - time_outside_steps = prefill_time + prefill_overhead",
    "itl*3/3 = itl",
    "max(itl, itl) = itl",
    "decode_throughput*itl = batch",
]


@pytest.mark.sample(5)
@pytest.mark.parametrize("case", [CASE, ()], ids=["with numbers", "without"])
@pytest.mark.parametrize("equation", TRUE_EVERYWHERE)
def test_an_equation_true_everywhere_is_identical(equation, case):
    unknown = "prompt" if "ttft" in equation else "batch"
    answer = call("solve", equation, "--for", unknown, "--json", *case)
    assert answer.code == 0, answer.err
    found = [answer.json[name] for name in ("verdict", "value", "values", "integer")]
    assert found == ["identical", None, [], None]
