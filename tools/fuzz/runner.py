"""Runs attempts: through the fork server, or as a process of their own where the start of the interpreter is what is attacked."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from .attempt import Attempt

ROOT = Path(__file__).parents[2]
SERVER = Path(__file__).parent / "fork_server.py"
GIGABYTE = 1 << 30
LONGEST = 4 << 20
"""Bytes of output that are looked at."""

INTERRUPTED = """
import os, signal, sys
sys.path.insert(0, {root!r})
class Interrupt:
    left = {at} + 1
    def find_spec(self, name, path=None, target=None):
        Interrupt.left -= 1
        if Interrupt.left == 0:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupt())
sys.argv = ["symroof", *{arguments!r}]
from symroof.cli import run
run()
"""
"""The program ``symroof`` with Ctrl-C at a certain import: the moment does not depend on the machine's speed."""


@dataclass(frozen=True)
class Limits:
    """Seconds of processor time, bytes, and seconds on the clock (0: none)."""

    cpu: float = 5
    memory: int = GIGABYTE
    wall: float = 60


@dataclass(frozen=True)
class Outcome:
    """What an attempt came to; a negative ``code`` is the signal that ended it."""

    code: int
    stdout: bytes
    stderr: bytes
    cpu: float = 0
    memory: int = 0
    trace: str = ""
    written: dict[str, bytes] = field(default_factory=dict)


class Runner:
    """A fork server and a scratch folder; a context manager."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.scratch = Path(tempfile.mkdtemp(prefix="symroof-fuzz-"))
        self.server: subprocess.Popen[str] | None = None

    def __enter__(self) -> Runner:
        return self

    def __exit__(self, *_: object) -> None:
        if self.server:
            self.server.stdin.close()
            self.server.wait()
            self.server.stdout.close()
        shutil.rmtree(self.scratch, ignore_errors=True)

    def run(self, attempt: Attempt) -> Outcome:
        """Run one attempt in an empty folder of its own."""
        folder = self.scratch / "outer" / "folder"
        shutil.rmtree(folder.parent, ignore_errors=True)
        folder.mkdir(parents=True)
        for name, content in attempt.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        outcome = (
            self._interrupted(attempt, folder)
            if attempt.interrupt_at
            else self._forked(attempt, folder)
        )
        written = {
            str(path.relative_to(folder)): path.read_bytes()[:LONGEST]
            for path in sorted(folder.rglob("*"))
            if path.is_file() and str(path.relative_to(folder)) not in attempt.files
        }
        return Outcome(
            outcome.code,
            outcome.stdout,
            outcome.stderr,
            outcome.cpu,
            outcome.memory,
            outcome.trace,
            written,
        )

    def _forked(self, attempt: Attempt, folder: Path) -> Outcome:
        streams = {name: self.scratch / name for name in ("stdout", "stderr", "trace", "escaped")}
        for path in streams.values():
            path.unlink(missing_ok=True)
        request = {name: str(path) for name, path in streams.items()} | {
            "folder": str(folder),
            "arguments": attempt.arguments,
            "closed": attempt.closed,
        }
        request |= {"cpu": self.limits.cpu, "memory": self.limits.memory, "wall": self.limits.wall}
        if "full" in attempt.closed:
            request["stdout"] = "/dev/full"
        answer = self._ask(request)
        texts = {name: _start(path) for name, path in streams.items()}
        return Outcome(
            answer["code"],
            texts["stdout"],
            texts["stderr"],
            answer["cpu"],
            answer["memory"],
            (texts["escaped"] or texts["trace"]).decode("utf-8", "replace"),
        )

    def _ask(self, request: dict) -> dict:
        if self.server is None or self.server.poll() is not None:
            self.server = self._start()
        print(json.dumps(request), file=self.server.stdin, flush=True)
        line = self.server.stdout.readline()
        if not line:
            raise RuntimeError("the fork server ended")
        return json.loads(line)

    def _start(self) -> subprocess.Popen[str]:
        env = {
            name: value
            for name, value in os.environ.items()
            if name not in ("COLUMNS", "PYTEST_CURRENT_TEST")
        }
        env |= {"PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        server = subprocess.Popen(
            [sys.executable, str(SERVER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=env,
            cwd=self.scratch,
        )
        if not server.stdout.readline():
            raise RuntimeError("the fork server did not start")
        return server

    def _interrupted(self, attempt: Attempt, folder: Path) -> Outcome:
        program = INTERRUPTED.format(
            root=str(ROOT), at=attempt.interrupt_at, arguments=attempt.arguments
        )
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(
            [sys.executable, "-c", program],
            cwd=folder,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=self.limits.wall or None,
            check=False,
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return Outcome(
            done.returncode,
            done.stdout,
            done.stderr,
            after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime,
        )


def _start(path: Path) -> bytes:
    if not path.exists():
        return b""
    with path.open("rb") as file:
        return file.read(LONGEST)
