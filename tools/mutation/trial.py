"""One fault in a scratch copy of the repository: do the tests notice?"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import re
import select
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from .areas import AREAS, ROOT, WITNESSES, Fault
from .reach import OPTIONS, Reach, Spot, assignments, made_of, spot
from .serve_faults import ANSWERS, CRASHED, JOBS, WALL

LEFT_OUT = (".*", "__pycache__", "build", "dist", "*.egg-info")
FEW_FILES = 6
NOT_STARTED, NOT_REACHED = "start", "no test reaches it"


@dataclass(frozen=True)
class Outcome:
    """What became of a fault.

    Attributes:
        killed: whether a test noticed.
        by: the test, ``time`` where one did not end, ``start`` where the tests could not be collected; of a survivor how many tests ran.
        seconds: processor time of the tests.
    """

    killed: bool
    by: str
    seconds: float


class Copy:
    """A copy of the repository in which one file at a time is changed; the repository itself never is.

    Args:
        folder: a folder of its own.
        limit: processor time for one fault.
        root: the repository.
        witnesses: the files and folders of tests that may notice.
        areas: the rooms whose lines are recorded.
    """

    def __init__(
        self,
        folder: Path,
        limit: float,
        root: Path = ROOT,
        witnesses: tuple[str, ...] = WITNESSES,
        areas: Iterable[str] = AREAS,
    ) -> None:
        self.root, self.limit, self.witnesses, self.areas = (
            folder / "copy",
            limit,
            witnesses,
            tuple(areas),
        )
        shutil.copytree(root, self.root, ignore=shutil.ignore_patterns(*LEFT_OUT))
        self.folder = folder
        self.failing: dict[str, bool] = {}
        self._warm: Tests | None = None
        self._reach: Reach | None = None
        self.record = folder / "reach"

    @property
    def reach(self) -> Reach:
        """The tests by the lines they execute."""
        if self._reach is None:
            self._reach = Reach.recorded(self.record, self.root, self.witnesses, self.areas)
        return self._reach

    @property
    def warm(self) -> Tests:
        """The tests, collected without any fault.

        Raises:
            RuntimeError: they cannot be.
        """
        if self._warm is None or not self._warm.alive:
            self._warm = Tests(self.root, self.folder, self.witnesses)
            if not self._warm.alive:
                raise RuntimeError(
                    f"the tests do not start: {self._warm.output.read_text(encoding='utf-8')[-2000:]}"
                )
        return self._warm

    @cached_property
    def assignments(self) -> list[tuple[tuple[str, ...], set[str]]]:
        """What names of the package are made of, without any fault."""
        return assignments(
            path.read_text(encoding="utf-8")
            for path in sorted((self.root / "symroof").rglob("*.py"))
        )

    def close(self) -> None:
        if self._warm:
            self._warm.close()

    def run(self, fault: Fault, area: str) -> Outcome:
        """Put the fault in, run the tests that reach it until one fails, and take it out again."""
        path = self.root / fault.path
        source = path.read_text(encoding="utf-8")
        changed = fault.mutant.applied(source)
        try:
            compile(changed, str(path), "exec")
        except SyntaxError:
            return Outcome(True, NOT_STARTED, 0)
        tests, at_import = self.tests_for(fault, source, area)
        if not tests:
            return Outcome(False, NOT_REACHED, 0)
        self.warm  # collected before there is a fault on the disk  # noqa: B018
        try:
            self._write(path, changed)
            return self._outcome(path, source, changed, tests, at_import)
        finally:
            self._write(path, source)

    def tests_for(self, fault: Fault, source: str, area: str) -> tuple[list[str], bool]:
        """The tests that can notice a fault, in the order they run, and whether import alone executes it."""
        place = spot(source, fault.line)
        contexts = self.reach.contexts(Path(fault.path), place.lines)
        at_import = "" in contexts or not place.in_function
        tests, about, near = self.reach.executing(contexts), [], []
        if at_import and not (place.in_function and tests):
            tests = self._by_name(place)
            about = self.reach.mentioning([*place.names, *place.assigned], self.root)
            near = self.reach.mentioning(made_of(place.assigned, self.assignments), self.root)
        return self.reach.ordered(tests, (f"symroof/{area}", *AREAS[area]), about, near), at_import

    def _by_name(self, place: Spot) -> list[str]:
        """Tests of what runs at import alone: those that look up the formula declared there, execute a line with the name assigned there, or mention either."""
        declared, names = place.names, made_of(place.assigned, self.assignments)
        likely = [
            *self.reach.asking(declared),
            *self.reach.executing(self._using(names)),
            *self.reach.mentioning([*declared, *names], self.root),
        ]
        return list(dict.fromkeys(likely or self.reach.tests))

    def _using(self, names: tuple[str, ...]) -> set[str]:
        """The contexts that execute a line with one of the names, anywhere in the package."""
        pattern = re.compile(rf"\b(?:{'|'.join(names)})\b") if names else None
        found: set[str] = set()
        for path in sorted((self.root / "symroof").rglob("*.py")) if pattern else ():
            lines = path.read_text(encoding="utf-8").splitlines()
            for number in (index for index, line in enumerate(lines, 1) if pattern.search(line)):
                found |= self.reach.contexts(path.relative_to(self.root), range(number, number + 1))
        return found - {""}

    def _outcome(
        self, path: Path, source: str, changed: str, tests: list[str], at_import: bool
    ) -> Outcome:
        """Run in the collected process where the fault is in a function that nothing has called yet, and in a new one elsewhere."""
        seconds = 0.0
        while True:
            listed = [test for test in tests if not self.failing.get(test)]
            answer = (
                {"by": CRASHED, "ran": 0, "seconds": 0}
                if at_import
                else self.warm.run(path, changed, listed, self.limit)
            )
            if answer["by"].startswith(CRASHED):
                answer = self._anew(listed)
            seconds += answer["seconds"]
            by = answer["by"]
            if not by:
                return Outcome(False, f"{answer['ran']} of {len(listed)} tests", seconds)
            if by not in self.reach.tests or not self._fails_anyway(by, listed):
                return Outcome(True, by, seconds)

    def _fails_anyway(self, by: str, listed: list[str]) -> bool:
        """Whether a test fails, alone or after those before it, without the fault as well; it is left out from then on."""
        if by not in self.failing:
            before = listed[: listed.index(by) + 1] if by in listed else [by]
            self.failing[by] = any(
                self.warm.run(Path(), "", row, self.limit)["by"] for row in ([by], before[-20:])
            )
        return self.failing[by]

    def _anew(self, listed: list[str]) -> dict:
        """In processes that import the package with the fault: of a few files of tests, since collecting takes longest, and then of the others.

        The few have half of the time, so that a long file among them leaves the others a turn.
        """
        files = list(dict.fromkeys(test.split("::")[0] for test in listed))
        answer, ran, before = {"by": "", "ran": 0, "seconds": 0.0}, 0, _processor_time()
        for some in (files[:FEW_FILES], files[FEW_FILES:]):
            if not some or answer["by"] or _processor_time() - before > self.limit:
                continue
            tests = Tests(self.root, self.folder, some, self.limit * WALL)
            if tests.alive:
                limit = (
                    self.limit
                    if some == files
                    else self.limit / (2 if some == files[:FEW_FILES] else 1)
                )
                answer = tests.run(
                    Path(), "", [test for test in listed if test.split("::")[0] in some], limit
                )
            else:
                answer = {"by": NOT_STARTED, "ran": 0}
            tests.close()
            ran += answer["ran"]
        return {"by": answer["by"], "ran": ran, "seconds": _processor_time() - before}

    @staticmethod
    def _write(path: Path, source: str) -> None:
        """Bytecode is known by size and second: a change of one character within a second would not be seen."""
        Path(importlib.util.cache_from_source(str(path))).unlink(missing_ok=True)
        path.write_text(source, encoding="utf-8")


class Tests:
    """A process that has collected tests and runs some of them again and again, each time in a fork of its own."""

    def __init__(
        self, root: Path, folder: Path, tests: list[str] | tuple[str, ...], patience: float = 3600
    ) -> None:
        job, self._jobs = os.pipe()
        self._answers, answer = os.pipe()
        asked = folder / "tests.txt"
        asked.write_text(
            "\n".join(test for test in tests if (root / test).exists()), encoding="utf-8"
        )
        command = [
            sys.executable,
            "-m",
            "pytest",
            *OPTIONS,
            "-p",
            "tools.mutation.serve_faults",
            f"--basetemp={folder / 'tests'}",
            f"@{asked}",
        ]
        path = os.pathsep.join([str(root), os.environ.get("PYTHONPATH", "")])
        environment = {
            **os.environ,
            "PYTHONPATH": path,
            "PYTHONHASHSEED": "0",
            "PYTHONDONTWRITEBYTECODE": "1",
            JOBS: str(job),
            ANSWERS: str(answer),
        }
        self.output = folder / "output.txt"
        with self.output.open("wb") as output:
            quiet = {"stdin": subprocess.DEVNULL, "stdout": output, "stderr": subprocess.STDOUT}
            self._process = subprocess.Popen(
                command,
                cwd=root,
                env=environment,
                pass_fds=(job, answer),
                start_new_session=True,
                **quiet,
            )
        os.close(job)
        os.close(answer)
        self._read, self._write = (
            os.fdopen(self._answers, encoding="utf-8"),
            os.fdopen(self._jobs, "w", encoding="utf-8"),
        )
        ready, _, _ = select.select([self._answers], [], [], patience)
        self.alive = bool(ready and self._read.readline())

    def run(self, path: Path, source: str, tests: list[str], limit: float) -> dict:
        """The first of the tests that fails with a source in the place of a file, how many ran, and their processor time."""
        self._write.write(
            json.dumps({"path": str(path), "source": source, "tests": tests, "limit": limit}) + "\n"
        )
        self._write.flush()
        line = self._read.readline()
        self.alive = bool(line)
        return json.loads(line) if line else {"by": CRASHED, "ran": 0, "seconds": 0}

    def close(self) -> None:
        self._write.close()
        self._read.close()
        if not self.alive:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()


def _processor_time() -> float:
    """Of the children that have ended."""
    times = os.times()
    return times.children_user + times.children_system
