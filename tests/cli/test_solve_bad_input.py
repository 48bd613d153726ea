"""What ``symroof solve`` is not to be asked: exit code 2, one clear line with a place or a hint, quickly, and nothing else.

Every question is asked twice, about a case and about none. What is odd but legitimate gets an answer that says so.
"""

import signal

import pytest

from . import call, process, processor_seconds

CASE = (
    "--model", "llama-3-70b", "--hardware", "h100-sxm", "--tp", "2", "--prompt", "4096",
    "--output", "512",
)  # fmt: skip
SOON = 2.0
"""Seconds of processor time within which every question is answered or refused, the start of Python included."""

REFUSED = {
    # name: (arguments, what the message must hold)
    "unknown name": (["ttft = itll", "--for", "prompt"], ["itll", "did you mean 'itl'"]),
    "unknown name at a change": (["itl(contxt = 5) = 1 s", "--for", "batch"], ["contxt", "did you mean 'context'"]),
    "dimensions": (["ttft = batch", "--for", "prompt"], ["ttft is s", "batch"]),
    "a long formula": (["itl = " + "itl + " * 1700 + "itl", "--for", "batch"], ["4096 characters"]),
    "a power tower": (["9**9**9 = batch", "--for", "batch"], ["equation:1:", "exponents"]),
    "parentheses": (["(" * 200 + "batch" + ")" * 200 + " = 3", "--for", "batch"], ["nested more than 64 deep"]),
    "an unclosed parenthesis": (["max(itl = 3 s", "--for", "batch"], ["equation:1:"]),
    "no equation": (["itl", "--for", "batch"], ["not of the form"]),
    "unknown unit": (["itl = 3 parsec", "--for", "batch"], ["parsec", "equation:1:"]),
    "no unknown": (["itl = 50 ms"], ["--for"]),
    "an unknown that is nothing": (["itl = 50 ms", "--for", "batchh"], ["batchh", "did you mean 'batch'"]),
    "an unknown that is a formula": (["itl = 50 ms", "--for", "batch*2"], ["batch*2"]),
    "a label": (["decode_bound = 3", "--for", "batch"], ["decode_bound"]),
    "division by zero": (["itl/0 = 3 s", "--for", "batch"], ["division by zero"]),
    "Python": (['__import__("os") = 3', "--for", "batch"], ["equation:1:1:"]),
    "control characters": (["itl\x07 = \x1b[31m3 s", "--for", "batch"], ["equation:1:4:"]),
    "too large a number": (["1e400 = batch", "--for", "batch"], ["out of range", "equation:1:1:"]),
    "an unknown function": (["sinh(batch) = 3", "--for", "batch"], ["sinh", "there are"]),
}  # fmt: skip

ENDLESS = ["an unknown power of powers", "a power of powers", "a huge whole number"]
"""Those that may hang: asked in a process of their own."""


@pytest.fixture(autouse=True)
def bounded():
    """What hangs is interrupted, so that it fails here and not the whole run."""
    if not hasattr(signal, "SIGPROF"):
        yield
        return

    def stop(*_):
        raise TimeoutError("still working after five seconds of processor time")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, 5)
    yield
    signal.setitimer(signal.ITIMER_PROF, 0)
    signal.signal(signal.SIGPROF, before)


def refusal(arguments, alone):
    """The message of a refused question on standard error, and the processor time that it took."""
    started = processor_seconds()
    if alone:
        done = process("solve", *arguments)
        code, out, err = done.returncode, done.stdout, done.stderr
    else:
        outcome = call("solve", *arguments)
        code, out, err = outcome.code, outcome.out, outcome.err
    took = processor_seconds() - started
    assert (code, out) == (2, ""), (code, out[:300], err[:300])
    return err, took


@pytest.mark.sample(18)
@pytest.mark.parametrize("case", [CASE, ()], ids=["with numbers", "without"])
@pytest.mark.parametrize("name", REFUSED)
def test_a_question_that_cannot_be_asked(name, case):
    arguments, words = REFUSED[name]
    if name == "a study that is not there" and not case:
        pytest.skip("asked once")
    message, took = refusal([*arguments, *case], name in ENDLESS)
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
    answer = call(
        "solve", equation, "--for", "prompt" if "ttft" in equation else "batch", "--json", *case
    )
    assert answer.code == 0, answer.err
    assert (
        answer.json["verdict"],
        answer.json["value"],
        answer.json["values"],
        answer.json["integer"],
    ) == ("identical", None, [], None)
