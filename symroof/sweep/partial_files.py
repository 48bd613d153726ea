"""The blocks of a long sweep while it is on the way: in a hidden folder beside the goal, so that an interrupted one can go on."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from symroof.errors import InputError, Problem
from symroof.sweep.grid_blocks import Array

SCHEMA = "symroof/sweep-parts/1"


class Parts:
    """The folder of one goal; it goes when the goal is whole, or when it holds nothing worth keeping.

    A part is the count of points that do not fit, then every quantity's values of one batch of blocks, as NumPy writes arrays. It is
    moved to its name when it is whole, so a part that is there is whole.
    """

    def __init__(self, goal: Path) -> None:
        self.goal = goal
        self.folder = goal.parent / f".symroof-{goal.name}.parts"
        self.manifest = self.folder / "manifest.json"

    def open(self, digest: str, parts: int, resume: bool) -> None:
        """Make the folder, or with ``resume`` go on in the one that is there; what is left of anything else goes.

        Raises:
            InputError: what is there belongs to another question.
            OSError: the folder cannot be written.
        """
        wanted = {"schema": SCHEMA, "digest": digest, "parts": parts}
        if resume and self.folder.is_dir():
            if self._said() != wanted:
                raise InputError(
                    Problem(
                        str(self.goal), f"what is kept in {self.folder} is of another question", hint="ask the same one, or leave out --resume to start anew"
                    )
                )
            self.discard()
            return
        _remove(self.folder)
        self.folder.mkdir()
        self.manifest.write_text(json.dumps(wanted), encoding="utf-8")

    def _said(self) -> object:
        try:
            return json.loads(self.manifest.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None

    @property
    def kept(self) -> int:
        """Parts that are there."""
        return sum(1 for _ in self.folder.glob("*.part")) if self.folder.is_dir() else 0

    @property
    def whole(self) -> Path:
        """Where the goal is put together before it is moved to its name."""
        return self.folder / f"whole{self.goal.suffix}"

    def save(self, number: int, unfit: int, values: Sequence[Array]) -> None:
        """Keep one batch."""
        path = self._path(number)
        with path.with_suffix(".new").open("wb") as stream:
            for array in (np.array(unfit), *values):
                np.save(stream, array, allow_pickle=False)
            stream.flush()
            os.fsync(stream.fileno())
        path.with_suffix(".new").replace(path)

    def unfit(self, number: int) -> int | None:
        """The count of a part's points that do not fit; None where there is no such part."""
        with contextlib.suppress(FileNotFoundError), self._path(number).open("rb") as stream:
            return int(np.load(stream, allow_pickle=False))
        return None

    def load(self, number: int, count: int) -> Iterator[Array]:
        """The values of one batch, block by block and quantity by quantity."""
        with self._path(number).open("rb") as stream:
            np.load(stream, allow_pickle=False)
            for _ in range(count):
                yield np.load(stream, allow_pickle=False)

    def discard(self) -> None:
        """The goal as far as it was put together goes; the parts stay."""
        _remove(self.whole)

    def close(self) -> None:
        """Everything is done, or nothing is worth keeping."""
        _remove(self.folder)

    def _path(self, number: int) -> Path:
        return self.folder / f"{number:08d}.part"


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    elif path.exists() or path.is_symlink():
        path.unlink()
