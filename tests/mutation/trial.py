"""One fault in a scratch copy of the repository: do the tests notice?"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from .areas import AREAS, ROOT, Fault

LEFT_OUT = (".*", "__pycache__", "build", "dist", "*.egg-info")
PYTEST = ("-m", "pytest", "-x", "-q", "-n", "0", "-p", "no:cacheprovider", "-p", "no:randomly", "--tb=no", "--no-header", "-rfE")
NO_TESTS = 5
"""pytest's exit status where it collected none."""


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
            return "start"
        for tests in (f"symroof/{area}", *(test for test in AREAS[area] if (self.root / test).exists())):
            while True:
                skipped = [test for test, fails in self.failing.items() if fails]
                by = self._failing([tests], skipped)
                if not by:
                    break
                if by == "time":
                    return by
                self._write(path, source)
                if by == "start" and self._failing([tests, "--collect-only"], []):
                    raise RuntimeError(f"{tests} cannot be collected without any fault either; run pytest on it")
                if by == "start" or not self._fails_anyway(by):
                    return by
                self._write(path, fault.mutant.applied(source))
        return ""

    def _fails_anyway(self, test: str) -> bool:
        """Whether a test fails on the unchanged copy as well; it is left out from then on."""
        if test not in self.failing:
            self.failing[test] = bool(self._failing([test], []))
        return self.failing[test]

    def _failing(self, tests: list[str], skipped: list[str]) -> str:
        """The first test that fails, ``time`` or ``start``; empty where all pass."""
        command = [sys.executable, *PYTEST, *tests, *(f"--deselect={test}" for test in skipped)]
        environment = {**os.environ, "PYTHONPATH": str(self.root), "PYTHONHASHSEED": "0"}
        with subprocess.Popen(
            command, cwd=self.root, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
        ) as process:
            try:
                output, _ = process.communicate(timeout=self.limit)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                return "time"
        if process.returncode in (0, NO_TESTS):
            return ""
        failed = re.search(r"^FAILED (.*?)(?: - |$)", output, re.MULTILINE)
        return failed[1] if failed else "start"

    @staticmethod
    def _write(path: Path, source: str) -> None:
        """Bytecode is known by size and second: a change of one character within a second would not be seen."""
        Path(importlib.util.cache_from_source(str(path))).unlink(missing_ok=True)
        path.write_text(source, encoding="utf-8")
