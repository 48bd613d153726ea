"""A plugin of pytest that collects the tests once and then forks for every fault: what is imported and collected is not imported again.

A job is a line of JSON in a pipe: the file, its source with the fault, the tests to run in this order, and how long they may. In the
child the code of the functions that differ is exchanged; the answer is the first test that fails.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import resource
import select
import signal
import types
from collections.abc import Iterator
from pathlib import Path

import pytest

JOBS, ANSWERS = "MUTATION_JOBS", "MUTATION_ANSWERS"
"""Environment variables with the numbers of the two pipes."""
NOT_ENDED, CRASHED = "time", "crash"
GRACE = 30
"""Seconds of processor time for the last test beyond the limit."""
WALL = 6
"""A fault may take so many times its limit on the clock: other programs run as well."""
MEMORY = 6 * 2**30

failed: list[str] = []
functions: list[types.FunctionType] = []
"""Every function of the package, as collected."""


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.failed:
        failed.append(report.nodeid)


def pytest_runtestloop(session: pytest.Session) -> bool:
    """Answer jobs until there are none; a collection that fails ends without an answer."""
    if session.testsfailed:
        return True
    items = {item.nodeid: item for item in session.items}
    functions.extend(
        value
        for value in gc.get_objects()
        if isinstance(value, types.FunctionType) and str(value.__module__).startswith("symroof")
    )
    gc.collect()
    gc.freeze()
    with (
        open(int(os.environ[JOBS]), encoding="utf-8") as jobs,
        open(int(os.environ[ANSWERS]), "w", encoding="utf-8") as answers,
    ):
        answers.write(json.dumps({"tests": len(items)}) + "\n")
        answers.flush()
        for line in jobs:
            answers.write(json.dumps(_forked(json.loads(line), items)) + "\n")
            answers.flush()
    return True


def _forked(job: dict, items: dict[str, pytest.Item]) -> dict:
    """The answer of a child: the test that failed (empty: none), how many ran, its processor time."""
    here, there = os.pipe()
    before = os.times()
    child = os.fork()
    if not child:
        os.setsid()
        os.close(here)
        _limit(job["limit"])
        try:
            answer = _run(job, items)
        except BaseException as error:
            answer = {"by": f"{CRASHED}: {type(error).__name__}: {error}"[:200], "ran": 0}
        os.write(there, json.dumps(answer).encode())
        os._exit(0)
    os.close(there)
    late = not _ends(here, job["limit"] * WALL)
    text = b"" if late else os.read(here, 65536)
    os.close(here)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    after = os.times()
    used = (
        after.children_user + after.children_system - before.children_user - before.children_system
    )
    died = (
        NOT_ENDED
        if late
        or (os.WIFSIGNALED(status) and os.WTERMSIG(status) in (signal.SIGXCPU, signal.SIGKILL))
        else CRASHED
    )
    return {**(json.loads(text) if text else {"by": died, "ran": 0}), "seconds": used}


def _ends(pipe: int, seconds: float) -> bool:
    return bool(select.select([pipe], [], [], seconds)[0])


def _limit(seconds: float) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + GRACE, int(seconds) + GRACE + 5))
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))


def _run(job: dict, items: dict[str, pytest.Item]) -> dict:
    """Run the tests until one fails or the limit is reached."""
    if job["source"]:
        exchange(Path(job["path"]), job["source"])
    listed = [items[test] for test in job["tests"] if test in items]
    for count, item in enumerate(listed):
        following = listed[count + 1] if count + 1 < len(listed) else None
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        if failed:
            return {"by": failed[0], "ran": count + 1}
        if sum(os.times()[:4]) > job["limit"]:
            return {"by": "", "ran": count + 1}
    return {"by": "", "ran": len(listed)}


def exchange(path: Path, source: str) -> int:
    """Give every function of a module that differs in the new source its new code; the number of functions.

    Raises:
        ValueError: no function that lives differs.
    """
    new = {
        (code.co_qualname, code.co_firstlineno): code
        for code in _codes(compile(source, str(path), "exec"))
    }
    changed = 0
    for function in [value for value in functions if value.__code__.co_filename == str(path)]:
        code = new.get((function.__code__.co_qualname, function.__code__.co_firstlineno))
        if (
            code is not None
            and code != function.__code__
            and code.co_freevars == function.__code__.co_freevars
        ):
            function.__code__ = code
            changed += 1
    if not changed:
        raise ValueError("no function differs")
    return changed


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for value in code.co_consts:
        if isinstance(value, types.CodeType):
            yield from _codes(value)
