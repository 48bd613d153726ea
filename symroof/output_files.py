"""Output files: a regular file is written whole or not at all, a symbolic link is followed, a device or FIFO is written into.

Errors are OSErrors that name the path as the caller wrote it. A temporary file is locked while its process lives, so that the
next run can tell what a killed one left behind.
"""

import contextlib
import errno
import os
import re
import stat
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

try:
    import fcntl
except ImportError:  # no such locks on this system: nothing is locked, and nothing left behind is removed
    fcntl = None  # type: ignore[assignment]

PREFIX = ".symroof-"
TEMPORARY = ".tmp"
MOST_LINKS = 40


@dataclass(frozen=True)
class Destination:
    """Where an output path leads.

    Attributes:
        path: the path as written.
        file: the regular file to replace, behind every symbolic link; it need not exist. Of a stream, the path.
        stream: whether the path is a character device, a FIFO or an open descriptor (``/dev/stdout``), which is written into.
    """

    path: Path
    file: Path
    stream: bool = False


def destination(path: str | os.PathLike[str], folder: bool = False) -> Destination:
    """Resolve an output path; the output is a file, or with ``folder`` may be one.

    Raises:
        OSError: it is a folder, a socket or a block device, or its links lead in a circle.
    """
    goal = Path(path)
    if _descriptor(goal) is not None:
        return Destination(goal, goal, stream=True)
    with named(goal):
        try:
            mode = goal.stat().st_mode
        except FileNotFoundError:
            mode = stat.S_IFREG  # a new file, possibly at the end of a link
        if stat.S_ISDIR(mode) and not folder:
            raise IsADirectoryError(errno.EISDIR, "is a folder, and the output is a file")
        if stat.S_ISSOCK(mode) or stat.S_ISBLK(mode):
            raise OSError(errno.EINVAL, f"is a {'socket' if stat.S_ISSOCK(mode) else 'block device'}, which no output is written into")
    if stat.S_ISCHR(mode) or stat.S_ISFIFO(mode):
        return Destination(goal, goal, stream=True)
    return Destination(goal, Path(os.path.realpath(goal)) if goal.is_symlink() else goal)


def write_atomic(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Write a file so that a reader sees the old one or the whole new one, and an error leaves the old one.

    Raises:
        OSError: the folder cannot be written, the disk is full, the path is no file.
    """
    data = content.encode("utf-8") if isinstance(content, str) else content
    goal = destination(path)
    with named(goal.path):
        if goal.stream:
            with open_stream(goal) as stream:
                stream.write(data)
            return
        goal.file.parent.mkdir(parents=True, exist_ok=True)
        _write_beside(goal.file, data)


def write_all(folder: Path, files: Mapping[str, str | bytes]) -> None:
    """Every file whole or not at all; figures before the text that shows them."""
    for name in sorted(files, key=lambda n: n.endswith((".md", ".tex", ".html", ".pdf"))):
        write_atomic(folder / name, files[name])


def write_new(path: str | os.PathLike[str], content: str) -> None:
    """Write a file that must not exist yet, or into a device or FIFO.

    Raises:
        FileExistsError: it does.
    """
    goal = destination(path)
    if not goal.stream and os.path.lexists(path):
        raise FileExistsError(errno.EEXIST, "exists already", str(path))
    write_atomic(path, content)


def open_stream(goal: Destination) -> BinaryIO:
    """A device, FIFO or descriptor, opened for writing; a FIFO waits for its reader."""
    number = _descriptor(goal.path)
    if number is None:
        return goal.path.open("wb")
    sys.stdout.flush()
    return os.fdopen(os.dup(number), "wb")


def replace(temporary: str | os.PathLike[str], file: Path) -> None:
    """Move a finished file over another, whose mode it takes."""
    os.chmod(temporary, _mode(file))
    os.replace(temporary, file)


@contextmanager
def named(path: str | os.PathLike[str]) -> Iterator[None]:
    """An OSError inside names this path, whatever temporary file it happened to."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(path)) from error


def hold(handle: int, path: str | os.PathLike[str]) -> bool:
    """Lock an open file until it is closed, however the process ends; False where another process holds or has removed it.

    Raises:
        OSError: the file system has no locks.
    """
    if fcntl is None:
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.path.samestat(os.fstat(handle), os.stat(path))
    except (BlockingIOError, FileNotFoundError):
        return False


def remove_abandoned(folder: Path, ending: str = TEMPORARY) -> Iterator[Path]:
    """Files of processes that ended without removing them: each is yielded while it is locked, then removed."""
    for path in folder.glob(f"{PREFIX}*{ending}") if fcntl else ():
        with contextlib.suppress(OSError):
            handle = os.open(path, os.O_RDWR | os.O_NOFOLLOW)
            try:
                if hold(handle, path):
                    yield path
                    path.unlink()
            finally:
                os.close(handle)


def _write_beside(file: Path, data: bytes) -> None:
    """Through a temporary file in the same folder."""
    for _ in remove_abandoned(file.parent):
        pass
    handle, temporary = _temporary(file.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
            if fcntl:  # while it is open it is locked; elsewhere an open file cannot be moved
                replace(temporary, file)
        if not fcntl:
            replace(temporary, file)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def _temporary(folder: Path) -> tuple[int, str]:
    """A new locked file; another where a run that clears the folder was faster than the lock."""
    while True:
        handle, path = tempfile.mkstemp(prefix=PREFIX, suffix=TEMPORARY, dir=folder)
        try:
            held = hold(handle, path)
        except OSError:
            held = True  # a file system without locks: there nothing is ever taken for abandoned either
        if held:
            return handle, path
        os.close(handle)


def _descriptor(path: Path) -> int | None:
    """The open descriptor of this process that a path such as ``/dev/stdout`` or ``/dev/fd/3`` leads to."""
    place = str(path)
    for _ in range(MOST_LINKS):
        parent, name = os.path.split(place)
        if name.isdecimal() and re.fullmatch(rf"/dev/fd|/proc/{os.getpid()}(/task/\d+)?/fd", os.path.realpath(parent)):
            return int(name)
        if not os.path.islink(place):
            break
        place = os.path.join(parent, os.readlink(place))
    return None


def _mode(file: Path) -> int:
    """The mode the file had, or the one a plain new file gets."""
    with contextlib.suppress(OSError):
        return file.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
