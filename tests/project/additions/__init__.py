"""A copy of the package that a newcomer has changed as CONTRIBUTING says, and its command line."""

import contextlib
import json
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
COPIED = ("symroof", "specs", "templates", "docs", "pyproject.toml")
"""What an addition may touch, and what a checkout needs to find its data."""


# ----------------------------------------------------------------------------------------------------- what the page says


@dataclass(frozen=True)
class Entry:
    """One addition of the page."""

    name: str
    text: str

    @property
    def schemas(self):
        """The kinds of file whose schema it has to be printed for again."""
        return set(re.findall(r"`symroof schema (\w+) > schema/\1\.schema\.json`", self.text))

    @property
    def patterns(self):
        """The files it names, apart from tests; ``NAME`` in a path stands for any name, a folder for the files in it."""
        named = [path for path in paths(self.text) if not path.startswith("tests/")]
        return [path.replace("NAME", "*") + ("*" if path.endswith("/") else "") for path in named]

    def allows(self, path):
        return any(fnmatchcase(path, pattern) for pattern in self.patterns)


def paths(text):
    """Every path in a text, in backquotes: of a file or folder of the repository, or a file beside the one named before it."""
    found, folder = [], ""
    for path, name in re.findall(
        r"`(?:((?:symroof|specs|templates|tests|tools|docs|reports|schema)/[\w./-]*|pyproject\.toml)|([a-z]\w*\.(?:py|j2|js|md)))`",
        text,
    ):
        found.append(path or f"{folder}/{name}")
        folder = found[-1].rpartition("/")[0]
    return found


@cache
def entries():
    """The additions of the page by name."""
    found = re.findall(
        r"^- \*\*(.+?)\*\*(.*?)(?=\n- |\n\n|\Z)", CONTRIBUTING, re.DOTALL | re.MULTILINE
    )
    return {name: Entry(name, text) for name, text in found}


# ------------------------------------------------------------------------------------------------------ what a newcomer does


@dataclass(frozen=True)
class Insert:
    """Text put before the one place of a file where ``before`` stands; without it, the text is a new file."""

    path: str
    text: str
    before: str = ""

    def apply(self, root):
        file = root / self.path
        if not self.before:
            assert not file.exists(), f"{self.path} is not new"
            file.write_text(self.text, encoding="utf-8")
            return
        source = file.read_text(encoding="utf-8")
        assert source.count(self.before) == 1, (
            f"{self.path} has {source.count(self.before)} times {self.before!r}: mend the anchor of this test"
        )
        file.write_text(source.replace(self.before, self.text + self.before), encoding="utf-8")


def make(root, additions):
    """The copy with every addition, each made in nothing but the files that its entry names."""
    for name in COPIED:
        source = ROOT / name
        copy = shutil.copytree if source.is_dir() else shutil.copy
        copy(
            source,
            root / name,
            **({"ignore": shutil.ignore_patterns("__pycache__")} if source.is_dir() else {}),
        )
    for name, inserts in additions.items():
        for insert in inserts:
            assert entries()[name].allows(insert.path), (
                f"**{name}** takes an edit of {insert.path}, which CONTRIBUTING does not name"
            )
            insert.apply(root)


# ------------------------------------------------------------------------------------------------------- the command line


@dataclass(frozen=True)
class Outcome:
    """What a call left: exit code and both streams."""

    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)


SERVER = """
import io, json, sys
from symroof.cli.main import main
answers, lines = sys.stdout, sys.stdin
for line in lines:
    words = json.loads(line)
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    sys.argv, sys.stdout, sys.stderr = ["symroof", *words], out, err
    code = main(words)
    sys.stdout, sys.stderr = answers, sys.__stderr__
    print(json.dumps([code, out.buffer.getvalue().decode(), err.buffer.getvalue().decode()]), flush=True)
"""
"""The command line of the copy, one call a line: a process for each would import everything again."""


def environment(root):
    """Where the copy is, and nothing of the checkout."""
    return {"PYTHONPATH": str(root), "PATH": "", "PYTHONDONTWRITEBYTECODE": "1"}


@contextlib.contextmanager
def command_line(root, folder):
    """A function that runs one command of the copy in a folder."""
    command, pipes = (
        [sys.executable, "-c", SERVER],
        dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE),
    )
    with subprocess.Popen(command, text=True, cwd=folder, env=environment(root), **pipes) as server:

        def run(*words, code=0):
            server.stdin.write(json.dumps([str(word) for word in words]) + "\n")
            server.stdin.flush()
            line = server.stdout.readline()
            assert line, server.stderr.read()
            outcome = Outcome(*json.loads(line))
            assert outcome.code == code, (words, outcome)
            return outcome

        yield run
        server.stdin.close()
