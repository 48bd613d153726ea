"""One writer at a time: two sweeps into one file would take each other's parts away."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from symroof.errors import InputError, Problem

try:
    import fcntl
except ImportError:  # a system without such locks: nobody is kept out there
    fcntl = None  # type: ignore[assignment]


@contextmanager
def alone(goal: Path) -> Iterator[None]:
    """Hold the goal for this process; the system lets go of it however the process ends.

    Raises:
        InputError: another process is writing it.
        OSError: its folder cannot be written.
    """
    path = goal.parent / f".symroof-{goal.name}.lock"
    handle = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
    try:
        _hold(handle, path, goal)
        try:
            yield
        finally:
            with contextlib.suppress(OSError):
                path.unlink()
    finally:
        os.close(handle)


def _hold(handle: int, path: Path, goal: Path) -> None:
    if fcntl is None:
        return
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        held = _same(handle, path)  # whoever held it before may have removed it in between
    except OSError:
        held = False
    if not held:
        raise InputError(Problem(str(goal), "another sweep is writing this file", hint="wait for it, or name another file"))


def _same(handle: int, path: Path) -> bool:
    """Whether the file that is open is still the one at the path."""
    try:
        return os.path.samestat(os.fstat(handle), path.stat())
    except FileNotFoundError:
        return False
