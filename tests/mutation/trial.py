"""One fault in a scratch copy of the repository: do the tests notice?"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from .areas import AREAS, ROOT, Fault
from .first_failure import NAME

LEFT_OUT = (".*", "__pycache__", "build", "dist", "*.egg-info")
PYTEST = ("-m", "pytest", "-x", "-q", "-n", "0", "-p", "no:cacheprovider", "-p", "tests.mutation.first_failure", "--tb=no")
PASSED, NO_TESTS = 0, 5
"""Exit statuses of pytest: all passed, and none was collected."""
NOT_ENDED, NOT_STARTED = "time", "start"


@dataclass(frozen=True)
class Outcome:
    """What became of a fault.

    Attributes:
        killed: whether a test noticed.
        by: the test, ``time`` where they did not end, ``start`` where pytest could not collect them; empty for a survivor.
        seconds: how long that took.
    """

    killed: bool
    by: str
    seconds: float


class Copy:
    """A copy of the repository in which one file at a time is changed; the repository itself never is."""

    def __init__(self, folder: Path, limit: float, root: Path = ROOT) -> None:
        self.root, self.limit = folder / "copy", limit
        shutil.copytree(root, self.root, ignore=shutil.ignore_patterns(*LEFT_OUT))
        self.folder = folder
        self.failing: dict[str, bool] = {}

    def run(self, fault: Fault, area: str) -> Outcome:
        """Put the fault in, run the tests of its area until one fails, and take it out again."""
        path = self.root / fault.path
        source = path.read_text(encoding="utf-8")
        start = time.monotonic()
        try:
            self._write(path, fault.mutant.applied(source))
            by = self._killer(path, source, fault, area)
        finally:
            self._write(path, source)
        return Outcome(bool(by), by, time.monotonic() - start)

    def _killer(self, path: Path, source: str, fault: Fault, area: str) -> str:
        """The first test that fails with the fault and passes without it; empty where none does."""
        try:
            compile(fault.mutant.applied(source), str(path), "exec")
        except SyntaxError:
            return NOT_STARTED
        for tests in (f"symroof/{area}", *(test for test in AREAS[area] if (self.root / test).exists())):
            while True:
                skipped = [test for test, fails in self.failing.items() if fails]
                by = self._failing([tests], skipped)
                if not by:
                    break
                self._write(path, source)
                if not self._fails_anyway(by, tests):
                    return by
                self._write(path, fault.mutant.applied(source))
        return ""

    def _fails_anyway(self, by: str, tests: str) -> bool:
        """Whether a test fails on the unchanged copy as well; it is left out from then on.

        Raises:
            RuntimeError: the tests do not start, or do not end in time, without any fault either.
        """
        whole = by in (NOT_ENDED, NOT_STARTED)
        key = f"{tests}: {by}" if whole else by
        if key not in self.failing:
            left_out = [test for test, fails in self.failing.items() if fails]
            clean = self._failing([tests], left_out) if whole else self._failing([by], [])
            self.failing[key] = clean == by
        if whole and self.failing[key]:
            raise RuntimeError(f"{tests} cannot be collected, or takes longer than --limit {self.limit:.0f}, without any fault either")
        return self.failing[key]

    def _failing(self, tests: list[str], skipped: list[str]) -> str:
        """The first test that fails, ``time`` or ``start``; empty where all pass."""
        command = [sys.executable, *PYTEST, *tests, *(f"--deselect={test}" for test in skipped)]
        first = self.folder / "first-failure"
        first.unlink(missing_ok=True)
        environment = {**os.environ, "PYTHONPATH": str(self.root), "PYTHONHASHSEED": "0", NAME: str(first)}
        with subprocess.Popen(command, cwd=self.root, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True) as process:
            try:
                status = process.wait(timeout=self.limit)
            except subprocess.TimeoutExpired:
                return NOT_ENDED
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
        if status in (PASSED, NO_TESTS):
            return ""
        return first.read_text(encoding="utf-8") if first.exists() else NOT_STARTED

    @staticmethod
    def _write(path: Path, source: str) -> None:
        """Bytecode is known by size and second: a change of one character within a second would not be seen."""
        Path(importlib.util.cache_from_source(str(path))).unlink(missing_ok=True)
        path.write_text(source, encoding="utf-8")
