"""Output files: regular files are written atomically, symbolic links are followed, devices and FIFOs are written to directly.

That holds for paths that a person named. A name that symroof chose may lie in a folder of a stranger, who could have put a link there:
:func:`refuse_link` comes before it is written.

Errors are OSErrors with the path as the caller wrote it. A temporary file is locked while its process lives, so that later runs
can recognise and remove the files of killed processes.
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
except ImportError:  # no locks on this system: abandoned files are not removed
    fcntl = None  # type: ignore[assignment]

PREFIX = ".symroof-"
TEMPORARY = ".tmp"
MOST_LINKS = 40


@dataclass(frozen=True)
class Destination:
    """A resolved output path.

    Attributes:
        path: the path as written.
        file: the regular file to replace, with symbolic links resolved; it need not exist. For a stream, the path.
        stream: whether it is a character device, a FIFO or an open descriptor (``/dev/stdout``), which is written to directly.
    """

    path: Path
    file: Path
    stream: bool = False


def destination(path: str | os.PathLike[str], folder: bool = False) -> Destination:
    """Resolve an output path; with ``folder`` it may be a folder.

    Raises:
        OSError: it is a folder, a socket or a block device, or its links form a cycle.
    """
    goal = Path(path)
    if _descriptor(goal) is not None:
        return Destination(goal, goal, stream=True)
    with with_path(goal):
        try:
            mode = goal.stat().st_mode
        except FileNotFoundError:
            mode = stat.S_IFREG  # a new file, possibly the target of a link
        if stat.S_ISDIR(mode) and not folder:
            raise IsADirectoryError(errno.EISDIR, "is a folder, and the output is a file")
        if stat.S_ISSOCK(mode) or stat.S_ISBLK(mode):
            raise OSError(
                errno.EINVAL,
                f"is a {'socket' if stat.S_ISSOCK(mode) else 'block device'}, which no output is written into",
            )
    if stat.S_ISCHR(mode) or stat.S_ISFIFO(mode):
        return Destination(goal, goal, stream=True)
    return Destination(goal, Path(os.path.realpath(goal)) if goal.is_symlink() else goal)


def write_atomic(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Write a file atomically: readers see the old or the new content, and an error keeps the old one.

    Raises:
        OSError: the folder is not writable, the disk is full, the path is not a file.
    """
    data = content.encode("utf-8") if isinstance(content, str) else content
    goal = destination(path)
    with with_path(goal.path):
        if goal.stream:
            with open_stream(goal) as stream:
                stream.write(data)
            return
        goal.file.parent.mkdir(parents=True, exist_ok=True)
        _write_beside(goal.file, data)


def refuse_link(path: Path) -> None:
    """Check that a name which nobody gave is free, or that of a regular file or folder.

    Raises:
        OSError: it is a symbolic link, which could lead to any file, or a FIFO or device.
    """
    if os.path.lexists(path):
        mode = path.lstat().st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            kind = "a symbolic link" if stat.S_ISLNK(mode) else "no regular file"
            raise OSError(
                errno.EINVAL,
                f"is {kind}, and only a path given with -o is written through one; remove it",
                str(path),
            )


def write_all(folder: Path, files: Mapping[str, str | bytes]) -> None:
    """Write each file atomically; figures before the text that refers to them.

    Raises:
        OSError: a file's name is taken by a symbolic link, or it cannot be written.
    """
    for name in files:
        refuse_link(folder / name)
    for name in sorted(files, key=lambda n: n.endswith((".md", ".tex", ".html", ".pdf"))):
        write_atomic(folder / name, files[name])


def write_new(path: str | os.PathLike[str], content: str) -> None:
    """Write a file, or a device or FIFO.

    Raises:
        FileExistsError: the file exists already.
    """
    goal = destination(path)
    if not goal.stream and os.path.lexists(path):
        raise FileExistsError(errno.EEXIST, "exists already", str(path))
    write_atomic(path, content)


def open_stream(goal: Destination) -> BinaryIO:
    """Open a device, FIFO or descriptor for writing; a FIFO waits for its reader."""
    number = _descriptor(goal.path)
    if number is None:
        return goal.path.open("wb")
    sys.stdout.flush()
    return os.fdopen(os.dup(number), "wb")


def replace(temporary: str | os.PathLike[str], file: Path) -> None:
    """Replace a file and keep its mode."""
    os.chmod(temporary, _mode(file))
    os.replace(temporary, file)


@contextmanager
def with_path(path: str | os.PathLike[str]) -> Iterator[None]:
    """Re-raise an OSError with this path instead of a temporary file's."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(path)) from error


def _try_lock(handle: int, path: str | os.PathLike[str]) -> bool:
    """Lock an open file until it is closed or the process ends; False if another process has locked or removed it.

    Raises:
        OSError: the file system does not support locks.
    """
    if fcntl is None:
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.path.samestat(os.fstat(handle), os.stat(path))
    except (BlockingIOError, FileNotFoundError):
        return False


def _remove_abandoned(folder: Path) -> None:
    """Remove temporary files of ended processes."""
    for path in folder.glob(f"{PREFIX}*{TEMPORARY}") if fcntl else ():
        with contextlib.suppress(OSError):
            handle = os.open(path, os.O_RDWR | os.O_NOFOLLOW)
            try:
                if _try_lock(handle, path):
                    path.unlink()
            finally:
                os.close(handle)


def _write_beside(file: Path, data: bytes) -> None:
    """Write through a temporary file in the same folder."""
    _remove_abandoned(file.parent)
    handle, temporary = _temporary(file.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
            if fcntl:  # still open, so still locked; other systems cannot move an open file
                replace(temporary, file)
        if not fcntl:
            replace(temporary, file)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def _temporary(folder: Path) -> tuple[int, str]:
    """Create a locked temporary file; retries if another run removes it before it is locked."""
    while True:
        handle, path = tempfile.mkstemp(prefix=PREFIX, suffix=TEMPORARY, dir=folder)
        try:
            held = _try_lock(handle, path)
        except OSError:
            held = True  # no locks on this file system, so nothing is ever considered abandoned
        if held:
            return handle, path
        os.close(handle)


def _descriptor(path: Path) -> int | None:
    """The descriptor of this process that a path such as ``/dev/stdout`` or ``/dev/fd/3`` refers to."""
    place = str(path)
    for _ in range(MOST_LINKS):
        parent, name = os.path.split(place)
        if name.isdecimal() and re.fullmatch(
            rf"/dev/fd|/proc/{os.getpid()}(/task/\d+)?/fd", os.path.realpath(parent)
        ):
            return int(name)
        if not os.path.islink(place):
            break
        place = os.path.join(parent, os.readlink(place))
    return None


def _mode(file: Path) -> int:
    """The mode of the file, or that of a new file."""
    with contextlib.suppress(OSError):
        return file.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
