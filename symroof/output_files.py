"""Output files: regular files are written atomically, symbolic links are followed, devices and FIFOs are written to directly.

That holds for paths that a person named. A name that symroof chose may lie in a folder of a stranger, who could have put a link there:
:func:`refuse_link` comes before it is written. Errors are OSErrors with the path as the caller wrote it.
"""

import errno
import os
import re
import stat
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

PREFIX = ".symroof-"
DESCRIPTORS = {"/dev/stdout": 1, "/dev/stderr": 2}
DESCRIPTOR = re.compile(r"/(?:dev|proc/self)/fd/(\d{1,6})")


def destination(path: str | os.PathLike[str]) -> Path | None:
    """The regular file that an output path means, with symbolic links resolved; it need not exist. None for a stream, which is written
    to directly: a character device, a FIFO or an open descriptor (``/dev/stdout``).

    Raises:
        OSError: it is a folder, a socket or a block device, or its links form a cycle.
    """
    goal = Path(path)
    if _descriptor(goal) is not None:
        return None
    with with_path(goal):
        try:
            mode = goal.stat().st_mode
        except FileNotFoundError:
            mode = stat.S_IFREG  # a new file, possibly the target of a link
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, "is a folder, and the output is a file")
        if stat.S_ISSOCK(mode) or stat.S_ISBLK(mode):
            kind = "socket" if stat.S_ISSOCK(mode) else "block device"
            raise OSError(errno.EINVAL, f"is a {kind}, which no output is written into")
    if stat.S_ISCHR(mode) or stat.S_ISFIFO(mode):
        return None
    return Path(os.path.realpath(goal)) if goal.is_symlink() else goal


def write_atomic(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Write a file atomically: readers see the old or the new content, and an error keeps the old one.

    Raises:
        OSError: the folder is not writable, the disk is full, the path is not a file.
    """
    data = content.encode("utf-8") if isinstance(content, str) else content
    file = destination(path)
    with with_path(path):
        if file is None:
            number = _descriptor(Path(path))
            sys.stdout.flush()
            with open(path, "wb") if number is None else os.fdopen(os.dup(number), "wb") as out:
                out.write(data)
            return
        file.parent.mkdir(parents=True, exist_ok=True)
        with replacing(file) as temporary:
            temporary.write_bytes(data)


@contextmanager
def replacing(file: Path) -> Iterator[Path]:
    """A path for the new file or folder, which takes the place of a file at the end; an error keeps the old one, and nothing else.

    A file keeps its mode.
    """
    with tempfile.TemporaryDirectory(prefix=PREFIX, dir=file.parent) as folder:
        temporary = Path(folder) / "whole"
        yield temporary
        if temporary.is_file():
            with temporary.open("rb+") as written:
                os.fsync(written.fileno())
        if file.exists():
            os.chmod(temporary, file.stat().st_mode & 0o777)
        os.replace(temporary, file)


def refuse_link(path: Path) -> None:
    """Check that a name which nobody gave is free, or that of a regular file or folder.

    Raises:
        OSError: it is a symbolic link, which could lead to any file, or a FIFO or device.
    """
    if os.path.lexists(path):
        mode = path.lstat().st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            kind = "a symbolic link" if stat.S_ISLNK(mode) else "no regular file"
            message = f"is {kind}, and only a path given with -o is written through one; remove it"
            raise OSError(errno.EINVAL, message, str(path))


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
    if destination(path) is not None and os.path.lexists(path):
        raise FileExistsError(errno.EEXIST, "exists already", str(path))
    write_atomic(path, content)


@contextmanager
def with_path(path: str | os.PathLike[str]) -> Iterator[None]:
    """Re-raise an OSError with this path instead of a temporary file's."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(path)) from error


def _descriptor(path: Path) -> int | None:
    """The descriptor of this process that a path such as ``/dev/stdout`` or ``/dev/fd/3`` names."""
    found = DESCRIPTOR.fullmatch(str(path))
    return int(found[1]) if found else DESCRIPTORS.get(str(path))
