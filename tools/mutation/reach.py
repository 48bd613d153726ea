"""Which tests execute a line, and in which order they are asked: few quick ones of every file first."""

from __future__ import annotations

import ast
import hashlib
import json
import os
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

NAME, AREAS = "MUTATION_REACH", "MUTATION_AREAS"
"""Environment variables: the folder that a record goes to, and the rooms whose lines count."""
LINES, TESTS, STATE = "lines.coverage", "tests.json", "package.txt"
FIRST = 3
"""So many tests of each file before all others of any: a fault is mostly noticed by one of them."""
ENDED = (0, 1, 5)
"""Exit statuses of pytest: all passed, some failed, none was collected."""
LAMBDA = "<lambda>"
OPTIONS = ("-n", "0", "-q", "--tb=no", "-p", "no:cacheprovider")


@dataclass
class Reach:
    """What a recorded run of the tests executed."""

    folder: Path
    tests: dict[str, dict] = field(default_factory=dict)
    _lines: dict[str, dict[int, list[str]]] = field(default_factory=dict)

    @classmethod
    def recorded(
        cls, folder: Path, root: Path, tests: Iterable[str], areas: Iterable[str]
    ) -> Reach:
        """The record in a folder; tests whose files are not in it as they are now are run for it first, which takes half as long again as without it.

        A record of another state of the rooms is thrown away: lines have moved.

        Raises:
            RuntimeError: pytest does not run.
        """
        folder.mkdir(parents=True, exist_ok=True)
        areas = tuple(areas)
        state = digest(
            path for area in areas for path in sorted((root / "symroof" / area).rglob("*.py"))
        )
        if (folder / STATE).exists() and (folder / STATE).read_text(encoding="utf-8") != state:
            for name in (LINES, TESTS):
                (folder / name).unlink(missing_ok=True)
        (folder / STATE).write_text(state, encoding="utf-8")
        path = os.pathsep.join([str(root), os.environ.get("PYTHONPATH", "")])
        environment = {
            **os.environ,
            "PYTHONPATH": path,
            "PYTHONHASHSEED": "0",
            NAME: str(folder),
            AREAS: " ".join(areas),
        }
        for group in tests:  # one by one: what an interrupted run has recorded stays
            files = {test.split("::")[0]: row["file"] for test, row in _rows(folder).items()}
            missing = [
                file
                for file in test_files(root, [group])
                if files.get(file) != digest([root / file])
            ]
            if missing:
                command = [
                    sys.executable,
                    "-m",
                    "pytest",
                    *OPTIONS,
                    "-p",
                    "tools.mutation.record_reach",
                    *missing,
                ]
                ended = subprocess.run(
                    command, cwd=root, env=environment, capture_output=True, text=True, check=False
                )
                if ended.returncode not in ENDED:
                    raise RuntimeError(
                        f"{group} cannot be run: {(ended.stdout + ended.stderr)[-2000:]}"
                    )
        return cls(folder, _rows(folder))

    def contexts(self, path: Path, lines: range) -> set[str]:
        """Every test or fixture that executes one of the lines; the empty one is import."""
        from coverage import CoverageData

        if not self._lines.get(path.as_posix()):
            data = CoverageData(str(self.folder / LINES))
            data.read()
            lines: dict[int, list[str]] = defaultdict(list)
            for name in (
                name for name in data.measured_files() if name.endswith("/" + path.as_posix())
            ):  # of every copy that was recorded
                for number, contexts in data.contexts_by_lineno(name).items():
                    lines[number] += contexts
            self._lines[path.as_posix()] = lines
        return {context for line in lines for context in self._lines[path.as_posix()].get(line, ())}

    def executing(self, contexts: set[str]) -> list[str]:
        """The tests of these contexts, those included that share a fixture with them."""
        return [
            test
            for test, row in self.tests.items()
            if test in contexts or contexts.intersection(row["fixtures"])
        ]

    def asking(self, names: Iterable[str]) -> list[str]:
        """The tests that look up the formula of one of these names; ``{step}`` in a name stands for any step."""
        patterns = [
            re.compile(re.sub(r"\\\{\w+\\\}", r"\\w+", re.escape(name)) + r"(\.\w+)*")
            for name in names
        ]
        return [
            test
            for test, row in self.tests.items()
            if any(pattern.fullmatch(name) for pattern in patterns for name in row["asks"])
        ]

    def mentioning(self, names: Iterable[str], root: Path) -> list[str]:
        """The tests of the files that speak of one of these names."""
        known = {
            path: (root / path).read_text(encoding="utf-8")
            for path in {test.split("::")[0] for test in self.tests}
            if (root / path).exists()
        }
        files = {
            path
            for path, text in known.items()
            if any(re.search(rf"\b{re.escape(name)}\b", text) for name in names)
        }
        return [test for test in self.tests if test.split("::")[0] in files]

    def ordered(
        self,
        tests: Iterable[str],
        first: Iterable[str],
        about: Iterable[str] = (),
        near: Iterable[str] = (),
    ) -> list[str]:
        """Those of the files that come first before those of others, a few quick tests of each file before the many, and files first that speak of the fault and
        of what is made of it (``near``), then those that speak of either."""
        here, (named, related) = (
            tuple(first),
            ({test.split("::")[0] for test in listed} for listed in (about, near)),
        )
        by_file: dict[str, list[str]] = defaultdict(list)
        for test in tests:
            if not self.tests[test]["fails"]:
                by_file[test.split("::")[0]].append(test)
        few, rest = [], []
        for path, listed in by_file.items():
            quick = sorted(listed, key=self._seconds)[:FIRST]
            late = (not path.startswith(here), (path not in named) + (path not in related))
            few.append((late, sum(map(self._seconds, quick)), quick))
            rest.append(
                (
                    late,
                    sum(map(self._seconds, listed)),
                    [test for test in listed if test not in quick],
                )
            )
        return [
            test
            for late in (False, True)
            for group in (few, rest)
            for (other, _), _, row in sorted(group)
            if other is late
            for test in row
        ]

    def _seconds(self, test: str) -> float:
        return self.tests[test]["seconds"]


