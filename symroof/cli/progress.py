"""How far a long command is, on a terminal and nowhere else."""

from __future__ import annotations

import sys
import time
from types import TracebackType

FIRST, EVERY = 1.0, 0.1
"""Seconds before anything is shown, and between two showings."""
CLEAR = "\r\x1b[K"


class Progress:
    """``checking 12 of 307`` on standard error, once a command takes its time; gone when it is done.

    Called with what is done and what there is to do; silent where standard error is no terminal.
    """

    def __init__(self, doing: str) -> None:
        self.doing = doing
        self.next = time.monotonic() + FIRST
        self.shown = False

    def __call__(self, done: int, total: int) -> None:
        if time.monotonic() < self.next or not sys.stderr.isatty():
            return
        self.next, self.shown = time.monotonic() + EVERY, True
        sys.stderr.write(f"{CLEAR}{self.doing} {done:,} of {total:,}")
        sys.stderr.flush()

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self.shown:
            sys.stderr.write(CLEAR)
            sys.stderr.flush()
