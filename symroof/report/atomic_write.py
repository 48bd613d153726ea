"""Files written whole or not at all: to a temporary name beside the goal, flushed, then moved over it."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

PREFIX = ".symroof-"


def write_atomic(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Write a file so that a reader sees the old one or the whole new one, and an error leaves the old one.

    Raises:
        OSError: the folder cannot be written, the disk is full.
    """
    goal = Path(path)
    goal.parent.mkdir(parents=True, exist_ok=True)
    data = content.encode("utf-8") if isinstance(content, str) else content
    handle, temporary = tempfile.mkstemp(prefix=PREFIX, dir=goal.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(temporary, _mode(goal))
        os.replace(temporary, goal)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def write_all(folder: Path, files: Mapping[str, str | bytes]) -> None:
    """Every file whole or not at all; figures before the text that shows them."""
    for name in sorted(files, key=lambda n: n.endswith((".md", ".tex", ".html", ".pdf"))):
        write_atomic(folder / name, files[name])


def write_new(path: str | os.PathLike[str], content: str) -> None:
    """Write a file that must not exist yet.

    Raises:
        FileExistsError: it does.
    """
    if Path(path).exists():
        raise FileExistsError(str(path))
    write_atomic(path, content)


def _mode(goal: Path) -> int:
    """The mode the file had, or the one a plain new file gets."""
    with contextlib.suppress(OSError):
        return goal.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
