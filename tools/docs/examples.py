"""The shell examples of the README and of the pages under ``docs/``, run. ``python -m tools.docs`` writes their outputs again.

A block marked ``console`` holds commands after ``$`` and their output at 100 columns; a last line ``...`` leaves the rest out (``... 9`` on a page
that is being written: after nine lines). Commands of a block marked ``sh`` are run as well; those of a block
marked ``shell`` take too long for that. A block with a caption is a file that the commands after it read.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from symroof.cli.main import main
from tools.docs import ROOT

SECTIONS = ("start", "tutorials", "how-to", "concepts", "reference")
BLOCK = re.compile(r"^```(?P<kind>[^\n]*)\n(?P<body>.*?)^```$", flags=re.DOTALL | re.MULTILINE)
CAPTION = re.compile(r"^:caption: (\S+)\n+", flags=re.MULTILINE)
EXIT = re.compile(r"# exit code (\d+)")
TERMINAL = {"COLUMNS": "100", "NO_COLOR": "1"}
REST = re.compile(r"^\.\.\. ?(\d*)\n\Z", flags=re.MULTILINE)
"""The line that leaves the rest out; a number after it is that of the lines to show, for a page that is being written."""


@dataclass(frozen=True)
class Example:
    """A command of a page, the output shown with it or None, and the exit code that it says."""

    command: str
    shown: str | None

    @property
    def code(self) -> int:
        said = EXIT.search(self.command)
        return int(said[1]) if said else 0


@dataclass(frozen=True)
class File:
    """A file that a page shows."""

    name: str
    text: str


def pages() -> list[Path]:
    """The README and every page that was written by hand."""
    docs = ROOT / "docs"
    written = [path for section in SECTIONS for path in sorted((docs / section).glob("*.md"))]
    return [ROOT / "README.md", docs / "index.md", docs / "gallery.md", docs / "faq.md", *written]


def parts(text: str) -> Iterator[Example | File]:
    """The examples and files of a page, in order."""
    for block in BLOCK.finditer(text):
        kind, body = block["kind"].strip(), block["body"]
        if kind == "console":
            for command, shown in re.findall(
                r"^\$ ((?:.*\\\n)*.+)\n((?:(?!\$ ).*\n)*)", body, flags=re.MULTILINE
            ):
                yield Example(command, shown)
        elif kind == "sh":
            yield from (
                Example(command, None)
                for command in re.findall(r"^(symroof (?:.*\\\n)*.+)$", body, flags=re.MULTILINE)
            )
        elif caption := CAPTION.search(body):
            yield File(caption[1], CAPTION.sub("", body))


def run(command: str) -> tuple[int, str]:
    """Exit code and output, both streams as a terminal shows them, of a command in the current folder."""
    out, words = io.StringIO(), shlex.split(command.replace("\\\n", " "), comments=True)
    captured = contextlib.redirect_stdout(out), contextlib.redirect_stderr(out)
    with mock.patch.dict(os.environ, TERMINAL), captured[0], captured[1]:
        code = main(words[1:])
    return code, "".join(f"{line.rstrip()}\n" for line in out.getvalue().splitlines())


def cut(output: str, shown: str) -> str:
    """An output as far as a page shows it."""
    if not (rest := REST.search(shown)):
        return output
    lines = output.splitlines(keepends=True)
    return "".join(lines[: int(rest[1] or len(shown.splitlines()) - 1)]) + "...\n"


@contextlib.contextmanager
def checkout() -> Iterator[Path]:
    """A folder like a clone of the repository, where commands may write."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for entry in ("specs", "docs", "tests"):
            (folder / entry).symlink_to(ROOT / entry)
        with contextlib.chdir(folder):
            yield folder


def outcomes(text: str) -> Iterator[tuple[Example, int, str]]:
    """Each example of a page with its exit code and its output; the files of the page are written on the way."""
    with checkout() as folder:
        for part in parts(text):
            if isinstance(part, File):
                (folder / part.name).write_text(part.text, encoding="utf-8")
            else:
                yield part, *run(part.command)


def refreshed(text: str) -> str:
    """A page with the outputs of today."""
    for example, code, output in outcomes(text):
        if code != example.code:
            raise SystemExit(f"exit code {code}: {example.command}\n{output[:2000]}")
        if example.shown is not None:
            text = text.replace(
                f"$ {example.command}\n{example.shown}",
                f"$ {example.command}\n{cut(output, example.shown)}",
                1,
            )
    return text


def refresh(paths: list[Path]) -> None:
    for path in paths:
        before = path.read_text(encoding="utf-8")
        after = refreshed(before)
        if after != before:
            path.write_text(after, encoding="utf-8")
            print(f"wrote {path.relative_to(ROOT)}")
