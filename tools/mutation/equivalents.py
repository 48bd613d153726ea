"""The faults that are none: what they change cannot be seen, and the argument why."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import yaml

from .areas import Fault

FILE = Path(__file__).with_name("equivalents.yaml")


@dataclass(frozen=True)
class Equivalent:
    """A fault by its file, the text of its line and its edit: a line's number changes too often."""

    file: str
    line: str
    edit: str
    why: str

    def is_of(self, fault: Fault) -> bool:
        return (self.file, self.line, self.edit) == (fault.path, fault.text, fault.edit)


def equivalents(path: Path = FILE) -> list[Equivalent]:
    """The entries of the file."""
    return [Equivalent(**entry) for entry in yaml.safe_load(path.read_text(encoding="utf-8"))]