def digest(paths: Iterable[Path]) -> str:
    """Of the contents of files."""
    whole = hashlib.sha256()
    for path in paths:
        whole.update(path.read_bytes())
    return whole.hexdigest()


def test_files(root: Path, tests: Iterable[str]) -> list[str]:
    """The files that hold tests or doctests, of files and folders."""
    paths = [root / test for test in tests]
    files = [
        file for path in paths for file in (sorted(path.rglob("*.py")) if path.is_dir() else [path])
    ]
    names = [file.relative_to(root).as_posix() for file in files if file.exists()]
    return [
        name
        for name in dict.fromkeys(names)
        if name.split("/")[-1].startswith("test_")
        or (name.startswith("symroof") and ">>> " in (root / name).read_text(encoding="utf-8"))
    ]


@dataclass(frozen=True)
class Spot:
    """Where a fault stands in the syntax of its file.

    Attributes:
        lines: those of its statement, of a compound one only the head.
        in_function: whether it stands in the body of a function.
        texts: the texts of the innermost call around it: a declaration names what it declares.
        assigned: the names that the statement gives a value; in a function its own name.
    """

    lines: range
    in_function: bool
    texts: tuple[str, ...]
    assigned: tuple[str, ...]

    @property
    def names(self) -> list[str]:
        """The texts that are names, of a step's quantities with ``{step}`` in them."""
        return [text for text in self.texts if text.replace("{step}", "step").isidentifier()]


def spot(source: str, line: int) -> Spot:
    """The place of a line.

    >>> spot("x = f('name',\\n      2)", 2)
    Spot(lines=range(1, 3), in_function=False, texts=('name',), assigned=('x',))
    >>> spot("def f():\\n    if a:\\n        b", 2).lines
    range(2, 3)
    """
    lines, function, call, assigned = range(line, line + 1), "", None, ()
    for node in ast.walk(ast.parse(source)):  # from the outside inwards
        if not hasattr(node, "lineno") or not node.lineno <= line <= (node.end_lineno or 0):
            continue
        if isinstance(node, ast.stmt):
            body = getattr(node, "body", None) or getattr(node, "cases", None)
            last = (
                (body[0].pattern.lineno if isinstance(node, ast.Match) else body[0].lineno) - 1
                if body
                else node.end_lineno
            )
            if isinstance(node, ast.FunctionDef) and line > last:
                function = function or node.name
            if line <= max(last, node.lineno):
                lines, assigned = range(node.lineno, max(last, node.lineno) + 1), _assigned(node)
        elif isinstance(node, ast.Lambda):
            function = function or LAMBDA
        elif isinstance(node, ast.Call) and any(
            isinstance(argument, ast.Constant) and isinstance(argument.value, str)
            for argument in node.args
        ):
            call = node
    strings = (inner for inner in ast.walk(call)) if call else ()
    texts = tuple(
        inner.value
        for inner in strings
        if isinstance(inner, ast.Constant) and isinstance(inner.value, str)
    )
    return Spot(lines, bool(function), texts, assigned if function in ("", LAMBDA) else (function,))


def assignments(sources: Iterable[str]) -> list[tuple[tuple[str, ...], set[str]]]:
    """The names that each assignment of a module, at import, gives a value, and those it takes it from."""
    nodes = (
        node
        for source in sources
        for node in ast.parse(source).body
        if isinstance(node, ast.Assign | ast.AnnAssign)
    )
    return [
        (_assigned(node), {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)})
        for node in nodes
    ]


def made_of(
    names: tuple[str, ...], uses: Iterable[tuple[tuple[str, ...], set[str]]]
) -> tuple[str, ...]:
    """Some names, and those that are assigned from any of them: a table of tables too.

    >>> made_of(("A",), assignments(["A = {}", "C = {**B}; B = {**A}", "D = f(E)"]))
    ('A', 'B', 'C')
    """
    known, uses = list(names), list(uses)
    for name in known:  # it grows meanwhile
        known += [
            target
            for targets, used in uses
            if name in used
            for target in targets
            if target not in known
        ]
    return tuple(known)


def _assigned(node: ast.stmt) -> tuple[str, ...]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return (node.name,)
    targets = getattr(node, "targets", None) or [getattr(node, "target", None)]
    return tuple(
        name.id
        for target in targets
        if target
        for name in ast.walk(target)
        if isinstance(name, ast.Name)
    )


def _rows(folder: Path) -> dict[str, dict]:
    path = folder / TESTS
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
