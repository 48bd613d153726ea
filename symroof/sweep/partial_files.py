"""The finished parts of a long sweep: in a hidden folder next to its file, so that an interrupted sweep can go on."""

import contextlib
import json
import os
import shutil
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

import numpy as np

from symroof.arrays.blocks import Array
from symroof.errors import InputError, Problem
from symroof.output_files import PREFIX, remove_abandoned, try_lock

SCHEMA = "symroof/sweep-parts/3"
DAMAGED = (zipfile.BadZipFile, ValueError, EOFError, KeyError, RuntimeError)
"""How NumPy reports an archive that is truncated or altered."""
LOCK = ".lock"
SOURCES = {
    "package": "were made by another version of symroof, or by other code of it",
    "definitions": "were computed by other formulas",
    "numbers": "were computed from other numbers or specs",
    "question": "belong to another question",
}
"""The digests of a plan, and how a resumed sweep reports the first that differs."""


class PartsFolder:
    """The folder of parts of one file; it is removed with the last part.

    A part is a NumPy archive: the count of points that do not fit, then every quantity's values of one batch of blocks, and which part of which sweep
    it is. It gets its name when it is complete; its checksums show whether it still is when a later run reads it.
    """

    def __init__(self, goal: Path) -> None:
        self.goal = goal
        self.folder = goal.parent / f"{PREFIX}{goal.name}.parts"
        self.manifest = self.folder / "manifest.json"
        self.whole = self.folder / "whole"
        self.previous = self.folder / "old"
        """The file while it is put together, and the Zarr store that it replaces."""
        self.sweep = ""
        """The digest of the manifest, as far as the folder has been opened."""

    def open(self, source: Mapping[str, str], parts: int, resume: bool) -> None:
        """Make the folder, or go on in the one that is there with ``resume``; the parts of any other sweep are removed.

        Raises:
            InputError: the parts that are there come from another source: version, code, formulas, numbers or question.
            OSError: the folder cannot be written.
        """
        self.restore()
        manifest = {"schema": SCHEMA, **source, "parts": parts}
        self.sweep = sha256(json.dumps(manifest).encode()).hexdigest()
        if resume and self.finished:
            if (fault := _difference(self._manifest(), manifest)) is not None:
                hint = "repeat the sweep that began them, or leave out --resume to start anew"
                raise InputError(
                    Problem(str(self.goal), f"the parts in {self.folder} {fault}", hint=hint)
                )
            remove(self.whole)
            return
        remove(self.folder)
        self.folder.mkdir()
        self.manifest.write_text(json.dumps(manifest), encoding="utf-8")

    def restore(self) -> None:
        """A store that a killed run had moved aside goes back to its place."""
        if self.previous.exists() and not self.goal.exists():
            self.previous.rename(self.goal)

    def _manifest(self) -> object:
        try:
            return json.loads(self.manifest.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None

    @property
    def finished(self) -> int:
        """How many parts are there."""
        return sum(1 for _ in self.folder.glob("*.part")) if self.folder.is_dir() else 0

    def save(self, number: int, unfit: int, values: Sequence[Array]) -> None:
        """Write one batch."""
        path = self._path(number)
        with path.with_suffix(".new").open("wb") as stream:
            np.savez(stream, np.array(unfit), *values, of=np.array(self._stamp(number)))
            stream.flush()
            os.fsync(stream.fileno())
        path.with_suffix(".new").replace(path)

    def unfit(self, number: int, count: int) -> int | None:
        """The count of a part's points that do not fit; None where there is no such part, or it is not the whole of ``count`` arrays, or another part."""
        with (
            contextlib.suppress(FileNotFoundError, *DAMAGED),
            self._path(number).open("rb") as stream,
            np.load(stream, allow_pickle=False) as part,
        ):
            if (
                len(part.files) == count + 2
                and part.zip.testzip() is None
                and str(part["of"]) == self._stamp(number)
            ):
                return int(part["arr_0"])
        return None

    def load(self, number: int, count: int) -> Iterator[Array]:
        """The values of one batch, block by block and quantity by quantity."""
        try:
            with (
                self._path(number).open("rb") as stream,
                np.load(stream, allow_pickle=False) as part,
            ):
                yield from (part[f"arr_{i}"] for i in range(1, count + 1))
        except DAMAGED as error:
            raise OSError(f"part {self._path(number)} is damaged ({error}); remove it") from error

    def close(self) -> None:
        """Remove everything: the file is complete, or nothing is worth keeping."""
        self.restore()
        remove(self.folder)

    def _stamp(self, number: int) -> str:
        return f"{number} of {self.sweep}"

    def _path(self, number: int) -> Path:
        return self.folder / f"{number:08d}.part"


def _difference(there: object, manifest: Mapping[str, object]) -> str | None:
    """How the manifest of the parts differs from this sweep's."""
    if not isinstance(there, dict) or there.get("schema") != SCHEMA:
        return SOURCES["package"]
    faults = (text for key, text in SOURCES.items() if there.get(key) != manifest[key])
    return next(faults, None if there == manifest else SOURCES["question"])


def remove(path: Path) -> None:
    """Remove a file, a link or a whole folder, where there is one."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


@contextmanager
def locked(goal: Path) -> Iterator[None]:
    """Lock a file for this process, and clear up what killed sweeps left in its folder: all but their finished parts.

    Raises:
        InputError: another process is writing it.
        OSError: its folder cannot be written.
    """
    for lock in remove_abandoned(goal.parent, LOCK):
        killed = PartsFolder(lock.with_name(lock.name.removeprefix(PREFIX).removesuffix(LOCK)))
        if not killed.finished:
            killed.close()
    path = goal.parent / f"{PREFIX}{goal.name}{LOCK}"
    never_a_link = getattr(os, "O_NOFOLLOW", 0)  # Windows has no such flag
    handle = os.open(path, os.O_CREAT | os.O_RDWR | never_a_link, 0o600)
    try:
        try:
            locked_here = try_lock(handle, path)
        except OSError:  # a file system without locks
            locked_here = True
        if not locked_here:
            raise InputError(
                Problem(
                    str(goal),
                    "another sweep is writing this file",
                    hint="wait for it, or name another file",
                )
            )
        try:
            yield
        finally:
            with contextlib.suppress(OSError):
                path.unlink()
    finally:
        os.close(handle)
