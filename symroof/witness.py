"""What was looked at on disk while an answer was worked out: whoever keeps the answer learns from it whether it still holds.

Whatever opens a file of the user, or asks whether there is one, says so here. A file that was not there counts too: if it
comes, a name may lead to it.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TypeAlias

Path: TypeAlias = "str | os.PathLike[str]"

ABSENT, FOLDER, THERE = "absent", "folder", "there"
LARGEST = 4_000_000
"""Bytes of the largest file that is compared by content; nothing that reads specs takes a larger one."""


class Witness:
    """The paths that were looked at, each with what was found there.

    Attributes:
        seen: by absolute path ``absent``, ``folder``, ``there``, or a digest of the content.
        whole: whether that is all; off once something was read that is too large to compare, or where this process had
            looked at files before: what it read then it may remember.
    """

    def __init__(self, whole: bool = True) -> None:
        self.seen: dict[str, str] = {}
        self.whole = whole

    def holds(self) -> bool:
        """Whether everything is still as it was seen."""
        return self.whole and unchanged(self.seen)


class _Watch:
    """Who watches in this process, and whether anything was looked at before."""

    witness: Witness | None = None
    late = False


@contextmanager
def watching() -> Iterator[Witness]:
    """Collect what is looked at inside.

    >>> with watching() as witness:
    ...     looked_at("/no/such/file")
    >>> list(witness.seen.values())
    ['absent']
    """
    before, witness = _Watch.witness, Witness(not _Watch.late)
    _Watch.witness = witness
    try:
        yield witness
    finally:
        _Watch.witness, _Watch.late = before, True


def looked_at(path: Path) -> None:
    """Somebody asks whether something is at a path, and of what kind."""
    if _Watch.witness is None:
        _Watch.late = True
        return
    key = _absolute(path)
    _Watch.witness.seen.setdefault(key, _kind(key))


def was_read(path: Path, content: bytes | None) -> None:
    """Somebody read a file: its content as it was read, or None where it was not read whole."""
    if _Watch.witness is None:
        _Watch.late = True
    elif content is None:
        _Watch.witness.whole = False
    else:
        key = _absolute(path)
        _Watch.witness.seen[key] = _digest(key, content)


def unchanged(seen: Mapping[str, str]) -> bool:
    """Whether every path is as it was seen."""
    return all(_state(path, found) == found for path, found in seen.items())


def _state(path: str, like: str) -> str:
    """What is at a path now, told as finely as it was seen before."""
    if like in (ABSENT, FOLDER, THERE):
        return _kind(path)
    try:
        if not os.path.isfile(path):
            return _kind(path)
        with open(path, "rb") as handle:
            return _digest(path, handle.read(LARGEST + 1))
    except (OSError, ValueError):
        return ABSENT


def _absolute(path: Path) -> str:
    """A path that does not depend on the working directory; ``..`` stays, as a link before it decides where it leads."""
    return os.path.join(os.getcwd(), os.fspath(path))


def _kind(path: str) -> str:
    try:
        return FOLDER if os.path.isdir(path) else THERE if os.path.exists(path) else ABSENT
    except (OSError, ValueError):  # a name that no file can have
        return ABSENT


def _digest(path: str, content: bytes) -> str:
    """The content, and where links lead: paths inside the file start from there."""
    return f"{hashlib.sha256(content).hexdigest()} {os.path.realpath(path)}"
