"""What surrounds a command: streams that are closed, a disk that is full, Ctrl-C while modules are still imported."""

from __future__ import annotations

from hypothesis import strategies as st

from ..attempt import Attempt

CASE = ("--model", "gpt2", "--hardware", "l4", "--prompt", "64", "--output", "8")
COMMANDS = (
    ("list", "models"), ("eval", *CASE), ("eval", *CASE, "--json"), ("derive", "itl", *CASE), ("solve", "batch_to_ridge", *CASE), ("check", "n.md"), ("plot", "itl", *CASE, "-o", "-"),
    ("report", *CASE, "--no-plots", "-o", "-", "--format", "md"), ("nosuch",), ("--help",), ("--version",), ("eval", "--model", "nosuch"), ("validate", "nosuch.yaml"),
    ("sweep", *CASE, "--over", "batch=1:3", "-q", "itl"), ("init", "study"), ("schema", "study"), ("show", "gpt2"), ("check", "n.md", "--format", "github"), (),
)  # fmt: skip
NOTE = {"n.md": b"It takes 2 GB. <!-- symroof: weight_bytes model=gpt2 -->\n"}


def attempts() -> st.SearchStrategy[Attempt]:
    command = st.sampled_from(COMMANDS)
    closed = st.sampled_from(
        (
            ("stdout",),
            ("stderr",),
            ("stdout", "stderr"),
            ("full",),
            ("stdin",),
            ("stdin", "stdout", "stderr"),
            ("full", "stderr"),
        )
    )
    streams = st.tuples(command, closed).map(lambda t: Attempt(t[0], NOTE, t[1]))
    interrupted = st.tuples(command, st.integers(1, 400)).map(
        lambda t: Attempt(t[0], NOTE, interrupt_at=t[1])
    )
    return st.one_of(streams, streams, streams, interrupted)
